// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules on keeping former tables, with every threshold and the measurement it comes from
 * (keep_policy.c).
 *
 * Former tables are those in force, those read from switches, and tables that an engine derives
 * from either for the present fabric. A change of them costs Sets, and order while they are
 * written; keeping them costs balance. A rule limits that cost: a figure of former tables may
 * exceed a *base* by so much. The base is the figure of tables from scratch, or that of the former
 * tables when they were last compared or balanced, or the mean of all channels. Engines have no
 * thresholds of their own, so a new manager accepts the tables of its predecessor.
 *
 * No tables are computed here: engines, repair.c, reroute.c, balance and keep_tables.c ask.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/core/routes.h"

struct route_verdict;

enum keep_rule {
	/* Base: tables from scratch, which replace former tables beyond it. */
	KEEP_LOAD,
	KEEP_HOPS,
	KEEP_QUIET,
	/*
	 * Base: load of a switch in former tables; a larger share in those from scratch: it is
	 * idle.
	 */
	KEEP_IDLE,
	/* Base: tables from scratch, or former ones when paths were last assigned to VLs. */
	KEEP_PATHS,
	/* Base: tables from scratch, or the mean of all channels; beyond it single entries move. */
	KEEP_BALANCE,
	KEEP_EVEN,
	/* Base: load of former tables when last balanced, or last compared with other engines. */
	KEEP_BALANCED,
	KEEP_STEPS, /* base: that load, and also the mean of all channels */
	KEEP_COMPARED,
	KEEP_COMPARED_HOPS,
	/* Base: another candidate, or another path. */
	KEEP_CANDIDATE,
	KEEP_CANDIDATE_LOAD,
	KEEP_CANDIDATE_BANDWIDTH,
	KEEP_CHANGES,
	KEEP_NUE,
	KEEP_DETOUR,
	/* Base: a tree from scratch for the multicast group. */
	KEEP_TREE_HOPS,
	KEEP_TREE_LINKS,
	KEEP_RULES
};

/* Limits of a repair, beyond which all columns are computed. Counts. */
enum {
	/*
	 * Cables removed or added. CPU time of `bench-route -c -t 1 -D 20 -e minhop fat-tree3 32`
	 * with 4, 8, 16 cables a step: 0.9, 1.4, 1.5 s without repair, 0.7, 1.2, 1.7 s with it.
	 */
	KEEP_REPAIR_CABLES = 16,
	/*
	 * Cables whose higher end is now the other one, with updn, dnup and ftree: one or two after
	 * a small change of the order (tree.c), hundreds after a change of its highest switch.
	 */
	KEEP_REPAIR_TURNED = 128,
	/*
	 * Distances that changed, per switch (at least 256 switches). `bench-reroute -a -k root -e
	 * updn fat-tree3 36`: 16; repaired it takes 101 ms, from scratch 176, computed anew beside
	 * the former tables 410. fat-tree3 56: 805, 1,377, and twice that.
	 */
	KEEP_REPAIR_MOVED = 64,
	/* Switches removed or added; their cables are not counted above. */
	KEEP_REPAIR_SWITCHES = 4,
	/*
	 * Hosts added: each is a column from scratch, so only memory is limited. One takes 0.4 ms
	 * of 3.4 from scratch (`bench-reroute -a -k host fat-tree3 16`).
	 */
	KEEP_REPAIR_HOSTS = 256,
	/* Switches to which distances changed: as many as distances_to() handles in one pass. */
	KEEP_REPAIR_TARGETS = 512,
	/*
	 * Inverse of the greatest part of all switches (256 at least) to which distances may
	 * change. `bench-reroute -a -k cable -e minhop torus 8 8 8 2` shows no difference from 1 to
	 * 64 (134 to 144 ms of 210): in trees there are few.
	 */
	KEEP_REPAIR_SHARE = 8,
};

/* The greatest value that the rule allows for `base` (0 or more), in the same unit. */
double keep_bound(enum keep_rule rule, double base);
/* keep_bound() for counts, rounded down. */
uint32_t keep_limit(enum keep_rule rule, uint32_t base);
/* The cost of a former path that is compared with others: reduced by the rule, rounded up. */
uint64_t keep_cost(enum keep_rule rule, uint64_t cost);

/* Does the rule allow `load` on a channel if the greatest load was `before` (0: it never does)? */
bool keep_is_as_before(enum keep_rule rule, uint32_t load, uint32_t before);
/*
 * The next base: `before` if the rule allows `load`, so that small steps do not add up; or `load`.
 */
uint32_t keep_base(enum keep_rule rule, uint32_t load, uint32_t before);

/* Is the fabric small enough to compute tables from scratch only for comparison? */
bool keep_may_compare(const struct topo *t);

/* Do paths have service levels of their own? Hosts that asked for one go on using it. */
bool keep_has_path_levels(const struct routes *r);

/*
 * Are former tables, of verdict `kept`, clearly worse than those from scratch, of verdict `fresh`?
 * `load`: KEEP_LOAD, or KEEP_PATHS if paths have service levels of their own.
 */
bool keep_is_clearly_worse(enum keep_rule load, const struct route_verdict *kept,
			   const struct route_verdict *fresh);
/* Can no tables be so good that tables of this verdict are clearly worse? */
bool keep_is_surely_fair(enum keep_rule load, const struct route_verdict *v);
/*
 * Were the tables `before` compared with all engines, or those of a single engine with tables from
 * scratch; is the load little more than then; and are detours too few for any tables to have much
 * shorter paths? Tables from scratch can then wait for a quiet minute.
 */
bool keep_is_as_compared(const struct routes *r, const struct routes *before,
			 const struct route_verdict *v);
/*
 * May a switch that came back wait for its share until a quiet minute? Not in a small fabric, where
 * balance costs nothing, nor if a channel is overloaded.
 */
bool keep_may_wait(const struct routes *r, const struct route_verdict *v);
/* Are the tables so balanced that KEEP_BALANCE would move no entry? */
bool keep_is_surely_balanced(const struct routes *r, const struct route_verdict *v);
