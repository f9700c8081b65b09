// SPDX-License-Identifier: BSD-2-Clause
/* The common part of updn, dnup and ftree, and what of it dumps ask (dump/tree_order.h). */
#pragma once

#include "route/tree/fill.h"

/* plan->graph is oriented by plan->tree. One reference, or NULL: cancelled. */
struct routes *updown_route(const struct route_job *job, const struct fill_plan *plan);

/* Fills `levels` as updn has them; NULL if they are not worth following. */
const uint16_t *updn_levels(const struct graph *g, const struct route_options *o, uint16_t *levels,
			    bool *ret_roots);
/* Per host: no compute node of ftree. NULL: all are. The caller frees. */
bool *ftree_find_apart(const struct topo *t, const struct route_options *o);
