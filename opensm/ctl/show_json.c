// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values as they are written in every document: GUIDs, names, speeds.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "ctl/show.h"
#include "util/guidmap.h"
#include "util/mem.h"

struct word {
	unsigned value;
	const char *text;
};

static const char *word_of(const struct word *rows, size_t n, unsigned value)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].value == value)
			return rows[i].text;
	return "";
}

const char *show_type_name(unsigned node_type)
{
	static const struct word rows[] = {
		{ IB_NODE_CA, "ca" }, { IB_NODE_SWITCH, "switch" }, { IB_NODE_ROUTER, "router" },
	};

	return word_of(rows, ARRAY_SIZE(rows), node_type);
}

const char *show_state_name(unsigned state)
{
	static const struct word rows[] = {
		{ IB_PORT_DOWN, "down" },
		{ IB_PORT_INIT, "init" },
		{ IB_PORT_ARMED, "armed" },
		{ IB_PORT_ACTIVE, "active" },
	};

	return word_of(rows, ARRAY_SIZE(rows), state);
}

const char *show_phys_name(unsigned phys)
{
	static const struct word rows[] = {
		{ IB_PHYS_SLEEP, "sleep" },	  { IB_PHYS_POLLING, "polling" },
		{ IB_PHYS_DISABLED, "disabled" }, { IB_PHYS_TRAINING, "training" },
		{ IB_PHYS_LINK_UP, "link_up" },	  { IB_PHYS_ERROR_RECOVERY, "error_recovery" },
	};

	return word_of(rows, ARRAY_SIZE(rows), phys);
}

const char *show_speed_name(unsigned tenths)
{
	static const struct word rows[] = {
		{ 25, "SDR" },	{ 50, "DDR" },	{ 100, "QDR" },	 { 103, "FDR10" }, { 140, "FDR" },
		{ 250, "EDR" }, { 500, "HDR" }, { 1000, "NDR" }, { 2000, "XDR" },
	};

	return word_of(rows, ARRAY_SIZE(rows), tenths);
}

void show_put_gid(struct json_object *o, const char *key, const uint8_t gid[16])
{
	char text[INET6_ADDRSTRLEN];

	json_add_str(o, key, inet_ntop(AF_INET6, gid, text, sizeof(text)));
}

void show_put_hex(struct json_object *o, const char *key, unsigned v)
{
	char text[12];

	snprintf(text, sizeof(text), "0x%04x", v);
	json_add_str(o, key, text);
}

/* Written as people do: 2.5, 14, 100; a double would come out as 2.5 or 100.0. */
void show_put_tenths(struct json_object *o, const char *key, unsigned tenths)
{
	char text[16];

	if (tenths % 10)
		snprintf(text, sizeof(text), "%u.%u", tenths / 10, tenths % 10);
	else
		snprintf(text, sizeof(text), "%u", tenths / 10);
	json_object_object_add(o, key, json_object_new_double_s(tenths / 10.0, text));
}

void show_put_node(struct json_object *o, const struct dump_node *n)
{
	json_add_str(o, "name", dump_node_name(n));
	json_add_str(o, "desc", n->desc);
	json_add_guid(o, "node_guid", n->guid);
	json_add_str(o, "type", show_type_name(n->type));
}

void show_put_end(struct json_object *o, const struct show *s, const struct dump_port *p)
{
	show_put_node(o, show_node_of(s, p));
	json_add_int(o, "port", p->num);
	json_add_guid(o, "port_guid", p->guid);
	json_add_int(o, "lid", p->lid);
}

void show_put_port_guid(struct json_object *o, const struct show *s, guid_t port_guid)
{
	const struct dump_port *p = port_guid ? guidmap_get(s->by_port, port_guid) : NULL;

	if (p)
		show_put_end(o, s, p);
	else
		json_add_guid(o, "port_guid", port_guid);
}
