// SPDX-License-Identifier: BSD-2-Clause
/*
 * Deals paths out to lanes so that no lane can lock up, with as few lanes as can be.
 *
 * A path is (switch where it begins, column). A column is what the tables say of one destination: a tree
 * of ways to one switch. Paths that use one channel directly after another make a dependency; a lane is
 * safe when the dependencies of its paths have no cycle (Dally and Seitz).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "topo/topo.h"

#define LAYERS_MAX 15
#define LAYERS_NONE 0xFF
#define LAYERS_MOVED 0x8000u /* among hints */

/* All tables have rows by switch: entry [switch * row_size + key of the column]. */
struct layers_job {
	const struct topo *topo;
	uint32_t n_columns;
	const uint32_t *at;   /* per column: the switch it leads to */
	const uint32_t *keys; /* per column: its place in rows */
	uint32_t row_size;
	const uint8_t *ports; /* the way out; what is no port to a switch is no way */
	const bool *sources;  /* per switch: paths begin there */
	/* Keys are switches; the path there and the path back share a lane. */
	bool both_ways;
	/* Bit k: to be tried in lane k first. All paths with one bit should fit together. NULL: no hints */
	uint16_t *hints;
	/*
	 * Hints are lanes that paths have: they stay there; nothing moves for balance. LAYERS_MOVED where an entry
	 * has changed: paths through it come after those that are what they were, and get the mark as well.
	 */
	bool keep;
	unsigned most;	      /* lanes there are, 1..LAYERS_MAX: to balance over them */
	unsigned limit;	      /* give up beyond so many; 0: LAYERS_MAX */
	const atomic_bool *cancelled;
};

struct layers {
	unsigned needed; /* without balance; the limit + 1: more than that; 0: there are no paths */
	unsigned n;	 /* lanes in use */
	uint8_t *lanes;	 /* LAYERS_NONE where there is no path */
};

/* NULL when cancelled. `lanes` is complete if needed <= most. The caller frees. Same job, same bytes. */
struct layers *layers_new(const struct layers_job *job);
/*
 * The same, with `hints` that are the lanes paths have: who must leave his goes anywhere, and only he; hints
 * are changed. *ret_all: nobody must. job->keep and job->hints mean nothing.
 */
struct layers *layers_stay(const struct layers_job *job, uint16_t *hints, bool *ret_all);
struct layers *layers_free(struct layers *l);
void layers_freep(struct layers **l);
