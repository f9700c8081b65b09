// SPDX-License-Identifier: BSD-2-Clause
/*
 * A last look at tables that were judged: channels that carry clearly more than their like give some of it to
 * other ways of the engine, entry by entry. What does not lead through such a channel stays as it is.
 */
#pragma once

#include "route/check.h"
#include "route/engine.h"

/*
 * Moves entries of `r` (nobody else has it yet), which routes_check_after() judged in *v; so is what comes of it. For
 * engines without lanes that leave hops (routes.h). While the most loaded channel
 * carries little more than it did in job->previous when they were eased, and where those have the very same
 * entries, nothing moves. Same job, same bytes.
 */
void ease(const struct route_job *job, struct routes *r, struct route_verdict *v, uint32_t *ret_moved);

/* May the engine of `r` (which left hops) send from switch `sw` to its neighbour `next` what is for switch `to`? */
bool ease_is_way(const struct routes *r, uint32_t sw, uint32_t next, uint32_t to);
