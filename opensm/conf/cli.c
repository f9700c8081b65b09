// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads a command line twice, as the peer does: first for -F, then, over the file, for everything
 * else in order. What the options do: cli_rows.c.
 */
#include "conf/cli.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>

#include "conf/cli_rows.h"
#include "conf/files.h"
#include "conf/lists/lists.h"
#include "conf/profile.h"
#include "util/mem.h"
#include "util/str.h"

#define RULE "-------------------------------------------------"
#define LONG_BASE 256 /* getopt returns this plus the row for a long option */
#define HELP_INDENT 10
#define HELP_WIDTH 78

/* State for getopt: a copy of argv, which it permutes, and the rows in its two formats. */
struct scan {
	int argc;
	char **argv;
	char *letters;
	struct option *names;
};

static const struct conf_place nowhere;

/* --- Output --------------------------------------------------------------------------------- */

/* Are all findings printed at the end? */
static bool prints_json(const struct cli_run *run)
{
	return run->check && run->json && run->env->print_json;
}

/* Prints new findings; with --check on stdout, as they are the result. */
static void print_findings(struct cli_run *run)
{
	FILE *to = run->check ? run->env->out : run->env->err;

	if (prints_json(run))
		return;
	if (run->out)
		fflush(run->out);
	conf_report_print_from(&run->ret->report, run->printed, to);
	run->printed = run->ret->report.n;
}

/* Prints the words in indented lines of HELP_WIDTH. */
static void print_wrapped(FILE *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (column && column + 1 + len > HELP_WIDTH) {
			fputc('\n', out);
			column = 0;
		}
		if (!column)
			column = (size_t)fprintf(out, "%*s", HELP_INDENT, "");
		else
			column += (size_t)fprintf(out, " ");
		column += fwrite(text, 1, len, out);
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static void print_row(FILE *out, const struct cli_row *row)
{
	const struct conf_option *o = row->id < CONF_N_OPTIONS ? conf_option(row->id) : NULL;
	_cleanup_free_ char *text = NULL;

	fprintf(out, "--%s", row->name);
	if (row->letter)
		fprintf(out, ", -%c", row->letter);
	if (row->arg)
		fprintf(out, " <%s>", row->arg);
	text = xasprintf("%s%s%s%s%s", row->help ? row->help : o->help, o ? " Key: " : "",
			 o ? o->name : "", o ? "." : "",
			 o && o->state == CONF_STATE_LATER
				 ? " Not supported yet."
				 : "");
	fputc('\n', out);
	print_wrapped(out, text);
	fputc('\n', out);
}

static void print_usage(FILE *out)
{
	fputs("\nUsage: opensm [OPTION]...\n\n"
	      "Long options may be shortened as long as they stay unique. Keys are those of\n"
	      "opensm.conf; the command line wins over the file.\n\n",
	      out);
	for (size_t i = 0; i < cli_n_rows; i++)
		print_row(out, &cli_rows[i]);
	/*
	 * --plan, --diff and --verify are programs of their own (offline/), without the options
	 * above.
	 */
	fputs("--plan <fabric>\n"
	      "          Without a device: routes a fabric that ibnetdiscover has described, and "
	      "shows the result,\n"
	      "          also after failures. See opensm --plan --help.\n\n"
	      "--diff <expected> <found>\n"
	      "          Compares two files of a fabric, and names miswired cables and replaced "
	      "devices. See\n"
	      "          opensm --diff --help.\n\n"
	      "--verify <folder>, --verify <fabric> <tables>...\n"
	      "          Verifies the forwarding tables in files, and ends. See opensm --verify "
	      "--help.\n\n",
	      out);
}

/* --- getopt --------------------------------------------------------------------------------- */

static void scan_init(struct scan *s, int argc, char *const argv[])
{
	char *letter;

	s->argc = argc;
	s->argv = xcalloc((size_t)argc + 1, sizeof(*s->argv));
	memcpy(s->argv, argv, (size_t)argc * sizeof(*s->argv));
	s->names = xcalloc(cli_n_rows + 1, sizeof(*s->names));
	letter = s->letters = xcalloc(2 * cli_n_rows + 2, 1);
	*letter++ = ':'; /* makes getopt tell a missing argument from an unknown option */
	for (size_t i = 0; i < cli_n_rows; i++) {
		const struct cli_row *row = &cli_rows[i];

		s->names[i].name = row->name;
		s->names[i].has_arg = row->arg ? required_argument : no_argument;
		s->names[i].val = LONG_BASE + (int)i;
		if (!row->letter)
			continue;
		*letter++ = row->letter;
		if (row->arg)
			*letter++ = ':';
	}
}

static void scan_clear(struct scan *s)
{
	free(s->argv);
	free(s->letters);
	free(s->names);
}

/* The next option; NULL with `*ret_code` -1 (end), ':' (argument missing) or '?' (unknown). */
static const struct cli_row *scan_next(struct scan *s, int *ret_code)
{
	int code = getopt_long_only(s->argc, s->argv, s->letters, s->names, NULL);

	*ret_code = code;
	if (code >= LONG_BASE)
		return &cli_rows[code - LONG_BASE];
	if (code < 0 || code == ':' || code == '?')
		return NULL;
	for (size_t i = 0; i < cli_n_rows; i++)
		if (cli_rows[i].letter == code)
			return &cli_rows[i];
	return NULL;
}

static void scan_start(struct scan *s, int argc, char *const argv[])
{
	scan_init(s, argc, argv);
	optind = 0; /* glibc: start again */
	opterr = 0;
}

/* --- Faults of usage ------------------------------------------------------------------------ */

/* Prints the options that begin with `stem`; if there are none, the nearest one. */
static void print_candidates(FILE *err, const char *stem)
{
	const char **names = xcalloc(cli_n_rows, sizeof(*names)), *nearest;
	size_t n = 0;

	for (size_t i = 0; i < cli_n_rows; i++) {
		names[i] = cli_rows[i].name;
		if (str_starts(names[i], stem))
			fprintf(err, "%s --%s", n++ ? "," : " is ambiguous; it could be", names[i]);
	}
	nearest = n ? NULL : str_nearest(stem, names, cli_n_rows);
	if (!n)
		fprintf(err, " is no option");
	if (nearest)
		fprintf(err, "; did you mean --%s?", nearest);
	free(names);
}

/* Reports an unknown option; `word` is the argument as it was typed. */
static void print_unknown(FILE *err, const char *word)
{
	_cleanup_free_ char *stem = xstrdup(word + strspn(word, "-"));
	char quoted[CONF_QUOTE_MAX];

	stem[strcspn(stem, "=")] = '\0';
	fprintf(err, "opensm: error: %s", conf_quote(word, strlen(word), quoted));
	print_candidates(err, stem);
	fputc('\n', err);
}

static void print_missing(FILE *err, int code)
{
	if (code >= LONG_BASE)
		fprintf(err, "opensm: error: --%s needs an argument\n",
			cli_rows[code - LONG_BASE].name);
	else
		fprintf(err, "opensm: error: -%c needs an argument\n", code);
}

static int usage_fault(struct cli_run *run, const struct scan *s, int code)
{
	FILE *err = run->env->err;

	if (code == ':')
		print_missing(err, optopt);
	else if (optopt >= LONG_BASE)
		fprintf(err, "opensm: error: --%s takes no argument\n",
			cli_rows[optopt - LONG_BASE].name);
	else if (optopt && optopt != '?')
		fprintf(err, "opensm: error: there is no option -%c\n", optopt);
	else if (!optopt && strcmp(s->argv[optind - 1], "-?") != 0)
		print_unknown(err, s->argv[optind - 1]);
	return cli_exit(run, CLI_EXIT_USAGE);
}

/* --- The passes ----------------------------------------------------------------------------- */

static void first_pass(struct cli_run *run, int argc, char *const argv[])
{
	_cleanup_(scan_clear) struct scan s = { 0 };
	const struct cli_row *row;
	int code;

	scan_start(&s, argc, argv);
	while ((row = scan_next(&s, &code)) || code != -1) {
		if (!row)
			continue;
		if (row->letter == 'F')
			run->config = optarg;
		else if (strcmp(row->name, "check") == 0)
			run->check = true;
		else if (strcmp(row->name, "json") == 0)
			run->json = true;
		else if (strcmp(row->name, "strict") == 0)
			run->strict = true;
	}
	if (run->check)
		run->out = NULL;
}

static int second_pass(struct cli_run *run, int argc, char *const argv[])
{
	_cleanup_(scan_clear) struct scan s = { 0 };
	const struct cli_row *row;
	int code, r;

	scan_start(&s, argc, argv);
	while ((row = scan_next(&s, &code)) || code != -1) {
		r = row ? row->apply(run, row, optarg) : usage_fault(run, &s, code);
		print_findings(run);
		if (r < 0)
			return r;
	}
	return 0;
}

void cli_hide_keys(int argc, char *argv[])
{
	_cleanup_(scan_clear) struct scan s = { 0 };
	const struct cli_row *row;
	int code;

	scan_start(&s, argc, argv);
	while ((row = scan_next(&s, &code)) || code != -1) {
		if (row && row->arg && conf_is_secret(row->id))
			memset(optarg, 'x', strlen(optarg));
	}
}

/* --- The file ------------------------------------------------------------------------------- */

int cli_read_config(const char *path, const struct cli_env *env, struct conf **ret,
		    struct conf_report *r)
{
	struct conf *c = conf_new();

	*ret = c;
	c->strict = env->strict;
	if (env->tmp_dir && env->tmp_dir[0])
		conf_set(c, CONF_ID_dump_files_dir, env->tmp_dir, &nowhere, r);
	return conf_read(c, path, r);
}

/* The peer prints some 16-bit numbers in the order of the wire, as hexadecimal. */
static bool echoed_as_hex(enum conf_id id)
{
	return id == CONF_ID_m_key_lease_period || id == CONF_ID_cc_sw_cong_setting_marking_rate ||
	       id == CONF_ID_cc_ca_cong_setting_port_control ||
	       id == CONF_ID_cc_ca_cong_setting_control_map;
}

static void echo_loaded(struct cli_run *run, const struct conf *c, enum conf_id id)
{
	const struct conf_option *o = conf_option(id);
	_cleanup_free_ char *text = run->env->out_is_log ? conf_value_shown(c, id)
							 : conf_value_text(c, id);
	uint64_t n;

	if (o->format != CONF_FORMAT_TEXT && o->type != CONF_U64 &&
	    str_to_u64(text, 0, UINT64_MAX, &n) == 0) {
		free(text);
		text = xasprintf(echoed_as_hex(id) ? "0x%04" PRIx64 : "%" PRIu64, n);
	}
	cli_echo(run, " Loading Cached Option:%s = %s\n", o->name, text);
}

/* Prints the values that the file changes, in the order of its lines. */
static void echo_file(struct cli_run *run, const struct conf *c)
{
	uint32_t last = 0;

	for (;;) {
		enum conf_id next = CONF_N_OPTIONS;

		for (unsigned id = 0; id < CONF_N_OPTIONS; id++)
			if (c->file_line[id] > last &&
			    (next == CONF_N_OPTIONS || c->file_line[id] < c->file_line[next]))
				next = id;
		if (next == CONF_N_OPTIONS)
			return;
		last = c->file_line[next];
		if (!conf_value_is_default(c, next))
			echo_loaded(run, c, next);
	}
}

static void read_config(struct cli_run *run)
{
	const char *path = run->config ? run->config : run->env->config_path;
	struct cli_env env = *run->env;
	struct cli *ret = run->ret;
	int r;

	if (!path)
		path = CONF_FILE;
	if (run->config)
		cli_echo(run, "Config file is `%s`:\n", path);
	env.strict = run->strict;
	r = cli_read_config(path, &env, &ret->file, &ret->report);
	if (r == -ENOENT && run->config)
		conf_report_add(&ret->report, run->check || run->strict ? CONF_ERROR : CONF_WARNING,
				path, 0, 0, "no such file; the defaults are used");
	ret->config_path = xstrdup(path);
	if (r == 0) {
		cli_echo(run, " Reading Cached Option File: %s\n", path);
		echo_file(run, ret->file);
	}
	ret->conf = conf_copy(ret->file);
	conf_verify(ret->conf, &ret->report);
	print_findings(run);
}

/* --- The end -------------------------------------------------------------------------------- */

static int create_config(struct cli_run *run)
{
	FILE *f = fopen(run->create, "we");
	int r;

	if (!f) {
		fprintf(run->env->err, "opensm: error: cannot write '%s': %s\n", run->create,
			strerror(errno));
		return cli_exit(run, CLI_EXIT_RANGE);
	}
	r = conf_write(run->ret->conf, f, &run->ret->report);
	if (fclose(f) != 0 && r == 0)
		r = -errno;
	print_findings(run);
	if (r < 0)
		fprintf(run->env->err, "opensm: error: writing '%s': %s\n", run->create,
			strerror(-r));
	return cli_exit(run, r < 0 ? CLI_EXIT_RANGE : 0);
}

static void look_around(struct cli_run *run)
{
	if (run->env->look_around)
		run->env->look_around(run->ret->conf, &run->ret->report);
}

static void finish_check(struct cli_run *run)
{
	const struct conf_report *r = &run->ret->report;

	conf_lists_check(run->ret->conf, &run->ret->report);
	look_around(run);
	print_findings(run);
	cli_exit(run, r->errors ? CLI_EXIT_CONFIG : 0);
	if (prints_json(run)) {
		run->env->print_json(r, run->env->out);
		return;
	}
	fprintf(run->env->out, "opensm: %u error%s, %u warning%s\n", r->errors,
		r->errors == 1 ? "" : "s", r->warnings, r->warnings == 1 ? "" : "s");
}

static void finish(struct cli_run *run)
{
	struct cli *ret = run->ret;

	conf_verify(ret->conf, &ret->report);
	conf_advise(ret->conf, NULL, &ret->report);
	if (run->check || run->strict || conf_profile(ret->conf) != CONF_PROFILE_OPEN)
		conf_advise_keys(ret->conf, NULL, &ret->report);
	if (run->check) {
		finish_check(run);
		return;
	}
	if (run->strict) {
		conf_files_check_there(ret->conf, &ret->report);
		look_around(run);
	}
	print_findings(run);
	if (run->strict && ret->report.errors) {
		fprintf(run->env->err,
			"opensm: error: %u errors in the configuration; with --strict "
			"nothing is started\n",
			ret->report.errors);
		cli_exit(run, CLI_EXIT_CONFIG);
		return;
	}
	if (ret->conf->guid != UINT64_MAX)
		return;
	ret->action = CLI_MENU;
	if (!ret->conf->daemon)
		return;
	fputs("opensm: error: a daemon cannot ask which port to use (guid 0)\n", run->env->err);
	cli_exit(run, CLI_EXIT_RANGE);
}

void cli_parse(int argc, char *const argv[], const struct cli_env *env, struct cli *ret)
{
	struct cli_run run = { .env = env, .ret = ret, .out = env->out };

	assert(argc > 0 && env && ret);
	*ret = (struct cli){ .action = CLI_RUN };
	first_pass(&run, argc, argv);
	cli_echo(&run, RULE "\nOpenSM %s\n", env->version);
	read_config(&run);
	cli_echo(&run, "Command Line Arguments:\n");
	if (second_pass(&run, argc, argv) < 0) {
		if (ret->exit_code == CLI_EXIT_USAGE)
			print_usage(env->out);
		return;
	}
	if (run.json && !run.check)
		conf_report_add(&ret->report, CONF_WARNING, NULL, 0, 0,
				"--json: has no effect without --check");
	if (!run.create)
		conf_settle(ret->conf);
	if (ret->conf->log_file)
		cli_echo(&run, " Log File: %s\n", ret->conf->log_file);
	cli_echo(&run, RULE "\n");
	if (run.create && !run.check) {
		create_config(&run);
		return;
	}
	finish(&run);
}

void cli_clear(struct cli *cli)
{
	conf_unref(cli->conf);
	conf_unref(cli->file);
	free(cli->config_path);
	free(cli->pidfile);
	conf_report_clear(&cli->report);
	*cli = (struct cli){ .action = CLI_EXIT };
}
