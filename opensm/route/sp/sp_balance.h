// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shortest paths by load with few VLs: one destination after another, each along the least loaded
 * of its shortest paths; where orders are given, first of all along paths that obey one, and on a
 * grid dimension by dimension.
 *
 * An order stands for a VL: switches by distance from a root; paths go towards the root first and
 * then away from it. All paths that obey one order fit in one VL (up/down routing), and on most
 * graphs a few orders from roots far apart leave hardly a pair without a shortest path that obeys
 * one of them.
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
	const uint32_t *at;	 /* by destination: its switch; those of one switch are adjacent */
	const uint32_t *keys;	 /* by destination: its place in rows */
	const uint32_t *weights; /* by destination: weight of a flow to it; NULL: 1 */
	uint32_t row_size;
	const uint32_t *sources; /* by switch: number of flows that begin there */
	/* set for paths by lowest dimension first, then by load; NULL: no grid */
	const struct grid *grid;
	/* For a grid: VLs in place of orders; NULL: no hints wanted. */
	const struct dims_breaks *breaks;
	/* Set if the paths half way round a ring and back use the same half (lash). */
	bool both_ways;
	unsigned n_orders; /* 0: load alone decides; not with a grid */
	bool by_number;	   /* set to use the lowest port, whatever its load */
	/* set to keep entries of `ports` that are on a shortest path; two rounds */
	bool stay;
	/* set if destinations prefer one order each in turn, not all the first */
	bool rotate;
	/*
	 * Set if flows to one destination spread; else they stay together: best for many per
	 * switch.
	 */
	bool part;
	unsigned rounds; /* number of rounds: the first one places, the others improve */
	unsigned threads;
	const atomic_bool *cancelled;
	/* Out: sum of the squares of the loads of all channels; may be NULL. */
	uint64_t *squares;
	uint8_t *ports; /* out: entries where there is a path; all others untouched */
	/* Out: orders that a path obeys; may be NULL without orders and breaks. */
	uint16_t *hints;
};

/* Returns the load of the most loaded channel. When cancelled, the result is useless. */
uint32_t sp_balance_run(const struct sp_balance_job *job);
