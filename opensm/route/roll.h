// SPDX-License-Identifier: BSD-2-Clause
/*
 * All LIDs of end ports in the order in which engines that go by load take them: compute nodes
 * (cn_guid_file), then storage (io_guid_file), then the others; in each class switches with most
 * LIDs first, a switch's own together. LIDs of switches are not among them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "route/engine.h"

#define ROLL_CLASSES 3

struct roll {
	uint32_t n;
	uint32_t *at;		      /* per place: switch */
	uint32_t *lids;		      /* per place */
	uint32_t end[ROLL_CLASSES];   /* first place after the class */
	uint32_t *sources;	      /* per switch: end ports that send */
	bool *has_sources;
};

struct roll *roll_new(const struct topo *t, const struct route_options *o);
struct roll *roll_free(struct roll *r);
void roll_freep(struct roll **r);
