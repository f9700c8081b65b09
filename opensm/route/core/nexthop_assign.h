// SPDX-License-Identifier: BSD-2-Clause
/*
 * Destinations dealt out, one after another, over the paths that an engine allows: each along the
 * path whose channels carry least, in a few rounds over all destinations. Loads are in end-port
 * pairs, paths stay those allowed, so there are no weights to overflow.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/core/path_dag.h"
#include "route/core/routes.h"

/* One LID. */
struct nexthop_goal {
	lid_t lid;
	uint8_t port; /* port at its switch; 0: the switch itself, which counts in no load */
	bool known;   /* set if the LID meant the same port in the previous tables, or none */
	/* set if its entries are in the tables already, and in `load`: it is not assigned */
	bool stays;
	uint32_t turn; /* chooses among equally loaded paths */
};

struct nexthop_job {
	const struct graph *graph;
	/*
	 * Finds the paths to one switch's LIDs; every combination of them must arrive and close no
	 * cycle of dependencies. Called from several threads at once.
	 */
	path_dag_finder find;
	const void *arg;       /* of `find` and `is_new` */
	const uint32_t *first; /* by switch, with one more at the end: its first goal */
	const struct nexthop_goal *goals;
	const struct routes *previous; /* NULL: no previous routes */
	const uint32_t *previous_sw;   /* by switch: row in `previous`, or TOPO_NONE */
	/*
	 * Entries of `previous` stay where they are allowed. They move to a less loaded path that
	 * `is_new`, or, from a channel that carries more than `limit` of the mean load, to one that
	 * saves as much. At most one of the two is set; NULL: entries never move.
	 */
	bool (*is_new)(const void *arg, uint32_t sw, const struct path_dag_edge *edge, uint32_t to);
	uint32_t (*limit)(uint32_t mean);
	bool in_order;	  /* set to go through the switches in order, in small fabrics */
	unsigned threads; /* number of threads, 1 or more */
	const atomic_bool *cancelled;
};

/*
 * Fills in the entries of all goals. `load`: by channel, the load of goals that stay, afterwards
 * that of all goals; NULL: not wanted, and no goal stays. False: no entry could take another path.
 * After a cancel the tables are useless.
 */
bool nexthop_assign(const struct nexthop_job *job, struct routes *r, uint32_t *load);
