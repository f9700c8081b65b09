// SPDX-License-Identifier: BSD-2-Clause
/* The state of the manager and the subnet, the most important facts first. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "opensmctl/talk/launched.h"
#include "opensmctl/talk/ctl.h"
#include "util/mem.h"
#include "util/str.h"

#define TEXT_COLUMN 17 /* the column in which texts behind keys begin */

/* Prints a line "  key   text"; with -o all lines of a record are joined to one. */
static void print_line(const struct ctl *c, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void print_line(const struct ctl *c, const char *key, const char *fmt, ...)
{
	va_list args;

	if (c->oneline)
		printf("%s %s%s", key[0] ? " \\" : "", key, key[0] ? " " : "");
	else
		printf("\n  %s%-14s%s ", ctl_color(c, CTL_DIM), key, ctl_color(c, CTL_PLAIN));
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
}

static enum ctl_color state_color(const char *state)
{
	if (!strcmp(state, "MASTER") || !strcmp(state, "STANDBY"))
		return CTL_GOOD;
	return !strcmp(state, "DISCOVERING") ? CTL_WARN : CTL_BAD;
}

/* The kinds of alarms that endanger the whole subnet: they are in the first line. */
static bool is_grave(struct json_object *alarm)
{
	static const char *const kinds[] = { "two_masters", "ledger" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_equal(js_str(alarm, "kind"), kinds[i]))
			return true;
	return false;
}

static void print_grave(const struct ctl *c, struct json_object *o)
{
	struct json_object *all = js_get(js_get(o, "alarms"), "alarms");

	for (size_t i = 0; i < js_len(all); i++)
		if (is_grave(js_at(all, i)))
			printf(", %s%s%s", ctl_color(c, CTL_BAD), js_str(js_at(all, i), "cause"),
			       ctl_color(c, CTL_PLAIN));
}

static void print_head(const struct ctl *c, struct json_object *o)
{
	const char *state = js_str(o, "state");
	char up[32];

	printf("%s%s%s: %s%s%s", ctl_color(c, CTL_NAME), js_str(o, "instance"),
	       ctl_color(c, CTL_PLAIN), ctl_color(c, state_color(state)), state,
	       ctl_color(c, CTL_PLAIN));
	if (js_has(o, "state_seconds"))
		printf(" for %s", ctl_duration(js_int(o, "state_seconds"), up));
	print_grave(c, o);
	if (js_has(o, "priority"))
		printf(", priority %" PRId64, js_int(o, "priority"));
	if (js_has(o, "port"))
		printf(", port %s", js_str(o, "port"));
	if (js_has(o, "node"))
		printf(" ('%s', %s, LID %" PRId64 ")", js_str(o, "node"), js_str(o, "port_guid"),
		       js_int(o, "lid"));
	print_line(c, "daemon", "opensm %s, pid %" PRId64 ", up %s", js_str(o, "version"),
		   js_int(o, "pid"), ctl_duration(js_int(o, "uptime_seconds"), up));
}

/* ---- managers ------------------------------------------------------------------------------- */

static void print_managers(const struct ctl *c, struct json_object *o)
{
	struct json_object *master = js_get(o, "master"), *others = js_get(o, "other_managers");

	if (!master)
		print_line(c, "master", "none is known");
	else if (!js_bool(master, "is_self"))
		print_line(c, "master", "%s, priority %" PRId64, js_str(master, "where"),
			   js_int(master, "priority"));
	for (size_t i = 0; i < js_len(others); i++) {
		struct json_object *m = js_at(others, i);

		if (master && !js_bool(master, "is_self") &&
		    !strcmp(js_str(m, "guid"), js_str(master, "guid")))
			continue;
		print_line(c, "other manager", "%s: %s", js_str(m, "where"),
			   js_has(m, "state") ? js_str(m, "state") : "has not answered");
		if (js_has(m, "priority"))
			printf(", priority %" PRId64, js_int(m, "priority"));
		if (js_has(m, "why_not"))
			printf(", %snot believed: %s%s", ctl_color(c, CTL_WARN),
			       js_str(m, "why_not"), ctl_color(c, CTL_PLAIN));
	}
}

/* ---- the subnet ----------------------------------------------------------------------------- */

static void print_subnet(const struct ctl *c, struct json_object *o)
{
	struct json_object *s = js_get(o, "subnet");
	char nodes[64], switches[64], links[64];
	bool is_master = !strcmp(js_str(o, "state"), "MASTER"), up = js_bool(s, "up");
	int64_t n_switches = js_int(s, "switches"), n_aggregation = js_int(s, "aggregation_nodes");

	print_line(c, "subnet", "%s%s%s%s, %s",
		   is_master ? ctl_color(c, up ? CTL_GOOD : CTL_BAD) : "",
		   !is_master ? "as seen"
		   : up	      ? "up"
			      : "not up",
		   is_master ? ctl_color(c, CTL_PLAIN) : "", "",
		   ctl_plural(js_int(s, "nodes") - n_switches - n_aggregation, "host", nodes));
	if (n_aggregation)
		printf(", %s", ctl_plural(n_aggregation, "aggregation node", switches));
	printf(" and %s", n_switches == 1 ? "1 switch" : "");
	if (n_switches != 1)
		printf("%" PRId64 " switches", n_switches);
	if (is_master)
		printf(", %s ACTIVE", ctl_plural(js_int(s, "ports_active"), "port", links));
	if (js_int(s, "ports_pending"))
		printf(", %s%" PRId64 " not yet (opensmctl ports --not-active tells why)%s",
		       ctl_color(c, CTL_WARN), js_int(s, "ports_pending"), ctl_color(c, CTL_PLAIN));
	if (js_int(s, "silent_nodes"))
		printf(", %s%s not answering%s", ctl_color(c, CTL_BAD),
		       ctl_plural(js_int(s, "silent_nodes"), "node", switches),
		       ctl_color(c, CTL_PLAIN));
}

/* ---- alarms --------------------------------------------------------------------------------- */

static enum ctl_color class_color(const char *class)
{
	if (str_equal(class, "fault"))
		return CTL_BAD;
	return str_equal(class, "degraded") ? CTL_WARN : CTL_DIM;
}

/* All, as far as the answer has them; planned work with its begin. */
static void print_alarm_lines(const struct ctl *c, struct json_object *o)
{
	struct json_object *alarms = js_get(o, "alarms"), *all = js_get(alarms, "alarms");
	char counts[CTL_ALARM_COUNTS];

	if (!js_len(all))
		return;
	print_line(c, "alarms", "%s", ctl_alarm_counts(alarms, counts));
	for (size_t i = 0; i < js_len(all); i++) {
		struct json_object *a = js_at(all, i);
		const char *class = js_str(a, "class");

		print_line(c, "", "%s%s%s %s%s%s", ctl_color(c, class_color(class)), class,
			   ctl_color(c, CTL_PLAIN),
			   js_has(a, "node_guid") ? js_str(a, "object") : "",
			   js_has(a, "node_guid") ? ": " : "", js_str(a, "cause"));
		if (str_equal(class, "planned") && js_has(a, "since"))
			printf(", since %s", js_str(a, "since"));
	}
	if (js_int(alarms, "more"))
		print_line(c, "", "and %" PRId64 " more (opensmctl alarms)",
			   js_int(alarms, "more"));
}

static void print_sweeps(const struct ctl *c, struct json_object *o)
{
	struct json_object *s = js_get(o, "sweeps"), *last = js_get(s, "last");
	char ago[32];

	print_line(c, "sweeps", "%" PRId64 " heavy, %" PRId64 " after changes, %" PRId64 " light%s",
		   js_int(s, "heavy"), js_int(s, "dirty"), js_int(s, "light"),
		   js_bool(s, "running") ? "; one is running" : "");
	if (!js_bool(s, "enabled"))
		printf("; %sswitched off (opensmctl sweeping on)%s", ctl_color(c, CTL_BAD),
		       ctl_color(c, CTL_PLAIN));
	if (js_int(s, "blocks_changed_by_others"))
		print_line(c, "table audits",
			   "%s%" PRId64 " blocks were changed by another, and "
			   "written again (see the log)%s",
			   ctl_color(c, CTL_WARN), js_int(s, "blocks_changed_by_others"),
			   ctl_color(c, CTL_PLAIN));
	for (size_t i = 0; i < js_len(last); i++) {
		struct json_object *l = js_at(last, i);
		char kind[32];

		/* A sweep "dirty" is a change, as in the line of counts. */
		snprintf(kind, sizeof(kind), "last %s",
			 str_equal(js_str(l, "kind"), "dirty") ? "change" : js_str(l, "kind"));
		print_line(c, kind,
			   "%s ago, %" PRId64 " ms: %" PRId64 " Gets, %" PRId64 " Sets, %" PRId64
			   " errors%s (%s)",
			   ctl_duration(js_int(l, "seconds_ago"), ago), js_int(l, "duration_ms"),
			   js_int(l, "gets"), js_int(l, "sets"), js_int(l, "errors"),
			   js_bool(l, "went_through") ? "" : ", ended early", js_str(l, "why"));
	}
}

static void print_routing(const struct ctl *c, struct json_object *o)
{
	struct json_object *r = js_get(o, "routing");
	char due[32];

	if (!r)
		return;
	if (js_has(r, "engine"))
		print_line(c, "routing", "%s, computed in %" PRId64 " ms", js_str(r, "engine"),
			   js_int(r, "duration_ms"));
	if (js_int(r, "lanes") > 1)
		printf(", %" PRId64 " VLs", js_int(r, "lanes"));
	if (js_int(r, "unreachable_pairs"))
		printf(", %s%" PRId64 " pairs have no way%s", ctl_color(c, CTL_BAD),
		       js_int(r, "unreachable_pairs"), ctl_color(c, CTL_PLAIN));
	if (js_has(r, "failed"))
		print_line(c, js_has(r, "engine") ? "" : "routing", "%sno tables: %s%s; %s",
			   ctl_color(c, CTL_BAD), js_str(r, "failed"), ctl_color(c, CTL_PLAIN),
			   js_has(r, "engine") ? "those of before stay" : "no port comes up");
	if (js_str(r, "note")[0])
		print_line(c, "", "%s", js_str(r, "note"));
	if (js_has(r, "compared_in_seconds"))
		print_line(c, "",
			   "changed: compared with the tables of a fresh start in %s, if nothing "
			   "else changes",
			   ctl_duration(js_int(r, "compared_in_seconds"), due));
	if (js_str(r, "refused")[0])
		print_line(c, "", "%snot %s%s", ctl_color(c, CTL_BAD), js_str(r, "refused"),
			   ctl_color(c, CTL_PLAIN));
}

static void print_rails(const struct ctl *c, struct json_object *o)
{
	struct json_object *r = js_get(o, "rails");

	if (r)
		print_line(c, "rails", "%s", js_str(r, "text"));
}

static void print_configuration(const struct ctl *c, struct json_object *o)
{
	struct json_object *conf = js_get(o, "configuration"), *findings = js_get(conf, "findings");
	char errors[64], warnings[64];

	print_line(c, "configuration", "%s",
		   js_has(conf, "file") ? js_str(conf, "file") : "no file");
	if (js_has(conf, "file") && js_has(conf, "exists") && !js_bool(conf, "exists"))
		printf(" (there is no such file: options are at their defaults)");
	if (js_bool(conf, "refused"))
		printf(": %srefused: the last reload took nothing over%s", ctl_color(c, CTL_BAD),
		       ctl_color(c, CTL_PLAIN));
	if (js_int(conf, "errors") || js_int(conf, "warnings"))
		printf("; %s, %s", ctl_plural(js_int(conf, "errors"), "error", errors),
		       ctl_plural(js_int(conf, "warnings"), "warning", warnings));
	for (size_t i = 0; i < js_len(findings); i++) {
		struct json_object *f = js_at(findings, i);

		if (strcmp(js_str(f, "severity"), "error") && !c->stats)
			continue;
		print_line(c, "", "%s:", js_str(f, "file"));
		if (js_int(f, "line"))
			printf("%" PRId64 ":", js_int(f, "line"));
		if (js_int(f, "column"))
			printf("%" PRId64 ":", js_int(f, "column"));
		printf(" %s: %s", js_str(f, "severity"), js_str(f, "text"));
	}
	print_line(c, "log", "%s, level 0x%02x",
		   js_has(o, "log_file") ? js_str(o, "log_file") : "stdout",
		   (unsigned)js_int(o, "log_flags"));
}

/* ---- numbers -------------------------------------------------------------------------------- */

/*
 * "requests 12, answered 11": every number of an object that is not 0. Without a key it goes on
 * with the line above.
 */
static void print_numbers(const struct ctl *c, const char *key, struct json_object *numbers)
{
	const char *between = "";

	if (!json_object_is_type(numbers, json_type_object))
		return;
	if (key[0])
		print_line(c, key, "%s", "");
	json_object_object_foreach(numbers, name, value)
	{
		if (!json_object_is_type(value, json_type_int) || !json_object_get_int64(value))
			continue;
		if (!key[0] && !between[0])
			print_line(c, key, "%s", "");
		printf("%s%s %" PRId64, between, name, json_object_get_int64(value));
		between = ", ";
	}
	printf("%s", between[0] || !key[0] ? "" : "nothing yet");
}

static const struct column smp_columns[] = {
	{ "METHOD", .key = "method" },
	{ "ATTRIBUTE", .key = "attribute" },
	{ "SENT>", COLUMN_INT, .key = "sent" },
	{ "ANSWERED>", COLUMN_INT, .key = "answered" },
	{ "REFUSED>", COLUMN_INT, .key = "bad_status" },
	{ "TIMEOUTS>", COLUMN_INT, .key = "timeouts" },
	{ "RETRIES>", COLUMN_INT, .key = "retries" },
	{ 0 },
};

static void print_lines(const struct ctl *c, struct json_object *o)
{
	print_head(c, o);
	if (!js_has(o, "subnet")) {
		print_line(c, "status", "%s", js_str(o, "status"));
	} else {
		print_managers(c, o);
		print_subnet(c, o);
		print_alarm_lines(c, o);
		print_sweeps(c, o);
		print_routing(c, o);
		print_rails(c, o);
	}
	print_configuration(c, o);
	if (c->stats && js_has(o, "subnet")) {
		print_numbers(c, "SA", js_get(o, "sa"));
		print_numbers(c, "traps", js_get(js_get(o, "traps"), "received"));
		print_numbers(c, "", js_get(o, "traps"));
		print_numbers(c, "SMPs", js_get(o, "smps"));
	}
	putchar('\n');
	if (c->stats > 1 && js_has(o, "subnet"))
		ctl_print_table(c, smp_columns, js_get(js_get(o, "smps"), "counts"));
}

/* Lines that are wider than the terminal go on below their text. */
static void print_status(const struct ctl *c, struct json_object *o)
{
	struct ctl_captured captured;
	_cleanup_free_ char *text = NULL;

	if (!c->width || c->oneline || !ctl_capture(&captured)) {
		print_lines(c, o);
		return;
	}
	print_lines(c, o);
	text = ctl_captured(&captured);
	ctl_print_folded(c, text, TEXT_COLUMN);
}

/* ---- instances that do not run -------------------------------------------------------------- */

static void print_absent(const struct ctl *c, struct json_object *o)
{
	bool runs = !strcmp(js_str(o, "state"), "RUNNING");
	char since[CTL_TIME_STRLEN];

	printf("%s%s%s: %s%s%s", ctl_color(c, CTL_NAME), js_str(o, "instance"),
	       ctl_color(c, CTL_PLAIN), ctl_color(c, runs ? CTL_WARN : CTL_BAD), js_str(o, "state"),
	       ctl_color(c, CTL_PLAIN));
	if (launched_since(o, since)[0])
		printf(" since %s", since);
	print_line(c, "status", "%s", js_str(o, "status"));
	if (runs)
		print_line(c, "",
			   "process %" PRId64
			   " runs and does not answer: it hangs, or control_socket is off",
			   js_int(o, "pid"));
	if (js_has(o, "last_exit"))
		print_line(c, "ended last", "%s; started again %" PRId64 " times",
			   js_str(o, "last_exit"), js_int(o, "restarts"));
	print_line(c, "configuration", "%s", js_str(o, "conf"));
	print_line(c, "log", "%s", js_str(o, "log"));
	if (js_has(o, "unit"))
		print_line(c, "", "journalctl -u %s", js_str(o, "unit"));
	if (!strcmp(js_str(o, "state"), "FAILED"))
		print_line(c, "next", "mend the cause, then: systemctl reload-or-restart opensm");
	putchar('\n');
}

/*
 * The launcher's state of an instance in the form of Status: "instance", and "state" in capitals.
 */
static struct json_object *absent_json(struct json_object *instance)
{
	_cleanup_free_ char *state = xstrdup(launched_state(instance));
	struct json_object *o = json_object_new_object();

	for (char *s = state; *s; s++)
		*s = (char)toupper((unsigned char)*s);
	json_object_object_add(o, "instance", json_object_new_string(js_str(instance, "name")));
	json_object_object_add(o, "state", json_object_new_string(state));
	json_object_object_add(o, "answers", json_object_new_boolean(false));
	json_object_object_foreach(instance, key,
				   value) if (strcmp(key, "name") != 0 && strcmp(key, "state") != 0)
		json_object_object_add(o, key, json_object_get(value));
	return o;
}

static bool is_among(const struct instances *found, const char *name)
{
	for (size_t i = 0; i < found->n; i++)
		if (!strcmp(found->all[i].name, name))
			return true;
	return false;
}

/*
 * Adds instances of opensm-launch that do not answer; with `name` that one only. Returns the exit
 * code.
 */
static int add_absent(const struct ctl *c, const struct instances *found, const char *name,
		      struct json_object *ret)
{
	struct json_object *launched = launched_read(c), *list = js_get(launched, "instances");
	int r = CTL_OK;

	for (size_t i = 0; i < js_len(list); i++) {
		struct json_object *o = js_at(list, i);

		if ((name && strcmp(js_str(o, "name"), name) != 0) ||
		    is_among(found, js_str(o, "name")))
			continue;
		json_object_array_add(ret, absent_json(o));
		if (strcmp(launched_state(o), "running") != 0)
			r = CTL_NO_DAEMON;
	}
	json_object_put(launched);
	return r;
}

/* ---- the command ---------------------------------------------------------------------------- */

/* Gathers the states of instances, answering or not; with `name` of that one only. */
static int ask_all(struct ctl *c, const char *name, struct json_object *ret)
{
	struct instances found;
	int r = instances_find(c->run_dir, &found), worst = CTL_OK, absent;

	for (size_t i = 0; r == 0 && i < found.n; i++) {
		struct json_object *o;

		if (name && strcmp(found.all[i].name, name) != 0)
			continue;
		o = ctl_call_at(c, found.all[i].path, "Status", &worst);
		if (o)
			json_object_array_add(ret, o);
	}
	absent = add_absent(c, &found, name, ret);
	instances_clear(&found);
	return absent == CTL_OK ? worst : absent;
}

static bool needs_administrator(struct json_object *o)
{
	struct json_object *all = js_get(js_get(o, "alarms"), "alarms");

	for (size_t i = 0; i < js_len(all); i++)
		if (is_grave(js_at(all, i)))
			return true;
	return false;
}

static int cmd_status(struct ctl *c, int argc, char **argv)
{
	const char *name = str_equal(c->instance, "all") ? NULL : c->instance;
	bool is_path = c->instance && strchr(c->instance, '/');
	struct json_object *all, *one;
	int r = CTL_OK;

	if (argc)
		return ctl_too_many(c, &ctl_status, argv[0]);
	all = json_object_new_array();
	if (!is_path)
		r = ask_all(c, name, all);
	if (!js_len(all) && r == CTL_OK) {
		one = ctl_call(c, "Status", NULL); /* tells why there is none */
		if (one)
			json_object_array_add(all, one);
		else
			r = c->exit_code;
	}
	if (c->json && js_len(all))
		ctl_print_json(c, all);
	for (size_t i = 0; !c->json && i < js_len(all); i++) {
		if (i && !c->oneline)
			putchar('\n');
		if (js_has(js_at(all, i), "answers"))
			print_absent(c, js_at(all, i));
		else
			print_status(c, js_at(all, i));
	}
	for (size_t i = 0; r == CTL_OK && i < js_len(all); i++)
		r = needs_administrator(js_at(all, i)) ? CTL_REFUSED : CTL_OK;
	json_object_put(all);
	return r;
}

const struct ctl_command ctl_status = {
	.name = "status",
	.arguments = "",
	.help = "state of the manager and the subnet (without -i: of every instance)",
	.scope = CTL_SEES_ALL,
	.document = "Statuses",
	.run = cmd_status,
};
