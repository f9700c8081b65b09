// SPDX-License-Identifier: BSD-2-Clause
/*
 * The protocol of the control socket: varlink's wire format (JSON objects, each ended by a NUL
 * byte), so that opensmctl, varlinkctl and short scripts can use it.
 *
 *   {"method": "org.opensm.Status", "parameters": {}}
 *   {"parameters": {...}}            or  {"error": "org.opensm.NotFound", "parameters": {"text":
 *                                        "..."}}
 *
 * Here: one call from its text to the text of its answer, and the methods about the manager. No
 * descriptor is used here.
 */
#pragma once

#include <sys/types.h>

#include "api/control_method.h"

/* Methods about the manager: status, sweep, priority ... Ends with a row without a name. */
extern const struct control_method control_methods[];

/* Keeps an event for the method Events; called by the owner of `api`. */
void control_remember(struct daemon_api *api, const struct sm_event *event);
/* Keeps the growth of the error counters of a port, for the history of its cable. */
void control_remember_errors(struct daemon_api *api, guid_t node_guid, uint8_t port,
			     const uint64_t deltas[PERF_ERRORS]);
/* Frees what was kept of cables; the owner of `api` calls it at the end. */
void control_forget(struct daemon_api *api);

/*
 * The last changes that callers have asked for: members of `api`, made before the first call.
 * `started_realtime`: seconds since 1970, as jobs are numbered from there on.
 */
struct control_jobs *control_jobs_new(int64_t started_realtime);
struct control_jobs *control_jobs_free(struct control_jobs *jobs); /* NULL is fine; returns NULL */

/* ---- one call, from its text to the text of its answer ---- */

struct control_call {
	const struct control_method *method;
	struct json_object *parameters; /* never NULL */
	bool more, oneway;
};
#define CONTROL_MESSAGE_MAX (64u * 1024)
/* Limit for methods with the right CONTROL_TENANT: 65,536 members of a partition fit. */
#define CONTROL_LONG_MAX    (2u * 1024 * 1024)

/*
 * Parses a message. 0: `ret` is to be cleared; -EBADMSG: this is not varlink, and the rest of the
 * stream cannot be either; -EINVAL: the call is not possible. On failure `err` says why.
 */
int control_parse(const char *text, size_t len, struct control_call *ret,
		  struct control_error *err);
void control_call_clear(struct control_call *call);
/* The bytes to send, with their NUL byte; to be freed. `answer` is taken. */
char *control_reply(struct json_object *answer, bool continues, size_t *ret_len);
char *control_error_reply(struct control_error *err, size_t *ret_len);
/* Finds the group of this name or number; may ask a directory service. False: there is none. */
bool control_group_id(const char *name, gid_t *ret);
/*
 * The name of a user in /etc/passwd, printable, "" if there is none. Directory services are not
 * asked, as they may be slow. Returns `ret`.
 */
char *control_user_name(uid_t uid, char ret[static 64]);
/* The description of the interface in varlink's language; to be freed. */
char *control_description(void);
