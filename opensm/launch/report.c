// SPDX-License-Identifier: BSD-2-Clause
/* What is told of the instances: STATUS=, instances.json, the title. */
#include "launch/launcher.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "launch/say.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

#define LINE_MAX_LEN 1024
/* systemd drops messages of more than 4096 bytes as a whole, READY=1 included. */
#define STATUS_MAX 2000

static char *append(char *text, const char *more)
{
	char *longer = xasprintf("%s%s", text, more);

	free(text);
	return longer;
}

/* "1: MASTER ..." or "2 FAILED for good: ...", to be freed. */
static char *describe_one(const struct instance *i)
{
	char line[LINE_MAX_LEN];

	instance_describe(i, line, sizeof(line));
	return xasprintf("%s%s %s", i->plan.name, i->life.state == SUPERVISE_FAILED ? "" : ":",
			 line);
}

static char *describe_all(const struct launcher *l)
{
	char *text = xasprintf("%zu instances", l->n);

	for (size_t n = 0; n < l->n; n++) {
		_cleanup_free_ char *one = describe_one(l->items[n]);

		text = append(text, n ? "; " : ": ");
		text = append(text, one);
	}
	return text;
}

/* For our own command line: those that have no process, and so no line of their own. To be freed. */
static char *report_title(const struct launcher *l)
{
	size_t running = 0;
	char *text;

	for (size_t n = 0; n < l->n; n++)
		running += supervise_has_process(&l->items[n]->life);
	text = xasprintf("%zu of %zu instance%s running", running, l->n, l->n == 1 ? "" : "s");
	for (size_t n = 0; n < l->n; n++) {
		_cleanup_free_ char *one = NULL;

		if (supervise_has_process(&l->items[n]->life))
			continue;
		one = describe_one(l->items[n]);
		text = append(text, "; ");
		text = append(text, one);
	}
	return text;
}

static char *cut(char *text)
{
	static const char dots[] = "...";

	if (strlen(text) > STATUS_MAX)
		memcpy(text + STATUS_MAX - sizeof(dots), dots, sizeof(dots));
	return text;
}

/* Every instance if that is a line that can be sent, else those that need a look. To be freed. */
static char *describe_many(const struct launcher *l)
{
	char *text = describe_all(l);

	if (strlen(text) <= STATUS_MAX)
		return text;
	free(text);
	return report_title(l);
}

char *report_status(const struct launcher *l)
{
	char line[LINE_MAX_LEN], *text;

	if (!l->choice.rule_text)
		return cut(xasprintf("nothing is started: %s", l->refused));
	if (l->stopping) {
		text = xstrdup("Ending");
	} else if (l->n == 0) {
		text = xasprintf("no instance (%s)%s", l->choice.rule_text,
				 l->choice.all_ports ? ": no InfiniBand port yet, waiting" : "");
	} else if (l->n == 1) {
		instance_describe(l->items[0], line, sizeof(line));
		text = plan_is_named(&l->items[0]->plan) ? describe_one(l->items[0]) :
							   xstrdup(line);
	} else {
		text = describe_many(l);
	}
	if (l->refused) {
		text = append(text, "; the reload took nothing over: ");
		text = append(text, l->refused);
	}
	return cut(text);
}

/* ---- instances.json ------------------------------------------------------------------------ */

static void put(struct json_object *to, const char *key, const char *value)
{
	json_object_object_add(to, key, value ? json_object_new_string(value) : NULL);
}

static struct json_object *instance_json(const struct instance *i, const struct launch_paths *p)
{
	struct json_object *o = json_object_new_object();
	_cleanup_free_ char *base = xasprintf("%s/opensm.conf", p->conf_dir);
	_cleanup_free_ char *guid = i->guid ? xasprintf("0x%016" PRIx64, i->guid) : NULL;
	char line[LINE_MAX_LEN];

	instance_describe(i, line, sizeof(line));
	put(o, "name", i->plan.name);
	put(o, "state", supervise_name(i->life.state));
	json_object_object_add(o, "pid", i->pid ? json_object_new_int(i->pid) : NULL);
	put(o, "conf", i->plan.conf ? i->plan.conf : base);
	put(o, "guid", guid);
	json_object_object_add(o, "priority", json_object_new_int((int)i->priority));
	json_object_object_add(o, "restarts", json_object_new_int((int)i->life.restarts));
	put(o, "last_exit", i->last[0] ? i->last : NULL);
	put(o, "status", line);
	put(o, "log", i->log);
	put(o, "cache_dir", i->cache_dir);
	put(o, "dump_dir", i->dump_dir);
	return o;
}

char *report_state(const struct launcher *l)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	char *text;

	put(o, "rule", l->choice.rule_text);
	put(o, "error", l->refused);
	json_object_object_add(o, "strict", json_object_new_boolean(l->choice.strict));
	json_object_object_add(o, "instances", list);
	for (size_t n = 0; n < l->n; n++)
		json_object_array_add(list, instance_json(l->items[n], l->paths));
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
		say(LOG_WARNING, "cannot write %s: %m", path);
		return;
	}
	fprintf(file_replace_stream(f), "%s\n", text);
	file_replace_commit(f, false);
}

/* ---- telling ------------------------------------------------------------------------------- */

static bool all_settled(const struct launcher *l)
{
	for (size_t n = 0; n < l->n; n++)
		if (!supervise_is_settled(&l->items[n]->life))
			return false;
	return true;
}

static bool reload_done(const struct launcher *l)
{
	if (launcher_now(l) >= l->reload_limit)
		return true;
	for (size_t n = 0; n < l->n; n++)
		if (l->items[n]->reloading || l->items[n]->again)
			return false;
	return all_settled(l);
}

static void tell_systemd(struct launcher *l, const char *status)
{
	bool owed = false;

	if (!l->ready && !l->stopping)
		owed = l->ready = all_settled(l);
	if (l->reloading && !l->stopping && reload_done(l)) {
		l->reloading = false;
		owed = true;
	}
	if (owed || !str_equal(status, l->status))
		sd_notifyf(0, "%sSTATUS=%s", owed ? "READY=1\n" : "", status);
}

void report_tell(struct launcher *l)
{
	char *status = report_status(l), *state = report_state(l);
	_cleanup_free_ char *title = report_title(l);

	tell_systemd(l, status);
	title_set(&l->title, title);
	if (!str_equal(state, l->state))
		write_state(l, state);
	free(l->status);
	free(l->state);
	l->status = status;
	l->state = state;
}
