// SPDX-License-Identifier: BSD-2-Clause
/* What sssp and dfsssp share. */
#pragma once

#include "route/graph.h"
#include "route/roll.h"
#include "route/routes.h"

struct sssp {
	struct graph *graph;
	struct distances *distances;
	struct roll *roll;
	struct routes *routes;
	struct route_options options;	 /* those that mean something here */
	struct route_guid_port *weights; /* hop weights, slow cables among them */
	unsigned threads;
};

/* Fills `ret`; false and why: cannot, or cancelled. sssp_done() in both cases. */
bool sssp_run(const struct route_job *job, const char *name, struct sssp *ret, char *why, size_t why_len);
void sssp_done(struct sssp *s);
