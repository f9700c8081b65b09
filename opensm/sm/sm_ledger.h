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

/* Faults that need an administrator: each is a line of the status, a metric, an exit status. */
enum sm_ledger_trouble {
	LEDGER_FINE,
	/* other managers were asked LEDGER_ASKS_LONG ago, and have not sent everything */
	LEDGER_ASKS,
	LEDGER_WAITS, /* another manager has been out of reach for as long */
	LEDGER_TAKES, /* a manager that may know more does not answer: P_Keys are only removed */
	LEDGER_KEEPS, /* unexplained P_Keys on devices: nothing is given or removed */
	LEDGER_TROUBLES
};
#define LEDGER_ASKS_LONG (10 * MONO_S)

#define LEDGER_REASON_STRLEN 400
struct sm_ledger {
	const char *state; /* "asking", "taking", "writing", "keeping", "not master" */
	enum sm_ledger_trouble trouble;
	char reason[LEDGER_REASON_STRLEN]; /* reason of the state; "": nothing is in the way */
	uint64_t term;
	const char *file;     /* path; NULL: there is no cache folder, and nothing is stored */
	const char *fault;    /* reason why the file cannot be written; NULL: it can */
	size_t n_unexplained; /* P_Keys that devices hold or lack without explanation, in KEEPING */
	/* time of the newest change of any table, in seconds since 1970; 0: none */
	int64_t changed;
	/* reachable managers of ours; those of them that lack a row */
	unsigned n_standbys, n_behind;
};
void sm_ledger(const struct sm *sm, struct sm_ledger *ret);
enum sm_ledger_trouble sm_ledger_trouble(const struct sm *sm);
/* For the status line: "KEEPING (3 P_Keys on devices are not explained: ...)"; "": no trouble. */
const char *sm_ledger_status(const struct sm *sm, char ret[LEDGER_REASON_STRLEN]);

struct sm_ledger_table {
	const char *name;
	size_t n_rows, n_removed; /* rows of things that are there; of things removed */
	uint64_t number;	  /* number of the last change; 0: none */
	int64_t changed;	  /* time of that change in seconds since 1970; 0: not known */
};
/* The n-th table (from 0); false: there are no more. */
bool sm_ledger_table_at(const struct sm *sm, unsigned n, struct sm_ledger_table *ret);

/* ---- another manager ------------------------------------------------------------------------ */

struct sm_ledger_peer {
	guid_t guid;
	enum sm_ledger_standing {
		LEDGER_NOT_OURS,  /* a manager without a ledger */
		LEDGER_WITH,	  /* it has stored all that is here */
		LEDGER_BEHIND,	  /* it lacks `n_behind` rows */
		LEDGER_COMPARING, /* not known yet whether it lacks rows */
		LEDGER_REFUSES,	  /* its disk stores nothing */
		LEDGER_UNREACHED, /* a manager of ours that does not answer now */
		LEDGER_STANDINGS
	} standing;
	size_t n_behind; /* rows that it lacks, with LEDGER_BEHIND */
	/* time when it was last seen, in seconds since 1970; 0: not known, or never */
	int64_t seen;
	bool is_told; /* set if we have all that it has */
};
void sm_ledger_peer(const struct sm *sm, guid_t guid, struct sm_ledger_peer *ret);
/* The n-th manager of ours (from 0), reached or known from before; false: there are no more. */
bool sm_ledger_peer_at(const struct sm *sm, unsigned n, struct sm_ledger_peer *ret);
/* A greater manager of ours that waits for a handover until it has everything; 0: none. */
guid_t sm_ledger_waiting(const struct sm *sm);

/* ---- out of KEEPING ------------------------------------------------------------------------- */

struct sm_ledger_ended {
	int error;			/* 0, or -errno of the disk: nothing was changed */
	size_t n_unexplained;		/* P_Keys that devices held or lacked without explanation */
	size_t n_partitions, n_members; /* rows that were made */
	size_t n_ports;			/* ports of these members */
	size_t n_missing; /* P_Keys that rows give and devices lack; they are given from now on */
};
typedef void sm_ledger_done_fn(void *arg, const struct sm_ledger_ended *r);
/*
 * Makes rows of the unexplained P_Keys on devices; then this manager writes. Returns 0: `done` is
 * called once, from sm_dispatch() or sm_free(). -EALREADY: the state is not KEEPING; -EBUSY: this
 * or sm_ledger_forget() is under way; -EROFS: nothing can be stored (sm_ledger() says why);
 * -ENOSPC: more partitions or members than are allowed.
 */
int sm_ledger_adopt(struct sm *sm, sm_ledger_done_fn *done, void *arg);
/*
 * Removes unexplained P_Keys from devices, and gives those that rows give and devices lack. Returns
 * as sm_ledger_adopt(), without -EROFS and -ENOSPC.
 */
int sm_ledger_forget(struct sm *sm, sm_ledger_done_fn *done, void *arg);
/* Called when `arg` is gone: its `done` is not called any more; the change goes on. */
void sm_ledger_abandon(struct sm *sm, const void *arg);
