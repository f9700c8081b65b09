// SPDX-License-Identifier: BSD-2-Clause
/* Between the files of the control socket's core: only ctl/control*.c includes it. */
#pragma once

#include "ctl/control.h"
#include "ctl/json.h"

/* "org.opensm.Status"; NULL: there is none. */
const struct control_method *control_find(const char *name);

/* Errors of org.opensm; a row without a name ends them. */
struct control_error_name {
	const char *name, *help;
};
extern const struct control_error_name control_errors[];

/*
 * Are these parameters those of the type ("(kind: ?string) -> ()"), by name and by kind? False: `err`
 * says what is wrong.
 */
bool control_fits(const char *type, struct json_object *parameters, struct control_error *err);

/* ---- writing answers ---- */

/* "2026-11-22T05:40:00.123456Z", from microseconds since 1970. */
void control_add_time(struct json_object *o, const char *key, int64_t realtime);
/* The time at which the monotonic clock stood at `at`. */
int64_t control_realtime(const struct scene *scene, mono_t at);

/* An event: kind, time, what belongs to it, and a sentence. */
struct json_object *control_event(const struct scene *scene, const struct sm_event *event);
const char *control_event_name(enum sm_event_kind kind); /* "sweep_done" */

/* Findings of the configuration, as an array. */
struct json_object *control_findings(const struct conf_report *r);

/* ---- the methods of control_methods ---- */

typedef struct json_object *control_answer_fn(const struct scene *scene,
					      struct json_object *parameters,
					      struct control_error *err);
typedef struct json_object *control_follow_fn(const struct control_following *f,
					      const struct sm_event *event, unsigned *state,
					      bool *ret_last);
control_answer_fn control_status; /* control_status.c */
control_answer_fn control_options, control_check, control_log_level; /* control_conf.c */
control_answer_fn control_set_log_level;
control_answer_fn control_sweep, control_reroute, control_reload; /* control_act.c */
control_answer_fn control_priority, control_set_priority, control_set_sweeping;
control_follow_fn control_follow_sweep;
control_answer_fn control_monitor; /* control_events.c */
control_follow_fn control_follow_monitor;
