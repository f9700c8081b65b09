// SPDX-License-Identifier: BSD-2-Clause
/*
 * The judge: what the tables really do, computed from nothing but topo and rows.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/routes.h"

struct route_verdict {
	uint64_t pairs;             /* judged: every end port to every LID of every other one */
	uint64_t unreachable;       /* end-port pairs without a path */
	uint64_t looping;           /* of these: going round for ever */
	uint64_t switch_unreachable;/* (switch, switch LID) pairs without a path */
	bool credit_loop;           /* channel dependency graph has a cycle (one lane) */
	uint32_t cycle_channels;    /* channels on cycles */
	unsigned max_hops;          /* ISL hops of the longest path between end ports */
	double avg_hops;
	bool minimal;               /* every path is a shortest one */
	uint32_t max_load, min_load;/* edge forwarding index in end-port pairs over ISL channels */
	double avg_load;
};

/* `threads` 0: all of the machine. */
void routes_check(const struct routes *r, unsigned threads, struct route_verdict *ret);

/* "all 1047552 pairs reach, no credit loop, hops 3.86/4, load 960/988/1016" (min/avg/max). */
#define ROUTE_VERDICT_STRLEN 256
char *route_verdict_str(const struct route_verdict *v, char ret[ROUTE_VERDICT_STRLEN]);

/*
 * Effective bisection bandwidth, 0..1: `patterns` random bisections of the end ports (seeded,
 * reproducible); each flow gets 1 / (most flows on any channel of its path); averaged.
 */
double routes_effective_bandwidth(const struct routes *r, unsigned patterns, uint64_t seed);

/*
 * Worst congestion (most flows on one ISL channel) over `shifts` shift permutations (0: all of
 * them) of the end ports in order of switch and port. 1 is free of contention.
 */
unsigned routes_shift_congestion(const struct routes *r, unsigned shifts);
