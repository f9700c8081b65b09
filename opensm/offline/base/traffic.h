// SPDX-License-Identifier: BSD-2-Clause
/* What end ports get of each other: of the whole fabric, or the hosts of a job in rank order. */
#pragma once

#include <math.h>
#include <stdint.h>

#include "route/proof/check.h"

/*
 * Per entry of topo->ports: flows through it, and of these the ones that end at the next switch.
 * Figures below count a flow on a cable of half the median rate as two (topo->paces).
 */
struct figures_flows {
	uint32_t *load, *last;
};

struct traffic {
	uint32_t hosts, switches;   /* number of end ports, and of their switches */
	struct route_measures mean; /* halves, permutations, shifts: 1 is no contention */
	unsigned patterns;
	unsigned shift;		    /* most flows on a channel in any of the shifts */
	unsigned shifts, n_shifts;  /* followed, and there are */
	/*
	 * All to all: mean over most flows of the channels between switches that have some, or that
	 * lie on a shortest path between two of these end ports. 0: there is no such channel.
	 */
	double even;
	uint32_t most;
	/*
	 * Cables below the median rate, and the channel of one on which an all-to-all takes
	 * longest: so many times as long as on the median channel. TOPO_NONE: no flow, or no such
	 * cable.
	 */
	uint32_t n_slow, slow_at;
	uint16_t median_rate; /* rate as in struct topo_port */
	double slow_times;
	/*
	 * Incast: flows of all to those on one switch, on the channels into that switch: mean over
	 * most, where no more channels count than there are end ports on it. Mean of all switches,
	 * and the least.
	 */
	double incast, incast_least;
	uint32_t incast_at; /* switch with incast_least; TOPO_NONE: all end ports are on one */
};

/* A measure of shifts or random patterns; NAN with fewer than two end ports. */
static inline double traffic_measured(const struct traffic *f, double measure)
{
	return f->shifts ? measure : NAN;
}

/* How even all-to-all and incast are; NAN without a flow between switches. */
static inline double traffic_even(const struct traffic *f, double even)
{
	return f->most ? even : NAN;
}

/* `flows` are figures_flows() of the same. */
void traffic_of(const struct routes *r, struct route_ranks ranks,
		const struct figures_flows *flows, struct traffic *ret);
