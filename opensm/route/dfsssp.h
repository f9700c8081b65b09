// SPDX-License-Identifier: BSD-2-Clause
/* What others may have of dfsssp. */
#pragma once

#include "route/engine.h"

/* Deals the paths of any tables out to lanes, and says so in r->lanes (NULL: one will do). False: they do not fit. */
bool dfsssp_deal_lanes(const struct route_job *job, struct routes *r);
