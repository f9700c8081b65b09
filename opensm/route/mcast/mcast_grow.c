// SPDX-License-Identifier: BSD-2-Clause
/*
 * A multicast tree while it grows: the rest of the previous one, minus branches that lead to no
 * member, plus the shortest branches to new members. No rows here, and no choice of a root.
 *
 * The rest of a tree after cables died may be several pieces; each has a top, and every other
 * switch a parent. Pieces are joined before members are added, so a branch never closes a cycle: it
 * runs over switches outside of the tree and ends at the first one inside.
 */
#include <assert.h>

#include "route/mcast/mcast_internal.h"
#include "util/bisect.h"
#include "util/mem.h"
#include "util/random.h"

/* Switches a search looks at before it takes one step on trust. */
#define SEARCH_LIMIT 1024

struct mcast_vertex *mcast_vertex(struct mcast_planner *p, uint32_t sw)
{
	struct mcast_vertex *s = &p->vertices[sw];

	if (s->plan != p->plan) {
		*s = (struct mcast_vertex){ .plan = p->plan, .parent = MCAST_NONE };
		p->switches[p->n_switches++] = sw;
	}
	return s;
}

static bool in_tree(const struct mcast_planner *p, uint32_t sw)
{
	return p->vertices[sw].plan == p->plan && p->vertices[sw].in_tree;
}

/* A choice that differs from MLID to MLID and is the same for all members. */
static uint64_t taste(const struct mcast_planner *p, uint32_t sw)
{
	uint64_t state = p->topo->switches[sw].guid + p->number * UINT64_C(0x9E3779B97F4A7C15);

	return random_next(&state);
}

/* ---- cables of the tree -------------------------------------------------------------------- */

static void hang(struct mcast_planner *p, uint32_t child, uint32_t parent)
{
	struct mcast_vertex *c = mcast_vertex(p, child), *u = mcast_vertex(p, parent);

	c->parent = parent;
	c->degree++;
	c->near ^= parent;
	u->degree++;
	u->near ^= child;
}

void mcast_hang(struct mcast_planner *p, uint32_t child, uint32_t parent, uint8_t port)
{
	hang(p, child, parent);
	p->vertices[child].up_port = port;
	p->vertices[child].down_port = topo_port(p->topo, child, port)->port;
}

void mcast_add_switch(struct mcast_planner *p, uint32_t sw)
{
	mcast_vertex(p, sw)->in_tree = true;
}

/* By one of the cables between the two; parallel ones are shared out between groups. */
static void hang_by_some(struct mcast_planner *p, uint32_t child, uint32_t parent)
{
	const struct graph_group *g = graph_edge(p->graph, child, parent);
	uint64_t pick = (taste(p, child) ^ taste(p, parent)) % g->n_ports;

	mcast_hang(p, child, parent, p->graph->ports[g->first_port + pick]);
}

uint32_t mcast_top_of(const struct mcast_planner *p, uint32_t sw)
{
	for (uint32_t steps = 0; p->vertices[sw].parent != MCAST_NONE; steps++) {
		assert(steps < p->n); /* parents do not lead round */
		sw = p->vertices[sw].parent;
	}
	return sw;
}

void mcast_make_top(struct mcast_planner *p, uint32_t sw)
{
	uint32_t at = sw, parent = p->vertices[sw].parent;
	uint8_t up = p->vertices[sw].up_port, down = p->vertices[sw].down_port;

	p->vertices[sw].parent = MCAST_NONE;
	for (uint32_t steps = 0; parent != MCAST_NONE; steps++) {
		struct mcast_vertex *s = &p->vertices[parent];
		uint32_t next = s->parent;
		uint8_t next_up = s->up_port, next_down = s->down_port;

		assert(steps < p->n);
		s->parent = at;
		s->up_port = down;
		s->down_port = up;
		at = parent;
		parent = next;
		up = next_up;
		down = next_down;
	}
}

/* ---- the rest of the previous tree -------------------------------------------------------- */

/* The switch of a row in this topo; MCAST_NONE if it cannot be used. */
static uint32_t switch_of(const struct mcast_planner *p, const struct mcast_row *row,
			  uint32_t island)
{
	uint32_t sw = row->sw;

	if (sw >= p->n || p->topo->switches[sw].guid != row->guid)
		sw = topo_find_switch(p->topo, row->guid);
	if (sw == TOPO_NONE || p->island[sw] == MCAST_NONE)
		return MCAST_NONE;
	return island == MCAST_NONE || p->island[sw] == island ? sw : MCAST_NONE;
}

static bool is_cable(const struct mcast_planner *p, uint32_t child, uint32_t parent,
		     const struct mcast_row *row)
{
	const struct graph_group *g = p->only_common ? graph_edge(p->graph, child, parent) : NULL;

	if (p->only_common && (!g || p->graph->ports[g->first_port] != row->up_port))
		return false;
	return topo_behind(p->topo, child, row->up_port) == parent &&
	       topo_port(p->topo, child, row->up_port)->port == row->down_port &&
	       !mcast_is_dead(p, child, row->up_port);
}

void mcast_import(struct mcast_planner *p, const struct mcast_tree *t, uint32_t island)
{
	for (uint32_t i = 0; i < t->n_rows; i++) {
		uint32_t sw = switch_of(p, &t->rows[i], island);

		if (sw != MCAST_NONE)
			mcast_add_switch(p, sw);
	}
	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct mcast_row *row = &t->rows[i];
		uint32_t sw = switch_of(p, row, island), up;

		if (sw == MCAST_NONE || row->up == MCAST_NONE)
			continue;
		up = switch_of(p, &t->rows[row->up], island);
		if (up == MCAST_NONE || !is_cable(p, sw, up, row))
			continue;
		hang(p, sw, up);
		p->vertices[sw].up_port = row->up_port;
		p->vertices[sw].down_port = row->down_port;
	}
}

/* Takes an end of the tree away; the neighbour at its one cable may be the next. */
static uint32_t cut_end(struct mcast_planner *p, uint32_t sw)
{
	struct mcast_vertex *s = &p->vertices[sw];
	uint32_t next = MCAST_NONE;

	if (s->degree == 1) {
		struct mcast_vertex *other = &p->vertices[s->near];

		next = s->near;
		other->degree--;
		other->near ^= sw;
		if (other->parent == sw)
			other->parent = MCAST_NONE;
	}
	s->in_tree = false;
	s->degree = 0;
	s->near = 0;
	s->parent = MCAST_NONE;
	return next;
}

void mcast_prune(struct mcast_planner *p)
{
	for (uint32_t i = 0; i < p->n_switches; i++) {
		uint32_t at = p->switches[i];

		/* Each is taken out of the tree. */
		while (at != MCAST_NONE && in_tree(p, at) && p->vertices[at].degree < 2 &&
		       !mcast_has_ports(p->vertices[at].members))
			at = cut_end(p, at);
	}
}

void mcast_fell(struct mcast_planner *p)
{
	for (uint32_t i = 0; i < p->n_switches; i++) {
		struct mcast_vertex *s = &p->vertices[p->switches[i]];

		s->in_tree = false;
		s->parent = MCAST_NONE;
		s->degree = s->near = 0;
	}
}

/* ---- paths ---------------------------------------------------------------------------------- */

/* The cost of the cheapest path down to the root from `sw`; only steps of that cost are taken. */
static unsigned way_down(const struct mcast_planner *p, uint32_t sw)
{
	unsigned here = mcast_to_root(p, sw), best = UINT32_MAX;

	if (!p->graph->weighted || mcast_counts_hops(p))
		return here;
	GRAPH_EACH(p->graph, sw, g) {
		unsigned there = mcast_to_root(p, g->to);

		if (there < here)
			best = MIN(best, there + g->weight);
	}
	return best;
}

static bool leads_down(const struct mcast_planner *p, uint32_t sw, const struct graph_group *g,
		       unsigned cost)
{
	unsigned there = mcast_to_root(p, g->to);
	unsigned weight = mcast_counts_hops(p) ? 1 : g->weight;

	return there < mcast_to_root(p, sw) && there + weight == cost;
}

struct search {
	uint32_t n;			 /* switches in p->queue */
	uint32_t own;			 /* top of the piece that searches for another */
	bool downhill;			 /* only nearer to the root with every step */
	uint32_t hit;			 /* the best found so far */
	const struct mcast_joint *joint; /* NULL: any connection will do */
};

static void start_at(struct mcast_planner *p, struct search *s, uint32_t sw)
{
	p->seen[sw] = p->search;
	p->via[sw] = MCAST_NONE;
	p->queue[s->n++] = sw;
}

/* May the piece that searches be joined to `to`, a switch of the tree? */
static bool may_meet(const struct mcast_planner *p, const struct search *s, uint32_t from,
		     uint32_t to)
{
	uint32_t top = mcast_top_of(p, to);

	if (top == s->own || (s->joint && top != s->joint->to))
		return false;
	for (uint32_t i = 0; s->joint && i < s->joint->n_banned; i++)
		if (s->joint->connections[i].from == from && s->joint->connections[i].at == to)
			return false;
	return true;
}

static void meet(struct mcast_planner *p, struct search *s, uint32_t from, uint32_t to)
{
	if (p->seen[to] == p->search || p->island[to] != p->island[from])
		return;
	if (in_tree(p, to) && !may_meet(p, s, from, to))
		return;
	p->seen[to] = p->search;
	p->via[to] = from;
	if (!in_tree(p, to))
		p->queue[s->n++] = to;
	else if (s->hit == MCAST_NONE || taste(p, to) < taste(p, s->hit))
		s->hit = to;
}

static void look_around(struct mcast_planner *p, struct search *s, uint32_t from)
{
	const struct graph_group *groups = p->graph->groups + p->graph->first[from];
	uint32_t n = p->graph->first[from + 1] - p->graph->first[from];
	unsigned cost = s->downhill ? way_down(p, from) : 0;
	uint32_t start = n ? taste(p, from) % n : 0;

	for (uint32_t k = 0; k < n; k++) {
		const struct graph_group *g = &groups[(start + k) % n];

		if (!s->downhill || leads_down(p, from, g, cost))
			meet(p, s, from, g->to);
	}
}

/*
 * Level by level from the queued switches until another piece of the tree is met: its nearest
 * switch, or MCAST_NONE. Then p->via leads back. A downhill search that grows too large ends.
 */
static uint32_t search(struct mcast_planner *p, struct search *s)
{
	uint32_t head = 0;

	while (head < s->n && s->hit == MCAST_NONE) {
		uint32_t end = s->n;

		if (s->downhill && end > SEARCH_LIMIT)
			break;
		while (head < end)
			look_around(p, s, p->queue[head++]);
	}
	return s->hit;
}

/* Makes the path found part of the tree, from the piece that searched to the one it met. */
static void connect(struct mcast_planner *p, uint32_t hit)
{
	uint32_t parent = hit, at = p->via[hit];

	for (uint32_t steps = 0;; steps++) {
		uint32_t next = p->via[at];

		assert(steps < p->n); /* each was found from one found before */
		if (next == MCAST_NONE)
			mcast_make_top(p, at);
		mcast_add_switch(p, at);
		hang_by_some(p, at, parent);
		if (next == MCAST_NONE)
			return;
		parent = at;
		at = next;
	}
}

/* ---- members ------------------------------------------------------------------------------- */

/* Of equals the first. */
uint32_t mcast_greatest_piece(struct mcast_planner *p)
{
	uint32_t best = MCAST_NONE, most = 0;

	for (uint32_t i = 0; i < p->n_switches; i++)
		p->via[p->switches[i]] = 0;
	for (uint32_t i = 0; i < p->n_member_switches; i++) {
		uint32_t sw = p->member_switches[i], top;

		if (!in_tree(p, sw))
			continue;
		top = mcast_top_of(p, sw);
		p->via[top]++;
		if (p->via[top] > most || (p->via[top] == most && top < best)) {
			most = p->via[top];
			best = top;
		}
	}
	return best;
}

bool mcast_join_piece(struct mcast_planner *p, uint32_t top, struct mcast_joint *joint)
{
	struct search s = { .own = top, .hit = MCAST_NONE, .joint = joint };
	uint32_t n = p->n_switches;

	p->search++;
	for (uint32_t i = 0; i < n; i++)
		if (in_tree(p, p->switches[i]) && mcast_top_of(p, p->switches[i]) == top)
			start_at(p, &s, p->switches[i]);
	if (search(p, &s) == MCAST_NONE)
		return false;
	if (joint) {
		assert(joint->n_banned <= MCAST_TRIES);
		joint->connections[joint->n_banned].from = p->via[s.hit];
		joint->connections[joint->n_banned].at = s.hit;
	}
	connect(p, s.hit);
	return true;
}

void mcast_join_pieces(struct mcast_planner *p, uint32_t root)
{
	for (uint32_t i = 0; i < p->n_switches; i++) {
		uint32_t sw = p->switches[i];

		/* One piece less each time. */
		for (uint32_t joined = 0;
		     joined < p->n && in_tree(p, sw) && mcast_top_of(p, sw) != root; joined++)
			if (!mcast_join_piece(p, mcast_top_of(p, sw), NULL))
				break;
	}
}

/* One step towards the root without a search: the same for all members that come through `sw`. */
static uint32_t step_down(struct mcast_planner *p, uint32_t sw)
{
	unsigned cost = way_down(p, sw);
	uint32_t best = MCAST_NONE;

	GRAPH_EACH(p->graph, sw, g) {
		if (p->island[g->to] != p->island[sw] || !leads_down(p, sw, g, cost))
			continue;
		if (best == MCAST_NONE || taste(p, g->to) < taste(p, best))
			best = g->to;
	}
	return best;
}

static void add_member(struct mcast_planner *p, uint32_t member)
{
	uint32_t at = member;

	mcast_add_switch(p, at);
	for (uint32_t steps = 0; at != MCAST_NONE; steps++) {
		struct search s = { .own = at, .downhill = true, .hit = MCAST_NONE };
		uint32_t next;

		assert(steps < p->n); /* each is nearer to the root */
		p->search++;
		start_at(p, &s, at);
		if (search(p, &s) != MCAST_NONE) {
			connect(p, s.hit);
			return;
		}
		next = step_down(p, at);
		if (next == MCAST_NONE)
			break;
		mcast_add_switch(p, next);
		hang_by_some(p, at, next);
		at = next;
	}
	mcast_join_piece(p, mcast_top_of(p, member),
			 NULL); /* weights beyond the range of the table of hops */
}

void mcast_add_members(struct mcast_planner *p, uint32_t root)
{
	_cleanup_free_ uint64_t *todo = xcalloc(p->n_member_switches + 1u, sizeof(*todo));
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_member_switches; i++)
		if (!in_tree(p, p->member_switches[i]))
			todo[n++] = p->member_switches[i];
	if (!n)
		return;
	mcast_aim(p, root);
	for (uint32_t i = 0; i < n; i++) /* the nearest first */
		todo[i] |= (uint64_t)mcast_to_root(p, (uint32_t)todo[i]) << 32;
	SORT(todo, n, compare_u64);
	for (uint32_t i = 0; i < n; i++)
		if (!in_tree(p, (uint32_t)todo[i]))
			add_member(p, (uint32_t)todo[i]);
}
