// SPDX-License-Identifier: BSD-2-Clause
/*
 * Entries of LIDs that nobody has (any more). They stay as they are, so that a host that leaves and
 * comes back changes no table; what hangs in the air leads to a dead end.
 */
#pragma once

#include "route/routes.h"

/*
 * A cable that was plugged in elsewhere can close a circle of such entries: one entry of each circle
 * then leads nowhere. Looks only at LIDs without an owner.
 */
void stale_open_loops(struct routes *r);

/*
 * The highest LID of new tables of `t`: as high as before while it fits somewhere, so that such entries stay.
 * `previous` may be NULL.
 */
lid_t stale_top(const struct topo *t, const struct routes *previous);

/*
 * Takes over the entries of LIDs without an owner from `previous` (NULL: none; of another topo: by GUID), without
 * those that would go round.
 */
void stale_keep(struct routes *r, const struct routes *previous);
