// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random sequences of cables that go and come back; when all are back and time is quiet, the most
 * loaded channel carries at most 2 % more than after a fresh start, and a second quiet time changes
 * nothing.
 */
#include "tests/unit/route-desk.h"

#include <stdio.h>

#include "route/proof/transition.h"
#include "route/select/keep_tables.h"
#include "tests/lib/topocut.h"
#include "util/random.h"

#define DOWN_MOST 6

static const struct route_chain automatic = { .list = "auto" };

static struct routes *keep(const struct topo *t, const struct routes *previous)
{
	struct keep_report w;
	struct routes *r = keep_tables(
		&automatic, &(struct route_job){ .topo = t, .previous = previous, .threads = 1 },
		false, &w);

	assert_non_null(r);
	assert_null(route_fault(&w.choice.verdict));
	return r;
}

static struct routes *quiet(const struct topo *t, const struct routes *previous)
{
	struct keep_report w;

	return keep_tables_balanced(
		&automatic, &(struct route_job){ .topo = t, .previous = previous, .threads = 1 },
		&w);
}

/* `steps` events at random, then all that is out comes back, one by one. */
static struct routes *live(const struct topo *whole, struct routes *r, unsigned steps,
			   uint64_t seed)
{
	struct topocut *cut = topocut_new(whole);
	uint32_t n, *cables = topocut_cables(whole, &n), down[DOWN_MOST], n_down = 0;

	for (unsigned i = 0; i < steps || n_down; i++) {
		bool back = i >= steps || n_down == DOWN_MOST || (n_down && random_next(&seed) % 2);
		uint32_t at = back ? (uint32_t)(random_next(&seed) % n_down) : n_down;
		struct routes *next;
		struct topo *t;

		if (!back)
			down[n_down++] = cables[random_next(&seed) % n];
		cut->ports[down[at]] = !back;
		if (back)
			down[at] = down[--n_down];
		for (uint32_t k = 0; back && k < n_down; k++)
			cut->ports[down[k]] = true; /* was drawn twice */
		t = topocut_apply(whole, cut);
		next = keep(t, r);
		routes_unref(r);
		topo_unref(t);
		r = next;
	}
	topocut_free(cut);
	free(cables);
	return r;
}

static uint64_t changed_blocks(const struct routes *a, const struct routes *b)
{
	uint64_t n = 0;

	for (uint32_t s = 0; s < a->topo->n_switches; s++)
		for (unsigned lid = 0; lid <= a->top; lid += LFT_BLOCK_LIDS)
			n += memcmp(routes_row(a, s) + lid, routes_row(b, s) + lid,
				    LFT_BLOCK_LIDS) != 0;
	return n;
}

static void lives_and_rests(const char *words, double damage, unsigned steps, unsigned n_seeds)
{
	struct topogen o = { .damage = damage, .seed = 5 };
	char text[64], *word[8], *rest;
	int n = 0;
	struct topo *whole;
	struct routes *fresh;

	snprintf(text, sizeof(text), "%s", words);
	for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		word[n++] = w;
	whole = topogen_words(n, word, &o);
	assert_non_null(whole);
	fresh = keep(whole, NULL);
	for (uint64_t seed = 1; seed <= n_seeds; seed++) {
		struct routes *r = live(whole, routes_ref(fresh), steps, seed),
			      *rested = quiet(whole, r), *again;
		uint32_t limit = (uint32_t)(1.02 * fresh->judged->max_load);
		struct route_verdict v;

		print_message("# %s%s, seed %u: %s load %u, rested %u, fresh %u; %u blocks of %u\n",
			      words, damage > 0 ? " damaged" : "", (unsigned)seed, r->by,
			      r->judged->max_load, rested->judged->max_load,
			      fresh->judged->max_load, (unsigned)changed_blocks(r, rested),
			      (unsigned)changed_blocks(r, fresh));
		routes_check(rested, 1, &v);
		assert_memory_equal(&v, rested->judged, sizeof(v));
		assert_null(route_fault(&v));
		if (!fresh->lanes || fresh->lanes->by == SL2VL_BY_NOTHING)
			assert_true(v.max_load <= limit);
		else
			assert_ptr_equal(rested, r);
		again = quiet(whole, rested);
		assert_ptr_equal(again, rested);
		routes_unref(again);
		routes_unref(rested);
		routes_unref(r);
	}
	routes_unref(fresh);
	topo_unref(whole);
}

static void quiet_times_make_good_what_changes_left(void **state)
{
	lives_and_rests("fat-tree3 16", 0, 8, 1);
	lives_and_rests("fat-tree3 8", 0, 20, 3);
	lives_and_rests("fat-tree3 8", 0.03, 12, 3);
	lives_and_rests("fat-tree2 36 18 18 1", 0, 10, 1);
	lives_and_rests("tree3 6 5 4 3 5 1 1", 0, 15, 3);
	lives_and_rests("tree3 6 5 4 3 5 1 1", 0.1, 10, 3);
	lives_and_rests("torus 5 5 3 2", 0, 8, 1);
	lives_and_rests("dragonfly 9 4 3", 0, 10, 2);
	lives_and_rests("dragonfly+ 7 4 4 3 2", 0, 10, 2);
	lives_and_rests("hyperx 6 5 4", 0, 8, 1);
	lives_and_rests("random 40 5 3", 0, 8, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quiet_times_make_good_what_changes_left),
	};

	return cmocka_run_group_tests_name("rebalance", tests, NULL, NULL);
}
