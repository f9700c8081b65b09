// SPDX-License-Identifier: BSD-2-Clause
/* The engines, one function each; struct route_engine says what they promise. */
#pragma once

#include "conf/engines.h"
#include "route/core/engine.h"
#include "route/proof/keep_policy.h"

#define ROUTE_ENGINE(NAME, FUNCTION, ...)                                                          \
	struct routes *FUNCTION##_compute(const struct route_job *job, char *why, size_t why_len);
CONF_ENGINES(ROUTE_ENGINE)
#undef ROUTE_ENGINE
/*
 * deal_vls() of dfsssp and lash. False: paths do not fit, or are unlike those of the engine: all
 * LIDs of a switch must take one path with lash; there and back share a VL if they can.
 */
bool dfsssp_deal_vls(const struct route_job *job, struct routes *r);
bool lash_deal_vls(const struct route_job *job, struct routes *r);
/* compute_shape() of minhop; dragonfly and hyperx have theirs in direct/. */
struct routes *minhop_routes(const struct route_job *job, const struct graph *g,
			     const struct shape *shape, char *why, size_t why_len);

/* By name, exact and case-sensitive; NULL if unknown. */
const struct route_engine *route_engine_find(const char *name);
/* route_engine_find() among the built-in engines and `more` (NULL: none). */
const struct route_engine *route_engine_find_in(const struct route_engines *more, const char *name);
/* The engine auto. */
const struct route_engine *route_engine_that_chooses(void);
/* The `n`th (from 1) engine of last resort; NULL: no more. */
const struct route_engine *route_engine_last_resort(unsigned n);
/*
 * The built-in engine that made the tables; with auto the one that it chose. Never NULL: for an
 * engine of a plugin, or an unknown one, a row without name and capabilities.
 */
const struct route_engine *route_engine_of(const struct routes *r);
/* The rule for the most loaded channel: KEEP_PATHS if paths have SLs, or may have under damage. */
enum keep_rule route_engine_load_rule(const struct routes *r);
