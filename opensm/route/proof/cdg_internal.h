// SPDX-License-Identifier: BSD-2-Clause
/* The inside of the dependency graph, for cdg.c, cycle.c and cdg_turns.c. */
#pragma once

#include "route/proof/cdg.h"
#include "util/mem.h"

struct cdg {
	const struct topo *topo;
	const struct sl2vl *lanes; /* NULL: one VL, or all alike */
	/* entries of topo->ports; a channel is that of the port it leaves by */
	uint32_t n_ports;
	unsigned n_vls, n_classes; /* n_vls: or more, from a former scheme */
	unsigned scheme_vls;	   /* that the scheme had when it was looked at */
	/* VLs in that are told apart: n_vls, or 1 where the VL stays the same */
	unsigned n_in;
	unsigned words;		   /* per mask of ports */
	unsigned n_layers;
	uint8_t layer_sl[SL2VL_SLS]; /* one SL of the layer */
	uint8_t layer_of[SL2VL_SLS]; /* per SL */
	/* per SL of the scheme: layers that wishes may make of it, a bit each */
	uint16_t layers[SL2VL_SLS];
	uint16_t vls;		   /* something is sent on these */
	/* per entry: the other end of its cable; TOPO_NONE: no switch there */
	uint32_t *peer;
	uint64_t *hosts;	   /* per switch: ports with an end port that sends */
	uint64_t *of_class;	   /* (switch * n_classes + class) * words; NULL: one class */
	/* into[((channel * n_vls + VL) * n_in + VL in) * words]: ports there that lead to it */
	uint64_t *into;
	struct cdg_turns *turns;	   /* while columns are added; NULL: layer by layer */
	struct cdg_added *added;	   /* what columns add is noted here; NULL: nowhere */
	/* per vertex, ascending along edges, 0 being the highest; NULL: not known, or cyclic */
	uint32_t *rank;
	uint32_t lowest; /* all are 0 or not below */
};

#define PORT_WORDS 4 /* of a mask of ports, at most */

/* Words of a mask of ports: 1 .. PORT_WORDS. */
unsigned cdg_words(const struct topo *t);
/* Sets n_ports and peer[] anew from the topo. */
void cdg_find_peers(struct cdg *g);
/*
 * Goes on with a topo of the same ports, cabled otherwise, and a scheme that has as many classes,
 * and maybe other VLs; or one of classes where there was none. Dependencies stay as they are, on
 * the VLs they were on.
 */
void cdg_move(struct cdg *g, const struct topo *t, const struct sl2vl *lanes);
/* VLs on which all senders send the LID all the way; only where that is so (verifier.simple). */
uint16_t cdg_vls_of(const struct cdg *g, uint32_t at, lid_t lid);

/* Threads write the same masks: bits that are there are not written again. Returns the new. */
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

/* Vertices are channel * n_vls + VL. The one that comes in by `port` on VL `a` before `to`. */
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

/* Edges that were added. */
struct cdg_added {
	struct cdg_added_bits {
		uint64_t *mask, bits;
	} *all;
	size_t n, cap;
};

/* Adds bits to a mask, and to what was added. */
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
 * Is the graph acyclic with these edges? It was without them, and had an order. Looks only at what
 * is before those that the order does not allow, and orders that anew.
 */
bool cdg_is_still_acyclic(struct cdg *g, const struct cdg_added *added);
/* Edges were taken away: forgets VLs that nothing is sent on any more. */
void cdg_forget_vls(struct cdg *g);

/* ---- cdg_turns.c: all VLs of the paths to a destination at once ---- */

/*
 * For cdg.turns before columns are added: tables that make it fast, as large as the scheme and a
 * word per pair of ports of a switch. The senders must be known (cdg.hosts). NULL: the scheme does
 * not suit.
 */
struct cdg_turns *cdg_turns_new(struct cdg *g, unsigned threads);
struct cdg_turns *cdg_turns_free(struct cdg_turns *t);
/* As cdg_add_column(); `kinds_at` is scratch, a zero per switch, and zero again afterwards. */
void cdg_turns_add_column(struct cdg_turns *t, uint64_t *kinds_at, const struct cdg_column *c);
