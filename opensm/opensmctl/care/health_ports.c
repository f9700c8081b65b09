// SPDX-License-Identifier: BSD-2-Clause
/* health ports: counters of ports, their growth, and how many bits are wrong. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/commands.h"
#include "util/mem.h"

#define BITS_OF_DATA 32.0 /* xmit_data and rcv_data count units of 4 octets */

static char *rate_text(struct json_object *count)
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

static const struct column columns[] = {
	{ "PORT", COLUMN_STR, .key = "place", .color = CTL_NAME, .optional = true },
	{ "COUNTER", COLUMN_STR, .key = "name" },
	{ "VALUE>", COLUMN_STR, .key = "value", .text = value_text },
	{ "PER SECOND>", COLUMN_STR, .key = "per_second", .text = rate_text },
	{ 0 },
};

static char *place_of(struct json_object *port)
{
	return xasprintf("%.70s/%" PRId64, js_str(port, "node"), js_int(port, "port"));
}

static void print_line(const struct ctl *c, struct json_object *port)
{
	struct json_object *counts = js_get(port, "counters");
	_cleanup_free_ char *place = place_of(port);

	for (size_t i = 0; i < js_len(counts); i++)
		json_object_object_add(js_at(counts, i), "place", json_object_new_string(place));
	if (js_len(counts))
		ctl_print_table(c, columns, counts);
}

/* A rate below what was watched for long enough says nothing: the time says how much it is worth. */
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
		printf(", rates are of the %.1f s before", (double)js_int(port, "interval_ms") / 1e3);
	printf("\n");
}

static void print_port(const struct ctl *c, struct json_object *port)
{
	char times[64];

	print_head(c, port);
	ctl_print_table(c, columns, js_get(port, "counters"));
	print_ber(port, "symbol_ber", "symbol");
	print_ber(port, "effective_ber", "effective");
	print_reasons(port, "rcv_error_reasons", "reasons of receive errors");
	print_reasons(port, "discard_reasons", "reasons of discards");
	if (js_int(port, "resets"))
		printf("other programs cleared its counters %s%s\n",
		       ctl_plural(js_int(port, "resets"), "time", times),
		       js_bool(port, "reset_last") ?
			       ", the last time just before this reading" :
			       "");
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
		printf("%s: not read yet, or it does not answer; every port is read once in %" PRId64
		       " s (perfmgr_sweep_time_s)\n",
		       place, js_int(o, "sweep_seconds"));
}

static void print_ports(const struct ctl *c, struct json_object *o)
{
	struct json_object *ports = js_get(o, "ports");
	bool shown = false;

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

int ctl_health_port(struct ctl *c, const char *word)
{
	struct json_object *parameters = json_object_new_object(), *o;

	json_object_object_add(parameters, "target", json_object_new_string(word));
	o = ctl_call(c, "Counters", parameters);
	if (!o)
		return c->exit_code;
	if (c->json)
		ctl_print_json(c, o);
	else if (c->oneline || !print_obstacle(o))
		print_ports(c, o);
	json_object_put(o);
	return CTL_OK;
}
