// SPDX-License-Identifier: BSD-2-Clause
/*
 * topology: the fabric in a table, or as others want it. The table begins with what is there and how it is
 * linked, so that a cable that is slower than its fellows is seen; then a row per switch.
 */
#include <string.h>
#include <time.h>

#include "opensmctl/format.h"
#include "opensmctl/show.h"
#include "util/mem.h"

/* ---- the table ------------------------------------------------------------------------------ */

struct kind {
	char link[32];
	const char *between; /* "between switches" */
	unsigned n;
};

struct counts {
	unsigned switches, hosts, routers;
	struct kind kinds[32];
	size_t n_kinds;
};

static bool is_switch(struct json_object *o)
{
	return !strcmp(js_str(o, "type"), "switch");
}

/* Each cable once. */
static bool is_first(struct json_object *node, struct json_object *port, struct json_object *peer)
{
	int order = strcmp(js_str(node, "node_guid"), js_str(peer, "node_guid"));

	return order ? order < 0 : js_int(port, "port") < js_int(peer, "port");
}

static void count_cable(struct counts *n, struct json_object *node, struct json_object *port)
{
	struct json_object *peer = js_get(port, "peer");
	const char *between;
	struct kind kind;
	size_t i;

	if (!peer || !is_first(node, port, peer))
		return;
	between = is_switch(node) && is_switch(peer) ? "between switches" : "to hosts";
	show_link(port, kind.link);
	for (i = 0; i < n->n_kinds; i++)
		if (!strcmp(n->kinds[i].link, kind.link) && n->kinds[i].between == between)
			break;
	if (i == ARRAY_SIZE(n->kinds))
		return;
	if (i == n->n_kinds) {
		n->kinds[n->n_kinds] = (struct kind){ .between = between };
		snprintf(n->kinds[n->n_kinds++].link, sizeof(kind.link), "%s", kind.link);
	}
	n->kinds[i].n++;
}

static void count(struct counts *n, struct json_object *nodes)
{
	for (size_t i = 0; i < js_len(nodes); i++) {
		struct json_object *node = js_at(nodes, i), *ports = js_get(node, "ports");

		if (is_switch(node))
			n->switches++;
		else if (!strcmp(js_str(node, "type"), "router"))
			n->routers++;
		else
			n->hosts++;
		for (size_t p = 0; p < js_len(ports); p++)
			count_cable(n, node, js_at(ports, p));
	}
}

static void print_counts(const struct counts *n)
{
	char text[64];

	printf("%s, ", ctl_plural(n->hosts, "adapter", text));
	printf("%u switch%s", n->switches, n->switches == 1 ? "" : "es");
	if (n->routers)
		printf(", %s", ctl_plural(n->routers, "router", text));
	putchar('\n');
	for (size_t i = 0; i < n->n_kinds; i++)
		printf("%s %s%s%s\n", ctl_plural(n->kinds[i].n, "cable", text), n->kinds[i].between,
		       n->kinds[i].link[0] ? ": " : " that are down", n->kinds[i].link);
	putchar('\n');
}

struct neighbour {
	const char *name;
	unsigned n;
};

static void add_neighbour(struct neighbour *all, size_t *n, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(all[i].name, name)) {
			all[i].n++;
			return;
		}
	all[(*n)++] = (struct neighbour){ .name = name, .n = 1 };
}

/* "spine1 x2, spine2 and 34 more" */
static char *neighbours(struct json_object *ports, unsigned *ret_hosts, unsigned *ret_active,
			unsigned *ret_cabled)
{
	_cleanup_free_ struct neighbour *all = xcalloc(js_len(ports) + 1, sizeof(*all));
	char *text = NULL;
	size_t n = 0, len;
	FILE *out = open_memstream(&text, &len);

	*ret_hosts = *ret_active = *ret_cabled = 0;
	for (size_t p = 0; p < js_len(ports); p++) {
		struct json_object *peer = js_get(js_at(ports, p), "peer");

		*ret_active += !strcmp(js_str(js_at(ports, p), "state"), "active");
		*ret_cabled += peer != NULL;
		if (peer && is_switch(peer))
			add_neighbour(all, &n, js_str(peer, "name"));
		else
			*ret_hosts += peer != NULL;
	}
	for (size_t i = 0; i < n && i < 4; i++) {
		fprintf(out, "%s%s", i ? ", " : "", all[i].name);
		if (all[i].n > 1)
			fprintf(out, " x%u", all[i].n);
	}
	if (n > 4)
		fprintf(out, " and %zu more", n - 4);
	fclose(out);
	return text;
}

static void print_table(struct ctl *c, struct json_object *nodes)
{
	static const char *const heads[] = { "SWITCH", "LID>", "ACTIVE>", "CABLED>", "PORTS>", "HOSTS>",
					     "SWITCHES BEHIND IT", NULL };
	struct table *t = table_new(c, heads);
	struct counts n = { 0 };

	count(&n, nodes);
	if (!c->oneline)
		print_counts(&n);
	for (size_t i = 0; i < js_len(nodes); i++) {
		struct json_object *node = js_at(nodes, i);
		unsigned hosts, active, cabled;
		_cleanup_free_ char *others = NULL;

		if (!is_switch(node))
			continue;
		others = neighbours(js_get(node, "ports"), &hosts, &active, &cabled);
		table_cell(t, CTL_NAME, "%s", js_str(node, "name"));
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(node, "lid"));
		table_cell(t, active < cabled ? CTL_BAD : CTL_PLAIN, "%u", active);
		table_cell(t, CTL_PLAIN, "%u", cabled);
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(node, "n_ports"));
		table_cell(t, CTL_PLAIN, "%u", hosts);
		table_cell(t, CTL_PLAIN, "%s", others);
	}
	table_print(t);
}

/* ---- the command ---------------------------------------------------------------------------- */

enum format { FORMAT_TABLE, FORMAT_IBNETDISCOVER, FORMAT_JSON, FORMAT_DOT, FORMAT_CONF, FORMAT_YAML };

static const char *const format_names[] = {
	[FORMAT_TABLE] = "table", [FORMAT_IBNETDISCOVER] = "ibnetdiscover", [FORMAT_JSON] = "json",
	[FORMAT_DOT] = "dot",	  [FORMAT_CONF] = "slurm-conf",		    [FORMAT_YAML] = "slurm-yaml",
	NULL,
};

static int print(struct ctl *c, struct json_object *doc, enum format format)
{
	switch (format) {
	case FORMAT_TABLE:
		print_table(c, js_get(doc, "nodes"));
		break;
	case FORMAT_IBNETDISCOVER:
		format_ibnetdiscover(doc, time(NULL), stdout);
		break;
	case FORMAT_JSON:
		ctl_print_json(c, doc);
		break;
	case FORMAT_DOT:
		format_dot(doc, stdout);
		break;
	case FORMAT_CONF:
		format_slurm_conf(doc, stdout);
		break;
	case FORMAT_YAML:
		format_slurm_yaml(doc, stdout);
		break;
	}
	return CTL_OK;
}

int cmd_topology(struct ctl *c, int argc, char **argv)
{
	struct json_object *doc;
	const char *name = c->json ? "json" : "table";
	int format, r;

	if (argc == 1 && !strncmp(argv[0], "--format=", 9))
		name = argv[0] + 9;
	else if (argc == 2 && (!strcmp(argv[0], "--format") || !strcmp(argv[0], "-f") ||
			       !strcmp(argv[0], "format")))
		name = argv[1];
	else if (argc)
		return ctl_usage(&show_commands[0], "'%s' is not understood", argv[0]);
	format = ctl_match(name, format_names);
	if (format < 0)
		return ctl_usage(&show_commands[0], "there is no format '%s'", name);
	doc = ctl_call(c, "Topology", NULL);
	if (!doc)
		return c->exit_code;
	r = print(c, doc, (enum format)format);
	json_object_put(doc);
	return r;
}
