// SPDX-License-Identifier: BSD-2-Clause
/* The state of balance_channels(), and of what it asks (balance_fair.c). */
#pragma once

#include "route/sp/balance.h"
#include "topo/topo.h"
#include "util/mem.h"

#define BALANCE_PORTS 256
#define BALANCE_OF_STUB UINT32_MAX /* floor of a cable of a stub: nothing can be taken off it */

/* The entries of all switches for one LID, and what they make of its flows. */
struct column {
	struct path_dag dag; /* all paths that they may take */
	uint8_t *port;	     /* per switch; 0: to no switch */
	uint32_t *flow;	     /* the same: what comes through, its own end ports included */
	/* switches with flows to the LID, farthest first, as indices of dag.order */
	uint32_t *used;
	uint32_t n_used;
	/* ports of several LIDs, those at places from .. to - 1, one after the other */
	uint8_t *ports;
	uint32_t from, to;
};

struct relief {
	const struct balance_job *job;
	const struct topo *topo;
	struct routes *r;
	uint32_t n, n_ports;
	uint32_t *base;	 /* per switch: channel of port 0 */
	uint16_t *next;	 /* per channel: the switch there; NOWHERE: none */
	uint32_t *flows; /* per channel */
	const uint32_t *paces; /* topo->paces */
	uint32_t *floor; /* per channel, a load: no limit is lower */
	uint32_t *worst; /* per switch, for the column at hand: most load from there on, as known */
	uint32_t limit;
	uint32_t enough; /* no limit of any channel is lower */
	uint32_t highest; /* of the floors */
	/* only those slower than the median count, down to what is fair between any two levels */
	bool only_slow;
	uint32_t mean;
	uint32_t n_over; /* how many channels carry more than `limit` */
	/* these, and some that were; a bit of `listed` per channel says which are there */
	struct above {
		uint32_t sw;
		uint8_t port;
	} *above;
	uint32_t n_above;
	bool *listed;
	bool *over;	 /* per switch: its path crosses such a channel */
	bool *crosses;	 /* per destination: some flow to it takes such a channel */
	uint32_t *rank;	 /* per LID: place of its end port in the order of ranks */
	lid_t *ranked;	 /* by that: first LIDs */
	uint32_t n_ranked;
	uint32_t met[BALANCE_PORTS]; /* per port of the switch at hand: see look_around() */
	bool looked;	     /* they are those of the entry at hand */
	double per_load, per_met; /* what one of it adds to a cost */
	bool large;	     /* the fabric is: no gentle steps */
	bool gentle;	     /* entries move only if they meet no more than before */
	struct column column; /* at hand */
	struct arena memory;
};

/* The load of a channel with so many flows more. */
static inline uint32_t load_with(const struct relief *f, uint32_t channel, uint32_t more)
{
	return topo_load(f->paces, channel, f->flows[channel] + more);
}

static inline bool is_slow(const struct relief *f, uint32_t channel)
{
	return f->paces && f->paces[channel] > TOPO_PACE;
}

/* Does it count at all? */
static inline bool is_counted(const struct relief *f, uint32_t channel)
{
	return !f->only_slow || is_slow(f, channel);
}

/*
 * Sets the floors of all channels, the highest of them, the mean, and what no channel need carry
 * less than, by the loads as they are.
 */
void balance_find_fair(struct relief *f);
