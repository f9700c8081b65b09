// SPDX-License-Identifier: BSD-2-Clause
/* The transaction engine: which request may go out when, and what completions may do. */
#include "tests/unit/mad-desk.h"

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
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 6);
	assert_int_equal(mad_on_wire(d->engine), 4);
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

static void an_urgent_request_waits_for_no_other(void **state)
{
	_desk_ d = desk_new(&plain);

	for (unsigned i = 0; i < 20; i++)
		ask(d, i);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 4);
	d->urgent = true;
	ask(d, 20);
	assert_int_equal(mad_next(d->engine), d->now);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 5);
	answer(d, 0, 0);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 6); /* it takes no place of the four */
}

/* The ports of two managers are silent, and asked again and again: all else goes on. */
static void urgent_requests_without_an_answer_hold_up_no_other(void **state)
{
	struct mad_params params = plain;
	_desk_ d = NULL;

	params.max_wire = params.max_wire2 = 1;
	d = desk_new(&params);
	d->urgent = true;
	ask(d, 0);
	ask(d, 1);
	d->urgent = false;
	ask(d, 2);
	ask(d, 3);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 3);
	answer(d, 2, 0);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 4);
	assert_int_equal(ib_get(d->paper.sent[3].mad, SMP_ATTR_MOD), 3);
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
	assert_false(a->result.sent);
	assert_false(mad_doubts_key(&a->result));
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
		assert_true(mad_doubts_key(&a->result));
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

static void target_is_silent_only_after_so_many_failures(void **state)
{
	struct mad_params params = plain;
	struct mad_target weak = { 0 };
	_desk_ d = NULL;

	params.retries = 1;
	params.silent_after = 2;
	d = desk_new(&params);
	d->target = &weak;
	for (unsigned i = 0; i < 2; i++) {
		assert_false(mad_target_silent(d->engine, &weak));
		ask(d, i);
		run(d, 0);
		for (unsigned try = 0; try < 2; try++) {
			give_back(d, d->paper.n_sent - 1);
			run(d, 200 * MONO_MS);
		}
	}
	assert_int_equal(d->paper.n_sent, 4); /* both had both tries */
	assert_true(mad_target_silent(d->engine, &weak));
	assert_int_equal(weak.rest_until, d->now + MONO_S);
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
	assert_int_equal(mad_strays(d->engine)[MAD_STRAY_LATE], 1);
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

static void all_of_one_attribute_are_cancelled(void **state)
{
	const struct mad_request sets[] = {
		{ .method = MAD_SET, .attr = IB_ATTR_PKEY_TABLE, .path = &two_hops },
		{ .method = MAD_GET, .attr = IB_ATTR_PKEY_TABLE, .path = &two_hops },
		{ .method = MAD_SET, .attr = IB_ATTR_PORT_INFO, .path = &two_hops },
	};
	unsigned ends[4] = { 0 };
	_desk_ d = desk_new(&plain);

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		mad_submit(d->engine, &sets[i], on_foreign_done, &ends[i], NULL);
	run(d, 0);
	mad_submit(d->engine, &sets[0], on_foreign_done, &ends[3], NULL);
	mad_cancel_attr(d->engine, IB_ATTR_PKEY_TABLE);
	assert_int_equal(ends[0], 1);
	assert_int_equal(ends[3], 1);
	assert_int_equal(ends[1], 1);
	assert_int_equal(ends[2], 0);
	assert_int_equal(mad_pending(d->engine), 1);
}

static bool holds_pkeys(void *owner, uint16_t attr)
{
	return *(bool *)owner && attr == IB_ATTR_PKEY_TABLE;
}

/* First and later tries wait, and what is behind them. */
static void sets_that_are_held_wait(void **state)
{
	const struct mad_request set = { .method = MAD_SET,
					 .attr = IB_ATTR_PKEY_TABLE,
					 .path = &two_hops };
	unsigned ends[2] = { 0 };
	bool held = true;
	_desk_ d = desk_new(&plain);

	mad_set_hold(d->engine, holds_pkeys, &held);
	mad_submit(d->engine, &set, on_foreign_done, &ends[0], NULL);
	ask(d, 1);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 0);
	held = false;
	run(d, MONO_MS);
	assert_int_equal(d->paper.n_sent, 2);
	held = true;
	run(d, 10 * MONO_S);
	assert_int_equal(d->paper.n_sent, 2);
	mad_cancel_attr(d->engine, IB_ATTR_PKEY_TABLE);
	run(d, MONO_MS);
	assert_int_equal(ends[0], 1);
	assert_int_equal(d->paper.n_sent, 3); /* the Get again */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(window_is_never_exceeded),
		cmocka_unit_test(an_urgent_request_waits_for_no_other),
		cmocka_unit_test(urgent_requests_without_an_answer_hold_up_no_other),
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
		cmocka_unit_test(target_is_silent_only_after_so_many_failures),
		cmocka_unit_test(failures_of_one_burst_are_one_rest),
		cmocka_unit_test(completion_may_submit),
		cmocka_unit_test(owner_that_repeats_what_is_refused_does_not_hold_the_loop),
		cmocka_unit_test(owner_that_repeats_to_a_resting_target_does_not_hold_the_loop),
		cmocka_unit_test(completion_may_cancel),
		cmocka_unit_test(cancel_spares_what_its_completions_submit),
		cmocka_unit_test(cancel_of_a_target_spares_other_targets_and_owners),
		cmocka_unit_test(all_of_one_attribute_are_cancelled),
		cmocka_unit_test(sets_that_are_held_wait),
		cmocka_unit_test(completion_may_not_dispatch),
	};

	return cmocka_run_group_tests_name("mad-window", tests, NULL, NULL);
}
