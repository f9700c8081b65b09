// SPDX-License-Identifier: BSD-2-Clause
/* dor: grids whole and damaged, lanes as few as there can be, fabrics that are no grids. */
#include "tests/unit/grid-desk.h"

#include <stdio.h>

#include "tests/lib/rounds.h"
#include "tests/unit/route-desk.h"

#define LARGE 2 /* rows before this one once */

static void whole_grids_are_shortest_and_even(void **state)
{
	static const struct {
		const char *shape;
		unsigned hosts, n_vls, n_sls;
		double unevenness; /* greatest load over mean load */
	} rows[] = {
		{ "8tx8tx8t", 2, 2, 8, 1.01 }, { "6tx6tx6t", 4, 2, 1, 1.01 },
		{ "2", 2, 1, 1, 1.0 },	       { "9", 2, 1, 1, 2.0 },
		{ "3t", 2, 1, 1, 1.0 },	       { "4t", 2, 1, 1, 1.0 },
		{ "5t", 2, 2, 1, 1.0 },	       { "6t", 4, 2, 1, 1.01 },
		{ "7t", 2, 2, 2, 1.0 },	       { "8t", 4, 2, 2, 1.01 },
		{ "33t", 1, 2, 2, 1.0 },       { "3x3x3", 2, 1, 1, 1.5 },
		{ "8x8", 1, 1, 1, 2.0 },       { "3tx3tx3t", 2, 1, 1, 1.0 },
		{ "4tx4tx4t", 2, 1, 1, 1.0 },  { "5tx5t", 2, 2, 1, 1.0 },
		{ "7tx7t", 1, 2, 4, 1.0 },     { "3tx4tx5t", 2, 2, 1, 2.0 },
		{ "3tx8tx5x2", 1, 2, 2, 3.0 }, { "2x2x2x2x2x2x2x2", 1, 1, 1, 1.0 },
		{ "2x2x2x2x2", 3, 1, 1, 1.0 }, { "4tx7tx2", 1, 2, 2, 2.0 },
		{ "10tx7t", 2, 2, 4, 2.0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned seed = 0; seed < (i < LARGE ? 1 : 3); seed++) {
			struct topogen o = { .seed = seed,
					     .random_guids = seed,
					     .random_lids = seed == 2,
					     .lmc = seed == 2 };
			struct topo *t = topogen_grid(rows[i].shape, rows[i].hosts, 1 + seed, &o);
			struct route_job job = { .topo = t };
			struct route_verdict v;
			char why[160];
			struct routes *r = route_by("dor", &job, why);

			if (!r)
				fail_msg("%s: %s", rows[i].shape, why);
			routes_check(r, 1, &v);
			if (getenv("GRID_WHY")) {
				char text[ROUTE_VERDICT_STRLEN];

				print_message("%s: %s\n", r->note, route_verdict_str(&v, text));
			}
			assert_true(holds(&v));
			assert_true(v.minimal);
			assert_int_equal(v.n_vls, rows[i].n_vls);
			assert_int_equal(v.n_sls, rows[i].n_sls);
			assert_int_equal(v.unreachable, 0);
			assert_int_equal(v.switch_unreachable, 0);
			assert_true(groups_fit(r));
			if (!seed && v.max_load > rows[i].unevenness * v.avg_load)
				fail_msg("%s: %u, mean %g", rows[i].shape, v.max_load, v.avg_load);
			routes_unref(r);
			topo_unref(t);
		}
}

/* How many of 10 have tables that hold; none has others. */
static unsigned route_damaged(const char *shape, double cables, unsigned n_switches)
{
	unsigned n = 0, wrong = 0;

	for (unsigned seed = 1; seed <= 10; seed++) {
		struct topogen o = { .seed = seed, .random_guids = true, .damage = cables };
		struct topo *t = damaged_grid(shape, 2, &o, n_switches);
		struct route_job job = { .topo = t };
		struct route_verdict v;
		char why[160], text[ROUTE_VERDICT_STRLEN];
		struct routes *r = route_by("dor", &job, why);

		if (r) {
			routes_check(r, 1, &v);
			if (holds(&v))
				n++;
			else
				wrong++;
			if (!holds(&v) && getenv("GRID_WHY"))
				print_message("%s seed %u: %s\n", shape, seed,
					      route_verdict_str(&v, text));
		} else if (getenv("GRID_WHY")) {
			print_message("%s seed %u: %s\n", shape, seed, why);
		}
		routes_unref(r);
		topo_unref(t);
	}
	if (getenv("GRID_WHY"))
		print_message("%s %g %u: %u, %u wrong\n", shape, cables, n_switches, n, wrong);
	assert_int_equal(wrong, 0);
	return n;
}

static void damage_is_gone_around_or_refused(void **state)
{
	static const struct {
		const char *shape;
		double cables;
		unsigned switches, least; /* of 10 must be routed */
	} rows[] = {
		{ "5tx5tx5t", 0.005, 0, 10 }, { "5tx5tx5t", 0, 1, 10 }, { "6tx6t", 0.02, 0, 10 },
		{ "8tx8t", 0, 1, 10 }, { "4tx4tx4t", 0.01, 0, 10 }, { "4tx4tx4t", 0, 1, 10 },
		{ "3tx3tx3t", 0, 1, 10 }, { "3tx7tx4t", 0.01, 1, 10 }, { "6tx6tx6t", 0, 2, 10 },
		{ "5x5", 0.03, 0, 10 }, { "2x2x2x2x2", 0.03, 1, 10 }, { "5tx5tx5t", 0.05, 2, 10 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned n = route_damaged(rows[i].shape, rows[i].cables, rows[i].switches);

		if (n < rows[i].least)
			fail_msg("%s: only %u of 10", rows[i].shape, n);
	}
}

static void too_few_lanes_are_told(void **state)
{
	struct topo *t = topogen_grid("5tx5t", 1, 1, NULL);
	struct route_job job = { .topo = t, .options.max_vls = 1 };
	char why[160];

	(void)state;
	assert_null(route_by("dor", &job, why));
	assert_string_equal(why, "a 5x5 torus needs 2 VLs, there is 1");
	topo_unref(t);
	job.topo = t = topogen_grid("4tx4t", 1, 1, NULL);
	struct routes *r = route_by("dor", &job, why);

	assert_non_null(r);
	assert_null(r->lanes);
	routes_unref(r);
	topo_unref(t);
}

/* Which of two dimensions comes first: the one whose ports come first. */
static void order_of_ports_is_order_of_dimensions(void **state)
{
	struct topo *t = topogen_grid("3tx5t", 1, 1, NULL);
	struct route_port_order *orders = xcalloc(t->n_switches, sizeof(*orders));
	struct route_job job = { .topo = t, .options = { .port_order = orders } };
	char why[160];

	(void)state;
	for (uint32_t s = 0; s < t->n_switches; s++)
		orders[s] = (struct route_port_order){ .guid = t->switches[s].guid,
						       .n = 2,
						       .ports = { 4, 5 } };
	for (unsigned with = 0; with < 2; with++) {
		struct routes *r;
		uint8_t port;

		job.options.n_port_order = with ? t->n_switches : 0;
		r = route_by("dor", &job, why);
		assert_non_null(r);
		/* From (0,0) to (1,1): switch 1 is (1,0), switch 3 is (0,1). */
		port = routes_port(r, 0, t->hosts[4].lid);
		assert_int_equal(topo_port(t, 0, port)->sw, with ? 3 : 1);
		routes_unref(r);
	}
	free(orders);
	topo_unref(t);
}

static void rows_of_a_hyperx_are_dimensions(void **state)
{
	struct topo *t =
		topogen_hyperx(5, 4, 2, &(struct topogen){ .seed = 1, .random_guids = true });
	struct route_job job = { .topo = t };
	struct route_verdict v;
	char why[160];
	struct routes *r = route_by("dor", &job, why);

	(void)state;
	assert_non_null(r);
	assert_string_equal(r->engine, "dor");
	routes_check(r, 1, &v);
	assert_true(holds(&v));
	assert_true(v.minimal);
	routes_unref(r);
	topo_unref(t);
}

static void other_fabrics_go_by_port_numbers(void **state)
{
	(void)state;
	for (unsigned number = 0; number < test_rounds(60); number++) {
		struct topogen o = any_options(number);
		struct topo *t = any_fabric(number, &o);
		struct route_job job = { .topo = t };
		struct route_verdict v;
		char why[160];
		struct routes *r = route_by("dor", &job, why);

		if (r) {
			routes_check(r, 1, &v);
			assert_int_equal(v.lost, 0);
			assert_int_equal(v.looping, 0);
			if (strncmp(r->note, "no grid", 7) != 0)
				assert_false(v.credit_loop);
			else
				assert_minimal(r);
		}
		routes_unref(r);
		topo_unref(t);
	}
}

/* What comes and goes changes nothing for others, and LIDs of no port keep their entries. */
static void a_host_comes_and_goes_and_nothing_changes(void **state)
{
	for (unsigned seed = 0; seed < test_rounds(10); seed++) {
		struct topogen o = { .seed = seed, .random_guids = true, .random_lids = true },
			       less = o;
		struct topo *t = topogen_grid("5tx6tx2", 3, 2, &o), *smaller;
		struct route_job job = { .topo = t };
		struct routes *before, *during;
		char why[160];

		less.without_host = 1 + seed * 13;
		smaller = topogen_grid("5tx6tx2", 3, 2, &less);
		before = route_by("dor", &job, why);
		assert_non_null(before);
		job = (struct route_job){ .topo = smaller, .previous = before };
		during = route_by("dor", &job, why);
		assert_non_null(during);
		assert_same_tables(before, during);
		routes_unref(before);
		routes_unref(during);
		topo_unref(t);
		topo_unref(smaller);
	}
}

static void nothing_at_all_is_no_trouble(void **state)
{
	struct topo_builder *b = topo_builder_new();
	struct topo *t;
	struct route_job job;
	char why[160];

	(void)state;
	topo_add_host(b, &(struct topo_host){ .guid = 1, .lid = 1, .lmc = 2 });
	job = (struct route_job){ .topo = t = topo_build(b) };
	routes_unref(route_by("dor", &job, why));
	topo_unref(t);
	job.topo = t = topogen_grid("1", 3, 1, NULL);
	struct routes *r = route_by("dor", &job, why);

	assert_non_null(r);
	for (unsigned h = 0; h < 3; h++)
		assert_int_equal(routes_port(r, 0, t->hosts[h].lid), t->hosts[h].sw_port);
	routes_unref(r);
	topo_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_grids_are_shortest_and_even),
		cmocka_unit_test(damage_is_gone_around_or_refused),
		cmocka_unit_test(too_few_lanes_are_told),
		cmocka_unit_test(order_of_ports_is_order_of_dimensions),
		cmocka_unit_test(rows_of_a_hyperx_are_dimensions),
		cmocka_unit_test(other_fabrics_go_by_port_numbers),
		cmocka_unit_test(a_host_comes_and_goes_and_nothing_changes),
		cmocka_unit_test(nothing_at_all_is_no_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
