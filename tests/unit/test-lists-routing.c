// SPDX-License-Identifier: BSD-2-Clause
/* ids_guid_file and port_search_ordering_file. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "conf/lists/lists_routing.h"
#include "util/mem.h"

static struct conf_guid_ids ids_of(const char *text, struct conf_report *r)
{
	struct conf_guid_ids ids;

	assert_int_equal(conf_guid_ids_read_text("ids", text, strlen(text), &ids, r), 0);
	return ids;
}

static struct conf_port_orders orders_of(const char *text, struct conf_report *r)
{
	struct conf_port_orders orders;

	assert_int_equal(conf_port_orders_read_text("order", text, strlen(text), &orders, r), 0);
	return orders;
}

static void assert_found(const struct conf_report *r, size_t i, unsigned line, const char *words)
{
	assert_true(i < r->n);
	assert_int_equal(r->findings[i].line, line);
	if (!strstr(r->findings[i].text, words))
		fail_msg("\"%s\" is not in \"%s\"", words, r->findings[i].text);
}

static void numbers_may_be_of_any_base_and_be_followed_by_words(void **state)
{
	struct conf_report r = { 0 };
	struct conf_guid_ids ids =
		ids_of("# ids\n0x10 7\n0x20 0xff spine\n\n0x30\t010 # eight\n", &r);

	assert_int_equal(r.n, 0);
	assert_int_equal(ids.n, 3);
	assert_int_equal(ids.items[1].guid, 0x20);
	assert_int_equal(ids.items[1].id, 255);
	assert_int_equal(ids.items[2].id, 8);
	conf_guid_ids_clear(&ids);
}

static void a_bad_number_costs_its_line(void **state)
{
	struct conf_report r = { 0 };
	struct conf_guid_ids ids = ids_of("0x10 x\n0x20\n0x30 1\nspine 2\n", &r);

	assert_int_equal(ids.n, 1);
	assert_int_equal(ids.items[0].guid, 0x30);
	assert_int_equal(r.errors, 3);
	assert_found(&r, 0, 1, "\"x\"; expected a number");
	assert_found(&r, 1, 2, "nothing; expected a number");
	assert_found(&r, 2, 4, "is no GUID");
	conf_report_clear(&r);
	conf_guid_ids_clear(&ids);
}

static void a_switch_counts_with_its_first_line(void **state)
{
	struct conf_report r = { 0 };
	struct conf_guid_ids ids = ids_of("0x10 1\n0x20 5\n0x10 2\n0x10 3\n", &r);

	assert_int_equal(ids.items[0].id, 1);
	assert_int_equal(r.warnings, 2);
	assert_found(&r, 0, 3, "also in line 1");
	assert_found(&r, 1, 4, "also in line 1");
	conf_report_clear(&r);
	conf_guid_ids_clear(&ids);
}

static void ports_keep_their_order(void **state)
{
	struct conf_report r = { 0 };
	struct conf_port_orders o = orders_of("0x10 3 1 2 # the third first\n0x20\t7\n", &r);

	assert_int_equal(r.n, 0);
	assert_int_equal(o.n, 2);
	assert_int_equal(o.items[0].n, 3);
	assert_memory_equal(o.items[0].ports, ((uint8_t[]){ 3, 1, 2 }), 3);
	assert_int_equal(o.items[1].ports[0], 7);
	conf_port_orders_clear(&o);
}

static void a_bad_port_costs_its_line(void **state)
{
	struct conf_report r = { 0 };
	struct conf_port_orders o =
		orders_of("0x10 1 255\n0x20 1 2 1\n0x30 0\n0x40\n0x50 1\n0x50 2\n", &r);

	assert_int_equal(o.n, 2);
	assert_int_equal(o.items[0].guid, 0x50);
	assert_int_equal(r.errors, 4);
	assert_found(&r, 0, 1, "\"255\"");
	assert_int_equal(r.findings[0].column, 8);
	assert_found(&r, 1, 2, "each port once");
	assert_found(&r, 2, 3, "port numbers of 1-254");
	assert_found(&r, 3, 4, "nothing; expected port numbers");
	assert_found(&r, 4, 6, "also in line 5");
	conf_report_clear(&r);
	conf_port_orders_clear(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_may_be_of_any_base_and_be_followed_by_words),
		cmocka_unit_test(a_bad_number_costs_its_line),
		cmocka_unit_test(a_switch_counts_with_its_first_line),
		cmocka_unit_test(ports_keep_their_order),
		cmocka_unit_test(a_bad_port_costs_its_line),
	};

	return cmocka_run_group_tests_name("lists-routing", tests, NULL, NULL);
}
