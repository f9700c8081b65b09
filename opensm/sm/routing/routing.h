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
struct routing;
struct transition;

/* With sm->m.route_memory and sm->m.replacements. */
void routing_new(struct sm *sm, const struct sm_paths *paths);
void routing_free(struct sm *sm);
/* Of the fabric as known now; new routes are made, unless the old ones are right. */
void routing_start(struct sm *sm);
bool routing_busy(const struct sm *sm);
/* Better ones for a quiet time. Takes `routes`, and what is to be taken of the report. */
void routing_take_quiet(struct sm *sm, struct routes *routes, struct route_report *report);
/*
 * Notes the causes of death of a routing job and the state that the next one can go on from, when
 * it is done, whatever its result.
 */
void routing_note_job(struct sm *sm, const struct routes *routes,
		      const struct route_report *report);

bool routing_has_new(const struct sm *sm);
/* New routes, if there are some, are those in force. */
void routing_install(struct sm *sm);
/* The way from the former routes to those in force; NULL: none. */
const struct transition *routing_transition(const struct sm *sm);
/* Dependencies of the routes in force, found on the way; NULL: none, or they were taken. */
struct cdg *routing_take_depends(struct sm *sm);
/* Switches hold other tables than ours. */
void routing_forget(struct sm *sm);

/*
 * An option of routing changed, or it was asked for: former tables are no model for the next ones.
 */
void routing_afresh(struct sm *sm);
bool routing_is_afresh(const struct sm *sm);
/* An engine that died some time ago has its chance. False: there is none. */
bool routing_ask_engines_again(struct sm *sm);
/* There could be no process for routing some time ago, and that is to be tried now. */
bool routing_try_process_again(struct sm *sm);
/* When either has to be asked. */
mono_t routing_next(const struct sm *sm);
