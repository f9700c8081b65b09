// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engine torus-2QoS: paths by dimension, VLs by datelines, two levels of service, paths around
 * a missing switch that leave the service level of every path as it was.
 *
 * The place of switches in the grid is found from cables alone (grid.h); torus-2QoS.conf says which
 * of its dimensions is x, which direction is up, and where coordinates begin: a seed is a switch
 * and its neighbours. So a ring of four, which by its cables might as well be two dimensions of
 * two, needs both its neighbours named, unless nothing else is left for it to be. Without a
 * configuration the dimensions are in the order of ports and the datelines are at the switch with
 * the lowest GUID.
 *
 * Paths and VLs: grid_ways.c, grid_routes.c.
 */
#include "route/grid/torus.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "conf/lists/torus.h"
#include "route/select/engines.h"
#include "route/grid/grid_routes.h"
#include "route/shape/recognise.h"
#include "util/mem.h"

static const char axis_name[] = "xyz";

/* Which dimension(s) of the found grid an axis of the configuration is. */
struct match {
	const struct graph *g;
	const struct grid *grid;
	const struct torus_conf *conf;
	const struct torus_seed *seed; /* NULL: the file has none */
	uint32_t from;		       /* its switch */
	uint8_t first[3], second[3];   /* GRID_DIMS: open */
	bool taken[GRID_DIMS];
	char *why;
	size_t why_len;
	char shape[GRID_STRLEN]; /* of `grid`, in words */
};

/* Do the switches of the seed exist, and are they neighbours? */
static bool seed_is_there(const struct graph *g, const struct torus_seed *seed)
{
	uint32_t from = seed->from ? topo_find_switch(g->topo, seed->from) : TOPO_NONE;

	if (from == TOPO_NONE)
		return false;
	for (unsigned i = 0; i < 6; i++) {
		guid_t guid = seed->to[i / 2][i % 2];
		uint32_t to = guid ? topo_find_switch(g->topo, guid) : TOPO_NONE;

		if (guid && (to == TOPO_NONE || graph_find(g, from, to) == TOPO_NONE))
			return false;
	}
	return true;
}

static bool choose_seed(struct match *m)
{
	bool has_links = false;

	for (size_t i = 0; i < m->conf->n_seeds; i++) {
		has_links |= m->conf->seeds[i].from != 0;
		if (!seed_is_there(m->g, &m->conf->seeds[i]))
			continue;
		m->seed = &m->conf->seeds[i];
		m->from = topo_find_switch(m->g->topo, m->seed->from);
		return true;
	}
	return !has_links || route_refuse(m->why, m->why_len,
					  "no seed of torus_config is there with all its links");
}

static bool axis_folds(const struct match *m, unsigned axis)
{
	return m->conf->size[axis] == 4 && m->conf->wraps[axis];
}

/* May dimension `d` of what was found be this axis (or half of it)? */
static bool dimension_suits(const struct match *m, unsigned axis, unsigned d)
{
	if (m->taken[d])
		return false;
	if (axis_folds(m, axis))
		return m->grid->size[d] == 2;
	return m->grid->size[d] == m->conf->size[axis] && m->grid->wraps[d] == m->conf->wraps[axis];
}

static bool take_dimension(struct match *m, unsigned axis, unsigned d)
{
	if (m->first[axis] == d || m->second[axis] == d)
		return true;
	if (!dimension_suits(m, axis, d))
		return route_refuse(m->why, m->why_len, "%c is no dimension of %u%s in a %s",
				    axis_name[axis], m->conf->size[axis],
				    m->conf->wraps[axis] ? " (ring)" : "", m->shape);
	if (m->first[axis] == GRID_DIMS) {
		m->first[axis] = (uint8_t)d;
	} else if (axis_folds(m, axis) && m->second[axis] == GRID_DIMS) {
		m->second[axis] = (uint8_t)d;
	} else {
		return route_refuse(m->why, m->why_len,
				    "the two links of %c lead into two dimensions",
				    axis_name[axis]);
	}
	m->taken[d] = true;
	return true;
}

/* Dimensions that links of the seed lead into. */
static bool take_links(struct match *m)
{
	for (unsigned i = 0; m->seed && i < 6; i++) {
		guid_t guid = m->seed->to[i / 2][i % 2];
		unsigned d;

		if (!guid)
			continue;
		d = grid_first_dim(m->grid, m->from, topo_find_switch(m->g->topo, guid));
		assert(d < m->grid->n_dims); /* seed_is_there(): there is a cable between the two */
		if (m->conf->size[i / 2] == 1)
			return route_refuse(m->why, m->why_len, "%c has a link and only one switch",
					    axis_name[i / 2]);
		if (!take_dimension(m, i / 2, d))
			return false;
	}
	return true;
}

/* How many dimensions the axis still lacks. */
static unsigned axis_lacks(const struct match *m, unsigned axis)
{
	return m->conf->size[axis] <= 1 ? 0
	       : (m->first[axis] == GRID_DIMS) +
			 (axis_folds(m, axis) && m->second[axis] == GRID_DIMS);
}

/* Dimensions no link names: with a seed if nothing else is left, else in the order of ports. */
static bool take_rest(struct match *m)
{
	for (unsigned axis = 0; axis < 3; axis++) {
		unsigned need = axis_lacks(m, axis), n = 0, others = 0;

		for (unsigned d = 0; d < m->grid->n_dims; d++)
			n += dimension_suits(m, axis, d);
		for (unsigned other = 0; other < 3; other++)
			others += other != axis && axis_lacks(m, other) &&
				  m->conf->size[other] == m->conf->size[axis] &&
				  m->conf->wraps[other] == m->conf->wraps[axis];
		if (!need)
			continue;
		if (m->seed && (n > need || others))
			return route_refuse(
				m->why, m->why_len,
				"the seed at line %u of torus_config leaves open what %c is%s",
				m->seed->line, axis_name[axis],
				axis_folds(m, axis) ? " (a ring of 4 needs both its links)" : "");
		for (unsigned d = 0; need && d < m->grid->n_dims; d++)
			if (dimension_suits(m, axis, d) && take_dimension(m, axis, d))
				need--;
		if (need)
			return route_refuse(m->why, m->why_len,
					    "torus_config says %c is %u%s, the cables are a %s",
					    axis_name[axis], m->conf->size[axis],
					    m->conf->wraps[axis] ? " (ring)" : "",
					    m->shape);
	}
	for (unsigned d = 0; d < m->grid->n_dims; d++)
		if (!m->taken[d])
			return route_refuse(m->why, m->why_len, "torus_config has fewer dimensions"
					    " than the cables, a %s", m->shape);
	return true;
}

/* Which way is up, and where 0 is; `view` is the torus without either. */
static bool orient_axis(const struct match *m, const struct grid *view, unsigned d, unsigned axis,
			struct grid_view_dim *ret)
{
	unsigned size = view->size[d], at = grid_at(view, m->from)[d];
	int sides[2] = { 0, 0 };

	for (unsigned minus = 0; minus < 2; minus++) {
		guid_t guid = m->seed->to[axis][minus];
		unsigned to = guid ? grid_at(view, topo_find_switch(m->g->topo, guid))[d] : at;
		bool up = view->wraps[d] ? to == (at + 1) % size : to > at;

		if (guid)
			sides[minus] = up != minus ? 1 : -1;
	}
	if (sides[0] && sides[1] && sides[0] != sides[1])
		return route_refuse(m->why, m->why_len, "plus and minus of %c go the same way",
				    axis_name[axis]);
	ret->flip = sides[0] + sides[1] < 0;
	if (view->wraps[d])
		ret->shift = (uint16_t)((2 * size - (ret->flip ? size - at : at) -
					 (unsigned)m->seed->dateline[axis]) %
					size);
	return true;
}

static struct grid *find_configured(struct match *m, uint8_t axes[GRID_DIMS])
{
	_cleanup_(grid_freep) struct grid *view = NULL;
	struct grid_view_dim dims[GRID_DIMS] = { 0 };
	unsigned n = 0;

	memset(m->first, GRID_DIMS, sizeof(m->first));
	memset(m->second, GRID_DIMS, sizeof(m->second));
	if (!choose_seed(m) || !take_links(m) || !take_rest(m))
		return NULL;
	for (unsigned axis = 0; axis < 3; axis++) {
		if (m->conf->size[axis] == 1)
			continue;
		axes[n] = (uint8_t)axis;
		dims[n].first = m->first[axis];
		dims[n++].second = axis_folds(m, axis) ? m->second[axis] : m->first[axis];
	}
	view = grid_view(m->grid, dims, n);
	for (unsigned d = 0; m->seed && d < n; d++)
		if (!orient_axis(m, view, d, axes[d], &dims[d]))
			return NULL;
	return grid_view(m->grid, dims, n);
}

/* Without a configuration: all rings, as long as three datelines are enough. */
static struct grid *find_plain(const struct grid *found, uint8_t axes[GRID_DIMS], char *why,
			       size_t why_len)
{
	struct grid *folded = grid_fold(found);
	unsigned n_rings = 0;

	for (unsigned d = 0; d < folded->n_dims; d++) {
		axes[d] = (uint8_t)(folded->n_dims <= 3 ? d : MIN(n_rings, 2u));
		n_rings += folded->wraps[d];
	}
	if (n_rings <= 3)
		return folded;
	snprintf(why, why_len, "%u rings, and datelines for 3", n_rings);
	return grid_free(folded);
}

/*
 * The torus of `g`: with a configuration its coordinates and dimensions in its order, those of one
 * switch left out (`axis[d]`: 0 x, 1 y, 2 z); else as the cables are. NULL and why. To be freed.
 */
static struct grid *torus_find(const struct graph *g, const struct torus_conf *conf,
			       uint8_t axis[GRID_DIMS], char *why, size_t why_len)
{
	_cleanup_(grid_freep) struct grid *found = NULL;
	char no_grid[128];
	struct match m = { .g = g, .conf = conf, .why = why, .why_len = why_len };

	found = grid_find(g, no_grid, sizeof(no_grid));
	if (!found)
		return route_refuse(why, why_len, "no torus: %s", no_grid);
	m.grid = found;
	grid_str(found, m.shape);
	return conf ? find_configured(&m, axis) : find_plain(found, axis, why, why_len);
}

/* Ranks of ports for parallel cables: those that port_order names come first. */
static void rank_ports(const struct torus_conf *conf, uint8_t rank[256])
{
	unsigned next = conf->n_order;

	for (unsigned p = 0; p < 256; p++)
		rank[p] = UINT8_MAX;
	for (unsigned i = 0; i < conf->n_order; i++)
		rank[conf->order[i]] = (uint8_t)i;
	for (unsigned p = 0; p < 256; p++)
		if (rank[p] == UINT8_MAX) {
			rank[p] = (uint8_t)next;
			next = MIN(next + 1, 254u);
		}
}

struct routes *torus_2qos_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(job->topo, &job->options);
	_cleanup_(grid_freep) struct grid *grid = NULL;
	_cleanup_(tails_freep) struct tails *tails = NULL;
	struct grid_plan plan = { .engine = "torus-2QoS", .graph = g, .datelines = true };
	uint8_t rank[256];

	if (job->options.torus_broken)
		return route_refuse(why, why_len, "torus_config cannot be used");
	grid = torus_find(g, job->options.torus, plan.dateline_bit, why, why_len);
	if (!grid) {
		tails = shape_tails_of_grid(g, &job->options);
		return tails ? tails_compute(job, tails, torus_2qos_compute, why, why_len) : NULL;
	}
	plan.grid = grid;
	if (job->options.torus && job->options.torus->n_order) {
		rank_ports(job->options.torus, rank);
		plan.port_rank = rank;
	}
	return grid_routes(job, &plan, why, why_len);
}

static uint32_t list_places(const struct grid *grid, const uint8_t *axis, struct torus_place **ret)
{
	uint32_t n = 0;

	if (grid->n_dims > 3)
		return 0;
	*ret = xcalloc(grid->n, sizeof(**ret));
	for (uint32_t p = 0; p < grid->n + grid->n_missing; p++) {
		uint32_t s = grid->switch_at[p];
		uint16_t at[3] = { 0 };

		for (unsigned d = 0; s != TOPO_NONE && d < grid->n_dims; d++)
			at[axis[d]] = grid_at(grid, s)[d];
		if (s != TOPO_NONE)
			(*ret)[n++] =
				(struct torus_place){ .sw = s, .x = at[0], .y = at[1], .z = at[2] };
	}
	return n;
}

/* The same places, with the switches numbered as in `t`. */
static uint32_t places_of_core(const struct topo *t, const struct topo *core,
			       const struct route_options *options, struct torus_place **ret)
{
	uint32_t n = torus_places(core, options, ret);

	for (uint32_t i = 0; i < n; i++)
		(*ret)[i].sw = topo_find_switch(t, core->switches[(*ret)[i].sw].guid);
	return n;
}

uint32_t torus_places(const struct topo *t, const struct route_options *options,
		      struct torus_place **ret)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(t, options);
	_cleanup_(tails_freep) struct tails *tails = NULL;
	_cleanup_(grid_freep) struct grid *grid = NULL;
	uint8_t axis[GRID_DIMS];
	char why[160];

	*ret = NULL;
	grid = torus_find(g, options->torus, axis, why, sizeof(why));
	if (grid)
		return list_places(grid, axis, ret);
	tails = shape_tails_of_grid(g, options);
	return tails ? places_of_core(t, tails->core, options, ret) : 0;
}
