// SPDX-License-Identifier: BSD-2-Clause
/* opensmctl congestion: how far devices are set up, and which hosts are throttled by what. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"

static char *name_of(struct json_object *end)
{
	const char *name = js_str(end, "name");

	return name[0] ? xstrdup(name) : xasprintf("LID %" PRId64, js_int(end, "lid"));
}

static enum ctl_color tint(struct json_object *port)
{
	return !strcmp(js_str(port, "state"), "settled") ? CTL_GOOD : CTL_WARN;
}

static const struct column columns[] = {
	{ "NAME", .key = "name", .color = CTL_NAME },
	{ "LID>", COLUMN_INT, .key = "lid" },
	{ "STATE", .key = "state", .tint = tint },
	{ "ROUNDED>", COLUMN_NATURAL, .key = "rounded", .drop = 1 },
	{ "REFUSED>", COLUMN_NATURAL, .key = "refused" },
	{ "WRONG KEYS>", COLUMN_NATURAL, .key = "key_violations", .drop = 2 },
	{ "MARKS>", COLUMN_NATURAL, .key = "marks" },
	{ 0 },
};

static const struct column rate_columns[] = {
	{ "LINKS Gb/s>", COLUMN_GBPS, .key = "gbps" },
	{ "HOSTS>", COLUMN_NATURAL, .key = "hosts" },
	{ "SWITCH PORTS>", COLUMN_NATURAL, .key = "switch_ports" },
	{ "THRESHOLD>", COLUMN_INT, .key = "threshold" },
	{ "PACKET SIZE>", COLUMN_INT, .key = "packet_size", .drop = 1 },
	{ "MARKING RATE>", COLUMN_INT, .key = "marking_rate" },
	{ "CCTI TIMER>", COLUMN_INT, .key = "timer" },
	{ "INCREASE>", COLUMN_INT, .key = "increase", .drop = 2 },
	{ 0 },
};

/* Prints the settings that devices get. */
static void print_numbers(const struct ctl *c, struct json_object *o)
{
	char sls[64];

	printf("Profile %s: control table of %" PRId64 " entries, up to a pause of %" PRId64
	       " packet times",
	       js_str(o, "profile"), js_int(o, "table_entries"), js_int(o, "longest_delay"));
	if (js_int(o, "incast"))
		printf(" (%" PRId64 " hosts that send to one)", js_int(o, "incast"));
	printf("\n");
	if (js_len(js_get(o, "spared_sls")))
		printf("Never slowed down: SL %s\n",
		       ctl_list(js_get(o, "spared_sls"), ", ", sls, sizeof(sls)));
	if (js_str(o, "port_settings")[0])
		printf("Single ports of switches: %s\n", js_str(o, "port_settings"));
	if (!js_len(js_get(o, "rates")))
		return;
	printf("\n");
	ctl_print_table(c, rate_columns, js_get(o, "rates"));
}

static void print_marked(struct json_object *port)
{
	struct json_object *marked = js_get(port, "marked_ports");
	_cleanup_free_ char *name = name_of(port);

	for (size_t i = 0; i < js_len(marked); i++) {
		struct json_object *one = js_at(marked, i);

		printf("  %s/%" PRId64 " marks packets", name, js_int(one, "port"));
		if (js_get(one, "xmit_wait"))
			printf(" (XmitWait %" PRId64 ")", js_int(one, "xmit_wait"));
		printf("\n");
	}
}

static void print_flows(struct json_object *port)
{
	bool is_switch = !strcmp(js_str(port, "type"), "switch");
	struct json_object *flows = js_get(port, "flows");
	_cleanup_free_ char *name = name_of(port);
	char n[64], ago[32];

	print_marked(port);
	for (size_t i = 0; i < js_len(flows); i++) {
		struct json_object *flow = js_at(flows, i);
		_cleanup_free_ char *from = name_of(js_get(flow, "from"));
		_cleanup_free_ char *to = name_of(js_get(flow, "to"));

		printf("  %s to %s, SL %" PRId64 ": %s %s", from, to, js_int(flow, "sl"),
		       is_switch ? "marked by" : "slowed down at", name);
		if (js_int(flow, "port"))
			printf("/%" PRId64, js_int(flow, "port"));
		printf(" (%s, %s ago)\n", ctl_plural(js_int(flow, "events"), "event", n),
		       ctl_duration(js_int(port, "seconds_ago"), ago));
	}
}

static void print_summary(struct json_object *o)
{
	printf("Congestion control: %" PRId64 " ports set up, %" PRId64 " under way, %" PRId64
	       " silent, %" PRId64 " without the class\n"
	       "%" PRId64 " ports store other values, %" PRId64 " refuse some; %" PRId64
	       " have a CC_Key, which met %" PRId64 " wrong ones\n"
	       "%" PRId64 " Gets, %" PRId64 " Sets, %" PRId64 " timeouts; %" PRId64
	       " marks in the logs of switches\n",
	       js_int(o, "settled"), js_int(o, "waiting") + js_int(o, "asked"),
	       js_int(o, "silent"), js_int(o, "unsupported"), js_int(o, "rounded"),
	       js_int(o, "refused"), js_int(o, "with_key"), js_int(o, "key_violations"),
	       js_int(o, "gets"), js_int(o, "sets"), js_int(o, "timeouts"), js_int(o, "marks"));
}

static void print_congestion(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	struct json_object *ports = js_get(o, "ports");

	if (c->oneline) {
		ctl_print_table(c, columns, ports);
		return;
	}
	if (!json_object_get_boolean(js_get(o, "on"))) {
		printf("Congestion control is off (congestion_control FALSE)\n");
		return;
	}
	print_summary(o);
	print_numbers(c, o);
	if (!js_len(ports))
		return;
	printf("\n");
	ctl_print_table(c, columns, ports);
	printf("\n");
	for (size_t i = 0; i < js_len(ports); i++)
		print_flows(js_at(ports, i));
	if (js_int(o, "hidden"))
		printf("  and %" PRId64 " more ports\n", js_int(o, "hidden"));
}

const struct ctl_command ctl_congestion = {
	.name = "congestion",
	.arguments = "",
	.help = "congestion control: which hosts are throttled, and how far it is set up",
	.scope = CTL_SHOWS,
	.method = "Congestion",
	.print = print_congestion,
};
