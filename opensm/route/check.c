// SPDX-License-Identifier: BSD-2-Clause
/*
 * The judge. Follows what the tables say, never what an engine meant.
 *
 * One column (one destination LID) is a graph in which every switch has one way out. Nearly always
 * every step of it comes one hop nearer to the destination; then one pass over the switches in
 * order of decreasing distance proves that all arrive and sums the flows on every channel. That
 * order is the same for all LIDs of a switch. A column with any other step is followed switch by
 * switch. Columns are taken 64 at a time, because that is how the rows lie in memory.
 *
 * The channel dependency graph collects, for flows between end ports, which channel is used
 * directly after which; a cycle in it is a possible deadlock on one lane (Dally and Seitz).
 */
#include "route/check.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "route/depend.h"
#include "route/graph.h"
#include "util/mem.h"

/* What a LID belongs to. */
struct target {
	uint32_t sw; /* TOPO_NONE: nobody */
	uint8_t port;
};

struct judge {
	const struct routes *routes;
	const struct topo *topo;
	struct graph *graph;
	struct distances *distances;
	uint32_t n_ports;      /* entries of topo->ports; a channel is an index there */
	uint32_t *sources;     /* per switch: end ports with a LID */
	uint64_t n_sources;
	struct target *targets;/* per LID */
	unsigned top;          /* highest LID that tables or ports have */
	struct dependency_graph *dependencies;
	uint16_t *order;       /* row row_of[at]: farthest from `at` first, unconnected last */
	uint32_t *row_of;      /* per switch with sources */
	uint32_t *n_order;     /* per switch: how many have a path to it */
};

/* What one thread saw. */
struct witness {
	const struct judge *j;
	uint8_t *columns;      /* columns[i * n + sw] for 64 LIDs */
	uint32_t *next;        /* per switch, for the column at hand */
	uint32_t *flow;
	uint8_t *fate;
	uint32_t *hops, *path, *bucket;
	bool *fits;            /* per switch: its table has the LID, and a cable leads on to one that has */
	uint32_t *load;        /* per channel */
	struct dependency_walk *walk;
	uint64_t hop_sum;
	struct route_verdict v;
};

enum fate {
	FATE_UNKNOWN,
	FATE_WALKING,
	FATE_ARRIVES,
	FATE_LOST,
	FATE_LOOPS,
};

#define ARRIVED (TOPO_NONE - 1)
#define LOST TOPO_NONE

static void find_targets(struct judge *j)
{
	const struct topo *t = j->topo;

	for (unsigned lid = 0; lid <= j->top; lid++)
		j->targets[lid].sw = TOPO_NONE;
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned k = 0; t->switches[s].lid && k < 1u << t->switches[s].lmc; k++)
			j->targets[t->switches[s].lid + k] = (struct target){ .sw = s };
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		const struct topo_host *host = &t->hosts[h];

		if (host->sw == TOPO_NONE || !host->lid)
			continue;
		j->sources[host->sw]++;
		j->n_sources++;
		for (unsigned k = 0; k < 1u << host->lmc; k++)
			j->targets[host->lid + k] =
				(struct target){ .sw = host->sw, .port = host->sw_port };
	}
}

/* Counting sort by distance, farthest first; distances are symmetric without weights. */
static void find_order(struct judge *j, uint32_t at, uint32_t *bucket)
{
	const uint16_t *dist = distances_from(j->distances, at);
	uint32_t n = j->topo->n_switches, sum = 0, far = 0;
	uint16_t *order;

	memset(bucket, 0, ((size_t)n + 1) * sizeof(*bucket));
	for (uint32_t s = 0; s < n; s++)
		if (dist[s] != DISTANCE_NONE) {
			bucket[dist[s]]++;
			far = MAX(far, dist[s]);
			j->n_order[at]++;
		}
	if (!j->sources[at])
		return;
	order = j->order + (size_t)j->row_of[at] * n;
	for (uint32_t d = far + 1; d-- > 0;) {
		uint32_t here = bucket[d];

		bucket[d] = sum;
		sum += here;
	}
	for (uint32_t s = 0; s < n; s++)
		order[dist[s] == DISTANCE_NONE ? sum++ : bucket[dist[s]]++] = (uint16_t)s;
}

static void judge_done(struct judge *j)
{
	graph_free(j->graph);
	distances_free(j->distances);
	free(j->sources);
	free(j->targets);
	free(j->order);
	free(j->row_of);
	free(j->n_order);
	dependency_graph_free(j->dependencies);
}

static void judge_begin(struct judge *j, const struct routes *r, unsigned threads)
{
	uint32_t n = r->topo->n_switches, rows = 0;

	j->routes = r;
	j->topo = r->topo;
	for (uint32_t s = 0; s < n; s++)
		j->n_ports += r->topo->switches[s].n_ports + 1u;
	j->graph = graph_new(r->topo, NULL);
	j->distances = distances_new(j->graph, threads, NULL);
	j->sources = xcalloc(n, sizeof(*j->sources));
	j->top = MAX(r->top, r->topo->max_lid);
	j->targets = xcalloc(j->top + 1u, sizeof(*j->targets));
	j->dependencies = dependency_graph_new(r->topo, r->lanes);
	j->row_of = xcalloc(n, sizeof(*j->row_of));
	j->n_order = xcalloc(n, sizeof(*j->n_order));
	find_targets(j);
	for (uint32_t s = 0; s < n; s++)
		j->row_of[s] = j->sources[s] ? rows++ : TOPO_NONE;
	j->order = xcalloc((size_t)rows * n, sizeof(*j->order));
#pragma omp parallel num_threads(threads)
	{
		uint32_t *bucket = xcalloc((size_t)n + 1, sizeof(*bucket));

#pragma omp for schedule(static)
		for (uint32_t at = 0; at < n; at++)
			find_order(j, at, bucket);
		free(bucket);
	}
}

static struct witness *witness_new(const struct judge *j)
{
	struct witness *w = xcalloc(1, sizeof(*w));
	uint32_t n = j->topo->n_switches;

	w->j = j;
	w->columns = xcalloc(LFT_BLOCK_LIDS, n);
	w->next = xcalloc(n, sizeof(*w->next));
	w->flow = xcalloc(n, sizeof(*w->flow));
	w->fate = xcalloc(n, sizeof(*w->fate));
	w->hops = xcalloc(n, sizeof(*w->hops));
	w->path = xcalloc(n, sizeof(*w->path));
	w->bucket = xcalloc((size_t)n + 1, sizeof(*w->bucket));
	w->fits = xcalloc(n, sizeof(*w->fits));
	w->load = xcalloc(j->n_ports, sizeof(*w->load));
	w->walk = dependency_walk_new(j->dependencies);
	return w;
}

static struct witness *witness_free(struct witness *w)
{
	if (!w)
		return NULL;
	free(w->columns);
	free(w->next);
	free(w->flow);
	free(w->fate);
	free(w->hops);
	free(w->path);
	free(w->bucket);
	free(w->fits);
	free(w->load);
	dependency_walk_free(w->walk);
	free(w);
	return NULL;
}

/* Where switch `s` sends what leaves through `port`. */
static uint32_t step(const struct judge *j, uint32_t s, uint8_t port, struct target to)
{
	if (s == to.sw && port == to.port)
		return ARRIVED;
	if (!port || port > j->topo->switches[s].n_ports)
		return LOST;
	return topo_port(j->topo, s, port)->sw; /* TOPO_NONE is LOST */
}

/* Fills next[]; true if every step comes one hop nearer and whoever has no path has no entry. */
static bool is_descent(struct witness *w, const uint8_t *column, struct target to)
{
	const struct judge *j = w->j;
	uint32_t n = j->topo->n_switches;
	const uint16_t *dist = distances_from(j->distances, to.sw);
	bool ok = true;

	for (uint32_t s = 0; s < n; s++)
		w->next[s] = step(j, s, column[s], to);
	for (uint32_t s = 0; s < n && ok; s++)
		if (w->next[s] < n)
			ok = dist[w->next[s]] + 1u == dist[s];
		else
			ok = w->next[s] == ARRIVED ? s == to.sw : dist[s] == DISTANCE_NONE;
	return ok && w->next[to.sw] == ARRIVED;
}

/* Which paths there are does not depend on the destination's port. */
static void note_dependencies(struct witness *w, const uint8_t *column, lid_t lid, uint32_t at, uint32_t n)
{
	dependency_add_column(w->walk, &(struct dependency_column){
		.ports = column, .next = w->next, .order = w->path, .n_order = n, .at = at, .lid = lid,
	});
}

static void sum_descent(struct witness *w, const uint8_t *column, lid_t lid, struct target to)
{
	const struct judge *j = w->j;
	const uint16_t *dist = distances_from(j->distances, to.sw);
	uint32_t n = j->topo->n_switches, reach = j->n_order[to.sw], farthest = 0, away;
	const uint16_t *order = j->order + (size_t)j->row_of[to.sw] * n;

	memcpy(w->flow, j->sources, n * sizeof(*w->flow));
	for (uint32_t i = 0; i + 1 < reach; i++) {
		uint32_t s = order[i], flow = w->flow[s];

		w->path[i] = s;
		if (!flow)
			continue;
		farthest = MAX(farthest, dist[s]);
		w->load[j->topo->switches[s].first_port + column[s]] += flow;
		w->flow[w->next[s]] += flow;
		w->hop_sum += flow;
	}
	note_dependencies(w, column, lid, to.sw, reach - 1);
	away = (uint32_t)j->n_sources - w->flow[to.sw];
	w->v.pairs += j->n_sources - 1;
	w->v.unreachable += away;
	w->v.cut += away;
	w->v.max_hops = MAX(w->v.max_hops, farthest);
}

/* Follows one switch until its fate is known, then writes it to all on the way. */
static void follow(struct witness *w, uint32_t s)
{
	uint32_t n = 0, hops = 0;
	enum fate fate;

	while (s < w->j->topo->n_switches && w->fate[s] == FATE_UNKNOWN) {
		w->fate[s] = FATE_WALKING;
		w->path[n++] = s;
		s = w->next[s];
	}
	if (s == ARRIVED)
		fate = FATE_ARRIVES;
	else if (s == LOST)
		fate = FATE_LOST;
	else
		fate = w->fate[s] == FATE_WALKING ? FATE_LOOPS : (enum fate)w->fate[s];
	if (s < w->j->topo->n_switches)
		hops = w->hops[s] + 1;
	while (n-- > 0) {
		w->fate[w->path[n]] = (uint8_t)fate;
		w->hops[w->path[n]] = hops++;
	}
}

/* Sorts by hops to the end, farthest first, into w->path. Returns how many switches have this fate. */
static uint32_t sort_by_hops(struct witness *w, enum fate fate)
{
	uint32_t n = w->j->topo->n_switches, sum = 0;

	memset(w->bucket, 0, ((size_t)n + 1) * sizeof(*w->bucket));
	for (uint32_t s = 0; s < n; s++)
		if (w->fate[s] == fate)
			w->bucket[w->hops[s]]++;
	for (uint32_t h = n; h-- > 0;) {
		uint32_t here = w->bucket[h];

		w->bucket[h] = sum;
		sum += here;
	}
	for (uint32_t s = 0; s < n; s++)
		if (w->fate[s] == fate)
			w->path[w->bucket[w->hops[s]]++] = s;
	return sum;
}

/* Loads of what arrives; dependencies of whatever end ports send, whether it arrives or not. */
static void sum_ways(struct witness *w, const uint8_t *column, lid_t lid, uint32_t to)
{
	const struct judge *j = w->j;
	uint32_t n = sort_by_hops(w, FATE_ARRIVES);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = w->path[i], flow = w->flow[s];

		if (!flow || s == to)
			continue;
		w->load[j->topo->switches[s].first_port + column[s]] += flow;
		w->flow[w->next[s]] += flow;
		w->hop_sum += flow;
	}
	note_dependencies(w, column, lid, to, n);
	n = sort_by_hops(w, FATE_LOST);
	note_dependencies(w, column, lid, to, n);
	for (uint32_t s = 0; s < j->topo->n_switches; s++)
		if (w->fate[s] == FATE_LOOPS && j->sources[s])
			dependency_add_way(w->walk, &(struct dependency_column){
				.ports = column, .next = w->next, .at = to, .lid = lid }, s);
}

/* Sets fits[]: from where any table could lead to `to`, given how many LIDs the tables have room for. */
static void find_fitting(struct witness *w, lid_t lid, uint32_t to)
{
	const struct judge *j = w->j;
	const struct topo *t = j->topo;
	const uint16_t *dist = distances_from(j->distances, to);
	bool all = true;
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++) {
		w->fits[s] = dist[s] != DISTANCE_NONE;
		all &= !w->fits[s] || lid < t->switches[s].lft_cap;
	}
	if (all)
		return;
	memset(w->fits, 0, t->n_switches * sizeof(*w->fits));
	if (lid >= t->switches[to].lft_cap)
		return;
	w->fits[to] = true;
	w->path[n++] = to;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = j->graph->first[w->path[i]]; k < j->graph->first[w->path[i] + 1]; k++) {
			uint32_t s = j->graph->groups[k].to;

			if (w->fits[s] || lid >= t->switches[s].lft_cap)
				continue;
			w->fits[s] = true;
			w->path[n++] = s;
		}
}

/* The pair that is told as an example: of the lowest LID, from the lowest switch. */
static void note_lost(struct route_verdict *v, const struct route_lost *lost)
{
	if (!v->lost_example.to || lost->to < v->lost_example.to ||
	    (lost->to == v->lost_example.to && lost->from < v->lost_example.from))
		v->lost_example = *lost;
}

/* `n` pairs from switch `s` have no path. */
static void count_missing(struct witness *w, uint32_t s, lid_t lid, uint32_t n)
{
	uint32_t end = s;

	w->v.unreachable += n;
	if (!w->fits[s]) {
		w->v.cut += n;
		return;
	}
	w->v.lost += n;
	for (uint32_t i = 0; i < w->hops[s]; i++)
		end = w->next[end];
	note_lost(&w->v, &(struct route_lost){ .to = lid, .from = s, .end = end,
					       .loops = w->fate[s] == FATE_LOOPS });
}

static void sum_any(struct witness *w, const uint8_t *column, lid_t lid, struct target to)
{
	const struct judge *j = w->j;
	const uint16_t *dist = distances_from(j->distances, to.sw);
	uint32_t n = j->topo->n_switches;

	memset(w->fate, FATE_UNKNOWN, n);
	for (uint32_t s = 0; s < n; s++)
		follow(w, s);
	find_fitting(w, lid, to.sw);
	memcpy(w->flow, j->sources, n * sizeof(*w->flow));
	w->v.pairs += j->n_sources - 1;
	for (uint32_t s = 0; s < n; s++) {
		uint32_t own = j->sources[s] - (s == to.sw);

		if (!own)
			continue;
		if (w->fate[s] == FATE_LOOPS)
			w->v.looping += own;
		if (w->fate[s] != FATE_ARRIVES) {
			count_missing(w, s, lid, own);
			continue;
		}
		w->v.max_hops = MAX(w->v.max_hops, w->hops[s]);
		w->v.detours += w->hops[s] != dist[s] ? own : 0;
	}
	sum_ways(w, column, lid, to.sw);
}

static void judge_switch(struct witness *w, struct target to)
{
	uint32_t n = w->j->topo->n_switches;

	memset(w->fate, FATE_UNKNOWN, n);
	for (uint32_t s = 0; s < n; s++)
		follow(w, s);
	for (uint32_t s = 0; s < n; s++)
		w->v.switch_unreachable += w->fate[s] != FATE_ARRIVES;
}

static void judge_column(struct witness *w, const uint8_t *column, lid_t lid)
{
	struct target to = w->j->targets[lid];
	bool descent = is_descent(w, column, to);

	if (!to.port) {
		if (descent)
			w->v.switch_unreachable += w->j->topo->n_switches - w->j->n_order[to.sw];
		else
			judge_switch(w, to);
		return;
	}
	if (descent)
		sum_descent(w, column, lid, to);
	else
		sum_any(w, column, lid, to);
}

/* 64 LIDs: turns rows into columns, then judges those that belong to somebody. */
static void judge_block(struct witness *w, uint32_t first)
{
	const struct judge *j = w->j;
	uint32_t n = j->topo->n_switches, last = MIN(first + LFT_BLOCK_LIDS - 1, j->top);

	for (uint32_t s = 0; s < n; s++) {
		const uint8_t *row = routes_row(j->routes, s);
		uint32_t end = MIN((uint32_t)j->topo->switches[s].lft_cap, j->routes->top + 1u);

		for (uint32_t lid = first; lid <= last; lid++)
			w->columns[(size_t)(lid - first) * n + s] = lid < end ? row[lid] : LFT_NO_PORT;
	}
	for (uint32_t lid = first; lid <= last; lid++)
		if (j->targets[lid].sw != TOPO_NONE)
			judge_column(w, w->columns + (size_t)(lid - first) * n, (lid_t)lid);
}

static void merge(struct witness *all, const struct witness *w)
{
	const struct judge *j = w->j;

	for (uint32_t c = 0; c < j->n_ports; c++)
		all->load[c] += w->load[c];
	all->hop_sum += w->hop_sum;
	all->v.pairs += w->v.pairs;
	all->v.unreachable += w->v.unreachable;
	all->v.cut += w->v.cut;
	all->v.lost += w->v.lost;
	all->v.looping += w->v.looping;
	all->v.detours += w->v.detours;
	if (w->v.lost_example.to)
		note_lost(&all->v, &w->v.lost_example);
	all->v.switch_unreachable += w->v.switch_unreachable;
	all->v.max_hops = MAX(all->v.max_hops, w->v.max_hops);
}

static void judge_all(struct witness *all, unsigned threads)
{
	const struct judge *j = all->j;

#pragma omp parallel num_threads(threads)
	{
		struct witness *w = witness_new(j);

#pragma omp for schedule(dynamic, 1)
		for (uint32_t first = 0; first <= j->top; first += LFT_BLOCK_LIDS)
			judge_block(w, first);
#pragma omp critical
		merge(all, w);
		witness_free(w);
	}
}

static void sum_loads(const struct witness *all, struct route_verdict *v)
{
	uint64_t sum = 0;
	uint32_t channels = 0;

	v->min_load = UINT32_MAX;
	for (uint32_t c = 0; c < all->j->n_ports; c++) {
		if (all->j->topo->ports[c].sw == TOPO_NONE)
			continue;
		channels++;
		sum += all->load[c];
		v->max_load = MAX(v->max_load, all->load[c]);
		v->min_load = MIN(v->min_load, all->load[c]);
	}
	v->avg_load = channels ? (double)sum / channels : 0;
	if (!channels)
		v->min_load = 0;
}

/* Lanes that carry something, and SLs that end ports are given. */
static void count_lanes(const struct judge *j, struct route_verdict *v)
{
	const struct lanes *l = j->routes->lanes;
	uint16_t sls = 0;

	v->n_vls = (unsigned)__builtin_popcount(dependency_graph_vls(j->dependencies));
	if (!l || l->by == LANES_BY_NOTHING) {
		v->n_sls = 1;
		return;
	}
	for (uint32_t s = 0; s < j->topo->n_switches; s++)
		for (unsigned lid = 0; j->sources[s] && lid <= j->top; lid++)
			if (j->targets[lid].sw != TOPO_NONE && j->targets[lid].port)
				sls |= (uint16_t)(1u << lanes_sl(l, s, j->targets[lid].sw, (lid_t)lid, 0));
	v->n_sls = (unsigned)__builtin_popcount(sls);
}

static void judge(const struct routes *r, unsigned threads, struct route_verdict *ret,
		  struct dependency_graph **graph)
{
	_cleanup_(judge_done) struct judge j = { .routes = NULL };
	struct witness *all;

	if (!threads)
		threads = (unsigned)omp_get_max_threads();
	judge_begin(&j, r, threads);
	all = witness_new(&j);
	judge_all(all, threads);
	*ret = all->v;
	ret->minimal = !ret->detours;
	count_lanes(&j, ret);
	ret->cycle_channels = dependency_graph_on_cycles(j.dependencies);
	ret->credit_loop = ret->cycle_channels;
	if (graph)
		*graph = take(j.dependencies);
	if (ret->pairs > ret->unreachable)
		ret->avg_hops = (double)all->hop_sum / (double)(ret->pairs - ret->unreachable);
	sum_loads(all, ret);
	witness_free(all);
}

void routes_check(const struct routes *r, unsigned threads, struct route_verdict *ret)
{
	judge(r, threads, ret, NULL);
}

void routes_check_graph(const struct routes *r, unsigned threads, struct route_verdict *ret,
			struct dependency_graph **graph)
{
	judge(r, threads, ret, graph);
}

struct dependency_graph *dependency_graph_of(const struct routes *r, unsigned threads)
{
	struct dependency_graph *g = NULL;
	struct route_verdict v;

	judge(r, threads, &v, &g);
	return g;
}

char *route_verdict_str(const struct route_verdict *v, char ret[ROUTE_VERDICT_STRLEN])
{
	char reach[96], lanes[64];

	if (v->unreachable)
		snprintf(reach, sizeof(reach), "%llu of %llu pairs have no path (%llu going round)",
			 (unsigned long long)v->unreachable, (unsigned long long)v->pairs,
			 (unsigned long long)v->looping);
	else
		snprintf(reach, sizeof(reach), "all %llu pairs reach",
			 (unsigned long long)v->pairs);
	if (v->credit_loop)
		snprintf(lanes, sizeof(lanes), "credit loops over %u channels", v->cycle_channels);
	else
		snprintf(lanes, sizeof(lanes), "no credit loop");
	snprintf(ret, ROUTE_VERDICT_STRLEN, "%s, %s, hops %.2f/%u%s, load %u/%.0f/%u", reach, lanes,
		 v->avg_hops, v->max_hops, v->minimal ? "" : " (not minimal)", v->min_load,
		 v->avg_load, v->max_load);
	return ret;
}
