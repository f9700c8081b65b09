// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ways of all switches to one destination, inside what the dependency graph of a lane allows.
 */
#pragma once

#include "route/nue_cdg.h"
#include "route/routes.h"

struct nue_tree {
	const struct nue_net *net;
	uint32_t to;        /* switch */
	uint32_t *out;      /* per switch: channel, NUE_NONE: none, or it is `to` */
	uint32_t *dist;     /* per switch: cost of its way; NUE_NONE: none */
	uint32_t *order;    /* switches with a way, nearest first; order[0] is `to` */
	uint32_t n;
	bool *idle;         /* per switch: nobody who sends comes through it, so its turn is not taken */
	/* Work space. */
	uint64_t *cost;
	uint32_t *head, *next, *entry, n_entries;
	uint32_t *bucket;
	uint32_t *woken, n_woken;
	uint32_t *wish;     /* what was read */
	uint32_t *seeds;
	uint64_t *keys;
};

/* What choices depend on besides the dependency graph. */
struct nue_taste {
	const uint64_t *load;   /* per channel: pairs of end ports */
	const bool *closed;     /* per switch: has no entry for the destination; NULL: none */
};

struct nue_tree *nue_tree_new(const struct nue_net *net);
struct nue_tree *nue_tree_free(struct nue_tree *t);
void nue_tree_freep(struct nue_tree **t);

/*
 * Short ways first. Returns how many switches found none though cables lead there; what was added to `cdg`
 * since its mark is then there still.
 */
uint32_t nue_tree_grow(struct nue_tree *t, struct nue_cdg *cdg, uint32_t to, const struct nue_taste *taste);
/*
 * Ways for those that nue_tree_read() found without, and whose turns are refused; others keep theirs. Marks `cdg`.
 * Returns how many are left.
 */
uint32_t nue_tree_mend(struct nue_tree *t, struct nue_cdg *cdg, const struct nue_taste *taste);
/* Sends `sw` through `channel`, which must not lead back to it, if the turns of all who come through it allow that. */
bool nue_tree_redirect(struct nue_tree *t, struct nue_cdg *cdg, uint32_t sw, uint32_t channel);
/*
 * After grow or mend found no way for some: by detours, and by moving their neighbours out of the way. Marks
 * `cdg`. Returns how many are left.
 */
uint32_t nue_tree_rescue(struct nue_tree *t, struct nue_cdg *cdg, const struct nue_taste *taste);
/* Along the tree whose edges towards the root are `up`; those turns are in `cdg`. */
void nue_tree_escape(struct nue_tree *t, const uint32_t *up, uint32_t to);
/* Shortens ways while `cdg` can have it. */
void nue_tree_improve(struct nue_tree *t, struct nue_cdg *cdg, const struct nue_taste *taste);
/* What the tables say of `lid`, which is on switch `to`. Returns how many switches have no way though cables lead there. */
uint32_t nue_tree_read(struct nue_tree *t, const struct routes *r, uint32_t to, lid_t lid);
/* Do all turns of the tree lead forward? */
bool nue_tree_fits(const struct nue_tree *t, const struct nue_cdg *cdg);
/* Adds its turns; false if one is refused (those before it are then there). */
bool nue_tree_take(const struct nue_tree *t, struct nue_cdg *cdg);
/* Sets them unasked (nue_cdg_set). */
void nue_tree_set(const struct nue_tree *t, struct nue_cdg *cdg);
/* dist, order and idle of what `out` says. Switches whose way does not end at `to` lose it. */
void nue_tree_measure(struct nue_tree *t);
