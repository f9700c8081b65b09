// SPDX-License-Identifier: BSD-2-Clause
/*
 * Assigns paths to as few VLs as possible so that no VL can deadlock.
 *
 * A path is (switch where it begins, destination). The tables of one destination are a tree of
 * paths to one switch. Paths that use one channel directly after another make a dependency; a VL is
 * safe if the dependencies of its paths have no cycle (Dally and Seitz).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "topo/topo.h"

#define VL_LAYERS_MAX 15
#define VL_LAYERS_NONE 0xFF
#define VL_LAYERS_MOVED 0x8000u /* bit of a hint; see `keep` */

/* All tables have rows by switch: entry [switch * row_size + key of the destination]. */
struct vl_layers_job {
	const struct topo *topo;
	uint32_t n_columns;
	const uint32_t *at;   /* by destination: its switch */
	const uint32_t *keys; /* by destination: its index in a row */
	uint32_t row_size;
	const uint8_t *ports; /* output ports; a port that leads to no switch: no path */
	const bool *sources;  /* by switch: set if paths begin there */
	/* Keys are switches, and a path and its reverse path share a VL. */
	bool both_ways;
	/*
	 * Bit k: VL k, where all paths with it should fit together, is tried first. NULL: no hints
	 */
	uint16_t *hints;
	/*
	 * Hints are the present VLs, which paths keep; nothing moves for balance. VL_LAYERS_MOVED
	 * marks an entry that changed: paths through it come after unchanged ones, and get the mark
	 * as well.
	 */
	bool keep;
	unsigned most;	      /* number of VLs to balance over, 1..VL_LAYERS_MAX */
	unsigned limit;	      /* most VLs to try; 0: VL_LAYERS_MAX */
	const atomic_bool *cancelled;
};

struct vl_layers {
	/* number of VLs without balance; limit + 1: more than the limit; 0: there are no paths */
	unsigned needed;
	unsigned n;	 /* number of VLs in use */
	uint8_t *lanes;	 /* VL by entry; VL_LAYERS_NONE: no path */
};

/*
 * Assigns VLs. NULL: cancelled. Complete if needed <= most. The caller frees. Same job, same bytes.
 */
struct vl_layers *vl_layers_new(const struct vl_layers_job *job);
/*
 * vl_layers_new() with `hints` that are the present VLs: a path moves only if it must, and then to
 * any VL; `hints` changes. *ret_all: no path had to move. job->keep and job->hints are ignored.
 */
struct vl_layers *vl_layers_stay(const struct vl_layers_job *job, uint16_t *hints, bool *ret_all);
struct vl_layers *vl_layers_free(struct vl_layers *l);
