// SPDX-License-Identifier: BSD-2-Clause
/*
 * Figures of tables for people: load of every channel, bandwidth, and how two sets of tables
 * differ.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "offline/base/traffic.h"
#include "route/core/routes.h"
#include "route/proof/disjoint.h"

struct figures {
	/* per entry of topo->ports: pairs that leave through it, of an end port and a LID of
	 * another one, as the verdict counts them */
	uint32_t *load;
	uint32_t n_load;
	struct traffic all;
	unsigned lanes;
	unsigned lids; /* number of LIDs of the end port with most (LMC) */
	/* disjoint paths of a sample of pairs, if `lids` is more than one */
	struct disjoint_sums disjoint;
};

/* `ranks`: every end port that takes part (routes_ranks()), in the order that shifts go by. */
void figures_of(const struct routes *r, struct route_ranks ranks, unsigned threads,
		struct figures *ret);
void figures_clear(struct figures *f);
/* Loads alone; the caller frees. */
uint32_t *figures_load(const struct routes *r, unsigned threads);

/* The flows of these end ports, each to all others, through every entry of topo->ports. */
struct figures_flows figures_flows(const struct routes *r, struct route_ranks ranks,
				   unsigned threads);
void figures_flows_clear(struct figures_flows *f);

/* The `n` most loaded channels between switches, entries of topo->ports; returns how many. */
uint32_t figures_hot(const struct topo *t, const uint32_t *load, uint32_t *ret, uint32_t n);

/*
 * From one set of tables to another, perhaps of another topo; switches and hosts are matched by
 * GUID.
 */
struct figures_change {
	uint64_t entries;  /* LFT entries that differ */
	uint64_t blocks;   /* number of LFT blocks (of 64 LIDs) that differ */
	uint64_t n_blocks; /* number of all blocks of the second tables */
	uint32_t switches; /* with such a block */
	uint64_t pairs;	   /* number of pairs of end ports in both tables whose paths differ */
	uint64_t n_pairs;
};

void figures_compare(const struct routes *from, const struct routes *to, unsigned threads,
		     struct figures_change *ret);
