// SPDX-License-Identifier: BSD-2-Clause
/* Engines that share tables make the same of them as each by itself. */
#include "route/core/memo.h"
#include "tests/lib/rounds.h"
#include "tests/unit/lanes-cases.h"

static const char *const engines[] = { "minhop", "columns", "dfsssp", "sssp", "updn", "nue" };

/* With each other's tables, and without. */
static void assert_alike(const struct topo *t, const struct route_options *o,
			 struct route_memo *memo)
{
	struct route_job job = { .topo = t, .threads = 2, .options = *o }, shared = job;
	char why[256];

	shared.memo = memo;
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		_cleanup_(routes_unrefp) struct routes *a = lanes_run(engines[i], &job, why);
		_cleanup_(routes_unrefp) struct routes *b = lanes_run(engines[i], &shared, why);

		assert_int_equal(a != NULL, b != NULL);
		if (!a)
			continue;
		assert_same_tables(a, b);
		assert_same_lanes(a->lanes, b->lanes);
		assert_int_equal(a->options, b->options);
		assert_int_equal(a->expected_load, b->expected_load);
	}
}

static void shared_tables_are_the_same(void **state)
{
	for (unsigned number = 0; number < test_rounds(20); number++) {
		struct topogen o = any_options(number);
		_cleanup_(topo_unrefp) struct topo *t = any_fabric(number, &o);
		struct route_memo memo = { .topo = t };

		assert_alike(t, &(struct route_options){ 0 }, &memo);
		assert_alike(t, &(struct route_options){ .by_load = true }, &memo);
		route_memo_done(&memo);
	}
}

static void by_load_they_are_shared(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = topogen_random(30, 4, 3, NULL);
	struct route_memo memo = { .topo = t };

	assert_alike(t, &(struct route_options){ 0 }, &memo);
	assert_non_null(memo.of[MEMO_PLACED].rows);
	assert_non_null(memo.of[MEMO_RELIEVED].rows);
	route_memo_done(&memo);
}

/* Weights and classes of destinations decide on tables, too. */
static void options_part_them(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = topogen_random(30, 4, 3, NULL);
	struct route_memo memo = { .topo = t };
	struct route_guid_port weight = { .guid = t->switches[3].guid, .port = 1, .weight = 9 };
	guid_t cn[2] = { t->hosts[0].guid, t->hosts[7].guid };

	assert_alike(t, &(struct route_options){ 0 }, &memo);
	assert_alike(t, &(struct route_options){ .weights = &weight, .n_weights = 1 }, &memo);
	assert_alike(t, &(struct route_options){ .cn = { .guids = cn, .n = 2 } }, &memo);
	assert_alike(t, &(struct route_options){ .io = { .guids = cn, .n = 2 } }, &memo);
	assert_alike(t, &(struct route_options){ 0 }, &memo);
	route_memo_done(&memo);
}

static void another_fabric_has_its_own(void **state)
{
	struct topogen seed = { .seed = 2 };
	_cleanup_(topo_unrefp) struct topo *t = topogen_random(30, 4, 3, NULL);
	_cleanup_(topo_unrefp) struct topo *other = topogen_random(30, 4, 3, &seed);
	struct route_memo memo = { .topo = t };

	assert_alike(t, &(struct route_options){ 0 }, &memo);
	assert_alike(other, &(struct route_options){ 0 }, &memo);
	assert_alike(t, &(struct route_options){ 0 }, &memo);
	route_memo_done(&memo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_tables_are_the_same),
		cmocka_unit_test(by_load_they_are_shared),
		cmocka_unit_test(options_part_them),
		cmocka_unit_test(another_fabric_has_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
