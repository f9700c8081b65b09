// SPDX-License-Identifier: BSD-2-Clause
/*
 * Managers of ours settle what is entrusted to them: the ledger of this one, on its disk and with
 * the others, and whether it may write on devices what rows of it decide.
 *
 *   FOREIGN (not master) --elected--> ASKING --settled with all our managers in sight--> WRITING
 *                                       |  one of them is silent for PATIENCE: TAKING
 *                                       |  no ledger was here, and devices hold P_Keys that nothing
 *                                       |  explains: KEEPING
 *   TAKING --it settled, or is out of sight--> WRITING
 *   KEEPING --a manager with rows, sm_ledger_adopt(), sm_ledger_forget()--> WRITING
 *   WRITING --this process stood still for longer than a takeover takes; our port was down;
 *	       another MASTER, or one of a greater term--> ASKING
 *
 * "Write" is: give or take what a row decides (P_Keys of tenants, marks, keys). LIDs, routes, links
 * and what files decide wait for nothing.
 *
 *   ASKING, KEEPING  devices keep what they hold
 *   TAKING           what was removed since ASKING began is taken; nothing is given
 *
 * Rows of a commit are stored here, merged, and sent to the others; what others send is stored,
 * merged, and told to the owner of the table (`changed`).
 */
#pragma once

#include "ledger/ledger.h"
#include "sm/sm.h"

struct settle;

enum settle_state { SETTLE_FOREIGN, SETTLE_ASKING, SETTLE_TAKING, SETTLE_WRITING, SETTLE_KEEPING };
const char *settle_state_name(enum settle_state state); /* "asking" */

/*
 * Opens the file and reads it; blocks. `unexplained`: how many P_Keys do devices hold that no row
 * and no file explains, or lack that a row gives?
 */
void settle_new(struct sm *sm, const struct sm_paths *paths, size_t (*unexplained)(struct sm *sm));
void settle_free(struct sm *sm);
void settle_state_changed(struct sm *sm);
void settle_sweep_ended(struct sm *sm);
void settle_tick(struct sm *sm);
mono_t settle_next(const struct sm *sm);
/* A manager of ours can be sent messages (channel.h), or cannot any more. */
void settle_peer(struct sm *sm, guid_t guid, bool connected);
/* A sweep has read a port with IsSM set: a manager of ours may run there. */
void contact_met(struct sm *sm, const struct port *p);
/* Another master was met, once for as long as there is one. */
void settle_rival(struct sm *sm, bool has_ended);
/* This manager may not know what others did meanwhile; `why` for the log. */
void settle_doubt(struct sm *sm, const char *why);

/* Never NULL. What it has is on the disk. */
const struct ledger *settle_ledger(const struct sm *sm);
enum settle_state settle_state(const struct sm *sm);
/* Rows of tenants with this number and greater ones were written since this manager asks others. */
uint64_t settle_asking_from(const struct sm *sm);
/* State TAKING, and ledger.db can be written: members may be removed, partitions deleted. */
bool settle_may_take(const struct sm *sm);
/* P_Keys, marks and keys that rows decide may be given, and taken. */
bool settle_may_write(const struct sm *sm);
/*
 * For mad_set_hold(): this process stood still in the middle of this turn, and a Set of P_Keys may
 * be out of date. The next turn looks at the clock, and drops it.
 */
bool settle_holds(void *sm, uint16_t attr);
/*
 * A hook of sync/: the link of this port, in INIT, may become ARMED. No link as long as another
 * manager is asked after this process stood still: it may have isolated it. No link of a host as
 * long as no P_Key table is written: it may hold keys that were removed. A sweep looks again then.
 */
bool settle_may_arm(void *sm, const struct port *p);
/* Links were left in INIT by settle_may_arm(); those are no errors of the sweep. */
bool settle_links_wait(const struct sm *sm);
/* This master writes no P_Keys of tenants now, as another manager is or was out of reach. */
bool settle_waits(const struct sm *sm);
/* Others are asked: that takes a moment. */
bool settle_is_asking(const struct sm *sm);
/* This process has read all that it knows of devices as master, with nothing between. */
bool settle_is_fresh(const struct sm *sm);
/* Why nothing can be changed now; NULL: it can. */
const char *settle_closed(const struct sm *sm);
/* The same of changes that may end with this process where there is no cache folder. */
const char *settle_unready(const struct sm *sm);

/* The fault of the file, in words; NULL: none. */
const char *settle_fault(const struct sm *sm);
/* P_Keys that devices hold, or lack, against what is known here; 0 but in KEEPING. */
size_t settle_unexplained(const struct sm *sm);
/* In KEEPING: what nothing explains is cleared from devices. 0; -EALREADY: in another state. */
int settle_forget_devices(struct sm *sm);
/* In KEEPING: rows explain now what devices hold. */
void settle_explained(struct sm *sm);

/* ---- owners of tables ---- */

/* Other values are in force in these rows of the table, and another manager wrote them. */
typedef void settle_changed_fn(struct sm *sm, const struct ledger_key *keys, size_t n);
/* Before settle_listen(). */
void settle_own(struct sm *sm, enum ledger_table table, settle_changed_fn *changed);
/* Owners are there: each is told all rows of its tables as they were read from the disk. */
void settle_listen(struct sm *sm);

struct settle_edit {
	struct ledger_key key;
	bool removed;
	uint64_t number; /* of the change: greater than settle_number() of before */
	uint32_t len;
	const uint8_t *bytes; /* copied */
};
/* The dot that rows get which this manager writes with that number. */
struct ledger_dot settle_dot(const struct sm *sm, uint64_t number);
/* The number behind the last one, counting commits under way. */
uint64_t settle_next_number(const struct sm *sm, enum ledger_table table);
/*
 * Stores the edits, all or nothing, in the order of calls; then `done` is told: 0 or -errno
 * (nothing was changed). Called from sm_dispatch(), never from within. Not if settle_closed(), but
 * for sm_ledger_adopt(), and rows of LEDGER_CONFIG: they decide nothing on devices, so they may be
 * written in every state.
 */
typedef void settle_done_fn(struct sm *sm, void *arg, int error);
void settle_commit(struct sm *sm, const struct settle_edit *edits, size_t n, settle_done_fn *done,
		   void *arg);

/* ---- others ---- */

/*
 * Other managers of ours that rows of the table can be sent to (`of`), how many of these have
 * stored all rows of its clock up to `number`, and how many that have not are worth waiting for:
 * they answer in time, and can store.
 */
struct settle_reach {
	unsigned with, of, waited_for;
};
struct settle_reach settle_reach(const struct sm *sm, enum ledger_table table, uint64_t number);
/*
 * Has the manager on this port all that it must have before it gets the fabric? True also for one
 * that is none of ours.
 */
bool settle_has_all(const struct sm *sm, guid_t guid);
/* The manager on this port is, or was, one of ours. */
bool settle_knows(const struct sm *sm, guid_t guid);

/* One row a manager of ours: for people. */
struct settle_peer_view {
	guid_t guid;
	bool is_settled; /* we have what it has */
	bool refuses;	 /* its disk did not take the rows that it was sent last */
	bool in_memory;	 /* it runs without a cache folder: its rows end with its process */
	size_t n_behind; /* rows that it has not stored; SIZE_MAX: that is being found out */
};
bool settle_peer_at(const struct sm *sm, unsigned n, struct settle_peer_view *ret);
