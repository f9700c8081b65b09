// SPDX-License-Identifier: BSD-2-Clause
/* Makes tables from the paths that an engine of a direct network allows. */
#pragma once

#include "route/core/engine.h"
#include "route/core/path_dag.h"
#include "route/shape/recognise.h"

/*
 * Makes routes of engine `engine` over the paths that `find` allows, assigned by load
 * (nexthop_assign.h). Entries of the previous tables stay where they are allowed, unless a channel
 * carries too much. `same`, by switch: all paths to it are those of the previous tables, so its
 * LIDs need no new assignment; NULL: not known. NULL: cancelled.
 */
struct routes *direct_routes(const struct route_job *job, const struct graph *g, const char *engine,
			     path_dag_finder find, const void *arg, const bool *same);

/* May tables of `engine` for the job be nearly the previous ones? Only then `same` is used. */
bool direct_may_stay(const struct route_job *job, const char *engine);

/*
 * Gives the switches for which `hops` is TOPO_NONE any shortest path to a switch that has hops, as
 * far as cables lead there: adds them to `w`, and sets their hops. True: there were such switches.
 */
bool direct_enter_rest(struct path_dag *w, uint32_t *hops);

/* The engines for fabrics whose shape is known already. NULL: `why` has the reason. */
struct routes *dragonfly_routes(const struct route_job *job, const struct graph *g,
				const struct shape *shape, char *why, size_t why_len);
struct routes *hyperx_routes(const struct route_job *job, const struct graph *g,
			     const struct shape *shape, char *why, size_t why_len);
