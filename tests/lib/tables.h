// SPDX-License-Identifier: BSD-2-Clause
/* What only tests and benchmarks want of tables. */
#pragma once

#include <stdio.h>

#include "route/proof/cdg.h"
#include "route/proof/check.h"
#include "route/select/engines.h"
#include "route/select/reroute.h"
#include "util/mem.h"

/* As opensm-lfts.dump, without descriptions of nodes; as opensm.fdbs. */
void tables_write_lfts(const struct routes *r, FILE *out);
void tables_write_fdbs(const struct routes *r, FILE *out);

/*
 * A2A risk: over all channels between switches, the most of min(end ports that send through it,
 * LIDs that are sent to through it). O(switches * LIDs).
 */
unsigned tables_all_to_all_risk(const struct routes *r);

/* An engine's tables, rebalanced: one reference, or NULL; job->previous may be NULL. */
static inline struct routes *tables_reroute(const struct route_engine *engine,
					    const struct route_job *job, struct reroute_report *ret)
{
	struct routes *r = route_engine_run(engine, job, ret->why, sizeof(ret->why));

	if (!r)
		return NULL;
	routes_check_after(job->previous, r, job->threads, &ret->verdict);
	return reroute_balance(engine, job, r, ret);
}

/*
 * Unicast and these trees (each on SL sls[i]; NULL: all on 0) together: true if nothing waits for
 * itself; else `cycle` (NULL: not wanted) is one, and route_cycle_done() it.
 */
static inline bool tables_check_trees(const struct routes *r, const struct mcast_tree *const *trees,
				      uint32_t n, const uint8_t *sls, struct route_cycle *cycle)
{
	_cleanup_(cdg_freep) struct cdg *g = NULL;
	struct route_verdict ignored;
	struct route_cycle found;
	bool cyclic;

	/* Anew: the graph of cdg_of() may have more edges than there are. */
	routes_check_graph(r, 0, &ignored, &g);
	for (uint32_t i = 0; i < n; i++)
		cdg_force_tree(g, trees[i], sls ? sls[i] : 0);
	cyclic = cdg_cycle(g, &found);
	if (cycle)
		*cycle = found;
	else
		route_cycle_done(&found);
	return !cyclic;
}
