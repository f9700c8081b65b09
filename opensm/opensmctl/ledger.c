// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ledger: what is entrusted to managers at run time, whether it is written to devices, and
 * which managers have it; adopt and forget: the two ways out of the state in which P_Keys on
 * devices are kept because nothing explains them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"

/* ---- shown ---------------------------------------------------------------------------------- */

static enum ctl_color state_tint(struct json_object *o)
{
	return js_has(o, "trouble") ? CTL_BAD : CTL_PLAIN;
}

static enum ctl_color standing_tint(struct json_object *manager)
{
	const char *standing = js_str(manager, "standing");

	return !strcmp(standing, "with")      ? CTL_GOOD
	       : !strcmp(standing, "refuses") ? CTL_BAD
					      : CTL_WARN;
}

static const struct column tables[] = {
	{ "TABLE", .key = "name", .color = CTL_NAME },
	{ "ROWS>", COLUMN_INT, .key = "rows" },
	{ "REMOVED>", COLUMN_INT, .key = "removed", .drop = 1 },
	{ "LAST CHANGE>", COLUMN_INT, .key = "number", .otherwise = "-" },
	{ "AT", COLUMN_TIME, .key = "changed" },
	{ 0 },
};

static const struct column managers[] = {
	{ "GUID", .key = "port_guid", .color = CTL_DIM, .drop = 1 },
	{ "MANAGER", .key = "where", .color = CTL_NAME },
	{ "LAST SEEN", COLUMN_TIME, .key = "seen" },
	{ "LEDGER", .key = "text", .tint = standing_tint, .folds = true },
	{ 0 },
};

static void print_head(const struct ctl *c, struct json_object *o)
{
	char changed[CTL_TIME_STRLEN];

	printf("state    %s%s%s%s%s, term %" PRId64 "\n", ctl_color(c, state_tint(o)),
	       js_str(o, "state"), ctl_color(c, CTL_PLAIN), js_has(o, "reason") ? ": " : "",
	       js_str(o, "reason"), js_int(o, "term"));
	printf("file     %s", js_has(o, "file") ? js_str(o, "file") : "none");
	if (js_has(o, "fault"))
		printf(": %s%s%s", ctl_color(c, CTL_BAD), js_str(o, "fault"),
		       ctl_color(c, CTL_PLAIN));
	ctl_time_of(o, "changed", changed);
	printf("\nchanged  %s\n\n", changed[0] ? changed : "never");
}

static void print_ledger(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	if (!c->oneline)
		print_head(c, o);
	ctl_print_table(c, tables, js_get(o, "tables"));
	if (!js_len(js_get(o, "managers")))
		return;
	if (!c->oneline)
		putchar('\n');
	ctl_print_table(c, managers, js_get(o, "managers"));
}

static bool has_trouble(const struct ctl *c, struct json_object *o)
{
	return js_has(o, "trouble");
}

/* ---- adopt, forget -------------------------------------------------------------------------- */

static void print_adopted(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	char members[64], partitions[64], ports[64], missing[64];

	printf("adopted %s of %s at %s",
	       ctl_plural(js_int(o, "members"), "member", members),
	       ctl_plural(js_int(o, "partitions"), "new partition", partitions),
	       ctl_plural(js_int(o, "ports"), "port", ports));
	if (js_int(o, "missing"))
		printf("; %s that devices lack %s given",
		       ctl_plural(js_int(o, "missing"), "P_Key", missing),
		       js_int(o, "missing") == 1 ? "is" : "are");
	putchar('\n');
}

static void print_forgotten(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	char keys[64];

	printf("%s that %s not explained: cleared where devices hold them, given where they lack "
	       "them\n",
	       ctl_plural(js_int(o, "unexplained"), "P_Key", keys),
	       js_int(o, "unexplained") == 1 ? "was" : "were");
}

static const struct ctl_command ledger_commands[] = {
	{ .name = "adopt", .scope = CTL_ACTS, .method = "LedgerAdopt", .print = print_adopted },
	{ .name = "forget", .scope = CTL_ACTS, .method = "LedgerForget", .print = print_forgotten },
	{ 0 },
};

const struct ctl_command ctl_ledger = {
	.name = "ledger",
	.arguments = "[adopt|forget]",
	.help = "what is entrusted at run time, and which managers have it; P_Keys on devices "
		"that nothing explains: taken over, or cleared",
	.words = "adopt forget",
	.scope = CTL_SHOWS,
	.subs = ledger_commands,
	.method = "Ledger",
	.print = print_ledger,
	.fails = has_trouble,
};
