// SPDX-License-Identifier: BSD-2-Clause
/*
 * Paths around missing switches and cables of a grid, for switches whose path in dimension order is
 * cut: as short as possible, and such that no cable carries much more than others.
 *
 * The paths of all other switches stay as in a grid without damage. A switch that is cut off sends
 * to a neighbour that is nearer to the destination; that makes turns against the order of
 * dimensions, of which only those are used that close no cycle.
 */
#pragma once

#include "route/core/engine.h"
#include "route/grid/grid_vl.h"

struct grid_detours {
	const struct grid_ways *ways;
	uint8_t *set; /* by switch: set of VLs for paths to it */
	unsigned n_sets;
	/* [2 * to + odd][from]: 2 * dimension + side, or GRID_ALONG; NULL: no switch is cut off. */
	uint8_t **way;
};

#define GRID_ALONG UINT8_MAX

/* The direction for odd or even LIDs on `to`: `way`, in dimension order, or a detour. */
static inline uint32_t grid_detour(const struct grid_detours *d, uint32_t from, uint32_t to,
				   unsigned odd, uint32_t way)
{
	const uint8_t *ways = d->way[2 * (size_t)to + odd];

	return ways && ways[from] != GRID_ALONG ? ways[from] : way;
}

/* End ports of a switch: senders, and LIDs by which of the two paths of grid_way() they take. */
struct grid_ends {
	uint32_t sources, lids[2];
	lid_t lid[2]; /* one of these LIDs */
};

/*
 * Finds detours; the caller frees. NULL: cancelled, or some switch cannot be reached (switches
 * without any path are ignored). `w` must be of the grid without damage (grid_ways_whole());
 * vl_plan->n_sets: most sets of VLs if one is not enough. Detours of job->previous are kept if that
 * costs little.
 */
struct grid_detours *grid_detours_new(const struct grid_ways *w, const struct grid_vl_plan *vl_plan,
				      const struct grid_ends *ends, const struct route_job *job);
struct grid_detours *grid_detours_free(struct grid_detours *d);

/*
 * Dependencies between channels (edge, VL): of all paths in dimension order of the grid without
 * damage, and of paths that are added as long as no cycle closes (grid_waits.c).
 */
struct grid_waits;

/* `l` must stay valid. The caller frees. NULL: even the grid without damage has a cycle. */
struct grid_waits *grid_waits_new(const struct grid_ways *w, const struct grid_vl_plan *l);
struct grid_waits *grid_waits_free(struct grid_waits *g);

/* Begins a path with service level `sl`. */
void grid_waits_begin(struct grid_waits *g, unsigned sl);
/*
 * Continues the path by `way` from `from`. False: a cycle would close, or, unless `add`, a
 * dependency would be added; the hops so far stay.
 */
bool grid_waits_go(struct grid_waits *g, uint32_t from, unsigned way, bool add);

/* The number of dependencies added so far; grid_waits_undo() removes all beyond such a number. */
uint32_t grid_waits_added(const struct grid_waits *g);
void grid_waits_undo(struct grid_waits *g, uint32_t added);
