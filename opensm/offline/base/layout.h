// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the switches of a fabric are drawn: trees by level, grids by coordinates, everything else
 * in a circle.
 */
#pragma once

#include <stdbool.h>

#include "topo/topo.h"
#include "util/mem.h"

struct layout_place {
	double x, y;
	double turn;   /* direction of the name, in a circular layout */
	bool flip;     /* the name ends here instead of beginning */
	bool low;      /* the name stands below the switch */
	uint32_t level; /* level in a tree, leaves first; else 0 */
};

struct layout {
	struct layout_place *places; /* by switch */
	uint32_t *order;	     /* switches by level, then from left to right */
	double width, height;
	double pitch;                /* between neighbours, the least there is */
	bool round;
	struct grid *grid;           /* coordinates; NULL: no grid */
};

struct layout *layout_new(const struct topo *t);
struct layout *layout_free(struct layout *l);
FREEP(layout_free, struct layout)
/* Does the cable between two switches of a grid go round the ring? */
bool layout_wraps(const struct layout *l, uint32_t a, uint32_t b);
/* Is it drawn as a bow, as others lie between its ends? */
bool layout_bends(const struct layout *l, uint32_t a, uint32_t b);
