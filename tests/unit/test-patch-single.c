// SPDX-License-Identifier: BSD-2-Clause
/* Patches of single cables, tried one after another: each is what it is on a ground of its own. */
#include "route/patch/patch_single.h"
#include "tests/unit/route-desk.h"

static struct routes *route_with(const char *engine, const struct topo *t)
{
	struct route_job job = { .topo = t, .threads = 1 };
	char why[128] = "";

	return route_engine_run(route_engine_find(engine), &job, why, sizeof(why));
}

static void is_alone(const struct routes *r, const struct patch_single *one)
{
	_cleanup_(patch_ground_freep) struct patch_ground *ground = patch_ground_new(r);
	_cleanup_(patch_freep) struct patch *p = patch_make(ground, r, &one->at, 1, NULL);

	assert_memory_equal(one->counts, p->counts, sizeof(p->counts));
}

static uint32_t cables_in(const struct topo *t)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < topo_n_entries(t); e++)
		n += t->ports[e].sw != TOPO_NONE;
	return n / 2;
}

static void check(const char *engine, struct topo *t)
{
	struct routes *r = route_with(engine, t);
	_cleanup_free_ struct patch_single *all = NULL, *again = NULL;
	uint32_t n, n_again;

	if (!r)
		return;
	all = patch_singles(r, 1, &n);
	again = patch_singles(r, 3, &n_again);
	assert_int_equal(n, cables_in(t));
	assert_int_equal(n, n_again);
	assert_memory_equal(all, again, n * sizeof(*all));
	for (uint32_t i = 0; i < n; i++) {
		assert_true(!i || all[i].at > all[i - 1].at);
		is_alone(r, &all[i]);
	}
	routes_unref(r);
}

static void one_after_another_is_each_alone(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "dfsssp", "nue" };

	for (unsigned seed = 1; seed <= 24; seed++) {
		struct topogen o = any_options(seed);
		struct topo *t = any_fabric(seed, &o);

		check(engines[seed % ARRAY_SIZE(engines)], t);
		topo_unref(t);
	}
}

/* Two cables between each leaf and spine: the other one takes all of it. */
static void a_parallel_cable_takes_all(void **state)
{
	struct topo *t = topogen_fat_tree2(4, 2, 3, 2, NULL);
	struct routes *r = route(t, NULL);
	_cleanup_free_ struct patch_single *all = NULL;
	uint32_t n, moved = 0;

	all = patch_singles(r, 2, &n);
	assert_int_equal(n, 16);
	for (uint32_t i = 0; i < n; i++)
		for (unsigned how = 0; how < PATCH_HOWS; how++) {
			moved += all[i].counts[how];
			assert_true(how == PATCH_BESIDE || !all[i].counts[how]);
		}
	assert_true(moved > 0);
	routes_unref(r);
	topo_unref(t);
}

static void a_fabric_without_cables(void **state)
{
	struct topo *t = topogen_fat_tree2(1, 0, 4, 1, NULL);
	struct routes *r = route(t, NULL);
	_cleanup_free_ struct patch_single *all = NULL;
	uint32_t n = 7;

	all = patch_singles(r, 0, &n);
	assert_int_equal(n, 0);
	routes_unref(r);
	topo_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_another_is_each_alone),
		cmocka_unit_test(a_parallel_cable_takes_all),
		cmocka_unit_test(a_fabric_without_cables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
