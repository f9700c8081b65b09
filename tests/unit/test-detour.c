// SPDX-License-Identifier: BSD-2-Clause
/* Load of cables, and what it would be without some. */
#include "route-desk.h"

#include "control/control_detour.h"
#include "tests/lib/topocut.h"

static void loads_of_now_are_those_of_the_verifier(void **state)
{
	for (unsigned i = 0; i < 60; i++) {
		struct topogen o = any_options(i);
		_cleanup_(topo_unrefp) struct topo *t = NULL;
		_cleanup_(routes_unrefp) struct routes *r = NULL;
		_cleanup_free_ bool *none = NULL;
		struct route_verdict v;
		struct detour d;

		o.lmc = 0;
		t = any_fabric(i, &o);
		r = route(t, NULL);
		none = xcalloc(topo_n_entries(t) + 1u, sizeof(*none));
		routes_check(r, 2, &v);
		detour_of(r, none, &d);
		assert_int_equal(d.now.pairs, v.max_load);
		assert_int_equal(d.after.pairs, d.now.pairs);
		assert_int_equal(d.after.at, d.now.at);
		assert_int_equal(d.moved, 0);
	}
}

/* 8 leaves with 4 hosts, 4 spines: without one, a leaf's 4 x 28 pairs go over three. */
static void without_a_spine(void **state)
{
	const struct topogen o = { .seed = 1 };
	_cleanup_(topo_unrefp) struct topo *t = topogen_fat_tree2(8, 4, 4, 1, &o);
	_cleanup_(routes_unrefp) struct routes *r = route(t, NULL);
	struct detour d;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		_cleanup_free_ bool *missing = NULL;
		bool is_leaf = topo_port(t, s, 1)->host != TOPO_NONE ||
			       topo_port(t, s, t->switches[s].n_ports)->host != TOPO_NONE;

		missing = detour_missing(t, t->switches[s].guid, 0, false);
		detour_of(r, missing, &d);
		assert_int_equal(d.now.pairs, 28);
		if (is_leaf) { /* all its pairs are lost, none goes another way */
			assert_int_equal(d.moved, 0);
			continue;
		}
		assert_int_equal(d.moved, 8 * 28);
		assert_in_range(d.after.pairs, 38, 44);
		assert_false(missing[d.after.at]);
	}
}

/* Any cable of any fabric: pairs are moved, or lost; none is counted twice, none goes round. */
static void without_any_cable(void **state)
{
	for (unsigned i = 0; i < 60; i++) {
		struct topogen o = any_options(i);
		_cleanup_(topo_unrefp) struct topo *t = NULL, *broken = NULL;
		_cleanup_(routes_unrefp) struct routes *r = NULL, *after = NULL;
		_cleanup_free_ uint32_t *cables = NULL;
		_cleanup_free_ bool *missing = NULL;
		struct topocut *cut;
		struct route_verdict v;
		struct detour d;
		uint32_t n, sw, at;

		o.lmc = 0;
		t = any_fabric(i, &o);
		r = route(t, NULL);
		cables = topocut_cables(t, &n);
		if (!n) {
			continue;
		}
		at = cables[i * 7 % n];
		sw = topo_switch_with(t, at);
		cut = topocut_new(t);
		cut->ports[at] = true;
		broken = topocut_apply(t, cut);
		topocut_free(cut);
		after = route(broken, NULL);
		routes_check(after, 2, &v);
		missing = detour_missing(t, t->switches[sw].guid,
					 at - t->switches[sw].first_port, false);
		assert_true(missing[at]);
		detour_of(r, missing, &d);
		/* An engine that spreads all anew is better by little. */
		assert_in_range(d.after.pairs, v.max_load / 2, 3 * (uint64_t)v.max_load + 8);
		if (d.after.at != TOPO_NONE)
			assert_false(missing[d.after.at]);
	}
}

static void a_port_that_is_not_there(void **state)
{
	const struct topogen o = { .seed = 1 };
	_cleanup_(topo_unrefp) struct topo *t = topogen_fat_tree2(2, 2, 2, 1, &o);

	assert_null(detour_missing(t, 1, 1, true));
	assert_null(detour_missing(t, t->switches[0].guid, t->switches[0].n_ports + 1u, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_of_now_are_those_of_the_verifier),
		cmocka_unit_test(without_a_spine),
		cmocka_unit_test(without_any_cable),
		cmocka_unit_test(a_port_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
