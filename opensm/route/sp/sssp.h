// SPDX-License-Identifier: BSD-2-Clause
/* Shared by sssp, dfsssp and lash. */
#pragma once

#include "route/core/graph.h"
#include "route/sp/dest_order.h"
#include "route/core/routes.h"
#include "route/vl/vl_layers.h"

struct sssp {
	struct graph *graph;
	struct distances *distances;
	struct dest_order *dests;
	struct routes *routes;
	struct route_options options;	 /* options that have an effect here */
	struct route_guid_port *weights; /* hop weights, with those of slow cables */
	unsigned threads;
};

/*
 * Fills `ret`. False: impossible, or cancelled; the reason is in `why`. sssp_done() in both cases.
 */
bool sssp_run(const struct route_job *job, const char *name, struct sssp *ret, char *why,
	      size_t why_len);
void sssp_done(struct sssp *s);

/*
 * Sets the VL scheme of `layers`, whose first VL is `start`, if there are several VLs. `kept`: the
 * previous scheme if all paths keep their VLs, as it then says how many are needed; else NULL.
 */
void sssp_use_vls(struct routes *r, const struct vl_layers *layers, enum sl2vl_by by,
		  unsigned start, const struct sl2vl *kept);
