// SPDX-License-Identifier: BSD-2-Clause
/*
 * The lash engine: one shortest path per pair of switches, and pairs dealt out to lanes so that none can
 * lock up. There and back share a lane, so an answer may use the SL of the question.
 *
 * All LIDs of a switch use one path, so tables and lanes are small: switches by switches. Paths are chosen
 * by load first (courses.c); if the pairs do not fit in the lanes that there are, dimension by dimension where
 * switches are a grid (with do_mesh_analysis, or rings, that is tried first), and then by one order, two,
 * and so on, until they do. If they never do there and back together, each way gets a lane of its own.
 *
 * lash_start_vl: SLs and lanes begin there.
 */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "route/courses.h"
#include "route/engines.h"
#include "route/layers.h"
#include "route/roll.h"
#include "util/mem.h"

struct lash {
	const struct route_job *job;
	const struct topo *topo;
	uint32_t n;
	struct route_options options; /* those that mean something here */
	struct graph *graph;
	struct distances *distances;
	struct roll *roll;
	uint32_t *columns, *weights; /* every switch is a column; what it weighs is its LIDs */
	uint32_t *ends;		     /* columns that paths lead to */
	uint32_t n_ends;
	uint8_t *ports;		     /* ports[from * n + to] */
	uint16_t *hints;
	struct layers *layers;
	unsigned threads, most;
	unsigned limit, needed; /* lanes to fill before giving up; the fewest that it came to */
};

static void lash_done(struct lash *l)
{
	graph_free(l->graph);
	distances_free(l->distances);
	roll_free(l->roll);
	free(l->columns);
	free(l->weights);
	free(l->ends);
	free(l->ports);
	free(l->hints);
	layers_free(l->layers);
}

static bool is_cancelled(const struct route_job *job)
{
	return job->cancelled && atomic_load_explicit(job->cancelled, memory_order_relaxed);
}

static bool lash_begin(struct lash *l)
{
	const struct route_options *o = &l->job->options;

	l->topo = l->job->topo;
	l->n = l->topo->n_switches;
	l->threads = l->job->threads ? l->job->threads : (unsigned)omp_get_max_threads();
	l->options = (struct route_options){ .weights = o->weights, .n_weights = o->n_weights };
	l->graph = graph_new(l->topo, &l->options);
	l->distances = distances_new(l->graph, l->threads, l->job->cancelled);
	if (!l->distances)
		return false;
	l->roll = roll_new(l->topo, &l->options);
	l->columns = xcalloc(l->n, sizeof(*l->columns));
	l->weights = xcalloc(l->n, sizeof(*l->weights));
	l->ends = xcalloc(l->n, sizeof(*l->ends));
	l->ports = xcalloc(l->n, l->n);
	l->hints = xcalloc((size_t)l->n * l->n, sizeof(*l->hints));
	for (uint32_t i = 0; i < l->roll->n; i++)
		l->weights[l->roll->at[i]]++;
	for (uint32_t s = 0; s < l->n; s++) {
		l->columns[s] = s;
		if (l->weights[s])
			l->ends[l->n_ends++] = s;
	}
	return true;
}

static bool deal(struct lash *l, bool both_ways, bool hints)
{
	layers_free(l->layers);
	l->layers = layers_new(&(struct layers_job){
		.topo = l->topo, .n_columns = l->n_ends, .at = l->ends, .keys = l->ends, .row_size = l->n,
		.ports = l->ports, .sources = l->roll->has_sources, .both_ways = both_ways,
		.hints = hints ? l->hints : NULL, .most = l->most, .limit = l->limit,
		.cancelled = l->job->cancelled,
	});
	if (!l->layers)
		return false;
	if (l->layers->needed <= l->limit)
		l->needed = MIN(l->needed, l->layers->needed);
	return l->layers->needed <= l->most;
}

static void choose_paths(struct lash *l, const struct grid *grid, unsigned n_orders)
{
	memset(l->hints, 0, (size_t)l->n * l->n * sizeof(*l->hints));
	courses_run(&(struct courses_job){
		.graph = l->graph, .distances = l->distances, .n_columns = l->n, .at = l->columns,
		.keys = l->columns, .weights = l->weights, .row_size = l->n,
		.sources = l->roll->sources, .grid = grid, .both_ways = true, .n_orders = n_orders,
	 .part = true, .rounds = 3,
		.threads = l->threads,
		.cancelled = l->job->cancelled, .ports = l->ports, .hints = l->hints,
	});
}

/* What there and back obey both. */
static void pair_hints(struct lash *l)
{
	for (uint32_t a = 0; a < l->n; a++)
		for (uint32_t b = 0; b < a; b++) {
			uint16_t both = l->hints[(size_t)a * l->n + b] & l->hints[(size_t)b * l->n + a];

			l->hints[(size_t)a * l->n + b] = l->hints[(size_t)b * l->n + a] = both;
		}
}

static bool try(struct lash *l, const struct grid *grid, unsigned n_orders, bool both_ways)
{
	if (is_cancelled(l->job))
		return false;
	choose_paths(l, grid, n_orders);
	if (both_ways)
		pair_hints(l);
	return !is_cancelled(l->job) && deal(l, both_ways, n_orders);
}

/* On rings paths chosen by load hardly ever fit, and finding that out takes long. */
static bool has_rings(const struct grid *grid)
{
	bool any = false;

	for (unsigned d = 0; d < grid->n_dims; d++)
		any |= grid->wraps[d];
	return any;
}

static bool find_lanes(struct lash *l)
{
	_cleanup_(grid_freep) struct grid *grid = NULL;
	char why[80];
	bool first;

	grid = grid_find(l->graph, why, sizeof(why));
	first = grid && (l->job->options.do_mesh_analysis || has_rings(grid));
	if (!first && try(l, NULL, 0, true))
		return true;
	if (grid && try(l, grid, 0, true))
		return true;
	if (first && try(l, NULL, 0, true))
		return true;
	for (unsigned both = 2; both-- > 0;) {
		for (unsigned n = 1; n <= l->most; n++)
			if (try(l, NULL, n, both))
				return true;
		if (both && grid && try(l, grid, 0, false))
			return true;
	}
	l->limit = LAYERS_MAX;
	return try(l, grid, grid ? 0 : 1, false);
}

static void write_lids(const struct lash *l, struct routes *r, uint32_t at, unsigned lid, uint8_t port)
{
	for (uint32_t s = 0; s < l->n && lid <= r->top; s++) {
		uint8_t out = s == at ? port : l->ports[(size_t)s * l->n + at];

		if (lid < l->topo->switches[s].lft_cap && (out || s == at))
			routes_row(r, s)[lid] = out;
	}
}

static void write_tables(const struct lash *l, struct routes *r)
{
	const struct topo *t = l->topo;

	for (uint32_t s = 0; s < l->n; s++)
		for (unsigned k = 0; t->switches[s].lid && k < 1u << t->switches[s].lmc; k++)
			write_lids(l, r, s, t->switches[s].lid + k, 0);
	for (uint32_t h = 0; h < t->n_hosts; h++)
		for (unsigned k = 0; t->hosts[h].sw != TOPO_NONE && t->hosts[h].lid && k < 1u << t->hosts[h].lmc;
		     k++)
			write_lids(l, r, t->hosts[h].sw, t->hosts[h].lid + k, t->hosts[h].sw_port);
}

static void use_lanes(const struct lash *l, struct routes *r)
{
	unsigned start = l->job->options.lash_start_vl;
	struct lanes *lanes;

	if (l->layers->n + start < 2)
		return;
	lanes = lanes_new(l->topo, MAX(l->layers->n, 1) + start, LANES_BY_SWITCHES, r->row_size, 1);
	for (size_t i = 0; i < (size_t)l->n * l->n; i++)
		lanes->sl[i] = (uint8_t)(start + (l->layers->lanes[i] == LAYERS_NONE ? 0 : l->layers->lanes[i]));
	r->lanes = lanes;
	snprintf(r->note, sizeof(r->note), "%u lanes, of which %u are needed", l->layers->n,
		 l->layers->needed);
}

static uint8_t *hops_of(const struct lash *l)
{
	uint8_t *hops = xmalloc((size_t)l->n * l->n);

	for (uint32_t d = 0; d < l->n; d++)
		for (uint32_t s = 0; s < l->n; s++) {
			uint16_t far = distances_from(l->distances, s)[d];

			hops[(size_t)d * l->n + s] = far == DISTANCE_NONE ? 0xFF : (uint8_t)MIN(far, 0xFEu);
		}
	return hops;
}

struct routes *lash_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(lash_done) struct lash l = { .job = job, .needed = LAYERS_MAX + 1 };
	unsigned all = route_lanes(job), start = job->options.lash_start_vl;
	struct routes *r;

	if (start >= all) {
		snprintf(why, why_len, "lash_start_vl is %u, every cable has %u lanes", start, all);
		return NULL;
	}
	l.most = l.limit = all - start;
	if (!lash_begin(&l) || !find_lanes(&l) || is_cancelled(job)) {
		if (is_cancelled(job))
			snprintf(why, why_len, "cancelled");
		else
			snprintf(why, why_len, "needs %s%u lanes%s, every cable has %u",
				 l.needed > LAYERS_MAX ? "more than " : "", MIN(l.needed, LAYERS_MAX),
				 start ? " above lash_start_vl" : "", all);
		return NULL;
	}
	r = routes_new(job->topo, "lash", job->topo->max_lid);
	write_tables(&l, r);
	r->hops = hops_of(&l);
	use_lanes(&l, r);
	return r;
}
