// SPDX-License-Identifier: BSD-2-Clause
/*
 * Dependencies between the channels (edge, VL) of a grid: all of paths in dimension order of the
 * grid without damage, and those of paths added one by one, as long as no cycle closes.
 */
#pragma once

#include "route/grid/grid_routes.h"

struct grid_waits;

/* `l` must live as long. The caller frees. NULL: even the grid without damage has a cycle. */
struct grid_waits *grid_waits_new(const struct grid_ways *w, const struct grid_vl_plan *l);
struct grid_waits *grid_waits_free(struct grid_waits *g);

/* A path with service level `sl` begins. */
void grid_waits_begin(struct grid_waits *g, unsigned sl);
/* The path goes on by `way` from `from`. False: a cycle would close; hops so far stay. */
bool grid_waits_go(struct grid_waits *g, uint32_t from, unsigned way);

/* The number of dependencies added so far; undo takes back all beyond such a number. */
uint32_t grid_waits_added(const struct grid_waits *g);
void grid_waits_undo(struct grid_waits *g, uint32_t added);
