// SPDX-License-Identifier: BSD-2-Clause
/*
 * May the rows of a multicast group be replaced in any order, or do some have to go first?
 *
 * Rows arrive at switches in whatever order. As long as the cables that are held and those that are
 * wanted are a forest together, no packet loops or comes twice at any moment. Where they close a
 * circle, every row first loses the cables that are not wanted, and gets no new one meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/mcast/mcast.h"

/* A switch of the group. */
struct mft_place {
	const struct mcast_row *row; /* wanted row; NULL: none */
	uint32_t up;		     /* index of the parent in the wanted tree; MCAST_NONE: none */
	uint64_t held[4];	     /* ports that may get copies now: bit p % 64 of word p / 64 */
};

struct mft_order {
	const struct mft_place *places;
	uint32_t *set; /* scratch memory for n numbers */
	uint32_t n;
	/* The switch behind a port, and the port there; MCAST_NONE: none that copies reach. */
	uint32_t (*behind)(const void *arg, uint32_t place, unsigned port, unsigned *ret_far);
	const void *arg;
};

/* Is any order safe? O(n + ports held beyond the wanted tree). */
bool mft_order_is_free(const struct mft_order *o);
/* The row that may be written now: the wanted one; `cut`: without cables not held yet. */
void mft_order_row(const struct mft_order *o, uint32_t place, bool cut, uint64_t ret[4]);
