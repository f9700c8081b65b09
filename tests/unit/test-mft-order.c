// SPDX-License-Identifier: BSD-2-Clause
/* When multicast rows may be replaced in any order, and when some have to go first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan/mft_order.h"

#define N 4
#define HOST 9 /* a port with a host behind it, on every switch */

static struct mft_place places[N];
static struct mcast_row rows[N];
static uint32_t sets[N];

/* A ring: port 1 of a switch is cabled to port 2 of the next. */
static uint32_t behind(const void *arg, uint32_t place, unsigned port, unsigned *ret_far)
{
	if (port != 1 && port != 2)
		return MCAST_NONE;
	*ret_far = 3 - port;
	return port == 1 ? (place + 1) % N : (place + N - 1) % N;
}

static const struct mft_order ring = { places, sets, N, behind, NULL };

static int clear(void **state)
{
	memset(places, 0, sizeof(places));
	memset(rows, 0, sizeof(rows));
	for (unsigned i = 0; i < N; i++)
		places[i].up = MCAST_NONE;
	return 0;
}

/* The goal has the cable between `i` and the next; the next is the parent. */
static void want_cable(unsigned i)
{
	places[i].row = &rows[i];
	places[i].up = (i + 1) % N;
	rows[i].up_port = 1;
	rows[i].mask[0] |= 1 << 1 | 1 << HOST;
	places[(i + 1) % N].row = &rows[(i + 1) % N];
	rows[(i + 1) % N].mask[0] |= 1 << 2;
}

static void hold_cable(unsigned i)
{
	places[i].held[0] |= 1 << 1;
	places[(i + 1) % N].held[0] |= 1 << 2;
}

static void a_tree_where_nothing_is_held_is_free(void **state)
{
	for (unsigned i = 0; i < N - 1; i++)
		want_cable(i);
	assert_true(mft_order_is_free(&ring));
}

static void what_is_held_as_wanted_is_free(void **state)
{
	for (unsigned i = 0; i < N - 1; i++) {
		want_cable(i);
		hold_cable(i);
	}
	assert_true(mft_order_is_free(&ring));
}

static void a_held_cable_that_closes_the_ring_goes_first(void **state)
{
	for (unsigned i = 0; i < N - 1; i++)
		want_cable(i);
	hold_cable(N - 1);
	assert_false(mft_order_is_free(&ring));
}

/* Held at one end alone, a cable carries copies one way: that is a circle, too. */
static void one_end_is_enough(void **state)
{
	for (unsigned i = 0; i < N - 1; i++)
		want_cable(i);
	places[0].held[0] = 1 << 2;
	assert_false(mft_order_is_free(&ring));
}

static void a_cable_held_at_both_ends_counts_once(void **state)
{
	want_cable(0);
	hold_cable(2);
	assert_true(mft_order_is_free(&ring));
}

static void old_and_new_cables_that_are_a_forest_are_free(void **state)
{
	want_cable(0);
	want_cable(1);
	hold_cable(2);
	assert_true(mft_order_is_free(&ring));
}

/* The goal uses a cable one way (members that only send); it is held the other way. */
static void a_goal_cable_held_the_other_way_is_no_circle(void **state)
{
	want_cable(0);
	rows[1].mask[0] &= ~(UINT64_C(1) << 2);
	places[1].held[0] = 1 << 2;
	assert_true(mft_order_is_free(&ring));
}

static void hosts_close_no_circle(void **state)
{
	for (unsigned i = 0; i < N - 1; i++)
		want_cable(i);
	for (unsigned i = 0; i < N; i++)
		places[i].held[0] |= 1 << HOST | 1;
	assert_true(mft_order_is_free(&ring));
}

static void a_cut_row_has_no_new_cable_and_keeps_hosts(void **state)
{
	uint64_t row[4];

	want_cable(0);
	want_cable(1);
	places[1].held[0] = 1 << 2 | 1 << 5;
	mft_order_row(&ring, 1, false, row);
	assert_int_equal(row[0], 1 << 1 | 1 << 2 | 1 << HOST);
	mft_order_row(&ring, 1, true, row);
	assert_int_equal(row[0], 1 << 2 | 1 << HOST);
	mft_order_row(&ring, 3, true, row);
	assert_int_equal(row[0] | row[1] | row[2] | row[3], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_tree_where_nothing_is_held_is_free, clear),
		cmocka_unit_test_setup(what_is_held_as_wanted_is_free, clear),
		cmocka_unit_test_setup(a_held_cable_that_closes_the_ring_goes_first, clear),
		cmocka_unit_test_setup(one_end_is_enough, clear),
		cmocka_unit_test_setup(a_cable_held_at_both_ends_counts_once, clear),
		cmocka_unit_test_setup(old_and_new_cables_that_are_a_forest_are_free, clear),
		cmocka_unit_test_setup(a_goal_cable_held_the_other_way_is_no_circle, clear),
		cmocka_unit_test_setup(hosts_close_no_circle, clear),
		cmocka_unit_test_setup(a_cut_row_has_no_new_cable_and_keeps_hosts, clear),
	};

	return cmocka_run_group_tests_name("mft-order", tests, NULL, NULL);
}
