// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transaction engine on a transport that refills the wire by itself: what waits in front of the
 * wire is neither late nor lost, and gives its place up when it is not wanted.
 */
#include "tests/unit/mad-desk.h"

#define AHEAD 32u

static void put_on_wire(struct desk *d, unsigned from, unsigned n)
{
	for (unsigned i = from; i < from + n; i++) {
		d->paper.sent[i].fate = TRANSPORT_ON_WIRE;
		d->paper.sent[i].at = d->now;
	}
}

/* The answer to send `i`, which was on the wire for `took`. */
static void answer_after(struct desk *d, unsigned i, mono_t took)
{
	struct transport_event *ev;

	answer(d, i, 0);
	ev = &d->paper.in[d->paper.in_tail - 1];
	ev->took_us = (uint32_t)took;
	d->paper.sent[i].fate = TRANSPORT_ENDED;
}

static void some_more_than_the_window_are_handed_over(void **state)
{
	_desk_ d = desk_on(&windowed_ops, &plain);
	struct mad_params params = plain;

	assert_int_equal(d->paper.window, 4);
	for (unsigned i = 0; i < 60; i++)
		ask(d, i);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 4 + AHEAD);
	answer_after(d, 0, 100);
	run(d, 100);
	assert_int_equal(d->paper.n_sent, 4 + AHEAD + 1);
	params.max_wire = 7;
	mad_set_params(d->engine, &params);
	assert_int_equal(d->paper.window, 7);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 7 + AHEAD + 1);
}

static void a_window_that_the_transport_cannot_keep_is_kept_here(void **state)
{
	struct mad_params params = plain;
	_desk_ d = NULL;

	params.max_wire = 101;
	d = desk_on(&windowed_ops, &params);
	for (unsigned i = 0; i < 150; i++)
		ask(d, i);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 101);
	assert_int_equal(d->paper.sent[0].fate, TRANSPORT_ENDED); /* by send() */
}

static void the_stalled_window_grows_at_the_transport(void **state)
{
	struct mad_params params = plain;
	_desk_ d = NULL;

	params.max_wire2 = 6;
	params.stall = 100 * MONO_MS;
	d = desk_on(&windowed_ops, &params);
	for (unsigned i = 0; i < 60; i++)
		ask(d, i);
	run(d, 0);
	put_on_wire(d, 0, 4);
	run(d, 100 * MONO_MS);
	assert_int_equal(d->paper.window, 5);
	answer_after(d, 1, 100 * MONO_MS);
	run(d, 0);
	assert_int_equal(d->paper.window, 4);
}

static void an_urgent_request_does_not_wait(void **state)
{
	_desk_ d = desk_on(&windowed_ops, &plain);

	for (unsigned i = 0; i < 60; i++)
		ask(d, i);
	run(d, 0);
	d->urgent = true;
	ask(d, 60);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 4 + AHEAD + 1);
	assert_int_equal(d->paper.sent[4 + AHEAD].fate, TRANSPORT_ENDED); /* by send() */
	assert_int_equal(ib_get(d->paper.sent[4 + AHEAD].mad, SMP_ATTR_MOD), 60);
}

/* Round trips are learnt, so that an overdue answer is seen within milliseconds. */
static void learn(struct desk *d, struct mad_target *target)
{
	d->target = target;
	for (unsigned i = 0; i < 20; i++) {
		unsigned at = d->paper.n_sent;

		ask(d, i);
		run(d, 0);
		put_on_wire(d, at, 1);
		answer_after(d, at, 100);
		run(d, 5 * MONO_MS);
	}
	d->target = NULL;
}

/* The main thread reads the answers late, and several at a time: the round trip is the wire's. */
static void the_transport_measures_round_trips(void **state)
{
	_desk_ d = desk_on(&windowed_ops, &plain);
	struct mad_target target = { 0 };

	learn(d, &target);
	assert_in_range(target.rtt[MAD_RTT_GET].mean, 90, 110);
	assert_false(target.slow);
	mad_cancel(d->engine, d, NULL);
}

static void what_waits_is_neither_overdue_nor_repeated(void **state)
{
	_desk_ d = desk_on(&windowed_ops, &plain);
	struct mad_target target = { 0 };
	unsigned before;

	learn(d, &target);
	before = d->paper.n_sent;
	d->target = &target;
	for (unsigned i = 0; i < 10; i++)
		ask(d, i);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, before + 10);
	put_on_wire(d, before, 4);
	for (unsigned i = 0; i < 30; i++)
		run(d, MONO_MS);
	assert_true(d->paper.n_sent > before + 10);
	for (unsigned i = before + 10; i < d->paper.n_sent; i++)
		assert_in_range(ib_get(d->paper.sent[i].mad, SMP_ATTR_MOD), 0, 3);
	for (unsigned i = before + 4; i < before + 10; i++)
		assert_int_equal(d->paper.sent[i].fate, TRANSPORT_WAITS);
	mad_cancel(d->engine, d, NULL);
}

static void what_is_overdue_gives_its_place_up_and_may_be_answered_yet(void **state)
{
	_desk_ d = desk_on(&windowed_ops, &plain);
	struct mad_target target = { 0 };
	struct ask *lost, *other;
	unsigned before;

	learn(d, &target);
	before = d->paper.n_sent;
	d->target = &target;
	lost = ask(d, 1);
	other = ask(d, 2);
	run(d, 0);
	put_on_wire(d, before, 2);
	answer_after(d, before + 1, 100);
	for (unsigned i = 0; i < 20 && d->paper.sent[before].fate != TRANSPORT_ENDED; i++)
		run(d, MONO_MS / 2);
	assert_end(other, MAD_END_ANSWERED);
	assert_int_equal(d->paper.sent[before].fate, TRANSPORT_ENDED);
	assert_int_equal(lost->ends, 0);
	answer(d, before, 0);
	run(d, 0);
	assert_end(lost, MAD_END_ANSWERED);
}

static void what_is_cancelled_while_it_waits_never_goes_out(void **state)
{
	_desk_ d = desk_on(&windowed_ops, &plain);

	for (unsigned i = 0; i < 6; i++)
		ask(d, i);
	run(d, 0);
	put_on_wire(d, 0, 4);
	assert_int_equal(mad_sent(d->engine, MAD_GET), 6);
	mad_cancel(d->engine, d, NULL);
	for (unsigned i = 0; i < 6; i++) {
		assert_end(&d->ask[i], MAD_END_CANCELLED);
		assert_int_equal(d->paper.sent[i].fate, TRANSPORT_ENDED);
	}
	assert_int_equal(mad_sent(d->engine, MAD_GET), 4);
	assert_int_equal(mad_pending(d->engine), 0);
}

/* Requests to a device that accepts no MAD end with a timeout, as if no answer came. */
static void what_waits_for_whole_timeouts_ends(void **state)
{
	_desk_ d = desk_on(&windowed_ops, &plain);
	struct ask *a = ask(d, 1);

	for (unsigned i = 0; i < 500 && !a->ends; i++)
		run(d, 10 * MONO_MS);
	assert_end(a, MAD_END_TIMEOUT);
}

/* One place, and each answer takes 20 ms: the last ones wait far longer than a timeout. */
static void what_waits_while_the_wire_moves_has_all_its_time(void **state)
{
	struct mad_params params = plain;
	_desk_ d = NULL;

	params.max_wire = 1;
	params.retries = 0;
	d = desk_on(&windowed_ops, &params);
	for (unsigned i = 0; i < 33; i++)
		ask(d, i);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 33);
	for (unsigned i = 0; i < 33; i++) {
		put_on_wire(d, i, 1);
		run(d, 10 * MONO_MS);
		run(d, 10 * MONO_MS);
		answer_after(d, i, 20 * MONO_MS);
		run(d, 0);
		assert_end(&d->ask[i], MAD_END_ANSWERED);
	}
	assert_int_equal(d->paper.n_sent, 33);
}

/* A Set that waited too long in front of the wire comes back: it has all its tries yet. */
static void what_was_too_late_to_be_sent_is_queued_again(void **state)
{
	struct mad_params params = plain;
	_desk_ d = NULL;
	struct ask *a;

	params.retries = 0;
	d = desk_on(&windowed_ops, &params);
	a = ask(d, 1);
	for (unsigned i = 0; i < 3; i++) {
		run(d, 0);
		assert_int_equal(d->paper.n_sent, i + 1);
		d->paper.sent[i].fate = TRANSPORT_ENDED;
		give_back(d, i);
	}
	run(d, 0);
	assert_int_equal(a->ends, 0);
	assert_int_equal(mad_sent(d->engine, MAD_GET), 1);
	put_on_wire(d, 3, 1);
	answer_after(d, 3, 100);
	run(d, 0);
	assert_end(a, MAD_END_ANSWERED);
}

/* A request whose answer lies unread in the queue of the receive thread is not repeated. */
static void what_is_answered_is_not_overdue(void **state)
{
	_desk_ d = desk_on(&windowed_ops, &plain);
	struct mad_target target = { 0 };
	struct ask *a;
	unsigned before;

	learn(d, &target);
	before = d->paper.n_sent;
	d->target = &target;
	a = ask(d, 1);
	run(d, 0);
	d->paper.sent[before].fate = TRANSPORT_ENDED;
	for (unsigned i = 0; i < 30; i++)
		run(d, MONO_MS);
	assert_int_equal(d->paper.n_sent, before + 1);
	answer_after(d, before, 100);
	run(d, 0);
	assert_end(a, MAD_END_ANSWERED);
}

/* The last Set of a master gives the fabric to another one: no Set of before follows it. */
static void nothing_that_waits_follows_a_last_set(void **state)
{
	_desk_ d = desk_on(&windowed_ops, &plain);
	const struct transport_addr to = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];

	for (unsigned i = 0; i < 6; i++)
		ask(d, i);
	run(d, 0);
	put_on_wire(d, 0, 4);
	smp_build_dr(mad, &(struct smp_head){ .method = MAD_SET, .attr = IB_ATTR_SM_INFO },
		     &two_hops, NULL);
	assert_int_equal(mad_send_once(d->engine, &to, mad), 0);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(d->paper.sent[i].fate,
				 i < 4 ? TRANSPORT_ON_WIRE : TRANSPORT_ENDED);
	assert_int_equal(mad_sent(d->engine, MAD_GET), 4);
	d->wanted_asked = 0;
	run(d, 0); /* had it gone on: as if they were new, in order */
	assert_int_equal(d->wanted_asked, 2);
	assert_int_equal(d->paper.n_sent, 9);
	assert_int_equal(ib_get(d->paper.sent[7].mad, SMP_ATTR_MOD), 4);
	assert_int_equal(ib_get(d->paper.sent[8].mad, SMP_ATTR_MOD), 5);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(d->ask[i].ends, 0);
	mad_cancel(d->engine, d, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(some_more_than_the_window_are_handed_over),
		cmocka_unit_test(a_window_that_the_transport_cannot_keep_is_kept_here),
		cmocka_unit_test(the_stalled_window_grows_at_the_transport),
		cmocka_unit_test(an_urgent_request_does_not_wait),
		cmocka_unit_test(the_transport_measures_round_trips),
		cmocka_unit_test(what_waits_is_neither_overdue_nor_repeated),
		cmocka_unit_test(what_is_overdue_gives_its_place_up_and_may_be_answered_yet),
		cmocka_unit_test(what_is_cancelled_while_it_waits_never_goes_out),
		cmocka_unit_test(what_waits_for_whole_timeouts_ends),
		cmocka_unit_test(what_waits_while_the_wire_moves_has_all_its_time),
		cmocka_unit_test(what_was_too_late_to_be_sent_is_queued_again),
		cmocka_unit_test(what_is_answered_is_not_overdue),
		cmocka_unit_test(nothing_that_waits_follows_a_last_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
