// SPDX-License-Identifier: BSD-2-Clause
/*
 * The subnet as JSON documents, for the control socket (show_methods): what the files show*.c share.
 *
 * A snapshot holds copies and references of immutable things only, so that a worker can make the document
 * at leisure while the manager goes on:
 *
 *   show_new()     main thread: the fabric copied (ctl/dump_view), the view and the routes by reference
 *   show_index()   worker: nodes and ports by GUID, LID and name
 *   show_drop()    main thread
 *
 *   show_topology.c  Topology, Nodes      show_ports.c  Ports, and why one is not ACTIVE
 *   show_routes.c    Routes               show_path.c   Path: why A reaches B as it does
 *   show_partitions.c, show_groups.c, show_sa.c, show_managers.c
 *   show_find.c      what the user's words mean
 *   show_gone.c      who went, and where that was
 *
 * Only ctl/show*.c includes it.
 */
#pragma once

#include <json-c/json.h>

#include "conf/partitions.h"
#include "ctl/control.h"
#include "ctl/dump_view.h"
#include "ctl/json.h"
#include "sa/view.h"

#define SHOW_WORD_MAX 256

/* What a document needs. */
enum show_need {
	SHOW_REASONS = 1, /* `why` */
	SHOW_ROUTES = 2,  /* view->routes; without any it is not made */
	SHOW_ANSWERS = 4, /* `answers` and `partitions`; only a master has them */
	SHOW_TREES = 8,	  /* multicast tables of the view */
};

struct show {
	struct dump_view *view;
	const char **why;     /* per port of the view: constant text, NULL: nothing; with SHOW_REASONS */
	struct view *answers; /* one reference */
	struct partitions *partitions; /* one reference */
	guid_t own_node;
	uint32_t own_port;    /* in view->ports; DUMP_NONE */
	bool master;
	char word[2][SHOW_WORD_MAX]; /* parameters, "" if not given */
	bool flag[2];

	struct scene_gone *gone; /* who went lately; `at` is how long ago that was */
	unsigned n_gone;

	/* Of a kind of document: rows copied beside. */
	void *rows;
	size_t n_rows;
	void (*free_rows)(struct show *s);

	/* Made by show_index(). */
	uint32_t *order;	 /* nodes by GUID */
	struct guidmap *by_node; /* node GUID -> struct dump_node */
	struct guidmap *by_port; /* port GUID -> struct dump_port */
	uint32_t *by_lid;	 /* LID_MAX_UCAST + 1 rows: end port; DUMP_NONE */
};

/* NULL: `err` says why there is nothing to show. `needs`: of enum show_need. */
struct show *show_new(const struct scene *scene, unsigned needs, struct control_error *err);
void show_drop(void *snapshot);
/* As show_new(), with parameters of a method: texts into word[], at most two. */
struct show *show_asked(const struct scene *scene, struct json_object *parameters,
			const char *const names[2], unsigned needs, struct control_error *err);
void show_index(struct show *s);

/* A text parameter into `ret` ("" if it is not given; numbers are taken as text). False: `err`. */
bool show_text(struct json_object *parameters, const char *key, char ret[SHOW_WORD_MAX],
	       struct control_error *err);
bool show_bool(struct json_object *parameters, const char *key, bool *ret, struct control_error *err);

/* ---- show_find.c: what the user's words mean ---- */

/* A port of the view; of a switch port 0. */
struct show_found {
	const struct dump_node *node;
	const struct dump_port *port; /* NULL: the node as a whole */
};

/*
 * "12" (a LID), "0x..." (LID, or GUID of a node or port), a GID, the name of a node (mapped, as described, or
 * its first word), NAME/PORT. False: `err` says that there is none, or which there are.
 */
bool show_find(const struct show *s, const char *word, struct show_found *ret,
	       struct control_error *err);
/* The end port that is meant: of several with a LID `err` asks which. */
bool show_find_end(const struct show *s, const char *word, const struct dump_port **ret,
		   struct control_error *err);
/* Does a node answer to this word? For lists: "" matches all, any node of that name counts. */
bool show_node_matches(const struct show *s, const struct dump_node *n, const char *word);
/* Numbers as written for people: decimal or 0x, whole word. */
bool show_number(const char *word, uint64_t max, uint64_t *ret);

static inline const struct dump_port *show_port(const struct show *s, const struct dump_node *n,
						unsigned num)
{
	return &s->view->ports[n->first_port + num];
}

static inline const struct dump_node *show_node_of(const struct show *s, const struct dump_port *p)
{
	return &s->view->nodes[p->node];
}

/* Ports that own a LID: of hosts, and port 0 of switches. */
static inline bool show_is_end(const struct show *s, const struct dump_port *p)
{
	return (show_node_of(s, p)->type == IB_NODE_SWITCH) == (p->num == 0);
}

/* ---- show_gone.c: who went, and where that was ---- */

void show_gone_copy(struct show *s, const struct scene *scene);
/* Fails for a word that means somebody who went lately, with all that is known of it. False: nobody did. */
bool show_gone_fail(const struct show *s, const char *word, struct control_error *err);
/* To a port without a link: "was_cabled_to", if anybody was behind it. */
void show_put_gone(struct json_object *o, const struct show *s, const struct dump_port *p);

/* ---- show_json.c: values as they are written everywhere ---- */

/* How much was asked and is registered: a new object. */
struct sa_stats;
struct json_object *show_sa_counts(const struct sa_stats *c);
void show_put_gid(struct json_object *o, const char *key, const uint8_t gid[16]);
/* "0x7fff" */
void show_put_hex(struct json_object *o, const char *key, unsigned v);
/* {"tenths" / 10}: 25 -> 2.5 */
void show_put_tenths(struct json_object *o, const char *key, unsigned tenths);
/* "node_guid", "name", "desc", "type" of a node */
void show_put_node(struct json_object *o, const struct dump_node *n);
/* The same and "port" (number), "lid" */
void show_put_end(struct json_object *o, const struct show *s, const struct dump_port *p);
/* The same for a GUID of a port that may be gone: then "port_guid" alone. */
void show_put_port_guid(struct json_object *o, const struct show *s, guid_t port_guid);
const char *show_type_name(unsigned node_type);	 /* "switch", "ca", "router" */
const char *show_state_name(unsigned state);	 /* "down", "init", "armed", "active" */
const char *show_phys_name(unsigned phys);	 /* "polling", "link_up" ... */
const char *show_speed_name(unsigned tenths);	 /* "EDR"; "" unknown */

/* ---- documents: render functions, see show_methods ---- */

struct json_object *show_topology(void *snapshot, struct control_error *err);
struct json_object *show_nodes(void *snapshot, struct control_error *err);
struct json_object *show_ports(void *snapshot, struct control_error *err);
struct json_object *show_routes(void *snapshot, struct control_error *err);
struct json_object *show_path(void *snapshot, struct control_error *err);
void *show_partitions_new(const struct scene *scene, struct json_object *parameters,
			  struct control_error *err);
struct json_object *show_partitions(void *snapshot, struct control_error *err);
void *show_groups_new(const struct scene *scene, struct json_object *parameters,
		      struct control_error *err);
struct json_object *show_groups(void *snapshot, struct control_error *err);
void *show_sa_new(const struct scene *scene, struct json_object *parameters,
		  struct control_error *err);
struct json_object *show_sa(void *snapshot, struct control_error *err);
struct json_object *show_managers(const struct scene *scene, struct json_object *parameters,
				  struct control_error *err);
/* Of one port, for Topology and Ports. */
struct json_object *show_port_object(const struct show *s, const struct dump_port *p);
