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

#include "route/graph.h"
#include "util/mem.h"

#define WORDS 4 /* 256 ports */

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
	uint64_t hosts_beyond, switches_beyond; /* LIDs above the top of the tables */
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
	bool *carries;
	uint32_t *load;        /* per channel */
	uint64_t *follows;     /* follows[channel * WORDS]: ports taken after it */
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

	for (unsigned lid = 0; lid <= j->routes->top; lid++)
		j->targets[lid].sw = TOPO_NONE;
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned k = 0; t->switches[s].lid && k < 1u << t->switches[s].lmc; k++)
			if (t->switches[s].lid + k <= j->routes->top)
				j->targets[t->switches[s].lid + k] = (struct target){ .sw = s };
			else
				j->switches_beyond++;
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		const struct topo_host *host = &t->hosts[h];

		if (host->sw == TOPO_NONE || !host->lid)
			continue;
		j->sources[host->sw]++;
		j->n_sources++;
		for (unsigned k = 0; k < 1u << host->lmc; k++)
			if (host->lid + k <= j->routes->top)
				j->targets[host->lid + k] =
					(struct target){ .sw = host->sw, .port = host->sw_port };
			else
				j->hosts_beyond++;
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
	j->targets = xcalloc(r->top + 1u, sizeof(*j->targets));
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
	w->carries = xcalloc(n, sizeof(*w->carries));
	w->load = xcalloc(j->n_ports, sizeof(*w->load));
	w->follows = xcalloc((size_t)j->n_ports * WORDS, sizeof(*w->follows));
	w->v.minimal = true;
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
	free(w->carries);
	free(w->load);
	free(w->follows);
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

static void note_dependency(struct witness *w, uint32_t s, uint8_t port, uint8_t then)
{
	size_t channel = w->j->topo->switches[s].first_port + port;
	uint64_t *follows = &w->follows[channel * WORDS];

	follows[then / 64] |= UINT64_C(1) << then % 64;
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

static void sum_descent(struct witness *w, const uint8_t *column, struct target to)
{
	const struct judge *j = w->j;
	uint32_t n = j->topo->n_switches, reach = j->n_order[to.sw];
	const uint16_t *order = j->order + (size_t)j->row_of[to.sw] * n;
	uint32_t farthest = 0;

	memcpy(w->flow, j->sources, n * sizeof(*w->flow));
	for (uint32_t i = 0; i + 1 < reach; i++) {
		uint32_t s = order[i], v = w->next[s], flow = w->flow[s];

		if (!flow)
			continue;
		farthest = MAX(farthest, distances_from(j->distances, to.sw)[s]);
		w->load[j->topo->switches[s].first_port + column[s]] += flow;
		w->flow[v] += flow;
		w->hop_sum += flow;
		if (v != to.sw)
			note_dependency(w, s, column[s], column[v]);
	}
	w->v.pairs += j->n_sources - 1;
	w->v.unreachable += j->n_sources - w->flow[to.sw];
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

/* Dependencies of whatever end ports send, whether it arrives or not. */
static void note_all_dependencies(struct witness *w, const uint8_t *column)
{
	uint32_t n = w->j->topo->n_switches;

	memset(w->carries, 0, n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t s = i; w->j->sources[i] && s < n && !w->carries[s]; s = w->next[s])
			w->carries[s] = true;
	for (uint32_t s = 0; s < n; s++)
		if (w->carries[s] && w->next[s] < n && w->next[w->next[s]] < n)
			note_dependency(w, s, column[s], column[w->next[s]]);
}

/* Loads of what arrives, farthest first. Sorting by hops in w->path. */
static void sum_arriving(struct witness *w, const uint8_t *column, uint32_t to)
{
	const struct judge *j = w->j;
	uint32_t n = j->topo->n_switches, sum = 0;

	memset(w->bucket, 0, ((size_t)n + 1) * sizeof(*w->bucket));
	for (uint32_t s = 0; s < n; s++)
		if (w->fate[s] == FATE_ARRIVES)
			w->bucket[w->hops[s]]++;
	for (uint32_t h = n; h-- > 0;) {
		uint32_t here = w->bucket[h];

		w->bucket[h] = sum;
		sum += here;
	}
	for (uint32_t s = 0; s < n; s++)
		if (w->fate[s] == FATE_ARRIVES)
			w->path[w->bucket[w->hops[s]]++] = s;
	for (uint32_t i = 0; i < sum; i++) {
		uint32_t s = w->path[i], flow = w->flow[s];

		if (!flow || s == to)
			continue;
		w->load[j->topo->switches[s].first_port + column[s]] += flow;
		w->flow[w->next[s]] += flow;
		w->hop_sum += flow;
	}
}

static void sum_any(struct witness *w, const uint8_t *column, struct target to)
{
	const struct judge *j = w->j;
	const uint16_t *dist = distances_from(j->distances, to.sw);
	uint32_t n = j->topo->n_switches;

	memset(w->fate, FATE_UNKNOWN, n);
	for (uint32_t s = 0; s < n; s++)
		follow(w, s);
	memcpy(w->flow, j->sources, n * sizeof(*w->flow));
	w->v.pairs += j->n_sources - 1;
	for (uint32_t s = 0; s < n; s++) {
		uint32_t own = j->sources[s] - (s == to.sw);

		if (!own)
			continue;
		if (w->fate[s] == FATE_LOOPS)
			w->v.looping += own;
		if (w->fate[s] != FATE_ARRIVES) {
			w->v.unreachable += own;
			continue;
		}
		w->v.max_hops = MAX(w->v.max_hops, w->hops[s]);
		w->v.minimal &= w->hops[s] == dist[s];
	}
	sum_arriving(w, column, to.sw);
	note_all_dependencies(w, column);
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

static void judge_column(struct witness *w, const uint8_t *column, struct target to)
{
	bool descent = is_descent(w, column, to);

	if (!to.port) {
		if (descent)
			w->v.switch_unreachable += w->j->topo->n_switches - w->j->n_order[to.sw];
		else
			judge_switch(w, to);
		return;
	}
	if (descent)
		sum_descent(w, column, to);
	else
		sum_any(w, column, to);
}

/* 64 LIDs: turns rows into columns, then judges those that belong to somebody. */
static void judge_block(struct witness *w, uint32_t first)
{
	const struct judge *j = w->j;
	uint32_t n = j->topo->n_switches, last = MIN(first + LFT_BLOCK_LIDS - 1, j->routes->top);

	for (uint32_t s = 0; s < n; s++) {
		const uint8_t *row = routes_row(j->routes, s);

		for (uint32_t lid = first; lid <= last; lid++)
			w->columns[(size_t)(lid - first) * n + s] =
				lid < j->topo->switches[s].lft_cap ? row[lid] : LFT_NO_PORT;
	}
	for (uint32_t lid = first; lid <= last; lid++)
		if (j->targets[lid].sw != TOPO_NONE)
			judge_column(w, w->columns + (size_t)(lid - first) * n, j->targets[lid]);
}

static void merge(struct witness *all, const struct witness *w)
{
	const struct judge *j = w->j;

	for (uint32_t c = 0; c < j->n_ports; c++)
		all->load[c] += w->load[c];
	for (size_t i = 0; i < (size_t)j->n_ports * WORDS; i++)
		all->follows[i] |= w->follows[i];
	all->hop_sum += w->hop_sum;
	all->v.pairs += w->v.pairs;
	all->v.unreachable += w->v.unreachable;
	all->v.looping += w->v.looping;
	all->v.switch_unreachable += w->v.switch_unreachable;
	all->v.max_hops = MAX(all->v.max_hops, w->v.max_hops);
	all->v.minimal &= w->v.minimal;
}

static void judge_all(struct witness *all, unsigned threads)
{
	const struct judge *j = all->j;

#pragma omp parallel num_threads(threads)
	{
		struct witness *w = witness_new(j);

#pragma omp for schedule(dynamic, 1)
		for (uint32_t first = 0; first <= j->routes->top; first += LFT_BLOCK_LIDS)
			judge_block(w, first);
#pragma omp critical
		merge(all, w);
		witness_free(w);
	}
}

/* Tarjan's strongly connected components over channels, with a stack of our own. */
struct cycles {
	const struct judge *j;
	const uint64_t *follows;
	uint32_t *number, *low; /* number 0: not seen */
	uint32_t *stack, *calls;
	uint16_t *at;           /* port to try next */
	bool *on_stack;
	uint32_t n_stack, n_calls, n_seen;
	uint32_t on_cycles;
};

static void enter_channel(struct cycles *c, uint32_t channel)
{
	c->number[channel] = c->low[channel] = ++c->n_seen;
	c->stack[c->n_stack++] = channel;
	c->on_stack[channel] = true;
	c->calls[c->n_calls++] = channel;
}

/* Next channel used after `channel` that was not tried yet; TOPO_NONE: all were. */
static uint32_t next_channel(struct cycles *c, uint32_t channel)
{
	const uint64_t *follows = c->follows + (size_t)channel * WORDS;
	uint32_t to = c->j->topo->ports[channel].sw;

	for (unsigned port = c->at[channel]; port < 64 * WORDS; port++) {
		if (!(follows[port / 64] >> port % 64)) {
			port |= 63;
			continue;
		}
		if (!(follows[port / 64] >> port % 64 & 1))
			continue;
		c->at[channel] = (uint16_t)(port + 1);
		return c->j->topo->switches[to].first_port + port;
	}
	c->at[channel] = 64 * WORDS;
	return TOPO_NONE;
}

static void leave_channel(struct cycles *c, uint32_t channel)
{
	uint32_t size = 0, other;

	c->n_calls--;
	if (c->n_calls) {
		uint32_t caller = c->calls[c->n_calls - 1];

		c->low[caller] = MIN(c->low[caller], c->low[channel]);
	}
	if (c->low[channel] != c->number[channel])
		return;
	do {
		other = c->stack[--c->n_stack];
		c->on_stack[other] = false;
		size++;
	} while (other != channel);
	/* A channel cannot follow itself: it starts at one switch and ends at another. */
	if (size > 1)
		c->on_cycles += size;
}

static void search_cycles(struct cycles *c, uint32_t from)
{
	enter_channel(c, from);
	while (c->n_calls) {
		uint32_t channel = c->calls[c->n_calls - 1], then = next_channel(c, channel);

		if (then == TOPO_NONE)
			leave_channel(c, channel);
		else if (!c->number[then])
			enter_channel(c, then);
		else if (c->on_stack[then])
			c->low[channel] = MIN(c->low[channel], c->number[then]);
	}
}

static uint32_t channels_on_cycles(const struct judge *j, const uint64_t *follows)
{
	uint32_t n = j->n_ports;
	struct cycles c = {
		.j = j, .follows = follows,
		.number = xcalloc(n, sizeof(*c.number)), .low = xcalloc(n, sizeof(*c.low)),
		.stack = xcalloc(n, sizeof(*c.stack)), .calls = xcalloc(n, sizeof(*c.calls)),
		.at = xcalloc(n, sizeof(*c.at)), .on_stack = xcalloc(n, sizeof(*c.on_stack)),
	};

	for (uint32_t i = 0; i < n; i++)
		if (!c.number[i] && j->topo->ports[i].sw != TOPO_NONE)
			search_cycles(&c, i);
	free(c.number);
	free(c.low);
	free(c.stack);
	free(c.calls);
	free(c.at);
	free(c.on_stack);
	return c.on_cycles;
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

void routes_check(const struct routes *r, unsigned threads, struct route_verdict *ret)
{
	_cleanup_(judge_done) struct judge j = { .routes = NULL };
	struct witness *all;

	if (!threads)
		threads = (unsigned)omp_get_max_threads();
	judge_begin(&j, r, threads);
	all = witness_new(&j);
	judge_all(all, threads);
	*ret = all->v;
	ret->pairs += j.hosts_beyond * (j.n_sources - 1);
	ret->unreachable += j.hosts_beyond * (j.n_sources - 1);
	ret->switch_unreachable += j.switches_beyond * r->topo->n_switches;
	ret->cycle_channels = channels_on_cycles(&j, all->follows);
	ret->credit_loop = ret->cycle_channels;
	if (ret->pairs > ret->unreachable)
		ret->avg_hops = (double)all->hop_sum / (double)(ret->pairs - ret->unreachable);
	sum_loads(all, ret);
	witness_free(all);
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
