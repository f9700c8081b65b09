// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a patch would do about each single cable between switches, if that one died alone: for
 * planning. The tables are not changed.
 */
#pragma once

#include <stdint.h>

#include "route/patch/patch.h"

struct patch_single {
	uint32_t at;		     /* entry of topo->ports: the end with the lower one */
	uint32_t counts[PATCH_HOWS]; /* those of its patch */
};

/*
 * All cables of r->topo, by `at`; *ret_n of them, to be freed. `threads` (0: one for each
 * processor) change nothing but the time. That is for each cable the time of its patch, and of
 * copying a ground.
 */
struct patch_single *patch_singles(const struct routes *r, unsigned threads, uint32_t *ret_n);
