// SPDX-License-Identifier: BSD-2-Clause
/* All paths to one switch: the next hops of every other switch, nearest first. */
#pragma once

#include <stdint.h>

#include "route/core/graph.h"
#include "util/mem.h"

struct path_dag_edge {
	uint32_t channel; /* index of the port in topo->ports */
	uint32_t next;	  /* switch */
	uint8_t port;
};

struct path_dag {
	const struct graph *graph;
	uint32_t to;
	/* Switches with a path, without `to`; every edge leads to an earlier one, or to `to`. */
	uint32_t *order;
	uint32_t n;
	uint32_t *first; /* n + 1: edges[first[i]] .. edges[first[i + 1] - 1] are order[i]'s */
	struct path_dag_edge *edges;
	uint32_t n_edges;
	uint16_t *far;	   /* by switch: distance to `to` as the finder computed it */
	uint32_t *work[4]; /* by switch: work space of the finder, undefined at first */
	struct arena memory;
};

/* Fills `ret` with all allowed paths to switch `to`. */
typedef void (*path_dag_finder)(const void *arg, uint32_t to, struct path_dag *ret);

/* Prepares `w`; `g` must stay valid. */
void path_dag_init(struct path_dag *w, const struct graph *g);
void path_dag_done(struct path_dag *w);
/* Finds all shortest paths; in an oriented graph those that go up and then down. */
void path_dag_find(struct path_dag *w, const struct distances *d, uint32_t to);
/*
 * path_dag_find() for a caller that needs the next hops of few switches: only sets `order` and `n`.
 * path_dag_list() then lists the next hops of order[i], in the place of those it listed before.
 */
void path_dag_order(struct path_dag *w, const struct distances *d, uint32_t to);
void path_dag_list(struct path_dag *w, const struct distances *d, uint32_t i);

/* For finders: begins without switches. */
static inline void path_dag_begin(struct path_dag *w, uint32_t to)
{
	w->to = to;
	w->n = w->n_edges = w->first[0] = 0;
}

/* For finders: adds the next switch in order; its edges follow. */
static inline void path_dag_switch(struct path_dag *w, uint32_t sw)
{
	w->order[w->n] = sw;
	w->first[w->n++] = w->n_edges;
	w->first[w->n] = w->n_edges;
}

/* For finders: adds all cables of a group as edges of the last switch. */
static inline void path_dag_group(struct path_dag *w, const struct graph_group *group)
{
	const uint8_t *ports = w->graph->ports + group->first_port;
	uint32_t base = w->graph->topo->switches[w->order[w->n - 1]].first_port;

	struct path_dag_edge *edges = w->edges + w->n_edges;

	for (unsigned p = 0; p < group->n_ports; p++)
		edges[p] = (struct path_dag_edge){
			.channel = base + ports[p],
			.next = group->to,
			.port = ports[p],
		};
	w->first[w->n] = w->n_edges += group->n_ports;
}
/*
 * Sorts the switches by `far` & `mask`, then by number, without `to` and those at DISTANCE_NONE.
 * Returns their number; `ret` has room for all. The caller passes them to path_dag_switch().
 */
uint32_t path_dag_sort(const struct path_dag *w, uint16_t mask, uint32_t *ret);

/* The index of the edge of order[i] through `port`; TOPO_NONE: none. */
static inline uint32_t path_dag_edge_by(const struct path_dag *w, uint32_t i, uint8_t port)
{
	for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++)
		if (w->edges[k].port == port)
			return k;
	return TOPO_NONE;
}
