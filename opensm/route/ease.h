// SPDX-License-Identifier: BSD-2-Clause
/*
 * A last look at tables that were judged: channels that carry clearly more than their like give some of it to
 * other ways of the engine, entry by entry. What does not lead through such a channel stays as it is.
 */
#pragma once

#include "route/check.h"
#include "route/engine.h"

/*
 * Takes `r` (the caller's one reference, judged in *v by routes_check_after()) and returns it, or others in its
 * place, judged in *v. For engines without lanes that leave hops (routes.h). While the most loaded channel
 * carries little more than it did in job->previous when they were eased, and where those have the very same
 * entries, nothing moves. Same job, same bytes.
 */
struct routes *ease(const struct route_job *job, struct routes *r, struct route_verdict *v, uint32_t *ret_moved);

/* May the engine of `r` (which left hops) send from switch `sw` to its neighbour `next` what is for switch `to`? */
bool ease_is_way(const struct routes *r, uint32_t sw, uint32_t next, uint32_t to);
