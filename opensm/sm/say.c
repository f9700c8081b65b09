// SPDX-License-Identifier: BSD-2-Clause
/* Records about nodes and ports, and what nodes are called. */
#include "sm/say.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_STRLEN 1024

struct log_about about_node(enum log_id id, const struct node *n)
{
	return (struct log_about){
		.id = id,
		.node_guid = n->guid,
		.name = node_name(n),
		.lid = node_is_switch(n) ? fabric_lid_of(&n->ports[0]) : 0,
	};
}

struct log_about about_port(enum log_id id, const struct port *p)
{
	return (struct log_about){
		.id = id,
		.node_guid = p ? p->node->guid : 0,
		.port_guid = p ? p->guid : 0,
		.name = p ? node_name(p->node) : NULL,
		.port = p ? p->num : 0,
		.lid = p ? fabric_lid_of(p) : 0,
	};
}

struct log_about about_guid(const struct sm *sm, enum log_id id, guid_t port_guid)
{
	const struct port *p = fabric_find_port(sm->fabric, port_guid);
	struct log_about about = about_port(id, p);

	about.port_guid = port_guid;
	return about;
}

void say_port(const char *func, const struct port *p, enum log_id id, unsigned bits, const char *fmt,
	      ...)
{
	const struct log_about about = about_port(id, p);
	char where[PLACE_STRLEN], text[TEXT_STRLEN];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	log_write_on(&about, bits, func, "%s: %s", fabric_place_str(p, where), text);
}

void say_node(const char *func, const struct node *n, enum log_id id, unsigned bits, const char *fmt,
	      ...)
{
	const struct log_about about = about_node(id, n);
	char where[NODE_STRLEN], text[TEXT_STRLEN];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	log_write_on(&about, bits, func, "%s: %s", fabric_node_str(n, where), text);
}

/* ---- names ---------------------------------------------------------------------------------- */

void say_name_node(const struct sm *sm, struct node *n)
{
	node_set_alias(n, conf_names_find(conf_files_names(sm->files), n->guid));
}

void say_name_all(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n)
		say_name_node(sm, n);
}
