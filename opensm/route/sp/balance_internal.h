// SPDX-License-Identifier: BSD-2-Clause
/* The state of balance_channels() and of its part balance_fair.c. */
#pragma once

#include "route/sp/balance.h"
#include "topo/topo.h"
#include "util/mem.h"

#define BALANCE_PORTS	256
#define BALANCE_OF_STUB UINT32_MAX /* floor of a cable of a stub: nothing can be taken off it */

/* The entries of all switches for one LID, and their flows. */
struct column {
	struct path_dag dag; /* all allowed paths */
	uint8_t *port;	     /* by switch; 0: to no switch */
	uint32_t *flow;	     /* by switch: flow through it, that of its own end ports included */
	/* Switches with flows to the LID, farthest first, as indices in dag.order. */
	uint32_t *used;
	uint32_t n_used;
	/* Ports of the LIDs at indices from .. to - 1 of the order, one column after the other. */
	uint8_t *ports;
	uint32_t from, to;
};

struct relief {
	const struct balance_job *job;
	const struct topo *topo;
	struct routes *r;
	uint32_t n, n_ports;
	uint32_t *base;	       /* by switch: channel of port 0 */
	uint16_t *next;	       /* by channel: the next switch; NOWHERE: none */
	uint32_t *flows;       /* by channel */
	const uint32_t *paces; /* topo->paces */
	uint32_t *floor;       /* by channel: least value of its limit */
	/* by switch, for the present column: known greatest load on the path from there on */
	uint32_t *worst;
	uint32_t limit;
	uint32_t enough;  /* least limit of any channel */
	uint32_t highest; /* greatest floor */
	/*
	 * Set if only channels slower than the median are relieved, to a fair load between levels.
	 */
	bool only_slow;
	uint32_t mean;
	uint32_t n_over; /* number of channels that carry more than `limit` */
	/* Channels over the limit, and some that were; `listed`: flag by channel. */
	struct above {
		uint32_t sw;
		uint8_t port;
	} * above;
	uint32_t n_above;
	bool *listed;
	bool *over;	/* by switch: set if its path crosses such a channel */
	bool *crosses;	/* by destination: set if some flow to it uses such a channel */
	uint32_t *rank; /* by LID: rank of its end port */
	lid_t *ranked;	/* by rank: first LID */
	uint32_t n_ranked;
	uint32_t met[BALANCE_PORTS]; /* by port of the present switch: see look_around() */
	bool looked;		     /* set if `met` is that of the present entry */
	double per_load, per_met;    /* cost added by one unit of each */
	bool large;		     /* set if the fabric is large: no gentle steps */
	bool gentle;	      /* set if entries move only where they meet no more than before */
	struct column column; /* the present column */
	struct arena memory;
};

/* The load of a channel with `more` additional flows. */
static inline uint32_t load_with(const struct relief *f, uint32_t channel, uint32_t more)
{
	return topo_load(f->paces, channel, f->flows[channel] + more);
}

static inline bool is_slow(const struct relief *f, uint32_t channel)
{
	return f->paces && f->paces[channel] > TOPO_PACE;
}

/* Is this channel considered? */
static inline bool is_counted(const struct relief *f, uint32_t channel)
{
	return !f->only_slow || is_slow(f, channel);
}

/* Sets floor[] of all channels, `highest`, `mean` and `enough` from the present loads. */
void balance_find_fair(struct relief *f);
