// SPDX-License-Identifier: BSD-2-Clause
/* The table of rules, and the questions that are more than a comparison with one of them. */
#include "route/proof/keep_policy.h"

#include <assert.h>
#include <string.h>

#include "route/proof/check.h"
#include "util/mem.h"

/*
 * Switches times LIDs up to which tables from scratch are computed only to compare. CPU time near
 * it, `bench-route -d 1 -t 1 -e ENGINE`: fat-tree3 24 (3.0 M) auto 1.2 s, minhop 0.02 s; torus
 * 9 9 9 4 (2.7 M) auto 4.7 s, dor 1.6 s; beyond it fat-tree3 26 (4.4 M) auto 0.1 s.
 */
#define COMPARE_MAX (4u << 20)

/*
 * By how many times a figure may exceed its base. Measured with tests/bench: "walk" is
 * `bench-reroute -w 60 -e ENGINE`, 60 cables that go and come back at random; figures are the worst
 * load beside tables from scratch, and blocks written.
 */
static const double allowed[KEEP_RULES] = {
	/*
	 * Tables that grew, or were found, stay. Walks with auto end at 1.24 (torus 6 6 6 2), 1.20
	 * (random 64 5 2), 1.10 (trees): none is replaced as a whole, and none is far from it.
	 */
	[KEEP_LOAD] = 1.5,
	/*
	 * bench-auto -n 4 -k 6 dragonfly 9 4 2: tables of all engines that hold have at most 1.09
	 * times the least hops.
	 */
	[KEEP_HOPS] = 1.1,
	/* A minute later, auto on fat-tree3 12: 1.10; 1.00, 1.01, 1.10 for 1.0, 1.02, 1.1. */
	[KEEP_QUIET] = 1.02,
	/*
	 * A switch that came back carries next to nothing. test-rebalance, cables alone: nothing
	 * moves for it at 1.5 and above; at 1.25 up to 54 blocks in trees of even load.
	 */
	[KEEP_IDLE] = 2.0,
	/* Hosts go on using an SL. Walks: lash 1.68 (torus 5 5 5 2), nue 1.53, dfsssp 1.28. */
	[KEEP_PATHS] = 2.0,
	/* Walk, minhop, torus 6 6 6 2: without 1.25, 3,068 blocks; 1.10, 3,114; 1.0 1.00, 3,305. */
	[KEEP_BALANCE] = 1.1,
	/*
	 * bench-route -d on fat-tree3 16, 1, 3 and 10 % of cables gone: loads 2040, 2072, 2336
	 * without; 1184, 1376, 2032.
	 */
	[KEEP_EVEN] = 7.0 / 6,
	/* Walk, sssp on fat-tree3 12: 6,477 blocks at 1.0, 4,496 here, 3,933 at 1.25. */
	[KEEP_BALANCED] = 17.0 / 16,
	/*
	 * Walk, dragonfly on dragonfly 17 8 4: 1.05 and 1,930 blocks at 1.0, 1.06 and 1,812 here,
	 * 1.21 and 1,602 at 1.3.
	 */
	[KEEP_STEPS] = 1.1,
	/*
	 * One engine per event instead of all: bench-reroute -a -e auto torus 5 5 5 2, 54 ms at 0,
	 * 3 to 5 here. And none from scratch: dragonfly 33 16 8, 1,270 ms with, 290 without.
	 */
	[KEEP_COMPARED] = 1.1,
	/* Walk, auto on torus 5 5 5 2: 1.74 and 1,643 blocks at 1.0, 1.23 and 1,522 here. */
	[KEEP_COMPARED_HOPS] = 1.02,
	/* Walk, auto: random 30 4 3 416 blocks at 1.0, 264 here; fat-tree3 8 1.48, 1.10 here. */
	[KEEP_CANDIDATE] = 1.05,
	/* Walk, auto on random 48 5 2: 1.49 at 1.0, 1.32 here and above. */
	[KEEP_CANDIDATE_LOAD] = 1.5,
	/* The same walk: 1.62 at 1.0, 1.32 here and above. */
	[KEEP_CANDIDATE_BANDWIDTH] = 1.1,
	/* Walk, auto on torus 5 5 5 2: 1.28 and 1,710 blocks at 1.0, 1.23 and 1,522 here. */
	[KEEP_CHANGES] = 2.0,
	/* Walk, nue on torus 4 4 4 2: 6,186 blocks at 1.0, 1,026 from 1.1 on. */
	[KEEP_NUE] = 1.25,
	/* Walk, dor on torus 6 6 6 2: 22,604 blocks at 1.0; here 3,049, 1.24; at 3 2,869, 1.25. */
	[KEEP_DETOUR] = 4.0 / 3,
	/* Against drift alone: bench-mcast 16 makes the same trees at 1.0 and at 10. */
	[KEEP_TREE_HOPS] = 1.25,
	[KEEP_TREE_LINKS] = 1.5,
};

double keep_bound(enum keep_rule rule, double base)
{
	assert(rule < KEEP_RULES && base >= 0);
	return allowed[rule] * base;
}

uint32_t keep_limit(enum keep_rule rule, uint32_t base)
{
	return (uint32_t)MIN(keep_bound(rule, base), (double)UINT32_MAX);
}

uint64_t keep_cost(enum keep_rule rule, uint64_t cost)
{
	double least = (double)cost / keep_bound(rule, 1);
	uint64_t ret = (uint64_t)least;

	return (double)ret < least ? ret + 1 : ret;
}

bool keep_is_as_before(enum keep_rule rule, uint32_t load, uint32_t before)
{
	return load <= keep_bound(rule, before);
}

uint32_t keep_base(enum keep_rule rule, uint32_t load, uint32_t before)
{
	return load > before && keep_is_as_before(rule, load, before) ? before : load;
}

bool keep_may_compare(const struct topo *t)
{
	return (uint64_t)t->n_switches * t->max_lid <= COMPARE_MAX;
}

bool keep_has_path_levels(const struct routes *r)
{
	return r->lanes && r->lanes->by != SL2VL_BY_NOTHING;
}

bool keep_is_clearly_worse(enum keep_rule load, const struct route_verdict *kept,
			   const struct route_verdict *fresh)
{
	if (fresh->unreachable != kept->unreachable)
		return fresh->unreachable < kept->unreachable;
	if (fresh->switch_unreachable < kept->switch_unreachable)
		return true;
	return kept->max_load > keep_bound(load, fresh->max_load) ||
	       kept->avg_hops > keep_bound(KEEP_HOPS, fresh->avg_hops);
}

/* Where paths are as short as can be, no tables have a lower mean, so none a lower maximum. */
bool keep_is_surely_fair(enum keep_rule load, const struct route_verdict *v)
{
	return v->minimal && !v->unreachable && !v->switch_unreachable &&
	       v->max_load <= keep_bound(load, v->avg_load);
}

bool keep_is_as_compared(const struct routes *r, const struct routes *before,
			 const struct route_verdict *v)
{
	double longer = (double)v->detours * v->max_hops / (double)MAX(v->pairs, UINT64_C(1));

	/* without hops: paths that are dealt out by load, as before, and not balanced after that */
	bool same = r->by[0] ? r->compared_load == before->compared_load
			     : !r->hops && !strcmp(r->engine, before->engine);

	return same && !v->unreachable && !v->switch_unreachable && v->avg_hops > longer &&
	       keep_is_as_before(KEEP_COMPARED, v->max_load, before->compared_load) &&
	       v->avg_hops <= keep_bound(KEEP_HOPS, v->avg_hops - longer);
}

/* Within the rule of the plan of the engine, or of what no tables can do better than? */
static bool is_within(enum keep_rule rule, const struct routes *r, const struct route_verdict *v)
{
	return v->max_load <= keep_bound(rule, MAX(v->avg_load, (double)r->expected_load));
}

bool keep_may_wait(const struct routes *r, const struct route_verdict *v)
{
	return !keep_may_compare(r->topo) && is_within(KEEP_LOAD, r, v);
}

bool keep_is_surely_balanced(const struct routes *r, const struct route_verdict *v)
{
	return v->unreachable || is_within(KEEP_BALANCE, r, v);
}
