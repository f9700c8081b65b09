// SPDX-License-Identifier: BSD-2-Clause
/*
 * VLs for paths that take one dimension after the other: meshes, tori, hypercubes and HyperX.
 *
 * Such paths can only wait for each other in a cycle round a ring. A VL in which no path passes a
 * certain switch of each ring (it may begin, end or turn there) has no cycle; that switch is where
 * the VL breaks the ring. Breaks are chosen so that every path finds a VL of which it passes none.
 */
#pragma once

#include "route/core/graph.h"
#include "route/shape/grid.h"

struct dims_breaks {
	unsigned n_lanes; /* number of VLs; 0: more would be needed than there are */
	/* By coordinate: VLs that break rings of the dimension there; NULL: no breaks. */
	uint16_t *at[GRID_DIMS];
};

/* Finds a grid, or a HyperX as a grid without rings; NULL: neither. For grid_free(). */
struct grid *dims_find(const struct graph *g);

/* Finds breaks with as few VLs as possible, up to `most`. To be ended by dims_breaks_done(). */
void dims_breaks_find(const struct grid *grid, unsigned most, struct dims_breaks *ret);
void dims_breaks_done(struct dims_breaks *b);

/* The VLs, as bits, in which a path may go u -> v -> w, all neighbours; 0: not dimension order. */
uint16_t dims_turn(const struct grid *grid, const struct dims_breaks *b, uint32_t u, uint32_t v,
		   uint32_t w);
