// SPDX-License-Identifier: BSD-2-Clause
/*
 * Few cables between switches or end ports lost or back, and nothing else: the columns of the targets whose distances
 * are others now, and the rows at the ends of the cables. All other entries are those of before, and share their
 * memory (routes_derive()).
 */
#pragma once

#include "route/engine.h"
#include "route/fill.h"

/*
 * As fill_tables(); plan->distances is not looked at. NULL: more happened than this can mend, or an option makes every
 * entry depend on all others.
 */
struct routes *repair_tables(const struct route_job *job, const struct fill_plan *plan);
