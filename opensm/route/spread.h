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

#include "route/graph.h"

#define SPREAD_LEVELS 6

/* What the inner loop of an engine reads: eight bytes. */
struct spread_hot {
	lid_t lid;
	uint16_t home;     /* highest home; the destination's own switch when it has none */
	uint16_t distance; /* from home to the destination's switch */
	uint8_t port;      /* of the destination at its own switch; 0: the switch itself */
	uint8_t offset;    /* LID - base LID */
};

/* What it reads when the highest home does not decide, one array per level. */
struct spread_level {
	uint16_t *home;     /* the destination's own switch where the chain ends below */
	uint16_t *distance; /* from home to the destination's switch */
	uint32_t *digit;    /* what is left of the slot at this level */
	uint16_t *residue;  /* digit (and offset) modulo `modulus`, which is what most switches there have */
	uint16_t modulus;   /* ways up of theirs, as ports; 0: none */
};

struct spread {
	uint32_t n;         /* destinations by switch: the switch, then its hosts by port */
	uint32_t *first;    /* per switch + 1 */
	struct spread_hot *hot;
	uint32_t *host;     /* TOPO_NONE: the switch itself */
	uint8_t *depth;     /* number of homes */
	bool *has_lmc;      /* per switch: some destination on it has more than one LID */
	uint8_t *even;      /* per switch: depth of all destinations on it if their homes are as far; else 0 */
	lid_t top;          /* highest LID */
	uint16_t *rank;     /* per switch: hops to the nearest leaf; DISTANCE_NONE: none */
	/*
	 * level[k].home is k + 1 ranks above the lowest; level[0].digit is the slot: a position in
	 * the fabric, neighbours adjacent.
	 */
	struct spread_level level[SPREAD_LEVELS + 1];
	uint32_t expected_load; /* of the channel that most homes share, in end-port pairs */
};

struct spread_plan {
	const uint16_t *levels; /* as spread_levels() would say; NULL: it says */
	const bool *apart;      /* per host: has slots of a kind of its own; NULL: none has */
	bool from_above;        /* leaves in the order in which they are found from the top */
};

/* At most 65534 switches. `plan` may be NULL, `d` as well where no cable has a weight. The caller frees. */
struct spread *spread_new(const struct graph *g, const struct distances *d,
			  const struct spread_plan *plan);
/* Hops of every switch to the nearest leaf; DISTANCE_NONE: none. */
void spread_levels(const struct graph *g, uint16_t *ret);
struct spread *spread_free(struct spread *s);
void spread_freep(struct spread **s);
