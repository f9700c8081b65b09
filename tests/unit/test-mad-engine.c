// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transaction engine against a transport made of paper: the test reads what was sent, and says
 * what comes back and when. The last test lets a seeded dice do that.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mad/mad.h"
#include "util/mem.h"

#define MAX_ASKS 64

/* The transport */

struct sent {
	struct transport_addr to;
	unsigned timeout_ms;
	uint8_t mad[MAD_SIZE];
};

struct paper {
	struct transport base;
	struct sent sent[512];
	unsigned n_sent;
	struct transport_event in[512];
	unsigned in_head, in_tail;
	int refuse;      /* what send() returns */
	unsigned accept; /* sends before it refuses */
};

static int paper_send(struct transport *t, const struct transport_addr *to, const uint8_t *mad,
		      size_t length, unsigned timeout_ms)
{
	struct paper *p = (struct paper *)t;
	struct sent *s = &p->sent[p->n_sent];

	assert_int_equal(length, MAD_SIZE);
	if (p->refuse && p->accept-- == 0) {
		p->accept = 0;
		return p->refuse;
	}
	assert_true(p->n_sent < ARRAY_SIZE(p->sent));
	s->to = *to;
	s->timeout_ms = timeout_ms;
	memcpy(s->mad, mad, MAD_SIZE);
	p->n_sent++;
	return 0;
}

static int paper_receive(struct transport *t, struct transport_event *ret)
{
	struct paper *p = (struct paper *)t;

	if (p->in_head == p->in_tail)
		return 0;
	*ret = p->in[p->in_head++];
	return 1;
}

static const struct transport_ops paper_ops = { .send = paper_send, .receive = paper_receive };

/* A transport, an engine, and what became of the requests */

struct desk;

struct ask {
	struct desk *desk;
	unsigned ends;
	struct mad_result result;
	uint8_t first_byte;           /* of the response */
	void (*then)(struct ask *a);  /* done inside the completion */
};

struct desk {
	struct paper paper;
	struct mad_engine *engine;
	struct ask ask[MAX_ASKS];
	unsigned n_asks, ended;
	unsigned inbox;
	uint16_t inbox_attr;
	bool refuse_wanted;
	unsigned wanted_asked;
	struct mad_target *target; /* of the following asks */
	mono_t now;
	bool now_known; /* the engine was told */
};

static const struct mad_params plain = {
	.max_wire = 4, .max_wire2 = 4, .stall = 600 * MONO_MS, .timeout_ms = 200,
	.long_timeout_ms = 500, .retries = 3,
};

static struct desk *desk_new(const struct mad_params *params)
{
	struct desk *d = xcalloc(1, sizeof(*d));

	d->paper.base.ops = &paper_ops;
	d->now = 1000 * MONO_S;
	d->engine = mad_new(&d->paper.base, params);
	return d;
}

static void desk_free(struct desk *d)
{
	mad_free(d->engine);
	free(d);
}

static void desk_freep(struct desk **d)
{
	if (*d)
		desk_free(*d);
}

#define _desk_ _cleanup_(desk_freep) struct desk *

static void on_done(void *owner, const struct mad_result *result)
{
	struct ask *a = result->arg;

	assert_ptr_equal(owner, a->desk);
	a->ends++;
	a->result = *result;
	a->first_byte = result->payload ? result->payload[0] : 0;
	a->desk->ended++;
	if (a->desk->now_known)
		assert_int_equal(result->now, a->desk->now);
	if (a->then)
		a->then(a);
}

static bool on_wanted(void *owner, void *arg)
{
	struct desk *d = owner;

	d->wanted_asked++;
	return !d->refuse_wanted;
}

static const struct dr_path two_hops = { .length = 2, .hop = { 0, 3, 7 } };

/* Node `mod` is asked for its PortInfo. */
static struct ask *ask(struct desk *d, uint32_t mod)
{
	struct ask *a = &d->ask[d->n_asks++];
	struct mad_request rq = {
		.method = MAD_GET, .attr = IB_ATTR_PORT_INFO, .mod = mod, .m_key = 0x1122334455667788,
		.path = &two_hops, .target = d->target, .wanted = on_wanted,
	};

	assert_true(d->n_asks <= MAX_ASKS);
	a->desk = d;
	mad_submit(d->engine, &rq, on_done, d, a);
	return a;
}

static int run(struct desk *d, mono_t later)
{
	d->now += later;
	d->now_known = true;
	return mad_dispatch(d->engine, d->now, 100);
}

/* Puts an event before the engine; the MAD is that of send `i`. */
static struct transport_event *paper_push(struct desk *d, unsigned i, enum transport_kind kind)
{
	struct transport_event *ev = &d->paper.in[d->paper.in_tail++];

	assert_true(d->paper.in_tail <= ARRAY_SIZE(d->paper.in));
	assert_true(i < d->paper.n_sent);
	*ev = (struct transport_event){ .kind = kind, .length = MAD_SIZE };
	memcpy(ev->mad, d->paper.sent[i].mad, MAD_SIZE);
	return ev;
}

static uint8_t *answer(struct desk *d, unsigned i, uint16_t status)
{
	struct transport_event *ev = paper_push(d, i, TRANSPORT_MAD);
	uint8_t payload[SMP_DATA_SIZE] = { 0x5A };

	ib_put(ev->mad, SMP_TID, ib_get(ev->mad, SMP_TID) | 0xABull << 32);
	smp_make_response(ev->mad, status, payload);
	return ev->mad;
}

static void give_back(struct desk *d, unsigned i)
{
	paper_push(d, i, TRANSPORT_RETURNED)->error = -ETIMEDOUT;
}

static uint32_t tid_of(const struct desk *d, unsigned i)
{
	return ib_get(d->paper.sent[i].mad, SMP_TID);
}

static void assert_end(const struct ask *a, enum mad_end end)
{
	assert_int_equal(a->ends, 1);
	assert_int_equal(a->result.end, end);
}

/* What goes out, and what an answer becomes */

static void answer_ends_the_request_with_its_payload(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 5);

	assert_int_equal(d->paper.n_sent, 0); /* never from submit */
	assert_int_equal(run(d, 0), 0);
	assert_int_equal(d->paper.n_sent, 1);
	answer(d, 0, 0);
	assert_int_equal(run(d, MONO_MS), 1);
	assert_end(a, MAD_END_ANSWERED);
	assert_int_equal(a->first_byte, 0x5A);
	assert_int_equal(a->result.attr, IB_ATTR_PORT_INFO);
	assert_int_equal(a->result.mod, 5);
	assert_int_equal(a->result.method, MAD_GET);
	assert_int_equal(mad_pending(d->engine), 0);
	assert_int_equal(mad_next(d->engine), MONO_NEVER);
}

static void request_is_a_directed_route_smp_to_the_permissive_lid(void **state)
{
	_desk_ d = desk_new(&plain);
	const struct sent *s = &d->paper.sent[0];

	ask(d, 5);
	run(d, 0);
	assert_int_equal(s->to.lid, LID_PERMISSIVE);
	assert_int_equal(s->timeout_ms, 200);
	assert_int_equal(ib_get(s->mad, SMP_CLASS), MAD_CLASS_SMI_DR);
	assert_int_equal(ib_get(s->mad, SMP_HOP_COUNT), 2);
	assert_int_equal(s->mad[SMP_INITIAL_PATH + 2], 7);
	assert_int_equal(ib_get(s->mad, SMP_M_KEY), 0x1122334455667788);
	assert_int_equal(ib_get(s->mad, SMP_TID), 0x1234);
}

static void lid_routed_request_goes_to_its_lid(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask a = { .desk = d };
	uint8_t payload[SMP_DATA_SIZE] = { 9 };
	struct mad_request rq = { .method = MAD_SET, .attr = IB_ATTR_SM_INFO, .lid = 77,
				  .payload = payload, .long_timeout = true };

	mad_submit(d->engine, &rq, on_done, d, &a);
	payload[0] = 0; /* it was copied */
	run(d, 0);
	assert_int_equal(d->paper.sent[0].to.lid, 77);
	assert_int_equal(d->paper.sent[0].timeout_ms, 500);
	assert_int_equal(ib_get(d->paper.sent[0].mad, SMP_CLASS), MAD_CLASS_SMI_LID);
	assert_int_equal(smp_data(d->paper.sent[0].mad)[0], 9);
	answer(d, 0, 0);
	run(d, 0);
	assert_end(&a, MAD_END_ANSWERED);
}

static void bad_status_is_an_end_and_its_status_is_told(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	answer(d, 0, MAD_STATUS_BAD_VALUE);
	run(d, 0);
	assert_end(a, MAD_END_BAD_STATUS);
	assert_int_equal(a->result.status, MAD_STATUS_BAD_VALUE);
}

static void requests_go_out_in_order_of_submission(void **state)
{
	_desk_ d = desk_new(&plain);

	for (unsigned i = 0; i < 10; i++)
		ask(d, i);
	run(d, 0);
	for (unsigned done = 0; done < 10; done++) {
		answer(d, done, 0);
		run(d, 0);
	}
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(ib_get(d->paper.sent[i].mad, SMP_ATTR_MOD), i);
	assert_int_equal(d->ended, 10);
}

/* Tries */

static void each_try_has_a_fresh_tid_and_the_last_one_ends_it(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	for (unsigned try = 0; try < 4; try++) {
		assert_int_equal(d->paper.n_sent, try + 1);
		assert_int_equal(tid_of(d, try), 0x1234 + try);
		assert_int_equal(a->ends, 0);
		give_back(d, try);
		run(d, 200 * MONO_MS);
	}
	assert_int_equal(d->paper.n_sent, 4);
	assert_end(a, MAD_END_TIMEOUT);
	assert_null(a->result.payload);
}

static void retry_goes_before_what_was_queued(void **state)
{
	struct mad_params one = plain;
	_desk_ d = NULL;

	one.max_wire = 1;
	d = desk_new(&one);
	for (unsigned i = 0; i < 3; i++)
		ask(d, i);
	run(d, 0);
	give_back(d, 0);
	run(d, 200 * MONO_MS);
	assert_int_equal(d->paper.n_sent, 2);
	assert_int_equal(ib_get(d->paper.sent[1].mad, SMP_ATTR_MOD), 0);
}

static void transport_that_forgets_is_overtaken_by_the_watchdog(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	for (unsigned try = 1; try <= 4; try++) {
		assert_int_equal(mad_next(d->engine), d->now + 290 * MONO_MS);
		run(d, 290 * MONO_MS - 1);
		assert_int_equal(d->paper.n_sent, try);
		run(d, 1);
	}
	assert_end(a, MAD_END_TIMEOUT);
	assert_int_equal(d->paper.n_sent, 4);
}

static void long_and_short_timeouts_each_fire_in_their_time(void **state)
{
	struct mad_params one = plain;
	_desk_ d = NULL;
	struct ask slow = { 0 };
	struct mad_request rq = { .method = MAD_SET, .attr = IB_ATTR_SL2VL, .path = &two_hops,
				  .long_timeout = true };

	one.retries = 0;
	d = desk_new(&one);
	slow.desk = d;
	mad_submit(d->engine, &rq, on_done, d, &slow);
	ask(d, 1);
	run(d, 0);
	run(d, 290 * MONO_MS);
	assert_end(&d->ask[0], MAD_END_TIMEOUT);
	assert_int_equal(slow.ends, 0);
	assert_int_equal(mad_next(d->engine), d->now + 360 * MONO_MS); /* 500 * 1.2 + 50 in all */
	run(d, 360 * MONO_MS);
	assert_end(&slow, MAD_END_TIMEOUT);
}

static void shorter_timeout_takes_effect_before_older_longer_ones(void **state)
{
	struct mad_params params = plain;
	_desk_ d = NULL;

	params.retries = 0;
	d = desk_new(&params);
	ask(d, 1);
	run(d, 0);
	params.timeout_ms = 10;
	mad_set_params(d->engine, &params);
	ask(d, 2);
	run(d, 0);
	run(d, 62 * MONO_MS);
	assert_int_equal(d->ask[0].ends, 0);
	assert_end(&d->ask[1], MAD_END_TIMEOUT);
}

static void refused_send_is_a_try(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	d->paper.refuse = -EINVAL;
	run(d, 0);
	assert_end(a, MAD_END_TIMEOUT);
	assert_int_equal(mad_sent(d->engine, 0), 0);
}

/* What is no answer */

static void duplicate_response_is_counted_and_ignored(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	answer(d, 0, 0);
	answer(d, 0, 0);
	give_back(d, 0);
	assert_int_equal(run(d, 0), 3);
	assert_end(a, MAD_END_ANSWERED);
	assert_int_equal(mad_strays(d->engine)->late, 2);
}

static void late_response_to_an_earlier_try_is_ignored(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	give_back(d, 0);
	run(d, 200 * MONO_MS);
	answer(d, 0, MAD_STATUS_BAD_VALUE);
	run(d, MONO_MS);
	assert_int_equal(a->ends, 0);
	assert_int_equal(mad_strays(d->engine)->late, 1);
	answer(d, 1, 0);
	run(d, MONO_MS);
	assert_end(a, MAD_END_ANSWERED);
}

struct forgery {
	const char *what;
	unsigned offset, width;
	uint64_t value;
};

static void response_to_another_question_is_ignored(void **state)
{
	static const struct forgery forgeries[] = {
		{ "attribute", SMP_ATTR_ID, SMP_ATTR_ID_W, IB_ATTR_NODE_INFO },
		{ "modifier", SMP_ATTR_MOD, SMP_ATTR_MOD_W, 2 },
		{ "method", SMP_METHOD, SMP_METHOD_W, MAD_REPORT_RESP },
		{ "class", SMP_CLASS, SMP_CLASS_W, MAD_CLASS_SMI_LID },
	};

	for (size_t i = 0; i < ARRAY_SIZE(forgeries); i++) {
		const struct forgery *f = &forgeries[i];
		_desk_ d = desk_new(&plain);
		struct ask *a = ask(d, 1);

		run(d, 0);
		ib_bits_put(answer(d, 0, 0), f->offset, f->width, f->value);
		run(d, MONO_MS);
		if (a->ends || mad_strays(d->engine)->mismatched != 1)
			fail_msg("wrong %s accepted", f->what);
		answer(d, 0, 0);
		run(d, MONO_MS);
		assert_end(a, MAD_END_ANSWERED);
	}
}

static void short_mad_is_ignored(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	answer(d, 0, 0);
	d->paper.in[0].length = 127;
	answer(d, 0, 0);
	d->paper.in[1].length = 0;
	run(d, MONO_MS);
	assert_int_equal(a->ends, 0);
	assert_int_equal(mad_strays(d->engine)->mismatched, 2);
}

static void on_inbox(void *owner, const struct transport_addr *from, const uint8_t *mad, mono_t now)
{
	struct desk *d = owner;

	d->inbox++;
	d->inbox_attr = ib_get(mad, SMP_ATTR_ID);
}

static void request_of_another_goes_to_the_inbox_whatever_its_tid(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	mad_set_inbox(d->engine, on_inbox, d);
	run(d, 0);
	paper_push(d, 0, TRANSPORT_MAD); /* our own request, looped back */
	run(d, 0);
	assert_int_equal(d->inbox, 1);
	assert_int_equal(d->inbox_attr, IB_ATTR_PORT_INFO);
	assert_int_equal(a->ends, 0);
}

/* The window */

static void window_is_never_exceeded(void **state)
{
	_desk_ d = desk_new(&plain);

	for (unsigned i = 0; i < 20; i++)
		ask(d, i);
	run(d, 0);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 4);
	answer(d, 0, 0);
	answer(d, 2, 0);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 6);
	assert_int_equal(mad_pending(d->engine), 18);
	run(d, 250 * MONO_MS);
	assert_int_equal(d->paper.n_sent, 6);
}

static void stalled_window_grows_by_one_and_closes_with_the_next_response(void **state)
{
	struct mad_params params = plain;
	_desk_ d = NULL;

	params.max_wire2 = 6;
	params.stall = 100 * MONO_MS;
	d = desk_new(&params);
	for (unsigned i = 0; i < 20; i++)
		ask(d, i);
	run(d, 0);
	assert_int_equal(mad_next(d->engine), d->now + 100 * MONO_MS);
	run(d, 99 * MONO_MS);
	assert_int_equal(d->paper.n_sent, 4);
	run(d, MONO_MS);
	assert_int_equal(d->paper.n_sent, 5);
	run(d, 50 * MONO_MS);
	assert_int_equal(d->paper.n_sent, 5);
	run(d, 50 * MONO_MS);
	assert_int_equal(d->paper.n_sent, 6);
	run(d, 89 * MONO_MS); /* just before the watchdog */
	assert_int_equal(d->paper.n_sent, 6);
	answer(d, 5, 0);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 6); /* five are out, four is the limit again */
}

static void busy_transport_is_not_asked_again_before_the_next_dispatch(void **state)
{
	_desk_ d = desk_new(&plain);

	for (unsigned i = 0; i < 4; i++)
		ask(d, i);
	d->paper.refuse = -EAGAIN;
	d->paper.accept = 2;
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 2);
	assert_true(mad_next(d->engine) > d->now);
	d->paper.refuse = 0;
	run(d, MONO_MS);
	assert_int_equal(d->paper.n_sent, 4);
	assert_int_equal(ib_get(d->paper.sent[2].mad, SMP_ATTR_MOD), 2);
	assert_int_equal(d->ended, 0);
}

static void at_most_limit_mads_are_taken_in(void **state)
{
	_desk_ d = desk_new(&plain);

	for (unsigned i = 0; i < 4; i++)
		ask(d, i);
	run(d, 0);
	for (unsigned i = 0; i < 4; i++)
		answer(d, i, 0);
	assert_int_equal(mad_dispatch(d->engine, d->now, 3), 3);
	assert_int_equal(d->ended, 3);
	assert_int_equal(mad_dispatch(d->engine, d->now, 3), 1);
}

static void unwanted_request_ends_without_a_mad(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	d->refuse_wanted = true;
	run(d, 0);
	assert_end(a, MAD_END_CANCELLED);
	assert_int_equal(d->paper.n_sent, 0);
}

static void wanted_is_asked_before_the_first_send_only(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a = ask(d, 1);

	run(d, 0);
	d->refuse_wanted = true;
	give_back(d, 0);
	run(d, 200 * MONO_MS);
	assert_int_equal(d->paper.n_sent, 2);
	assert_int_equal(d->wanted_asked, 1);
	assert_int_equal(a->ends, 0);
}

/* Targets */

static void full_target_waits_and_others_pass(void **state)
{
	struct mad_params params = plain;
	struct mad_target small = { 0 }, other = { 0 };
	_desk_ d = NULL;

	params.per_target = 1;
	d = desk_new(&params);
	d->target = &small;
	for (unsigned i = 0; i < 4; i++)
		ask(d, i);
	d->target = &other;
	ask(d, 4);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 2);
	assert_int_equal(small.on_wire, 1);
	assert_int_equal(ib_get(d->paper.sent[1].mad, SMP_ATTR_MOD), 4);
	answer(d, 0, 0);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 3);
	assert_int_equal(ib_get(d->paper.sent[2].mad, SMP_ATTR_MOD), 1);
	assert_int_equal(small.on_wire, 1);
}

static void parked_requests_survive_the_end_of_the_one_before_them(void **state)
{
	struct mad_params params = plain;
	struct mad_target small = { 0 };
	_desk_ d = NULL;

	params.per_target = 1;
	d = desk_new(&params);
	d->target = &small;
	for (unsigned i = 0; i < 6; i++)
		ask(d, i);
	run(d, 0);
	d->refuse_wanted = true;
	answer(d, 0, 0);
	run(d, 0);
	assert_int_equal(d->ended, 6); /* one answered, five not wanted any more */
	assert_int_equal(mad_pending(d->engine), 0);
	assert_null(small.members.first);
	assert_null(small.parked.first);
}

static void raised_target_limit_lets_parked_requests_out(void **state)
{
	struct mad_params params = plain;
	struct mad_target small = { 0 };
	_desk_ d = NULL;

	params.per_target = 1;
	d = desk_new(&params);
	d->target = &small;
	for (unsigned i = 0; i < 4; i++)
		ask(d, i);
	run(d, 0);
	params.per_target = 0;
	mad_set_params(d->engine, &params);
	answer(d, 0, 0);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 4);
	assert_int_equal(small.on_wire, 3);
}

static void dead_target(struct desk *d, struct mad_target *target)
{
	d->target = target;
	ask(d, 100);
	for (unsigned try = 0; try < 4; try++) {
		run(d, 0);
		give_back(d, d->paper.n_sent - 1);
		run(d, 200 * MONO_MS);
	}
	assert_int_equal(target->failures, 1);
	assert_int_equal(target->rest_until, d->now + MONO_S);
}

static void resting_target_is_not_sent_to(void **state)
{
	struct mad_target dead = { 0 };
	_desk_ d = desk_new(&plain);
	unsigned before;
	struct ask *a;

	dead_target(d, &dead);
	before = d->paper.n_sent;
	a = ask(d, 1);
	assert_int_equal(a->ends, 0);
	assert_true(mad_next(d->engine) <= d->now);
	run(d, 999 * MONO_MS);
	assert_end(a, MAD_END_TIMEOUT);
	assert_int_equal(d->paper.n_sent, before);
	assert_int_equal(dead.failures, 1); /* nothing was learnt */
}

static void silent_target_gets_one_try_and_twice_the_rest(void **state)
{
	struct mad_target dead = { 0 };
	_desk_ d = desk_new(&plain);
	mono_t rest = MONO_S;

	dead_target(d, &dead);
	for (unsigned i = 0; i < 8; i++) {
		unsigned before = d->paper.n_sent;
		struct ask *a = ask(d, 1);

		run(d, rest);
		assert_int_equal(d->paper.n_sent, before + 1);
		give_back(d, before);
		run(d, 200 * MONO_MS);
		assert_end(a, MAD_END_TIMEOUT);
		rest = MIN(rest * 2, 60 * MONO_S);
		assert_int_equal(dead.rest_until, d->now + rest);
	}
	assert_int_equal(dead.failures, 9);
}

static void answer_makes_a_silent_target_ordinary(void **state)
{
	struct mad_target dead = { 0 };
	_desk_ d = desk_new(&plain);
	struct ask *a;

	dead_target(d, &dead);
	ask(d, 1);
	run(d, MONO_S);
	answer(d, d->paper.n_sent - 1, MAD_STATUS_BAD_VALUE);
	run(d, 0);
	assert_int_equal(dead.failures, 0);
	a = ask(d, 2);
	run(d, 0);
	give_back(d, d->paper.n_sent - 1);
	run(d, 200 * MONO_MS);
	assert_int_equal(a->ends, 0); /* has its retries back */
}

static void death_of_a_target_ends_what_waits_for_it(void **state)
{
	struct mad_params params = plain;
	struct mad_target dead = { 0 }, alive = { 0 };
	_desk_ d = NULL;

	params.per_target = 1;
	params.max_wire = 2;
	params.retries = 0;
	d = desk_new(&params);
	d->target = &dead;
	for (unsigned i = 0; i < 10; i++)
		ask(d, i);
	d->target = &alive;
	ask(d, 50);
	ask(d, 51);
	run(d, 0);
	give_back(d, 0);
	run(d, 200 * MONO_MS);
	assert_int_equal(d->ended, 10);
	assert_int_equal(dead.failures, 1);
	assert_int_equal(dead.on_wire, 0);
	assert_int_equal(d->paper.n_sent, 2);
	assert_int_equal(alive.on_wire, 1);
}

static void failures_of_one_burst_are_one_rest(void **state)
{
	struct mad_params params = plain;
	struct mad_target dead = { 0 };
	_desk_ d = NULL;

	params.retries = 0;
	d = desk_new(&params);
	d->target = &dead;
	for (unsigned i = 0; i < 4; i++)
		ask(d, i);
	run(d, 0);
	for (unsigned i = 0; i < 4; i++)
		give_back(d, i);
	run(d, 200 * MONO_MS);
	assert_int_equal(dead.failures, 4);
	assert_int_equal(dead.rest_until, d->now + MONO_S);
}

/* Completions that act */

static void submit_one(struct ask *a)
{
	ask(a->desk, 99);
}

static void completion_may_submit(void **state)
{
	_desk_ d = desk_new(&plain);

	ask(d, 1)->then = submit_one;
	run(d, 0);
	answer(d, 0, 0);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 2); /* in the same dispatch */
	answer(d, 1, 0);
	run(d, 0);
	assert_int_equal(d->ended, 2);
}

static void submit_stubbornly(struct ask *a)
{
	ask(a->desk, 99)->then = submit_stubbornly;
}

static void owner_that_repeats_what_is_refused_does_not_hold_the_loop(void **state)
{
	_desk_ d = desk_new(&plain);

	ask(d, 1)->then = submit_stubbornly;
	d->refuse_wanted = true;
	run(d, 0);
	assert_int_equal(d->ended, 1);
	assert_true(mad_next(d->engine) <= d->now);
	run(d, 0);
	assert_int_equal(d->ended, 2);
}

static void owner_that_repeats_to_a_resting_target_does_not_hold_the_loop(void **state)
{
	struct mad_target dead = { 0 };
	_desk_ d = desk_new(&plain);

	dead_target(d, &dead);
	ask(d, 1)->then = submit_stubbornly;
	run(d, 0);
	assert_int_equal(d->ended, 2);
	run(d, 0);
	assert_int_equal(d->ended, 3);
}

static void cancel_all(struct ask *a)
{
	mad_cancel(a->desk->engine, a->desk, NULL);
}

static void completion_may_cancel(void **state)
{
	_desk_ d = desk_new(&plain);

	for (unsigned i = 0; i < 8; i++)
		ask(d, i)->then = cancel_all;
	run(d, 0);
	answer(d, 0, 0);
	answer(d, 1, 0);
	run(d, 0);
	assert_end(&d->ask[0], MAD_END_ANSWERED);
	for (unsigned i = 1; i < 8; i++)
		assert_end(&d->ask[i], MAD_END_CANCELLED);
	assert_int_equal(mad_pending(d->engine), 0);
	assert_int_equal(mad_strays(d->engine)->late, 1);
}

static void cancel_spares_what_its_completions_submit(void **state)
{
	_desk_ d = desk_new(&plain);

	ask(d, 1)->then = submit_one;
	mad_cancel(d->engine, d, NULL);
	assert_int_equal(d->ended, 1);
	assert_int_equal(mad_pending(d->engine), 1);
}

static void on_foreign_done(void *owner, const struct mad_result *result)
{
	*(unsigned *)owner += 1;
}

static void cancel_of_a_target_spares_other_targets_and_owners(void **state)
{
	struct mad_params params = plain;
	struct mad_target one = { 0 }, two = { 0 };
	struct mad_request rq = { .method = MAD_GET, .attr = IB_ATTR_NODE_INFO, .path = &two_hops,
				  .target = &one };
	unsigned foreign = 0;
	_desk_ d = NULL;

	params.per_target = 1;
	d = desk_new(&params);
	d->target = &one;
	ask(d, 1);
	ask(d, 2);
	d->target = &two;
	ask(d, 3);
	mad_submit(d->engine, &rq, on_foreign_done, &foreign, NULL);
	run(d, 0);
	mad_cancel(d->engine, d, &one);
	assert_end(&d->ask[0], MAD_END_CANCELLED);
	assert_end(&d->ask[1], MAD_END_CANCELLED);
	assert_int_equal(d->ask[2].ends, 0);
	assert_int_equal(foreign, 0);
	run(d, 0);
	assert_int_equal(one.on_wire, 1); /* the foreign one, let out of the parking place */
	mad_cancel(d->engine, &foreign, &one);
	assert_int_equal(foreign, 1);
}

static void dispatch_in_turn(struct ask *a)
{
	assert_int_equal(mad_dispatch(a->desk->engine, a->desk->now, 1), -EBUSY);
}

static void completion_may_not_dispatch(void **state)
{
	_desk_ d = desk_new(&plain);

	ask(d, 1)->then = dispatch_in_turn;
	run(d, 0);
	answer(d, 0, 0);
	run(d, 0);
	assert_int_equal(d->ended, 1);
}

/* The port goes away */

static void lost_port_ends_everything(void **state)
{
	struct mad_target target = { 0 };
	_desk_ d = desk_new(&plain);

	d->target = &target;
	for (unsigned i = 0; i < 10; i++)
		ask(d, i);
	run(d, 0);
	paper_push(d, 0, TRANSPORT_GONE)->error = -ENODEV;
	assert_int_equal(run(d, 0), -ENODEV);
	for (unsigned i = 0; i < 10; i++)
		assert_end(&d->ask[i], MAD_END_TIMEOUT);
	assert_int_equal(target.failures, 0);
	ask(d, 11);
	assert_true(mad_next(d->engine) <= d->now);
	assert_int_equal(run(d, 0), -ENODEV);
	assert_end(&d->ask[10], MAD_END_TIMEOUT);
	assert_int_equal(d->paper.n_sent, 4);
}

static void port_lost_at_send_ends_everything(void **state)
{
	_desk_ d = desk_new(&plain);

	for (unsigned i = 0; i < 10; i++)
		ask(d, i);
	d->paper.refuse = -ENODEV;
	d->paper.accept = 2;
	assert_int_equal(run(d, 0), -ENODEV);
	assert_int_equal(d->ended, 10);
	assert_int_equal(mad_pending(d->engine), 0);
}

static void freed_engine_calls_nobody_and_releases_targets(void **state)
{
	struct mad_target target = { 0 };
	_desk_ d = desk_new(&plain);

	d->target = &target;
	ask(d, 1);
	run(d, 0);
	ask(d, 2);
	d->engine = mad_free(d->engine);
	assert_int_equal(d->ended, 0);
	assert_int_equal(target.on_wire, 0);
	assert_null(target.members.first);
}

/* TIDs */

static void tid_skips_zero_and_those_on_the_wire(void **state)
{
	struct mad_params params = plain;
	_desk_ d = NULL;

	params.first_tid = UINT32_MAX;
	d = desk_new(&params);
	ask(d, 1);
	ask(d, 2);
	run(d, 0);
	assert_int_equal(tid_of(d, 0), UINT32_MAX);
	assert_int_equal(tid_of(d, 1), 1);
}

static void storage_reused_by_a_new_request_is_not_reached_by_an_old_answer(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *b;

	ask(d, 1);
	run(d, 0);
	mad_cancel(d->engine, d, NULL);
	b = ask(d, 1); /* takes the same slot */
	run(d, 0);
	answer(d, 0, 0);
	run(d, 0);
	assert_int_equal(b->ends, 0);
	answer(d, 1, 0);
	run(d, 0);
	assert_end(b, MAD_END_ANSWERED);
}

/* Counters */

static const struct mad_count *count_of(struct desk *d, uint16_t attr, uint8_t method)
{
	unsigned n;
	const struct mad_count *row = mad_counts(d->engine, &n);

	for (unsigned i = 0; i < n; i++)
		if (row[i].attr == attr && row[i].method == method)
			return &row[i];
	fail_msg("no row for attribute 0x%x", attr);
	return NULL;
}

static void counters_tell_sends_retries_and_ends(void **state)
{
	_desk_ d = desk_new(&plain);
	const struct mad_count *c;

	for (unsigned i = 0; i < 3; i++)
		ask(d, i);
	run(d, 0);
	answer(d, 0, 0);
	answer(d, 1, MAD_STATUS_BAD_VALUE);
	for (unsigned try = 2; try < 6; try++) {
		give_back(d, try);
		run(d, 200 * MONO_MS);
	}
	c = count_of(d, IB_ATTR_PORT_INFO, MAD_GET);
	assert_int_equal(c->sent, 6);
	assert_int_equal(c->retries, 3);
	assert_int_equal(c->answered, 1);
	assert_int_equal(c->bad_status, 1);
	assert_int_equal(c->timeouts, 1);
	assert_int_equal(mad_sent(d->engine, MAD_GET), 6);
	assert_int_equal(mad_sent(d->engine, MAD_SET), 0);
	assert_int_equal(mad_sent(d->engine, 0), 6);
}

static void send_once_needs_no_room_and_never_comes_back(void **state)
{
	_desk_ d = desk_new(&plain);
	struct transport_addr to = { .lid = 9 };
	uint8_t mad[MAD_SIZE];

	for (unsigned i = 0; i < 4; i++)
		ask(d, i);
	run(d, 0);
	smp_build_lid(mad, &(struct smp_head){ .method = MAD_TRAP_REPRESS, .attr = IB_ATTR_NOTICE },
		      NULL);
	assert_int_equal(mad_send_once(d->engine, &to, mad), 0);
	assert_int_equal(d->paper.sent[4].timeout_ms, 0);
	assert_int_equal(d->paper.sent[4].to.lid, 9);
	assert_int_equal(count_of(d, IB_ATTR_NOTICE, MAD_TRAP_REPRESS)->sent, 1);
	assert_int_equal(mad_pending(d->engine), 4);
}

static void counter_rows_are_limited(void **state)
{
	_desk_ d = desk_new(&plain);
	uint64_t sum = 0;
	const struct mad_count *row;
	unsigned n;

	for (unsigned attr = 0; attr < 200; attr++) {
		uint8_t mad[MAD_SIZE];

		smp_build_lid(mad, &(struct smp_head){ .method = MAD_GET_RESP, .attr = attr }, NULL);
		mad_send_once(d->engine, &(struct transport_addr){ .lid = 1 }, mad);
	}
	row = mad_counts(d->engine, &n);
	assert_true(n <= 64);
	for (unsigned i = 0; i < n; i++)
		sum += row[i].sent;
	assert_int_equal(sum, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answer_ends_the_request_with_its_payload),
		cmocka_unit_test(request_is_a_directed_route_smp_to_the_permissive_lid),
		cmocka_unit_test(lid_routed_request_goes_to_its_lid),
		cmocka_unit_test(bad_status_is_an_end_and_its_status_is_told),
		cmocka_unit_test(requests_go_out_in_order_of_submission),
		cmocka_unit_test(each_try_has_a_fresh_tid_and_the_last_one_ends_it),
		cmocka_unit_test(retry_goes_before_what_was_queued),
		cmocka_unit_test(transport_that_forgets_is_overtaken_by_the_watchdog),
		cmocka_unit_test(long_and_short_timeouts_each_fire_in_their_time),
		cmocka_unit_test(shorter_timeout_takes_effect_before_older_longer_ones),
		cmocka_unit_test(refused_send_is_a_try),
		cmocka_unit_test(duplicate_response_is_counted_and_ignored),
		cmocka_unit_test(late_response_to_an_earlier_try_is_ignored),
		cmocka_unit_test(response_to_another_question_is_ignored),
		cmocka_unit_test(short_mad_is_ignored),
		cmocka_unit_test(request_of_another_goes_to_the_inbox_whatever_its_tid),
		cmocka_unit_test(window_is_never_exceeded),
		cmocka_unit_test(stalled_window_grows_by_one_and_closes_with_the_next_response),
		cmocka_unit_test(busy_transport_is_not_asked_again_before_the_next_dispatch),
		cmocka_unit_test(at_most_limit_mads_are_taken_in),
		cmocka_unit_test(unwanted_request_ends_without_a_mad),
		cmocka_unit_test(wanted_is_asked_before_the_first_send_only),
		cmocka_unit_test(full_target_waits_and_others_pass),
		cmocka_unit_test(parked_requests_survive_the_end_of_the_one_before_them),
		cmocka_unit_test(raised_target_limit_lets_parked_requests_out),
		cmocka_unit_test(resting_target_is_not_sent_to),
		cmocka_unit_test(silent_target_gets_one_try_and_twice_the_rest),
		cmocka_unit_test(answer_makes_a_silent_target_ordinary),
		cmocka_unit_test(death_of_a_target_ends_what_waits_for_it),
		cmocka_unit_test(failures_of_one_burst_are_one_rest),
		cmocka_unit_test(completion_may_submit),
		cmocka_unit_test(owner_that_repeats_what_is_refused_does_not_hold_the_loop),
		cmocka_unit_test(owner_that_repeats_to_a_resting_target_does_not_hold_the_loop),
		cmocka_unit_test(completion_may_cancel),
		cmocka_unit_test(cancel_spares_what_its_completions_submit),
		cmocka_unit_test(cancel_of_a_target_spares_other_targets_and_owners),
		cmocka_unit_test(completion_may_not_dispatch),
		cmocka_unit_test(lost_port_ends_everything),
		cmocka_unit_test(port_lost_at_send_ends_everything),
		cmocka_unit_test(freed_engine_calls_nobody_and_releases_targets),
		cmocka_unit_test(tid_skips_zero_and_those_on_the_wire),
		cmocka_unit_test(storage_reused_by_a_new_request_is_not_reached_by_an_old_answer),
		cmocka_unit_test(counters_tell_sends_retries_and_ends),
		cmocka_unit_test(send_once_needs_no_room_and_never_comes_back),
		cmocka_unit_test(counter_rows_are_limited),
	};

	return cmocka_run_group_tests_name("mad-engine", tests, NULL, NULL);
}
