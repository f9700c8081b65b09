// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records about nodes and ports: the text begins with what it is about (fabric/words.h), the
 * journal gets the same as fields.
 *
 *	log_port(p, LOG_ID_SILENT, LOGB_ERROR, "%s is not answered", "Get PortInfo");
 */
#pragma once

#include "fabric/words.h"
#include "sm/sm_internal.h"

struct log_about about_port(enum log_id id, const struct port *p); /* NULL is fine */
struct log_about about_node(enum log_id id, const struct node *n);
/* Record about the end port of this GUID, known or not. */
struct log_about about_guid(const struct sm *sm, enum log_id id, guid_t port_guid);

#define log_port(p, id, bits, ...)                                                                 \
	do {                                                                                       \
		if (log_wants(bits))                                                               \
			log_port_record(__func__, (p), (id), (bits), __VA_ARGS__);                 \
	} while (0)
#define log_node(n, id, bits, ...)                                                                 \
	do {                                                                                       \
		if (log_wants(bits))                                                               \
			log_node_record(__func__, (n), (id), (bits), __VA_ARGS__);                 \
	} while (0)

/* Logs a record about an end port by its GUID, which may be unknown here. */
#define log_guid(sm, guid, id, bits, ...)                                                          \
	do {                                                                                       \
		if (log_wants(bits))                                                               \
			log_guid_record(__func__, (sm), (guid), (id), (bits), __VA_ARGS__);        \
	} while (0)
/* "'h3' port 1 (0x...), LID 7, behind 'leaf1' port 5". Returns `ret`. */
char *guid_place_str(const struct sm *sm, guid_t port_guid, char ret[PLACE_STRLEN]);

void log_port_record(const char *func, const struct port *p, enum log_id id, unsigned bits,
		     const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void log_node_record(const char *func, const struct node *n, enum log_id id, unsigned bits,
		     const char *fmt, ...) __attribute__((format(printf, 5, 6)));

void log_guid_record(const char *func, const struct sm *sm, guid_t guid, enum log_id id,
		     unsigned bits, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* Logs the findings of a file, a record each, as "FILE:LINE:COLUMN: ..." if they have a place. */
void log_findings(const struct conf_report *report);

/* ---- names ---- */

/*
 * Names a node that was met: by the node-name map, an aggregation node by its switch, else by its
 * NodeDescription.
 */
void name_node(const struct sm *sm, struct node *n);
/* Names node `n`, which has another description or another cable, and nodes named after it. */
void name_around(const struct sm *sm, struct node *n);
/* Names all nodes again after a change of the node-name map or of the list of quirks. */
void name_all_nodes(struct sm *sm);
