// SPDX-License-Identifier: BSD-2-Clause
/* Plans, then fills rows in parallel, then places what homes do not decide. */
#include "route/tree/fill.h"

#include <assert.h>
#include <string.h>

#include "route/tree/change.h"
#include "route/core/memo.h"
#include "route/core/lid_spread.h"
#include "route/core/nexthop_assign.h"
#include "route/tree/port_select.h"
#include "route/core/unassigned.h"
#include "util/hash.h"
#include "util/mem.h"

/* The plan of all rows, and the memory behind it. */
struct fill {
	const struct route_job *job;
	const struct fill_plan *how;
	struct dmodk *spread;
	struct change *change;
	struct port_select_likes *likes;
	uint8_t *hops;
	uint64_t *downs;
	struct port_select_plan plan;
	struct arena memory;
};

static void fill_done(struct fill *f)
{
	FREE_ALL(f->hops, f->downs);
	dmodk_free(f->spread);
	change_free(f->change);
	port_select_likes_free(f->likes);
	arena_done(&f->memory);
}

static uint64_t hash_ports(uint64_t h, const struct route_guid_port *ports, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		h = hash_bytes(h, &ports[i].guid, sizeof(ports[i].guid));
		h = hash_bytes(h, (uint8_t[]){ ports[i].port, ports[i].weight }, 2);
	}
	return hash_bytes(h, &n, sizeof(n));
}

static uint64_t hash_guids(uint64_t h, const struct route_guids *guids)
{
	if (guids->n)
		h = hash_bytes(h, guids->guids, guids->n * sizeof(*guids->guids));
	return hash_bytes(h, &guids->n, sizeof(guids->n));
}

uint64_t fill_options(const struct fill_plan *how, const struct route_options *o)
{
	const uint8_t flags[] = { o->port_shifting, o->order_no_scatter, o->count_switches,
				  how->spread.from_above, o->by_load };
	uint64_t h = hash_bytes(HASH_START, flags, sizeof(flags));

	h = hash_bytes(h, how->engine, strlen(how->engine));
	if (how->spread.apart) {
		h = hash_guids(h, &o->cn);
		h = hash_guids(h, &o->io);
	}
	h = hash_bytes(h, &o->scatter_seed, sizeof(o->scatter_seed));
	if (o->n_order)
		h = hash_bytes(h, o->order, o->n_order * sizeof(*o->order));
	h = hash_ports(h, o->ignore, o->n_ignore);
	h = hash_ports(h, o->weights, o->n_weights);
	return h | FILL_SHORTEST;
}

/* Is every order between neighbours of the previous tables still the same? */
static bool is_same_order(const struct fill *f)
{
	const struct routes *previous = f->job->previous;
	const struct tree *tree = f->how->tree;
	const struct graph *g = f->how->graph;
	_cleanup_free_ uint32_t *was = NULL;
	bool same = true;

	if (!tree || !previous->places)
		return !tree && !previous->places;
	was = topo_match_switches(g->topo, previous->topo);
	for (uint32_t u = 0; u < g->n; u++)
		was[u] = was[u] == TOPO_NONE ? TOPO_NONE : previous->places[was[u]];
	for (uint32_t u = 0; u < g->n && same; u++)
		GRAPH_EACH(g, u, edge) {
			if (was[u] != TOPO_NONE && was[edge->to] != TOPO_NONE)
				same &= (was[u] < was[edge->to]) ==
					(tree->place[u] < tree->place[edge->to]);
		}
	return same;
}

/*
 * Entries stay while they are on a shortest path, if they were made with the options in force. The
 * engine of adopted tables is unknown: where guid_routing_order_file says exactly how to place,
 * they are placed anew. scatter_ports does not count here: one random choice is as good as another,
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

static void use_order(struct fill *f)
{
	const struct route_options *o = &f->job->options;
	uint32_t *ordered;
	bool *is_ordered;

	if (!o->n_order)
		return;
	f->plan.ordered = ARENA_ARRAY(&f->memory, ordered, o->n_order);
	f->plan.is_ordered = ARENA_ARRAY(&f->memory, is_ordered, f->spread->n);
	for (uint32_t i = 0; i < o->n_order; i++) {
		uint32_t host = topo_find_host(f->job->topo, o->order[i]), dest;

		if (host == TOPO_NONE)
			continue;
		dest = dmodk_find_host(f->spread, f->job->topo->hosts[host].sw, host);
		if (dest == f->spread->n || is_ordered[dest])
			continue;
		ordered[f->plan.n_ordered++] = dest;
		do
			is_ordered[dest++] = true;
		while (dest < f->spread->n && f->spread->hot[dest].offset);
	}
}

static void use_ignored(struct fill *f)
{
	const struct route_options *o = &f->job->options;
	const struct topo *t = f->job->topo;
	bool *ignored;

	if (!o->n_ignore)
		return;
	f->plan.ignored = ARENA_ARRAY(&f->memory, ignored, topo_n_entries(t));
	for (uint32_t i = 0; i < o->n_ignore; i++) {
		uint32_t s = topo_find_switch(t, o->ignore[i].guid);

		if (s != TOPO_NONE && o->ignore[i].port <= t->switches[s].n_ports)
			ignored[t->switches[s].first_port + o->ignore[i].port] = true;
	}
}

/* Has half of the end ports a home? */
static bool has_levels(const struct dmodk *s)
{
	uint32_t flat = 0, hosts = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		hosts += s->hot[i].port != 0;
		flat += s->hot[i].port && !s->depth[i];
	}
	return 2 * flat <= hosts;
}

/*
 * Without levels there are no homes, and loads decide instead of counts. The options that say how
 * to count then have no effect. Homes part the LIDs of one port better than loads do.
 */
bool fill_is_flat(const struct route_job *job, const struct fill_plan *how, const struct dmodk *s)
{
	const struct route_options *o = &job->options;

	if (how->keeps_homes || route_says_how_to_count(o))
		return false;
	return (o->by_load && !s->some_lmc) || !has_levels(s);
}

static void fill_rows(const struct fill *f, struct routes *r)
{
	const struct port_select_likes *likes = f->plan.likes;

#pragma omp parallel num_threads(route_threads(f->job))
	{
		struct port_select_row *row = port_select_row_new(&f->plan);

#pragma omp for schedule(dynamic, 1)
		for (uint32_t run = 0; run < likes->n_runs; run++)
			for (uint32_t i = likes->runs[run]; i < likes->runs[run + 1]; i++)
				if (!route_is_cancelled(f->job))
					port_select_fill(row, likes->order[i],
							 routes_row(r, likes->order[i]),
							 r->row_size);
		port_select_row_free(row);
	}
}

static void find_paths(const void *arg, uint32_t to, struct path_dag *ret)
{
	path_dag_find(ret, ((const struct port_select_plan *)arg)->distances, to);
}

static bool is_new_path(const void *arg, uint32_t sw, const struct path_dag_edge *edge, uint32_t to)
{
	const struct port_select_plan *plan = arg;
	const struct graph *g = plan->graph;

	return change_moved(plan->change, sw, to) &&
	       change_is_new_way(plan->change, g->topo, sw, edge->port,
				 graph_edge(g, sw, edge->next)->weight, to);
}

/*
 * The entries of all end ports, where there are no levels: one destination after another, each
 * along the least loaded of its shortest paths, by the loads of the whole fabric. Homes cannot help
 * there, and counting per switch does not see paths that share a channel two hops further on.
 */
static void place_by_load(const struct route_job *job, const struct port_select_plan *plan,
			  struct routes *r)
{
	const struct dmodk *s = plan->spread;
	const struct change *c = plan->change;
	_cleanup_free_ uint32_t *first = xcalloc(plan->graph->n + 1u, sizeof(*first));
	_cleanup_free_ struct nexthop_goal *goals = xcalloc(s->n, sizeof(*goals));
	uint32_t n = 0;

	for (uint32_t to = 0; to < plan->graph->n; to++) {
		for (uint32_t i = s->first[to]; i < s->first[to + 1]; i++)
			if (s->hot[i].port)
				goals[n++] = (struct nexthop_goal){
					.lid = s->hot[i].lid,
					.port = s->hot[i].port,
					.known = c && c->known[i],
					.turn = s->level[0].digit[i],
				};
		first[to + 1] = n;
	}
	nexthop_assign(&(struct nexthop_job){
		.graph = plan->graph, .find = find_paths, .arg = plan, .first = first,
		.goals = goals, .previous = c ? c->previous : NULL,
		.previous_sw = c ? c->previous_sw : NULL,
		.is_new = c && c->gains ? is_new_path : NULL,
		.in_order = has_levels(s),
		.threads = route_threads(job), .cancelled = job->cancelled,
	}, r, NULL);
	if (plan->spread->some_lmc)
		lid_spread(&(struct lid_spread_job){
			.graph = plan->graph, .distances = plan->distances,
			.previous = c ? c->previous : NULL, .limit = UINT32_MAX,
			.cancelled = job->cancelled,
		}, r);
}

/* The entries of end ports as another engine left them. */
static void copy_entries(const struct dmodk *s, const struct route_memo_entry *from,
			 struct routes *r)
{
	for (uint32_t u = 0; u < r->topo->n_switches; u++) {
		const uint8_t *row = from->rows + (size_t)u * from->row_size;

		for (uint32_t i = 0; i < s->n; i++)
			if (s->hot[i].port && s->hot[i].lid < r->topo->switches[u].lft_cap)
				routes_row(r, u)[s->hot[i].lid] = row[s->hot[i].lid];
	}
}

/* All engines of shortest paths place destinations alike, but for weights. */
static void fill_by_load(const struct fill *f, struct routes *r)
{
	const struct route_job *job = f->job;
	const struct dmodk_plan *spread = &f->how->spread;
	struct route_memo *memo =
		job->previous || f->how->tree || spread->from_above || spread->apart ? NULL
										     : job->memo;
	uint64_t key = hash_ports(HASH_START, job->options.weights, job->options.n_weights);
	const struct route_memo_entry *known = route_memo_find(memo, MEMO_PLACED, key, r);

	if (known) {
		copy_entries(f->spread, known, r);
		return;
	}
	place_by_load(job, &f->plan, r);
	route_memo_leave(memo, MEMO_PLACED, key, r, 0);
}

static void plan_rows(struct fill *f)
{
	const struct route_job *job = f->job;
	const struct fill_plan *how = f->how;

	f->spread = dmodk_new(how->graph, how->distances, &how->spread);
	f->hops = xmalloc((size_t)how->graph->n * how->graph->n);
	f->downs = how->tree
			   ? xmalloc((how->graph->n + 63) / 64 * how->graph->n * sizeof(*f->downs))
			   : NULL;
	hops_by_target(how->distances, route_threads(job), f->hops, f->downs);
	f->plan = (struct port_select_plan){
		.graph = how->graph,
		.distances = how->distances,
		.spread = f->spread,
		.options = &job->options,
		.oriented = how->tree,
	};
	if (job->previous)
		f->plan.change = f->change = change_new(how->graph, f->spread, f->hops, f->downs,
							job->previous, keeps_previous(f));
	use_order(f);
	use_ignored(f);
	f->plan.switches_only = fill_is_flat(job, how, f->spread);
	f->plan.likes = f->likes = port_select_likes_new(&f->plan);
}

struct routes *fill_tables(const struct route_job *job, const struct fill_plan *how)
{
	_cleanup_(fill_done) struct fill f = { .job = job, .how = how };
	_cleanup_(routes_unrefp) struct routes *r = NULL;

	assert(how->engine && how->graph->topo == job->topo && how->distances);
	plan_rows(&f);
	r = routes_new_unset(job->topo, how->engine, unassigned_top(job->topo, job->previous));
	fill_rows(&f, r);
	if (f.plan.switches_only)
		fill_by_load(&f, r);
	if (f.change && (f.change->gains || !f.change->compares))
		unassigned_open_loops(r);
	r->hops = take(f.hops);
	r->downs = take(f.downs);
	if (how->tree)
		r->places = xmemdup(how->tree->place, how->tree->n * sizeof(*r->places));
	r->options = fill_options(how, &job->options);
	r->expected_load = f.plan.switches_only ? 0 : f.spread->expected_load;
	return route_is_cancelled(job) ? NULL : take(r);
}
