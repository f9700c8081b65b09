// SPDX-License-Identifier: BSD-2-Clause
/*
 * Steps through a grid in dimension order: the direction along a line or ring, and early turns.
 *
 * A line is the switches that differ in one coordinate only. On a complete ring the shorter
 * direction is taken; the opposite switch is reached by both, in equal parts. A ring with a gap is
 * a line with only one direction. If the switch at the corner of a path is missing, the path turns
 * into its next dimension one switch earlier, and returns to this dimension after one step.
 */
#pragma once

#include "route/shape/grid.h"
#include "util/mem.h"

enum grid_step {
	GRID_UP, /* to the next greater coordinate; from the last one to 0 */
	GRID_DOWN,
	GRID_EITHER, /* both directions are equally long */
	GRID_TURN,   /* the next switch is the corner, and is missing */
	GRID_NONE,   /* no path */
};

struct grid_ways {
	const struct graph *g; /* borrowed, as is the grid */
	const struct grid *grid;
	/* [(sw * n_dims + dim) * 2 + GRID_UP or GRID_DOWN]: group of the graph; TOPO_NONE: none. */
	uint32_t *group;
	uint32_t first[GRID_DIMS + 1]; /* offset of a dimension in a row of steps */
	/* [sw * first[n_dims] + first[dim] + coordinate to reach]: enum grid_step */
	uint8_t *step;
	/*
	 * For a grid without damage: does the path from one coordinate to another cross the
	 * dateline? 0, 1, or 2 if both directions are equally long: [first_pair[dim] + from * size
	 * + to].
	 */
	uint8_t *crosses;
	uint32_t first_pair[GRID_DIMS];
	/* Set by the caller if one switch reaches the opposite switch in one direction only. */
	bool one_way[GRID_DIMS];
	struct arena memory;
};

/* The group of the graph in direction `way`, 2 * dimension + GRID_UP or GRID_DOWN; TOPO_NONE. */
static inline uint32_t grid_group(const struct grid_ways *w, uint32_t sw, unsigned way)
{
	return w->group[(size_t)sw * 2 * w->grid->n_dims + way];
}

/* The neighbour in direction `way`; TOPO_NONE: no cable leads there. */
static inline uint32_t grid_neighbour(const struct grid_ways *w, uint32_t sw, unsigned way)
{
	uint32_t group = grid_group(w, sw, way);

	return group == TOPO_NONE ? TOPO_NONE : w->g->groups[group].to;
}

/* Other places (indices of grid->switch_at): one step further; with another coordinate. */
uint32_t grid_place_beside(const struct grid *grid, uint32_t place, unsigned way);
uint32_t grid_place_at(const struct grid *grid, uint32_t place, unsigned dim, unsigned coordinate);

/* NULL and why: a line or ring is in pieces. The caller frees; graph and grid must stay valid. */
struct grid_ways *grid_ways_new(const struct graph *g, const struct grid *grid, char *why,
				size_t why_len);
/* The ways of the grid as it would be without damage: paths may lead to missing switches. */
struct grid_ways *grid_ways_whole(const struct graph *g, const struct grid *grid);
struct grid_ways *grid_ways_free(struct grid_ways *w);

/* Up or down for GRID_EITHER on a ring of `size`, from `at`; `key`: odd in half of all cases. */
enum grid_step grid_either(unsigned size, unsigned at, unsigned key);

/*
 * The directions from `from` towards `to`, 2 * dimension + GRID_UP or GRID_DOWN, for one half of
 * the destinations on `to` and for the other; nearly always they are equal. False: no path.
 */
bool grid_way(const struct grid_ways *w, uint32_t from, uint32_t to, uint32_t ret[2]);

/*
 * For a grid without damage: the datelines, between the last coordinate and 0, that the path
 * crosses, as 1 << bits[dim] of each dimension that is a ring and has a bit (0..7).
 */
unsigned grid_crossings(const struct grid_ways *w, const uint8_t *bits, uint32_t from, uint32_t to);
