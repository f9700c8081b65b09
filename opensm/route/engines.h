// SPDX-License-Identifier: BSD-2-Clause
/* The engines there are, one function each (struct route_engine says what it promises). */
#pragma once

#include "route/engine.h"

#define ROUTE_ENGINE(NAME) \
	struct routes *NAME##_compute(const struct route_job *job, char *why, size_t why_len);
ROUTE_ENGINE(automatic)
ROUTE_ENGINE(minhop)
ROUTE_ENGINE(updn)
ROUTE_ENGINE(dnup)
ROUTE_ENGINE(ftree)
ROUTE_ENGINE(dor)
ROUTE_ENGINE(lash)
ROUTE_ENGINE(sssp)
ROUTE_ENGINE(columns)
ROUTE_ENGINE(dfsssp)
ROUTE_ENGINE(nue)
ROUTE_ENGINE(torus_2qos)
ROUTE_ENGINE(tablefile)
ROUTE_ENGINE(dragonfly) /* ours: shortest paths on two lanes by port classes */
ROUTE_ENGINE(hyperx)    /* ours: dimension order on one lane */
#undef ROUTE_ENGINE
