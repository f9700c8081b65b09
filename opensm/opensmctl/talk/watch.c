// SPDX-License-Identifier: BSD-2-Clause
/*
 * --watch: a command again and again. On a terminal the screen is drawn anew; elsewhere a line with
 * the time stands in front of each round, and with -j each round is a line of JSON. A daemon that
 * goes away is waited for.
 *
 * A round is the command as it would run alone, with a connection of its own.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/client.h"
#include "opensmctl/talk/ctl.h"
#include "util/mem.h"
#include "util/str.h"

#define TITLE_STRLEN 200

/* One round. */
struct round {
	char *text; /* on stdout */
	int status;
	struct json_object *said; /* on stderr; NULL: nothing */
	int64_t time;
};

struct watch {
	struct ctl *c;
	const struct ctl_command *command;
	int argc;
	char **argv;
	char title[TITLE_STRLEN]; /* "opensmctl ports --down" */
	char *last;		  /* text of the last round that had one */
	int64_t gone;		  /* time since which no daemon answers; 0: one does */
	bool has_answered;
	int pid; /* greatest process id of the daemons of the last round that had answers */
};

/* Ends as if the last round had been the only one; nothing is half printed. */
static void end(int signal)
{
	_exit(CTL_OK);
}

static const char *said_text(struct json_object *said)
{
	struct json_object *o = js_get(said, js_has(said, "error") ? "error" : "warning");

	return js_str(o, "text");
}

/* False: the output cannot be kept. */
static bool run_round(struct watch *w, struct round *ret)
{
	struct ctl_captured captured;
	struct ctl_seen seen = { 0 };
	struct ctl one;

	*ret = (struct round){ .time = time(NULL) };
	ctl_measure(w->c);
	if (!ctl_capture(&captured))
		return false;
	one = *w->c;
	one.seen = &seen;
	ret->status = ctl_run(&one, w->command, w->argc, w->argv);
	client_close(one.client);
	ret->text = ctl_captured(&captured);
	if (w->pid && seen.pid && seen.pid != w->pid)
		ctl_fail(w->c, "Restarted", NULL, "the daemon was started again, as process %d",
			 seen.pid);
	if (seen.pid)
		w->pid = seen.pid;
	ret->said = ctl_take_error(w->c, ret->status);
	return true;
}

static void clear_round(struct round *r)
{
	free(r->text);
	json_object_put(r->said);
}

/* Has no daemon answered, so that there is nothing to show? */
static bool is_lost(const struct round *r)
{
	return r->status == CTL_NO_DAEMON && !r->text[0];
}

/* ---- on a terminal --------------------------------------------------------------------------- */

/* Number of rows that a line takes. */
static unsigned rows_of(const struct ctl *c, const char *line)
{
	size_t columns = ctl_columns(line);

	return c->width && columns ? (unsigned)((columns + c->width - 1) / c->width) : 1;
}

/* Prints as many lines as there is room for, and how many there is none for. */
static void draw_text(const struct ctl *c, const char *text, unsigned rows)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *rest = copy, *line;
	unsigned left = rows, hidden = 0;

	while ((line = strsep(&rest, "\n")) && (rest || line[0])) {
		unsigned n = rows_of(c, line);

		if (hidden || (n >= left && c->height)) {
			hidden++;
			continue;
		}
		printf("%s\033[K\n", line);
		left -= n;
	}
	if (hidden)
		printf("(%u more line%s)\033[K\n", hidden, hidden == 1 ? "" : "s");
}

static void draw(const struct watch *w, const struct round *r)
{
	const struct ctl *c = w->c;
	char now[CTL_TIME_STRLEN], since[CTL_TIME_STRLEN];
	unsigned rows = c->height > 4 ? c->height - 3 : 1;

	printf("\033[H%s%s, every %u s: %s%s\033[K\n", ctl_color(c, CTL_DIM),
	       ctl_time(r->time, now), c->watch, w->title, ctl_color(c, CTL_PLAIN));
	if (w->gone)
		printf("%sno daemon answers since %s; it is asked again%s\033[K\n",
		       ctl_color(c, CTL_BAD), ctl_time(w->gone, since), ctl_color(c, CTL_PLAIN));
	else if (r->said)
		printf("%s%s%s\033[K\n", ctl_color(c, CTL_WARN), said_text(r->said),
		       ctl_color(c, CTL_PLAIN));
	else
		printf("\033[K\n");
	draw_text(c, w->last ? w->last : "", rows);
	printf("\033[J");
}

/* ---- elsewhere ------------------------------------------------------------------------------- */

static void print_json_line(const struct watch *w, const struct round *r)
{
	struct json_object *o = json_object_new_object();
	struct json_object *answer = json_tokener_parse(r->text);
	char now[CTL_TIME_STRLEN];

	json_object_object_add(o, "time", json_object_new_string(ctl_time_utc(r->time, now)));
	json_object_object_add(o, "exit_status", json_object_new_int(r->status));
	if (answer)
		json_object_object_add(o, "answer", answer);
	if (js_has(r->said, "error"))
		json_object_object_add(o, "error", json_object_get(js_get(r->said, "error")));
	if (js_has(r->said, "warning"))
		json_object_object_add(o, "warning", json_object_get(js_get(r->said, "warning")));
	printf("%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

static void print_round(const struct watch *w, const struct round *r)
{
	char now[CTL_TIME_STRLEN];

	if (w->c->json) {
		print_json_line(w, r);
		return;
	}
	printf("--- %s%s%s\n%s", ctl_time(r->time, now), r->said ? " " : "",
	       r->said ? said_text(r->said) : "", r->text);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void show_round(struct watch *w, const struct round *r)
{
	bool was_gone = w->gone;

	w->gone = !is_lost(r) ? 0 : w->gone ? w->gone : r->time;
	if (r->text[0]) {
		free(w->last);
		w->last = xstrdup(r->text);
	}
	if (w->c->is_terminal && !w->c->json)
		draw(w, r);
	else if (!w->gone || !was_gone) /* that it is gone is said once */
		print_round(w, r);
}

/* Is there nothing that would be another in a moment? */
static bool is_in_vain(const struct watch *w, const struct round *r)
{
	return r->status == CTL_USAGE ||
	       (!w->has_answered && r->status == CTL_REFUSED && !r->text[0]);
}

static int watch(struct watch *w)
{
	if (w->c->is_terminal && !w->c->json)
		printf("\033[2J");
	for (;;) {
		struct round r;
		int status;

		if (!run_round(w, &r))
			return ctl_refuse(w->c, "the output cannot be kept: there is no memory");
		status = r.status;
		if (is_in_vain(w, &r)) {
			json_object_array_add(w->c->messages,
					      json_object_get(js_get(r.said, "error")));
			clear_round(&r);
			return status;
		}
		w->has_answered |= !is_lost(&r);
		show_round(w, &r);
		clear_round(&r);
		if (fflush(stdout) != 0)
			return CTL_OK; /* nothing reads it any more */
		sleep(w->c->watch);
	}
}

int ctl_watch(struct ctl *c, const struct ctl_command *command, int argc, char **argv)
{
	struct watch w = { .c = c, .command = command, .argc = argc, .argv = argv };
	int r, skip;
	size_t len;

	command = ctl_meant(command, argc, argv, &skip);
	if (command->once || (command->scope == CTL_ACTS && !command->shows) ||
	    (command->scope == CTL_SHOWS_BARE && argc))
		return ctl_usage(c, NULL, "--watch is for commands that show something, once");
	len = (size_t)snprintf(w.title, sizeof(w.title), "opensmctl %s", w.command->name);
	for (int i = 0; i < argc && len < sizeof(w.title); i++)
		len += (size_t)snprintf(w.title + len, sizeof(w.title) - len, " %s", argv[i]);
	signal(SIGINT, end);
	signal(SIGTERM, end);
	r = watch(&w);
	free(w.last);
	return r;
}
