// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which columns of distances are others now. A lone switch changes all of them in its own row; so
 * its row is computed from its neighbours first, and then these are asked, column by column,
 * whether they are where they were.
 */
#include "route/tree/repair_internal.h"

#include <string.h>

#include "util/mem.h"

#define FAR (DISTANCE_DOWN - 1u)

/* False: too far to be kept. */
static bool set_distance(struct repair *p, uint32_t from, uint32_t to, uint16_t now)
{
	uint16_t far = now == DISTANCE_NONE || !p->downs ? now : now & FAR;
	uint64_t bit = UINT64_C(1) << from % 64;

	if (far >= 0xFE && far != DISTANCE_NONE)
		return false;
	p->hops[(size_t)to * p->g->n + from] = (uint8_t)far;
	if (p->downs && now != DISTANCE_NONE && now & DISTANCE_DOWN)
		p->downs[repair_down_word(p, from, to)] |= bit;
	else if (p->downs)
		p->downs[repair_down_word(p, from, to)] &= ~bit;
	return true;
}

/*
 * Hops of going down from `from` to all switches, over the cables of `t`; FAR: no path. `queue` is
 * work space, of as many switches as there are.
 */
static void go_down(const struct repair *p, const struct topo *t, uint32_t from, uint16_t *ret,
		    uint32_t *queue)
{
	const uint32_t *place = p->how->tree->place;
	uint32_t tail = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		ret[s] = FAR;
	ret[from] = 0;
	queue[tail++] = from;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t u = queue[head];

		for (unsigned k = 1; k <= t->switches[u].n_ports; k++) {
			uint32_t v = topo_port(t, u, k)->sw;

			if (v == TOPO_NONE || place[v] < place[u] || ret[v] != FAR)
				continue;
			ret[v] = (uint16_t)(ret[u] + 1);
			queue[tail++] = v;
		}
	}
}

/* By distances of before: that of `from` to `to`, which is `down` hops further down (tree.c). */
static uint16_t updown_distance(const struct repair *p, uint32_t from, uint32_t to, uint16_t down)
{
	uint16_t up = FAR;
	bool relied = false;

	for (uint32_t i = p->g->first[from]; i < p->g->first[from + 1]; i++) {
		uint16_t there = repair_distance(p, p->g->groups[i].to, to),
			 over = (uint16_t)((there & FAR) + 1);

		if (p->g->groups[i].way != GRAPH_UP)
			continue;
		up = MIN(up, over);
		relied |= (there & FAR) == down + 1u;
	}
	if (down < FAR && (relied || down < up))
		return down | DISTANCE_DOWN;
	return up < FAR ? up | DISTANCE_UP : DISTANCE_NONE;
}

/* The same without ups and downs. */
static uint16_t least_distance(const struct repair *p, uint32_t from, uint32_t to)
{
	uint16_t least = DISTANCE_NONE;

	GRAPH_EACH(p->g, from, group) {
		uint16_t there = repair_distance(p, group->to, to);

		if (there != DISTANCE_NONE)
			least = MIN(least, graph_near(group, there));
	}
	return least;
}

/* Is `to` as far without ups and downs as before the cables of these ends went or came? */
static bool keeps_least(const struct repair *p, const struct cable_end *ends, size_t n, uint32_t to)
{
	uint32_t from = ends->sw;
	uint16_t was = repair_old_distance(p, from, to);
	bool lost = false;

	for (size_t i = 0; i < n; i++) {
		bool came = ends[i].what == END_CAME;
		uint16_t there = came ? repair_distance(p, ends[i].to, to)
				      : repair_old_distance(p, ends[i].to, to);

		if (there == DISTANCE_NONE || there >= was)
			continue;
		if (came && there + 1u < was)
			return false;
		lost |= !came;
	}
	for (uint32_t i = p->g->first[from]; lost && i < p->g->first[from + 1]; i++)
		lost = repair_distance(p, p->g->groups[i].to, to) + 1u != was;
	return !lost;
}

static bool add_target(struct repair *p, uint32_t to)
{
	if (p->column[to] != TOPO_NONE)
		return true;
	if (p->n_targets == KEEP_REPAIR_TARGETS)
		return false;
	p->column[to] = p->n_targets;
	p->targets[p->n_targets++] = to;
	return true;
}

/* Where the distances of one switch are others, given those of its neighbours. */
struct row {
	uint16_t *now, *was; /* hops of going down */
	uint32_t *queue;
};

/* The row of a lone switch. */
static bool find_lone_row(struct repair *p, uint32_t from, const struct row *w)
{
	bool came = p->lone[from] == LONE_CAME, ok = true;

	GRAPH_EACH(p->g, from, group)
		if (p->lone[group->to] != LONE_NOT)
			return false;
	if (p->how->tree)
		go_down(p, p->job->topo, from, w->now, w->queue);
	for (uint32_t to = 0; to < p->g->n && ok; to++)
		if (to != from)
			ok = set_distance(p, from, to, !came ? DISTANCE_NONE
					  : p->how->tree
						  ? updown_distance(p, from, to, w->now[to])
						  : least_distance(p, from, to));
	return ok && add_target(p, from);
}

/*
 * Distances are exact in all columns in which every end of a changed cable is as far as it was,
 * and goes down as far if it is the higher end.
 */
static bool find_targets_of(struct repair *p, const struct cable_end *ends, size_t n, bool higher,
			    const struct row *w)
{
	uint32_t from = ends->sw;
	bool tree = p->how->tree;

	if (tree)
		go_down(p, p->job->topo, from, w->now, w->queue);
	if (higher)
		go_down(p, p->before->topo, from, w->was, w->queue);
	for (uint32_t to = 0; to < p->g->n; to++) {
		bool stays;

		if (to == from || p->column[to] != TOPO_NONE)
			continue;
		if (p->before->hops[(size_t)to * p->g->n + from] == 0xFE)
			return false;
		if (tree)
			stays = updown_distance(p, from, to, w->now[to]) ==
					repair_old_distance(p, from, to) &&
				!(higher && w->now[to] != w->was[to]);
		else
			stays = keeps_least(p, ends, n, to);
		if (!stays && !add_target(p, to))
			return false;
	}
	return true;
}

static bool find_targets(struct repair *p)
{
	const uint32_t *place = p->how->tree ? p->how->tree->place : NULL;
	struct row w;

	ARENA_ARRAYS(&p->memory, p->g->n, w.now, w.was, w.queue);
	memset(p->column, 0xFF, p->g->n * sizeof(*p->column));
	for (uint32_t i = 0; i < p->n_lones; i++)
		if (!find_lone_row(p, p->lones[i], &w))
			return false;
	for (size_t i = 0, next; i < p->n_ends; i = next) {
		bool higher = false;

		for (next = i; next < p->n_ends && p->ends[next].sw == p->ends[i].sw; next++)
			higher |= place && place[p->ends[next].sw] < place[p->ends[next].to];
		if (p->lone[p->ends[i].sw] == LONE_NOT &&
		    !find_targets_of(p, p->ends + i, next - i, higher, &w))
			return false;
	}
	return p->n_targets * KEEP_REPAIR_SHARE <= MAX(p->g->n, 256u);
}

static bool move_distance(struct repair *p, uint32_t from, uint32_t to, uint16_t now)
{
	bool other = now != repair_old_distance(p, from, to);

	if (other)
		APPEND(p->moved, p->n_moved, p->cap_moved) = (struct moved_pair){ from, to };
	return (!other && p->lone[from] == LONE_NOT) || set_distance(p, from, to, now);
}

/*
 * All columns. Where the order differs, the highest switches reach others in ways that are none to
 * those above them, so one column after the other would be found to be affected.
 */
static bool find_all_distances(struct repair *p)
{
	uint32_t n = p->g->n;
	_cleanup_(distances_freep) struct distances *d = tree_distances(
		p->how->tree, p->g, NULL, n, route_threads(p->job), p->job->cancelled);

	if (!d)
		return false;
	hops_by_target(d, route_threads(p->job), p->hops, p->downs);
	if (memchr(p->hops, 0xFE, (size_t)n * n))
		return false;
	for (uint32_t to = 0; to < n; to++) {
		size_t first = repair_down_word(p, 0, to), words = repair_down_word(p, 0, 1);

		if (!memcmp(p->hops + (size_t)to * n, p->before->hops + (size_t)to * n, n) &&
		    !memcmp(p->downs + first, p->before->downs + first, words * sizeof(*p->downs)))
			continue;
		for (uint32_t s = 0; s < n; s++)
			if (p->lone[s] == LONE_NOT &&
			    repair_distance(p, s, to) != repair_old_distance(p, s, to))
				APPEND(p->moved, p->n_moved, p->cap_moved) =
					(struct moved_pair){ s, to };
	}
	return p->n_moved <= (size_t)KEEP_REPAIR_MOVED * MAX(n, 256u);
}

bool repair_distances(struct repair *p)
{
	_cleanup_(distances_freep) struct distances *some = NULL;

	if (p->n_turned)
		return find_all_distances(p);
	if (!find_targets(p))
		return false;
	if (!p->n_targets)
		return true;
	some = p->how->tree
		       ? tree_distances(p->how->tree, p->g, p->targets, p->n_targets, 1, NULL)
		       : distances_to(p->g, p->targets, p->n_targets, 1, NULL);
	for (uint32_t i = 0; i < p->n_targets; i++)
		for (uint32_t s = 0; s < p->g->n; s++)
			if (!move_distance(p, s, p->targets[i], distances_from(some, s)[i]))
				return false;
	return true;
}
