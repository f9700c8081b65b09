// SPDX-License-Identifier: BSD-2-Clause
/* The paths of all switches to one destination, inside what the dependency graph of a VL allows. */
#pragma once

#include "route/vl/cdg_order.h"
#include "route/nue/nue_net.h"
#include "route/core/routes.h"
#include "util/mem.h"

struct nue_tree {
	const struct nue_net *net;
	uint32_t to;        /* switch */
	uint32_t *out;      /* per switch: channel, NUE_NONE: none, or it is `to` */
	uint32_t *dist;     /* per switch: cost of its path; NUE_NONE: none */
	uint32_t *order;    /* switches with a path, nearest first; order[0] is `to` */
	uint32_t n;
	/* per switch: no sender's path comes through it, so its turn is not taken */
	bool *idle;
	/* Work space. */
	uint64_t *cost;
	uint32_t *head, *next, *entry, n_entries;
	uint32_t *bucket;
	uint32_t *woken, n_woken;
	uint32_t *wish;     /* the tables read */
	uint32_t *seeds;
	uint64_t *keys;
	struct arena memory;
};

/* Input of choices besides the dependency graph. */
struct nue_taste {
	const uint64_t *load;   /* per channel: pairs of end ports */
	const bool *closed;     /* per switch: has no entry for the destination; NULL: none */
};

struct nue_tree *nue_tree_new(const struct nue_net *net);
struct nue_tree *nue_tree_free(struct nue_tree *t);
FREEP(nue_tree_free, struct nue_tree)

/* Short paths first. How many have none though cables lead there; additions to `cdg` remain. */
uint32_t nue_tree_grow(struct nue_tree *t, struct cdg_order *cdg, uint32_t to,
		       const struct nue_taste *taste);
/*
 * Paths for switches that nue_tree_read() found without one, and whose turns are refused; others
 * keep theirs. Marks `cdg`. Returns how many are left.
 */
uint32_t nue_tree_mend(struct nue_tree *t, struct cdg_order *cdg, const struct nue_taste *taste);
/* Sends `sw` through `channel`, not leading back to it, if turns of all paths there allow it. */
bool nue_tree_redirect(struct nue_tree *t, struct cdg_order *cdg, uint32_t sw, uint32_t channel);
/*
 * After grow or mend found no path for some: by detours, and by moving their neighbours out of the
 * way. Marks `cdg`. Returns how many are left.
 */
uint32_t nue_tree_rescue(struct nue_tree *t, struct cdg_order *cdg, const struct nue_taste *taste);
/* Along the tree whose edges towards the root are `up`; those turns are in `cdg`. */
void nue_tree_escape(struct nue_tree *t, const uint32_t *up, uint32_t to);
/* Shortens paths while `cdg` can have it. */
void nue_tree_improve(struct nue_tree *t, struct cdg_order *cdg, const struct nue_taste *taste);
/* The paths of tables to `lid` on `to`. How many switches have none though cables lead there. */
uint32_t nue_tree_read(struct nue_tree *t, const struct routes *r, uint32_t to, lid_t lid);
enum nue_turns {
	NUE_TURNS_LOOK, /* do all lead forward? `cdg` stays as it is */
	NUE_TURNS_TAKE, /* adds them; false if one is refused (those before it are then there) */
	NUE_TURNS_SET,  /* sets them unasked (cdg_order_set); true */
};

/* All turns of the tree. */
bool nue_tree_turns(const struct nue_tree *t, struct cdg_order *cdg, enum nue_turns what);
/* dist, order and idle of what `out` says. Switches whose path does not end at `to` lose it. */
void nue_tree_measure(struct nue_tree *t);
