// SPDX-License-Identifier: BSD-2-Clause
/* Taking over multicast tables without moving anything. */
#pragma once

#include "fabric/fabric.h"
#include "route/mcast/mcast.h"

/*
 * The tree that switches hold for `mlid` (MLID_MIN..MLID_MAX), as far as it is one, to be given to
 * planning as `previous`. The caller owns the reference; NULL: they hold nothing. Pure; O(nodes +
 * ports of switches with a row).
 */
struct mcast_tree *adopt_mcast_tree(const struct fabric *f, lid_t mlid);
