// SPDX-License-Identifier: BSD-2-Clause
/* Better tables after changes, computed when there is time (quiet.c). One per subnet manager. */
#pragma once

#include "sm/routing/route_job.h"

struct sm;
struct sm_paths;

/* A job under way must have ended, or be an orphan. */
void quiet_free(struct sm *sm);

/*
 * Called when the tables `now` come into force instead of sm_routes() (NULL: there were none), for
 * another reason than a quiet time. `found`: adopted from switches, so that a recalculation may be
 * due already.
 */
void quiet_changed(struct sm *sm, const struct routes *now, bool found);
/* Called when a sweep begins that may change tables. */
void quiet_interrupted(struct sm *sm);
/* Called when nothing else is to be done at sm->now. */
void quiet_tick(struct sm *sm);
mono_t quiet_next(const struct sm *sm);

/* Are there better tables than those in force? quiet_take() returns them, to be put in force. */
bool quiet_has_better(const struct sm *sm);
struct routes *quiet_take(struct sm *sm, struct route_report *ret);
