// SPDX-License-Identifier: BSD-2-Clause
/*
 * What routes keep of distances (routes.h), for the next computation and for dumps: by destination.
 */
#pragma once

#include "route/core/graph.h"

/*
 * Hops as bytes, hops[to * n + from], at most 254, 0xFF: none. Which paths only go down as bits,
 * `words` for each destination: downs[to * words + from / 64]; `downs` may be NULL.
 */
void hops_by_target(const struct distances *d, unsigned threads, uint8_t *hops, uint64_t *downs);
