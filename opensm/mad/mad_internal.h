// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine from inside. Private to mad/: mad.c owns it and calls the others.
 *
 *   mad.c     what owners call; the window; what arrives; one dispatch
 *   state.c   the one function that changes states, and the one end
 *   tries.c   one request after another try, until it is answered or given up
 *   pace.c    how long that takes; due.c when it is to be looked at
 */
#pragma once

#include "mad/count.h"
#include "mad/due.h"
#include "mad/mad.h"
#include "mad/pace.h"
#include "mad/tids.h"
#include "mad/xact.h"

struct mad_engine {
	struct transport *tr;
	struct mad_params params;
	struct xact_pool pool;
	struct xact_tids tids;
	struct tids ids;
	struct mad_xacts suspects, queue, front, urgent, ending;
	struct due due;
	struct pace pace;
	mono_t now;                /* of the last dispatch */
	/* a place on the wire, or a repetition, without knowing that it is free */
	mono_t released_at;
	/* the last response of any target; or the first request after none were pending */
	mono_t silent_since;
	mono_t moved_at; /* the latest time at which a request is known to have left the window */
	mono_t stall_since;        /* last response, window growth, or send on an idle wire */
	uint64_t seq;		   /* of the next submission */
	unsigned pending, on_wire, overdue, window;
	unsigned beside; /* of those on the wire, urgent ones: they take no place in the window */
	unsigned ahead; /* requests that the transport takes beyond the window; 0: none */
	unsigned daring; /* repeated requests to targets without a known round trip */
	unsigned lent;	 /* to the transport, and not come back: about, as some forget */
	unsigned unread; /* dispatches in a row that took in all they may */
	bool running, blocked, gone;
	mad_inbox_fn inbox;
	void *inbox_owner;
	mad_gmp_fn gmp;
	void *gmp_owner;
	struct counts counts;
	mad_stray_fn stray;
	void *stray_owner;
	mad_hold_fn hold;
	void *hold_owner;
	uint64_t strays[MAD_STRAYS];
	uint64_t ended; /* requests, since the start */
};

static inline bool is_sent(enum xact_state state)
{
	return state == XACT_WIRE || state == XACT_OVERDUE;
}

/* Of a request that was sent. */
static inline struct xact_try *newest_try(struct mad_xact *x)
{
	return &x->try[(x->tries - 1) % XACT_TRIES];
}

static inline mono_t timeout_of(const struct mad_engine *e, const struct mad_xact *x)
{
	return MONO_MS * (x->rq.long_timeout ? e->params.long_timeout_ms : e->params.timeout_ms);
}

/* LIDs, or routes, from which the answer to `x` may come. */
static inline uint32_t whence_of(const struct mad_xact *x)
{
	return tid_whence(x->rq.path, x->rq.lid);
}

/* Where a request stands that is to be sent now, or again. */
static inline struct mad_xacts *front_of(struct mad_engine *e, const struct mad_xact *x)
{
	return x->rq.urgent ? &e->urgent : &e->front;
}

/* state.c: `x` leaves what it stands in, and joins `to` (NULL: the caller places it). */
void xact_enter(struct mad_engine *e, struct mad_xact *x, enum xact_state next,
		struct mad_xacts *to);
/* Frees `x`, then calls its owner back. `mad`: the response, or NULL. */
void xact_end(struct mad_engine *e, struct mad_xact *x, enum mad_end end, const uint8_t *mad);
void end_list(struct mad_engine *e, struct mad_xacts *list, enum mad_end end);
/* The answer to this try is ignored from now on; `answered`: it is here. */
void forget_try(struct mad_engine *e, struct xact_try *try, bool answered);
/* `x` does not count as daring any more, if it did. */
void leave_daring(struct mad_engine *e, struct mad_xact *x);
/* Requests that this target may be sent now. */
unsigned target_room(const struct mad_engine *e, const struct mad_target *target);
/* Queues the requests that wait for this target's wire. */
void target_unpark(struct mad_engine *e, struct mad_target *target);

/*
 * tries.c: sends `x`, for the first time or again; may end it, or find the transport busy or gone.
 */
void try_send(struct mad_engine *e, struct mad_xact *x);
/* It was given to the transport, and never went out: it is queued as it was before. */
void try_unsent(struct mad_engine *e, struct mad_xact *x);
/* An id that is not on the wire, and was not lately. */
uint32_t fresh_tid(struct mad_engine *e);
/* `x` is due. */
void try_look(struct mad_engine *e, struct mad_xact *x);
/*
 * The transport does not wait for the answer any longer; `unsent`: it has not sent it, as that was
 * too late.
 */
void try_returned(struct mad_engine *e, struct xact_try *try, bool unsent);
bool target_rests(const struct mad_engine *e, const struct mad_target *target);
