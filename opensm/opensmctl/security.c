// SPDX-License-Identifier: BSD-2-Clause
/* The security checklist, a line for each check. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/talk/ctl.h"

static enum ctl_color tint(struct json_object *check)
{
	const char *verdict = js_str(check, "verdict");

	return !strcmp(verdict, "pass") ? CTL_GOOD : !strcmp(verdict, "fail") ? CTL_BAD : CTL_WARN;
}

static const struct column columns[] = {
	{ "LINE>", COLUMN_INT, .key = "number", .drop = 1 },
	{ "VERDICT", .key = "verdict", .tint = tint },
	{ "CHECK", .key = "name", .color = CTL_NAME },
	{ "NOW", .key = "present", .folds = true },
	{ "TO DO", .key = "advice", .color = CTL_DIM, .folds = true },
	{ 0 },
};

/* The end ports that a check of the devices found without protection. */
static void print_ports(struct json_object *o)
{
	struct json_object *ports = js_get(o, "ports");
	int64_t more = js_int(o, "n_ports") - (int64_t)js_len(ports);

	if (js_len(ports))
		printf("\nPorts without the protection of the configuration:\n");
	for (size_t i = 0; i < js_len(ports); i++)
		printf("  %s\n", json_object_get_string(js_at(ports, i)));
	if (more > 0)
		printf("  and %" PRId64 " more\n", more);
}

static void print_security(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	ctl_print_table(c, columns, js_get(o, "checks"));
	if (c->oneline)
		return;
	print_ports(o);
	printf("\nProfile %s: %" PRId64 " pass, %" PRId64 " fail, %" PRId64 " unknown\n",
	       js_str(o, "profile"), js_int(o, "passed"), js_int(o, "failed"),
	       js_int(o, "unknown"));
}

static bool has_failed(const struct ctl *c, struct json_object *o)
{
	return js_int(o, "failed");
}

const struct ctl_command ctl_security = {
	.name = "security",
	.arguments = "",
	.help = "the security checklist: what passes, what fails, and what to do",
	.scope = CTL_SHOWS,
	.method = "Security",
	.print = print_security,
	.fails = has_failed,
};
