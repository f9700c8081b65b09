// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shortest paths by load with few VLs: one destination after another gets the least loaded of its
 * shortest paths; if orders are given, preferably one that obeys an order, and on a grid one by
 * dimensions.
 *
 * An order, which stands for a VL, ranks switches by distance from a root: a path that obeys it
 * goes towards the root first and then away from it (up/down routing). All paths that obey one
 * order fit in one VL, and on most graphs a few orders with distant roots allow a shortest path for
 * nearly every pair.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "route/shape/dims.h"
#include "route/core/graph.h"
#include "route/shape/grid.h"

#define SP_BALANCE_ORDERS_MAX 15

/* Tables have rows by switch, as in vl_layers.h. */
struct sp_balance_job {
	const struct graph *graph;
	const struct distances *distances;
	uint32_t n_columns;
	/* by destination: its switch; destinations of one switch are adjacent */
	const uint32_t *at;
	const uint32_t *keys;	 /* by destination: its index in a row */
	const uint32_t *weights; /* by destination: weight of a flow to it; NULL: 1 */
	uint32_t row_size;
	const uint32_t *sources; /* by switch: number of flows that begin there */
	/* set for paths by lowest dimension first, then by load; NULL: no grid */
	const struct grid *grid;
	/* For a grid: VLs instead of orders; NULL: no hints wanted. */
	const struct dims_breaks *breaks;
	/* Set if a path half way round a ring and its reverse path use the same half (lash). */
	bool both_ways;
	unsigned n_orders; /* number of orders; 0: load alone decides; always 0 on a grid */
	bool by_number;	   /* set to use the lowest port, whatever its load */
	/* set to keep entries of `ports` that are on a shortest path; takes two rounds */
	bool stay;
	/* set if each destination tries another order first, in turn */
	bool rotate;
	/*
	 * Set to spread flows to one destination; else they stay together, best with many
	 * destinations per switch.
	 */
	bool part;
	unsigned rounds; /* number of rounds: the first one places, the others improve */
	unsigned threads;
	const atomic_bool *cancelled;
	/* Out: sum of the squares of the loads of all channels; may be NULL. */
	uint64_t *squares;
	uint8_t *ports; /* out: entries of switches that have a path; others are untouched */
	/* Out: bit mask of the orders that a path obeys; may be NULL without orders and breaks. */
	uint16_t *hints;
};

/* Returns the load of the most loaded channel. When cancelled, the result is useless. */
uint32_t sp_balance_run(const struct sp_balance_job *job);
