// SPDX-License-Identifier: BSD-2-Clause
/*
 * Entries of LIDs that are not assigned to any port (any more). They are kept, so that a host that
 * leaves and comes back changes no table; an entry that would close a loop leads to no port.
 */
#pragma once

#include "route/core/routes.h"

/* By LID 0..top: the switch of its owner; TOPO_NONE: unassigned. The caller frees. */
uint32_t *unassigned_owners(const struct topo *t, lid_t top);
/*
 * unassigned_owners(), and `ret_port` (top + 1 zeroes; NULL: not wanted): the port of that switch
 * that the end port is cabled to, 0 for LIDs of switches.
 */
uint32_t *unassigned_places(const struct topo *t, lid_t top, uint8_t *ret_port);

/* Breaks loops of unassigned LIDs, which a moved cable can close, at one entry each. */
void unassigned_open_loops(struct routes *r);

/*
 * The highest LID for new tables of `t`: that of `previous` (NULL: none) if it fits the table of
 * some switch, so that entries of unassigned LIDs stay.
 */
lid_t unassigned_top(const struct topo *t, const struct routes *previous);

/*
 * Copies the entries of unassigned LIDs from `previous` (NULL: none; switches of another topo are
 * found by GUID), without those that would close a loop.
 */
void unassigned_keep(struct routes *r, const struct routes *previous);
