// SPDX-License-Identifier: BSD-2-Clause
/* The inside of the dependency graph, for depend.c and cycle.c. */
#pragma once

#include "route/depend.h"

struct dependency_graph {
	const struct topo *topo;
	const struct lanes *lanes; /* NULL: one lane, or all alike */
	uint32_t n_ports;	   /* entries of topo->ports; a channel is that of the port it leaves by */
	unsigned n_vls, n_classes;
	unsigned n_in;		   /* VLs in that are told apart: n_vls, or 1 where the VL stays the same */
	unsigned words;		   /* per mask of ports */
	unsigned n_layers;
	uint8_t layer_sl[LANES_SLS]; /* one SL of the layer */
	uint8_t layer_of[LANES_SLS]; /* per SL */
	uint16_t layers[LANES_SLS];  /* per SL of the scheme: layers that wishes may make of it, a bit each */
	uint16_t vls;		   /* something is sent on these */
	uint32_t *peer;		   /* per entry: the other end of its cable; TOPO_NONE: no switch there */
	uint64_t *hosts;	   /* per switch: ports with an end port that sends */
	uint64_t *of_class;	   /* (switch * n_classes + class) * words; NULL: one class */
	/* into[(((channel * n_vls + VL) * n_in) + VL in) * words]: ports of the same switch that lead there */
	uint64_t *into;
	struct turns *turns;	   /* while columns are added; NULL: layer by layer */
	uint32_t *rank;		   /* per vertex, ascending along edges; NULL: not known, or cyclic */
};

/* To be freed like any other. */
struct dependency_graph *dependency_graph_copy(const struct dependency_graph *g);
/* Fills peer[] anew from the topo. */
void dependency_find_peers(struct dependency_graph *g);
/* VLs on which the LID is sent all the way, by whomever; only where that is so (struct judge.simple). */
uint16_t dependency_vls_of(const struct dependency_graph *g, uint32_t at, lid_t lid);

static inline uint8_t dependency_class(const struct dependency_graph *g, uint32_t port)
{
	return g->n_classes > 1 ? g->lanes->class_of[port] : 0;
}

/* Vertices are channel * n_vls + VL. The one that comes in by `port` on VL in `a` of the switch of `to`. */
static inline size_t dependency_from(const struct dependency_graph *g, size_t to, unsigned a, unsigned port)
{
	uint32_t channel = (uint32_t)(to / g->n_vls);
	uint32_t back = g->peer[channel];
	uint32_t sw = g->topo->ports[back].sw; /* the switch that the channel leaves */

	return (size_t)g->peer[g->topo->switches[sw].first_port + port] * g->n_vls +
	       (g->n_in > 1 ? a : to % g->n_vls);
}

/* Does an edge from `port` into the vertex lead upwards in the order? With n_in 1. */
static inline bool dependency_allows(const struct dependency_graph *g, size_t to, unsigned port)
{
	return g->rank && g->rank[dependency_from(g, to, 0, port)] < g->rank[to];
}
