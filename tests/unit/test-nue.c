// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nue: no cycle on any VL of any fabric, no LID left out, and short ways where there is room for
 * them.
 */
#include "tests/unit/route-desk.h"

#include "route/select/engines.h"
#include "tests/unit/lanes-walk.h"

static struct routes *nue_after(const struct topo *t, const struct routes *previous, unsigned lanes,
				unsigned threads)
{
	struct route_job job = {
		.topo = t, .previous = previous, .threads = threads,
		.options = { .nue_max_num_vls = (uint8_t)lanes },
	};
	char why[128] = "";
	struct routes *r = route_engine_find("nue")->compute(&job, why, sizeof(why));

	assert_string_equal(why, "");
	assert_non_null(r);
	assert_string_equal(r->engine, "nue");
	return r;
}

static struct routes *nue(const struct topo *t, unsigned lanes, unsigned threads)
{
	return nue_after(t, NULL, lanes, threads);
}

/* A pair with a shortest path has a route; no cycle; not more VLs than allowed. */
static void assert_sound(const struct topo *t, const struct routes *r, unsigned lanes, bool all)
{
	struct lanes_walk w = lanes_walk(r, all), least;
	struct routes *shortest = route(t, NULL);

	least = lanes_walk(shortest, false);
	assert_false(w.cycle);
	if (!all)
		assert_int_equal(w.lost, least.lost);
	assert_int_equal(w.own_lost, least.own_lost);
	assert_true(w.vls <= lanes);
	assert_true(!r->lanes || r->lanes->n_vls <= lanes);
	routes_unref(shortest);
}

static void no_cycle_on_any_fabric(void **state)
{
	for (unsigned number = 0; number < 36; number++) {
		struct topogen o = any_options(number);
		struct topo *t = any_fabric(number, &o);
		unsigned lanes = 1 + number % 4 * 2;
		struct routes *r = nue(t, lanes, 1), *again = nue(t, lanes, 2);

		print_message("fabric %u, %u lanes\n", number, lanes);
		assert_sound(t, r, lanes, false);
		assert_same_tables(r, again);
		if (r->lanes)
			assert_memory_equal(r->lanes->sl, again->lanes->sl, r->row_size);
		routes_unref(r);
		routes_unref(again);
		topo_unref(t);
	}
}

static void what_breaks_and_comes_back_closes_no_cycle(void **state)
{
	for (unsigned number = 0; number < 12; number++) {
		struct topogen o = any_options(number), less;
		struct topo *whole = any_fabric(number, &o), *broken;
		unsigned lanes = 1 + number % 3;
		struct routes *a = nue(whole, lanes, 1), *b, *c;

		less = o;
		less.without_link = 1 + number % 5;
		less.without_switch = number % 2 ? 0 : 2;
		less.without_host = number % 3 ? 0 : 1;
		broken = any_fabric(number, &less);
		print_message("fabric %u\n", number);
		b = nue_after(broken, a, lanes, 1);
		assert_sound(broken, b, lanes, false);
		c = nue_after(whole, b, lanes, 2);
		assert_sound(whole, c, lanes, false);
		routes_unref(a);
		routes_unref(b);
		routes_unref(c);
		topo_unref(whole);
		topo_unref(broken);
	}
}

static unsigned changed_blocks(const struct routes *a, const struct routes *b)
{
	unsigned n = 0;

	for (uint32_t s = 0; s < a->topo->n_switches; s++)
		for (uint32_t i = 0; i < a->row_size; i += LFT_BLOCK_LIDS)
			n += memcmp(routes_row(a, s) + i, routes_row(b, s) + i, LFT_BLOCK_LIDS) !=
			     0;
	return n;
}

static void a_host_that_leaves_changes_nothing_and_a_cable_little(void **state)
{
	struct topo *t = topogen_dragonfly(17, 6, 3, NULL);
	struct topo *one_host = topogen_dragonfly(17, 6, 3, &(struct topogen){ .without_host = 9 });
	struct topo *one_cable =
		topogen_dragonfly(17, 6, 3, &(struct topogen){ .without_link = 9 });
	struct routes *a = nue(t, 8, 1), *b = nue_after(one_host, a, 8, 1),
		      *c = nue_after(one_cable, a, 8, 1);
	struct routes *d = nue_after(t, c, 8, 1);

	assert_int_equal(changed_blocks(a, b), 0);
	assert_in_range(changed_blocks(a, c), 1, 102 * 5 / 10);
	assert_in_range(changed_blocks(c, d), 1, 102 * 5 / 10);
	routes_unref(a);
	routes_unref(b);
	routes_unref(c);
	routes_unref(d);
	topo_unref(t);
	topo_unref(one_host);
	topo_unref(one_cable);
}

static void switches_count_if_asked(void **state)
{
	for (unsigned number = 0; number < 14; number++) {
		struct topogen o = any_options(number);
		struct topo *t = any_fabric(number, &o);
		struct route_job job = {
			.topo = t, .options = { .nue_max_num_vls = (uint8_t)(1 + number % 3),
						.nue_include_switches = true },
		};
		struct routes *r = route_engine_find("nue")->compute(&job, (char[2]){ "" }, 2);

		print_message("fabric %u\n", number);
		assert_sound(t, r, 3, true);
		routes_unref(r);
		topo_unref(t);
	}
}

static void a_whole_tree_is_routed_as_minhop_does(void **state)
{
	struct topo *t = topogen_fat_tree3(8, NULL);
	struct routes *r = nue(t, 4, 1), *m = route(t, NULL);

	assert_same_tables(r, m);
	assert_null(r->lanes);
	routes_unref(r);
	routes_unref(m);
	topo_unref(t);
}

static void a_damaged_tree_keeps_its_shortest_paths(void **state)
{
	struct topo *t = topogen_fat_tree3(12, &(struct topogen){ .seed = 3, .damage = 0.03 });
	struct routes *r = nue(t, 1, 1);
	struct lanes_walk w = lanes_walk(r, false);

	assert_false(w.cycle);
	assert_int_equal(w.lost, 0);
	assert_true(w.max_load < 3 * 432);
	routes_unref(r);
	topo_unref(t);
}

/* Where the peer's ways are a third longer than the shortest. */
static void ways_on_a_torus_are_nearly_shortest(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 6, 6, 6 }, 1, NULL);
	struct routes *one = nue(t, 1, 1), *eight = nue(t, 8, 2);
	struct lanes_walk w1 = lanes_walk(one, false), w8 = lanes_walk(eight, false);

	assert_false(w1.cycle || w8.cycle);
	assert_true((double)w1.hops < 5.0 * (double)w1.pairs);
	assert_true((double)w8.hops < 4.6 * (double)w8.pairs);
	assert_true(w1.max_load < 2000);
	assert_true(w8.max_load < 350);
	assert_true(w8.max_hops <= 12);
	assert_int_equal(w8.vls, 8);
	routes_unref(one);
	routes_unref(eight);
	topo_unref(t);
}

static const struct route_test_switch {
	guid_t guid;
	lid_t lid, cap;
} few[] = { { 1, 1, 100 }, { 2, 2, 100 }, { 3, 3, 4 }, { 4, 0, 100 }, { 5, 5, 0 } };

/* Loop cables, parallel ones, hosts without a LID or a switch, tables too short, an island. */
static struct topo *odd_fabric(unsigned number)
{
	struct topo_builder *b = topo_builder_new();

	for (unsigned i = 0; i < number % 6 && i < ARRAY_SIZE(few); i++)
		topo_add_switch(b, &(struct topo_switch){ .guid = few[i].guid,
							  .n_ports = 8,
							  .lid = few[i].lid,
							  .lft_cap = few[i].cap });
	for (unsigned i = 0; i < 6; i++)
		topo_add_host(b, &(struct topo_host){ .guid = 100 + i,
						      .node_guid = 100 + i,
						      .sw = TOPO_NONE,
						      .node_port = 1,
						      .lid = (lid_t)(i == 3 ? 0 : 20 + 4 * i),
						      .lmc = i == 4 ? 2 : 0 });
	for (unsigned i = 0; i < 6 && i < number % 6; i++)
		if (number & 8)
			topo_add_host_link(b, 100 + i, 1 + i, 8);
	if (number % 6 > 1 && number & 16) {
		topo_add_link(b, 1, 1, 2, 1);
		topo_add_link(b, 1, 2, 2, 2);
		topo_add_link(b, 1, 3, 1, 4);
	}
	if (number % 6 > 3 && number & 32) {
		topo_add_link(b, 2, 3, 3, 3);
		topo_add_link(b, 3, 4, 4, 4);
		topo_add_link(b, 4, 5, 1, 5);
	}
	return topo_build(b);
}

static void odd_fabrics_are_survived(void **state)
{
	for (unsigned number = 0; number < 64 * 6; number++) {
		struct topo *t = odd_fabric(number);
		struct routes *r = nue(t, number % 3, 1);

		assert_false(lanes_walk(r, false).cycle);
		routes_unref(r);
		topo_unref(t);
	}
}

static void the_cancelled_say_so(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 4, 4, 1 }, 1, NULL);
	atomic_bool yes = true;
	char why[32] = "";

	assert_null(route_engine_run(
		route_engine_find("nue"),
		&(struct route_job){ .topo = t, .cancelled = &yes }, why, sizeof(why)));
	assert_string_equal(why, "cancelled");
	topo_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_cycle_on_any_fabric),
		cmocka_unit_test(what_breaks_and_comes_back_closes_no_cycle),
		cmocka_unit_test(a_host_that_leaves_changes_nothing_and_a_cable_little),
		cmocka_unit_test(switches_count_if_asked),
		cmocka_unit_test(a_whole_tree_is_routed_as_minhop_does),
		cmocka_unit_test(a_damaged_tree_keeps_its_shortest_paths),
		cmocka_unit_test(ways_on_a_torus_are_nearly_shortest),
		cmocka_unit_test(odd_fabrics_are_survived),
		cmocka_unit_test(the_cancelled_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
