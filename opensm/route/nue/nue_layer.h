// SPDX-License-Identifier: BSD-2-Clause
/* One VL: the destinations whose packets use it, and their paths, without a cycle together. */
#pragma once

#include <stdatomic.h>

#include "route/nue/nue_tree.h"
#include "route/core/routes.h"

/* LIDs that share their paths: one LID of an end port, or those of a switch, or both. */
struct nue_target {
	uint32_t sw;
	lid_t lid; /* LID of an end port on the switch; 0: none */
	bool own;  /* set if the LIDs of the switch are included */
};

struct nue_layer {
	const struct nue_net *net;
	struct routes *routes; /* filled in for its targets */
	const struct nue_target *targets;
	uint32_t n_targets;
	bool wishes; /* set if `routes` hold paths to prefer, if they fit */
	/*
	 * Set to include a spanning tree at the beginning, in both directions between all senders,
	 * so that multicast trees find one that fits (mcast_safe.c), as both begin at one switch.
	 */
	bool reserves;
	unsigned variant;      /* number of the order of its targets, of several */
	uint64_t *load;	       /* by channel, filled in: load in pairs of end ports */
	const uint32_t *gains; /* channels that are newer than the preferred paths */
	uint32_t n_gains;
	const atomic_bool *cancelled;
};

void nue_layer_fill(struct nue_layer *layer);

/* ---- which destinations share a VL ---- */

/* Parts of near neighbours with about as many LIDs: ret[switch] 0..n_parts-1; without LIDs: 0. */
void nue_part(const struct nue_net *net, const bool *is_target, unsigned n_parts, uint8_t *ret);

/* ---- which previous entries stay ---- */

/* Are the previous tables of nue, with as many VLs? */
bool nue_keeps(const struct routes *previous, unsigned n_vls);
/* Copies the previous entries of assigned LIDs into `r`, if their ports lead to a switch. */
void nue_keep_columns(const struct nue_net *net, const struct routes *previous, struct routes *r);
/* Takes over the previous VLs; a switch without one gets that of the nearest switch with one. */
void nue_keep_parts(const struct nue_net *net, const struct routes *previous, const bool *is_target,
		    uint8_t *part);
/* Finds channels that were not there before. Returns how many; `ret` has room for all channels. */
uint32_t nue_keep_gains(const struct nue_net *net, const struct routes *previous, uint32_t *ret);
