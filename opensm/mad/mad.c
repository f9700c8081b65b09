// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transaction engine: window, tries, targets, and the one place where a request ends.
 *
 * A request stands in one list at a time:
 *
 *   suspects  submitted to a target with failures; sorted out by the next dispatch
 *   queue     submitted, in order
 *   front     ahead of queue: retries, and what came out of a target's parking place
 *   parked    (per target) the target's wire is full; moved to front when it is not
 *   wire[]    on the wire, in order of deadline: one list per timeout, so new ones go to the end
 *   ending    ended, not called back yet
 *
 * Every change passes xact_enter(), every end xact_end(). The latter frees before it calls back:
 * the owner may submit, cancel, or free the target then.
 *
 * What a dispatch does is bounded: requests submitted while it fills the window wait for the next
 * one, so an owner that resubmits whatever fails cannot hold the loop.
 *
 * Knows SMPs as far as their header goes. What an attribute means is others' business.
 */
#include "mad/mad.h"

#include <errno.h>
#include <string.h>

#include "mad/count.h"
#include "mad/xact.h"
#include "util/mem.h"

#define REST_MIN MONO_S
#define REST_MAX (60 * MONO_S)
#define BLOCKED_PAUSE (10 * MONO_MS) /* after -EAGAIN, should nothing arrive meanwhile */
#define WATCHDOG_SLACK (50 * MONO_MS)

struct mad_engine {
	struct transport *tr;
	struct mad_params params;
	struct xact_pool pool;
	struct xact_tids tids;
	struct mad_xacts suspects, queue, front, ending;
	struct mad_xacts wire[2];  /* ordinary and long timeout */
	mono_t now;                /* of the last dispatch */
	mono_t stall_since;        /* last response, window growth, or send on an idle wire */
	uint64_t seq;              /* of the next submission */
	uint32_t tid;              /* next candidate */
	unsigned pending, on_wire, window;
	bool running, blocked, gone;
	mad_inbox_fn inbox;
	void *inbox_owner;
	mad_gmp_fn gmp;
	void *gmp_owner;
	struct counts counts;
	struct mad_strays strays;
	uint64_t ended; /* requests, since the start */
};

struct mad_engine *mad_new(struct transport *tr, const struct mad_params *params)
{
	struct mad_engine *e = xcalloc(1, sizeof(*e));

	e->tr = tr;
	e->tid = params->first_tid ? params->first_tid : 0x1234;
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
	xact_pool_clear(&e->pool);
	free(e);
	return NULL;
}

void mad_set_params(struct mad_engine *e, const struct mad_params *params)
{
	e->params = *params;
	e->params.max_wire = MAX(params->max_wire, 1u);
	e->params.timeout_ms = MAX(params->timeout_ms, 1u);
	e->params.long_timeout_ms = MAX(params->long_timeout_ms, 1u);
	e->window = e->params.max_wire;
}

void mad_set_inbox(struct mad_engine *e, mad_inbox_fn fn, void *owner)
{
	e->inbox = fn;
	e->inbox_owner = owner;
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

const struct mad_strays *mad_strays(const struct mad_engine *e)
{
	return &e->strays;
}

/* States */

/* The one door: `x` leaves what it stands in, and joins `to` (NULL: the caller places it). */
static void xact_enter(struct mad_engine *e, struct mad_xact *x, enum xact_state next,
		       struct mad_xacts *to)
{
	if (x->state == XACT_WIRE) {
		xact_tids_remove(&e->tids, x);
		e->on_wire--;
		if (x->rq.target)
			x->rq.target->on_wire--;
	}
	xacts_remove(x);
	x->state = next;
	if (to)
		xacts_append(to, x);
}

static unsigned target_room(const struct mad_engine *e, const struct mad_target *target)
{
	if (!target || e->params.per_target == 0)
		return UINT32_MAX;
	return e->params.per_target - MIN(target->on_wire, e->params.per_target);
}

/*
 * Lets go of what waits for this target's wire. Called whenever one of its requests leaves wire or
 * front: while anything is parked, another one is there to bring it out.
 */
static void target_unpark(struct mad_engine *e, struct mad_target *target)
{
	if (!target)
		return;
	for (unsigned room = target_room(e, target); room > 0 && target->parked.first; room--)
		xact_enter(e, target->parked.first, XACT_QUEUED, &e->front);
}

static void xact_end(struct mad_engine *e, struct mad_xact *x, enum mad_end end,
		     const uint8_t *mad)
{
	struct mad_target *target = x->rq.target;
	mad_done_fn on_done = x->on_done;
	void *owner = x->owner;
	struct mad_result result = {
		.end = end,
		.status = mad ? ib_get(mad, SMP_STATUS) : 0,
		.method = x->rq.method,
		.attr = x->rq.attr,
		.mod = x->rq.mod,
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

static void end_list(struct mad_engine *e, struct mad_xacts *list, enum mad_end end)
{
	while (list->first)
		xact_end(e, list->first, end, NULL);
}

/* Submission and cancellation */

bool mad_target_silent(const struct mad_engine *e, const struct mad_target *target)
{
	return target && target->failures >= MAX(e->params.silent_after, 1u);
}

static bool target_rests(const struct mad_engine *e, const struct mad_target *target)
{
	return mad_target_silent(e, target) && e->now < target->rest_until;
}

void mad_submit(struct mad_engine *e, const struct mad_request *rq, mad_done_fn on_done,
		void *owner, void *arg)
{
	struct mad_xact *x = xact_pool_get(&e->pool);
	bool suspect = mad_target_silent(e, rq->target);

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
	e->pending++;
	xact_enter(e, x, XACT_QUEUED, suspect ? &e->suspects : &e->queue);
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

/* Tries */

/*
 * One more request to `target` timed out. Those that were on its wire together count as one rest;
 * what still waits for it ends with it.
 */
static void target_failed(struct mad_engine *e, struct mad_target *target)
{
	bool resting = target_rests(e, target);

	target->failures++;
	if (resting || !mad_target_silent(e, target))
		return;
	target->rest = target->rest ? MIN(target->rest * 2, REST_MAX) : REST_MIN;
	target->rest_until = e->now + target->rest;
	for (struct mad_xact *x = target->members.first; x; x = x->t_next)
		if (x->state == XACT_QUEUED || x->state == XACT_PARKED)
			xact_enter(e, x, XACT_ENDING, &e->ending);
}

void mad_target_revive(struct mad_target *target)
{
	target->failures = 0;
	target->rest = 0;
	target->rest_until = 0;
}

/* A try came to nothing: the next one, ahead of all others, or the end. */
static void try_failed(struct mad_engine *e, struct mad_xact *x)
{
	struct mad_target *target = x->rq.target;
	bool silent = mad_target_silent(e, target);

	if (x->tries <= e->params.retries && !silent) {
		xact_enter(e, x, XACT_QUEUED, &e->front);
		target_unpark(e, target);
		return;
	}
	if (target)
		target_failed(e, target);
	xact_end(e, x, MAD_END_TIMEOUT, NULL);
}

static uint32_t fresh_tid(struct mad_engine *e)
{
	while (e->tid == 0 || xact_tids_find(&e->tids, e->tid))
		e->tid++;
	return e->tid++;
}

static int transmit(struct mad_engine *e, const struct mad_xact *x, uint32_t tid,
		    unsigned timeout_ms)
{
	struct transport_addr to = { .lid = x->rq.path ? LID_PERMISSIVE : x->rq.lid };
	struct smp_head head = {
		.method = x->rq.method,
		.attr = x->rq.attr,
		.mod = x->rq.mod,
		.m_key = x->rq.m_key,
		.tid = tid,
	};
	uint8_t mad[MAD_SIZE];

	if (x->rq.path)
		smp_build_dr(mad, &head, x->rq.path, x->rq.payload);
	else
		smp_build_lid(mad, &head, x->rq.payload);
	return transport_send(e->tr, &to, mad, sizeof(mad), timeout_ms);
}

static void put_on_wire(struct mad_engine *e, struct mad_xact *x, uint32_t tid,
			unsigned timeout_ms)
{
	if (e->on_wire++ == 0)
		e->stall_since = e->now;
	if (x->rq.target)
		x->rq.target->on_wire++;
	xact_enter(e, x, XACT_WIRE, NULL);
	x->tid = tid;
	x->deadline = e->now + timeout_ms * MONO_MS * 6 / 5 + WATCHDOG_SLACK;
	xact_tids_add(&e->tids, x);
	xacts_insert_by_deadline(&e->wire[x->rq.long_timeout], x);
}

static void send_try(struct mad_engine *e, struct mad_xact *x)
{
	unsigned timeout_ms = x->rq.long_timeout ? e->params.long_timeout_ms : e->params.timeout_ms;
	uint32_t tid = fresh_tid(e);
	int r = transmit(e, x, tid, timeout_ms);

	if (r == -EAGAIN) {
		e->blocked = true;
		return;
	}
	if (r == -ENODEV) {
		e->gone = true;
		return;
	}
	x->tries++;
	if (r < 0) {
		try_failed(e, x);
		return;
	}
	counts_sent(&e->counts, x->count_row, x->rq.method, x->tries > 1);
	put_on_wire(e, x, tid, timeout_ms);
}

/* The window */

static bool window_stalled(const struct mad_engine *e)
{
	return e->on_wire >= e->window && e->window < e->params.max_wire2;
}

static bool window_open(struct mad_engine *e)
{
	if (window_stalled(e) && e->now - e->stall_since >= e->params.stall) {
		e->window++;
		e->stall_since = e->now;
	}
	return e->on_wire < e->window;
}

static void response_came(struct mad_engine *e)
{
	e->window = e->params.max_wire;
	e->stall_since = e->now;
}

/* The next request to look at, of those submitted before `until`. */
static struct mad_xact *next_queued(const struct mad_engine *e, uint64_t until)
{
	struct mad_xact *x = e->front.first ? e->front.first : e->queue.first;

	return x && x->seq < until ? x : NULL;
}

static void start(struct mad_engine *e, struct mad_xact *x)
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
	send_try(e, x);
}

static void fill_window(struct mad_engine *e)
{
	uint64_t until = e->seq;
	struct mad_xact *x;

	while (!e->blocked && !e->gone && (x = next_queued(e, until)) && window_open(e))
		start(e, x);
}

/* What arrives */

/* Subn{Get,Set} are both answered by SubnGetResp (14.2.1, table 139). */
static bool answers(const struct mad_xact *x, const uint8_t *mad, size_t length)
{
	return length >= SMP_DATA + SMP_DATA_SIZE && ib_get(mad, SMP_METHOD) == MAD_GET_RESP &&
	       ib_get(mad, SMP_CLASS) == (x->rq.path ? MAD_CLASS_SMI_DR : MAD_CLASS_SMI_LID) &&
	       ib_get(mad, SMP_ATTR_ID) == x->rq.attr && ib_get(mad, SMP_ATTR_MOD) == x->rq.mod;
}

static void take_response(struct mad_engine *e, struct mad_xact *x, const uint8_t *mad,
			  size_t length)
{
	if (!answers(x, mad, length)) {
		e->strays.mismatched++;
		return;
	}
	response_came(e);
	if (x->rq.target)
		mad_target_revive(x->rq.target);
	xact_end(e, x, ib_get(mad, SMP_STATUS) ? MAD_END_BAD_STATUS : MAD_END_ANSWERED, mad);
}

static bool is_smp(const uint8_t *mad)
{
	unsigned mad_class = ib_get(mad, SMP_CLASS);

	return mad_class == MAD_CLASS_SMI_DR || mad_class == MAD_CLASS_SMI_LID;
}

static void take_mad(struct mad_engine *e, struct transport_event *ev)
{
	struct mad_xact *x;

	if (ev->length < SMP_BYTES) {
		e->strays.mismatched++;
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
	x = xact_tids_find(&e->tids, (uint32_t)ib_get(ev->mad, SMP_TID));
	if (!x)
		e->strays.late++;
	else if (ev->kind == TRANSPORT_RETURNED)
		try_failed(e, x);
	else
		take_response(e, x, ev->mad, ev->length);
}

static int take_in(struct mad_engine *e, unsigned limit)
{
	struct transport_event ev;
	unsigned n = 0;

	for (; n < limit && !e->gone; n++) {
		ev.whole = NULL;
		if (transport_receive(e->tr, &ev) <= 0)
			break;
		if (ev.kind == TRANSPORT_GONE)
			e->gone = true;
		else
			take_mad(e, &ev);
		free(ev.whole);
	}
	return n;
}

/* Tries the transport never gave back: simulators and old kernels forget some. */
static void run_watchdog(struct mad_engine *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(e->wire); i++)
		while (e->wire[i].first && e->wire[i].first->deadline <= e->now)
			try_failed(e, e->wire[i].first);
}

/* Only what stood there when we came: what a completion submits waits for the next dispatch. */
static void sort_suspects(struct mad_engine *e)
{
	uint64_t until = e->seq;

	while (e->suspects.first && e->suspects.first->seq < until) {
		struct mad_xact *x = e->suspects.first;

		if (target_rests(e, x->rq.target))
			xact_end(e, x, MAD_END_TIMEOUT, NULL);
		else
			xact_enter(e, x, XACT_QUEUED, &e->queue);
	}
}

/* The port is gone; nobody's failure but ours, so targets are not blamed. */
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
	n = take_in(e, limit);
	if (!e->gone) {
		run_watchdog(e);
		sort_suspects(e);
		end_list(e, &e->ending, MAD_END_TIMEOUT);
		fill_window(e);
	}
	if (e->gone)
		end_all(e);
	e->running = false;
	return e->gone ? -ENODEV : n;
}

mono_t mad_next(const struct mad_engine *e)
{
	bool queued = e->front.first || e->queue.first;
	mono_t next = MONO_NEVER;

	if (e->ending.first || e->suspects.first || (e->gone && e->pending))
		return e->now;
	if (queued && e->on_wire < e->window)
		next = e->blocked ? e->now + BLOCKED_PAUSE : e->now;
	else if (queued && window_stalled(e))
		next = e->stall_since + e->params.stall;
	for (size_t i = 0; i < ARRAY_SIZE(e->wire); i++)
		if (e->wire[i].first)
			next = mono_min(next, e->wire[i].first->deadline);
	return next;
}

int mad_send_gmp(struct mad_engine *e, const struct transport_addr *to, const uint8_t *mad,
		 size_t length, unsigned timeout_ms)
{
	int r = transport_send(e->tr, to, mad, length, timeout_ms);

	if (r == -ENODEV)
		e->gone = true;
	return r;
}

int mad_send_once(struct mad_engine *e, const struct transport_addr *to, const uint8_t *mad)
{
	uint8_t method = ib_get(mad, SMP_METHOD);
	int r = mad_send_gmp(e, to, mad, MAD_SIZE, 0);

	if (r == 0 && is_smp(mad))
		counts_sent(&e->counts, counts_row(&e->counts, ib_get(mad, SMP_ATTR_ID), method),
			    method, false);
	return r;
}
