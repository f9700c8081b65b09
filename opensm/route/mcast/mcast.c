// SPDX-License-Identifier: BSD-2-Clause
/*
 * The plan of one multicast group, from its members to the rows of its switches: takes the previous
 * tree, prunes it, joins the pieces that a dead cable left, adds new members; or begins in the
 * middle. Then writes rows: copies go where receivers are.
 *
 * Everything per switch lives in vertices that a plan clears at their first use: the cost of a
 * small group does not depend on the size of the fabric.
 */
#include "route/mcast/mcast.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "route/proof/cdg.h"
#include "route/proof/keep_policy.h"
#include "route/mcast/mcast_internal.h"
#include "util/bisect.h"
#include "util/mem.h"

/* ---- planners ------------------------------------------------------------------------------ */

struct mcast_planner *mcast_planner_new(const struct mcast_params *params)
{
	struct mcast_planner *p = xcalloc(1, sizeof(*p));
	const struct routes *r = params->routes;
	size_t n = params->topo->n_switches;

	assert(params && params->topo);
	p->topo = topo_ref(params->topo);
	p->n = params->topo->n_switches;
	p->graph = graph_new(params->topo, params->options);
	if (r && r->hops && r->topo == params->topo)
		p->routes = routes_ref(r);
	if (params->caps)
		p->caps = arena_keep(&p->memory, xmemdup(params->caps, n * sizeof(*p->caps)));
	ARENA_ARRAYS(&p->memory, n, p->island, p->island_members, p->far, p->sum, p->own_row,
		     p->vertices, p->switches, p->member_switches);
	ARENA_ARRAYS(&p->memory, n, p->queue, p->via, p->seen);
	p->depends = params->depends;
	p->bound = r && r->master_tree && !p->depends;
	p->proved = r && (p->depends || p->bound) ? routes_ref(r) : NULL;
	p->hosts = arena_keep(&p->memory, topo_count_hosts(p->topo));
	ARENA_ARRAY(&p->memory, p->roots, params->n_roots + 1u);
	for (uint32_t i = 0; i < params->n_roots; i++) {
		uint32_t sw = topo_find_switch(p->topo, params->roots[i]);

		if (sw != TOPO_NONE)
			p->roots[p->n_roots++] = sw;
	}
	return p;
}

struct mcast_planner *mcast_planner_free(struct mcast_planner *p)
{
	if (!p)
		return NULL;
	graph_free(p->graph);
	routes_unref(p->routes);
	topo_unref(p->topo);
	for (unsigned sl = 0; sl < ARRAY_SIZE(p->common); sl++)
		graph_free(p->common[sl]);
	cdg_free(p->depends);
	routes_unref(p->proved);
	free(p->dead);
	arena_done(&p->memory);
	free(p);
	return NULL;
}

const struct topo *mcast_planner_topo(const struct mcast_planner *p)
{
	return p->topo;
}

/* ---- members ------------------------------------------------------------------------------- */

/* A port that leads to another switch cannot be a member: the copy would go round. */
static bool can_be_member(const struct mcast_planner *p, const struct mcast_member *m)
{
	return m->sw < p->n && m->port <= p->topo->switches[m->sw].n_ports &&
	       p->island[m->sw] != MCAST_NONE && topo_behind(p->topo, m->sw, m->port) == TOPO_NONE;
}

/* The island with most members; of equals the first. MCAST_NONE: there are no members. */
static uint32_t greatest_island(struct mcast_planner *p, const struct mcast_job *job)
{
	uint32_t best = MCAST_NONE;

	for (uint32_t i = 0; i < job->n_members; i++)
		if (can_be_member(p, &job->members[i]))
			p->island_members[p->island[job->members[i].sw]] = 0;
	for (uint32_t i = 0; i < job->n_members; i++) {
		uint32_t island, *count;

		if (!can_be_member(p, &job->members[i]))
			continue;
		island = p->island[job->members[i].sw];
		count = &p->island_members[island];
		++*count;
		if (best == MCAST_NONE || *count > p->island_members[best] ||
		    (*count == p->island_members[best] && island < best))
			best = island;
	}
	return best;
}

uint32_t mcast_take_members(struct mcast_planner *p, const struct mcast_job *job, uint32_t island)
{
	uint32_t n = 0;

	p->n_member_switches = p->n_left_out = p->n_receivers = 0;
	for (uint32_t i = 0; i < job->n_members; i++) {
		const struct mcast_member *m = &job->members[i];
		uint64_t bit = UINT64_C(1) << m->port % 64;
		unsigned word = m->port / 64;
		struct mcast_vertex *s;

		if (!can_be_member(p, m) || (island != MCAST_NONE && p->island[m->sw] != island)) {
			p->n_left_out++;
			continue;
		}
		s = mcast_vertex(p, m->sw);
		if (!mcast_has_ports(s->members))
			p->member_switches[p->n_member_switches++] = m->sw;
		if (!(s->members[word] & bit))
			n++;
		s->members[word] |= bit;
		if (!m->receive)
			continue;
		if (!(s->receives[word] & bit))
			p->n_receivers++;
		s->receives[word] |= bit;
	}
	return n;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Switches of the tree by GUID, into p->queue. */
static uint32_t list_tree(struct mcast_planner *p)
{
	uint32_t n = 0;

	if (p->n_switches > p->n / 16) {
		for (uint32_t i = 0; i < p->n; i++)
			if (p->vertices[i].plan == p->plan && p->vertices[i].in_tree)
				p->queue[n++] = i;
	} else {
		for (uint32_t i = 0; i < p->n_switches; i++)
			if (p->vertices[p->switches[i]].in_tree)
				p->queue[n++] = p->switches[i];
		SORT(p->queue, n, compare_u32);
	}
	topo_sort_by_guid(p->topo, p->queue, n);
	return n;
}

/* What is below a row, and how deep. */
struct below {
	uint32_t receivers;
	uint32_t height;
	uint32_t children; /* not counted yet */
	uint32_t top;	   /* row of its root; MCAST_NONE: not known yet */
};

/* Counts from row `i`, whose children are all counted, upwards as far as that goes. */
static void count_up(struct mcast_tree *t, struct below *below, uint32_t i)
{
	while (t->rows[i].up != MCAST_NONE) {
		struct below *up = &below[t->rows[i].up];

		up->receivers += below[i].receivers;
		t->n_hops = MAX(t->n_hops, up->height + below[i].height + 1);
		up->height = MAX(up->height, below[i].height + 1);
		if (--up->children)
			return;
		i = t->rows[i].up;
	}
}

/* The root of a row's piece; notes it for all rows on the way there. */
static uint32_t find_top(const struct mcast_tree *t, struct below *below, uint32_t row)
{
	uint32_t top = row;

	while (t->rows[top].up != MCAST_NONE && below[top].top == MCAST_NONE)
		top = t->rows[top].up;
	if (below[top].top != MCAST_NONE)
		top = below[top].top;
	for (uint32_t i = row; below[i].top == MCAST_NONE; i = t->rows[i].up) {
		below[i].top = top;
		if (t->rows[i].up == MCAST_NONE)
			break;
	}
	return top;
}

/* A copy goes down a cable if a member below receives, and up if one elsewhere does. */
static void send_copies(struct mcast_tree *t, struct below *below)
{
	for (uint32_t i = 0; i < t->n_rows; i++)
		below[i].top = MCAST_NONE;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		struct mcast_row *row = &t->rows[i];

		if (row->up == MCAST_NONE)
			continue;
		if (below[i].receivers)
			mcast_set_port(&t->rows[row->up], row->down_port);
		if (below[i].receivers < below[find_top(t, below, i)].receivers)
			mcast_set_port(row, row->up_port);
	}
}

static void write_rows(struct mcast_planner *p, struct mcast_tree *t, uint32_t root)
{
	for (uint32_t i = 0; i < t->n_rows; i++)
		p->vertices[p->queue[i]].row = i;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct mcast_vertex *s = &p->vertices[p->queue[i]];
		struct mcast_row *row = &t->rows[i];

		row->guid = p->topo->switches[p->queue[i]].guid;
		row->sw = p->queue[i];
		memcpy(row->mask, s->receives, sizeof(row->mask));
		row->up = s->parent == MCAST_NONE ? MCAST_NONE : p->vertices[s->parent].row;
		if (row->up == MCAST_NONE) {
			if (row->sw == root)
				t->root = i;
			continue;
		}
		t->n_links++;
		row->up_port = s->up_port;
		row->down_port = s->down_port;
	}
}

struct mcast_tree *mcast_write_tree(struct mcast_planner *p, uint32_t root)
{
	struct mcast_tree *t = mcast_tree_new(list_tree(p));
	_cleanup_free_ struct below *below = xcalloc(t->n_rows, sizeof(*below));

	write_rows(p, t, root);
	t->n_left_out = p->n_left_out;
	for (uint32_t i = 0; i < t->n_rows; i++) {
		for (unsigned w = 0; w < ARRAY_SIZE(t->rows[i].mask); w++)
			below[i].receivers += (uint32_t)__builtin_popcountll(t->rows[i].mask[w]);
		if (t->rows[i].up != MCAST_NONE)
			below[t->rows[i].up].children++;
	}
	for (uint32_t i = 0; i < t->n_rows; i++)
		if (p->vertices[t->rows[i].sw].degree == 1 && t->rows[i].up != MCAST_NONE)
			count_up(t, below, i);
	send_copies(t, below);
	return t;
}

/* ---- the plan ------------------------------------------------------------------------------ */

static struct mcast_tree *plan_on(struct mcast_planner *p, const struct mcast_tree *previous)
{
	uint32_t root;

	mcast_import(p, previous, p->island[p->member_switches[0]]);
	mcast_prune(p);
	root = mcast_greatest_piece(p);
	if (root == MCAST_NONE)
		return NULL;
	mcast_join_pieces(p, root);
	mcast_add_members(p, root);
	return mcast_write_tree(p, root);
}

static struct mcast_tree *plan_afresh(struct mcast_planner *p, const struct mcast_tree *previous)
{
	uint32_t root = mcast_choose_root(p, previous);

	mcast_add_switch(p, root);
	mcast_add_members(p, root);
	mcast_prune(p);
	return mcast_write_tree(p, mcast_top_of(p, p->member_switches[0]));
}

static bool has_decayed(const struct mcast_tree *t, const struct mcast_tree *fresh)
{
	return t->n_hops > keep_limit(KEEP_TREE_HOPS, fresh->n_hops) ||
	       t->n_links > keep_limit(KEEP_TREE_LINKS, fresh->n_links) + 2;
}

static struct mcast_tree *plan_rows(struct mcast_planner *p, const struct mcast_job *job)
{
	const struct mcast_tree *previous = job->previous;
	struct mcast_tree *t = NULL, *fresh;

	if (previous && previous->n_rows)
		t = plan_on(p, previous);
	if (t && !job->may_replan)
		return t;
	mcast_fell(p);
	fresh = plan_afresh(p, previous);
	if (t && !has_decayed(t, fresh)) {
		mcast_tree_unref(fresh);
		return t;
	}
	mcast_tree_unref(t);
	return fresh;
}

/* Sorted member switches, or false: the group needs no tree. */
static bool gather(struct mcast_planner *p, const struct mcast_job *job)
{
	p->plan++;
	p->n_switches = 0;
	mcast_find_islands(p);
	if (mcast_take_members(p, job, greatest_island(p, job)) < 2 || !p->n_receivers)
		return false;
	SORT(p->member_switches, p->n_member_switches, compare_u32);
	return true;
}

/* Changes to another set of cables, with islands of its own. */
static void use_cables(struct mcast_planner *p, struct graph *graph, bool only_common)
{
	p->graph = graph;
	p->only_common = only_common;
	p->island_lo = p->island_hi = 0;
}

struct mcast_tree *mcast_plan_common(struct mcast_planner *p, const struct mcast_job *job)
{
	struct graph *all = p->graph;
	struct mcast_tree *t = NULL;
	uint32_t left_out;

	if (!p->common[job->sl & 15] || !gather(p, job))
		return NULL;
	left_out = p->n_left_out;
	use_cables(p, p->common[job->sl & 15], true);
	if (gather(p, job) && p->n_left_out <= left_out) {
		if (job->previous && job->previous->n_rows)
			t = plan_on(p, job->previous);
		if (!t) {
			mcast_fell(p);
			t = plan_afresh(p, NULL);
		}
	}
	use_cables(p, all, false);
	return t;
}

/* A tree that closes no cycle, if there is one. Takes `t`. */
static struct mcast_tree *make_safe(struct mcast_planner *p, const struct mcast_job *job,
				    struct mcast_tree *t)
{
	struct mcast_tree *other;

	if (mcast_fits(p, t, job->sl & 15))
		return t;
	other = mcast_plan_common(p, job);
	if (other && mcast_fits(p, other, job->sl & 15)) {
		mcast_tree_unref(t);
		return other;
	}
	mcast_tree_unref(other);
	t->unproved = true;
	return t;
}

struct mcast_tree *mcast_plan(struct mcast_planner *p, const struct mcast_job *job)
{
	struct mcast_tree *t;

	assert(job->mlid >= MLID_MIN && job->mlid <= MLID_MAX);
	p->number = job->mlid - MLID_MIN;
	mcast_find_common(p, job->sl & 15);
	if (gather(p, job)) {
		t = make_safe(p, job, plan_rows(p, job));
	} else {
		t = mcast_tree_new(0);
		t->n_left_out = p->n_left_out;
	}
	if (job->previous && mcast_tree_is_same(t, job->previous)) {
		mcast_tree_unref(t);
		t = mcast_tree_ref(job->previous);
	}
	return t;
}
