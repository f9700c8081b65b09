// SPDX-License-Identifier: BSD-2-Clause
/*
 * How a request changes its state, and how it ends. Every change passes xact_enter(), every end
 * xact_end(), which frees before it calls back: the owner may submit, cancel, or free the target
 * then.
 */
#include <assert.h>

#include "mad/mad_internal.h"
#include "util/mem.h"

void forget_try(struct mad_engine *e, struct xact_try *try, bool answered)
{
	if (!try->tid)
		return;
	xact_tids_remove(&e->tids, try);
	tids_note(&e->ids, answered ? TID_SMP_ANSWERED : TID_SMP, try->tid, whence_of(try->xact));
	try->tid = 0;
}

void leave_daring(struct mad_engine *e, struct mad_xact *x)
{
	assert(!x->is_daring || e->daring > 0);
	e->daring -= x->is_daring ? 1 : 0;
	x->is_daring = false;
}

/* Takes the newest try off the wire. */
static void leave_window(struct mad_engine *e, struct mad_xact *x)
{
	struct xact_try *try = newest_try(x);

	e->on_wire--;
	e->beside -= x->rq.urgent ? 1 : 0;
	if (!try->tid || !try->in_window)
		return;
	try->in_window = false;
	if (transport_forget(e->tr, try->tid) != TRANSPORT_WAITS)
		return;
	/* it was never sent */
	e->lent -= e->lent > 0;
	counts_unsent(&e->counts, x->count_row, x->rq.method, try->number > 1);
}

/* Takes `x` off the wire: its target has room, and `x` is not due. */
static void leave_wire(struct mad_engine *e, struct mad_xact *x)
{
	due_remove(&e->due, x);
	if (!x->rq.target)
		return;
	assert(x->rq.target->on_wire > 0);
	x->rq.target->on_wire--;
}

/* The only change of state: `x` leaves its list, and joins `to` (NULL: the caller places it). */
void xact_enter(struct mad_engine *e, struct mad_xact *x, enum xact_state next,
		struct mad_xacts *to)
{
	if (x->state == XACT_WIRE)
		leave_window(e, x);
	if (x->state == XACT_OVERDUE)
		e->overdue--;
	if (is_sent(x->state) && !is_sent(next))
		leave_wire(e, x);
	if (next == XACT_FREE || next == XACT_ENDING) {
		leave_daring(e, x);
		for (size_t i = 0; x->try && i < MIN(x->tries, XACT_TRIES); i++)
			forget_try(e, &x->try[i], false);
	}
	if (next == XACT_WIRE) {
		e->on_wire++;
		e->beside += x->rq.urgent ? 1 : 0;
	}
	if (next == XACT_OVERDUE)
		e->overdue++;
	xacts_remove(x);
	x->state = next;
	if (to)
		xacts_append(to, x);
}

/* An agent that works on one request at a time must not get more than it can answer in time. */
unsigned target_room(const struct mad_engine *e, const struct mad_target *target)
{
	unsigned most;

	if (!target || e->params.per_target == 0)
		return UINT32_MAX;
	most = target->slow ? 1 : e->params.per_target;
	return most - MIN(target->on_wire, most);
}

/*
 * Queues the requests that wait for this target's wire. Called whenever one of its requests leaves
 * wire or front: while any is parked, another one is there to bring it out.
 */
void target_unpark(struct mad_engine *e, struct mad_target *target)
{
	if (!target)
		return;
	for (unsigned room = target_room(e, target); room > 0 && target->parked.first; room--)
		xact_enter(e, target->parked.first, XACT_QUEUED,
			   front_of(e, target->parked.first));
}

void xact_end(struct mad_engine *e, struct mad_xact *x, enum mad_end end, const uint8_t *mad)
{
	struct mad_target *target = x->rq.target;
	mad_done_fn on_done = x->on_done;
	void *owner = x->owner;
	struct mad_result result = {
		.end = end,
		.sent = x->tries > 0,
		.status = mad ? ib_get(mad, SMP_STATUS) : 0,
		.method = x->rq.method,
		.attr = x->rq.attr,
		.mod = x->rq.mod,
		.m_key = x->rq.m_key,
		.payload = mad ? smp_data(mad) : NULL,
		.arg = x->arg,
		.now = e->now,
	};

	counts_end(&e->counts, x->count_row, end);
	xact_enter(e, x, XACT_FREE, NULL);
	if (target)
		xacts_leave_target(x);
	target_unpark(e, target);
	xact_pool_put(&e->pool, x);
	e->ended++;
	e->pending--;
	on_done(owner, &result);
}

void end_list(struct mad_engine *e, struct mad_xacts *list, enum mad_end end)
{
	while (list->first)
		xact_end(e, list->first, end, NULL);
}
