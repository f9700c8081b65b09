// SPDX-License-Identifier: BSD-2-Clause
/*
 * The routing engines there are, and what each can do. Code asks a column of this table, never a
 * name: what routing_engine may say (advise.c) and its help (options.def), the functions and
 * capabilities (route/select/engines.c). tests/check/engines.sh compares the pages with it.
 */
#pragma once

/*
 * ROW(NAME, FUNCTION, SLS, ...): the name for routing_engine; FUNCTION_compute() in route/; whether
 * the service level of a path may depend on the path; further members of struct route_engine
 * (route/core/engine.h), which says what they mean. In the order in which help names them.
 */
#define CONF_ENGINES(ROW)                                                                 \
	ROW("auto", automatic, ANY_SL, .chooses = true)                                   \
	ROW("minhop", minhop, ANY_SL, .balances = true, .last_resort = 2,                 \
	    .compute_shape = minhop_routes)                                               \
	ROW("updn", updn, ANY_SL, .last_resort = 1)                                       \
	ROW("dnup", dnup, ANY_SL)                                                         \
	ROW("ftree", ftree, ANY_SL)                                                       \
	ROW("dor", dor, ANY_SL, .exact = true)                                            \
	ROW("lash", lash, PATH_SL, .slow = true, .by_load = true,                         \
	    .deal_vls = lash_deal_vls)                                                    \
	ROW("sssp", sssp, ANY_SL, .by_load = true)                                        \
	ROW("dfsssp", dfsssp, PATH_SL, .slow = true, .by_load = true,                     \
	    .deal_vls = dfsssp_deal_vls)                                                  \
	ROW("nue", nue, PATH_SL, .slow = true, .detours = true)                           \
	ROW("torus-2QoS", torus_2qos, PATH_SL, .exact = true)                             \
	ROW("dragonfly", dragonfly, ANY_SL, .compute_shape = dragonfly_routes) /* ours */ \
	ROW("hyperx", hyperx, ANY_SL, .compute_shape = hyperx_routes)          /* ours */ \
	ROW("columns", columns, ANY_SL, .slow = true, .by_load = true)         /* ours */ \
	ROW("file", tablefile, ANY_SL, .exact = true, .given = true)

/* "auto, minhop, ... file, " */
#define CONF_ENGINE_AND_COMMA(NAME, ...) NAME ", "
#define CONF_ENGINE_NAMES CONF_ENGINES(CONF_ENGINE_AND_COMMA)
