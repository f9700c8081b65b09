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

#include "route/tree/change.h"
#include "route/core/engine.h"
#include "route/core/graph.h"
#include "route/tree/dmodk.h"

/* Groups of rows that are nearly equal. */
struct port_select_likes {
	bool possible;	 /* set if rows may be copied */
	/* below[first[home] .. first[home + 1] - 1]: switches of destinations with this home */
	uint32_t *first;
	uint32_t *below;
	uint32_t *order; /* all switches, those with similar rows adjacent */
	/* first index in `order` of each run, which one thread fills, with one more at the end */
	uint32_t *runs;
	uint32_t n_runs;
	struct arena memory;
};

/* Input of all rows; all pointers borrowed. */
struct port_select_plan {
	const struct graph *graph;
	const struct distances *distances;
	const struct dmodk *spread;
	const struct route_options *options;
	const struct port_select_likes *likes;
	const struct change *change;   /* changes since the previous tables; NULL: there are none */
	const uint32_t *ordered;       /* destinations (offset 0) that are placed first, by count */
	uint32_t n_ordered;
	const bool *is_ordered;        /* by destination; NULL: none is ordered */
	/* by entry of topo->ports: set if not counted; NULL: all are counted */
	const bool *ignored;
	bool oriented;                 /* set if the graph is oriented (tree.h) */
	bool switches_only;            /* set to leave the end ports of other switches to fill.c */
};

/* Finds similar rows; the rest of the plan must be complete. */
struct port_select_likes *port_select_likes_new(const struct port_select_plan *plan);
struct port_select_likes *port_select_likes_free(struct port_select_likes *l);

/* Work space of one thread. */
struct port_select_row *port_select_row_new(const struct port_select_plan *plan);
struct port_select_row *port_select_row_free(struct port_select_row *row);

/*
 * Fills the row `lft` of switch `sw`, `size` bytes. Rows filled before must stay at their address.
 */
void port_select_fill(struct port_select_row *row, uint32_t sw, uint8_t *lft, uint32_t size);
