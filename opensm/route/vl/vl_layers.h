// SPDX-License-Identifier: BSD-2-Clause
/*
 * Deals paths out to VLs so that no VL can lock up, with as few VLs as can be.
 *
 * A path is (switch where it begins, destination). The tables of one destination are a tree of
 * paths to one switch. Paths that use one channel directly after another make a dependency; a VL is
 * safe when the dependencies of its paths have no cycle (Dally and Seitz).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "topo/topo.h"

#define VL_LAYERS_MAX 15
#define VL_LAYERS_NONE 0xFF
#define VL_LAYERS_MOVED 0x8000u /* among hints */

/* All tables have rows by switch: entry [switch * row_size + key of the destination]. */
struct vl_layers_job {
	const struct topo *topo;
	uint32_t n_columns;
	const uint32_t *at;   /* per destination: the switch it leads to */
	const uint32_t *keys; /* per destination: its place in rows */
	uint32_t row_size;
	const uint8_t *ports; /* output ports; a port that leads to no switch is no path */
	const bool *sources;  /* per switch: paths begin there */
	/* Keys are switches; the path there and the path back share a VL. */
	bool both_ways;
	/* Bit k: first tried in VL k, where all should fit together. NULL: no hints */
	uint16_t *hints;
	/*
	 * Hints are the VLs that paths have: they stay there; nothing moves for balance.
	 * VL_LAYERS_MOVED marks an entry that has changed: paths through it come after unchanged
	 * ones, and get the mark as well.
	 */
	bool keep;
	unsigned most;	      /* VLs there are, 1..VL_LAYERS_MAX: to balance over them */
	unsigned limit;	      /* give up beyond so many; 0: VL_LAYERS_MAX */
	const atomic_bool *cancelled;
};

struct vl_layers {
	unsigned needed; /* without balance; the limit + 1: more than that; 0: there are no paths */
	unsigned n;	 /* VLs in use */
	uint8_t *lanes;	 /* VL_LAYERS_NONE where there is no path */
};

/* NULL when cancelled. Complete if needed <= most. The caller frees. Same job, same bytes. */
struct vl_layers *vl_layers_new(const struct vl_layers_job *job);
/*
 * The same, with `hints` that are the VLs paths have: a path moves only if it must, and then to any
 * VL; `hints` changes. *ret_all: no path had to move. job->keep and job->hints are ignored.
 */
struct vl_layers *vl_layers_stay(const struct vl_layers_job *job, uint16_t *hints, bool *ret_all);
struct vl_layers *vl_layers_free(struct vl_layers *l);
