// SPDX-License-Identifier: BSD-2-Clause
/* The VLs of a grid: how many there must be, and which one a hop takes. */
#pragma once

#include "route/grid/grid_ways.h"

#define GRID_SL_BITS 4 /* of a service level */

/* The rule for VLs by ports and service levels, without datelines. */
struct grid_vl_plan {
	const struct grid *grid;
	unsigned rings; /* number of VLs that rings and lines need */
	/* Set if as many VLs are used for the hop after a turn against the order of dimensions. */
	bool turns;
	/* Number of equal sets of VLs, and the first service level bit that chooses among them. */
	unsigned n_sets, set_bit;
	/* Service level bit: the path crosses the dateline of the dimension; GRID_NO_BIT: none. */
	uint8_t bit_of[GRID_DIMS];
};

#define GRID_NO_BIT UINT8_MAX

/* Number of VLs of one set. */
static inline unsigned grid_vls(const struct grid_vl_plan *l)
{
	return l->turns ? 2 * l->rings : l->rings;
}

/* The VL of one hop within its set, from the classes of its ports (0: hosts, 1 + dimension). */
unsigned grid_vl(const struct grid_vl_plan *l, unsigned in, unsigned out, unsigned sl);
/* The same with the set that the service level chooses. */
unsigned grid_set_vl(const struct grid_vl_plan *l, unsigned in, unsigned out, unsigned sl);

/* Is a bit of the service level needed for the ring of dimension `d`? */
bool grid_needs_bit(const struct grid *grid, unsigned d);
/* VLs by rings and lines as they were planned: damage does not change the SLs of paths. */
unsigned grid_ring_vls(const struct grid *grid);
/* VLs without datelines, twice as many with damage if available. 0 and `why`: not enough. */
unsigned grid_vls_needed(const struct grid *grid, unsigned max_vls, char *why, size_t why_len);
/* VLs of torus-2QoS: as many of its tasks as there is room for. 0 and `why`: not enough. */
unsigned grid_dateline_vls(const struct grid *grid, unsigned max_vls, char *why, size_t why_len);
