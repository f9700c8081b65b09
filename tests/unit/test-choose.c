// SPDX-License-Identifier: BSD-2-Clause
/*
 * choose.c: which instances there are. A case is the settings, the files of the folder, and what
 * comes out.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "launch/choose.h"
#include "util/mem.h"
#include "util/str.h"

#define NAMES_MAX 16
#define BY_NUMBER "numbered configuration files"
#define BY_GUIDS  "GUIDS in the sysconfig file"

struct desk {
	const char *names[NAMES_MAX];
	struct choose_input in;
	struct choice out;
	struct conf_report report;
};

static struct desk *desk_new(const char *sysconfig, const char *defaults)
{
	struct desk *d = xcalloc(1, sizeof(*d));

	d->in = (struct choose_input){ .conf_dir = "/etc/rdma", .names = d->names };
	assert_int_equal(sysconfig_read_text("/etc/sysconfig/opensm", sysconfig, strlen(sysconfig),
					     &d->in.settings, &d->report),
			 0);
	assert_int_equal(sysconfig_read_text("/etc/default/opensm", defaults, strlen(defaults),
					     &d->in.settings, &d->report),
			 0);
	return d;
}

static void desk_file(struct desk *d, const char *name)
{
	assert_true(d->in.n_names < NAMES_MAX);
	d->names[d->in.n_names++] = name;
}

static void desk_free(struct desk *d)
{
	choose_clear(&d->out);
	sysconfig_clear(&d->in.settings);
	conf_report_clear(&d->report);
	free(d);
}

/* The instances as "NAME NAME ..." after the rules were asked. */
static void expect(struct desk *d, const char *rule, const char *names)
{
	_cleanup_free_ char *found = xstrdup("");

	choose(&d->in, &d->out, &d->report);
	for (size_t i = 0; i < d->out.n; i++) {
		char *longer = xasprintf("%s%s%s", found, i ? " " : "", d->out.items[i]->name);

		free(found);
		found = longer;
	}
	assert_string_equal(found, names);
	assert_string_equal(d->out.rule, rule);
}

static bool said(const struct desk *d, const char *words)
{
	for (size_t i = 0; i < d->report.n; i++)
		if (strstr(d->report.findings[i].text, words))
			return true;
	return false;
}

static void nothing_said_is_one_instance(void **state)
{
	struct desk *d = desk_new("", "");

	desk_file(d, "opensm.conf");
	expect(d, "one instance", "opensm");
	assert_null(d->out.items[0]->conf);
	assert_false(d->out.items[0]->priority_given);
	assert_false(instance_is_named(d->out.items[0]));
	assert_true(d->out.strict);
	assert_int_equal(d->report.n, 0);
	desk_free(d);
}

static void numbered_files_go_first(void **state)
{
	struct desk *d = desk_new("GUIDS=\"0x1 0x2\"\nPRIORITY=3\n", "PORTS=NONE\n");

	desk_file(d, "opensm.conf");
	desk_file(d, "opensm.conf.01");
	desk_file(d, "opensm.conf.1");
	desk_file(d, "opensm.conf.2");
	desk_file(d, "opensm.conf.10");
	d->in.base_settings = 4;
	expect(d, BY_NUMBER, "01 1 2 10");
	assert_string_equal(d->out.items[3]->conf, "/etc/rdma/opensm.conf.10");
	assert_false(d->out.items[0]->priority_given);
	assert_int_equal(d->report.n, 1);
	assert_true(said(d, "GUIDS (/etc/sysconfig/opensm:1), PRIORITY (/etc/sysconfig/opensm:2), "
			    "PORTS (/etc/default/opensm:1) and 4 settings of "
			    "/etc/rdma/opensm.conf"));
	desk_free(d);
}

static void debians_file_as_it_comes_sets_nothing(void **state)
{
	struct desk *d = desk_new("", "PORTS=\"ALL\"\n");

	desk_file(d, "opensm.conf.1");
	expect(d, BY_NUMBER, "1");
	assert_int_equal(d->report.n, 0);
	desk_free(d);
}

static void leftovers_are_named_and_never_started(void **state)
{
	static const char *const names[] = { "opensm.conf.1.rpmnew", "opensm.conf.2~",
					     "opensm.conf.3.bak",    "opensm.conf.orig",
					     "opensm.conf.rpmsave",  "opensm.conf~",
					     "opensm.conf.-1",	     "opensm.conf." };
	struct desk *d = desk_new("", "");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		desk_file(d, names[i]);
	expect(d, "one instance", "opensm");
	assert_int_equal(d->report.warnings, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_true(said(d, names[i]));
	desk_free(d);
}

static void guids_are_staggered_by_decimal_digits(void **state)
{
	struct desk *d = desk_new("GUIDS=\"1 2 3 4 5 6 7 8 9 a  0xB\n0xc\"\nPRIORITY=' 5 '\n", "");

	choose(&d->in, &d->out, &d->report);
	assert_string_equal(d->out.rule, BY_GUIDS);
	assert_int_equal(d->out.n, 12);
	assert_int_equal(d->out.items[0]->prefix, 0xfe80000000000000);
	assert_int_equal(d->out.items[9]->prefix, 0xfe80000000000009);
	assert_int_equal(d->out.items[10]->prefix, 0xfe80000000000010);
	assert_int_equal(d->out.items[11]->prefix, 0xfe80000000000011);
	assert_int_equal(d->out.items[10]->guid, 0xb);
	assert_string_equal(d->out.items[10]->name, "0x000000000000000b");
	for (size_t i = 0; i < d->out.n; i++)
		assert_int_equal(d->out.items[i]->priority, 5);
	desk_free(d);
}

static void a_word_that_is_no_guid_is_an_instance_that_fails(void **state)
{
	struct desk *d = desk_new("GUIDS='0x1 xyz 0x1 ../a 0'\n", "");

	expect(d, BY_GUIDS, "0x0000000000000001 xyz word-3 0");
	assert_null(d->out.items[0]->fault);
	assert_non_null(strstr(d->out.items[1]->fault, "/etc/sysconfig/opensm:1:7: GUIDS: found"));
	assert_non_null(strstr(d->out.items[2]->fault, "../a"));
	assert_true(said(d, "twice"));
	desk_free(d);
}

static void more_guids_than_prefixes_fail_one_by_one(void **state)
{
	char *text = xstrdup("GUIDS='"), *longer;
	struct desk *d;

	for (unsigned i = 1; i <= 101; i++) {
		longer = xasprintf("%s%x ", text, i);
		free(text);
		text = longer;
	}
	longer = xasprintf("%s'\n", text);
	d = desk_new(longer, "");
	choose(&d->in, &d->out, &d->report);
	assert_int_equal(d->out.n, 101);
	assert_int_equal(d->out.items[99]->prefix, 0xfe80000000000099);
	assert_null(d->out.items[99]->fault);
	assert_non_null(d->out.items[100]->fault);
	free(text);
	free(longer);
	desk_free(d);
}

static void priority_out_of_range_starts_nobody(void **state)
{
	struct desk *d = desk_new("\nPRIORITY=16\n", "");

	expect(d, "one instance", "opensm");
	assert_string_equal(d->out.items[0]->fault,
			    "/etc/sysconfig/opensm:2:10: PRIORITY is \"16\"; "
			    "expected a number of 0-15");
	desk_free(d);
}

static void debian_ports(void **state)
{
	static const uint64_t ports[] = { 0x11, 0x12 };
	struct desk *d = desk_new("", "PORTS=\"ALL\"\nPRIORITY=2\n");

	d->in.ports = ports;
	d->in.n_ports = 2;
	expect(d, "PORTS=ALL", "0x0000000000000011 0x0000000000000012");
	assert_true(d->out.all_ports);
	assert_int_equal(d->out.items[1]->prefix, 0);
	assert_int_equal(d->out.items[1]->priority, 2);
	desk_free(d);

	d = desk_new("", "PORTS=none\n");
	expect(d, "PORTS=NONE", "");
	desk_free(d);

	d = desk_new("", "PORTS='0x5 6'\n");
	expect(d, "PORTS, a list of GUIDs", "0x0000000000000005 0x0000000000000006");
	assert_false(d->out.all_ports);
	assert_int_equal(d->out.items[0]->prefix, 0);
	desk_free(d);

	d = desk_new("GUIDS=9\n", "PORTS=ALL\n");
	expect(d, BY_GUIDS, "0x0000000000000009");
	desk_free(d);
}

static void the_order_of_red_hat(void **state)
{
	struct desk *d = desk_new("GUIDS=9\nLAUNCH_ORDER=redhat\n", "");

	desk_file(d, "opensm.conf.1");
	expect(d, BY_GUIDS, "0x0000000000000009");
	desk_free(d);

	d = desk_new("PRIORITY=4\nLAUNCH_ORDER=RedHat\n", "");
	desk_file(d, "opensm.conf.1");
	desk_file(d, "opensm.conf.1.rpmnew");
	desk_file(d, "opensm.conf.2~");
	desk_file(d, "opensm.conf.orig");
	desk_file(d, "opensm.conf.3\nREADY=1");
	expect(d, BY_NUMBER, "1 1.rpmnew 2~");
	assert_int_equal(d->out.items[1]->priority, 4);
	assert_int_equal(d->report.n, 2);
	assert_true(said(d, "opensm.conf.orig"));
	desk_free(d);
}

static void flags_say_what_they_expect(void **state)
{
	struct desk *d = desk_new("STRICT=no\n", "");

	expect(d, "one instance", "opensm");
	assert_false(d->out.strict);
	desk_free(d);

	d = desk_new("STRICT=maybe\n", "");
	expect(d, "one instance", "opensm");
	assert_true(d->out.strict);
	assert_true(said(d, "expected yes or no; yes holds"));
	desk_free(d);
}

static void instances_are_compared_by_their_settings(void **state)
{
	struct instance a = { .name = (char *)"1" }, b = a;

	assert_true(instance_equal(&a, &b));
	b.priority = 3; /* of its configuration */
	assert_true(instance_equal(&a, &b));
	b.priority_given = true;
	assert_false(instance_equal(&a, &b));
	b = a;
	b.guid = 5;
	assert_true(instance_equal(&a, &b));
	b.guid_given = true;
	assert_false(instance_equal(&a, &b));
	b = a;
	b.strict = true;
	assert_false(instance_equal(&a, &b));
	b = a;
	b.fault = (char *)"x";
	assert_false(instance_equal(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_said_is_one_instance),
		cmocka_unit_test(numbered_files_go_first),
		cmocka_unit_test(debians_file_as_it_comes_sets_nothing),
		cmocka_unit_test(leftovers_are_named_and_never_started),
		cmocka_unit_test(guids_are_staggered_by_decimal_digits),
		cmocka_unit_test(a_word_that_is_no_guid_is_an_instance_that_fails),
		cmocka_unit_test(more_guids_than_prefixes_fail_one_by_one),
		cmocka_unit_test(priority_out_of_range_starts_nobody),
		cmocka_unit_test(debian_ports),
		cmocka_unit_test(the_order_of_red_hat),
		cmocka_unit_test(flags_say_what_they_expect),
		cmocka_unit_test(instances_are_compared_by_their_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
