// SPDX-License-Identifier: BSD-2-Clause
/* opensmctl qos policy: rules, levels and groups of the QoS policy; its part in opensmctl path. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/show.h"
#include "util/mem.h"

/* "a, b" */
static char *list_text(struct json_object *array)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < js_len(array); i++) {
		char *longer = xasprintf("%s%s%s", text, i ? ", " : "",
					 json_object_get_string(js_at(array, i)));

		free(text);
		text = longer;
	}
	return text;
}

static void add_criterion(char **text, struct json_object *rule, const char *key, const char *word)
{
	_cleanup_free_ char *list = list_text(js_get(rule, key)), *before = *text;

	*text = *list ? xasprintf("%s%s%s %s", before, *before ? "; " : "", word, list)
		      : xstrdup(before);
}

static char *criteria_text(struct json_object *rule)
{
	char *text = xstrdup("");

	add_criterion(&text, rule, "sources", "from");
	add_criterion(&text, rule, "destinations", "to");
	add_criterion(&text, rule, "service_ids", "service id");
	add_criterion(&text, rule, "qos_classes", "QoS class");
	add_criterion(&text, rule, "pkeys", "P_Key");
	if (!*text) {
		free(text);
		return xstrdup("all paths");
	}
	return text;
}

static char *pkeys_text(struct json_object *o)
{
	return list_text(js_get(o, "pkeys"));
}

static char *where_text(struct json_object *group)
{
	char *text = xstrdup("");

	add_criterion(&text, group, "port_guids", "GUID");
	add_criterion(&text, group, "port_names", "port");
	add_criterion(&text, group, "pkeys", "P_Key");
	add_criterion(&text, group, "partitions", "partition");
	return text;
}

static const struct column rule_columns[] = {
	{ "LINE>", COLUMN_INT, .key = "line" },
	{ "DECIDED>", COLUMN_INT, .key = "decided" },
	{ "SL>", COLUMN_INT, .key = "sl" },
	{ "LEVEL", .key = "level", .color = CTL_NAME, .otherwise = "" },
	{ "USE", .key = "use", .otherwise = "" },
	{ "WHEN", .text = criteria_text, .folds = true },
	{ 0 },
};

static const struct column level_columns[] = {
	{ "LINE>", COLUMN_INT, .key = "line" },
	{ "LEVEL", .key = "name", .color = CTL_NAME },
	{ "SL>", COLUMN_INT, .key = "sl" },
	{ "MTU>", COLUMN_INT, .key = "mtu", .otherwise = "" },
	{ "Gb/s>", COLUMN_GBPS, .key = "gbps", .otherwise = "" },
	{ "LIFE>", COLUMN_INT, .key = "life", .otherwise = "" },
	{ "P_KEYS", .text = pkeys_text, .folds = true },
	{ "USE", .key = "use", .otherwise = "" },
	{ 0 },
};

static const struct column group_columns[] = {
	{ "LINE>", COLUMN_INT, .key = "line" },
	{ "GROUP", .key = "name", .color = CTL_NAME },
	{ "PORTS>", COLUMN_INT, .key = "ports" },
	{ "USE", .key = "use", .otherwise = "" },
	{ "BY", .text = where_text, .folds = true },
	{ 0 },
};

static void print_section(struct ctl *c, const char *title, const struct column *columns,
			  struct json_object *rows)
{
	if (!js_len(rows))
		return;
	printf("\n%s\n", title);
	ctl_print_table(c, columns, rows);
}

static void print_policy(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	struct json_object *level = js_get(o, "default");

	if (c->oneline) {
		ctl_print_table(c, rule_columns, js_get(o, "rules"));
		return;
	}
	printf("%s: of rules that match a path the first decides\n", js_str(o, "file"));
	print_section(c, "Rules", rule_columns, js_get(o, "rules"));
	printf("\nelse level %s of line %" PRId64 ": SL %" PRId64 ", decided %" PRId64 "\n",
	       js_has(level, "name") ? js_str(level, "name") : "default", js_int(level, "line"),
	       js_int(level, "sl"), js_int(level, "decided"));
	print_section(c, "Levels", level_columns, js_get(o, "levels"));
	print_section(c, "Port groups", group_columns, js_get(o, "groups"));
	if (js_int(o, "tables_not_applied"))
		printf("\nThe %" PRId64 " tables of qos-setup are not applied; options qos_* set "
		       "up VLs.\n",
		       js_int(o, "tables_not_applied"));
}

const struct ctl_command qos_commands[] = {
	{
		.name = "policy",
		.scope = CTL_SHOWS,
		.method = "QosPolicy",
		.print = print_policy,
	},
	{ 0 },
};

/* ---- of one path ---------------------------------------------------------------------------- */

/* "FILE:12 'use' (from a; to b): level 'gold', SL 3" */
static void print_rule(const char *file, struct json_object *rule)
{
	_cleanup_free_ char *when = criteria_text(rule);

	printf("%s:%" PRId64, file, js_int(rule, "line"));
	if (js_has(rule, "use"))
		printf(" '%s'", js_str(rule, "use"));
	printf(" (%s): ", when);
	if (js_has(rule, "level"))
		printf("level '%s', ", js_str(rule, "level"));
	printf("SL %" PRId64 "\n", js_int(rule, "sl"));
}

void qos_print_decision(struct json_object *doc)
{
	struct json_object *p = js_get(doc, "policy"), *others = js_get(p, "also_match");
	struct json_object *level = js_get(p, "level");
	const char *file = js_str(p, "file");

	if (!p)
		return;
	printf("%-10s ", "QoS");
	if (js_has(p, "rule"))
		print_rule(file, js_get(p, "rule"));
	else
		printf("no rule of %s matches: the default of line %" PRId64 ", SL %" PRId64 "\n",
		       file, js_int(level, "line"), js_int(level, "sl"));
	for (size_t i = 0; i < js_len(others); i++) {
		printf("%-10s ", i ? "" : "  after it");
		print_rule(file, js_at(others, i));
	}
}
