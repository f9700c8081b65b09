// SPDX-License-Identifier: BSD-2-Clause
/*
 * The control socket's conversation: varlink's wire format (JSON objects, each ended by a NUL
 * byte), so that opensmctl, varlinkctl and a script of twenty lines all can talk to us.
 *
 *   {"method": "org.opensm.Status", "parameters": {}}
 *   {"parameters": {...}}            or  {"error": "org.opensm.NotFound", "parameters": {"text":
 *                                        "..."}}
 *
 * Here: one call from its text to its answer's, and the methods about the manager. Knows no
 * descriptor.
 */
#pragma once

#include <sys/types.h>

#include "api/control_method.h"

/* The manager: status, sweep, priority ... Ends with a row without a name. */
extern const struct control_method control_methods[];

/* Keeps an event for the method Events: for the owner of `api`. */
void control_remember(struct daemon_api *api, const struct sm_event *event);

/* ---- one call, from its text to its answer's ---- */

struct control_call {
	const struct control_method *method;
	struct json_object *parameters; /* never NULL */
	bool more, oneway;
};
#define CONTROL_MESSAGE_MAX (64u * 1024)
/* Of methods with the right CONTROL_TENANT: 65,536 members of a partition. */
#define CONTROL_LONG_MAX    (2u * 1024 * 1024)

/*
 * Understands a message. 0, then `ret` is to be cleared; -EBADMSG: it is not of this language, and
 * nothing that follows can be; -EINVAL: a call that cannot be. `err` says why.
 */
int control_parse(const char *text, size_t len, struct control_call *ret,
		  struct control_error *err);
void control_call_clear(struct control_call *call);
/* The bytes to send, with their NUL; to be freed. `answer` is taken. */
char *control_reply(struct json_object *answer, bool continues, size_t *ret_len);
char *control_error_reply(struct control_error *err, size_t *ret_len);
/* The group of this name or number; may ask a directory service. False: there is none. */
bool control_group_id(const char *name, gid_t *ret);
/*
 * The name of a user in /etc/passwd, printable, "" if there is none: a directory service is not
 * asked, it may take its time. Returns `ret`.
 */
char *control_user_name(uid_t uid, char ret[static 64]);
/* The interface in varlink's language; to be freed. */
char *control_description(void);
