// SPDX-License-Identifier: BSD-2-Clause
/*
 * The order in which engines that balance by load route the LIDs of end ports: compute nodes
 * (cn_guid_file), then storage (io_guid_file), then others; in each class, switches with the most
 * LIDs first, LIDs of one switch together. LIDs of switches are left out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/core/engine.h"
#include "util/mem.h"

#define DEST_ORDER_CLASSES 3

struct dest_order {
	uint32_t n;
	uint32_t *at;			  /* by index: switch of the LID */
	uint32_t *lids;			  /* by index: LID */
	uint32_t end[DEST_ORDER_CLASSES]; /* first index after each class */
	uint32_t *sources;		  /* by switch: number of end ports that send */
	bool *has_sources;
	struct arena memory;
};

struct dest_order *dest_order_new(const struct topo *t, const struct route_options *o);
/*
 * As dest_order_new(), plus the LIDs of switches with end ports that are set aside: the paths that
 * these share (route/core/aside.h) have VLs by LID.
 */
struct dest_order *dest_order_with_asides(const struct topo *t, const struct route_options *o);
struct dest_order *dest_order_free(struct dest_order *r);
FREEP(dest_order_free, struct dest_order)
