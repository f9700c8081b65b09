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
	"state sweep discovered routes lft subnet_up node link trap manager sa_dumped port_down "  \
	"security topology health mark"

static int cmd_sweep(struct ctl *c, int argc, char **argv);
static int cmd_reroute(struct ctl *c, int argc, char **argv);
static int cmd_priority(struct ctl *c, int argc, char **argv);
static int cmd_keys(struct ctl *c, int argc, char **argv);
static int cmd_loglevel(struct ctl *c, int argc, char **argv);
static int cmd_sweeping(struct ctl *c, int argc, char **argv);
static int cmd_sa_key(struct ctl *c, int argc, char **argv);

enum {
	STATUS,
	INSTANCES,
	SWEEP,
	REROUTE,
	RELOAD,
	PRIORITY,
	KEYS,
	LOGLEVEL,
	SWEEPING,
	SA_KEY,
	MONITOR,
	DRAIN,
	ISOLATE,
	RESTORE,
	MARKS,
	HEALTH,
	LEDGER,
	OPTIONS,
	SECURITY,
	CONGESTION,
	CHECK,
	REPORT
};

#define MARK_WORDS "--plan --until --force --why"
#define MARK_ARGUMENTS "TARGET [--plan] [--until TIME] [--force] [--why TEXT]"

const struct ctl_command manager_commands[] = {
	[STATUS] = { "status", "",
		     "state of the manager and the subnet (without -i: of every instance)", NULL,
		     CTL_SEES_ALL, .run = cmd_status },
	[INSTANCES] = { "instances", "[failing]",
			"all instances and their state; or those that fail", "failing",
			CTL_SEES_ALL, .run = cmd_instances },
	[SWEEP] = { "sweep", "[heavy|light]", "starts a sweep now, and waits for its end",
		    "heavy light", CTL_ACTS, .run = cmd_sweep },
	[REROUTE] = { "reroute", "", "computes routes afresh and writes them", NULL, CTL_ACTS,
		      .run = cmd_reroute },
	[RELOAD] = { "reload", "", "reads the configuration again, as SIGHUP", NULL, CTL_ACTS,
		     .run = cmd_reload },
	[PRIORITY] = { "priority", "[0-15]",
		       "shows the priority, or changes it until the daemon ends", NULL,
		       CTL_SHOWS_BARE, .run = cmd_priority },
	[KEYS] = { "keys", "[rotate]",
		   "shows how many ports have the M_Key they shall have, or gives all another one",
		   "rotate", CTL_SHOWS_BARE, .run = cmd_keys },
	[LOGLEVEL] = { "loglevel", "[MASK | NAME[,NAME]...]",
		       "shows the log levels, or changes them until the next reload",
		       "error info verbose debug funcs frames routing all", CTL_SHOWS_BARE,
		       .run = cmd_loglevel },
	[SWEEPING] = { "sweeping", "[on|off]",
		       "shows whether sweeps may begin, or switches them on or off", "on off",
		       CTL_SHOWS_BARE, .run = cmd_sweeping },
	[SA_KEY] = { "sa-key", "", "shows the key of trusted requests, to root alone", NULL,
		     CTL_SHOWS, .run = cmd_sa_key },
	[MONITOR] = { "monitor", "[KIND]...", "prints events as they happen, one per line", KINDS,
		      CTL_SEES_ALL, .run = cmd_monitor },
	[DRAIN] = { "drain", MARK_ARGUMENTS,
		    "takes a link between switches, or a switch, out of routing; links stay up",
		    MARK_WORDS, CTL_ACTS, .run = cmd_drain },
	[ISOLATE] = { "isolate", MARK_ARGUMENTS,
		      "the same, then takes the link down to INIT; also the link of a host",
		      MARK_WORDS, CTL_ACTS, .run = cmd_isolate },
	[RESTORE] = { "restore", "TARGET | all", "puts back what was drained or isolated",
		      "all", CTL_ACTS, .run = cmd_restore },
	[MARKS] = { "marks", "", "links and switches that are out of service, and why", NULL,
		    CTL_SHOWS, .run = cmd_marks },
	[HEALTH] = { "health", "[--watch N] | ports NODE[/PORT] | clear NODE/PORT",
		     "links with findings, the sickest first; slow links; ports: counters, error "
		     "rates",
		     "--watch ports clear", CTL_SHOWS, .run = cmd_health, .acts = cmd_health_acts },
	[LEDGER] = { "ledger", "[adopt|forget]",
		     "what is entrusted at run time, and which managers have it; P_Keys on devices "
		     "that nothing explains: taken over, or cleared",
		     "adopt forget", CTL_SHOWS, .run = cmd_ledger, .acts = cmd_ledger_acts },
	[OPTIONS] = { "options", "[NAME | all]",
		      "options that differ from their defaults; one option; all options", "all",
		      CTL_SHOWS, .run = cmd_options },
	[SECURITY] = { "security", "",
		       "the security checklist: what passes, what fails, and what to do", NULL,
		       CTL_SHOWS, .run = cmd_security },
	[CONGESTION] = { "congestion", "",
			 "congestion control: which hosts are throttled, and how far it is set up",
			 NULL, CTL_SHOWS, .run = cmd_congestion },
	[CHECK] = { "check", "", "errors that a reload would find; changes nothing", NULL,
		    CTL_SHOWS, .run = cmd_check },
	[REPORT] = { "report", "-o FILE [--no-paths]",
		     "writes a page for a browser: the fabric, its health, events, security",
		     "--no-paths", CTL_ACTS, .run = cmd_report },
	{ 0 },
};

const struct ctl_command *ctl_row(const char *name)
{
	const struct ctl_command *c = manager_commands;

	while (strcmp(c->name, name))
		c++;
	return c;
}

int ctl_too_many(const struct ctl_command *command, const char *word)
{
	return ctl_usage(command, "unexpected argument '%s'", word);
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

/* ---- sweep ---------------------------------------------------------------------------------- */

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
		ctl_refuse("the manager's port vanished before the sweep ended");
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

/* ---- priority, sweeping --------------------------------------------------------------------- */

static int cmd_priority(struct ctl *c, int argc, char **argv)
{
	struct json_object *answer, *parameters = NULL;
	char text[100];
	uint64_t n = 0;

	if (argc > 1)
		return ctl_too_many(&manager_commands[PRIORITY], argv[1]);
	if (argc && str_to_u64(argv[0], 0, PRIORITY_MAX, &n) < 0)
		return ctl_usage(&manager_commands[PRIORITY],
				 "a priority is from 0 to %d, not '%s'", PRIORITY_MAX, argv[0]);
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

static int cmd_sa_key(struct ctl *c, int argc, char **argv)
{
	struct json_object *answer;
	char text[24];

	if (argc)
		return ctl_too_many(&manager_commands[SA_KEY], argv[0]);
	answer = ctl_call(c, "SaKey", NULL);
	if (!answer)
		return c->exit_code;
	snprintf(text, sizeof(text), "%s", js_str(answer, "sa_key"));
	return show_answer(c, answer, text);
}

static void print_keys(struct json_object *o)
{
	char next[60] = "";

	if (js_has(o, "state") && strcmp(js_str(o, "state"), "MASTER") != 0) {
		printf("%s; this manager is %s: which ports have it is known to the master\n",
		       js_bool(o, "per_port") ? "an M_Key for each port"
					      : "one M_Key for all ports",
		       js_str(o, "state"));
		return;
	}
	if (!js_bool(o, "per_port")) {
		printf("one M_Key for all ports (m_key_per_port is FALSE); %" PRId64 " of %" PRId64
		       " ports have it; %" PRId64 " of %" PRId64 " standbys were sent it\n",
		       js_int(o, "right"), js_int(o, "ports"), js_int(o, "informed"),
		       js_int(o, "standbys"));
		return;
	}
	if (js_has(o, "next_seconds"))
		snprintf(next, sizeof(next), ", the next in %" PRId64 " min",
			 js_int(o, "next_seconds") / 60);
	printf("an M_Key for each port, epoch %" PRId64 "%s%s\n", js_int(o, "epoch"), next,
	       js_bool(o, "changing") ? "; they change right now" : "");
	printf("%" PRId64 " of %" PRId64 " ports have it; %" PRId64 " of %" PRId64
	       " standbys know the seed\n",
	       js_int(o, "right"), js_int(o, "ports"), js_int(o, "informed"),
	       js_int(o, "standbys"));
}

static int cmd_keys(struct ctl *c, int argc, char **argv)
{
	struct json_object *answer;

	if (argc && strcmp(argv[0], "rotate"))
		return ctl_usage(&manager_commands[KEYS], "expected 'rotate', not '%s'", argv[0]);
	if (argc > 1)
		return ctl_too_many(&manager_commands[KEYS], argv[1]);
	answer = ctl_call(c, argc ? "RotateKeys" : "Keys", NULL);
	if (!answer)
		return c->exit_code;
	if (c->json)
		ctl_print_json(c, answer);
	else
		print_keys(answer);
	json_object_put(answer);
	return CTL_OK;
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
				       "sweeping is off: changes are served when it is on again");
}

/* ---- loglevel ------------------------------------------------------------------------------- */

static const char *const log_names[] = { "error",  "info",   "verbose", "debug", "funcs",
					 "frames", "routing", "sys",	 "all",	  NULL };

/* Reads "0x43" or "error,info,routing". False: neither, which is reported. */
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
				  "'%s' is neither a mask (0 to 0xff) nor one of error, info, "
				  "verbose, "
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
