// SPDX-License-Identifier: BSD-2-Clause
/* Plans, then rows in parallel, then what homes do not decide. Chooses no ways itself. */
#include "route/fill.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "route/cancel.h"
#include "route/change.h"
#include "route/columns.h"
#include "route/graph.h"
#include "route/hops.h"
#include "route/place.h"
#include "route/spread.h"
#include "route/stale.h"
#include "util/mem.h"

/* What the rows share, and the memory behind it. */
struct fill {
	const struct route_job *job;
	const struct fill_plan *how;
	struct spread *spread;
	struct change *change;
	struct place_likes *likes;
	uint8_t *hops;
	uint64_t *downs;
	uint32_t *ordered;
	bool *is_ordered;
	bool *ignored;
	struct place_plan plan;
};

static void fill_done(struct fill *f)
{
	spread_free(f->spread);
	change_free(f->change);
	place_likes_free(f->likes);
	free(f->hops);
	free(f->downs);
	free(f->ordered);
	free(f->is_ordered);
	free(f->ignored);
}

bool fill_is_cancelled(const struct route_job *job)
{
	return is_cancelled(job->cancelled);
}

unsigned fill_threads(const struct route_job *job)
{
	return job->threads ? job->threads : (unsigned)omp_get_max_threads();
}

static uint64_t hash(uint64_t h, const void *bytes, size_t n)
{
	for (const uint8_t *p = bytes; n-- > 0; p++)
		h = (h ^ *p) * UINT64_C(0x100000001B3);
	return h;
}

static uint64_t hash_ports(uint64_t h, const struct route_guid_port *ports, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		h = hash(h, &ports[i].guid, sizeof(ports[i].guid));
		h = hash(h, (uint8_t[]){ ports[i].port, ports[i].weight }, 2);
	}
	return hash(h, &n, sizeof(n));
}

static uint64_t hash_guids(uint64_t h, const struct route_guids *guids)
{
	if (guids->n)
		h = hash(h, guids->guids, guids->n * sizeof(*guids->guids));
	return hash(h, &guids->n, sizeof(guids->n));
}

uint64_t fill_options(const struct fill_plan *how, const struct route_options *o)
{
	const uint8_t flags[] = { o->port_shifting, o->order_no_scatter, o->count_switches,
				  how->spread.from_above, o->by_load };
	uint64_t h = hash(UINT64_C(0xCBF29CE484222325), flags, sizeof(flags));

	h = hash(h, how->engine, strlen(how->engine));
	if (how->spread.apart) {
		h = hash_guids(h, &o->cn);
		h = hash_guids(h, &o->io);
	}
	h = hash(h, &o->scatter_seed, sizeof(o->scatter_seed));
	if (o->n_order)
		h = hash(h, o->order, o->n_order * sizeof(*o->order));
	h = hash_ports(h, o->ignore, o->n_ignore);
	h = hash_ports(h, o->weights, o->n_weights);
	return h | FILL_SHORTEST;
}

/* Is what was higher still higher, of all neighbours that were there before? */
static bool is_same_order(const struct fill *f)
{
	const struct routes *previous = f->job->previous;
	const struct tree *tree = f->how->tree;
	const struct graph *g = f->how->graph;
	_cleanup_free_ uint32_t *was = NULL;
	bool same = true;

	if (!tree || !previous->places)
		return !tree && !previous->places;
	was = xcalloc(g->n, sizeof(*was));
	for (uint32_t u = 0; u < g->n; u++) {
		uint32_t before = topo_find_switch(previous->topo, g->topo->switches[u].guid);

		was[u] = before == TOPO_NONE ? TOPO_NONE : previous->places[before];
	}
	for (uint32_t u = 0; u < g->n && same; u++)
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			uint32_t v = g->groups[i].to;

			if (was[u] != TOPO_NONE && was[v] != TOPO_NONE)
				same &= (was[u] < was[v]) == (tree->place[u] < tree->place[v]);
		}
	return same;
}

/*
 * Entries stay where they are while they are on a shortest path, if they were made with the options
 * of today. Whose work adopted tables are is unknown: where guid_routing_order_file says exactly how to
 * place, they are placed anew. scatter_ports does not: ways at random are as good as others at random,
 * and a new process moves nothing that works.
 */
static bool keeps_previous(const struct fill *f)
{
	const struct route_options *o = &f->job->options;
	const struct routes *previous = f->job->previous;

	if (!previous->options)
		return !o->n_order;
	return previous->options == fill_options(f->how, o) && is_same_order(f);
}

/* Index of the first LID of a host; n if it has none. */
static uint32_t dest_of_host(const struct fill *f, uint32_t host)
{
	uint32_t sw = f->job->topo->hosts[host].sw;

	if (sw == TOPO_NONE)
		return f->spread->n;
	for (uint32_t i = f->spread->first[sw]; i < f->spread->first[sw + 1]; i++)
		if (f->spread->host[i] == host)
			return i;
	return f->spread->n;
}

static void use_order(struct fill *f)
{
	const struct route_options *o = &f->job->options;

	if (!o->n_order)
		return;
	f->ordered = xcalloc(o->n_order, sizeof(*f->ordered));
	f->is_ordered = xcalloc(f->spread->n, sizeof(*f->is_ordered));
	for (uint32_t i = 0; i < o->n_order; i++) {
		uint32_t host = topo_find_host(f->job->topo, o->order[i]), dest;

		if (host == TOPO_NONE)
			continue;
		dest = dest_of_host(f, host);
		if (dest == f->spread->n || f->is_ordered[dest])
			continue;
		f->ordered[f->plan.n_ordered++] = dest;
		do
			f->is_ordered[dest++] = true;
		while (dest < f->spread->n && f->spread->hot[dest].offset);
	}
	f->plan.ordered = f->ordered;
	f->plan.is_ordered = f->is_ordered;
}

static void use_ignored(struct fill *f)
{
	const struct route_options *o = &f->job->options;
	const struct topo *t = f->job->topo;
	size_t n = 0;

	if (!o->n_ignore)
		return;
	for (uint32_t s = 0; s < t->n_switches; s++)
		n += t->switches[s].n_ports + 1u;
	f->ignored = xcalloc(n, sizeof(*f->ignored));
	for (uint32_t i = 0; i < o->n_ignore; i++) {
		uint32_t s = topo_find_switch(t, o->ignore[i].guid);

		if (s != TOPO_NONE && o->ignore[i].port <= t->switches[s].n_ports)
			f->ignored[t->switches[s].first_port + o->ignore[i].port] = true;
	}
	f->plan.ignored = f->ignored;
}

/*
 * No levels, no homes: then loads decide, not counts. The options that say how to count belong to
 * counting, and so does the spreading of the LIDs of one port.
 */
bool fill_is_flat(const struct route_job *job, const struct fill_plan *how, const struct spread *s)
{
	const struct route_options *o = &job->options;
	uint32_t flat = 0, hosts = 0;
	bool has_lmc = false;

	for (uint32_t u = 0; u < how->graph->n; u++)
		has_lmc |= s->has_lmc[u];
	if (how->keeps_homes || has_lmc || o->n_order || o->n_ignore || o->port_shifting ||
	    o->scatter_seed || o->count_switches)
		return false;
	for (uint32_t i = 0; i < s->n; i++) {
		hosts += s->hot[i].port != 0;
		flat += s->hot[i].port && !s->depth[i];
	}
	return o->by_load || 2 * flat > hosts;
}

static void fill_rows(const struct fill *f, struct routes *r)
{
	const struct place_likes *likes = f->plan.likes;

#pragma omp parallel num_threads(fill_threads(f->job))
	{
		struct place_row *row = place_row_new(&f->plan);

#pragma omp for schedule(dynamic, 1)
		for (uint32_t run = 0; run < likes->n_runs; run++)
			for (uint32_t i = likes->runs[run]; i < likes->runs[run + 1]; i++)
				if (!fill_is_cancelled(f->job))
					place_fill(row, likes->order[i], routes_row(r, likes->order[i]), r->row_size);
		place_row_free(row);
	}
}

/*
 * The highest LID of the tables. It never sinks while there are previous tables, because entries of
 * LIDs that nobody has any more stay, as far as they fit somewhere.
 */
static lid_t top_of(const struct route_job *job)
{
	unsigned cap = 0;

	for (uint32_t s = 0; s < job->topo->n_switches; s++)
		cap = MAX(cap, (unsigned)job->topo->switches[s].lft_cap);
	if (!job->previous || !cap)
		return job->topo->max_lid;
	return (lid_t)MAX((unsigned)job->topo->max_lid,
			  MIN((unsigned)job->previous->top, cap - 1));
}

static void plan(struct fill *f)
{
	const struct route_job *job = f->job;
	const struct fill_plan *how = f->how;

	f->spread = spread_new(how->graph, how->distances, &how->spread);
	f->hops = xmalloc((size_t)how->graph->n * how->graph->n);
	f->downs = how->tree ? xmalloc((how->graph->n + 63) / 64 * how->graph->n * sizeof(*f->downs)) : NULL;
	hops_by_target(how->distances, fill_threads(job), f->hops, f->downs);
	f->plan = (struct place_plan){
		.graph = how->graph, .distances = how->distances, .spread = f->spread,
		.options = &job->options,
		.oriented = how->tree,
	};
	for (uint32_t u = 0; u < how->graph->n; u++)
		f->plan.has_lmc |= f->spread->has_lmc[u];
	if (job->previous)
		f->change = change_new(how->graph, f->spread,
				       &(struct change_hops){ .hops = f->hops, .downs = f->downs },
				       job->previous, keeps_previous(f));
	f->plan.change = f->change;
	use_order(f);
	use_ignored(f);
	f->plan.switches_only = fill_is_flat(job, how, f->spread);
	f->plan.likes = f->likes = place_likes_new(&f->plan);
}

bool fill_is_possible(const struct route_job *job, char *why, size_t why_len)
{
	if (job->topo->n_switches <= FILL_SWITCHES_MAX)
		return true;
	snprintf(why, why_len, "%u switches, at most %u can be routed", job->topo->n_switches,
		 FILL_SWITCHES_MAX);
	return false;
}

struct routes *fill_tables(const struct route_job *job, const struct fill_plan *how)
{
	_cleanup_(fill_done) struct fill f = { .job = job, .how = how };
	_cleanup_(routes_unrefp) struct routes *r = NULL;

	plan(&f);
	r = routes_new_unset(job->topo, how->engine, top_of(job));
	fill_rows(&f, r);
	if (f.plan.switches_only)
		columns_fill(&f.plan, r, fill_threads(job), job->cancelled);
	if (f.change && (f.change->gains || !f.change->compares))
		stale_open_loops(r);
	r->hops = take(f.hops);
	r->downs = take(f.downs);
	if (how->tree)
		r->places = xmemdup(how->tree->place, how->tree->n * sizeof(*r->places));
	r->options = fill_options(how, &job->options);
	r->expected_load = f.plan.switches_only ? 0 : f.spread->expected_load;
	return fill_is_cancelled(job) ? NULL : take(r);
}
