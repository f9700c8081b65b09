// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the control socket's core: only this folder includes it. */
#pragma once

#include "api/json.h"
#include "control/control.h"

/* "org.opensm.Status"; NULL: there is none. */
const struct control_method *control_find(const char *name);

/* Errors of org.opensm; a row without a name ends them. */
struct control_error_name {
	const char *name, *help;
};
extern const struct control_error_name control_errors[];

/* Do parameters fit a type such as "(kind: ?string) -> ()"? False: `err` says why not. */
bool control_fits(const char *type, struct json_object *parameters, struct control_error *err);

/*
 * Is the manager the master that it was when `term` was noted (api->terms)? False: `err`, which
 * says that nothing was written. Any thread may ask.
 */
bool control_same_term(const struct daemon_api *api, unsigned term, struct control_error *err);

/* ---- writing answers ---- */

/* "2026-11-22T05:40:00.123456Z", from microseconds since 1970. */
void control_add_time(struct json_object *o, const char *key, int64_t realtime);

/* An event: kind, time, members of its kind, and a sentence. */
void control_put_event(struct json_object *o, const struct daemon_api *api,
		       const struct sm_event *event);
const char *control_event_name(enum sm_event_kind kind); /* "sweep_done" */

/* Findings of the configuration, into an array. */
void control_put_findings(struct json_object *all, const struct conf_report *r);

/* ---- the methods of control_methods ---- */

typedef struct json_object *control_answer_fn(const struct daemon_api *api,
					      struct json_object *parameters,
					      struct control_error *err);
typedef struct json_object *control_follow_fn(const struct control_following *f,
					      const struct sm_event *event, unsigned *state,
					      bool *ret_last);
control_answer_fn control_status; /* control_status.c */
control_answer_fn control_options, control_check, control_log_level; /* control_conf.c */
control_answer_fn control_set_log_level;
control_answer_fn control_congestion; /* control_congestion.c */
control_answer_fn control_security; /* control_security.c */
control_answer_fn control_sweep, control_reroute, control_reload; /* control_act.c */
control_answer_fn control_keys, control_rotate_keys;
control_answer_fn control_priority, control_set_priority, control_set_sweeping;
control_answer_fn control_sa_key;
control_follow_fn control_follow_sweep;
control_answer_fn control_history; /* control_history.c */
control_answer_fn control_monitor; /* control_events.c */
control_follow_fn control_follow_monitor;

typedef bool control_begin_fn(struct control_ticket *t, struct json_object *parameters,
			      struct control_error *err);
typedef void control_leave_fn(struct control_ticket *t);
control_begin_fn control_change_partition, control_verify_partitions; /* control_change.c */
control_leave_fn control_leave_change, control_leave_verify;
control_begin_fn control_mark; /* control_marks.c */
control_leave_fn control_leave_mark;
control_answer_fn control_marks;
control_answer_fn control_ledger; /* control_ledger.c */
control_begin_fn control_ledger_adopt, control_ledger_forget;
control_leave_fn control_leave_ledger;
control_answer_fn control_health, control_health_clear; /* control_health.c */
control_answer_fn control_counters; /* control_counters.c */
control_begin_fn control_smp; /* control_smp.c */
control_leave_fn control_leave_smp;
/* control_topology.c */
void *control_drift_new(const struct control_method *m, const struct daemon_api *api,
			struct json_object *parameters, struct control_error *err);
struct json_object *control_drift(void *snapshot, struct control_error *err);
void *control_topology_text_new(const struct control_method *m, const struct daemon_api *api,
				struct json_object *parameters, struct control_error *err);
enum control_collected control_topology_collect(void *snapshot, const struct daemon_api *api,
						struct control_error *err);
struct json_object *control_topology_text(void *snapshot, struct control_error *err);
void control_topology_drop(void *snapshot);
/* control_expected.c */
void *control_expected_new(const struct control_method *m, const struct daemon_api *api,
			   struct json_object *parameters, struct control_error *err);
void *control_set_expected_new(const struct control_method *m, const struct daemon_api *api,
			       struct json_object *parameters, struct control_error *err);
enum control_collected control_set_expected_collect(void *snapshot, const struct daemon_api *api,
						    struct control_error *err);
struct json_object *control_expected(void *snapshot, struct control_error *err);
struct json_object *control_set_expected(void *snapshot, struct control_error *err);
void control_expected_drop(void *snapshot);
void *control_partitions_new(const struct control_method *m, const struct daemon_api *api,
			     struct json_object *parameters,
			     struct control_error *err); /* control_partitions.c */
struct json_object *control_partitions(void *snapshot, struct control_error *err);
void control_partitions_drop(void *snapshot);
