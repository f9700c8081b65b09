// SPDX-License-Identifier: BSD-2-Clause
/* Distances between switches after some cables went or came: row by row, where they change. */
#include "route/proof/check_delta.h"

#include <string.h>

#include "util/mem.h"

/* Is a neighbour of `v` one hop nearer? */
static bool has_parent(const struct verifier *j, const uint16_t *dist, uint32_t v,
		       const bool *orphan)
{
	BEHIND_EACH(j, v, to)
		if (dist[*to >> 8] + 1u == dist[v] && !orphan[*to >> 8])
			return true;
	return false;
}

struct repair {
	const struct verifier *j;
	uint16_t *dist;
	bool *orphan;	    /* per switch */
	uint32_t *list;	    /* orphans */
	uint32_t n;
	bool *queued;
	uint32_t *queue, head, n_queue; /* a ring */
	uint16_t *before;   /* per switch, of those that were touched */
	uint32_t *touched;
	uint32_t n_touched;
	bool *is_touched;
};

static void touch(struct repair *r, uint32_t v)
{
	if (r->is_touched[v])
		return;
	r->is_touched[v] = true;
	r->before[v] = r->dist[v];
	r->touched[r->n_touched++] = v;
}

/* `v` has lost its paths: and so have those that had theirs through it alone. Nearest first. */
static void find_orphans(struct repair *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		uint16_t d = r->dist[r->list[i]];

		BEHIND_EACH(r->j, r->list[i], to) {
			uint32_t v = *to >> 8;

			if (r->orphan[v] || r->dist[v] != d + 1u ||
			    has_parent(r->j, r->dist, v, r->orphan))
				continue;
			r->orphan[v] = true;
			r->list[r->n++] = v;
		}
	}
}

/* `to` is no farther than over a cable from `from`: then its neighbours may be nearer, too. */
static void come_nearer(struct repair *r, uint32_t from, uint32_t to)
{
	if (r->dist[from] == DISTANCE_NONE || r->dist[from] + 1u >= r->dist[to])
		return;
	touch(r, to);
	r->dist[to] = (uint16_t)(r->dist[from] + 1);
	if (r->queued[to])
		return;
	r->queued[to] = true;
	r->queue[(r->head + r->n_queue++) % r->j->topo->n_switches] = to;
}

/* Those that lie beside orphans have distances for them, unless they are orphans as well. */
static void drop_orphans(struct repair *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		touch(r, r->list[i]);
		r->dist[r->list[i]] = DISTANCE_NONE;
		r->orphan[r->list[i]] = false;
	}
	for (uint32_t i = 0; i < r->n; i++)
		BEHIND_EACH(r->j, r->list[i], to)
			come_nearer(r, *to >> 8, r->list[i]);
	r->n = 0;
}

/* Neighbours of the queued may be nearer than they are said to be, and then theirs. */
static void spread_nearness(struct repair *r)
{
	while (r->n_queue) { /* a distance that changes falls */
		uint32_t u = r->queue[r->head];

		r->head = (r->head + 1) % r->j->topo->n_switches;
		r->n_queue--;
		r->queued[u] = false;
		BEHIND_EACH(r->j, u, to)
			come_nearer(r, u, *to >> 8);
	}
}

static void repair_row(struct delta *d, struct repair *r)
{
	for (size_t i = 0; i < d->n_cables; i++) {
		uint32_t before = d->cables[i].was, v = before >> 8, u = d->cables[i].sw;

		__builtin_prefetch(&r->dist[u] + r->j->topo->n_switches); /* next row */
		/* The former shortest paths over u -> v end here. */
		if (before == BEHIND_NONE || r->dist[v] == DISTANCE_NONE ||
		    r->dist[u] + 1u != r->dist[v] || r->orphan[v] ||
		    has_parent(d->new, r->dist, v, r->orphan))
			continue;
		r->orphan[v] = true;
		r->list[r->n++] = v;
	}
	/* Orphans of different distances: once more until no one more is found. */
	for (uint32_t n = 0; n < r->n;) {
		n = r->n;
		find_orphans(r);
	}
	drop_orphans(r);
	for (size_t i = 0; i < d->n_cables; i++)
		if (d->cables[i].now != BEHIND_NONE)
			come_nearer(r, d->cables[i].sw, d->cables[i].now >> 8);
	spread_nearness(r);
}

/* Sources must be connected as before: a pair without cables between has no hops. */
static bool no_pair_is_cut(const struct delta *d)
{
	for (size_t i = 0; i < d->n_moved; i++)
		if ((d->moved[i].before == DISTANCE_NONE || d->moved[i].now == DISTANCE_NONE) &&
		    d->new->sources[d->moved[i].sw] && d->new->sources[d->moved[i].at])
			return false;
	return true;
}

bool delta_repair_distances(struct delta *d)
{
	uint32_t n = d->new->topo->n_switches;
	_cleanup_(arena_done) struct arena memory = { NULL };
	struct repair r = { .j = d->new };

	ARENA_ARRAYS(&memory, n, r.orphan, r.queued, r.queue, r.list, r.before, r.touched,
		     r.is_touched);
	for (uint32_t at = 0; at < n && d->n_cables && d->n_moved < DISTANCES_MAX; at++) {
		r.dist = d->new->distances->rows + (size_t)at * n;
		repair_row(d, &r);
		for (uint32_t i = 0; i < r.n_touched; i++) {
			uint32_t s = r.touched[i];

			r.is_touched[s] = false;
			if (r.before[s] == r.dist[s])
				continue;
			APPEND(d->moved, d->n_moved, d->cap_moved) =
				(struct moved){ at, s, r.before[s], r.dist[s] };
		}
		r.n_touched = 0;
		d->first_moved[at + 1] = d->n_moved;
	}
	return d->n_moved < DISTANCES_MAX && no_pair_is_cut(d);
}

const uint16_t *delta_distances_before(struct delta *d, uint32_t at)
{
	const uint16_t *now = distances_from(d->new->distances, at);
	uint32_t n = d->new->topo->n_switches;
	size_t i = d->first_moved[at], end = d->first_moved[at + 1];

	if (i == end)
		return now;
	if (d->row && d->row_of == at)
		return d->row;
	GROW(d->row, n, d->cap_row);
	memcpy(d->row, now, n * sizeof(*now));
	for (d->row_of = at; i < end; i++)
		d->row[d->moved[i].sw] = d->moved[i].before;
	return d->row;
}
