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
	const char *name; /* last part of the varlink error: "NotFound", "InvalidParameter", "NotReady" */
	char text[300];   /* a sentence for the user */
};
void control_fail(struct control_error *err, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct control_method {
	const char *name; /* "Status" of org.opensm.Status */
	const char *help; /* one line */
	const char *type; /* its varlink type: "(name: ?string) -> (nodes: []object)" */
	enum control_right right;
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
};

/* Each ends with a row without a name. */
extern const struct control_method control_methods[]; /* the manager: status, sweep, priority ... */
extern const struct control_method show_methods[];    /* the subnet: topology, nodes, routes ... */
