// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sweeps: which one is next, and the run through its list of steps.
 *
 *   NONE --wanted, and due--> a step --busy--> (next dispatch) --done--> the next step ... --> NONE
 *                              '------------ it stops the sweep --------------------------------^
 *
 * What asks for a sweep while one runs is remembered, and served once the running one has been
 * finished and applied.
 */
#pragma once

#include "sm/sm.h"

struct step_list;
/* Makes m.sweeper and m.change_age. `lists`: by enum sweep_kind, valid until sweep_free(). */
void sweep_new(struct sm *sm, const struct step_list *lists);
void sweep_free(struct sm *sm);
void sweep_want(struct sm *sm, enum sweep_kind kind, const char *why);
/* sweep_want(), without the least distance between sweeps on demand. */
void sweep_want_now(struct sm *sm, enum sweep_kind kind, const char *why);
bool sweep_is_wanted(const struct sm *sm, enum sweep_kind kind);
/* Gives the reason of a sweep that will come on its own. */
void sweep_because(struct sm *sm, const char *why);
void sweep_state_changed(struct sm *sm);
/* Counts faults of nodes that take part; after silence, or a wait, another sweep comes soon. */
void sweep_fault(struct sm *sm, unsigned n);
void sweep_soft_fault(struct sm *sm);
unsigned sweep_errors(const struct sm *sm);
/* The time at which the present step of the running sweep began. */
mono_t sweep_step_since(const struct sm *sm);
/* The number of SMPs that were answered in the running sweep. */
uint64_t sweep_answers(const struct sm *sm);
/* Is this the heavy sweep that follows the first one of a master, and reads what that took over? */
bool sweep_reads_again(const struct sm *sm);
/* Is the subnet up, and was that logged? */
bool sweep_said_up(const struct sm *sm);
/* Does a heavy sweep follow because of errors? Had the last one errors? Is our own link down? */
bool sweep_retries(const struct sm *sm);
bool sweep_left_errors(const struct sm *sm);
bool sweep_port_is_down(const struct sm *sm);
/*
 * Counts for sm_stats(): a node is silent from now on, or answers again; a routing made tables or
 * none.
 */
void sweep_count_silent(struct sm *sm, bool silent);
void sweep_count_routing(struct sm *sm, bool made_tables);
void sweep_run(struct sm *sm);
mono_t sweep_next(const struct sm *sm);
/* Plans the next periodic sweep, of the configured kind, one interval from now. */
void sweep_plan_timer(struct sm *sm);
/* Are all periodic sweeps heavy? */
bool sweep_all_heavy(const struct sm *sm);
/* The name of the present step of the running sweep. */
const char *sweep_step_name(const struct sm *sm);
