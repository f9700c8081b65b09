// SPDX-License-Identifier: BSD-2-Clause
/* What of the previous tables nue would rather not change. */
#pragma once

#include "route/nue_net.h"
#include "route/routes.h"

/* Are they nue's own, with as many lanes? */
bool nue_keeps(const struct routes *previous, unsigned n_lanes);
/* Writes the previous entries of all LIDs that have owners into `r`, as far as their ports lead to a switch. */
void nue_keep_columns(const struct nue_net *net, const struct routes *previous, struct routes *r);
/* Lanes as they were; switches that had none get that of the nearest that had. */
void nue_keep_parts(const struct nue_net *net, const struct routes *previous, const bool *is_target,
		    uint8_t *part);
/* Channels that were not there before: their number, and `ret` has room for all channels. */
uint32_t nue_keep_gains(const struct nue_net *net, const struct routes *previous, uint32_t *ret);
