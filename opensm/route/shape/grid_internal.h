// SPDX-License-Identifier: BSD-2-Clause
/* Between halves of grid_find(): directions of edges (grid_arcs.c), places of switches (grid.c). */
#pragma once

#include "route/shape/grid.h"

/* Every edge twice, once from each end: arc i is group i of the graph. */
struct grid_arcs {
	const struct graph *g;
	uint32_t n;	/* arcs */
	uint32_t *from; /* switch where it begins; groups[i].to is where it ends */
	uint32_t *back; /* the same edge from the other end */
	uint32_t *way;	/* 2 * dimension + (0 or 1, the way along it); TOPO_NONE: not known */
	unsigned n_dims;
	struct arena *memory; /* the arrays above are in it, and what it takes to find them */
};

/* False and why: no grid looks like this. All zero but `memory` before. */
bool grid_arcs_find(const struct graph *g, struct grid_arcs *ret, char *why, size_t why_len);
