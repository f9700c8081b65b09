// SPDX-License-Identifier: BSD-2-Clause
/*
 * Topologies for Slurm and Kubernetes, of many fabrics, read by a parser of the test: every host
 * once, one tree, sizes and labels that are legal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ib/attrs.h"
#include "opensmctl/format/format.h"
#include "client/js.h"
#include "opensmctl/format/slurm_tree.h"
#include "sim/gen/gen.h"
#include "tests/lib/hostnames.h"
#include "util/mem.h"

#define NAMES_MAX 20000
#define LINE_MOST 1100

/* ---- the document of a fabric --------------------------------------------------------------- */

static void add_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

static void add_guid(struct json_object *o, const char *key, guid_t guid)
{
	_cleanup_free_ char *text = xasprintf("0x%016llx", (unsigned long long)guid);

	add_text(o, key, text);
}

static struct json_object *end_of(const struct netfile_node *n)
{
	struct json_object *o = json_object_new_object();

	add_text(o, "name", n->desc);
	add_text(o, "desc", n->desc);
	add_guid(o, "node_guid", n->guid);
	add_guid(o, "system_guid", n->guid);
	add_text(o, "type", n->type == IB_NODE_SWITCH ? "switch" : "ca");
	return o;
}

static struct json_object *port_of(const struct netfile *net, const struct netfile_node *n,
				   unsigned num)
{
	const struct netfile_port *p = &n->ports[num];
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "port", json_object_new_int((int)num));
	add_text(o, "state", p->peer_node < 0 ? "down" : "active");
	if (p->peer_node < 0)
		return o;
	json_object_object_add(o, "gbps", json_object_new_int(100));
	json_object_object_add(o, "peer", end_of(&net->nodes[p->peer_node]));
	return o;
}

static struct json_object *doc_of(const struct netfile *net)
{
	struct json_object *doc = json_object_new_object(), *nodes = json_object_new_array();

	json_object_object_add(doc, "nodes", nodes);
	for (size_t i = 0; i < net->n_nodes; i++) {
		struct json_object *o = end_of(&net->nodes[i]), *ports = json_object_new_array();

		json_object_object_add(o, "ports", ports);
		for (unsigned p = 1; p <= net->nodes[i].nports; p++)
			json_object_array_add(ports, port_of(net, &net->nodes[i], p));
		json_object_array_add(nodes, o);
	}
	return doc;
}

/* Unplugs about `percent` of the cables between switches. */
static void damage(struct netfile *net, unsigned percent, unsigned seed)
{
	for (size_t i = 0; i < net->n_nodes; i++)
		for (unsigned p = 1; p <= net->nodes[i].nports; p++) {
			struct netfile_port *port = &net->nodes[i].ports[p];

			seed = seed * 1103515245 + 12345;
			if (port->peer_node < 0 || net->nodes[i].type != IB_NODE_SWITCH ||
			    net->nodes[port->peer_node].type != IB_NODE_SWITCH ||
			    (seed >> 16) % 100 >= percent)
				continue;
			net->nodes[port->peer_node].ports[port->peer_port].peer_node = -1;
			port->peer_node = -1;
		}
}

static struct netfile *net_of(const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);
	const char *words[8];
	struct netfile *net;
	char *rest = copy, err[256];
	unsigned n = 0;

	while (rest && n < ARRAY_SIZE(words))
		words[n++] = strsep(&rest, " ");
	net = gen_words(n, words, err, sizeof(err));
	if (!net)
		fail_msg("%s: %s", text, err);
	return net;
}

/* First words of the adapters that are linked to a switch, each once, sorted. */
struct names {
	char **all;
	size_t n;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_name(struct names *to, const char *name, size_t len)
{
	assert_true(to->n < NAMES_MAX);
	to->all = xrealloc(to->all, to->n + 1, sizeof(char *));
	to->all[to->n++] = xasprintf("%.*s", (int)len, name);
}

static void names_clear(struct names *n)
{
	for (size_t i = 0; i < n->n; i++)
		free(n->all[i]);
	free(n->all);
	*n = (struct names){ 0 };
}

static struct names hosts_of(const struct netfile *net)
{
	struct names ret = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < net->n_nodes; i++) {
		const struct netfile_node *n = &net->nodes[i];
		bool linked = false;

		for (unsigned p = 1; p <= n->nports; p++)
			if (n->ports[p].peer_node >= 0 &&
			    net->nodes[n->ports[p].peer_node].type == IB_NODE_SWITCH)
				linked = true;
		if (n->type == IB_NODE_CA && linked)
			add_name(&ret, n->desc, strcspn(n->desc, " "));
	}
	if (ret.n)
		qsort(ret.all, ret.n, sizeof(char *), by_text);
	for (size_t i = 0; i < ret.n; i++)
		if (kept && !strcmp(ret.all[kept - 1], ret.all[i]))
			free(ret.all[i]);
		else
			ret.all[kept++] = ret.all[i];
	ret.n = kept;
	return ret;
}

static void assert_same(struct names *seen, const struct names *hosts, const char *what)
{
	if (seen->n)
		qsort(seen->all, seen->n, sizeof(char *), by_text);
	for (size_t i = 0; i < seen->n && i < hosts->n; i++)
		if (strcmp(seen->all[i], hosts->all[i]) != 0)
			fail_msg("%s: %s, expected %s", what, seen->all[i], hosts->all[i]);
	if (seen->n != hosts->n)
		fail_msg("%s: %zu hosts, expected %zu", what, seen->n, hosts->n);
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Lines without comments, those that "\" ends joined with the next, blanks after it skipped. */
static struct names lines_of(const char *text)
{
	struct names ret = { 0 };
	_cleanup_free_ char *line = xstrdup("");

	while (*text) {
		size_t len = strcspn(text, "\n");
		bool goes_on = len && text[len - 1] == '\\';
		char *more;

		assert_int_equal(text[len], '\n');
		if (text[0] != '#' && len > LINE_MOST)
			fail_msg("a line of %zu bytes", len);
		more = xasprintf("%s%.*s", line, (int)(len - goes_on), text);
		free(line);
		line = more;
		text += len + 1;
		if (goes_on)
			continue;
		if (line[strspn(line, " ")] != '#' && line[0])
			add_name(&ret, line, strlen(line));
		free(line);
		line = xstrdup("");
	}
	assert_string_equal(line, "");
	return ret;
}

static void assert_name(const char *name)
{
	assert_true(name[0] && name[0] != '-');
	assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-"),
			 strlen(name));
}

/* ---- Slurm ---------------------------------------------------------------------------------- */

struct read_switch {
	char name[80];
	struct names nodes, children;
	int parent;
};

struct read_tree {
	struct read_switch *all;
	size_t n;
};

static struct read_switch *add_switch(struct read_tree *t, const char *name, const char *key,
				      const char *list)
{
	struct read_switch *s;
	struct names names;

	assert_name(name);
	for (size_t i = 0; i < t->n; i++)
		assert_string_not_equal(t->all[i].name, name);
	names.all = hostlist_expand(list, NAMES_MAX, &names.n);
	if (!names.all || !names.n)
		fail_msg("no list: %s", list);
	t->all = xrealloc(t->all, t->n + 1, sizeof(*t->all));
	s = &t->all[t->n++];
	*s = (struct read_switch){ .parent = -1 };
	snprintf(s->name, sizeof(s->name), "%s", name);
	if (!strcmp(key, "Nodes") || !strcmp(key, "nodes"))
		s->nodes = names;
	else if (!strcmp(key, "Switches") || !strcmp(key, "children"))
		s->children = names;
	else
		fail_msg("no such key: %s", key);
	return s;
}

/* Every child is a switch, of one other; a switch has hosts or children. Returns the roots. */
static size_t find_parents(struct read_tree *t)
{
	size_t roots = 0;

	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->all[i].children.n; k++) {
			size_t c = 0;

			while (c < t->n && strcmp(t->all[c].name, t->all[i].children.all[k]) != 0)
				c++;
			assert_true(c < i); /* children stand before their parent: no cycle */
			assert_int_equal(t->all[c].parent, -1);
			t->all[c].parent = (int)i;
		}
	for (size_t i = 0; i < t->n; i++)
		if (t->all[i].parent < 0)
			roots++;
	return roots;
}

static void check_tree(struct read_tree *t, const struct slurm_tree *from,
		       const struct names *hosts)
{
	struct names seen = { 0 };

	assert_int_equal(find_parents(t), from->n_roots);
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < t->all[i].nodes.n; k++)
			add_name(&seen, t->all[i].nodes.all[k], strlen(t->all[i].nodes.all[k]));
	assert_same(&seen, hosts, "tree");
	names_clear(&seen);
	for (size_t i = 0; i < t->n; i++) {
		names_clear(&t->all[i].nodes);
		names_clear(&t->all[i].children);
	}
	free(t->all);
}

static void read_conf(const char *text, struct read_tree *ret)
{
	struct names lines = lines_of(text);

	for (size_t i = 0; i < lines.n; i++) {
		_cleanup_free_ char *name = NULL, *key = NULL, *list = NULL;
		unsigned speed = 0;
		int end = 0;

		if (sscanf(lines.all[i], "SwitchName=%m[^ ] %m[^=]=%ms LinkSpeed=%u%n", &name, &key,
			   &list, &speed, &end) < 3 ||
		    (end && lines.all[i][end]))
			fail_msg("not understood: %s", lines.all[i]);
		add_switch(ret, name, key, list);
	}
	names_clear(&lines);
}

static bool is_power_of_two(unsigned long long n)
{
	return n && !(n & (n - 1));
}

static void check_sizes(const char *list, size_t least)
{
	unsigned long long before = 0, size;
	char *end;

	for (; *list; list = *end ? end + strspn(end, ", ") : end) {
		size = strtoull(list, &end, 10);
		assert_true(end != list && size > 0);
		if (before)
			assert_true(size % before == 0 && is_power_of_two(size / before) &&
				    size > before);
		else
			assert_true(size <= least);
		before = size;
	}
	assert_true(before > 0);
}

static void check_block(const char *text, const struct names *hosts)
{
	struct names lines = lines_of(text), seen = { 0 };
	size_t least = SIZE_MAX;
	struct read_tree blocks = { 0 };

	for (size_t i = 0; i + 1 < lines.n; i++) {
		_cleanup_free_ char *name = NULL, *list = NULL;
		struct read_switch *b;

		assert_int_equal(
			sscanf(lines.all[i], "BlockName=%m[^ ] Nodes=%ms", &name, &list), 2);
		b = add_switch(&blocks, name, "Nodes", list);
		least = MIN(least, b->nodes.n);
		for (size_t k = 0; k < b->nodes.n; k++)
			add_name(&seen, b->nodes.all[k], strlen(b->nodes.all[k]));
		names_clear(&b->nodes);
	}
	if (lines.n) {
		assert_memory_equal(lines.all[lines.n - 1], "BlockSizes=", 11);
		check_sizes(lines.all[lines.n - 1] + 11, least);
	}
	assert_same(&seen, hosts, "block");
	names_clear(&seen);
	names_clear(&lines);
	free(blocks.all);
}

/* The "tree" of topology.yaml, by its lines. */
static void read_yaml(const char *text, struct read_tree *ret)
{
	struct names lines = lines_of(text);
	bool in_tree = false;

	assert_string_equal(lines.all[0], "---");
	for (size_t i = 1; i < lines.n; i++) {
		_cleanup_free_ char *name = NULL, *key = NULL, *list = NULL;

		if (!strncmp(lines.all[i], "- topology: ", 12))
			in_tree = !strcmp(lines.all[i] + 12, "tree");
		if (!in_tree || sscanf(lines.all[i], "      - switch: \"%m[^\"]\"", &name) != 1)
			continue;
		assert_true(i + 1 < lines.n);
		assert_int_equal(sscanf(lines.all[i + 1], "        %m[a-z]: \"%m[^\"]\"", &key,
					&list),
				 2);
		add_switch(ret, name, key, list);
	}
	names_clear(&lines);
}

/* ---- Kubernetes ----------------------------------------------------------------------------- */

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void assert_part(const char *text, size_t len)
{
	assert_true(len >= 1 && len <= 63);
	assert_true(is_alnum(text[0]) && is_alnum(text[len - 1]));
	for (size_t i = 0; i < len; i++)
		assert_true(is_alnum(text[i]) || strchr("._-", text[i]));
}

static void check_label(const char *word, const char *prefix)
{
	size_t len = strlen(prefix), name;

	assert_memory_equal(word, prefix, len);
	assert_int_equal(word[len], '/');
	word += len + 1;
	name = strcspn(word, "=");
	assert_part(word, name);
	assert_int_equal(word[name], '=');
	assert_part(word + name + 1, strlen(word + name + 1));
}

static void check_k8s(const char *text, const struct names *hosts, const char *prefix)
{
	static const char start[] = "kubectl label --overwrite node ";
	struct names lines = lines_of(text), seen = { 0 };

	for (size_t i = 0; i < lines.n; i++) {
		char *rest = lines.all[i] + sizeof(start) - 1, *host, *word;
		unsigned labels = 0;

		assert_memory_equal(lines.all[i], start, sizeof(start) - 1);
		host = strsep(&rest, " ");
		add_name(&seen, host, strlen(host));
		while ((word = strsep(&rest, " "))) {
			check_label(word, prefix);
			labels++;
		}
		assert_true(labels >= 1);
	}
	assert_same(&seen, hosts, "k8s");
	names_clear(&seen);
	names_clear(&lines);
}

/* ---- all formats of one fabric -------------------------------------------------------------- */

static char *print(struct slurm_tree *t, const struct slurm_wish *wish, char kind)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (kind == 't')
		format_slurm_conf(t, out);
	else if (kind == 'b')
		format_slurm_block(t, wish, out);
	else if (kind == 'y')
		format_slurm_yaml(t, wish, out);
	else
		format_k8s(t, "topology.infiniband", out);
	fclose(out);
	return text;
}

static void check_net(const struct netfile *net)
{
	static const struct slurm_wish wishes[] = { { 0 }, { .pods = true } };
	struct json_object *doc = doc_of(net);
	struct names hosts = hosts_of(net);

	for (size_t i = 0; i < ARRAY_SIZE(wishes); i++) {
		struct slurm_tree *t = slurm_tree_new(doc, &wishes[i]);
		_cleanup_free_ char *conf = print(t, &wishes[i], 't'),
				    *block = print(t, &wishes[i], 'b'),
				    *yaml = print(t, &wishes[i], 'y'),
				    *k8s = print(t, &wishes[i], 'k');
		struct read_tree by_conf = { 0 }, by_yaml = { 0 };

		read_conf(conf, &by_conf);
		check_tree(&by_conf, t, &hosts);
		read_yaml(yaml, &by_yaml);
		check_tree(&by_yaml, t, &hosts);
		check_block(block, &hosts);
		check_k8s(k8s, &hosts, "topology.infiniband");
		assert_int_equal(t->n_left_out, 0);
		slurm_tree_free(t);
	}
	names_clear(&hosts);
	json_object_put(doc);
}

static void every_fabric_gives_legal_files(void **state)
{
	static const char *const kinds[] = {
		"fat-tree2 4", "fat-tree2 8", "fat-tree2 36", "fat-tree3 4", "fat-tree3 8",
		"tree 3 1 2", "tree 4 32 2", "tree 4 33 2 3", "tree 2 250 2", "torus 3 3 3 2",
		"torus 4 1 1 1", "mesh 3 3 1 2", "dragonfly 5 4 2", "dragonfly 9 4 4",
		"hypercube 4 2", "ring 6 3", "random 12 4 3 7", "single 1", "single 2",
		"single 32", "single 33", "single 254", "pair",
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (unsigned percent = 0; percent <= 100; percent += percent < 20 ? 10 : 80) {
			_cleanup_(netfile_freep) struct netfile *net = net_of(kinds[i]);

			damage(net, percent, (unsigned)i + 1);
			check_net(net);
		}
}

static void every_odd_cluster_gives_legal_files(void **state)
{
	for (unsigned i = 0; gen_odd_name(i); i++)
		for (unsigned percent = 0; percent <= 10; percent += 10) {
			_cleanup_(netfile_freep) struct netfile *net = gen_odd(gen_odd_name(i));

			damage(net, percent, i + 1);
			check_net(net);
		}
}

/* ---- rails ---------------------------------------------------------------------------------- */

/*
 * `units` of `hosts` with eight adapters, each on the leaf of its rail, leaves below four spines.
 * Hosts are gpu01 ..., leaves su0-rail0 ...
 */
static struct netfile *rails(unsigned units, unsigned hosts, const char *fmt)
{
	struct netfile *net = gen_tree(units * 8, hosts, 4, 1);

	for (unsigned leaf = 0; leaf < units * 8; leaf++) {
		char name[16];
		int at;

		for (unsigned h = 0; h < hosts; h++) {
			snprintf(name, sizeof(name), "h%u", leaf * hosts + h);
			at = netfile_find(net, name);
			assert_true(at >= 0);
			snprintf(net->nodes[at].desc, sizeof(net->nodes[at].desc), fmt,
				 leaf / 8 * hosts + h + 1, leaf % 8);
		}
		snprintf(name, sizeof(name), "leaf%u", leaf + 1);
		at = netfile_find(net, name);
		assert_true(at >= 0);
		snprintf(net->nodes[at].desc, sizeof(net->nodes[at].desc), "su%u-rail%u", leaf / 8,
			 leaf % 8);
	}
	return net;
}

static void assert_contains(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("no '%s' in:\n%s", words, text);
}

static void rails_make_one_leaf_of_a_unit(void **state)
{
	static const struct slurm_wish wish = { 0 };
	_cleanup_(netfile_freep) struct netfile *net = rails(4, 16, "gpu%02u mlx5_%u");
	struct json_object *doc = doc_of(net);
	struct slurm_tree *t = slurm_tree_new(doc, &wish);
	_cleanup_free_ char *conf = print(t, &wish, 't'), *k8s = print(t, &wish, 'k'),
			    *block = print(t, &wish, 'b');

	assert_int_equal(t->n_leaves, 4);
	assert_int_equal(t->n_bare, 0);
	assert_contains(conf, "\nSwitchName=su1-rail0 Nodes=gpu[17-32] LinkSpeed=100\n");
	assert_contains(conf, "# su1-rail0 stands also for leaves of other rails with the same "
			      "hosts: su1-rail1, su1-rail2, su1-rail3, su1-rail4, su1-rail5, "
			      "su1-rail6, su1-rail7\n");
	assert_contains(conf, " Switches=su0-rail0,su1-rail0,su2-rail0,su3-rail0 ");
	assert_contains(block, "\nBlockName=su3-rail0 Nodes=gpu[49-64]\nBlockSizes=16\n");
	assert_contains(k8s, "kubectl label --overwrite node gpu17 "
			     "topology.infiniband/leaf=su1-rail0 topology.infiniband/pod=spine1 "
			     "topology.infiniband/rail.mlx5_0-1=su1-rail0 "
			     "topology.infiniband/rail.mlx5_1-1=su1-rail1 ");
	slurm_tree_free(t);
	json_object_put(doc);
	check_net(net);
}

/* Adapters that have no names of their own: all are called as the host. */
static void rails_without_names_of_devices_too(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = rails(3, 8, "gpu%u");
	_cleanup_(netfile_freep) struct netfile *hurt = rails(3, 8, "gpu%u mlx5_%u");

	check_net(net);
	/* A host whose first rail is unplugged; a leaf without uplinks. */
	for (size_t i = 0; i < hurt->n_nodes; i++)
		if (!strcmp(hurt->nodes[i].desc, "gpu3 mlx5_0")) {
			struct netfile_port *p = &hurt->nodes[i].ports[1];

			hurt->nodes[p->peer_node].ports[p->peer_port].peer_node = -1;
			p->peer_node = -1;
		}
	check_net(hurt);
	damage(hurt, 50, 3);
	check_net(hurt);
}

/* ---- blocks, lines, labels ------------------------------------------------------------------ */

static void pods_make_blocks_and_sizes(void **state)
{
	static const struct slurm_wish leaf = { 0 }, pods = { .pods = true },
				       large = { .block_size = 5 };
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree3(8);
	struct json_object *doc = doc_of(net);
	struct slurm_tree *t = slurm_tree_new(doc, &leaf);
	_cleanup_free_ char *by_leaf = print(t, &leaf, 'b'), *by_pod = print(t, &pods, 'b'),
			    *none = print(t, &large, 'b');

	assert_contains(by_leaf, "\nBlockSizes=4,16\n");
	assert_contains(by_pod, "\nBlockSizes=16\n");
	assert_contains(by_pod, "\nBlockName=agg1 Nodes=h[0-15]\n");
	assert_contains(none, "has fewer than 5 hosts (4) and is not in here");
	assert_null(strstr(none, "\nBlock"));
	assert_int_equal(t->n_left_out, 128);
	slurm_tree_free(t);
	json_object_put(doc);
}

/* Names that make no range: the list of a leaf has 254 of them, lines stay short. */
static void long_lists_go_on_in_the_next_line(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_single(254);

	for (size_t i = 0; i < net->n_nodes; i++)
		if (net->nodes[i].type == IB_NODE_CA)
			snprintf(net->nodes[i].desc, sizeof(net->nodes[i].desc),
				 "a-host-with-a-name-that-is-rather-long-%zu-a", i);
	check_net(net);
}

static void labels_are_cut_and_stay_different(void **state)
{
	static const char names[][2][65] = {
		{ "leaf1_", "leaf1-" },
		{ "a-switch-in-the-third-rack-of-the-second-row-of-the-hall-a-0001",
		  "a-switch-in-the-third-rack-of-the-second-row-of-the-hall-a-00012" },
	};
	static const struct slurm_wish wish = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 2, 1, 1);
		struct json_object *doc;
		struct slurm_tree *t;
		_cleanup_free_ char *text = NULL;
		char first[128], third[128];

		for (unsigned k = 0; k < 2; k++)
			memcpy(net->nodes[netfile_find(net, k ? "leaf2" : "leaf1")].desc,
			       names[i][k], 65);
		check_net(net);
		doc = doc_of(net);
		t = slurm_tree_new(doc, &wish);
		text = print(t, &wish, 'k');
		assert_int_equal(sscanf(strstr(text, " h0 "), " h0 %127s", first), 1);
		assert_int_equal(sscanf(strstr(text, " h2 "), " h2 %127s", third), 1);
		assert_string_not_equal(first, third);
		slurm_tree_free(t);
		json_object_put(doc);
	}
}

static void call(struct netfile *net, const char *node, const char *desc)
{
	struct netfile_node *n = &net->nodes[netfile_find(net, node)];

	snprintf(n->desc, sizeof(n->desc), "%s", desc);
}

static void hosts_that_kubernetes_cannot_have_are_comments(void **state)
{
	static const struct slurm_wish wish = { 0 };
	_cleanup_(netfile_freep) struct netfile *net = gen_single(4);
	struct json_object *doc;
	struct slurm_tree *t;
	_cleanup_free_ char *text = NULL;

	call(net, "h0", "bad_host");
	call(net, "h1", "Node7.example.org");
	call(net, "h2", "H3");
	doc = doc_of(net);
	t = slurm_tree_new(doc, &wish);
	text = print(t, &wish, 'k');
	assert_contains(text, "\n# host bad_host: Kubernetes has no node of such a name\n");
	assert_contains(text, "\n# host H3: Kubernetes has no node of this name alone\n");
	assert_contains(text, "\n# host h3: Kubernetes has no node of this name alone\n");
	assert_contains(text, "\nkubectl label --overwrite node node7.example.org topology");
	assert_int_equal(t->n_left_out, 3);
	slurm_tree_free(t);
	json_object_put(doc);
}

static void prefixes_are_domains(void **state)
{
	assert_true(format_k8s_prefix_is_legal("network.topology.nvidia.com"));
	assert_true(format_k8s_prefix_is_legal("a"));
	assert_false(format_k8s_prefix_is_legal(""));
	assert_false(format_k8s_prefix_is_legal("a..b"));
	assert_false(format_k8s_prefix_is_legal("-a"));
	assert_false(format_k8s_prefix_is_legal("a/b"));
	assert_false(format_k8s_prefix_is_legal("A.b"));
	assert_false(format_k8s_prefix_is_legal("a;rm -rf b"));
}

/* A torus and a dragonfly are said to be no trees; trees are not. */
static void what_is_no_tree_is_known(void **state)
{
	static const struct {
		const char *net;
		bool is_tree;
	} all[] = {
		{ "fat-tree2 4", true }, { "fat-tree3 4", true }, { "single 3", true },
		{ "torus 3 3 1 2", false }, { "dragonfly 5 4 2", false }, { "ring 4 1", false },
	};
	static const struct slurm_wish wish = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		_cleanup_(netfile_freep) struct netfile *net = net_of(all[i].net);
		struct json_object *doc = doc_of(net);
		struct slurm_tree *t = slurm_tree_new(doc, &wish);

		assert_int_equal(t->is_no_tree, !all[i].is_tree);
		assert_int_equal(t->n_roots, 1);
		slurm_tree_free(t);
		json_object_put(doc);
	}
}

/* Links that are held down have a peer all the same: leaves below them are trees of their own. */
static void links_that_are_down_join_nothing(void **state)
{
	static const struct slurm_wish wish = { 0 };
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(3, 2, 1, 1);
	struct json_object *doc = doc_of(net), *nodes = js_get(doc, "nodes");
	_cleanup_free_ char *text = NULL;
	struct slurm_tree *t;

	for (size_t i = 0; i < js_len(nodes); i++) {
		struct json_object *ports = js_get(js_at(nodes, i), "ports");

		for (size_t p = 0; p < js_len(ports); p++)
			if (!strncmp(js_str(js_at(nodes, i), "name"), "spine", 5) ||
			    !strncmp(js_str(js_get(js_at(ports, p), "peer"), "name"), "spine", 5))
				add_text(js_at(ports, p), "state", "down");
	}
	t = slurm_tree_new(doc, &wish);
	text = print(t, &wish, 't');
	assert_int_equal(t->n_roots, 3);
	assert_int_equal(t->n, 3);
	assert_contains(text, "# these are 3 trees: no cable that is up joins them");
	slurm_tree_free(t);
	json_object_put(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fabric_gives_legal_files),
		cmocka_unit_test(every_odd_cluster_gives_legal_files),
		cmocka_unit_test(rails_make_one_leaf_of_a_unit),
		cmocka_unit_test(rails_without_names_of_devices_too),
		cmocka_unit_test(pods_make_blocks_and_sizes),
		cmocka_unit_test(long_lists_go_on_in_the_next_line),
		cmocka_unit_test(labels_are_cut_and_stay_different),
		cmocka_unit_test(hosts_that_kubernetes_cannot_have_are_comments),
		cmocka_unit_test(prefixes_are_domains),
		cmocka_unit_test(what_is_no_tree_is_known),
		cmocka_unit_test(links_that_are_down_join_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
