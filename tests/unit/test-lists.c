// SPDX-License-Identifier: BSD-2-Clause
/* Files of GUIDs, ports, weights and names. */
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

#include "conf/files.h"
#include "tests/lib/scratch.h"
#include "util/mem.h"

#define NAME "list"

static struct conf_guid_ports ports_of(const char *text, enum conf_list kind, struct conf_report *r)
{
	struct conf_guid_ports ports;

	assert_int_equal(conf_guid_ports_read_text(NAME, text, strlen(text), kind, &ports, r), 0);
	return ports;
}

static void guids_keep_their_order(void **state)
{
	static const char text[] = "# order\n\n  0x30 a host\n0x10#x\n32\n\t0x20 # again\n0x30\n";
	struct conf_report r = { 0 };
	struct conf_guids g;

	assert_int_equal(conf_guids_read_text(NAME, text, strlen(text), &g, &r), 0);
	assert_int_equal(g.n, 3);
	assert_int_equal(g.guids[0], 0x30);
	assert_int_equal(g.guids[1], 0x10);
	assert_int_equal(g.guids[2], 32);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.warnings, 2);
	assert_string_equal(r.findings[0].file, NAME);
	assert_int_equal(r.findings[0].line, 6);
	assert_string_equal(r.findings[0].text,
			    "also in line 5, which counts; this line is ignored");
	assert_int_equal(r.findings[1].line, 7);
	conf_guids_clear(&g);
	conf_report_clear(&r);
}

static void ports_are_read(void **state)
{
	struct conf_report r = { 0 };
	struct conf_guid_ports p = ports_of("0x1 254\n0x1\t2 # x\n0x1 0x2\n", CONF_LIST_PORTS, &r);

	assert_int_equal(p.n, 2);
	assert_int_equal(p.items[0].guid, 1);
	assert_int_equal(p.items[0].port, 254);
	assert_int_equal(p.items[0].weight, 0);
	assert_int_equal(p.items[1].port, 2);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.findings[0].line, 3);
	conf_guid_ports_clear(&p);
	conf_report_clear(&r);
}

static void of_two_weights_the_last_counts(void **state)
{
	struct conf_report r = { 0 };
	struct conf_guid_ports p = ports_of("0x1 1 5\n0x2 1 6\n0x1 1 255\n", CONF_LIST_WEIGHTS, &r);

	assert_int_equal(p.n, 2);
	assert_int_equal(p.items[0].guid, 2);
	assert_int_equal(p.items[1].guid, 1);
	assert_int_equal(p.items[1].weight, 255);
	assert_int_equal(r.findings[0].line, 1);
	assert_string_equal(r.findings[0].text,
			    "also in line 3, which counts; this line is ignored");
	conf_guid_ports_clear(&p);
	conf_report_clear(&r);
}

static const struct {
	const char *line;
	unsigned column;
	enum conf_severity severity;
	const char *words;
} oddities[] = {
	{ "spine1 1 1", 1, CONF_ERROR, "\"spine1\" is no GUID" },
	{ " 0x1x 1 1", 2, CONF_ERROR, "\"0x1x\" is no GUID" },
	{ "0 1 1", 1, CONF_ERROR, "\"0\" is no GUID" },
	{ "0002c90300a1b2c3 1 1", 1, CONF_ERROR, "is no GUID" },
	{ "0x10000000000000000 1 1", 1, CONF_ERROR, "is no GUID" },
	{ "-1 1 1", 1, CONF_ERROR, "\"-1\" is no GUID" },
	{ "0x1", 4, CONF_ERROR, "no number; expected a port of 1-254" },
	{ "0x1 # 3", 5, CONF_ERROR, "no number; expected a port" },
	{ "0x1 0 1", 5, CONF_ERROR, "\"0\"; expected a port" },
	{ "0x1 255 1", 5, CONF_ERROR, "\"255\"; expected a port" },
	{ "0x1 010 1", 5, CONF_ERROR, "\"010\"; expected a port" },
	{ "0x1 1", 6, CONF_ERROR, "no number; expected a weight of 1-255" },
	{ "0x1  1  256", 9, CONF_ERROR, "\"256\"; expected a weight" },
	{ "0x1 1 0", 7, CONF_ERROR, "\"0\"; expected a weight" },
	{ "0x1 1 1 x", 9, CONF_WARNING, "\"x\" and what follows is ignored" },
	{ "0002030405060707 1 1", 1, CONF_WARNING,
	  "read as octal; did you mean 0x0002030405060707" },
	{ "1002030405060708 1 1", 1, CONF_WARNING, "read as decimal; did you mean" },
};

static void a_bad_line_does_not_harm_the_good_ones(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(oddities); i++) {
		_cleanup_free_ char *text = xasprintf("0xa 1 2\n%s\n0xb 3 4\n", oddities[i].line);
		struct conf_report r = { 0 };
		struct conf_guid_ports p = ports_of(text, CONF_LIST_WEIGHTS, &r);

		if (r.n != 1 || !strstr(r.findings[0].text, oddities[i].words))
			fail_msg("%s: %s", oddities[i].line, r.n ? r.findings[0].text : "nothing");
		assert_int_equal(r.findings[0].severity, oddities[i].severity);
		assert_int_equal(r.findings[0].line, 2);
		assert_int_equal(r.findings[0].column, oddities[i].column);
		assert_int_equal(p.n, oddities[i].severity == CONF_ERROR ? 2 : 3);
		assert_int_equal(p.items[0].guid, 0xa);
		assert_int_equal(p.items[p.n - 1].guid, 0xb);
		assert_int_equal(p.items[p.n - 1].weight, 4);
		conf_guid_ports_clear(&p);
		conf_report_clear(&r);
	}
}

static void a_missing_list_is_a_finding(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	struct conf_report r = { 0 };
	struct conf_place at = { 0 };

	assert_int_equal(conf_set(c, CONF_ID_root_guid_file, "/nonexistent/list", &at, &r), 0);
	conf_lists_check(c, &r);
	assert_int_equal(r.errors, 1);
	assert_non_null(strstr(r.findings[0].text, "there is no file \"/nonexistent/list\""));
	conf_report_clear(&r);
}

/* No option names them: prefix-routes.conf, partitions.conf and others at their default places. */
static void a_missing_file_of_a_default_path_is_no_fault(void **state)
{
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	struct conf_report r = { 0 };

	conf_lists_check(c, &r);
	assert_int_equal(r.n, 0);
}

static const char map[] = "# names\n"
			  "0x1 \"spine 1\" rest\n"
			  "0x2 spine-2  # comment\n"
			  "  0x3\t\"open\n"
			  "0x4\n"
			  "0x5 \"\"\n"
			  "x \"y\"\n"
			  "0x1 \"other\"\n"
			  "0x6 \"a\tb\\\x01\"\n"
			  "0x7 \"#1\"\n";

static void names_are_found_by_guid(void **state)
{
	_cleanup_(conf_names_freep) struct conf_names *names = NULL;
	struct conf_report r = { 0 };

	assert_int_equal(conf_names_read_text(NAME, map, strlen(map), &names, &r), 0);
	assert_int_equal(conf_names_count(names), 4);
	assert_string_equal(conf_names_find(names, 1), "spine 1");
	assert_string_equal(conf_names_find(names, 2), "spine-2");
	assert_string_equal(conf_names_find(names, 3), "open");
	assert_string_equal(conf_names_find(names, 6), "a b\\");
	assert_null(conf_names_find(names, 4));
	assert_null(conf_names_find(names, 0));
	assert_null(conf_names_find(NULL, 1));
	assert_int_equal(r.errors, 4);	 /* lines 5, 6, 7, 10 */
	assert_int_equal(r.warnings, 3); /* lines 4, 8, 10 */
	assert_int_equal(r.findings[0].line, 4);
	assert_int_equal(r.findings[0].column, 7);
	assert_int_equal(r.findings[4].line, 8);
	assert_string_equal(
		r.findings[4].text,
		"0x0000000000000001 has a name already, \"spine 1\"; the line is ignored");
	conf_report_clear(&r);
}

static void the_map_of_the_configuration_is_loaded(void **state)
{
	_cleanup_(conf_files_unrefp) struct conf_files *files = NULL;
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	char *path = scratch_file("0x1 \"one\"\n");
	struct conf_report r = { 0 };
	struct conf_place at = { 0 };

	assert_int_equal(conf_set(c, CONF_ID_node_name_map_name, path, &at, &r), 0);
	files = conf_files_read(c, NULL);
	assert_string_equal(conf_names_find(conf_files_names(files), 1), "one");
	assert_int_equal(files->of[CONF_FILE_NAMES]->findings.n, 0);
	free(path);
}

static void every_list_of_the_configuration_is_checked(void **state)
{
	static const enum conf_id ids[] = {
		CONF_ID_guid_routing_order_file,
		CONF_ID_root_guid_file,
		CONF_ID_cn_guid_file,
		CONF_ID_io_guid_file,
		CONF_ID_ids_guid_file,
		CONF_ID_port_search_ordering_file,
		CONF_ID_port_prof_ignore_file,
		CONF_ID_hop_weights_file,
		CONF_ID_node_name_map_name,
	};
	char *path = scratch_file("good for nothing\n");

	for (unsigned i = 0; i < ARRAY_SIZE(ids); i++) {
		_cleanup_(conf_unrefp) struct conf *c = conf_new();
		struct conf_report r = { 0 };
		struct conf_place at = { 0 };

		assert_int_equal(conf_set(c, ids[i], path, &at, &r), 0);
		conf_lists_check(c, &r);
		assert_int_equal(r.errors, 1);
		assert_string_equal(r.findings[0].file, path);
		conf_report_clear(&r);
	}
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guids_keep_their_order),
		cmocka_unit_test(ports_are_read),
		cmocka_unit_test(of_two_weights_the_last_counts),
		cmocka_unit_test(a_bad_line_does_not_harm_the_good_ones),
		cmocka_unit_test(a_missing_list_is_a_finding),
		cmocka_unit_test(a_missing_file_of_a_default_path_is_no_fault),
		cmocka_unit_test(names_are_found_by_guid),
		cmocka_unit_test(the_map_of_the_configuration_is_loaded),
		cmocka_unit_test(every_list_of_the_configuration_is_checked),
	};

	return cmocka_run_group_tests_name("lists", tests, NULL, NULL);
}
