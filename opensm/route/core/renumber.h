// SPDX-License-Identifier: BSD-2-Clause
/* Tables for the same fabric with other bare switches (topo_with_bare()), so other numbers. */
#pragma once

#include "route/core/routes.h"

/* The correspondence between the switches of two topos. */
struct renumbering {
	const struct topo *was, *now; /* borrowed */
	uint32_t *from;		      /* by switch of `now`: its number in `was`; TOPO_NONE: none */
	/* Runs of switches that follow each other in both, or are missing in `was`. */
	struct renumber_run {
		uint32_t first, n, from; /* from TOPO_NONE: missing */
	} * runs;
	uint32_t n_runs;
};

/* Computes the correspondence; the caller ends it by renumbering_done(). */
struct renumbering renumbering_of(const struct topo *was, const struct topo *now);
void renumbering_done(struct renumbering *m);

/* Copies values of `size` bytes by switch, or by index of topo->ports; 0 for new ones. */
void *renumber_switches(const struct renumbering *m, const void *values, size_t size);
void *renumber_entries(const struct renumbering *m, const void *values, size_t size);
/* Copies values of pairs, values[a * n_switches + b]; for new pairs bytes of `none`. */
void *renumber_pairs(const struct renumbering *m, const void *values, size_t size, uint8_t none);
/* renumber_pairs() that frees `values`, or reuses its memory if switches are only left out. */
void *renumber_own_pairs(const struct renumbering *m, void *values, size_t size, uint8_t none);

/*
 * `r` with the other numbers, one reference; `r` must have neither VLs nor a tree of its own. Rows
 * of new switches are empty. Verdict and proof are not copied (routes_check_renumber()).
 */
struct routes *routes_renumber(const struct routes *r, const struct renumbering *m);
