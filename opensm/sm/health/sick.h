// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links that are not in order, and what is done about them: events and counters are told to the
 * judge (health/judge.h); what it finds is reported, or the link is isolated as an administrator
 * would do it (marks.h), by the options hm_.
 *
 *   in order --a finding--> REPORTED   the action is report, or the link is not one to be isolated
 *                           DRY_RUN    it would be isolated; hm_dry_run
 *                           HOST_LINK  the same, and hm_isolate_host_links is FALSE
 *                           CAPPED     the same, and hm_max_isolated are isolated
 *                           SPARED     the last way to anything, or the manager's own
 *                           ISOLATED   not routed over, then taken down to INIT and held there;
 *                                      by its action, then not read (no_discover), or
 *                                      disabled at the switch nearer to the manager
 *   each --no finding for hm_probation_secs, or cleared--> in order
 *
 * A line of hm_ports_health_policy_file calls a link sick whatever is found, or exempts it.
 *
 * What the judge knows is in the ledger, a row a link (rows/sick_rows.h), so that windows of days
 * go on after a restart, and with another master.
 */
#pragma once

#include "health/judge.h"
#include "sm/sm.h"

enum sick_state {
	SICK_UNDECIDED,
	SICK_REPORTED,
	SICK_DRY_RUN,
	SICK_HOST_LINK,
	SICK_CAPPED,
	SICK_SPARED,
	SICK_ISOLATED,
};
#define SICK_STATES (SICK_ISOLATED + 1)

/* A link with findings, as shown. */
struct sick_shown {
	const struct health_verdict *verdict; /* valid until the next dispatch */
	enum sick_state state;
	enum health_action action;  /* action that the options name */
	const struct port *port[2]; /* ports of verdict->end; NULL: not known now */
	char why[HEALTH_WHY_STRLEN];
};
/* The n-th link with findings (from 0), in no order; false: there are no more. */
bool sm_sick_at(const struct sm *sm, unsigned n, struct sick_shown *ret);
const char *sm_sick_state_name(enum sick_state state); /* "dry_run" */
/* The action taken, in words: "isolated", "disabled"; "would be isolated: hm_dry_run is TRUE" */
#define SICK_WORDS_STRLEN 128
char *sm_sick_words(enum sick_state state, enum health_action action, char ret[SICK_WORDS_STRLEN]);
/* The number of links in this state. */
unsigned sm_sick_links(const struct sm *sm, enum sick_state state);
unsigned sm_sick_cap(const struct sm *sm);
/* Takes the growth of a port's counters from the performance manager. No effect unless MASTER. */
void sm_port_counts(struct sm *sm, guid_t node, unsigned port, const struct port_counts *c);
/* Forgets all that was counted of the link at this port. False: nothing is known of it. */
bool sm_sick_clear(struct sm *sm, guid_t node, unsigned port);

/* ---- the machine ---- */

void sick_new(struct sm *sm, const struct sm_paths *paths);
void sick_free(struct sm *sm);
/* Is this port isolated by no_discover, so that discovery does not look through it? */
bool sick_is_hidden(const struct sm *sm, const struct port *p);
/* PortInfo was read; `before`: the former state of its link. Before out_of_use_link_seen(). */
void sick_link_seen(struct sm *sm, struct port *p, unsigned before);
void sick_complaint(struct sm *sm, struct port *p);
/*
 * Called when an SMP failed as `cond` (enum health_cond) says, by the fault of the port's device
 * (`behind` false) or of the device behind the port. Counted against the cable of the port, or the
 * cable that leads to the switch.
 */
void sick_bad_answer(struct sm *sm, struct port *p, unsigned cond, bool behind);
void sick_node_goes(struct sm *sm, struct node *n);
/* Called before out_of_use_settle(): decides upon the findings known at the start. */
void sick_settle(struct sm *sm);
void sick_sweep_ended(struct sm *sm);
void sick_state_changed(struct sm *sm);
void sick_tick(struct sm *sm);
mono_t sick_next(const struct sm *sm);

/* ---- its rows of the ledger (rows/sick_rows.c) ---- */

struct health *sick_judge(const struct sm *sm);
/* The time at which changes are to be stored; MONO_NEVER: none, or they are being stored. */
mono_t sick_due(const struct sm *sm);
/* Called when the judge is being stored. Returns the version to pass to sick_stored(). */
uint64_t sick_storing(struct sm *sm);
/* Called when it is stored; `more`: there were more changes than can be stored at once. */
void sick_stored(struct sm *sm, uint64_t version, bool more);
void sick_not_stored(struct sm *sm);
/* The judge has taken over findings of other managers, or those from before the start. */
void sick_took(struct sm *sm);
