// SPDX-License-Identifier: BSD-2-Clause
/*
 * Up and down: a total order of the switches, and the distances of paths that never turn up again.
 *
 * Every cable between two switches has a higher and a lower end. A path that goes up, then down,
 * and never up after down cannot be part of a cycle of channels that wait for each other, whatever
 * the graph: that is the whole proof, and it needs one order for all, not ranks with ties. The
 * order is made of levels (by distance to the hosts, or to the roots of an option), and such that
 * every pair of switches that cables connect has such a path: the essay is at the top of tree.c.
 */
#pragma once

#include "route/core/graph.h"
#include "util/mem.h"

struct tree_plan {
	/* by switch: 0 is the lowest; DISTANCE_NONE: none. NULL: no levels */
	const uint16_t *levels;
	/* break ties instead of GUIDs; the higher id is up */
	const struct route_guid_id *ids;
	uint32_t n_ids;
	const struct routes *previous; /* routes whose order is kept if it still fits; NULL: none */
};

struct tree {
	uint32_t n;
	uint32_t *place;    /* by switch: position in the order, 0 is the highest */
	uint32_t *order;    /* switches from the highest to the lowest */
	/* number of switches that levels alone would leave without a path to all others */
	uint32_t n_below;
	struct arena memory;
};

struct tree *tree_new(const struct graph *g, const struct tree_plan *plan);
struct tree *tree_free(struct tree *t);
FREEP(tree_free, struct tree)

/* The percentage of cables between switches that join adjacent levels; 100 if there are none. */
unsigned tree_levelled(const struct graph *g, const uint16_t *levels);
/* Levels from roots: the farthest switch has 0, roots the most. False: no root is in the fabric. */
bool tree_levels_from_roots(const struct graph *g, const struct route_guids *roots, uint16_t *ret);
/*
 * Lists in `note` the switches that are as far from the leaves as the highest root, but are no
 * roots: paths go up to roots, so these carry nothing. False: none; the note is untouched.
 */
bool tree_note_roots(const struct graph *g, const struct route_guids *roots, char *note,
		     size_t size);
/* Fills the hops to the nearest switch with an end port. */
void tree_levels_from_edge(const struct graph *g, uint16_t *ret);

/* Marks every group of `g` as leading up or down. */
void tree_orient(const struct tree *t, struct graph *g);

/*
 * Distances in an oriented graph along paths up and then down; rows as in distances_to(). A path
 * goes down only if that is shorter, or if a switch above relies on it; if it is as long, it may
 * (graph_is_path()).
 */
struct distances *tree_distances(const struct tree *t, const struct graph *g,
				 const uint32_t *targets, uint32_t n, unsigned threads,
				 const atomic_bool *cancelled);
