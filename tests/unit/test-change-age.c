// SPDX-License-Identifier: BSD-2-Clause
/*
 * When a change is late, and when it is stuck: by its age, by what moves, and by the sweeps that
 * ended in vain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sm/base/change_age.h"

#define NODES 1000
#define USUAL (62 * MONO_S) /* a minute, and 2 ms for each of them */

static int setup(void **state)
{
	*state = change_age_new();
	change_age_tick(*state, NODES, 0);
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static struct oldest_change oldest(const struct change_age *a, mono_t now)
{
	struct oldest_change ret;

	assert_true(change_age_oldest(a, NODES, now, &ret));
	return ret;
}

/* Answers, one a second; returns the time of the last. */
static mono_t answers(struct change_age *a, mono_t from, unsigned n)
{
	mono_t now = from;

	for (unsigned i = 0; i < n; i++) {
		now += MONO_S;
		change_age_moved(a, now);
	}
	return now;
}

static void without_a_sweep_it_is_late_and_stuck_at_once(void **state)
{
	change_age_asked(*state, SWEEP_HEAVY, "start", 0);
	assert_false(oldest(*state, USUAL - 1).is_late);
	assert_true(oldest(*state, USUAL).is_late);
	assert_true(oldest(*state, USUAL).stuck);
	assert_int_equal(change_age_next(*state, NODES, 0), USUAL);
	assert_true(change_age_tick(*state, NODES, USUAL) & CHANGE_AGE_TELL);
	assert_false(change_age_tick(*state, NODES, USUAL + MONO_S) & CHANGE_AGE_TELL);
	assert_true(change_age_tick(*state, NODES, 2 * USUAL) & CHANGE_AGE_TELL);
}

static void a_sweep_that_moves_is_late_and_not_stuck(void **state)
{
	mono_t now;

	change_age_asked(*state, SWEEP_HEAVY, "start", 0);
	change_age_began(*state, SWEEP_HEAVY, 0);
	now = answers(*state, 0, 1000);
	assert_true(oldest(*state, now).is_late);
	assert_false(oldest(*state, now).stuck);
	assert_false(oldest(*state, now + USUAL - 1).stuck);
	assert_true(oldest(*state, now + USUAL).stuck);
}

/* It is told when it begins to be stuck, although its age has not doubled since it was late. */
static void the_end_of_all_movement_is_told(void **state)
{
	mono_t now;

	change_age_asked(*state, SWEEP_HEAVY, "start", 0);
	change_age_began(*state, SWEEP_HEAVY, 0);
	now = answers(*state, 0, 1000);
	assert_true(change_age_tick(*state, NODES, now) & CHANGE_AGE_TELL);
	assert_false(change_age_tick(*state, NODES, now + USUAL - 1) & CHANGE_AGE_TELL);
	assert_in_range(change_age_next(*state, NODES, now + USUAL - 1), 0, now + USUAL);
	assert_true(change_age_tick(*state, NODES, now + USUAL) & CHANGE_AGE_TELL);
	change_age_ended(*state, true, now + USUAL);
	assert_true(change_age_tick(*state, NODES, now + USUAL) & CHANGE_AGE_TELL_SERVED);
}

/* What waits for a sweep that moves is as little stuck as what that sweep serves. */
static void one_that_waits_for_the_running_sweep(void **state)
{
	mono_t now;

	change_age_asked(*state, SWEEP_LIGHT, "timer", 0);
	change_age_began(*state, SWEEP_LIGHT, 0);
	change_age_asked(*state, SWEEP_HEAVY, "SIGHUP", 0);
	now = answers(*state, 0, 500);
	change_age_ended(*state, true, now);
	assert_true(oldest(*state, now).is_late);
	assert_false(oldest(*state, now).stuck);
}

/* Sweeps get answers and end with errors, for ever. */
static void sweeps_in_vain_do_not_move_it(void **state)
{
	mono_t now = 0;
	unsigned n = 0;

	change_age_asked(*state, SWEEP_HEAVY, "start", 0);
	while (!change_age_oldest(*state, NODES, now, &(struct oldest_change){ 0 }) ||
	       !oldest(*state, now).stuck) {
		change_age_began(*state, SWEEP_HEAVY, now);
		now = answers(*state, now, 10);
		change_age_ended(*state, false, now);
		assert_true(++n < 20);
	}
	assert_in_range(now, USUAL, USUAL + 60 * MONO_S);
}

/* A sweep that was completed had a pause of a minute: five of them are usual. */
static void a_pause_that_was_seen_is_usual(void **state)
{
	mono_t now;

	change_age_asked(*state, SWEEP_HEAVY, "start", 0);
	change_age_began(*state, SWEEP_HEAVY, 0);
	now = answers(*state, 0, 1000) + 60 * MONO_S;
	now = answers(*state, now, 1);
	change_age_ended(*state, true, now);
	change_age_asked(*state, SWEEP_HEAVY, "SIGHUP", now);
	assert_false(oldest(*state, now + USUAL + 305 * MONO_S - 1).stuck);
	assert_true(oldest(*state, now + USUAL + 305 * MONO_S).stuck);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_sweep_it_is_late_and_stuck_at_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_sweep_that_moves_is_late_and_not_stuck, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_end_of_all_movement_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_waits_for_the_running_sweep, setup,
						teardown),
		cmocka_unit_test_setup_teardown(sweeps_in_vain_do_not_move_it, setup, teardown),
		cmocka_unit_test_setup_teardown(a_pause_that_was_seen_is_usual, setup, teardown),
	};

	return cmocka_run_group_tests_name("change-age", tests, NULL, NULL);
}
