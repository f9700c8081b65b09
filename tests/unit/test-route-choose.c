// SPDX-License-Identifier: BSD-2-Clause
/* route/select/choose.c: whose tables count, and what is said of the others. */
#include "tests/unit/route-desk.h"

#include "route/select/choose.h"

static struct routes *choose(const struct topo *t, const char *list, bool allow_unsafe,
			     struct route_choice *ret)
{
	const struct route_chain chain = { .list = list, .allow_unsafe = allow_unsafe };

	return route_choose(&chain, &(struct route_job){ .topo = t, .threads = 1 }, ret);
}

static struct topo *torus(unsigned size)
{
	return topogen_torus((unsigned[]){ size, size, 1 }, 2, &(struct topogen){ 0 });
}

static void tables_with_a_credit_loop_are_refused_in_favour_of_auto(void **state)
{
	struct topo *t = torus(5);
	struct route_choice c;
	struct routes *r = choose(t, "minhop", false, &c);

	assert_non_null(r);
	assert_string_equal(r->engine, "auto");
	assert_false(c.verdict.credit_loop);
	assert_non_null(
		strstr(c.refused,
		       "minhop: its tables can block each other (credit loop) and are refused"));
	routes_unref(r);
	r = choose(t, "minhop,no_fallback", false, &c);
	assert_null(r);
	assert_string_equal(c.why, "minhop: its tables can block each other (credit loop)");
	topo_unref(t);
}

static void the_administrator_may_allow_them(void **state)
{
	struct topo *t = torus(5);
	struct route_choice c;
	struct routes *r = choose(t, "minhop", true, &c);

	assert_non_null(r);
	assert_string_equal(r->engine, "minhop");
	assert_true(c.unsafe && c.verdict.credit_loop);
	routes_unref(r);
	topo_unref(t);
}

static void names_that_are_none_are_passed_over(void **state)
{
	struct topo *t = torus(4);
	struct route_choice c;
	struct routes *r = choose(t, " nobody,\tupdn minhop", false, &c);

	assert_non_null(r);
	assert_string_equal(r->engine, "updn");
	routes_unref(r);
	assert_null(choose(t, "nobody no_fallback", false, &c));
	assert_true(strlen(c.why) > 0);
	topo_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_with_a_credit_loop_are_refused_in_favour_of_auto),
		cmocka_unit_test(the_administrator_may_allow_them),
		cmocka_unit_test(names_that_are_none_are_passed_over),
	};

	return cmocka_run_group_tests_name("route-choose", tests, NULL, NULL);
}
