// SPDX-License-Identifier: BSD-2-Clause
/*
 * topology save, diff, accept and import: the fabric as it was meant. The file is written here,
 * with the rights of the caller, and then the manager is told to read it: it need not be able to
 * write. What is imported is read by the code by which the manager reads it, so that a fault is
 * found before anything is changed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "opensmctl/show.h"
#include "topo/expect_file.h"
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

/* `accept`: a finding, or "all"; `format`: a flag of the method; NULL: neither. */
static struct json_object *ask_text(struct ctl *c, const char *accept, const char *format)
{
	struct json_object *parameters = json_object_new_object();

	if (accept)
		json_object_object_add(parameters, "accept", json_object_new_string(accept));
	if (format)
		json_object_object_add(parameters, format, json_object_new_boolean(true));
	return ctl_call(c, "TopologyText", parameters);
}

/* ---- save ------------------------------------------------------------------------------------ */

static int save(struct ctl *c)
{
	const char *path = js_str(c->words, "path");
	bool csv = js_bool(c->words, "csv"), ndt = js_bool(c->words, "ndt");
	struct json_object *o;
	char n[64];
	int r;

	if (csv && ndt) {
		ctl_refuse(c, "topology save: --csv or --ndt, not both");
		return CTL_USAGE;
	}
	o = ask_text(c, NULL, csv ? "csv" : ndt ? "ndt" : NULL);
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

/* The file was written: the manager reads it. */
static int have_it_read(struct ctl *c)
{
	struct json_object *answer = ctl_call(c, "Reload", NULL);
	int r = CTL_OK;

	if (!answer)
		return c->exit_code;
	if (js_int(answer, "errors"))
		r = ctl_refuse(c, "the configuration has an error, so that the file is not read "
				  "yet: opensmctl check");
	json_object_put(answer);
	return r;
}

/* ---- accept ---------------------------------------------------------------------------------- */

static int accept_one(struct ctl *c)
{
	struct json_object *o;
	char n[64];
	int r;

	o = ask_text(c, js_str(c->words, "finding"), NULL);
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
	return have_it_read(c);
}

/* ---- import ---------------------------------------------------------------------------------- */

/* The number of expected cables; -1 after findings were printed. */
static long check_file(const struct ctl *c, const char *path, char **ret_text)
{
	struct conf_report report = { 0 };
	struct expect *x = NULL;
	size_t len;
	long n = -1;
	int r = file_read(path, TOPOFILE_MAX, ret_text, &len);

	if (r < 0) {
		ctl_refuse(c, "%s: %s; nothing was changed", path, strerror(-r));
		return -1;
	}
	x = expect_read_text(path, *ret_text, len, &report);
	conf_report_print(&report, stderr);
	conf_report_clear(&report);
	if (x)
		n = (long)expect_count_cables(x);
	else
		ctl_refuse(c, "%s has a fault, and nothing was changed", path);
	expect_free(x);
	return n;
}

/* NULL after an error was printed; the caller frees. */
static char *path_of_manager(struct ctl *c)
{
	struct json_object *o = ctl_call(c, "Drift", NULL);
	char *ret = NULL;

	if (!o)
		return NULL;
	if (js_has(o, "file"))
		ret = xstrdup(js_str(o, "file"));
	else
		c->exit_code = ctl_refuse(c, "no file is expected: set expected_topology_file in "
					  "opensm.conf, then opensmctl reload, then import again");
	json_object_put(o);
	return ret;
}

static int import_one(struct ctl *c)
{
	const char *from = js_str(c->words, "path");
	_cleanup_free_ char *text = NULL, *path = NULL;
	long cables = check_file(c, from, &text);
	char n[64];
	int r;

	if (cables < 0)
		return CTL_REFUSED;
	path = path_of_manager(c);
	if (!path)
		return c->exit_code;
	r = write_file(c, file_replace_open(path, false), path, text);
	if (r != CTL_OK)
		return r;
	printf("%s: %s of %s; opensmctl topology diff says what differs\n", path,
	       ctl_plural(cables, "cable", n), from);
	return have_it_read(c);
}

static const struct ctl_word save_takes[] = {
	{ CTL_TEXT, .parameter = "path", .offers = OFFER_FILES,
	  .missing = "topology save: the name of a file is needed" },
	{ CTL_FLAG, .option = "--csv", .parameter = "csv" },
	{ CTL_FLAG, .option = "--ndt", .parameter = "ndt" },
	{ 0 },
};
static const char *const all_findings[] = { "all", NULL };
static const struct ctl_word accept_takes[] = {
	{ CTL_TEXT, .parameter = "finding", .among = all_findings, .offers = OFFER_FINDINGS,
	  .missing = "topology accept: a finding of 'opensmctl topology diff' is needed, or all" },
	{ 0 },
};
static const struct ctl_word import_takes[] = {
	{ CTL_TEXT, .parameter = "path", .offers = OFFER_FILES,
	  .missing = "topology import: a file of the cables that are meant to be there is needed" },
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
	{ .name = "import", .scope = CTL_ACTS, .takes = import_takes, .with = import_one },
	{ 0 },
};
