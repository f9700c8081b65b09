// SPDX-License-Identifier: BSD-2-Clause
/* The inside of the dependency graph, for cdg.c, cycle.c and cdg_turns.c. */
#pragma once

#include "route/proof/cdg.h"
#include "util/mem.h"

struct cdg {
	const struct topo *topo;
	const struct sl2vl *lanes; /* NULL: one VL, or all VLs alike */
	/* number of entries of topo->ports; a channel is the entry of the port it leaves by */
	uint32_t n_ports;
	/* n_vls: greater than that of the scheme, if a former one had more */
	unsigned n_vls, n_classes;
	unsigned scheme_vls; /* n_vls of the scheme when it was read */
	/* number of incoming VLs that are distinguished: n_vls, or 1 if the VL stays the same */
	unsigned n_in;
	unsigned words; /* words of a mask of ports */
	unsigned n_layers;
	uint8_t layer_sl[SL2VL_SLS]; /* one SL of each layer */
	uint8_t layer_of[SL2VL_SLS]; /* layer of each SL */
	/* by SL of the scheme: layers that wishes may turn it into, as bits */
	uint16_t layers[SL2VL_SLS];
	uint16_t vls; /* VLs in use, as bits */
	/* by entry: the other end of its cable; TOPO_NONE: no switch there */
	uint32_t *peer;
	uint64_t *hosts;    /* by switch: ports with an end port that sends, as a mask */
	uint64_t *of_class; /* (switch * n_classes + class) * words; NULL: one class */
	/* into[((channel * n_vls + VL) * n_in + VL in) * words]: ports there that lead to it */
	uint64_t *into;
	struct cdg_turns *turns; /* NULL: columns are added layer by layer */
	struct cdg_added *added; /* list of what columns add; NULL: not wanted */
	/* by vertex, ascending along edges, from 0 as the highest; NULL: not known, or cyclic */
	uint32_t *rank;
	uint32_t lowest; /* lower bound of all ranks that are not 0 */
};

#define PORT_WORDS 4 /* most words of a mask of ports */

/* The number of words of a mask of ports, 1..PORT_WORDS. */
unsigned cdg_words(const struct topo *t);
/* Sets n_ports and peer[] anew from the topo. */
void cdg_find_peers(struct cdg *g);
/*
 * Moves the graph to a topo with the same ports, cabled otherwise, and to a scheme with as many
 * classes, perhaps other VLs; or to one of classes if there was none. Dependencies stay on their
 * VLs.
 */
void cdg_move(struct cdg *g, const struct topo *t, const struct sl2vl *lanes);
/* VLs on which all senders send to the LID all the way; only where that is so (verifier.simple). */
uint16_t cdg_vls_of(const struct cdg *g, uint32_t at, lid_t lid);

/* Threads write the same masks: bits that are set are not written again. Returns the new ones. */
static inline uint64_t cdg_add_bits(uint64_t *mask, uint64_t bits)
{
	bits &= ~__atomic_load_n(mask, __ATOMIC_RELAXED);
	if (bits)
		__atomic_fetch_or(mask, bits, __ATOMIC_RELAXED);
	return bits;
}

/* The VL of a layer between ports of these classes. */
static inline unsigned cdg_vl(const struct cdg *g, unsigned in, unsigned out, unsigned layer)
{
	return g->lanes ? g->lanes->vl[(in * g->n_classes + out) * SL2VL_SLS + g->layer_sl[layer]]
			: 0;
}

static inline uint8_t cdg_class(const struct cdg *g, uint32_t port)
{
	return g->n_classes > 1 ? g->lanes->class_of[port] : 0;
}

/* Vertices are channel * n_vls + VL. The one before `to` that comes in by `port` on VL `a`. */
static inline size_t cdg_from(const struct cdg *g, size_t to, unsigned a, unsigned port)
{
	uint32_t channel = (uint32_t)(to / g->n_vls);
	uint32_t back = g->peer[channel];
	uint32_t sw = g->topo->ports[back].sw; /* the switch that the channel leaves */

	return (size_t)g->peer[g->topo->switches[sw].first_port + port] * g->n_vls +
	       (g->n_in > 1 ? a : to % g->n_vls);
}

/* Does an edge lead upwards in the order? */
static inline bool cdg_allows(const struct cdg *g, size_t from, size_t to)
{
	return g->rank[from] - 1 < g->rank[to] - 1;
}

/* List of the edges that were added. */
struct cdg_added {
	struct cdg_added_bits {
		uint64_t *mask, bits;
	} * all;
	size_t n, cap;
};

/* Adds bits to a mask, and to the list of added ones. */
static inline void cdg_note_bits(struct cdg_added *added, uint64_t *mask, uint64_t bits)
{
	bits &= ~*mask;
	if (!bits)
		return;
	*mask |= bits;
	APPEND(added->all, added->n, added->cap) =
		(struct cdg_added_bits){ .mask = mask, .bits = bits };
}

/*
 * Is the graph still acyclic with these edges? Without them it was, and had an order. Examines only
 * vertices before those whose order is violated, and reorders them.
 */
bool cdg_is_still_acyclic(struct cdg *g, const struct cdg_added *added);
/* Called when edges were removed: forgets VLs that are not used any more. */
void cdg_forget_vls(struct cdg *g);

/* ---- cdg_turns.c: all VLs of the paths to a destination at once ---- */

/*
 * Prepares cdg.turns for fast adding of columns: tables as large as the scheme, and a word per pair
 * of ports of a switch. The senders must be known (cdg.hosts). NULL: the scheme does not suit.
 */
struct cdg_turns *cdg_turns_new(struct cdg *g, unsigned threads);
struct cdg_turns *cdg_turns_free(struct cdg_turns *t);
/* cdg_add_column(); `kinds_at` is work space, a zero per switch before and after. */
void cdg_turns_add_column(struct cdg_turns *t, uint64_t *kinds_at, const struct cdg_column *c);
