// SPDX-License-Identifier: BSD-2-Clause
/* Ports that are called healthy or unhealthy: forms, the last line, places of errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conf/lists/health_ports.h"

static struct conf_health_ports read_ports(const char *text, struct conf_report *r)
{
	struct conf_health_ports p;

	*r = (struct conf_report){ 0 };
	assert_int_equal(conf_health_ports_read_text("policy", text, strlen(text), &p, r), 0);
	return p;
}

static void all_forms_are_read(void **state)
{
	struct conf_report r;
	struct conf_health_ports p = read_ports("# a list\n"
						"\n"
						"0x20 3 unhealthy\n"
						"10 1 Healthy # spare\n"
						" 0X10\t2 UNHEALTHY Disable\n"
						"10 254 unhealthy no_discover#\n"
						"all healthy\n",
						&r);

	assert_int_equal(r.n, 0);
	assert_int_equal(p.n, 4);
	assert_true(p.all_healthy);
	assert_true(conf_health_ports_find(&p, 0x10, 1)->healthy);
	assert_int_equal(conf_health_ports_find(&p, 0x10, 2)->action, CONF_HEALTH_DISABLE);
	assert_int_equal(conf_health_ports_find(&p, 0x10, 254)->action, CONF_HEALTH_NO_DISCOVER);
	assert_int_equal(conf_health_ports_find(&p, 0x20, 3)->action, CONF_HEALTH_NONE);
	assert_false(conf_health_ports_find(&p, 0x20, 3)->healthy);
	assert_null(conf_health_ports_find(&p, 0x20, 4));
	conf_health_ports_clear(&p);
}

static void the_last_line_on_a_port_counts(void **state)
{
	struct conf_report r;
	struct conf_health_ports p = read_ports("10 1 unhealthy\n20 1 healthy\n10 1 healthy\n", &r);

	assert_int_equal(p.n, 2);
	assert_true(conf_health_ports_find(&p, 0x10, 1)->healthy);
	conf_health_ports_clear(&p);
}

/* Each costs itself alone, and says where it is wrong. */
static void a_faulty_line_is_named_by_its_place(void **state)
{
	static const struct {
		const char *line;
		unsigned column;
	} bad[] = {
		{ "spine1 3 healthy", 1 },	 { "0 3 healthy", 1 },
		{ "12345678901234567 1 healthy", 1 }, { "10 0 healthy", 4 },
		{ "10 255 healthy", 4 },	 { "10 1000 healthy", 4 },
		{ "10", 3 },			 { "10 1", 5 },
		{ "10 1 sick", 6 },		 { "10 1 healthy isolate", 14 },
		{ "10 1 unhealthy burn", 16 },	 { "10 1 unhealthy report now", 23 },
		{ "all", 4 },			 { "all unhealthy", 5 },
		{ "all healthy now", 13 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct conf_report r;
		struct conf_health_ports p;
		char text[128];

		snprintf(text, sizeof(text), "20 1 healthy\n%s\n20 2 healthy\n", bad[i].line);
		p = read_ports(text, &r);
		assert_int_equal(r.errors, 1);
		assert_int_equal(r.findings[0].line, 2);
		assert_int_equal(r.findings[0].column, bad[i].column);
		assert_string_equal(r.findings[0].file, "policy");
		assert_int_equal(p.n, 2);
		assert_false(p.all_healthy);
		conf_report_clear(&r);
		conf_health_ports_clear(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_forms_are_read),
		cmocka_unit_test(the_last_line_on_a_port_counts),
		cmocka_unit_test(a_faulty_line_is_named_by_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
