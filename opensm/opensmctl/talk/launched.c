// SPDX-License-Identifier: BSD-2-Clause
/*
 * instances.json, as opensm/launch/report.c writes it. It may be of a launcher that was killed:
 * processes are looked for.
 */
#include "opensmctl/talk/launched.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "util/file.h"
#include "util/mem.h"

#define FILE_MAX_LEN (1024 * 1024)

struct json_object *launched_read(const struct ctl *c)
{
	_cleanup_free_ char *path = xasprintf("%s/instances.json", c->run_dir), *text = NULL;
	struct json_object *o = NULL;

	if (file_read(path, FILE_MAX_LEN, &text, NULL) == 0)
		o = json_tokener_parse(text);
	if (json_object_is_type(o, json_type_object))
		return o;
	json_object_put(o);
	return json_object_new_object();
}

struct json_object *launched_find(struct json_object *launched, const char *name)
{
	struct json_object *list = js_get(launched, "instances");

	for (size_t i = 0; i < js_len(list); i++)
		if (!strcmp(js_str(js_at(list, i), "name"), name))
			return js_at(list, i);
	return NULL;
}

bool launched_fails(struct json_object *instance)
{
	return js_bool(instance, "failing") || !strcmp(js_str(instance, "state"), "failed");
}

/* The process that runs for it is there, as far as can be seen. */
static bool has_process(struct json_object *instance)
{
	pid_t pid = (pid_t)js_int(instance, "pid");

	return pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH);
}

const char *launched_state(struct json_object *instance)
{
	const char *state = js_str(instance, "state");

	return !strcmp(state, "running") && !has_process(instance) ? "gone" : state;
}

const char *launched_why_none(struct json_object *launched)
{
	const char *status = js_str(launched, "status");

	return status[0] ? status : js_str(launched, "error");
}

const char *launched_since(struct json_object *instance, char ret[static CTL_TIME_STRLEN])
{
	return ctl_time_of(instance, "since", ret);
}
