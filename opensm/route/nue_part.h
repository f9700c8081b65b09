// SPDX-License-Identifier: BSD-2-Clause
/* Which switches' destinations share a lane. */
#pragma once

#include "route/nue_net.h"

/* Parts of near neighbours and about equal numbers of LIDs: ret[switch] is 0..n_parts-1. Switches without LIDs: part 0. */
void nue_part(const struct nue_net *net, const bool *is_target, unsigned n_parts, uint8_t *ret);
