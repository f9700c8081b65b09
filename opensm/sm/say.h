// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records about nodes and ports: the text begins with what it is about (fabric/words.h), the journal gets
 * the same as fields.
 *
 *	log_port(p, LOG_ID_SILENT, LOGB_ERROR, "%s is not answered", "Get PortInfo");
 */
#pragma once

#include "fabric/words.h"
#include "sm/impl.h"

struct log_about about_port(enum log_id id, const struct port *p); /* NULL is fine */
struct log_about about_node(enum log_id id, const struct node *n);
/* The end port of this GUID; it may be nobody's. */
struct log_about about_guid(const struct sm *sm, enum log_id id, guid_t port_guid);

#define log_port(p, id, bits, ...)                                                                 \
	do {                                                                                       \
		if (log_wants(bits))                                                               \
			say_port(__func__, (p), (id), (bits), __VA_ARGS__);                        \
	} while (0)
#define log_node(n, id, bits, ...)                                                                 \
	do {                                                                                       \
		if (log_wants(bits))                                                               \
			say_node(__func__, (n), (id), (bits), __VA_ARGS__);                        \
	} while (0)

void say_port(const char *func, const struct port *p, enum log_id id, unsigned bits, const char *fmt,
	      ...) __attribute__((format(printf, 5, 6)));
void say_node(const char *func, const struct node *n, enum log_id id, unsigned bits, const char *fmt,
	      ...) __attribute__((format(printf, 5, 6)));

/* ---- names ---- */

/* A node was met: it is called as the node-name map says. */
void say_name_node(const struct sm *sm, struct node *n);
/* There is another node-name map: all nodes are. */
void say_name_all(struct sm *sm);
