// SPDX-License-Identifier: BSD-2-Clause
/* From the paths that an engine of a direct network allows to tables. */
#pragma once

#include "route/core/engine.h"
#include "route/core/path_dag.h"
#include "route/shape/recognise.h"

/*
 * Routes of name `engine` over the paths that `find` allows, dealt out by load (nexthop_assign.h).
 * Entries of the previous tables stay where they are allowed, unless a channel carries too much.
 * `same`, per switch: all paths to it are what they were for these, so its LIDs need not be dealt
 * out anew; NULL: unknown. NULL: cancelled.
 */
struct routes *direct_routes(const struct route_job *job, const struct graph *g, const char *engine,
			     path_dag_finder find, const void *arg, const bool *same);

/* Can tables of `engine` for the job be the previous ones, and little else? Then `same` counts. */
bool direct_may_stay(const struct route_job *job, const char *engine);

/*
 * The switches for which `hops` is TOPO_NONE take any shortest path to one that has hops, as far as
 * cables lead there: they follow in `w`, and get hops. True: there were such.
 */
bool direct_enter_rest(struct path_dag *w, uint32_t *hops);

/* The engines for fabrics that have been recognised already. NULL and `why`. */
struct routes *dragonfly_routes(const struct route_job *job, const struct graph *g,
				const struct shape *shape, char *why, size_t why_len);
struct routes *hyperx_routes(const struct route_job *job, const struct graph *g,
			     const struct shape *shape, char *why, size_t why_len);
