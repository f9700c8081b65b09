// SPDX-License-Identifier: BSD-2-Clause
/* Several LIDs per port: how many disjoint paths they give, and how many there could be. */
#include "route/proof/disjoint.h"

#include "route/core/lid_spread.h"
#include "tests/lib/rounds.h"
#include "tests/lib/topocut.h"
#include "tests/unit/route-desk.h"

static struct routes *routes_by(const char *engine, const struct topo *t,
				const struct routes *previous)
{
	struct route_job job = { .topo = t, .previous = previous, .threads = 2 };
	char why[256] = "";
	struct routes *r = route_engine_run(route_engine_find(engine), &job, why, sizeof(why));

	if (!r)
		print_message("%s: %s\n", engine, why);
	assert_non_null(r);
	return r;
}

/* ---- the measure ---------------------------------------------------------------------------- */

/* Two leaves, 1 and 2, with one host each; spines 3 and up, `parallel` cables to each. */
static struct topo *two_leaves(unsigned spines, unsigned parallel, uint8_t lmc)
{
	_cleanup_(topo_builder_freep) struct topo_builder *b = topo_builder_new();

	for (unsigned s = 1; s <= 2 + spines; s++)
		topo_add_switch(b, &(struct topo_switch){
			.guid = s, .n_ports = 32, .lid = (lid_t)(100 + s), .lft_cap = 1024 });
	for (unsigned h = 1; h <= 2; h++) {
		topo_add_host(b, &(struct topo_host){ .guid = 50 + h, .node_guid = 50 + h,
						      .node_port = 1, .lid = (lid_t)(8 * h),
						      .lmc = lmc });
		topo_add_host_link(b, 50 + h, h, 32);
	}
	for (unsigned s = 0; s < spines; s++)
		for (unsigned p = 1; p <= parallel; p++)
			for (unsigned leaf = 1; leaf <= 2; leaf++)
				topo_add_link(b, leaf, (uint8_t)(s * parallel + p), 3 + s,
					      (uint8_t)(leaf * parallel + p));
	return topo_build(take(b));
}

static void spines_and_parallel_cables_are_counted(void **state)
{
	struct topo *t = two_leaves(3, 2, 3);
	struct graph *g = graph_new(t, NULL);
	struct disjoint d = disjoint_most(g, 0, 1, 8);

	assert_int_equal(d.cables, 6);
	assert_int_equal(d.switches, 3);
	d = disjoint_most(g, 0, 1, 2);
	assert_int_equal(d.cables, 2);
	assert_int_equal(d.switches, 2);
	d = disjoint_most(g, 0, 0, 8);
	assert_int_equal(d.cables, 0);
	graph_free(g);
	topo_unref(t);
}

/* A path that is longer does not count, and a flow that began badly is led otherwise. */
static void a_flow_is_led_otherwise_where_that_gives_one_more(void **state)
{
	/* 1 to 2, 3; 2 to 4, 5; 3 to 4; 4, 5 to 6: the first path found is 1-2-4-6 */
	static const uint8_t cables[][2] = {
		{ 1, 2 }, { 1, 3 }, { 2, 4 }, { 2, 5 }, { 3, 4 }, { 4, 6 }, { 5, 6 },
	};
	_cleanup_(topo_builder_freep) struct topo_builder *b = topo_builder_new();
	uint8_t port[8] = { 0 };
	struct disjoint d;
	struct topo *t;
	struct graph *g;

	for (unsigned s = 1; s <= 6; s++)
		topo_add_switch(b, &(struct topo_switch){
			.guid = s, .n_ports = 8, .lid = (lid_t)s, .lft_cap = 64 });
	for (unsigned i = 0; i < ARRAY_SIZE(cables); i++)
		topo_add_link(b, cables[i][0], ++port[cables[i][0]], cables[i][1],
			      ++port[cables[i][1]]);
	t = topo_build(take(b));
	g = graph_new(t, NULL);
	d = disjoint_most(g, 0, 5, 8);
	assert_int_equal(d.cables, 2);
	assert_int_equal(d.switches, 2);
	d = disjoint_most(g, 5, 0, 8);
	assert_int_equal(d.cables, 2);
	assert_int_equal(d.switches, 2);
	graph_free(g);
	topo_unref(t);
}

static void paths_of_the_tables_are_counted(void **state)
{
	struct topo *t = two_leaves(3, 1, 2);
	struct routes *r = routes_new(t, "test", t->max_lid);

	for (unsigned k = 0; k < 4; k++) {
		routes_row(r, 0)[16 + k] = (uint8_t)(1 + k % 2); /* two spines of three */
		for (uint32_t s = 2; s < 5; s++)
			routes_row(r, s)[16 + k] = 3; /* leaf 2 */
		routes_row(r, 1)[16 + k] = 32;
	}
	for (uint32_t s = 2; s < 5; s++)
		for (unsigned k = 0; k < 4; k++)
			routes_row(r, s)[16 + k] = 3;
	assert_int_equal(disjoint_have(r, 0, topo_find_host(t, 52)).cables, 2);
	assert_int_equal(disjoint_have(r, 0, topo_find_host(t, 52)).switches, 2);
	routes_row(r, 0)[17] = LFT_NO_PORT; /* a path that does not arrive is none */
	routes_row(r, 0)[19] = LFT_NO_PORT;
	assert_int_equal(disjoint_have(r, 0, topo_find_host(t, 52)).cables, 1);
	assert_int_equal(disjoint_have(r, 1, topo_find_host(t, 52)).cables, 0);
	routes_unref(r);
	topo_unref(t);
}

/* ---- engines -------------------------------------------------------------------------------- */

static double share(const struct routes *r)
{
	struct disjoint_sums d;

	disjoint_measure(r, 600, &d);
	assert_true(d.pairs > 0);
	assert_true(d.have_switches <= d.have_cables);
	return (double)d.have_cables / (double)d.most_cables;
}

struct expectation {
	const char *engine, *fabric;
	double least; /* share of the disjoint paths that are possible */
	bool holds;   /* no credit loop */
};

static const struct expectation expected[] = {
	{ "minhop", "tree2", 1, true },	     { "minhop", "tree3", 1, true },
	{ "updn", "tree2", 1, true },	     { "dnup", "tree2", 1, true },
	{ "ftree", "tree2", 1, true },	     { "ftree", "tree3", 1, true },
	{ "sssp", "tree2", 1, true },	     { "columns", "tree2", 1, true },
	{ "dfsssp", "tree2", 1, true },	     { "nue", "tree3", 1, true },
	{ "minhop", "broken", 0.99, true },  { "sssp", "broken", 0.99, true },
	{ "minhop", "torus", 0.94, false },  { "dfsssp", "torus", 0.95, true },
	{ "dfsssp", "hyperx", 0.99, true },  { "dfsssp", "dragonfly", 0.99, true },
	{ "dfsssp", "random", 0.98, true },  { "auto", "tree3", 1, true },
	{ "auto", "broken", 0.99, true },    { "auto", "torus", 0.95, true },
	{ "auto", "hyperx", 1, true },	     { "auto", "dragonfly", 0.9, true },
	{ "hyperx", "hyperx", 1, true },
	{ "auto", "random", 0.85, true },
};

static struct topo *fabric_of(const char *name, uint8_t lmc)
{
	struct topogen o = { .lmc = lmc }, broken = { .lmc = lmc, .damage = 0.1, .seed = 1 };

	if (!strcmp(name, "tree2"))
		return topogen_fat_tree2(12, 6, 8, 1, &o);
	if (!strcmp(name, "broken"))
		return topogen_fat_tree2(12, 6, 8, 1, &broken);
	if (!strcmp(name, "tree3"))
		return topogen_fat_tree3(8, &o);
	if (!strcmp(name, "torus"))
		return topogen_torus((unsigned[]){ 6, 6, 1 }, 2, &o);
	if (!strcmp(name, "hyperx"))
		return topogen_hyperx(4, 4, 2, &o);
	if (!strcmp(name, "dragonfly"))
		return topogen_dragonfly(9, 4, 2, &o);
	return topogen_random(40, 6, 2, &o);
}

static void engines_part_the_lids_of_a_port(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(expected); i++)
		for (uint8_t lmc = 1; lmc <= (i % 3 ? 2 : 3); lmc++) {
			const struct expectation *e = &expected[i];
			struct topo *t = fabric_of(e->fabric, lmc);
			struct routes *r = routes_by(e->engine, t, NULL);
			struct route_verdict v;

			routes_check(r, 1, &v);
			print_message("# %s, %s, LMC %u: %.3f\n", e->engine, e->fabric, lmc,
				      share(r));
			assert_int_equal(v.lost, 0);
			assert_true(!e->holds || !v.credit_loop);
			assert_true(share(r) >= e->least);
			routes_unref(r);
			topo_unref(t);
		}
}

/* What parts the LIDs moves nothing that parts them already, and nothing twice. */
static void parted_lids_stay(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(expected); i++) {
		struct topo *t = fabric_of(expected[i].fabric, 2);
		struct routes *r = routes_by(expected[i].engine, t, NULL);
		struct routes *again = routes_by(expected[i].engine, t, r);

		assert_same_tables(r, again);
		routes_unref(r);
		routes_unref(again);
		topo_unref(t);
	}
}

/* A switch is lost and comes back: in between the LIDs part as far as they can, and after it. */
static void lids_part_again_after_a_switch_came_back(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "ftree", "sssp", "auto" };

	for (unsigned i = 0; i < ARRAY_SIZE(engines); i++)
		for (unsigned gone = 0; gone < 12; gone++) {
			struct topogen whole = { .lmc = 2 }, less = whole;
			struct routes *r[3] = { NULL };
			struct topo *t[3];

			less.without_switch = gone + 1;
			for (unsigned k = 0; k < 3; k++) {
				t[k] = topogen_fat_tree3(6, k == 1 ? &less : &whole);
				r[k] = routes_by(engines[i], t[k], k ? r[k - 1] : NULL);
			}
			for (unsigned k = 0; k < 3; k++)
				assert_true(share(r[k]) >= 1);
			for (unsigned k = 0; k < 3; k++) {
				routes_unref(r[k]);
				topo_unref(t[k]);
			}
		}
}

/* A HyperX that loses cables: what the order of dimensions still allows, without a credit loop. */
static void a_damaged_hyperx_parts_what_is_whole(void **state)
{
	for (unsigned seed = 0; seed < test_rounds(12); seed++) {
		struct topogen o = { .lmc = 1, .seed = seed, .damage = 0.02 * (seed % 4) };
		struct topo *t = topogen_hyperx(5, 5, 2, &o);
		struct routes *r = routes_by("hyperx", t, NULL);
		struct route_verdict v;

		routes_check(r, 1, &v);
		assert_int_equal(v.lost, 0);
		assert_int_equal(v.looping, 0);
		assert_false(v.credit_loop);
		print_message("# damage %u %%: %.3f\n", seed % 4 * 2, share(r));
		assert_true(share(r) >= (seed % 4 ? 0.85 : 1));
		routes_unref(r);
		topo_unref(t);
	}
}

static void one_lid_per_port_needs_no_parting(void **state)
{
	struct topo *t = fabric_of("torus", 0);

	assert_false(lid_spread_is_needed(t));
	topo_unref(t);
	t = fabric_of("torus", 1);
	assert_true(lid_spread_is_needed(t));
	topo_unref(t);
}

/* Any fabric with any tables: shortest stays shortest, all that was reached is. */
static void parting_keeps_paths_shortest(void **state)
{
	for (unsigned number = 0; number < test_rounds(30); number++) {
		struct topogen o = any_options(number);
		struct topo *t;
		struct routes *r;

		o.lmc = (uint8_t)(1 + number % 3);
		t = any_fabric(number, &o);
		r = routes_by("sssp", t, NULL);
		assert_minimal(r);
		routes_unref(r);
		topo_unref(t);
	}
}

/* 16, 32 and 128 LIDs: the first 16 part, and all lead there. */
static void ports_may_have_many_lids(void **state)
{
	for (uint8_t lmc = 4; lmc <= 7; lmc++) {
		struct topogen o = { .lmc = lmc };
		struct topo *t = topogen_torus((unsigned[]){ 4, 3, 1 }, 1, &o);
		struct routes *r = routes_by("minhop", t, NULL);

		assert_minimal(r);
		assert_true(share(r) >= 0.9);
		routes_unref(r);
		topo_unref(t);
	}
}

/* All LIDs of a port go one way. */
static void join_lids(struct routes *r)
{
	const struct topo *t = r->topo;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		for (uint32_t s = 0; s < t->n_switches; s++)
			for (unsigned k = 1; k < 1u << t->hosts[h].lmc; k++)
				routes_write(r, s, (lid_t)(t->hosts[h].lid + k),
					     routes_port(r, s, t->hosts[h].lid));
}

/* What a large fabric meets: the work ends, and tables are valid all the same. */
static void parting_ends_after_some_steps(void **state)
{
	struct topo *t = fabric_of("torus", 2);
	struct graph *g = graph_new(t, NULL);
	struct distances *d = distances_new(g, 1, NULL);
	double parted = 0;

	for (uint64_t steps = 1; steps <= 1u << 24; steps <<= 8) {
		struct routes *r = routes_by("minhop", t, NULL);

		join_lids(r);
		lid_spread(&(struct lid_spread_job){
			.graph = g, .distances = d, .limit = UINT32_MAX, .steps = steps,
		}, r);
		assert_minimal(r);
		print_message("# %u steps: %.3f\n", (unsigned)steps, share(r));
		assert_true(share(r) >= parted);
		parted = share(r);
		assert_true(steps > 1 || parted < 0.6);
		routes_unref(r);
	}
	assert_true(parted >= 0.9);
	distances_free(d);
	graph_free(g);
	topo_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spines_and_parallel_cables_are_counted),
		cmocka_unit_test(a_flow_is_led_otherwise_where_that_gives_one_more),
		cmocka_unit_test(paths_of_the_tables_are_counted),
		cmocka_unit_test(engines_part_the_lids_of_a_port),
		cmocka_unit_test(parted_lids_stay),
		cmocka_unit_test(lids_part_again_after_a_switch_came_back),
		cmocka_unit_test(a_damaged_hyperx_parts_what_is_whole),
		cmocka_unit_test(one_lid_per_port_needs_no_parting),
		cmocka_unit_test(parting_keeps_paths_shortest),
		cmocka_unit_test(ports_may_have_many_lids),
		cmocka_unit_test(parting_ends_after_some_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
