// SPDX-License-Identifier: BSD-2-Clause
/*
 * Meshes, tori and hypercubes found by their local structure, and a place in them for every switch.
 *
 * A grid has up to GRID_DIMS dimensions; each is a line or a ring of size[d] switches. Parallel
 * cables are one edge. A hypercube of n dimensions is a grid of n lines of size 2. Missing cables
 * and switches are tolerated as far as the coordinates of what is left stay certain; a graph that
 * is none is refused.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/core/graph.h"
#include "util/mem.h"

#define GRID_DIMS 12

struct grid {
	unsigned n_dims;
	uint16_t size[GRID_DIMS];
	bool wraps[GRID_DIMS]; /* set for a ring; never for size 2 */
	uint32_t n;	       /* number of switches of the graph */
	uint32_t n_missing;    /* number of places without a switch */
	uint32_t n_cut;	       /* number of edges of the grid that the graph lacks */
	uint16_t *at;	       /* at[sw * n_dims + d] */
	/* By place, mixed radix with dimension 0 fastest; TOPO_NONE: missing. */
	uint32_t *switch_at;
	struct arena memory;
};

/* NULL and why: not a grid. The same graph gives the same grid. The caller frees. */
struct grid *grid_find(const struct graph *g, char *why, size_t why_len);
/*
 * A HyperX, where cables join all switches of a row in each dimension, as a grid without rings;
 * NULL: it is none. *ret_n_cut: cables that are missing; n_cut of the grid is 0.
 */
struct grid *grid_find_hyperx(const struct graph *g, uint32_t *ret_n_cut);
struct grid *grid_free(struct grid *grid);
FREEP(grid_free, struct grid)
/* "6x6x6 torus", "4x4 mesh", "hypercube of 10 dimensions", "4x4(ring)x3 grid", damage included. */
#define GRID_STRLEN 96
char *grid_str(const struct grid *grid, char ret[GRID_STRLEN]);

static inline const uint16_t *grid_at(const struct grid *grid, uint32_t sw)
{
	return grid->at + (size_t)sw * grid->n_dims;
}

static inline uint32_t grid_index(const struct grid *grid, const uint16_t *place)
{
	uint32_t index = 0;

	for (unsigned d = grid->n_dims; d-- > 0;)
		index = index * grid->size[d] + place[d];
	return index;
}

/* The first dimension in which two switches differ; n_dims: none. */
static inline unsigned grid_first_dim(const struct grid *grid, uint32_t a, uint32_t b)
{
	unsigned d = 0;

	while (d < grid->n_dims && grid_at(grid, a)[d] == grid_at(grid, b)[d])
		d++;
	return d;
}

/* The number of dimensions in which two places differ. */
static inline unsigned grid_differing(const struct grid *grid, const uint16_t *x, const uint16_t *y)
{
	unsigned n = 0;

	for (unsigned d = 0; d < grid->n_dims; d++)
		n += x[d] != y[d];
	return n;
}

/* Ranks dimensions by the means sum[d] / n[d], the least first; equal ones stay in order. */
static inline void grid_rank_dims(const uint64_t *sum, const uint64_t *n, unsigned n_dims,
				  unsigned *ret)
{
	for (unsigned d = 0; d < n_dims; d++) {
		ret[d] = 0;
		for (unsigned e = 0; e < n_dims; e++)
			ret[d] += sum[e] * n[d] < sum[d] * n[e] ||
				  (sum[e] * n[d] == sum[d] * n[e] && e < d);
	}
}

/* For sl2vl_set_classes(): class 1 + d for cables along dimension d of `grid`; 0 is hosts. */
static inline unsigned grid_port_class(const void *grid, uint32_t sw, uint32_t peer)
{
	return 1 + grid_first_dim(grid, sw, peer);
}

/* A dimension made of an old one, or of two of size 2 (`first` != `second`: a ring of 4). */
struct grid_view_dim {
	uint8_t first, second;
	bool flip;	/* set if coordinates are reversed */
	uint16_t shift; /* added to coordinates afterwards, on rings */
};
struct grid *grid_view(const struct grid *grid, const struct grid_view_dim *dims, unsigned n_dims);
/*
 * The same switches with every two dimensions of size 2 taken together as one ring of 4.
 * grid_find() never returns a ring of 4: it is the same graph as two lines of 2, which need one VL.
 */
struct grid *grid_fold(const struct grid *grid);
