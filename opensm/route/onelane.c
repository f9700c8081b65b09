// SPDX-License-Identifier: BSD-2-Clause
/*
 * Who can go down goes down: a switch has one entry per LID, and what came down to it must not be sent up
 * again. So from a switch that has a way down to the destination it takes one of the shortest of these, and
 * others go up to where path and way down together are shortest.
 */
#include "route/onelane.h"

#include <string.h>

#include "route/steps.h"
#include "util/mem.h"

#define PROBES 8

struct onelane {
	const struct graph *g;
	uint32_t *place; /* per switch: 0 is the top */
	uint32_t *at;	 /* by place */
};

/* Hops from `from` to all that it reaches, in queue order; returns how many. dist must be TOPO_NONE there. */
static uint32_t flood(const struct graph *g, uint32_t from, uint32_t *queue, uint32_t *dist)
{
	uint32_t head = 0, tail = 0;

	dist[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t u = queue[head++];

		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			uint32_t v = g->groups[i].to;

			if (dist[v] != TOPO_NONE)
				continue;
			dist[v] = dist[u] + 1;
			queue[tail++] = v;
		}
	}
	return tail;
}

/* Sum of the hops from `from` to its part's end ports' switches. */
static uint64_t remoteness(const struct graph *g, uint32_t from, uint32_t *queue, uint32_t *dist,
			   const uint32_t *hosts)
{
	uint32_t n = flood(g, from, queue, dist);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += (uint64_t)dist[queue[i]] * (hosts[queue[i]] * 64 + 1);
		dist[queue[i]] = TOPO_NONE;
	}
	return sum;
}

/* A switch in the middle of the part of `from`: the best of a few, half way between far ends. */
static uint32_t find_middle(const struct graph *g, uint32_t from, uint32_t *queue, uint32_t *dist,
			    const uint32_t *hosts)
{
	uint32_t n = flood(g, from, queue, dist), best = from, tries[PROBES];
	uint64_t least;

	for (uint32_t i = 0; i < PROBES; i++)
		tries[i] = queue[(uint64_t)n * i / PROBES];
	for (uint32_t i = 0; i < n; i++)
		dist[queue[i]] = TOPO_NONE;
	least = remoteness(g, from, queue, dist, hosts);
	for (uint32_t i = 0; i < PROBES; i++) {
		uint64_t sum = remoteness(g, tries[i], queue, dist, hosts);

		if (sum < least) {
			least = sum;
			best = tries[i];
		}
	}
	return best;
}

static int by_key(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Places by hops from the middle, switches with many neighbours first among their like. */
static void order_part(struct onelane *o, const uint32_t *queue, uint32_t n, const uint32_t *dist,
		       uint32_t base)
{
	_cleanup_free_ uint64_t *keys = xcalloc(n, sizeof(*keys));

	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = queue[i], degree = o->g->first[u + 1] - o->g->first[u];

		keys[i] = (uint64_t)dist[u] << 40 | (uint64_t)(UINT8_MAX - degree) << 32 | u;
	}
	qsort(keys, n, sizeof(*keys), by_key);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t u = (uint32_t)keys[i];

		o->place[u] = base + i;
		o->at[base + i] = u;
	}
}

static void order_all(struct onelane *o)
{
	const struct graph *g = o->g;
	_cleanup_free_ uint32_t *queue = xcalloc(g->n, sizeof(*queue));
	_cleanup_free_ uint32_t *dist = xmalloc(MAX(g->n, 1u) * sizeof(*dist));
	_cleanup_free_ uint32_t *hosts = xcalloc(g->n, sizeof(*hosts));
	uint32_t n = 0;

	memset(dist, 0xFF, g->n * sizeof(*dist));
	memset(o->place, 0xFF, g->n * sizeof(*o->place));
	for (uint32_t h = 0; h < g->topo->n_hosts; h++)
		if (g->topo->hosts[h].sw != TOPO_NONE)
			hosts[g->topo->hosts[h].sw]++;
	for (uint32_t u = 0; u < g->n; u++) {
		uint32_t size;

		if (o->place[u] != TOPO_NONE)
			continue;
		size = flood(g, find_middle(g, u, queue, dist, hosts), queue, dist);
		order_part(o, queue, size, dist, n);
		n += size;
	}
}

/* down[s]: hops of the shortest way down from s; in order of these. */
static void find_downs(const struct onelane *o, uint32_t to, struct steps *s, uint32_t *down)
{
	const struct graph *g = o->g;
	uint32_t *queue = s->work[1], head = 0, tail = 0;

	memset(down, 0xFF, g->n * sizeof(*down));
	down[to] = 0;
	queue[tail++] = to;
	while (head < tail) {
		uint32_t u = queue[head++];

		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			uint32_t v = g->groups[i].to;

			if (down[v] == TOPO_NONE && o->place[v] < o->place[u]) {
				down[v] = down[u] + 1;
				queue[tail++] = v;
			}
		}
	}
	for (uint32_t i = 1; i < tail; i++) {
		uint32_t u = queue[i];

		steps_switch(s, u);
		for (uint32_t k = g->first[u]; k < g->first[u + 1]; k++) {
			uint32_t v = g->groups[k].to;

			if (o->place[v] > o->place[u] && down[v] != TOPO_NONE &&
			    down[v] + 1 == down[u])
				steps_group(s, &g->groups[k]);
		}
	}
}

static void find_steps(const void *arg, uint32_t to, struct steps *s)
{
	const struct onelane *o = arg;
	const struct graph *g = o->g;
	uint32_t *hops = s->work[0], *down = s->work[2];

	find_downs(o, to, s, down);
	memcpy(hops, down, g->n * sizeof(*hops));
	for (uint32_t place = 0; place < g->n; place++) {
		uint32_t u = o->at[place], least = TOPO_NONE;

		if (down[u] != TOPO_NONE)
			continue;
		for (uint32_t k = g->first[u]; k < g->first[u + 1]; k++)
			if (o->place[g->groups[k].to] < place)
				least = MIN(least, hops[g->groups[k].to]);
		if (least == TOPO_NONE)
			continue; /* another part of the fabric */
		hops[u] = least + 1;
		steps_switch(s, u);
		for (uint32_t k = g->first[u]; k < g->first[u + 1]; k++)
			if (o->place[g->groups[k].to] < place && hops[g->groups[k].to] == least)
				steps_group(s, &g->groups[k]);
	}
}

struct routes *onelane_routes(const struct route_job *job, const struct graph *g, const char *engine)
{
	struct onelane o = {
		.g = g, .place = xcalloc(g->n, sizeof(*o.place)), .at = xcalloc(g->n, sizeof(*o.at)),
	};
	struct routes *r;

	order_all(&o);
	r = steps_deal(job, g, engine, find_steps, &o);
	free(o.place);
	free(o.at);
	return r;
}
