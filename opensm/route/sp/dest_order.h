// SPDX-License-Identifier: BSD-2-Clause
/*
 * All LIDs of end ports in the order in which engines that go by load place them: compute nodes
 * (cn_guid_file), then storage (io_guid_file), then the others; in each class switches with most
 * LIDs first, those on one switch together. LIDs of switches are left out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/core/engine.h"
#include "util/mem.h"

#define DEST_ORDER_CLASSES 3

struct dest_order {
	uint32_t n;
	uint32_t *at;			  /* by place: switch */
	uint32_t *lids;			  /* by place: LID */
	uint32_t end[DEST_ORDER_CLASSES]; /* first place after the class */
	uint32_t *sources;		  /* by switch: number of end ports that send */
	bool *has_sources;
	struct arena memory;
};

struct dest_order *dest_order_new(const struct topo *t, const struct route_options *o);
/*
 * dest_order_new(), followed by the LIDs of switches with end ports that are set aside: the paths
 * that these share (route/core/aside.h) have VLs that go by LIDs.
 */
struct dest_order *dest_order_with_asides(const struct topo *t, const struct route_options *o);
struct dest_order *dest_order_free(struct dest_order *r);
FREEP(dest_order_free, struct dest_order)
