// SPDX-License-Identifier: BSD-2-Clause
/* Paths round missing cables of a dragonfly; dragonfly.c explains why they close no cycle. */
#include "route/direct/dragonfly_internal.h"

#include <string.h>

#include "util/mem.h"

#define GROUPS_MAX 1024u
#define RELAYS	   8 /* per pair of groups */

static void count_missing(struct dragonfly *d)
{
	const struct graph *g = d->g;
	_cleanup_free_ uint32_t *size = xcalloc(MAX(d->shape->n_groups, 1u), sizeof(*size));

	for (uint32_t u = 0; u < g->n; u++)
		size[d->shape->group[u]]++;
	for (uint32_t u = 0; u < g->n; u++) {
		d->missing[u] = size[d->shape->group[u]] - 1;
		GRAPH_EACH(g, u, edge)
			d->missing[u] -= dragonfly_is_local(d, u, edge->to);
	}
}

/* Of the whole switches beside a broken one, every second is early. */
static void find_early(struct dragonfly *d)
{
	for (uint32_t u = 0; u < d->g->n; u++) {
		uint32_t turn = u;

		GRAPH_EACH(d->g, u, edge)
			if (d->missing[u] && dragonfly_is_local(d, u, edge->to) &&
			    !d->missing[edge->to])
				d->early[edge - d->g->groups] = turn++ & 1;
	}
}

/* Global cables by pairs of groups: [a * n + b] is the first from a to b, a group of the graph. */
struct bridges {
	const struct dragonfly *d;
	uint32_t n;
	uint32_t *first; /* TOPO_NONE: there is none */
	uint32_t *from;	 /* the switch that it begins at */
	bool *entry;	 /* per switch: paths to relays begin here */
};

static uint32_t find_bridges(struct bridges *b)
{
	const struct dragonfly *d = b->d;
	uint32_t joined = 0;

	for (uint32_t u = 0; u < d->g->n; u++)
		for (uint32_t i = d->g->first[u]; i < d->g->first[u + 1]; i++) {
			uint32_t v = d->g->groups[i].to;
			size_t pair = (size_t)d->shape->group[u] * b->n + d->shape->group[v];

			if (dragonfly_is_local(d, u, v) || b->first[pair] != TOPO_NONE)
				continue;
			b->first[pair] = i;
			b->from[pair] = u;
			joined++;
		}
	return joined;
}

/* From group `a` over group `over` to group `b`. */
static bool add_relay(struct dragonfly *d, const struct bridges *w, uint32_t a, uint32_t over,
		      uint32_t b)
{
	size_t in = (size_t)a * w->n + over, out = (size_t)over * w->n + b;
	const struct graph_group *middle;
	uint32_t entry, relay, onward;

	if (w->first[in] == TOPO_NONE || w->first[out] == TOPO_NONE)
		return false;
	entry = w->from[in];
	relay = d->g->groups[w->first[in]].to;
	onward = w->from[out];
	middle = graph_edge(d->g, relay, onward);
	if (!middle || d->missing[relay] || d->missing[onward] || d->onward[entry] ||
	    w->entry[onward])
		return false;
	d->relay[(size_t)relay * w->n + b] = true;
	d->middle[middle - d->g->groups] = true;
	d->onward[onward] = true;
	w->entry[entry] = true;
	return true;
}

static void join_groups(struct dragonfly *d, const struct bridges *w, uint32_t a, uint32_t b)
{
	unsigned found = 0;

	for (uint32_t k = 0; k < w->n && found < RELAYS; k++) {
		uint32_t over = (a + b + k) % w->n;

		if (over != a && over != b)
			found += add_relay(d, w, a, over, b);
	}
}

static void find_relays(struct dragonfly *d)
{
	uint32_t n = d->shape->n_groups;
	_cleanup_(arena_done) struct arena memory = { NULL };
	struct bridges w = { .d = d, .n = n };

	if (n > GROUPS_MAX)
		return;
	ARENA_ONES(&memory, w.first, (size_t)n * n);
	ARENA_ARRAY(&memory, w.from, (size_t)n * n);
	ARENA_ARRAY(&memory, w.entry, d->g->n);
	if (find_bridges(&w) < n * (n - 1)) {
		ARENA_ARRAY(d->memory, d->relay, (size_t)d->g->n * n);
		ARENA_ARRAY(d->memory, d->onward, d->g->n);
		ARENA_ARRAY(d->memory, d->middle, d->g->first[d->g->n]);
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++)
				if (a != b && w.first[(size_t)a * n + b] == TOPO_NONE)
					join_groups(d, &w, a, b);
	}
}

void dragonfly_mend(struct dragonfly *d)
{
	ARENA_ARRAY(d->memory, d->missing, MAX(d->g->n, 1u));
	ARENA_ARRAY(d->memory, d->early, MAX(d->g->first[d->g->n], 1u));
	if (d->shape->kind == SHAPE_DRAGONFLY_PLUS)
		return; /* there is more than one spine */
	count_missing(d);
	find_early(d);
	find_relays(d);
}
