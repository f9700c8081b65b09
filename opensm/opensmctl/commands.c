// SPDX-License-Identifier: BSD-2-Clause
/* Commands about the manager: the table, and those that tell it to do something. */
#include "opensmctl/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

#define PRIORITY_MAX 15
#define KINDS                                                                                      \
	"state sweep discovered routes lft subnet_up node link trap manager sa_dumped port_down"

static int cmd_sweep(struct ctl *c, int argc, char **argv);
static int cmd_reroute(struct ctl *c, int argc, char **argv);
static int cmd_priority(struct ctl *c, int argc, char **argv);
static int cmd_loglevel(struct ctl *c, int argc, char **argv);
static int cmd_sweeping(struct ctl *c, int argc, char **argv);

enum { STATUS, INSTANCES, SWEEP, REROUTE, RELOAD, PRIORITY, LOGLEVEL, SWEEPING, MONITOR, OPTIONS, CHECK };

const struct ctl_command manager_commands[] = {
	[STATUS] = { "status", "", "how the manager and the subnet are (without -i: of every instance)",
		     NULL, cmd_status },
	[INSTANCES] = { "instances", "", "which instances there are, and how they are", NULL,
			cmd_instances },
	[SWEEP] = { "sweep", "[heavy|light]", "looks at the subnet now, and waits for the end",
		    "heavy light", cmd_sweep },
	[REROUTE] = { "reroute", "", "computes routes afresh and writes them", NULL, cmd_reroute },
	[RELOAD] = { "reload", "", "reads the configuration again, as SIGHUP", NULL, cmd_reload },
	[PRIORITY] = { "priority", "[0-15]", "shows the priority, or changes it until the daemon ends",
		       NULL, cmd_priority },
	[LOGLEVEL] = { "loglevel", "[MASK | NAME[,NAME]...]",
		       "shows what is logged, or changes it until the next reload",
		       "error info verbose debug funcs frames routing all", cmd_loglevel },
	[SWEEPING] = { "sweeping", "[on|off]", "shows whether sweeps may begin, or switches them",
		       "on off", cmd_sweeping },
	[MONITOR] = { "monitor", "[KIND]...", "tells events as they happen, one per line", KINDS,
		      cmd_monitor },
	[OPTIONS] = { "options", "[NAME | all]", "options that differ from their defaults; one; all",
		      "all", cmd_options },
	[CHECK] = { "check", "", "what a reload would find, without taking anything over", NULL,
		    cmd_check },
	{ 0 },
};

int ctl_too_many(const struct ctl_command *command, const char *word)
{
	return ctl_usage(command, "'%s' is too much", word);
}

/* Says it for people, or the answer as JSON. */
static int show_answer(struct ctl *c, struct json_object *answer, const char *text)
{
	if (c->json)
		ctl_print_json(c, answer);
	else
		printf("%s\n", text);
	json_object_put(answer);
	return CTL_OK;
}

/* ---- sweep ------------------------------------------------------------------------------------ */

struct sweep_desk {
	struct ctl *c;
	int exit_code;
	bool shows; /* progress on a terminal */
};

static int show_sweep(struct ctl *c, struct json_object *sweep)
{
	char errors[64];

	if (c->json)
		ctl_print_json(c, sweep);
	else if (!sweep)
		ctl_refuse("the port has gone before the sweep ended");
	else
		printf("%s sweep %s: %" PRId64 " Gets, %" PRId64 " Sets, %s in %" PRId64 " ms\n",
		       js_str(sweep, "kind"),
		       js_bool(sweep, "went_through") ? "done" : "ended early",
		       js_int(sweep, "gets"), js_int(sweep, "sets"),
		       ctl_plural(js_int(sweep, "errors"), "error", errors),
		       js_int(sweep, "duration_ms"));
	return sweep && js_bool(sweep, "went_through") ? CTL_OK : CTL_REFUSED;
}

static bool on_sweep(void *arg, struct json_object *reply)
{
	struct sweep_desk *d = arg;
	struct json_object *event = js_get(reply, "event");

	if (event && d->shows)
		fprintf(stderr, "\r%.70s\033[K", js_str(event, "text"));
	if (event)
		return true;
	if (d->shows)
		fputs("\r\033[K", stderr);
	d->exit_code = show_sweep(d->c, js_get(reply, "sweep"));
	return false;
}

static int cmd_sweep(struct ctl *c, int argc, char **argv)
{
	static const char *const kinds[] = { "heavy", "light", NULL };
	struct sweep_desk d = { .c = c, .exit_code = CTL_REFUSED, .shows = isatty(STDERR_FILENO) };
	struct json_object *parameters = json_object_new_object();
	int kind = argc ? ctl_match(argv[0], kinds) : 0, r;

	if (kind < 0 || argc > 1) {
		json_object_put(parameters);
		return ctl_usage(&manager_commands[SWEEP], "a sweep is heavy or light, not '%s'",
				 argv[kind < 0 ? 0 : 1]);
	}
	json_object_object_add(parameters, "kind", json_object_new_string(kinds[kind]));
	if (d.shows)
		fputs("waiting for the sweep to begin\033[K", stderr);
	r = ctl_call_more(c, "Sweep", parameters, on_sweep, &d);
	return r == CTL_OK ? d.exit_code : r;
}

static int cmd_reroute(struct ctl *c, int argc, char **argv)
{
	struct json_object *answer;

	if (argc)
		return ctl_too_many(&manager_commands[REROUTE], argv[0]);
	answer = ctl_call(c, "Reroute", NULL);
	return answer ? show_answer(c, answer, "routes will be computed afresh") : c->exit_code;
}

/* ---- priority, sweeping ----------------------------------------------------------------------- */

static int cmd_priority(struct ctl *c, int argc, char **argv)
{
	struct json_object *answer, *parameters = NULL;
	char text[100];
	uint64_t n = 0;

	if (argc > 1)
		return ctl_too_many(&manager_commands[PRIORITY], argv[1]);
	if (argc && str_to_u64(argv[0], 0, PRIORITY_MAX, &n) < 0)
		return ctl_usage(&manager_commands[PRIORITY], "a priority is from 0 to %d, not '%s'",
				 PRIORITY_MAX, argv[0]);
	if (argc) {
		parameters = json_object_new_object();
		json_object_object_add(parameters, "priority", json_object_new_int64((int64_t)n));
	}
	answer = ctl_call(c, argc ? "SetPriority" : "GetPriority", parameters);
	if (!answer)
		return c->exit_code;
	snprintf(text, sizeof(text), "priority %" PRId64 "%s", js_int(answer, "priority"),
		 js_int(answer, "priority") == js_int(answer, "configured") ?
			 "" :
			 ", until the daemon ends");
	return show_answer(c, answer, text);
}

static int show_sweeping(struct ctl *c)
{
	struct json_object *status = ctl_call(c, "Status", NULL), *o;
	bool on;

	if (!status)
		return c->exit_code;
	if (!js_has(status, "sweeps")) {
		ctl_refuse("%s", js_str(status, "status"));
		json_object_put(status);
		return CTL_REFUSED;
	}
	on = js_bool(js_get(status, "sweeps"), "enabled");
	json_object_put(status);
	o = json_object_new_object();
	json_object_object_add(o, "enabled", json_object_new_boolean(on));
	return show_answer(c, o, on ? "sweeping is on" : "sweeping is off");
}

static int cmd_sweeping(struct ctl *c, int argc, char **argv)
{
	static const char *const words[] = { "on", "off", NULL };
	struct json_object *parameters, *answer;
	int word;

	if (!argc)
		return show_sweeping(c);
	word = ctl_match(argv[0], words);
	if (word < 0 || argc > 1)
		return ctl_usage(&manager_commands[SWEEPING], "sweeping is on or off, not '%s'",
				 argv[word < 0 ? 0 : 1]);
	parameters = json_object_new_object();
	json_object_object_add(parameters, "enabled", json_object_new_boolean(word == 0));
	answer = ctl_call(c, "SetSweeping", parameters);
	if (!answer)
		return c->exit_code;
	return show_answer(c, answer,
			   word == 0 ? "sweeping is on" :
				       "sweeping is off: what happens is looked at when it is on again");
}

/* ---- loglevel --------------------------------------------------------------------------------- */

static const char *const log_names[] = { "error",  "info",   "verbose", "debug", "funcs",
					 "frames", "routing", "sys",	 "all",	  NULL };

/* "0x43" or "error,info,routing". False: neither; told. */
static bool parse_mask(const char *text, uint64_t *ret)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *rest = copy, *word;

	if (str_to_u64(text, 0, 0xFF, ret) == 0)
		return true;
	*ret = 0;
	while ((word = strsep(&rest, ",+|"))) {
		int bit = ctl_match(word, log_names);

		if (bit < 0) {
			ctl_usage(&manager_commands[LOGLEVEL],
				  "'%s' is neither a mask (0 to 0xff) nor one of error, info, verbose, "
				  "debug, funcs, frames, routing, all",
				  word);
			return false;
		}
		*ret |= !strcmp(log_names[bit], "all") ? 0xFF : 1u << bit;
	}
	return true;
}

static int cmd_loglevel(struct ctl *c, int argc, char **argv)
{
	struct json_object *answer, *parameters = NULL, *on;
	char text[120];
	uint64_t mask;
	size_t len;

	if (argc > 1)
		return ctl_too_many(&manager_commands[LOGLEVEL], argv[1]);
	if (argc && !parse_mask(argv[0], &mask))
		return CTL_USAGE;
	if (argc) {
		parameters = json_object_new_object();
		json_object_object_add(parameters, "flags", json_object_new_int64((int64_t)mask));
	}
	answer = ctl_call(c, argc ? "SetLogLevel" : "GetLogLevel", parameters);
	if (!answer)
		return c->exit_code;
	len = (size_t)snprintf(text, sizeof(text), "log level 0x%02x:",
			       (unsigned)js_int(answer, "flags"));
	on = js_get(answer, "names");
	for (size_t i = 0; i < js_len(on) && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, " %s",
					json_object_get_string(js_at(on, i)));
	return show_answer(c, answer, text);
}
