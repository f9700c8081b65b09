// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a transaction is made of, and the three things it can stand in: a list, the TID table, the
 * pool. Private to mad/. No rules here: windows, targets and ends are mad.c's.
 */
#pragma once

#include "mad/mad.h"

/*
 *   FREE --submit--> QUEUED --send--> WIRE --answer, last try failed--> FREE
 *                     |  ^ \            |
 *        target full  |  |  \           +--try failed--> QUEUED (front)
 *                     v  |   \--target rests, cancelled--> ENDING --called back--> FREE
 *                    PARKED --target rests, cancelled------^
 */
enum xact_state { XACT_FREE, XACT_QUEUED, XACT_PARKED, XACT_WIRE, XACT_ENDING };

struct mad_xact {
	struct mad_xact *prev, *next;     /* neighbours in `in` */
	struct mad_xacts *in;
	struct mad_xact *t_prev, *t_next; /* neighbours in the target's members */
	struct mad_xact *h_next;          /* same TID bucket, on the wire only */
	enum xact_state state;
	uint32_t tid;                     /* of the try on the wire */
	unsigned tries;                   /* sent, or refused by the transport */
	unsigned count_row;
	uint64_t seq;                     /* order of submission */
	mono_t deadline;                  /* of the try on the wire */
	mad_done_fn on_done;
	void *owner, *arg;
	struct mad_request rq;            /* its pointers lead to `path` and `payload` */
	struct dr_path path;
	uint8_t payload[SMP_DATA_SIZE];
};

void xacts_append(struct mad_xacts *list, struct mad_xact *x);
/* Keep `list` in order of deadline or seq; cheap when `x` belongs near the end (seq: or first). */
void xacts_insert_by_deadline(struct mad_xacts *list, struct mad_xact *x);
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
};

/* Zeroed but for `path` and `payload`, in no list. */
struct mad_xact *xact_pool_get(struct xact_pool *pool);
void xact_pool_put(struct xact_pool *pool, struct mad_xact *x);
/* The transaction in slot `i`, free or not; NULL beyond the last. */
struct mad_xact *xact_pool_at(const struct xact_pool *pool, size_t i);
void xact_pool_clear(struct xact_pool *pool);

/* Transactions on the wire by TID. */
struct xact_tids {
	struct mad_xact **buckets;
	size_t n_buckets; /* power of two, or 0 */
	size_t count;
};

struct mad_xact *xact_tids_find(const struct xact_tids *tids, uint32_t tid);
void xact_tids_add(struct xact_tids *tids, struct mad_xact *x);
void xact_tids_remove(struct xact_tids *tids, struct mad_xact *x);
void xact_tids_clear(struct xact_tids *tids);
