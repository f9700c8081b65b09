// SPDX-License-Identifier: BSD-2-Clause
/*
 * The automatic engine while cables fall out and come back, one at a time: it stays with the engine
 * that it has as long as that is good, and a cable moves what has to do with it.
 */
#include "tests/unit/route-desk.h"

#include <stdio.h>

#include "route/select/choose.h"
#include "route/select/engines.h"
#include "tests/lib/rounds.h"
#include "tests/lib/topocut.h"

#define STEPS 8

struct life {
	struct topocut *cut;
	uint32_t *cables, n_cables;
};

static uint32_t draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

static struct routes *automatic(const struct topo *t, const struct routes *previous)
{
	struct route_job job = { .topo = t, .previous = previous, .threads = 1 };
	char why[200];
	struct routes *r = route_engine_run(route_engine_find("auto"), &job, why, sizeof(why));
	struct route_verdict v;

	assert_non_null(r);
	routes_check(r, 1, &v);
	assert_null(route_fault(&v));
	return r;
}

static uint64_t changed(const struct routes *a, const struct routes *b)
{
	uint64_t n = 0;

	for (uint32_t s = 0; s < a->topo->n_switches; s++)
		for (unsigned lid = 1; lid <= a->top; lid++)
			n += routes_row(a, s)[lid] != routes_row(b, s)[lid];
	return n;
}

/* One more cable out, or every third time one that is out comes back. */
static void next_event(struct life *l, unsigned step, uint64_t *state)
{
	for (;;) {
		uint32_t end = l->cables[draw(state) % l->n_cables];

		if (l->cut->ports[end] == (step % 3 == 2)) {
			l->cut->ports[end] = !l->cut->ports[end];
			return;
		}
	}
}

/* How often another engine took over, and the largest share of entries that one event changed. */
static void live(const char *words, uint64_t seed, unsigned *ret_switched, double *ret_most)
{
	struct topogen o = { 0 };
	char text[64], *word[8], *rest;
	int n = 0;
	struct life l = { 0 };
	struct topo *whole, *t;
	struct routes *r, *next;

	snprintf(text, sizeof(text), "%s", words);
	for (char *w = strtok_r(text, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		word[n++] = w;
	whole = topogen_words(n, word, &o);
	assert_non_null(whole);
	l.cut = topocut_new(whole);
	l.cables = topocut_cables(whole, &l.n_cables);
	r = automatic(whole, NULL);
	*ret_switched = 0;
	*ret_most = 0;
	for (unsigned step = 0; step < STEPS; step++) {
		uint64_t moved;

		next_event(&l, step, &seed);
		t = topocut_apply(whole, l.cut);
		next = automatic(t, r);
		moved = changed(r, next);
		if (getenv("SHOW"))
			print_message("%s step %u: %s -> %s, %.2f %%: %s\n", words, step, r->by,
				      next->by,
				      100.0 * (double)moved / (t->n_switches * (double)r->top),
				      next->note);
		*ret_switched += strcmp(r->by, next->by) != 0;
		*ret_most = MAX(*ret_most, (double)moved / (t->n_switches * (double)r->top));
		routes_unref(r);
		topo_unref(t);
		r = next;
	}
	routes_unref(r);
	topocut_free(l.cut);
	free(l.cables);
	topo_unref(whole);
}

static void cables_come_and_go(void **state)
{
	static const struct {
		const char *words;
		unsigned switched; /* at most */
		double most;
	} rows[] = {
		{ "fat-tree3 8", 0, 0.015 },
		{ "fat-tree2 12 6 8 1", 0, 0.065 },
		{ "tree3 6 5 4 3 5 1 1", 0, 0.02 },
		{ "torus 5 5 3 2", 0, 0.015 },
		{ "torus 6 6 1 3", 1, 0.12 },
		{ "torus 8 4 1 2", 1, 0.12 },
		{ "dragonfly 9 4 3", 1, 0.12 },
		{ "dragonfly+ 7 4 4 3 2", 1, 0.12 },
		{ "hyperx 6 5 4", 1, 0.06 },
		{ "hypercube 5 3", 1, 0.12 },
		{ "random 40 5 3", 0, 0.05 },
		{ "slim-fly 5 4", 1, 0.05 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (uint64_t seed = 1; seed <= test_rounds(3); seed++) {
			unsigned switched;
			double most;

			live(rows[i].words, seed, &switched, &most);
			if (getenv("SHOW"))
				print_message("## %s seed %u: %u, %.3f\n", rows[i].words,
					      (unsigned)seed, switched, most);
			else if (switched > rows[i].switched || most > rows[i].most)
				fail_msg("%s, seed %u: %u other engines, %.1f %% of all entries at "
					 "once",
					 rows[i].words, (unsigned)seed, switched, 100 * most);
		}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cables_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
