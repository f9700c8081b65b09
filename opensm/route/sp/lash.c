// SPDX-License-Identifier: BSD-2-Clause
/*
 * The lash engine: one shortest path per pair of switches, and pairs dealt out to VLs so that none
 * can lock up. There and back share a VL, so an answer may use the SL of the question.
 *
 * All LIDs of a switch use one path, so tables and VLs are small: switches by switches. On a whole
 * grid or HyperX paths take one dimension after the other, with VLs by design (dims.c). Elsewhere
 * several ways of choosing paths are tried: dimensions as far as there are any, by load
 * (sp_balance.c), by the number of ports, by one order, two, and so on. The best balanced is taken
 * that needs no more VLs than paths by the number of ports do, and loads no cable more. Where
 * cables run at different rates all that is tried on a whole grid, too, and where one VL is not
 * enough, paths may need as many as there are: those that avoid a slow cable keep to no order. On
 * large fabrics the first that fits is taken. If pairs never fit there and back together, each
 * direction gets a VL of its own. do_mesh_analysis has no effect: meshes are recognised in any
 * case.
 *
 * Change. Paths that are still shortest stay, and so do VLs: running connections use them.
 *
 * lash_start_vl: SLs and VLs begin there.
 */
#include <string.h>

#include "route/sp/sp_balance.h"
#include "route/select/engines.h"
#include "route/proof/keep_policy.h"
#include "route/vl/vl_layers.h"
#include "route/shape/recognise.h"
#include "route/sp/sssp.h"
#include "util/mem.h"

#define SEARCHED 300 /* switches up to which every way of choosing paths is tried */
#define ORDERS	 3   /* tried in any case */

/* One way of choosing paths: by load unless a member says otherwise. */
struct choice {
	const struct grid *grid;
	const struct dims_breaks *breaks;
	unsigned n_orders;
	bool by_number, stay;
};

struct lash {
	const struct route_job *job;
	const struct topo *topo;
	uint32_t n;
	struct sssp s;
	/* every switch is a destination, its weight the number of its LIDs */
	uint32_t *columns, *weights;
	uint32_t *ends;		     /* destinations that paths lead to */
	uint32_t n_ends;
	uint8_t *ports;		     /* ports[from * n + to] */
	uint16_t *hints;
	struct vl_layers *layers;
	struct vl_layers *best; /* so far, with its ports and the load of its most loaded channel */
	uint8_t *best_ports;
	uint32_t best_load, load;
	uint64_t best_squares, squares; /* sum over all channels of their loads, each by itself */
	uint32_t bar; /* most load of a channel when every pair takes the first possible port */
	/* the best possible: dimension by dimension, nothing missing, all cables at one rate */
	bool is_whole_grid;
	bool kept;	    /* every path keeps its VL */
	unsigned most;
	unsigned limit, needed; /* VLs to fill before giving up; the fewest so far */
	struct arena memory;
};

static void lash_done(struct lash *l)
{
	sssp_done(&l->s);
	arena_done(&l->memory);
	vl_layers_free(l->best);
	vl_layers_free(l->layers);
}

static bool lash_init(struct lash *l)
{
	const struct route_options *o = &l->job->options;

	l->topo = l->job->topo;
	l->n = l->topo->n_switches;
	l->s.threads = route_threads(l->job);
	l->s.options = (struct route_options){ .weights = o->weights, .n_weights = o->n_weights };
	l->s.graph = graph_new(l->topo, &l->s.options);
	l->s.distances = distances_new(l->s.graph, l->s.threads, l->job->cancelled);
	if (!l->s.distances)
		return false;
	l->s.dests = dest_order_new(l->topo, &l->s.options);
	ARENA_ARRAYS(&l->memory, l->n, l->columns, l->weights, l->ends);
	ARENA_ARRAYS(&l->memory, (size_t)l->n * l->n, l->ports, l->best_ports, l->hints);
	for (uint32_t i = 0; i < l->s.dests->n; i++)
		l->weights[l->s.dests->at[i]]++;
	for (uint32_t s = 0; s < l->n; s++) {
		l->columns[s] = s;
		if (l->weights[s])
			l->ends[l->n_ends++] = s;
	}
	return true;
}

static struct vl_layers_job vl_layers_job(const struct lash *l, bool both_ways)
{
	return (struct vl_layers_job){
		.topo = l->topo, .n_columns = l->n_ends, .at = l->ends, .keys = l->ends,
		.row_size = l->n, .ports = l->ports, .sources = l->s.dests->has_sources,
		.both_ways = both_ways, .most = l->most, .limit = l->limit,
		.cancelled = l->job->cancelled,
	};
}

/* True if the paths fit. */
static bool deal_vls(struct lash *l, bool both_ways, bool hints)
{
	struct vl_layers_job job = vl_layers_job(l, both_ways);

	job.hints = hints ? l->hints : NULL;
	vl_layers_free(l->layers);
	l->layers = vl_layers_new(&job);
	if (!l->layers || l->layers->needed > l->limit)
		return false;
	l->needed = MIN(l->needed, l->layers->needed);
	return l->layers->needed <= l->most;
}

static uint32_t choose_paths(struct lash *l, const struct choice *how)
{
	if (!how->stay)
		memset(l->hints, 0, (size_t)l->n * l->n * sizeof(*l->hints));
	return sp_balance_run(&(struct sp_balance_job){
		.graph = l->s.graph, .distances = l->s.distances, .n_columns = l->n,
		.at = l->columns, .keys = l->columns, .weights = l->weights, .row_size = l->n,
		.sources = l->s.dests->sources, .grid = how->grid, .breaks = how->breaks,
		.both_ways = true, .n_orders = how->n_orders, .by_number = how->by_number,
		.stay = how->stay, .part = true,
		.rounds = how->by_number ? 1 : how->stay ? 2 : 3,
		.threads = l->s.threads, .cancelled = l->job->cancelled, .squares = &l->squares,
		.ports = l->ports, .hints = how->stay ? NULL : l->hints,
	});
}

/* Keeps the hints that there and back have in common. */
static void pair_hints(struct lash *l)
{
	for (uint32_t a = 0; a < l->n; a++)
		for (uint32_t b = 0; b < a; b++) {
			uint16_t both =
				l->hints[(size_t)a * l->n + b] & l->hints[(size_t)b * l->n + a];

			l->hints[(size_t)a * l->n + b] = l->hints[(size_t)b * l->n + a] = both;
		}
}

static bool is_done(const struct lash *l)
{
	return is_cancelled(l->job->cancelled) || l->is_whole_grid || (l->best && l->n > SEARCHED);
}

/* Against the best so far: no channel beyond the bar, then the load that most packets meet. */
static bool is_better(const struct lash *l, uint32_t load)
{
	if (!l->best || (load > l->bar) != (l->best_load > l->bar))
		return !l->best || load <= l->bar;
	return l->squares < l->best_squares;
}

/* Keeps the result if it is the best so far. */
static void try_choice(struct lash *l, struct choice how, bool both_ways)
{
	bool hints = how.n_orders || how.breaks;
	uint32_t load;

	if (is_done(l))
		return;
	load = choose_paths(l, &how);
	if (both_ways)
		pair_hints(l);
	if (is_cancelled(l->job->cancelled) || !is_better(l, load) ||
	    !deal_vls(l, both_ways, hints))
		return;
	vl_layers_free(l->best);
	l->best = take(l->layers);
	l->best_load = load;
	l->best_squares = l->squares;
	memcpy(l->best_ports, l->ports, (size_t)l->n * l->n);
	l->is_whole_grid = how.breaks && !how.grid->n_cut && !how.grid->n_missing &&
			   !l->topo->paces;
}

/*
 * The first possible port for every pair: no balance, but often few VLs. It sets the bar: other
 * choices must not need more VLs, and load no channel more.
 */
static void set_bar(struct lash *l)
{
	l->bar = UINT32_MAX;
	if (is_done(l) || l->n > SEARCHED)
		return;
	try_choice(l, (struct choice){ .by_number = true }, true);
	if (l->best) {
		l->bar = l->best_load;
		if (!l->topo->paces || l->best->needed < 2)
			l->limit = l->best->needed;
	}
}

static void try_all(struct lash *l, const struct grid *grid)
{
	struct dims_breaks breaks = { 0 };
	struct choice by_dims = { .grid = grid };

	if (grid)
		dims_breaks_find(grid, l->most, &breaks);
	if (breaks.n_lanes)
		by_dims.breaks = &breaks;
	if (by_dims.breaks && !grid->n_cut && !grid->n_missing)
		try_choice(l, by_dims, true);
	set_bar(l);
	if (grid)
		try_choice(l, by_dims, true);
	try_choice(l, (struct choice){ .n_orders = 0 }, true);
	for (unsigned n = 1; n <= MIN(l->most, (unsigned)ORDERS); n++)
		try_choice(l, (struct choice){ .n_orders = n }, true);
	for (unsigned n = ORDERS + 1; n <= l->most && !l->best; n++)
		try_choice(l, (struct choice){ .n_orders = n }, true);
	if (!l->best)
		try_choice(l, (struct choice){ .by_number = true }, true);
	if (grid && !l->best)
		try_choice(l, by_dims, false);
	for (unsigned n = 1; n <= l->most && !l->best; n++)
		try_choice(l, (struct choice){ .n_orders = n }, false);
	dims_breaks_done(&breaks);
}

static bool find_vls(struct lash *l)
{
	_cleanup_(grid_freep) struct grid *grid = dims_find(l->s.graph);

	try_all(l, grid);
	if (!l->best) {
		if (is_cancelled(l->job->cancelled))
			return false;
		/* Counts the VLs needed. */
		choose_paths(l, &(struct choice){ .n_orders = 1 });
		l->limit = VL_LAYERS_MAX;
		deal_vls(l, false, true);
		return false;
	}
	vl_layers_free(l->layers);
	l->layers = take(l->best);
	memcpy(l->ports, l->best_ports, (size_t)l->n * l->n);
	return true;
}

/* ---- keeping previous paths ------------------------------------------------------------------ */

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

/* The previous paths and VLs, into `ports` and `hints`. False: VLs there and back differed. */
static bool recall_paths(struct lash *l, const struct routes *old)
{
	_cleanup_free_ uint32_t *was = topo_match_switches(l->topo, old->topo);
	unsigned start = l->job->options.lash_start_vl;
	bool same = true;

	for (uint32_t d = 0; d < l->n; d++) {
		lid_t lid = was[d] == TOPO_NONE ? 0 : lid_on(old->topo, was[d]);

		for (uint32_t s = 0; s < l->n; s++) {
			uint8_t port =
				was[s] == TOPO_NONE || !lid ? 0 : routes_port(old, was[s], lid);
			unsigned there, back;

			l->ports[(size_t)s * l->n + d] = s == d || port == LFT_NO_PORT ? 0 : port;
			l->hints[(size_t)s * l->n + d] = 0;
			if (!lid || was[s] == TOPO_NONE)
				continue;
			there = sl2vl_sl(old->lanes, was[s], was[d], lid, (uint8_t)start);
			back = sl2vl_sl(old->lanes, was[d], was[s], lid, (uint8_t)start);
			same &= there == back;
			if (there >= start && there - start < l->most)
				l->hints[(size_t)s * l->n + d] = (uint16_t)(1u << (there - start));
		}
	}
	return same;
}

/*
 * Paths that are still shortest stay, with their VLs; a pair that lost its path takes another, in
 * its VL if it fits. Unless a cable would carry more than twice the load of the most loaded one
 * before.
 */
static bool keeps_paths(struct lash *l)
{
	const struct routes *old = l->job->previous;
	struct vl_layers_job job;
	bool both_ways;

	if (!old || !routes_are_by(old, "lash") || !old->expected_load ||
	    (old->lanes && old->lanes->by != SL2VL_BY_SWITCHES))
		return false;
	both_ways = recall_paths(l, old);
	memcpy(l->best_ports, l->ports, (size_t)l->n * l->n);
	l->load = choose_paths(l, &(struct choice){ .stay = true });
	for (size_t i = 0; i < (size_t)l->n * l->n; i++)
		l->hints[i] |= l->ports[i] != l->best_ports[i] ? VL_LAYERS_MOVED : 0;
	if (is_cancelled(l->job->cancelled) ||
	    !keep_is_as_before(KEEP_PATHS, l->load, old->expected_load))
		return false;
	job = vl_layers_job(l, both_ways);
	job.limit = l->most;
	l->layers = vl_layers_stay(&job, l->hints, &l->kept);
	if (!l->layers || l->layers->needed > l->most)
		return false;
	/* Never fewer VLs than before: SL2VL tables would change without any benefit. */
	if (old->lanes)
		l->layers->n = MAX(l->layers->n,
				   MIN(sl2vl_own_vls(old->lanes) - l->job->options.lash_start_vl,
				       l->most));
	l->best_load = MAX(old->expected_load, l->load);
	return true;
}

static void write_lids(const struct lash *l, struct routes *r, uint32_t at, unsigned lid,
		       uint8_t port)
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
		TOPO_EACH_LID(&t->switches[s], lid)
			write_lids(l, r, s, lid, 0);
	for (uint32_t h = 0; h < t->n_hosts; h++)
		TOPO_EACH_LID(&t->hosts[h], lid)
			if (t->hosts[h].sw != TOPO_NONE)
				write_lids(l, r, t->hosts[h].sw, lid, t->hosts[h].sw_port);
}

static void use_vls(const struct lash *l, struct routes *r)
{
	sssp_use_vls(r, l->layers, SL2VL_BY_SWITCHES, l->job->options.lash_start_vl,
		     l->kept ? l->job->previous->lanes : NULL);
}

/* False: the LIDs of a switch take different paths. */
static bool read_tables(struct lash *l, const struct routes *r)
{
	const struct topo *t = l->topo;

	for (uint32_t d = 0; d < l->n; d++)
		for (uint32_t s = 0; s < l->n; s++) {
			uint8_t port = lid_on(t, d) ? routes_port(r, s, lid_on(t, d)) : 0;

			l->ports[(size_t)s * l->n + d] = s == d || port == LFT_NO_PORT ? 0 : port;
		}
	for (uint32_t i = 0; i < l->s.dests->n; i++)
		for (uint32_t s = 0; s < l->n; s++) {
			uint32_t d = l->s.dests->at[i];
			uint8_t port = routes_port(r, s, (lid_t)l->s.dests->lids[i]);

			if (s != d && port != LFT_NO_PORT && port != l->ports[(size_t)s * l->n + d])
				return false;
		}
	return true;
}

bool lash_deal_vls(const struct route_job *job, struct routes *r)
{
	_cleanup_(lash_done) struct lash l = { .job = job, .needed = VL_LAYERS_MAX + 1 };

	if (job->options.lash_start_vl >= route_vls(job))
		return false;
	l.most = l.limit = route_vls(job) - job->options.lash_start_vl;
	if (!lash_init(&l) || !read_tables(&l, r) ||
	    (!deal_vls(&l, true, false) && !deal_vls(&l, false, false)))
		return false;
	use_vls(&l, r);
	return true;
}

static struct routes *make_routes(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(lash_done) struct lash l = { .job = job, .needed = VL_LAYERS_MAX + 1 };
	unsigned all = route_vls(job), start = job->options.lash_start_vl;
	struct routes *r;

	if (start >= all)
		return route_refuse(why, why_len, "lash_start_vl is %u, every cable has %u VLs",
				    start, all);
	l.most = l.limit = all - start;
	if (!lash_init(&l) || (!keeps_paths(&l) && !find_vls(&l)))
		return route_refuse(why, why_len, "needs %s%u VLs%s, every cable has %u",
				    l.needed > VL_LAYERS_MAX ? "more than " : "",
				    MIN(l.needed, VL_LAYERS_MAX),
				    start ? " above lash_start_vl" : "", all);
	r = routes_new(job->topo, "lash", job->topo->max_lid);
	write_tables(&l, r);
	r->hops = xmalloc((size_t)l.n * l.n);
	hops_by_target(l.s.distances, l.s.threads, r->hops, NULL);
	r->expected_load = l.best_load;
	use_vls(&l, r);
	return r;
}

struct routes *lash_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(job->topo, &job->options);
	_cleanup_(tails_freep) struct tails *tails = shape_tails_of_grid(g, &job->options);

	return tails ? tails_compute(job, tails, make_routes, why, why_len)
		     : make_routes(job, why, why_len);
}
