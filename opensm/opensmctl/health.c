// SPDX-License-Identifier: BSD-2-Clause
/* health: links with findings, the sickest first; links slower than they could be; ports. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"
#include "util/str.h"

#define BITS_OF_DATA 32.0 /* xmit_data and rcv_data count units of 4 octets */

static char *link_text(struct json_object *link)
{
	struct json_object *ends = js_get(link, "ends"), *a = js_at(ends, 0), *b = js_at(ends, 1);

	return xasprintf(
		"%s/%" PRId64 " - %s/%" PRId64,
		js_has(a, "node") ? js_str(a, "node") : js_str(a, "node_guid"), js_int(a, "port"),
		js_has(b, "node") ? js_str(b, "node") : js_str(b, "node_guid"), js_int(b, "port"));
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
	{ "WHY", COLUMN_STR, .key = "why", .tint = tint, .folds = true },
	{ "SINCE", COLUMN_TIME, .key = "since", .drop = 1 },
	{ "DONE", COLUMN_STR, .key = "done", .folds = true },
	{ 0 },
};

static const struct column slow_columns[] = {
	{ "LINK", COLUMN_STR, .key = "ends", .color = CTL_NAME, .text = link_text },
	{ "RUNS AT", COLUMN_LINK, .color = CTL_WARN },
	{ "BOTH ENDS CAN", COLUMN_STR, .key = "speed_possible", .text = possible_text },
	{ 0 },
};

static void print_health(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	struct json_object *links = js_get(o, "links"), *slow = js_get(o, "slow");

	if (js_len(links))
		ctl_print_table(c, sick_columns, links);
	if (js_len(slow) && !c->oneline)
		printf("%sslower than both ends can, or than their peers:\n",
		       js_len(links) ? "\n" : "");
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

static void print_cleared(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	puts("cleared: the link counts as in order until something new is found");
}

/* ---- ports: counters, their growth, and how many bits are wrong ---- */

static char *growth_text(struct json_object *count)
{
	const char *name = js_str(count, "name");
	struct json_object *rate = js_get(count, "per_second");
	double n = json_object_get_double(rate);

	if (!rate)
		return xstrdup("-");
	if (!strcmp(name, "xmit_data") || !strcmp(name, "rcv_data"))
		return xasprintf("%.4g Gb/s", n * BITS_OF_DATA / 1e9);
	return xasprintf(n < 10 ? "%.2g" : "%.0f", n);
}

static char *value_text(struct json_object *count)
{
	return xasprintf("%" PRId64 "%s", js_int(count, "value"),
			 js_bool(count, "saturated") ? " or more" : "");
}

static const struct column count_columns[] = {
	{ "PORT", COLUMN_STR, .key = "place", .color = CTL_NAME, .optional = true },
	{ "COUNTER", COLUMN_STR, .key = "name" },
	{ "VALUE>", COLUMN_STR, .key = "value", .text = value_text },
	{ "PER SECOND>", COLUMN_STR, .key = "per_second", .text = growth_text },
	{ 0 },
};

static char *place_of(struct json_object *port)
{
	return xasprintf("%.70s/%" PRId64, js_str(port, "node"), js_int(port, "port"));
}

static void print_line(struct ctl *c, struct json_object *port)
{
	struct json_object *counts = js_get(port, "counters");
	_cleanup_free_ char *place = place_of(port);

	for (size_t i = 0; i < js_len(counts); i++)
		json_object_object_add(js_at(counts, i), "place", json_object_new_string(place));
	if (js_len(counts))
		ctl_print_table(c, count_columns, counts);
}

/* A rate below the least that the time shows says nothing: the time is printed, too. */
static void print_ber(struct json_object *port, const char *key, const char *what)
{
	struct json_object *o = js_get(port, key);
	int64_t goal = js_int(o, "goal_seconds"), us = js_int(o, "observed_seconds");
	char errors[64], observed[32], needed[32];

	if (!o)
		return;
	ctl_duration(us, observed);
	ctl_plural(js_int(o, "errors"), "error", errors);
	if (js_int(o, "errors"))
		printf("%s BER %.2g: %s in %s\n", what, json_object_get_double(js_get(o, "ber")),
		       errors, observed);
	else
		printf("%s BER below %.2g (95 %% sure): no error in %s\n", what,
		       json_object_get_double(js_get(o, "proven_below")), observed);
	if (us < goal)
		printf("  %s without an error are needed to be sure that it is below %.0e\n",
		       ctl_duration(goal, needed), json_object_get_double(js_get(o, "goal")));
}

static void print_reasons(struct json_object *port, const char *key, const char *what)
{
	struct json_object *o = js_get(port, key);
	const char *sep = "";

	if (!o)
		return;
	printf("%s: ", what);
	json_object_object_foreach(o, name, n)
	{
		if (!json_object_get_int64(n))
			continue;
		printf("%s%s %" PRId64, sep, name, json_object_get_int64(n));
		sep = ", ";
	}
	printf("%s\n", sep[0] ? "" : "none is counted");
}

static void print_head(const struct ctl *c, struct json_object *port)
{
	_cleanup_free_ char *place = place_of(port);
	double gbps = (double)js_int(port, "bits_per_second") / 1e9;
	char rate[32] = "", age[32];

	if (gbps > 0)
		ctl_gbps(gbps, rate);
	printf("%s%s%s: %s%sread %s ago", ctl_color(c, CTL_NAME), place, ctl_color(c, CTL_PLAIN),
	       rate, rate[0] ? " Gb/s, " : "", ctl_duration(js_int(port, "age_seconds"), age));
	if (js_int(port, "interval_ms"))
		printf(", rates are of the %.1f s before",
		       (double)js_int(port, "interval_ms") / 1e3);
	printf("\n");
}

static void print_port(const struct ctl *c, struct json_object *port)
{
	char times[64];

	print_head(c, port);
	ctl_print_table(c, count_columns, js_get(port, "counters"));
	print_ber(port, "symbol_ber", "symbol");
	print_ber(port, "effective_ber", "effective");
	print_reasons(port, "rcv_error_reasons", "reasons of receive errors");
	print_reasons(port, "discard_reasons", "reasons of discards");
	if (js_int(port, "resets"))
		printf("other programs cleared its counters %s%s\n",
		       ctl_plural(js_int(port, "resets"), "time", times),
		       js_bool(port, "reset_last") ? ", the last time just before this reading"
						   : "");
}

/* The one thing to do where no counters are read. True: it was said. */
static bool print_obstacle(struct json_object *o)
{
	if (!js_bool(o, "enabled"))
		printf("no counters are read: perfmgr is FALSE; set perfmgr TRUE in opensm.conf "
		       "and restart the manager\n");
	else if (!js_bool(o, "master"))
		printf("counters are read by the master, which this manager is not\n");
	else
		return false;
	return true;
}

static void print_unread(struct json_object *o, struct json_object *port)
{
	_cleanup_free_ char *place = place_of(port);

	if (!js_bool(port, "linked"))
		printf("%s: no cable, its counters are not read\n", place);
	else
		printf("%s: not read yet, or it does not answer; every port is read once in "
		       "%" PRId64 " s (perfmgr_sweep_time_s)\n",
		       place, js_int(o, "sweep_seconds"));
}

static void print_ports(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	struct json_object *ports = js_get(o, "ports");
	bool shown = false;

	if (!c->oneline && print_obstacle(o))
		return;
	for (size_t i = 0; i < js_len(ports); i++) {
		struct json_object *port = js_at(ports, i);

		if (c->oneline) {
			print_line(c, port);
			continue;
		}
		if (shown)
			printf("\n");
		shown = true;
		if (js_bool(port, "read"))
			print_port(c, port);
		else
			print_unread(o, port);
	}
}

static const struct ctl_word target_words[] = {
	{ CTL_TEXT, .parameter = "target", .offers = OFFER_PLACES,
	  .missing = "NODE/PORT is missing" },
	{ 0 },
};

static const struct ctl_command health_commands[] = {
	{ .name = "clear",
	  .scope = CTL_ACTS,
	  .method = "HealthClear",
	  .takes = target_words,
	  .print = print_cleared },
	{ .name = "ports",
	  .scope = CTL_SHOWS,
	  .method = "Counters",
	  .takes = target_words,
	  .print = print_ports },
	{ 0 },
};

const struct ctl_command ctl_health = {
	.name = "health",
	.arguments = "[ports NODE[/PORT] | clear NODE/PORT]",
	.help = "links with findings, the sickest first; slow links; ports: counters, error rates",
	.words = "ports clear",
	.scope = CTL_SHOWS,
	.subs = health_commands,
	.method = "Health",
	.print = print_health,
};
