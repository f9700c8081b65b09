// SPDX-License-Identifier: BSD-2-Clause
/* Shared by updn, dnup and ftree, and by dumps (dump/tree_order.h). */
#pragma once

#include "route/tree/fill.h"

/* Makes routes; plan->graph is oriented by plan->tree. One reference, or NULL: cancelled. */
struct routes *updown_route(const struct route_job *job, const struct fill_plan *plan);

/* Fills `levels` as updn does; NULL: they are not useful. */
const uint16_t *updn_levels(const struct graph *g, const struct route_options *o, uint16_t *levels,
			    bool *ret_roots);
/* By host: set if it is no compute node for ftree. NULL: all are. The caller frees. */
bool *ftree_find_apart(const struct topo *t, const struct route_options *o);
