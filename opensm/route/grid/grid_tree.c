// SPDX-License-Identifier: BSD-2-Clause
/*
 * One tree over all switches of a grid that goes with paths in dimension order.
 *
 * From the root a line of the first dimension, from each of its switches a line of the second, and
 * so on. Away from the root all turns are those of paths; towards it, and through it, they are not,
 * but the turns of both together never close a cycle: of the four that it would take, one is
 * missing, as long as the line of a dimension is in one layer only of the later ones.
 *
 * A missing switch brings early turns, and with them the fourth one: paths that turn beside it and
 * go on round its line meet multicast groups that come along this line and turn back. So no branch
 * runs along such a line: its switches are leaves that hang on neighbours in the lines beside it.
 */
#include "route/grid/grid_routes.h"

#include "route/proof/cdg.h"
#include "util/mem.h"

#define ROOTLESS UINT16_MAX

/* Do all edges from `sw` to coordinate `to` exist, this way round? */
static bool leads(const struct grid_ways *w, uint32_t sw, unsigned dim, unsigned to, unsigned side)
{
	const struct grid *grid = w->grid;
	unsigned size = grid->size[dim];

	for (unsigned step = 0; step < size && sw != TOPO_NONE && grid_at(grid, sw)[dim] != to;
	     step++)
		sw = grid_neighbour(w, sw, 2 * dim + side);
	return sw != TOPO_NONE && grid_at(grid, sw)[dim] == to;
}

/* The direction along the line to coordinate `to`: straight, or round the other side of a gap. */
static enum grid_step step_home(const struct grid_ways *w, uint32_t sw, unsigned dim, unsigned to)
{
	unsigned straight = grid_at(w->grid, sw)[dim] < to ? GRID_UP : GRID_DOWN;

	if (leads(w, sw, dim, to, straight))
		return straight;
	return leads(w, sw, dim, to, !straight) ? (enum grid_step)!straight : GRID_NONE;
}

/*
 * May `to` be the root's coordinate of dimension `dim`, those of later dimensions being `root`?
 * Then every switch that is on a line through these is connected with a switch there.
 */
static bool is_center(const struct grid_ways *w, const uint16_t *root, unsigned dim, unsigned to)
{
	const struct grid *grid = w->grid;

	for (uint32_t s = 0; s < grid->n; s++) {
		bool on = true;

		for (unsigned d = dim + 1; on && d < grid->n_dims; d++)
			on = grid_at(grid, s)[d] == root[d];
		if (on && grid_at(grid, s)[dim] != to && step_home(w, s, dim, to) == GRID_NONE)
			return false;
	}
	return true;
}

/* Coordinates of the root, from the last dimension on, each as near the middle as can be. */
static bool find_root(const struct grid_ways *w, uint16_t root[GRID_DIMS])
{
	const struct grid *grid = w->grid;

	for (unsigned d = grid->n_dims; d-- > 0;) {
		unsigned size = grid->size[d];

		root[d] = ROOTLESS;
		for (unsigned i = 0; i < size && root[d] == ROOTLESS; i++) {
			unsigned to = (size / 2 + (i % 2 ? size - (i + 1) / 2 : i / 2)) % size;

			if (is_center(w, root, d, to))
				root[d] = (uint16_t)to;
		}
		if (root[d] == ROOTLESS)
			return false;
	}
	return grid->switch_at[grid_index(grid, root)] != TOPO_NONE;
}

/* Lacks the last line of `sw` a switch? */
static bool is_broken(const struct grid_ways *w, uint32_t sw)
{
	const struct grid *grid = w->grid;
	unsigned dim = grid->n_dims - 1;
	uint32_t place = grid_index(grid, grid_at(grid, sw));

	for (unsigned at = 0; at < grid->size[dim]; at++)
		if (grid->switch_at[grid_place_at(grid, place, dim, at)] == TOPO_NONE)
			return true;
	return false;
}

/* The group that leads from a broken line to a whole one beside it; TOPO_NONE: there is none. */
static uint32_t group_aside(const struct grid_ways *w, uint32_t sw)
{
	for (unsigned way = 2 * (w->grid->n_dims - 1); way-- > 0;) {
		uint32_t to = grid_neighbour(w, sw, way);

		if (to != TOPO_NONE && !is_broken(w, to))
			return grid_group(w, sw, way);
	}
	return TOPO_NONE;
}

/* The group towards the root; TOPO_NONE: this is the root. */
static uint32_t group_home(const struct grid_ways *w, const uint16_t *root, uint32_t sw)
{
	const struct grid *grid = w->grid;
	unsigned d = grid->n_dims;
	uint32_t group = TOPO_NONE;

	while (d-- > 0 && grid_at(grid, sw)[d] == root[d])
		;
	if (d >= grid->n_dims)
		return TOPO_NONE;
	if (grid->n_missing && d + 1 == grid->n_dims && is_broken(w, sw))
		group = group_aside(w, sw);
	if (group == TOPO_NONE)
		group = grid_group(w, sw, 2 * d + step_home(w, sw, d, root[d]));
	return group;
}

uint8_t *grid_tree(const struct grid_ways *w)
{
	const struct grid *grid = w->grid;
	uint16_t root[GRID_DIMS];
	uint8_t *up;

	if (!grid->n || !find_root(w, root))
		return NULL;
	up = xcalloc(grid->n, 1);
	for (uint32_t s = 0; s < grid->n; s++) {
		uint32_t group = group_home(w, root, s);

		if (group != TOPO_NONE)
			up[s] = w->g->ports[w->g->groups[group].first_port];
	}
	return up;
}

bool grid_tree_fits(const struct routes *r, struct cdg *g)
{
	struct mcast_tree *tree = mcast_tree_of(r->topo, r->master_tree, NULL);
	bool ok = cdg_is_acyclic(g) && cdg_add_tree(g, tree, 0) &&
		  cdg_add_tree(g, tree, 8);

	free(tree);
	return ok;
}
