// SPDX-License-Identifier: BSD-2-Clause
/* One VL: the destinations whose packets travel on it, and their paths, free of cycles together. */
#pragma once

#include <stdatomic.h>

#include "route/nue/nue_tree.h"
#include "route/core/routes.h"

/* LIDs that share their paths: one of an end port, or those of a switch, or both. */
struct nue_target {
	uint32_t sw;
	lid_t lid; /* of an end port on it; 0: none */
	bool own;  /* and the LIDs of the switch */
};

struct nue_layer {
	const struct nue_net *net;
	struct routes *routes;     /* filled in, for its targets */
	const struct nue_target *targets;
	uint32_t n_targets;
	bool wishes;               /* `routes` hold the paths to prefer, if they fit */
	/*
	 * Its spanning tree is taken at the beginning, both ways between all that send: multicast
	 * trees then find one that fits (mcast_safe.c), namely this: both begin at one switch.
	 */
	bool reserves;
	unsigned variant;          /* which of several orders of its targets */
	uint64_t *load;            /* per channel, filled in: pairs of end ports */
	const uint32_t *gains;     /* channels newer than the wishes */
	uint32_t n_gains;
	const atomic_bool *cancelled;
};

void nue_layer_fill(struct nue_layer *layer);

/* ---- which destinations share a VL ---- */

/* Parts of near neighbours and about as many LIDs: ret[switch] 0..n_parts-1; without LIDs: 0. */
void nue_part(const struct nue_net *net, const bool *is_target, unsigned n_parts, uint8_t *ret);

/* ---- what of the previous tables stays ---- */

/* Are they nue's own, with as many VLs? */
bool nue_keeps(const struct routes *previous, unsigned n_vls);
/* Writes the previous entries of LIDs with owners into `r`, if their ports lead to a switch. */
void nue_keep_columns(const struct nue_net *net, const struct routes *previous, struct routes *r);
/* VLs as they were; a switch that had none gets that of the nearest one that had. */
void nue_keep_parts(const struct nue_net *net, const struct routes *previous, const bool *is_target,
		    uint8_t *part);
/* Channels that were not there before: their number, and `ret` has room for all channels. */
uint32_t nue_keep_gains(const struct nue_net *net, const struct routes *previous, uint32_t *ret);
