// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values as they are written in every document: GUIDs, names, speeds.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "plan/pkey.h"
#include "fabric/words.h"
#include "show/show_internal.h"
#include "util/mem.h"

void show_put_gid(struct json_object *o, const char *key, const uint8_t gid[16])
{
	char text[INET6_ADDRSTRLEN];

	json_add_str(o, key, inet_ntop(AF_INET6, gid, text, sizeof(text)));
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

const char *show_called(const struct show *s, const struct view_node *n, char ret[SHOW_CALLED])
{
	const struct view_node *sw = view_switch_around(s->view, n);
	const char *name = show_name(s, n);

	if (!sw || name != n->desc)
		return name;
	snprintf(ret, SHOW_CALLED, AGGREGATION_NAME, show_name(s, sw));
	return ret;
}

void show_put_node(struct json_object *o, const struct show *s, const struct view_node *n)
{
	char name[SHOW_CALLED];

	FIELDS_PUT(SHOW_NODE_FIELDS);
}

const struct json_field show_end_fields[] = FIELDS_TABLE(SHOW_END_FIELDS);

void show_put_end(struct json_object *o, const struct show *s, const struct view_port *p)
{
	const struct view_node *n = show_node_of(s, p);
	char name[SHOW_CALLED];

	FIELDS_PUT(SHOW_END_FIELDS);
}

void show_add_end(struct json_object *o, const char *key, const struct show *s,
		  const struct view_port *p)
{
	show_put_end(json_add_object(o, key), s, p);
}

void show_put_port_guid(struct json_object *o, const struct show *s, guid_t port_guid)
{
	const struct view_port *p = show_port_at(s, view_port_of_guid(s->view, port_guid));

	if (p)
		show_put_end(o, s, p);
	else
		json_add_guid(o, "port_guid", port_guid);
}

const char *show_membership(unsigned forms)
{
	static const char *const names[] = { NULL, "limited", "full", "both" };

	return names[forms & (PKEY_SET_LIMITED | PKEY_SET_FULL)];
}

const struct partition *show_partition_of(const struct show *s, uint16_t pkey)
{
	return s->partitions ? partitions_find(s->partitions, pkey) : NULL;
}
