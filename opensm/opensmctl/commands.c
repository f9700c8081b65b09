// SPDX-License-Identifier: BSD-2-Clause
/* The list of all commands, and those that tell the manager to do something. */
#include "opensmctl/talk/ctl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/str.h"

#define PRIORITY_MAX 15

static const struct ctl_command ctl_sweep, ctl_reroute, ctl_priority, ctl_keys, ctl_loglevel,
	ctl_sweeping, ctl_sa_key;

const struct ctl_command *const ctl_commands[] = {
	&ctl_status,   &ctl_alarms,  &ctl_instances, &ctl_sweep,      &ctl_reroute, &ctl_reload,
	&ctl_priority, &ctl_keys,    &ctl_loglevel,  &ctl_sweeping,   &ctl_sa_key,  &ctl_monitor,
	&ctl_history,  &ctl_drain,   &ctl_isolate,   &ctl_restore,    &ctl_marks,   &ctl_health,
	&ctl_ledger,   &ctl_options, &ctl_security,  &ctl_congestion, &ctl_check,   &ctl_report,
	&ctl_topology, &ctl_nodes,   &ctl_ports,     &ctl_routes,     &ctl_path,    &ctl_partitions,
	&ctl_groups,   &ctl_sa,	     &ctl_managers,  &ctl_smp,	      &ctl_qos,	    NULL
};

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
		ctl_refuse(c, "the manager's port vanished before the sweep ended");
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
		return ctl_usage(c, &ctl_sweep, "a sweep is heavy or light, not '%s'",
				 argv[kind < 0 ? 0 : 1]);
	}
	json_object_object_add(parameters, "kind", json_object_new_string(kinds[kind]));
	if (d.shows)
		fputs("waiting for the sweep to begin\033[K", stderr);
	r = ctl_call_more(c, "Sweep", parameters, on_sweep, &d);
	return r == CTL_OK ? d.exit_code : r;
}

static const struct ctl_command ctl_sweep = {
	.name = "sweep",
	.arguments = "[heavy|light]",
	.help = "starts a sweep now, and waits for its end",
	.words = "heavy light",
	.scope = CTL_ACTS,
	.document = "Sweep",
	.member = "sweep",
	.run = cmd_sweep,
};

static void print_reroute(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	puts("routes will be computed afresh");
}

static const struct ctl_command ctl_reroute = {
	.name = "reroute",
	.arguments = "",
	.help = "computes routes afresh and writes them",
	.scope = CTL_ACTS,
	.method = "Reroute",
	.print = print_reroute,
};

/* ---- priority, sweeping --------------------------------------------------------------------- */

static void print_priority(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	printf("priority %" PRId64 "%s\n", js_int(answer, "priority"),
	       js_int(answer, "priority") == js_int(answer, "configured")
		       ? ""
		       : ", until the daemon ends");
}

static int cmd_priority(struct ctl *c, int argc, char **argv)
{
	static const struct ctl_command get = { .method = "GetPriority", .print = print_priority };
	static const struct ctl_command set = { .method = "SetPriority", .print = print_priority };
	struct json_object *parameters;
	uint64_t n = 0;

	if (argc > 1)
		return ctl_too_many(c, &ctl_priority, argv[1]);
	if (!argc)
		return ctl_show(c, &get, NULL);
	if (str_to_u64(argv[0], 0, PRIORITY_MAX, &n) < 0)
		return ctl_usage(c, &ctl_priority, "a priority is from 0 to %d, not '%s'",
				 PRIORITY_MAX, argv[0]);
	parameters = json_object_new_object();
	json_object_object_add(parameters, "priority", json_object_new_int64((int64_t)n));
	return ctl_show(c, &set, parameters);
}

static const struct ctl_command ctl_priority = {
	.name = "priority",
	.arguments = "[0-15]",
	.help = "shows the priority, or changes it until the daemon ends",
	.scope = CTL_SHOWS_BARE,
	.document = "GetPriority",
	.run = cmd_priority,
};

static void print_sa_key(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	puts(js_str(answer, "sa_key"));
}

static const struct ctl_command ctl_sa_key = {
	.name = "sa-key",
	.arguments = "",
	.help = "shows the key of trusted requests, to root alone",
	.scope = CTL_SHOWS,
	.method = "SaKey",
	.print = print_sa_key,
};

static void print_keys(struct ctl *c, struct json_object *o, struct json_object *asked)
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

static const struct ctl_command keys_commands[] = {
	{ .name = "rotate", .scope = CTL_ACTS, .method = "RotateKeys", .print = print_keys },
	{ 0 },
};

static const struct ctl_command ctl_keys = {
	.name = "keys",
	.arguments = "[rotate]",
	.help = "shows how many ports have the M_Key they shall have, or gives all another one",
	.words = "rotate",
	.scope = CTL_SHOWS,
	.subs = keys_commands,
	.method = "Keys",
	.print = print_keys,
};

/* ---- sweeping -------------------------------------------------------------------------------- */

static void print_sweeping(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	bool on = js_bool(answer, "enabled");

	puts(on	     ? "sweeping is on"
	     : asked ? "sweeping is off: changes are served when it is on again"
		     : "sweeping is off");
}

static int show_sweeping(struct ctl *c)
{
	struct json_object *status = ctl_call(c, "Status", NULL), *o = json_object_new_object();
	bool is_known = js_has(status, "sweeps");
	int r = status ? CTL_OK : c->exit_code;

	json_object_object_add(
		o, "enabled",
		json_object_new_boolean(js_bool(js_get(status, "sweeps"), "enabled")));
	if (status && !is_known)
		r = ctl_refuse(c, "%s", js_str(status, "status"));
	else if (status && c->json)
		ctl_print_json(c, o);
	else if (status)
		print_sweeping(c, o, NULL);
	json_object_put(status);
	json_object_put(o);
	return r;
}

static int cmd_sweeping(struct ctl *c, int argc, char **argv)
{
	static const struct ctl_command set = { .method = "SetSweeping", .print = print_sweeping };
	static const char *const words[] = { "on", "off", NULL };
	struct json_object *parameters;
	int word;

	if (!argc)
		return show_sweeping(c);
	word = ctl_match(argv[0], words);
	if (word < 0 || argc > 1)
		return ctl_usage(c, &ctl_sweeping, "sweeping is on or off, not '%s'",
				 argv[word < 0 ? 0 : 1]);
	parameters = json_object_new_object();
	json_object_object_add(parameters, "enabled", json_object_new_boolean(word == 0));
	return ctl_show(c, &set, parameters);
}

static const struct ctl_command ctl_sweeping = {
	.name = "sweeping",
	.arguments = "[on|off]",
	.help = "shows whether sweeps may begin, or switches them on or off",
	.words = "on off",
	.scope = CTL_SHOWS_BARE,
	.document = "SetSweeping",
	.run = cmd_sweeping,
};

/* ---- loglevel ------------------------------------------------------------------------------- */

static const char *const log_names[] = { "error",  "info",    "verbose", "debug", "funcs",
					 "frames", "routing", "sys",	 "all",	  NULL };

/* Reads "0x43" or "error,info,routing". False: neither, which is reported. */
static bool parse_mask(const struct ctl *c, const char *text, uint64_t *ret)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *rest = copy, *word;

	if (str_to_u64(text, 0, 0xFF, ret) == 0)
		return true;
	*ret = 0;
	while ((word = strsep(&rest, ",+|"))) {
		int bit = ctl_match(word, log_names);

		if (bit < 0) {
			ctl_usage(c, &ctl_loglevel,
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

static void print_loglevel(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	char names[100];

	ctl_list(js_get(answer, "names"), " ", names, sizeof(names));
	printf("log level 0x%02x:%s%s\n", (unsigned)js_int(answer, "flags"), names[0] ? " " : "",
	       names);
}

static int cmd_loglevel(struct ctl *c, int argc, char **argv)
{
	static const struct ctl_command get = { .method = "GetLogLevel", .print = print_loglevel };
	static const struct ctl_command set = { .method = "SetLogLevel", .print = print_loglevel };
	struct json_object *parameters;
	uint64_t mask;

	if (argc > 1)
		return ctl_too_many(c, &ctl_loglevel, argv[1]);
	if (!argc)
		return ctl_show(c, &get, NULL);
	if (!parse_mask(c, argv[0], &mask))
		return CTL_USAGE;
	parameters = json_object_new_object();
	json_object_object_add(parameters, "flags", json_object_new_int64((int64_t)mask));
	return ctl_show(c, &set, parameters);
}

static const struct ctl_command ctl_loglevel = {
	.name = "loglevel",
	.arguments = "[MASK | NAME[,NAME]...]",
	.help = "shows the log levels, or changes them until the next reload",
	.words = "error info verbose debug funcs frames routing all",
	.scope = CTL_SHOWS_BARE,
	.document = "GetLogLevel",
	.run = cmd_loglevel,
};
