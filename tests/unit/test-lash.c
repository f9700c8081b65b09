// SPDX-License-Identifier: BSD-2-Clause
/* What lash promises: one path per pair of switches, there and back in one lane, no credit loop. */
#include "route/select/engines.h"
#include "tests/lib/rounds.h"
#include "tests/unit/lanes-cases.h"

static void any_fabric_holds(void **state)
{
	for (unsigned number = 0; number < test_rounds(24); number++) {
		struct topogen o = any_options(number);
		struct topo *t = any_fabric(number, &o);
		struct routes *r;

		print_message("# seed %u\n", number);
		r = lanes_route("lash", t, NULL);
		assert_holds(r);
		routes_unref(r);
		topo_unref(t);
	}
}

static void strange_ones_too(void **state)
{
	strange_fabrics_are_routed("lash");
}

static void same_bytes(void **state)
{
	threads_change_no_byte("lash", 8);
}

static void hears_that_it_is_cancelled(void **state)
{
	cancelling_is_heard("lash");
}

static void all_lids_of_a_switch_use_one_path_and_answers_the_same_sl(void **state)
{
	struct topogen o = { .lmc = 1 };
	struct topo *t = topogen_torus((unsigned[]){ 5, 4, 1 }, 2, &o);
	struct routes *r = lanes_route("lash", t, NULL);

	for (uint32_t a = 0; a < t->n_switches; a++)
		for (uint32_t h = 0; h < t->n_hosts; h++) {
			uint32_t b = t->hosts[h].sw;

			if (a == b)
				continue;
			assert_int_equal(routes_port(r, a, t->hosts[h].lid),
					 routes_port(r, a, t->switches[b].lid));
			assert_int_equal(routes_port(r, a, t->hosts[h].lid),
					 routes_port(r, a, (lid_t)(t->hosts[h].lid + 1)));
			assert_int_equal(sl2vl_sl(r->lanes, a, b, 0, 0),
					 sl2vl_sl(r->lanes, b, a, 0, 0));
		}
	routes_unref(r);
	topo_unref(t);
}

static void lanes_begin_where_asked(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 5, 1, 1 }, 1, NULL);
	struct route_job job = { .topo = t, .threads = 1, .options = { .lash_start_vl = 2 } };
	char why[256] = "";
	struct routes *r = lanes_run("lash", &job, why);

	assert_non_null(r);
	assert_holds(r);
	for (uint32_t a = 0; a < 5; a++)
		for (uint32_t b = 0; b < 5; b++)
			assert_in_range(sl2vl_sl(r->lanes, a, b, 0, 0), 2, 7);
	job.options.lash_start_vl = 8;
	assert_null(lanes_run("lash", &job, why));
	assert_string_equal(why, "lash_start_vl is 8, every cable has 8 VLs");
	assert_false(lash_deal_vls(&job, r)); /* as tables that were found are given VLs */
	routes_unref(r);
	topo_unref(t);
}

static void assert_needs(struct topo *t, unsigned most)
{
	struct routes *r = lanes_route("lash", t, NULL);
	struct route_verdict v;

	routes_check(r, 2, &v);
	assert_false(v.credit_loop);
	assert_int_equal(v.lost, 0);
	print_message("# %u lanes needed\n", r->lanes ? r->lanes->n_needed : 1);
	assert_in_range(r->lanes ? r->lanes->n_needed : 1, 1, most);
	routes_unref(r);
	topo_unref(t);
}

/* The peer: 9 of 8 with four hosts per switch, 5, 1, 4, 1, 1, 4. */
static void no_more_lanes_than_the_peer(void **state)
{
	assert_needs(topogen_torus((unsigned[]){ 6, 6, 6 }, 1, NULL), 5);
	assert_needs(topogen_torus((unsigned[]){ 5, 5, 5 }, 1, NULL), 4);
	assert_needs(topogen_torus((unsigned[]){ 4, 4, 4 }, 1, NULL), 1);
	assert_needs(topogen_torus((unsigned[]){ 6, 6, 1 }, 2, NULL), 3);
	assert_needs(topogen_hyperx(6, 6, 2, NULL), 1);
	assert_needs(topogen_grid("4x4x4", 1, 1, NULL), 1);
	assert_needs(topogen_dragonfly(21, 5, 4, NULL), 4);
}

static void too_few_lanes_are_said(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 5, 5, 1 }, 1, NULL);
	struct route_job job = { .topo = t, .threads = 1, .options = { .max_vls = 1 } };
	char why[256] = "";

	assert_null(lanes_run("lash", &job, why));
	assert_non_null(strstr(why, " VLs, every cable has 1"));
	topo_unref(t);
}

static void a_second_computation_changes_nothing(void **state)
{
	computing_again_changes_nothing("lash");
}

/* Of 3,120 SLs and 3,200 entries. */
static void a_lost_cable_or_host_changes_few_sls(void **state)
{
	little_changes("lash", (unsigned[]){ 5, 4, 2 }, 3120 / 20, 3200 / 20);
}

/* One VL before, and mostly still one for pairs that stay: of 2,048. */
static void a_lost_cable_of_a_cube_changes_few_sls(void **state)
{
	little_changes("lash", (unsigned[]){ 4, 4, 2 }, 2048 / 20, 2048 / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_fabric_holds),
		cmocka_unit_test(strange_ones_too),
		cmocka_unit_test(same_bytes),
		cmocka_unit_test(hears_that_it_is_cancelled),
		cmocka_unit_test(all_lids_of_a_switch_use_one_path_and_answers_the_same_sl),
		cmocka_unit_test(lanes_begin_where_asked),
		cmocka_unit_test(no_more_lanes_than_the_peer),
		cmocka_unit_test(too_few_lanes_are_said),
		cmocka_unit_test(a_second_computation_changes_nothing),
		cmocka_unit_test(a_lost_cable_or_host_changes_few_sls),
		cmocka_unit_test(a_lost_cable_of_a_cube_changes_few_sls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
