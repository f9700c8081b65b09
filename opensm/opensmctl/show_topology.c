// SPDX-License-Identifier: BSD-2-Clause
/*
 * topology: the fabric in a table, or as others want it. The table begins with what is there and
 * how it is linked, so that a cable that is slower than its fellows is seen; then a row per switch.
 */
#include <string.h>
#include <time.h>

#include "client/client.h"
#include "opensmctl/format/format.h"
#include "opensmctl/show.h"
#include "opensmctl/show_scheduler.h"
#include "util/mem.h"

/* ---- the table ------------------------------------------------------------------------------ */

struct kind {
	char link[32];
	const char *between; /* "between switches" */
	unsigned n;
};

struct counts {
	unsigned switches, hosts, routers, aggregation;
	struct kind kinds[32];
	size_t n_kinds;
};

static bool is_switch(struct json_object *o)
{
	return !strcmp(js_str(o, "type"), "switch");
}

/* Is it an aggregation node of a switch (SHARP), and so no host? */
static bool is_aggregation(struct json_object *o)
{
	return !strcmp(js_str(o, "role"), "aggregation");
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

	if (!peer || !is_first(node, port, peer) || is_aggregation(node) || is_aggregation(peer))
		return;
	between = is_switch(node) && is_switch(peer) ? "between switches" : "to hosts";
	ctl_link(port, kind.link);
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

static void count_fabric(struct counts *n, struct json_object *nodes)
{
	for (size_t i = 0; i < js_len(nodes); i++) {
		struct json_object *node = js_at(nodes, i), *ports = js_get(node, "ports");

		if (is_switch(node))
			n->switches++;
		else if (!strcmp(js_str(node, "type"), "router"))
			n->routers++;
		else if (is_aggregation(node))
			n->aggregation++;
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
	if (n->aggregation)
		printf(", %s", ctl_plural(n->aggregation, "aggregation node", text));
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
static char *neighbours_text(const struct neighbour *all, size_t n)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

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

/* Adds to a switch what its ports come to. */
static void add_sums(struct json_object *node)
{
	struct json_object *ports = js_get(node, "ports");
	_cleanup_free_ struct neighbour *all = xcalloc(js_len(ports) + 1, sizeof(*all));
	_cleanup_free_ char *others = NULL;
	int active = 0, cabled = 0, hosts = 0;
	size_t n = 0;

	for (size_t p = 0; p < js_len(ports); p++) {
		struct json_object *peer = js_get(js_at(ports, p), "peer");

		if (!strcmp(js_str(js_at(ports, p), "state"), "active"))
			active++;
		if (!peer)
			continue;
		cabled++;
		if (is_switch(peer))
			add_neighbour(all, &n, js_str(peer, "name"));
		else
			hosts += !is_aggregation(peer);
	}
	others = neighbours_text(all, n);
	json_object_object_add(node, "active", json_object_new_int(active));
	json_object_object_add(node, "cabled", json_object_new_int(cabled));
	json_object_object_add(node, "hosts", json_object_new_int(hosts));
	json_object_object_add(node, "others", json_object_new_string(others));
}

static enum ctl_color active_tint(struct json_object *node)
{
	return js_int(node, "active") < js_int(node, "cabled") ? CTL_BAD : CTL_PLAIN;
}

static const struct column switch_columns[] = {
	{ "SWITCH", .key = "name", .color = CTL_NAME },
	{ "LID>", COLUMN_INT, .key = "lid", .drop = 1 },
	{ "ACTIVE>", COLUMN_INT, .key = "active", .tint = active_tint },
	{ "CABLED>", COLUMN_INT, .key = "cabled" },
	{ "PORTS>", COLUMN_INT, .key = "n_ports" },
	{ "HOSTS>", COLUMN_INT, .key = "hosts" },
	{ "SWITCHES BEHIND IT", .key = "others", .folds = true },
	{ 0 },
};

static void print_switches(struct ctl *c, struct json_object *nodes)
{
	struct json_object *switches = json_object_new_array();
	struct counts n = { 0 };

	count_fabric(&n, nodes);
	if (!c->oneline)
		print_counts(&n);
	for (size_t i = 0; i < js_len(nodes); i++) {
		if (!is_switch(js_at(nodes, i)))
			continue;
		add_sums(js_at(nodes, i));
		json_object_array_add(switches, json_object_get(js_at(nodes, i)));
	}
	ctl_print_table(c, switch_columns, switches);
	json_object_put(switches);
}

/* ---- the command ---------------------------------------------------------------------------- */

enum format {
	FORMAT_TABLE,
	FORMAT_IBNETDISCOVER,
	FORMAT_JSON,
	FORMAT_DOT,
	FORMAT_SCHEDULER, /* written by show_scheduler.c */
};

static const struct {
	const char *name;
	enum format format;
	enum scheduler_format scheduler;
} formats[] = {
	{ "table", FORMAT_TABLE, 0 },
	{ "ibnetdiscover", FORMAT_IBNETDISCOVER, 0 },
	{ "json", FORMAT_JSON, 0 },
	{ "dot", FORMAT_DOT, 0 },
	{ "slurm-conf", FORMAT_SCHEDULER, SCHEDULER_TREE },
	{ "slurm-block", FORMAT_SCHEDULER, SCHEDULER_BLOCK },
	{ "slurm-yaml", FORMAT_SCHEDULER, SCHEDULER_YAML },
	{ "k8s", FORMAT_SCHEDULER, SCHEDULER_K8S },
	{ "tree", FORMAT_SCHEDULER, SCHEDULER_TREE },
	{ "block", FORMAT_SCHEDULER, SCHEDULER_BLOCK },
	{ "yaml", FORMAT_SCHEDULER, SCHEDULER_YAML },
};

struct question {
	enum format format;
	struct scheduler_wish wish;
};

/* A remark about several instances that readers of the format accept. */
static void print_turn(const struct ctl *c, enum format format)
{
	static const char *const comments[] = {
		[FORMAT_TABLE] = "Instance %s:\n", [FORMAT_IBNETDISCOVER] = "# instance %s\n",
		[FORMAT_DOT] = "// instance %s\n", [FORMAT_SCHEDULER] = NULL,
	};

	if (c->turn && comments[format] && !(format == FORMAT_TABLE && c->oneline))
		printf(comments[format], c->turn);
}

static void print_format(struct ctl *c, struct json_object *doc, enum format format)
{
	print_turn(c, format);
	switch (format) {
	case FORMAT_TABLE:
		print_switches(c, js_get(doc, "nodes"));
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
	case FORMAT_SCHEDULER:
		break; /* show_scheduler() */
	}
}

/* ---- words ---------------------------------------------------------------------------------- */

static int parse_format(const struct ctl *c, const char *name, struct question *ret)
{
	const char *names[ARRAY_SIZE(formats) + 1] = { NULL };
	int i;

	for (size_t k = 0; k < ARRAY_SIZE(formats); k++)
		names[k] = formats[k].name;
	i = ctl_match(name, names);
	if (i < 0)
		return ctl_usage(c, &ctl_topology, "there is no format '%s'", name);
	ret->format = formats[i].format;
	ret->wish.format = formats[i].scheduler;
	return CTL_OK;
}

/* Names of formats for completion, without their short forms. */
static const char *const format_names[] = { "table",	  "ibnetdiscover", "json",	 "dot",
					    "slurm-conf", "slurm-block",   "slurm-yaml", "k8s",
					    NULL };
static const char *const block_names[] = { "leaf", "pod", NULL };
static const struct ctl_word topology_takes[] = {
	{ CTL_TEXT, .option = "--format", .parameter = "format", .among = format_names },
	{ CTL_TEXT, .option = "-f", .parameter = "format", .among = format_names },
	{ CTL_TEXT, .option = "--network", .parameter = "network" },
	{ CTL_TEXT, .option = "--ports", .parameter = "ports" },
	{ CTL_TEXT, .option = "--blocks", .parameter = "blocks", .among = block_names },
	{ CTL_TEXT, .option = "--block-size", .parameter = "block_size" },
	{ CTL_TEXT, .option = "--k8s-prefix", .parameter = "k8s_prefix" },
	{ 0 },
};

static const char *given(struct json_object *words, const char *key)
{
	return js_has(words, key) ? js_str(words, key) : NULL;
}

/* CTL_OK, or the exit code after an error was printed. */
static int parse_words(const struct ctl *c, struct question *ret)
{
	struct scheduler_wish *wish = &ret->wish;
	const char *format = given(c->words, "format"), *wrong;
	int r;

	*ret = (struct question){
		.wish = { .slurm = { .network = given(c->words, "network"),
				     .ports = given(c->words, "ports") },
			  .blocks = given(c->words, "blocks"),
			  .block_size = given(c->words, "block_size"),
			  .k8s_prefix = given(c->words, "k8s_prefix") },
	};
	r = parse_format(c, format ? format : c->json ? "json" : "table", ret);
	if (r != CTL_OK)
		return r;
	if ((wish->slurm.network || wish->slurm.ports || wish->blocks || wish->block_size ||
	     wish->k8s_prefix) &&
	    ret->format != FORMAT_SCHEDULER)
		return ctl_usage(c, &ctl_topology,
				 "--network, --ports, --blocks, --block-size and --k8s-prefix are "
				 "for Slurm's formats and k8s");
	wrong = scheduler_wish_check(wish);
	return wrong ? ctl_usage(c, &ctl_topology, "%s", wrong) : CTL_OK;
}

/* ---- the command ---------------------------------------------------------------------------- */

static int show_one(struct ctl *c, int argc, char **argv)
{
	struct question q;
	struct json_object *doc;
	int r = parse_words(c, &q);

	if (r != CTL_OK)
		return r;
	doc = ctl_call(c, "Topology", NULL);
	if (!doc)
		return c->exit_code;
	print_format(c, doc, q.format);
	json_object_put(doc);
	return CTL_OK;
}

static int topology(struct ctl *c)
{
	static const struct ctl_command each = {
		.name = "topology", .arguments = "", .scope = CTL_HEADS, .run = show_one
	};
	struct question q;
	int r;

	r = parse_words(c, &q);
	if (r != CTL_OK)
		return r;
	if (q.format == FORMAT_JSON)
		c->json = true;
	return q.format == FORMAT_SCHEDULER ? show_scheduler(c, &q.wish)
					    : ctl_run(c, &each, 0, NULL);
}

const struct ctl_command ctl_topology = {
	.name = "topology",
	.arguments = "[save FILE [--csv|--ndt]|diff|accept FINDING|all|import FILE] "
		     "[--format table|ibnetdiscover|json|dot|slurm-conf|slurm-block|"
		     "slurm-yaml|k8s] [--network PATTERN] [--ports DEVICE] [--blocks leaf|pod] "
		     "[--block-size N] [--k8s-prefix DOMAIN]",
	.help = "the fabric: as a table, or in a format that other programs read; save, diff, "
		"accept and import: as it was meant",
	.words = "save diff accept import --csv --ndt --format --network --ports --blocks "
		 "--block-size --k8s-prefix",
	.scope = CTL_SEES_ALL,
	.subs = topology_commands,
	.document = "Topology",
	.takes = topology_takes,
	.with = topology,
};
