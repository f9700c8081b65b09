// SPDX-License-Identifier: BSD-2-Clause
/* Calls of the control socket and their answers, for tests on tests/lib/control-world.h. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "control/control_internal.h"
#include "tests/lib/control-world.h"
#include "tests/unit/fields-fit.h"

static inline int caller(struct control_world *w)
{
	int fd = cw_call(w);

	assert_true(fd >= 0);
	cw_turn(w);
	return fd;
}

/* What was sent to us and not yet looked at. */
static char in[1 << 20];
static size_t in_at, in_len; /* what came and was not taken yet: from in_at on */

static inline void say(struct control_world *w, int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text) + 1, MSG_NOSIGNAL), strlen(text) + 1);
	cw_turn(w);
}

/* The next answer, to be put; NULL: none. */
static inline struct json_object *hear(struct control_world *w, int fd)
{
	struct json_object *o;
	ssize_t n;
	char *end;

	do {
		cw_turn(w);
		if (in_at > sizeof(in) / 2) {
			memmove(in, in + in_at, in_len);
			in_at = 0;
		}
		n = recv(fd, in + in_at + in_len, sizeof(in) - in_at - in_len, MSG_DONTWAIT);
		in_len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	end = memchr(in + in_at, '\0', in_len);
	if (!end)
		return NULL;
	o = json_tokener_parse(in + in_at);
	assert_non_null(o);
	in_len -= (size_t)(end + 1 - (in + in_at));
	in_at = (size_t)(end + 1 - in);
	return o;
}

static inline bool has_ended(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) == 0;
}

static inline struct json_object *get(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	assert_true(json_object_object_get_ex(o, key, &value));
	return value;
}

static inline const char *str(struct json_object *o, const char *key)
{
	return json_object_get_string(get(o, key));
}

/* Is the answer to a call as its method describes it? */
static inline void assert_described(const char *text, struct json_object *parameters)
{
	struct json_object *call = json_tokener_parse(text);
	const struct control_method *m = control_find(str(call, "method"));
	char why[FIT_WHY] = "";

	if (m && m->gives && !fields_fit(m->gives, parameters, why))
		fail_msg("%s is not answered as described: %s", text, why);
	json_object_put(call);
}

/* The parameters of the answer to one call, to be put. */
static inline struct json_object *ask(struct control_world *w, int fd, const char *text)
{
	struct json_object *o, *parameters;

	say(w, fd, text);
	o = hear(w, fd);
	assert_non_null(o);
	if (json_object_object_get_ex(o, "error", NULL))
		fail_msg("%s: %s", text, json_object_to_json_string(o));
	parameters = json_object_get(get(o, "parameters"));
	json_object_put(o);
	assert_described(text, parameters);
	return parameters;
}

static inline void refused(struct control_world *w, int fd, const char *text, const char *error)
{
	struct json_object *o;

	say(w, fd, text);
	o = hear(w, fd);
	assert_non_null(o);
	assert_string_equal(str(o, "error"), error);
	assert_true(strlen(str(get(o, "parameters"), "text")) > 5);
	json_object_put(o);
}

#define CALL(method, parameters)                                                                   \
	"{\"method\": \"org.opensm." method "\", \"parameters\": " parameters "}"
#define MORE(method, parameters)                                                                   \
	"{\"method\": \"org.opensm." method "\", \"parameters\": " parameters ", \"more\": true}"

