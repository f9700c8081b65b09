// SPDX-License-Identifier: BSD-2-Clause
/*
 * sysconfig.c and shell.c: what a shell would get out of the file, or a finding with its place. The
 * expected values were checked against bash; the first table is the one of users.md 2.1, what a
 * reader of ini files gets wrong.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/sysconfig.h"
#include "tests/lib/scratch.h"
#include "util/mem.h"
#include "util/str.h"

#define NAME "sysconfig"

static int read_text(const char *text, struct sysconfig *s, struct conf_report *r)
{
	_cleanup_free_ char *path = scratch_file(text);
	int result = sysconfig_read(path, s, r);

	return result;
}

/* The value of GUIDS, "" for none. */
static void expect_guids(const char *text, const char *value)
{
	struct conf_report r = { 0 };
	const struct sysconfig_setting *s;
	struct sysconfig file;

	assert_int_equal(read_text(text, &file, &r), 0);
	s = sysconfig_find(&file, SYSCONFIG_GUIDS);
	assert_string_equal(s ? s->value : "", value);
	assert_int_equal(r.errors, 0);
	sysconfig_clear(&file);
	conf_report_clear(&r);
}

static void plain_files(void **state)
{
	expect_guids("GUIDS=\"0x1 0x2\"\n", "0x1 0x2");
	expect_guids("# a comment\n\n  \t\nGUIDS=0x1\nPRIORITY=3\n", "0x1");
	expect_guids("GUIDS='0x1'  \n", "0x1");
	expect_guids("GUIDS=0x1\nGUIDS=0x2\n", "0x2");
	expect_guids("PRIORITY=3\n", "");
}

static void what_a_reader_of_ini_files_gets_wrong(void **state)
{
	/* Quotes over lines; lines without '='; export; ${}; trailing words. */
	expect_guids("GUIDS=\"0x1\n0x2\"\n", "0x1\n0x2");
	expect_guids("export GUIDS\nGUIDS=0x1\n", "0x1");
	expect_guids("export GUIDS=0x1\n", "0x1");
	expect_guids("GUIDS=\"${X:-4}\"\n", "4");
	expect_guids("GUIDS=0x1#2\n", "0x1#2");
	expect_guids("GUIDS=0x1 # a comment\n", "0x1");
	expect_guids("GUIDS=\"0x1\" # a comment\n", "0x1");
	expect_guids("GUIDS=\"0x1 \\\n0x2\"\n", "0x1 0x2");
	expect_guids("GUIDS=0x1; PRIORITY=3\n", "0x1");
	/* Names of small letters are other names for a shell. */
	expect_guids("guids=0x1\n", "");
	expect_guids("GUIDS=0x1\nguids=0x2\n", "0x1");
	expect_guids("GUIDS=\n", "");
	expect_guids("GUIDS=\"\"\n", "");
	expect_guids("", "");
	expect_guids("GUIDS=0x1", "0x1");
}

static void eighty_guids_in_a_line(void **state)
{
	char *text = xstrdup("GUIDS=\""), *longer, *value = NULL;

	for (unsigned n = 0; n < 80; n++) {
		longer = xasprintf("%s0x%016x ", text, n + 1);
		free(text);
		text = longer;
	}
	value = xstrdup(text + strlen("GUIDS=\""));
	longer = xasprintf("%s\"\n", text);
	expect_guids(longer, value);
	free(text);
	free(longer);
	free(value);
}

static void quotes_follow_the_shell(void **state)
{
	expect_guids("GUIDS='a\\b$c`d'\n", "a\\b$c`d");
	expect_guids("GUIDS=a'b'\"c\"d\n", "abcd");
	expect_guids("GUIDS=\"a\\\"b\\$c\\\\d\\e\"\n", "a\"b$c\\d\\e");
	expect_guids("GUIDS=a\\ b\n", "a b");
	expect_guids("GUIDS=a\\\nb\n", "ab");
	expect_guids("GUIDS='#;'\n", "#;");
	expect_guids("GUIDS=\"a$\"\n", "a$");
	expect_guids("GUIDS='(a)&~'\n", "(a)&~");
	expect_guids("GUIDS=a\\", "a\\");
	expect_guids("GUIDS=a~b\n", "a~b");
	expect_guids("GUIDS=$.a$\n", "$.a$");
}

static void variables_of_the_file_are_known(void **state)
{
	expect_guids("A=0x1\nGUIDS=\"$A ${A}2\"\n", "0x1 0x12");
	expect_guids("GUIDS=$NONE\n", "");
	expect_guids("GUIDS=${NONE-0x1}\n", "0x1");
	expect_guids("A=\nGUIDS=${A-0x1}\n", "");
	expect_guids("A=\nGUIDS=${A:-0x1}\n", "0x1");
	expect_guids("A=1\nA=2\nGUIDS=$A\n", "2");
	expect_guids("GUIDS=1\nGUIDS=\"$GUIDS 2\"\n", "1 2");
	expect_guids("A=1\nGUIDS='$A'\n", "$A");
}

/* A finding of an error at line:column, and nothing is known. */
static void expect_error(const char *text, unsigned line, unsigned column, const char *words)
{
	struct conf_report r = { 0 };
	struct sysconfig file;

	assert_int_equal(read_text(text, &file, &r), -EINVAL);
	assert_true(r.errors >= 1);
	assert_int_equal(r.findings[0].line, line);
	assert_int_equal(r.findings[0].column, column);
	if (!strstr(r.findings[0].text, words))
		fail_msg("%s: %s", text, r.findings[0].text);
	sysconfig_clear(&file);
	conf_report_clear(&r);
}

static void what_only_a_shell_knows_is_refused(void **state)
{
	expect_error("GUIDS=$(ibstat -p)\n", 1, 7, "$(...)");
	expect_error("\nGUIDS=\"0x1 $(ibstat -p)\"\n", 2, 12, "$(...)");
	expect_error("GUIDS=`ibstat -p`\n", 1, 7, "backticks");
	expect_error("GUIDS=\"a\nb `c`\"\n", 2, 3, "backticks");
	expect_error("GUIDS=$'a\\nb'\n", 1, 7, "$'...'");
	expect_error("GUIDS=${A%%x}\n", 1, 7, "operator");
	expect_error("GUIDS=${A:-$B}\n", 1, 7, "operator");
	expect_error("if true; then\nGUIDS=0x1\nfi\n", 1, 1, "NAME=value");
	expect_error("  . /etc/other\n", 1, 3, "NAME=value");
	expect_error("GUIDS=1 2\n", 1, 9, "NAME=value");
	expect_error("GUIDS=\"0x1\n", 1, 7, "never closed");
	expect_error("GUIDS='0x1\n", 1, 7, "never closed");
	expect_error("GUIDS=\"$(a\n", 1, 8, "$(...)");
	expect_error("GUIDS=$$\n", 1, 7, "running shell");
	expect_error("GUIDS=\"a $1\"\n", 1, 10, "running shell");
	expect_error("GUIDS=$\"a\"\n", 1, 7, "$\"");
	expect_error("GUIDS=~root\n", 1, 7, "home");
	expect_error("GUIDS=0x1 & PRIORITY=3\n", 1, 11, "NAME=value");
	expect_error("GUIDS=0x1>file\n", 1, 10, "NAME=value");
	expect_error("GUIDS=(0x1 0x2)\n", 1, 7, "NAME=value");
	expect_error("GUIDS+=0x1\n", 1, 1, "NAME=value");
	expect_error("; GUIDS=0x1\n", 1, 1, "NAME=value");
	expect_error("A=$(hostname)\nGUIDS=$A\n", 1, 3, "$(...)");
}

static void other_peoples_settings_may_be_what_they_like(void **state)
{
	struct conf_report r = { 0 };
	struct sysconfig file;

	assert_int_equal(read_text("A=$(echo \")\" (x))\nB=`ls` C=$'\\''\nGUIDS=0x1\n", &file, &r),
			 0);
	assert_int_equal(r.warnings, 3);
	assert_string_equal(sysconfig_find(&file, SYSCONFIG_GUIDS)->value, "0x1");
	assert_int_equal(sysconfig_find(&file, SYSCONFIG_GUIDS)->line, 3);
	assert_int_equal(sysconfig_find(&file, SYSCONFIG_GUIDS)->column, 7);
	sysconfig_clear(&file);
	conf_report_clear(&r);
}

static void a_name_like_ours_is_asked_about(void **state)
{
	struct conf_report r = { 0 };
	struct sysconfig file;

	assert_int_equal(read_text("PRIORTY=3\nOPTIONS=-v\nLANG=C\n", &file, &r), 0);
	assert_int_equal(r.n, 2);
	assert_non_null(strstr(r.findings[0].text, "did you mean PRIORITY"));
	assert_int_equal(r.findings[1].line, 2);
	sysconfig_clear(&file);
	conf_report_clear(&r);
}

static void a_value_that_doubles_itself_is_bounded(void **state)
{
	char *text = xstrdup("GUIDS=0123456789abcdef\n"), *longer;
	struct conf_report r = { 0 };
	struct sysconfig file;

	for (unsigned n = 0; n < 40; n++) {
		longer = xasprintf("%sGUIDS=$GUIDS$GUIDS\n", text);
		free(text);
		text = longer;
	}
	assert_int_equal(read_text(text, &file, &r), -EINVAL);
	assert_non_null(strstr(r.findings[0].text, "256 KiB"));
	sysconfig_clear(&file);
	conf_report_clear(&r);
	free(text);
}

static void no_file_is_no_fault_and_a_folder_is(void **state)
{
	struct conf_report r = { 0 };
	struct sysconfig file;

	assert_int_equal(sysconfig_read("/nonexistent/opensm", &file, &r), 0);
	assert_null(sysconfig_find(&file, SYSCONFIG_GUIDS));
	sysconfig_clear(&file);
	assert_int_equal(r.n, 0);
	assert_int_equal(sysconfig_read("/tmp", &file, &r), -EISDIR);
	assert_int_equal(r.errors, 1);
	sysconfig_clear(&file);
	conf_report_clear(&r);
}

static void nul_bytes_are_no_text(void **state)
{
	static const char text[] = "GUIDS=0x1\0\nPRIORITY=3\n";
	char *path = scratch_bytes(text, sizeof(text) - 1);
	struct conf_report r = { 0 };
	struct sysconfig file;

	assert_int_equal(sysconfig_read(path, &file, &r), -EINVAL);
	assert_non_null(strstr(r.findings[0].text, "NUL"));
	sysconfig_clear(&file);
	conf_report_clear(&r);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_files),
		cmocka_unit_test(what_a_reader_of_ini_files_gets_wrong),
		cmocka_unit_test(eighty_guids_in_a_line),
		cmocka_unit_test(quotes_follow_the_shell),
		cmocka_unit_test(variables_of_the_file_are_known),
		cmocka_unit_test(what_only_a_shell_knows_is_refused),
		cmocka_unit_test(other_peoples_settings_may_be_what_they_like),
		cmocka_unit_test(a_name_like_ours_is_asked_about),
		cmocka_unit_test(a_value_that_doubles_itself_is_bounded),
		cmocka_unit_test(no_file_is_no_fault_and_a_folder_is),
		cmocka_unit_test(nul_bytes_are_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
