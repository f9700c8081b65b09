// SPDX-License-Identifier: BSD-2-Clause
/* Lists the dependencies of whole lines, and adds others in a set without cycles (cdg_order.h). */
#include "route/grid/grid_detour.h"

#include <assert.h>

#include "route/vl/cdg_order.h"
#include "util/mem.h"

#define SIDES 2

struct grid_waits {
	const struct grid_ways *w;
	const struct grid_vl_plan *l;
	unsigned n_ways, n_vls; /* of one set */
	uint32_t *edge; /* [switch * n_ways + way]: its channel on VL 0, CHANNEL_NONE: no edge */
	struct cdg_channels *channels; /* one per edge and VL */
	struct cdg_order *set;
	/* the path at hand */
	unsigned sl, in; /* in: 1 + dimension; 0: it begins */
	uint32_t last;	 /* channel, or CHANNEL_NONE */
};

static uint32_t edge_of(const struct grid_waits *g, uint32_t s, unsigned way)
{
	return g->edge[(size_t)s * g->n_ways + way];
}

/* Fills in `edge`, too. */
static struct cdg_channels *number_channels(struct grid_waits *g)
{
	struct cdg_channels *c;
	uint32_t n = 0;

	for (size_t i = 0; i < (size_t)g->w->g->n * g->n_ways; i++) {
		g->edge[i] = g->w->group[i] == TOPO_NONE ? CHANNEL_NONE : n;
		n += g->w->group[i] == TOPO_NONE ? 0 : g->n_vls;
	}
	c = cdg_channels_open(g->w->g->n, n);
	n = 0;
	for (uint32_t s = 0; s < c->n_switches; s++) {
		for (unsigned way = 0; way < g->n_ways; way++) {
			uint32_t to = grid_neighbour(g->w, s, way);

			for (unsigned vl = 0; to != TOPO_NONE && vl < g->n_vls; vl++) {
				c->to[n] = to;
				c->back[n++] = edge_of(g, to, way ^ 1) + vl;
			}
		}
		c->first[s + 1] = n;
	}
	cdg_channels_close(c);
	return c;
}

/* The order to begin with: dimensions in order, VLs in order, lines from their beginnings. */
static void place_channels(struct grid_waits *g)
{
	_cleanup_free_ uint32_t *order = xcalloc(g->channels->n + 1u, sizeof(*order));
	const struct grid *grid = g->w->grid;
	uint32_t n = 0;

	for (unsigned d = 0; d < grid->n_dims; d++)
		for (unsigned vl = 0; vl < g->n_vls; vl++)
			for (unsigned i = 0; i < SIDES * grid->size[d]; i++) {
				unsigned side = i % SIDES,
					 at = side == GRID_UP ? i / SIDES
							      : grid->size[d] - 1 - i / SIDES;

				for (uint32_t s = 0; s < grid->n; s++) {
					uint32_t edge = edge_of(g, s, SIDES * d + side);

					if (edge != CHANNEL_NONE && grid_at(grid, s)[d] == at)
						order[n++] = edge + vl;
				}
			}
	assert(n == g->channels->n);
	cdg_order_arrange(g->set, order);
}

/* ---- paths of the grid without damage -------------------------------------------------------- */

/* VLs that paths along one line begin and end with: [(switch * n_ways + way)], a bit each. */
struct ends_of_lines {
	uint16_t *first, *last; /* `last` by the way it came */
};

/* One path along a line, if all of it is there. */
static bool add_line(struct grid_waits *g, struct ends_of_lines *e, uint32_t from, unsigned way,
		     unsigned hops, unsigned sl)
{
	unsigned class = 1 + way / SIDES;
	uint32_t at = from, end = from, last = CHANNEL_NONE;

	for (unsigned i = 0; i < hops; i++) {
		end = grid_neighbour(g->w, end, way);
		if (end == TOPO_NONE)
			return true;
	}
	for (unsigned i = 0; i < hops; i++) {
		unsigned vl = grid_vl(g->l, i ? class : 0, class, sl);
		uint32_t channel = edge_of(g, at, way) + vl;

		if (i && !cdg_order_add(g->set, last, channel))
			return false;
		if (!i)
			e->first[(size_t)from * g->n_ways + way] |= (uint16_t)(1u << vl);
		if (i + 1 == hops)
			e->last[(size_t)end * g->n_ways + way] |= (uint16_t)(1u << vl);
		last = channel;
		at = g->channels->to[channel];
	}
	return true;
}

/* All paths along the line of one dimension that begin at a switch. */
static bool add_lines_from(struct grid_waits *g, struct ends_of_lines *e, uint32_t s, unsigned d)
{
	const struct grid *grid = g->w->grid;
	unsigned size = grid->size[d], from = grid_at(grid, s)[d];

	for (unsigned to = 0; to < size; to++)
		for (unsigned side = 0; side < SIDES; side++) {
			unsigned up = (to + size - from) % size,
				 hops = side == GRID_UP ? up : size - up;
			bool crosses = side == GRID_UP ? to < from : to > from;
			unsigned sl = crosses && g->l->bit_of[d] != GRID_NO_BIT
					      ? 1u << g->l->bit_of[d]
					      : 0;

			if (to == from || (!grid->wraps[d] && (to > from) != (side == GRID_UP)) ||
			    (grid->wraps[d] && 2 * hops > size))
				continue;
			if (grid->wraps[d] && 2 * hops == size &&
			    grid_either(size, from, 0) != side &&
			    grid_either(size, from, 1) != side)
				continue;
			if (!add_line(g, e, s, SIDES * d + side, hops, sl))
				return false;
		}
	return true;
}

/* From the line of one dimension into those of later ones. */
static bool add_turns(struct grid_waits *g, const struct ends_of_lines *e, uint32_t s)
{
	for (unsigned in = 0; in < g->n_ways; in++)
		for (unsigned out = in / SIDES * SIDES + SIDES; out < g->n_ways; out++)
			for (unsigned a = 0; a < g->n_vls; a++)
				for (unsigned b = 0; b < g->n_vls; b++) {
					uint32_t before = grid_neighbour(g->w, s, in ^ 1);

					if (!(e->last[(size_t)s * g->n_ways + in] >> a & 1) ||
					    !(e->first[(size_t)s * g->n_ways + out] >> b & 1))
						continue;
					if (!cdg_order_add(g->set, edge_of(g, before, in) + a,
							   edge_of(g, s, out) + b))
						return false;
				}
	return true;
}

static bool add_all(struct grid_waits *g)
{
	size_t n = (size_t)g->w->g->n * g->n_ways;
	_cleanup_free_ uint16_t *first = xcalloc(n, sizeof(*first));
	_cleanup_free_ uint16_t *last = xcalloc(n, sizeof(*last));
	struct ends_of_lines e = { .first = first, .last = last };
	bool ok = true;

	for (uint32_t s = 0; ok && s < g->w->g->n; s++)
		for (unsigned d = 0; ok && d < g->w->grid->n_dims; d++)
			ok = add_lines_from(g, &e, s, d);
	for (uint32_t s = 0; ok && s < g->w->g->n; s++)
		ok = add_turns(g, &e, s);
	return ok;
}

struct grid_waits *grid_waits_new(const struct grid_ways *w, const struct grid_vl_plan *l)
{
	struct grid_waits *g = xcalloc(1, sizeof(*g));

	g->w = w;
	g->l = l;
	g->n_ways = SIDES * w->grid->n_dims;
	g->n_vls = grid_vls(l);
	g->edge = xcalloc((size_t)w->g->n * g->n_ways + 1, sizeof(*g->edge));
	g->channels = number_channels(g);
	g->set = cdg_order_new(g->channels);
	place_channels(g);
	if (!add_all(g))
		return grid_waits_free(g);
	cdg_order_forget(g->set);
	return g;
}

struct grid_waits *grid_waits_free(struct grid_waits *g)
{
	if (!g)
		return NULL;
	cdg_order_free(g->set);
	cdg_channels_free(g->channels);
	FREE_ALL(g->edge, g);
	return NULL;
}

/* ---- one path more --------------------------------------------------------------------------- */

void grid_waits_begin(struct grid_waits *g, unsigned sl)
{
	g->sl = sl;
	g->in = 0;
	g->last = CHANNEL_NONE;
}

bool grid_waits_go(struct grid_waits *g, uint32_t from, unsigned way, bool add)
{
	unsigned out = 1 + way / SIDES;
	uint32_t channel = edge_of(g, from, way) + grid_vl(g->l, g->in, out, g->sl);

	if (g->last != CHANNEL_NONE &&
	    !(add ? cdg_order_add(g->set, g->last, channel)
		  : cdg_order_look(g->set, g->last, channel) == CDG_TAKEN))
		return false;
	g->last = channel;
	g->in = out;
	return true;
}

uint32_t grid_waits_added(const struct grid_waits *g)
{
	return cdg_order_mark(g->set);
}

void grid_waits_undo(struct grid_waits *g, uint32_t added)
{
	cdg_order_undo(g->set, added);
}
