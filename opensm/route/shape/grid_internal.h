// SPDX-License-Identifier: BSD-2-Clause
/* Shared by the halves of grid_find(): directions of edges (grid_arcs.c), places (grid.c). */
#pragma once

#include "route/shape/grid.h"

/* Every edge twice, once from each end: arc i is group i of the graph. */
struct grid_arcs {
	const struct graph *g;
	uint32_t n;	/* number of arcs */
	uint32_t *from; /* switch where it begins; groups[i].to is where it ends */
	uint32_t *back; /* by arc: the arc of the same edge from the other end */
	uint32_t *way;	/* by arc: 2 * dimension + (0 or 1, direction); TOPO_NONE: not known */
	unsigned n_dims;
	struct arena *memory; /* memory of the arrays above, and work space */
};

/* Finds the directions. False: `why` says why it is no grid. All zero but `memory` before. */
bool grid_arcs_find(const struct graph *g, struct grid_arcs *ret, char *why, size_t why_len);
