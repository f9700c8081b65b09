// SPDX-License-Identifier: BSD-2-Clause
/* Rate codes, selectors and the prefix routes file. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "conf/lists/prefixes.h"
#include "ib/codes.h"
#include "sa/path/path.h"
#include "util/mem.h"

/* ---- rates ---------------------------------------------------------------------------------- */

/* sa.md 4.3, as listed. */
static const struct {
	uint8_t code;
	unsigned tenths;
} order[] = {
	{ 2, 25 },    { 5, 50 },    { 3, 100 },	   { 11, 140 },	  { 6, 200 },
	{ 15, 250 },  { 19, 280 },  { 4, 300 },	   { 7, 400 },	  { 20, 500 },
	{ 12, 560 },  { 8, 600 },   { 9, 800 },	   { 16, 1000 },  { 13, 1120 },
	{ 10, 1200 }, { 14, 1680 }, { 17, 2000 },  { 18, 3000 },  { 21, 4000 },
	{ 22, 6000 }, { 23, 8000 }, { 24, 12000 }, { 25, 16000 }, { 26, 24000 },
};

static void rates_compare_by_bandwidth(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		for (size_t k = 0; k < ARRAY_SIZE(order); k++) {
			int sign = sa_rate_compare(order[i].code, order[k].code);

			assert_int_equal((sign > 0) - (sign < 0), (i > k) - (i < k));
		}
}

static void every_code_has_its_bandwidth(void **state)
{
	unsigned valid = 0;

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		assert_int_equal(ib_rate_bandwidth(order[i].code), order[i].tenths);
	for (unsigned code = 0; code < 64; code++) {
		valid += ib_rate_valid(code);
		assert_int_equal(ib_rate_valid(code), ib_rate_bandwidth(code) != 0);
	}
	assert_int_equal(valid, ARRAY_SIZE(order));
}

static void below_is_the_next_lower_bandwidth(void **state)
{
	assert_int_equal(sa_rate_below(order[0].code), 0);
	for (size_t i = 1; i < ARRAY_SIZE(order); i++)
		assert_int_equal(sa_rate_below(order[i].code), order[i - 1].code);
	assert_int_equal(sa_rate_below(0), 0);
	assert_int_equal(sa_rate_below(63), 0);
}

/* PortInfo of a link. */
static unsigned rate_of(unsigned width, unsigned speed, unsigned ext, bool node_has_ext, bool fdr10)
{
	uint8_t pi[PI_BYTES] = { 0 };

	ib_put(pi, PI_WIDTH_ACTIVE, width);
	ib_put(pi, PI_SPEED_ACTIVE, speed);
	ib_put(pi, PI_SPEED_EXT_ACTIVE, ext);
	return view_rate_of(pi, node_has_ext ? IB_SPEED_EXTENDED : IB_SPEED_PLAIN, fdr10);
}

static void width_times_speed_is_a_rate(void **state)
{
	static const unsigned widths[5] = { 1, 16, 2, 4, 8 }; /* 1x 2x 4x 8x 12x */
	static const struct {
		unsigned speed, ext;
		unsigned rates[5];
	} rows[] = {
		{ 1, 0, { 2, 5, 3, 6, 4 } },	  { 2, 0, { 5, 3, 6, 7, 8 } },
		{ 4, 0, { 3, 6, 7, 9, 10 } },	  { 4, 1, { 11, 19, 12, 13, 14 } },
		{ 4, 2, { 15, 20, 16, 17, 18 } }, { 4, 4, { 20, 16, 17, 21, 22 } },
		{ 4, 8, { 16, 17, 21, 23, 24 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned w = 0; w < 5; w++)
			assert_int_equal(
				rate_of(widths[w], rows[i].speed, rows[i].ext, true, false),
				rows[i].rates[w]);
}

static void extended_speeds_need_a_node_that_has_them(void **state)
{
	assert_int_equal(rate_of(2, 4, 8, false, false), 7);
}

static void fdr10_counts_as_qdr(void **state)
{
	assert_int_equal(rate_of(2, 4, 0, true, true), 7);
	assert_int_equal(rate_of(8, 4, 0, false, true), 10);
}

static void an_unknown_link_has_no_rate(void **state)
{
	assert_int_equal(rate_of(0, 1, 0, true, false), 0);
	assert_int_equal(rate_of(2, 0, 0, true, false), 0);
	assert_int_equal(rate_of(3, 1, 0, true, false), 0);
}

static void a_rate_has_the_bandwidth_of_its_link(void **state)
{
	static const unsigned speeds[] = { 25, 50, 100, 140, 250, 500, 1000, 2000 };
	static const unsigned lanes[] = { 1, 2, 4, 8, 12 };

	for (size_t s = 0; s < ARRAY_SIZE(speeds); s++)
		for (size_t l = 0; l < ARRAY_SIZE(lanes); l++) {
			unsigned rate = ib_rate_of_link(lanes[l], speeds[s]);

			if (rate)
				assert_int_equal(ib_rate_bandwidth(rate), lanes[l] * speeds[s]);
		}
	assert_int_equal(ib_rate_of_link(3, 25), 0);
	assert_int_equal(ib_rate_of_link(4, 26), 0);
	assert_int_equal(ib_rate_of_link(8, 2000), 25);
	assert_int_equal(ib_rate_of_link(12, 2000), 26);
}

static unsigned clamped(uint8_t max, bool original, unsigned rate)
{
	struct conf *c = conf_new();
	unsigned r;

	c->max_rate_enum = max;
	c->use_original_extended_sa_rates_only = original;
	r = sa_rate_for_clients(c, rate);
	conf_unref(c);
	return r;
}

static void newer_codes_are_lowered_for_older_clients(void **state)
{
	assert_int_equal(clamped(63, false, 24), 24);
	assert_int_equal(clamped(24, false, 24), 24);
	assert_int_equal(clamped(18, false, 24), 18); /* 1200 -> 300 */
	assert_int_equal(clamped(18, false, 20), 7);  /* 50 -> 40 */
	assert_int_equal(clamped(18, false, 19), 15); /* 28 -> 25 */
	assert_int_equal(clamped(10, false, 16), 9);  /* 100 -> 80 */
	assert_int_equal(clamped(2, false, 24), 2);
	/* XDR: 1600 and 2400 Gb/s; no lower code is faster than 1200. */
	assert_int_equal(clamped(63, false, 26), 26);
	assert_int_equal(clamped(25, false, 26), 25);
	assert_int_equal(clamped(24, false, 25), 24);
	assert_int_equal(clamped(24, false, 26), 24);
	assert_int_equal(clamped(22, false, 25), 22); /* 1600 -> 600 */
	assert_int_equal(clamped(18, false, 26), 18);
	assert_int_equal(clamped(63, true, 25), 18);
	assert_int_equal(clamped(63, true, 21), 18);
	assert_int_equal(clamped(10, true, 14), 10); /* 168 -> 120 */
	assert_int_equal(clamped(18, false, 0), 0);
}

/* ---- selectors ------------------------------------------------------------------------------ */

struct choice {
	uint8_t asked; /* selector and value, as saquery takes them */
	uint8_t path;
	uint8_t answer; /* 0: none */
};

static struct path_select select_of(uint8_t asked)
{
	return (struct path_select){ .given = true, .selector = asked >> 6, .value = asked & 63 };
}

static void mtus_are_selected_as_the_peer_does(void **state)
{
	static const struct choice rows[] = {
		{ 0x84, 4, 4 }, { 0x83, 4, 3 }, { 0x85, 4, 0 }, { 0x44, 4, 3 }, { 0x04, 4, 0 },
		{ 0x03, 4, 4 }, { 0xC4, 4, 4 }, { 0x45, 4, 4 }, { 0x45, 3, 3 }, { 0x41, 1, 0 },
		{ 0x41, 4, 0 }, { 0x42, 4, 1 }, { 0x84, 5, 4 }, { 0x05, 5, 0 }, { 0x81, 1, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct path_select s = select_of(rows[i].asked);
		uint8_t mtu = rows[i].path;
		bool fits = path_select_mtu(&s, &mtu);

		assert_int_equal(fits ? mtu : 0, rows[i].answer);
	}
}

static void rates_are_selected_as_the_peer_does(void **state)
{
	static const struct choice rows[] = {
		{ 0x83, 3, 3 },	  { 0x82, 3, 0 },  { 0x86, 3, 0 },  { 0x03, 3, 0 },
		{ 0x02, 3, 3 },	  { 0x43, 3, 5 },  { 0x47, 3, 3 },  { 0xC2, 3, 3 },
		{ 0x42, 2, 0 },	  { 0x42, 3, 0 },  { 0x4B, 11, 3 }, /* less than 14: 10 */
		{ 0x0A, 14, 14 }, { 0x0A, 13, 0 }, /* greater than 120: 168 yes, 112 no */
		{ 0x48, 20, 20 }, { 0x4C, 8, 20 }, /* less than 60: 50 stays; than 56: 50 */
		/* 1600 (25) and 2400 (26) Gb/s: more than any code before them */
		{ 0x99, 25, 25 }, { 0x99, 26, 0 }, { 0x99, 24, 0 }, { 0x59, 25, 24 },
		{ 0x5A, 26, 25 }, { 0x19, 26, 26 }, { 0x18, 25, 25 }, { 0x19, 25, 0 },
		{ 0x0F, 25, 25 }, /* more than 25 Gb/s */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct path_select s = select_of(rows[i].asked);
		uint8_t rate = rows[i].path;
		bool fits = path_select_rate(&s, &rate);

		assert_int_equal(fits ? rate : 0, rows[i].answer);
	}
}

static void life_times_are_selected_as_the_peer_does(void **state)
{
	static const struct choice rows[] = {
		{ 0x92, 18, 18 }, { 0x12, 18, 0 },  { 0x52, 18, 17 }, { 0x90, 18, 16 },
		{ 0x93, 18, 0 },  { 0xC0, 18, 18 }, { 0x11, 18, 18 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct path_select s = select_of(rows[i].asked);
		uint8_t life = rows[i].path;
		bool fits = path_select_life(&s, &life);

		assert_int_equal(fits ? life : 0, rows[i].answer);
	}
}

static void nothing_is_below_life_time_zero(void **state)
{
	struct path_select s = select_of(0x40);
	uint8_t life = 0;

	assert_false(path_select_life(&s, &life));
}

static void what_is_not_asked_for_stays(void **state)
{
	struct path_select s = { .selector = SA_EXACT, .value = 1 };
	uint8_t mtu = 4, rate = 16, life = 18;

	assert_true(path_select_mtu(&s, &mtu) && path_select_rate(&s, &rate) &&
		    path_select_life(&s, &life));
	assert_int_equal(mtu, 4);
	assert_int_equal(rate, 16);
	assert_int_equal(life, 18);
}

static void groups_are_taken_as_they_are(void **state)
{
	struct path_select s = select_of(0x83);

	assert_true(path_select_fixed(&s, 3));
	assert_false(path_select_fixed(&s, 4));
	s = select_of(0x43);
	assert_true(path_select_fixed(&s, 2));
	assert_false(path_select_fixed(&s, 3));
	s = select_of(0x0B); /* greater than 14 Gb/s */
	assert_true(path_select_fixed_rate(&s, 6));
	assert_false(path_select_fixed_rate(&s, 3));
	s = select_of(0xC0);
	assert_true(path_select_fixed(&s, 1) && path_select_fixed_rate(&s, 2));
}

/* ---- prefix routes -------------------------------------------------------------------------- */

static struct conf_prefixes routes_of(const char *text, struct conf_report *r)
{
	struct conf_prefixes p;

	assert_int_equal(conf_prefixes_read_text("routes", text, strlen(text), &p, r), 0);
	return p;
}

static void the_first_route_that_fits_counts(void **state)
{
	struct conf_report r = { 0 };
	struct conf_prefixes p = routes_of("# two subnets and the rest\n\n"
					   "fec0000000000001 0x2c9000001\n"
					   "\t0xFEC0000000000002 2C9000002#near\n"
					   "fec0000000000001 0x99\n"
					   "* *\n"
					   "fec0000000000003 0x98\n",
					   &r);

	assert_int_equal(r.n, 0);
	assert_int_equal(p.n, 5);
	assert_int_equal(conf_prefixes_find(&p, 0xFEC0000000000001)->guid, 0x2C9000001);
	assert_int_equal(conf_prefixes_find(&p, 0xFEC0000000000002)->guid, 0x2C9000002);
	assert_int_equal(conf_prefixes_find(&p, 0xFEC0000000000003)->guid, 0);
	conf_prefixes_clear(&p);
	assert_null(conf_prefixes_find(&p, 1));
}

static void faults_of_a_route_name_their_place(void **state)
{
	static const struct {
		const char *text;
		unsigned column, n;
		enum conf_severity severity;
	} rows[] = {
		{ "fec0::1 0x1\n", 1, 0, CONF_ERROR },
		{ "fec0 \n", 6, 0, CONF_ERROR },
		{ "fec0 0x\n", 6, 0, CONF_ERROR },
		{ "fec0 router\n", 6, 0, CONF_ERROR },
		{ "12345678901234567 1\n", 1, 0, CONF_ERROR },
		{ "** 1\n", 1, 0, CONF_ERROR },
		{ "fec0 1 more\n", 8, 1, CONF_WARNING },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct conf_report r = { 0 };
		struct conf_prefixes p = routes_of(rows[i].text, &r);

		assert_int_equal(p.n, rows[i].n);
		assert_int_equal(r.n, 1);
		assert_int_equal(r.findings[0].severity, rows[i].severity);
		assert_int_equal(r.findings[0].line, 1);
		assert_int_equal(r.findings[0].column, rows[i].column);
		conf_prefixes_clear(&p);
		conf_report_clear(&r);
	}
}

static void a_flood_of_routes_is_cut(void **state)
{
	size_t n = CONF_PREFIXES_MAX + 10u;
	_cleanup_free_ char *text = xcalloc(n + 1, 4);
	struct conf_report r = { 0 };
	struct conf_prefixes p;

	for (size_t i = 0; i < n; i++)
		memcpy(text + 4 * i, "1 2\n", 4);
	p = routes_of(text, &r);
	assert_int_equal(p.n, CONF_PREFIXES_MAX);
	assert_int_equal(r.n, 1);
	conf_prefixes_clear(&p);
	conf_report_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_compare_by_bandwidth),
		cmocka_unit_test(every_code_has_its_bandwidth),
		cmocka_unit_test(below_is_the_next_lower_bandwidth),
		cmocka_unit_test(width_times_speed_is_a_rate),
		cmocka_unit_test(extended_speeds_need_a_node_that_has_them),
		cmocka_unit_test(fdr10_counts_as_qdr),
		cmocka_unit_test(an_unknown_link_has_no_rate),
		cmocka_unit_test(a_rate_has_the_bandwidth_of_its_link),
		cmocka_unit_test(newer_codes_are_lowered_for_older_clients),
		cmocka_unit_test(mtus_are_selected_as_the_peer_does),
		cmocka_unit_test(rates_are_selected_as_the_peer_does),
		cmocka_unit_test(life_times_are_selected_as_the_peer_does),
		cmocka_unit_test(nothing_is_below_life_time_zero),
		cmocka_unit_test(what_is_not_asked_for_stays),
		cmocka_unit_test(groups_are_taken_as_they_are),
		cmocka_unit_test(the_first_route_that_fits_counts),
		cmocka_unit_test(faults_of_a_route_name_their_place),
		cmocka_unit_test(a_flood_of_routes_is_cut),
	};

	return cmocka_run_group_tests_name("sa-select", tests, NULL, NULL);
}
