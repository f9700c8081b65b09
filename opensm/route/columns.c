// SPDX-License-Identifier: BSD-2-Clause
/*
 * Destinations are taken switch by switch, in batches: within a batch every switch sees the loads
 * as they were before it plus its own, so a batch may run in parallel and the result does not
 * depend on how many threads did it. A second and third round takes each destination out again
 * and routes it anew among all others.
 */
#include "route/columns.h"

#include <string.h>

#include "route/cancel.h"
#include "util/mem.h"

#define BATCH 4
#define ROUNDS 3 /* the first places, the others improve */

struct choice {
	uint32_t channel; /* index of the port in topo->ports */
	uint32_t next;
	uint8_t port;
	bool is_new;      /* it was no shortest way before */
};

/* All shortest ways to one switch. */
struct ways {
	uint32_t *order;  /* switches that reach it, nearest first, without itself */
	uint32_t n;
	uint32_t *first;  /* n + 1: choices of order[i] */
	struct choice *choices;
};

/* Work space for one switch of a batch. */
struct column {
	struct ways ways;
	uint32_t *bucket;
	uint64_t *cost;   /* per switch: load of its path */
	uint32_t *flow;   /* per switch */
	uint32_t *chosen; /* per place in order: index of its choice */
	int64_t *change;  /* per channel: what this switch adds to the loads */
};

struct columns {
	const struct place_plan *plan;
	struct routes *routes;
	uint32_t n, n_ports;
	uint32_t *sources;/* per switch: end ports */
	int64_t *load;    /* per channel, between batches */
	uint8_t *at;      /* choice of every (destination, switch), as port; 0: none yet */
};

static void column_init(struct column *c, const struct columns *all)
{
	uint32_t cables = all->plan->graph->first[all->n];
	size_t most = 0;

	for (uint32_t i = 0; i < cables; i++)
		most += all->plan->graph->groups[i].n_ports;
	c->ways.order = xcalloc(all->n, sizeof(*c->ways.order));
	c->ways.first = xcalloc((size_t)all->n + 1, sizeof(*c->ways.first));
	c->ways.choices = xcalloc(most, sizeof(*c->ways.choices));
	c->bucket = xcalloc((size_t)all->n + 2, sizeof(*c->bucket));
	c->cost = xcalloc(all->n, sizeof(*c->cost));
	c->flow = xcalloc(all->n, sizeof(*c->flow));
	c->chosen = xcalloc(all->n, sizeof(*c->chosen));
	c->change = xcalloc(all->n_ports, sizeof(*c->change));
}

static void column_done(struct column *c)
{
	free(c->ways.order);
	free(c->ways.first);
	free(c->ways.choices);
	free(c->bucket);
	free(c->cost);
	free(c->flow);
	free(c->chosen);
	free(c->change);
}

static int by_distance(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Nearest first. Distances may be weighted, so this sorts. */
static void order_switches(const struct columns *all, uint32_t to, struct ways *w)
{
	_cleanup_free_ uint64_t *keys = xcalloc(all->n, sizeof(*keys));
	uint32_t n = 0;

	for (uint32_t s = 0; s < all->n; s++) {
		uint16_t dist = distances_hops(all->plan->distances,
					       distances_from(all->plan->distances, s)[to]);

		if (s != to && dist != DISTANCE_NONE)
			keys[n++] = (uint64_t)dist << 32 | s;
	}
	qsort(keys, n, sizeof(*keys), by_distance);
	for (uint32_t i = 0; i < n; i++)
		w->order[i] = (uint32_t)keys[i];
	w->n = n;
}

static void find_ways(const struct columns *all, uint32_t to, struct ways *w)
{
	const struct graph *g = all->plan->graph;
	const struct distances *d = all->plan->distances;
	const struct change *c = all->plan->change;
	bool gains = c && c->gains;
	uint32_t n = 0;

	order_switches(all, to, w);
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t s = w->order[i], dist = distances_from(d, s)[to];

		w->first[i] = n;
		for (uint32_t k = g->first[s]; k < g->first[s + 1]; k++) {
			const struct graph_group *group = &g->groups[k];

			if (graph_near(group, distances_from(d, group->to)[to]) != dist)
				continue;
			for (unsigned p = 0; p < group->n_ports; p++) {
				uint8_t port = g->ports[group->first_port + p];

				w->choices[n++] = (struct choice){
					.channel = g->topo->switches[s].first_port + port,
					.next = group->to, .port = port,
					.is_new = gains && change_moved(c, s, to) &&
						  change_is_new_way(c, g->topo, s, port,
								    group->weight, to),
				};
			}
		}
	}
	w->first[w->n] = n;
}

/* The entry that may stay: index of its choice, or TOPO_NONE. */
static uint32_t kept(const struct columns *all, const struct ways *w, uint32_t i, uint32_t dest)
{
	const struct change *c = all->plan->change;
	uint32_t old;
	uint8_t port;

	if (!c || !c->known[dest])
		return TOPO_NONE;
	old = c->previous_sw[w->order[i]];
	if (old == TOPO_NONE)
		return TOPO_NONE;
	port = routes_port(c->previous, old, all->plan->spread->hot[dest].lid);
	for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++)
		if (w->choices[k].port == port)
			return k;
	return TOPO_NONE;
}

static uint64_t load_of(const struct columns *all, const struct column *c,
			const struct choice *choice)
{
	return (uint64_t)(all->load[choice->channel] + c->change[choice->channel]);
}

/* The choice whose whole path carries least; ties in turn. */
static uint32_t cheapest(const struct columns *all, const struct column *c, uint32_t i,
			 uint32_t turn)
{
	const struct ways *w = &c->ways;
	uint32_t first = w->first[i], n = w->first[i + 1] - first, best = TOPO_NONE;
	uint64_t least = UINT64_MAX;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t at = first + (turn + k) % n;
		const struct choice *choice = &w->choices[at];
		uint64_t cost = c->cost[choice->next] + load_of(all, c, choice);

		if (cost < least) {
			least = cost;
			best = at;
		}
	}
	return best;
}

static uint64_t cost_of(const struct columns *all, const struct column *c, uint32_t at)
{
	const struct choice *choice = &c->ways.choices[at];

	return c->cost[choice->next] + load_of(all, c, choice);
}

/* The old choice, or a way that came back and is cheaper. Adds to `n_free` if there is such a way. */
static uint32_t stay_or_return(const struct columns *all, const struct column *c, uint32_t i,
			       uint32_t old, uint32_t *n_free)
{
	const struct ways *w = &c->ways;
	uint64_t least = cost_of(all, c, old);
	uint32_t best = old;

	for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
		if (!w->choices[k].is_new)
			continue;
		*n_free += k != old;
		if (cost_of(all, c, k) < least) {
			least = cost_of(all, c, k);
			best = k;
		}
	}
	return best;
}

/* Returns how many entries were free to go elsewhere. */
static uint32_t choose(const struct columns *all, struct column *c, uint32_t to, uint32_t dest)
{
	const struct ways *w = &c->ways;
	uint32_t turn = all->plan->spread->level[0].digit[dest], n_free = 0;

	c->cost[to] = 0;
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t k = kept(all, w, i, dest);

		if (k == TOPO_NONE) {
			k = cheapest(all, c, i, turn);
			n_free += w->first[i + 1] - w->first[i] > 1;
		} else {
			k = stay_or_return(all, c, i, k, &n_free);
		}
		c->chosen[i] = k;
		c->cost[w->order[i]] = cost_of(all, c, k);
	}
	return n_free;
}

/* Adds (or takes away) the flows of one destination along what is chosen. */
static void add_flows(const struct columns *all, struct column *c, int sign)
{
	const struct ways *w = &c->ways;

	memcpy(c->flow, all->sources, all->n * sizeof(*c->flow));
	for (uint32_t i = w->n; i-- > 0;) {
		const struct choice *choice = &w->choices[c->chosen[i]];
		uint32_t flow = c->flow[w->order[i]];

		c->change[choice->channel] += sign * (int64_t)flow;
		c->flow[choice->next] += flow;
	}
}

static void recall(const struct columns *all, struct column *c, uint32_t dest)
{
	const struct ways *w = &c->ways;
	const uint8_t *ports = all->at + (size_t)dest * all->n;

	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t k = w->first[i];

		while (w->choices[k].port != ports[w->order[i]])
			k++;
		c->chosen[i] = k;
	}
}

static void remember(const struct columns *all, const struct column *c, uint32_t dest)
{
	const struct ways *w = &c->ways;
	uint8_t *ports = all->at + (size_t)dest * all->n;

	for (uint32_t i = 0; i < w->n; i++)
		ports[w->order[i]] = w->choices[c->chosen[i]].port;
}

static uint32_t route_switch(const struct columns *all, struct column *c, uint32_t to,
			     unsigned round)
{
	const struct spread *s = all->plan->spread;
	uint32_t n_free = 0;

	memset(c->change, 0, all->n_ports * sizeof(*c->change));
	find_ways(all, to, &c->ways);
	for (uint32_t dest = s->first[to]; dest < s->first[to + 1]; dest++) {
		if (!s->hot[dest].port)
			continue;
		if (round) {
			recall(all, c, dest);
			add_flows(all, c, -1);
		}
		n_free += choose(all, c, to, dest);
		add_flows(all, c, 1);
		remember(all, c, dest);
	}
	return n_free;
}

static uint64_t route_batch(struct columns *all, struct column *c, uint32_t base,
			    unsigned round, unsigned threads)
{
	uint32_t n = MIN(BATCH, all->n - base);
	uint64_t n_free = 0;

#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(+ : n_free)
	for (uint32_t i = 0; i < n; i++)
		n_free += route_switch(all, &c[i], base + i, round);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < all->n_ports; k++)
			all->load[k] += c[i].change[k];
	return n_free;
}

static void write_tables(const struct columns *all)
{
	const struct spread *s = all->plan->spread;

	for (uint32_t to = 0; to < all->n; to++)
		for (uint32_t dest = s->first[to]; dest < s->first[to + 1]; dest++)
			for (uint32_t u = 0; u < all->n; u++) {
				uint8_t port = all->at[(size_t)dest * all->n + u];
				lid_t lid = s->hot[dest].lid;

				if (port && lid < all->routes->topo->switches[u].lft_cap)
					routes_row(all->routes, u)[lid] = port;
			}
}

void columns_fill(const struct place_plan *plan, struct routes *r, unsigned threads,
		  const atomic_bool *cancelled)
{
	const struct topo *t = r->topo;
	struct columns all = { .plan = plan, .routes = r, .n = t->n_switches };
	uint64_t n_free = 1;
	struct column c[BATCH];

	for (uint32_t s = 0; s < all.n; s++)
		all.n_ports += t->switches[s].n_ports + 1u;
	all.sources = xcalloc(all.n, sizeof(*all.sources));
	all.load = xcalloc(all.n_ports, sizeof(*all.load));
	all.at = xcalloc((size_t)plan->spread->n, all.n);
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE && t->hosts[h].lid)
			all.sources[t->hosts[h].sw]++;
	for (unsigned i = 0; i < BATCH; i++)
		column_init(&c[i], &all);
	for (unsigned round = 0; round < ROUNDS && n_free; round++) {
		n_free = 0;
		for (uint32_t base = 0; base < all.n; base += BATCH)
			if (!is_cancelled(cancelled))
				n_free += route_batch(&all, c, base, round, threads);
	}
	write_tables(&all);
	for (unsigned i = 0; i < BATCH; i++)
		column_done(&c[i]);
	free(all.sources);
	free(all.load);
	free(all.at);
}
