// SPDX-License-Identifier: BSD-2-Clause
/*
 * From distances to tables: common to the engines of shortest (minhop) and of up-and-down paths
 * (updn, dnup, ftree). The essay at the top of minhop.c explains the choice among ports that are
 * equally near.
 */
#pragma once

#include "route/core/engine.h"
#include "route/core/graph.h"
#include "route/tree/dmodk.h"
#include "route/tree/tree.h"

struct fill_plan {
	const char *engine;
	const struct graph *graph;   /* oriented if there is a tree */
	const struct tree *tree;     /* NULL: any shortest path will do */
	const struct distances *distances; /* of `graph`; fill_tables() alone looks at them */
	struct dmodk_plan spread;
	bool keeps_homes;            /* counting by homes even where most hosts have none */
};

/* One reference, or NULL: cancelled. All of `plan` stays the caller's. */
struct routes *fill_tables(const struct route_job *job, const struct fill_plan *plan);

/* A bit of the hash of options, which is never 0. Cleared when tables are made otherwise. */
#define FILL_SHORTEST UINT64_C(1)
uint64_t fill_options(const struct fill_plan *how, const struct route_options *o);
/* Do loads decide, not homes? */
bool fill_is_flat(const struct route_job *job, const struct fill_plan *how, const struct dmodk *s);
