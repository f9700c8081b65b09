// SPDX-License-Identifier: BSD-2-Clause
/* Compresses the cables of a topo into groups per neighbour. Knows no routes and no end ports. */
#include "route/core/graph.h"

#include <assert.h>
#include <string.h>

#include "util/bisect.h"
#include "util/mem.h"
#include "util/sets.h"

/* One usable port while the groups of a switch are collected. */
struct cable_end {
	uint32_t to;
	uint8_t weight;
	uint8_t port;
};

static int by_neighbour(const void *a, const void *b)
{
	const struct cable_end *x = a, *y = b;

	return COMPARE(x->to, y->to) ?: COMPARE(x->weight, y->weight) ?:
	       COMPARE(x->port, y->port);
}

/* Weight per entry of topo->ports; NULL if all are 1. */
static uint8_t *weights_of_ports(const struct topo *topo, const struct route_options *options)
{
	uint8_t *weights;
	size_t n = topo_n_entries(topo);

	if (!options || !options->n_weights)
		return NULL;
	weights = xmalloc(n);
	memset(weights, 1, n);
	for (uint32_t i = 0; i < options->n_weights; i++) {
		const struct route_guid_port *w = &options->weights[i];
		uint32_t s = topo_find_switch(topo, w->guid);

		if (s != TOPO_NONE && w->port && w->port <= topo->switches[s].n_ports && w->weight)
			weights[topo->switches[s].first_port + w->port] = w->weight;
	}
	return weights;
}

static unsigned collect(const struct topo *topo, uint32_t s, const uint8_t *weights,
			struct cable_end *ends)
{
	unsigned n = 0;

	for (unsigned p = 1; p <= topo->switches[s].n_ports; p++) {
		const struct topo_port *port = topo_port(topo, s, p);

		if (port->sw == TOPO_NONE)
			continue;
		ends[n++] = (struct cable_end){
			.to = port->sw,
			.port = (uint8_t)p,
			.weight = weights ? weights[topo->switches[s].first_port + p] : 1,
		};
	}
	SORT(ends, n, by_neighbour);
	return n;
}

/* Appends the groups of one switch. Returns the number of ports kept. */
static uint32_t append_groups(struct graph *g, uint32_t *n_groups, uint32_t n_ports,
			      const struct cable_end *ends, unsigned n)
{
	struct graph_group *last = NULL;

	for (unsigned i = 0; i < n; i++) {
		if (!last || last->to != ends[i].to) {
			last = &g->groups[(*n_groups)++];
			*last = (struct graph_group){
				.to = ends[i].to,
				.first_port = n_ports,
				.weight = ends[i].weight,
			};
			g->weighted |= ends[i].weight != 1;
		}
		if (last->weight != ends[i].weight)
			continue;
		g->ports[n_ports++] = ends[i].port;
		last->n_ports++;
	}
	return n_ports;
}

struct graph *graph_new(const struct topo *topo, const struct route_options *options)
{
	_cleanup_free_ uint8_t *weights = weights_of_ports(topo, options);
	struct graph *g = xcalloc(1, sizeof(*g));
	struct cable_end ends[UINT8_MAX + 1];
	uint32_t n_groups = 0, n_ports = 0;

	assert(topo);
	g->topo = topo;
	g->n = topo->n_switches;
	ARENA_ARRAY(&g->memory, g->first, (size_t)g->n + 1);
	ARENA_ARRAYS(&g->memory, topo_n_entries(topo), g->groups, g->ports);
	for (uint32_t s = 0; s < g->n; s++) {
		unsigned n = collect(topo, s, weights, ends);

		g->first[s] = n_groups;
		n_ports = append_groups(g, &n_groups, n_ports, ends, n);
	}
	g->first[g->n] = n_groups;
	return g;
}

uint32_t graph_find(const struct graph *g, uint32_t from, uint32_t to)
{
	uint32_t end = g->first[from + 1],
		 at = BISECT(i, g->first[from], end, g->groups[i].to < to);

	assert(from < g->n);
	return at < end && g->groups[at].to == to ? at : TOPO_NONE;
}

const struct graph_group *graph_edge(const struct graph *g, uint32_t from, uint32_t to)
{
	uint32_t group = graph_find(g, from, to);

	return group != TOPO_NONE ? &g->groups[group] : NULL;
}

uint32_t *graph_parts(const struct graph *g)
{
	uint32_t *part = xcalloc(g->n, sizeof(*part));

	for (uint32_t u = 0; u < g->n; u++)
		part[u] = u;
	for (uint32_t u = 0; u < g->n; u++)
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
			sets_join(part, u, g->groups[i].to);
	for (uint32_t u = 0; u < g->n; u++)
		part[u] = sets_root(part, u);
	return part;
}

uint16_t graph_flood(const struct graph *g, uint16_t *far, uint32_t *order)
{
	_cleanup_free_ uint32_t *own = order ? NULL : xcalloc(g->n, sizeof(*own));
	uint32_t *queue = order ? order : own, tail = 0;
	uint16_t most = 0;

	assert(g && far);
	for (uint32_t u = 0; u < g->n; u++)
		if (!far[u])
			queue[tail++] = u;
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t u = queue[head];

		most = far[u];
		GRAPH_EACH(g, u, edge) {
			if (far[edge->to] != UINT16_MAX)
				continue;
			far[edge->to] = (uint16_t)(most + 1);
			queue[tail++] = edge->to;
		}
	}
	return most;
}

ARENA_FREE(graph_free, struct graph)

uint8_t graph_port_in_turn(const struct graph *g, uint32_t sw, const struct graph_group *group,
			   unsigned turn)
{
	const uint8_t *ports = g->ports + group->first_port;
	const uint32_t *paces = g->topo->paces;
	const uint32_t *pace = paces ? paces + g->topo->switches[sw].first_port : NULL;
	unsigned n = group->n_ports, own = turn % n, round = turn / n, n_fast = 0;
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; pace && i < n; i++)
		least = MIN(least, pace[ports[i]]);
	/* Of so many turns as it is slower than the fastest one is its own. */
	if (!pace || round % ((pace[ports[own]] + least - 1) / least) == 0)
		return ports[own];
	for (unsigned i = 0; i < n; i++)
		n_fast += pace[ports[i]] == least;
	for (unsigned i = 0, nth = round % n_fast; i < n; i++)
		if (pace[ports[i]] == least && !nth--)
			return ports[i];
	return ports[own];
}
