// SPDX-License-Identifier: BSD-2-Clause
/* Patterns of traffic over tables: the parts that the loads of channels tell without a walk. */
#include "offline/base/traffic.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "offline/base/cut.h"
#include "util/bisect.h"
#include "util/mem.h"

#define FLOWS 4000000u /* followed for a figure, at most */

/* End ports per switch; the caller frees. */
static uint32_t *count_on(const struct topo *t, struct route_ranks ranks)
{
	uint32_t *on = xcalloc((size_t)t->n_switches + 1, sizeof(*on));

	for (uint32_t i = 0; i < ranks.n; i++)
		on[t->hosts[ranks.hosts[i]].sw]++;
	return on;
}

/* A search in breadth from one switch, and which channels lead towards it on shortest paths. */
struct towards {
	const struct topo *t;
	const uint32_t *on;
	uint32_t *far;	 /* hops; TOPO_NONE: not reached */
	uint32_t *queue; /* sorted by distance */
	bool *meets;	 /* paths of these end ports come through */
	bool *may;	 /* per entry of topo->ports */
};

static uint32_t search(struct towards *w, uint32_t to)
{
	uint32_t n = 0;

	memset(w->far, 0xFF, w->t->n_switches * sizeof(*w->far));
	w->far[to] = 0;
	w->queue[n++] = to;
	for (uint32_t i = 0; i < n; i++)
		for (unsigned k = 1; k <= w->t->switches[w->queue[i]].n_ports; k++) {
			uint32_t next = topo_port(w->t, w->queue[i], k)->sw;

			if (next == TOPO_NONE || w->far[next] != TOPO_NONE)
				continue;
			w->far[next] = w->far[w->queue[i]] + 1;
			w->queue[n++] = next;
		}
	return n;
}

static void allow_towards(struct towards *w, uint32_t to)
{
	const struct topo *t = w->t;
	uint32_t n = search(w, to);

	memset(w->meets, 0, t->n_switches * sizeof(*w->meets));
	while (n-- > 1) {
		uint32_t s = w->queue[n];

		if (!w->on[s] && !w->meets[s])
			continue;
		for (unsigned k = 1; k <= t->switches[s].n_ports; k++) {
			uint32_t next = topo_port(t, s, k)->sw;

			if (next == TOPO_NONE || w->far[next] + 1 != w->far[s])
				continue;
			w->may[t->switches[s].first_port + k] = true;
			w->meets[next] = true;
		}
	}
}

/* Per entry of topo->ports: on a shortest path between two of the switches; the caller frees. */
static bool *allowed_channels(const struct topo *t, const uint32_t *on)
{
	size_t n = (size_t)t->n_switches + 1;
	struct towards w = { .t = t,
			     .on = on,
			     .far = xcalloc(n, sizeof(*w.far)),
			     .queue = xcalloc(n, sizeof(*w.queue)),
			     .meets = xcalloc(n, sizeof(*w.meets)),
			     .may = xcalloc((size_t)cut_n_ports(t) + 1, sizeof(*w.may)) };

	for (uint32_t s = 0; s < t->n_switches; s++)
		if (on[s])
			allow_towards(&w, s);
	free(w.far);
	free(w.queue);
	free(w.meets);
	return w.may;
}

/* Channels that count, each by its rate. */
struct channels {
	double n; /* in cables of the median rate */
	uint64_t flows;
	uint32_t most; /* load */
};

static void channels_add(struct channels *c, const uint32_t *paces, uint32_t entry, uint32_t flows)
{
	c->n += topo_room(paces, entry);
	c->flows += flows;
	c->most = MAX(c->most, topo_load(paces, entry, flows));
}

static int by_load(const void *va, const void *vb)
{
	const uint32_t *a = va, *b = vb;

	return COMPARE(*a, *b);
}

/* Median of the loads above 0. */
static uint32_t median_load(const uint32_t *paces, const bool *counted, const uint32_t *flows,
			    uint32_t all)
{
	_cleanup_free_ uint32_t *loads = xcalloc((size_t)all + 1, sizeof(*loads));
	uint32_t n = 0;

	for (uint32_t i = 0; i < all; i++)
		if (counted[i] && flows[i])
			loads[n++] = topo_load(paces, i, flows[i]);
	qsort(loads, n, sizeof(*loads), by_load);
	return loads[n / 2];
}

static void find_slowest(const struct topo *t, const uint32_t *paces, const bool *counted,
			 const uint32_t *flows, struct traffic *ret)
{
	uint32_t all = cut_n_ports(t), most = 0, median, ends = 0;

	ret->slow_at = TOPO_NONE;
	for (uint32_t i = 0; i < all && paces; i++) {
		uint32_t load = topo_load(paces, i, flows[i]);

		if (!counted[i] || paces[i] <= TOPO_PACE)
			continue;
		ends++;
		if (load <= most)
			continue;
		most = load;
		ret->slow_at = i;
	}
	ret->n_slow = ends / 2;
	ret->median_rate = t->median_rate;
	median = most ? median_load(paces, counted, flows, all) : 0;
	ret->slow_times = median ? (double)most / median : 0;
}

static void all_to_all(const struct topo *t, const uint32_t *paces, const uint32_t *on,
		       const uint32_t *flows, struct traffic *ret)
{
	_cleanup_free_ bool *may = allowed_channels(t, on), *counted = topo_find_counted(t);
	uint32_t all = cut_n_ports(t);
	struct channels c = { .n = 0 };

	for (uint32_t i = 0; i < all; i++)
		if (counted[i] && (flows[i] || may[i]))
			channels_add(&c, paces, i, flows[i]);
	ret->most = c.most;
	ret->even = c.most ? (double)c.flows / c.n / c.most : 0;
	find_slowest(t, paces, counted, flows, ret);
}

/* Over the cables into `s`; negative: no flow comes in. */
static double incast_to(const struct topo *t, const uint32_t *paces, uint32_t s, uint32_t on,
			const uint32_t *last)
{
	struct channels c = { .n = 0 };

	for (unsigned k = 1; k <= t->switches[s].n_ports; k++) {
		const struct topo_port *p = topo_port(t, s, k);
		uint32_t in;

		if (p->sw == TOPO_NONE)
			continue;
		in = t->switches[p->sw].first_port + p->port;
		channels_add(&c, paces, in, last[in]);
	}
	return c.most ? MIN((double)c.flows / c.most / MIN(c.n, on), 1.0) : -1;
}

static void incast(const struct topo *t, const uint32_t *paces, const uint32_t *on,
		   const uint32_t *last, struct traffic *ret)
{
	uint32_t n = 0;
	double sum = 0;

	ret->incast_least = 1;
	ret->incast_at = TOPO_NONE;
	for (uint32_t s = 0; s < t->n_switches; s++) {
		double one = on[s] ? incast_to(t, paces, s, on[s], last) : -1;

		ret->switches += on[s] > 0;
		if (one < 0)
			continue;
		n++;
		sum += one;
		if (ret->incast_at == TOPO_NONE || one < ret->incast_least) {
			ret->incast_least = one;
			ret->incast_at = s;
		}
	}
	ret->incast = n ? sum / n : 0;
}

void traffic_of(const struct routes *r, struct route_ranks ranks,
		const struct figures_flows *flows, struct traffic *ret)
{
	_cleanup_free_ uint32_t *on = count_on(r->topo, ranks);
	const uint32_t *paces = r->topo->paces;
	uint32_t hosts = ranks.n;

	assert(r && flows && ret);
	*ret = (struct traffic){ .hosts = hosts };
	ret->patterns = hosts > 1 ? MIN(64u, MAX(4u, FLOWS / hosts)) : 0;
	ret->n_shifts = hosts ? hosts - 1 : 0;
	ret->shifts = hosts ? MIN(ret->n_shifts, MAX(16u, FLOWS / hosts)) : 0;
	if (ret->shifts)
		ret->shift = routes_measure_ranks(r, ranks, ret->patterns, ret->shifts, 1,
						  &ret->mean);
	all_to_all(r->topo, paces, on, flows->load, ret);
	incast(r->topo, paces, on, flows->last, ret);
}
