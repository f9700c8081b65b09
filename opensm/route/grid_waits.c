// SPDX-License-Identifier: BSD-2-Clause
/* The dependencies of whole lines, enumerated, and a set without cycles (acyclic.h) of them and of what is added. */
#include "route/grid_waits.h"

#include <string.h>

#include "route/acyclic.h"
#include "util/mem.h"

#define SIDES 2

struct grid_waits {
	const struct grid_ways *w;
	const struct grid_lanes *l;
	unsigned n_ways, n_vls; /* of one set */
	uint32_t *edge; /* [switch * n_ways + way]: its channel on lane 0, CHANNEL_NONE: no edge */
	struct channels channels; /* one per edge and lane */
	struct acyclic *set;
	uint32_t n_added;
	size_t cap;
	uint32_t (*added)[2];
	/* the path at hand */
	unsigned sl, in; /* in: 1 + dimension; 0: it begins */
	uint32_t last;	 /* channel, or CHANNEL_NONE */
};

static void number_channels(struct grid_waits *g)
{
	struct channels *c = &g->channels;
	uint32_t n = g->w->g->n;

	c->n_switches = n;
	c->first = xcalloc(n + 1u, sizeof(*c->first));
	for (uint32_t s = 0; s < n; s++) {
		c->first[s] = c->n;
		for (unsigned way = 0; way < g->n_ways; way++) {
			bool exists = g->w->group[(size_t)s * g->n_ways + way] != TOPO_NONE;

			g->edge[(size_t)s * g->n_ways + way] = exists ? c->n : CHANNEL_NONE;
			c->n += exists ? g->n_vls : 0;
		}
	}
	c->first[n] = c->n;
}

static void connect_channels(struct grid_waits *g)
{
	struct channels *c = &g->channels;

	c->to = xcalloc(MAX(c->n, 1u), sizeof(*c->to));
	c->back = xcalloc(MAX(c->n, 1u), sizeof(*c->back));
	c->deps = xcalloc(c->n + 1u, sizeof(*c->deps));
	for (uint32_t s = 0; s < c->n_switches; s++)
		for (unsigned way = 0; way < g->n_ways; way++) {
			uint32_t group = g->w->group[(size_t)s * g->n_ways + way], to;

			for (unsigned vl = 0; group != TOPO_NONE && vl < g->n_vls; vl++) {
				uint32_t id = g->edge[(size_t)s * g->n_ways + way] + vl;

				to = g->w->g->groups[group].to;
				c->to[id] = to;
				c->back[id] = g->edge[(size_t)to * g->n_ways + (way ^ 1)] + vl;
			}
		}
	for (uint32_t id = 0; id < c->n; id++)
		c->deps[id + 1] = c->deps[id] + c->first[c->to[id] + 1] - c->first[c->to[id]];
}

/* Where a channel stands at first: dimensions in order, lanes in order, lines from their beginnings. */
static void place_channels(struct grid_waits *g)
{
	const struct grid *grid = g->w->grid;
	uint32_t next = 0;

	for (unsigned d = 0; d < grid->n_dims; d++)
		for (unsigned vl = 0; vl < g->n_vls; vl++)
			for (unsigned i = 0; i < SIDES * grid->size[d]; i++) {
				unsigned side = i % SIDES, at = side == GRID_UP ? i / SIDES : grid->size[d] - 1 - i / SIDES;

				for (uint32_t s = 0; s < grid->n; s++) {
					uint32_t edge = g->edge[(size_t)s * g->n_ways + SIDES * d + side];

					if (edge != CHANNEL_NONE && grid_at(grid, s)[d] == at)
						g->set->place[edge + vl] = next++;
				}
			}
}
/* ---- paths of the grid without damage -------------------------------------------------------- */

/* Lanes that paths along one line begin and end with: [(switch * n_ways + way)], a bit each. */
struct ends_of_lines {
	uint16_t *first, *last; /* `last` by the way it came */
};

static bool add(struct grid_waits *g, uint32_t channel, uint32_t then)
{
	return acyclic_add(g->set, channel, then);
}

/* One path along a line, if all of it is there. */
static bool add_line(struct grid_waits *g, struct ends_of_lines *e, uint32_t from, unsigned way, unsigned hops, unsigned sl)
{
	unsigned class = 1 + way / SIDES;
	uint32_t at = from, end = from, last = CHANNEL_NONE;

	for (unsigned i = 0; i < hops; i++) {
		uint32_t group = g->w->group[(size_t)end * g->n_ways + way];

		if (group == TOPO_NONE)
			return true;
		end = g->w->g->groups[group].to;
	}
	for (unsigned i = 0; i < hops; i++) {
		unsigned vl = grid_vl(g->l, i ? class : 0, class, sl);
		uint32_t channel = g->edge[(size_t)at * g->n_ways + way] + vl;

		if (i ? !add(g, last, channel) : 0)
			return false;
		if (!i)
			e->first[(size_t)from * g->n_ways + way] |= (uint16_t)(1u << vl);
		if (i + 1 == hops)
			e->last[(size_t)end * g->n_ways + way] |= (uint16_t)(1u << vl);
		last = channel;
		at = g->channels.to[channel];
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
			unsigned up = (to + size - from) % size, hops = side == GRID_UP ? up : size - up;
			bool crosses = side == GRID_UP ? to < from : to > from;
			unsigned sl = crosses && g->l->bit_of[d] != GRID_NO_BIT ? 1u << g->l->bit_of[d] : 0;

			if (to == from || (!grid->wraps[d] && (to > from) != (side == GRID_UP)) ||
			    (grid->wraps[d] && 2 * hops > size))
				continue;
			if (grid->wraps[d] && 2 * hops == size && grid_either(size, from, 0) != side &&
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
					uint32_t before, group = g->w->group[(size_t)s * g->n_ways + (in ^ 1)];

					if (!(e->last[(size_t)s * g->n_ways + in] >> a & 1) ||
					    !(e->first[(size_t)s * g->n_ways + out] >> b & 1))
						continue;
					before = g->w->g->groups[group].to;
					if (!add(g, g->edge[(size_t)before * g->n_ways + in] + a,
						 g->edge[(size_t)s * g->n_ways + out] + b))
						return false;
				}
	return true;
}

static bool add_all(struct grid_waits *g)
{
	size_t n = (size_t)g->w->g->n * g->n_ways;
	struct ends_of_lines e = { xcalloc(n, sizeof(*e.first)), xcalloc(n, sizeof(*e.last)) };
	bool ok = true;

	for (uint32_t s = 0; ok && s < g->w->g->n; s++)
		for (unsigned d = 0; ok && d < g->w->grid->n_dims; d++)
			ok = add_lines_from(g, &e, s, d);
	for (uint32_t s = 0; ok && s < g->w->g->n; s++)
		ok = add_turns(g, &e, s);
	free(e.first);
	free(e.last);
	return ok;
}

struct grid_waits *grid_waits_new(const struct grid_ways *w, const struct grid_lanes *l)
{
	struct grid_waits *g = xcalloc(1, sizeof(*g));

	g->w = w;
	g->l = l;
	g->n_ways = SIDES * w->grid->n_dims;
	g->n_vls = grid_vls(l);
	g->edge = xcalloc((size_t)w->g->n * g->n_ways + 1, sizeof(*g->edge));
	number_channels(g);
	connect_channels(g);
	g->set = acyclic_new(&g->channels);
	place_channels(g);
	return add_all(g) ? g : grid_waits_free(g);
}

struct grid_waits *grid_waits_free(struct grid_waits *g)
{
	if (!g)
		return NULL;
	acyclic_free(g->set);
	free(g->channels.first);
	free(g->channels.to);
	free(g->channels.back);
	free(g->channels.deps);
	free(g->edge);
	free(g->added);
	free(g);
	return NULL;
}

void grid_waits_freep(struct grid_waits **g)
{
	*g = grid_waits_free(*g);
}

/* ---- one path more --------------------------------------------------------------------------- */

void grid_waits_begin(struct grid_waits *g, unsigned sl)
{
	g->sl = sl;
	g->in = 0;
	g->last = CHANNEL_NONE;
}

bool grid_waits_go(struct grid_waits *g, uint32_t from, unsigned way)
{
	unsigned out = 1 + way / SIDES;
	uint32_t channel = g->edge[(size_t)from * g->n_ways + way] + grid_vl(g->l, g->in, out, g->sl);

	if (g->last != CHANNEL_NONE && !g->set->has[channels_dep(&g->channels, g->last, channel)]) {
		if (!add(g, g->last, channel))
			return false;
		GROW(g->added, g->n_added + 1, g->cap);
		g->added[g->n_added][0] = g->last;
		g->added[g->n_added++][1] = channel;
	}
	g->last = channel;
	g->in = out;
	return true;
}

uint32_t grid_waits_added(const struct grid_waits *g)
{
	return g->n_added;
}

void grid_waits_undo(struct grid_waits *g, uint32_t added)
{
	while (g->n_added > added) {
		g->n_added--;
		acyclic_remove(g->set, g->added[g->n_added][0], g->added[g->n_added][1]);
	}
}
