// SPDX-License-Identifier: BSD-2-Clause
/*
 * route/proof/keep_policy.c, route/select/keep_tables.c, adopt_found.c: what becomes of tables
 * found and of ours.
 */
#include "tests/unit/route-desk.h"

#include "route/proof/keep_policy.h"
#include "route/select/engines.h"
#include "route/select/keep_tables.h"
#include "tests/lib/topocut.h"

static struct routes *keep_with(const char *list, const struct topo *t,
				const struct routes *previous, bool found,
				const struct route_options *o)
{
	const struct route_chain chain = { .list = list };
	struct keep_report w;
	struct routes *r = keep_tables(&chain, &(struct route_job){
		.topo = t, .previous = previous, .threads = 1, .options = *o,
	}, found, &w);

	assert_non_null(r);
	assert_non_null(r->judged);
	assert_memory_equal(r->judged, &w.choice.verdict, sizeof(w.choice.verdict));
	return r;
}

static struct routes *keep(const char *list, const struct topo *t, const struct routes *previous,
			   bool found)
{
	return keep_with(list, t, previous, found, &(struct route_options){ .nue_max_num_vls = 2 });
}

/* As they are in switches: entries, and nothing else. */
static struct routes *in_switches(const struct routes *r)
{
	struct routes *f = routes_new(r->topo, "adopted", r->top);

	for (uint32_t s = 0; s < r->topo->n_switches; s++)
		memcpy(routes_row(f, s), routes_row(r, s), r->row_size);
	return f;
}

static struct topo *shape(unsigned number, double damage)
{
	const struct topogen o = { .seed = number, .damage = damage };

	switch (number % 5) {
	case 0:
		return topogen_random(16, 4, 2, &o);
	case 1:
		return topogen_fat_tree3(4, &o);
	case 2:
		return topogen_torus((unsigned[]){ 5, 3, 1 }, 2, &o);
	case 3:
		return topogen_hyperx(4, 3, 2, &o);
	}
	return topogen_dragonfly(5, 4, 2, &o);
}

/*
 * Tables that grew with faults, found by a manager that knows nothing of them: the same bytes, and
 * they hold.
 */
static void what_grew_is_kept_by_whoever_finds_it(void **state)
{
	static const char *const lists[] = { "auto", "minhop", "updn",	 "dnup", "ftree",
					     "lash", "sssp",   "dfsssp", "nue",	 "dor" };

	for (unsigned i = 0; i < 10 * ARRAY_SIZE(lists); i++) {
		const char *list = lists[i % ARRAY_SIZE(lists)];
		unsigned number = i / (unsigned)ARRAY_SIZE(lists);
		struct topo *whole = shape(number, 0), *broken = shape(number, 0.1);
		struct routes *a = keep(list, whole, NULL, false),
			      *b = keep(list, broken, a, false);
		struct routes *c = keep(list, whole, b, false), *f = in_switches(c);
		struct routes *r = keep(list, whole, f, true);
		struct route_verdict v;

		assert_same_tables(r, f);
		routes_check(r, 1, &v);
		assert_null(route_fault(&v));
		for (unsigned k = 0; k < 6; k++)
			routes_unref((struct routes *[]){ a, b, c, f, r, NULL }[k]);
		topo_unref(whole);
		topo_unref(broken);
	}
}

static void where_nothing_changed_the_tables_of_before_are_the_result(void **state)
{
	struct topo *t = shape(0, 0.1), *same = shape(0, 0.1);
	struct routes *a = keep("auto", t, NULL, false), *b = keep("auto", same, a, false);

	assert_ptr_equal(a, b);
	routes_unref(a);
	routes_unref(b);
	topo_unref(t);
	topo_unref(same);
}

/* All flows of a leaf through one port, where there are several. */
static void narrow(struct routes *r)
{
	const struct topo *t = r->topo;

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned h = 0; h < t->n_hosts; h++)
			for (unsigned p = 1; t->hosts[h].sw != s && p <= t->switches[s].n_ports;
			     p++) {
				uint32_t next = topo_port(t, s, p)->sw, to = t->hosts[h].sw;
				const uint8_t *hops = r->hops + (size_t)to * t->n_switches;

				if (next == TOPO_NONE || hops[next] + 1 != hops[s])
					continue;
				routes_row(r, s)[t->hosts[h].lid] = (uint8_t)p;
				break;
			}
}

static void tables_that_are_much_worse_are_replaced(void **state)
{
	struct topo *t = topogen_fat_tree3(8, NULL);
	struct routes *a = keep("minhop", t, NULL, false), *f, *r;
	struct route_verdict v;

	f = in_switches(a);
	f->hops = xmemdup(a->hops, (size_t)t->n_switches * t->n_switches);
	narrow(f);
	routes_check(f, 1, &v);
	assert_true(v.max_load >= 2 * a->judged->max_load);
	r = keep("auto", t, f, true);
	assert_int_equal(r->judged->max_load, a->judged->max_load);
	routes_unref(a);
	routes_unref(f);
	routes_unref(r);
	topo_unref(t);
}

static void what_is_missing_is_added_and_nothing_else(void **state)
{
	struct topo *t = shape(1, 0);
	struct routes *a = keep("minhop", t, NULL, false), *f = in_switches(a), *r;

	memset(routes_row(f, 3), LFT_NO_PORT, f->row_size);
	r = keep("minhop", t, f, true);
	for (uint32_t s = 0; s < t->n_switches; s++)
		if (s != 3)
			assert_memory_equal(routes_row(r, s), routes_row(f, s), f->row_size);
	assert_int_equal(r->judged->unreachable, 0);
	for (unsigned k = 0; k < 3; k++)
		routes_unref((struct routes *[]){ a, f, r }[k]);
	topo_unref(t);
}

/* Tables of updn on a torus take detours: minhop promises that there are none. */
static void ways_that_the_engine_has_not_are_not_kept(void **state)
{
	struct topo *t = topogen_grid("5tx5t", 2, 1, NULL);
	struct routes *a = keep("updn", t, NULL, false), *f = in_switches(a);
	struct routes *r = keep("dfsssp", t, f, true);

	assert_int_not_equal(a->judged->detours, 0);
	assert_int_equal(r->judged->detours, 0);
	for (unsigned k = 0; k < 3; k++)
		routes_unref((struct routes *[]){ a, f, r }[k]);
	topo_unref(t);
}

/* LIDs of switches are in no pair, but a loop is a loop. */
static void a_switch_that_nobody_reaches_is_mended(void **state)
{
	struct topo *t = shape(1, 0);
	struct routes *a = keep("auto", t, NULL, false), *f = in_switches(a), *r;
	lid_t lid = t->switches[0].lid;

	for (uint32_t s = 1; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			uint32_t next = topo_port(t, s, p)->sw;

			if (next != TOPO_NONE && next != 0)
				routes_row(f, s)[lid] = (uint8_t)p;
		}
	r = keep("auto", t, f, true);
	assert_int_equal(r->judged->switch_unreachable, 0);
	for (unsigned k = 0; k < 3; k++)
		routes_unref((struct routes *[]){ a, f, r }[k]);
	topo_unref(t);
}

/* Each rule allows no less than its base, and small steps do not add up. */
static void rules_bound_drift(void **state)
{
	for (enum keep_rule rule = 0; rule < KEEP_RULES; rule++) {
		uint32_t base = 1000, limit = keep_limit(rule, base);

		assert_true(limit >= base);
		assert_int_equal(keep_limit(rule, 0), 0);
		assert_true(keep_is_as_before(rule, limit, base));
		assert_false(keep_is_as_before(rule, limit + 1, base));
		assert_int_equal(keep_base(rule, limit, base), base);
		assert_int_equal(keep_base(rule, limit + 1, base), limit + 1);
		assert_int_equal(keep_base(rule, base - 1, base), base - 1);
		assert_true(keep_cost(rule, limit) <= base);
		assert_true(keep_cost(rule, base) <= base);
	}
}

static void a_lost_path_is_clearly_worse_than_any_load(void **state)
{
	struct topo *t = shape(1, 0);
	struct routes *r = keep("minhop", t, NULL, false);
	struct route_verdict fresh = *r->judged, kept = fresh;

	assert_false(keep_is_clearly_worse(KEEP_LOAD, &kept, &fresh));
	kept.max_load = keep_limit(KEEP_LOAD, fresh.max_load) + 1;
	assert_true(keep_is_clearly_worse(KEEP_LOAD, &kept, &fresh));
	fresh.unreachable++;
	assert_false(keep_is_clearly_worse(KEEP_LOAD, &kept, &fresh));
	kept = fresh;
	kept.switch_unreachable = fresh.switch_unreachable + 1;
	assert_true(keep_is_clearly_worse(KEEP_LOAD, &kept, &fresh));
	routes_unref(r);
	topo_unref(t);
}

/*
 * A cable goes and comes back, again and again: while tables carry little more than when all
 * engines were compared, none are computed from scratch beside them; and they are good enough.
 */
static void little_worse_is_not_compared(void **state)
{
	struct topo *whole = topogen_dragonfly(9, 4, 2, &(struct topogen){ .seed = 1 });
	struct topocut *cut = topocut_new(whole);
	uint32_t n, *cables = topocut_cables(whole, &n);
	struct routes *r = keep("auto", whole, NULL, false);
	unsigned n_spared = 0;

	for (unsigned i = 0; i < 24; i++) {
		uint32_t end = cables[i / 2 * 7 % n];
		struct route_chain chain = { .list = "auto" };
		struct keep_report w;
		struct routes *next, *fresh;
		struct topo *t;

		cut->ports[end] = !cut->ports[end];
		t = topocut_apply(whole, cut);
		next = keep_tables(&chain, &(struct route_job){
			.topo = t, .previous = r, .threads = 1,
		}, false, &w);
		fresh = keep("auto", t, NULL, false);
		assert_false(keep_is_clearly_worse(route_engine_load_rule(next), next->judged,
						   fresh->judged));
		if (!w.is_compared &&
		    !keep_is_surely_fair(route_engine_load_rule(next), next->judged)) {
			assert_true(keep_is_as_before(KEEP_COMPARED, next->judged->max_load,
						      next->compared_load));
			n_spared++;
		}
		routes_unref(r);
		routes_unref(fresh);
		topo_unref(t);
		r = next;
	}
	print_message("# %u of 24\n", n_spared);
	assert_true(n_spared > 6);
	routes_unref(r);
	topocut_free(cut);
	free(cables);
	topo_unref(whole);
}

/* The first answer takes the former tables that the cache has; the second does without. */
static void the_cache_of_former_tables_changes_no_answer(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "auto", "sssp" };

	for (unsigned i = 0; i < 24; i++) {
		const struct topogen all = { .seed = i, .damage = i / 12 * .03 };
		struct topogen o = all;
		struct topo *whole = topogen_fat_tree2(20, 11, 6, 1, &all), *less;
		struct routes *was = keep(engines[i % 4], whole, NULL, false), *r, *first, *second;

		o.without_switch = 1 + i * 31 % whole->n_switches;
		less = topogen_fat_tree2(20, 11, 6, 1, &o);
		r = keep(engines[i % 4], less, was, false);
		assert_non_null(r->cache->alike);
		first = keep(engines[i % 4], whole, r, false);
		assert_null(r->cache->alike);
		second = keep(engines[i % 4], whole, r, false);
		assert_same_tables(first, second);
		assert_int_equal(first->judged->max_load, second->judged->max_load);
		routes_unref(was);
		routes_unref(r);
		routes_unref(first);
		routes_unref(second);
		topo_unref(whole);
		topo_unref(less);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_bound_drift),
		cmocka_unit_test(a_lost_path_is_clearly_worse_than_any_load),
		cmocka_unit_test(what_grew_is_kept_by_whoever_finds_it),
		cmocka_unit_test(where_nothing_changed_the_tables_of_before_are_the_result),
		cmocka_unit_test(tables_that_are_much_worse_are_replaced),
		cmocka_unit_test(what_is_missing_is_added_and_nothing_else),
		cmocka_unit_test(ways_that_the_engine_has_not_are_not_kept),
		cmocka_unit_test(a_switch_that_nobody_reaches_is_mended),
		cmocka_unit_test(little_worse_is_not_compared),
		cmocka_unit_test(the_cache_of_former_tables_changes_no_answer),
	};

	return cmocka_run_group_tests_name("keep-tables", tests, NULL, NULL);
}
