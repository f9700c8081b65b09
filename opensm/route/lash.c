// SPDX-License-Identifier: BSD-2-Clause
/*
 * The lash engine: one shortest path per pair of switches, and pairs dealt out to lanes so that none can
 * lock up. There and back share a lane, so an answer may use the SL of the question.
 *
 * All LIDs of a switch use one path, so tables and lanes are small: switches by switches. On a whole grid or HyperX
 * paths take one dimension after the other, with lanes by design (dims.c). Elsewhere several ways of choosing paths are
 * tried: dimensions as far as there are any, by load (courses.c), by the number of ports, by one order, two, and
 * so on. The best balanced is taken that needs no more lanes than paths by the number of ports do, and burdens no cable
 * more. On large fabrics the first that fits. If pairs never fit there and back together, each way gets a lane of its own.
 * do_mesh_analysis means nothing here: what is a mesh is found in any case.
 *
 * Change. Ways that are still shortest stay, and so do lanes: connections that are up know theirs.
 *
 * lash_start_vl: SLs and lanes begin there.
 */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "route/courses.h"
#include "route/cancel.h"
#include "route/deal.h"
#include "route/engines.h"
#include "route/layers.h"
#include "route/roll.h"
#include "util/mem.h"

#define SEARCHED 300 /* switches up to which every way of choosing paths is tried */
#define ORDERS	 3   /* tried in any case */

/* A way of choosing paths: by load where nothing else is said. */
struct course {
	const struct grid *grid;
	const struct dims_breaks *breaks;
	unsigned n_orders;
	bool by_number, stay;
};

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
	struct layers *best; /* so far, with its ports and the load of its most loaded channel */
	uint8_t *best_ports;
	uint32_t best_load, load;
	uint64_t best_squares, squares; /* sum over all channels of their loads, each by itself */
	uint32_t bar; /* what a channel carries at most when everybody takes the first port that will do */
	bool is_whole_grid; /* the best is what there is: dimension by dimension, nothing missing */
	bool kept;	    /* every path has the lane that it had */
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
	free(l->best_ports);
	layers_free(l->best);
	free(l->hints);
	layers_free(l->layers);
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
	l->best_ports = xcalloc(l->n, l->n);
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
	if (l->layers->needed > l->limit)
		return false;
	l->needed = MIN(l->needed, l->layers->needed);
	return l->layers->needed <= l->most;
}

static uint32_t choose_paths(struct lash *l, const struct course *course)
{
	if (!course->stay)
		memset(l->hints, 0, (size_t)l->n * l->n * sizeof(*l->hints));
	return courses_run(&(struct courses_job){
		.graph = l->graph, .distances = l->distances, .n_columns = l->n, .at = l->columns,
		.keys = l->columns, .weights = l->weights, .row_size = l->n, .sources = l->roll->sources,
		.grid = course->grid, .breaks = course->breaks, .both_ways = true,
		.n_orders = course->n_orders, .by_number = course->by_number, .stay = course->stay,
		.part = true, .rounds = course->by_number ? 1 : course->stay ? 2 : 3,
		.threads = l->threads, .cancelled = l->job->cancelled,
		.squares = &l->squares, .ports = l->ports, .hints = course->stay ? NULL : l->hints,
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

static bool is_done(const struct lash *l)
{
	return is_cancelled(l->job->cancelled) || l->is_whole_grid || (l->best && l->n > SEARCHED);
}

/* Paths just chosen against the best so far: no channel beyond the bar, then the load that most packets meet. */
static bool is_better(const struct lash *l, uint32_t load)
{
	if (!l->best || (load > l->bar) != (l->best_load > l->bar))
		return !l->best || load <= l->bar;
	return l->squares < l->best_squares;
}

/* Keeps the result if it is the best so far. */
static void try(struct lash *l, struct course course, bool both_ways)
{
	bool hints = course.n_orders || course.breaks;
	uint32_t load;

	if (is_done(l))
		return;
	load = choose_paths(l, &course);
	if (both_ways)
		pair_hints(l);
	if (is_cancelled(l->job->cancelled) || !is_better(l, load) || !deal(l, both_ways, hints))
		return;
	layers_free(l->best);
	l->best = take(l->layers);
	l->best_load = load;
	l->best_squares = l->squares;
	memcpy(l->best_ports, l->ports, (size_t)l->n * l->n);
	l->is_whole_grid = course.breaks && !course.grid->n_cut && !course.grid->n_missing;
}

/*
 * The first port that will do, for everybody: no balance, but often few lanes. It sets the bar: what others need more of
 * must not be lanes, and no channel should carry more.
 */
static void set_bar(struct lash *l)
{
	l->bar = UINT32_MAX;
	if (is_done(l) || l->n > SEARCHED)
		return;
	try(l, (struct course){ .by_number = true }, true);
	if (l->best) {
		l->bar = l->best_load;
		l->limit = l->best->needed;
	}
}

static void try_all(struct lash *l, const struct grid *grid)
{
	struct dims_breaks breaks = { 0 };

	if (grid)
		dims_breaks_find(grid, l->most, &breaks);
	if (breaks.n_lanes && !grid->n_cut && !grid->n_missing)
		try(l, (struct course){ .grid = grid, .breaks = &breaks }, true);
	set_bar(l);
	if (breaks.n_lanes)
		try(l, (struct course){ .grid = grid, .breaks = &breaks }, true);
	else if (grid)
		try(l, (struct course){ .grid = grid }, true);
	try(l, (struct course){ .n_orders = 0 }, true);
	for (unsigned n = 1; n <= MIN(l->most, (unsigned)ORDERS); n++)
		try(l, (struct course){ .n_orders = n }, true);
	for (unsigned n = ORDERS + 1; n <= l->most && !l->best; n++)
		try(l, (struct course){ .n_orders = n }, true);
	if (!l->best)
		try(l, (struct course){ .by_number = true }, true);
	if (grid && !l->best)
		try(l, (struct course){ .grid = grid, .breaks = breaks.n_lanes ? &breaks : NULL }, false);
	for (unsigned n = 1; n <= l->most && !l->best; n++)
		try(l, (struct course){ .n_orders = n }, false);
	dims_breaks_done(&breaks);
}

/* How many lanes would do. */
static void count_lanes(struct lash *l)
{
	choose_paths(l, &(struct course){ .n_orders = 1 });
	l->limit = LAYERS_MAX;
	deal(l, false, true);
}

static bool find_lanes(struct lash *l)
{
	_cleanup_(grid_freep) struct grid *grid = dims_find(l->graph);

	try_all(l, grid);
	if (!l->best && !is_cancelled(l->job->cancelled))
		count_lanes(l);
	if (!l->best)
		return false;
	layers_free(l->layers);
	l->layers = take(l->best);
	memcpy(l->ports, l->best_ports, (size_t)l->n * l->n);
	return true;
}

/* ---- what stays ------------------------------------------------------------------------------ */

/* A LID by which paths to the switch are found in tables; 0: none. */
static lid_t lid_on(const struct topo *t, uint32_t sw)
{
	if (t->switches[sw].lid)
		return t->switches[sw].lid;
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw == sw && t->hosts[h].lid)
			return t->hosts[h].lid;
	return 0;
}

/* The ways and lanes of before, into `ports` and `hints`. False: lanes there and back were not the same. */
static bool recall(struct lash *l, const struct routes *old)
{
	_cleanup_free_ uint32_t *was = xcalloc(l->n, sizeof(*was));
	unsigned start = l->job->options.lash_start_vl;
	bool same = true;

	for (uint32_t s = 0; s < l->n; s++)
		was[s] = topo_find_switch(old->topo, l->topo->switches[s].guid);
	for (uint32_t d = 0; d < l->n; d++) {
		lid_t lid = was[d] == TOPO_NONE ? 0 : lid_on(old->topo, was[d]);

		for (uint32_t s = 0; s < l->n; s++) {
			uint8_t port = was[s] == TOPO_NONE || !lid ? 0 : routes_port(old, was[s], lid);
			unsigned there, back;

			l->ports[(size_t)s * l->n + d] = s == d || port == LFT_NO_PORT ? 0 : port;
			l->hints[(size_t)s * l->n + d] = 0;
			if (!lid || was[s] == TOPO_NONE)
				continue;
			there = lanes_sl(old->lanes, was[s], was[d], lid, (uint8_t)start);
			back = lanes_sl(old->lanes, was[d], was[s], lid, (uint8_t)start);
			same &= there == back;
			if (there >= start && there - start < l->most)
				l->hints[(size_t)s * l->n + d] = (uint16_t)(1u << (there - start));
		}
	}
	return same;
}

/*
 * Ways that are still shortest stay, with their lanes; who lost his takes another, in his lane if it fits. Unless
 * a cable would carry more than twice what the most loaded did.
 */
static bool keeps(struct lash *l)
{
	const struct routes *old = l->job->previous;
	bool both_ways;

	if (!old || !routes_are_by(old, "lash") || !old->expected_load ||
	    (old->lanes && old->lanes->by != LANES_BY_SWITCHES))
		return false;
	both_ways = recall(l, old);
	memcpy(l->best_ports, l->ports, (size_t)l->n * l->n);
	l->load = choose_paths(l, &(struct course){ .stay = true });
	for (size_t i = 0; i < (size_t)l->n * l->n; i++)
		l->hints[i] |= l->ports[i] != l->best_ports[i] ? LAYERS_MOVED : 0;
	if (is_cancelled(l->job->cancelled) || l->load > 2 * old->expected_load)
		return false;
	l->layers = layers_stay(&(struct layers_job){
		.topo = l->topo, .n_columns = l->n_ends, .at = l->ends, .keys = l->ends, .row_size = l->n,
		.ports = l->ports, .sources = l->roll->has_sources, .both_ways = both_ways,
		.most = l->most, .limit = l->most, .cancelled = l->job->cancelled,
	}, l->hints, &l->kept);
	if (!l->layers || l->layers->needed > l->most)
		return false;
	/* Nothing shrinks: SL2VL tables would change for nobody's good. */
	if (old->lanes)
		l->layers->n = MAX(l->layers->n, (unsigned)old->lanes->n_vls - l->job->options.lash_start_vl);
	l->best_load = MAX(old->expected_load, l->load);
	return true;
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
	lanes->n_needed = (uint8_t)(l->layers->needed + start);
	if (l->kept && l->job->previous->lanes)
		lanes->n_needed = l->job->previous->lanes->n_needed;
	r->lanes = lanes;
	snprintf(r->note, sizeof(r->note), "%u lanes, of which %u are needed", l->layers->n,
		 lanes->n_needed - start);
}

/* False: not all LIDs of a switch go one way. */
static bool read_tables(struct lash *l, const struct routes *r)
{
	const struct topo *t = l->topo;

	for (uint32_t d = 0; d < l->n; d++)
		for (uint32_t s = 0; s < l->n; s++) {
			uint8_t port = lid_on(t, d) ? routes_port(r, s, lid_on(t, d)) : 0;

			l->ports[(size_t)s * l->n + d] = s == d || port == LFT_NO_PORT ? 0 : port;
		}
	for (uint32_t i = 0; i < l->roll->n; i++)
		for (uint32_t s = 0; s < l->n; s++) {
			uint32_t d = l->roll->at[i];
			uint8_t port = routes_port(r, s, (lid_t)l->roll->lids[i]);

			if (s != d && port != LFT_NO_PORT && port != l->ports[(size_t)s * l->n + d])
				return false;
		}
	return true;
}

bool lash_deal_lanes(const struct route_job *job, struct routes *r)
{
	_cleanup_(lash_done) struct lash l = { .job = job, .needed = LAYERS_MAX + 1 };

	l.most = l.limit = route_lanes(job) - job->options.lash_start_vl;
	if (!lash_begin(&l) || !read_tables(&l, r) || (!deal(&l, true, false) && !deal(&l, false, false)))
		return false;
	use_lanes(&l, r);
	return true;
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
	if (!lash_begin(&l) || (!keeps(&l) && !find_lanes(&l)) || is_cancelled(job->cancelled)) {
		if (is_cancelled(job->cancelled))
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
	r->expected_load = l.best_load;
	use_lanes(&l, r);
	return r;
}
