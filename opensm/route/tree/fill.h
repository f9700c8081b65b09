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
	const struct distances *distances; /* distances of `graph`; only for fill_tables() */
	struct dmodk_plan spread;
	bool keeps_homes;            /* set to count by homes even if most hosts have none */
};

/* Fills tables. One reference, or NULL: cancelled. `plan` stays the caller's. */
struct routes *fill_tables(const struct route_job *job, const struct fill_plan *plan);

/* A bit of the hash of options, which is never 0; cleared in tables of nue. */
#define FILL_SHORTEST UINT64_C(1)
uint64_t fill_options(const struct fill_plan *how, const struct route_options *o);
/* Is the fabric balanced by load instead of homes? */
bool fill_is_flat(const struct route_job *job, const struct fill_plan *how, const struct dmodk *s);
