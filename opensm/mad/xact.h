// SPDX-License-Identifier: BSD-2-Clause
/*
 * Transactions, and the three places for them: a list, the TID table, the pool. Private to mad/.
 * No rules here: windows, targets and ends are mad.c's.
 */
#pragma once

#include "mad/mad.h"
#include "mad/pace.h"

/*
 *   FREE --submit--> QUEUED --send--> WIRE --overdue--> OVERDUE
 *                     |  ^ \            |                  |
 *        target full  |  |  \           +------------------+--time to repeat, failed--> QUEUED
 *                                       (front)
 *                     v  |   \--target rests, cancelled--> ENDING --called back--> FREE
 *                    PARKED --target rests, cancelled------^
 *
 * From any of them but FREE and ENDING: an answer, or the failure of the last try --> FREE.
 */
enum xact_state { XACT_FREE, XACT_QUEUED, XACT_PARKED, XACT_WIRE, XACT_OVERDUE, XACT_ENDING };

/* Number of tries of one request whose answers are accepted; of more, the oldest are forgotten. */
#define XACT_TRIES 8u

struct xact_try {
	uint32_t tid;	 /* 0: free */
	unsigned number; /* number of the try, from 1 */
	bool in_window;	 /* set if the transport has it on the wire, or queued for it */
	bool is_timed;	 /* set if pace.sent is the time at which it went on the wire */
	struct pace_try pace;
	struct mad_xact *xact;
	struct xact_try *h_next; /* next try in the same TID bucket */
};

struct mad_xact {
	struct mad_xact *prev, *next; /* neighbours in `in` */
	struct mad_xacts *in;
	struct mad_xact *t_prev, *t_next; /* neighbours in the target's members */
	enum xact_state state;
	unsigned tries; /* tries sent, or refused by the transport */
	/* Timeouts spent; the request ends when they exceed `retries`. */
	unsigned failed;
	/* set if it was repeated without a known round trip of its target */
	bool is_daring;
	/* Time spent on repetitions before the timeout, up to the next of these. */
	mono_t waited;
	/* Time from the last try to the next one; the timeout: no try before it. */
	mono_t wait;
	unsigned count_row;
	uint64_t seq; /* order of submission */
	/* Time at which it is handled next; in due.c, while WIRE or OVERDUE. */
	mono_t due;
	size_t due_place;
	mad_done_fn on_done;
	void *owner, *arg;
	struct mad_request rq; /* its pointers refer to `path` and `payload` below */
	/*
	 * Try n at (n - 1) % XACT_TRIES; NULL: never sent. Thousands wait where a few are under
	 * way, so only these have the memory.
	 */
	struct xact_try *try;
	struct dr_path path;
	uint8_t payload[SMP_DATA_SIZE];
};

void xacts_append(struct mad_xacts *list, struct mad_xact *x);
/* Keeps `list` in order of seq; cheap when `x` belongs near the end, or first. */
void xacts_insert_by_seq(struct mad_xacts *list, struct mad_xact *x);
/* Removes `x` from its list, if any. */
void xacts_remove(struct mad_xact *x);

/* The members of a target: `x` has a second pair of links for them, as the first is for queues. */
void xacts_join_target(struct mad_xact *x);
void xacts_leave_target(struct mad_xact *x);

/* Transactions come from chunks that never move and are given back when the engine ends. */
#define XACT_CHUNK 256u
struct xact_pool {
	struct mad_xact **chunks;
	size_t n_chunks, cap_chunks;
	struct mad_xact *free;	  /* chained by next */
	struct xact_tries *tries; /* free ones */
};

/* Returns a transaction in no list, all zero but for `path` and `payload`. */
struct mad_xact *xact_pool_get(struct xact_pool *pool);
void xact_pool_put(struct xact_pool *pool, struct mad_xact *x);
/* Makes room for the tries of `x`, if there is none yet; no try has a TID. */
void xact_pool_tries(struct xact_pool *pool, struct mad_xact *x);
/* The transaction in slot `i`, free or not; NULL: no such slot. */
struct mad_xact *xact_pool_at(const struct xact_pool *pool, size_t i);
void xact_pool_clear(struct xact_pool *pool);

/* Tries by TID. */
struct xact_tids {
	struct xact_try **buckets;
	size_t n_buckets; /* power of two, or 0 */
	size_t count;
};

struct xact_try *xact_tids_find(const struct xact_tids *tids, uint32_t tid);
void xact_tids_add(struct xact_tids *tids, struct xact_try *try);
void xact_tids_remove(struct xact_tids *tids, struct xact_try *try);
void xact_tids_clear(struct xact_tids *tids);
