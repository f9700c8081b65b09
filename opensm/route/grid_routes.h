// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables and lanes for a grid: the shortest paths in dimension order, in equal parts, without deadlock.
 *
 * Lines, rings of 3 and rings of 4 need one lane, rings of 5 and 6 two, and no service level; longer rings two
 * and a bit of the service level each. With damage twice as many, or four times, if there are. torus-2QoS (torus.c)
 * takes more for the same paths.
 */
#pragma once

#include "route/engine.h"
#include "route/grid_ways.h"

struct grid_plan {
	const char *engine;	   /* its name */
	const struct grid *grid;
	const struct graph *graph;
	bool datelines;		   /* lanes as torus-2QoS has them; else as few as there can be */
	uint8_t dateline_bit[GRID_DIMS]; /* with datelines: bit of the service level, of each ring; 0..2 */
	const uint8_t *port_rank;  /* per port number: in which order hosts take parallel cables; NULL: ascending */
};

/*
 * Lanes that `grid` needs without datelines, of the `max_vls` there are (route_lanes()); 0 and why: there are not
 * enough.
 */
unsigned grid_lanes_needed(const struct grid *grid, unsigned max_vls, char *why, size_t why_len);

/* How lanes follow from ports and service levels, without datelines. */
struct grid_lanes {
	const struct grid *grid;
	unsigned rings; /* lanes that rings and lines need */
	bool turns;	/* as many again for the next hop after a turn against the order of dimensions */
	/* Sets of lanes, all alike; bits of the service level from this one on say which. */
	unsigned n_sets, set_bit;
	uint8_t bit_of[GRID_DIMS]; /* of the service level: crosses the dateline of a dimension; GRID_NO_BIT: none */
};

#define GRID_NO_BIT UINT8_MAX

/* Lanes of one set. */
static inline unsigned grid_vls(const struct grid_lanes *l)
{
	return l->turns ? 2 * l->rings : l->rings;
}

/* The lane of one hop within its set, from the classes of its ports (0: hosts, 1 + dimension). */
unsigned grid_vl(const struct grid_lanes *l, unsigned in, unsigned out, unsigned sl);

/* NULL and why: cut in pieces, or not enough lanes. */
struct routes *grid_routes(const struct route_job *job, const struct grid_plan *plan, char *why, size_t why_len);

/*
 * The tree of which every multicast tree must be a part (routes.h): one line of the first dimension, of each of its
 * switches a line of the second, and so on, as paths go; datelines are crossed only where a ring has a gap. NULL:
 * damage leaves none. The caller frees.
 */
uint8_t *grid_tree(const struct grid_ways *w);

/* Whether it and all paths together close no cycle, with SL 0 and SL 8; `g` is what the paths come to (depend.h). */
struct dependency_graph;
bool grid_tree_fits(const struct routes *r, struct dependency_graph *g);
