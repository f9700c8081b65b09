// SPDX-License-Identifier: BSD-2-Clause
/*
 * HyperX: the switches of a row in any dimension are all joined by cables.
 *
 * The neighbours of one whole switch fall apart into its rows, one clique per dimension. They are
 * the axes; every other place is where the lines of two switches nearer to the origin cross.
 * Whatever coordinates were found in this way, all cables must agree with them.
 */
#include <assert.h>
#include <string.h>

#include "route/shape/recognise.h"
#include "util/bisect.h"
#include "util/mem.h"

#define ORIGINS 32   /* switches tried */
#define FIRSTS  4    /* neighbours to begin with */
#define PLACES_MAX (1u << 20)

struct lattice {
	const struct graph *g;
	struct grid *grid; /* at[] has GRID_DIMS entries per switch until the end */
	uint32_t n_places, n_cut;
	bool *known;	/* per switch: has a place */
	uint32_t *row;	/* per switch: 1 + dimension of the axis it is on; 0: none */
	uint32_t *mark; /* per switch */
	uint32_t *queue; /* switches without a place */
};

static uint16_t *at(const struct lattice *l, uint32_t u)
{
	return l->grid->at + (size_t)u * GRID_DIMS;
}

/* Row of the origin that starts with neighbour `v`: neighbours that are joined through the row. */
static uint32_t grow_row(struct lattice *l, uint32_t origin, uint32_t v, uint32_t dim,
			 uint32_t *queue)
{
	const struct graph *g = l->g;
	uint32_t head = 0, tail = 0;

	l->row[v] = dim + 1;
	queue[tail++] = v;
	while (head < tail) {
		uint32_t u = queue[head++];

		GRAPH_EACH(g, u, edge) {
			if (edge->to == origin || l->mark[edge->to] != origin + 1 ||
			    l->row[edge->to])
				continue;
			l->row[edge->to] = dim + 1;
			queue[tail++] = edge->to;
		}
	}
	return tail;
}

/* Are most of them joined by cables? Between rows no switches are. */
static bool is_clique(const struct graph *g, const uint32_t *members, uint32_t n)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++)
			known += graph_edge(g, members[i], members[k]) != NULL;
	return known * 4 >= n * (n - 1) / 2 * 3;
}

/* The axes from `origin`; false: its rows are no cliques, or there are too many places. */
static bool find_axes(struct lattice *l, uint32_t origin, uint32_t n_switches)
{
	const struct graph *g = l->g;
	struct grid *grid = l->grid;
	uint32_t queue[UINT8_MAX + 1];

	memset(l->row, 0, g->n * sizeof(*l->row));
	memset(l->known, 0, g->n * sizeof(*l->known));
	grid->n_dims = 0;
	l->n_places = 1;
	for (uint32_t i = g->first[origin]; i < g->first[origin + 1]; i++)
		l->mark[g->groups[i].to] = origin + 1;
	GRAPH_EACH(g, origin, edge) {
		uint32_t n;

		if (l->row[edge->to])
			continue;
		if (grid->n_dims == GRID_DIMS)
			return false;
		n = grow_row(l, origin, edge->to, grid->n_dims, queue);
		SORT(queue, n, compare_u32);
		if (!is_clique(g, queue, n))
			return false;
		for (uint32_t k = 0; k < n; k++) {
			memset(at(l, queue[k]), 0, GRID_DIMS * sizeof(uint16_t));
			at(l, queue[k])[grid->n_dims] = (uint16_t)(k + 1);
			l->known[queue[k]] = true;
		}
		grid->size[grid->n_dims++] = (uint16_t)(n + 1);
		l->n_places *= n + 1;
		if (l->n_places > PLACES_MAX)
			return false;
	}
	memset(at(l, origin), 0, GRID_DIMS * sizeof(uint16_t));
	l->known[origin] = true;
	return l->n_places >= n_switches &&
	       (uint64_t)n_switches * 100 >= (uint64_t)l->n_places * 85;
}

/* The place is free, and all neighbours of `u` that have a place are in line with it. */
static bool fits(const struct lattice *l, uint32_t u, const uint16_t *x)
{
	if (l->grid->switch_at[grid_index(l->grid, x)] != TOPO_NONE)
		return false;
	GRAPH_EACH(l->g, u, edge)
		if (l->known[edge->to] && grid_differing(l->grid, x, at(l, edge->to)) != 1)
			return false;
	return true;
}

/* Where the lines through the places of two neighbours cross: one of two places, `which` says. */
static bool crossing(const struct grid *grid, const uint16_t *x, const uint16_t *y, unsigned which,
		     uint16_t *ret)
{
	unsigned n = 0;

	if (grid_differing(grid, x, y) != 2)
		return false;
	for (unsigned d = 0; d < grid->n_dims; d++) {
		ret[d] = x[d];
		if (x[d] != y[d] && n++ == which)
			ret[d] = y[d];
	}
	return true;
}

/* The one place where lines through neighbours v and w cross and u fits; false: none, or two. */
static bool find_place(const struct lattice *l, uint32_t u, uint32_t v, uint32_t w, uint16_t *ret)
{
	uint16_t x[GRID_DIMS];
	unsigned n = 0;

	for (unsigned which = 0; which < 2; which++)
		if (crossing(l->grid, at(l, v), at(l, w), which, x) && fits(l, u, x)) {
			memcpy(ret, x, l->grid->n_dims * sizeof(*x));
			n++;
		}
	return n == 1;
}

/* A place from the lines through neighbour `first` and any later one. */
static bool settle_by(struct lattice *l, uint32_t u, uint32_t first)
{
	const struct graph *g = l->g;
	uint32_t v = g->groups[first].to;
	uint16_t x[GRID_DIMS] = { 0 };

	for (uint32_t i = first + 1; i < g->first[u + 1]; i++) {
		uint32_t w = g->groups[i].to;

		if (!l->known[w] || !find_place(l, u, v, w, x))
			continue;
		memcpy(at(l, u), x, sizeof(x));
		l->known[u] = true;
		l->grid->switch_at[grid_index(l->grid, x)] = u;
		return true;
	}
	return false;
}

static bool settle(struct lattice *l, uint32_t u)
{
	const struct graph *g = l->g;
	unsigned tries = 0;

	for (uint32_t i = g->first[u]; i < g->first[u + 1] && tries < FIRSTS; i++) {
		if (!l->known[g->groups[i].to])
			continue;
		tries++;
		if (settle_by(l, u, i))
			return true;
	}
	return false;
}

/* Finds places for all switches, from the axes outwards. False: some switch fits nowhere. */
static bool settle_all(struct lattice *l)
{
	const struct graph *g = l->g;
	uint32_t left = 0, before, *queue = l->queue;

	for (uint32_t u = 0; u < g->n; u++) {
		if (l->known[u])
			l->grid->switch_at[grid_index(l->grid, at(l, u))] = u;
		else if (shape_degree(g, u))
			queue[left++] = u;
	}
	do {
		uint32_t n = 0;

		before = left;
		for (uint32_t i = 0; i < left; i++)
			if (!settle(l, queue[i]))
				queue[n++] = queue[i];
		left = n;
	} while (left && left < before);
	return !left;
}

/* All cables in line, and few missing. */
static bool agrees(struct lattice *l)
{
	const struct graph *g = l->g;
	struct grid *grid = l->grid;
	uint64_t cables = 0, whole = 0;

	for (uint32_t u = 0; u < g->n; u++)
		GRAPH_EACH(g, u, edge) {
			if (grid_differing(grid, at(l, u), at(l, edge->to)) != 1)
				return false;
			cables += u < edge->to;
		}
	for (unsigned d = 0; d < grid->n_dims; d++)
		whole += (uint64_t)l->n_places * (grid->size[d] - 1u) / 2;
	l->n_cut = (uint32_t)(whole - cables);
	return whole >= cables && l->n_cut * 4 <= whole;
}

/*
 * The order of dimensions must not depend on where the search began, or a cable that is missing
 * would turn all routes: dimensions between near numbers come first, as a mean over cables.
 */
static void sort_dims(const struct lattice *l, unsigned *order)
{
	const struct graph *g = l->g;
	unsigned n_dims = l->grid->n_dims, place[GRID_DIMS];
	uint64_t sum[GRID_DIMS] = { 0 }, n[GRID_DIMS] = { 0 };

	for (uint32_t u = 0; u < g->n; u++)
		GRAPH_EACH(g, u, edge) {
			unsigned d = 0;

			while (d < n_dims && at(l, u)[d] == at(l, edge->to)[d])
				d++;
			assert(d < n_dims);
			sum[d] += u < edge->to ? edge->to - u : 0;
			n[d] += u < edge->to;
		}
	grid_rank_dims(sum, n, n_dims, place);
	for (unsigned d = 0; d < n_dims; d++)
		order[place[d]] = d;
}

/* at[] in this order and with as many entries per switch as there are dimensions; places anew. */
static void pack(const struct lattice *l)
{
	struct grid *grid = l->grid;
	unsigned order[GRID_DIMS];
	uint16_t size[GRID_DIMS], x[GRID_DIMS];

	sort_dims(l, order);
	memcpy(size, grid->size, sizeof(size));
	for (unsigned d = 0; d < grid->n_dims; d++)
		grid->size[d] = size[order[d]];
	memset(grid->switch_at, 0xFF, l->n_places * sizeof(*grid->switch_at));
	for (uint32_t u = 0; u < grid->n; u++) {
		uint16_t *to = grid->at + (size_t)u * grid->n_dims;

		memcpy(x, at(l, u), sizeof(x));
		for (unsigned d = 0; d < grid->n_dims; d++)
			to[d] = x[order[d]];
		if (shape_degree(l->g, u))
			grid->switch_at[grid_index(grid, to)] = u;
	}
	grid->n_missing = l->n_places - grid->n;
}

static bool try_origin(struct lattice *l, uint32_t origin, uint32_t n_switches)
{
	if (!find_axes(l, origin, n_switches))
		return false;
	ARENA_ONES(&l->grid->memory, l->grid->switch_at, l->n_places);
	return settle_all(l) && agrees(l);
}

struct grid *grid_find_hyperx(const struct graph *g, uint32_t *ret_n_cut)
{
	_cleanup_(grid_freep) struct grid *grid = xcalloc(1, sizeof(*grid));
	_cleanup_(arena_done) struct arena memory = { NULL };
	struct lattice l = { .g = g, .grid = grid };
	uint32_t most = 0, n_switches = 0, tries = 0;

	ARENA_ARRAYS(&memory, g->n, l.known, l.row, l.mark, l.queue);
	grid->n = g->n;
	ARENA_ARRAY(&grid->memory, grid->at, (size_t)g->n * GRID_DIMS);
	for (uint32_t u = 0; u < g->n; u++) {
		most = MAX(most, shape_degree(g, u));
		n_switches += shape_degree(g, u) > 0;
	}
	for (uint32_t u = 0; most && u < g->n && tries < ORIGINS; u++) {
		if (shape_degree(g, u) != most)
			continue;
		tries++;
		if (try_origin(&l, u, n_switches)) {
			pack(&l);
			*ret_n_cut = l.n_cut;
			return take(grid);
		}
	}
	return NULL;
}
