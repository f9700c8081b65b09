// SPDX-License-Identifier: BSD-2-Clause
/*
 * One step through a grid in dimension order: which way along a line or ring, where to turn early.
 *
 * A line is all switches that differ in one coordinate only. On a ring that is whole the shorter
 * direction is taken; the opposite switch is reached by either, in equal parts. A ring with a gap
 * is a line, and the direction round the other side is the only one. Where the switch at the corner
 * of a path is missing, the path turns one switch before it into its next dimension, and comes back
 * to this one after one step.
 */
#pragma once

#include "route/shape/grid.h"
#include "util/mem.h"

enum grid_step {
	GRID_UP,     /* to the next greater coordinate, the last one's is 0 */
	GRID_DOWN,
	GRID_EITHER, /* both are equally long */
	GRID_TURN,   /* the next switch is the corner, and missing */
	GRID_NONE,   /* no path */
};

struct grid_ways {
	const struct graph *g;	 /* borrowed, as the grid */
	const struct grid *grid;
	/* [(sw * n_dims + dim) * 2 + GRID_UP or GRID_DOWN]: group of the graph; TOPO_NONE */
	uint32_t *group;
	uint32_t first[GRID_DIMS + 1]; /* of a dimension in a row of steps */
	/* [sw * first[n_dims] + first[dim] + coordinate to reach]: enum grid_step */
	uint8_t *step;
	/*
	 * On a grid without damage, does the path from coordinate to coordinate cross the dateline?
	 * 0, 1, or 2 where both ways are equally long: [first_pair[dim] + from * size + to].
	 */
	uint8_t *crosses;
	uint32_t first_pair[GRID_DIMS];
	/* set by the caller: all of one switch reach the opposite switch in the same direction */
	bool one_way[GRID_DIMS];
	struct arena memory;
};

/* The group of the graph in direction `way`, 2 * dimension + GRID_UP or GRID_DOWN; TOPO_NONE. */
static inline uint32_t grid_group(const struct grid_ways *w, uint32_t sw, unsigned way)
{
	return w->group[(size_t)sw * 2 * w->grid->n_dims + way];
}

/* The switch there; TOPO_NONE: no cable leads there. */
static inline uint32_t grid_neighbour(const struct grid_ways *w, uint32_t sw, unsigned way)
{
	uint32_t group = grid_group(w, sw, way);

	return group == TOPO_NONE ? TOPO_NONE : w->g->groups[group].to;
}

/* Of places (indices of grid->switch_at): one step on, and that with another coordinate. */
uint32_t grid_place_beside(const struct grid *grid, uint32_t place, unsigned way);
uint32_t grid_place_at(const struct grid *grid, uint32_t place, unsigned dim, unsigned coordinate);

/* NULL and why: a line or ring is in pieces. The caller frees; graph and grid must live longer. */
struct grid_ways *grid_ways_new(const struct graph *g, const struct grid *grid, char *why,
				size_t why_len);
/* Of the grid as it would be without damage: paths may lead to where nothing is. */
struct grid_ways *grid_ways_whole(const struct graph *g, const struct grid *grid);
struct grid_ways *grid_ways_free(struct grid_ways *w);

/* Up or down for GRID_EITHER on a ring of `size`, at `at`; `key` is odd or even by chance. */
enum grid_step grid_either(unsigned size, unsigned at, unsigned key);

/*
 * The paths from `from` towards `to`, 2 * dimension + GRID_UP or GRID_DOWN: for every second
 * destination on `to` the one, for the others the other; nearly always they are the same. False:
 * there is none.
 */
bool grid_way(const struct grid_ways *w, uint32_t from, uint32_t to, uint32_t ret[2]);

/*
 * On a grid without damage: which datelines the path crosses, between the last coordinate and 0; 1
 * << bits[dim] of each dimension that is a ring and has a bit (0..7).
 */
unsigned grid_crossings(const struct grid_ways *w, const uint8_t *bits, uint32_t from, uint32_t to);
