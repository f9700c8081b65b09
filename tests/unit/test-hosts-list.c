// SPDX-License-Identifier: BSD-2-Clause
/* Lists of hosts in rank order: what a line may be, and where a faulty one is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conf/lists/hosts.h"
#include "util/mem.h"

static struct conf_hosts read_text(const char *text, struct conf_report *r)
{
	struct conf_hosts h;

	assert_int_equal(conf_hosts_read_text("list", text, strlen(text), &h, r), 0);
	return h;
}

static void hosts_are_guids_or_names_in_order(void **state)
{
	struct conf_report r = { 0 };
	struct conf_hosts h = read_text("# ranks\n"
					"\tnode 7 mlx5_0  # the last one\n"
					"0x00000000000000Ab\n"
					"\n"
					"\"0x1 # node\" \n"
					"node#8\n",
					&r);

	assert_int_equal(r.n, 0);
	assert_int_equal(h.n, 4);
	assert_string_equal(h.items[0].name, "node 7 mlx5_0");
	assert_int_equal(h.items[0].line, 2);
	assert_int_equal(h.items[0].column, 2);
	assert_int_equal(h.items[1].guid, 0xAB);
	assert_null(h.items[1].name);
	assert_string_equal(h.items[2].name, "0x1 # node");
	assert_string_equal(h.items[3].name, "node#8");
	conf_hosts_clear(&h);
}

static void faulty_lines_are_named(void **state)
{
	static const struct {
		const char *text, *said;
	} rows[] = {
		{ "  0x0\n", "list:1:3: \"0x0\"; expected 0x and a GUID" },
		{ "a\n0x12 b\n", "list:2:1: \"0x12 b\"; expected 0x and a GUID" },
		{ "0x12345678123456789\n", "list:1:1: \"0x12345678123456789\"; expected" },
		{ "\"a\n", "list:1:1: \"\"a\"; expected a name, and a closing quote" },
		{ "\"\"\n", "expected a name, and a closing quote" },
		{ "\"a\" b\n", "expected a name, and a closing quote" },
		{ "a\nb\n a\n", "list:3:2: it stands on line 1 already; expected each" },
		{ "0x1\n0x01\n", "list:2:1: it stands on line 1 already" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct conf_report r = { 0 };
		struct conf_hosts h = read_text(rows[i].text, &r);
		char *said;

		assert_int_equal(r.n, 1);
		assert_int_equal(r.errors, 1);
		said = conf_finding_text(&r.findings[0]);
		if (!strstr(said, rows[i].said))
			fail_msg("said: %s; expected: %s", said, rows[i].said);
		free(said);
		conf_report_clear(&r);
		conf_hosts_clear(&h);
	}
}

static void lines_have_a_limit(void **state)
{
	struct conf_report r = { 0 };
	struct conf_hosts h;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (unsigned i = 1; i <= CONF_HOSTS_MAX + 9; i++)
		fprintf(out, "0x%x\n", i);
	fclose(out);
	h = read_text(text, &r);
	assert_int_equal(h.n, CONF_HOSTS_MAX);
	assert_int_equal(r.n, 1);
	conf_report_clear(&r);
	conf_hosts_clear(&h);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_are_guids_or_names_in_order),
		cmocka_unit_test(faulty_lines_are_named),
		cmocka_unit_test(lines_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
