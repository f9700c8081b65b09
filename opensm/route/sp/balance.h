// SPDX-License-Identifier: BSD-2-Clause
/*
 * Relieves the most loaded channels by moving single entries to other paths that have room. Entries
 * whose paths avoid such channels do not change.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "route/core/engine.h"
#include "route/core/graph.h"
#include "route/core/routes.h"
#include "route/sp/dest_order.h"
#include "route/core/path_dag.h"

struct route_verdict;

/* Which channels are relieved. */
enum balance_slow {
	BALANCE_ALL,
	BALANCE_SLOW,
	BALANCE_SLOW_LATER, /* all channels; slow ones only if clearly overloaded */
};

struct balance_job {
	const struct graph *graph;
	const struct distances *distances; /* not needed with `find` */
	/* Finds paths for entries, nearest first, in any combination. NULL: the shortest paths. */
	path_dag_finder find;
	/* NULL; or lists the edges of order[i], while `find` only orders the switches. */
	void (*find_edges)(const void *arg, uint32_t i, struct path_dag *w);
	const void *arg;
	const struct dest_order *dests;
	/*
	 * Flows by channel in end-port pairs; `dests` has one class. NULL: they are counted here.
	 */
	const uint32_t *load;
	/*
	 * By block of every row: set if the block is written in any case. Entries there move first,
	 * others only if that is not enough. NULL: none.
	 */
	const bool *changed;
	/* Loads, in flows on a cable of the median rate. */
	uint32_t tolerated; /* load up to which, or a little above the mean, nothing moves */
	/* load below which no channel need go, except channels slower than the median */
	uint32_t enough;
	enum balance_slow slow;
	unsigned threads; /* number of threads, 1 or more */
	const atomic_bool *cancelled;
};

/*
 * Handles the classes of `dests` one after the other: for each class the load of those before it is
 * counted, but does not move. Returns the load of the most loaded channel afterwards, and in
 * *ret_moved the number of entries moved. Same job, same bytes.
 */
uint32_t balance_channels(const struct balance_job *job, struct routes *r, uint32_t *ret_moved);

/*
 * Of verified tables, where cables run at different rates: those below the median rate give so many
 * of their flows to other paths of the engine that they carry no more than the mean, or, while
 * there are former tables, little more. For engines without VLs by path that leave hops (routes.h);
 * does nothing to others, nor where all cables run at one rate, nor to former tables of the same
 * fabric.
 *
 * `r`, `v`, and the result are as with balance_verified(); adds to *ret_moved.
 */
void balance_rates(const struct route_job *job, struct routes *r, struct route_verdict *v,
		   uint32_t *ret_moved);
/* balance_rates() for a caller that verifies the result. */
void balance_rates_unverified(const struct route_job *job, struct routes *r);

/*
 * A last look at tables that were verified: channels that carry clearly more than the mean
 * (KEEP_EVEN) give some of it to other paths of the engine. For engines without VLs by path that
 * leave hops (routes.h); does nothing to others.
 *
 * Moves entries of `r`, which has one reference and which routes_check_after() verified in *v; *v
 * is then the verdict of the result. While the most loaded channel carries as much as it did in
 * job->previous when those were balanced (KEEP_BALANCED), and where those have the very same
 * entries, nothing moves. Same job, same bytes.
 */
void balance_verified(const struct route_job *job, struct routes *r, struct route_verdict *v,
		      uint32_t *ret_moved);

/* May the engine of `r`, which left hops, send from switch `sw` by neighbour `next` to `to`? */
bool balance_is_path(const struct routes *r, uint32_t sw, uint32_t next, uint32_t to);
