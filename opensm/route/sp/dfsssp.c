// SPDX-License-Identifier: BSD-2-Clause
/*
 * The dfsssp engine: sssp, with its paths dealt out to VLs so that none can lock up.
 *
 * On grids and HyperX, paths that take one dimension after the other come first, if no channel
 * carries more than with the balanced paths of sssp: they need few VLs (dims.c), and suit shifts.
 * Else the paths of sssp are used. On a tree they close no cycle: one VL, no scheme. Where they fit
 * in the VLs that every cable has, they stay as they are. Where they do not, others are chosen
 * among the shortest paths (sp_balance.c): dimension by dimension after all, or ones that obey
 * orders, each of which is a VL.
 * Many orders leave much choice to balance and few paths that obey none, but each costs a VL; so as
 * many orders as there are VLs are tried first, then fewer, and the first that fits is taken. When
 * destinations prefer different orders, load is spread over the roots of all; when all prefer the
 * same one, fewer VLs are enough.
 *
 * VLs beyond those needed are used as well, so that packets that wait for one destination block
 * fewer others. max_vls says how many there may be.
 *
 * Change. Entries stay as with sssp. Every path keeps its SL, if the mixture of old and new entries
 * can be proved that way: an application that has asked for a path keeps the SL as long as the
 * connection lives, and tables proved for other SLs prove nothing about those packets. Only paths
 * that fit nowhere else change theirs, and only when that does not fit either is everything
 * computed anew; connections with a former SL are then outside of the proof until they query the
 * path again.
 */
#include <string.h>

#include "route/sp/sp_balance.h"
#include "route/select/engines.h"
#include "route/vl/vl_layers.h"
#include "route/sp/sssp.h"
#include "route/core/lid_spread.h"
#include "util/mem.h"

#define PROBE 256

struct dfsssp {
	const struct route_job *job;
	struct sssp s;
	unsigned most;	 /* number of VLs of the fabric */
	unsigned limit;	 /* number of VLs that may be filled before the engine gives up */
	uint16_t *hints;
	struct vl_layers *layers;
	bool kept; /* every path keeps its VL */
};

static void dfsssp_done(struct dfsssp *d)
{
	sssp_done(&d->s);
	free(d->hints);
	vl_layers_free(d->layers);
}

static size_t n_entries(const struct routes *r)
{
	return (size_t)r->topo->n_switches * r->row_size;
}

static struct vl_layers_job vl_layers_job(const struct dfsssp *d)
{
	const struct sssp *s = &d->s;

	return (struct vl_layers_job){
		.topo = d->job->topo,
		.n_columns = s->dests->n,
		.at = s->dests->at,
		.keys = s->dests->lids,
		.row_size = s->routes->row_size,
		.ports = s->routes->lft,
		.sources = s->dests->has_sources,
		.most = d->most,
		.limit = d->limit,
		.cancelled = d->job->cancelled,
	};
}

/* Tries a few destinations, when there are many: if these do not fit, all do not. */
static bool is_hopeless(struct dfsssp *d)
{
	const struct dest_order *dests = d->s.dests;
	struct vl_layers_job job = vl_layers_job(d);
	uint32_t at[PROBE], keys[PROBE];
	struct vl_layers *few;
	bool fits;

	if (dests->n < 4 * PROBE)
		return false;
	for (uint32_t i = 0; i < PROBE; i++) {
		at[i] = dests->at[(uint64_t)i * dests->n / PROBE];
		keys[i] = dests->lids[(uint64_t)i * dests->n / PROBE];
	}
	job.n_columns = PROBE;
	job.at = at;
	job.keys = keys;
	job.most = 1;
	few = vl_layers_new(&job);
	fits = few && few->needed <= d->most;
	vl_layers_free(few);
	return !fits;
}

/* True if the paths fit. */
static bool deal_vls(struct dfsssp *d, uint16_t *hints)
{
	struct vl_layers_job job = vl_layers_job(d);

	job.hints = hints;
	vl_layers_free(d->layers);
	d->layers = vl_layers_new(&job);
	return d->layers && d->layers->needed <= d->most;
}

/* The VLs of the previous tables, as hints; without a scheme that was VL 0. */
static void recall_vls(struct dfsssp *d)
{
	const struct routes *old = d->job->previous, *r = d->s.routes;

	for (uint32_t s = 0; s < r->topo->n_switches; s++) {
		uint32_t was = topo_find_switch(old->topo, r->topo->switches[s].guid);
		uint16_t *hints = d->hints + (size_t)s * r->row_size;

		for (uint32_t i = 0; was != TOPO_NONE && i < d->s.dests->n; i++) {
			lid_t lid = (lid_t)d->s.dests->lids[i];

			if (lid > old->top)
				continue;
			hints[lid] = (uint16_t)(1u << sl2vl_sl(old->lanes, was, 0, lid, 0));
			if (routes_port(r, s, lid) != routes_port(old, was, lid))
				hints[lid] |= VL_LAYERS_MOVED;
		}
	}
}

/* Chooses other paths. Returns the load of the most loaded channel. */
static uint32_t redirect_paths(struct dfsssp *d, struct sp_balance_job how)
{
	struct sssp *s = &d->s;

	if (!d->hints)
		d->hints = xcalloc(n_entries(s->routes), sizeof(*d->hints));
	how.graph = s->graph;
	how.distances = s->distances;
	how.n_columns = s->dests->n;
	how.at = s->dests->at;
	how.keys = s->dests->lids;
	how.row_size = s->routes->row_size;
	how.sources = s->dests->sources;
	how.rounds = 2;
	how.threads = s->threads;
	how.cancelled = d->job->cancelled;
	how.ports = s->routes->lft;
	how.hints = how.stay ? NULL : d->hints;
	s->routes->expected_load = sp_balance_run(&how);
	return s->routes->expected_load;
}

/* Keeps the previous VLs for the paths at hand. True if they fit. */
static bool keeps_vls(struct dfsssp *d)
{
	struct vl_layers_job job = vl_layers_job(d);

	memset(d->hints, 0, n_entries(d->s.routes) * sizeof(*d->hints));
	recall_vls(d);
	vl_layers_free(d->layers);
	d->layers = vl_layers_stay(&job, d->hints, &d->kept);
	return d->layers && d->layers->needed <= d->most;
}

/* Keeps previous paths that are still shortest, whatever they carry; new ones for the others. */
static void keep_ways(struct dfsssp *d)
{
	const struct routes *old = d->job->previous;
	struct routes *r = d->s.routes;

	for (uint32_t s = 0; s < r->topo->n_switches; s++) {
		uint32_t was = topo_find_switch(old->topo, r->topo->switches[s].guid);

		for (uint32_t i = 0; i < d->s.dests->n; i++) {
			lid_t lid = (lid_t)d->s.dests->lids[i];

			if (d->s.dests->at[i] != s)
				routes_row(r, s)[lid] =
					was == TOPO_NONE ? LFT_NO_PORT : routes_port(old, was, lid);
		}
	}
	redirect_paths(d, (struct sp_balance_job){ .stay = true });
}

static bool keeps_paths(struct dfsssp *d)
{
	const struct routes *old = d->job->previous;

	if (!routes_are_by(old, "dfsssp") ||
	    (old->lanes && (old->lanes->by != SL2VL_BY_SWITCH_LID ||
			    sl2vl_own_vls(old->lanes) > d->most)))
		return false;
	/* A tree mostly stays one that needs no VLs. */
	if (!old->lanes && deal_vls(d, NULL) && d->layers->needed == 1)
		return true;
	if (!d->hints)
		d->hints = xcalloc(n_entries(d->s.routes), sizeof(*d->hints));
	if (keeps_vls(d))
		return true;
	if (is_cancelled(d->job->cancelled) || !old->lanes)
		return false;
	keep_ways(d);
	return !is_cancelled(d->job->cancelled) && keeps_vls(d);
}

/*
 * Dimension by dimension, if there are any: `better` only if no channel carries more than with the
 * paths at hand. False leaves tables that are no worse than before, though perhaps others.
 */
static bool redirect_on_grid(struct dfsssp *d, const struct grid *grid, bool better)
{
	struct dims_breaks breaks = { 0 }, *used;
	struct routes *r = d->s.routes;
	_cleanup_free_ uint8_t *before = NULL;
	uint32_t load = r->expected_load, now;
	bool fits = false;

	if (!grid)
		return false;
	if (better)
		before = xmemdup(r->lft, n_entries(r));
	dims_breaks_find(grid, d->most, &breaks);
	used = breaks.n_lanes ? &breaks : NULL;
	now = redirect_paths(d, (struct sp_balance_job){ .grid = grid, .breaks = used });
	if (now <= load || !better)
		fits = !is_cancelled(d->job->cancelled) && deal_vls(d, used ? d->hints : NULL);
	dims_breaks_done(&breaks);
	if (!fits && better) {
		memcpy(r->lft, before, n_entries(r));
		r->expected_load = load;
	}
	return fits;
}

static bool redirect_by_orders(struct dfsssp *d, unsigned n, bool rotate)
{
	redirect_paths(d, (struct sp_balance_job){ .n_orders = n, .rotate = rotate });
	return !is_cancelled(d->job->cancelled) && deal_vls(d, d->hints);
}

/* The last attempt is the one with the fewest VLs, and counts them. */
static bool redirect_by_all_orders(struct dfsssp *d)
{
	for (unsigned n = d->most; n && !is_cancelled(d->job->cancelled); n -= n > 8 ? 2 : 1)
		if (redirect_by_orders(d, n, true))
			return true;
	d->limit = VL_LAYERS_MAX;
	return !is_cancelled(d->job->cancelled) && redirect_by_orders(d, MIN(d->most, 3), false);
}

static void find_vls(struct dfsssp *d)
{
	_cleanup_(grid_freep) struct grid *grid = dims_find(d->s.graph);

	if (!lid_spread_is_needed(d->job->topo) && redirect_on_grid(d, grid, true))
		return;
	if (!is_hopeless(d) && deal_vls(d, NULL))
		return;
	if (!redirect_on_grid(d, grid, false))
		redirect_by_all_orders(d);
}

static void use_vls(struct dfsssp *d)
{
	sssp_use_vls(d->s.routes, d->layers, SL2VL_BY_SWITCH_LID, 0,
		     d->kept ? d->job->previous->lanes : NULL);
}

bool dfsssp_deal_vls(const struct route_job *job, struct routes *r)
{
	struct dfsssp d = {
		.job = job,
		.most = route_vls(job),
		.limit = route_vls(job),
		.s = { .routes = r,
		       .dests =
			       dest_order_with_asides(job->topo,
						      &(struct route_options){ .n_order = 0 }) },
	};
	bool fits = deal_vls(&d, NULL);

	if (fits)
		use_vls(&d);
	d.s.routes = NULL; /* the caller's */
	dfsssp_done(&d);
	return fits;
}

struct routes *dfsssp_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(dfsssp_done) struct dfsssp d = {
		.job = job, .most = route_vls(job), .limit = route_vls(job),
	};

	if (!sssp_run(job, "dfsssp", &d.s, why, why_len))
		return NULL;
	if (!keeps_paths(&d)) {
		struct route_job afresh = *job;

		afresh.previous = NULL;
		if (!job->previous)
			find_vls(&d);
		else if ((is_hopeless(&d) || !deal_vls(&d, NULL)) && !is_cancelled(job->cancelled))
			return dfsssp_compute(&afresh, why, why_len);
	}
	if (route_is_cancelled(job))
		return NULL;
	if (d.layers->needed > d.most)
		return route_refuse(why, why_len, "needs %s%u VLs, every cable has %u",
				    d.layers->needed > VL_LAYERS_MAX ? "more than " : "",
				    MIN(d.layers->needed, VL_LAYERS_MAX), d.most);
	use_vls(&d);
	return take(d.s.routes);
}
