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
	const char *engine; /* name of the engine */
	const struct grid *grid;
	const struct graph *graph;
	/* set to use the VLs of torus-2QoS; else as few VLs as possible */
	bool datelines;
	/* With datelines: service level bit of each ring; 0..2. */
	uint8_t dateline_bit[GRID_DIMS];
	/* By port number: rank in which hosts use parallel cables; NULL: ascending. */
	const uint8_t *port_rank;
};

/* Makes routes. NULL and why: the grid is in pieces, or there are not enough VLs. */
struct routes *grid_routes(const struct route_job *job, const struct grid_plan *plan, char *why,
			   size_t why_len);

/*
 * The tree that every multicast tree must be part of (routes.h): one line of the first dimension, a
 * line of the second from each of its switches, and so on; datelines are crossed only where a ring
 * has a gap. NULL: damage leaves no such tree. The caller frees.
 */
uint8_t *grid_tree(const struct grid_ways *w);

/* Do the tree of `r` and all paths (`g`, cdg.h) together close no cycle, with SL 0 and SL 8? */
struct cdg;
bool grid_tree_fits(const struct routes *r, struct cdg *g);
