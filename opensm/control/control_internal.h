// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the control socket's core: only this folder includes it. */
#pragma once

#include "api/json.h"
#include "control/control.h"

/* Finds the method "org.opensm.Status"; NULL: there is none. */
const struct control_method *control_find(const char *name);

/* Errors of org.opensm; ends with a row without a name. */
struct control_error_name {
	const char *name, *help;
};
extern const struct control_error_name control_errors[];

/* Do parameters fit a type such as "(kind: ?string) -> ()"? False: `err` says why not. */
bool control_fits(const char *type, struct json_object *parameters, struct control_error *err);

/*
 * Is the manager still the master that it was when `term` was noted (api->terms)? False: `err` says
 * that nothing was written. Any thread may ask.
 */
bool control_same_term(const struct daemon_api *api, unsigned term, struct control_error *err);

/* ---- writing answers ---- */

/*
 * The caller: "root", "uid4711"; with `user` among the parameters "root/alice", where `between` is
 * the "/".
 */
#define CONTROL_CALLER_STRLEN 160
void control_name_caller(const struct control_ticket *t, struct json_object *parameters,
			 const char *between, char ret[static CONTROL_CALLER_STRLEN]);

/* Adds an event: kind, time, members of its kind, and a sentence. */
void control_put_event(struct json_object *o, const struct daemon_api *api,
		       const struct sm_event *event);
const char *control_event_name(enum sm_event_kind kind); /* "sweep_done" */
/* Are the parameter `kinds` (may be absent) names of events? False: `err` is set. */
bool control_kinds_are_known(struct json_object *parameters, struct control_error *err);
/* Is it one of the parameter `kinds`, or are there none and it is not "lft"? */
bool control_kind_is_wanted(struct json_object *parameters, const char *kind);

/* The answer of Alarms with at most `most` of them; the caller owns it. */
struct json_object *control_some_alarms(struct sm *sm, unsigned most);

/* ---- control_jobs.c: changes while they go on, and after their end ---- */

/* Begins a job; its number, or 0 where none are kept. */
struct control_job_about {
	char operation[12]; /* "add", "drain" */
	char object[96];    /* partition, or link or node, that is changed */
	char by[CONTROL_CALLER_STRLEN];
};
uint64_t control_job_begin(const struct daemon_api *api, const struct control_job_about *about);
/*
 * Ends it. `error`: the name of the error; NULL: none. `text`: why, or a remark, "" if there is
 * none. `generation`: the one that it made; 0: nothing was changed. Number 0 is fine.
 */
void control_job_end(const struct daemon_api *api, uint64_t number, const char *error,
		     const char *text, uint64_t generation);

struct json_object *control_findings(const struct conf_report *r);

/* ---- the methods of control_methods, and the members of their answers ---- */

extern const struct json_field control_status_fields[], control_check_fields[],
	control_log_level_fields[], control_congestion_fields[], control_security_fields[],
	control_keys_fields[], control_priority_fields[], control_sweeping_fields[],
	control_sa_key_fields[], control_history_fields[], control_change_fields[],
	control_verify_fields[], control_mark_fields[], control_marks_fields[],
	control_ledger_fields[], control_adopted_fields[], control_forgotten_fields[],
	control_health_fields[], control_alarms_fields[], control_forget_alarm_fields[],
	control_counters_fields[], control_smp_fields[],
	control_drift_fields[], control_topology_text_fields[], control_expected_fields[],
	control_written_fields[], control_partitions_fields[], control_finding_fields[],
	control_options_fields[], control_event_fields[], control_sweep_fields[],
	control_monitor_fields[], control_jobs_fields[], control_cables_fields[],
	control_traffic_fields[];

control_answer_fn control_status;				     /* control_status.c */
control_answer_fn control_options, control_check, control_log_level; /* control_conf.c */
control_answer_fn control_set_log_level;
control_answer_fn control_congestion;				  /* control_congestion.c */
control_answer_fn control_security;				  /* control_security.c */
control_answer_fn control_sweep, control_reroute, control_reload; /* control_act.c */
control_answer_fn control_keys, control_rotate_keys;
control_answer_fn control_priority, control_set_priority, control_set_sweeping;
control_answer_fn control_sa_key;
control_follow_fn control_follow_sweep;
control_answer_fn control_history, control_cables; /* control_history.c */
control_answer_fn control_monitor; /* control_events.c */
control_follow_fn control_follow_monitor;
control_answer_fn control_marks;			/* control_marks.c */
control_answer_fn control_health, control_health_clear; /* control_health.c */
control_answer_fn control_alarms, control_forget_alarm; /* control_alarms.c */
control_answer_fn control_counters, control_traffic;	/* control_counters.c */
control_answer_fn control_ledger;			/* control_ledger.c */
control_answer_fn control_jobs;				/* control_jobs.c */

control_begin_fn control_change_partition, control_verify_partitions; /* control_change.c */
control_begin_fn control_mark, control_ledger_adopt, control_ledger_forget, control_smp;
control_leave_fn control_leave_smp;
/*
 * For a method that continues without its caller: t->work begins with a pointer to its ticket,
 * which becomes NULL.
 */
control_leave_fn control_leave;

control_snapshot_fn control_partitions_new; /* control_partitions.c */
control_render_fn control_partitions;
control_drop_fn control_partitions_drop;
control_snapshot_fn control_drift_new, control_topology_text_new; /* control_topology.c */
control_collect_fn control_topology_collect;
control_render_fn control_drift, control_topology_text;
control_drop_fn control_topology_drop;
control_snapshot_fn control_expected_new, control_set_expected_new; /* control_expected.c */
control_collect_fn control_set_expected_collect;
control_render_fn control_expected, control_set_expected;
control_drop_fn control_expected_drop;
