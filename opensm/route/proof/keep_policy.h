// SPDX-License-Identifier: BSD-2-Clause
/*
 * When former tables stay: every rule, and every threshold with the measurement it comes from
 * (keep_policy.c).
 *
 * Former tables are those in force, those found in switches, and what an engine makes out of either
 * for the fabric of today. A change of them costs Sets and, while they are written, order; keeping
 * them costs balance. A rule says how much of it: by how much a figure of theirs may exceed a
 * *base*, which is that of tables from scratch, or their own of the time when they were compared or
 * balanced last, or the mean of all channels. Code that keeps, repairs or balances holds no number
 * of its own; so a manager that starts finds good enough what the one before it made.
 *
 * Nothing here computes tables: engines, repair.c, reroute.c, balance and keep_tables.c ask.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/core/routes.h"

struct route_verdict;

enum keep_rule {
	/* The base is tables from scratch: beyond it these replace the former ones. */
	KEEP_LOAD,
	KEEP_HOPS,
	KEEP_QUIET,
	/* The base is former tables: beyond it, those from scratch have a switch that is idle. */
	KEEP_IDLE,
	/* Base: tables from scratch, or their own load when paths were dealt out to VLs last. */
	KEEP_PATHS,
	/* Base: tables from scratch, or the mean of all channels: beyond it single entries move. */
	KEEP_BALANCE,
	KEEP_EVEN,
	/* Base: their own load when balanced last, or compared with those of other engines. */
	KEEP_BALANCED,
	KEEP_STEPS, /* here and in the mean */
	KEEP_COMPARED,
	KEEP_COMPARED_HOPS,
	/* The base is another candidate, or another path. */
	KEEP_CANDIDATE,
	KEEP_CANDIDATE_LOAD,
	KEEP_CANDIDATE_BANDWIDTH,
	KEEP_CHANGES,
	KEEP_NUE,
	KEEP_DETOUR,
	/* The base is a tree of the multicast group from scratch. */
	KEEP_TREE_HOPS,
	KEEP_TREE_LINKS,
	KEEP_RULES
};

/* How far a repair goes; beyond, all columns are computed. Counts. */
enum {
	/*
	 * Cables that went or came. CPU time of `bench-route -c -t 1 -D 20 -e minhop fat-tree3 32`
	 * with 4, 8, 16 cables a step: 0.9, 1.4, 1.5 s without repair, 0.7, 1.2, 1.7 s with it.
	 */
	KEEP_REPAIR_CABLES = 16,
	/*
	 * Cables of which the other end is the higher one now, with updn, dnup and ftree: one or
	 * two where an order is mended (tree.c), hundreds where its apex is another switch.
	 */
	KEEP_REPAIR_TURNED = 128,
	/*
	 * Distances that are others then, per switch (at least 256). `bench-reroute -a -k root -e
	 * updn fat-tree3 36`: 16; repaired it takes 101 ms, from scratch 176, computed anew beside
	 * the former tables 410. fat-tree3 56: 805, 1,377, and twice that.
	 */
	KEEP_REPAIR_MOVED = 64,
	/* Switches that went or came; their cables are not counted as such. */
	KEEP_REPAIR_SWITCHES = 4,
	/*
	 * Hosts that came: a column each, as from scratch, so this bounds memory alone. One takes
	 * 0.4 ms of 3.4 from scratch (`bench-reroute -a -k host fat-tree3 16`).
	 */
	KEEP_REPAIR_HOSTS = 256,
	/* Switches with other distances than before: what distances_to() finds in one pass. */
	KEEP_REPAIR_TARGETS = 512,
	/*
	 * And of all switches one in so many, or of 256. `bench-reroute -a -k cable -e minhop torus
	 * 8 8 8 2` tells no difference from 1 to 64 (134 to 144 ms of 210): in trees there are few.
	 */
	KEEP_REPAIR_SHARE = 8,
};

/* The most that the rule allows where the base is `base` (0 or more), in the same unit. */
double keep_bound(enum keep_rule rule, double base);
/* The same for counts, rounded down. */
uint32_t keep_limit(enum keep_rule rule, uint32_t base);
/* What a former path of this cost counts beside others: the cost the rule allows it, rounded up. */
uint64_t keep_cost(enum keep_rule rule, uint64_t cost);

/* May a channel carry `load` by the rule, where the most loaded one carried `before` (0: never)? */
bool keep_is_as_before(enum keep_rule rule, uint32_t load, uint32_t before);
/* The base after `load`: `before` while that is as before, as small steps must not add up. */
uint32_t keep_base(enum keep_rule rule, uint32_t load, uint32_t before);

/* Is the fabric so small that tables from scratch are computed for nothing but to compare? */
bool keep_may_compare(const struct topo *t);

/* Do paths have service levels of their own? Hosts that have asked for one go on using it. */
bool keep_has_path_levels(const struct routes *r);

/*
 * Former tables, whose verdict is `kept`, beside those from scratch, whose verdict is `fresh`.
 * `load`: KEEP_LOAD, or KEEP_PATHS where paths may have service levels of their own.
 */
bool keep_is_clearly_worse(enum keep_rule load, const struct route_verdict *kept,
			   const struct route_verdict *fresh);
/* Can no tables be so good that these are clearly worse? */
bool keep_is_surely_fair(enum keep_rule load, const struct route_verdict *v);
/*
 * Have all engines been compared before the tables `before`, or those of a single one with tables
 * from scratch, do these carry little more, and are so few of their paths detours that none can be
 * much shorter? Then tables from scratch are not computed to compare: a quiet minute does it.
 */
bool keep_is_as_compared(const struct routes *r, const struct routes *before,
			 const struct route_verdict *v);
/*
 * A switch came back and has not its share. May that wait for a quiet minute? Not in a small
 * fabric, where balance costs nothing, nor where something carries far too much meanwhile.
 */
bool keep_may_wait(const struct routes *r, const struct route_verdict *v);
/* Can no tables be so balanced that entries of these would move (KEEP_BALANCE)? */
bool keep_is_surely_balanced(const struct routes *r, const struct route_verdict *v);
