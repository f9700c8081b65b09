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
