// SPDX-License-Identifier: BSD-2-Clause
/* torus-2QoS.conf: what it says, and every fault with its place. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conf/lists/torus.h"
#include "util/mem.h"

static struct torus_conf *read_conf(const char *text, struct conf_report *r)
{
	struct torus_conf *t;
	int e = torus_conf_read_text("t.conf", text, strlen(text), &t, r);

	assert_int_equal(e, t ? 0 : -EINVAL);
	return t;
}

static struct torus_conf *read_good(const char *text)
{
	struct conf_report r = { 0 };
	struct torus_conf *t = read_conf(text, &r);

	if (r.n)
		fail_msg("%s: %s", text, r.findings[0].text);
	assert_non_null(t);
	return t;
}

static void suffixes_say_which_dimension_is_a_ring(void **state)
{
	static const struct {
		const char *text;
		unsigned size[3];
		bool wraps[3];
	} rows[] = {
		{ "torus 6 6 6\n", { 6, 6, 6 }, { 1, 1, 1 } },
		{ "mesh 3T 4 5\n", { 3, 4, 5 }, { 1, 0, 0 } },
		{ "torus 3 4M 5m # comment\n", { 3, 4, 5 }, { 1, 0, 0 } },
		{ "\n# x\n \tmesh\t1 0x10t 010\n", { 1, 16, 8 }, { 0, 1, 0 } },
		{ "torus 2 2t 1", { 2, 2, 1 }, { 0, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct torus_conf *t = read_good(rows[i].text);

		assert_memory_equal(t->size, rows[i].size, sizeof(t->size));
		assert_memory_equal(t->wraps, rows[i].wraps, sizeof(t->wraps));
		torus_conf_free(t);
	}
}

static void seeds_and_numbers_are_read(void **state)
{
	struct torus_conf *t =
		read_good("torus 1 4 5\n"
			  "yp_link 0x10 0x11 # words\nym_link 16 0x12\nzp_link 0x10 0x13\n"
			  "portgroup_max_ports 20\nnext_seed\n"
			  "y_dateline -2\nz_dateline 4\nzm_link 0x20 0x21\n"
			  "port_order 7 3 7 0 12 # rest\nmax_changes 0\nport_order 3 5\n");

	(void)state;
	assert_int_equal(t->n_seeds, 2);
	assert_int_equal(t->seeds[0].from, 0x10);
	assert_int_equal(t->seeds[0].to[1][0], 0x11);
	assert_int_equal(t->seeds[0].to[1][1], 0x12);
	assert_int_equal(t->seeds[0].to[2][0], 0x13);
	assert_int_equal(t->seeds[0].line, 2);
	assert_int_equal(t->seeds[1].from, 0x20);
	assert_int_equal(t->seeds[1].to[2][1], 0x21);
	assert_int_equal(t->seeds[1].dateline[1], -2);
	assert_int_equal(t->seeds[1].dateline[2], 4);
	assert_int_equal(t->portgroup_max_ports, 20);
	assert_int_equal(t->max_changes, 0);
	assert_int_equal(t->n_order, 5);
	assert_memory_equal(t->order, ((uint8_t[]){ 7, 3, 0, 12, 5 }), 5);
	torus_conf_free(t);
}

static void what_is_not_said_has_its_default(void **state)
{
	struct torus_conf *t = read_good("mesh 4 4 1");

	(void)state;
	assert_int_equal(t->portgroup_max_ports, 16);
	assert_int_equal(t->max_changes, 32);
	assert_int_equal(t->n_order, 0);
	assert_int_equal(t->n_seeds, 0);
	torus_conf_free(t);
}

static void every_fault_is_told_with_its_place(void **state)
{
	static const struct {
		const char *text;
		unsigned line, column;
		const char *words;
	} rows[] = {
		{ "", 0, 0, "neither torus nor mesh" },
		{ "# nothing\n\n", 0, 0, "neither torus nor mesh" },
		{ "torus 6 6\n", 1, 10, "nothing; expected a number of switches" },
		{ "torus 6 6x 6\n", 1, 9, "\"6x\"" },
		{ "torus 6 t 6\n", 1, 9, "\"t\"" },
		{ "torus 6 6 99999\n", 1, 11, "\"99999\"" },
		{ "torus 6 6 6\nmesh 6 6 6\n", 2, 1, "expected one torus or mesh" },
		{ "xp_link 1 2\n", 1, 1, "expected torus or mesh first" },
		{ "torus 6 6 6\n xq_link 1 2\n", 2, 2, "\"xq_link\"; expected a keyword" },
		{ "torus 6 6 6\nxp_link 1\n", 2, 10, "nothing; expected the node GUID" },
		{ "torus 6 6 6\nxp_link 0 1\n", 2, 9, "\"0\"; expected the node GUID" },
		{ "torus 6 6 6\nxp_link 1 1\n", 2, 11, "expected a neighbour" },
		{ "torus 6 6 6\nxp_link 1 2\nyp_link 2 3\n", 3, 9,
		  "expected the same first switch" },
		{ "torus 6 6 6\nx_dateline 6\n", 2, 12, "\"6\"; expected a number between" },
		{ "torus 6 6 6\nx_dateline -6\n", 2, 12, "\"-6\"; expected a number between" },
		{ "torus 6 6 6\nx_dateline\n", 2, 11, "nothing; expected a number between" },
		{ "torus 6 6 6\nport_order 1 x 2\n", 2, 14, "\"x\"; expected numbers of ports" },
		{ "torus 6 6 6\nport_order\n", 2, 11, "nothing; expected numbers of ports" },
		{ "torus 6 6 6\nport_order 255\n", 2, 12, "\"255\"" },
		{ "torus 6 6 6\nmax_changes many\n", 2, 13, "\"many\"; expected a number" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct conf_report r = { 0 };

		assert_null(read_conf(rows[i].text, &r));
		assert_int_equal(r.errors, 1);
		assert_string_equal(r.findings[0].file, "t.conf");
		if (r.findings[0].line != rows[i].line || r.findings[0].column != rows[i].column)
			fail_msg("%s: told at %u:%u", rows[i].text, r.findings[0].line,
				 r.findings[0].column);
		if (!strstr(r.findings[0].text, rows[i].words))
			fail_msg("\"%s\" is not in \"%s\"", rows[i].words, r.findings[0].text);
		conf_report_clear(&r);
	}
}

static void all_faults_of_a_file_are_told(void **state)
{
	struct conf_report r = { 0 };

	(void)state;
	assert_null(read_conf("torus 6 6 6\nfoo\nxp_link a b\nx_dateline 9\n", &r));
	assert_int_equal(r.errors, 3);
	conf_report_clear(&r);
}

static void a_size_of_none_and_a_second_link_are_remarks(void **state)
{
	struct conf_report r = { 0 };
	struct torus_conf *t = read_conf("torus 6 6 0\nxp_link 1 2\nxp_link 1 3\n", &r);

	(void)state;
	assert_non_null(t);
	assert_int_equal(r.warnings, 2);
	assert_int_equal(t->size[2], 1);
	assert_int_equal(t->seeds[0].to[0][0], 3);
	torus_conf_free(t);
	conf_report_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suffixes_say_which_dimension_is_a_ring),
		cmocka_unit_test(seeds_and_numbers_are_read),
		cmocka_unit_test(what_is_not_said_has_its_default),
		cmocka_unit_test(every_fault_is_told_with_its_place),
		cmocka_unit_test(all_faults_of_a_file_are_told),
		cmocka_unit_test(a_size_of_none_and_a_second_link_are_remarks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
