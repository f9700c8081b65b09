// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kind of fabric that a graph is, found from its local structure without configuration.
 *
 * Everything here is linear in cables times ports, tolerates damage as far as the remaining
 * structure is certain, and returns SHAPE_OTHER when in doubt: routes are checked whatever was
 * recognised.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/core/graph.h"
#include "route/core/tails.h"
#include "route/shape/grid.h"
#include "util/mem.h"

#define SHAPE_LEVELS 8

enum shape_kind {
	SHAPE_SINGLE, /* one switch with end ports at most */
	SHAPE_TREE,   /* levels; cables run between neighbouring levels */
	/* rows of cliques in every dimension; hypercubes and full meshes are some */
	SHAPE_HYPERX,
	SHAPE_GRID,	      /* meshes and tori */
	SHAPE_DRAGONFLY,      /* groups are cliques */
	SHAPE_DRAGONFLY_PLUS, /* groups are leaves and spines */
	SHAPE_OTHER,
};

struct shape {
	enum shape_kind kind;
	uint32_t n;	  /* number of switches of the graph */
	uint32_t n_parts; /* number of connected parts with end ports */
	/* Number of cables (groups of parallel ones) missing in the whole fabric. */
	uint32_t n_cut;
	/* Tree. */
	unsigned n_levels;
	uint32_t per_level[SHAPE_LEVELS];
	uint32_t n_cross; /* number of cables within a level */
	/*
	 * Of a tree, switches in no level: stubs (topo_find_stubs()), and those with nothing else
	 * below. Else those in tails (core/tails.h).
	 */
	uint32_t n_apart;
	struct grid *grid; /* with SHAPE_GRID and SHAPE_HYPERX */
	/* Dragonfly. */
	uint32_t n_groups, per_group; /* per_group: switches of most groups */
	uint32_t *group;	      /* by switch */
	/* By switch: set if it has as many end ports as others of its level. */
	bool *leaf;
};

/* Finds the shape; the caller frees. The same graph gives the same shape. */
struct shape *shape_find(const struct graph *g);
/*
 * The same; or, if the whole has none and what is left without tails has one other than that of a
 * tree, the shape of this core: numbers of switches are those of the core then. So it is where
 * tails would be groups of a dragonfly. *ret_tails, to be freed: what is left out, or NULL.
 */
struct shape *shape_find_core(const struct graph *g, const struct route_options *options,
			      struct tails **ret_tails);
/* The tails without which the fabric is a grid or a HyperX; NULL: it is none even so. */
struct tails *shape_tails_of_grid(const struct graph *g, const struct route_options *options);
struct shape *shape_free(struct shape *s);
FREEP(shape_free, struct shape)

/* "dragonfly of 33 groups of 8 switches, 12 cables missing" */
#define SHAPE_STRLEN 128
char *shape_str(const struct shape *s, char ret[SHAPE_STRLEN]);

/* Is the graph a dragonfly? If so, fills in `s`. */
bool shape_find_groups(const struct graph *g, struct shape *s);

/*
 * Per switch: is it a leaf? These have at least half as many end ports as the median of the
 * switches that have any: a service node plugged into a spine does not turn a tree upside down.
 * Where two is the median, one end port beside a leaf that has two is such a service node, unless
 * more than a quarter of the switches have one, or more than have none.
 */
void shape_leaves(const struct graph *g, bool *ret);

/*
 * Per switch: hops to the nearest leaf that is no stub (topo_find_stubs()); DISTANCE_NONE: there is
 * none. A stub is a level below the switch that it hangs on, above a leaf. Where stubs hang on all
 * switches of the highest level, these are branches: they are below those that they are connected
 * to.
 */
void shape_flood(const struct graph *g, const bool *leaf, uint16_t *ret);

/* Per switch: hops to the nearest leaf, 0 for leaves with few end ports; TOPO_NONE: no leaf. */
void shape_ranks(const struct graph *g, uint32_t *ret);

static inline uint32_t shape_degree(const struct graph *g, uint32_t u)
{
	return g->first[u + 1] - g->first[u];
}
