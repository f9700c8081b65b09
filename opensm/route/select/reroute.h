// SPDX-License-Identifier: BSD-2-Clause
/*
 * Routes after a change: as few entries as balance allows.
 *
 * The engine keeps every entry of the previous tables that is still on a shortest path. That may
 * leave a channel with more than tables from scratch would give it. The rule: the most loaded
 * channel may carry so much more (KEEP_BALANCE, keep_policy.h) than what it would carry from
 * scratch. Beyond that, single entries move from such a channel to another shortest path that has
 * room; where that is not enough, destinations whose paths cross such a channel get their paths
 * from scratch, one after another, until it holds. Where no entry changes anyway, none changes for
 * balance.
 *
 * What it would be from scratch is computed only when it must be: not while the load stays within
 * the slack of the mean load, or of what the engine's plan for a tree comes to.
 */
#pragma once

#include "route/proof/check.h"
#include "route/core/engine.h"

struct reroute_report {
	char why[160]; /* reason why there are no routes */
	struct route_verdict verdict;
	uint32_t load_fresh; /* load from scratch; 0: not computed, as not needed */
	uint32_t n_balanced; /* number of entries that left channels far above the mean */
	uint32_t n_entries;  /* number of entries that moved for balance */
	uint32_t n_lids;     /* number of LIDs that got their paths from scratch */
};

/*
 * Does nothing to tables of engines (NULL: unknown) that are not for it (route_engine.balances), or
 * whose paths have VLs, which belong to paths as they are. Takes `r` (the caller's one reference,
 * its verdict in ret->verdict) as the engine made it of `job`, and returns it rebalanced if the
 * rule says so, with the verdict of that. Same job, same bytes.
 */
struct routes *reroute_balance(const struct route_engine *engine, const struct route_job *job,
			       struct routes *r, struct reroute_report *ret);

/* Have both the same order of up and down? Else their columns cannot be mixed (tree.h). */
bool reroute_is_same_order(const struct routes *a, const struct routes *b);

/*
 * Paths of `fresh`, tables of the same topo, over switches to which far less comes in `r`
 * (KEEP_IDLE) replace those of `r`, entry by entry. Then LIDs whose paths cross a channel that
 * carries more than `limit` get those of `fresh`, one after another until none does. False: that
 * was not enough. Quicker after a check of both.
 */
bool reroute_columns(struct routes *r, const struct routes *fresh, uint32_t limit);
