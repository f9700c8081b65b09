// SPDX-License-Identifier: BSD-2-Clause
/* health: links with findings, the sickest first; links that are slower than they could be; ports. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "opensmctl/commands.h"
#include "util/mem.h"
#include "util/str.h"

#define WATCH_MOST 3600

static const struct ctl_command *health_command(void)
{
	const struct ctl_command *c = manager_commands;

	while (strcmp(c->name, "health"))
		c++;
	return c;
}

static char *link_text(struct json_object *link)
{
	struct json_object *ends = js_get(link, "ends"), *a = js_at(ends, 0), *b = js_at(ends, 1);

	return xasprintf("%s/%" PRId64 " - %s/%" PRId64,
			 js_has(a, "node") ? js_str(a, "node") : js_str(a, "node_guid"),
			 js_int(a, "port"),
			 js_has(b, "node") ? js_str(b, "node") : js_str(b, "node_guid"),
			 js_int(b, "port"));
}

static char *since_text(struct json_object *link)
{
	time_t t = (time_t)js_int(link, "since");
	char text[40] = "-";
	struct tm tm;

	if (localtime_r(&t, &tm))
		strftime(text, sizeof(text), "%FT%T", &tm);
	return xstrdup(text);
}

static char *rate_text(struct json_object *link)
{
	return xasprintf("%" PRId64 "x %s", js_int(link, "width"), js_str(link, "speed"));
}

static char *possible_text(struct json_object *link)
{
	return xasprintf("%" PRId64 "x %s", js_int(link, "width_possible"),
			 js_str(link, "speed_possible"));
}

/* Conditions that hold now are red, those of a probation yellow. */
static enum ctl_color tint(struct json_object *link)
{
	return js_len(js_get(link, "now")) ? CTL_BAD : CTL_WARN;
}

static const struct column sick_columns[] = {
	{ "LINK", COLUMN_STR, .key = "ends", .color = CTL_NAME, .text = link_text },
	{ "WHY", COLUMN_STR, .key = "why", .tint = tint },
	{ "SINCE", COLUMN_STR, .key = "since", .text = since_text },
	{ "DONE", COLUMN_STR, .key = "done" },
	{ 0 },
};

static const struct column slow_columns[] = {
	{ "LINK", COLUMN_STR, .key = "ends", .color = CTL_NAME, .text = link_text },
	{ "RUNS AT", COLUMN_STR, .key = "speed", .color = CTL_WARN, .text = rate_text },
	{ "BOTH ENDS CAN", COLUMN_STR, .key = "speed_possible", .text = possible_text },
	{ 0 },
};

static void print_health(const struct ctl *c, struct json_object *o)
{
	struct json_object *links = js_get(o, "links"), *slow = js_get(o, "slow");

	if (js_len(links))
		ctl_print_table(c, sick_columns, links);
	if (js_len(slow) && !c->oneline)
		printf("%sslower or narrower than both ends can:\n", js_len(links) ? "\n" : "");
	if (js_len(slow))
		ctl_print_table(c, slow_columns, slow);
	if (c->oneline)
		return;
	if (!js_bool(o, "checks"))
		printf("links are not judged: hm_unhealthy_ports_checks is FALSE\n");
	else if (!js_bool(o, "master"))
		printf("links are judged by the master, which this manager is not\n");
	else if (!js_len(links))
		printf("no link has a finding\n");
	if (js_bool(o, "checks") && !js_bool(o, "counters"))
		printf("no counters are read: bit errors, packets and link downs are not judged "
		       "(perfmgr TRUE)\n");
	printf("%" PRId64 " of at most %" PRId64 " links are isolated for their health%s\n",
	       js_int(o, "isolated"), js_int(o, "most_isolated"),
	       js_bool(o, "dry_run") ? "; hm_dry_run is TRUE: none will be" : "");
}

static int show_once(struct ctl *c)
{
	struct json_object *o = ctl_call(c, "Health", NULL);

	if (!o)
		return c->exit_code;
	if (c->json)
		ctl_print_json(c, o);
	else
		print_health(c, o);
	json_object_put(o);
	return CTL_OK;
}

/* Until it is interrupted, or the manager is gone. */
static int watch(struct ctl *c, unsigned seconds)
{
	int r;

	do {
		if (isatty(STDOUT_FILENO))
			fputs("\033[H\033[2J", stdout);
		r = show_once(c);
		fflush(stdout);
	} while (r == CTL_OK && sleep(seconds) == 0);
	return r;
}

static int clear(struct ctl *c, int argc, char **argv)
{
	struct json_object *parameters, *answer;

	if (argc != 1)
		return ctl_usage(health_command(), "clear takes one link, as NODE/PORT");
	parameters = json_object_new_object();
	json_object_object_add(parameters, "target", json_object_new_string(argv[0]));
	answer = ctl_call(c, "HealthClear", parameters);
	if (!answer)
		return c->exit_code;
	if (c->json)
		ctl_print_json(c, answer);
	else
		printf("cleared: the link counts as in order until something new is found\n");
	json_object_put(answer);
	return CTL_OK;
}

static int ports(struct ctl *c, int argc, char **argv)
{
	if (argc && !strcmp(argv[argc - 1], "--json")) {
		c->json = true;
		argc--;
	}
	if (argc != 1)
		return ctl_usage(health_command(), "ports takes one NODE or NODE/PORT");
	return ctl_health_port(c, argv[0]);
}

bool cmd_health_acts(int argc, char **argv)
{
	return argc && !strcmp(argv[0], "clear");
}

int cmd_health(struct ctl *c, int argc, char **argv)
{
	uint64_t seconds = 0;

	if (cmd_health_acts(argc, argv))
		return clear(c, argc - 1, argv + 1);
	if (argc && !strcmp(argv[0], "ports"))
		return ports(c, argc - 1, argv + 1);
	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			c->json = true;
		else if (!strcmp(argv[i], "--watch") && argv[i + 1] &&
			 str_to_u64(argv[i + 1], 10, WATCH_MOST, &seconds) == 0 && seconds)
			i++;
		else if (!strcmp(argv[i], "--watch"))
			return ctl_usage(health_command(), "--watch takes seconds, from 1 to %d",
					 WATCH_MOST);
		else
			return ctl_too_many(health_command(), argv[i]);
	}
	return seconds ? watch(c, (unsigned)seconds) : show_once(c);
}
