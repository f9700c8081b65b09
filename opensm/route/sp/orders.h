// SPDX-License-Identifier: BSD-2-Clause
/*
 * Orders for VLs (sp_balance.h): roots from which up/down routing connects as many pairs as
 * possible by shortest paths; each root is chosen for pairs that earlier ones do not connect.
 */
#pragma once

#include <stdint.h>

#include "route/core/graph.h"

/* Is a step from `s` to `v` towards the root? `from_root` is distances_from() of the root. */
static inline bool orders_towards(const uint16_t *from_root, uint32_t s, uint32_t v)
{
	return from_root[v] != from_root[s] ? from_root[v] < from_root[s] : v < s;
}

/* Fills `roots`. `sources`: per switch, 0 if no path begins or ends there. */
void orders_find(const struct graph *g, const struct distances *d, const uint32_t *sources,
		 unsigned n_roots, uint32_t *roots);
