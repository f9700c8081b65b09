// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every routing engine and the proof of its tables on several threads: the same job gives the same
 * bytes for any number of them. scripts/test runs this with TSan, which sees the races that left
 * the bytes as they were this time.
 */
#include "tests/unit/route-desk.h"

#include "offline/base/figures.h"
#include "tests/lib/tables.h"

#define THREADS 3
/* Of more switches lash takes a minute, and does nothing in threads that it does not for fewer. */
#define LASH_MOST 100

static const char *const engines[] = {
#define NAME(name, ...) name,
	CONF_ENGINES(NAME)
#undef NAME
};

static struct routes *run(const struct route_engine *engine, const struct topo *t,
			  const struct routes *previous, unsigned threads)
{
	char why[256];

	return route_engine_run(engine,
				&(struct route_job){
					.topo = t, .previous = previous, .threads = threads },
				why, sizeof(why));
}

static void assert_same_lanes(const struct sl2vl *a, const struct sl2vl *b)
{
	assert_int_equal(a != NULL, b != NULL);
	if (!a)
		return;
	assert_int_equal(a->by, b->by);
	assert_int_equal(a->n_vls, b->n_vls);
	assert_int_equal(a->n_classes, b->n_classes);
	assert_memory_equal(a->vl, b->vl, (size_t)a->n_classes * a->n_classes * SL2VL_SLS);
	if (a->by != SL2VL_BY_NOTHING)
		assert_memory_equal(a->sl, b->sl, sl2vl_n_sl(a));
}

static void assert_same_proof(const struct routes *r)
{
	struct route_verdict one, several;

	routes_check(r, 1, &one);
	routes_check(r, THREADS, &several);
	assert_int_equal(one.pairs, several.pairs);
	assert_int_equal(one.unreachable, several.unreachable);
	assert_int_equal(one.looping, several.looping);
	assert_int_equal(one.credit_loop, several.credit_loop);
	assert_int_equal(one.cycle_channels, several.cycle_channels);
	assert_int_equal(one.detours, several.detours);
	assert_int_equal(one.max_load, several.max_load);
	assert_int_equal(one.min_load, several.min_load);
}

static void assert_same_figures(const struct routes *r)
{
	_cleanup_free_ uint32_t *one = figures_load(r, 1), *several = figures_load(r, THREADS);

	assert_memory_equal(one, several, r->topo->n_switches * sizeof(*one));
}

/* An engine that refuses a fabric refuses it for any number of threads. */
static void compare(const char *name, const struct topo *whole, const struct topo *damaged)
{
	const struct route_engine *engine = route_engine_find(name);
	struct routes *one, *several, *next, *nexts;

	if (engine->given || (engine->deal_vls == lash_deal_vls && whole->n_switches > LASH_MOST))
		return;
	print_message("# %s\n", name);
	one = run(engine, whole, NULL, 1);
	several = run(engine, whole, NULL, THREADS);
	assert_int_equal(one != NULL, several != NULL);
	if (!one)
		return;
	assert_same_tables(one, several);
	assert_same_lanes(one->lanes, several->lanes);
	assert_same_proof(one);
	assert_same_figures(one);
	next = run(engine, damaged, one, 1);
	nexts = run(engine, damaged, one, THREADS);
	assert_int_equal(next != NULL, nexts != NULL);
	if (next)
		assert_same_tables(next, nexts);
	routes_unref(one);
	routes_unref(several);
	routes_unref(next);
	routes_unref(nexts);
}

typedef struct topo *make_fn(const struct topogen *o);

static void all_engines(make_fn *make)
{
	struct topo *whole = make(&(struct topogen){ .seed = 1 });
	struct topo *damaged = make(&(struct topogen){ .seed = 1, .damage = 0.02 });

	for (size_t i = 0; i < ARRAY_SIZE(engines); i++)
		compare(engines[i], whole, damaged);
	topo_unref(whole);
	topo_unref(damaged);
}

static struct topo *tree(const struct topogen *o)
{
	return topogen_fat_tree3(8, o);
}

static struct topo *torus(const struct topogen *o)
{
	return topogen_torus((unsigned[]){ 4, 4, 4 }, 1, o);
}

/* Of so many switches that no part leaves the work to one thread. */
static struct topo *dragonfly(const struct topogen *o)
{
	return topogen_dragonfly(26, 8, 1, o);
}

static struct topo *hyperx(const struct topogen *o)
{
	return topogen_hyperx(6, 5, 2, o);
}

static void trees(void **state)
{
	all_engines(tree);
}

static void tori(void **state)
{
	all_engines(torus);
}

static void dragonflies(void **state)
{
	all_engines(dragonfly);
}

static void grids(void **state)
{
	all_engines(hyperx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees),
		cmocka_unit_test(tori),
		cmocka_unit_test(dragonflies),
		cmocka_unit_test(grids),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
