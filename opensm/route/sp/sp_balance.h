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
	const uint32_t *at;	 /* per destination: its switch; those of one switch are adjacent */
	const uint32_t *keys;	 /* per destination: its place in rows */
	const uint32_t *weights; /* per destination: weight of a flow to it; NULL: 1 */
	uint32_t row_size;
	const uint32_t *sources; /* per switch: flows that begin there */
	const struct grid *grid; /* the lowest dimension first, then load; NULL: there is none */
	/* of the grid: VLs instead of orders; NULL: no hints wanted */
	const struct dims_breaks *breaks;
	/* half way round a ring there and back take the same half (lash) */
	bool both_ways;
	unsigned n_orders;	 /* 0: load alone decides; not with a grid */
	bool by_number;		 /* the lowest port, whatever its load */
	bool stay;		 /* entries of `ports` on a shortest path stay; two rounds */
	bool rotate;		 /* destinations prefer one order each in turn, not all the first */
	/* Flows to one destination spread; else they come together: right for many on a switch. */
	bool part;
	unsigned rounds;	 /* the first places, the others improve */
	unsigned threads;
	const atomic_bool *cancelled;
	/* out: sum of the squares of the loads of all channels; may be NULL */
	uint64_t *squares;
	uint8_t *ports;		 /* out: entries where there is a path, all others untouched */
	/* out: orders that a path obeys; may be NULL without orders and breaks */
	uint16_t *hints;
};

/* Returns the load of the most loaded channel. When cancelled, the result is useless. */
uint32_t sp_balance_run(const struct sp_balance_job *job);
