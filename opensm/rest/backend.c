// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs in several threads at once; they share nothing but the path of the socket. A connection is
 * cheap, and one that lives on would have to be told from one whose manager was restarted.
 */
#include "rest/backend.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/json.h"
#include "client/client.h"
#include "util/mem.h"
#include "util/str.h"

#define RUN_DIR "/run/opensm"

static mono_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (mono_t)ts.tv_sec * MONO_S + ts.tv_nsec / 1000;
}

/* In ms, 0 if it is past. */
static int left_until(mono_t until)
{
	mono_t left = until - clock_now();

	return left > 0 ? (int)(left / MONO_MS) : 0;
}

/* NULL: for `return`. */
static void *fail(struct rest_error *err, const char *name, const char *text)
{
	snprintf(err->name, sizeof(err->name), "%s", name);
	snprintf(err->text, sizeof(err->text), "%s", text);
	return NULL;
}

/* The path to be freed, or NULL and `err`. */
static char *find_socket(const char *socket, mono_t until, struct rest_error *err)
{
	struct instances all;
	char *path = NULL;

	if (socket)
		return xstrdup(socket);
	if (instances_find_within(RUN_DIR, left_until(until), &all) < 0)
		return fail(err, "Unreachable", "no subnet manager runs on this host");
	if (all.n == 1)
		path = xstrdup(all.all[0].path);
	else
		fail(err, "Unreachable",
		     all.n ? "several subnet managers run on this host: opensm-rest.conf must name "
			     "an instance" :
			     "no subnet manager runs on this host");
	instances_clear(&all);
	return path;
}

static struct client *open_client(const char *socket, mono_t until, struct rest_error *err)
{
	_cleanup_free_ char *path = find_socket(socket, until, err);
	struct client *cl = path ? client_open_within(path, left_until(until)) : NULL;
	char text[256];

	if (!path || cl)
		return cl;
	snprintf(text, sizeof(text), "the subnet manager does not answer at %.150s: %s", path,
		 strerror(errno));
	return fail(err, "Unreachable", text);
}

/* "org.opensm.NotFound": "NotFound". */
static void copy_error(struct json_object *name, struct json_object *parameters,
		       struct rest_error *err)
{
	const char *whole = json_object_get_string(name), *dot = strrchr(whole, '.'), *text;

	text = json_object_is_type(parameters, json_type_object) ? json_str(parameters, "text") :
								   NULL;
	fail(err, dot ? dot + 1 : whole, text ? text : whole);
	str_printable(err->text, strlen(err->text), err->text, sizeof(err->text));
	if (!text)
		return;
	err->changed = json_object_get_boolean(json_object_object_get(parameters, "changed"));
	err->generation =
		(uint64_t)json_object_get_int64(json_object_object_get(parameters, "generation"));
}

static struct json_object *unwrap(struct json_object *answer, struct rest_error *err)
{
	struct json_object *name = json_object_object_get(answer, "error");
	struct json_object *parameters = json_object_object_get(answer, "parameters"), *ret = NULL;

	if (json_object_is_type(name, json_type_string))
		copy_error(name, parameters, err);
	else if (json_object_is_type(parameters, json_type_object))
		ret = json_object_get(parameters);
	else
		fail(err, "Unreachable", "the subnet manager's answer cannot be understood");
	json_object_put(answer);
	return ret;
}

/* The manager has not read the whole call, and so does nothing. */
static void *fail_unsent(struct rest_error *err)
{
	return fail(err, "Unreachable",
		    "the subnet manager was not asked: the time of the request is over");
}

static struct json_object *ask(struct client *cl, const struct rest_request *q, const char *name,
			       struct json_object *parameters, struct rest_error *err)
{
	int left = left_until(q->until), r;
	struct json_object *answer;

	if (left <= 0)
		return fail_unsent(err);
	r = client_send_within(cl, name, parameters, false, left);
	if (r == -ETIMEDOUT)
		return fail_unsent(err);
	if (r >= 0)
		r = client_receive_until(cl, left_until(q->until), &answer);
	if (r == -ETIMEDOUT)
		return fail(err, "Timeout", "the subnet manager did not answer in time");
	if (r < 0)
		return fail(err, "Unreachable", "the subnet manager ended the connection");
	return unwrap(answer, err);
}

static struct json_object *call(struct rest_backend *b, const struct rest_request *q,
				const char *method, struct json_object *parameters,
				struct rest_error *err)
{
	_cleanup_free_ char *name = xasprintf("org.opensm.%s", method);
	struct client *cl = open_client(b->arg, q->until, err);
	struct json_object *ret = cl ? ask(cl, q, name, parameters, err) : NULL;

	client_close(cl);
	json_object_put(parameters);
	return ret;
}

static struct client *follow(struct rest_backend *b, const char *method, mono_t until,
			     struct rest_error *err)
{
	_cleanup_free_ char *name = xasprintf("org.opensm.%s", method);
	struct client *cl = open_client(b->arg, until, err);

	if (cl && client_send_within(cl, name, NULL, true, left_until(until)) < 0) {
		client_close(cl);
		return fail_unsent(err);
	}
	return cl;
}

void backend_open(struct rest_backend *b, const char *socket)
{
	assert(b);
	*b = (struct rest_backend){ .call = call, .follow = follow, .arg = as_owner(socket) };
}
