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
#include "sm/ledger/former_file.h"
#include "sm/sm.h"

enum settle_state { SETTLE_FOREIGN, SETTLE_ASKING, SETTLE_TAKING, SETTLE_WRITING, SETTLE_KEEPING };
const char *settle_state_name(enum settle_state state); /* "asking" */

/* Called when other values, written by another manager, are in force in these rows of a table. */
typedef void settle_changed_fn(struct sm *sm, const struct ledger_key *keys, size_t n);
/* The machine that has a table of the ledger. */
struct settle_owner {
	settle_changed_fn *changed;
	const struct former_file *former; /* NULL: none */
};

/*
 * Opens and reads the file; blocks. `owners`: LEDGER_TABLES rows, valid until settle_free();
 * `unexplained`: the number of P_Keys that devices hold and no row and no file explains, or that
 * devices lack and a row gives.
 */
void settle_new(struct sm *sm, const struct sm_paths *paths, const struct settle_owner *owners,
		size_t (*unexplained)(struct sm *sm));
void settle_free(struct sm *sm);
void settle_state_changed(struct sm *sm);
void settle_sweep_ended(struct sm *sm);
void settle_tick(struct sm *sm);
mono_t settle_next(const struct sm *sm);
/* Called when a manager of ours can be sent messages (channel.h), or cannot any more. */
void settle_peer(struct sm *sm, guid_t guid, bool connected);
/* Called when a sweep has read a port with IsSM set: a manager of ours may run there. */
void contact_met(struct sm *sm, const struct port *p);
/* Another master was met, once while there is one; `has_ended`: it has just handed over. */
void settle_rival(struct sm *sm, bool has_ended);
/* Called when others may have written meanwhile; `why`: the reason for the log. */
void settle_doubt(struct sm *sm, const char *why);

/* The ledger, never NULL. All its rows are on the disk. */
const struct ledger *settle_ledger(const struct sm *sm);
enum settle_state settle_state(const struct sm *sm);
/* Rows of tenants with this number or a greater one were written since ASKING began. */
uint64_t settle_asking_from(const struct sm *sm);
/* Is the state TAKING, and can ledger.db be written? Then members and partitions may be removed. */
bool settle_may_take(const struct sm *sm);
/* May P_Keys, marks and keys that rows decide be given and taken? */
bool settle_may_write(const struct sm *sm);
/*
 * A hook of mad_set_hold(): true if this process stood still in the middle of this turn, so that a
 * Set of P_Keys may be out of date. The next turn looks at the clock, and drops it.
 */
bool settle_holds(void *sm, uint16_t attr);
/*
 * A hook of sync/: may the link of this port, in INIT, become ARMED? No link may while another
 * manager is asked after this process stood still, as it may have isolated it. No link of a host
 * may while P_Key tables are not written, as it may hold keys that were removed. A later sweep arms
 * it.
 */
bool settle_may_arm(void *sm, const struct port *p);
/* Did settle_may_arm() leave links in INIT? Those are no errors of the sweep. */
bool settle_links_wait(const struct sm *sm);
/* Does this master hold back P_Keys of tenants, as another manager is or was out of reach? */
bool settle_waits(const struct sm *sm);
/* Is the state ASKING? It takes a moment. */
bool settle_is_asking(const struct sm *sm);
/* Has this process read all that it knows of devices as master, without interruption? */
bool settle_is_fresh(const struct sm *sm);
/* The reason why nothing can be changed now; NULL: changes are possible. */
const char *settle_closed(const struct sm *sm);
/* settle_closed() for changes that may end with this process if there is no cache folder. */
const char *settle_unready(const struct sm *sm);

/* The fault of ledger.db, in words; NULL: none. */
const char *settle_fault(const struct sm *sm);
/* In KEEPING: the number of P_Keys that differ between devices and what is known here; else 0. */
size_t settle_unexplained(const struct sm *sm);
/* In KEEPING: has unexplained P_Keys removed from devices. Returns 0; -EALREADY: another state. */
int settle_forget_devices(struct sm *sm);
/* Called in KEEPING when rows explain what devices hold. */
void settle_explained(struct sm *sm);

/* ---- owners of tables ---- */

/* All machines exist: passes each owner the rows of its tables that were read from the disk. */
void settle_listen(struct sm *sm);

struct settle_edit {
	struct ledger_key key;
	bool removed;
	uint64_t number; /* number of the change: greater than any earlier settle_number() */
	uint32_t len;
	const uint8_t *bytes; /* value, copied */
};
/* The dot of rows that this manager writes with that number. */
struct ledger_dot settle_dot(const struct sm *sm, uint64_t number);
/* The number after the last one used, commits under way included. */
uint64_t settle_next_number(const struct sm *sm, enum ledger_table table);
/*
 * Stores the edits, all or none, in the order of calls; then calls `done` with 0, or -errno:
 * nothing was changed. `done` is called from sm_dispatch(), never from within. Not allowed if
 * settle_closed(), but for sm_ledger_adopt() and for rows of LEDGER_CONFIG, which decide nothing on
 * devices.
 */
typedef void settle_done_fn(struct sm *sm, void *arg, int error);
void settle_commit(struct sm *sm, const struct settle_edit *edits, size_t n, settle_done_fn *done,
		   void *arg);

/* ---- others ---- */

/*
 * Other managers of ours that rows of a table can be sent to (`of`), how many of these have stored
 * all rows of its clock up to `number` (`with`), and how many others are worth waiting for, as they
 * answer in time and can store (`waited_for`).
 */
struct settle_reach {
	unsigned with, of, waited_for;
};
struct settle_reach settle_reach(const struct sm *sm, enum ledger_table table, uint64_t number);
/*
 * Has the manager on this port all that it needs before a handover? True also for a manager that is
 * none of ours.
 */
bool settle_has_all(const struct sm *sm, guid_t guid);
/* Is, or was, the manager on this port one of ours? */
bool settle_knows(const struct sm *sm, guid_t guid);

/* One row per manager of ours, for administrators. */
struct settle_peer_view {
	guid_t guid;
	bool is_settled; /* set if we have all its rows */
	bool refuses;	 /* set if its disk did not take the rows that it was sent last */
	bool in_memory;	 /* set if it runs without a cache folder: its rows end with its process */
	size_t n_behind; /* number of rows that it has not stored; SIZE_MAX: not known yet */
};
bool settle_peer_at(const struct sm *sm, unsigned n, struct settle_peer_view *ret);
