// SPDX-License-Identifier: BSD-2-Clause
/* nodes, ports, routes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"

/* ---- nodes ---------------------------------------------------------------------------------- */

/* The description, if the node-name map has another name. */
static char *desc_text(struct json_object *node)
{
	const char *desc = js_str(node, "desc");

	return xstrdup(strcmp(js_str(node, "name"), desc) ? desc : "");
}

static enum ctl_color active_tint(struct json_object *node)
{
	return js_int(node, "ports_active") < js_int(node, "ports_cabled") ? CTL_BAD : CTL_PLAIN;
}

static const struct column node_columns[] = {
	{ "NAME", .key = "name", .color = CTL_NAME },
	{ "TYPE", .key = "type" },
	{ "LID>", COLUMN_LIST, .key = "lids" },
	{ "ACTIVE>", COLUMN_INT, .key = "ports_active", .tint = active_tint },
	{ "PORTS>", COLUMN_INT, .key = "n_ports" },
	{ "GUID", .key = "node_guid", .color = CTL_DIM, .drop = 1 },
	{ "DESCRIPTION", .text = desc_text, .drop = 2 },
	{ 0 },
};

static void print_nodes(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	ctl_print_table(c, node_columns, js_get(answer, "nodes"));
}

static const struct ctl_word node_words[] = {
	{ CTL_ONE_OF, .parameter = "type",
	  .among = (const char *const[]){ "switch", "ca", "router", NULL } },
	{ CTL_TEXT, .parameter = "node", .offers = OFFER_NODES },
	{ 0 },
};

const struct ctl_command ctl_nodes = {
	.name = "nodes",
	.arguments = "[NAME|GUID|LID] [switch|ca|router]",
	.help = "switches and hosts",
	.words = "switch ca router",
	.scope = CTL_SHOWS,
	.method = "Nodes",
	.takes = node_words,
	.member = "nodes",
	.print = print_nodes,
};

/* ---- ports ---------------------------------------------------------------------------------- */

static enum ctl_color state_tint(struct json_object *port)
{
	const char *state = js_str(port, "state");

	return !strcmp(state, "active") ? CTL_GOOD : !strcmp(state, "down") ? CTL_DIM : CTL_BAD;
}

/* Why a port is not ACTIVE, and for a link that went down the node at its other end. */
static char *why_text(struct json_object *port)
{
	struct json_object *was = js_get(port, "was_cabled_to");
	const char *why = js_str(port, "why_not");
	_cleanup_free_ char *place = NULL;
	char age[32];

	if (js_has(port, "held_seconds"))
		return xasprintf("%s, %s more if it is quiet", why,
				 ctl_duration(js_int(port, "held_seconds"), age));
	if (!js_has(was, "name"))
		return xstrdup(why);
	place = ctl_place(was);
	if (!js_has(was, "gone_seconds"))
		return xasprintf("%s; it led to %s", why, place);
	return xasprintf("%s; it led to %s, which went %s ago", why, place,
			 ctl_duration(js_int(was, "gone_seconds"), age));
}

/* "m_key 12, trap 3" */
static char *violations_text(struct json_object *port)
{
	struct json_object *counts = js_get(port, "violations");
	char text[200] = "";
	size_t len = 0;

	if (!json_object_is_type(counts, json_type_object))
		return xstrdup("");
	json_object_object_foreach(counts, kind, count)
	{
		if (len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %" PRId64,
						len ? ", " : "", kind,
						json_object_get_int64(count));
	}
	return xstrdup(text);
}

#define PORT_COLUMNS                                                                               \
	{ "PORT", COLUMN_PLACE, .color = CTL_NAME }, { "LID>", COLUMN_NATURAL, .key = "lid" },     \
		{ "STATE", .key = "state", .tint = state_tint }, { "LINK", .kind = COLUMN_LINK },  \
	{                                                                                          \
		"BEHIND IT", COLUMN_PLACE, .key = "peer"                                           \
	}

static const struct column port_columns[] = {
	PORT_COLUMNS,
	{ "WHY NOT", .text = why_text, .color = CTL_WARN, .folds = true },
	{ 0 },
};

static const struct column port_columns_with_violations[] = {
	PORT_COLUMNS,
	{ "VIOLATIONS", .text = violations_text, .color = CTL_BAD, .folds = true },
	{ "WHY NOT", .text = why_text, .color = CTL_WARN, .folds = true },
	{ 0 },
};

static bool has_violations(struct json_object *ports)
{
	for (size_t i = 0; i < js_len(ports); i++) {
		if (js_has(js_at(ports, i), "violations"))
			return true;
	}
	return false;
}

/* "spine9: drained by root (ticket 4711), since ..." */
static void print_planned(struct json_object *alarms)
{
	for (size_t i = 0; i < js_len(alarms); i++) {
		struct json_object *a = js_at(alarms, i);

		printf("%s: %s", js_str(a, "object"), js_str(a, "cause"));
		if (js_has(a, "since"))
			printf(", since %s", js_str(a, "since"));
		putchar('\n');
	}
}

static void print_ports(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	struct json_object *ports = js_get(answer, "ports");

	if (js_len(ports))
		ctl_print_table(c,
				has_violations(ports) ? port_columns_with_violations : port_columns,
				ports);
	else if (!c->oneline)
		puts("none");
	if (c->oneline)
		return;
	print_planned(js_get(answer, "planned"));
	if (js_int(answer, "hidden"))
		printf("%d more: no cable was seen there since the manager started (--down)\n",
		       (int)js_int(answer, "hidden"));
}

static const struct ctl_word port_words[] = {
	{ CTL_FLAG, .option = "--down", .parameter = "down" },
	{ CTL_FLAG, .option = "--not-active", .parameter = "not_active" },
	{ CTL_FLAG, .option = "--violations", .parameter = "violations" },
	{ CTL_TEXT, .parameter = "node", .offers = OFFER_PLACES },
	{ 0 },
};

const struct ctl_command ctl_ports = {
	.name = "ports",
	.arguments = "[--down|--not-active|--violations|NODE|NODE/PORT]",
	.help = "ports, and why one is not ACTIVE; --violations: with violations by the node "
		"attached",
	.words = "--down --not-active --violations",
	.scope = CTL_SHOWS,
	.method = "Ports",
	.takes = port_words,
	.member = "ports",
	.print = print_ports,
};

/* ---- routes --------------------------------------------------------------------------------- */

static char *behind_text(struct json_object *port)
{
	return js_int(port, "port") ? ctl_place(js_get(port, "peer"))
				    : xstrdup("the switch itself");
}

static const struct column load_columns[] = {
	{ "PORT>", COLUMN_INT, .key = "port" },
	{ "LIDS>", COLUMN_INT, .key = "lids" },
	{ "BEHIND IT", .text = behind_text, .color = CTL_NAME },
	{ 0 },
};

static enum ctl_color out_port_tint(struct json_object *route)
{
	return js_has(route, "out_port") ? CTL_PLAIN : CTL_BAD;
}

static enum ctl_color hops_tint(struct json_object *route)
{
	if (!js_has(route, "hops"))
		return CTL_BAD;
	return js_int(route, "hops") > js_int(route, "least_hops") ? CTL_WARN : CTL_PLAIN;
}

static char *equal_ports_text(struct json_object *route)
{
	struct json_object *ports = js_get(route, "equal_ports");
	size_t i, len = 0;
	char text[64] = "";

	for (i = 0; i < js_len(ports) && len < 48; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d", i ? "," : "",
					json_object_get_int(js_at(ports, i)));
	if (i < js_len(ports))
		snprintf(text + len, sizeof(text) - len, ",...");
	return xstrdup(text);
}

static const struct column route_columns[] = {
	{ "LID>", COLUMN_INT, .key = "lid" },
	{ "TO", COLUMN_PLACE, .key = "to", .color = CTL_NAME },
	{ "PORT>", COLUMN_INT, .key = "out_port", .otherwise = "none", .tint = out_port_tint },
	{ "HOPS>", COLUMN_INT, .key = "hops", .otherwise = "no way", .tint = hops_tint },
	{ "EQUALLY SHORT", .text = equal_ports_text, .folds = true, .drop = 1 },
	{ 0 },
};

static void print_routes(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	if (!js_has(asked, "to")) {
		ctl_print_table(c, load_columns, js_get(answer, "ports"));
		if (!c->oneline)
			putchar('\n');
	}
	ctl_print_table(c, route_columns, js_get(answer, "routes"));
}

static const struct ctl_word route_words[] = {
	{ CTL_TEXT, .parameter = "switch", .offers = OFFER_SWITCHES, .missing = "which switch?" },
	{ CTL_TEXT, .parameter = "to", .offers = OFFER_NODES },
	{ 0 },
};

const struct ctl_command ctl_routes = {
	.name = "routes",
	.arguments = "SWITCH [LID|NODE]",
	.help = "where a switch sends, and how much by each port",
	.scope = CTL_SHOWS,
	.method = "Routes",
	.takes = route_words,
	.print = print_routes,
};
