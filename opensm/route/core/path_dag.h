// SPDX-License-Identifier: BSD-2-Clause
/* The paths to one switch: the next hops of every other switch, nearest first. */
#pragma once

#include <stdint.h>

#include "route/core/graph.h"
#include "util/mem.h"

struct path_dag_edge {
	uint32_t channel; /* index of the port in topo->ports */
	uint32_t next;    /* switch */
	uint8_t port;
};

struct path_dag {
	const struct graph *graph;
	uint32_t to;
	/* switches that reach it, without itself; every edge leads to one before, or to it */
	uint32_t *order;
	uint32_t n;
	uint32_t *first; /* n + 1: edges[first[i]] .. edges[first[i + 1] - 1] are order[i]'s */
	struct path_dag_edge *edges;
	uint32_t n_edges;
	uint16_t *far;     /* per switch: distance to `to` as the finder has it */
	uint32_t *work[4]; /* per switch: work space of the finder, undefined at first */
	struct arena memory;
};

/* Fills `ret` with all paths that may be taken to switch `to`. */
typedef void (*path_dag_finder)(const void *arg, uint32_t to, struct path_dag *ret);

/* `g` must live longer. */
void path_dag_init(struct path_dag *w, const struct graph *g);
void path_dag_done(struct path_dag *w);
/* All shortest paths; in an oriented graph those that go up and then down. */
void path_dag_find(struct path_dag *w, const struct distances *d, uint32_t to);

/* For other finders: no switches yet. */
static inline void path_dag_begin(struct path_dag *w, uint32_t to)
{
	w->to = to;
	w->n = w->n_edges = w->first[0] = 0;
}

/* The next switch in order; its edges follow. */
static inline void path_dag_switch(struct path_dag *w, uint32_t sw)
{
	w->order[w->n] = sw;
	w->first[w->n++] = w->n_edges;
	w->first[w->n] = w->n_edges;
}

/* All cables of a group are edges of the switch at hand. */
static inline void path_dag_group(struct path_dag *w, const struct graph_group *group)
{
	const uint8_t *ports = w->graph->ports + group->first_port;
	uint32_t base = w->graph->topo->switches[w->order[w->n - 1]].first_port;

	struct path_dag_edge *edges = w->edges + w->n_edges;

	for (unsigned p = 0; p < group->n_ports; p++)
		edges[p] = (struct path_dag_edge){
			.channel = base + ports[p], .next = group->to, .port = ports[p],
		};
	w->first[w->n] = w->n_edges += group->n_ports;
}
/*
 * Orders the switches by `far` & `mask` (DISTANCE_NONE is left out, and `to`), and then by number.
 * Returns how many; the caller takes them from `ret`, which has room for all, to path_dag_switch().
 */
uint32_t path_dag_sort(const struct path_dag *w, uint16_t mask, uint32_t *ret);

/* The edge of order[i] through `port`; TOPO_NONE: there is none. */
static inline uint32_t path_dag_edge_by(const struct path_dag *w, uint32_t i, uint8_t port)
{
	for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++)
		if (w->edges[k].port == port)
			return k;
	return TOPO_NONE;
}
