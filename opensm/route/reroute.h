// SPDX-License-Identifier: BSD-2-Clause
/*
 * Routes after a change: as few entries as balance allows.
 *
 * The engine keeps every entry of the previous tables that is still on a shortest path. That may
 * leave a channel with more than tables from scratch would give it. The rule: the most loaded
 * channel may carry REROUTE_SLACK times what it would carry from scratch; beyond that, destinations
 * whose ways cross such a channel get their ways from scratch, one after another, until it holds.
 */
#pragma once

#include "route/check.h"
#include "route/engine.h"

#define REROUTE_SLACK 1.1

struct reroute_report {
	char why[160];                /* when there are no routes */
	struct route_verdict verdict;
	uint32_t load_fresh;          /* from scratch; 0: was not needed, so not computed */
	uint32_t n_rebalanced;        /* LIDs that got their ways from scratch */
	double seconds_compute, seconds_check;
};

/* Routes (one reference) or NULL; job->previous may be NULL. Same job, same bytes. */
struct routes *reroute(const struct route_engine *engine, const struct route_job *job,
		       struct reroute_report *ret);
