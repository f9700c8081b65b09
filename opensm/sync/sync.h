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

/* The wanted state of the fabric. References are borrowed until the run has ended. */
struct plan {
	const struct conf *conf;
	const struct routes *routes;
	const struct transition *transition; /* NULL: every order is safe */
	/*
	 * P_Key tables of end ports (by GUID) and of the switch ports that face them. End ports
	 * without a plan are left alone; NULL: all are, enforcement bits included (policy keep).
	 */
	const struct pkey_plan *pkeys;
	const struct qos_plan *qos; /* for these routes; NULL: SLs and VLs are left alone */
	/* M_Keys of end ports; without a seed they stay as they are. NULL: conf->m_key for all. */
	const struct key_ring *keys;
	/* A ring that will soon be in force: ports with a key of it keep it. NULL: none. */
	const struct key_ring *keys_later;
	lid_t sm_lid;
	/*
	 * For sync_start_ahead(): set if no port is ACTIVE, so that links between switches may be
	 * ARMED without routes.
	 */
	bool arms_ahead;
	/*
	 * Number of the SA's registry: end ports that registered with another one, or none, are
	 * asked once to register again.
	 */
	uint32_t registry;
};

#define GUID_BLOCK 8 /* GUIDs in one block of GUIDInfo */

/* The result of one run. */
struct sync_outcome {
	unsigned sets;		 /* requests queued */
	unsigned timeouts;	 /* requests that ended without an answer */
	unsigned refused;	 /* requests answered with a bad status */
	unsigned unstored_ports; /* ports newly found not to keep a field */
	link_fields unstored;	 /* fields that were not kept */
	struct port *unstored_example;
	unsigned unkept_tables; /* tables of ports newly given up, as not kept or refused */
	struct port *unkept_example;
	uint16_t unkept_attr;
	unsigned unmapped; /* switches that cannot map SLs, though routes need their SL2VL */
	struct node *unmapped_example;
	struct node *failed_example; /* node of a timeout or refusal */
	uint16_t failed_attr, failed_status;
	unsigned ports_held; /* ports that stay ARMED, as may_activate() said no */
	unsigned recovered;  /* switches that take forwarding tables again */
	/* LFT blocks not written yet, because another switch must change first */
	unsigned tables_kept;
};

struct sync_hooks {
	bool (*may_write)(void *arg);
	/* called at the end of a run; may start the next one */
	void (*ended)(void *arg, const struct sync_outcome *outcome);
	/* May this port in INIT become ARMED? If not, a later run arms it. NULL: always. */
	bool (*may_arm)(void *arg, const struct port *p);
	/*
	 * May this port become ACTIVE? A port waits that would carry packets along tables that are
	 * not right yet. NULL: always.
	 */
	bool (*may_activate)(void *arg, const struct port *p);
	/* Called when an answer showed a link in a lower state than before. May be NULL. */
	void (*link_fell)(void *arg, const struct delta *d);
	/* LFT block `value` was written, or LinearFDBTop became `value`. May be NULL. */
	void (*table_written)(void *arg, const struct node *n, bool top, unsigned value);
	/* The device of `p` refused a Set of a run, or (`silent`) did not answer. May be NULL. */
	void (*set_fault)(void *arg, struct port *p, bool silent);
	/* Called when Sets outside of a run did not arrive: another run is needed. */
	void (*unsettled)(void *arg);
	void *arg;
};

struct sync *sync_new(struct fabric *f, struct mad_engine *mad, const struct sync_hooks *hooks);
struct sync *sync_free(struct sync *s);

/* Called when the link trained anew: fields that the port did not keep are written once more. */
void sync_link_trained(struct port *p);
/* Called when the node answers again after silence: its counters of tries begin anew. */
void sync_node_back(struct node *n);
/* Notes whether SL2VL and VLArb tables of another manager were found there. */
void sync_lanes_found(struct node *n, bool found);
/* Notes that the port is registered with this registry of the SA (struct plan); 0: with none. */
void sync_registered(struct port *p, uint32_t registry);

/*
 * Sends a command: a Set outside of a run (clearing PortStateChange). False: nothing may be
 * written, or no path is known; then `on_done` is not called. `what->m_key` 0: the port's.
 */
bool sync_command(struct sync *s, struct port *p, const struct mad_request *what,
		  mad_done_fn on_done, void *owner, void *arg);

/*
 * Sends a command without a transaction (no window, repetition or answer), the last message of a
 * master. False: nothing may be written, or no path is known.
 */
bool sync_last_command(struct sync *s, struct port *p, const struct mad_request *what);

/*
 * Command: takes the link at `p` down (its PortInfo is known); it does not train again until the
 * port is enabled. Returns as sync_command().
 */
bool sync_switch_off(struct sync *s, struct port *p, mad_done_fn on_done, void *owner, void *arg);

/* Command: enables `p` again, so that it trains. Returns as sync_command(). */
bool sync_switch_on(struct sync *s, struct port *p, mad_done_fn on_done, void *owner, void *arg);

/*
 * Command: takes the link at `p` down and lets it train again, to INIT. Returns as sync_command().
 */
bool sync_take_down(struct sync *s, struct port *p, mad_done_fn on_done, void *owner, void *arg);

/*
 * Sets the wanted content of block `block` (0..31) of an end port's GUIDInfo; entry 0 of block 0 is
 * the port's own and never changed. Kept until the next call, whether the fabric knows the port or
 * not. Written at once (outside of runs, to a port that is up), or by the next run, and again after
 * a reboot of the port. All zero: aliases are removed. NULL: nothing is wanted and nothing is
 * written any more, as the port has lost all it held.
 */
void sync_want_guids(struct sync *s, guid_t port_guid, unsigned block,
		     const guid_t guids[GUID_BLOCK]);

/* The result for the P_Keys of an end port, or of its switch port. */
enum pkeys_state {
	PKEYS_CONFIRMED, /* table as wanted; blocks that were written were read back */
	PKEYS_NOTHING,	 /* nothing wanted: no plan, no switch there, or too little room */
	PKEYS_SILENT,
	PKEYS_REFUSED,	 /* refused, or something else is stored each time */
	PKEYS_CANCELLED, /* nothing may be written, no path is known, or the node is gone */
};
struct sync_pkeys {
	enum pkeys_state switch_port, end_port;
};
typedef void sync_pkeys_fn(void *arg, const struct sync_pkeys *r);
/*
 * Sets the P_Key plan for use outside of runs, too: borrowed until the next call or sync_start().
 * It may be changed in place; a run sees that. NULL: none.
 */
void sync_use_pkeys(struct sync *s, const struct pkey_plan *pkeys);
/* The plan of this end port was changed in place: answers to earlier Sets are ignored. */
void sync_pkeys_replanned(struct sync *s, guid_t end);
/*
 * Writes the blocks that differ of the switch port that faces `end`, then those of `end`, and reads
 * them back; also during a run. `done` is called once, from sync_feed(), sync_forget(), sync_stop()
 * or sync_free(), never from inside.
 */
void sync_confirm_pkeys(struct sync *s, struct port *end, sync_pkeys_fn *done, void *arg);

/*
 * Removes keys that are not in `allowed` (copied) from the table of switch port `p`, whose far end
 * is not planned; a full key whose limited form is allowed becomes limited. Reads back what was
 * written. `done` as for sync_confirm_pkeys(); `switch_port` PKEYS_CONFIRMED: no other key is
 * there.
 */
void sync_remove_pkeys(struct sync *s, struct port *p, struct pkey_table allowed,
		       sync_pkeys_fn *done, void *arg);

/* Starts a run; the previous one must have ended. `ended` is called from sync_feed(). */
void sync_start(struct sync *s, const struct plan *plan);
/*
 * sync_start() for all that needs no routes: writes P_Key tables while routes are computed, and
 * with plan->arms_ahead PortInfo of links between switches. plan->routes and plan->qos may be NULL.
 */
void sync_start_ahead(struct sync *s, const struct plan *plan);
/*
 * Outside of runs, and in a run: tables were patched around cables that died. `routes`, which have
 * the switches of those of the last plan, take their place, and are borrowed as those were.
 */
void sync_patch_routes(struct sync *s, const struct routes *routes);
/*
 * Writes LFT block `block` of switch `n`, which has the number `sw` in the topo of these routes, at
 * once; a run that has not come past forwarding tables does that itself.
 */
void sync_patch_block(struct sync *s, struct node *n, uint32_t sw, uint32_t block);
/* Outside of runs: the routes are about to be freed, and nothing is written by them any more. */
void sync_patch_forget(struct sync *s);
/* Is a run under way that has not come past forwarding tables? */
bool sync_writes_tables(const struct sync *s);
/* The number of these blocks whose Set is not sent yet, or not answered. */
unsigned sync_patch_open(const struct sync *s);
/* The time of the last answer to one of these Sets; 0: there was none. */
mono_t sync_patch_answered(const struct sync *s);
/*
 * Queues more work as far as the engine wants it, and moves on to the next stage. Called after each
 * mad_dispatch().
 */
void sync_feed(struct sync *s);
/* Called before observe_node_gone(): ends its transactions. */
void sync_forget(struct sync *s, struct node *n);
/* Stops a run without calling `ended`; its transactions are cancelled. */
void sync_stop(struct sync *s);
bool sync_running(const struct sync *s);
#define SYNC_DOING_STRLEN 100
/* Writes the work of the run and its progress: "forwarding tables, 12 of 96 blocks"; "": no run. */
void sync_doing(const struct sync *s, char ret[SYNC_DOING_STRLEN]);
