// SPDX-License-Identifier: BSD-2-Clause
/*
 * How to get from one set of tables to another without a loop meanwhile.
 *
 * While old entries are replaced by new ones, in any order, a packet follows a mixture. For a LID
 * whose old and new entries together contain a cycle the mixture may loop. Then the order matters:
 * a switch is written only when the switches that its new path leads through have been, so a packet
 * on a new path stays on it to the end. That costs no Set more; it costs barriers: blocks (64
 * LIDs of one switch) get an epoch, and an epoch begins when all Sets of the one before have been
 * answered.
 *
 * Sixty-four LIDs share a block, and may want opposite orders. The LID that would contradict those
 * before it is drained instead: its entries that change lead nowhere first, in a stage before all
 * epochs, and are then written in any order.
 *
 * Cables are those of the new topo: an old entry over a cable that is gone is a dead end. One that
 * is there and left out (topo_leave_out(): drained, say) carries packets yet, and a switch that is
 * left out passes them on as its old table and the old topo say.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "route/core/routes.h"
#include "util/mem.h"

struct transition {
	uint32_t n_lids;    /* number of LIDs to be drained */
	uint8_t *drain;	    /* flag per LID, 0..top of the new routes */
	lid_t top;
	unsigned n_epochs;  /* number of epochs, 1..255 */
	uint8_t *epochs;    /* epochs[switch of the new topo * n_blocks + block] */
	uint32_t n_blocks;
};

static inline unsigned transition_epoch(const struct transition *t, uint32_t sw, uint32_t block)
{
	return block < t->n_blocks ? t->epochs[(size_t)sw * t->n_blocks + block] : 0;
}

/*
 * Compares `old` (any topo of the same fabric) with `new`. NULL if every order is good. Pure;
 * O(table bytes) to find what differs, then O(entries that differ). The caller frees it with
 * transition_free().
 */
struct transition *transition_find(const struct routes *old, const struct routes *new);
struct transition *transition_free(struct transition *t);
FREEP(transition_free, struct transition)
