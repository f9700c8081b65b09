// SPDX-License-Identifier: BSD-2-Clause
/* Tables for the same fabric with other bare switches (topo_with_bare()), so other numbers. */
#pragma once

#include "route/core/routes.h"

/* Which switch is which. */
struct renumbering {
	const struct topo *was, *now; /* borrowed */
	uint32_t *from;		      /* per switch of `now`: in `was`, or TOPO_NONE */
	/* Switches that follow each other in both, or lack in `was`. */
	struct renumber_run {
		uint32_t first, n, from; /* from TOPO_NONE: they lack */
	} *runs;
	uint32_t n_runs;
};

/* The caller ends it. */
struct renumbering renumbering_of(const struct topo *was, const struct topo *now);
void renumbering_done(struct renumbering *m);

/* Values of `size` bytes per switch, or per entry of topo->ports; 0 where there was none. */
void *renumber_switches(const struct renumbering *m, const void *values, size_t size);
void *renumber_entries(const struct renumbering *m, const void *values, size_t size);
/* The same for pairs, values[a * n_switches + b]; where there is none, bytes of `none`. */
void *renumber_pairs(const struct renumbering *m, const void *values, size_t size, uint8_t none);
/* The same, and frees `values`: where switches are left out alone, they stay in their memory. */
void *renumber_own_pairs(const struct renumbering *m, void *values, size_t size, uint8_t none);

/*
 * `r`, which has neither VLs nor a tree of its own, with these numbers: one reference. Rows of
 * switches that were not there are empty. Verdict and proof stay behind (routes_check_renumber()).
 */
struct routes *routes_renumber(const struct routes *r, const struct renumbering *m);
