// SPDX-License-Identifier: BSD-2-Clause
/*
 * Few cables between switches, end ports or switches lost or back, and nothing else (a switch is
 * lost or back if it has no cables now, or had none; keep_tables.c): the columns of the targets
 * whose distances are others now, and the rows at the ends of the cables. All other entries are
 * those of before, and share their memory (routes_derive()).
 */
#pragma once

#include "route/core/engine.h"
#include "route/tree/fill.h"

/*
 * One reference, or NULL: cancelled. Where more happened than can be mended, or an option makes
 * every entry depend on all others, as fill_tables().
 */
struct routes *repair_or_fill(const struct route_job *job, const struct fill_plan *plan);
