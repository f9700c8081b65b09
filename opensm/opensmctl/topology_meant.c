// SPDX-License-Identifier: BSD-2-Clause
/*
 * topology save, diff and accept: the fabric as it was meant. The file is written here, with
 * the rights of the caller, and then the manager is told to read it: it need not be able to write.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/show.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"

/* 0, or the exit code after an error was printed. */
static int write_file(const struct ctl *c, struct file_replace *f, const char *path,
		      const char *text)
{
	int r = f ? 0 : -errno;

	if (f) {
		fputs(text, file_replace_stream(f));
		r = file_replace_commit(f, true);
	}
	return r < 0 ? ctl_refuse(c, "%s: %s; it was not changed", path, strerror(-r)) : CTL_OK;
}

static struct json_object *ask_text(struct ctl *c, const char *accept, bool csv)
{
	struct json_object *parameters = json_object_new_object();

	if (accept)
		json_object_object_add(parameters, "accept", json_object_new_string(accept));
	if (csv)
		json_object_object_add(parameters, "csv", json_object_new_boolean(true));
	return ctl_call(c, "TopologyText", parameters);
}

/* ---- save ------------------------------------------------------------------------------------ */

static int save(struct ctl *c)
{
	const char *path = js_str(c->words, "path");
	struct json_object *o;
	char n[64];
	int r;

	o = ask_text(c, NULL, js_bool(c->words, "csv"));
	if (!o)
		return c->exit_code;
	r = write_file(c, file_output_open(path, 0644), path, js_str(o, "text"));
	if (r == CTL_OK && strcmp(path, "-") != 0)
		printf("%s: %s\n", path, ctl_plural(js_int(o, "cables"), "cable", n));
	json_object_put(o);
	return r;
}

/* ---- diff ------------------------------------------------------------------------------------ */

static const struct column columns[] = {
	{ "FINDING", COLUMN_STR, .key = "id", .color = CTL_NAME },
	{ "SINCE", COLUMN_TIME, .key = "since", .drop = 1 },
	{ "WHAT", COLUMN_STR, .key = "text", .folds = true },
	{ 0 },
};

static void print_head(struct json_object *o)
{
	char n[64];

	if (!js_has(o, "file")) {
		printf("no file is expected: expected_topology_file is not set\n");
		return;
	}
	if (js_has(o, "refused"))
		printf("%s is not in force: %s\n", js_str(o, "file"), js_str(o, "refused"));
	if (!js_bool(o, "in_force"))
		return;
	printf("%s expected, %lld held in INIT, %lld not held as the last way%s\n",
	       ctl_plural(js_int(o, "cables"), "cable", n), (long long)js_int(o, "held"),
	       (long long)js_int(o, "spared"),
	       js_bool(o, "grace") ? "; learnt a moment ago: nothing is held yet" : "");
	if (!js_bool(o, "compared"))
		printf("nothing was compared yet\n");
	else if (!js_len(js_get(o, "findings")))
		printf("the fabric is as it was meant\n");
}

static void print_diff(struct ctl *c, struct json_object *o, struct json_object *asked)
{
	print_head(o);
	if (js_len(js_get(o, "findings")))
		ctl_print_table(c, columns, js_get(o, "findings"));
}

static bool differs(const struct ctl *c, struct json_object *o)
{
	return js_len(js_get(o, "findings"));
}

/* ---- accept ---------------------------------------------------------------------------------- */

static int accept_one(struct ctl *c)
{
	struct json_object *o, *answer;
	char n[64];
	int r;

	o = ask_text(c, js_str(c->words, "finding"), false);
	if (!o)
		return c->exit_code;
	r = write_file(c, file_replace_open(js_str(o, "file"), false), js_str(o, "file"),
		       js_str(o, "text"));
	if (r != CTL_OK) {
		json_object_put(o);
		return r;
	}
	printf("%s: %s\n", js_str(o, "file"), ctl_plural(js_int(o, "cables"), "cable", n));
	json_object_put(o);
	answer = ctl_call(c, "Reload", NULL);
	if (!answer)
		return c->exit_code;
	if (js_int(answer, "errors"))
		r = ctl_refuse(c, "the configuration has an error, so that the file is not read "
				  "yet: opensmctl check");
	json_object_put(answer);
	return r;
}

static const struct ctl_word save_takes[] = {
	{ CTL_TEXT, .parameter = "path",
	  .missing = "topology save: the name of a file is needed" },
	{ CTL_FLAG, .option = "--csv", .parameter = "csv" },
	{ 0 },
};
static const struct ctl_word accept_takes[] = {
	{ CTL_TEXT, .parameter = "finding",
	  .missing = "topology accept: a finding of 'opensmctl topology diff' is needed, or all" },
	{ 0 },
};

const struct ctl_command topology_commands[] = {
	{ .name = "save", .scope = CTL_ACTS, .takes = save_takes, .with = save },
	{ .name = "diff",
	  .scope = CTL_ACTS,
	  .shows = true,
	  .method = "Drift",
		  .print = print_diff,
	  .fails = differs },
	{ .name = "accept", .scope = CTL_ACTS, .takes = accept_takes, .with = accept_one },
	{ 0 },
};
