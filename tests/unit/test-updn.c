// SPDX-License-Identifier: BSD-2-Clause
/*
 * updn: no way turns up after it went down, and every pair has one; on any graph, with any roots.
 */
#include "route/select/engines.h"
#include "tests/lib/rounds.h"
#include "tests/lib/tables.h"
#include "tests/unit/updown-desk.h"

static void any_fabric_is_routed_up_and_down(void **state)
{
	for (unsigned number = 0; number < test_rounds(42); number++)
		assert_updown_life("updn", number, NULL);
}

static guid_t switch_guid(const struct topo *t, uint32_t number)
{
	return t->switches[number % t->n_switches].guid;
}

/* Roots that are no roots, twice the same, and one that is not there. */
static void any_roots_will_do(void **state)
{
	for (unsigned number = 0; number < test_rounds(24); number++) {
		struct topogen o = any_options(number);
		struct topo *t = any_fabric(number, &o);
		guid_t guids[] = { switch_guid(t, number), switch_guid(t, number * 7 + 3), 77,
				   switch_guid(t, number) };
		struct route_options options = {
			.roots = { .guids = guids, .n = 1 + number % 4, .given = true },
		};

		topo_unref(t);
		assert_updown_life("updn", number, &options);
	}
}

static void ids_break_ties(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 4, 4, 1 }, 2, NULL);
	struct route_guid_id ids[16];
	guid_t roots[] = { switch_guid(t, 0), switch_guid(t, 5) };
	struct route_options options = {
		.roots = { .guids = roots, .n = 2, .given = true }, .ids = ids, .n_ids = 16,
	};
	struct routes *a, *b;

	for (uint32_t s = 0; s < 16; s++)
		ids[s] = (struct route_guid_id){ .guid = switch_guid(t, s), .id = s };
	a = updown_with("updn", t, NULL, &options, 1);
	for (uint32_t s = 0; s < 16; s++)
		ids[s].id = 16 - s;
	b = updown_with("updn", t, NULL, &options, 1);
	assert_updown(a);
	assert_updown(b);
	assert_true(memcmp(a->places, b->places, 16 * sizeof(*a->places)));
	routes_unref(a);
	routes_unref(b);
	topo_unref(t);
}

/*
 * A root that is given is above all its neighbours, unless it turns round for the sake of others.
 */
static void the_only_root_is_the_highest(void **state)
{
	struct topo *t = topogen_torus((unsigned[]){ 5, 4, 1 }, 1, NULL);

	for (uint32_t s = 0; s < t->n_switches; s++) {
		guid_t root = switch_guid(t, s);
		struct route_options options = { .roots = {
							 .guids = &root, .n = 1, .given = true } };
		struct routes *r = updown_with("updn", t, NULL, &options, 1);

		assert_int_equal(r->places[s], 0);
		routes_unref(r);
	}
	topo_unref(t);
}

/* Of two spines one is listed: the other one carries nothing, and the note says so. */
static void a_spine_that_is_no_root_is_told(void **state)
{
	struct topo *t = topogen_fat_tree2(4, 2, 3, 1, NULL);
	guid_t roots[] = { switch_guid(t, 4), switch_guid(t, 5) };
	static const char *const engines[] = { "updn", "ftree" };

	for (unsigned e = 0; e < 2; e++)
		for (uint32_t n = 1; n <= 2; n++) {
			struct route_options options = {
				.roots = { .guids = roots, .n = n, .given = true } };
			struct routes *r = updown_with(engines[e], t, NULL, &options, 1);

			if (n == 1)
				assert_non_null(strstr(r->note, "WARNING: root_guid_file leaves "
							       "out 1 switch as high as its "
							       "roots, first 0x0002000000000006"));
			else
				assert_string_equal(r->note, "");
			routes_unref(r);
		}
	topo_unref(t);
}

/* Trees keep their shortest ways, whole and (nearly) when broken, without a root file. */
static void trees_are_routed_minimally(void **state)
{
	for (unsigned percent = 0; percent <= 10; percent++) {
		struct topogen o = { .seed = percent, .damage = percent / 100.0 };
		struct topo *t = topogen_fat_tree3(8, &o);
		struct routes *r = updown_with("updn", t, NULL, NULL, 2);
		struct route_verdict v;

		routes_check(r, 2, &v);
		assert_int_equal(v.unreachable, 0);
		assert_int_equal(v.switch_unreachable, 0);
		assert_false(v.credit_loop);
		if (!percent) {
			assert_true(v.minimal);
			assert_int_equal(tables_shift_congestion(r, 0), 1);
		}
		assert_true(v.avg_hops < 4);
		routes_unref(r);
		topo_unref(t);
	}
}

/* Unless the cable was what held it together: the only way up of some host. */
static void the_order_stays_when_a_cable_goes(void **state)
{
	struct topo *t = topogen_fat_tree3(8, NULL);
	struct routes *whole = updown_with("updn", t, NULL, NULL, 2);
	unsigned others = 0;

	for (unsigned link = 0; link < 256; link += 5) {
		struct topogen o = { .without_link = link + 1 };
		struct topo *broken = topogen_fat_tree3(8, &o);
		struct routes *r = updown_with("updn", broken, whole, NULL, 2), *back;

		others += memcmp(whole->places, r->places, t->n_switches * sizeof(*r->places)) != 0;
		assert_updown(r);
		back = updown_with("updn", t, r, NULL, 2);
		assert_same_tables(whole, back);
		routes_unref(back);
		routes_unref(r);
		topo_unref(broken);
	}
	assert_in_range(others, 0, 5);
	routes_unref(whole);
	topo_unref(t);
}

/* Hosts of one switch to which `sw` sends up, or down. */
static unsigned count_ways(const struct routes *r, uint32_t sw, uint32_t at, bool up)
{
	unsigned n = 0;

	for (uint32_t h = 0; h < r->topo->n_hosts; h++) {
		uint8_t port = routes_port(r, sw, r->topo->hosts[h].lid);

		if (r->topo->hosts[h].sw == at && sw != at)
			n += (r->places[topo_port(r->topo, sw, port)->sw] < r->places[sw]) == up;
	}
	return n;
}

/* Up first and down at once: where both are as far, and no switch above relies on it, both do. */
static void equal_ways_up_and_down_share_the_load(void **state)
{
	struct topo *t = topogen_hyperx(5, 5, 4, NULL);
	struct routes *r = updown_with("updn", t, NULL, NULL, 1);
	unsigned both = 0;

	assert_updown(r);
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (uint32_t at = 0; at < t->n_switches; at++)
			both += count_ways(r, s, at, true) && count_ways(r, s, at, false);
	assert_in_range(both, 20, 300);
	routes_unref(r);
	topo_unref(t);
}

/* ---- the order of before, in wide trees ------------------------------------------------------ */

/*
 * A pod of three levels with 254 ports below one core, and beside it another one of three switches.
 * One top of the pod has one bridge more below it, which hangs on the other pod by two switches.
 */
enum { WIDE_TOPS = 40, WIDE_MIDS = 127, WIDE_LEAVES = 214, WIDE_HOSTS = 8 };
#define WIDE_CORE UINT64_C(0x1000)

struct wide {
	struct topo_builder *b;
	guid_t core, tops, mids, leaves, bridge, lower, join, other_top, other_mid;
};

static void add_wide_switch(struct wide *w, guid_t guid, lid_t lid)
{
	topo_add_switch(w->b, &(struct topo_switch){ .guid = guid, .n_ports = 254, .lid = lid,
						      .lft_cap = 49152 });
}

static void add_wide_host(struct wide *w, guid_t sw, lid_t lid)
{
	guid_t guid = 0x900000 + lid;

	topo_add_host(w->b, &(struct topo_host){ .guid = guid, .node_guid = guid,
						  .node_port = 1, .lid = lid });
	topo_add_host_link(w->b, guid, sw, 254);
}

static void add_wide_pod(struct wide *w, bool with_core)
{
	for (unsigned i = 0; i < WIDE_TOPS; i++) {
		add_wide_switch(w, w->tops + i, (lid_t)(100 + i));
		if (with_core)
			topo_add_link(w->b, w->core, (uint8_t)(i + 1), w->tops + i, 254);
		for (unsigned k = 0; k < WIDE_MIDS; k++)
			topo_add_link(w->b, w->tops + i, (uint8_t)(k + 2), w->mids + k,
				      (uint8_t)(i + 1));
	}
	for (unsigned k = 0; k < WIDE_MIDS; k++) {
		add_wide_switch(w, w->mids + k, (lid_t)(200 + k));
		for (unsigned i = 0; i < WIDE_LEAVES; i++)
			topo_add_link(w->b, w->mids + k, (uint8_t)(WIDE_TOPS + 1 + i),
				      w->leaves + i, (uint8_t)(k + 1));
	}
	for (unsigned i = 0; i < WIDE_LEAVES; i++)
		add_wide_switch(w, w->leaves + i, (lid_t)(400 + i));
	for (unsigned i = 0; i < WIDE_HOSTS; i++)
		add_wide_host(w, w->leaves + i * 20, (lid_t)(700 + i));
	topo_add_link(w->b, w->tops, 1, w->bridge, 1);
}

/* Without the cables of the core the pod hangs on the bridge. */
static struct topo *wide_tree(bool with_core)
{
	struct wide w = {
		.b = topo_builder_new(), .core = WIDE_CORE, .tops = 0x2000, .mids = 0x3000,
		.leaves = 0x4000, .bridge = 0x2f00, .lower = 0x5000, .join = 0x5001,
		.other_top = 0x2fff, .other_mid = 0x3fff,
	};
	const guid_t others[] = { w.core, w.bridge, w.lower, w.join, w.other_top, w.other_mid };

	for (unsigned i = 0; i < ARRAY_SIZE(others); i++)
		add_wide_switch(&w, others[i], (lid_t)(1 + i));
	add_wide_pod(&w, with_core);
	topo_add_link(w.b, w.core, 200, w.other_top, 1);
	topo_add_link(w.b, w.other_top, 2, w.other_mid, 1);
	topo_add_link(w.b, w.other_mid, 2, w.join, 1);
	topo_add_link(w.b, w.join, 2, w.lower, 1);
	topo_add_link(w.b, w.lower, 2, w.bridge, 2);
	add_wide_host(&w, w.lower, 720);
	add_wide_host(&w, w.join, 721);
	return topo_build(w.b);
}

/* Neighbours that change sides between `a` and `b`. */
static unsigned count_turned(const struct routes *a, const struct routes *b)
{
	unsigned n = 0;

	for (uint32_t s = 0; s < a->topo->n_switches; s++)
		for (unsigned p = 1; p <= a->topo->switches[s].n_ports; p++) {
			uint32_t peer = topo_port(b->topo, s, p)->sw;

			n += peer != TOPO_NONE && peer > s &&
			     (a->places[s] < a->places[peer]) != (b->places[s] < b->places[peer]);
		}
	return n;
}

/*
 * The top that is looked at first has no chain, and there are four million neighbours to look at:
 * LOOKS_MAX in tree.c ends that, and the tables are those of another order.
 */
static void the_search_for_chains_in_wide_trees_ends(void **state)
{
	struct topo *whole = wide_tree(true), *broken = wide_tree(false);
	guid_t core = WIDE_CORE;
	struct route_options options = { .roots = { .guids = &core, .n = 1, .given = true } };
	struct routes *was = updown_with("updn", whole, NULL, &options, 2);
	struct routes *r = updown_with("updn", broken, was, &options, 2);

	assert_updown(was);
	assert_updown(r);
	assert_true(count_turned(was, r) > WIDE_MIDS);
	routes_unref(was);
	routes_unref(r);
	topo_unref(whole);
	topo_unref(broken);
}

static void odd_fabrics_are_survived(void **state)
{
	assert_survives_odd_fabrics("updn");
}

static void cancelled_says_so(void **state)
{
	atomic_bool cancelled = true;
	struct topo *t = topogen_fat_tree3(4, NULL);
	char why[100] = "";

	assert_null(route_engine_run(
		route_engine_find("updn"),
		&(struct route_job){ .topo = t, .cancelled = &cancelled }, why, sizeof(why)));
	assert_string_equal(why, "cancelled");
	topo_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_fabric_is_routed_up_and_down),
		cmocka_unit_test(any_roots_will_do),
		cmocka_unit_test(ids_break_ties),
		cmocka_unit_test(the_only_root_is_the_highest),
		cmocka_unit_test(a_spine_that_is_no_root_is_told),
		cmocka_unit_test(trees_are_routed_minimally),
		cmocka_unit_test(the_order_stays_when_a_cable_goes),
		cmocka_unit_test(equal_ways_up_and_down_share_the_load),
		cmocka_unit_test(the_search_for_chains_in_wide_trees_ends),
		cmocka_unit_test(odd_fabrics_are_survived),
		cmocka_unit_test(cancelled_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
