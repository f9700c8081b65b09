// SPDX-License-Identifier: BSD-2-Clause
/* Shared by the files of sick: findings, isolated and disabled links, the policy file. */
#pragma once

#include "sm/health/sick.h"
#include "sm/marks/marks_internal.h"

/* A link with findings and what is done about it. */
struct sick_case {
	uint32_t link;
	enum sick_state state;
	enum health_action action;
	struct health_end at; /* with ISOLATED: the port that is isolated */
	bool manual; /* set if the action is one of hm_ports_health_policy_file, and to be taken */
	bool hidden; /* set if discovery does not look through it */
	bool off;    /* set if its port is recorded as disabled */
};

struct sick {
	struct health *judge;
	struct sick_case *all;
	uint32_t n, cap;
	uint32_t n_isolated, n_hidden; /* numbers of cases in this state */
	uint32_t *by_link;	       /* index in `all` plus 1, by link; 0: no case */
	uint32_t n_by_link;
	uint32_t cursor; /* next link to be judged in turn */
	mono_t turn_at;
	bool look; /* set if a sweep ended: which links are down now for their health? */
	struct log_limit log;
	mono_t save_at;
	/* version counts changes; saved: the latest that is in the ledger */
	uint64_t version, saved;
	struct conf_health_ports policy; /* hm_ports_health_policy_file as last read */
	uint64_t policy_hash;
	bool policy_known;
	/* set if the judge has findings that a master made by its own policy file */
	bool is_of_others;
	mono_t off_at;	 /* time at which disabled ports are checked */
	bool check_ways; /* set if a sweep ended: is a link that is out the last way now? */
	bool changed, saving;
};

/* ---- sick_case.c ---- */

#define SICK_NO_CASE UINT32_MAX
/* The index of the case of this link; SICK_NO_CASE: there is none. */
uint32_t sick_case_of(const struct sick *k, uint32_t link);
/* The case of this link, a new one if there is none. */
struct sick_case *sick_need_case(struct sick *k, uint32_t link);
struct port *sick_port_at(const struct sm *sm, const struct health_end *e); /* NULL: not known */
/* The switch port of the link; NULL: the cable is not present. */
struct port *sick_switch_end(const struct sm *sm, const struct health_verdict *v);
/* The number of the link at a port; UINT32_MAX: there is no cable. */
uint32_t sick_link_at(struct sm *sm, const struct port *p);
/* The link at this port, a new one if its cable is known; UINT32_MAX: none. */
uint32_t sick_link_of(struct sm *sm, guid_t node, unsigned port);
/* The record of the disabled port of this link; NULL: no port of it is disabled. */
const struct health_off *sick_off_of(const struct sick *k, uint32_t link);
bool sick_off_is_of(const struct health_off *o, const struct health_verdict *v);
int64_t sick_time(const struct sm *sm);
void sick_note_change(struct sick *k);
void sick_save_soon(struct sm *sm);

/* ---- sick_decide.c ---- */

/* The line of the policy file for this link; NULL: none. */
const struct conf_health_port *sick_line_of(const struct sm *sm, const struct health_verdict *v);
/* Finds the wanted action of a case, and takes it. */
void sick_enter(struct sm *sm, struct sick_case *c);
/* Decides on all cases, unless options forbid it now. */
void sick_decide_all(struct sm *sm);
/* Judges a link, and handles a changed verdict. */
void sick_judge_link(struct sm *sm, uint32_t link);
/* Lets the link be used again in spite of its findings, as the last way to something. */
void sick_spare(struct sm *sm, struct sick_case *c);
/* Called when the administrator calls the link sick, or takes that back. */
void sick_call(struct sm *sm, uint32_t link, bool manual);
/* Forgets all findings against the link; `why`: the reason for the log and the event. */
void sick_forget(struct sm *sm, uint32_t link, const char *why);

/* ---- sick_tell.c ---- */

/*
 * Logs a line about the link and raises an event; `what` comes last. `event`: the word of the
 * event, the name of a state or SICK_RETURNED; NULL: no event.
 */
#define SICK_RETURNED "returned"
void sick_tell(struct sm *sm, uint32_t link, const char *event, const char *what);

/* ---- sick_policy.c ---- */

/* Is the link exempt: nothing is counted against it, and nothing done about it? */
bool sick_is_exempt(const struct sm *sm, uint32_t link);
/* Called before cases are decided: puts the present policy file in force. */
void sick_policy_settle(struct sm *sm);

/* ---- sick_off.c ---- */

/* Does what the action of a case asks for beyond isolation, once the link is held in INIT. */
void sick_go_on(struct sm *sm, struct sick_case *c);
/* Between sweeps: disables ports, enables ports, and finds ports that were enabled. */
void sick_off_tick(struct sm *sm);
mono_t sick_off_next(const struct sm *sm);
