// SPDX-License-Identifier: BSD-2-Clause
/*
 * One lane: the destinations whose packets travel on it, and their ways, free of cycles together.
 */
#pragma once

#include <stdatomic.h>

#include "route/nue_tree.h"
#include "route/routes.h"

/* Destinations that share their ways: some LIDs of the end ports of one switch, or those of the switch itself. */
struct nue_target {
	uint32_t sw;
	uint32_t first, n, stride; /* net->lids[first], [first + stride] ...; n LIDs */
	bool own;                  /* and the LIDs of the switch */
};

struct nue_layer {
	const struct nue_net *net;
	struct routes *routes;     /* filled in, the columns of its targets */
	const struct nue_target *targets;
	uint32_t n_targets;
	bool wishes;               /* its columns in `routes` are what would be best, if it fits */
	/*
	 * Its spanning tree is taken at the beginning, both ways between all that send: multicast trees then find
	 * one that fits (mcast_safe.c), namely this, because both begin at the same switch.
	 */
	bool reserves;
	unsigned variant;          /* which of several orders of its targets */
	uint64_t *load;            /* per channel, filled in: pairs of end ports; may be NULL */
	const uint32_t *gains;     /* channels that were not there when the wishes were made */
	uint32_t n_gains;
	const atomic_bool *cancelled;
	uint32_t n_wishes;         /* targets that have them as they were */
	uint32_t n_escaped;        /* targets whose ways began as those of the spanning tree */
};

void nue_layer_fill(struct nue_layer *layer);
