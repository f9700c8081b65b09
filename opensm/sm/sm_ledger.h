// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ledger as an administrator sees it: what is entrusted to this manager at run time, with which
 * managers it shares that, whether it may write it to devices; and the two ways out of KEEPING
 * (sm/ledger/settle.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/mono.h"
#include "util/types.h"

struct sm;

/* ---- the whole ------------------------------------------------------------------------------ */

/* Faults that need an administrator: one line of the status, a metric, an exit status. */
enum sm_ledger_trouble {
	LEDGER_FINE,
	LEDGER_ASKS,  /* other managers were asked LEDGER_ASKS_LONG ago, and have not told all */
	LEDGER_WAITS, /* another manager is out of reach for as long */
	LEDGER_TAKES, /* one that may know more does not answer: P_Keys are taken, not given */
	LEDGER_KEEPS, /* P_Keys on devices are not explained: nothing is given or taken */
	LEDGER_TROUBLES
};
#define LEDGER_ASKS_LONG (10 * MONO_S)

#define LEDGER_REASON_STRLEN 400
struct sm_ledger {
	const char *state; /* "asking", "taking", "writing", "keeping", "not master" */
	enum sm_ledger_trouble trouble;
	char reason[LEDGER_REASON_STRLEN]; /* of that state; "": nothing is in the way */
	uint64_t term;
	const char *file;  /* NULL: there is no cache folder, and nothing is stored */
	const char *fault; /* why it cannot be written; NULL: it can */
	size_t n_unexplained; /* P_Keys that devices hold, or lack; in KEEPING */
	int64_t changed;   /* seconds since 1970 of the newest change, of any table; 0: none */
	unsigned n_standbys, n_behind; /* managers of ours that are reached; that lack a row */
};
void sm_ledger(const struct sm *sm, struct sm_ledger *ret);
enum sm_ledger_trouble sm_ledger_trouble(const struct sm *sm);
/* For the status line: "KEEPING (3 P_Keys on devices are not explained: ...)"; "": no trouble. */
const char *sm_ledger_status(const struct sm *sm, char ret[LEDGER_REASON_STRLEN]);

struct sm_ledger_table {
	const char *name;
	size_t n_rows, n_removed; /* that are there; that say that something is not */
	uint64_t number; /* of its last change; 0: none */
	int64_t changed; /* seconds since 1970; 0: not known */
};
/* The n-th (from 0); false: there are no more. */
bool sm_ledger_table_at(const struct sm *sm, unsigned n, struct sm_ledger_table *ret);

/* ---- another manager ------------------------------------------------------------------------ */

struct sm_ledger_peer {
	guid_t guid;
	enum sm_ledger_standing {
		LEDGER_NOT_OURS,  /* it does not speak of ledgers */
		LEDGER_WITH,	  /* it has stored all that is here */
		LEDGER_BEHIND,	  /* all but `n_behind` rows */
		LEDGER_COMPARING, /* that is being found out */
		LEDGER_REFUSES,	  /* its disk stores nothing */
		LEDGER_UNREACHED, /* one of ours, which does not answer now */
		LEDGER_STANDINGS
	} standing;
	size_t n_behind; /* LEDGER_BEHIND */
	int64_t seen;	 /* seconds since 1970; 0: not known, or it never was */
	bool is_told;	 /* we have all that it has */
};
void sm_ledger_peer(const struct sm *sm, guid_t guid, struct sm_ledger_peer *ret);
/* Managers of ours, reached or known from before. The n-th (from 0); false: there are no more. */
bool sm_ledger_peer_at(const struct sm *sm, unsigned n, struct sm_ledger_peer *ret);
/* A greater manager of ours that gets the fabric when it has all that is here; 0: none waits. */
guid_t sm_ledger_waiting(const struct sm *sm);

/* ---- out of KEEPING ------------------------------------------------------------------------- */

struct sm_ledger_ended {
	int error; /* 0 or -errno of the disk: nothing was changed */
	size_t n_unexplained; /* P_Keys on devices that nothing explained, or that these lacked */
	size_t n_partitions, n_members; /* rows that were made */
	size_t n_ports; /* that the members are */
	size_t n_missing; /* P_Keys that rows give and devices lack: given from now on */
};
typedef void sm_ledger_done_fn(void *arg, const struct sm_ledger_ended *r);
/*
 * Rows are made of the P_Keys on devices that nothing explains; then this manager writes. 0: `done`
 * is called once, from sm_dispatch() or sm_free(). -EALREADY: nothing is kept; -EBUSY: this, or
 * sm_ledger_forget(), is under way; -EROFS: nothing can be stored (sm_ledger() says why); -ENOSPC:
 * more partitions or members than there may be.
 */
int sm_ledger_adopt(struct sm *sm, sm_ledger_done_fn *done, void *arg);
/*
 * P_Keys on devices that nothing explains are cleared, those that rows give and devices lack are
 * given. As above, but without -EROFS and -ENOSPC.
 */
int sm_ledger_forget(struct sm *sm, sm_ledger_done_fn *done, void *arg);
/* `arg` is gone: its `done` is not called any more; the change goes on. */
void sm_ledger_abandon(struct sm *sm, const void *arg);
