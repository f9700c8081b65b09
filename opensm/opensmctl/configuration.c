// SPDX-License-Identifier: BSD-2-Clause
/* Options in force, and what reading the configuration finds. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"

/* ---- check and reload ----------------------------------------------------------------------- */

static void print_finding(const struct ctl *c, struct json_object *f)
{
	const char *severity = js_str(f, "severity");
	enum ctl_color color = !strcmp(severity, "error")     ? CTL_BAD
			       : !strcmp(severity, "warning") ? CTL_WARN
							      : CTL_DIM;

	if (js_int(f, "line") && js_int(f, "column"))
		printf("%s:%" PRId64 ":%" PRId64 ": ", js_str(f, "file"), js_int(f, "line"),
		       js_int(f, "column"));
	else if (js_int(f, "line"))
		printf("%s:%" PRId64 ": ", js_str(f, "file"), js_int(f, "line"));
	else if (js_has(f, "file"))
		printf("%s: ", js_str(f, "file"));
	printf("%s%s%s: %s\n", ctl_color(c, color), severity, ctl_color(c, CTL_PLAIN),
	       js_str(f, "text"));
}

static void print_verdict(struct json_object *o, bool taken)
{
	char errors[64];

	if (js_int(o, "errors"))
		printf("%s: %s\n", ctl_plural(js_int(o, "errors"), "error", errors),
		       taken ? "nothing is taken over, the running configuration stays as it is"
			     : "a reload would take nothing over");
	else if (js_has(o, "would_change"))
		printf("%s: %s\n", taken ? "reloading" : "a reload would change",
		       js_str(o, "would_change"));
	else
		printf("no errors; nothing has changed\n");
}

static void print_findings(const struct ctl *c, struct json_object *o, bool taken)
{
	struct json_object *findings = js_get(o, "findings");

	for (size_t i = 0; i < js_len(findings); i++)
		print_finding(c, js_at(findings, i));
	print_verdict(o, taken);
}

static void print_check(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	print_findings(c, o, false);
}

static void print_reload(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	print_findings(c, o, true);
}

static bool has_errors(const struct ctl *c, struct json_object *o)
{
	return js_int(o, "errors");
}

const struct ctl_command ctl_check = {
	.name = "check",
	.arguments = "",
	.help = "errors that a reload would find; changes nothing",
	.scope = CTL_SHOWS,
	.method = "Check",
	.excess = "check asks the daemon about its own files; for others there is: opensm --check",
	.print = print_check,
	.fails = has_errors,
};

const struct ctl_command ctl_reload = {
	.name = "reload",
	.arguments = "",
	.help = "reads the configuration again, as SIGHUP",
	.scope = CTL_ACTS,
	.method = "Reload",
	.print = print_reload,
	.fails = has_errors,
};

/* ---- options -------------------------------------------------------------------------------- */

/* "from the master 0x... at 2026-11-23T17:00:00+01:00" */
static char *origin_text(struct json_object *o)
{
	char when[CTL_TIME_STRLEN];

	ctl_time_of(o, "copied_at", when);
	return xasprintf("from the master %s%s%s", js_str(o, "copied_from"), when[0] ? " at " : "",
			 when);
}

static char *source_text(struct json_object *o)
{
	const char *source = js_str(o, "source");

	if (!strcmp(source, "copied"))
		return origin_text(o);
	if (!strcmp(source, "profile"))
		return xasprintf("profile %s", js_str(o, "profile"));
	if (!strcmp(source, "file"))
		return xasprintf("%s:%" PRId64, js_str(o, "file"), js_int(o, "line"));
	return xstrdup(!strcmp(source, "command_line") ? "command line" : source);
}

/* The cost of changing an option, from the words of conf/options.def. */
static const char *cost_words(const char *cost)
{
	static const char *const words[][2] = {
		{ "NOTHING", "counts at once after a reload" },
		{ "LOG", "counts at once after a reload; the log is opened again" },
		{ "SWEEP", "counts after a reload and the sweep it asks for" },
		{ "ROUTE", "counts after a reload, and routes are computed anew" },
		{ "RESTART", "counts after a restart only" },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i][0], cost))
			return words[i][1];
	return cost;
}

static void print_one(const struct ctl *c, struct json_object *o)
{
	_cleanup_free_ char *source = source_text(o);

	printf("%s%s%s %s\n", ctl_color(c, CTL_NAME), js_str(o, "name"), ctl_color(c, CTL_PLAIN),
	       js_str(o, "value"));
	printf("  from      %s\n  default   %s\n  range     %s\n  a change  %s\n", source,
	       js_str(o, "default"), js_str(o, "range"), cost_words(js_str(o, "change_costs")));
	if (!strcmp(js_str(o, "effect"), "none"))
		printf("  effect    none: not supported yet\n");
	if (js_str(o, "help")[0])
		printf("  %s\n", js_str(o, "help"));
}

static const struct column option_columns[] = {
	{ "OPTION", .key = "name", .color = CTL_NAME },
	{ "VALUE", .key = "value", .folds = true },
	{ "DEFAULT", .key = "default", .color = CTL_DIM, .folds = true, .drop = 1 },
	{ "FROM", .text = source_text, .folds = true, .drop = 2 },
	{ 0 },
};

static bool is_untouched(struct json_object *o)
{
	return js_bool(o, "is_default") && !strcmp(js_str(o, "source"), "default");
}

static void print_some(const struct ctl *c, struct json_object *all, bool untouched)
{
	struct json_object *shown = json_object_new_array();

	for (size_t i = 0; i < js_len(all); i++)
		if (untouched || !is_untouched(js_at(all, i)))
			json_object_array_add(shown, json_object_get(js_at(all, i)));
	ctl_print_table(c, option_columns, shown);
	json_object_put(shown);
}

static void print_options(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	struct json_object *all = js_get(answer, "options");

	if (js_has(asked, "name") && js_len(all) == 1 && !c->oneline)
		print_one(c, js_at(all, 0));
	else
		print_some(c, all, false);
}

static void print_all(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
	print_some(c, js_get(answer, "options"), true);
}

static const struct ctl_command options_commands[] = {
	{
		.name = "all",
		.scope = CTL_SHOWS,
		.method = "Options",
		.member = "options",
		.print = print_all,
	},
	{ 0 },
};

const struct ctl_command ctl_options = {
	.name = "options",
	.arguments = "[NAME | all]",
	.help = "options that differ from their defaults; one option; all options",
	.words = "all",
	.scope = CTL_SHOWS,
	.subs = options_commands,
	.method = "Options",
	.takes = (const struct ctl_word[]){ { CTL_TEXT, .parameter = "name",
					      .offers = OFFER_OPTIONS },
					    { 0 } },
	.member = "options",
	.print = print_options,
};
