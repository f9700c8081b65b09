// SPDX-License-Identifier: BSD-2-Clause
/*
 * Errors: text on stderr at once; with -j one object on stderr when the command ends,
 * {"error": ...}, or {"warning": ...} where the command was done all the same.
 */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"
#include "util/str.h"

static bool is_collected(const struct ctl *c)
{
	return (c->json || c->watch) && c->messages;
}

static void print_text(const char *text, const char *usage)
{
	fflush(stdout);
	fprintf(stderr, "opensmctl: %s\n", text);
	if (usage)
		fprintf(stderr, "Usage: %s\n", usage);
}

static void collect(const struct ctl *c, const char *name, const char *text, const char *usage,
		    struct json_object *more)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_object_new_string(name));
	json_object_object_add(o, "text", json_object_new_string(text));
	if (usage)
		json_object_object_add(o, "usage", json_object_new_string(usage));
	json_object_array_add(c->messages, o);
	if (!json_object_is_type(more, json_type_object))
		return;
	json_object_object_foreach(more, key, member)
	{
		if (!js_has(o, key))
			json_object_object_add(o, key, json_object_get(member));
	}
}

static void say_error(const struct ctl *c, const char *name, const char *usage,
		      struct json_object *more, const char *fmt, va_list args)
{
	_cleanup_free_ char *text = xvasprintf(fmt, args);

	if (is_collected(c))
		collect(c, name, text, usage, more);
	else
		print_text(text, usage);
}

int ctl_refuse(const struct ctl *c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say_error(c, "Failed", NULL, NULL, fmt, args);
	va_end(args);
	return CTL_REFUSED;
}

int ctl_fail(const struct ctl *c, const char *name, struct json_object *more, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say_error(c, name, NULL, more, fmt, args);
	va_end(args);
	return !strcmp(name, CTL_NO_DAEMON_NAME) ? CTL_NO_DAEMON : CTL_REFUSED;
}

int ctl_usage(const struct ctl *c, const struct ctl_command *command, const char *fmt, ...)
{
	_cleanup_free_ char *usage =
		command ? xasprintf("opensmctl [OPTIONS] %s%s%s", command->name,
				    command->arguments[0] ? " " : "", command->arguments)
			: xstrdup("opensmctl help");
	va_list args;

	va_start(args, fmt);
	say_error(c, "Usage", usage, NULL, fmt, args);
	va_end(args);
	return CTL_USAGE;
}

/* The first one is the error, what was said after it is in "more". To be put. */
static struct json_object *gather(struct json_object *messages)
{
	struct json_object *first = json_object_get(js_at(messages, 0));
	struct json_object *more = json_object_new_array();

	for (size_t i = 1; i < js_len(messages); i++)
		json_object_array_add(more, json_object_get(js_get(js_at(messages, i), "text")));
	if (js_len(more))
		json_object_object_add(first, "more", json_object_get(more));
	json_object_put(more);
	return first;
}

struct json_object *ctl_take_error(struct ctl *c, int status)
{
	struct json_object *first, *o;

	if (!js_len(c->messages))
		return NULL;
	first = gather(c->messages);
	json_object_object_add(first, "exit_status", json_object_new_int(status));
	o = json_object_new_object();
	json_object_object_add(o, status == CTL_OK ? "warning" : "error", first);
	json_object_put(c->messages);
	c->messages = json_object_new_array();
	return o;
}

/* An error that was collected, though text is asked for: by --watch. */
static void print_later(struct json_object *error)
{
	struct json_object *more = js_get(error, "more");

	print_text(js_str(error, "text"), js_has(error, "usage") ? js_str(error, "usage") : NULL);
	for (size_t i = 0; i < js_len(more); i++)
		print_text(json_object_get_string(js_at(more, i)), NULL);
}

void ctl_print_error(struct ctl *c, int status)
{
	struct json_object *o = ctl_take_error(c, status);

	if (o && c->json)
		fprintf(stderr, "%s\n",
			json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE));
	else if (o)
		print_later(js_get(o, "error"));
	json_object_put(o);
}
