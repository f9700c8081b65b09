// SPDX-License-Identifier: BSD-2-Clause
/*
 * log_flood.c: repetitions are counted, no sender fills the log, errors find room, and nothing is
 * lost without being counted. Time is virtual; the last test goes through the log itself.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "util/log.h"
#include "util/log_flood.h"
#include "util/mem.h"

struct desk {
	struct log_flood *f;
	mono_t now;
	uint64_t written, counts, counted; /* records, lines of counts, and what these stand for */
	struct log_count last;
};

static int start(void **state)
{
	struct desk *d = xcalloc(1, sizeof(*d));

	d->f = log_flood_new();
	d->now = 1000 * MONO_S;
	*state = d;
	return 0;
}

static int end(void **state)
{
	struct desk *d = *state;

	log_flood_free(d->f);
	free(d);
	return 0;
}

static void tick(struct desk *d)
{
	while (log_flood_next(d->f, d->now, &d->last)) {
		d->counts++;
		d->counted += d->last.n;
	}
}

static bool say(struct desk *d, struct log_case c)
{
	bool pass;

	c.text = c.text ? c.text : "text";
	tick(d);
	pass = log_flood_pass(d->f, &c, d->now);
	d->written += pass;
	return pass;
}

static void repetitions_are_counted_and_told(void **state)
{
	struct desk *d = *state;

	for (unsigned i = 0; i < 42; i++) {
		assert_int_equal(say(d, (struct log_case){ .what = 7, .often = 1 }), i == 0);
		d->now += MONO_S;
	}
	assert_int_equal(d->counts, 0);
	d->now = 1060 * MONO_S;
	tick(d);
	assert_int_equal(d->counts, 1);
	assert_int_equal(d->last.kind, LOG_COUNT_ALIKE);
	assert_int_equal(d->last.n, 41);
	assert_int_equal(d->last.seconds, 60);
	assert_string_equal(d->last.text, "text");
}

static void what_goes_on_is_told_less_and_less_often(void **state)
{
	struct desk *d = *state;

	for (unsigned i = 0; i < 24 * 3600; i++, d->now += MONO_S)
		say(d, (struct log_case){ .what = 7, .often = 1, .source = 3, .important = true });
	assert_int_equal(d->written, 1);
	/* 1, 4 and 16 minutes, then every hour. */
	assert_in_range(d->counts, 24, 27);
	assert_int_equal(d->last.seconds, 3600);
}

static void what_is_our_own_is_told_every_minute(void **state)
{
	struct desk *d = *state;

	for (unsigned i = 0; i < 3600; i++, d->now += MONO_S)
		say(d, (struct log_case){ .what = 7, .often = 10 });
	assert_in_range(d->written, 590, 610);
	assert_in_range(d->counts, 58, 60);
}

static void what_ended_is_news_again(void **state)
{
	struct desk *d = *state;

	assert_true(say(d, (struct log_case){ .what = 7, .often = 1 }));
	d->now += 61 * MONO_S;
	assert_true(say(d, (struct log_case){ .what = 7, .often = 1 }));
	assert_int_equal(d->counts, 0);
}

static void other_things_are_not_repetitions(void **state)
{
	struct desk *d = *state;

	for (unsigned i = 1; i <= 100; i++)
		assert_true(say(d, (struct log_case){ .what = i, .often = 1 }));
}

static void milestones_are_never_counted_away(void **state)
{
	struct desk *d = *state;

	for (unsigned i = 0; i < 100; i++)
		assert_true(say(d, (struct log_case){ .what = 7 }));
}

static void one_node_gets_120_lines_an_hour(void **state)
{
	struct desk *d = *state;

	/* A day of records that all say something new. */
	for (unsigned i = 0; i < 24 * 36000; i++, d->now += 100 * MONO_MS)
		say(d,
		    (struct log_case){ .what = i | 1, .often = 1, .source = 3, .important = true });
	assert_in_range(d->written + d->counts, 2000, 24 * (120 + 6) + 60);
}

/* What a host has had written about it hides no alarm. */
static void alarms_of_a_node_find_room_of_their_own(void **state)
{
	struct desk *d = *state;
	unsigned n = 0;

	for (unsigned i = 1; i <= 1000; i++)
		say(d, (struct log_case){ .what = i, .often = 1, .source = 3, .important = true });
	assert_int_equal(d->written, 60);
	for (unsigned i = 1001; i <= 1100; i++)
		n += say(d, (struct log_case){ .what = i, .often = 1, .source = 3,
					       .important = true, .alarm = true });
	assert_int_equal(n, 16);
	for (unsigned i = 1101; i <= 4700; i++, d->now += MONO_S)
		n += say(d, (struct log_case){ .what = i, .often = 1, .source = 3,
					       .important = true, .alarm = true });
	assert_in_range(n, 16 + 16 + 110, 16 + 16 + 130); /* and what the others leave */
}

static void many_nodes_get_3600_lines_an_hour(void **state)
{
	struct desk *d = *state;

	for (unsigned i = 0; i < 6 * 360000; i++, d->now += 10 * MONO_MS)
		say(d, (struct log_case){ .what = i | 1, .often = 1, .source = 1 + i % 5000,
					  .important = true });
	assert_in_range(d->written + d->counts, 3600 * 6, 3600 * 6 + 1000 + 6 * 60 + 1);
}

static void nobody_writes_100_lines_a_second_for_long(void **state)
{
	struct desk *d = *state;

	for (unsigned i = 0; i < 600 * 10000; i++, d->now += 100 * MONO_US)
		say(d, (struct log_case){ .what = i | 1, .often = 1, .important = true });
	assert_in_range(d->written + d->counts, 50000, 600 * 100 + 2000 + 11);
}

static void errors_find_room_when_talk_does_not(void **state)
{
	struct desk *d = *state;

	for (unsigned i = 1; i < 1000; i++)
		say(d, (struct log_case){ .what = i, .often = 1, .source = 3 });
	assert_int_equal(d->written, 45);
	assert_true(say(
		d, (struct log_case){ .what = 5000, .often = 1, .source = 3, .important = true }));
}

static void states_find_room_when_nobody_else_does(void **state)
{
	struct desk *d = *state;

	for (unsigned i = 1; i < 5000; i++)
		say(d, (struct log_case){ .what = i, .often = 1, .important = true });
	assert_int_equal(d->written, 2000);
	assert_true(say(d, (struct log_case){ .what = 9000, .state = true }));
}

static void nothing_is_lost_uncounted(void **state)
{
	struct desk *d = *state;
	uint64_t said = 0, x = 88172645463325252ull;

	for (unsigned i = 0; i < 200000; i++, said++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		say(d, (struct log_case){ .what = (x % 3000) | 1, .often = x % 3, .source = x >> 60,
					  .important = x & 64 });
		d->now += x % (50 * MONO_MS);
	}
	while (log_flood_last(d->f, d->now, &d->last))
		d->counted += d->last.n;
	assert_int_equal(d->written + d->counted, said);
}

static void a_clock_that_goes_back_is_another(void **state)
{
	struct desk *d = *state;

	assert_true(say(d, (struct log_case){ .what = 7, .often = 1 }));
	assert_false(say(d, (struct log_case){ .what = 7, .often = 1 }));
	d->now = MONO_S;
	assert_true(say(d, (struct log_case){ .what = 7, .often = 1 }));
}

/* ---- through the log ------------------------------------------------------------------------ */

struct heard {
	unsigned lines;
	char last[200];
};

static void on_line(void *arg, unsigned bits, const char *text)
{
	struct heard *h = arg;

	h->lines++;
	snprintf(h->last, sizeof(h->last), "%s", text);
}

static void the_log_counts(void **state)
{
	struct heard h = { 0 };

	log_set_sink(on_line, &h);
	log_set_now(5 * MONO_S);
	for (unsigned i = 0; i < 10; i++)
		log_on(ABOUT(.node_guid = 0x22, .often = 1), LOGB_ERROR,
		       "'h3': refused, for the %uth time", i);
	assert_int_equal(h.lines, 1);
	log_on(ABOUT(.node_guid = 0x23, .often = 1), LOGB_ERROR, "'h4': refused");
	assert_int_equal(h.lines, 2);
	log_set_now(65 * MONO_S);
	log_tick();
	assert_int_equal(h.lines, 3);
	assert_string_equal(h.last,
			    "'h3': refused, for the 9th time (repeated 9 times in the last 60 s)");
	for (unsigned i = 0; i < 30; i++)
		log_write(LOGB_INFO, NULL, "SUBNET UP");
	assert_int_equal(h.lines, 33);
	log_set_sink(NULL, NULL);
	log_close();
}

#define AT_DESK(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		AT_DESK(repetitions_are_counted_and_told),
		AT_DESK(what_goes_on_is_told_less_and_less_often),
		AT_DESK(what_is_our_own_is_told_every_minute),
		AT_DESK(what_ended_is_news_again),
		AT_DESK(other_things_are_not_repetitions),
		AT_DESK(milestones_are_never_counted_away),
		AT_DESK(one_node_gets_120_lines_an_hour),
		AT_DESK(alarms_of_a_node_find_room_of_their_own),
		AT_DESK(many_nodes_get_3600_lines_an_hour),
		AT_DESK(nobody_writes_100_lines_a_second_for_long),
		AT_DESK(errors_find_room_when_talk_does_not),
		AT_DESK(states_find_room_when_nobody_else_does),
		AT_DESK(nothing_is_lost_uncounted),
		AT_DESK(a_clock_that_goes_back_is_another),
		cmocka_unit_test(the_log_counts),
	};

	return cmocka_run_group_tests_name("log-flood", tests, NULL, NULL);
}
