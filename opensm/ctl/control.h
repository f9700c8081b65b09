// SPDX-License-Identifier: BSD-2-Clause
/*
 * The control socket's conversation: varlink's wire format (JSON objects, each ended by a NUL byte), so
 * that opensmctl, varlinkctl and a script of twenty lines all can talk to us.
 *
 *   {"method": "org.opensm.Status", "parameters": {}}
 *   {"parameters": {...}}            or  {"error": "org.opensm.NotFound", "parameters": {"text": "..."}}
 *
 * Here: the table of methods, and one call from its parameters to its answer. Knows no descriptor.
 * Keys are snake_case and stay; GUIDs are strings "0x%016x"; LIDs and ports are numbers.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>

#include "ctl/scene.h"

enum control_right {
	CONTROL_READ, /* whoever may connect */
	CONTROL_ACT,  /* root, and who runs the daemon */
};

/* Why a call has no answer. `name` NULL: it has one. */
struct control_error {
	/* Last part of the error's name: "NotFound", "InvalidParameter", "NotReady" (control_errors). */
	const char *name;
	char text[300]; /* a sentence for the user */
};
void control_fail(struct control_error *err, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct control_following {
	const struct scene *scene;
	struct json_object *parameters;
	bool missed; /* whoever follows does not keep up: events were left out */
};

struct control_method {
	const char *name; /* "Status" of org.opensm.Status */
	const char *help; /* one line */
	const char *type; /* its varlink type: "(name: ?string) -> (nodes: []object)" */
	enum control_right right;
	bool only_more; /* a call that does not say "more" is refused */
	/*
	 * Either at once, on the main thread, for what is small whatever the fabric: an object that the
	 * caller puts, or NULL with `err` filled. `parameters` is an object, perhaps an empty one.
	 */
	struct json_object *(*answer)(const struct scene *scene, struct json_object *parameters,
				      struct control_error *err);
	/*
	 * Or in three steps, for what grows with the fabric: copied on the main thread (NULL: `err`),
	 * rendered by a worker, freed on the main thread.
	 */
	void *(*snapshot)(const struct scene *scene, struct json_object *parameters,
			  struct control_error *err);
	struct json_object *(*render)(void *snapshot, struct control_error *err);
	void (*drop)(void *snapshot);
	/*
	 * May be NULL. Of a call that says "more", behind answer(): told of every event until it sets `ret_last`;
	 * each object it returns is an answer too. `*state` is 0 at first, and its own. The call of answer() is
	 * then the request alone: its object is sent only if it is not empty. With `event` NULL: the manager is
	 * gone; what waits for it ends.
	 */
	struct json_object *(*follow)(const struct control_following *f, const struct sm_event *event,
				      unsigned *state, bool *ret_last);
};

/* Each ends with a row without a name. */
extern const struct control_method control_methods[]; /* the manager: status, sweep, priority ... */
extern const struct control_method show_methods[];    /* the subnet: topology, nodes, routes ... */

/* ---- one call, from its text to its answer's ---- */

struct control_call {
	const struct control_method *method;
	struct json_object *parameters; /* never NULL */
	bool more, oneway;
};
#define CONTROL_MESSAGE_MAX (64u * 1024)

/*
 * Understands a message. 0, then `ret` is to be cleared; -EBADMSG: it is not of this language, and nothing
 * that follows can be; -EINVAL: a call that cannot be. `err` says why.
 */
int control_parse(const char *text, size_t len, struct control_call *ret, struct control_error *err);
void control_call_clear(struct control_call *call);
/* What is sent, with its NUL; to be freed. `answer` is taken. */
char *control_reply(struct json_object *answer, bool continues, size_t *ret_len);
char *control_error_reply(const struct control_error *err, size_t *ret_len);
/* The interface in varlink's language; to be freed. */
char *control_description(void);
