// SPDX-License-Identifier: BSD-2-Clause
/*
 * The input of nue: switches, and the channels between them, densely numbered.
 *
 * A channel is all cables from one switch to one neighbour (a group of graph.h): paths that are
 * free of cycles with parallel cables taken as one are free of cycles with each of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/vl/cdg_order.h"
#include "route/core/engine.h"
#include "route/core/graph.h"
#include "util/mem.h"

#define NUE_NONE TOPO_NONE

struct nue_net {
	const struct topo *topo;
	struct graph *graph;
	struct distances *distances;
	struct cdg_channels *channels; /* numbered as the groups of `graph` */
	uint32_t n;
	uint16_t *cost; /* by channel: hops, and much more if it is slow and that matters */
	uint16_t max_cost;
	float *pace;	   /* by channel: topo->paces of its cables together; NULL: all equal */
	uint32_t *sources; /* by switch: number of end ports on it */
	bool *sends;	   /* by switch: set if it sends packets, and does not only forward them */
	uint32_t *first_lid; /* by switch, with one more at the end */
	lid_t *lids;	     /* LIDs of the end ports on a switch, in order of ports */
	struct arena memory;
};

/* Makes the input. NULL: cancelled. */
struct nue_net *nue_net_new(const struct route_job *job, unsigned threads);
struct nue_net *nue_net_free(struct nue_net *net);

static inline uint32_t nue_head(const struct nue_net *net, uint32_t channel)
{
	return net->channels->to[channel];
}

/* The load of `flows` on a channel, in flows on one whose cables run at the median rate. */
static inline uint64_t nue_load(const struct nue_net *net, uint32_t channel, uint64_t flows)
{
	return net->pace ? (uint64_t)((double)flows * net->pace[channel]) : flows;
}

static inline uint32_t nue_first(const struct nue_net *net, uint32_t sw)
{
	return net->channels->first[sw];
}

static inline uint32_t nue_degree(const struct nue_net *net, uint32_t sw)
{
	return net->channels->first[sw + 1] - net->channels->first[sw];
}
