// SPDX-License-Identifier: BSD-2-Clause
/*
 * What kind of fabric a graph is, found by its local structure, without configuration.
 *
 * Everything here is linear in cables times ports, tolerates damage as far as the structure of what is left is
 * certain, and answers "other" when in doubt: routes are proved whatever was recognised.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/graph.h"
#include "route/grid.h"

#define SHAPE_DIMS   12
#define SHAPE_LEVELS 8

enum shape_kind {
	SHAPE_SINGLE,	      /* one switch with end ports at most */
	SHAPE_TREE,	      /* levels; cables run between neighbouring levels */
	SHAPE_HYPERX,	      /* rows of cliques in every dimension; hypercubes and full meshes are some */
	SHAPE_GRID,	      /* meshes and tori */
	SHAPE_DRAGONFLY,      /* groups are cliques */
	SHAPE_DRAGONFLY_PLUS, /* groups are leaves and spines */
	SHAPE_OTHER,
};

struct shape {
	enum shape_kind kind;
	uint32_t n;	       /* switches of the graph */
	uint32_t n_parts;      /* connected parts with end ports */
	uint32_t n_cut;	       /* cables (groups of parallel ones) that the whole fabric would have, and this has not */
	/* tree */
	unsigned n_levels;
	uint32_t per_level[SHAPE_LEVELS];
	uint32_t n_cross;      /* cables within a level */
	/* HyperX: at[sw * n_dims + d]; switch_at in mixed radix, dimension 0 fastest, TOPO_NONE: missing */
	unsigned n_dims;
	uint16_t size[SHAPE_DIMS];
	uint16_t *at;
	uint32_t *switch_at;
	uint32_t n_places;
	struct grid *grid;
	/* dragonfly */
	uint32_t n_groups, per_group; /* switches of most groups */
	uint32_t *group;	      /* per switch */
	bool *leaf;		      /* per switch: carries end ports as the others of its level do */
};

/* The caller frees. The same graph gives the same shape. */
struct shape *shape_find(const struct graph *g);
struct shape *shape_free(struct shape *s);
void shape_freep(struct shape **s);

/* "dragonfly of 33 groups of 8 switches, 12 cables missing" */
#define SHAPE_STRLEN 128
char *shape_str(const struct shape *s, char ret[SHAPE_STRLEN]);

/* The parts of it: true, and the struct is filled, if it is one. */
bool shape_find_hyperx(const struct graph *g, struct shape *s);
bool shape_find_groups(const struct graph *g, struct shape *s);

/* The group of `u` that leads to `v`, or NULL. */
const struct graph_group *shape_edge(const struct graph *g, uint32_t u, uint32_t v);

static inline uint32_t shape_degree(const struct graph *g, uint32_t u)
{
	return g->first[u + 1] - g->first[u];
}
