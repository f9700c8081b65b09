// SPDX-License-Identifier: BSD-2-Clause
/* The judge of links, in virtual time. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "health/judge.h"
#include "util/hash.h"

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

/* Another judge that has taken in all rows of `h`. */
static struct health *copy_of(struct health *h)
{
	struct health *copy = health_new(&rules);
	uint8_t bytes[HEALTH_ROW_MAX], again[HEALTH_ROW_MAX];
	struct health_end at;
	uint32_t pos = 0;

	while (health_next_row(h, &pos, &at)) {
		size_t len = health_pack(h, at, bytes);

		assert_true(health_row_is_ours(bytes, len));
		assert_true(health_take(copy, at, bytes, len));
		assert_int_equal(health_pack(copy, at, again), len);
		assert_memory_equal(bytes, again, len);
	}
	return copy;
}

static struct health *restarted(struct health *h)
{
	struct health *copy = copy_of(h);

	health_free(h);
	return copy;
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

static unsigned n_rows(struct health *h)
{
	struct health_end at;
	uint32_t pos = 0;
	unsigned n = 0;

	while (health_next_row(h, &pos, &at))
		n++;
	return n;
}

/* Only links that something was held against are looked at: none is missed that comes again. */
static void rows_are_of_links_with_anything_against_them_now(void **state)
{
	struct health *h = health_new(&rules);

	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(link_of(h, i), i);
	assert_int_equal(n_rows(h), 0);
	health_event(h, 70, HEALTH_REBOOT, 1000000);
	health_event(h, 7, HEALTH_REBOOT, 1000000);
	assert_int_equal(n_rows(h), 2);
	health_clear(h, 7);
	assert_int_equal(n_rows(h), 1);
	health_clear(h, 70);
	assert_int_equal(n_rows(h), 0);
	health_event(h, 7, HEALTH_REBOOT, 1000000);
	assert_int_equal(n_rows(h), 1);
	health_free(h);
}

static const struct health_end lesser = { 1001, 1 }, greater = { 2001, 2 };

static size_t pack_link(struct health *h, uint8_t bytes[HEALTH_ROW_MAX])
{
	struct health_end at = health_verdict(h, link_of(h, 1))->end[0];

	return health_pack(h, at, bytes);
}

/* Each window full, each event as often as is kept. */
static struct health *full_judge(const struct health_rules *most)
{
	struct health *h = health_new(most);
	uint32_t link = link_of(h, 1);

	for (unsigned i = 0; i < HEALTH_EVENTS; i++) {
		for (unsigned k = 0; k < HEALTH_MOST_EVENTS; k++) {
			health_sweep(h);
			health_event(h, link, i, T0 + k);
		}
	}
	for (unsigned k = 0; k < 2 * 125; k++) {
		struct port_counts c = growth(60);
		const struct health_end *end = health_verdict(h, link)->end;

		set(&c, PORT_COUNT_SYMBOL_ERRORS, UINT32_MAX);
		set(&c, PORT_COUNT_RCV_PKTS, UINT64_MAX);
		health_counts(h, link, end[k % 2].node, end[k % 2].port, &c, UINT64_MAX,
			      T0 + 30 * k);
	}
	health_set_manual(h, link, true);
	health_judge(h, link, T0 + 7500);
	health_off_add(h, health_verdict(h, link)->end[0], health_verdict(h, link)->end[1]);
	return h;
}

static void the_greatest_row_has_room(void **state)
{
	struct health_rules most = rules;
	uint8_t bytes[HEALTH_ROW_MAX], again[HEALTH_ROW_MAX];
	struct health *h, *copy;
	size_t len;

	for (unsigned i = 0; i < HEALTH_EVENTS; i++)
		most.events[i].n = HEALTH_MOST_EVENTS;
	h = full_judge(&most);
	len = pack_link(h, bytes);
	assert_in_range(len, 8300, HEALTH_ROW_MAX);
	copy = health_new(&most);
	assert_true(health_take(copy, health_verdict(h, link_of(h, 1))->end[0], bytes, len));
	assert_int_equal(pack_link(copy, again), len);
	assert_memory_equal(bytes, again, len);
	assert_true(health_is_manual(copy, link_of(copy, 1)));
	health_free(copy);
	health_free(h);
}

static void a_damaged_row_changes_nothing(void **state)
{
	struct health *h = full_judge(&rules), *other = health_new(&rules);
	uint8_t bytes[HEALTH_ROW_MAX + 1], before[HEALTH_ROW_MAX], after[HEALTH_ROW_MAX];
	size_t len = pack_link(h, bytes), n;

	health_event(other, link_of(other, 1), HEALTH_REBOOT, T0);
	n = pack_link(other, before);
	for (size_t cut = 1; cut < len; cut++)
		assert_false(health_take(other, lesser, bytes, cut));
	bytes[len] = 0;
	assert_false(health_take(other, lesser, bytes, len + 1));
	bytes[8]++; /* of another form */
	assert_false(health_row_is_ours(bytes, len));
	assert_false(health_take(other, lesser, bytes, len));
	bytes[8]--;
	assert_false(health_take(other, (struct health_end){ 3001, 1 }, bytes, len)); /* greater */
	assert_int_equal(pack_link(other, after), n);
	assert_memory_equal(before, after, n);
	assert_true(health_take(other, lesser, bytes, len));
	health_free(other);
	health_free(h);
}

/* What counts in the ledger: of two states the one in which more was counted. */
static void what_was_counted_grows(void **state)
{
	struct health *h = health_new(&rules);
	uint8_t bytes[HEALTH_ROW_MAX];
	uint64_t before = 0;

	for (unsigned i = 0; i < 300; i++) {
		uint64_t counted = 0;

		health_event(h, link_of(h, 1), HEALTH_REBOOT, T0 + i);
		assert_true(pack_link(h, bytes) > 8);
		for (unsigned k = 0; k < 8; k++)
			counted = counted << 8 | bytes[k];
		assert_int_equal(counted, before + 1);
		before = counted;
	}
	health_free(h);
}

static void what_is_removed_is_forgotten(void **state)
{
	struct health *h = health_new(&rules);
	uint8_t bytes[HEALTH_ROW_MAX];

	health_event(h, link_of(h, 1), HEALTH_ILLEGAL, T0);
	health_judge(h, link_of(h, 1), T0);
	health_off_add(h, lesser, greater);
	assert_true(health_take(h, greater, NULL, 0)); /* its row is not there */
	assert_true(health_verdict(h, link_of(h, 1))->on);
	assert_true(health_take(h, lesser, NULL, 0));
	assert_int_equal(health_verdict(h, link_of(h, 1))->on, 0);
	assert_null(health_off_at(h, 0));
	assert_int_equal(pack_link(h, bytes), 0);
	health_free(h);
}

/* The cable is another one by now: the port that is disabled has its own row. */
static void a_disabled_port_is_known_apart_from_its_link(void **state)
{
	struct health *h = health_new(&rules);
	struct health_off *o;

	health_event(h, link_of(h, 1), HEALTH_REBOOT, T0);
	health_off_add(h, greater, lesser)->seen = true;
	health_off_add(h, (struct health_end){ 5, 9 }, (struct health_end){ 6, 9 });
	health_off_add(h, (struct health_end){ 5, 9 }, (struct health_end){ 7, 9 });
	assert_int_equal(n_rows(h), 3);
	h = restarted(h);
	o = health_off_at(h, 0);
	assert_true(o && o->at.node == greater.node && o->far.node == lesser.node && o->seen);
	o = health_off_at(h, 1);
	assert_true(o && o->at.node == 5 && o->far.node == 7 && !o->seen);
	assert_null(health_off_at(h, 2));
	health_free(h);
}

/* Two managers each know of one event. */
static void rows_agree_whatever_was_counted_elsewhere(void **state)
{
	struct health *h = health_new(&rules);
	uint8_t before[HEALTH_ROW_MAX], after[HEALTH_ROW_MAX];
	size_t n, m;

	health_event(h, link_of(h, 1), HEALTH_REBOOT, T0);
	n = pack_link(h, before);
	health_sweep(h);
	health_event(h, link_of(h, 2), HEALTH_REBOOT, T0);
	m = pack_link(h, after);
	assert_true(health_rows_agree(before, n, after, m));
	health_event(h, link_of(h, 1), HEALTH_REBOOT, T0 + 1);
	m = pack_link(h, after);
	assert_false(health_rows_agree(before, n, after, m));
	health_free(h);
}

/* ---- the file of former builds --------------------------------------------------------------- */

static char *former_text(size_t *ret_len)
{
	static const char lines[] =
		"opensm link health 1\nsweep 812\n"
		"off 0x3e9 1 0x7d1 2 1\n"
		"link 0x3e9 1 0x7d1 2 0 64 1764193800 1764193900\n"
		"events 6 1764020000 1764106400 1764193800\n"
		"counts 0 0 29403230 1 0 60 1000 0 400000000000\n"
		"counts 0 1 3528387 1 0 60 1000 0 400000000000\n";

	*ret_len = sizeof(lines) - 1 + 23;
	return xasprintf("%send 0x%016" PRIx64 "\n", lines,
			 hash_bytes(HASH_START, lines, sizeof(lines) - 1));
}

static void what_former_builds_wrote_is_known(void **state)
{
	struct health *h = health_new(&rules);
	_cleanup_free_ char *text = NULL;
	uint32_t link;
	size_t len;

	text = former_text(&len);
	assert_int_equal(strlen(text), len);
	assert_int_equal(health_read(h, text, len), 0);
	h = restarted(h);
	link = health_find(h, 1001, 1);
	assert_int_not_equal(link, UINT32_MAX);
	assert_int_equal(health_verdict(h, link)->on, 1u << HEALTH_LINK_DOWN);
	assert_int_equal(health_verdict(h, link)->since, 1764193800);
	assert_true(health_off_at(h, 0)->seen);
	assert_int_equal(n_rows(h), 1); /* the port is the end at which the link has its row */
	health_free(h);
}

static void a_damaged_file_is_refused_whole(void **state)
{
	struct health *h = health_new(&rules);
	_cleanup_free_ char *text = NULL;
	size_t len;

	text = former_text(&len);
	for (size_t i = 0; i < len; i++) {
		text[i] ^= 1;
		assert_true(health_read(h, text, len) < 0);
		assert_int_equal(health_n_links(h), 0);
		text[i] ^= 1;
		assert_true(health_read(h, text, i) < 0);
	}
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
		cmocka_unit_test(rows_are_of_links_with_anything_against_them_now),
		cmocka_unit_test(the_greatest_row_has_room),
		cmocka_unit_test(a_damaged_row_changes_nothing),
		cmocka_unit_test(what_was_counted_grows),
		cmocka_unit_test(what_is_removed_is_forgotten),
		cmocka_unit_test(a_disabled_port_is_known_apart_from_its_link),
		cmocka_unit_test(rows_agree_whatever_was_counted_elsewhere),
		cmocka_unit_test(what_former_builds_wrote_is_known),
		cmocka_unit_test(a_damaged_file_is_refused_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
