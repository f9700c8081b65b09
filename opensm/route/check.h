// SPDX-License-Identifier: BSD-2-Clause
/*
 * The judge: what the tables really do, computed from nothing but topo and rows.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/routes.h"

/* A pair that cables connect and tables do not. */
struct route_lost {
	lid_t to;      /* 0: there is none */
	uint32_t from; /* switch that the sender hangs on */
	uint32_t end;  /* switch where it ends, or that it comes by again */
	bool loops;
};

struct route_verdict {
	uint64_t pairs;             /* judged: every end port to every LID of every other one */
	uint64_t unreachable;       /* end-port pairs without a path: cut + lost */
	uint64_t cut;               /* that no cables connect, or no tables large enough: nobody's fault */
	uint64_t lost;              /* that could have a path */
	uint64_t looping;           /* of the unreachable: going round for ever */
	uint64_t switch_unreachable;/* (switch, switch LID) pairs without a path */
	struct route_lost lost_example;
	bool credit_loop;           /* channel dependency graph has a cycle, with lanes as they are */
	uint32_t cycle_channels;    /* (channel, VL)s on cycles */
	unsigned n_vls;             /* lanes that carry something; 1 without a scheme */
	unsigned n_sls;             /* SLs that the scheme gives to end ports; 1 without a scheme */
	unsigned max_hops;          /* ISL hops of the longest path between end ports */
	double avg_hops;
	uint64_t detours;           /* pairs whose path is longer than it need be */
	bool minimal;               /* there are none */
	uint32_t max_load, min_load;/* edge forwarding index in end-port pairs over ISL channels */
	double avg_load;
};

/*
 * `threads` 0: all of the machine. Lanes are those of the routes; where their scheme leaves bits of the SL to
 * others, the verdict holds for whatever these choose.
 */
void routes_check(const struct routes *r, unsigned threads, struct route_verdict *ret);

/*
 * The same, when tables like these were judged before: looks only at what is different. What a judgement leaves for
 * the next stays with its routes, in memory like that of the judge; `previous` (NULL: none) loses it, so a
 * second call with the same judges from scratch. Not for two threads with the same routes. The verdict is
 * exactly that of routes_check(). Returns whether it was the short way.
 *
 *	routes_check_after(NULL, a, threads, &v);	all of it
 *	routes_check_after(a, b, threads, &v);		what is not the same in b
 */
bool routes_check_after(const struct routes *previous, const struct routes *r, unsigned threads,
			struct route_verdict *ret);

/* The same after routes_mark(), for tables that were judged then: looks at what was written since. */
bool routes_check_since(struct routes *r, size_t mark, unsigned threads, struct route_verdict *ret);

/* What every channel (entry of topo->ports) of judged routes carries, as long as that judgement is theirs; or NULL. */
const uint32_t *routes_judged_load(const struct routes *r);

/* The same as routes_check(), and who waits for whom (depend.h): for a cycle in words, or multicast trees. The caller frees it. */
struct dependency_graph;
void routes_check_graph(const struct routes *r, unsigned threads, struct route_verdict *ret,
			struct dependency_graph **graph);

/* "all 1047552 pairs reach, no credit loop, hops 3.86/4, load 960/988/1016" (min/avg/max). */
#define ROUTE_VERDICT_STRLEN 256
char *route_verdict_str(const struct route_verdict *v, char ret[ROUTE_VERDICT_STRLEN]);

/*
 * Effective bisection bandwidth, 0..1: `patterns` random bisections of the end ports (seeded,
 * reproducible); each flow gets 1 / (most flows on any channel of its path); averaged.
 */
double routes_effective_bandwidth(const struct routes *r, unsigned patterns, uint64_t seed);

/* The same under `patterns` random permutations: all end ports send at once. */
double routes_permutation_bandwidth(const struct routes *r, unsigned patterns, uint64_t seed);

/*
 * Worst congestion (most flows on one ISL channel) over `shifts` shift permutations (0: all of
 * them) of the end ports in order of switch and port. 1 is free of contention.
 */
unsigned routes_shift_congestion(const struct routes *r, unsigned shifts);

/* Most flows on one ISL channel under `patterns` random permutations of the end ports: mean, and at worst. */
double routes_permutation_congestion(const struct routes *r, unsigned patterns, uint64_t seed, unsigned *ret_worst);

/*
 * A2A risk: over all ISL channels, the most of min(end ports that send through it, LIDs that are sent to through it).
 * Walks every pair's tree: O(switches * LIDs) and a bit per channel and LID.
 */
unsigned routes_all_to_all_risk(const struct routes *r);
