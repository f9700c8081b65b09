// SPDX-License-Identifier: BSD-2-Clause
/* How the manager and the subnet are: what somebody wants to know first comes first. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/client.h"
#include "opensmctl/commands.h"
#include "util/mem.h"
#include "util/str.h"

/* A line "  key   text"; with -o all of a record are one. */
static void line(const struct ctl *c, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void line(const struct ctl *c, const char *key, const char *fmt, ...)
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

static void print_head(const struct ctl *c, struct json_object *o)
{
	const char *state = js_str(o, "state");
	char up[32];

	printf("%s%s%s: %s%s%s", ctl_color(c, CTL_NAME), js_str(o, "instance"),
	       ctl_color(c, CTL_PLAIN), ctl_color(c, state_color(state)), state,
	       ctl_color(c, CTL_PLAIN));
	if (js_has(o, "state_seconds"))
		printf(" for %s", ctl_duration(js_int(o, "state_seconds"), up));
	if (js_has(o, "priority"))
		printf(", priority %" PRId64, js_int(o, "priority"));
	if (js_has(o, "port"))
		printf(", port %s", js_str(o, "port"));
	if (js_has(o, "node"))
		printf(" ('%s', %s, LID %" PRId64 ")", js_str(o, "node"), js_str(o, "port_guid"),
		       js_int(o, "lid"));
	line(c, "daemon", "opensm %s, pid %" PRId64 ", up %s", js_str(o, "version"), js_int(o, "pid"),
	     ctl_duration(js_int(o, "uptime_seconds"), up));
}

/* ---- managers --------------------------------------------------------------------------------- */

static void print_managers(const struct ctl *c, struct json_object *o)
{
	struct json_object *master = js_get(o, "master"), *others = js_get(o, "other_managers");

	if (!master)
		line(c, "master", "none is known");
	else if (!js_bool(master, "is_self"))
		line(c, "master", "%s, priority %" PRId64, js_str(master, "where"),
		     js_int(master, "priority"));
	for (size_t i = 0; i < js_len(others); i++) {
		struct json_object *m = js_at(others, i);

		if (master && !js_bool(master, "is_self") &&
		    !strcmp(js_str(m, "guid"), js_str(master, "guid")))
			continue;
		line(c, "other manager", "%s: %s", js_str(m, "where"),
		     js_has(m, "state") ? js_str(m, "state") : "has not answered");
		if (js_has(m, "priority"))
			printf(", priority %" PRId64, js_int(m, "priority"));
		if (js_has(m, "why_not"))
			printf(", %snot believed: %s%s", ctl_color(c, CTL_WARN), js_str(m, "why_not"),
			       ctl_color(c, CTL_PLAIN));
	}
}

/* ---- the subnet ------------------------------------------------------------------------------- */

static void print_subnet(const struct ctl *c, struct json_object *o)
{
	struct json_object *s = js_get(o, "subnet"), *left = js_get(s, "left_out");
	char nodes[64], switches[64], links[64];
	bool is_master = !strcmp(js_str(o, "state"), "MASTER"), up = js_bool(s, "up");
	int64_t n = js_int(s, "nodes"), n_switches = js_int(s, "switches");

	line(c, "subnet", "%s%s%s%s, %s", is_master ? ctl_color(c, up ? CTL_GOOD : CTL_BAD) : "",
	     !is_master ? "as seen" : up ? "up" : "not up", is_master ? ctl_color(c, CTL_PLAIN) : "",
	     "", ctl_plural(n - n_switches, "host", nodes));
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
	if (js_has(s, "own_port_answers") && !js_bool(s, "own_port_answers"))
		line(c, "own port", "%sdoes not answer: its firmware hangs, or a subnet manager has given it an "
		     "M_Key that is not known here (m_key, guid2mkey)%s", ctl_color(c, CTL_BAD),
		     ctl_color(c, CTL_PLAIN));
	if (js_int(left, "count"))
		line(c, "left out", "%s%s%s", ctl_color(c, CTL_WARN), js_str(left, "text"),
		     ctl_color(c, CTL_PLAIN));
}

static void print_sweeps(const struct ctl *c, struct json_object *o)
{
	struct json_object *s = js_get(o, "sweeps"), *last = js_get(s, "last");
	char ago[32];

	line(c, "sweeps", "%" PRId64 " heavy, %" PRId64 " after changes, %" PRId64 " light%s",
	     js_int(s, "heavy"), js_int(s, "dirty"), js_int(s, "light"),
	     js_bool(s, "running") ? "; one is running" : "");
	if (!js_bool(s, "enabled"))
		printf("; %sswitched off (opensmctl sweeping on)%s", ctl_color(c, CTL_BAD),
		       ctl_color(c, CTL_PLAIN));
	for (size_t i = 0; i < js_len(last); i++) {
		struct json_object *l = js_at(last, i);
		char kind[32];

		/* As the line above counts them. */
		snprintf(kind, sizeof(kind), "last %s", str_equal(js_str(l, "kind"), "dirty") ? "change" :
			 js_str(l, "kind"));
		line(c, kind,
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

	if (!r)
		return;
	if (js_has(r, "engine"))
		line(c, "routing", "%s, computed in %" PRId64 " ms", js_str(r, "engine"),
		     js_int(r, "duration_ms"));
	if (js_int(r, "lanes") > 1)
		printf(", %" PRId64 " lanes", js_int(r, "lanes"));
	if (js_int(r, "unreachable_pairs"))
		printf(", %s%" PRId64 " pairs have no way%s", ctl_color(c, CTL_BAD),
		       js_int(r, "unreachable_pairs"), ctl_color(c, CTL_PLAIN));
	if (js_has(r, "failed"))
		line(c, js_has(r, "engine") ? "" : "routing", "%sno tables: %s%s; %s", ctl_color(c, CTL_BAD),
		     js_str(r, "failed"), ctl_color(c, CTL_PLAIN),
		     js_has(r, "engine") ? "those of before stay" : "no port comes up");
	if (js_str(r, "note")[0])
		line(c, "", "%s", js_str(r, "note"));
	if (js_str(r, "refused")[0])
		line(c, "", "%snot %s%s", ctl_color(c, CTL_BAD), js_str(r, "refused"),
		     ctl_color(c, CTL_PLAIN));
}

static void print_configuration(const struct ctl *c, struct json_object *o)
{
	struct json_object *conf = js_get(o, "configuration"), *findings = js_get(conf, "findings");
	char errors[64], warnings[64];

	line(c, "configuration", "%s", js_has(conf, "file") ? js_str(conf, "file") : "no file");
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
		line(c, "", "%s:%" PRId64 ":", js_str(f, "file"), js_int(f, "line"));
		if (js_int(f, "column"))
			printf("%" PRId64 ":", js_int(f, "column"));
		printf(" %s: %s", js_str(f, "severity"), js_str(f, "text"));
	}
	line(c, "log", "%s, level 0x%02x", js_has(o, "log_file") ? js_str(o, "log_file") : "stdout",
	     (unsigned)js_int(o, "log_flags"));
}

/* ---- numbers ---------------------------------------------------------------------------------- */

/* "requests 12, answered 11": every number of an object that is not 0. */
static void print_numbers(const struct ctl *c, const char *key, struct json_object *numbers)
{
	const char *between = "";

	if (!json_object_is_type(numbers, json_type_object))
		return;
	line(c, key, "%s", "");
	json_object_object_foreach(numbers, name, value)
	{
		if (!json_object_is_type(value, json_type_int) || !json_object_get_int64(value))
			continue;
		printf("%s%s %" PRId64, between, name, json_object_get_int64(value));
		between = ", ";
	}
	printf("%s", between[0] ? "" : "nothing yet");
}

static void print_smps(const struct ctl *c, struct json_object *smps)
{
	static const char *const heads[] = { "METHOD", "ATTRIBUTE", "SENT>", "ANSWERED>", "REFUSED>",
					     "TIMEOUTS>", "RETRIES>", NULL };
	struct json_object *counts = js_get(smps, "counts");
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(counts); i++) {
		struct json_object *row = js_at(counts, i);

		table_cell(t, CTL_PLAIN, "%s", js_str(row, "method"));
		table_cell(t, CTL_PLAIN, "%s", js_str(row, "attribute"));
		table_cell(t, CTL_PLAIN, "%" PRId64, js_int(row, "sent"));
		table_cell(t, CTL_PLAIN, "%" PRId64, js_int(row, "answered"));
		table_cell(t, CTL_PLAIN, "%" PRId64, js_int(row, "bad_status"));
		table_cell(t, CTL_PLAIN, "%" PRId64, js_int(row, "timeouts"));
		table_cell(t, CTL_PLAIN, "%" PRId64, js_int(row, "retries"));
	}
	table_print(t);
}

static void print_status(const struct ctl *c, struct json_object *o)
{
	print_head(c, o);
	if (!js_has(o, "subnet")) {
		line(c, "status", "%s", js_str(o, "status"));
	} else {
		print_managers(c, o);
		print_subnet(c, o);
		print_sweeps(c, o);
		print_routing(c, o);
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
		print_smps(c, js_get(o, "smps"));
}

/* ---- the command ------------------------------------------------------------------------------ */

/* Every instance that answers; `ret` gets their status. */
static int ask_all(struct ctl *c, struct json_object *ret)
{
	struct instances found;
	int r = instances_find(c->run_dir, &found), worst = CTL_OK;

	for (size_t i = 0; r == 0 && i < found.n; i++) {
		struct ctl one = *c;
		struct json_object *o;

		one.instance = found.all[i].path;
		one.client = NULL;
		o = ctl_call(&one, "Status", NULL);
		if (o)
			json_object_array_add(ret, o);
		else
			worst = one.exit_code;
		client_close(one.client);
	}
	instances_clear(&found);
	return worst;
}

int cmd_status(struct ctl *c, int argc, char **argv)
{
	struct json_object *all, *one;
	int r = CTL_OK;

	if (argc)
		return ctl_too_many(&manager_commands[0], argv[0]);
	all = json_object_new_array();
	if (!c->instance)
		r = ask_all(c, all);
	if (c->instance || (!js_len(all) && r == CTL_OK)) {
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
		print_status(c, js_at(all, i));
	}
	json_object_put(all);
	return r;
}
