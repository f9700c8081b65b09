// SPDX-License-Identifier: BSD-2-Clause
/* routes_check(): what tables do to packets, computed from nothing but topo and rows. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/core/routes.h"

/* A pair of ports that is connected by cables but not by tables. */
struct route_lost {
	lid_t to;      /* 0: no such pair */
	uint32_t from; /* switch of the sender */
	uint32_t end;  /* switch where the path ends, or which it reaches twice */
	bool loops;
};

struct route_verdict {
	/* pairs checked: every end port to every LID of every other one */
	uint64_t pairs;
	uint64_t unreachable; /* end-port pairs without a path: cut + lost */
	/* No fault: no cables connect the pair, or forwarding tables are too small. */
	uint64_t cut;
	uint64_t lost;		     /* pairs that could have a path */
	uint64_t looping;	     /* unreachable pairs whose packets loop */
	uint64_t switch_unreachable; /* (switch, switch LID) pairs without a path */
	struct route_lost lost_example;
	/* set if the channel dependency graph has a cycle, with the VLs in use */
	bool credit_loop;
	uint32_t cycle_channels; /* number of (channel, VL)s on cycles */
	unsigned n_vls;		 /* number of VLs in use; 1 without a scheme */
	/* number of SLs that the scheme gives to end ports; 1 without a scheme */
	unsigned n_sls;
	/* cables between switches on the longest path between end ports */
	unsigned max_hops;
	double avg_hops;
	uint64_t detours; /* pairs whose path is longer than necessary */
	bool minimal;	  /* set if there are no such pairs */
	/*
	 * Edge forwarding index in end-port pairs, over the channels between switches, those of
	 * stubs left out (topo_find_stubs()). A pair on a cable of half the median rate counts as
	 * two (topo->paces).
	 */
	uint32_t max_load, min_load;
	double avg_load;
};

/*
 * Checks the routes. `threads` 0: one per processor. VLs are those of the routes; if their scheme
 * leaves SL bits to policies, the verdict holds for every choice.
 */
void routes_check(const struct routes *r, unsigned threads, struct route_verdict *ret);

enum check_some {
	CHECK_EACH,
	CHECK_ONE_PER_SWITCH, /* the first one on each switch */
};

/*
 * Do the paths to some of the first `n_hosts` of topo->hosts alone close a cycle of dependencies?
 * True: so do all paths together, and routes_check() would find a credit loop. It costs half as
 * much as that per host.
 */
bool routes_loop_to(const struct routes *r, unsigned threads, uint32_t n_hosts,
		    enum check_some some);

/*
 * routes_check() after a check of similar tables: examines only differences. The state for the next
 * check is kept with its routes, as for routes_check(); `previous` (NULL: none) loses it, so a
 * second call with the same `previous` checks from scratch. Not for two threads with the same
 * routes. The verdict is that of routes_check(), but for n_vls if VLs go by classes of ports: it
 * may include VLs of hosts that went. Returns whether the differences were enough.
 *
 * routes_check_after(NULL, a, threads, &v); checks all of a
 * routes_check_after(a, b, threads, &v); checks the differences
 */
bool routes_check_after(const struct routes *previous, const struct routes *r, unsigned threads,
			struct route_verdict *ret);

/* routes_check_after() for tables checked at a routes_mark(): examines later writes. */
bool routes_check_since(struct routes *r, size_t mark, unsigned threads, struct route_verdict *ret);

/*
 * Converts the verdict `v` on `was` to `now`, the same tables with other switch numbers
 * (routes_renumber()); moves the state for the next check to `now`.
 */
struct renumbering;
void routes_check_renumber(const struct routes *was, const struct routes *now,
			   const struct renumbering *m, struct route_verdict *v);

/* Pairs per entry of topo->ports, as long as the check is of these tables; else NULL. */
const uint32_t *routes_judged_load(const struct routes *r);

/* routes_check() that also returns the dependency graph (cdg.h); the caller frees it. */
struct cdg;
void routes_check_graph(const struct routes *r, unsigned threads, struct route_verdict *ret,
			struct cdg **graph);

/* "all 1047552 pairs reach, no credit loop, hops 3.86/4, load 960/988/1016" (min/avg/max). */
#define ROUTE_VERDICT_STRLEN 256
char *route_verdict_str(const struct route_verdict *v, char ret[ROUTE_VERDICT_STRLEN]);
/* The fault of the tables, to follow "its tables "; NULL: none. */
const char *route_fault(const struct route_verdict *v);

/*
 * How well routes carry traffic patterns, seeded and reproducible: each flow gets 1 / (most flows
 * on any channel of its path), 0..1, averaged. A flow on a cable of half the median rate counts as
 * two (topo->paces).
 */
struct route_measures {
	double bisection; /* effective bandwidth of random bisections of the end ports */
	/* effective bandwidth of random permutations: all end ports send at once */
	double permutation;
	/* effective bandwidth of shifts of end ports by switch and port, k to k + by */
	double shift;
	double flows; /* most flows on a channel under the permutations: mean; and greatest */
	unsigned most_flows;
};
/* Measures the routes with `patterns` of each kind. */
void routes_measure(const struct routes *r, unsigned patterns, uint64_t seed,
		    struct route_measures *ret);

/* Some end ports in rank order: entries of topo->hosts, connected and with a LID. */
struct route_ranks {
	const uint32_t *hosts;
	uint32_t n;
};

/* All end ports in order of switch and port, as routes_measure() uses them; the caller frees. */
uint32_t *routes_ranks(const struct topo *t, uint32_t *ret_n);
/*
 * Measures bisections, permutations and shifts among these end ports alone; `patterns` of them,
 * `shifts` (0: all) shifts. Returns the most flows on one channel in any shift: 1 is free of
 * contention.
 */
unsigned routes_measure_ranks(const struct routes *r, struct route_ranks ranks, unsigned patterns,
			      unsigned shifts, uint64_t seed, struct route_measures *ret);
/*
 * Fills in the mean share under `shifts` shifts (0: as many as the largest group has) of all groups
 * at once, each within itself, as rings on every rail do. Returns the most flows on one channel.
 */
unsigned routes_measure_groups(const struct routes *r, const struct route_ranks *groups, unsigned n,
			       unsigned shifts, double *ret);
