// SPDX-License-Identifier: BSD-2-Clause
/* What of the updn engine others ask for: where its ways turn from up to down. */
#pragma once

#include "route/engine.h"

/*
 * The roots, in the order of switches: those of root_guid_file that are there, else the top level as it is found.
 * Returns how many; the caller frees `ret`.
 */
uint32_t updn_roots(const struct topo *t, const struct route_options *o, uint32_t **ret);
