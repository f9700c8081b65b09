// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random sequences of cables that go and come back; when all are back and time is quiet, the most
 * loaded channel carries at most 2 % more than after a fresh start, and a second quiet time changes
 * nothing. And switches that went and came back: when their share is theirs again.
 */
#include "tests/unit/route-desk.h"

#include <stdio.h>

#include "route/proof/transition.h"
#include "route/select/keep_tables.h"
#include "tests/lib/rounds.h"
#include "tests/lib/tables.h"
#include "tests/lib/topocut.h"
#include "util/random.h"

#define DOWN_MOST 6

static const struct route_chain automatic = { .list = "auto" };

static struct routes *keep_by(const struct route_chain *chain, const struct topo *t,
			      const struct routes *previous)
{
	struct keep_report w;
	struct routes *r = keep_tables(
		chain, &(struct route_job){ .topo = t, .previous = previous, .threads = 1 },
		false, &w);

	assert_non_null(r);
	assert_null(route_fault(&w.choice.verdict));
	return r;
}

static struct routes *keep(const struct topo *t, const struct routes *previous)
{
	return keep_by(&automatic, t, previous);
}

static struct routes *quiet_by(const struct route_chain *chain, const struct topo *t,
			       const struct routes *previous)
{
	struct keep_report w;

	return keep_tables_balanced(
		chain, &(struct route_job){ .topo = t, .previous = previous, .threads = 1 },
		&w);
}

static struct routes *quiet(const struct topo *t, const struct routes *previous)
{
	return quiet_by(&automatic, t, previous);
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
	for (uint64_t seed = 1; seed <= test_rounds(n_seeds); seed++) {
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

/* What a stub's cable carries is no reason to move anything, however much it is. */
static void a_stub_is_no_reason_to_move(void **state)
{
	static const char *const engines[] = { "updn", "ftree", "minhop" };
	const struct topogen o = { .stub_on = 16, .stub_hosts = 3 };
	struct topo *t = topogen_fat_tree2(8, 8, 8, 1, &o);
	uint32_t n, *cables = topocut_cables(t, &n);

	for (unsigned e = 0; e < ARRAY_SIZE(engines); e++) {
		const struct route_chain chain = { .list = engines[e] };
		struct routes *r = keep_by(&chain, t, NULL), *rested;
		uint32_t load = r->judged->max_load;

		for (unsigned k = 0; k < 6; k++) {
			struct topocut *cut = topocut_new(t);
			struct routes *next;
			struct topo *now;

			cut->ports[cables[(k * 7 + 3) % n]] = k < 5;
			now = topocut_apply(t, cut);
			next = keep_by(&chain, now, r);
			routes_unref(r);
			topo_unref(now);
			topocut_free(cut);
			r = next;
		}
		rested = quiet_by(&chain, t, r);
		print_message("# %s: %u, then %u, rested %u\n", engines[e], load,
			      r->judged->max_load, rested->judged->max_load);
		assert_true(rested->judged->max_load <= r->judged->max_load);
		assert_true(rested->judged->max_load < 2 * load);
		routes_unref(rested);
		routes_unref(r);
	}
	free(cables);
	topo_unref(t);
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

/* ---- a switch that comes back ---------------------------------------------------------------- */

/* Without the switch, and then with it again. */
static void lose_and_find(const struct route_chain *chain, const struct routes *whole, uint32_t sw,
			  struct routes **ret_lost, struct routes **ret_back)
{
	struct topocut *cut = topocut_new(whole->topo);
	struct topo *t;

	cut->switches[sw] = true;
	t = topocut_apply(whole->topo, cut);
	*ret_lost = keep_by(chain, t, whole);
	*ret_back = keep_by(chain, whole->topo, *ret_lost);
	topo_unref(t);
	topocut_free(cut);
}

/* Entries of other switches that changed although those of `lost` still led nearer. */
static unsigned moved_for_nothing(const struct routes *lost, const struct routes *back, uint32_t sw)
{
	const struct topo *t = back->topo;
	unsigned n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (uint32_t h = 0; h < t->n_hosts && s != sw; h++) {
			uint32_t was = topo_find_switch(lost->topo, t->switches[s].guid);
			lid_t lid = t->hosts[h].lid;
			uint8_t port = routes_port(lost, was, lid);
			const uint8_t *hops =
				back->hops + (size_t)t->hosts[h].sw * t->n_switches;
			uint32_t peer = port ? topo_port(t, s, port)->sw : TOPO_NONE;

			n += port != routes_port(back, s, lid) && peer != TOPO_NONE &&
			     hops[peer] + 1 == hops[s];
		}
	return n;
}

static void has_its_share_after(const char *engine, const struct topo *whole, uint32_t sw)
{
	const struct route_chain chain = { .list = engine };
	struct routes *first = keep_by(&chain, whole, NULL), *lost, *back, *rested, *again;
	bool leaf = false;

	for (unsigned p = 1; p <= whole->switches[sw].n_ports; p++)
		leaf |= topo_port(whole, sw, p)->host != TOPO_NONE;
	lose_and_find(&chain, first, sw, &lost, &back);
	rested = quiet_by(&chain, whole, back);
	print_message("# %s, switch %u: load %u, back %u, rested %u; %u blocks, then %u\n", engine,
		      sw, first->judged->max_load, back->judged->max_load,
		      rested->judged->max_load, (unsigned)changed_blocks(first, back),
		      (unsigned)changed_blocks(back, rested));
	assert_int_equal(moved_for_nothing(lost, back, sw), 0);
	if (!leaf)
		assert_true(tables_lead_to(back, sw) < tables_lead_to(first, sw) / 2);
	assert_true(tables_lead_to(rested, sw) >= tables_lead_to(first, sw));
	assert_true(rested->judged->max_load <= 1.02 * first->judged->max_load);
	/* what moved was moved away before, and no more */
	assert_true(changed_blocks(back, rested) <= changed_blocks(first, back));
	again = quiet_by(&chain, whole, rested);
	assert_ptr_equal(again, rested);
	routes_unref(first);
	routes_unref(lost);
	routes_unref(back);
	routes_unref(again);
	routes_unref(rested);
}

/*
 * In the second one switches have so many ports that no proof is kept. The last one is so large
 * that nothing is computed for nothing but to compare.
 */
static void a_switch_that_came_back_gets_its_share_in_a_quiet_minute(void **state)
{
	struct topo *trees[] = {
		topogen_fat_tree2(36, 18, 18, 1, NULL),
		topogen_fat_tree2(60, 60, 60, 1, NULL),
		topogen_fat_tree3(26, NULL),
	};

	for (unsigned i = 0; i < ARRAY_SIZE(trees); i++) {
		uint32_t n = trees[i]->n_switches;

		has_its_share_after("minhop", trees[i], 0);
		has_its_share_after("minhop", trees[i], n / 2);
		has_its_share_after("minhop", trees[i], n - 2);
		if (i < 2)
			has_its_share_after("updn", trees[i], n - 2);
		topo_unref(trees[i]);
	}
}

/* A leaf with half of its uplinks carries the most, with the spine and without. */
static void no_load_need_tell_that_it_is_idle(void **state)
{
	static const struct route_chain chain = { .list = "minhop" };
	struct topo *t = topogen_fat_tree2(36, 18, 18, 1, NULL), *whole;
	struct topocut *cut = topocut_new(t);
	uint32_t sw = t->n_switches - 1;
	struct routes *first, *lost, *back, *rested;

	for (unsigned p = 1; p <= t->switches[0].n_ports; p++)
		cut->ports[t->switches[0].first_port + p] =
			topo_port(t, 0, p)->sw != TOPO_NONE && topo_port(t, 0, p)->sw > sw - 9;
	whole = topocut_apply(t, cut);
	first = keep_by(&chain, whole, NULL);
	lose_and_find(&chain, first, sw, &lost, &back);
	rested = quiet_by(&chain, whole, back);
	print_message("# load %u, back %u, rested %u; entries %u, %u, %u\n",
		      first->judged->max_load, back->judged->max_load, rested->judged->max_load,
		      tables_lead_to(first, sw), tables_lead_to(back, sw),
		      tables_lead_to(rested, sw));
	assert_true(back->judged->max_load <= 1.02 * first->judged->max_load);
	assert_true(tables_lead_to(back, sw) < tables_lead_to(first, sw) / 2);
	assert_true(tables_lead_to(rested, sw) >= tables_lead_to(first, sw));
	routes_unref(first);
	routes_unref(lost);
	routes_unref(back);
	routes_unref(rested);
	topo_unref(whole);
	topo_unref(t);
	topocut_free(cut);
}

/* Where one of few switches is idle, the others carry far too much: it does not wait. */
static void one_of_few_gets_its_share_at_once(void **state)
{
	static const struct route_chain chain = { .list = "minhop" };

	for (unsigned spines = 2; spines <= 4; spines++) {
		struct topo *t = topogen_fat_tree2(8, spines, 12, 1, NULL);
		struct routes *first = keep_by(&chain, t, NULL), *lost, *back;

		lose_and_find(&chain, first, t->n_switches - 1, &lost, &back);
		print_message("# %u spines: load %u, lost %u, back %u\n", spines,
			      first->judged->max_load, lost->judged->max_load,
			      back->judged->max_load);
		assert_true(lost->judged->max_load > 1.2 * first->judged->max_load);
		assert_true(back->judged->max_load <= 1.1 * first->judged->max_load);
		routes_unref(first);
		routes_unref(lost);
		routes_unref(back);
		topo_unref(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quiet_times_make_good_what_changes_left),
		cmocka_unit_test(a_stub_is_no_reason_to_move),
		cmocka_unit_test(a_switch_that_came_back_gets_its_share_in_a_quiet_minute),
		cmocka_unit_test(no_load_need_tell_that_it_is_idle),
		cmocka_unit_test(one_of_few_gets_its_share_at_once),
	};

	return cmocka_run_group_tests_name("rebalance", tests, NULL, NULL);
}
