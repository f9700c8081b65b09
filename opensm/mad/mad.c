// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transaction engine: window, tries, targets, and the one place where a request ends.
 *
 * A request stands in one list at a time:
 *
 *   suspects  submitted to a target with failures; sorted out by the next dispatch
 *   queue     submitted, in order
 *   front     ahead of queue: retries, and what came out of a target's parking place
 *   urgent    ahead of these, and not held by the window
 *   parked    (per target) the target's wire is full; moved to front when it is not
 *   ending    ended, not called back yet
 *
 * or is due (due.c): on the wire, or overdue and about to be repeated. What is on the wire counts
 * for the window; what is overdue counts for its target alone. How long each lasts is pace.c's.
 * "On the wire" is also a request that the transport keeps in front of it until there is room.
 *
 * Every change passes xact_enter(), every end xact_end(). The latter frees before it calls back:
 * the owner may submit, cancel, or free the target then.
 *
 * The work of a dispatch is bounded: requests submitted while it fills the window wait for the next
 * one, so an owner that resubmits every failed request cannot hold the loop.
 *
 * Knows SMPs as far as their header goes; attributes mean nothing here.
 */
#include "mad/mad.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "mad/mad_internal.h"
#include "util/mem.h"

#define BLOCKED_PAUSE (10 * MONO_MS) /* after -EAGAIN, should nothing arrive meanwhile */
#define AHEAD 32u /* requests in front of the window */
#define OVERDUE_MAX 256u /* beyond, the window closes: kernels hold some 500 sends of an agent */
/* part of the timeout: a target whose answers take longer gets one request at a time */
#define SLOW_PART 4
#define UNREAD_MAX 8u	 /* dispatches in a row that leave timers alone, as answers may be unread */

/*
 * A transport that keeps the window itself is given some requests more, so that it has one for each
 * place that an answer leaves.
 */
static void set_window(struct mad_engine *e, unsigned window)
{
	if (e->window == window)
		return;
	e->window = window;
	e->ahead = transport_set_window(e->tr, window) ? AHEAD : 0;
}

struct mad_engine *mad_new(struct transport *tr, const struct mad_params *params)
{
	struct mad_engine *e = xcalloc(1, sizeof(*e));

	assert(tr && params);
	e->tr = tr;
	tids_init(&e->ids, &params->draw);
	mad_set_params(e, params);
	return e;
}

struct mad_engine *mad_free(struct mad_engine *e)
{
	struct mad_xact *x;

	if (!e)
		return NULL;
	for (size_t i = 0; (x = xact_pool_at(&e->pool, i)); i++)
		if (x->state != XACT_FREE && x->rq.target) {
			x->rq.target->on_wire = 0;
			x->rq.target->members = x->rq.target->parked = (struct mad_xacts){ 0 };
		}
	xact_tids_clear(&e->tids);
	due_clear(&e->due);
	xact_pool_clear(&e->pool);
	free(e);
	return NULL;
}

void mad_set_params(struct mad_engine *e, const struct mad_params *params)
{
	assert(params);
	e->params = *params;
	e->params.max_wire = MAX(params->max_wire, 1u);
	e->params.timeout_ms = MAX(params->timeout_ms, 1u);
	e->params.long_timeout_ms = MAX(params->long_timeout_ms, 1u);
	set_window(e, e->params.max_wire);
}

void mad_set_inbox(struct mad_engine *e, mad_inbox_fn fn, void *owner)
{
	e->inbox = fn;
	e->inbox_owner = owner;
}

void mad_set_stray(struct mad_engine *e, mad_stray_fn fn, void *owner)
{
	e->stray = fn;
	e->stray_owner = owner;
}

void mad_set_hold(struct mad_engine *e, mad_hold_fn fn, void *owner)
{
	e->hold = fn;
	e->hold_owner = owner;
}

void mad_set_gmp(struct mad_engine *e, mad_gmp_fn fn, void *owner)
{
	e->gmp = fn;
	e->gmp_owner = owner;
}

/* Counters */

uint64_t mad_ended(const struct mad_engine *e)
{
	return e->ended;
}

unsigned mad_pending(const struct mad_engine *e)
{
	return e->pending;
}

unsigned mad_on_wire(const struct mad_engine *e)
{
	return e->on_wire;
}

const struct mad_count *mad_counts(const struct mad_engine *e, unsigned *ret_n)
{
	*ret_n = e->counts.n;
	return e->counts.row;
}

uint64_t mad_sent(const struct mad_engine *e, uint8_t method)
{
	uint64_t sum = 0;

	if (method)
		return e->counts.sent[method];
	for (size_t i = 0; i < ARRAY_SIZE(e->counts.sent); i++)
		sum += e->counts.sent[i];
	return sum;
}

uint64_t mad_answered(const struct mad_engine *e, uint16_t but)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < e->counts.n; i++) {
		const struct mad_count *c = &e->counts.row[i];

		if (c->attr != but)
			sum += c->answered + c->bad_status;
	}
	return sum;
}

const uint64_t *mad_strays(const struct mad_engine *e)
{
	return e->strays;
}

const char *mad_stray_name(enum mad_stray why)
{
	static const char *const names[MAD_STRAYS] = {
		[MAD_STRAY_LATE] = "late",
		[MAD_STRAY_UNASKED] = "unasked",
		[MAD_STRAY_ELSEWHERE] = "elsewhere",
		[MAD_STRAY_MISMATCHED] = "mismatched",
	};

	assert(why < MAD_STRAYS);
	return names[why];
}

/* Submission and cancellation */

static struct mad_xacts *queue_of(struct mad_engine *e, const struct mad_xact *x)
{
	return x->rq.urgent ? &e->urgent : &e->queue;
}

void mad_submit(struct mad_engine *e, const struct mad_request *rq, mad_done_fn on_done,
		void *owner, void *arg)
{
	struct mad_xact *x = xact_pool_get(&e->pool);
	bool suspect = mad_target_silent(e, rq->target);

	assert(rq && on_done && (rq->method == MAD_GET || rq->method == MAD_SET));
	x->rq = *rq;
	x->on_done = on_done;
	x->owner = owner;
	x->arg = arg;
	x->seq = e->seq++;
	x->count_row = counts_row(&e->counts, rq->attr, rq->method);
	if (rq->path) {
		x->path = *rq->path;
		x->rq.path = &x->path;
	}
	if (rq->payload) {
		memcpy(x->payload, rq->payload, sizeof(x->payload));
		x->rq.payload = x->payload;
	}
	if (rq->target)
		xacts_join_target(x);
	if (!e->pending++)
		e->silent_since = e->now;
	xact_enter(e, x, XACT_QUEUED, suspect ? &e->suspects : queue_of(e, x));
}

/*
 * All victims are moved to a list of our own before the first is called back: what a completion
 * submits is spared, and a cancel from inside takes the rest over.
 */
void mad_cancel(struct mad_engine *e, void *owner, struct mad_target *target)
{
	struct mad_xacts victims = { 0 };
	struct mad_xact *x;

	if (target) {
		for (x = target->members.first; x; x = x->t_next)
			if (x->owner == owner)
				xact_enter(e, x, XACT_ENDING, &victims);
	} else {
		for (size_t i = 0; (x = xact_pool_at(&e->pool, i)); i++)
			if (x->state != XACT_FREE && x->owner == owner)
				xact_enter(e, x, XACT_ENDING, &victims);
	}
	end_list(e, &victims, MAD_END_CANCELLED);
}

void mad_cancel_attr(struct mad_engine *e, uint16_t attr)
{
	struct mad_xacts victims = { 0 };
	struct mad_xact *x;

	for (size_t i = 0; (x = xact_pool_at(&e->pool, i)); i++)
		if (x->state != XACT_FREE && x->rq.attr == attr)
			xact_enter(e, x, XACT_ENDING, &victims);
	end_list(e, &victims, MAD_END_CANCELLED);
}

/* The window */

static bool window_stalled(const struct mad_engine *e)
{
	return e->on_wire - e->beside >= e->window && e->window < e->params.max_wire2;
}

static bool has_place(const struct mad_engine *e)
{
	return e->on_wire - e->beside < e->window + e->ahead && e->overdue < OVERDUE_MAX;
}

static bool window_open(struct mad_engine *e)
{
	if (window_stalled(e) && e->now - e->stall_since >= e->params.stall) {
		set_window(e, e->window + 1);
		e->stall_since = e->now;
	}
	return has_place(e);
}

static void response_came(struct mad_engine *e)
{
	set_window(e, e->params.max_wire);
	e->stall_since = e->silent_since = e->now;
}

/* The next request that may be sent, of those submitted before `until`. */
static struct mad_xact *next_queued(struct mad_engine *e, uint64_t until)
{
	struct mad_xact *x = e->urgent.first ?: e->front.first ?: e->queue.first;

	return x && x->seq < until && (x->rq.urgent || window_open(e)) ? x : NULL;
}

static void start_request(struct mad_engine *e, struct mad_xact *x)
{
	if (target_room(e, x->rq.target) == 0) {
		xact_enter(e, x, XACT_PARKED, NULL);
		xacts_insert_by_seq(&x->rq.target->parked, x);
		return;
	}
	if (x->tries == 0 && x->rq.wanted && !x->rq.wanted(x->owner, x->arg)) {
		xact_end(e, x, MAD_END_CANCELLED, NULL);
		return;
	}
	try_send(e, x);
}

static void fill_window(struct mad_engine *e)
{
	uint64_t until = e->seq;
	struct mad_xact *x;

	while (!e->blocked && !e->gone && (x = next_queued(e, until)))
		start_request(e, x);
}

/* Arrivals */

static void refuse_answer(struct mad_engine *e, enum mad_stray why,
			  const struct transport_addr *from, const uint8_t *mad)
{
	e->strays[why]++;
	if (why != MAD_STRAY_LATE && e->stray)
		e->stray(e->stray_owner, why, from, mad, e->now);
}

void mad_refuse_gmp(struct mad_engine *e, enum mad_stray why, const struct transport_event *ev)
{
	assert(ev && ev->kind == TRANSPORT_MAD && why < MAD_STRAYS);
	if (why == MAD_STRAY_UNASKED &&
	    tids_was(&e->ids, TID_GMP, (uint32_t)ib_get(ev->mad, SMP_TID), ev->from.lid))
		why = MAD_STRAY_LATE;
	refuse_answer(e, why, &ev->from, ev->mad);
}

/* Subn{Get,Set} are both answered by SubnGetResp (14.2.1, table 139). */
static bool answers(const struct mad_xact *x, const uint8_t *mad, size_t length)
{
	return length >= SMP_DATA + SMP_DATA_SIZE && ib_get(mad, SMP_METHOD) == MAD_GET_RESP &&
	       ib_get(mad, SMP_CLASS) == (x->rq.path ? MAD_CLASS_SMI_DR : MAD_CLASS_SMI_LID) &&
	       ib_get(mad, SMP_ATTR_ID) == x->rq.attr && ib_get(mad, SMP_ATTR_MOD) == x->rq.mod;
}

/*
 * Does the answer come from where the request was sent to? A responder leaves the initial path as
 * it was (14.2.2); the return path is not known here, as switches write it.
 */
static bool is_from_there(const struct mad_xact *x, const struct transport_addr *from,
			  const uint8_t *mad)
{
	const struct dr_path *path = x->rq.path;

	if (!path)
		return !((from->lid ^ x->rq.lid) >> x->rq.lmc);
	return ib_get(mad, SMP_HOP_COUNT) == path->length &&
	       !memcmp(mad + SMP_INITIAL_PATH + 1, path->hop + 1, path->length);
}

static void accept_response(struct mad_engine *e, struct xact_try *try,
			    const struct transport_event *ev)
{
	struct mad_xact *x = try->xact;
	const uint8_t *mad = ev->mad;

	if (!answers(x, mad, ev->length)) {
		refuse_answer(e, MAD_STRAY_MISMATCHED, &ev->from, mad);
		return;
	}
	if (!is_from_there(x, &ev->from, mad)) {
		refuse_answer(e, MAD_STRAY_ELSEWHERE, &ev->from, mad);
		return;
	}
	response_came(e);
	if (ev->took_us) {
		try->pace.sent = e->now - ev->took_us;
		e->moved_at = MAX(e->moved_at, try->pace.sent);
	}
	pace_answered(&e->pace, x->rq.target, x->rq.method, &try->pace, x->tries - try->number,
		      e->now);
	if (x->rq.target) {
		mad_target_revive(x->rq.target);
		x->rq.target->slow = e->now - try->pace.sent > timeout_of(e, x) / SLOW_PART;
	}
	forget_try(e, try, true);
	xact_end(e, x, ib_get(mad, SMP_STATUS) ? MAD_END_BAD_STATUS : MAD_END_ANSWERED, mad);
}

static bool is_smp(const uint8_t *mad)
{
	unsigned mad_class = ib_get(mad, SMP_CLASS);

	return mad_class == MAD_CLASS_SMI_DR || mad_class == MAD_CLASS_SMI_LID;
}

static bool was_asked(const struct mad_engine *e, uint32_t tid, uint32_t whence)
{
	return tids_was(&e->ids, TID_SMP, tid, whence) ||
	       tids_was(&e->ids, TID_SMP_ANSWERED, tid, whence);
}

/* The transport gave the request back without sending it, as it had waited too long. */
static bool is_unsent(const struct xact_try *try, const struct transport_event *ev)
{
	return try->in_window && !ev->took_us && ev->error == -ETIMEDOUT;
}

/* Handles an answer, or a request that came back: does it belong to a try under way? */
static void accept_end(struct mad_engine *e, const struct transport_event *ev)
{
	uint32_t tid = (uint32_t)ib_get(ev->mad, SMP_TID);
	struct xact_try *try = xact_tids_find(&e->tids, tid);
	bool is_late = !try && was_asked(e, tid, tid_whence_of(&ev->from, ev->mad));

	/* Forged answers were not lent. */
	if (try || is_late || ev->kind == TRANSPORT_RETURNED)
		e->lent -= e->lent > 0;
	if (ev->kind == TRANSPORT_RETURNED) {
		if (try)
			try_returned(e, try, is_unsent(try, ev));
		return;
	}
	if (try)
		accept_response(e, try, ev);
	else
		refuse_answer(e, is_late ? MAD_STRAY_LATE : MAD_STRAY_UNASKED, &ev->from, ev->mad);
}

static void accept_mad(struct mad_engine *e, struct transport_event *ev)
{
	/* A request that comes back has the common header alone. */
	if (ev->length < (ev->kind == TRANSPORT_RETURNED ? MAD_HEADER_BYTES : SMP_BYTES)) {
		e->strays[MAD_STRAY_MISMATCHED]++;
		return;
	}
	if (!is_smp(ev->mad)) {
		if (e->gmp)
			e->gmp(e->gmp_owner, ev, e->now);
		return;
	}
	if (ev->kind == TRANSPORT_MAD && !(ib_get(ev->mad, SMP_METHOD) & MAD_RESPONSE_BIT)) {
		if (e->inbox)
			e->inbox(e->inbox_owner, &ev->from, ev->mad, e->now);
		return;
	}
	accept_end(e, ev);
}

static int receive_mads(struct mad_engine *e, unsigned limit)
{
	struct transport_event ev;
	unsigned n = 0;

	for (; n < limit && !e->gone; n++) {
		ev.whole = NULL;
		ev.took_us = 0;
		if (transport_receive(e->tr, &ev) <= 0)
			break;
		if (ev.kind == TRANSPORT_GONE)
			e->gone = true;
		else
			accept_mad(e, &ev);
		free(ev.whole);
	}
	return n;
}

/*
 * Handles requests that are due. Unread answers may belong to them: a dispatch that read its full
 * quota leaves such requests alone, a few times.
 */
static void run_due(struct mad_engine *e, bool all_read)
{
	struct mad_xact *x;

	e->unread = all_read || e->unread >= UNREAD_MAX ? 0 : e->unread + 1;
	if (e->unread)
		return;
	while ((x = due_first(&e->due)) && x->due <= e->now)
		try_look(e, x);
}

/*
 * Handles suspects from before the call only: requests submitted by a completion wait for the next
 * dispatch.
 */
static void sort_suspects(struct mad_engine *e)
{
	uint64_t until = e->seq;

	while (e->suspects.first && e->suspects.first->seq < until) {
		struct mad_xact *x = e->suspects.first;

		if (target_rests(e, x->rq.target))
			xact_end(e, x, MAD_END_TIMEOUT, NULL);
		else
			xact_enter(e, x, XACT_QUEUED, queue_of(e, x));
	}
}

/* Ends all requests, as the port is gone; targets are not considered silent for it. */
static void end_all(struct mad_engine *e)
{
	struct mad_xacts all = { 0 };
	struct mad_xact *x;

	for (size_t i = 0; (x = xact_pool_at(&e->pool, i)); i++)
		if (x->state != XACT_FREE)
			xact_enter(e, x, XACT_ENDING, &all);
	end_list(e, &all, MAD_END_TIMEOUT);
}

int mad_dispatch(struct mad_engine *e, mono_t now, unsigned limit)
{
	int n;

	if (e->running)
		return -EBUSY;
	e->running = true;
	e->blocked = false;
	e->now = now;
	n = receive_mads(e, limit);
	if (!e->gone) {
		run_due(e, n < (int)limit);
		sort_suspects(e);
		end_list(e, &e->ending, MAD_END_TIMEOUT);
		fill_window(e);
	}
	if (e->gone)
		end_all(e);
	transport_flush(e->tr);
	e->running = false;
	return e->gone ? -ENODEV : n;
}

mono_t mad_next(const struct mad_engine *e)
{
	bool queued = e->front.first || e->queue.first;
	mono_t next = MONO_NEVER;

	if (e->ending.first || e->suspects.first || (e->gone && e->pending))
		return e->now;
	if (e->urgent.first)
		next = e->blocked ? e->now + BLOCKED_PAUSE : e->now;
	else if (queued && has_place(e))
		next = e->blocked ? e->now + BLOCKED_PAUSE : e->now;
	else if (queued && window_stalled(e))
		next = e->stall_since + e->params.stall;
	if (due_first(&e->due))
		next = mono_min(next, due_first(&e->due)->due);
	return next;
}

static uint32_t draw_tid(struct mad_engine *e, enum tid_kind kind, uint32_t whence)
{
	uint32_t tid = fresh_tid(e);

	tids_note(&e->ids, kind, tid, whence);
	return tid;
}

uint32_t mad_gmp_tid(struct mad_engine *e, lid_t to)
{
	return draw_tid(e, TID_GMP, tid_whence(NULL, to));
}

uint64_t mad_nonce(struct mad_engine *e)
{
	uint64_t high = tids_next(&e->ids);

	return high << 32 | tids_next(&e->ids);
}

uint32_t mad_once_tid(struct mad_engine *e, const struct dr_path *path, lid_t to)
{
	return draw_tid(e, TID_SMP, tid_whence(path, to));
}

int mad_send_gmp(struct mad_engine *e, const struct transport_addr *to, const uint8_t *mad,
		 size_t length, unsigned timeout_ms)
{
	int r = transport_send(e->tr, to, mad, length, timeout_ms);

	assert(to && mad && length >= SMP_BYTES);
	if (r == -ENODEV)
		e->gone = true;
	if (!e->running) /* otherwise the dispatch sends it with the others */
		transport_flush(e->tr);
	return r;
}

/* Requests that wait in front of the wire are queued again: they would leave behind what comes. */
static void recall(struct mad_engine *e)
{
	struct mad_xact *x;
	int64_t at;

	for (size_t i = 0; (x = xact_pool_at(&e->pool, i)); i++) {
		struct xact_try *try = x->state == XACT_WIRE ? newest_try(x) : NULL;

		if (!try || !try->in_window ||
		    transport_fate_of(e->tr, try->tid, &at) != TRANSPORT_WAITS)
			continue;
		try->in_window = false;
		/* A thread may have sent it between the two calls. */
		if (transport_forget(e->tr, try->tid) != TRANSPORT_WAITS)
			continue;
		e->lent -= e->lent > 0;
		try_unsent(e, x);
	}
}

int mad_send_once(struct mad_engine *e, const struct transport_addr *to, const uint8_t *mad)
{
	uint8_t method = ib_get(mad, SMP_METHOD);
	int r;

	assert(to && mad);
	if (method == MAD_SET && is_smp(mad))
		recall(e);
	r = mad_send_gmp(e, to, mad, MAD_SIZE, 0);
	if (r == 0 && is_smp(mad))
		counts_sent(&e->counts, counts_row(&e->counts, ib_get(mad, SMP_ATTR_ID), method),
			    method, false);
	return r;
}
