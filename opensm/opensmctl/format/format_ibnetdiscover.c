// SPDX-License-Identifier: BSD-2-Clause
/*
 * ibnetdiscover's text. Numbers are without leading zeros except in the ids between quotes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/js.h"
#include "opensmctl/format/format.h"

static uint64_t guid_of(struct json_object *o, const char *key)
{
	return strtoull(js_str(o, key), NULL, 16);
}

/* Descriptions may be anything printable. */
static void print_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++)
		fputc(*text == '"' ? '\'' : (unsigned char)*text < ' ' ? ' ' : *text, out);
	fputc('"', out);
}

static void print_id(FILE *out, struct json_object *o)
{
	const char *type = js_str(o, "type");
	char letter = !strcmp(type, "switch") ? 'S' : !strcmp(type, "router") ? 'R' : 'H';

	fprintf(out, "\"%c-%016" PRIx64 "\"", letter, guid_of(o, "node_guid"));
}

static bool is_switch(struct json_object *o)
{
	return !strcmp(js_str(o, "type"), "switch");
}

static void print_peer(FILE *out, struct json_object *peer)
{
	print_id(out, peer);
	fprintf(out, "[%d]", (int)js_int(peer, "port"));
	if (!is_switch(peer))
		fprintf(out, "(%" PRIx64 ") ", guid_of(peer, "port_guid"));
}

static void print_port(FILE *out, struct json_object *node, struct json_object *port)
{
	struct json_object *peer = js_get(port, "peer");

	if (!peer)
		return;
	fprintf(out, "[%d]", (int)js_int(port, "port"));
	if (!is_switch(node))
		fprintf(out, "(%" PRIx64 ") ", guid_of(port, "port_guid"));
	fputc('\t', out);
	print_peer(out, peer);
	fputs("\t\t# ", out);
	if (!is_switch(node))
		fprintf(out, "lid %d lmc %d ", (int)js_int(port, "lid"), (int)js_int(port, "lmc"));
	print_quoted(out, js_str(peer, "desc"));
	fprintf(out, " lid %d %dx%s\n", (int)js_int(peer, "lid"), (int)js_int(port, "width"),
		js_str(port, "speed"));
}

static void print_node(FILE *out, struct json_object *node)
{
	const char *type = js_str(node, "type");
	bool sw = is_switch(node), router = !strcmp(type, "router");
	struct json_object *ports = js_get(node, "ports");

	fprintf(out, "\nvendid=0x%" PRIx64 "\ndevid=0x%" PRIx64 "\nsysimgguid=0x%" PRIx64 "\n",
		js_int(node, "vendor_id"), js_int(node, "device_id"), guid_of(node, "system_guid"));
	fprintf(out, "%sguid=0x%" PRIx64,
		sw	 ? "switch"
		: router ? "rt"
			 : "ca",
		guid_of(node, "node_guid"));
	if (sw)
		fprintf(out, "(%" PRIx64 ")", guid_of(node, "port_guid"));
	fprintf(out, "\n%s\t%d ",
		sw	 ? "Switch"
		: router ? "Rt"
			 : "Ca",
		(int)js_int(node, "n_ports"));
	print_id(out, node);
	fputs("\t\t# ", out);
	print_quoted(out, js_str(node, "desc"));
	if (sw)
		fprintf(out, " %s port 0 lid %d lmc %d",
			js_bool(node, "enhanced_port0") ? "enhanced" : "base",
			(int)js_int(node, "lid"), (int)js_int(node, "lmc"));
	fputc('\n', out);
	for (size_t i = 0; i < js_len(ports); i++)
		print_port(out, node, js_at(ports, i));
}

void format_ibnetdiscover(struct json_object *topology, int64_t when, FILE *out)
{
	static const char *const order[] = { "switch", "ca", "router" };
	struct json_object *nodes = js_get(topology, "nodes"), *own = js_get(topology, "own");
	time_t t = (time_t)when;
	struct tm tm;
	char date[64] = "";

	if (localtime_r(&t, &tm))
		strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &tm);
	fprintf(out,
		"#\n# Topology file: generated on %s\n#\n# Initiated from node %016" PRIx64
		" port %016" PRIx64 "\n",
		date, guid_of(own, "node_guid"), guid_of(own, "port_guid"));
	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
		for (size_t i = 0; i < js_len(nodes); i++)
			if (!strcmp(js_str(js_at(nodes, i), "type"), order[k]))
				print_node(out, js_at(nodes, i));
}
