// SPDX-License-Identifier: BSD-2-Clause
/*
 * The LIDs of one port (LMC) on paths that have as little in common as the paths that an engine
 * allows let them.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "route/core/path_dag.h"
#include "route/core/routes.h"

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
	const atomic_bool *cancelled;
};

/* Has any end port more than one LID? */
bool lid_spread_is_needed(const struct topo *t);

/*
 * Moves entries of the first 16 LIDs of ports that have several, as long as that follows less than
 * some 67 million hops; the other entries stay. Returns the load of the most loaded channel
 * afterwards, in end-port pairs. Same job, same bytes.
 */
uint32_t lid_spread(const struct lid_spread_job *job, struct routes *r);
