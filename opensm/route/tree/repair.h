// SPDX-License-Identifier: BSD-2-Clause
/*
 * Repairs tables after few cables between switches, end ports or switches were lost or came back (a
 * switch without cables counts as lost; keep_tables.c). Only columns of targets to which distances
 * changed, and rows at the ends of these cables, are computed; all other entries stay and share
 * their memory (routes_derive()).
 */
#pragma once

#include "route/core/engine.h"
#include "route/tree/fill.h"

/*
 * One reference, or NULL: cancelled. After larger changes, or if an option makes entries depend on
 * each other, as fill_tables().
 */
struct routes *repair_or_fill(const struct route_job *job, const struct fill_plan *plan);
