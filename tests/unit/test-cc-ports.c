// SPDX-License-Identifier: BSD-2-Clause
/* The value of cc_sw_port_cong_setting: what is read, what is refused, what is written. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conf/cc_ports.h"
#include "ib/codes.h"
#include "util/mem.h"

static void items_are_read(void **state)
{
	struct conf_cc_ports list;

	assert_int_equal(cc_ports_parse("all=off, hosts=15:8:0 ,NDR=credit:5:3:16383", &list), 0);
	assert_int_equal(list.n, 3);
	assert_int_equal(list.items[0].where, CONF_CC_ALL);
	assert_int_equal(list.items[0].kind, CONF_CC_OFF);
	assert_int_equal(list.items[1].where, CONF_CC_HOSTS);
	assert_int_equal(list.items[1].kind, CONF_CC_MARKS);
	assert_int_equal(list.items[1].threshold, 15);
	assert_int_equal(list.items[1].packet_size, 8);
	assert_int_equal(list.items[2].where, 1000);
	assert_int_equal(list.items[2].kind, CONF_CC_CREDIT);
	assert_int_equal(list.items[2].parameter, 0xFFFF);
}

static void what_is_written_reads_back(void **state)
{
	static const char *const texts[] = {
		"(null)",
		"all=off",
		"switches=1:2:65535,sdr=0:0:0,fdr10=15:255:1,xdr=credit:5:1:300",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct conf_cc_ports list;
		_cleanup_free_ char *text = NULL;

		assert_int_equal(cc_ports_parse(texts[i], &list), 0);
		text = cc_ports_text(&list);
		assert_string_equal(text, texts[i]);
	}
}

static void faults_leave_what_was(void **state)
{
	static const char *const texts[] = {
		"",		 "all",		    "all=",	       "=1:2:3",
		"all=16:0:0",	 "all=1:256:0",	    "all=1:2:65536",   "all=1:2",
		"all=1:2:3:4",	 "all=1:2:3,",	    "some=1:2:3",      "all=credit:1:4:0",
		"all=credit:1",	 "all=credit:1:0:16384", "all=-1:0:0", "1=1:2:3",
		"all=o,all=off", "all=1:2:3;",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct conf_cc_ports list = { .n = 9 };

		assert_int_equal(cc_ports_parse(texts[i], &list), -EINVAL);
		assert_int_equal(list.n, 9);
	}
}

static void sixteen_items_and_no_more(void **state)
{
	static const char item[] = "all=off,";
	char text[sizeof(item) * 17] = "";
	struct conf_cc_ports list;

	for (unsigned i = 0; i < 17; i++)
		memcpy(text + i * strlen(item), item, strlen(item));
	text[16 * strlen(item) - 1] = '\0';
	assert_int_equal(cc_ports_parse(text, &list), 0);
	assert_int_equal(list.n, 16);
	text[16 * strlen(item) - 1] = ',';
	text[17 * strlen(item) - 1] = '\0';
	assert_int_equal(cc_ports_parse(text, &list), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_read),
		cmocka_unit_test(what_is_written_reads_back),
		cmocka_unit_test(faults_leave_what_was),
		cmocka_unit_test(sixteen_items_and_no_more),
	};

	return cmocka_run_group_tests_name("cc-ports", tests, NULL, NULL);
}
