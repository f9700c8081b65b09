// SPDX-License-Identifier: BSD-2-Clause
/*
 * How many paths the LIDs of one port (LMC) give that have nothing in common, and how many there
 * could be among the shortest. Cables of hosts do not count, nor do the switches at both ends.
 * For reports, tests and benchmarks; checks nothing.
 */
#pragma once

#include <stdint.h>

#include "route/core/graph.h"
#include "route/core/routes.h"

#define DISJOINT_PATHS_MAX 128 /* LMC 7 */

struct disjoint {
	unsigned cables;   /* number of paths without a common cable, in the same direction */
	unsigned switches; /* number of paths without a common cable or switch */
};

/* Disjoint paths from switch `sw` to the LIDs of a host that arrive. */
struct disjoint disjoint_have(const struct routes *r, uint32_t sw, uint32_t host);

/* The most disjoint shortest paths from one switch to another, at most `limit`. */
struct disjoint disjoint_most(const struct graph *g, uint32_t from, uint32_t to, unsigned limit);

/* Sums over pairs of hosts on different switches that cables connect. */
struct disjoint_sums {
	uint64_t pairs;
	uint64_t have_cables, most_cables, have_switches, most_switches;
	unsigned least_cables; /* least number of any pair */
	uint64_t behind;       /* pairs with fewer paths, in either respect, than possible */
};

/* Sums over at most `sample` pairs, evenly chosen. Same routes, same pairs. */
void disjoint_measure(const struct routes *r, uint32_t sample, struct disjoint_sums *ret);
