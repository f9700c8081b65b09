// SPDX-License-Identifier: BSD-2-Clause
/* Pauses between tries of opening a port that is gone again at once; timers of the event loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/timer.h"

static void pauses_grow_while_it_fails_at_once(void **state)
{
	static const mono_t want[] = { 0, 1, 2, 4, 8, 16, 32, 64, 64, 64 };
	struct retry r = { 0 };
	mono_t now = 1000 * MONO_S;

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		retry_began(&r, now, MONO_S);
		retry_failed(&r, now + MONO_MS);
		assert_int_equal(r.at - now - MONO_MS, want[i] * MONO_S);
		now = r.at;
	}
}

static void one_that_lasted_is_no_failure(void **state)
{
	struct retry r = { 0 };
	mono_t now = 1000 * MONO_S;

	for (unsigned i = 0; i < 5; i++) {
		retry_began(&r, now, MONO_S);
		retry_failed(&r, now);
		now = r.at;
	}
	retry_began(&r, now, MONO_S);
	now += RETRY_LASTED;
	retry_failed(&r, now);
	assert_int_equal(r.at, now);
	retry_began(&r, now, MONO_S);
	retry_failed(&r, now);
	assert_int_equal(r.at, now + MONO_S);
}

static int on_fired(sd_event_source *s, uint64_t usec, void *arg)
{
	lazy_timer_fired(arg);
	return 0;
}

/* What the event loop was told; MONO_NEVER: nothing, the timer is off. */
static mono_t set_for(const struct lazy_timer *t)
{
	uint64_t usec = 0;
	int on = SD_EVENT_OFF;

	assert_true(sd_event_source_get_enabled(t->source, &on) >= 0);
	assert_true(sd_event_source_get_time(t->source, &usec) >= 0);
	return on == SD_EVENT_OFF ? MONO_NEVER : (mono_t)usec;
}

static void lazy_timer_is_set_to_be_earlier_alone(void **state)
{
	const mono_t now = 1000 * MONO_S;
	struct lazy_timer t;
	sd_event *event = NULL;

	assert_true(sd_event_new(&event) >= 0);
	assert_true(lazy_timer_new(event, &t, on_fired, &t) >= 0);
	lazy_timer_by(&t, now, now + MONO_S);
	assert_int_equal(set_for(&t), 0); /* as it was made: at once */
	assert_true(sd_event_run(event, 0) > 0);
	assert_int_equal(set_for(&t), MONO_NEVER);
	lazy_timer_by(&t, now, now + 5 * MONO_S);
	assert_int_equal(set_for(&t), now + 5 * MONO_S);
	lazy_timer_by(&t, now, now + 6 * MONO_S);
	assert_int_equal(set_for(&t), now + 5 * MONO_S);
	lazy_timer_by(&t, now, MONO_NEVER);
	assert_int_equal(set_for(&t), now + 5 * MONO_S);
	lazy_timer_by(&t, now, now + 2);
	assert_int_equal(set_for(&t), now + LAZY_TIMER_SLACK);
	lazy_timer_by(&t, now, now);
	assert_int_equal(set_for(&t), now);
	sd_event_source_unref(t.source);
	sd_event_unref(event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses_grow_while_it_fails_at_once),
		cmocka_unit_test(one_that_lasted_is_no_failure),
		cmocka_unit_test(lazy_timer_is_set_to_be_earlier_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
