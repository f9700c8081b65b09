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
	uint16_t home;     /* highest home; the destination's own switch when it has none */
	uint16_t distance; /* from home to the destination's switch */
	uint8_t port;      /* of the destination at its own switch; 0: the switch itself */
	uint8_t offset;    /* LID - base LID */
};

/* For destinations whose highest home does not decide, one array per level. */
struct dmodk_level {
	uint16_t *home;     /* the destination's own switch where the chain ends below */
	uint16_t *distance; /* from home to the destination's switch */
	uint32_t *digit;    /* rest of the slot at this level */
	/* digit (and offset) modulo `modulus`, which is what most switches there have */
	uint16_t *residue;
	uint16_t modulus;   /* ports that lead up from most switches there; 0: none */
};

/* One of the hosts of switch `at` to which leaves take other ports up by turns. */
struct dmodk_shared {
	uint32_t dest, at, place; /* place: among those of the switch */
};

/*
 * More of the destinations below a broken switch come down one of its cables than the mean. Of the
 * switches as high as that one (its level) some send towards another home, of dmodk.spares from
 * `first` on: those in turn.
 */
struct dmodk_crowded {
	uint32_t dest, at;
	uint32_t turn;	 /* the same for all on the cable, and then one after the other */
	uint32_t share;	 /* of 2^32 turns */
	uint32_t first, n;
};

/* A home with room, in parts of all the room there is; `room` counts those before it, too. */
struct dmodk_spare {
	uint32_t home, room;
};

struct dmodk {
	uint32_t n;         /* destinations by switch: the switch, then its hosts by port */
	uint32_t *first;    /* per switch + 1 */
	struct dmodk_hot *hot;
	uint32_t *host;     /* TOPO_NONE: the switch itself */
	uint8_t *depth;     /* number of homes */
	bool *has_lmc;      /* per switch: some destination on it has more than one LID */
	bool some_lmc;      /* some switch has such a destination */
	/* per switch: depth of all destinations on it if their homes are as far; else 0 */
	uint8_t *even;
	lid_t top;          /* highest LID */
	uint16_t *rank;     /* per switch: hops to the nearest leaf; DISTANCE_NONE: none */
	/* level[k].home is k + 1 ranks up; level[0].digit is the slot, neighbours adjacent. */
	struct dmodk_level level[DMODK_LEVELS + 1];
	/* Hosts of leaves beyond a multiple of their ports up, mostly `rest`. Leaves have turns. */
	struct dmodk_shared *shared;
	uint32_t n_shared, *turn, n_turns, rest;
	struct dmodk_crowded *crowded;	   /* by level */
	struct dmodk_spare *spares;
	uint32_t n_crowded[DMODK_LEVELS + 1]; /* before each level, and in all */
	uint32_t expected_load; /* of the channel that most homes share, in end-port pairs */
	struct arena memory;
};

struct dmodk_plan {
	const uint16_t *levels; /* as from dmodk_levels(); NULL: use that */
	const bool *apart;      /* per host: has slots of a kind of its own; NULL: none has */
	bool from_above;        /* leaves in the order in which they are found from the top */
};

/* At most 65534 switches. `plan` may be NULL, `d` where no cable has a weight. Caller frees. */
struct dmodk *dmodk_new(const struct graph *g, const struct distances *d,
			  const struct dmodk_plan *plan);
/* Hops of every switch to the nearest leaf; DISTANCE_NONE: none. */
void dmodk_levels(const struct graph *g, uint16_t *ret);
/* Place of the first LID of a host on switch `sw`; s->n: none is routed, or no switch. */
uint32_t dmodk_find_host(const struct dmodk *s, uint32_t sw, uint32_t host);
struct dmodk *dmodk_free(struct dmodk *s);
FREEP(dmodk_free, struct dmodk)

/* Does the group lead to a higher switch than `sw`? Without ups and downs the ranks say it. */
static inline bool dmodk_leads_up(const struct dmodk *s, bool oriented, uint32_t sw,
				  const struct graph_group *group)
{
	return oriented ? group->way == GRAPH_UP : s->rank[group->to] == s->rank[sw] + 1u;
}

/*
 * Which of `n` equally good paths the LID of a switch takes; there are many such LIDs and they
 * carry little: `slot` is its digit of level 0, `via` the same for all switches that should agree.
 * Even over slots, and over vias (multiples of irrational fractions), so that a cable that fails
 * takes few of each with it.
 */
static inline uint32_t dmodk_any(uint32_t slot, uint32_t via, uint32_t n)
{
	return (uint32_t)((uint64_t)(slot * UINT32_C(0x9E3779B1) + via * UINT32_C(0x85EBCA77)) *
				  n >>
			  32);
}
