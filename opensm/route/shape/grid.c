// SPDX-License-Identifier: BSD-2-Clause
/*
 * Places of switches in a grid, once the paths of edges are known (grid_arcs.c).
 *
 * The layers of a dimension are what its edges join: switches connected by edges of other
 * dimensions alone are in one layer, and from one layer all edges that go the same way lead to one
 * layer. That closure must be a line or a ring, and the coordinate is the number in it. Switches
 * that damage has cut off from all squares come last: each where only one free place is next to all
 * its neighbours. In the end every edge is looked at again, so that whatever was guessed on the
 * way, a grid that is returned is one.
 */
#include "route/shape/grid_internal.h"

#include <string.h>

#include "util/sets.h"

#define NOWHERE UINT16_MAX
#define SHARE 4 /* of places and edges, at most one in so many may be missing */

/* Layers of one dimension. */
struct grid_layers {
	uint32_t n;
	uint32_t *set;		/* switches; the smallest of a layer stands for it */
	uint32_t *next, *prev;	/* per layer: some switch of the layer after and before */
	uint32_t *todo;		/* pairs that must be one layer */
	size_t n_todo, cap_todo;
	uint32_t *line;		/* layers in order */
	struct arena memory;
};

static void layers_done(struct grid_layers *l)
{
	free(l->todo);
	arena_done(&l->memory);
}

/* Makes one link out of `link` and one to `to`; if both lead somewhere, that is one layer too. */
static void merge_link(struct grid_layers *l, uint32_t *link, uint32_t to)
{
	if (*link == TOPO_NONE) {
		*link = to;
	} else if (to != TOPO_NONE) {
		APPEND(l->todo, l->n_todo, l->cap_todo) = *link;
		APPEND(l->todo, l->n_todo, l->cap_todo) = to;
	}
}

/* Ends: pairs are pushed when two layers become one, at most two of them. */
static void close_layers(struct grid_layers *l)
{
	while (l->n_todo) {
		uint32_t b = sets_root(l->set, l->todo[--l->n_todo]);
		uint32_t a = sets_root(l->set, l->todo[--l->n_todo]);

		if (a == b)
			continue;
		sets_join(l->set, a, b);
		merge_link(l, &l->next[MIN(a, b)], l->next[MAX(a, b)]);
		merge_link(l, &l->prev[MIN(a, b)], l->prev[MAX(a, b)]);
	}
}

static void link_layers(struct grid_layers *l, uint32_t from, uint32_t to)
{
	merge_link(l, &l->next[sets_root(l->set, from)], to);
	merge_link(l, &l->prev[sets_root(l->set, to)], from);
	close_layers(l);
}

static void find_layers(struct grid_layers *l, const struct grid_arcs *a, unsigned dim)
{
	l->n = a->g->n;
	ARENA_ARRAYS(&l->memory, l->n, l->set, l->line);
	ARENA_ONES(&l->memory, l->next, l->n);
	ARENA_ONES(&l->memory, l->prev, l->n);
	for (uint32_t s = 0; s < l->n; s++)
		l->set[s] = s;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->way[i] != TOPO_NONE && a->way[i] / 2 != dim)
			sets_join(l->set, a->from[i], a->g->groups[i].to);
	for (uint32_t i = 0; i < a->n; i++)
		if (a->way[i] == 2 * dim)
			link_layers(l, a->from[i], a->g->groups[i].to);
}

/* Writes the chain that `layer` is part of into line[]; its length; `wraps`: it is a ring. */
static uint32_t follow_layers(struct grid_layers *l, uint32_t layer, bool *wraps)
{
	uint32_t first = layer, n = 0, s;

	for (uint32_t steps = 0; (s = l->prev[first]) != TOPO_NONE && steps < l->n; steps++) {
		first = sets_root(l->set, s);
		if (first == layer)
			break;
	}
	*wraps = s != TOPO_NONE;
	for (s = first; s != TOPO_NONE && n < l->n && !(n && s == first);) {
		l->line[n++] = s;
		s = l->next[s] == TOPO_NONE ? TOPO_NONE : sets_root(l->set, l->next[s]);
	}
	return n;
}

static void reverse(uint32_t *line, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		uint32_t kept = line[i];

		line[i] = line[n - 1 - i];
		line[n - 1 - i] = kept;
	}
}

/* The layer of the first switch is number 0 of a ring; then the way with the smaller switch. */
static void orient(uint32_t *line, uint32_t n, bool wraps)
{
	uint32_t at = 0;

	if (!wraps) {
		if (line[0] > line[n - 1])
			reverse(line, n);
		return;
	}
	for (uint32_t i = 1; i < n; i++)
		if (line[i] < line[at])
			at = i;
	reverse(line, at);
	reverse(line + at, n - at);
	reverse(line, n);
	if (line[1] > line[n - 1])
		reverse(line + 1, n - 1);
}

/* Numbers the layers of the chain that has most switches; the others stay nowhere. */
static bool number_layers(struct grid_layers *l, struct grid *grid, unsigned dim)
{
	_cleanup_free_ uint32_t *size = xcalloc(l->n, sizeof(*size));
	_cleanup_free_ uint16_t *number = xmalloc_ones(l->n, sizeof(*number));
	uint32_t best = TOPO_NONE, most = 0, n;
	bool wraps;

	for (uint32_t s = 0; s < l->n; s++)
		size[sets_root(l->set, s)]++;
	for (uint32_t s = 0; s < l->n; s++) {
		uint32_t sum = 0;

		if (l->set[s] != s || !size[s])
			continue;
		n = follow_layers(l, s, &wraps);
		for (uint32_t i = 0; i < n; i++) {
			sum += size[l->line[i]];
			size[l->line[i]] = 0;
		}
		if (sum > most) {
			most = sum;
			best = s;
		}
	}
	if (best == TOPO_NONE)
		return false;
	n = follow_layers(l, best, &wraps);
	if (n < 2 || (wraps && n < 3) || n > 1000)
		return false;
	orient(l->line, n, wraps);
	for (uint32_t i = 0; i < n; i++)
		number[l->line[i]] = (uint16_t)i;
	for (uint32_t s = 0; s < l->n; s++)
		grid->at[s * grid->n_dims + dim] = number[sets_root(l->set, s)];
	grid->size[dim] = (uint16_t)n;
	grid->wraps[dim] = wraps;
	return true;
}

/* Without squares there are only a line and a ring. */
static bool find_line(struct grid_arcs *a, char *why, size_t why_len)
{
	const struct graph *g = a->g;
	uint32_t first = 0, s, last = TOPO_NONE, n = 1;

	for (s = 0; s < g->n; s++) {
		if (g->first[s + 1] - g->first[s] > 2)
			return route_refuse(why, why_len, "it has no cycles of four switches");
		if (g->first[s + 1] - g->first[s] == 1)
			first = s;
	}
	for (s = first; n <= g->n; n++) {
		uint32_t i = g->first[s];

		if (i < g->first[s + 1] && a->back[i] == last)
			i++;
		if (i == g->first[s + 1])
			break;
		a->way[i] = 0;
		a->way[a->back[i]] = 1;
		last = i;
		s = g->groups[i].to;
		if (s == first)
			break;
	}
	a->n_dims = 1;
	return n >= g->n || route_refuse(why, why_len, "it is in pieces");
}

/* Dimensions in order of their ports, as cabling plans have them. */
static void sort_dimensions(struct grid_arcs *a)
{
	uint64_t sum[GRID_DIMS] = { 0 }, n[GRID_DIMS] = { 0 };
	unsigned rank[GRID_DIMS];

	for (uint32_t i = 0; i < a->n; i++)
		if (a->way[i] != TOPO_NONE) {
			sum[a->way[i] / 2] += a->g->ports[a->g->groups[i].first_port];
			n[a->way[i] / 2]++;
		}
	grid_rank_dims(sum, n, a->n_dims, rank);
	for (uint32_t i = 0; i < a->n; i++)
		if (a->way[i] != TOPO_NONE)
			a->way[i] = 2 * rank[a->way[i] / 2] + a->way[i] % 2;
}

static bool is_placed(const struct grid *grid, uint32_t sw)
{
	for (unsigned d = 0; d < grid->n_dims; d++)
		if (grid_at(grid, sw)[d] == NOWHERE)
			return false;
	return true;
}

/* The dimension in which two places are next to each other; GRID_DIMS: they are not. */
static unsigned step_between(const struct grid *grid, const uint16_t *p, const uint16_t *q)
{
	unsigned dim = GRID_DIMS;

	for (unsigned d = 0; d < grid->n_dims; d++) {
		unsigned gap = p[d] < q[d] ? q[d] - p[d] : p[d] - q[d];

		if (!gap)
			continue;
		if (dim < GRID_DIMS || (gap > 1 && (!grid->wraps[d] || gap != grid->size[d] - 1u)))
			return GRID_DIMS;
		dim = d;
	}
	return dim;
}

/* Rings of which only edges without squares are the closing ones. */
static void close_rings(struct grid *grid, const struct grid_arcs *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		uint32_t from = a->from[i], to = a->g->groups[i].to;
		const uint16_t *p = grid_at(grid, from), *q = grid_at(grid, to);
		unsigned dim = grid_first_dim(grid, from, to);

		if (a->way[i] == TOPO_NONE && is_placed(grid, from) && is_placed(grid, to) &&
		    grid_differing(grid, p, q) == 1 && !p[dim] && q[dim] > 1 &&
		    q[dim] == grid->size[dim] - 1)
			grid->wraps[dim] = true;
	}
}

static bool take_places(struct grid *grid)
{
	for (uint32_t s = 0; s < grid->n; s++) {
		uint32_t *at;

		if (!is_placed(grid, s))
			continue;
		at = &grid->switch_at[grid_index(grid, grid_at(grid, s))];
		if (*at != TOPO_NONE)
			return false;
		*at = s;
	}
	return true;
}

static bool place_fits(const struct grid *grid, const struct graph *g, uint32_t sw,
		       const uint16_t *place)
{
	if (grid->switch_at[grid_index(grid, place)] != TOPO_NONE)
		return false;
	for (uint32_t i = g->first[sw]; i < g->first[sw + 1]; i++)
		if (is_placed(grid, g->groups[i].to) &&
		    step_between(grid, place, grid_at(grid, g->groups[i].to)) == GRID_DIMS)
			return false;
	return true;
}

/* Takes the one place beside `beside` that fits, if there is one and no other. */
static bool place_beside(struct grid *grid, const struct graph *g, uint32_t sw, uint32_t beside)
{
	uint16_t place[GRID_DIMS], found[GRID_DIMS];
	unsigned n = 0;

	memcpy(place, grid_at(grid, beside), grid->n_dims * sizeof(*place));
	for (unsigned way = 0; way < 2 * grid->n_dims; way++) {
		unsigned d = way / 2, at = place[d], size = grid->size[d], kept = at;

		if (!grid->wraps[d] && at == (way % 2 ? 0 : size - 1))
			continue;
		place[d] = (uint16_t)((at + (way % 2 ? size - 1 : 1)) % size);
		if (place_fits(grid, g, sw, place)) {
			memcpy(found, place, grid->n_dims * sizeof(*place));
			n++;
		}
		place[d] = (uint16_t)kept;
	}
	if (n != 1)
		return false;
	memcpy(grid->at + (size_t)sw * grid->n_dims, found, grid->n_dims * sizeof(*found));
	grid->switch_at[grid_index(grid, found)] = sw;
	return true;
}

/* Returns a switch that has no certain place; TOPO_NONE: all have one. */
static uint32_t place_rest(struct grid *grid, const struct graph *g)
{
	bool progress = true;
	uint32_t open = TOPO_NONE;

	/* each places one at least */
	for (uint32_t round = 0; progress && round <= g->n; round++) {
		progress = false;
		open = TOPO_NONE;
		for (uint32_t s = 0; s < g->n; s++) {
			bool done = is_placed(grid, s);

			for (uint32_t i = g->first[s]; !done && i < g->first[s + 1]; i++)
				if (is_placed(grid, g->groups[i].to)) {
					done = place_beside(grid, g, s, g->groups[i].to);
					progress |= done;
					break;
				}
			if (!done)
				open = s;
		}
	}
	return open;
}

/* Edges that the grid has between the switches that are there. */
static uint64_t count_edges(const struct grid *grid, uint32_t n_places)
{
	uint64_t n = 0;
	uint32_t stride = 1;

	for (unsigned d = 0; d < grid->n_dims; stride *= grid->size[d++])
		for (uint32_t p = 0; p < n_places; p++) {
			uint32_t at = p / stride % grid->size[d];

			if (at + 1 == grid->size[d] && !grid->wraps[d])
				continue;
			n += grid->switch_at[p] != TOPO_NONE &&
			     grid->switch_at[p - at * stride + (at + 1) % grid->size[d] * stride] !=
				     TOPO_NONE;
		}
	return n;
}

/* Everything again, this time of what is: places and edges. */
static bool is_whole(struct grid *grid, const struct grid_arcs *a, uint32_t n_places, char *why,
		     size_t why_len)
{
	uint64_t edges;

	for (uint32_t i = 0; i < a->n; i++)
		if (step_between(grid, grid_at(grid, a->from[i]),
				 grid_at(grid, a->g->groups[i].to)) == GRID_DIMS)
			return route_refuse(
				why, why_len,
				"a cable from switch 0x%016llx leads to no neighbour in the grid",
				(unsigned long long)a->g->topo->switches[a->from[i]].guid);
	edges = count_edges(grid, n_places);
	grid->n_cut = (uint32_t)(edges - a->n / 2);
	grid->n_missing = n_places - grid->n;
	if (grid->n_cut * (uint64_t)SHARE > edges || grid->n_missing * (uint64_t)SHARE > n_places)
		return route_refuse(why, why_len,
				    "too much of a grid would be missing: %u switches, %u cables",
				    grid->n_missing, grid->n_cut);
	return true;
}

static bool place_all(struct grid *grid, const struct grid_arcs *a, char *why, size_t why_len)
{
	uint64_t n_places = 1;
	uint32_t open;

	for (unsigned d = 0; d < grid->n_dims; d++) {
		_cleanup_(layers_done) struct grid_layers l = { 0 };

		find_layers(&l, a, d);
		if (!number_layers(&l, grid, d))
			return route_refuse(why, why_len, "its layers are neither lines nor rings");
		n_places *= grid->size[d];
		if (n_places * (SHARE - 1) > (uint64_t)grid->n * SHARE)
			return route_refuse(why, why_len, "too much of a grid would be missing");
	}
	close_rings(grid, a);
	ARENA_ONES(&grid->memory, grid->switch_at, n_places);
	if (!take_places(grid))
		return route_refuse(why, why_len, "two switches would have the same place");
	open = place_rest(grid, a->g);
	if (open != TOPO_NONE)
		return route_refuse(why, why_len, "switch 0x%016llx has no certain place in it",
				    (unsigned long long)a->g->topo->switches[open].guid);
	return is_whole(grid, a, (uint32_t)n_places, why, why_len);
}

struct grid *grid_find(const struct graph *g, char *why, size_t why_len)
{
	_cleanup_(arena_done) struct arena memory = { NULL };
	struct grid_arcs a = { .memory = &memory };
	_cleanup_(grid_freep) struct grid *grid = NULL;

	if (g->n < 2)
		return route_refuse(why, why_len, "%s", g->n ? "a single switch" : "no switches");
	if (!grid_arcs_find(g, &a, why, why_len) || (!a.n_dims && !find_line(&a, why, why_len)))
		return NULL;
	sort_dimensions(&a);
	grid = xcalloc(1, sizeof(*grid));
	grid->n = g->n;
	grid->n_dims = a.n_dims;
	ARENA_ARRAY(&grid->memory, grid->at, (size_t)g->n * a.n_dims);
	if (!place_all(grid, &a, why, why_len))
		return NULL;
	return take(grid);
}

ARENA_FREE(grid_free, struct grid)
