// SPDX-License-Identifier: BSD-2-Clause
/*
 * What nue works on: switches, channels, and the turns between them, densely numbered.
 *
 * A channel is all cables from one switch to one neighbour (a group of graph.h): what is free of cycles with
 * parallel cables taken as one is free of cycles with each of them. A turn is two channels in a row. Turns at
 * a switch are a square of bits, one row per channel that comes in (or goes out, seen from the other side).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "route/engine.h"
#include "route/graph.h"

#define NUE_NONE UINT32_MAX

struct nue_net {
	const struct topo *topo;
	struct graph *graph;
	struct distances *distances;
	uint32_t n, n_channels;
	uint32_t *tail;    /* per channel; its head is graph->groups[channel].to */
	uint32_t *reverse; /* per channel: the one that comes back */
	uint16_t *cost;    /* per channel: hops, and much more if it is slow and that matters */
	uint16_t max_cost;
	uint32_t *of_port; /* per entry of topo->ports: its channel, or NUE_NONE */
	size_t *square;    /* per switch: first word of its turns */
	size_t n_words;
	uint32_t *sources; /* per switch: end ports on it */
	bool *sends;       /* per switch: what it sends itself counts, not only what it passes on */
	uint32_t *first_lid; /* per switch + 1 */
	lid_t *lids;       /* of the end ports on a switch, in the order of ports */
	uint8_t *lid_port;
};

/* NULL if cancelled. */
struct nue_net *nue_net_new(const struct route_job *job, unsigned threads);
struct nue_net *nue_net_free(struct nue_net *net);
void nue_net_freep(struct nue_net **net);

static inline uint32_t nue_head(const struct nue_net *net, uint32_t channel)
{
	return net->graph->groups[channel].to;
}

static inline uint32_t nue_first(const struct nue_net *net, uint32_t sw)
{
	return net->graph->first[sw];
}

static inline uint32_t nue_degree(const struct nue_net *net, uint32_t sw)
{
	return net->graph->first[sw + 1] - net->graph->first[sw];
}

static inline uint32_t nue_words(const struct nue_net *net, uint32_t sw)
{
	return (nue_degree(net, sw) + 63) / 64;
}

/* The row of bits of channel `in` at its head: one per channel that goes out there. */
static inline size_t nue_row_after(const struct nue_net *net, uint32_t in)
{
	uint32_t at = nue_head(net, in);

	return net->square[at] + (size_t)(net->reverse[in] - nue_first(net, at)) * nue_words(net, at);
}

/* The row of bits of channel `out` at its tail: one per channel that comes in there, as the place of its reverse. */
static inline size_t nue_row_before(const struct nue_net *net, uint32_t out)
{
	uint32_t at = net->tail[out];

	return net->square[at] + (size_t)(out - nue_first(net, at)) * nue_words(net, at);
}
