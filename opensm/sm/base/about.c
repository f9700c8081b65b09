// SPDX-License-Identifier: BSD-2-Clause
/* Log records about nodes and ports, and the names of nodes. */
#include "sm/base/about.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define TEXT_STRLEN 1024

struct log_about about_node(enum log_id id, const struct node *n)
{
	assert(n);
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

char *guid_place_str(const struct sm *sm, guid_t port_guid, char ret[PLACE_STRLEN])
{
	const struct port *p = fabric_find_port(sm->fabric, port_guid);

	if (p)
		return fabric_place_str(p, ret);
	snprintf(ret, PLACE_STRLEN, "0x%016" PRIx64 ", which is not known in this fabric",
		 port_guid);
	return ret;
}

static void write_record(const char *func, const struct log_about *about, unsigned bits,
			 const char *where, const char *fmt, va_list args)
{
	char text[TEXT_STRLEN];

	vsnprintf(text, sizeof(text), fmt, args);
	log_write_on(about, bits, func, "%s: %s", where, text);
}

void log_port_record(const char *func, const struct port *p, enum log_id id, unsigned bits,
		     const char *fmt, ...)
{
	const struct log_about about = about_port(id, p);
	char where[PLACE_STRLEN];
	va_list args;

	va_start(args, fmt);
	write_record(func, &about, bits, fabric_place_str(p, where), fmt, args);
	va_end(args);
}

void log_node_record(const char *func, const struct node *n, enum log_id id, unsigned bits,
		     const char *fmt, ...)
{
	const struct log_about about = about_node(id, n);
	char where[NODE_STRLEN];
	va_list args;

	va_start(args, fmt);
	write_record(func, &about, bits, fabric_node_str(n, where), fmt, args);
	va_end(args);
}

void log_guid_record(const char *func, const struct sm *sm, guid_t guid, enum log_id id,
		     unsigned bits, const char *fmt, ...)
{
	struct log_about about = about_guid(sm, id, guid);
	char where[PLACE_STRLEN];
	va_list args;

	about.hint = fmt; /* other words about the same object are another record */
	va_start(args, fmt);
	write_record(func, &about, bits, guid_place_str(sm, guid, where), fmt, args);
	va_end(args);
}

/* ---- findings ------------------------------------------------------------------------------ */

void log_findings(const struct conf_report *report)
{
	struct log_about about = { .id = LOG_ID_CONF_FINDING };

	for (size_t i = 0; i < report->n; i++) {
		const struct conf_finding *f = &report->findings[i];
		unsigned level = f->severity == CONF_ERROR     ? LOGB_ERROR
				 : f->severity == CONF_WARNING ? LOGB_INFO
							       : LOGB_VERBOSE;

		if (!log_wants(level))
			continue;
		about.file = f->file;
		if (f->line)
			log_write_on(&about, level, NULL, "%s:%u:%u: %s", f->file, f->line,
				     f->column, f->text);
		else
			log_write_on(&about, level, NULL, "%s%s%s", f->file ? f->file : "",
				     f->file ? ": " : "", f->text);
	}
	if (report->dropped)
		log_error("%zu more findings", report->dropped);
}

/* ---- names ---------------------------------------------------------------------------------- */

/*
 * The name of an aggregation node, all of which have the same description: that of its switch, in
 * `ret`. NULL: it is none.
 */
static const char *name_by_switch(const struct sm *sm, const struct node *n,
				  char ret[NODE_DESC_STRLEN])
{
	const struct port *far = n->n_ports && !node_is_switch(n) ? n->ports[1].peer : NULL;

	if (!far || !node_is_switch(far->node) || !node_quirk(sm, n, QUIRK_AGGREGATION))
		return NULL;
	snprintf(ret, NODE_DESC_STRLEN, AGGREGATION_NAME, node_name(far->node));
	return ret;
}

void name_node(const struct sm *sm, struct node *n)
{
	const char *mapped = conf_names_find(conf_files_names(sm->files), n->guid);
	char by_switch[NODE_DESC_STRLEN];

	node_set_alias(n, mapped ? mapped : name_by_switch(sm, n, by_switch));
}

void name_around(const struct sm *sm, struct node *n)
{
	name_node(sm, n);
	for (unsigned i = 1; node_is_switch(n) && i <= n->n_ports; i++)
		if (n->ports[i].peer && !node_is_switch(n->ports[i].peer->node))
			name_node(sm, n->ports[i].peer->node);
}

void name_all_nodes(struct sm *sm)
{
	FABRIC_EACH_NODE(sm->fabric, n)
		if (node_is_switch(n))
			name_node(sm, n);
	FABRIC_EACH_NODE(sm->fabric, n)
		if (!node_is_switch(n))
			name_node(sm, n);
}
