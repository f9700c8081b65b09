// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of sick: findings, links that are gone for them, the policy file. */
#pragma once

#include "sm/health/sick.h"
#include "sm/marks/marks_internal.h"

/* A link with findings. */
struct sick_case {
	uint32_t link;
	enum sick_state state;
	enum health_action action;
	struct health_end at; /* of ISOLATED: the port that is isolated */
	bool manual; /* the action is one of hm_ports_health_policy_file, and to be taken */
	bool hidden; /* discovery does not look through it */
	bool off;    /* its port is noted as disabled */
};

struct sick {
	struct health *judge;
	struct sick_case *all;
	uint32_t n, cap;
	uint32_t n_isolated, n_hidden; /* of these */
	uint32_t *by_link; /* place in `all`, and one; 0: no case */
	uint32_t n_by_link;
	uint32_t cursor; /* of links that are judged in turn */
	mono_t turn_at;
	bool look; /* a sweep ended: which links are down for their health now? */
	struct log_limit log;
	mono_t save_at;
	uint64_t version, saved; /* counts changes; the latest that is in the ledger */
	struct conf_health_ports policy; /* hm_ports_health_policy_file, as it was read last */
	uint64_t policy_hash;
	bool policy_known;
	bool is_of_others; /* the judge has what a master found since, by a file of its own */
	mono_t off_at; /* when disabled ports are looked at */
	bool check_ways; /* a sweep ended: are links that are gone the last way now? */
	bool changed, saving;
};

struct health_rules sick_rules(const struct conf *conf);
enum health_action sick_action(const struct conf *conf, unsigned conds, bool host);

/* ---- sick.c ---- */

/* UINT32_MAX: none is. */
uint32_t sick_case_of(const struct sick *k, uint32_t link);
struct port *sick_port_at(const struct sm *sm, const struct health_end *e); /* NULL: not known */
int64_t sick_time(const struct sm *sm);
void sick_note_change(struct sick *k);
void sick_save_soon(struct sm *sm);
/* The link is used again, whatever is known against it: as the last way to something. */
void sick_spare(struct sm *sm, struct sick_case *c);

/* The administrator calls the link sick, or not any more. */
void sick_call(struct sm *sm, uint32_t link, bool manual);
/* The link at this port, a new one if its cable is there; UINT32_MAX: none. */
uint32_t sick_link_of(struct sm *sm, guid_t node, unsigned port);

/* All that is known against the link is forgotten; `why`, for its log line and event. */
void sick_forget(struct sm *sm, uint32_t link, const char *why);

/* ---- sick_tell.c ---- */

/*
 * One line on the link, in the log and as an event; `what` comes last. `event`: the word of the
 * event, the name of a state or SICK_RETURNED; NULL: there is none.
 */
#define SICK_RETURNED "returned"
void sick_tell(struct sm *sm, uint32_t link, const char *event, const char *what);

/* ---- sick_policy.c ---- */

/* Nothing is counted against it, and nothing done about it. */
bool sick_is_exempt(const struct sm *sm, uint32_t link);
/* The wish of an administrator; HEALTH_IGNORE: there is none. */
enum health_action sick_manual_action(const struct sm *sm, const struct health_verdict *v);
/* Before cases are decided: the file as it is now is in force. */
void sick_policy_settle(struct sm *sm);

/* ---- sick_off.c ---- */

/* The case is isolated, and held in INIT: the rest of what its action asks for is done. */
void sick_go_on(struct sm *sm, struct sick_case *c);
/* The disabled port of this link; NULL: none is. */
const struct health_off *sick_off_of(const struct sick *k, uint32_t link);
/* Between sweeps: ports are disabled, enabled, and found enabled. */
void sick_off_tick(struct sm *sm);
mono_t sick_off_next(const struct sm *sm);
