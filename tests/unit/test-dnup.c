// SPDX-License-Identifier: BSD-2-Clause
/* dnup: levels from the hosts upwards; no loop of credits even where all switches have hosts. */
#include "tests/lib/tables.h"
#include "tests/unit/updown-desk.h"

static void any_fabric_is_routed_up_and_down(void **state)
{
	for (unsigned number = 0; number < 42; number++)
		assert_updown_life("dnup", number, NULL);
}

static void a_dragonfly_has_no_loop(void **state)
{
	struct topo *t = topogen_dragonfly(9, 4, 2, NULL);
	struct routes *r = updown_with("dnup", t, NULL, NULL, 2);
	struct route_verdict v;

	routes_check(r, 2, &v);
	assert_int_equal(v.unreachable, 0);
	assert_int_equal(v.switch_unreachable, 0);
	assert_false(v.credit_loop);
	assert_updown(r);
	routes_unref(r);
	topo_unref(t);
}

static void trees_are_routed_without_contention(void **state)
{
	struct topo *t = topogen_fat_tree3(8, NULL);
	struct routes *r = updown_with("dnup", t, NULL, NULL, 2);

	assert_int_equal(tables_shift_congestion(r, 0), 1);
	routes_unref(r);
	topo_unref(t);
}

static void odd_fabrics_are_survived(void **state)
{
	assert_survives_odd_fabrics("dnup");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_fabric_is_routed_up_and_down),
		cmocka_unit_test(a_dragonfly_has_no_loop),
		cmocka_unit_test(trees_are_routed_without_contention),
		cmocka_unit_test(odd_fabrics_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
