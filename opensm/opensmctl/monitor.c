// SPDX-License-Identifier: BSD-2-Clause
/* Events, a line each, until somebody ends us. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "opensmctl/commands.h"

static void print_time(int64_t realtime_us)
{
	time_t seconds = (time_t)(realtime_us / 1000000);
	char text[40];
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	printf("[%s.%06d] ", text, (int)(realtime_us % 1000000));
}

static enum ctl_color color_of(struct json_object *event)
{
	const char *kind = js_str(event, "kind");

	if (!strcmp(kind, "node"))
		return js_bool(event, "came") ? CTL_GOOD : CTL_BAD;
	if (!strcmp(kind, "link"))
		return js_bool(event, "up") ? CTL_GOOD : CTL_BAD;
	if (!strcmp(kind, "subnet_up"))
		return js_int(event, "errors") ? CTL_WARN : CTL_GOOD;
	if (!strcmp(kind, "port_down"))
		return CTL_BAD;
	return !strcmp(kind, "trap") || !strcmp(kind, "manager") ? CTL_WARN : CTL_PLAIN;
}

static bool on_event(void *arg, struct json_object *reply)
{
	const struct ctl *c = arg;
	struct json_object *event = js_get(reply, "event");
	enum ctl_color color = event ? color_of(event) : CTL_PLAIN;

	if (js_bool(reply, "missed"))
		fputs("opensmctl: we do not keep up: some events were left out here\n", stderr);
	if (!event)
		return true;
	if (c->json) {
		ctl_print_json(c, event);
	} else {
		if (c->timestamps)
			print_time(js_int(event, "realtime_us"));
		printf("%s%s%s: %s\n", color ? ctl_color(c, color) : "", js_str(event, "kind"),
		       color ? ctl_color(c, CTL_PLAIN) : "", js_str(event, "text"));
	}
	/* Whoever reads us through a pipe and goes away ends us. */
	return fflush(stdout) == 0;
}

int cmd_monitor(struct ctl *c, int argc, char **argv)
{
	struct json_object *parameters = json_object_new_object(), *kinds = json_object_new_array();

	for (int i = 0; i < argc; i++)
		json_object_array_add(kinds, json_object_new_string(argv[i]));
	json_object_object_add(parameters, "kinds", kinds);
	return ctl_call_more(c, "Monitor", parameters, on_event, c);
}
