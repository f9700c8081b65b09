// SPDX-License-Identifier: BSD-2-Clause
/* Better tables after changes, computed when there is time (quiet.c). One per subnet manager. */
#pragma once

#include "sm/routing/route_job.h"

struct quiet;
struct sm;
struct sm_paths;

void quiet_new(struct sm *sm, const struct sm_paths *paths);
/* The job that may be out must have ended, or be an orphan. */
void quiet_free(struct sm *sm);

/*
 * Tables `now` come into force instead of sm_routes() (NULL: there were none), for another reason
 * than a quiet time. `found`: made of those that switches hold, which may have owed one already.
 */
void quiet_changed(struct sm *sm, const struct routes *now, bool found);
/* A sweep begins that may change tables. */
void quiet_interrupted(struct sm *sm);
/* Nothing else is to be done at sm->now. */
void quiet_tick(struct sm *sm);
mono_t quiet_next(const struct sm *sm);

/* Are there better tables than those in force? quiet_take() hands them over to be put in force. */
bool quiet_has_better(const struct sm *sm);
struct routes *quiet_take(struct sm *sm, struct route_report *ret);
