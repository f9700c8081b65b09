// SPDX-License-Identifier: BSD-2-Clause
/* Between the halves of grid_find: directions of edges (grid_arcs.c), places of switches (grid.c). */
#pragma once

#include "route/grid.h"

/* Every edge twice, once from each end: arc i is group i of the graph. */
struct grid_arcs {
	const struct graph *g;
	uint32_t n;	/* arcs */
	uint32_t *from; /* switch where it begins; groups[i].to is where it ends */
	uint32_t *back; /* the same edge from the other end */
	uint32_t *way;	/* 2 * dimension + (0 or 1, the way along it); TOPO_NONE: not known */
	unsigned n_dims;
};

/* False and why: no grid looks like this. */
bool grid_arcs_find(const struct graph *g, struct grid_arcs *ret, char *why, size_t why_len);
void grid_arcs_done(struct grid_arcs *a);

/* Disjoint sets; the smallest member stands for all. */
static inline uint32_t grid_root(uint32_t *set, uint32_t i)
{
	while (set[i] != i) {
		set[i] = set[set[i]];
		i = set[i];
	}
	return i;
}

static inline void grid_join(uint32_t *set, uint32_t i, uint32_t j)
{
	i = grid_root(set, i);
	j = grid_root(set, j);
	if (i < j)
		set[j] = i;
	else
		set[i] = j;
}
