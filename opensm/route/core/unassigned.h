// SPDX-License-Identifier: BSD-2-Clause
/*
 * Entries of LIDs that are assigned to no port (any more). They stay as they are, so that a host
 * that leaves and comes back changes no table; an entry that would lead round leads to no port.
 */
#pragma once

#include "route/core/routes.h"

/* Per LID 0..top the switch that it is at; TOPO_NONE: it is unassigned. The caller frees. */
uint32_t *unassigned_owners(const struct topo *t, lid_t top);
/*
 * The same. `ret_port` (top + 1 zeroes; NULL: not wanted): the port of that switch to which the end
 * port is cabled, 0 for LIDs of switches.
 */
uint32_t *unassigned_places(const struct topo *t, lid_t top, uint8_t *ret_port);

/* Circles of unassigned LIDs, which a moved cable can close: an entry of each leads to no port. */
void unassigned_open_loops(struct routes *r);

/*
 * The highest LID of new tables of `t`: as high as in `previous` (NULL: none) while that fits into
 * the table of some switch, so that entries of unassigned LIDs stay.
 */
lid_t unassigned_top(const struct topo *t, const struct routes *previous);

/*
 * Takes over the entries of unassigned LIDs from `previous` (NULL: none; switches of another topo
 * are found by GUID), without those that would lead round.
 */
void unassigned_keep(struct routes *r, const struct routes *previous);
