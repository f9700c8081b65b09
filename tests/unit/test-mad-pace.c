// SPDX-License-Identifier: BSD-2-Clause
/* The transaction engine: when a request is repeated, and what a lost MAD costs. */
#include "tests/unit/mad-desk.h"

#define RTT (300 * MONO_US)

/* `n` requests are answered within RTT each: the engine knows how long an answer takes. */
static void learn(struct desk *d, unsigned n, mono_t rtt)
{
	for (unsigned i = 0; i < n; i++) {
		d->n_asks = 0;
		d->paper.n_sent = d->paper.in_head = d->paper.in_tail = 0;
		ask(d, i);
		run(d, 0);
		answer(d, 0, 0);
		run(d, rtt);
		assert_int_equal(mad_pending(d->engine), 0);
	}
	memset(d->ask, 0, sizeof(d->ask));
	d->n_asks = d->ended = 0;
	d->paper.n_sent = d->paper.in_head = d->paper.in_tail = 0;
}

/* Lets time pass as the loop does: the engine is called when it wants to be. */
static void pass(struct desk *d, mono_t t)
{
	mono_t end = d->now + t;

	while (mad_next(d->engine) <= end)
		run(d, MAX(mad_next(d->engine) - d->now, (mono_t)0));
	run(d, end - d->now);
}

static uint64_t retries(const struct desk *d)
{
	const struct mad_count *rows;
	uint64_t sum = 0;
	unsigned n;

	rows = mad_counts(d->engine, &n);
	for (unsigned i = 0; i < n; i++)
		sum += rows[i].retries;
	return sum;
}

static void nothing_measured_nothing_repeated_before_the_timeout(void **state)
{
	_desk_ d = desk_new(&plain);

	ask(d, 1);
	run(d, 0);
	pass(d, 199 * MONO_MS);
	assert_int_equal(d->paper.n_sent, 1);
	assert_int_equal(d->paper.sent[0].timeout_ms, 200);
}

static void overdue_request_is_repeated_and_its_answer_ends_it(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a;

	learn(d, 20, RTT);
	a = ask(d, 1);
	run(d, 0);
	pass(d, 10 * MONO_MS);
	assert_in_range(d->paper.n_sent, 2, 3);
	assert_int_not_equal(tid_of(d, 0), tid_of(d, 1));
	answer(d, 1, 0);
	run(d, 0);
	assert_end(a, MAD_END_ANSWERED);
	assert_int_equal(mad_pending(d->engine), 0);
}

static void answer_to_an_earlier_try_is_as_good(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a;

	learn(d, 20, RTT);
	a = ask(d, 1);
	run(d, 0);
	pass(d, 10 * MONO_MS);
	answer(d, 0, 0);
	answer(d, 1, 0);
	run(d, 0);
	assert_end(a, MAD_END_ANSWERED);
	assert_int_equal(mad_strays(d->engine)[MAD_STRAY_LATE], 1);
}

/*
 * The silence of one that answered quickly lasts as long as that of one never heard of, and gets
 * more tries.
 */
static void silence_has_all_its_timeouts(void **state)
{
	_desk_ d = desk_new(&plain);
	struct ask *a;
	mono_t start;

	learn(d, 20, RTT);
	a = ask(d, 1);
	start = d->now;
	run(d, 0);
	pass(d, 799 * MONO_MS);
	assert_int_equal(a->ends, 0);
	for (unsigned i = 0; i < 20 && !a->ends; i++)
		pass(d, 100 * MONO_MS);
	assert_end(a, MAD_END_TIMEOUT);
	assert_in_range(d->paper.n_sent, 5, 20);
	assert_in_range(d->now - start, 800 * MONO_MS, 1500 * MONO_MS);
}

static void no_retries_means_one_try(void **state)
{
	struct mad_params params = plain;
	_desk_ d = NULL;
	struct ask *a;

	params.retries = 0;
	d = desk_new(&params);
	learn(d, 20, RTT);
	a = ask(d, 1);
	run(d, 0);
	pass(d, 199 * MONO_MS);
	assert_int_equal(a->ends, 0);
	pass(d, 200 * MONO_MS);
	assert_end(a, MAD_END_TIMEOUT);
	assert_int_equal(d->paper.n_sent, 1);
}

/* An agent that always takes 150 ms, beside others that are quick. */
static void slow_agent_is_reached_and_then_waited_for(void **state)
{
	struct mad_target slow = { 0 };
	_desk_ d = desk_new(&plain);
	struct ask *a;

	learn(d, 20, RTT);
	d->target = &slow;
	for (unsigned round = 0; round < 3; round++) {
		unsigned first = d->paper.n_sent;

		a = ask(d, round);
		run(d, 0);
		pass(d, 150 * MONO_MS);
		if (round > 0)
			assert_int_equal(d->paper.n_sent, first + 1);
		answer(d, first, 0);
		run(d, 0);
		assert_end(a, MAD_END_ANSWERED);
	}
}

/* Its transport forgets the first tries earlier; those that follow wait as long as it takes. */
static void late_answers_to_short_tries_may_be_lost(void **state)
{
	struct mad_target slow = { 0 };
	_desk_ d = desk_new(&plain);
	unsigned longest = 0;
	struct ask *a;

	learn(d, 20, RTT);
	d->target = &slow;
	a = ask(d, 1);
	run(d, 0);
	pass(d, 150 * MONO_MS);
	for (unsigned i = 0; i < d->paper.n_sent; i++)
		longest = MAX(longest, d->paper.sent[i].timeout_ms);
	assert_int_equal(longest, 200);
	assert_int_equal(a->ends, 0);
}

static void lost_request_leaves_its_place_on_the_wire(void **state)
{
	struct mad_params one = plain;
	_desk_ d = NULL;

	one.max_wire = one.max_wire2 = 2;
	d = desk_new(&one);
	learn(d, 20, RTT);
	for (unsigned i = 0; i < 20; i++)
		ask(d, i);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 2);
	/*
	 * The first is lost. The others are answered, one after the other; soon two are out at a
	 * time.
	 */
	for (unsigned i = 1; i < 6; i++) {
		answer(d, i, 0);
		run(d, RTT);
	}
	assert_int_equal(mad_on_wire(d->engine), 2);
	assert_int_equal(mad_pending(d->engine), 15); /* two on the wire, and the lost one */
	assert_true(d->paper.n_sent >= 8);
}

/* Eight requests to an agent that works on one at a time: each takes longer than the one before. */
static void queue_in_an_agent_is_no_loss(void **state)
{
	struct mad_params wide = plain;
	struct mad_target target = { 0 };
	_desk_ d = NULL;

	wide.max_wire = 16;
	wide.per_target = 8;
	d = desk_new(&wide);
	d->target = &target;
	learn(d, 5, 5 * MONO_MS);
	for (unsigned i = 0; i < 8; i++)
		ask(d, i);
	run(d, 0);
	for (unsigned i = 0; i < 8; i++) {
		pass(d, 5 * MONO_MS);
		answer(d, i, 0);
		run(d, 0);
	}
	assert_int_equal(d->ended, 8);
	assert_int_equal(retries(d), 0);
}

/*
 * Round trips that jump about: needless repetitions make the engine careful, and stay below one in
 * a hundred.
 */
static void needless_repetitions_are_rare(void **state)
{
	_desk_ d = desk_new(&plain);
	uint64_t x = 7;
	unsigned sent = 0;

	for (unsigned i = 0; i < 20000; i++) {
		mono_t rtt;

		x = x * 6364136223846793005u + 1442695040888963407u;
		rtt = (x >> 33) % 20 == 0 ? 30 * MONO_MS : RTT;
		d->n_asks = 0;
		memset(d->ask, 0, sizeof(d->ask));
		d->paper.n_sent = d->paper.in_head = d->paper.in_tail = 0;
		ask(d, i);
		run(d, 0);
		pass(d, rtt);
		answer(d, 0, 0);
		run(d, 0);
		sent += d->paper.n_sent;
		assert_int_equal(mad_pending(d->engine), 0);
	}
	assert_in_range(sent, 20000, 20200);
}

/* What is read after the timers ran is no reason to repeat: answers may lie unread. */
static void unread_answers_hold_back_repetitions(void **state)
{
	_desk_ d = desk_new(&plain);

	learn(d, 20, RTT);
	for (unsigned i = 0; i < 4; i++)
		ask(d, i);
	run(d, 0);
	for (unsigned i = 0; i < 4; i++)
		answer(d, i, 0);
	d->now += 100 * MONO_MS;
	d->now_known = true;
	assert_int_equal(mad_dispatch(d->engine, d->now, 2), 2);
	assert_int_equal(d->paper.n_sent, 4);
	run(d, 0);
	assert_int_equal(d->ended, 4);
	assert_int_equal(d->paper.n_sent, 4);
}

/*
 * All of the fabric is silent, as when our own cable is out: the window leaks slowly, not at once.
 */
static void silence_of_all_does_not_open_the_window(void **state)
{
	_desk_ d = desk_new(&plain);

	learn(d, 20, RTT);
	for (unsigned i = 0; i < 60; i++)
		ask(d, i);
	run(d, 0);
	pass(d, 20 * MONO_MS);
	assert_in_range(d->paper.n_sent, 4, 60);
}

/*
 * Longer, as when a simulator stands still: what is sent meanwhile stays below what a socket holds
 * (277 MADs on Linux), since libumad2sim never comes back from a socket that is full.
 */
static void silence_of_all_fills_no_queue(void **state)
{
	struct mad_params wide = plain;
	struct mad_target target = { 0 };
	_desk_ d = NULL;

	wide.per_target = 8;
	d = desk_new(&wide);
	d->target = &target;
	learn(d, 20, RTT);
	for (unsigned i = 0; i < MAX_ASKS; i++)
		ask(d, i);
	run(d, 0);
	pass(d, MONO_S);
	assert_in_range(d->paper.n_sent, 5, 120);
}

/* A target whose answers take half the timeout gets one request at a time. */
static void slow_target_gets_one_at_a_time(void **state)
{
	struct mad_params wide = plain;
	struct mad_target target = { 0 };
	_desk_ d = NULL;

	wide.max_wire = 16;
	wide.per_target = 8;
	d = desk_new(&wide);
	d->target = &target;
	learn(d, 2, 100 * MONO_MS);
	for (unsigned i = 0; i < 8; i++)
		ask(d, i);
	run(d, 0);
	assert_int_equal(d->paper.n_sent, 1);
	for (unsigned i = 0; i < 8; i++) {
		answer(d, i, 0);
		run(d, RTT);
	}
	assert_int_equal(d->ended, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_measured_nothing_repeated_before_the_timeout),
		cmocka_unit_test(overdue_request_is_repeated_and_its_answer_ends_it),
		cmocka_unit_test(answer_to_an_earlier_try_is_as_good),
		cmocka_unit_test(silence_has_all_its_timeouts),
		cmocka_unit_test(no_retries_means_one_try),
		cmocka_unit_test(slow_agent_is_reached_and_then_waited_for),
		cmocka_unit_test(late_answers_to_short_tries_may_be_lost),
		cmocka_unit_test(lost_request_leaves_its_place_on_the_wire),
		cmocka_unit_test(queue_in_an_agent_is_no_loss),
		cmocka_unit_test(needless_repetitions_are_rare),
		cmocka_unit_test(unread_answers_hold_back_repetitions),
		cmocka_unit_test(silence_of_all_does_not_open_the_window),
		cmocka_unit_test(silence_of_all_fills_no_queue),
		cmocka_unit_test(slow_target_gets_one_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
