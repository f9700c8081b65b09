// SPDX-License-Identifier: BSD-2-Clause
/*
 * A method of the control socket: a row of control_methods (control/control.h: the manager)
 * or of show_methods (show/show.h: the subnet).
 *
 * Keys are snake_case and stay; GUIDs are strings "0x%016x"; LIDs and ports are numbers.
 */
#pragma once

#include <json-c/json.h>
#include <stdbool.h>

#include "api/daemon_api.h"
#include "api/fields.h"

enum control_right {
	CONTROL_READ,	/* every caller that may connect */
	CONTROL_TENANT, /* those of CONTROL_ACT, and members of control_tenant_group */
	CONTROL_LINKS,	/* those of CONTROL_ACT, and members of control_links_group */
	CONTROL_ACT,	/* root, and the user that runs the daemon */
	CONTROL_RIGHTS
};

/* Why a call has no answer. `name` NULL: it has one. */
struct control_error {
	const char *name; /* its last part: "NotFound", "InvalidParameter" (control_errors) */
	char text[300]; /* a sentence for the user */
	/* Members beside the text; NULL: none. control_error_reply() takes it. */
	struct json_object *more;
};
/* NULL, which is false: for `return`. */
void *control_fail(struct control_error *err, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The manager; NULL: `err`, as no port is open. */
struct sm *control_manager(const struct daemon_api *api, struct control_error *err);

/* A parameter of a varlink type: "name: ?string". */
struct control_parameter {
	char name[40], type[40];
	bool optional;
};
/* The first one of `at`, which is a type, or a former result; NULL: there is none. */
const char *control_next_parameter(const char *at, struct control_parameter *ret);

struct control_following {
	const struct daemon_api *api;
	struct json_object *parameters;
	bool missed; /* the caller does not keep up: events were left out */
};

/*
 * A call that is answered later. Of the listener: good until end(), or until the method's leave().
 * Main thread only.
 */
struct control_ticket {
	const struct daemon_api *api;
	unsigned uid;	  /* of the caller */
	const char *name; /* of the caller, for logs: "pid 4711 (uid 0)"; the stream's */
	void *work;	  /* the method's, NULL at first */
	/* Once, never from within begin(): `answer` is taken, or NULL and `err` says why not. */
	void (*end)(struct control_ticket *t, struct json_object *answer,
		    struct control_error *err);
	void *owner; /* the listener's */
};

/* What a turn of collect() came to. */
enum control_collected {
	CONTROL_COLLECTED,
	CONTROL_MORE,	/* there is more: another turn, after what else waits */
	CONTROL_FAILED, /* `err`: the snapshot is to be freed */
};

struct control_method;

/* The functions of a method; struct control_method says when each is called. */
typedef struct json_object *control_answer_fn(const struct daemon_api *api,
					      struct json_object *parameters,
					      struct control_error *err);
typedef void *control_snapshot_fn(const struct control_method *m, const struct daemon_api *api,
				  struct json_object *parameters, struct control_error *err);
typedef enum control_collected control_collect_fn(void *snapshot, const struct daemon_api *api,
						  struct control_error *err);
typedef struct json_object *control_render_fn(void *snapshot, struct control_error *err);
typedef void control_drop_fn(void *snapshot);
typedef bool control_begin_fn(struct control_ticket *t, struct json_object *parameters,
			      struct control_error *err);
typedef void control_leave_fn(struct control_ticket *t);
typedef struct json_object *control_follow_fn(const struct control_following *f,
					      const struct sm_event *event, unsigned *state,
					      bool *ret_last);

struct control_method {
	const char *name; /* "Status" of org.opensm.Status */
	const char *help; /* one line */
	const char *type; /* its varlink type: "(name: ?string) -> (nodes: []object)" */
	const struct json_field *gives; /* members of the answer; NULL: `type` has them */
	enum control_right right;
	bool only_more; /* a call that does not say "more" is refused */
	/*
	 * Either at once, on the main thread, for answers whose size is bounded: an object that the
	 * caller puts, or NULL with `err` filled. `parameters` is an object, perhaps an empty one.
	 */
	control_answer_fn *answer;
	/*
	 * Or in steps, for documents that grow with the fabric: begun on the main thread (NULL:
	 * `err`), collected there a part at a time between other work, rendered by a worker, freed
	 * on the main thread. snapshot() collects the parts in `needs` (show_need). collect() NULL:
	 * snapshot() has all. When the manager goes, what is not collected as a whole yet is freed,
	 * and collect() not called.
	 */
	unsigned needs;
	control_snapshot_fn *snapshot;
	control_collect_fn *collect;
	control_render_fn *render;
	control_drop_fn *drop;
	/*
	 * Or later: begin() asks for what takes its time (false: `err`, and no more will come) and
	 * copies what it needs of the parameters, which end with it. leave(): the caller, or the
	 * manager, is gone; end() must not be called any more.
	 */
	control_begin_fn *begin;
	control_leave_fn *leave;
	/*
	 * May be NULL. Of a call that says "more", behind answer(): told of every event until it
	 * sets `ret_last`; each object it returns is an answer too. `*state` is 0 at first, and its
	 * own. The call of answer() is then the request alone: its object is sent only if it is not
	 * empty. With `event` NULL: the manager is gone; calls that wait for it end.
	 */
	control_follow_fn *follow;
};
