// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ways around what is missing in a grid, for those whose path in dimension order is cut: as short as there are, and
 * such that no cable carries much more than others.
 *
 * The paths of everybody else stay what they are in a grid without damage. Who is cut off goes to a neighbour that is
 * nearer to the end as things are; turns against the order of dimensions come of it, and only such are taken as can
 * not wait for each other in a circle.
 */
#pragma once

#include "route/grid_routes.h"

struct grid_detours {
	const struct grid_ways *ways;
	uint8_t *set;  /* per switch: which set of lanes paths to it take */
	unsigned n_sets;
	uint8_t **way; /* [2 * to + odd][from]: 2 * dimension + side, or GRID_ALONG; NULL: nobody is cut off */
};

#define GRID_ALONG UINT8_MAX

/* The way from `from` to `to` of those on `to` that are odd or even: `way` in dimension order, or around. */
static inline uint32_t grid_detour(const struct grid_detours *d, uint32_t from, uint32_t to, unsigned odd, uint32_t way)
{
	const uint8_t *ways = d->way[2 * (size_t)to + odd];

	return ways && ways[from] != GRID_ALONG ? ways[from] : way;
}

/* End ports of a switch: all that send, and LIDs by whether they take the one or the other of grid_way()'s ways. */
struct grid_ends {
	uint32_t sources, lids[2];
	lid_t lid[2]; /* one of them */
};

/*
 * The caller frees. NULL: cancelled, or not everybody can go around (who there is no way to at all is nobody's
 * fault). `w` must go on as if nothing were missing (grid_ways_whole()); lanes->n_sets is how many there may be.
 * Who went somewhere by job->previous goes there again if that costs little.
 */
struct grid_detours *grid_detours_new(const struct grid_ways *w, const struct grid_lanes *lanes,
				      const struct grid_ends *ends, const struct route_job *job);
struct grid_detours *grid_detours_free(struct grid_detours *d);
void grid_detours_freep(struct grid_detours **d);
