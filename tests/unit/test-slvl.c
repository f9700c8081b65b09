// SPDX-License-Identifier: BSD-2-Clause
/* Which Sets write the SL2VL rows of a switch that are missing (plan/slvl.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/slvl.h"

#define N 4
#define ALL (SLVL_ALL_IN | SLVL_ALL_OUT)

static struct slvl_row rows[(N + 1) * N];
static struct slvl_set sets[(N + 1) * N];
static struct slvl_grid grid;
static size_t n_sets;

/* Packets come in by ports 0..4 and leave by 1..4; all rows are missing; `row_of` says which. */
static void lay_out(uint32_t (*row_of)(unsigned in, unsigned out))
{
	grid = (struct slvl_grid){ .n_in = N + 1, .n_out = N, .live = true, .rows = rows };
	for (unsigned in = 0; in <= N; in++)
		grid.in[in] = (uint8_t)in;
	for (unsigned o = 0; o < N; o++) {
		grid.out[o] = (uint8_t)(o + 1);
		for (unsigned in = 0; in <= N; in++)
			rows[o * (N + 1) + in] = (struct slvl_row){ row_of(in, o + 1), true };
	}
}

static void solve(bool wildcards)
{
	n_sets = slvl_sets(&grid, wildcards, sets);
}

static void assert_all_is_covered_once(void)
{
	for (unsigned o = 0; o < grid.n_out; o++) {
		for (unsigned i = 0; i < grid.n_in; i++) {
			const struct slvl_row *row = &rows[o * grid.n_in + i];
			unsigned n = 0;

			for (size_t k = 0; k < n_sets; k++) {
				if (!slvl_mod_covers(sets[k].mod, grid.in[i], grid.out[o]))
					continue;
				assert_int_equal(sets[k].row, row->want);
				n++;
			}
			assert_in_range(n, row->missing, 1);
		}
	}
}

static uint32_t alike(unsigned in, unsigned out)
{
	return 7;
}

static uint32_t by_out(unsigned in, unsigned out)
{
	return 10 + out;
}

static uint32_t by_in(unsigned in, unsigned out)
{
	return 10 + in;
}

static uint32_t all_differ(unsigned in, unsigned out)
{
	return 1 + in * 16 + out;
}

/* Most are alike. */
static uint32_t but_one(unsigned in, unsigned out)
{
	return in == 2 && out == 3 ? 8 : 7;
}

static void without_wildcards_every_missing_row_is_a_set(void **state)
{
	lay_out(alike);
	rows[3].missing = false;
	solve(false);
	assert_int_equal(n_sets, N * (N + 1) - 1);
	assert_int_equal(sets[0].mod, 0 << 8 | 1);
	assert_int_equal(sets[4].mod, 0 << 8 | 2);
	assert_all_is_covered_once();
}

static void what_is_not_missing_is_not_written(void **state)
{
	lay_out(alike);
	for (unsigned i = 0; i < N * (N + 1); i++)
		rows[i].missing = false;
	solve(true);
	assert_int_equal(n_sets, 0);
}

static void rows_that_are_alike_are_one_set(void **state)
{
	lay_out(alike);
	solve(true);
	assert_int_equal(n_sets, 1);
	assert_int_equal(sets[0].mod, ALL);
	assert_all_is_covered_once();
}

static void rows_by_port_out_are_a_set_each(void **state)
{
	lay_out(by_out);
	solve(true);
	assert_int_equal(n_sets, N);
	assert_int_equal(sets[0].mod, SLVL_ALL_IN | 1);
	assert_all_is_covered_once();
}

static void rows_by_port_in_are_a_set_each(void **state)
{
	lay_out(by_in);
	solve(true);
	assert_int_equal(n_sets, N + 1);
	assert_int_equal(sets[1].mod, SLVL_ALL_OUT | 1 << 8);
	assert_all_is_covered_once();
}

static void rows_that_differ_are_written_singly(void **state)
{
	lay_out(all_differ);
	solve(true);
	assert_int_equal(n_sets, N * (N + 1));
	assert_all_is_covered_once();
}

/* A live switch is never given a wrong row on the way to the right one. */
static void a_live_switch_gets_no_row_that_is_wrong(void **state)
{
	lay_out(but_one);
	solve(true);
	assert_true(n_sets > 1);
	assert_all_is_covered_once();
	grid.live = false;
	solve(true);
	assert_int_equal(n_sets, 1);
	assert_int_equal(sets[0].mod, ALL);
	assert_int_equal(sets[0].row, 7);
}

/* Port 0 out is not among "all ports out" (14.2.5.8). */
static void port_0_is_written_by_itself(void **state)
{
	lay_out(by_in);
	for (unsigned o = 0; o < N; o++)
		grid.out[o] = (uint8_t)o;
	solve(true);
	assert_int_equal(n_sets, N * (N + 1));
	assert_all_is_covered_once();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_wildcards_every_missing_row_is_a_set),
		cmocka_unit_test(what_is_not_missing_is_not_written),
		cmocka_unit_test(rows_that_are_alike_are_one_set),
		cmocka_unit_test(rows_by_port_out_are_a_set_each),
		cmocka_unit_test(rows_by_port_in_are_a_set_each),
		cmocka_unit_test(rows_that_differ_are_written_singly),
		cmocka_unit_test(a_live_switch_gets_no_row_that_is_wrong),
		cmocka_unit_test(port_0_is_written_by_itself),
	};

	return cmocka_run_group_tests_name("slvl", tests, NULL, NULL);
}
