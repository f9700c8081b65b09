// SPDX-License-Identifier: BSD-2-Clause
/* The paths of all switches to one destination, as far as the dependency graph of a VL allows. */
#pragma once

#include "route/vl/cdg_order.h"
#include "route/nue/nue_net.h"
#include "route/core/routes.h"
#include "util/mem.h"

struct nue_tree {
	const struct nue_net *net;
	uint32_t to;	 /* switch of the destination */
	uint32_t *out;	 /* by switch: channel; NUE_NONE: no path, or it is `to` */
	uint32_t *dist;	 /* by switch: cost of its path; NUE_NONE: no path */
	uint32_t *order; /* switches with a path, nearest first; order[0] is `to` */
	uint32_t n;
	/* By switch: set if no sender's path uses it, so its dependencies are not added. */
	bool *idle;
	/* Work space. */
	uint64_t *cost;
	uint32_t *head, *next, *entry, n_entries;
	uint32_t *bucket;
	uint32_t *woken, n_woken;
	uint32_t *wish; /* channels of the tables that were read, by switch */
	uint32_t *seeds;
	uint64_t *keys;
	struct arena memory;
};

/* Input for choices besides the dependency graph. */
struct nue_taste {
	const uint64_t *load; /* by channel: pairs of end ports */
	/* by switch: set if it has no entry for the destination; NULL: none */
	const bool *closed;
};

struct nue_tree *nue_tree_new(const struct nue_net *net);
struct nue_tree *nue_tree_free(struct nue_tree *t);
FREEP(nue_tree_free, struct nue_tree)

/*
 * Finds paths, short ones first. Returns the number of switches without a path though cables lead
 * there; additions to `cdg` remain.
 */
uint32_t nue_tree_grow(struct nue_tree *t, struct cdg_order *cdg, uint32_t to,
		       const struct nue_taste *taste);
/*
 * Finds paths for switches that nue_tree_read() found without one, or with refused dependencies;
 * other switches keep theirs. Marks `cdg`. Returns the number of switches left without a path.
 */
uint32_t nue_tree_mend(struct nue_tree *t, struct cdg_order *cdg, const struct nue_taste *taste);
/*
 * Sends `sw` through `channel`, which must not lead back to it, if the dependencies of all paths
 * through it are allowed.
 */
bool nue_tree_redirect(struct nue_tree *t, struct cdg_order *cdg, uint32_t sw, uint32_t channel);
/*
 * Finds paths where nue_tree_grow() or nue_tree_mend() found none: by detours, and by moving their
 * neighbours. Marks `cdg`. Returns the number of switches left without a path.
 */
uint32_t nue_tree_rescue(struct nue_tree *t, struct cdg_order *cdg, const struct nue_taste *taste);
/*
 * Sets the paths along the tree whose edges towards the root are `up`; their dependencies are in
 * `cdg` already.
 */
void nue_tree_escape(struct nue_tree *t, const uint32_t *up, uint32_t to);
/* Shortens paths as far as `cdg` allows. */
void nue_tree_improve(struct nue_tree *t, struct cdg_order *cdg, const struct nue_taste *taste);
/*
 * Reads the paths of tables to `lid` on `to`. Returns the number of switches without a path though
 * cables lead there.
 */
uint32_t nue_tree_read(struct nue_tree *t, const struct routes *r, uint32_t to, lid_t lid);
enum nue_turns {
	NUE_TURNS_LOOK, /* are all dependencies allowed? `cdg` is unchanged */
	NUE_TURNS_TAKE, /* adds them; false: one is refused, and those before it are added */
	NUE_TURNS_SET,	/* sets them without a check (cdg_order_set); returns true */
};

/* Handles all dependencies of the tree. */
bool nue_tree_turns(const struct nue_tree *t, struct cdg_order *cdg, enum nue_turns what);
/* Computes dist, order and idle from `out`. Paths that do not end at `to` are removed. */
void nue_tree_measure(struct nue_tree *t);
