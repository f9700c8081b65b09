// SPDX-License-Identifier: BSD-2-Clause
/*
 * Multicast trees against a judge that sends a packet from every member and follows the copies; by
 * hand, and on random fabrics while members come and go and cables die (seeds are printed).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "route/mcast/mcast.h"
#include "tests/lib/rounds.h"
#include "tests/lib/topogen.h"
#include "tests/unit/mcast-judge.h"
#include "route/select/engines.h"
#include "util/mem.h"

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* ---- the judge ----------------------------------------------------------------------------- */

/* Rows in order, cables that exist, a root, and links counted right. */
static void tree_makes_sense(const struct topo *t, const struct mcast_tree *tree)
{
	assert_int_equal(tree->n_links, tree->n_rows ? tree->n_rows - 1 : 0);
	for (uint32_t i = 0; i < tree->n_rows; i++) {
		const struct mcast_row *r = &tree->rows[i];
		const struct topo_port *port;

		assert_int_equal(r->guid, t->switches[r->sw].guid);
		assert_true(i == 0 || tree->rows[i - 1].guid < r->guid);
		assert_true(r->mask[0] | r->mask[1] | r->mask[2] | r->mask[3]);
		if (r->up == MCAST_NONE) {
			assert_int_equal(tree->root, i);
			continue;
		}
		port = topo_port(t, r->sw, r->up_port);
		assert_int_equal(port->sw, tree->rows[r->up].sw);
		assert_int_equal(port->port, r->down_port);
	}
}

static void tree_serves(const struct topo *t, const struct mcast_tree *tree,
			const struct mcast_member *members, uint32_t n)
{
	tree_makes_sense(t, tree);
	for (uint32_t i = 0; i < n; i++)
		assert_true(heard_right(t, tree, &members[i], members, n));
}

/* ---- by hand ------------------------------------------------------------------------------- */

static struct mcast_planner *planner(const struct topo *t)
{
	const struct mcast_params params = { .topo = t };

	return mcast_planner_new(&params);
}

static struct mcast_member host(const struct topo *t, uint32_t h, bool receive)
{
	return (struct mcast_member){ .sw = t->hosts[h].sw,
				      .port = t->hosts[h].sw_port,
				      .receive = receive };
}

static struct mcast_tree *plan(struct mcast_planner *p, lid_t mlid, const struct mcast_member *m,
			       uint32_t n, const struct mcast_tree *previous)
{
	const struct mcast_job job = {
		.mlid = mlid, .members = m, .n_members = n, .previous = previous
	};

	return mcast_plan(p, &job);
}

/* Four leaves with four hosts each, two spines. */
static struct topo *small(void)
{
	return topogen_fat_tree2(4, 2, 4, 1, NULL);
}

static void one_member_needs_no_row(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = small();
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = planner(t);
	const struct mcast_member m[] = { host(t, 0, true), host(t, 0, true) };
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree = plan(p, MLID_MIN, m, 2, NULL);

	assert_int_equal(tree->n_rows, 0);
	assert_int_equal(tree->root, MCAST_NONE);
}

static void nobody_listens(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = small();
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = planner(t);
	const struct mcast_member m[] = { host(t, 0, false), host(t, 5, false) };
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree = plan(p, MLID_MIN, m, 2, NULL);

	assert_int_equal(tree->n_rows, 0);
}

static void two_on_one_switch(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = small();
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = planner(t);
	const struct mcast_member m[] = { host(t, 0, true), host(t, 1, true) };
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree = plan(p, MLID_MIN, m, 2, NULL);

	assert_int_equal(tree->n_rows, 1);
	tree_serves(t, tree, m, 2);
}

static void across_leaves_over_one_spine(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = small();
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = planner(t);
	const struct mcast_member m[] = { host(t, 0, true), host(t, 4, true), host(t, 15, true) };
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree = plan(p, MLID_MIN, m, 3, NULL);

	assert_int_equal(tree->n_links, 3);
	assert_int_equal(tree->n_hops, 2);
	tree_serves(t, tree, m, 3);
}

/* A switch is a member through its port 0. */
static void switches_join_too(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = small();
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = planner(t);
	const struct mcast_member m[] = { { .sw = 0, .port = 0, .receive = true },
					  { .sw = 5, .port = 0, .receive = true },
					  host(t, 3, true) };
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree = plan(p, MLID_MIN, m, 3, NULL);

	tree_serves(t, tree, m, 3);
}

/* The way of one that only sends is open towards the receiver, and closed the other way. */
static void who_only_sends_gets_nothing(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = small();
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = planner(t);
	const struct mcast_member m[] = { host(t, 0, true), host(t, 4, false) };
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree = plan(p, MLID_MIN, m, 2, NULL);
	const struct mcast_row *receiver = mcast_tree_find(tree, t->switches[m[0].sw].guid);

	tree_serves(t, tree, m, 2);
	assert_int_equal(receiver->mask[0], UINT64_C(1) << m[0].port);
}

static void a_member_on_no_switch_is_left_out(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = small();
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = planner(t);
	const struct mcast_member m[] = {
		host(t, 0, true),
		host(t, 1, true),
		{ .sw = TOPO_NONE, .receive = true },
		{ .sw = 0, .port = 200, .receive = true },
		{ .sw = 4, .port = 1, .receive = true }, /* where a leaf hangs */
	};
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree = plan(p, MLID_MIN, m, 5, NULL);

	assert_int_equal(tree->n_rows, 1);
	assert_int_equal(tree->n_left_out, 3);
}

static void a_switch_without_room_is_gone_around(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = small();
	uint16_t caps[] = { 64, 64, 64, 8, 8, 64 }; /* leaf 4 and spine 1 */
	const struct mcast_params params = { .topo = t, .caps = caps };
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = mcast_planner_new(&params);
	const struct mcast_member m[] = { host(t, 0, true), host(t, 4, true), host(t, 15, true) };
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *low = plan(p, MLID_MIN + 7, m, 3, NULL);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *high = plan(p, MLID_MIN + 8, m, 3, NULL);

	assert_int_equal(t->hosts[15].sw, 3);
	tree_serves(t, low, m, 3);
	assert_int_equal(low->n_left_out, 0);
	tree_serves(t, high, m, 2);
	assert_int_equal(high->n_left_out, 1);
	assert_null(mcast_tree_find(high, t->switches[4].guid));
}

static void nothing_new_is_the_same_tree(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = small();
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = planner(t);
	const struct mcast_member m[] = { host(t, 0, true), host(t, 4, true), host(t, 9, true) };
	const struct mcast_member again[] = { m[2], m[0], m[1], m[0] };
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *one = plan(p, MLID_MIN, m, 3, NULL);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *two = plan(p, MLID_MIN, again, 4, one);

	assert_ptr_equal(one, two);
}

/* Every spine is root of as many groups as any other. */
static void roots_take_turns(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = topogen_fat_tree2(8, 8, 2, 1, NULL);
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = planner(t);
	const struct mcast_member m[] = { host(t, 0, true), host(t, 7, true) };
	unsigned used[16] = { 0 };

	for (unsigned i = 0; i < 64; i++) {
		_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree =
			plan(p, MLID_MIN + i, m, 2, NULL);

		used[tree->rows[tree->root].sw]++;
	}
	for (unsigned sw = 0; sw < 16; sw++)
		assert_int_equal(used[sw], sw < 8 ? 0 : 8);
}

/* Three switches in a triangle with a host each; the cable between 1 and 2 costs ten hops. */
static void dear_cables_are_gone_around(void **state)
{
	const struct route_guid_port dear[] = { { .guid = 1, .port = 1, .weight = 10 },
						{ .guid = 2, .port = 2, .weight = 10 } };
	const struct route_options options = { .weights = dear, .n_weights = 2 };
	_cleanup_(topo_unrefp) struct topo *t = NULL;
	_cleanup_(mcast_planner_freep) struct mcast_planner *cheap = NULL, *any = NULL;
	const struct mcast_member m[] = { { .sw = 0, .port = 3, .receive = true },
					  { .sw = 1, .port = 3, .receive = true } };
	struct mcast_params params = { 0 };
	struct topo_builder *b = topo_builder_new();

	for (guid_t g = 1; g <= 3; g++) {
		const struct topo_switch sw = { .guid = g, .n_ports = 3, .lft_cap = 64 };

		topo_add_switch(b, &sw);
	}
	topo_add_link(b, 1, 1, 2, 2);
	topo_add_link(b, 2, 1, 3, 2);
	topo_add_link(b, 3, 1, 1, 2);
	params.topo = t = topo_build(b);
	any = mcast_planner_new(&params);
	params.options = &options;
	cheap = mcast_planner_new(&params);
	for (unsigned i = 0; i < 8; i++) {
		_cleanup_(mcast_tree_unrefp) struct mcast_tree *x =
			plan(any, MLID_MIN + i, m, 2, NULL);
		_cleanup_(mcast_tree_unrefp) struct mcast_tree *y =
			plan(cheap, MLID_MIN + i, m, 2, NULL);

		assert_int_equal(x->n_rows, 2);
		assert_int_equal(y->n_rows, 3);
		tree_serves(t, x, m, 2);
		tree_serves(t, y, m, 2);
	}
}

/* ---- stability ----------------------------------------------------------------------------- */

static unsigned rows_that_differ(const struct mcast_tree *a, const struct mcast_tree *b)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < a->n_rows; i++) {
		const struct mcast_row *other = mcast_tree_find(b, a->rows[i].guid);

		n += !other || memcmp(other->mask, a->rows[i].mask, sizeof(other->mask));
	}
	for (uint32_t i = 0; i < b->n_rows; i++)
		n += !mcast_tree_find(a, b->rows[i].guid);
	return n;
}

/*
 * A pod that has no member gets its leaf, its agg and the core: three rows, one of them there
 * already.
 */
static void a_join_adds_its_branch(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = topogen_fat_tree3(8, NULL);
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = planner(t);
	struct mcast_member m[128];
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *before = NULL, *after = NULL;

	for (unsigned h = 0; h < 112; h++)
		m[h] = host(t, h, true);
	m[112] = host(t, 127, true);
	before = plan(p, MLID_MIN + 5, m, 112, NULL);
	after = plan(p, MLID_MIN + 5, m, 113, before);
	tree_serves(t, after, m, 113);
	assert_int_equal(rows_that_differ(before, after), 3);
	assert_int_equal(after->n_links, before->n_links + 2);
	mcast_tree_unref(take(before));
	before = plan(p, MLID_MIN + 5, m, 112, after);
	assert_int_equal(rows_that_differ(before, after), 3);
}

/* Members that join one by one get as good a tree as members that join together. */
static void growth_is_no_decay(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = topogen_fat_tree3(8, NULL);
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = planner(t);
	struct mcast_member m[128];
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *grown = NULL, *fresh = NULL;

	for (unsigned h = 0; h < 128; h++) {
		struct mcast_tree *next;

		m[h] = host(t, h, true);
		next = plan(p, MLID_MIN, m, h + 1, grown);
		mcast_tree_unref(grown);
		grown = next;
	}
	fresh = plan(p, MLID_MIN, m, 128, NULL);
	assert_int_equal(fresh->n_links, 32 + 8);
	assert_int_equal(grown->n_links, fresh->n_links);
	assert_int_equal(grown->n_hops, fresh->n_hops);
	tree_serves(t, grown, m, 128);
}

/*
 * A cable of the tree dies: it is bridged. At a heavy sweep a tree that turns upwards again is
 * replaced, over another core if an agg lost one, over other aggs in all pods if a leaf lost one.
 */
static void a_dead_cable_is_bridged(void **state)
{
	_cleanup_(topo_unrefp) struct topo *whole = topogen_fat_tree3(8, NULL);
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = planner(whole);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *before = NULL;
	struct mcast_member m[128];
	unsigned bridged = 0, near = 0;

	for (unsigned h = 0; h < 128; h++)
		m[h] = host(whole, h, true);
	before = plan(p, MLID_MIN, m, 128, NULL);
	for (unsigned cable = 0; cable < 256; cable++) {
		const struct topogen o = { .without_link = cable + 1 };
		_cleanup_(topo_unrefp) struct topo *t = topogen_fat_tree3(8, &o);
		_cleanup_(mcast_planner_freep) struct mcast_planner *q = planner(t);
		_cleanup_(mcast_tree_unrefp) struct mcast_tree *after =
			plan(q, MLID_MIN, m, 128, before);
		struct mcast_job heavy = { .mlid = MLID_MIN,
					   .members = m,
					   .n_members = 128,
					   .previous = after,
					   .may_replan = true };
		_cleanup_(mcast_tree_unrefp) struct mcast_tree *better = mcast_plan(q, &heavy);

		tree_serves(t, after, m, 128);
		if (after == before)
			continue;
		assert_true(rows_that_differ(before, after) <= 5);
		assert_int_equal(better->n_hops, 4);
		near += rows_that_differ(before, better) <= 10;
		bridged++;
	}
	assert_int_equal(bridged, before->n_links);
	assert_int_equal(near, 8);
}

/* ---- random -------------------------------------------------------------------------------- */

struct world {
	uint64_t rng;
	struct topo *t;
	struct mcast_planner *p;
	struct mcast_tree *tree;
	struct mcast_member members[64];
	uint32_t n;
};

static struct topo *random_topo(uint64_t *rng, const struct topogen *o)
{
	const unsigned torus[3] = { 4, 3, 3 };

	switch (next_random(rng) % 5) {
	case 0:
		return topogen_fat_tree3(4, o);
	case 1:
		return topogen_torus(torus, 2, o);
	case 2:
		return topogen_fat_tree2(6, 3, 4, 2, o);
	case 3:
		return topogen_dragonfly(5, 4, 2, o);
	default:
		return topogen_random(20, 4, 2, o);
	}
}

/* One host joins with this state, or changes it, or leaves. */
static void change_member(struct world *w)
{
	uint32_t who = next_random(&w->rng) % w->t->n_hosts;
	struct mcast_member m = host(w->t, who, next_random(&w->rng) % 4);

	for (uint32_t i = 0; i < w->n; i++)
		if (w->members[i].sw == m.sw && w->members[i].port == m.port) {
			w->members[i] = w->members[--w->n];
			return;
		}
	if (m.sw != TOPO_NONE && w->n < ARRAY_SIZE(w->members))
		w->members[w->n++] = m;
}

/* Is there a way between the two? */
static bool connected(struct mcast_planner *p, struct mcast_member a, struct mcast_member b)
{
	const struct mcast_member two[] = { { a.sw, a.port, true }, { b.sw, b.port, true } };
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *t = plan(p, MLID_MIN, two, 2, NULL);

	return t->n_left_out == 0;
}

static uint32_t first_switch(struct mcast_planner *p, struct mcast_member m)
{
	uint32_t sw = 0;

	while (!connected(p, m, (struct mcast_member){ .sw = sw }))
		sw++;
	return sw;
}

/* Members the tree has to serve: those where most are, of equals where the first switch is. */
static uint32_t served(const struct world *w, struct mcast_member *ret)
{
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = planner(w->t);
	uint32_t best = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		struct mcast_member together[64];
		uint32_t n = 0;

		for (uint32_t k = 0; k < w->n; k++)
			if (connected(p, w->members[i], w->members[k]))
				together[n++] = w->members[k];
		if (n < best ||
		    (n == best && first_switch(p, together[0]) >= first_switch(p, ret[0])))
			continue;
		best = n;
		memcpy(ret, together, n * sizeof(*ret));
	}
	return best;
}

/* Returns whether a decayed tree could be replaced. */
static bool replan(struct world *w)
{
	struct mcast_job job = {
		.mlid = MLID_MIN + 3,
		.members = w->members,
		.n_members = w->n,
		.previous = w->tree,
		.may_replan = next_random(&w->rng) % 8 == 0,
	};
	struct mcast_tree *next = mcast_plan(w->p, &job);

	mcast_tree_unref(w->tree);
	w->tree = next;
	return job.may_replan;
}

/* All members full: a join or leave touches its own branch only. */
static void check_stable(const struct mcast_tree *before, const struct mcast_tree *after)
{
	uint32_t more = MAX(before->n_rows, after->n_rows),
		 less = MIN(before->n_rows, after->n_rows);

	if (less > 0)
		assert_true(rows_that_differ(before, after) <= more - less + 1);
}

static void play(uint64_t seed)
{
	struct world w = { .rng = seed };
	const struct topogen o = { .seed = seed, .damage = (double)(seed % 3) / 5 };
	uint64_t shape = next_random(&w.rng);
	bool all_full = seed % 2;
	uint64_t rng = shape;

	w.t = random_topo(&rng, &o);
	w.p = planner(w.t);
	for (unsigned i = 0; i < 60; i++) {
		_cleanup_(mcast_tree_unrefp) struct mcast_tree *before = mcast_tree_ref(w.tree);
		struct mcast_member there[64];
		bool replaced;
		uint32_t n;

		change_member(&w);
		for (uint32_t k = 0; all_full && k < w.n; k++)
			w.members[k].receive = true;
		replaced = replan(&w);
		n = served(&w, there);
		assert_int_equal(w.tree->n_left_out, w.n - n);
		if (w.tree->n_rows)
			tree_serves(w.t, w.tree, there, n);
		if (before && all_full && !replaced && !w.tree->n_left_out && !before->n_left_out)
			check_stable(before, w.tree);
		if (i % 10 == 9) { /* another set of dead cables */
			const struct topogen other = { .seed = seed + i,
						       .damage = (double)(i % 30) / 100 };
			struct topo *t;

			rng = shape;
			t = random_topo(&rng, &other);
			topo_unref(w.t);
			mcast_planner_free(w.p);
			w.t = t;
			w.p = planner(t);
			w.n = 0;
			mcast_tree_unref(take(w.tree));
		}
	}
	mcast_tree_unref(w.tree);
	mcast_planner_free(w.p);
	topo_unref(w.t);
}

static void members_come_and_go(void **state)
{
	for (uint64_t seed = 1; seed <= test_rounds(120); seed++) {
		if (seed % 40 == 0)
			printf("# seeds up to %u\n", (unsigned)seed);
		play(seed);
	}
}

/* The same with a tree carried over from a fabric with other cables; hops of routes or our own. */
static void trees_are_carried_over(void **state)
{
	for (uint64_t seed = 1; seed <= test_rounds(120); seed++) {
		struct world w = { .rng = seed };
		uint64_t shape = next_random(&w.rng);

		for (unsigned i = 0; i < 12; i++) {
			const struct topogen o = { .seed = seed, .damage = (double)(i % 4) / 10 };
			struct mcast_member there[64];
			uint64_t rng = shape;
			uint32_t n;

			w.t = random_topo(&rng, &o);
			w.p = planner(w.t);
			for (unsigned k = 0; k < 5 && w.t->n_hosts; k++)
				change_member(&w);
			replan(&w);
			n = served(&w, there);
			assert_int_equal(w.tree->n_left_out, w.n - n);
			if (w.tree->n_rows)
				tree_serves(w.t, w.tree, there, n);
			mcast_planner_free(w.p);
			topo_unref(w.t);
		}
		mcast_tree_unref(w.tree);
	}
}

/* Where a switch replaced another one, switches are not by GUID: rows are. */
static void rows_are_by_guid(void **state)
{
	_cleanup_(topo_unrefp) struct topo *t = small();
	guid_t order[6];
	_cleanup_(topo_unrefp) struct topo *other = NULL;
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = NULL;
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree = NULL;
	struct mcast_member m[4];

	for (uint32_t s = 0; s < t->n_switches; s++)
		order[s] = t->switches[s].guid;
	order[1] = UINT64_MAX; /* a leaf: the last one now */
	other = topo_with_order(t, order);
	p = planner(other);
	for (unsigned i = 0; i < 4; i++)
		m[i] = host(other, i * 4, true);
	tree = plan(p, MLID_MIN, m, 4, NULL);
	assert_int_equal(tree->n_rows, 5);
	for (uint32_t i = 0; i < tree->n_rows; i++) {
		assert_true(!i || tree->rows[i - 1].guid < tree->rows[i].guid);
		assert_ptr_equal(mcast_tree_find(tree, tree->rows[i].guid), &tree->rows[i]);
	}
	tree_serves(other, tree, m, 4);
}

/* Hops lent by routes or counted: the same tree. */
static void routes_lend_their_hops(void **state)
{
	const struct topogen o = { .seed = 7, .damage = 0.1 };
	_cleanup_(topo_unrefp) struct topo *t = topogen_random(40, 5, 2, &o);
	struct route_job job = { .topo = t, .threads = 1 };
	char why[128];
	_cleanup_(routes_unrefp) struct routes *r =
		route_engine_find("minhop")->compute(&job, why, sizeof(why));
	const struct mcast_params lent = { .topo = t, .routes = r };
	_cleanup_(mcast_planner_freep) struct mcast_planner *a = planner(t);
	_cleanup_(mcast_planner_freep) struct mcast_planner *b = mcast_planner_new(&lent);
	struct mcast_member m[10];

	assert_non_null(r->hops);
	for (unsigned i = 0; i < 10; i++)
		m[i] = host(t, i * 3, true);
	for (unsigned i = 0; i < 20; i++) {
		_cleanup_(mcast_tree_unrefp) struct mcast_tree *x =
			plan(a, MLID_MIN + i, m, 10, NULL);
		_cleanup_(mcast_tree_unrefp) struct mcast_tree *y = plan(b, MLID_MIN + i, m, 10, x);

		_cleanup_(mcast_tree_unrefp) struct mcast_tree *z =
			plan(b, MLID_MIN + i, m, 10, NULL);

		assert_ptr_equal(x, y);
		assert_int_equal(rows_that_differ(x, z), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_member_needs_no_row),
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(two_on_one_switch),
		cmocka_unit_test(across_leaves_over_one_spine),
		cmocka_unit_test(switches_join_too),
		cmocka_unit_test(who_only_sends_gets_nothing),
		cmocka_unit_test(a_member_on_no_switch_is_left_out),
		cmocka_unit_test(a_switch_without_room_is_gone_around),
		cmocka_unit_test(nothing_new_is_the_same_tree),
		cmocka_unit_test(roots_take_turns),
		cmocka_unit_test(dear_cables_are_gone_around),
		cmocka_unit_test(a_join_adds_its_branch),
		cmocka_unit_test(growth_is_no_decay),
		cmocka_unit_test(a_dead_cable_is_bridged),
		cmocka_unit_test(members_come_and_go),
		cmocka_unit_test(trees_are_carried_over),
		cmocka_unit_test(rows_are_by_guid),
		cmocka_unit_test(routes_lend_their_hops),
	};

	return cmocka_run_group_tests_name("mcast", tests, NULL, NULL);
}
