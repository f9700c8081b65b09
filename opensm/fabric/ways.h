// SPDX-License-Identifier: BSD-2-Clause
/*
 * Directed routes around cables that died. The route of a node (node->path) is that by which it
 * answered last; when a cable on it dies, nothing that is sent by it arrives, and the next reading
 * of the fabric finds another one. What cannot wait for that goes by these.
 */
#pragma once

#include "fabric/fabric.h"
#include "util/mem.h"

/* Does node->path lead to the node over cables that are up, as far as is known? */
bool fabric_path_holds(const struct fabric *f, const struct node *n);

/* The shortest routes from the SM's own port to all switches, over cables that are up. */
struct fabric_ways;
/* O(ports of the fabric). They hold until a node comes or goes. The caller frees. */
struct fabric_ways *fabric_ways_new(const struct fabric *f);
struct fabric_ways *fabric_ways_free(struct fabric_ways *w);
FREEP(fabric_ways_free, struct fabric_ways)
/* False: no cables lead to the switch, or too many. */
bool fabric_way(const struct fabric_ways *w, const struct node *n, struct dr_path *ret);
