// SPDX-License-Identifier: BSD-2-Clause
/*
 * From distances to tables: what the engines of shortest (minhop) and of up-and-down ways (updn, dnup, ftree)
 * have in common. Which port among those that are as near is explained at the top of minhop.c.
 */
#pragma once

#include "route/engine.h"
#include "route/graph.h"
#include "route/spread.h"
#include "route/tree.h"

struct fill_plan {
	const char *engine;
	struct graph *graph;         /* oriented if there is a tree */
	struct distances *distances;
	const struct tree *tree;     /* NULL: any shortest way will do */
	struct spread_plan spread;
	bool keeps_homes;            /* counting by homes even where most hosts have none */
};

/* One reference, or NULL: cancelled. All of `plan` stays the caller's. */
struct routes *fill_tables(const struct route_job *job, const struct fill_plan *plan);

/* Of all that tables depend on besides the topo; never 0. Who makes others of them takes this bit away. */
#define FILL_SHORTEST UINT64_C(1)
uint64_t fill_options(const struct fill_plan *how, const struct route_options *o);
/* Are loads what decides, not homes? */
bool fill_is_flat(const struct route_job *job, const struct fill_plan *how, const struct spread *s);

/* More switches than this cannot be routed. */
#define FILL_SWITCHES_MAX 65534
/* Writes why not. */
bool fill_is_possible(const struct route_job *job, char *why, size_t why_len);

bool fill_is_cancelled(const struct route_job *job);
unsigned fill_threads(const struct route_job *job);
