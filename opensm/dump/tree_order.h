// SPDX-License-Identifier: BSD-2-Clause
/* By what updn and ftree went, found again from the fabric and the options. */
#pragma once

#include "route/core/engine.h"

/*
 * The switches where paths of updn turn from up to down, in the order of switches: those of
 * root_guid_file that are there, else the top level as it is found. Returns how many; the caller
 * frees `ret`.
 */
uint32_t updn_roots(const struct topo *t, const struct route_options *o, uint32_t **ret);

/*
 * The order in which MPI ranks meet no contention with ftree (opensm-ftree-ca-order.dump): the
 * compute nodes in the order of slots, leaf by leaf, every leaf with as many places as the largest
 * has; TOPO_NONE where a leaf has none. The caller frees.
 */
uint32_t *ftree_ca_order(const struct topo *t, const struct route_options *o, uint32_t *ret_n);
