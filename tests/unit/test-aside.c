// SPDX-License-Identifier: BSD-2-Clause
/*
 * Aggregation nodes: to every engine a fabric with one in each switch is the fabric without them.
 * Paths to them are those to their switch, end and close no cycle.
 */
#include "route/core/aside.h"

#include "tests/unit/route-desk.h"

/* Paths as with a fabric without the aggregation nodes. */
static void assert_same_paths(const struct routes *with, const struct routes *without)
{
	const struct topo *t = without->topo;

	assert_int_equal(t->n_hosts, with->topo->n_hosts);
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (uint32_t h = 0; h < t->n_hosts; h++)
			TOPO_EACH_LID(&t->hosts[h], lid)
				assert_int_equal(routes_port(with, s, (lid_t)lid),
						 routes_port(without, s, (lid_t)lid));
}

/* Each is reached where its switch is. */
static void assert_beside_switches(const struct routes *r)
{
	const struct topo *t = r->topo;

	for (uint32_t i = 0; i < t->n_asides; i++) {
		uint32_t at = t->asides[i].sw;

		for (uint32_t s = 0; s < t->n_switches; s++)
			assert_int_equal(routes_port(r, s, t->asides[i].lid),
					 s == at ? t->asides[i].sw_port
						 : routes_port(r, s, t->switches[at].lid));
		for (uint32_t s = 0; s < t->n_switches && r->lanes; s++)
			assert_int_equal(sl2vl_sl(r->lanes, s, at, t->asides[i].lid, 0),
					 sl2vl_sl(r->lanes, s, at, t->switches[at].lid, 0));
	}
}

static struct routes *run(const char *engine, const struct topo *t, char why[128])
{
	return route_engine_run(route_engine_find(engine),
				&(struct route_job){ .topo = t, .threads = 2,
						     .options.nue_max_num_vls = 0 }, why, 128);
}

/* Which engines deal out VLs by load over all LIDs, so that more LIDs are other paths. */
static bool deals_by_load(const char *engine)
{
	const struct route_engine *e = route_engine_find(engine);

	return e->by_load || e->detours || e->chooses;
}

static void every_engine_routes_as_without(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "dnup", "ftree", "dor", "lash",
					       "sssp", "dfsssp", "nue", "dragonfly", "hyperx",
					       "columns", "auto" };

	for (unsigned number = 0; number < 12; number++)
		for (size_t e = 0; e < ARRAY_SIZE(engines); e++) {
			struct topogen o = any_options(number);
			struct topo *plain = any_fabric(number, &o);
			struct topo *t = (o.asides = true, any_fabric(number, &o));
			char why[128] = "", why2[128] = "";
			struct routes *a = run(engines[e], plain, why);
			struct routes *b = run(engines[e], t, why2);
			struct route_verdict v, w;

			print_message("# %u %s %s\n", number, engines[e], why2);
			assert_int_equal(t->n_asides, t->n_switches);
			assert_int_equal(!a, !b);
			if (a) {
				routes_check(a, 1, &v);
				routes_check(b, 1, &w);
				assert_int_equal(v.lost, w.lost);
				assert_int_equal(v.credit_loop, w.credit_loop);
				assert_beside_switches(b);
			}
			if (a && !deals_by_load(engines[e])) {
				assert_same_paths(b, a);
				assert_int_equal(v.max_load, w.max_load);
				assert_int_equal(v.min_load, w.min_load);
			}
			routes_unref(a);
			routes_unref(b);
			topo_unref(t);
			topo_unref(plain);
		}
}

/*
 * Where every switch has hosts, a judge that takes the aggregation nodes for hosts finds no fault
 * in the tables that an engine with VLs made for a fabric where they are none.
 */
static void their_paths_close_no_cycle(void **state)
{
	static const char *const engines[] = { "lash", "dfsssp", "nue", "dragonfly", "hyperx" };
	unsigned n = 0;

	for (unsigned number = 3; number < 12; number += number % 6 == 5 ? 4 : 1)
		for (size_t e = 0; e < ARRAY_SIZE(engines); e++) {
			struct topogen o = { .seed = number, .asides = true };
			struct topo *t = any_fabric(number, &o);
			struct topo *as = (o.asides_are_hosts = true, any_fabric(number, &o));
			char why[128] = "";
			struct routes *r = run(engines[e], t, why);
			struct route_verdict v;

			assert_int_equal(as->n_asides, 0);
			if (r) {
				struct routes taken = *r;

				taken.topo = as;
				routes_check(&taken, 1, &v);
				print_message("# %u %s\n", number, engines[e]);
				assert_null(route_fault(&v));
				n++;
			}
			routes_unref(r);
			topo_unref(t);
			topo_unref(as);
		}
	assert_true(n > 15);
}

static void they_are_found_and_counted(void **state)
{
	struct topogen o = { .asides = true };
	struct topo *t = topogen_fat_tree2(3, 2, 2, 1, &o);
	const struct topo_host *spine;

	assert_int_equal(t->n_asides, 5);
	assert_int_equal(t->n_hosts, 6);
	assert_int_equal(topo_count_lids(t), 5 + 5 + 6);
	spine = topo_find_end(t, TOPOGEN_ASIDE_GUID + 5);
	assert_non_null(spine);
	assert_int_equal(t->max_lid, spine->lid);
	assert_ptr_equal(topo_end_at(t, spine->sw, spine->sw_port), spine);
	assert_int_equal(topo_find_host(t, spine->guid), TOPO_NONE);
	assert_false(topo_port_loops(topo_port(t, spine->sw, spine->sw_port)));
	topo_unref(t);
}

/* A switch that has lost its LID has no path to its aggregation node either. */
static void without_the_switch_there_is_no_path(void **state)
{
	struct topo_builder *b = topo_builder_new();
	struct topo *t;
	struct routes *r;

	topo_add_switch(b, &(struct topo_switch){ .guid = 1, .n_ports = 2, .lft_cap = 64 });
	topo_add_host(b, &(struct topo_host){ .guid = 2, .lid = 3 });
	topo_add_host_link(b, 2, 1, 1);
	topo_add_host(b, &(struct topo_host){ .guid = 4, .lid = 5, .aside = true });
	topo_add_host_link(b, 4, 1, 2);
	t = topo_build(b);
	r = route(t, NULL);
	assert_int_equal(routes_port(r, 0, 3), 1);
	assert_int_equal(routes_port(r, 0, 5), LFT_NO_PORT);
	routes_unref(r);
	topo_unref(t);
}

/* Its switch is left out of routing: entries stay, as those of a host there do. */
static void entries_stay_while_its_switch_is_away(void **state)
{
	const struct topogen o = { .asides = true };
	struct topo *t = topogen_torus((unsigned[]){ 3, 1, 1 }, 1, &o);
	struct topo_builder *b = topo_builder_new();
	struct routes *was = route(t, NULL), *now;
	struct topo *less;

	for (uint32_t s = 0; s < 2; s++)
		topo_add_switch(b, &t->switches[s]);
	for (unsigned p = 1; p <= t->switches[0].n_ports; p++)
		if (topo_port(t, 0, p)->sw == 1)
			topo_add_link(b, t->switches[0].guid, (uint8_t)p, t->switches[1].guid,
				      topo_port(t, 0, p)->port);
	for (uint32_t i = 0; i < t->n_asides; i++) {
		topo_add_host(b, &t->asides[i]);
		topo_add_host_link(b, t->asides[i].guid, t->switches[t->asides[i].sw].guid,
				   t->asides[i].sw_port);
	}
	less = topo_build(b);
	now = route(less, was);
	for (uint32_t i = 0; i < t->n_asides; i++)
		if (t->asides[i].sw == 2)
			assert_int_equal(routes_port(now, 0, t->asides[i].lid),
					 routes_port(was, 0, t->asides[i].lid));
	routes_unref(was);
	routes_unref(now);
	topo_unref(less);
	topo_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_routes_as_without),
		cmocka_unit_test(their_paths_close_no_cycle),
		cmocka_unit_test(they_are_found_and_counted),
		cmocka_unit_test(without_the_switch_there_is_no_path),
		cmocka_unit_test(entries_stay_while_its_switch_is_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
