// SPDX-License-Identifier: BSD-2-Clause
/* opensmctl: options between words, errors as JSON, times, and tables on narrow terminals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"
#include "util/str.h"

/* call.c's: there is no daemon. */
struct json_object *ctl_call(struct ctl *c, const char *method, struct json_object *parameters)
{
	json_object_put(parameters);
	c->exit_code = ctl_fail(c, CTL_NO_DAEMON_NAME, NULL, "no opensm answers");
	return NULL;
}

static void print_nothing(struct ctl *c, struct json_object *answer, struct json_object *asked)
{
}

static const struct ctl_command gate_commands[] = {
	{ .name = "paint",
	  .scope = CTL_ACTS,
	  .method = "Paint",
	  .takes = (const struct ctl_word[]){ { CTL_TEXT, .option = "-o", .parameter = "file" },
					      { 0 } },
	  .print = print_nothing },
	{ 0 },
};

static const struct ctl_command gate = {
	.name = "gate",
	.arguments = "[paint] [NAME]",
	.words = "paint --why --open",
	.scope = CTL_SHOWS,
	.subs = gate_commands,
	.method = "Gate",
	.takes =
		(const struct ctl_word[]){
			{ CTL_TEXT, .parameter = "name" },
			{ CTL_TEXT, .option = "--why", .parameter = "why" },
			{ CTL_FLAG, .option = "--open", .parameter = "open" },
			{ 0 },
		},
	.print = print_nothing,
};

static int split(char *copy, char **argv)
{
	char *word;
	int argc = 0;

	while ((word = strsep(&copy, " ")))
		if (*word)
			argv[argc++] = word;
	argv[argc] = NULL;
	return argc;
}

/* ---- options --------------------------------------------------------------------------------- */

/* What the options of a line come to, and the words that are left: "jp 5 main|a b". */
static char *behind(const char *line)
{
	_cleanup_free_ char *copy = xstrdup(line), *words = xstrdup("");
	struct ctl c = { .messages = json_object_new_array() };
	char *argv[20];
	int n = split(copy, argv), argc = ctl_back_options(&c, ctl_takes(&gate, n, argv), n, argv);
	char *text;

	for (int i = 0; i < argc; i++) {
		char *more = xasprintf("%s%s%s", words, i ? " " : "", argv[i]);

		free(words);
		words = more;
	}
	text = argc < 0 ? xstrdup("refused")
			: xasprintf("%s%s%s%s %u %s|%s", c.json ? "j" : "", c.pretty ? "p" : "",
				    c.wide ? "w" : "", c.oneline ? "o" : "", c.watch,
				    c.instance ? c.instance : "", words);
	json_object_put(c.messages);
	return text;
}

static void options_stand_anywhere_but_where_a_value_is(void **state)
{
	static const char *const cases[][2] = {
		{ "a", " 0 |a" },
		{ "a -j b", "j 0 |a b" },
		{ "--json a", "j 0 |a" },
		{ "a -p", "jp 0 |a" },
		{ "a --wide -o", "wo 0 |a" },
		{ "--watch a", " 2 |a" },
		{ "a --watch 5", " 5 |a" },
		{ "--watch=7 a", " 7 |a" },
		{ "-i main a", " 0 main|a" },
		{ "--instance=main", " 0 main|" },
		/* the command's own, and values of its own */
		{ "--why --json a", " 0 |--why --json a" },
		{ "--why=-j -j", "j 0 |--why=-j" },
		{ "paint -o FILE -j", "j 0 |paint -o FILE" },
		{ "--open -j", "j 0 |--open" },
		/* no abbreviations behind the object: the command says what it does not know */
		{ "--js", " 0 |--js" },
		{ "--watch=0", "refused" },
		{ "--watch=x", "refused" },
		{ "--watch=3601", "refused" },
		{ "--json=1", "refused" },
		{ "-i", "refused" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = behind(cases[i][0]);

		if (strcmp(text, cases[i][1]))
			fail_msg("'%s': '%s'", cases[i][0], text);
	}
}

static void options_in_front_may_be_abbreviated(void **state)
{
	char line[] = "-t -js --wid --instance main -- rest";
	struct ctl c = { 0 };
	char *argv[20];

	assert_int_equal(ctl_front_options(&c, split(line, argv), argv), 6);
	assert_true(c.timestamps && c.json && c.wide);
	assert_string_equal(c.instance, "main");
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* The error of a line, without what is not asked for: "NAME TEXT EXIT", or "no error". */
static char *error_of(const char *line)
{
	_cleanup_free_ char *copy = xstrdup(line);
	struct ctl c = { .json = true, .messages = json_object_new_array() };
	struct json_object *said, *error;
	char *argv[20], *text;
	int r = ctl_do(&c, &gate, split(copy, argv), argv);

	said = ctl_take_error(&c, r);
	error = js_get(said, "error");
	text = error ? xasprintf("%s: %s: %d", js_str(error, "name"), js_str(error, "text"),
				 (int)js_int(error, "exit_status"))
		     : xstrdup("no error");
	assert_int_equal(js_has(error, "usage"), r == CTL_USAGE);
	json_object_put(said);
	json_object_put(c.messages);
	return text;
}

static void errors_are_json_with_their_exit_status(void **state)
{
	static const char *const cases[][2] = {
		{ "", "NoDaemon: no opensm answers: 3" },
		{ "a b", "Usage: unexpected argument 'b': 2" },
		{ "pain a", "Usage: there is no 'gate pain'; did you mean 'gate paint'?: 2" },
		{ "--opne", "Usage: unexpected argument '--opne'; did you mean '--open'?: 2" },
		{ "--jsno", "Usage: unexpected argument '--jsno'; did you mean '--json'?: 2" },
		{ "--why", "Usage: --why takes a value: 2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = error_of(cases[i][0]);

		assert_string_equal(text, cases[i][1]);
	}
}

static void what_is_said_beside_an_answer_is_a_warning(void **state)
{
	struct ctl c = { .json = true, .messages = json_object_new_array() };
	struct json_object *said;

	assert_null(ctl_take_error(&c, CTL_OK));
	ctl_refuse(&c, "one");
	ctl_refuse(&c, "two");
	said = ctl_take_error(&c, CTL_OK);
	assert_string_equal(json_object_to_json_string_ext(said, JSON_C_TO_STRING_PLAIN),
			    "{\"warning\":{\"name\":\"Failed\",\"text\":\"one\",\"more\":[\"two\"],"
			    "\"exit_status\":0}}");
	json_object_put(said);
	assert_null(ctl_take_error(&c, CTL_OK));
	json_object_put(c.messages);
}

/* ---- times ----------------------------------------------------------------------------------- */

static void times_have_their_zone(void **state)
{
	char text[CTL_TIME_STRLEN];

	setenv("TZ", "CET-1", 1);
	tzset();
	assert_string_equal(ctl_time(1796020500, text), "2026-11-30T07:35:00+01:00");
	assert_string_equal(ctl_time_utc(1796020500, text), "2026-11-30T06:35:00Z");
	assert_int_equal(ctl_seconds("2026-11-30T06:35:00Z"), 1796020500);
	assert_int_equal(ctl_seconds("2026-11-30T06:35:00.123456Z"), 1796020500);
	assert_int_equal(ctl_seconds("tomorrow"), 0);
	setenv("TZ", "XXX4:30", 1);
	tzset();
	assert_string_equal(ctl_time(1796020500, text), "2026-11-30T02:05:00-04:30");
	unsetenv("TZ");
	tzset();
}

/* ---- narrow terminals ------------------------------------------------------------------------ */

static const struct column columns[] = {
	{ "NAME", .key = "name" },
	{ "LID>", COLUMN_INT, .key = "lid", .drop = 2 },
	{ "GUID", .key = "guid", .drop = 1 },
	{ "WHY", .key = "why", .folds = true },
	{ 0 },
};

static const char records[] =
	"[{\"name\":\"a\",\"lid\":1,\"guid\":\"0x1\",\"why\":\"the cable was pulled by a rack "
	"door\"},{\"name\":\"a-switch-with-a-long-name/36\",\"lid\":22,\"guid\":\"0x2\","
	"\"why\":\"-\"}]";

static char *printed(unsigned width)
{
	struct json_object *o = json_tokener_parse(records);
	const struct ctl c = { .width = width };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len), *real = stdout;

	stdout = out;
	ctl_print_table(&c, columns, o);
	stdout = real;
	fclose(out);
	json_object_put(o);
	return text;
}

static void a_table_fits_its_terminal(void **state)
{
	static const struct {
		unsigned width;
		const char *text;
	} cases[] = {
		{ 0,
		  "NAME                          LID  GUID  WHY\n"
		  "a                               1  0x1   the cable was pulled by a rack door\n"
		  "a-switch-with-a-long-name/36   22  0x2   -\n" },
		{ 70, "NAME                          LID  GUID  WHY\n"
		      "a                               1  0x1   the cable was pulled by a\n"
		      "                                         rack door\n"
		      "a-switch-with-a-long-name/36   22  0x2   -\n" },
		{ 60, "NAME                          LID  WHY\n"
		      "a                               1  the cable was pulled by a\n"
		      "                                   rack door\n"
		      "a-switch-with-a-long-name/36   22  -\n"
		      "(no room for GUID: --wide)\n" },
		{ 44, "NAME                          WHY\n"
		      "a                             the cable was\n"
		      "                              pulled by a\n"
		      "                              rack door\n"
		      "a-switch-with-a-long-name/36  -\n"
		      "(no room for LID, GUID: --wide)\n" },
		{ 40, "NAME                      WHY\n"
		      "a                         the cable was\n"
		      "                          pulled by a\n"
		      "                          rack door\n"
		      "a-switch-wit~ong-name/36  -\n"
		      "(no room for LID, GUID: --wide)\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = printed(cases[i].width);

		assert_string_equal(text, cases[i].text);
	}
}

/* Whatever the width: no line is wider, but for one of names that cannot be cut further. */
static void no_line_is_wider(void **state)
{
	for (unsigned width = 40; width < 100; width++) {
		_cleanup_free_ char *text = printed(width);
		char *rest = text, *line;

		while ((line = strsep(&rest, "\n")))
			assert_true(ctl_columns(line) <= width);
	}
}

static void words_are_folded_whole(void **state)
{
	assert_int_equal(ctl_fold("a bc def", 20), 8);
	assert_int_equal(ctl_fold("a bc def", 5), 4);
	assert_int_equal(ctl_fold("a bc def", 4), 4);
	assert_int_equal(ctl_fold("abcdef", 3), 3);
	assert_int_equal(ctl_columns("\033[1mgr\xc3\xbcn\033[0m"), 4);
	assert_int_equal(ctl_bytes("gr\xc3\xbcn", 3), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_stand_anywhere_but_where_a_value_is),
		cmocka_unit_test(options_in_front_may_be_abbreviated),
		cmocka_unit_test(errors_are_json_with_their_exit_status),
		cmocka_unit_test(what_is_said_beside_an_answer_is_a_warning),
		cmocka_unit_test(times_have_their_zone),
		cmocka_unit_test(a_table_fits_its_terminal),
		cmocka_unit_test(no_line_is_wider),
		cmocka_unit_test(words_are_folded_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
