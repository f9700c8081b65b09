// SPDX-License-Identifier: BSD-2-Clause
/* Options in force, and what reading the configuration finds. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "opensmctl/commands.h"
#include "util/mem.h"

/* ---- check and reload ----------------------------------------------------------------------- */

static void print_finding(const struct ctl *c, struct json_object *f)
{
	const char *severity = js_str(f, "severity");
	enum ctl_color color = !strcmp(severity, "error")   ? CTL_BAD :
			       !strcmp(severity, "warning") ? CTL_WARN :
							      CTL_DIM;

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
		       taken ? "nothing is taken over, the running configuration stays as it is" :
			       "a reload would take nothing over");
	else if (js_has(o, "would_change"))
		printf("%s: %s\n", taken ? "reloading" : "a reload would change",
		       js_str(o, "would_change"));
	else
		printf("no errors; nothing has changed\n");
}

static int read_again(struct ctl *c, const char *method, bool taken)
{
	struct json_object *o = ctl_call(c, method, NULL), *findings;
	int r;

	if (!o)
		return c->exit_code;
	findings = js_get(o, "findings");
	if (c->json) {
		ctl_print_json(c, o);
	} else {
		for (size_t i = 0; i < js_len(findings); i++)
			print_finding(c, js_at(findings, i));
		print_verdict(o, taken);
	}
	r = js_int(o, "errors") ? CTL_REFUSED : CTL_OK;
	json_object_put(o);
	return r;
}

int cmd_check(struct ctl *c, int argc, char **argv)
{
	return argc ? ctl_usage(NULL,
				"check asks the daemon about its own files; for others there is: "
				"opensm --check")
		    : read_again(c, "Check", false);
}

int cmd_reload(struct ctl *c, int argc, char **argv)
{
	return argc ? ctl_usage(NULL, "reload: '%s' is too much", argv[0])
		    : read_again(c, "Reload", true);
}

/* ---- options -------------------------------------------------------------------------------- */

/* "from the master 0x... at 2026-11-23 17:00:00" */
static char *origin_text(struct json_object *o)
{
	time_t at = (time_t)js_int(o, "copied_at");
	char when[40] = "";
	struct tm tm;

	if (localtime_r(&at, &tm))
		strftime(when, sizeof(when), " at %F %T", &tm);
	return xasprintf("from the master %s%s", js_str(o, "copied_from"), when);
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

/* What a change of an option costs; conf/options.def has the words. */
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
	{ "VALUE", .key = "value" },
	{ "DEFAULT", .key = "default", .color = CTL_DIM },
	{ "FROM", .text = source_text },
	{ 0 },
};

static bool is_untouched(struct json_object *o)
{
	return js_bool(o, "is_default") && !strcmp(js_str(o, "source"), "default");
}

static void print_options(const struct ctl *c, struct json_object *all, bool defaults)
{
	struct json_object *shown = json_object_new_array();

	for (size_t i = 0; i < js_len(all); i++)
		if (defaults || !is_untouched(js_at(all, i)))
			json_object_array_add(shown, json_object_get(js_at(all, i)));
	ctl_print_table(c, option_columns, shown);
	json_object_put(shown);
}

int cmd_options(struct ctl *c, int argc, char **argv)
{
	bool all = argc && !strcmp(argv[0], "all");
	struct json_object *parameters = NULL, *o, *options;

	if (argc > 1)
		return ctl_usage(NULL, "options: '%s' is too much", argv[1]);
	if (argc && !all) {
		parameters = json_object_new_object();
		json_object_object_add(parameters, "name", json_object_new_string(argv[0]));
	}
	o = ctl_call(c, "Options", parameters);
	if (!o)
		return c->exit_code;
	options = js_get(o, "options");
	if (c->json)
		ctl_print_json(c, options);
	else if (argc && !all && js_len(options) == 1 && !c->oneline)
		print_one(c, js_at(options, 0));
	else
		print_options(c, options, all);
	json_object_put(o);
	return CTL_OK;
}
