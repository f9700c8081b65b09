// SPDX-License-Identifier: BSD-2-Clause
/*
 * What may go wrong between two sets of tables.
 *
 * While old entries are replaced by new ones, in any order, a packet follows a mixture. For a LID
 * whose old and new entries together contain a cycle that mixture may loop; such a LID must be
 * drained first: the entries that change lead nowhere until all of them have been replaced.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "route/routes.h"

struct transition {
	uint32_t n_lids; /* LIDs to be drained */
	uint8_t *drain;	 /* one byte per LID, 0..top of the new routes */
	lid_t top;
};

/*
 * Compares `old` (any topo of the same fabric) with `new`. NULL if no LID has to be drained. Pure;
 * O(switches * changed LIDs). The caller frees it with transition_free().
 */
struct transition *transition_find(const struct routes *old, const struct routes *new);
struct transition *transition_free(struct transition *t);
void transition_freep(struct transition **t);
