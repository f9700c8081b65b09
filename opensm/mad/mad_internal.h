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
	mono_t now; /* time of the last dispatch */
	/* Time at which a request was last sent without knowing that the wire is free. */
	mono_t released_at;
	/* Time of the last response of any target, or of the first request after a rest. */
	mono_t silent_since;
	mono_t moved_at; /* latest time at which a request is known to have left the window */
	/* time of the last response, window growth, or send on an idle wire */
	mono_t stall_since;
	uint64_t seq; /* number of the next submission */
	unsigned pending, on_wire, overdue, window;
	unsigned beside; /* urgent requests under way, which take no place in the window */
	unsigned ahead;	 /* requests that the transport accepts beyond the window; 0: none */
	unsigned daring; /* number of repeated requests to targets without a known round trip */
	/* requests that the transport has not returned; approximate, as some transports forget */
	unsigned lent;
	unsigned unread; /* dispatches in a row that took in as many MADs as allowed */
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
	uint64_t ended; /* number of requests ended since the start */
};

static inline bool is_sent(enum xact_state state)
{
	return state == XACT_WIRE || state == XACT_OVERDUE;
}

/* The latest try of a request that was sent. */
static inline struct xact_try *newest_try(struct mad_xact *x)
{
	return &x->try[(x->tries - 1) % XACT_TRIES];
}

static inline mono_t timeout_of(const struct mad_engine *e, const struct mad_xact *x)
{
	return MONO_MS * (x->rq.long_timeout ? e->params.long_timeout_ms : e->params.timeout_ms);
}

/* Names the LID, or the route, from which the answer to `x` may come. */
static inline uint32_t whence_of(const struct mad_xact *x)
{
	return tid_whence(x->rq.path, x->rq.lid);
}

/* The list for a request that is to be sent now, or again. */
static inline struct mad_xacts *front_of(struct mad_engine *e, const struct mad_xact *x)
{
	return x->rq.urgent ? &e->urgent : &e->front;
}

/* state.c: moves `x` from its list to `to` (NULL: the caller places it). */
void xact_enter(struct mad_engine *e, struct mad_xact *x, enum xact_state next,
		struct mad_xacts *to);
/* Frees `x`, then calls its owner back. `mad`: the response, or NULL. */
void xact_end(struct mad_engine *e, struct mad_xact *x, enum mad_end end, const uint8_t *mad);
void end_list(struct mad_engine *e, struct mad_xacts *list, enum mad_end end);
/* Ignores the answer to this try from now on; `answered`: it has arrived. */
void forget_try(struct mad_engine *e, struct xact_try *try, bool answered);
/* Takes `x` off the count of daring requests, if it is one. */
void leave_daring(struct mad_engine *e, struct mad_xact *x);
/* The number of requests that this target may be sent now. */
unsigned target_room(const struct mad_engine *e, const struct mad_target *target);
/* Queues the requests that wait for this target's wire. */
void target_unpark(struct mad_engine *e, struct mad_target *target);

/*
 * tries.c: sends `x`, for the first time or again; may end it, or find the transport busy or gone.
 */
void try_send(struct mad_engine *e, struct mad_xact *x);
/* Queues `x` as before: the transport has it back without sending it. */
void try_unsent(struct mad_engine *e, struct mad_xact *x);
/* A transaction ID that is not in use, and was not lately. */
uint32_t fresh_tid(struct mad_engine *e);
/* Handles a request that is due. */
void try_look(struct mad_engine *e, struct mad_xact *x);
/* The transport does not wait for the answer any longer; `unsent`: it was too late to be sent. */
void try_returned(struct mad_engine *e, struct xact_try *try, bool unsent);
bool target_rests(const struct mad_engine *e, const struct mad_target *target);
