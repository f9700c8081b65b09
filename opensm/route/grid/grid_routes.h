// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables and VLs for a grid: shortest paths in dimension order, in equal parts, without deadlock.
 *
 * Lines, rings of 3 and rings of 4 need one VL, rings of 5 and 6 two, and no service level; longer
 * rings two and a bit of the service level each. With damage twice as many, or four times, if
 * available. torus-2QoS (torus.c) uses more for the same paths.
 */
#pragma once

#include "route/core/engine.h"
#include "route/grid/grid_ways.h"

struct grid_plan {
	const char *engine;	   /* its name */
	const struct grid *grid;
	const struct graph *graph;
	bool datelines;		   /* VLs as torus-2QoS has them; else as few as there can be */
	/* with datelines: bit of the service level, of each ring; 0..2 */
	uint8_t dateline_bit[GRID_DIMS];
	/* per port number: in which order hosts take parallel cables; NULL: ascending */
	const uint8_t *port_rank;
};

/* How VLs follow from ports and service levels, without datelines. */
struct grid_vl_plan {
	const struct grid *grid;
	unsigned rings; /* VLs that rings and lines need */
	/* as many again for the next hop after a turn against the order of dimensions */
	bool turns;
	/* Sets of VLs, all alike; bits of the service level from this one on say which. */
	unsigned n_sets, set_bit;
	/* of the service level: crosses the dateline of a dimension; GRID_NO_BIT: none */
	uint8_t bit_of[GRID_DIMS];
};

#define GRID_NO_BIT UINT8_MAX

/* VLs of one set. */
static inline unsigned grid_vls(const struct grid_vl_plan *l)
{
	return l->turns ? 2 * l->rings : l->rings;
}

/* The VL of one hop within its set, from the classes of its ports (0: hosts, 1 + dimension). */
unsigned grid_vl(const struct grid_vl_plan *l, unsigned in, unsigned out, unsigned sl);

/* NULL and why: cut in pieces, or not enough VLs. */
struct routes *grid_routes(const struct route_job *job, const struct grid_plan *plan, char *why,
			   size_t why_len);

/*
 * The tree of which every multicast tree must be a part (routes.h): one line of the first
 * dimension, of each of its switches a line of the second, and so on, as paths go; datelines are
 * crossed only where a ring has a gap. NULL: damage leaves none. The caller frees.
 */
uint8_t *grid_tree(const struct grid_ways *w);

/* Do it and all paths (`g`, cdg.h) together close no cycle, with SL 0 and SL 8? */
struct cdg;
bool grid_tree_fits(const struct routes *r, struct cdg *g);
