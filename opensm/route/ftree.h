// SPDX-License-Identifier: BSD-2-Clause
/* What of the ftree engine others ask for: the order in which MPI ranks meet no contention. */
#pragma once

#include "route/engine.h"

/* Per host: no compute node. NULL: all are. The caller frees. */
bool *ftree_apart(const struct topo *t, const struct route_options *o);

/*
 * The compute nodes in the order of slots, leaf by leaf, every leaf with as many places as the largest has;
 * TOPO_NONE where a leaf has none (opensm-ftree-ca-order.dump). The caller frees.
 */
uint32_t *ftree_ca_order(const struct topo *t, const struct route_options *o, uint32_t *ret_n);
