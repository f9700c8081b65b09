// SPDX-License-Identifier: BSD-2-Clause
/* Rules of quirks.conf: what fits, what adds up, and what is no rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conf/lists/quirks.h"
#include "util/mem.h"

static struct conf_report report;
static struct conf_quirks quirks;

static void read_text(const char *text)
{
	assert_int_equal(conf_quirks_read_text("q", text, strlen(text), &quirks, &report), 0);
}

static int clear(void **state)
{
	conf_report_clear(&report);
	conf_quirks_clear(&quirks);
	return 0;
}

static void without_a_file_the_built_in_rows_count(void **state)
{
	assert_true(conf_quirk_holds(NULL, QUIRK_EXT_PORT_INFO, 0x2c9, 7));
	assert_false(conf_quirk_holds(NULL, QUIRK_EXT_PORT_INFO, 0x2c8, 7));
	assert_true(conf_quirk_holds(NULL, QUIRK_MTU_1024, 0x8f1, 23108));
	assert_false(conf_quirk_holds(NULL, QUIRK_MTU_1024, 0x8f1, 23109));
	assert_true(conf_quirk_holds(NULL, QUIRK_STALE_TABLES, 0x2c9, 0xd2f2));
	assert_false(conf_quirk_holds(NULL, QUIRK_STALE_TABLES, 0x2c9, 0xd2f1));
	assert_false(conf_quirk_holds(NULL, QUIRK_NO_STATE_TABLE, 0x2c9, 0xd2f2));
}

static void rules_add_up_in_their_order(void **state)
{
	read_text("# a comment\n\n"
		  "0x1234 10-0x14 no_state_table stale_tables # both\n"
		  "0x1234 12 -stale_tables\n"
		  "4660 * mtu_1024\n"
		  "0x2c9 0xd2f2 -stale_tables\n");
	assert_int_equal(report.errors, 0);
	assert_int_equal(quirks.n, 4);
	assert_true(conf_quirk_holds(&quirks, QUIRK_NO_STATE_TABLE, 0x1234, 10));
	assert_true(conf_quirk_holds(&quirks, QUIRK_NO_STATE_TABLE, 0x1234, 20));
	assert_false(conf_quirk_holds(&quirks, QUIRK_NO_STATE_TABLE, 0x1234, 21));
	assert_true(conf_quirk_holds(&quirks, QUIRK_STALE_TABLES, 0x1234, 11));
	assert_false(conf_quirk_holds(&quirks, QUIRK_STALE_TABLES, 0x1234, 12));
	assert_true(conf_quirk_holds(&quirks, QUIRK_MTU_1024, 0x1234, 0xFFFF));
	assert_false(conf_quirk_holds(&quirks, QUIRK_STALE_TABLES, 0x2c9, 0xd2f2));
	assert_true(conf_quirk_holds(&quirks, QUIRK_STALE_TABLES, 0x2c9, 0xd2f0));
}

static void faulty_lines_are_named_by_their_place_and_left_out(void **state)
{
	static const struct {
		const char *line;
		unsigned column;
		const char *found;
	} rows[] = {
		{ "x 1 mtu_1024", 1, "\"x\"; expected a vendor id" },
		{ "0x1000000 1 mtu_1024", 1, "expected a vendor id" },
		{ "1", 2, "nothing; expected a device id" },
		{ "1 0x10000 mtu_1024", 3, "expected a device id" },
		{ "1 5-4 mtu_1024", 3, "expected a device id" },
		{ "1 -4 mtu_1024", 3, "expected a device id" },
		{ "1  4-  mtu_1024", 4, "expected a device id" },
		{ "1 * ", 0, "nothing; expected one of ext_port_info" },
		{ "1 * mtu_1024 none", 14, "\"none\"; expected one of ext_port_info" },
		{ "1 * --mtu_1024", 5, "expected one of" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		read_text(rows[i].line);
		assert_int_equal(report.n, 1);
		assert_int_equal(report.findings[0].line, 1);
		if (rows[i].column)
			assert_int_equal(report.findings[0].column, rows[i].column);
		assert_non_null(strstr(report.findings[0].text, rows[i].found));
		assert_int_equal(quirks.n, 0);
		clear(state);
	}
}

static void a_long_file_has_an_end(void **state)
{
	enum { LINES = CONF_QUIRKS_MAX + 5 };
	static char text[LINES * 13 + 1];

	for (unsigned i = 0; i < LINES; i++)
		memcpy(text + i * 13, "1 * mtu_1024\n", 13);
	read_text(text);
	assert_int_equal(quirks.n, CONF_QUIRKS_MAX);
	assert_int_equal(report.n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(without_a_file_the_built_in_rows_count, clear),
		cmocka_unit_test_teardown(rules_add_up_in_their_order, clear),
		cmocka_unit_test_teardown(faulty_lines_are_named_by_their_place_and_left_out,
					  clear),
		cmocka_unit_test_teardown(a_long_file_has_an_end, clear),
	};

	return cmocka_run_group_tests_name("quirks", tests, NULL, NULL);
}
