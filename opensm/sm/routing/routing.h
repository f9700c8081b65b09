// SPDX-License-Identifier: BSD-2-Clause
/*
 * Routes are computed and judged, in a job on immutable input.
 *
 *   REST --routing_start()--> COMPUTING --the job ends--> NEW ROUTES, or none
 *   --routing_install()--> in force
 *                                                            ^
 *                            routing_take_quiet() ----------'
 */
#pragma once

#include "sm/sm.h"

struct cdg;
struct route_report;
struct transition;

/* With sm->m.route_memory and sm->m.replacements. */
void routing_new(struct sm *sm, const struct sm_paths *paths);
void routing_free(struct sm *sm);
/* Starts a job for the fabric as known now; it makes new routes, unless the old ones are right. */
void routing_start(struct sm *sm);
bool routing_busy(const struct sm *sm);
/* Takes over better `routes` from a quiet time, and members of the report. */
void routing_take_quiet(struct sm *sm, struct routes *routes, struct route_report *report);
/*
 * Called when a routing job is done, whatever its result: notes the deaths of engines and the run
 * that the next job can continue.
 */
void routing_note_job(struct sm *sm, const struct routes *routes,
		      const struct route_report *report);

/* The number of pairs of ports without a path in the last routes that were computed. */
uint64_t routing_unreachable(const struct sm *sm);
bool routing_has_new(const struct sm *sm);
/* Puts new routes in force, if there are some. */
void routing_install(struct sm *sm);
/*
 * Puts tables in force that were made of those in force, around cables that died (patching.c);
 * takes over one reference.
 */
void routing_patch(struct sm *sm, struct routes *routes);
/* The transition from the former routes to those in force; NULL: none. */
const struct transition *routing_transition(const struct sm *sm);
/* The channel dependencies of the routes in force, as computed with them; NULL: none, or taken. */
struct cdg *routing_take_depends(struct sm *sm);
/* Called when switches hold other tables than ours. */
void routing_forget(struct sm *sm);

/*
 * Called when an option of routing changed, or on request: former tables are no model for new ones.
 */
void routing_afresh(struct sm *sm);
bool routing_is_afresh(const struct sm *sm);
/* Has an engine that died some time ago asked again. False: there is none. */
bool routing_ask_engines_again(struct sm *sm);
/* Is a process for routing to be tried again, after none could be started? */
bool routing_try_process_again(struct sm *sm);
/* The time of the next routing_ask_engines_again() or routing_try_process_again(). */
mono_t routing_next(const struct sm *sm);
