// SPDX-License-Identifier: BSD-2-Clause
#include "ib/ber.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ib/codes.h"
#include "util/mem.h"

#define S	1000000ull /* microseconds */
#define NDR_BITS 400000000000ull

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

static void bits_of_a_link_are_lanes_by_data_rate(void **state)
{
	static const struct {
		unsigned lanes, speed;
		uint64_t bits;
	} rows[] = {
		{ 1, IB_SPEED_SDR, 2000000000 },   { 4, IB_SPEED_QDR, 32000000000 },
		{ 4, IB_SPEED_FDR10, 40000000000 }, { 4, 140, 54545454544 },
		{ 4, 250, 100000000000 },	   { 2, 500, 100000000000 },
		{ 4, 1000, NDR_BITS },		   { 4, 2000, 800000000000 },
		{ 12, 2000, 2400000000000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(ber_link_bits(rows[i].lanes, rows[i].speed), rows[i].bits);
}

static void a_link_that_does_not_exist_has_no_bits(void **state)
{
	assert_int_equal(ber_link_bits(3, 1000), 0);
	assert_int_equal(ber_link_bits(0, 1000), 0);
	assert_int_equal(ber_link_bits(4, 7), 0);
}

/* 2.88 errors in 12 minutes, 3 in 125: the numbers of the published rules for NDR. */
static void errors_of_the_published_windows(void **state)
{
	assert_true(is_near(ber_errors(1e-14, NDR_BITS, 720 * S), 2.88));
	assert_true(is_near(ber_errors(1e-15, NDR_BITS, 7500 * S), 3));
}

static void rate_is_errors_per_bit_carried(void **state)
{
	assert_true(is_near(ber_of(4, NDR_BITS, 1000 * S), 1e-14));
	assert_true(ber_of(0, NDR_BITS, S) == 0);
	assert_true(ber_of(5, 0, S) == 0);
	assert_true(ber_of(5, NDR_BITS, 0) == 0);
}

static void time_to_observe_a_rate(void **state)
{
	assert_int_equal(ber_observe_us(1e-14, NDR_BITS) / S, 250);
	assert_int_equal((ber_observe_us(1e-15, NDR_BITS) + S / 2) / S, 2500);
	assert_int_equal(ber_sure_us(1e-14, NDR_BITS) / S, 750);
	assert_int_equal((ber_sure_us(1e-15, NDR_BITS) + S / 2) / S, 7500);
}

static void what_cannot_be_observed_takes_for_ever(void **state)
{
	assert_true(ber_observe_us(1e-14, 0) == UINT64_MAX);
	assert_true(ber_observe_us(0, NDR_BITS) == UINT64_MAX);
	assert_true(ber_observe_us(1e-300, NDR_BITS) == UINT64_MAX);
	assert_true(ber_sure_us(-1, NDR_BITS) == UINT64_MAX);
}

static void silence_proves_less_the_shorter_it_is(void **state)
{
	assert_true(is_near(ber_proven(NDR_BITS, 750 * S), 1e-14));
	assert_true(is_near(ber_proven(NDR_BITS, 75 * S), 1e-13));
	assert_true(ber_proven(NDR_BITS, 0) == 1);
	assert_true(ber_proven(0, S) == 1);
}

/* 7,500 s at 400 Gb/s: older errors than of two of these are forgotten, and those of one kept. */
static void a_window_moves_on(void **state)
{
	struct ber_watch w = { 0 };

	ber_watch_add(&w, 9, NDR_BITS, 7500 * S);
	ber_watch_add(&w, 1, NDR_BITS, 7500 * S);
	assert_int_equal(ber_watch_errors(&w), 10);
	assert_int_equal(ber_watch_us(&w), 15000 * S);
	ber_watch_add(&w, 2, NDR_BITS, 60 * S);
	assert_int_equal(ber_watch_errors(&w), 3);
	assert_int_equal(ber_watch_us(&w), 7560 * S);
}

static void another_speed_is_another_link(void **state)
{
	struct ber_watch w = { 0 };

	ber_watch_add(&w, 9, NDR_BITS, 60 * S);
	ber_watch_add(&w, 1, NDR_BITS / 2, 60 * S);
	assert_int_equal(ber_watch_errors(&w), 1);
	assert_int_equal(ber_watch_us(&w), 60 * S);
	ber_watch_add(&w, 1, 0, 60 * S);
	assert_int_equal(ber_watch_us(&w), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_of_a_link_are_lanes_by_data_rate),
		cmocka_unit_test(a_link_that_does_not_exist_has_no_bits),
		cmocka_unit_test(errors_of_the_published_windows),
		cmocka_unit_test(rate_is_errors_per_bit_carried),
		cmocka_unit_test(time_to_observe_a_rate),
		cmocka_unit_test(what_cannot_be_observed_takes_for_ever),
		cmocka_unit_test(silence_proves_less_the_shorter_it_is),
		cmocka_unit_test(a_window_moves_on),
		cmocka_unit_test(another_speed_is_another_link),
	};

	return cmocka_run_group_tests_name("ber", tests, NULL, NULL);
}
