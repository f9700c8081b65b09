// SPDX-License-Identifier: BSD-2-Clause
/* Events: as they happen, a line each, until the process is ended; and the last that happened. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"
#include "opensmctl/talk/ctl.h"
#include "util/mem.h"
#include "util/str.h"

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
	if (!strcmp(kind, "health"))
		return strcmp(js_str(event, "what"), "returned") ? CTL_WARN : CTL_GOOD;
	return !strcmp(kind, "trap") || !strcmp(kind, "manager") ? CTL_WARN : CTL_PLAIN;
}

static bool on_event(void *arg, struct json_object *reply)
{
	const struct ctl *c = arg;
	struct json_object *event = js_get(reply, "event");
	char time[CTL_TIME_STRLEN];
	enum ctl_color color = event ? color_of(event) : CTL_PLAIN;

	if (js_bool(reply, "missed"))
		ctl_refuse(c, "events came faster than they were read: some were left out here");
	if (!event)
		return true;
	if (c->json) {
		if (c->turn)
			json_object_object_add(event, "instance", json_object_new_string(c->turn));
		ctl_print_json(c, event);
	} else {
		if (c->timestamps)
			printf("[%s] ", ctl_time_of(event, "time", time));
		if (c->turn)
			printf("%s: ", c->turn);
		printf("%s%s%s: %s\n", color ? ctl_color(c, color) : "", js_str(event, "kind"),
		       color ? ctl_color(c, CTL_PLAIN) : "", js_str(event, "text"));
	}
	/* Is stdout still read? If not, the command ends. */
	return fflush(stdout) == 0;
}

/* ---- several instances ----------------------------------------------------------------------- */

/* Prints the events that have arrived from this instance. False: stdout has no reader any more. */
static bool print_waiting(struct ctl *one)
{
	struct json_object *reply;
	bool goes_on = true;
	int r = 0;

	while (goes_on && (r = ctl_next_more(one, &reply)) == 0) {
		goes_on = on_event(one, js_get(reply, "parameters"));
		json_object_put(reply);
	}
	if (r < 0 && r != -EAGAIN) {
		ctl_refuse(one, "instance %s is not monitored any more", one->turn);
		one->client = client_close(one->client);
	}
	return goes_on;
}

/*
 * Prints events of all instances as they arrive, until none is left, or stdout has no reader.
 * Returns the exit code.
 */
static int monitor_all(struct ctl *ones, size_t n)
{
	_cleanup_free_ struct pollfd *fds = xcalloc(n + 1, sizeof(*fds));

	for (;;) {
		size_t open = 0;

		fds[n] = (struct pollfd){ .fd = STDOUT_FILENO };
		for (size_t i = 0; i < n; i++) {
			fds[i] = (struct pollfd){ .fd = ones[i].client ? client_fd(ones[i].client)
								       : -1,
						  .events = POLLIN };
			if (ones[i].client)
				open++;
		}
		if (!open)
			return CTL_NO_DAEMON;
		if (poll(fds, n + 1, -1) < 0 && errno != EINTR)
			return CTL_REFUSED;
		if (fds[n].revents)
			return CTL_OK;
		for (size_t i = 0; i < n; i++)
			if (fds[i].revents && !print_waiting(&ones[i]))
				return CTL_OK;
	}
}

static int monitor_several(struct ctl *c, const struct instances *found)
{
	_cleanup_free_ struct ctl *ones = xcalloc(found->n, sizeof(*ones));
	int r = CTL_OK;

	for (size_t i = 0; i < found->n; i++) {
		ones[i] = *c;
		ones[i].instance = found->all[i].path;
		ones[i].turn = found->all[i].name;
		if (ctl_begin_more(&ones[i], "Monitor", json_object_get(c->words)) < 0)
			r = ones[i].exit_code;
	}
	if (r == CTL_OK)
		r = monitor_all(ones, found->n);
	for (size_t i = 0; i < found->n; i++)
		client_close(ones[i].client);
	return r;
}

static int monitor(struct ctl *c)
{
	struct instances found = { 0 };
	int r;

	if (str_equal(c->instance, "all"))
		c->instance = NULL;
	if (!c->instance && instances_find(c->run_dir, &found) < 0)
		found.n = 0;
	if (found.n > 1)
		r = monitor_several(c, &found);
	else
		r = ctl_call_more(c, "Monitor", json_object_get(c->words), on_event, c);
	instances_clear(&found);
	return r;
}

#define KINDS                                                                                      \
	"state sweep discovered routes lft subnet_up node link trap manager sa_dumped "            \
	"port_down security topology health mark alarm patch"
static const struct ctl_word kind_words[] = { { CTL_ALL, .parameter = "kinds" }, { 0 } };

const struct ctl_command ctl_monitor = {
	.name = "monitor",
	.arguments = "[KIND]...",
	.help = "prints events as they happen, one per line",
	.words = KINDS,
	.scope = CTL_SEES_ALL,
	.once = true,
	.document = "Event",
	.takes = kind_words,
	.with = monitor,
};

/* ---- the past -------------------------------------------------------------------------------- */

static void print_history(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	static const struct column columns[] = {
		{ "TIME", COLUMN_TIME, "time", .drop = 1 },
		{ "EVENT", COLUMN_STR, "kind", .color = CTL_NAME },
		{ "TEXT", COLUMN_STR, "text", .folds = true },
		{ 0 },
	};
	struct json_object *events = js_get(answer, "events");
	char n[64];

	if (!json_object_array_length(events) && !c->oneline)
		puts(js_has(asked, "kinds") ? "no such event" : "no event");
	else
		ctl_print_table(c, columns, events);
	if (js_int(answer, "forgotten") && !c->oneline)
		printf("%s in front of these: the manager keeps the last 512\n",
		       ctl_plural(js_int(answer, "forgotten"), "event", n));
}

const struct ctl_command ctl_history = {
	.name = "history",
	.arguments = "[KIND]...",
	.help = "the last events, the latest first",
	.words = KINDS,
	.scope = CTL_SHOWS,
	.method = "Events",
	.takes = kind_words,
	.print = print_history,
};
