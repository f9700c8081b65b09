// SPDX-License-Identifier: BSD-2-Clause
/* What is told of the instances: STATUS= of opensm.service, and instances.json for opensmctl. */
#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "launch/launcher.h"
#include "launch/journal.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define LINE_MAX_LEN 1024
#define END_MAX_LEN  600
/* systemd drops messages of more than 4096 bytes as a whole, READY=1 included. */
#define STATUS_MAX   2000

/* ---- lines --------------------------------------------------------------------------------- */

void report_end(const struct slot *s, char *ret, size_t cap)
{
	const struct unit_state *now = &s->now;

	ret[0] = '\0';
	if (s->obstacle)
		snprintf(ret, cap, "systemd does not start it: %s", s->obstacle);
	else if (now->hung)
		snprintf(ret, cap, "no sign of life, killed");
	else if (now->faulted)
		snprintf(ret, cap, "%s", now->status);
	else if (now->exit_signal >= 0)
		snprintf(ret, cap, "signal %d (%s)", now->exit_signal, strsignal(now->exit_signal));
	else if (now->exit_status >= 0)
		snprintf(ret, cap, "exit status %d", now->exit_status);
}

static void describe_slot(const struct slot *s, char *ret, size_t cap)
{
	char end[END_MAX_LEN];

	report_end(s, end, sizeof(end));
	switch (s->now.phase) {
	case UNIT_STOPPED:
		snprintf(ret, cap, "%s", s->now.busy ? "starting" : "stopped");
		break;
	case UNIT_STARTING:
		snprintf(ret, cap, "starting");
		break;
	case UNIT_RUNNING:
		snprintf(ret, cap, "%s", s->now.status[0] ? s->now.status : "running");
		break;
	case UNIT_WAITING:
		snprintf(ret, cap, "waiting to start again after %s", end);
		break;
	case UNIT_ENDING:
		snprintf(ret, cap, "ending");
		break;
	case UNIT_PAUSED:
		snprintf(ret, cap, "FAILED again and again, last with %s; tried again every minute",
			 end);
		break;
	case UNIT_FAILED:
		snprintf(ret, cap, "FAILED for good: %s", end);
		break;
	}
}

static bool has_failed(const struct slot *s)
{
	return s->now.phase == UNIT_FAILED || s->now.phase == UNIT_PAUSED;
}

/* "1: MASTER ..." or "2 FAILED for good: ..."; an instance that is alone may have no name. */
static void print_slot(FILE *out, const struct launcher *l, const struct slot *s)
{
	char line[LINE_MAX_LEN];

	describe_slot(s, line, sizeof(line));
	if (l->n > 1 || instance_is_named(s->instance))
		fprintf(out, "%s%s ", s->instance->name, has_failed(s) ? "" : ":");
	fputs(line, out);
}

/* Every instance, or where `all` is false those that do not run. To be freed. */
static char *describe_many(const struct launcher *l, bool all)
{
	size_t n_running = 0, len;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	for (size_t n = 0; n < l->n; n++)
		if (l->slots[n].now.phase == UNIT_RUNNING)
			n_running++;
	if (!all)
		fprintf(out, "%zu of %zu instances running", n_running, l->n);
	else if (l->n > 1)
		fprintf(out, "%zu instances: ", l->n);
	for (size_t n = 0; n < l->n; n++) {
		if (!all && l->slots[n].now.phase == UNIT_RUNNING)
			continue;
		fputs(all && !n ? "" : "; ", out);
		print_slot(out, l, &l->slots[n]);
	}
	fclose(out);
	return text;
}

static char *cut_text(char *text)
{
	static const char dots[] = "...";

	if (strlen(text) > STATUS_MAX)
		memcpy(text + STATUS_MAX - sizeof(dots), dots, sizeof(dots));
	return text;
}

/* The instances in a line: those that do not run, where all of them are too many. To be freed. */
static char *describe_all(const struct launcher *l)
{
	char *text;

	if (l->n == 0)
		return xasprintf("no instance (%s)%s", l->choice.rule,
				 l->choice.all_ports ? ": no InfiniBand port yet, waiting" : "");
	text = describe_many(l, true);
	if (strlen(text) <= STATUS_MAX)
		return text;
	free(text);
	return describe_many(l, false);
}

static char *report_status(const struct launcher *l)
{
	_cleanup_free_ char *all = NULL;

	if (l->stopping)
		return xstrdup("Ending");
	if (!l->choice.rule)
		return cut_text(xasprintf("nothing is started: %s", l->refused));
	all = describe_all(l);
	return cut_text(xasprintf("%s%s%s", all,
				  l->refused ? "; the reload took nothing over: " : "",
				  l->refused ? l->refused : ""));
}

/* ---- instances.json ------------------------------------------------------------------------ */

static void add_text(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, value ? json_object_new_string(value) : NULL);
}

static void add_number(struct json_object *to, const char *key, int value)
{
	json_object_object_add(to, key, value >= 0 ? json_object_new_int(value) : NULL);
}

/* "2026-11-30T06:35:00Z"; 0: null */
static void add_time(struct json_object *to, const char *key, int64_t seconds)
{
	time_t t = (time_t)seconds;
	char text[40] = "";
	struct tm tm;

	if (seconds && gmtime_r(&t, &tm))
		strftime(text, sizeof(text), "%FT%TZ", &tm);
	add_text(to, key, text[0] ? text : NULL);
}

static struct json_object *instance_json(const struct slot *s, const struct launch_paths *p)
{
	struct json_object *o = json_object_new_object();
	const struct instance *i = s->instance;
	_cleanup_free_ char *base = xasprintf("%s/opensm.conf", p->conf_dir);
	_cleanup_free_ char *guid = i->guid ? xasprintf("0x%016" PRIx64, i->guid) : NULL;
	char line[LINE_MAX_LEN], end[END_MAX_LEN];

	describe_slot(s, line, sizeof(line));
	report_end(s, end, sizeof(end));
	add_text(o, "name", i->name);
	add_text(o, "unit", s->unit);
	add_text(o, "state", unit_phase_name(s->now.phase));
	add_time(o, "since", s->now.since / MONO_S);
	json_object_object_add(o, "failing", json_object_new_boolean(has_failed(s)));
	add_number(o, "pid", s->now.pid ? s->now.pid : -1);
	add_text(o, "conf", i->conf ? i->conf : base);
	add_text(o, "guid", guid);
	add_number(o, "priority", (int)i->priority);
	add_number(o, "restarts", (int)s->now.restarts);
	add_text(o, "last_exit", end[0] ? end : NULL);
	add_number(o, "exit_status", s->now.exit_status);
	add_number(o, "exit_signal", s->now.exit_signal);
	add_text(o, "status", line);
	add_text(o, "log", i->log);
	add_text(o, "cache_dir", i->cache_dir);
	add_text(o, "dump_dir", i->dump_dir);
	return o;
}

/* An ended service has no instances. To be freed. */
static char *report_state(const struct launcher *l)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	size_t n_shown = l->stopping ? 0 : l->n;
	char *text;

	add_text(o, "rule", l->choice.rule);
	add_text(o, "error", l->refused);
	if (!n_shown)
		add_text(o, "status", l->status);
	json_object_object_add(o, "strict", json_object_new_boolean(l->choice.strict));
	json_object_object_add(o, "instances", list);
	for (size_t n = 0; n < n_shown; n++)
		json_object_array_add(list, instance_json(&l->slots[n], l->paths));
	text = xstrdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
								 JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return text;
}

static void write_state(const struct launcher *l, const char *text)
{
	_cleanup_free_ char *path = xasprintf("%s/instances.json", l->paths->run_dir);
	struct file_replace *f = file_replace_open(path, false);

	if (!f) {
		journal_text(LOG_WARNING, "cannot write %s: %m", path);
		return;
	}
	fprintf(file_replace_stream(f), "%s\n", text);
	file_replace_commit(f, false);
}

/* ---- telling ------------------------------------------------------------------------------- */

static void notify_systemd(struct launcher *l, const char *status)
{
	bool ready = l->owes_ready && !l->stopping && !launcher_is_busy(l);

	if (ready)
		l->owes_ready = false;
	if (ready || !str_equal(status, l->status))
		sd_notifyf(0, "%sSTATUS=%s", ready ? "READY=1\n" : "", status);
}

void report_update(struct launcher *l)
{
	char *status = report_status(l), *state;

	notify_systemd(l, status);
	free(l->status);
	l->status = status;
	state = report_state(l);
	if (!str_equal(state, l->state))
		write_state(l, state);
	free(l->state);
	l->state = state;
}
