// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables for end ports that are set aside (topo.h).
 *
 * They are one more LID of the switch that they are at: packets to them take the path of packets
 * to the switch, on the same VL, and leave it by their port. So no engine has to deal out paths for
 * them, a switch with nothing else stays a spine, and the paths of hosts are those of a fabric
 * without them.
 *
 * The proof (route/proof) shows that these paths end. It does not count their dependencies, as it
 * does not count those of paths to switches: where a spine lacks the cable to a leaf, the only path
 * between them goes down and up again. Aggregation trees follow the cables of a tree, level by
 * level, and need no such path. Engines whose VLs go by LIDs give these paths VLs like all others.
 */
#pragma once

#include "route/core/routes.h"

/*
 * Sets the entries and SLs of all ends that are set aside, before `r` is checked. If the switch of
 * one has no LID, its entries lead to no port; if it is at no switch, they stay as they are, like
 * those of unassigned LIDs (unassigned.h).
 */
void routes_set_aside(struct routes *r);

/* A flag by switch: has it an end port with a LID that is set aside? The caller frees. */
bool *aside_find_switches(const struct topo *t);
