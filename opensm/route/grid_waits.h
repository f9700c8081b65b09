// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which (edge, lane) of a grid waits for which: all that paths in dimension order of the grid without damage come to,
 * and what is added, path by path, as long as nothing waits for itself.
 */
#pragma once

#include "route/grid_routes.h"

struct grid_waits;

/* `l` must live as long. The caller frees. NULL: even the grid without damage has a cycle. */
struct grid_waits *grid_waits_new(const struct grid_ways *w, const struct grid_lanes *l);
struct grid_waits *grid_waits_free(struct grid_waits *g);
void grid_waits_freep(struct grid_waits **g);

/* A path with service level `sl` begins. */
void grid_waits_begin(struct grid_waits *g, unsigned sl);
/* It goes on this way from this switch. False: that would close a cycle; what it has added so far stays. */
bool grid_waits_go(struct grid_waits *g, uint32_t from, unsigned way);

/* How much has been added, and back to where it was so much. */
uint32_t grid_waits_added(const struct grid_waits *g);
void grid_waits_undo(struct grid_waits *g, uint32_t added);
