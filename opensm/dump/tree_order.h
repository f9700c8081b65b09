// SPDX-License-Identifier: BSD-2-Clause
/* The order and roots that updn and ftree used, computed again from the fabric and the options. */
#pragma once

#include "route/core/engine.h"

/*
 * Finds the switches where updn paths turn from up to down, in the order of switches: those of
 * root_guid_file that exist, else the top level as detected. Returns their number; the caller frees
 * `ret`.
 */
uint32_t updn_roots(const struct topo *t, const struct route_options *o, uint32_t **ret);

/*
 * Finds the order in which MPI ranks have no contention with ftree (opensm-ftree-ca-order.dump):
 * the compute nodes in the order of slots, leaf by leaf, as many places for every leaf as the
 * largest has; TOPO_NONE for an unused place. The caller frees.
 */
uint32_t *ftree_ca_order(const struct topo *t, const struct route_options *o, uint32_t *ret_n);
