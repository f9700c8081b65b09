// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shortest paths by load, with an eye on lanes: one column (destination) after another, each along the
 * least loaded of its shortest paths; first of all, where orders are given, along paths that obey one, and
 * on a grid dimension by dimension.
 *
 * An order stands for a lane: switches by distance from a root, paths go towards the root first and away
 * from it then. All paths that obey one order fit in one lane (up/down routing), and on most graphs a
 * few orders from roots far apart leave hardly a pair without a shortest path that obeys one of them.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "route/dims.h"
#include "route/graph.h"
#include "route/grid.h"

#define COURSES_ORDERS_MAX 15

/* Tables have rows by switch, as in layers.h. */
struct courses_job {
	const struct graph *graph;
	const struct distances *distances;
	uint32_t n_columns;
	const uint32_t *at;	 /* per column: the switch it leads to; columns of one switch are neighbours */
	const uint32_t *keys;	 /* per column: its place in rows */
	const uint32_t *weights; /* per column: what a flow to it counts; NULL: 1 */
	uint32_t row_size;
	const uint32_t *sources; /* per switch: flows that begin there */
	const struct grid *grid; /* the lowest dimension first, then load; NULL: there is none */
	const struct dims_breaks *breaks; /* of the grid: lanes instead of orders; NULL: no hints wanted */
	bool both_ways;		 /* half way round a ring there and back take the same half (lash) */
	unsigned n_orders;	 /* 0: load alone decides; not with a grid */
	bool by_number;		 /* the lowest port, whatever it carries */
	bool stay;		 /* what `ports` has stays where it is on a shortest path; two rounds */
	bool rotate;		 /* columns prefer one order each in turn, not all the first */
	/*
	 * Flows of one column make way for each other. Without, those to one destination come together,
	 * which is right where a switch has many of them.
	 */
	bool part;
	unsigned rounds;	 /* the first places, the others improve */
	unsigned threads;
	const atomic_bool *cancelled;
	uint64_t *squares;	 /* out: sum of the squares of the loads of all channels; may be NULL */
	uint8_t *ports;		 /* out: entries where there is a path, all others untouched */
	uint16_t *hints;	 /* out: orders that a path obeys; may be NULL without orders and breaks */
};

/* Returns the load of the most loaded channel. What is cancelled is useless. */
uint32_t courses_run(const struct courses_job *job);
