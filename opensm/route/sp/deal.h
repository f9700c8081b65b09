// SPDX-License-Identifier: BSD-2-Clause
/* VLs by path for tables of unknown origin, dealt out as an engine would. */
#pragma once

#include "route/core/engine.h"

/* Sets r->lanes (NULL: one VL will do). False: paths do not fit, or are unlike those of dfsssp. */
bool dfsssp_deal_vls(const struct route_job *job, struct routes *r);
/* All LIDs of a switch must take one path; there and back share a VL if they can. */
bool lash_deal_vls(const struct route_job *job, struct routes *r);
