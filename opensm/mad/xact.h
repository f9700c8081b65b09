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

/* Tries of one request whose answers are still welcome; of more, the oldest are forgotten. */
#define XACT_TRIES 8u

struct xact_try {
	uint32_t tid; /* 0: free */
	unsigned number; /* of the request's tries, from 1 */
	bool in_window; /* the transport has it on the wire, or keeps it in front of that */
	bool is_timed;  /* pace.sent is when it went on the wire */
	struct pace_try pace;
	struct mad_xact *xact;
	struct xact_try *h_next; /* same TID bucket */
};

struct mad_xact {
	struct mad_xact *prev, *next;     /* neighbours in `in` */
	struct mad_xacts *in;
	struct mad_xact *t_prev, *t_next; /* neighbours in the target's members */
	enum xact_state state;
	unsigned tries;                   /* sent, or refused by the transport */
	/* timeouts spent; the request ends when they exceed `retries` */
	unsigned failed;
	bool is_daring;                   /* repeated, without knowing how long its target takes */
	/* in repetitions before the timeout, towards the next of these */
	mono_t waited;
	/* from the last try to the next one; the timeout: none before it */
	mono_t wait;
	unsigned count_row;
	uint64_t seq;                     /* order of submission */
	/* when it must be looked at; in due.c, while WIRE or OVERDUE */
	mono_t due;
	size_t due_place;
	mad_done_fn on_done;
	void *owner, *arg;
	struct mad_request rq;            /* its pointers lead to `path` and `payload` */
	/*
	 * Try n at (n - 1) % XACT_TRIES; NULL: it was never sent. Thousands wait where a few are on
	 * the wire, so only these have the room.
	 */
	struct xact_try *try;
	struct dr_path path;
	uint8_t payload[SMP_DATA_SIZE];
};

void xacts_append(struct mad_xacts *list, struct mad_xact *x);
/* Keeps `list` in order of seq; cheap when `x` belongs near the end, or first. */
void xacts_insert_by_seq(struct mad_xacts *list, struct mad_xact *x);
/* Takes `x` out of the list it stands in, if any. */
void xacts_remove(struct mad_xact *x);

/* The members of a target: a second pair of links, so the first is free for queues. */
void xacts_join_target(struct mad_xact *x);
void xacts_leave_target(struct mad_xact *x);

/* Transactions come from chunks that never move and are given back when the engine ends. */
#define XACT_CHUNK 256u
struct xact_pool {
	struct mad_xact **chunks;
	size_t n_chunks, cap_chunks;
	struct mad_xact *free; /* chained by next */
	struct xact_tries *tries; /* free ones */
};

/* Zeroed but for `path` and `payload`, in no list. */
struct mad_xact *xact_pool_get(struct xact_pool *pool);
void xact_pool_put(struct xact_pool *pool, struct mad_xact *x);
/* Room for the tries of `x`, if it has none yet; none of them has a TID. */
void xact_pool_tries(struct xact_pool *pool, struct mad_xact *x);
/* The transaction in slot `i`, free or not; NULL beyond the last. */
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
