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
	CONTROL_TENANT, /* CONTROL_ACT, and members of control_tenant_group */
	CONTROL_LINKS,	/* CONTROL_ACT, and members of control_links_group */
	CONTROL_ACT,	/* root, and the user that runs the daemon */
	CONTROL_RIGHTS
};

/* Error of a call. `name` NULL: there is none. */
struct control_error {
	/* last part of the error's name: "NotFound", "InvalidParameter" (control_errors) */
	const char *name;
	char text[300]; /* a sentence for the user */
	/* Further members of the error; NULL: none. control_error_reply() takes it. */
	struct json_object *more;
};
/* Fills `err` and returns NULL, which is also false: for `return`. */
void *control_fail(struct control_error *err, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The manager; NULL with `err`: no port is open. */
struct sm *control_manager(const struct daemon_api *api, struct control_error *err);

/* A parameter of a varlink type: "name: ?string". */
struct control_parameter {
	char name[40], type[40];
	bool optional;
};
/* Reads the first parameter at `at`, a type or a former result. NULL: there are no more. */
const char *control_next_parameter(const char *at, struct control_parameter *ret);

/* A call that says "more", while events follow its answer. */
struct control_following {
	const struct daemon_api *api;
	struct json_object *parameters;
	bool missed; /* set if events were left out, as the caller reads too slowly */
};

/*
 * A call that is answered later. It belongs to the listener and is valid until end(), or until the
 * method's leave(). Main thread only.
 */
struct control_ticket {
	const struct daemon_api *api;
	unsigned uid;	  /* of the caller */
	const char *name; /* name of the caller for logs, "pid 4711 (uid 0)"; owned by the stream */
	void *work;	  /* state of the method; NULL at first */
	/* Called once, never from within begin(): `answer` is taken, or NULL with `err`. */
	void (*end)(struct control_ticket *t, struct json_object *answer,
		    struct control_error *err);
	void *owner; /* private to the listener */
};

/* Result of one turn of collect(). */
enum control_collected {
	CONTROL_COLLECTED,
	CONTROL_MORE,	/* more is left: another turn, after other work that waits */
	CONTROL_FAILED, /* failed with `err`: the snapshot is to be freed */
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
	const struct json_field *gives; /* members of the answer; NULL: `type` lists them */
	enum control_right right;
	bool only_more; /* set if a call without "more" is refused */
	/*
	 * Either at once, on the main thread, for answers of bounded size: returns an object that
	 * the caller puts, or NULL with `err`. `parameters` is an object, perhaps an empty one.
	 */
	control_answer_fn *answer;
	/*
	 * Or in steps, for documents that grow with the fabric: begun on the main thread (NULL:
	 * `err`), collected there a part at a time between other work, rendered by a worker, freed
	 * on the main thread. snapshot() collects the parts in `needs` (show_need). collect() NULL:
	 * snapshot() collects all. If the manager goes, a snapshot that is not complete is freed
	 * without collect().
	 */
	unsigned needs;
	control_snapshot_fn *snapshot;
	control_collect_fn *collect;
	control_render_fn *render;
	control_drop_fn *drop;
	/*
	 * Or later: begin() starts what takes its time (false: `err`, and end() is not called) and
	 * copies what it needs of the parameters, which end with it. leave(): the caller, or the
	 * manager, is gone; end() must not be called any more.
	 */
	control_begin_fn *begin;
	control_leave_fn *leave;
	/*
	 * May be NULL. For a call that says "more", after answer(): called with every event until
	 * it sets `ret_last`; each object it returns is an answer, too. `*state` is 0 at first, and
	 * private to the call. The object of answer() is then sent only if it is not empty. `event`
	 * NULL: the manager is gone; calls that wait for it end.
	 */
	control_follow_fn *follow;
};
