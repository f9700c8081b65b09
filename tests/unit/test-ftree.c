// SPDX-License-Identifier: BSD-2-Clause
/* ftree: trees whole and broken without contention or loops; what is no tree is declined. */
#include "dump/tree_order.h"
#include "route/tree/dmodk.h"
#include "route/select/engines.h"
#include "tests/lib/tables.h"
#include "tests/unit/updown-desk.h"

static void trees_are_taken_and_others_declined(void **state)
{
	for (unsigned number = 0; number < 42; number++)
		assert_updown_life("ftree", number, NULL);
}

static void assert_declined(struct topo *t, const char *part)
{
	char why[200] = "";
	struct routes *r = route_engine_find("ftree")->compute(&(struct route_job){ .topo = t },
							       why, sizeof(why));

	assert_null(r);
	assert_non_null(strstr(why, part));
	topo_unref(t);
}

static void what_is_no_tree_is_declined_with_a_reason(void **state)
{
	assert_declined(topogen_torus((unsigned[]){ 4, 4, 4 }, 2, NULL), "not a tree");
	assert_declined(topogen_dragonfly(9, 4, 2, NULL), "not a tree");
	assert_declined(topogen_hyperx(5, 4, 2, NULL), "not a tree");
	assert_declined(topogen_random(40, 5, 4, NULL), "not a tree");
}

static void assert_free_of_contention(struct topo *t, const struct route_options *o)
{
	struct routes *r = updown_with("ftree", t, NULL, o, 2);

	assert_non_null(r);
	assert_int_equal(tables_shift_congestion(r, 0), 1);
	routes_unref(r);
	topo_unref(t);
}

static void shifts_meet_no_contention(void **state)
{
	static const struct topogen_tree trees[] = {
		{ 4, 4, 4, 4, 4, 1, 1 }, /* k-ary */
		{ 4, 4, 4, 2, 8, 2, 1 }, /* two cables to every agg */
		{ 4, 4, 4, 4, 2, 1, 2 }, /* and to every core */
		{ 2, 6, 3, 2, 6, 1, 1 },
	};

	for (unsigned k = 4; k <= 12; k += 4)
		assert_free_of_contention(topogen_fat_tree3(k, NULL), NULL);
	assert_free_of_contention(topogen_fat_tree2(8, 4, 8, 2, NULL), NULL);
	for (unsigned i = 0; i < ARRAY_SIZE(trees); i++)
		assert_free_of_contention(topogen_tree3(&trees[i], NULL), NULL);
}

/* One dead uplink and more: still a tree, still without a root file. */
static void broken_trees_are_trees(void **state)
{
	for (unsigned percent = 1; percent <= 10; percent++) {
		struct topogen o = { .seed = percent, .damage = percent / 100.0 };
		struct topo *t = topogen_fat_tree3(8, &o);
		struct routes *r = updown_with("ftree", t, NULL, NULL, 2);
		struct route_verdict v;

		assert_non_null(r);
		routes_check(r, 2, &v);
		assert_int_equal(v.unreachable, 0);
		assert_int_equal(v.switch_unreachable, 0);
		assert_false(v.credit_loop);
		assert_true(tables_bisections(r, 20, 1) > 0.5);
		routes_unref(r);
		topo_unref(t);
	}
}

static void roots_may_be_given(void **state)
{
	struct topo *t = topogen_fat_tree3(4, NULL);
	struct graph *g = graph_new(t, NULL);
	uint16_t levels[20];
	guid_t roots[20];
	struct route_options o = { .roots = { .guids = roots, .given = true } };

	dmodk_levels(g, levels);
	for (uint32_t s = 0; s < 20; s++)
		if (levels[s] == 2)
			roots[o.roots.n++] = t->switches[s].guid;
	assert_int_equal(o.roots.n, 4);
	graph_free(g);
	assert_free_of_contention(t, &o);
	o.roots.n = 1;
	roots[0] = 99;
	t = topogen_fat_tree3(4, NULL);
	assert_null(updown_with("ftree", t, NULL, &o, 1));
	topo_unref(t);
}

/* Every third host does I/O: the shifts of the others must not notice. */
static void compute_nodes_have_slots_of_their_own(void **state)
{
	struct topo *t = topogen_fat_tree2(6, 4, 6, 1, NULL);
	guid_t io[36], cn[36];
	struct route_options by_io = { .io = { .guids = io, .given = true } };
	struct route_options by_cn = { .cn = { .guids = cn, .given = true } };
	struct routes *a, *b;
	uint32_t n, *order;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (h % 3 == 1)
			io[by_io.io.n++] = t->hosts[h].guid;
		else
			cn[by_cn.cn.n++] = t->hosts[h].guid;
	a = updown_with("ftree", t, NULL, &by_io, 2);
	b = updown_with("ftree", t, NULL, &by_cn, 2);
	assert_same_tables(a, b);
	assert_updown(a);
	for (uint32_t s = 0; s < t->n_switches; s++) {
		unsigned used[37] = { 0 };

		for (uint32_t h = 0; h < t->n_hosts; h++)
			if (h % 3 != 1 && t->hosts[h].sw != s)
				used[routes_port(a, s, t->hosts[h].lid)]++;
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++)
			if (topo_port(t, s, p)->sw != TOPO_NONE)
				assert_in_range(used[p], 4, 5);
	}
	order = ftree_ca_order(t, &by_cn, &n);
	assert_int_equal(n, 24);
	for (uint32_t i = 0; i < n; i++)
		assert_true(order[i] != TOPO_NONE && order[i] % 3 != 1);
	free(order);
	routes_unref(a);
	routes_unref(b);
	topo_unref(t);
}

static void lists_that_name_nobody_are_refused(void **state)
{
	struct topo *t = topogen_fat_tree3(4, NULL);

	assert_null(updown_with("ftree", t, NULL,
				&(struct route_options){ .cn = { .given = true } }, 1));
	assert_null(updown_with("ftree", t, NULL,
				&(struct route_options){ .io = { .given = true, .broken = true } },
				1));
	topo_unref(t);
}

static void places_that_are_missing_are_told(void **state)
{
	struct topogen less = { .without_host = 3 };
	struct topo *t = topogen_fat_tree2(3, 2, 4, 1, &less);
	uint32_t n, missing = 0, *order = ftree_ca_order(t, &(struct route_options){ 0 }, &n);

	assert_int_equal(n, 12);
	for (uint32_t i = 0; i < n; i++)
		missing += order[i] == TOPO_NONE;
	assert_int_equal(missing, 1);
	free(order);
	topo_unref(t);
}

static void another_order_does_no_harm(void **state)
{
	struct route_options o = { .quasi_ftree_indexing = true };

	for (unsigned number = 1; number < 60; number += 6)
		assert_updown_life("ftree", number, &o);
	assert_free_of_contention(topogen_fat_tree3(8, NULL), &o);
}

/* From the roots leaves are found in another order than by GUID. */
static void indexing_from_the_roots_is_another(void **state)
{
	struct topogen o = { .seed = 5, .random_guids = true };
	struct route_options plain = { 0 }, quasi = { .quasi_ftree_indexing = true };
	struct topo *t = topogen_fat_tree3(6, &o);
	struct routes *a = updown_with("ftree", t, NULL, &plain, 1);
	struct routes *b = updown_with("ftree", t, NULL, &quasi, 1);

	assert_true(memcmp(a->lft, b->lft, (size_t)t->n_switches * a->row_size));
	assert_updown(b);
	routes_unref(a);
	routes_unref(b);
	topo_unref(t);
}

static void odd_fabrics_are_survived(void **state)
{
	assert_survives_odd_fabrics("ftree");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_are_taken_and_others_declined),
		cmocka_unit_test(what_is_no_tree_is_declined_with_a_reason),
		cmocka_unit_test(shifts_meet_no_contention),
		cmocka_unit_test(broken_trees_are_trees),
		cmocka_unit_test(roots_may_be_given),
		cmocka_unit_test(compute_nodes_have_slots_of_their_own),
		cmocka_unit_test(lists_that_name_nobody_are_refused),
		cmocka_unit_test(places_that_are_missing_are_told),
		cmocka_unit_test(another_order_does_no_harm),
		cmocka_unit_test(indexing_from_the_roots_is_another),
		cmocka_unit_test(odd_fabrics_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
