// SPDX-License-Identifier: BSD-2-Clause
/*
 * sysconfig.c, ini.c: the values that a shell would get out of the file, or a finding with its
 * place. Several lines are such that iniparser by itself takes them otherwise than a shell, or
 * refuses the whole file (users.md 2.1).
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
	struct sysconfig file = { 0 };

	assert_int_equal(read_text(text, &file, &r), 0);
	s = sysconfig_get(&file, SYSCONFIG_GUIDS);
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

static void what_iniparser_alone_takes_otherwise(void **state)
{
	expect_guids("export GUIDS=0x1\n", "0x1");
	expect_guids("GUIDS=0x1\nexport GUIDS=0x2\n", "0x2");
	expect_guids("export GUIDS=0x1\nGUIDS=0x2\n", "0x2");
	expect_guids("GUIDS=0x1 # a comment\n", "0x1");
	expect_guids("GUIDS=\"0x1\" # a comment\n", "0x1");
	expect_guids("GUIDS=\"0x1 \\\n0x2\"\n", "0x1 0x2");
	expect_guids("GUIDS=\"0x1\n  0x2 # 0x3\n\"\n", "0x1   0x2 # 0x3 ");
	expect_guids("# don't\nGUIDS=0x1 # don't\nA=\"it's\"\n", "0x1");
	/* \\ at the end of a line does not join lines; \" and \' neither open nor close a quote. */
	expect_guids("WINPATH=C:\\\\\nGUIDS=0x1\n", "0x1");
	expect_guids("A=it\\'s\nGUIDS=0x1\nB=\"a\\\"b\"\n", "0x1");
	/* A backslash at the end of a comment does not join it with the next line. */
	expect_guids("# a comment \\\nGUIDS=0x1\n", "0x1");
	expect_guids("GUIDS=0x1 # a comment\r\n", "0x1");
	/* Names of small letters are other names for a shell. */
	expect_guids("guids=0x1\n", "");
	expect_guids("GUIDS=0x1\nguids=0x2\n", "0x1");
	expect_guids("GUIDS=\n", "");
	expect_guids("GUIDS=\"\"\n", "");
	expect_guids("GUIDS=''\n", "");
	expect_guids("", "");
	expect_guids("GUIDS=0x1", "0x1");
	expect_guids("GUIDS='a$c`d'\n", "a$c`d");
	expect_guids("GUIDS='#;'\n", "#;");
	expect_guids("GUIDS=\"it's\"\n", "it's");
	expect_guids("GUIDS='(a)&~\"'\n", "(a)&~\"");
	expect_guids("GUIDS=\"  0x1 \"\n", "  0x1 ");
}

/* A finding of an error at line:column, and nothing is known. */
static void expect_error(const char *text, unsigned line, unsigned column, const char *words)
{
	struct conf_report r = { 0 };
	struct sysconfig file = { 0 };

	assert_int_equal(read_text(text, &file, &r), -EINVAL);
	assert_true(r.errors >= 1);
	assert_int_equal(r.findings[0].line, line);
	assert_int_equal(r.findings[0].column, column);
	if (!strstr(r.findings[0].text, words))
		fail_msg("%s: %s", text, r.findings[0].text);
	sysconfig_clear(&file);
	conf_report_clear(&r);
}

static void a_file_has_a_thousand_settings_at_most(void **state)
{
	_cleanup_free_ char *text = xcalloc(1001, sizeof("A=1\n") - 1);
	struct conf_report r = { 0 };
	struct sysconfig file = { 0 };

	for (unsigned i = 0; i < 1000; i++)
		memcpy(text + 4 * i, "A=1\n", 4);
	assert_int_equal(sysconfig_read_text(NAME, text, 4000, &file, &r), 0);
	sysconfig_clear(&file);
	memcpy(text + 4000, "A=1\n", 4);
	assert_int_equal(sysconfig_read_text(NAME, text, 4004, &file, &r), -E2BIG);
	assert_int_equal(r.errors, 1);
	sysconfig_clear(&file);
	conf_report_clear(&r);
}

/* 1,000 bytes are a line, with those that are joined to it. */
static void a_line_has_its_limit(void **state)
{
	_cleanup_free_ char *zeros = xcalloc(1001, 1), *text = NULL, *joined = NULL;
	_cleanup_free_ char *long_one = NULL;

	memset(zeros, '0', 1000);
	zeros[994] = '\0'; /* GUIDS= has six more */
	text = xasprintf("GUIDS=%s\n", zeros);
	expect_guids(text, zeros);
	joined = xasprintf("GUIDS=%.500s\\\n%s\n", zeros, zeros + 500);
	expect_guids(joined, zeros);
	long_one = xasprintf("# %s%s\nGUIDS=0%s\n", zeros, zeros, zeros);
	expect_error(long_one, 2, 1, "1001 bytes; expected at most 1000");
}

static void what_only_a_shell_knows_is_refused(void **state)
{
	static const char *const lines[] = {
		"GUIDS=$(ibstat -p)", "GUIDS=`ibstat -p`", "GUIDS=\"$A ${A}2\"", "GUIDS=$A",
		"GUIDS=$'a\\nb'",     "GUIDS=1 2",	   "GUIDS=\"0x1",	 "GUIDS='0x1",
		"GUIDS=~root",	      "GUIDS=0x1#2",	   "GUIDS=0x1;A=3",	 "GUIDS=0x1>file",
		"GUIDS=(0x1 0x2)",    "GUIDS+=0x1",	   "GUIDS = 0x1",	 "GUIDS=a'b'",
		"GUIDS=\"a\\$b\"",    "export GUIDS",	   "if true; then",	 "; GUIDS=0x1",
		"[section]",	      ". /etc/other",	   "GUIDS=0x1 & A=3",	 "GUIDS=a*",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_free_ char *first = xasprintf("%s\n", lines[i]),
				    *third = xasprintf("# one\n\n  %s\nA=3\n", lines[i]);

		expect_error(first, 1, 1, "expected NAME=value");
		expect_error(third, 3, 3, lines[i]);
	}
	/* A quote that is not closed holds the rest of the file, perhaps with settings of ours. */
	expect_error("A=1\nGUIDS=\"0x1\nA=2\n", 2, 1, "found 'GUIDS=\"0x1 A=2");
	expect_error("A=\"0x1\nGUIDS=0x1\n", 1, 1, "found 'A=\"0x1 GUIDS=0x1");
	/* Lines that begin with another setting and also have one of ours. */
	expect_error("FOO=1; GUIDS=\"0x1\"\n", 1, 1, "found 'FOO=1; GUIDS=");
	expect_error("A=1 GUIDS=0x1\n", 1, 1, "found 'A=1 GUIDS=0x1");
	expect_error("GUIDS='0x1 \\\n0x2'\n", 1, 1, "found 'GUIDS='0x1 \\ 0x2'");
	expect_error("guids=0x2\nGUIDS=0x1\n", 2, 1, "found GUIDS, and another name");
}

static void other_peoples_settings_may_be_what_they_like(void **state)
{
	struct conf_report r = { 0 };
	struct sysconfig file = { 0 };

	assert_int_equal(read_text("A=$(echo \")\" (x))\nB=`ls` C=$'\\n'\nGUIDS=0x1\n", &file, &r),
			 0);
	assert_int_equal(r.warnings, 2);
	assert_string_equal(sysconfig_get(&file, SYSCONFIG_GUIDS)->value, "0x1");
	assert_int_equal(sysconfig_get(&file, SYSCONFIG_GUIDS)->line, 3);
	assert_int_equal(sysconfig_get(&file, SYSCONFIG_GUIDS)->column, 7);
	sysconfig_clear(&file);
	conf_report_clear(&r);
}

static void a_name_like_ours_is_asked_about(void **state)
{
	struct conf_report r = { 0 };
	struct sysconfig file = { 0 };

	assert_int_equal(read_text("PRIORTY=3\nOPTIONS=-v\nLANG=C\n", &file, &r), 0);
	assert_int_equal(r.n, 2);
	assert_non_null(strstr(r.findings[0].text, "did you mean PRIORITY"));
	assert_int_equal(r.findings[1].line, 2);
	sysconfig_clear(&file);
	conf_report_clear(&r);
}

static void no_file_is_no_fault_and_a_folder_is(void **state)
{
	struct conf_report r = { 0 };
	struct sysconfig file = { 0 };

	assert_int_equal(sysconfig_read("/nonexistent/opensm", &file, &r), 0);
	assert_null(sysconfig_get(&file, SYSCONFIG_GUIDS));
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
	struct sysconfig file = { 0 };

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
		cmocka_unit_test(what_iniparser_alone_takes_otherwise),
		cmocka_unit_test(a_line_has_its_limit),
		cmocka_unit_test(a_file_has_a_thousand_settings_at_most),
		cmocka_unit_test(what_only_a_shell_knows_is_refused),
		cmocka_unit_test(other_peoples_settings_may_be_what_they_like),
		cmocka_unit_test(a_name_like_ours_is_asked_about),
		cmocka_unit_test(no_file_is_no_fault_and_a_folder_is),
		cmocka_unit_test(nul_bytes_are_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
