// SPDX-License-Identifier: BSD-2-Clause
/* Spreads the LIDs of one port (LMC) over paths with as little in common as the engine allows. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "route/core/path_dag.h"
#include "route/core/routes.h"

#define LID_SPREAD_LIDS	 16 /* most LIDs of a port that are moved; the others keep their paths */
#define LID_SPREAD_STEPS (UINT64_C(64) << 20) /* some two seconds */

struct lid_spread_job {
	const struct graph *graph;
	const struct distances *distances; /* not needed with `find` */
	/* Finds the paths that entries may take, in any combination. NULL: the shortest. */
	path_dag_finder find;
	const void *arg;
	/* Entries that are as in these routes stay. NULL: none. */
	const struct routes *previous;
	/*
	 * Without previous routes, entries also move from paths with a channel that carries more
	 * than this, to where less is carried and no more is in common. UINT32_MAX: they stay.
	 */
	uint32_t limit;
	uint64_t steps; /* most hops of paths that are followed; 0: LID_SPREAD_STEPS */
	const atomic_bool *cancelled;
};

/* Has any end port more than one LID? */
bool lid_spread_is_needed(const struct topo *t);

/*
 * Moves entries of the first LIDs of ports with several, until the limit of steps; the other
 * entries stay. Returns the load of the most loaded channel afterwards, in end-port pairs. Same
 * job, same bytes.
 */
uint32_t lid_spread(const struct lid_spread_job *job, struct routes *r);
