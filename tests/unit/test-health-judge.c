// SPDX-License-Identifier: BSD-2-Clause
/* The judge of links, in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "health/judge.h"

#define T0  1764193800 /* a whole number of buckets */
#define DAY 86400

static const struct health_rules rules = {
	.events = {
		[HEALTH_REBOOT] = { 10, 900, false },
		[HEALTH_FLAPPING] = { 5, 30, true },
		[HEALTH_UNRESPONSIVE] = { 5, 7, true },
		[HEALTH_NOISY] = { 60, 90, false },
		[HEALTH_SETERR] = { 5, 7, true },
		[HEALTH_ILLEGAL] = { 1, 600, false },
		[HEALTH_LINK_DOWN] = { 3, 7 * DAY, false },
	},
	.ber_short = 720,
	.ber_long = 7500,
	.ber_least = 3,
	.pdr_exponent = 12,
	.stall_percent = 50,
	.probation = 7560,
};

static struct health_end end(unsigned node, unsigned port)
{
	return (struct health_end){ node, (uint8_t)port };
}

static uint32_t link_of(struct health *h, unsigned n)
{
	return health_link(h, end(1000 + n, 1), end(2000 + n, 2), false);
}

static struct port_counts growth(unsigned seconds)
{
	return (struct port_counts){ .interval_us = seconds * 1000000ull };
}

static void set(struct port_counts *c, enum port_count n, uint64_t value)
{
	c->known |= 1u << n;
	c->grown[n] = value;
}

/* ---- the figure ------------------------------------------------------------------------------ */

/* 4x of every speed, and 1x SDR: bits per second. */
static const uint64_t speeds[] = {
	2000000000,   8000000000,   16000000000,  32000000000,	54560000000,
	100000000000, 200000000000, 400000000000, 800000000000,
};
#define N_SPEEDS (sizeof(speeds) / sizeof(speeds[0]))
#define STEP	 180u

/* The most symbol errors of a window that are in order. */
static unsigned most_errors(uint64_t bps, unsigned window, double ber)
{
	double most = (double)bps * window * ber;

	return most < 2 ? 2 : (unsigned)most;
}

/* In each window of `window` seconds `n` errors, spread. */
static unsigned errors_at(int64_t t, unsigned n, unsigned window)
{
	uint64_t k = (uint64_t)t / STEP;

	return (unsigned)((k + 1) * STEP * n / window - k * STEP * n / window);
}

struct month {
	struct health *h;
	unsigned false_ones, missed;
};

/* Links of a speed: the errors of each are spread over other readings than those of the next. */
#define LINKS 8u

/* Through 30 days: those of even number are just under, the others over. */
static void month_of_speed(struct month *m, unsigned speed)
{
	unsigned n = most_errors(speeds[speed], 720, 1e-14), first = LINKS * speed;
	unsigned most_long = most_errors(speeds[speed], 7500, 1e-15);
	/* what is just under the short window must be under the long one, too */
	unsigned under = most_long;

	for (int64_t t = T0; t < T0 + 30 * DAY; t += STEP) {
		for (unsigned i = 0; i < LINKS; i++) {
			struct port_counts c = growth(STEP);
			uint32_t link = link_of(m->h, first + i);
			int64_t at = t + STEP * i;

			set(&c, PORT_COUNT_SYMBOL_ERRORS,
			    i % 2 ? errors_at(at, n + 1, 720)
				  : errors_at(at, under, 7560)); /* 42 readings */
			health_counts(m->h, link, 1000 + first + i, 1, &c, speeds[speed], t);
			health_judge(m->h, link, t);
			if (i % 2 && t >= T0 + 780 && !health_verdict(m->h, link)->on)
				m->missed++;
			if (i % 2 == 0 && health_verdict(m->h, link)->on)
				m->false_ones++;
		}
	}
}

static void bit_errors_of_a_month_at_every_speed(void **state)
{
	struct month m = { .h = health_new(&rules) };

	for (unsigned s = 0; s < N_SPEEDS; s++)
		month_of_speed(&m, s);
	assert_int_equal(m.false_ones, 0);
	assert_int_equal(m.missed, 0);
	health_free(m.h);
}

/* Of each kind of events two links have one less than the threshold in a window, two have it. */
static void events_of_a_month(void **state)
{
	struct health *h = health_new(&rules);

	for (unsigned cond = 0; cond < HEALTH_EVENTS; cond++) {
		unsigned n = rules.events[cond].n, window = rules.events[cond].window;

		if (rules.events[cond].sweeps)
			continue;
		for (unsigned i = 0; i < 4; i++) {
			uint32_t link = link_of(h, 100 * cond + i);
			/* so far apart that n - 1 fit into any window, or n do */
			int64_t apart = i % 2 ? (window - 1) / n
					      : window / (n > 1 ? n - 1 : 1) + 1;
			bool found = false;

			if (n == 1 && i % 2 == 0)
				continue;
			for (int64_t t = T0; t < T0 + 30 * DAY; t += apart) {
				health_event(h, link, cond, t);
				health_judge(h, link, t);
				found |= health_verdict(h, link)->on != 0;
			}
			assert_int_equal(found, i % 2);
		}
	}
	health_free(h);
}

static void once_a_day_is_found_on_day_three(void **state)
{
	struct health *h = health_new(&rules);
	uint32_t link = link_of(h, 1);

	for (unsigned day = 1; day <= 3; day++) {
		struct port_counts c = growth(STEP);
		int64_t t = T0 + day * DAY;

		set(&c, PORT_COUNT_LINK_DOWNED, 1);
		health_counts(h, link, 1001, 1, &c, speeds[5], t);
		health_counts(h, link, 2001, 2, &c, speeds[5], t + 60);
		health_judge(h, link, t + 60);
		assert_int_equal(health_verdict(h, link)->on,
				 day == 3 ? 1u << HEALTH_LINK_DOWN : 0);
	}
	health_free(h);
}

static void what_one_end_counts_is_no_link_down(void **state)
{
	struct health *h = health_new(&rules);
	uint32_t link = link_of(h, 1);
	struct port_counts c = growth(STEP);

	set(&c, PORT_COUNT_LINK_DOWNED, 5);
	for (unsigned i = 0; i < 20; i++)
		health_counts(h, link, 1001, 1, &c, speeds[5], T0 + i * STEP);
	assert_false(health_judge(h, link, T0 + 20 * STEP));
	health_free(h);
}

static void drops_and_stalls(void **state)
{
	struct health *h = health_new(&rules);

	for (unsigned i = 0; i < 40; i++) {
		uint32_t link = link_of(h, i);

		for (unsigned k = 0; k < 3 * 7500 / STEP; k++) {
			struct port_counts c = growth(STEP);
			/* 5 of 5e12 packets, and 49 % of the time, are in order */
			set(&c, PORT_COUNT_RCV_ERRORS, k % 10 == 0);
			set(&c, PORT_COUNT_RCV_PKTS, i % 2 ? 80000000000 : 130000000000);
			set(&c, PORT_COUNT_XMIT_WAIT,
			    speeds[5] / 32 * STEP / 100 * (i % 2 ? 53 : 49));
			health_counts(h, link, 1000 + i, 1, &c, speeds[5], T0 + k * STEP);
			health_judge(h, link, T0 + k * STEP);
		}
		assert_int_equal(health_verdict(h, link)->on,
				 i % 2 ? 1u << HEALTH_PDR | 1u << HEALTH_STALL : 0);
	}
	health_free(h);
}

/* ---- what a record is ------------------------------------------------------------------------ */

static void both_ends_are_one_link(void **state)
{
	struct health *h = health_new(&rules);
	uint32_t a = health_link(h, end(7, 1), end(3, 9), false);

	assert_int_equal(health_link(h, end(3, 9), end(7, 1), false), a);
	assert_int_equal(health_find(h, 7, 1), a);
	assert_int_equal(health_n_links(h), 1);
	health_event(h, a, HEALTH_ILLEGAL, T0);
	/* another cable at that port: nothing is held against it */
	assert_int_equal(health_link(h, end(7, 1), end(4, 4), false), a);
	assert_false(health_judge(h, a, T0));
	assert_int_equal(health_find(h, 3, 9), UINT32_MAX);
	health_free(h);
}

static void probation_ends_and_begins_anew(void **state)
{
	struct health *h = health_new(&rules);
	uint32_t link = link_of(h, 1);
	char why[HEALTH_WHY_STRLEN];

	health_event(h, link, HEALTH_ILLEGAL, T0);
	assert_true(health_judge(h, link, T0));
	assert_string_equal(health_why(h, link, why), "1 answers that cannot be in 10 min");
	assert_false(health_judge(h, link, T0 + 599));
	assert_false(health_judge(h, link, T0 + 599 + 7559));
	assert_true(health_judge(h, link, T0 + 599 + 7560));
	assert_int_equal(health_verdict(h, link)->on, 0);
	health_free(h);
}

static void sweeps_count_once_each(void **state)
{
	struct health *h = health_new(&rules);
	uint32_t link = link_of(h, 1);

	for (unsigned i = 0; i < 100; i++)
		health_event(h, link, HEALTH_FLAPPING, T0);
	assert_false(health_judge(h, link, T0));
	for (unsigned i = 0; i < 4; i++) {
		health_sweep(h);
		health_event(h, link, HEALTH_FLAPPING, T0);
	}
	assert_true(health_judge(h, link, T0));
	health_free(h);
}

/* ---- state ----------------------------------------------------------------------------------- */

static struct health *restarted(struct health *h)
{
	size_t len, again;
	_cleanup_free_ char *text = health_text(h, &len);
	struct health *ret = health_new(&rules);
	_cleanup_free_ char *copy = NULL;

	assert_int_equal(health_read(ret, text, len), 0);
	copy = health_text(ret, &again);
	assert_string_equal(copy, text);
	health_free(h);
	return ret;
}

/* Restarted after each reading, a link is found as early as without. */
static void windows_survive_a_restart(void **state)
{
	struct health *h = health_new(&rules);

	for (unsigned k = 0; k <= 12; k++) {
		struct port_counts c = growth(60);
		uint32_t link = link_of(h, 1);

		set(&c, PORT_COUNT_SYMBOL_ERRORS, k % 4 == 0);
		health_counts(h, link, 1001, 1, &c, speeds[7], T0 + 60 * k);
		health_judge(h, link, T0 + 60 * k);
		assert_int_equal(health_verdict(h, link)->on != 0, k >= 8);
		h = restarted(h);
	}
	for (unsigned day = 0; day < 3; day++) {
		health_event(h, link_of(h, 2), HEALTH_LINK_DOWN, T0 + day * DAY);
		h = restarted(h);
	}
	assert_true(health_judge(h, link_of(h, 2), T0 + 2 * DAY));
	health_free(h);
}

static unsigned links_in_text(struct health *h)
{
	size_t len;
	_cleanup_free_ char *text = health_text(h, &len);
	unsigned n = 0;

	for (const char *at = text; (at = strstr(at, "\nlink ")); at++)
		n++;
	return n;
}

/* Only links that something was held against are looked at: none is missed that comes again. */
static void the_text_has_what_is_held_against_links_now(void **state)
{
	struct health *h = health_new(&rules);

	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(link_of(h, i), i);
	assert_true(health_is_clean(h));
	health_event(h, 70, HEALTH_REBOOT, 1000000);
	health_event(h, 7, HEALTH_REBOOT, 1000000);
	assert_false(health_is_clean(h));
	assert_int_equal(links_in_text(h), 2);
	health_clear(h, 7);
	assert_false(health_is_clean(h));
	assert_int_equal(links_in_text(h), 1);
	health_clear(h, 70);
	assert_true(health_is_clean(h));
	assert_int_equal(links_in_text(h), 0);
	health_event(h, 7, HEALTH_REBOOT, 1000000);
	assert_false(health_is_clean(h));
	assert_int_equal(links_in_text(h), 1);
	health_free(h);
}

static void damaged_state_is_refused_whole(void **state)
{
	struct health *h = health_new(&rules), *other = health_new(&rules);
	char *text;
	size_t len;

	health_event(h, link_of(h, 1), HEALTH_REBOOT, T0);
	text = health_text(h, &len);
	for (size_t i = 0; i < len; i++) {
		text[i] ^= 1;
		assert_true(health_read(other, text, len) < 0);
		assert_int_equal(health_n_links(other), 0);
		text[i] ^= 1;
		assert_true(health_read(other, text, i) < 0);
	}
	free(text);
	health_free(other);
	health_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bit_errors_of_a_month_at_every_speed),
		cmocka_unit_test(events_of_a_month),
		cmocka_unit_test(once_a_day_is_found_on_day_three),
		cmocka_unit_test(what_one_end_counts_is_no_link_down),
		cmocka_unit_test(drops_and_stalls),
		cmocka_unit_test(both_ends_are_one_link),
		cmocka_unit_test(probation_ends_and_begins_anew),
		cmocka_unit_test(sweeps_count_once_each),
		cmocka_unit_test(windows_survive_a_restart),
		cmocka_unit_test(the_text_has_what_is_held_against_links_now),
		cmocka_unit_test(damaged_state_is_refused_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
