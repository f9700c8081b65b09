// SPDX-License-Identifier: BSD-2-Clause
/* supervise.c in virtual time: when an instance is started, given up, killed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "launch/supervise.h"

#define WATCHDOG (60 * MONO_S)

/* One that runs, at time `now`. */
static struct supervise running(mono_t now)
{
	struct supervise s;

	supervise_init(&s, WATCHDOG, now);
	assert_int_equal(supervise_next(&s, now), SUPERVISE_START);
	supervise_started(&s, now);
	supervise_ready(&s, now);
	assert_int_equal(s.state, SUPERVISE_RUNNING);
	return s;
}

/* Starts it when it is due; returns how long that took. */
static mono_t wait_for_start(struct supervise *s, mono_t now)
{
	mono_t due = supervise_due(s);

	assert_int_equal(supervise_next(s, due - 1), SUPERVISE_NOTHING);
	assert_int_equal(supervise_next(s, due), SUPERVISE_START);
	supervise_started(s, due);
	return due - now;
}

static void the_first_start_is_at_once(void **state)
{
	struct supervise s;

	supervise_init(&s, WATCHDOG, 7 * MONO_S);
	assert_false(supervise_is_settled(&s));
	assert_int_equal(supervise_next(&s, 7 * MONO_S), SUPERVISE_START);
	supervise_started(&s, 7 * MONO_S);
	assert_false(supervise_is_settled(&s));
	assert_int_equal(supervise_next(&s, 8 * MONO_S), SUPERVISE_NOTHING);
	supervise_ready(&s, 8 * MONO_S);
	assert_true(supervise_is_settled(&s));
	assert_int_equal(s.restarts, 0);
}

static void what_keeps_crashing_waits_up_to_thirty_seconds(void **state)
{
	static const int seconds[] = { 1, 2, 4, 8, 16, 30, 30, 30 };
	struct supervise s = running(0);
	mono_t now = 0;

	for (unsigned n = 0; n < sizeof(seconds) / sizeof(*seconds); n++) {
		supervise_ended(&s, false, now);
		assert_int_equal(s.state, SUPERVISE_WAITING);
		assert_true(supervise_is_settled(&s));
		assert_int_equal(wait_for_start(&s, now), seconds[n] * MONO_S);
		now += seconds[n] * MONO_S;
		assert_int_equal(s.restarts, n + 1);
	}
}

static void a_minute_in_health_is_a_fresh_start(void **state)
{
	struct supervise s = running(0);

	supervise_ended(&s, false, 0);
	assert_int_equal(wait_for_start(&s, 0), 1 * MONO_S);
	supervise_ready(&s, 1 * MONO_S);
	supervise_ended(&s, false, 60 * MONO_S);
	assert_int_equal(wait_for_start(&s, 60 * MONO_S), 2 * MONO_S);
	supervise_ready(&s, 62 * MONO_S);
	supervise_ended(&s, false, 122 * MONO_S);
	assert_int_equal(wait_for_start(&s, 122 * MONO_S), 1 * MONO_S);
}

static void what_failed_for_good_stays_so_until_told(void **state)
{
	struct supervise s = running(0);

	supervise_ended(&s, true, MONO_S);
	assert_int_equal(s.state, SUPERVISE_FAILED);
	assert_true(supervise_is_settled(&s));
	assert_false(supervise_has_process(&s));
	assert_int_equal(supervise_due(&s), MONO_NEVER);
	supervise_hurry(&s, 2 * MONO_S);
	assert_int_equal(supervise_next(&s, 1000 * MONO_S), SUPERVISE_NOTHING);
	supervise_retry(&s, 1000 * MONO_S);
	assert_int_equal(supervise_next(&s, 1000 * MONO_S), SUPERVISE_START);
}

static void silence_is_answered_with_abort_then_kill(void **state)
{
	struct supervise s = running(0);

	supervise_fed(&s, 30 * MONO_S);
	assert_int_equal(supervise_next(&s, 89 * MONO_S), SUPERVISE_NOTHING);
	assert_int_equal(supervise_next(&s, 90 * MONO_S), SUPERVISE_ABORT);
	supervise_fed(&s, 91 * MONO_S);
	assert_int_equal(supervise_next(&s, 94 * MONO_S), SUPERVISE_NOTHING);
	assert_int_equal(supervise_next(&s, 95 * MONO_S), SUPERVISE_KILL);
	assert_int_equal(supervise_next(&s, 95 * MONO_S), SUPERVISE_NOTHING);
	supervise_ended(&s, false, 96 * MONO_S);
	assert_int_equal(s.state, SUPERVISE_WAITING);
}

static void without_a_watchdog_silence_is_fine(void **state)
{
	struct supervise s;

	supervise_init(&s, 0, 0);
	supervise_next(&s, 0);
	supervise_started(&s, 0);
	supervise_ready(&s, 0);
	assert_int_equal(supervise_due(&s), MONO_NEVER);
}

static void a_start_has_its_limit(void **state)
{
	struct supervise s;

	supervise_init(&s, WATCHDOG, 0);
	supervise_next(&s, 0);
	supervise_started(&s, 0);
	supervise_fed(&s, 59 * MONO_S);
	assert_int_equal(supervise_next(&s, SUPERVISE_START_LIMIT), SUPERVISE_ABORT);
	supervise_ready(&s, SUPERVISE_START_LIMIT + 1);
	assert_int_equal(s.state, SUPERVISE_STARTING);
}

static void stopping_asks_first_and_kills_then(void **state)
{
	struct supervise s = running(0);

	assert_true(supervise_stop(&s, MONO_S));
	assert_false(supervise_stop(&s, 2 * MONO_S));
	assert_int_equal(supervise_due(&s), MONO_S + SUPERVISE_STOP_LIMIT);
	supervise_retry(&s, 2 * MONO_S);
	assert_int_equal(supervise_next(&s, MONO_S + SUPERVISE_STOP_LIMIT), SUPERVISE_KILL);
	supervise_ended(&s, true, 17 * MONO_S);
	assert_int_equal(s.state, SUPERVISE_ENDED);
}

static void what_has_no_process_is_stopped_at_once(void **state)
{
	struct supervise s = running(0);

	supervise_ended(&s, false, 0);
	assert_false(supervise_stop(&s, 0));
	assert_int_equal(s.state, SUPERVISE_ENDED);
	assert_int_equal(supervise_due(&s), MONO_NEVER);
	s = running(0);
	supervise_ended(&s, true, 0);
	assert_false(supervise_stop(&s, 0));
	assert_int_equal(s.state, SUPERVISE_ENDED);
}

static void a_device_that_comes_shortens_the_waiting(void **state)
{
	struct supervise s = running(0);

	supervise_ended(&s, false, 0);
	supervise_hurry(&s, 1);
	assert_int_equal(supervise_next(&s, 1), SUPERVISE_START);
	s = running(0);
	supervise_hurry(&s, 1);
	assert_int_equal(supervise_next(&s, 1), SUPERVISE_NOTHING);
}

static void a_reload_forgets_the_backoff(void **state)
{
	struct supervise s = running(0);
	mono_t now = 0;

	for (unsigned n = 0; n < 6; n++) {
		supervise_ended(&s, false, now);
		now += wait_for_start(&s, now);
	}
	supervise_ended(&s, false, now);
	supervise_retry(&s, now);
	assert_int_equal(wait_for_start(&s, now), 0);
	supervise_ended(&s, false, now);
	assert_int_equal(wait_for_start(&s, now), 1 * MONO_S);
}

static void which_ends_are_for_good(void **state)
{
	static const int good[] = { 2, 64, 70, 78, 255 }, retried[] = { 0, 1, 42, 63, 79, 127, 137 };

	for (unsigned n = 0; n < sizeof(good) / sizeof(*good); n++)
		assert_true(supervise_is_permanent(good[n]));
	for (unsigned n = 0; n < sizeof(retried) / sizeof(*retried); n++)
		assert_false(supervise_is_permanent(retried[n]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_start_is_at_once),
		cmocka_unit_test(what_keeps_crashing_waits_up_to_thirty_seconds),
		cmocka_unit_test(a_minute_in_health_is_a_fresh_start),
		cmocka_unit_test(what_failed_for_good_stays_so_until_told),
		cmocka_unit_test(silence_is_answered_with_abort_then_kill),
		cmocka_unit_test(without_a_watchdog_silence_is_fine),
		cmocka_unit_test(a_start_has_its_limit),
		cmocka_unit_test(stopping_asks_first_and_kills_then),
		cmocka_unit_test(what_has_no_process_is_stopped_at_once),
		cmocka_unit_test(a_device_that_comes_shortens_the_waiting),
		cmocka_unit_test(a_reload_forgets_the_backoff),
		cmocka_unit_test(which_ends_are_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
