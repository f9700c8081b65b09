// SPDX-License-Identifier: BSD-2-Clause
/*
 * The dor engine: shortest paths, dimension by dimension.
 *
 * Where switches are a grid (grid.h) its coordinates are the dimensions, in the order of the ports
 * that lead there (port_search_ordering_file says which ports come first), and VLs keep rings from
 * blocking themselves (grid_routes.c). Elsewhere the lowest port on a shortest path stands for the
 * lowest dimension, which is right for fabrics cabled in order and for no others: routes_check()
 * says which it is.
 */
#include "route/select/engines.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "route/grid/grid_routes.h"
#include "route/direct/direct_routes.h"
#include "route/core/unassigned.h"
#include "route/shape/recognise.h"
#include "util/mem.h"

/* For every port of every switch (entries of topo->ports): its turn in the search order. */
static uint8_t *find_ranks(const struct topo *t, const struct route_options *o)
{
	uint8_t *rank = xcalloc(topo_n_entries(t), 1);

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++)
			rank[t->switches[s].first_port + p] = (uint8_t)p;
	for (uint32_t i = o->n_port_order; i-- > 0;) {
		const struct route_port_order *order = &o->port_order[i];
		uint32_t s = topo_find_switch(t, order->guid);
		uint8_t *of = s == TOPO_NONE ? NULL : rank + t->switches[s].first_port;
		unsigned next = 1;

		if (!of)
			continue;
		memset(of, 0, t->switches[s].n_ports + 1u);
		for (unsigned k = 0; k < order->n; k++)
			if (order->ports[k] && order->ports[k] <= t->switches[s].n_ports &&
			    !of[order->ports[k]])
				of[order->ports[k]] = (uint8_t)next++;
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++)
			if (!of[p])
				of[p] = (uint8_t)next++;
	}
	return rank;
}

static uint8_t first_rank(const struct graph *g, const uint8_t *rank, uint32_t s,
			  const struct graph_group *to)
{
	uint8_t best = UINT8_MAX;

	for (unsigned i = 0; i < to->n_ports; i++)
		best = MIN(best,
			   rank[g->topo->switches[s].first_port + g->ports[to->first_port + i]]);
	return best;
}

/* The grid with its dimensions in the order of ports. */
static struct grid *ordered_grid(const struct graph *g, const struct grid *grid,
				 const uint8_t *rank)
{
	struct grid_view_dim dims[GRID_DIMS] = { 0 };
	uint64_t sum[GRID_DIMS] = { 0 }, n[GRID_DIMS] = { 0 };
	unsigned place[GRID_DIMS];

	for (uint32_t s = 0; s < g->n; s++)
		GRAPH_EACH(g, s, edge) {
			unsigned d = grid_first_dim(grid, s, edge->to);

			assert(d < grid->n_dims);
			sum[d] += first_rank(g, rank, s, edge);
			n[d]++;
		}
	grid_rank_dims(sum, n, grid->n_dims, place);
	for (unsigned d = 0; d < grid->n_dims; d++)
		dims[place[d]].first = dims[place[d]].second = (uint8_t)d;
	return grid_view(grid, dims, grid->n_dims);
}

/* Input of all rows of a fabric that is no grid. */
struct by_port {
	const struct route_job *job;
	const struct graph *g;
	struct distances *distances;
	uint8_t *rank; /* per group: of its first port */
};

/* The group of `s` that leads towards `to`; TOPO_NONE: there is no path. */
static uint32_t group_towards(const struct by_port *b, uint32_t s, uint32_t to)
{
	const struct graph *g = b->g;
	uint32_t best = TOPO_NONE;

	for (uint32_t i = g->first[s]; i < g->first[s + 1]; i++) {
		uint16_t rest = distances_from(b->distances, g->groups[i].to)[to];

		if (rest == DISTANCE_NONE ||
		    rest + (unsigned)g->groups[i].weight != distances_from(b->distances, s)[to])
			continue;
		if (best == TOPO_NONE || b->rank[i] < b->rank[best])
			best = i;
	}
	return best;
}

/* The LIDs of a port (0: of the switch), here if `own`; its number is the turn among cables. */
static void fill_lids(const struct by_port *b, uint32_t s, uint8_t *row, uint32_t group, bool own,
		      uint8_t port, lid_t lid, uint8_t lmc)
{
	const struct graph_group *by = group == TOPO_NONE ? NULL : &b->g->groups[group];

	for (unsigned k = 0; lid && k < 1u << lmc; k++)
		row[lid + k] = own  ? port
			       : by ? graph_port_in_turn(b->g, s, by, port + k)
				    : LFT_NO_PORT;
}

static void fill_row(const struct by_port *b, uint8_t *row, uint32_t s, uint32_t *towards)
{
	const struct topo *t = b->job->topo;

	for (uint32_t to = 0; to < t->n_switches; to++) {
		towards[to] = group_towards(b, s, to);
		fill_lids(b, s, row, towards[to], to == s, 0, t->switches[to].lid,
			  t->switches[to].lmc);
	}
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		const struct topo_host *host = &t->hosts[h];

		if (host->sw != TOPO_NONE)
			fill_lids(b, s, row, towards[host->sw], host->sw == s, host->sw_port,
				  host->lid, host->lmc);
	}
}

static void fill_by_port(const struct by_port *b, struct routes *r)
{
#pragma omp parallel num_threads(route_threads(b->job))
	{
		uint32_t *towards = xcalloc(b->g->n, sizeof(*towards));

#pragma omp for schedule(dynamic, 4)
		for (uint32_t s = 0; s < b->g->n; s++)
			if (!is_cancelled(b->job->cancelled))
				fill_row(b, routes_row(r, s), s, towards);
		free(towards);
	}
}

static struct routes *routes_by_port(const struct route_job *job, const struct graph *g,
				     const uint8_t *rank, const char *no_grid)
{
	struct by_port b = {
		.job = job, .g = g,
		.distances = distances_new(g, route_threads(job), job->cancelled),
	};
	struct routes *r;

	if (!b.distances)
		return NULL;
	b.rank = xcalloc(g->first[g->n], 1);
	for (uint32_t s = 0; s < g->n; s++)
		for (uint32_t i = g->first[s]; i < g->first[s + 1]; i++)
			b.rank[i] = first_rank(g, rank, s, &g->groups[i]);
	r = routes_new(job->topo, "dor", unassigned_top(job->topo, job->previous));
	fill_by_port(&b, r);
	unassigned_keep(r, job->previous);
	snprintf(r->note, sizeof(r->note), "no grid (%s): by the order of ports alone", no_grid);
	distances_free(b.distances);
	free(b.rank);
	return r;
}

/* Rows in which all switches are joined by cables are dimensions too. NULL: no HyperX. */
static struct routes *routes_of_hyperx(const struct route_job *job, const struct graph *g)
{
	_cleanup_(shape_freep) struct shape *shape = shape_find(g);
	struct routes *r = NULL;
	char why[128];

	if (shape->kind == SHAPE_HYPERX)
		r = hyperx_routes(job, g, shape, why, sizeof(why));
	if (r)
		snprintf(r->engine, sizeof(r->engine), "dor");
	return r;
}

static struct routes *routes_of_grid(const struct route_job *job, const struct graph *g,
				     const struct grid *grid, char *why, size_t why_len)
{
	_cleanup_free_ uint8_t *rank = find_ranks(job->topo, &job->options);
	_cleanup_(grid_freep) struct grid *folded = grid_fold(grid);
	_cleanup_(grid_freep) struct grid *ordered = ordered_grid(g, folded, rank);

	return grid_routes(job, &(struct grid_plan){ .engine = "dor", .grid = ordered, .graph = g },
			   why, why_len);
}

/* Routes of a core that is a grid or a HyperX; NULL: it is neither, or cannot be routed. */
static struct routes *routes_of_core(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(job->topo, &job->options);
	_cleanup_(grid_freep) struct grid *grid = grid_find(g, why, why_len);

	return grid ? routes_of_grid(job, g, grid, why, why_len) : routes_of_hyperx(job, g);
}

struct routes *dor_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = NULL;
	_cleanup_(grid_freep) struct grid *grid = NULL;
	_cleanup_(tails_freep) struct tails *tails = NULL;
	_cleanup_free_ uint8_t *rank = NULL;
	struct routes *r;
	char no_grid[128];

	if (!route_is_possible(job, why, why_len))
		return NULL;
	g = graph_new(job->topo, &job->options);
	grid = grid_find(g, no_grid, sizeof(no_grid));
	if (grid)
		return routes_of_grid(job, g, grid, why, why_len);
	r = routes_of_hyperx(job, g);
	tails = r ? NULL : shape_tails_of_grid(g, &job->options);
	if (tails)
		r = tails_compute(job, tails, routes_of_core, why, why_len);
	if (r)
		return r;
	rank = find_ranks(job->topo, &job->options);
	return routes_by_port(job, g, rank, no_grid);
}
