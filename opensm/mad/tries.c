// SPDX-License-Identifier: BSD-2-Clause
/*
 * One try after another: sending, loss, repetition, and their effect on the state of the target.
 */
#include <assert.h>
#include <errno.h>

#include "mad/mad_internal.h"
#include "util/mem.h"

#define REST_MIN MONO_S
#define REST_MAX (60 * MONO_S)
#define WATCHDOG_SLACK (50 * MONO_MS)
#define DARING_MAX 4u
#define DARING_TRIES 4u	 /* late enough to repeat to any target */
#define SILENCE_MIN (20 * MONO_MS) /* shorter than this it is chance */
#define SILENCE_PARTS 8	 /* fraction of the time without answers, until the next MAD */
/* above it, the transport is not asked to wait long for requests that are probably lost */
#define LENT_MAX 128u
/* Requests to silent targets that leave the window to others before they end; see leaves_room(). */
#define SILENT_OVERDUE_MAX 64u

bool mad_target_silent(const struct mad_engine *e, const struct mad_target *target)
{
	return target && target->failures >= MAX(e->params.silent_after, 1u);
}

bool target_rests(const struct mad_engine *e, const struct mad_target *target)
{
	return mad_target_silent(e, target) && e->now < target->rest_until;
}

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

void mad_target_wake(struct mad_target *target)
{
	target->rest_until = 0;
}

void mad_target_is(struct mad_target *target, const struct mad_target *probed)
{
	for (size_t i = 0; i < MAD_RTTS; i++)
		if (!target->rtt[i].mean)
			target->rtt[i] = probed->rtt[i];
	target->slow |= probed->slow;
}

/* Once more, ahead of all others. */
static void again(struct mad_engine *e, struct mad_xact *x)
{
	xact_enter(e, x, XACT_QUEUED, front_of(e, x));
	target_unpark(e, x->rq.target);
}

/* A whole timeout has passed without an answer: the next one, or the end. */
static void try_failed(struct mad_engine *e, struct mad_xact *x)
{
	struct mad_target *target = x->rq.target;

	if (++x->failed <= e->params.retries && !mad_target_silent(e, target)) {
		again(e, x);
		return;
	}
	if (target) {
		pace_silent(target, x->rq.method);
		target_failed(e, target);
	}
	xact_end(e, x, MAD_END_TIMEOUT, NULL);
}

uint32_t fresh_tid(struct mad_engine *e)
{
	uint32_t tid;

	do
		tid = tids_next(&e->ids);
	while (xact_tids_find(&e->tids, tid));
	return tid;
}

static bool is_held(const struct mad_engine *e, const struct mad_xact *x)
{
	return e->hold && x->rq.method == MAD_SET && e->hold(e->hold_owner, x->rq.attr);
}

/* Urgent ones go out though the wire is full. */
static bool waits_for_place(const struct mad_engine *e, const struct mad_xact *x)
{
	return e->ahead > 0 && !x->rq.urgent;
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
	if (waits_for_place(e, x))
		return transport_queue(e->tr, &to, mad, tid, timeout_ms);
	return transport_send(e->tr, &to, mad, sizeof(mad), timeout_ms);
}

/*
 * Round trip after which the answer to a try is overdue. Answers of the window come several at a
 * time, and so a little later than they could.
 */
static mono_t expected_of(const struct mad_engine *e, const struct mad_xact *x, bool in_window)
{
	mono_t timeout = timeout_of(e, x);
	mono_t expected = pace_expected(&e->pace, x->rq.target, x->rq.method, timeout);

	return in_window ? mono_min(MAX(expected, PACE_FLOOR), timeout) : expected;
}

/* The transport gives back the last try of a timeout; this is for transports that forget. */
static mono_t watchdog(struct mad_xact *x, mono_t timeout)
{
	return newest_try(x)->pace.sent + timeout * 6 / 5 + WATCHDOG_SLACK;
}

static void put_on_wire(struct mad_engine *e, struct mad_xact *x, uint32_t tid)
{
	struct xact_try *try;
	bool in_window = waits_for_place(e, x);
	mono_t timeout = timeout_of(e, x);
	mono_t expected = expected_of(e, x, in_window);

	if (e->on_wire == 0)
		e->stall_since = e->now;
	if (x->rq.target)
		x->rq.target->on_wire++;
	xact_enter(e, x, XACT_WIRE, NULL);
	xact_pool_tries(&e->pool, x);
	try = newest_try(x);
	forget_try(e, try, false);
	try->xact = x;
	try->tid = tid;
	try->number = x->tries;
	try->in_window = in_window;
	try->is_timed = !in_window;
	pace_sent(&e->pace, x->rq.target, x->rq.method, &try->pace, e->now);
	xact_tids_add(&e->tids, try);
	due_set(&e->due, x, expected < timeout ? e->now + expected : watchdog(x, timeout));
}

/* Time until the next try: the whole timeout for a target with slow answers, or none. */
static mono_t time_for_try(const struct mad_engine *e, const struct mad_xact *x)
{
	mono_t timeout = timeout_of(e, x);

	if (e->params.retries == 0 || x->rq.long_timeout || mad_target_silent(e, x->rq.target))
		return timeout;
	return pace_repeat(&e->pace, x->rq.target, x->rq.method, x->tries - x->failed, timeout);
}

void try_send(struct mad_engine *e, struct mad_xact *x)
{
	mono_t wait = time_for_try(e, x), timeout = timeout_of(e, x);
	mono_t patience = e->lent < LENT_MAX ? timeout :
					       mono_min(MAX(4 * wait, PACE_PATIENCE), timeout);
	uint32_t tid = fresh_tid(e);
	int r = is_held(e, x) ? -EAGAIN
			      : transmit(e, x, tid, (unsigned)(patience / MONO_MS));

	if (r == -EAGAIN) {
		e->blocked = true;
		return;
	}
	if (r == -ENODEV) {
		e->gone = true;
		return;
	}
	x->tries++;
	x->wait = wait;
	if (r == 0)
		e->lent++;
	if (r < 0) {
		try_failed(e, x);
		return;
	}
	counts_sent(&e->counts, x->count_row, x->rq.method, x->tries > 1);
	put_on_wire(e, x, tid);
}

/*
 * May a request without an answer be repeated to a target without a known round trip? Such targets
 * may all be slow: only a few get a second try at a time, until the answers tell.
 */
static bool dares(struct mad_engine *e, struct mad_xact *x)
{
	if (x->tries >= DARING_TRIES)
		leave_daring(e, x);
	if (x->is_daring || x->tries >= DARING_TRIES ||
	    !pace_is_strange(x->rq.target, x->rq.method))
		return true;
	if (e->daring >= DARING_MAX)
		return false;
	x->is_daring = true;
	e->daring++;
	return true;
}

/* When the next MAD may follow while no target answers: the pause grows with the silence. */
static mono_t next_release(const struct mad_engine *e)
{
	return e->released_at + MAX(PACE_FLOOR, (e->now - e->silent_since) / SILENCE_PARTS);
}

/*
 * May a MAD follow where the answer to `try` is overdue? Yes, when a later request has been
 * answered. While none is, it is more likely that our own port, or the simulator, stands still:
 * further MADs fill its queue, and libumad2sim, whose sends and receives exclude each other, never
 * recovers from a full queue.
 */
static bool leaves_room(struct mad_engine *e, const struct xact_try *try)
{
	if (e->pace.answered_order > try->pace.order)
		return true;
	/* That is no news: only so many at a time, in case it is our port that stands still. */
	if (mad_target_silent(e, try->xact->rq.target) && e->overdue < SILENT_OVERDUE_MAX)
		return true;
	if (e->now < next_release(e))
		return false;
	e->released_at = e->now;
	return true;
}

/* While no target answers, repetitions are as rare as requests that are sent for the first time. */
static bool may_repeat(struct mad_engine *e, struct mad_xact *x)
{
	if (!dares(e, x))
		return false;
	return e->now - e->silent_since < SILENCE_MIN ||
	       leaves_room(e, newest_try(x));
}

/* No answer came between two tries; such waits count as timeouts once they add up to one. */
static void repeat(struct mad_engine *e, struct mad_xact *x)
{
	mono_t timeout = timeout_of(e, x);

	if (mad_target_silent(e, x->rq.target)) {
		x->wait = timeout;
		due_set(&e->due, x, watchdog(x, timeout));
		return;
	}
	if (x->waited < timeout && !may_repeat(e, x)) {
		x->waited += PACE_FLOOR;
		due_set(&e->due, x, e->now + PACE_FLOOR);
		return;
	}
	x->waited += x->wait;
	if (x->waited < timeout) {
		again(e, x);
		return;
	}
	x->waited -= timeout;
	try_failed(e, x);
}

/*
 * `x` was on the wire long enough. `expected`: how long that is; `next`: when the next try is due.
 */
static void look_at_wire(struct mad_engine *e, struct mad_xact *x, mono_t expected, mono_t next)
{
	const struct xact_try *try = newest_try(x);
	mono_t late = pace_late(&e->pace, x->rq.target, &try->pace, expected);

	if (late > e->now)
		due_set(&e->due, x, mono_min(late, next));
	else if (!leaves_room(e, try))
		due_set(&e->due, x, mono_min(next_release(e), next));
	else {
		xact_enter(e, x, XACT_OVERDUE, NULL);
		due_set(&e->due, x, next);
	}
}

/*
 * When did a request of the window go on the wire? False: it waits for its place, or its answer is
 * here and not read yet; it is looked at later. Where nothing has left the window for a whole
 * timeout, it counts as sent: the device takes nothing.
 */
static bool is_on_wire(struct mad_engine *e, struct mad_xact *x, mono_t expected)
{
	struct xact_try *try = newest_try(x);
	enum transport_fate fate;
	int64_t at;

	if (try->is_timed || !try->in_window)
		return true;
	fate = transport_fate_of(e->tr, try->tid, &at);
	if (fate == TRANSPORT_ON_WIRE)
		e->moved_at = MAX(e->moved_at, mono_min(at, e->now));
	if (fate != TRANSPORT_ON_WIRE &&
	    e->now - MAX(try->pace.sent, e->moved_at) < timeout_of(e, x)) {
		due_set(&e->due, x, e->now + expected);
		return false;
	}
	try->is_timed = true;
	if (fate == TRANSPORT_ON_WIRE)
		try->pace.sent = mono_min(at, e->now);
	return true;
}

void try_look(struct mad_engine *e, struct mad_xact *x)
{
	const struct xact_try *try = newest_try(x);
	mono_t timeout = timeout_of(e, x), late, next;
	mono_t expected = expected_of(e, x, try->in_window);
	bool is_last = x->wait >= timeout;

	if (!is_on_wire(e, x, expected))
		return;
	next = is_last ? watchdog(x, timeout) : try->pace.sent + x->wait;

	if (x->state == XACT_WIRE && next > e->now) {
		look_at_wire(e, x, expected, next);
		return;
	}
	late = mono_min(pace_late(&e->pace, x->rq.target, &try->pace, x->wait),
			try->pace.sent + timeout);
	if (is_last && next <= e->now)
		try_failed(e, x);
	else if (MAX(late, next) > e->now)
		due_set(&e->due, x, MAX(late, next));
	else
		repeat(e, x);
}

void try_unsent(struct mad_engine *e, struct mad_xact *x)
{
	struct xact_try *try = newest_try(x);

	counts_unsent(&e->counts, x->count_row, x->rq.method, try->number > 1);
	try->in_window = false;
	xact_enter(e, x, XACT_QUEUED, NULL);
	xacts_insert_by_seq(front_of(e, x), x);
	forget_try(e, try, false);
	x->tries--;
}

/* The transport does not wait any longer. If a newer try is under way, that one counts. */
void try_returned(struct mad_engine *e, struct xact_try *try, bool unsent)
{
	struct mad_xact *x = try->xact;
	bool is_newest = try->number == x->tries;
	bool is_spent = x->wait >= timeout_of(e, x) || e->now - try->pace.sent < x->wait;

	if (unsent && is_newest && x->state == XACT_WIRE) {
		try_unsent(e, x);
		return;
	}
	forget_try(e, try, false);
	if (!is_newest || !is_sent(x->state))
		return;
	if (is_spent)
		try_failed(e, x);
	else
		repeat(e, x);
}
