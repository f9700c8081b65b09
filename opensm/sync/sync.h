// SPDX-License-Identifier: BSD-2-Clause
/*
 * Want minus have, turned into transactions, stage by stage (enum stage in sync/rows.h).
 *
 * A stage ends when all its requests have ended. A node that stayed silent is left out of the
 * following stages; other nodes do not wait for it. All writes of the daemon pass here, and each
 * asks `may_write` first: a standby sends nothing.
 *
 * A port that is to be armed, or ACTIVE, and does not hold its P_Keys and SL2VL tables waits: no
 * port becomes ACTIVE with a wrong table. Partition enforcement is in the PortInfo that ARM writes,
 * and is turned on only where the switch port holds its table.
 *
 * The answer of a device to a Set is an observation. Fields that it did not keep are remembered
 * with the values that were wanted, and not written again until those change.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/conf.h"
#include "fabric/observe.h"
#include "keys/key_ring.h"
#include "mad/mad.h"
#include "plan/link.h"
#include "plan/pkey.h"
#include "plan/qos.h"
#include "route/core/routes.h"
#include "route/proof/transition.h"

struct sync;

/* The fabric as it should be. Borrowed references, held by the caller until the sync has ended. */
struct plan {
	const struct conf *conf;
	const struct routes *routes;
	const struct transition *transition; /* NULL: every order is good */
	/*
	 * P_Key tables of end ports (by GUID) and of the switch ports that face them. End ports
	 * that it does not know are left alone; NULL: so are all, enforcement bits included
	 * (policy keep).
	 */
	const struct pkey_plan *pkeys;
	const struct qos_plan *qos; /* of these routes; NULL: SLs and VLs are left alone */
	/* M_Keys of end ports. NULL: conf->m_key for all; without a seed: they stay as they are. */
	const struct key_ring *keys;
	/* Ports with a key of this ring keep it: it will be in force soon. NULL: there is none. */
	const struct key_ring *keys_later;
	lid_t sm_lid;
	/*
	 * Of sync_start_ahead(): no port is ACTIVE, so that links between switches, ARMED without
	 * routes, do no harm.
	 */
	bool arms_ahead;
	/*
	 * Which registry subnet administration keeps: end ports that registered with another one
	 * (or none) are asked to do it again, once.
	 */
	uint32_t registry;
};

#define GUID_BLOCK 8 /* GUIDs in one block of GUIDInfo */

/* The effects of one run. */
struct sync_outcome {
	unsigned sets;		 /* requests that were queued */
	unsigned timeouts;	 /* ended without an answer */
	unsigned refused;	 /* answered with a bad status */
	unsigned unstored_ports; /* ports that did not keep a field, newly noticed */
	link_fields unstored;	 /* which fields */
	struct port *unstored_example;
	unsigned unkept_tables; /* tables of ports not kept or refused, newly given up */
	struct port *unkept_example;
	uint16_t unkept_attr;
	unsigned unmapped; /* switches that routes need SL2VL of, and that cannot map SLs */
	struct node *unmapped_example;
	struct node *failed_example; /* of timeouts or refused */
	uint16_t failed_attr, failed_status;
	unsigned ports_held;  /* ARMED, and may_activate() said no */
	unsigned recovered;   /* switches that take forwarding tables again */
	unsigned tables_kept; /* blocks kept, because another switch must change first */
};

struct sync_hooks {
	bool (*may_write)(void *arg);
	void (*ended)(void *arg, const struct sync_outcome *outcome); /* may start the next */
	/* NULL: always. A port in INIT may become ARMED; else a later run does that. */
	bool (*may_arm)(void *arg, const struct port *p);
	/*
	 * NULL: always. A port that would carry packets along tables which are not right yet
	 * waits.
	 */
	bool (*may_activate)(void *arg, const struct port *p);
	/* NULL: none. An answer showed a link in a lower state than before. */
	void (*link_fell)(void *arg, const struct delta *d);
	/* NULL: none. LFT block `value` was written, or LinearFDBTop became `value`. */
	void (*table_written)(void *arg, const struct node *n, bool top, unsigned value);
	/* NULL: none. A Set of a run was refused by the device of `p`; `silent`: not answered. */
	void (*set_fault)(void *arg, struct port *p, bool silent);
	/* GUIDs that were written outside of a run did not arrive: another run is needed. */
	void (*unsettled)(void *arg);
	void *arg;
};

struct sync *sync_new(struct fabric *f, struct mad_engine *mad, const struct sync_hooks *hooks);
struct sync *sync_free(struct sync *s);

/* The link trained anew: fields that the port did not keep are written once more. */
void sync_link_trained(struct port *p);
/* The node was silent altogether: its tries begin anew. */
void sync_node_back(struct node *n);
/* SL2VL and VLArb tables of another manager were found there, or none. */
void sync_lanes_found(struct node *n, bool found);
/* The port is registered with that SA (struct plan: registry); 0: with none. */
void sync_registered(struct port *p, uint32_t registry);

/*
 * A command: an effect sent once, outside of a run (clearing PortStateChange). Passes the same
 * authority; false if nothing may be written or no path leads there, then `on_done` is not called.
 * `what->m_key` 0: the port's; its path is found.
 */
bool sync_command(struct sync *s, struct port *p, const struct mad_request *what,
		  mad_done_fn on_done, void *owner, void *arg);

/*
 * A command without a transaction (no window, no repetition, no answer): the last message of a
 * master. False: nothing may be written, or no path leads there.
 */
bool sync_last_command(struct sync *s, struct port *p, const struct mad_request *what);

/*
 * A command: the link at `p` (its PortInfo is known) goes down and does not train again until the
 * port is enabled. As sync_command().
 */
bool sync_switch_off(struct sync *s, struct port *p, mad_done_fn on_done, void *owner, void *arg);

/* A command: `p` is enabled again, and trains. As sync_switch_off(). */
bool sync_switch_on(struct sync *s, struct port *p, mad_done_fn on_done, void *owner, void *arg);

/*
 * A command: the link at `p` goes down and trains again, to INIT. As sync_switch_off().
 */
bool sync_take_down(struct sync *s, struct port *p, mad_done_fn on_done, void *owner, void *arg);

/*
 * Alias GUIDs: the wanted content of block `block` (0..31) of an end port's GUIDInfo; entry 0 of
 * block 0 is the port's own and never changed. Kept until told otherwise, whether the fabric knows
 * the port or not. Written at once (outside of runs, to a port that is up), or by the next run, and
 * again after a reboot of the port. All zero: aliases are taken away. NULL: nothing is wanted any
 * more and nothing is written (the port has lost all it held).
 */
void sync_want_guids(struct sync *s, guid_t port_guid, unsigned block,
		     const guid_t guids[GUID_BLOCK]);

/* How a side of an end port's P_Keys ended. */
enum pkeys_state {
	PKEYS_CONFIRMED, /* the table is as wanted; what was written was read back */
	PKEYS_NOTHING,	 /* nothing is wanted of it: no plan, no switch there, too little room */
	PKEYS_SILENT,
	PKEYS_REFUSED,	 /* or it stores something else each time */
	PKEYS_CANCELLED, /* nothing may be written, no path leads there, or the node is gone */
};
struct sync_pkeys {
	enum pkeys_state switch_port, end_port;
};
typedef void sync_pkeys_fn(void *arg, const struct sync_pkeys *r);
/*
 * The plan of P_Keys that counts outside of runs, too: borrowed until the next call or
 * sync_start(). It may be changed in place; a run sees that. NULL: none.
 */
void sync_use_pkeys(struct sync *s, const struct pkey_plan *pkeys);
/* The plan of this end port was changed in place: answers to Sets of before mean nothing. */
void sync_pkeys_replanned(struct sync *s, guid_t end);
/*
 * The P_Key table of the switch port that faces `end`, then its own: blocks that differ are
 * written, and those are read back. Whether a run is under way or not. `done` is called once, from
 * sync_feed(), sync_forget(), sync_stop() or sync_free(), never from inside.
 */
void sync_confirm_pkeys(struct sync *s, struct port *end, sync_pkeys_fn *done, void *arg);

/*
 * Keys that are not in `allowed` (copied) are taken out of the table of switch port `p`, whose far
 * end is not planned; a full key whose limited form is allowed becomes that. What was written is
 * read back. `done` as above; `switch_port` PKEYS_CONFIRMED: no other key is there.
 */
void sync_remove_pkeys(struct sync *s, struct port *p, struct pkey_table allowed,
		       sync_pkeys_fn *done, void *arg);

/* Starts a run; the previous one must have ended. `ended` is called from sync_feed(). */
void sync_start(struct sync *s, const struct plan *plan);
/*
 * The same for what needs no routes: P_Key tables are written while routes are computed, and with
 * plan->arms_ahead PortInfo of links between switches. plan->routes and plan->qos may be NULL.
 */
void sync_start_ahead(struct sync *s, const struct plan *plan);
/*
 * Queues more work as far as the engine wants it and moves on to the next stage. Call after each
 * mad_dispatch().
 */
void sync_feed(struct sync *s);
/* Before observe_node_gone(): ends its transactions. */
void sync_forget(struct sync *s, struct node *n);
/* Gives up a run without calling `ended`; its transactions are cancelled. */
void sync_stop(struct sync *s);
bool sync_running(const struct sync *s);
#define SYNC_DOING_STRLEN 100
/* The work of the run, and how far it is: "forwarding tables, 12 of 96 blocks"; "" without one. */
void sync_doing(const struct sync *s, char ret[SYNC_DOING_STRLEN]);
