// SPDX-License-Identifier: BSD-2-Clause
/* Options in force, and what reading the configuration finds. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/commands.h"
#include "util/mem.h"

/* ---- check and reload ------------------------------------------------------------------------- */

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

static int judge(struct ctl *c, const char *method, bool taken)
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
	return argc ? ctl_usage(NULL, "check asks the daemon about its own files; for others there is: "
				      "opensm --check") :
		      judge(c, "Check", false);
}

int cmd_reload(struct ctl *c, int argc, char **argv)
{
	return argc ? ctl_usage(NULL, "reload: '%s' is too much", argv[0]) : judge(c, "Reload", true);
}

/* ---- options ---------------------------------------------------------------------------------- */

static char *source_text(struct json_object *o)
{
	const char *source = js_str(o, "source");

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

static void print_options(const struct ctl *c, struct json_object *all, bool defaults)
{
	static const char *const heads[] = { "OPTION", "VALUE", "DEFAULT", "FROM", NULL };
	struct table *t = table_new(c, heads);

	for (size_t i = 0; i < js_len(all); i++) {
		struct json_object *o = js_at(all, i);
		_cleanup_free_ char *source = source_text(o);

		if (!defaults && js_bool(o, "is_default") && !strcmp(js_str(o, "source"), "default"))
			continue;
		table_cell(t, CTL_NAME, "%s", js_str(o, "name"));
		table_cell(t, CTL_PLAIN, "%s", js_str(o, "value"));
		table_cell(t, CTL_DIM, "%s", js_str(o, "default"));
		table_cell(t, CTL_PLAIN, "%s", source);
	}
	table_print(t);
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
