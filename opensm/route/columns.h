// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shortest paths on graphs without levels: one destination after the other, each along the least
 * loaded of its shortest paths, looking at the loads of the whole fabric.
 *
 * Where trees have homes, a torus or a dragonfly has none, and counting per switch does not see
 * what comes together two hops further on. Loads are in end-port pairs, paths stay minimal, so
 * there are no weights to overflow.
 */
#pragma once

#include "route/place.h"
#include "route/routes.h"

/*
 * Fills the entries of all end ports. Previous entries that are still minimal stay, unless a way
 * that came back is less loaded.
 * Returns early when cancelled; the tables are then useless.
 */
void columns_fill(const struct place_plan *plan, struct routes *r, unsigned threads,
		  const atomic_bool *cancelled);
