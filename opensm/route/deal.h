// SPDX-License-Identifier: BSD-2-Clause
/* Lanes by path for tables that somebody else made, as an engine would deal them out. */
#pragma once

#include "route/engine.h"

/* In r->lanes (NULL: one will do). False: the paths do not fit, or are not like those of that engine. */
bool dfsssp_deal_lanes(const struct route_job *job, struct routes *r);
/* All LIDs of a switch must go one way; there and back share a lane if they can. */
bool lash_deal_lanes(const struct route_job *job, struct routes *r);
