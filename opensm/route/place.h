// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fills one row of a minimal routing: every destination, one switch.
 *
 * A row depends on nothing but the plan, so rows may be filled in any order by any thread. See
 * the essay at the top of minhop.c for which port is chosen and why.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/change.h"
#include "route/engine.h"
#include "route/graph.h"
#include "route/spread.h"

/* What all rows share; all pointers borrowed. */
struct place_plan {
	const struct graph *graph;
	const struct distances *distances;
	const struct spread *spread;
	const struct route_options *options;
	const struct change *change;   /* since the previous tables; NULL: there are none */
	const uint32_t *ordered;       /* destinations (offset 0) to place first, by count */
	uint32_t n_ordered;
	const bool *is_ordered;        /* per destination; NULL if none is */
	const bool *ignored;           /* per entry of topo->ports: not counted; NULL: all count */
	bool has_lmc;                  /* something has more than one LID */
	bool oriented;                 /* the graph has ups and downs (tree.h) */
	bool switches_only;            /* leave the end ports of other switches to columns.c */
};

/* Work space of one thread. */
struct place_row *place_row_new(const struct place_plan *plan);
struct place_row *place_row_free(struct place_row *row);

/* `lft` is the row of switch `sw`, `size` bytes filled with LFT_NO_PORT by the caller. */
void place_fill(struct place_row *row, uint32_t sw, uint8_t *lft, uint32_t size);
