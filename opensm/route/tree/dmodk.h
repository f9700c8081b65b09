// SPDX-License-Identifier: BSD-2-Clause
/*
 * Destinations and their homes: the closed form that spreads routes over equal paths.
 *
 * A destination is one LID. It hangs on a switch; above that switch it has a chain of homes, one
 * per level of the tree, chosen once for the whole fabric by dividing its slot number. A switch
 * that can reach the destination through a home on a shortest path does so. Where there are no
 * levels (torus, dragonfly) chains are empty and engines choose by counting. The essay on how this
 * works is at the top of minhop.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/core/graph.h"
#include "util/mem.h"

#define DMODK_LEVELS 6

/* One destination, for the inner loop of an engine: eight bytes. */
struct dmodk_hot {
	lid_t lid;
	uint16_t home;     /* highest home; the switch of the destination if it has no home */
	uint16_t distance; /* from home to the destination's switch */
	uint8_t port;      /* port of the destination on its switch; 0: the switch itself */
	uint8_t offset;    /* LID - base LID */
};

/* Homes of one level, by destination. */
struct dmodk_level {
	uint16_t *home;     /* home; the switch of the destination if its chain is shorter */
	uint16_t *distance; /* from home to the destination's switch */
	uint32_t *digit;    /* quotient of the slot at this level */
	/* (digit + offset) modulo `modulus` */
	uint16_t *residue;
	/* number of ports up that most switches of this level have; 0: none have any */
	uint16_t modulus;
};

/* A host of switch `at` whose entry in each leaf is another port up, in turn. */
struct dmodk_shared {
	uint32_t dest, at, place; /* place: its index among such hosts of the switch */
};

/*
 * A destination below a broken switch whose cable carries more destinations than the mean. Some
 * switches at the level of the broken one send it towards another home, one of dmodk.spares[first
 * .. first + n - 1], in turn.
 */
struct dmodk_crowded {
	uint32_t dest, at;
	uint32_t turn;	 /* offset of its turns: equal part by cable, then evenly spaced */
	uint32_t share;	 /* part of the switches that send it elsewhere, of 2^32 */
	uint32_t first, n;
};

/* A home with room for flows, with the sum of the room up to and including this one. */
struct dmodk_spare {
	uint32_t home, room;
};

struct dmodk {
	/* number of destinations, by switch: the switch itself, then its hosts by port */
	uint32_t n;
	uint32_t *first;    /* first destination by switch, with one more at the end */
	struct dmodk_hot *hot;
	uint32_t *host;     /* by destination: index of the host; TOPO_NONE: the switch itself */
	uint8_t *depth;     /* by destination: number of homes */
	bool *has_lmc;      /* by switch: set if a destination on it has more than one LID */
	bool some_lmc;      /* set if this is so for any switch */
	/*
	 * by switch: number of homes, if the same, at equal distances, for all destinations; else 0
	 */
	uint8_t *even;
	lid_t top;          /* highest LID */
	uint16_t *rank;     /* by switch: hops to the nearest leaf; DISTANCE_NONE: no leaf */
	/*
	 * By level: level[k].home is k + 1 ranks up; level[0].digit is the slot, adjacent for
	 * neighbours.
	 */
	struct dmodk_level level[DMODK_LEVELS + 1];
	/*
	 * Hosts beyond a multiple of the ports up of their leaf, `rest` on most leaves; `turn` by
	 * leaf.
	 */
	struct dmodk_shared *shared;
	uint32_t n_shared, *turn, n_turns, rest;
	struct dmodk_crowded *crowded;	   /* sorted by level */
	struct dmodk_spare *spares;
	uint32_t n_crowded[DMODK_LEVELS + 1]; /* first index in `crowded` by level, and the total */
	uint32_t expected_load; /* load of the channel that most homes share, in end-port pairs */
	struct arena memory;
};

struct dmodk_plan {
	const uint16_t *levels; /* levels of switches; NULL: as of dmodk_levels() */
	const bool *apart; /* by host: set if its slots are counted apart from others; NULL: none */
	bool from_above;        /* set to order leaves as a search from the top finds them */
};

/*
 * At most 65534 switches. `plan` may be NULL, and `d` if no cable has a weight. The caller frees.
 */
struct dmodk *dmodk_new(const struct graph *g, const struct distances *d,
			  const struct dmodk_plan *plan);
/* Computes the hops of every switch to the nearest leaf; DISTANCE_NONE: none. */
void dmodk_levels(const struct graph *g, uint16_t *ret);
/* The first destination of a host on switch `sw`; s->n: it has none, or there is no switch. */
uint32_t dmodk_find_host(const struct dmodk *s, uint32_t sw, uint32_t host);
struct dmodk *dmodk_free(struct dmodk *s);
FREEP(dmodk_free, struct dmodk)

/* Does the group lead to a higher switch than `sw`? If not `oriented`, the ranks decide. */
static inline bool dmodk_leads_up(const struct dmodk *s, bool oriented, uint32_t sw,
				  const struct graph_group *group)
{
	return oriented ? group->way == GRAPH_UP : s->rank[group->to] == s->rank[sw] + 1u;
}

/*
 * The number of the path, of `n` equal ones, for a LID of a switch; such LIDs are many and carry
 * little. `slot` is its digit of level 0, `via` is equal for switches that should agree. Even over
 * slots and over vias (multiples of irrational fractions), so that a cable that fails affects few
 * of each.
 */
static inline uint32_t dmodk_any(uint32_t slot, uint32_t via, uint32_t n)
{
	return (uint32_t)((uint64_t)(slot * UINT32_C(0x9E3779B1) + via * UINT32_C(0x85EBCA77)) *
				  n >>
			  32);
}
