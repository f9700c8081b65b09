// SPDX-License-Identifier: BSD-2-Clause
/*
 * The subnet as JSON documents, for the control socket (show_methods): shared by show*.c.
 *
 * A snapshot holds copies of, and references to, immutable things only, so that a worker can render
 * the document while the manager continues:
 *
 *   show_snapshot()  main thread: the view of the SA, by reference; a view of the fabric as it
 *                    stands is begun
 *   show_collect()   main thread, in turns: a part of that view, until it is whole, and of one
 *                    moment (view/view_copy.h)
 *   show_drop()      main thread
 *
 *   show_topology.c  Topology, Nodes      show_ports.c  Ports, and why one is not ACTIVE
 *   show_vicinity.c  Topology of one port
 *   show_routes.c    Routes               show_path.c   Path: why A reaches B as it does
 *   show_tables.c    Tables: all of them, packed
 *   show_partitions.c, show_groups.c, show_sa.c (Managers too)
 *   show_policy.c    QosPolicy, and what it says of a path
 *   show_qos.c       Qos: lanes as programmed, of the groups of ports of show_lanes.h
 *   show_find.c      the node or port that a word stands for
 *   show_diff.c      ManagersDiff
 *   show_gone.c      nodes that left the fabric, and the port each was behind
 *
 * Only this folder includes it.
 */
#pragma once

#include <json-c/json.h>

#include "api/fields.h"
#include "conf/partitions/partitions.h"
#include "conf/qos/qos_policy.h"
#include "show/show.h"
#include "sm/trust/violations.h"
#include "topo/names.h"
#include "util/mem.h"
#include "view/view.h"

#define SHOW_WORD_MAX 256
#define SHOW_WORDS    5
#define SHOW_FLAGS    3

/* Parts of a snapshot that a document needs. */
enum show_need {
	SHOW_REASONS = 1,  /* show.why */
	SHOW_ROUTES = 2,   /* view->routes; without this flag the view has none */
	SHOW_ANSWERS = 4,  /* `answers` and `partitions`; only a master has them */
	SHOW_TREES = 8,	   /* multicast trees in `view`, where word[0] asks for one group */
	SHOW_NO_VIEW = 16, /* show.routes alone: no view is made */
};

/* A member of a partition that is made or changed at run time. */
struct show_tenant {
	guid_t guid;
	bool full;
	/* state of a change, a constant text; NULL: the P_Key is on the device */
	const char *pending;
};

/* Partitions of the table of tenants, by P_Key; copies. */
struct show_tenants {
	struct show_tenant_row {
		uint16_t pkey;
		size_t first, n; /* in `members`, by GUID */
	} * rows;
	size_t n_rows, cap_rows;
	struct show_tenant *members;
	size_t n_members, cap_members;
};

/* The part of a port in an alarm (sm/alarms/alarms.h). */
enum show_part {
	SHOW_NO_PART,
	SHOW_PLACE,   /* the port where an administrator looks: the alarm is named there */
	SHOW_FURTHER, /* another port of the object */
	SHOW_PLANNED, /* the alarm is of class planned */
};

struct show {
	struct view *view;	/* the fabric as it was when the copy was complete; one reference */
	struct view_copy *copy; /* the copy in progress, until `view` is there */
	const struct sm *sm;	/* the manager, until `view` is there */
	/* source of `why`, until `view` is there; with SHOW_REASONS */
	struct sm_reasons *reasons;
	mono_t now;	       /* time of the present turn */
	struct routes *routes; /* with SHOW_NO_VIEW: routes in place of `view`; one reference */
	/* With SHOW_REASONS, for each port of the view: */
	const char **why;	     /* constant text; NULL: the port may become ACTIVE */
	unsigned *held;		     /* seconds for which a flapping port is still held down */
	uint8_t *part;		     /* enum show_part */
	struct json_object *planned; /* with SHOW_REASONS: alarms of class planned */
	struct violation_counts *violations; /* violations from this port; NULL: no port has any */
	/* the published view of the SA, perhaps older than `view`; one reference */
	struct view *answers;
	struct partitions *partitions; /* one reference */
	/* Text and bool parameters, each in the order of the method's type. */
	char word[SHOW_WORDS][SHOW_WORD_MAX]; /* "": not given */
	bool flag[SHOW_FLAGS];

	struct daemon_gone *gone; /* nodes that left lately; `at` is the time since then */
	unsigned n_gone;

	struct show_tenants tenants; /* for Partitions */

	/* Rows that a document copies in addition to the view. */
	void *rows;
	size_t n_rows;
	void (*clear_rows)(struct show *s); /* frees memory of rows; NULL: none */
};

/* Functions for rows of show_methods; without a snapshot `err` says why. */
control_snapshot_fn show_snapshot;
control_collect_fn show_collect;
control_drop_fn show_drop;

/* ---- show_find.c: the node or port that a word stands for ---- */

/* A port of the view; of a switch port 0. */
struct show_found {
	const struct view_node *node;
	const struct view_port *port; /* NULL: the whole node */
};

/*
 * Finds "12" (a LID), "0x..." (LID, or GUID of a node or port), a GID, the name of a node (mapped,
 * as described, or its first word), or NAME/PORT. False: `err` says that there is none, or lists
 * several.
 */
bool show_find(const struct show *s, const char *word, struct show_found *ret,
	       struct control_error *err);
/* Finds an end port; if a LID is that of several, `err` asks for one of them. */
bool show_find_end(const struct show *s, const char *word, const struct view_port **ret,
		   struct control_error *err);
/* Writes the GUIDs of the nodes of a name, at most `max` (4 or less). */
#define SHOW_GUIDS (4 * 24)
char *show_guids(const struct name *name, size_t max, char ret[SHOW_GUIDS]);
/* For lists: "" matches all nodes, a name all nodes with that name. */
bool show_node_matches(const struct show *s, const struct view_node *n, const char *word);
/* Reads a number, decimal or 0x, if the whole word is one. */
bool show_number(const char *word, uint64_t max, uint64_t *ret);

/* Port `num` of a node that has it: 0 to n_ports of switches, 1 to n_ports of others. */
static inline const struct view_port *show_port(const struct show *s, const struct view_node *n,
						unsigned num)
{
	return &s->view->ports[view_node_port(n, num)];
}

/* The port at an index; NULL for VIEW_NONE. */
static inline const struct view_port *show_port_at(const struct show *s, uint32_t at)
{
	return at == VIEW_NONE ? NULL : &s->view->ports[at];
}

static inline const struct view_node *show_node_of(const struct show *s, const struct view_port *p)
{
	return &s->view->nodes[p->node];
}

static inline const char *show_name(const struct show *s, const struct view_node *n)
{
	return view_node_name(s->view, n);
}

/*
 * The name in documents: an aggregation node without an entry in the node-name map is called by its
 * switch, as its description is the same in every switch. Returns `ret`, or a text of the view.
 */
#define SHOW_CALLED 65
const char *show_called(const struct show *s, const struct view_node *n, char ret[SHOW_CALLED]);

/* Violations from this port; NULL: there are none, or they were not asked for. */
static inline const struct violation_counts *show_violations(const struct show *s,
							     const struct view_port *p)
{
	return s->violations ? &s->violations[p - s->view->ports] : NULL;
}

/* ---- show_gone.c: nodes that left the fabric ---- */

void show_gone_copy(struct show *s, const struct daemon_api *api);
/* Is the word the name of a node that left lately? True: `err` says when, and where it was. */
bool show_gone_fail(const struct show *s, const char *word, struct control_error *err);
/* The neighbour of a port without a link, if it has left: an object; NULL: it has not. */
struct json_object *show_gone_of(const struct show *s, const struct view_port *p);
extern const struct json_field show_gone_fields[]; /* members of it */

/* ---- show_json.c: values with one spelling in all documents ---- */

void show_put_gid(struct json_object *o, const char *key, const uint8_t gid[16]);
/* Adds tenths as a number: 25 -> 2.5 */
void show_put_tenths(struct json_object *o, const char *key, unsigned tenths);
/*
 * Kinds of api/fields.h: a GID, tenths, an end port of the view of `s`, the role of a node, which
 * aggregation nodes alone have.
 */
#define FIELD_TYPE_GID		    .type = FIELD_WORD_STR
#define FIELD_PUT_GID		    show_put_gid
#define FIELD_TYPE_TENTHS	    .type = FIELD_WORD_FLOAT
#define FIELD_PUT_TENTHS	    show_put_tenths
#define FIELD_TYPE_END		    .type = "", .of = show_end_fields
#define FIELD_PUT_END(o, key, port) show_add_end(o, key, s, port)
#define FIELD_TYPE_ROLE		    .type = "?string"
#define FIELD_PUT_ROLE(o, key, n)                                                                  \
	if (view_switch_around(s->view, n))                                                        \
	json_add_str(o, key, "aggregation")
/* Members of a node: `s`, `n` and `name` (SHOW_CALLED bytes) are in scope. */
#define SHOW_NODE_FIELDS(F)                                                                        \
	F("name", STR, show_called(s, n, name))                                                    \
	F("desc", STR, n->desc)                                                                    \
	F("node_guid", GUID, n->guid)                                                              \
	F("type", STR, ib_node_row(n->type)->word)                                                 \
	F("role", ROLE, n)
void show_put_node(struct json_object *o, const struct show *s, const struct view_node *n);
/* Members of an end port `p`. */
#define SHOW_END_FIELDS(F)                                                                         \
	SHOW_NODE_FIELDS(F)                                                                        \
	F("port", INT, p->num)                                                                     \
	F("port_guid", GUID, view_guid_of(s->view, p))                                             \
	F("lid", INT, p->lid)
extern const struct json_field show_end_fields[];
void show_put_end(struct json_object *o, const struct show *s, const struct view_port *p);
/* Adds the members of show_put_end() as the object `key` of `o`. */
void show_add_end(struct json_object *o, const char *key, const struct show *s,
		  const struct view_port *p);
/* Adds the members of show_put_end() for a port GUID; if it is gone, "port_guid" alone. */
void show_put_port_guid(struct json_object *o, const struct show *s, guid_t port_guid);
/* "limited", "full" or "both", for PKEY_SET_*. */
const char *show_membership(unsigned forms);
/* The partition of a P_Key; NULL: there is none. */
const struct partition *show_partition_of(const struct show *s, uint16_t pkey);

/* ---- show_vicinity.c: the neighbours of one port ---- */

struct show_vicinity {
	const struct show *s;
	/* node of the port; NULL: there is no such port, and nothing is shown */
	const struct view_node *node;
	guid_t guid;
	unsigned num; /* 0: all ports with the GUID */
	bool *shown;  /* by node: set if it is in the document */
	/* by node: hops to a switch with hosts; UINT_MAX: not a switch, or no host is reachable */
	unsigned *rank;
};

/* "GUID_PORT", or a GUID. */
struct show_vicinity *show_vicinity_new(const struct show *s, const char *name);
struct show_vicinity *show_vicinity_free(struct show_vicinity *v);
FREEP(show_vicinity_free, struct show_vicinity)
/* Is this the port, or one with the GUID? */
bool show_vicinity_has(const struct show_vicinity *v, const struct view_node *n, unsigned num);

/* ---- documents: columns of show_methods ---- */

/* Turns that copy rows in addition to the view, when it is complete. */
control_collect_fn show_partitions_collect, show_groups_collect, show_sa_collect, show_qos_collect,
	show_policy_collect;
control_render_fn show_topology, show_nodes, show_ports, show_routes, show_tables, show_path;
control_render_fn show_partitions, show_groups, show_sa;
control_render_fn show_qos;
control_render_fn show_policy;

/* ---- show_policy.c: of one path ---- */

/* Reads words 2, 3, 4 of Path: service id, QoS class, P_Key. False: `err`. */
bool show_policy_request(const struct show *s, struct qos_request *ret, struct control_error *err);
/*
 * The rule for two end ports of a view, its level, other rules that match: an object. NULL, also
 * `*ret_level`: there is no policy.
 */
struct json_object *show_policy_decision(const struct view *v, const struct qos_request *rq,
					 uint32_t src, uint32_t dst,
					 const struct qos_level **ret_level);
extern const struct json_field show_decision_fields[];
control_answer_fn show_managers, show_managers_diff;
/* Members of show_ledger_peer() without those that name the manager. */
struct json_object *show_ledger_standing(const struct sm *sm, const struct sm_ledger_peer *p);
/* Members of the answers: columns of show_methods. */
extern const struct json_field show_topology_fields[], show_nodes_fields[], show_ports_fields[],
	show_routes_fields[], show_tables_fields[], show_path_fields[], show_partitions_fields[],
	show_groups_fields[], show_sa_fields[], show_qos_fields[], show_policy_fields[],
	show_managers_fields[], show_managers_diff_fields[];
/* Fills the object of one port in Topology and Ports. */
void show_put_port(struct json_object *o, const struct show *s, const struct view_port *p);
/* Members of show_put_port(), and behind them those of show_put_node(). */
extern const struct json_field show_listed_fields[];
