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
	uint8_t port;  /* at its switch; 0: the switch itself, and nothing is counted for it */
	bool known;    /* the LID meant the same port in the previous tables, or none */
	bool stays;    /* its entries are in the tables already, and in `load`: it is not dealt */
	uint32_t turn; /* of equally loaded paths the one whose turn it is */
};

struct nexthop_job {
	const struct graph *graph;
	/*
	 * The paths of one switch's LIDs; every combination of them must arrive and close no cycle
	 * of dependencies. Called from several threads at once.
	 */
	path_dag_finder find;
	const void *arg; /* of `find` and `is_new` */
	const uint32_t *first; /* per switch + 1: its goals */
	const struct nexthop_goal *goals;
	const struct routes *previous; /* NULL: none */
	const uint32_t *previous_sw;   /* per switch: row in `previous`, or TOPO_NONE */
	/*
	 * Entries of `previous` stay where they are allowed. They leave for a less loaded path that
	 * `is_new`, or, where a channel carries more than `limit` says of the mean load of all, for
	 * one that saves as much. At most one of the two; NULL: they never leave.
	 */
	bool (*is_new)(const void *arg, uint32_t sw, const struct path_dag_edge *edge, uint32_t to);
	uint32_t (*limit)(uint32_t mean);
	bool in_order; /* those of one switch after another, in small fabrics */
	unsigned threads; /* 1 or more */
	const atomic_bool *cancelled;
};

/*
 * Fills in the entries of all goals. `load`, per channel (NULL: no matter, and none stays): what
 * goals that stay carry, then what all do. False: no entry was free to take another path. When
 * cancelled the tables are useless.
 */
bool nexthop_assign(const struct nexthop_job *job, struct routes *r, uint32_t *load);
