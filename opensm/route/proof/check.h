// SPDX-License-Identifier: BSD-2-Clause
/* routes_check(): what tables do to packets, computed from nothing but topo and rows. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/core/routes.h"

/* A pair of ports that cables connect and tables do not. */
struct route_lost {
	lid_t to;      /* 0: there is none */
	uint32_t from; /* switch that the sender hangs on */
	uint32_t end;  /* switch where the path ends, or that it meets again */
	bool loops;
};

struct route_verdict {
	uint64_t pairs;             /* checked: every end port to every LID of every other one */
	uint64_t unreachable;       /* end-port pairs without a path: cut + lost */
	/* not counted as a fault: no cables connect the pair, or forwarding tables are too small */
	uint64_t cut;
	uint64_t lost;              /* that could have a path */
	uint64_t looping;           /* of the unreachable: going round for ever */
	uint64_t switch_unreachable;/* (switch, switch LID) pairs without a path */
	struct route_lost lost_example;
	bool credit_loop;           /* channel dependency graph has a cycle, with VLs as they are */
	uint32_t cycle_channels;    /* (channel, VL)s on cycles */
	unsigned n_vls;             /* VLs that carry something; 1 without a scheme */
	unsigned n_sls;             /* SLs that the scheme gives to end ports; 1 without a scheme */
	unsigned max_hops;          /* ISL hops of the longest path between end ports */
	double avg_hops;
	uint64_t detours;           /* pairs whose path is longer than it need be */
	bool minimal;               /* there are none */
	/*
	 * Edge forwarding index in end-port pairs, over the channels between switches, those of
	 * stubs left out (topo_find_stubs()). A pair on a cable of half the median rate counts as
	 * two (topo->paces).
	 */
	uint32_t max_load, min_load;
	double avg_load;
};

/*
 * `threads` 0: one per processor. VLs are those of the routes; where their scheme leaves bits of
 * the SL to policies, the verdict holds for every choice.
 */
void routes_check(const struct routes *r, unsigned threads, struct route_verdict *ret);

/*
 * The same after a check of similar tables: looks only at differences. The state for the next check
 * is kept with its routes, in memory like that of routes_check(); `previous` (NULL: none) loses it,
 * so a second call with the same `previous` checks from scratch. Not for two threads with the same
 * routes. The verdict is exactly that of routes_check(), but for n_vls where VLs go by classes of
 * ports: there it may count VLs of hosts that went. Returns whether looking at the differences was
 * enough.
 *
 *	routes_check_after(NULL, a, threads, &v);	all of it
 *	routes_check_after(a, b, threads, &v);		what is not the same in b
 */
bool routes_check_after(const struct routes *previous, const struct routes *r, unsigned threads,
			struct route_verdict *ret);

/* The same after routes_mark(), for tables checked at the mark: looks at later writes. */
bool routes_check_since(struct routes *r, size_t mark, unsigned threads, struct route_verdict *ret);

/*
 * The verdict `v` on `was` becomes that on `now`, the same tables with other numbers
 * (routes_renumber()); the state for the next check goes over to `now`.
 */
struct renumbering;
void routes_check_renumber(const struct routes *was, const struct routes *now,
			   const struct renumbering *m, struct route_verdict *v);

/* Pairs per entry of topo->ports, as long as the check is of these tables; else NULL. */
const uint32_t *routes_judged_load(const struct routes *r);

/* With the dependency graph (cdg.h), for cycles and multicast trees. The caller frees it. */
struct cdg;
void routes_check_graph(const struct routes *r, unsigned threads, struct route_verdict *ret,
			struct cdg **graph);

/* "all 1047552 pairs reach, no credit loop, hops 3.86/4, load 960/988/1016" (min/avg/max). */
#define ROUTE_VERDICT_STRLEN 256
char *route_verdict_str(const struct route_verdict *v, char ret[ROUTE_VERDICT_STRLEN]);
/* The fault of tables, to follow "its tables "; NULL: they hold. */
const char *route_fault(const struct route_verdict *v);

/*
 * How well routes carry traffic patterns, seeded and reproducible: each flow gets 1 / (most flows
 * on any channel of its path), 0..1, averaged. A flow on a cable of half the median rate counts as
 * two (topo->paces).
 */
struct route_measures {
	double bisection;   /* effective bandwidth of random bisections of the end ports */
	double permutation; /* of random permutations: all end ports send at once */
	double shift;	    /* of shifts of end ports by switch and port, k to k + by */
	double flows;	    /* most flows on a channel under the permutations: mean, and worst */
	unsigned most_flows;
};
/* Under `patterns` of each. */
void routes_measure(const struct routes *r, unsigned patterns, uint64_t seed,
		    struct route_measures *ret);

/* Some end ports in the order of their ranks: entries of topo->hosts, attached and with a LID. */
struct route_ranks {
	const uint32_t *hosts;
	uint32_t n;
};

/* All of them, in order of switch and port, as routes_measure() has them; the caller frees. */
uint32_t *routes_ranks(const struct topo *t, uint32_t *ret_n);
/*
 * Bisections, permutations and shifts among these alone, `patterns` and `shifts` (0: all) of them.
 * Returns the most flows on one ISL channel in any of the shifts: 1 is free of contention.
 */
unsigned routes_measure_ranks(const struct routes *r, struct route_ranks ranks, unsigned patterns,
			      unsigned shifts, uint64_t seed, struct route_measures *ret);
/*
 * The mean share under `shifts` shifts (0: as many as the largest group has) of all groups at
 * once, each in itself: what rings on every rail get of each other. Returns the most flows on one
 * channel.
 */
unsigned routes_measure_groups(const struct routes *r, const struct route_ranks *groups,
			       unsigned n, unsigned shifts, double *ret);
