// SPDX-License-Identifier: BSD-2-Clause
/*
 * The root of a multicast tree: which switches can take part, how far they are from each other, and
 * which of them is in the middle of a group.
 */
#include <string.h>

#include "route/mcast/mcast_internal.h"
#include "util/mem.h"
#include "util/sets.h"
#include "util/stride.h"

/* ---- islands ------------------------------------------------------------------------------- */

static bool has_room(const struct mcast_planner *p, uint32_t sw)
{
	return !p->caps || p->caps[sw] > p->number;
}

/* The islands are the same for all numbers between two capacities. */
static void note_span(struct mcast_planner *p)
{
	p->island_lo = 0;
	p->island_hi = UINT32_MAX;
	p->restricted = false;
	for (uint32_t i = 0; p->caps && i < p->n; i++) {
		if (has_room(p, i)) {
			p->island_hi = MIN(p->island_hi, p->caps[i]);
		} else {
			p->island_lo = MAX(p->island_lo, p->caps[i]);
			p->restricted = true;
		}
	}
}

void mcast_find_islands(struct mcast_planner *p)
{
	const struct graph *g = p->graph;

	if (p->number >= p->island_lo && p->number < p->island_hi)
		return;
	note_span(p);
	for (uint32_t i = 0; i < p->n; i++)
		p->island[i] = i;
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t k = g->first[i]; has_room(p, i) && k < g->first[i + 1]; k++)
			if (has_room(p, g->groups[k].to))
				sets_join(p->island, i, g->groups[k].to);
	for (uint32_t i = 0; i < p->n; i++)
		p->island[i] = has_room(p, i) ? sets_root(p->island, i) : MCAST_NONE;
}

/* ---- distances ----------------------------------------------------------------------------- */

/* hops[to * n + from] */
static const uint8_t *all_hops(struct mcast_planner *p)
{
	_cleanup_(distances_freep) struct distances *d = NULL;

	if (p->routes)
		return p->routes->hops;
	if (!p->hops) {
		d = distances_new(p->graph, 1, NULL);
		p->hops = arena_keep(&p->memory, xmalloc((size_t)p->n * p->n));
		hops_by_target(d, 1, p->hops, NULL);
	}
	return p->hops;
}

/* Over switches that can be used alone: others count as reached already. */
static void walk_around(struct mcast_planner *p, uint32_t root)
{
	for (uint32_t i = 0; i < p->n; i++)
		p->far[i] = p->island[i] == MCAST_NONE ? UINT16_MAX - 1 : UINT16_MAX;
	p->far[root] = 0;
	graph_flood(p->graph, p->far, p->queue);
	for (uint32_t i = 0; i < p->n; i++)
		p->own_row[i] =
			p->far[i] >= UINT16_MAX - 1 ? UINT8_MAX : MIN(p->far[i], UINT8_MAX - 1);
}

void mcast_aim(struct mcast_planner *p, uint32_t root)
{
	if (mcast_counts_hops(p)) {
		p->row = p->own_row;
		walk_around(p, root);
	} else {
		p->row = all_hops(p) + (size_t)root * p->n;
	}
}

/* ---- the middle ---------------------------------------------------------------------------- */

static void measure(struct mcast_planner *p)
{
	const uint8_t *hops = all_hops(p);

	memset(p->far, 0, p->n * sizeof(*p->far));
	memset(p->sum, 0, p->n * sizeof(*p->sum));
	for (uint32_t i = 0; i < p->n_member_switches; i++) {
		const uint8_t *row = hops + (size_t)p->member_switches[i] * p->n;

		for (uint32_t k = 0; k < p->n; k++) {
			p->far[k] = MAX(p->far[k], row[k]);
			p->sum[k] += row[k];
		}
	}
}

/* Switches in the middle go to p->queue; returns their number, at least 1. */
static uint32_t collect_middle(struct mcast_planner *p)
{
	uint32_t island = p->island[p->member_switches[0]], sum = UINT32_MAX, n = 0;
	unsigned far = UINT16_MAX;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->island[i] == island)
			far = MIN(far, p->far[i]);
	for (uint32_t i = 0; i < p->n; i++)
		if (p->island[i] == island && p->far[i] == far)
			sum = MIN(sum, p->sum[i]);
	/* A little longer in all is fine: more roots to spread over. */
	for (uint32_t i = 0; i < p->n; i++)
		if (p->island[i] == island && p->far[i] == far && p->sum[i] <= sum + sum / 16)
			p->queue[n++] = i;
	return n;
}

uint32_t mcast_find_middle(struct mcast_planner *p)
{
	mcast_find_islands(p);
	measure(p);
	return collect_middle(p);
}

/* Keeps those of p->queue with most neighbours in the previous tree: so most of it stays. */
static uint32_t keep_familiar(struct mcast_planner *p, const struct mcast_tree *t, uint32_t n)
{
	unsigned most = 0;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = p->queue[i];
		unsigned known = 0;

		GRAPH_EACH(p->graph, sw, edge)
			known += mcast_tree_find(t, p->topo->switches[edge->to].guid) != NULL;
		if (known > most) {
			most = known;
			kept = 0;
		}
		if (known == most)
			p->queue[kept++] = sw;
	}
	return kept;
}

uint32_t mcast_choose_root(struct mcast_planner *p, const struct mcast_tree *previous)
{
	uint32_t island = p->island[p->member_switches[0]], n = 0;

	if (p->n_member_switches == 1)
		return p->member_switches[0];
	/* roots that the administrator named, of those that can be used */
	for (uint32_t i = 0; i < p->n_roots && !p->only_common; i++)
		if (p->island[p->roots[i]] == island)
			p->queue[n++] = p->roots[i];
	if (n)
		return p->queue[coprime_turn(p->number, n)];
	measure(p);
	n = collect_middle(p);
	if (previous && previous->n_rows > 1)
		n = keep_familiar(p, previous, n);
	/* MLIDs are given out one after the other: every candidate has its turn. */
	return p->queue[coprime_turn(p->number, n)];
}
