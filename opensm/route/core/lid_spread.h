// SPDX-License-Identifier: BSD-2-Clause
/* The LIDs of one port (LMC) on paths with as little in common as those of the engine allow. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "route/core/path_dag.h"
#include "route/core/routes.h"

#define LID_SPREAD_LIDS	 16 /* of a port: the others keep their paths */
#define LID_SPREAD_STEPS (UINT64_C(64) << 20) /* some two seconds */

struct lid_spread_job {
	const struct graph *graph;
	const struct distances *distances; /* with `find`: not needed */
	/* Paths that entries may take, any combined with any. NULL: the shortest. */
	path_dag_finder find;
	const void *arg;
	/* Entries that are as they were stay. NULL: there are none. */
	const struct routes *previous;
	/*
	 * Without previous tables, entries on paths with a channel that carries more move as well,
	 * to where less is carried and no more is in common. UINT32_MAX: they stay.
	 */
	uint32_t limit;
	uint64_t steps; /* hops of paths that are followed at most; 0: LID_SPREAD_STEPS */
	const atomic_bool *cancelled;
};

/* Has any end port more than one LID? */
bool lid_spread_is_needed(const struct topo *t);

/*
 * Moves entries of the first LIDs of ports that have several, until so many steps are made; the
 * other entries stay. Returns the load of the most loaded channel
 * afterwards, in end-port pairs. Same job, same bytes.
 */
uint32_t lid_spread(const struct lid_spread_job *job, struct routes *r);
