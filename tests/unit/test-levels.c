// SPDX-License-Identifier: BSD-2-Clause
/*
 * Levels of service have VLs of their own beside those that an engine needs: as many copies of its
 * scheme as fit, proved as a whole; and fewer levels where it needs the VLs.
 */
#include "tests/unit/lanes-cases.h"

#include "route/select/choose.h"

#define VLS 8

static struct topo *torus(unsigned x, unsigned y, unsigned z)
{
	return topogen_torus((const unsigned[3]){ x, y, z }, 1, NULL);
}

static struct routes *choose(const char *engine, const struct topo *t, unsigned levels,
			     const struct routes *previous, struct route_choice *ret)
{
	const struct route_chain chain = { .list = engine };
	const struct route_job job = {
		.topo = t,
		.previous = previous,
		.threads = 2,
		.options = { .levels = levels, .max_vls = VLS },
	};
	struct routes *r = route_choose(&chain, &job, ret);

	if (!r)
		fail_msg("%s, %u levels: %s", engine, levels, ret->why);
	return r;
}

/* Packets of two levels never share a VL. */
static void assert_levels_are_apart(const struct routes *r, unsigned levels)
{
	const struct sl2vl *l = r->lanes;
	unsigned own = sl2vl_own_vls(l);

	assert_int_equal(l->n_levels, levels);
	assert_int_equal(own * levels, l->n_vls);
	for (unsigned level = 0; level < levels; level++)
		for (uint32_t s = 0; s < r->topo->n_switches; s++)
			for (uint32_t h = 0; h < r->topo->n_hosts; h++) {
				uint8_t sl = sl2vl_sl(l, s, r->topo->hosts[h].sw,
						      r->topo->hosts[h].lid,
						      sl2vl_level_sl(l, level));

				assert_int_equal(l->host_vl[sl] / own, level);
				for (size_t c = 0; c < (size_t)l->n_classes * l->n_classes; c++)
					assert_int_equal(l->vl[c * SL2VL_SLS + sl] / own, level);
			}
}

static void every_level_has_a_copy_that_is_proved(void **state)
{
	static const struct {
		const char *engine;
		unsigned levels, fit;
	} cases[] = {
		{ "nue,no_fallback", 1, 1 },	    { "nue,no_fallback", 3, 3 },
		{ "dfsssp,no_fallback", 2, 2 },	    { "lash,no_fallback", 2, 2 },
		{ "torus-2QoS,no_fallback", 2, 2 },
		{ "torus-2QoS,no_fallback", 3, 2 }, /* three bits of an SL are the path's */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(topo_unrefp) struct topo *t = torus(5, 5, 3);
		_cleanup_(routes_unrefp) struct routes *r = NULL, *again = NULL;
		struct route_choice choice;

		r = choose(cases[i].engine, t, cases[i].levels, NULL, &choice);
		assert_null(route_fault(&choice.verdict));
		assert_true(!r->lanes || r->lanes->n_vls <= VLS);
		assert_int_equal(lanes_desk_check(r).stuck, 0);
		if (cases[i].fit == 1) {
			assert_true(!r->lanes || r->lanes->n_levels <= 1);
			continue;
		}
		assert_non_null(r->lanes);
		assert_levels_are_apart(r, cases[i].fit);
		/* Nothing changes when nothing changed; the levels are not multiplied again. */
		again = choose(cases[i].engine, t, cases[i].levels, r, &choice);
		assert_int_equal(again->lanes->n_vls, r->lanes->n_vls);
		assert_memory_equal(r->lanes->sl, again->lanes->sl, sl2vl_n_sl(r->lanes));
		assert_int_equal(again->lanes->n_levels, cases[i].fit);
	}
}

/* lash needs four VLs there, so that two levels fit where three are asked for. */
static void an_engine_that_needs_the_vls_has_fewer_levels(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = torus(6, 6, 6);
	struct route_choice choice;
	_cleanup_(routes_unrefp) struct routes *r =
		choose("lash,no_fallback", t, 3, NULL, &choice);

	assert_null(route_fault(&choice.verdict));
	assert_levels_are_apart(r, 2);
	assert_int_equal(sl2vl_own_vls(r->lanes), 4);
}

/* More levels than before: the paths that stay are dealt to the VLs that are left. */
static void levels_may_come_and_go(void **state)
{
	static const char *const engines[] = { "dfsssp,no_fallback", "lash,no_fallback",
					       "nue,no_fallback" };
	static const unsigned levels[] = { 1, 2, 1 };

	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		_cleanup_(topo_unrefp) struct topo *t = torus(5, 5, 1);
		_cleanup_(routes_unrefp) struct routes *r = NULL;

		for (size_t k = 0; k < ARRAY_SIZE(levels); k++) {
			struct route_choice choice;
			struct routes *next = choose(engines[i], t, levels[k], r, &choice);

			routes_unref(r);
			r = next;
			assert_null(route_fault(&choice.verdict));
			assert_non_null(r->lanes);
			assert_int_equal(MAX(r->lanes->n_levels, 1), levels[k]);
			assert_true(r->lanes->n_vls <= VLS);
		}
	}
}

/* What the proof is for: a second level whose VLs were one would lock up. */
static void the_proof_looks_at_every_level(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = torus(6, 1, 1);
	struct route_choice choice;
	_cleanup_(routes_unrefp) struct routes *r =
		choose("dfsssp,no_fallback", t, 2, NULL, &choice);
	unsigned own = sl2vl_own_vls(r->lanes);
	struct route_verdict v;

	assert_int_equal(r->lanes->n_levels, 2);
	assert_true(own >= 2);
	routes_check(r, 1, &v);
	assert_false(v.credit_loop);
	for (unsigned sl = sl2vl_level_sl(r->lanes, 1); sl < SL2VL_SLS; sl++)
		r->lanes->vl[sl] = (uint8_t)own;
	routes_check(r, 1, &v);
	assert_true(v.credit_loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_level_has_a_copy_that_is_proved),
		cmocka_unit_test(an_engine_that_needs_the_vls_has_fewer_levels),
		cmocka_unit_test(levels_may_come_and_go),
		cmocka_unit_test(the_proof_looks_at_every_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
