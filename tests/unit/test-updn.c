// SPDX-License-Identifier: BSD-2-Clause
/*
 * updn: no way turns up after it went down, and every pair has one; on any graph, with any roots.
 */
#include "route/select/engines.h"
#include "tests/lib/tables.h"
#include "tests/unit/updown-desk.h"

static void any_fabric_is_routed_up_and_down(void **state)
{
	for (unsigned number = 0; number < 42; number++)
		assert_updown_life("updn", number, NULL);
}

static guid_t switch_guid(const struct topo *t, uint32_t number)
{
	return t->switches[number % t->n_switches].guid;
}

/* Roots that are no roots, twice the same, and one that is not there. */
static void any_roots_will_do(void **state)
{
	for (unsigned number = 0; number < 24; number++) {
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
		cmocka_unit_test(trees_are_routed_minimally),
		cmocka_unit_test(the_order_stays_when_a_cable_goes),
		cmocka_unit_test(equal_ways_up_and_down_share_the_load),
		cmocka_unit_test(odd_fabrics_are_survived),
		cmocka_unit_test(cancelled_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
