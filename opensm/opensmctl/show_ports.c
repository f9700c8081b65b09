// SPDX-License-Identifier: BSD-2-Clause
/* nodes, ports, routes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/show.h"
#include "util/mem.h"

/* ---- nodes ---------------------------------------------------------------------------------- */

static void print_nodes(struct ctl *c, struct json_object *nodes)
{
	static const char *const heads[] = { "NAME", "TYPE", "LID>", "ACTIVE>", "PORTS>", "GUID",
					     "DESCRIPTION", NULL };
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(nodes); i++) {
		struct json_object *n = js_at(nodes, i), *lids = js_get(n, "lids");
		const char *name = js_str(n, "name"), *desc = js_str(n, "desc");
		char text[64] = "";

		for (size_t k = 0; k < js_len(lids) && strlen(text) < 50; k++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%d", k ? "," : "",
				 json_object_get_int(js_at(lids, k)));
		table_cell(t, CTL_NAME, "%s", name);
		table_cell(t, CTL_PLAIN, "%s", js_str(n, "type"));
		table_cell(t, CTL_PLAIN, "%s", text);
		table_cell(t, js_int(n, "ports_active") < js_int(n, "ports_cabled") ? CTL_BAD : CTL_PLAIN, "%d",
			   (int)js_int(n, "ports_active"));
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(n, "n_ports"));
		table_cell(t, CTL_DIM, "%s", js_str(n, "node_guid"));
		table_cell(t, CTL_PLAIN, "%s", strcmp(name, desc) ? desc : "");
	}
	table_print(t);
}

static bool is_type(const char *word)
{
	return !strcmp(word, "switch") || !strcmp(word, "ca") || !strcmp(word, "router");
}

int cmd_nodes(struct ctl *c, int argc, char **argv)
{
	const char *node = NULL, *type = NULL;
	struct json_object *doc;
	bool done;

	for (int i = 0; i < argc; i++) {
		const char **word = is_type(argv[i]) ? &type : &node;

		if (*word)
			return ctl_usage(&show_commands[1], "'%s' is one too many", argv[i]);
		*word = argv[i];
	}
	doc = show_ask(c, "Nodes", show_words("node", node, "type", type), "nodes", &done);
	if (!doc)
		return c->exit_code;
	if (!done)
		print_nodes(c, js_get(doc, "nodes"));
	json_object_put(doc);
	return CTL_OK;
}

/* ---- ports ---------------------------------------------------------------------------------- */

static enum ctl_color color_of(const char *state)
{
	return !strcmp(state, "active") ? CTL_GOOD : !strcmp(state, "down") ? CTL_DIM : CTL_BAD;
}

/* Why a port is not ACTIVE, and of a cable that fell who was at its other end. */
static void why_cell(struct table *t, struct json_object *port)
{
	struct json_object *was = js_get(port, "was_cabled_to");
	char place[128], age[32], went[64] = "";

	if (!was || !js_has(was, "name")) {
		table_cell(t, CTL_WARN, "%s", js_str(port, "why_not"));
		return;
	}
	if (js_has(was, "gone_seconds"))
		snprintf(went, sizeof(went), ", which went %s ago", ctl_duration(js_int(was, "gone_seconds"), age));
	table_cell(t, CTL_WARN, "%s; it led to %s%s", js_str(port, "why_not"), show_place(was, place), went);
}

static void print_ports(struct ctl *c, struct json_object *ports)
{
	static const char *const heads[] = { "PORT", "LID>", "STATE", "LINK", "BEHIND IT", "WHY NOT", NULL };
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(ports); i++) {
		struct json_object *p = js_at(ports, i);
		const char *state = js_str(p, "state");
		char place[128], peer[128], link[32];

		table_cell(t, CTL_NAME, "%s", show_place(p, place));
		if (js_int(p, "lid"))
			table_cell(t, CTL_PLAIN, "%d", (int)js_int(p, "lid"));
		else
			table_cell(t, CTL_PLAIN, "%s", "");
		table_cell(t, color_of(state), "%s", state);
		table_cell(t, CTL_PLAIN, "%s", show_link(p, link));
		table_cell(t, CTL_PLAIN, "%s", show_place(js_get(p, "peer"), peer));
		why_cell(t, p);
	}
	table_print(t);
}

int cmd_ports(struct ctl *c, int argc, char **argv)
{
	struct json_object *parameters = json_object_new_object(), *doc;
	bool done;

	for (int i = 0; i < argc; i++) {
		bool down = !strcmp(argv[i], "--down"), not_active = !strcmp(argv[i], "--not-active");

		if (down || not_active) {
			json_object_object_add(parameters, down ? "down" : "not_active",
					       json_object_new_boolean(true));
		} else if (argv[i][0] != '-' && !js_has(parameters, "node")) {
			json_object_object_add(parameters, "node", json_object_new_string(argv[i]));
		} else {
			json_object_put(parameters);
			return ctl_usage(&show_commands[2], "'%s' is not understood", argv[i]);
		}
	}
	doc = show_ask(c, "Ports", parameters, "ports", &done);
	if (!doc)
		return c->exit_code;
	if (!done && js_len(js_get(doc, "ports")))
		print_ports(c, js_get(doc, "ports"));
	else if (!done && !c->oneline)
		puts("none");
	if (!done && js_int(doc, "hidden") && !c->oneline)
		printf("%d more have no cable, and never had (--down)\n", (int)js_int(doc, "hidden"));
	json_object_put(doc);
	return CTL_OK;
}

/* ---- routes --------------------------------------------------------------------------------- */

static void print_load(struct ctl *c, struct json_object *ports)
{
	static const char *const heads[] = { "PORT>", "LIDS>", "BEHIND IT", NULL };
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(ports); i++) {
		struct json_object *p = js_at(ports, i);
		char peer[128];

		table_cell(t, CTL_PLAIN, "%d", (int)js_int(p, "port"));
		table_cell(t, CTL_PLAIN, "%d", (int)js_int(p, "lids"));
		table_cell(t, CTL_NAME, "%s", js_int(p, "port") ? show_place(js_get(p, "peer"), peer)
								: "the switch itself");
	}
	table_print(t);
}

static char *ports_str(struct json_object *array, char ret[static 64])
{
	size_t i, len = 0;

	ret[0] = '\0';
	for (i = 0; i < js_len(array) && len < 48; i++)
		len += (size_t)snprintf(ret + len, 64 - len, "%s%d", i ? "," : "",
					json_object_get_int(js_at(array, i)));
	if (i < js_len(array))
		snprintf(ret + len, 64 - len, ",...");
	return ret;
}

static void print_routes(struct ctl *c, struct json_object *routes)
{
	static const char *const heads[] = { "LID>", "TO", "PORT>", "HOPS>", "EQUALLY SHORT", NULL };
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(routes); i++) {
		struct json_object *r = js_at(routes, i);
		bool detour = js_has(r, "hops") && js_int(r, "hops") > js_int(r, "least_hops");
		char place[128], ports[64];

		table_cell(t, CTL_PLAIN, "%d", (int)js_int(r, "lid"));
		table_cell(t, CTL_NAME, "%s", show_place(js_get(r, "to"), place));
		if (js_has(r, "out_port"))
			table_cell(t, CTL_PLAIN, "%d", (int)js_int(r, "out_port"));
		else
			table_cell(t, CTL_BAD, "%s", "none");
		if (js_has(r, "hops"))
			table_cell(t, detour ? CTL_WARN : CTL_PLAIN, "%d", (int)js_int(r, "hops"));
		else
			table_cell(t, CTL_BAD, "%s", "no way");
		table_cell(t, CTL_PLAIN, "%s", ports_str(js_get(r, "equal_ports"), ports));
	}
	table_print(t);
}

int cmd_routes(struct ctl *c, int argc, char **argv)
{
	struct json_object *doc;
	bool done;

	if (argc < 1 || argc > 2)
		return ctl_usage(&show_commands[3], "%s", argc ? "too many words" : "which switch?");
	doc = show_ask(c, "Routes", show_words("switch", argv[0], "to", argc > 1 ? argv[1] : NULL), NULL, &done);
	if (!doc)
		return c->exit_code;
	if (!done && argc == 1) {
		print_load(c, js_get(doc, "ports"));
		if (!c->oneline)
			putchar('\n');
	}
	if (!done)
		print_routes(c, js_get(doc, "routes"));
	json_object_put(doc);
	return CTL_OK;
}
