// SPDX-License-Identifier: BSD-2-Clause
/* Functions on tables for tests and benchmarks only. */
#pragma once

#include <stdio.h>

#include "route/proof/cdg.h"
#include "route/proof/check.h"
#include "route/select/engines.h"
#include "route/select/reroute.h"
#include "util/mem.h"

/* Write tables as opensm-lfts.dump, without node descriptions; as opensm.fdbs. */
void tables_write_lfts(const struct routes *r, FILE *out);
void tables_write_fdbs(const struct routes *r, FILE *out);

/*
 * A2A risk: the maximum over channels between switches of min(end ports that send through it, LIDs
 * that are sent to through it). O(switches * LIDs).
 */
unsigned tables_all_to_all_risk(const struct routes *r);

/* Measures among all end ports, in order of switch and port; `shifts` 0: all shifts. */
static inline struct route_measures tables_measure(const struct routes *r, unsigned patterns,
						   unsigned shifts, uint64_t seed,
						   unsigned *ret_worst_shift)
{
	struct route_measures ret;
	struct route_ranks all;
	_cleanup_free_ uint32_t *hosts = routes_ranks(r->topo, &all.n);

	all.hosts = hosts;
	*ret_worst_shift = routes_measure_ranks(r, all, patterns, shifts, seed, &ret);
	return ret;
}

static inline double tables_bisections(const struct routes *r, unsigned patterns, uint64_t seed)
{
	unsigned ignored;

	return tables_measure(r, patterns, 1, seed, &ignored).bisection;
}

static inline double tables_permutations(const struct routes *r, unsigned patterns, uint64_t seed)
{
	unsigned ignored;

	return tables_measure(r, patterns, 1, seed, &ignored).permutation;
}

static inline double tables_shifts(const struct routes *r, unsigned shifts)
{
	unsigned ignored;

	return tables_measure(r, 0, shifts, 1, &ignored).shift;
}

/* Most flows on one channel in any of the shifts. 1: there is no contention. */
static inline unsigned tables_shift_congestion(const struct routes *r, unsigned shifts)
{
	unsigned worst;

	tables_measure(r, 0, shifts, 1, &worst);
	return worst;
}

/* Rebalanced tables of an engine: one reference, or NULL; job->previous may be NULL. */
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
 * Are unicast and these trees (each on SL sls[i]; `sls` NULL: all on 0) together free of credit
 * loops? If not, `cycle` (NULL: not wanted) is one, to be freed by route_cycle_done().
 */
static inline bool tables_check_trees(const struct routes *r, const struct mcast_tree *const *trees,
				      uint32_t n, const uint8_t *sls, struct route_cycle *cycle)
{
	_cleanup_(cdg_freep) struct cdg *g = NULL;
	struct route_verdict ignored;
	struct route_cycle found;
	bool cyclic;

	/* A new graph, as that of cdg_of() may have additional edges. */
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

/* Number of entries for hosts that lead to the switch. */
static inline unsigned tables_lead_to(const struct routes *r, uint32_t sw)
{
	const struct topo *t = r->topo;
	unsigned n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (uint32_t h = 0; h < t->n_hosts; h++) {
			uint32_t channel = routes_channel(r, s, t->hosts[h].lid);

			n += channel != TOPO_NONE && t->ports[channel].sw == sw;
		}
	return n;
}
