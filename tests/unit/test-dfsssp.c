// SPDX-License-Identifier: BSD-2-Clause
/*
 * What dfsssp promises: sssp without credit loops, in as many lanes as there are, and SLs that
 * stay.
 */
#include "tests/lib/rounds.h"
#include "tests/unit/lanes-cases.h"

static void any_fabric_holds(void **state)
{
	for (unsigned number = 0; number < test_rounds(18); number++) {
		struct topogen o = any_options(number);
		struct topo *t = any_fabric(number, &o);
		struct routes *r;

		print_message("# seed %u\n", number);
		r = lanes_route("dfsssp", t, NULL);
		assert_holds(r);
		routes_unref(r);
		topo_unref(t);
	}
}

static void strange_ones_too(void **state)
{
	strange_fabrics_are_routed("dfsssp");
}

static void same_bytes(void **state)
{
	threads_change_no_byte("dfsssp", 12);
}

static void hears_that_it_is_cancelled(void **state)
{
	cancelling_is_heard("dfsssp");
}

static void a_tree_needs_no_lanes(void **state)
{
	struct topo *t = topogen_fat_tree3(8, NULL);
	struct routes *r = lanes_route("dfsssp", t, NULL);

	assert_null(r->lanes);
	routes_unref(r);
	topo_unref(t);
}

/* The peer needs 9 lanes of 8 and fails. */
static void a_torus_of_six_fits_in_eight(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 6, 6, 6 }, 1, NULL);
	struct routes *r = lanes_route("dfsssp", t, NULL);

	assert_holds(r);
	assert_in_range(r->lanes->n_vls, 2, 8);
	routes_unref(r);
	topo_unref(t);
}

static void lanes_that_are_there_are_all_used_evenly(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 5, 5, 1 }, 2, NULL);
	struct routes *r = lanes_route("dfsssp", t, NULL);
	uint32_t n[8] = { 0 };

	assert_int_equal(r->lanes->n_vls, 8);
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (uint32_t h = 0; h < t->n_hosts; h++)
			if (t->hosts[h].sw != s)
				n[sl2vl_sl(r->lanes, s, t->hosts[h].sw, t->hosts[h].lid, 0)]++;
	for (unsigned k = 0; k < 8; k++)
		assert_in_range(n[k], 1200 / 8 / 2, 1200 / 8 * 2);
	routes_unref(r);
	topo_unref(t);
}

static void too_few_lanes_are_said(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 5, 5, 1 }, 1, NULL);
	struct route_job job = { .topo = t, .threads = 1, .options = { .max_vls = 1 } };
	char why[256] = "";

	assert_null(lanes_run("dfsssp", &job, why));
	assert_non_null(strstr(why, " VLs, every cable has 1"));
	topo_unref(t);
}

static void a_second_computation_changes_nothing(void **state)
{
	computing_again_changes_nothing("dfsssp");
}

/* Of 3,120 SLs and 3,200 entries. */
static void a_lost_cable_or_host_changes_few_sls(void **state)
{
	little_changes("dfsssp", (unsigned[]){ 5, 4, 2 }, 3120 / 20, 3200 / 20);
}

/* One VL before, and mostly still one for pairs that stay: of 2,048. */
static void a_lost_cable_of_a_cube_changes_few_sls(void **state)
{
	little_changes("dfsssp", (unsigned[]){ 4, 4, 2 }, 2048 / 20, 2048 / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_fabric_holds),
		cmocka_unit_test(strange_ones_too),
		cmocka_unit_test(same_bytes),
		cmocka_unit_test(hears_that_it_is_cancelled),
		cmocka_unit_test(a_tree_needs_no_lanes),
		cmocka_unit_test(a_torus_of_six_fits_in_eight),
		cmocka_unit_test(lanes_that_are_there_are_all_used_evenly),
		cmocka_unit_test(too_few_lanes_are_said),
		cmocka_unit_test(a_second_computation_changes_nothing),
		cmocka_unit_test(a_lost_cable_or_host_changes_few_sls),
		cmocka_unit_test(a_lost_cable_of_a_cube_changes_few_sls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
