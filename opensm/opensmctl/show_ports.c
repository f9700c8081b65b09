// SPDX-License-Identifier: BSD-2-Clause
/* nodes, ports, routes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/show.h"
#include "util/mem.h"

/* ---- nodes ---------------------------------------------------------------------------------- */

static char *lids_text(struct json_object *node)
{
	struct json_object *lids = js_get(node, "lids");
	char text[64] = "";

	for (size_t k = 0; k < js_len(lids) && strlen(text) < 50; k++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", k ? "," : "",
			 json_object_get_int(js_at(lids, k)));
	return xstrdup(text);
}

/* Where the map of names calls it otherwise. */
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
	{ "LID>", .text = lids_text },
	{ "ACTIVE>", COLUMN_INT, .key = "ports_active", .tint = active_tint },
	{ "PORTS>", COLUMN_INT, .key = "n_ports" },
	{ "GUID", .key = "node_guid", .color = CTL_DIM },
	{ "DESCRIPTION", .text = desc_text },
	{ 0 },
};

static void print_nodes(struct ctl *c, struct json_object *answer, bool named)
{
	ctl_print_table(c, node_columns, js_get(answer, "nodes"));
}

static bool is_type(const char *word)
{
	return !strcmp(word, "switch") || !strcmp(word, "ca") || !strcmp(word, "router");
}

int cmd_nodes(struct ctl *c, int argc, char **argv)
{
	const char *node = NULL, *type = NULL;

	for (int i = 0; i < argc; i++) {
		const char **word = is_type(argv[i]) ? &type : &node;

		if (*word)
			return ctl_usage(&show_commands[1], "'%s' is one too many", argv[i]);
		*word = argv[i];
	}
	return show_call(c, "Nodes", show_words("node", node, "type", type), "nodes", print_nodes,
			 argc);
}

/* ---- ports ---------------------------------------------------------------------------------- */

static enum ctl_color state_tint(struct json_object *port)
{
	const char *state = js_str(port, "state");

	return !strcmp(state, "active") ? CTL_GOOD : !strcmp(state, "down") ? CTL_DIM : CTL_BAD;
}

static char *link_text(struct json_object *port)
{
	char link[32];

	return xstrdup(show_link(port, link));
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
		{ "STATE", .key = "state", .tint = state_tint }, { "LINK", .text = link_text },    \
	{                                                                                          \
		"BEHIND IT", COLUMN_PLACE, .key = "peer"                                           \
	}

static const struct column port_columns[] = {
	PORT_COLUMNS,
	{ "WHY NOT", .text = why_text, .color = CTL_WARN },
	{ 0 },
};

static const struct column port_columns_with_violations[] = {
	PORT_COLUMNS,
	{ "VIOLATIONS", .text = violations_text, .color = CTL_BAD },
	{ "WHY NOT", .text = why_text, .color = CTL_WARN },
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

static void print_ports(struct ctl *c, struct json_object *answer, bool named)
{
	struct json_object *ports = js_get(answer, "ports");

	if (js_len(ports))
		ctl_print_table(c,
				has_violations(ports) ? port_columns_with_violations : port_columns,
				ports);
	else if (!c->oneline)
		puts("none");
	if (js_int(answer, "hidden") && !c->oneline)
		printf("%d more have no cable, and never had (--down)\n",
		       (int)js_int(answer, "hidden"));
}

/* The parameter of an option; NULL: it is none. */
static const char *port_flag(const char *word)
{
	static const char *const flags[][2] = {
		{ "--down", "down" },
		{ "--not-active", "not_active" },
		{ "--violations", "violations" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		if (!strcmp(word, flags[i][0]))
			return flags[i][1];
	}
	return NULL;
}

int cmd_ports(struct ctl *c, int argc, char **argv)
{
	struct json_object *parameters = json_object_new_object();

	for (int i = 0; i < argc; i++) {
		const char *flag = port_flag(argv[i]);

		if (flag) {
			json_object_object_add(parameters, flag, json_object_new_boolean(true));
		} else if (argv[i][0] != '-' && !js_has(parameters, "node")) {
			json_object_object_add(parameters, "node", json_object_new_string(argv[i]));
		} else {
			json_object_put(parameters);
			return ctl_usage(&show_commands[2], "'%s' is not understood", argv[i]);
		}
	}
	return show_call(c, "Ports", parameters, "ports", print_ports, argc);
}

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
	{ "EQUALLY SHORT", .text = equal_ports_text },
	{ 0 },
};

/* `named`: a destination. */
static void print_routes(struct ctl *c, struct json_object *answer, bool named)
{
	if (!named) {
		ctl_print_table(c, load_columns, js_get(answer, "ports"));
		if (!c->oneline)
			putchar('\n');
	}
	ctl_print_table(c, route_columns, js_get(answer, "routes"));
}

int cmd_routes(struct ctl *c, int argc, char **argv)
{
	if (argc < 1 || argc > 2)
		return ctl_usage(&show_commands[3], "%s",
				 argc ? "too many words" : "which switch?");
	return show_call(c, "Routes", show_words("switch", argv[0], "to", argv[1]), NULL,
			 print_routes, argc > 1);
}
