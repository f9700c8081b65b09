// SPDX-License-Identifier: BSD-2-Clause
/*
 * The dfsssp engine: sssp, with its paths dealt out to lanes so that none can lock up.
 *
 * On grids and HyperX paths that take one dimension after the other come first, if no channel carries more than
 * with the balanced paths of sssp: they need few lanes (dims.c), and shifts like them. Else those of sssp. On a tree they
 * have no cycle, and that is all: one lane, no scheme. Where they fit in the lanes that every cable has, they stay as
 * they are. Where they do not, among the shortest paths others are chosen (courses.c): dimension by dimension after all,
 * or ones that obey orders, each of which is a lane.
 * Many orders leave much choice to balance and few paths that obey none, but each costs a lane; so as
 * many orders as there are lanes are tried first, then fewer, and the first that fits is it. When
 * columns prefer different orders, load is spread over the roots of all; when all prefer the same one, fewer
 * lanes do.
 *
 * Lanes beyond those needed are used as well, to keep what waits for one destination out of the way of
 * others. max_vls says how many there may be.
 *
 * Change. Entries stay as they do with sssp. Every path keeps the SL that it has, if the mixture of old and
 * new entries can be proved that way; that matters, because who has asked for a path keeps its SL for as
 * long as the connection lives, and a table that is proved for other SLs says nothing about those packets.
 * Only paths that fit nowhere else change theirs, and only when that does not do either is everything
 * made anew; connections that live on with an SL of before are then outside of the proof until they ask
 * again.
 */
#include <stdio.h>
#include <string.h>

#include "route/courses.h"
#include "route/cancel.h"
#include "route/deal.h"
#include "route/engines.h"
#include "route/layers.h"
#include "route/sssp.h"
#include "util/mem.h"

#define PROBE 256

struct dfsssp {
	const struct route_job *job;
	struct sssp s;
	unsigned most;	 /* lanes that there are */
	unsigned limit;	 /* lanes to fill before giving up */
	uint16_t *hints;
	struct layers *layers;
	bool kept; /* every path has the lane that it had */
};

static void dfsssp_done(struct dfsssp *d)
{
	sssp_done(&d->s);
	free(d->hints);
	layers_free(d->layers);
}

static size_t n_entries(const struct routes *r)
{
	return (size_t)r->topo->n_switches * r->row_size;
}

/* A few of the columns, when there are many: what does not fit for them does not fit. */
static bool is_hopeless(struct dfsssp *d)
{
	_cleanup_free_ uint32_t *at = xcalloc(PROBE, sizeof(*at)), *keys = xcalloc(PROBE, sizeof(*keys));
	const struct roll *roll = d->s.roll;
	struct layers *few;
	bool fits;

	if (roll->n < 4 * PROBE)
		return false;
	for (uint32_t i = 0; i < PROBE; i++) {
		at[i] = roll->at[(uint64_t)i * roll->n / PROBE];
		keys[i] = roll->lids[(uint64_t)i * roll->n / PROBE];
	}
	few = layers_new(&(struct layers_job){
		.topo = d->job->topo, .n_columns = PROBE, .at = at, .keys = keys,
		.row_size = d->s.routes->row_size, .ports = d->s.routes->lft, .limit = d->most,
		.sources = roll->has_sources, .most = 1, .cancelled = d->job->cancelled,
	});
	fits = few && few->needed <= d->most;
	layers_free(few);
	return !fits;
}

static struct layers_job layers_job(const struct dfsssp *d)
{
	const struct sssp *s = &d->s;

	return (struct layers_job){
		.topo = d->job->topo, .n_columns = s->roll->n, .at = s->roll->at, .keys = s->roll->lids,
		.row_size = s->routes->row_size, .ports = s->routes->lft, .sources = s->roll->has_sources,
		.most = d->most, .limit = d->limit, .cancelled = d->job->cancelled,
	};
}

/* True if the paths fit. */
static bool deal(struct dfsssp *d, uint16_t *hints)
{
	struct layers_job job = layers_job(d);

	job.hints = hints;
	layers_free(d->layers);
	d->layers = layers_new(&job);
	return d->layers && d->layers->needed <= d->most;
}

/* The lanes that paths had before, as hints; without a scheme that was the first. */
static void recall(struct dfsssp *d)
{
	const struct routes *old = d->job->previous, *r = d->s.routes;

	for (uint32_t s = 0; s < r->topo->n_switches; s++) {
		uint32_t was = topo_find_switch(old->topo, r->topo->switches[s].guid);

		for (uint32_t i = 0; was != TOPO_NONE && i < d->s.roll->n; i++) {
			lid_t lid = (lid_t)d->s.roll->lids[i];
			unsigned lane;

			if (lid > old->top)
				continue;
			lane = old->lanes ? old->lanes->sl[(size_t)was * old->row_size + lid] : 0;
			d->hints[(size_t)s * r->row_size + lid] = (uint16_t)
				(1u << lane | (routes_port(r, s, lid) != routes_port(old, was, lid) ? LAYERS_MOVED : 0));
		}
	}
}

/* Other paths. Returns the load of the most loaded channel. */
static uint32_t redirect(struct dfsssp *d, struct courses_job course)
{
	struct sssp *s = &d->s;

	if (!d->hints)
		d->hints = xcalloc(n_entries(s->routes), sizeof(*d->hints));
	course.graph = s->graph;
	course.distances = s->distances;
	course.n_columns = s->roll->n;
	course.at = s->roll->at;
	course.keys = s->roll->lids;
	course.row_size = s->routes->row_size;
	course.sources = s->roll->sources;
	course.rounds = 2;
	course.threads = s->threads;
	course.cancelled = d->job->cancelled;
	course.ports = s->routes->lft;
	course.hints = course.stay ? NULL : d->hints;
	s->routes->expected_load = courses_run(&course);
	return s->routes->expected_load;
}

/* Lanes of before for the paths at hand. True if they fit. */
static bool keeps_lanes(struct dfsssp *d)
{
	struct layers_job job = layers_job(d);

	memset(d->hints, 0, n_entries(d->s.routes) * sizeof(*d->hints));
	recall(d);
	layers_free(d->layers);
	d->layers = layers_stay(&job, d->hints, &d->kept);
	return d->layers && d->layers->needed <= d->most;
}

/* All ways of before that are still shortest, whatever they carry: new ones only where there are none. */
static void keep_ways(struct dfsssp *d)
{
	const struct routes *old = d->job->previous;
	struct routes *r = d->s.routes;

	for (uint32_t s = 0; s < r->topo->n_switches; s++) {
		uint32_t was = topo_find_switch(old->topo, r->topo->switches[s].guid);

		for (uint32_t i = 0; i < d->s.roll->n; i++) {
			lid_t lid = (lid_t)d->s.roll->lids[i];

			if (d->s.roll->at[i] != s)
				routes_row(r, s)[lid] = was == TOPO_NONE ? LFT_NO_PORT : routes_port(old, was, lid);
		}
	}
	redirect(d, (struct courses_job){ .stay = true });
}

static bool keeps(struct dfsssp *d)
{
	const struct routes *old = d->job->previous;

	if (!routes_are_by(old, "dfsssp") ||
	    (old->lanes && (old->lanes->by != LANES_BY_SWITCH_LID || old->lanes->n_vls > d->most)))
		return false;
	/* A tree mostly stays one that needs no lanes. */
	if (!old->lanes && deal(d, NULL) && d->layers->needed == 1)
		return true;
	if (!d->hints)
		d->hints = xcalloc(n_entries(d->s.routes), sizeof(*d->hints));
	if (keeps_lanes(d))
		return true;
	if (is_cancelled(d->job->cancelled) || !old->lanes)
		return false;
	keep_ways(d);
	return !is_cancelled(d->job->cancelled) && keeps_lanes(d);
}

/*
 * Dimension by dimension, if there are any: `better` only if no channel carries more than with the paths at hand. False
 * leaves tables that are no worse than before, but others perhaps.
 */
static bool redirect_on_grid(struct dfsssp *d, const struct grid *grid, bool better)
{
	struct dims_breaks breaks = { 0 };
	struct routes *r = d->s.routes;
	_cleanup_free_ uint8_t *before = NULL;
	uint32_t load = r->expected_load;
	bool fits = false;

	if (!grid)
		return false;
	if (better) {
		before = xmalloc(n_entries(r));
		memcpy(before, r->lft, n_entries(r));
	}
	dims_breaks_find(grid, d->most, &breaks);
	if (redirect(d, (struct courses_job){ .grid = grid, .breaks = breaks.n_lanes ? &breaks : NULL }) <= load ||
	    !better)
		fits = !is_cancelled(d->job->cancelled) && deal(d, breaks.n_lanes ? d->hints : NULL);
	dims_breaks_done(&breaks);
	if (!fits && better) {
		memcpy(r->lft, before, n_entries(r));
		r->expected_load = load;
	}
	return fits;
}

static bool redirect_by_orders(struct dfsssp *d, unsigned n, bool rotate)
{
	redirect(d, (struct courses_job){ .n_orders = n, .rotate = rotate });
	return !is_cancelled(d->job->cancelled) && deal(d, d->hints);
}

/* The last attempt is the one with the fewest lanes, and counts them. */
static bool redirects(struct dfsssp *d)
{
	for (unsigned n = d->most; n && !is_cancelled(d->job->cancelled); n -= n > 8 ? 2 : 1)
		if (redirect_by_orders(d, n, true))
			return true;
	d->limit = LAYERS_MAX;
	return !is_cancelled(d->job->cancelled) && redirect_by_orders(d, MIN(d->most, 3), false);
}

static void find_lanes(struct dfsssp *d)
{
	_cleanup_(grid_freep) struct grid *grid = dims_find(d->s.graph);

	if (redirect_on_grid(d, grid, true))
		return;
	if (!is_hopeless(d) && deal(d, NULL))
		return;
	if (!redirect_on_grid(d, grid, false))
		redirects(d);
}

static void use_lanes(struct dfsssp *d)
{
	struct routes *r = d->s.routes;
	struct lanes *lanes;

	if (d->layers->n < 2)
		return;
	lanes = lanes_new(r->topo, d->layers->n, LANES_BY_SWITCH_LID, r->row_size, 1);
	for (size_t i = 0; i < n_entries(r); i++)
		lanes->sl[i] = d->layers->lanes[i] == LAYERS_NONE ? 0 : d->layers->lanes[i];
	lanes->n_needed = (uint8_t)(d->kept && d->job->previous->lanes ? d->job->previous->lanes->n_needed : d->layers->needed);
	r->lanes = lanes;
	snprintf(r->note, sizeof(r->note), "%u lanes, of which %u are needed", lanes->n_vls,
		 lanes->n_needed ? lanes->n_needed : lanes->n_vls);
}

bool dfsssp_deal_lanes(const struct route_job *job, struct routes *r)
{
	struct dfsssp d = {
		.job = job, .most = route_lanes(job), .limit = route_lanes(job),
		.s = { .routes = r, .roll = roll_new(job->topo, &(struct route_options){ .n_order = 0 }) },
	};
	bool fits = deal(&d, NULL);

	if (fits)
		use_lanes(&d);
	d.s.routes = NULL; /* the caller's */
	dfsssp_done(&d);
	return fits;
}

/* From nothing, when keeping fails. */
static struct routes *again(const struct route_job *job, char *why, size_t why_len)
{
	struct route_job alone = *job;

	alone.previous = NULL;
	return dfsssp_compute(&alone, why, why_len);
}

struct routes *dfsssp_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(dfsssp_done) struct dfsssp d = {
		.job = job, .most = route_lanes(job), .limit = route_lanes(job),
	};

	if (!sssp_run(job, "dfsssp", &d.s, why, why_len))
		return NULL;
	if (!keeps(&d)) {
		if (!job->previous)
			find_lanes(&d);
		else if ((is_hopeless(&d) || !deal(&d, NULL)) && !is_cancelled(job->cancelled))
			return again(job, why, why_len);
	}
	if (is_cancelled(job->cancelled)) {
		snprintf(why, why_len, "cancelled");
		return NULL;
	}
	if (d.layers->needed > d.most) {
		snprintf(why, why_len, "needs %s%u lanes, every cable has %u",
			 d.layers->needed > LAYERS_MAX ? "more than " : "",
			 MIN(d.layers->needed, LAYERS_MAX), d.most);
		return NULL;
	}
	use_lanes(&d);
	return take(d.s.routes);
}
