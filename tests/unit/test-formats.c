// SPDX-License-Identifier: BSD-2-Clause
/*
 * The Topology document in other people's formats: read back and compared, with names that try to
 * break out of each of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/netfile/netfile.h"
#include "opensmctl/talk/ctl.h"
#include "opensmctl/format/format.h"
#include "opensmctl/format/hostlist.h"
#include "opensmctl/format/slurm_tree.h"
#include "tests/lib/hostnames.h"
#include "util/mem.h"

#define HOSTILE "a\"b\\ {c} # [d];\n\t$(e) 'f' <g>=h,i: lid 1 4xSDR"

/* ---- documents by hand ---------------------------------------------------------------------- */

static char *guid_text(unsigned guid)
{
	return xasprintf("0x%016x", guid);
}

static void put_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

static void put_int(struct json_object *o, const char *key, int v)
{
	json_object_object_add(o, key, json_object_new_int(v));
}

static struct json_object *end_of(const char *type, unsigned guid, const char *name, int port)
{
	struct json_object *o = json_object_new_object();
	_cleanup_free_ char *text = guid_text(guid), *port_guid = guid_text(guid + 1);

	put_text(o, "type", type);
	put_text(o, "node_guid", text);
	put_text(o, "port_guid", strcmp(type, "switch") ? port_guid : text);
	put_text(o, "name", name);
	put_text(o, "desc", name);
	put_int(o, "port", port);
	put_int(o, "lid", (int)guid & 0xFFF);
	return o;
}

struct world {
	struct json_object *doc, *nodes;
};

static void world_new(struct world *w)
{
	w->doc = json_object_new_object();
	w->nodes = json_object_new_array();
	json_object_object_add(w->doc, "nodes", w->nodes);
	json_object_object_add(w->doc, "own", end_of("ca", 0x1000, "h0", 1));
}

static struct json_object *add(struct world *w, const char *type, unsigned guid, const char *name,
			       int n_ports)
{
	struct json_object *o = end_of(type, guid, name, 0);
	_cleanup_free_ char *text = guid_text(guid);

	put_text(o, "system_guid", text);
	put_int(o, "vendor_id", 0x2c9);
	put_int(o, "device_id", 0xb924);
	put_int(o, "n_ports", n_ports);
	json_object_object_add(o, "ports", json_object_new_array());
	json_object_array_add(w->nodes, o);
	return o;
}

static unsigned guid_of(struct json_object *node)
{
	return (unsigned)strtoul(js_str(node, "node_guid"), NULL, 16);
}

static void half(struct json_object *a, int a_port, struct json_object *b, int b_port)
{
	struct json_object *p = json_object_new_object();
	_cleanup_free_ char *port_guid = guid_text(guid_of(a) + (unsigned)a_port);

	put_int(p, "port", a_port);
	put_text(p, "port_guid", port_guid);
	put_int(p, "lid", (int)guid_of(a) & 0xFFF);
	put_int(p, "lmc", 0);
	put_text(p, "state", "active");
	put_int(p, "width", 4);
	put_text(p, "speed", "EDR");
	put_int(p, "gbps", 100);
	json_object_object_add(p, "peer",
			       end_of(js_str(b, "type"), guid_of(b), js_str(b, "name"), b_port));
	json_object_array_add(js_get(a, "ports"), p);
}

static void cable(struct json_object *a, int a_port, struct json_object *b, int b_port)
{
	half(a, a_port, b, b_port);
	half(b, b_port, a, a_port);
}

/* `leaves` of `hosts`, with `spines` above; host names by `fmt` from number 0 on. */
static void fat_tree(struct world *w, unsigned leaves, unsigned hosts, unsigned spines,
		     const char *prefix)
{
	struct json_object *spine[8];
	char name[64];

	world_new(w);
	for (unsigned i = 0; i < spines; i++) {
		snprintf(name, sizeof(name), "spine%u", i + 1);
		spine[i] = add(w, "switch", 0x3000 + i, name, 36);
	}
	for (unsigned i = 0; i < leaves; i++) {
		struct json_object *leaf;

		snprintf(name, sizeof(name), "leaf%u", i + 1);
		leaf = add(w, "switch", 0x2000 + i, name, 36);
		for (unsigned k = 0; k < spines; k++)
			cable(leaf, 20 + (int)k, spine[k], 1 + (int)i);
		for (unsigned h = 0; h < hosts; h++) {
			snprintf(name, sizeof(name), "%s%02u HCA-1", prefix, i * hosts + h);
			cable(leaf, 1 + (int)h,
			      add(w, "ca", 0x1000 + 16 * (i * hosts + h), name, 1), 1);
		}
	}
}

static char *print(void (*format)(struct json_object *doc, FILE *out), struct world *w)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	format(w->doc, out);
	fclose(out);
	return text;
}

static const struct slurm_wish as_most = { 0 };

static void slurm_conf(struct json_object *doc, FILE *out)
{
	struct slurm_tree *t = slurm_tree_new(doc, &as_most);

	format_slurm_conf(t, out);
	slurm_tree_free(t);
}

static void slurm_yaml(struct json_object *doc, FILE *out)
{
	struct slurm_tree *t = slurm_tree_new(doc, &as_most);

	format_slurm_yaml(t, &as_most, out);
	slurm_tree_free(t);
}

static void ibnetdiscover(struct json_object *doc, FILE *out)
{
	format_ibnetdiscover(doc, 0, out);
}

static void assert_contains(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("no '%s' in:\n%s", words, text);
}

/* ---- hostlists ------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void compresses(const char *words, const char *list)
{
	_cleanup_free_ char *copy = xstrdup(words), *again = NULL;
	char *rest = copy, *names[64], **expanded;
	size_t n = 0, m = 0;

	while (rest && *rest)
		names[n++] = strsep(&rest, " ");
	again = hostlist_compress(names, n);
	assert_string_equal(again, list);
	expanded = hostlist_expand(list, 1000, &m);
	assert_non_null(expanded);
	assert_int_equal(n, m);
	qsort(names, n, sizeof(char *), by_text);
	qsort(expanded, m, sizeof(char *), by_text);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(names[i], expanded[i]);
		free(expanded[i]);
	}
	free(expanded);
}

static void hostlists_come_back(void **state)
{
	compresses("", "");
	compresses("a", "a");
	compresses("n1 n2 n3", "n[1-3]");
	compresses("n3 n1 n2 n7 login", "login,n[1-3,7]");
	compresses("n9 n10 n11", "n[9-11]");
	compresses("n08 n09 n10 n11", "n[08-11]");
	compresses("n8 n08 n008", "n8,n08,n008");
	compresses("n98 n99 n100 n0100", "n[98-100],n0100");
	compresses("r1n1 r1n2 r2n1", "r1n[1-2],r2n1");
	compresses("1 2 3", "[1-3]");
	compresses("x99999999999999999999 x1 x2", "x[1-2],x99999999999999999999");
	compresses("n0 n1 n00 n01", "n[0-1],n[00-01]");
}

/* Random names there and back. */
static void random_hostlists_come_back(void **state)
{
	unsigned seed = 1;

	for (unsigned round = 0; round < 2000; round++) {
		char *names[40], **expanded, *list;
		size_t n = 0, m;

		for (unsigned i = 0; i < 40; i++) {
			int width;
			char *name;

			seed = seed * 1103515245 + 12345;
			width = (int)(seed >> 16) % 4;
			name = xasprintf("%s%0*u", seed >> 20 & 1 ? "n" : "n-x", width,
					 seed >> 18 & 127);
			for (size_t k = 0; name && k < n; k++)
				if (!strcmp(names[k], name)) {
					free(name);
					name = NULL;
				}
			if (name)
				names[n++] = name;
		}
		list = hostlist_compress(names, n);
		expanded = hostlist_expand(list, 1000, &m);
		if (!expanded || n != m)
			fail_msg("%zu names, %s", n, list);
		qsort(names, n, sizeof(char *), by_text);
		qsort(expanded, m, sizeof(char *), by_text);
		for (size_t i = 0; i < n; i++) {
			if (strcmp(names[i], expanded[i]))
				fail_msg("%s: %s, %s", list, names[i], expanded[i]);
			free(names[i]);
			free(expanded[i]);
		}
		free(expanded);
		free(list);
	}
}

/* ---- Slurm ---------------------------------------------------------------------------------- */

static const struct slurm_switch *named(const struct slurm_tree *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->switches[i].name, name))
			return &t->switches[i];
	fail_msg("no switch %s", name);
	return NULL;
}

static void a_fat_tree_is_a_tree(void **state)
{
	struct world w;
	struct slurm_tree *t;
	_cleanup_free_ char *text = NULL;

	fat_tree(&w, 4, 3, 2, "n");
	t = slurm_tree_new(w.doc, &as_most);
	assert_int_equal(t->n_leaves, 4);
	assert_int_equal(t->n, 5);
	assert_int_equal(t->n_hosts, 12);
	assert_int_equal(named(t, "spine1")->n_children, 4);
	slurm_tree_free(t);
	text = print(slurm_conf, &w);
	assert_contains(text, "\nSwitchName=leaf2 Nodes=n[03-05] LinkSpeed=100\n");
	assert_contains(text, "\n# spine1 stands for 2 switches: spine1, spine2\n");
	assert_contains(text, "\nSwitchName=spine1 Switches=leaf[1-4] LinkSpeed=100\n");
	json_object_put(w.doc);
}

/* Two pods of two leaves below a core: pods stay apart. */
static void three_levels_make_three_levels(void **state)
{
	struct world w;
	struct json_object *core, *agg[2], *leaf;
	struct slurm_tree *t;
	char name[32];

	world_new(&w);
	core = add(&w, "switch", 0x4000, "core", 8);
	for (unsigned p = 0; p < 2; p++) {
		snprintf(name, sizeof(name), "agg%u", p);
		agg[p] = add(&w, "switch", 0x3000 + p, name, 8);
		cable(core, 1 + (int)p, agg[p], 8);
		for (unsigned l = 0; l < 2; l++) {
			snprintf(name, sizeof(name), "leaf%u", 2 * p + l);
			leaf = add(&w, "switch", 0x2000 + 2 * p + l, name, 8);
			cable(agg[p], 1 + (int)l, leaf, 8);
			snprintf(name, sizeof(name), "n%u", 2 * p + l);
			cable(leaf, 1, add(&w, "ca", 0x1000 + 16 * (2 * p + l), name, 1), 1);
		}
	}
	t = slurm_tree_new(w.doc, &as_most);
	assert_int_equal(t->n, 4 + 2 + 1);
	assert_int_equal(named(t, "agg0")->n_children, 2);
	assert_int_equal(named(t, "core")->n_children, 2);
	assert_string_equal(t->switches[named(t, "core")->children[0]].name, "agg0");
	slurm_tree_free(t);
	json_object_put(w.doc);
}

static void leaves_joined_by_cables_get_a_switch_on_top(void **state)
{
	struct world w;
	struct json_object *a, *b;
	struct slurm_tree *t;

	world_new(&w);
	a = add(&w, "switch", 0x2000, "a", 8);
	b = add(&w, "switch", 0x2001, "b", 8);
	cable(a, 8, b, 8);
	cable(a, 1, add(&w, "ca", 0x1000, "n1", 1), 1);
	cable(b, 1, add(&w, "ca", 0x1010, "n2", 1), 1);
	t = slurm_tree_new(w.doc, &as_most);
	assert_int_equal(t->n, 3);
	assert_string_equal(t->switches[2].name, "fabric");
	assert_int_equal(t->switches[2].n_children, 2);
	slurm_tree_free(t);
	json_object_put(w.doc);
}

/*
 * Two adapters of one host, an aggregation node, two words that come to the same name, no name at
 * all.
 */
static void odd_hosts_are_remarked(void **state)
{
	struct world w;
	struct json_object *leaf, *other, *aggregation;
	_cleanup_free_ char *text = NULL;

	world_new(&w);
	leaf = add(&w, "switch", 0x2000, "DEFAULT", 8);
	other = add(&w, "switch", 0x2001, "my switch", 8);
	cable(leaf, 8, other, 8);
	cable(leaf, 1, add(&w, "ca", 0x1000, "n1 mlx5_0", 1), 1);
	cable(other, 1, add(&w, "ca", 0x1010, "n1 mlx5_1", 1), 1);
	aggregation = add(&w, "ca", 0x1020, "DEFAULT aggregation node", 1);
	put_text(aggregation, "role", "aggregation");
	cable(leaf, 2, aggregation, 1);
	cable(leaf, 3, add(&w, "ca", 0x1030, "x=y", 1), 1);
	cable(leaf, 4, add(&w, "ca", 0x1040, "x,y", 1), 1);
	cable(leaf, 5, add(&w, "ca", 0x1050, "", 1), 1);
	cable(leaf, 6, add(&w, "ca", 0x1060, "MT4123", 1), 1);
	cable(leaf, 7, add(&w, "ca", 0x1070, "MT4123", 1), 1);
	text = print(slurm_conf, &w);
	assert_contains(text, "# hosts are placed by port 1 (4 of 5 hosts, 1 leaves), not by "
			      "mlx5_0/1 (1 hosts, 1 leaves), mlx5_1/1 (1 hosts");
	assert_contains(text, "# hosts without port 1 are placed by another (1): n1");
	assert_contains(text, "# 1 aggregation nodes");
	assert_contains(text, "# host 'x,y' is called x_y here");
	assert_contains(text, "# host 'x=y' is called x_y_1030 here");
	assert_contains(text, "# several adapters are called 'MT4123'");
	assert_contains(text, "# switch 'DEFAULT' is called DEFAULT_ here");
	assert_contains(text,
			"\nSwitchName=DEFAULT_ Nodes=MT4123,ib0000000000001050,n1,x_y,x_y_1030 ");
	json_object_put(w.doc);
}

/*
 * Four compute leaves below a spine, and a storage switch with the lowest GUID: every host has
 * mlx5_0 there and mlx5_1 on its leaf; "store" has only the former, "login" none but a third
 * adapter.
 */
static void with_storage(struct world *w)
{
	struct json_object *store, *spine, *leaf = NULL;
	char name[64];

	world_new(w);
	store = add(w, "switch", 0x1f00, "store1", 36);
	spine = add(w, "switch", 0x3000, "spine1", 36);
	cable(store, 36, spine, 36);
	for (unsigned i = 0; i < 8; i++) {
		if (i % 2 == 0) {
			snprintf(name, sizeof(name), "leaf%u", i / 2 + 1);
			leaf = add(w, "switch", 0x2000 + i, name, 36);
			cable(leaf, 20, spine, 1 + (int)i);
		}
		snprintf(name, sizeof(name), "n%u mlx5_0", i);
		cable(store, 1 + (int)i, add(w, "ca", 0x1000 + 32 * i, name, 1), 1);
		snprintf(name, sizeof(name), "n%u mlx5_1", i);
		cable(leaf, 1 + (int)i % 2, add(w, "ca", 0x1010 + 32 * i, name, 1), 1);
	}
	cable(store, 20, add(w, "ca", 0x1800, "server mlx5_0", 1), 1);
	cable(leaf, 3, add(w, "ca", 0x1810, "login mlx5_2", 1), 1);
}

static void hosts_of_several_ports_are_placed_where_most_leaves_are(void **state)
{
	struct world w;
	_cleanup_free_ char *text = NULL;

	with_storage(&w);
	text = print(slurm_conf, &w);
	assert_contains(text, "# hosts are placed by port mlx5_1/1 (8 of 10 hosts, 4 leaves), not "
			      "by mlx5_0/1 (9 hosts, "
			      "1 leaves), mlx5_2/1 (1 hosts, 1 leaves)");
	assert_contains(text,
			"# hosts without port mlx5_1/1 are placed by another (2): login, server\n");
	assert_contains(text, "\nSwitchName=leaf1 Nodes=n[0-1] ");
	assert_contains(text, "\nSwitchName=leaf4 Nodes=login,n[6-7] ");
	assert_contains(text, "\nSwitchName=store1 Nodes=server ");
	assert_contains(text, "\nSwitchName=spine1 Switches=leaf[1-4],store1 ");
	json_object_put(w.doc);
}

static char *print_wish(struct world *w, const struct slurm_wish *wish)
{
	struct slurm_tree *t = slurm_tree_new(w->doc, wish);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	format_slurm_conf(t, out);
	fclose(out);
	slurm_tree_free(t);
	return text;
}

/* What is not in the file is in a comment. */
static void a_named_network_leaves_out_by_name(void **state)
{
	const struct slurm_wish by_switch = { .network = "store*" },
				by_port = { .ports = "mlx5_1" };
	_cleanup_free_ char *store = NULL, *leaves = NULL;
	struct world w;

	with_storage(&w);
	store = print_wish(&w, &by_switch);
	assert_contains(store, "\nSwitchName=store1 Nodes=n[0-7],server ");
	assert_contains(
		store,
		"# hosts without such a port are not in here (--network store*; 1): login\n");
	assert_contains(store, "# switches are not in here on which no host is placed, and which "
			       "join no two leaves (5): "
			       "leaf1, leaf2, leaf3, leaf4, spine1\n");
	leaves = print_wish(&w, &by_port);
	assert_contains(leaves, "\nSwitchName=spine1 Switches=leaf[1-4] ");
	assert_contains(
		leaves,
		"# hosts without such a port are not in here (--ports mlx5_1; 2): login, server\n");
	assert_contains(leaves, "# switches are not in here on which no host is placed, and which "
				"join no two leaves (1): store1\n");
	json_object_put(w.doc);
}

/*
 * Two units of three hosts with two rails, in pods of a spine for each rail; the cables of h12 are
 * exchanged. Switches are called as their software does it; one adapter has no name yet.
 */
static void rail_units(struct world *w)
{
	struct json_object *leaf[4], *spine[2];
	char name[32];

	world_new(w);
	for (unsigned i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "MF0;spine%u:MQM9700/U1", i + 1);
		spine[i] = add(w, "switch", 0x3000 + 0x100 * i, name, 64);
	}
	for (unsigned i = 0; i < 4; i++) { /* of the units 1, 1, 2, 2 and the rails 1, 2, 1, 2 */
		snprintf(name, sizeof(name), "MF0;leaf%u:MQM9700/U1", i + 1);
		leaf[i] = add(w, "switch", 0x2000 + 0x100 * i, name, 64);
		cable(leaf[i], 33, spine[i % 2], (int)i + 1);
	}
	for (unsigned h = 0; h < 6; h++)
		for (unsigned rail = 0; rail < 2; rail++) {
			struct json_object *ca;
			unsigned to = 2 * (h / 3) + (h == 1 ? 1 - rail : rail);

			snprintf(name, sizeof(name), "h%u mlx5_%u", 11 + h, rail);
			ca = add(w, "ca", 0x1100 + 0x20 * h + 0x10 * rail, name, 1);
			cable(leaf[to], 1 + (int)h, ca, 1);
		}
	cable(leaf[0], 20, add(w, "ca", 0x1800, "MT4129 ConnectX7   Mellanox Technologies", 1), 1);
}

static void hosts_of_a_unit_are_on_one_leaf_whatever_the_order_of_their_rails(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct world w;

	rail_units(&w);
	text = print(slurm_conf, &w);
	assert_contains(text, ": 6 hosts on 2 leaves.");
	assert_contains(text,
			"# adapters are not in here that no host has given its name, as their "
			"description is that of the factory (1): rdma-ndd");
	assert_contains(text, "# hosts have their ports on the same leaves as others, in another "
			      "order, and are placed with them (1): h12\n");
	assert_contains(text, "# leaf1 stands also for leaves of other rails with the same hosts: "
			      "leaf2\nSwitchName=leaf1 Nodes=h[11-13] ");
	assert_contains(text, "\nSwitchName=leaf3 Nodes=h[14-16] ");
	/* the spine of the other rail is of the same group */
	assert_contains(text, "# spine1 stands for 2 switches: spine1, spine2\n"
			      "SwitchName=spine1 Switches=leaf[1,3] ");
	assert_null(strstr(text, "MF0;"));
	assert_null(strstr(text, "switches are not in here"));
	assert_null(strstr(text, "MT4129"));
	json_object_put(w.doc);
}

static void labels_name_the_leaf_of_each_rail(void **state)
{
	const struct slurm_wish by_system = { .network = "leaf[24]" },
				by_desc = { .network = "MF0;leaf[24]:*" };
	_cleanup_free_ char *text = NULL, *short_form = NULL, *long_form = NULL;
	struct slurm_tree *t;
	struct world w;
	size_t len;
	FILE *out;

	rail_units(&w);
	t = slurm_tree_new(w.doc, &as_most);
	out = open_memstream(&text, &len);
	format_k8s(t, "x", out);
	fclose(out);
	assert_contains(text, "\nkubectl label --overwrite node h12 x/leaf=leaf1 x/pod=spine1 "
			      "x/rail.mlx5_0-1=leaf2 x/rail.mlx5_1-1=leaf1\n");
	slurm_tree_free(t);
	/* a network is named by systems, or as switches describe themselves */
	short_form = print_wish(&w, &by_system);
	long_form = print_wish(&w, &by_desc);
	assert_contains(short_form, "SwitchName=leaf2 Nodes=h[11-13] ");
	assert_contains(long_form, "SwitchName=leaf2 Nodes=h[11-13] ");
	json_object_put(w.doc);
}

static void yaml_holds_the_same(void **state)
{
	struct world w;
	_cleanup_free_ char *text = NULL;

	fat_tree(&w, 2, 2, 1, "n");
	text = print(slurm_yaml, &w);
	assert_contains(text,
			"\n---\n- topology: tree\n  cluster_default: true\n  tree:\n    switches:\n"
			"      - switch: \"leaf1\"\n        nodes: \"n[00-01]\"\n");
	assert_contains(text, "      - switch: \"spine1\"\n        children: \"leaf[1-2]\"\n");
	assert_contains(text, "    block_sizes: [2]\n");
	json_object_put(w.doc);
}

/* ---- names that would break out ------------------------------------------------------------- */

static void hostile(struct world *w)
{
	struct json_object *leaf;

	world_new(w);
	leaf = add(w, "switch", 0x2000, HOSTILE, 8);
	cable(leaf, 1, add(w, "ca", 0x1000, HOSTILE, 1), 1);
	cable(leaf, 2, add(w, "ca", 0x1010, "n2\nSwitchName=evil Nodes=x", 1), 1);
}

static void slurm_keeps_hostile_names_in(void **state)
{
	struct world w;
	_cleanup_free_ char *text = NULL;
	unsigned lines = 0;

	hostile(&w);
	text = print(slurm_conf, &w);
	for (char *line = text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		assert_non_null(end);
		*end = '\0';
		if (line[0] == '#')
			continue;
		lines++;
		assert_int_equal(strncmp(line, "SwitchName=", 11), 0);
		assert_int_equal(
			strspn(line,
			       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			       "=_-.,[] "),
			strlen(line));
	}
	assert_int_equal(lines, 1);
	json_object_put(w.doc);
}

/* Outside of quoted texts a line of DOT has only what we wrote. */
static void dot_keeps_hostile_names_in(void **state)
{
	struct world w;
	_cleanup_free_ char *text = NULL;
	bool quoted = false;

	hostile(&w);
	text = print(format_dot, &w);
	for (char *c = text; *c; c++) {
		if (quoted && *c == '\\')
			c++;
		else if (*c == '"')
			quoted = !quoted;
		else if (quoted)
			assert_true(*c >= ' ');
		else
			assert_null(strchr("#$<>'\\", *c));
	}
	assert_false(quoted);
	json_object_put(w.doc);
}

static void json_keeps_hostile_names_in(void **state)
{
	struct world w;
	struct json_object *again;

	hostile(&w);
	again = json_tokener_parse(
		json_object_to_json_string_ext(w.doc, JSON_C_TO_STRING_NOSLASHESCAPE));
	assert_true(json_object_equal(w.doc, again));
	json_object_put(again);
	json_object_put(w.doc);
}

static struct netfile *read_back(struct world *w)
{
	_cleanup_free_ char *text = print(ibnetdiscover, w);
	char err[256] = "";
	struct netfile *net = netfile_parse(text, strlen(text), err, sizeof(err));

	if (!net)
		fail_msg("%s in\n%s", err, text);
	return net;
}

static void ibnetdiscover_keeps_hostile_names_in(void **state)
{
	struct world w;
	struct netfile *net;

	hostile(&w);
	net = read_back(&w);
	assert_int_equal(net->n_nodes, 3);
	assert_int_equal(net->nodes[0].guid, 0x2000);
	assert_int_equal(net->nodes[0].ports[1].peer_node, 1);
	assert_int_equal(net->nodes[0].ports[2].peer_node, 2);
	netfile_free(net);
	json_object_put(w.doc);
}

static void ibnetdiscover_comes_back(void **state)
{
	struct world w;
	struct netfile *net;
	int leaf, spine;

	fat_tree(&w, 4, 3, 2, "n");
	net = read_back(&w);
	assert_int_equal(net->n_nodes, 4 + 2 + 12);
	leaf = netfile_find(net, "leaf3");
	spine = netfile_find(net, "spine2");
	assert_true(leaf >= 0 && spine >= 0);
	assert_int_equal(net->nodes[leaf].guid, 0x2002);
	assert_int_equal(net->nodes[leaf].nports, 36);
	assert_int_equal(net->nodes[leaf].vendor_id, 0x2c9);
	assert_int_equal(net->nodes[leaf].ports[21].peer_node, spine);
	assert_int_equal(net->nodes[leaf].ports[21].peer_port, 3);
	assert_int_equal(net->nodes[leaf].ports[21].speed, 250);
	assert_int_equal(net->nodes[leaf].ports[0].lid, 2);
	netfile_free(net);
	json_object_put(w.doc);
}

/* What another version of the daemon may leave out crashes no client. */
static void an_empty_document_is_printed(void **state)
{
	struct world w = {
		.doc = json_tokener_parse(
			"{\"nodes\": [{}, 1, null, {\"ports\": [{}, 7]}], \"own\": 3}")
	};

	free(print(ibnetdiscover, &w));
	free(print(format_dot, &w));
	free(print(slurm_conf, &w));
	free(print(slurm_yaml, &w));
	json_object_put(w.doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostlists_come_back),
		cmocka_unit_test(random_hostlists_come_back),
		cmocka_unit_test(a_fat_tree_is_a_tree),
		cmocka_unit_test(three_levels_make_three_levels),
		cmocka_unit_test(leaves_joined_by_cables_get_a_switch_on_top),
		cmocka_unit_test(odd_hosts_are_remarked),
		cmocka_unit_test(hosts_of_a_unit_are_on_one_leaf_whatever_the_order_of_their_rails),
		cmocka_unit_test(labels_name_the_leaf_of_each_rail),
		cmocka_unit_test(yaml_holds_the_same),
		cmocka_unit_test(hosts_of_several_ports_are_placed_where_most_leaves_are),
		cmocka_unit_test(a_named_network_leaves_out_by_name),
		cmocka_unit_test(slurm_keeps_hostile_names_in),
		cmocka_unit_test(dot_keeps_hostile_names_in),
		cmocka_unit_test(json_keeps_hostile_names_in),
		cmocka_unit_test(ibnetdiscover_keeps_hostile_names_in),
		cmocka_unit_test(ibnetdiscover_comes_back),
		cmocka_unit_test(an_empty_document_is_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
