// SPDX-License-Identifier: BSD-2-Clause
/* Steps along lines and rings, whole and broken. */
#include "route/grid/grid_ways.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

uint32_t grid_place_at(const struct grid *grid, uint32_t place, unsigned dim, unsigned coordinate)
{
	uint32_t stride = 1;

	for (unsigned d = 0; d < dim; d++)
		stride *= grid->size[d];
	return place - place / stride % grid->size[dim] * stride + coordinate * stride;
}

uint32_t grid_place_beside(const struct grid *grid, uint32_t place, unsigned way)
{
	unsigned dim = way / 2, size = grid->size[dim];
	uint32_t at = place;

	for (unsigned d = 0; d < dim; d++)
		at /= grid->size[d];
	return grid_place_at(grid, place, dim,
			     (at % size + (way % 2 == GRID_UP ? 1u : size - 1)) % size);
}

/* One line of a dimension. */
struct line {
	unsigned size;
	bool wraps;
	uint32_t *sw;	 /* per coordinate; TOPO_NONE: missing */
	bool *edge;	 /* from a coordinate to the next */
	unsigned *up;	 /* steps possible from here */
	unsigned *down;
};

static void find_neighbours(struct grid_ways *w)
{
	const struct graph *g = w->g;
	const struct grid *grid = w->grid;

	for (uint32_t s = 0; s < g->n; s++)
		for (uint32_t i = g->first[s]; i < g->first[s + 1]; i++) {
			const uint16_t *p = grid_at(grid, s), *q = grid_at(grid, g->groups[i].to);
			unsigned d = grid_first_dim(grid, s, g->groups[i].to), side;

			assert(d < grid->n_dims);
			side = q[d] == p[d] + 1u || (grid->wraps[d] && !q[d] && p[d] > 1)
				       ? GRID_UP
				       : GRID_DOWN;
			if (grid->wraps[d] && !p[d] && q[d] > 1)
				side = GRID_DOWN;
			w->group[((size_t)s * grid->n_dims + d) * 2 + side] = i;
		}
}

/* The direction along a whole line of `size`. */
static enum grid_step whole_step(unsigned size, bool wraps, unsigned from, unsigned to)
{
	unsigned up = (to + size - from) % size;

	if (!wraps)
		return from < to ? GRID_UP : GRID_DOWN;
	return 2 * up < size ? GRID_UP : 2 * up > size ? GRID_DOWN : GRID_EITHER;
}

static enum grid_step line_step(const struct line *l, unsigned from, unsigned to)
{
	unsigned missing = l->sw[to] == TOPO_NONE, up = (to + l->size - from) % l->size;
	unsigned down = l->size - up;
	bool can_up = up - missing <= l->up[from], can_down = down - missing <= l->down[from];
	enum grid_step step = whole_step(l->size, l->wraps, from, to);

	if (!l->wraps) {
		can_up &= from < to;
		can_down &= to < from;
	}
	if (step == GRID_EITHER && can_up && can_down)
		return GRID_EITHER;
	if (!can_up && !can_down)
		return missing && (up == 1 || down == 1) ? GRID_TURN : GRID_NONE;
	if (!can_up || (step == GRID_DOWN && can_down))
		return missing && down == 1 ? GRID_TURN : GRID_DOWN;
	return missing && up == 1 ? GRID_TURN : GRID_UP;
}

/* Steps possible from every coordinate. */
static void measure_line(struct line *l)
{
	for (unsigned at = 0; at < l->size; at++) {
		unsigned here = at;

		for (l->up[at] = 0; l->up[at] + 1 < l->size && l->edge[here]; l->up[at]++)
			here = (here + 1) % l->size;
		here = at;
		for (l->down[at] = 0;
		     l->down[at] + 1 < l->size && l->edge[(here + l->size - 1) % l->size];
		     l->down[at]++)
			here = (here + l->size - 1) % l->size;
	}
}

/* Fills the steps of all switches of a line; stores the first pair without a path, if any. */
static bool fill_line(struct grid_ways *w, struct line *l, unsigned dim, uint32_t ret_pair[2])
{
	const struct grid *grid = w->grid;
	for (unsigned at = 0; at < l->size; at++) {
		uint32_t s = l->sw[at];

		l->edge[at] = s != TOPO_NONE && grid_group(w, s, 2 * dim + GRID_UP) != TOPO_NONE;
	}
	measure_line(l);
	for (unsigned at = 0; at < l->size; at++)
		for (unsigned to = 0; to < l->size; to++) {
			enum grid_step step;

			if (l->sw[at] == TOPO_NONE || at == to)
				continue;
			step = line_step(l, at, to);
			w->step[(size_t)l->sw[at] * w->first[grid->n_dims] + w->first[dim] + to] =
				step;
			if (step == GRID_NONE && l->sw[to] != TOPO_NONE) {
				ret_pair[0] = l->sw[at];
				ret_pair[1] = l->sw[to];
				return false;
			}
		}
	return true;
}

static bool fill_dimension(struct grid_ways *w, unsigned dim, uint32_t stride, uint32_t ret_pair[2])
{
	const struct grid *grid = w->grid;
	unsigned size = grid->size[dim];
	uint32_t n_places = grid->n + grid->n_missing;
	struct line l = {
		.size = size, .wraps = grid->wraps[dim],
	};
	_cleanup_(arena_done) struct arena memory = { NULL };
	bool ok = true;

	ARENA_ARRAYS(&memory, size, l.sw, l.edge, l.up, l.down);
	for (uint32_t p = 0; ok && p < n_places; p++) {
		if (p / stride % size)
			continue;
		for (unsigned at = 0; at < size; at++)
			l.sw[at] = grid->switch_at[p + at * stride];
		ok = fill_line(w, &l, dim, ret_pair);
	}
	return ok;
}

static void fill_whole(struct grid_ways *w)
{
	const struct grid *grid = w->grid;
	uint32_t n = 0;

	for (unsigned d = 0; d < grid->n_dims; d++) {
		w->first_pair[d] = n;
		n += (uint32_t)grid->size[d] * grid->size[d];
	}
	ARENA_ARRAY(&w->memory, w->crosses, n);
	for (unsigned d = 0; d < grid->n_dims; d++)
		for (unsigned a = 0; grid->wraps[d] && a < grid->size[d]; a++)
			for (unsigned b = 0; b < grid->size[d]; b++) {
				enum grid_step step = whole_step(grid->size[d], true, a, b);

				w->crosses[w->first_pair[d] + a * grid->size[d] + b] =
					a == b			? 0
					: step == GRID_EITHER	? 2
					: step == GRID_UP	? b < a
								: b > a;
			}
}

static struct grid_ways *new_ways(const struct graph *g, const struct grid *grid)
{
	struct grid_ways *w = xcalloc(1, sizeof(*w));

	assert(g->n == grid->n);
	w->g = g;
	w->grid = grid;
	ARENA_ONES(&w->memory, w->group, (size_t)g->n * grid->n_dims * 2);
	for (unsigned d = 0; d < grid->n_dims; d++)
		w->first[d + 1] = w->first[d] + grid->size[d];
	ARENA_ARRAY(&w->memory, w->step, (size_t)g->n * w->first[grid->n_dims]);
	memset(w->step, GRID_NONE, (size_t)g->n * w->first[grid->n_dims]);
	find_neighbours(w);
	fill_whole(w);
	return w;
}

struct grid_ways *grid_ways_whole(const struct graph *g, const struct grid *grid)
{
	struct grid_ways *w = new_ways(g, grid);

	for (uint32_t s = 0; s < g->n; s++)
		for (unsigned d = 0; d < grid->n_dims; d++)
			for (unsigned to = 0; to < grid->size[d]; to++) {
				unsigned at = grid_at(grid, s)[d];

				if (at != to)
					w->step[(size_t)s * w->first[grid->n_dims] + w->first[d] +
						to] =
						whole_step(grid->size[d], grid->wraps[d], at, to);
			}
	return w;
}

struct grid_ways *grid_ways_new(const struct graph *g, const struct grid *grid, char *why,
				size_t why_len)
{
	struct grid_ways *w = new_ways(g, grid);
	uint32_t stride = 1, pair[2];

	for (unsigned d = 0; d < grid->n_dims; stride *= grid->size[d++])
		if (!fill_dimension(w, d, stride, pair)) {
			snprintf(why, why_len,
				 "a %s is cut in two: no path along it from switch 0x%016llx to "
				 "0x%016llx",
				 grid->wraps[d] ? "ring" : "line",
				 (unsigned long long)g->topo->switches[pair[0]].guid,
				 (unsigned long long)g->topo->switches[pair[1]].guid);
			return grid_ways_free(w);
		}
	return w;
}

ARENA_FREE(grid_ways_free, struct grid_ways)

/*
 * Rings of 4 and 6 so that one and two VLs are enough (grid_routes.c): of 4, every second switch
 * goes up; of 6, one in three goes up, one down, one both ways.
 */
enum grid_step grid_either(unsigned size, unsigned at, unsigned key)
{
	if (size == 4)
		return at % 2 ? GRID_DOWN : GRID_UP;
	if (size == 6 && at % 3 < 2)
		return at % 3 ? GRID_UP : GRID_DOWN;
	return (key + at) % 2 ? GRID_DOWN : GRID_UP;
}

/* GRID_EITHER in dimension `dim`: up and down by turns of the coordinates of all others. */
static void take_either(const struct grid_ways *w, const uint16_t *p, const uint16_t *q,
			unsigned dim, uint32_t ret[2])
{
	const struct grid *grid = w->grid;
	unsigned key = 0;

	for (unsigned e = 0; e < grid->n_dims; e++)
		key += e == dim ? 0u : q[e];
	for (unsigned odd = 0; odd < 2; odd++)
		ret[odd] = 2 * dim +
			   grid_either(grid->size[dim], p[dim], key + odd * !w->one_way[dim]);
}

bool grid_way(const struct grid_ways *w, uint32_t from, uint32_t to, uint32_t ret[2])
{
	const struct grid *grid = w->grid;
	const uint16_t *p = grid_at(grid, from), *q = grid_at(grid, to);
	const uint8_t *steps = w->step + (size_t)from * w->first[grid->n_dims];

	for (unsigned d = 0; d < grid->n_dims; d++) {
		enum grid_step step;

		if (p[d] == q[d])
			continue;
		step = steps[w->first[d] + q[d]];
		if (step == GRID_TURN)
			continue;
		if (step == GRID_NONE)
			return false;
		if (step == GRID_EITHER)
			take_either(w, p, q, d, ret);
		else
			ret[0] = ret[1] = 2 * d + step;
		return true;
	}
	return false;
}

unsigned grid_crossings(const struct grid_ways *w, const uint8_t *bits, uint32_t from, uint32_t to)
{
	const struct grid *grid = w->grid;
	const uint16_t *p = grid_at(grid, from), *q = grid_at(grid, to);
	unsigned ret = 0;

	for (unsigned d = 0; d < grid->n_dims; d++) {
		unsigned crosses = w->crosses[w->first_pair[d] + p[d] * grid->size[d] + q[d]];

		if (!crosses || bits[d] >= 8)
			continue;
		if (crosses == 2) {
			uint32_t way[2];

			take_either(w, p, q, d, way);
			crosses = way[0] % 2 == GRID_UP ? q[d] < p[d] : q[d] > p[d];
		}
		ret |= crosses << bits[d];
	}
	return ret;
}
