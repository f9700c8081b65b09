// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fabric for graphviz: nodes by GUID, one edge per cable, with the port at each end.
 */
#include <string.h>

#include "client/js.h"
#include "opensmctl/format/format.h"

static void print_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
	}
}

static void print_node(FILE *out, struct json_object *node)
{
	bool is_switch = !strcmp(js_str(node, "type"), "switch");

	fprintf(out, "\t\"%s\" [label=\"", js_str(node, "node_guid"));
	print_text(out, js_str(node, "name"));
	fprintf(out, "\", shape=%s%s];\n", is_switch ? "box" : "ellipse",
		is_switch ? ", style=filled, fillcolor=lightgrey" : "");
}

/* Each cable once: from the end with the lower GUID, of a cable to itself the lower port. */
static bool is_first(struct json_object *node, struct json_object *port, struct json_object *peer)
{
	int order = strcmp(js_str(node, "node_guid"), js_str(peer, "node_guid"));

	return order ? order < 0 : js_int(port, "port") < js_int(peer, "port");
}

static void print_cable(FILE *out, struct json_object *node, struct json_object *port)
{
	struct json_object *peer = js_get(port, "peer");

	if (!peer || !is_first(node, port, peer))
		return;
	fprintf(out, "\t\"%s\" -- \"%s\" [taillabel=\"%d\", headlabel=\"%d\", label=\"%dx",
		js_str(node, "node_guid"), js_str(peer, "node_guid"), (int)js_int(port, "port"),
		(int)js_int(peer, "port"), (int)js_int(port, "width"));
	print_text(out, js_str(port, "speed"));
	fprintf(out, "\"%s];\n",
		strcmp(js_str(port, "state"), "active") ? ", style=dashed, color=red" : "");
}

void format_dot(struct json_object *topology, FILE *out)
{
	struct json_object *nodes = js_get(topology, "nodes");

	fputs("graph fabric {\n\tgraph [overlap=false, splines=true];\n\tedge [fontsize=8];\n",
	      out);
	for (size_t i = 0; i < js_len(nodes); i++)
		print_node(out, js_at(nodes, i));
	for (size_t i = 0; i < js_len(nodes); i++) {
		struct json_object *ports = js_get(js_at(nodes, i), "ports");

		for (size_t p = 0; p < js_len(ports); p++)
			print_cable(out, js_at(nodes, i), js_at(ports, p));
	}
	fputs("}\n", out);
}
