// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which ports of a switch are equally short towards a LID, and what each carries: for Routes and Path.
 */
#pragma once

#include "ctl/dump_paths.h"
#include "ctl/show.h"

struct show_ways {
	uint32_t *order;
	struct dump_paths *paths; /* NULL: no routes */
};

struct show_ways *show_ways_new(const struct show *s);
struct show_ways *show_ways_free(struct show_ways *w); /* NULL is fine; returns NULL */
void show_ways_freep(struct show_ways **w);

/* LIDs that leave switch `sw` (of the topo) by each port. */
void show_loads(const struct show_ways *w, uint32_t sw, uint32_t ret[256]);
/* Ports on a shortest way, ascending; returns their number. `lid` is at most routes->top. */
unsigned show_candidates(const struct show_ways *w, uint32_t sw, lid_t lid, uint8_t ret[256]);
