// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables and lanes for a grid: the shortest paths in dimension order, in equal parts, without deadlock.
 *
 * Lines, rings of 3 and rings of 4 need one lane, rings of 5 and 6 two, and no service level; longer rings two
 * and a bit of the service level each, which depends on the destination alone. Where switches are missing, twice
 * as many. torus-2QoS has its own way to use service levels (torus.c) and the same paths.
 */
#pragma once

#include "route/engine.h"
#include "route/grid_ways.h"

struct grid_plan {
	const char *engine;	   /* its name */
	const struct grid *grid;
	const struct graph *graph;
	bool datelines;		   /* lanes as torus-2QoS has them */
	const uint8_t *port_rank;  /* per port number: in which order hosts take parallel cables; NULL: ascending */
};

/*
 * What the paths of `grid` need and the fabric has, or 0 and why it is not enough. `max_vls`: how many lanes there
 * are (route_lanes()).
 */
unsigned grid_lanes_needed(const struct grid *grid, unsigned max_vls, char *why, size_t why_len);

/* NULL and why: cut in pieces, or not enough lanes. */
struct routes *grid_routes(const struct route_job *job, const struct grid_plan *plan, char *why, size_t why_len);

/*
 * The tree of which every multicast tree must be a part: dimension after dimension, as paths go. Per switch the
 * port towards its root, 0 for the root itself. NULL: there is none that the paths and it cannot block each other.
 * The caller frees.
 */
uint8_t *grid_tree(const struct grid_ways *w);
