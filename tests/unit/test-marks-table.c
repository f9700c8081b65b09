// SPDX-License-Identifier: BSD-2-Clause
/* The table of marks and its text: what was written is read again, and nothing that is damaged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sm/links/marks_table.h"
#include "util/hash.h"
#include "util/random.h"

static struct link_mark mark_of(guid_t node, unsigned port)
{
	struct link_mark m = {
		.node = node, .port = (uint8_t)port, .kind = port % 2, .since = 170
	};

	mark_set_texts(&m, "root", port % 3 ? "replacing the cable" : "");
	m.forced = port % 5 == 0;
	m.until = port % 7 ? 0 : 900;
	return m;
}

static void assert_same(const struct mark_table *a, const struct mark_table *b)
{
	assert_int_equal(a->generation, b->generation);
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		assert_int_equal(a->all[i].node, b->all[i].node);
		assert_int_equal(a->all[i].port, b->all[i].port);
		assert_int_equal(a->all[i].kind, b->all[i].kind);
		assert_int_equal(a->all[i].forced, b->all[i].forced);
		assert_int_equal(a->all[i].since, b->all[i].since);
		assert_int_equal(a->all[i].until, b->all[i].until);
		assert_string_equal(a->all[i].by, b->all[i].by);
		assert_string_equal(a->all[i].why, b->all[i].why);
	}
}

static void what_is_written_is_read(void **state)
{
	uint64_t dice = 7;

	for (unsigned round = 0; round < 50; round++) {
		_cleanup_(mark_table_freep) struct mark_table *t = xcalloc(1, sizeof(*t)),
							      *back = NULL;
		_cleanup_free_ char *text = NULL;
		size_t len;

		t->generation = random_next(&dice);
		for (unsigned i = random_next(&dice) % 200; i > 0; i--) {
			struct link_mark m = mark_of(1 + random_next(&dice) % 20,
						     1 + (unsigned)(random_next(&dice) % 255));

			assert_true(mark_table_put(t, &m));
		}
		text = mark_table_text(t, &len);
		assert_int_equal(mark_table_read(text, len, &back), 0);
		assert_same(t, back);
		assert_int_equal(mark_table_digest(t), mark_table_digest(back));
	}
}

static void a_full_table_takes_no_more(void **state)
{
	_cleanup_(mark_table_freep) struct mark_table *t = xcalloc(1, sizeof(*t)), *back = NULL;
	_cleanup_free_ char *text = NULL;
	struct link_mark m;
	size_t len;

	for (unsigned i = 0; i < MARKS_MAX; i++) {
		m = mark_of(UINT64_MAX - i / 16, 1 + i % 16);
		m.since = m.until = INT64_MAX;
		mark_set_texts(
			&m, "a_name_of_thirty-two_characters!!",
			"ninety-six characters: .................................................."
			"........................");
		assert_true(mark_table_put(t, &m));
	}
	m = mark_of(5, 5);
	assert_false(mark_table_put(t, &m));
	m = t->all[7];
	assert_true(mark_table_put(t, &m)); /* in its place */
	text = mark_table_text(t, &len);
	assert_true(len <= MARKS_TEXT_MAX);
	assert_int_equal(mark_table_read(text, len, &back), 0);
	assert_same(t, back);
}

static void marks_are_found_and_taken_out(void **state)
{
	_cleanup_(mark_table_freep) struct mark_table *t = xcalloc(1, sizeof(*t));

	for (unsigned i = 1; i <= 9; i++) {
		struct link_mark m = mark_of(9 - i % 3, i);

		mark_table_put(t, &m);
	}
	assert_int_equal(mark_table_find(t, 9, 4), UINT32_MAX);
	assert_int_not_equal(mark_table_find(t, 8, 4), UINT32_MAX);
	mark_table_remove(t, mark_table_find(t, 8, 4));
	assert_int_equal(t->n, 8);
	assert_int_equal(mark_table_find(t, 8, 4), UINT32_MAX);
}

static void texts_are_made_printable(void **state)
{
	struct link_mark m = { 0 };

	mark_set_texts(&m, "a user\n", "  two\nlines\x7f ");
	assert_string_equal(m.by, "a_user");
	assert_string_equal(m.why, "two lines");
	mark_set_texts(&m, NULL, NULL);
	assert_string_equal(m.by, "-");
	assert_string_equal(m.why, "");
}

#define HEAD "opensm link marks 1\n"
#define GEN  HEAD "generation 3\n"
#define ROW  "0x0000000000000007 5 drain - 1 0 root why\n"

/* Texts with a right last line, and something wrong before it. */
static const char *const wrong[] = {
	"",
	HEAD,
	"opensm link marks 2\ngeneration 3\n",
	HEAD "generation\n",
	HEAD "generation \n",
	HEAD "generation -1\n",
	HEAD "generation 18446744073709551616\n",
	HEAD ROW,
	GEN "\n",
	GEN "\n" ROW,
	GEN ROW ROW,
	GEN "0x0000000000000008 5 drain - 1 0 root\n" ROW,
	GEN "0x7 5 drain - 1 0 root\n",
	GEN "0x0000000000000000 5 drain - 1 0 root\n",
	GEN "0000000000000000007 5 drain - 1 0 root\n",
	GEN "0x0000000000000007 0 drain - 1 0 root\n",
	GEN "0x0000000000000007 256 drain - 1 0 root\n",
	GEN "0x0000000000000007 5 close - 1 0 root\n",
	GEN "0x0000000000000007 5 drain yes 1 0 root\n",
	GEN "0x0000000000000007 5 drain - -1 0 root\n",
	GEN "0x0000000000000007 5 drain - 1 9223372036854775808 root\n",
	GEN "0x0000000000000007 5 drain - 1 0\n",
	GEN "0x0000000000000007 5 drain - 1 0 \n",
	GEN "0x0000000000000007 5 drain - 1 0 root \n",
	GEN "0x0000000000000007 5 drain - 1 0 root  why\n",
	GEN "0x0000000000000007 5 drain - 1 0 root why \n",
	GEN "0x0000000000000007 5 drain - 1 0 root w\thy\n",
	GEN "0x0000000000000007 5 drain - 1 0 root w\xffhy\n",
	GEN "0x0000000000000007  5 drain - 1 0 root\n",
	GEN "0x0000000000000007 5 drain - 1 0 a_name_of_more_than_thirty-two_chars\n",
	GEN "0x0000000000000007 5 drain - 1 0 root 97 characters "
	    "..........................................."
	    "........................................\n",
};

static int read_closed(const char *text)
{
	_cleanup_(mark_table_freep) struct mark_table *t = NULL;
	char whole[1000];
	int n = snprintf(whole, sizeof(whole), "%send 0x%016llx\n", text,
			 (unsigned long long)hash_bytes(HASH_START, text, strlen(text)));

	return mark_table_read(whole, (size_t)n, &t);
}

static void what_is_malformed_is_refused(void **state)
{
	assert_int_equal(read_closed(GEN), 0);
	assert_int_equal(read_closed(GEN ROW), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		if (read_closed(wrong[i]) != -EBADMSG)
			fail_msg("taken: %s", wrong[i]);
}

static void each_bit_and_each_length_counts(void **state)
{
	_cleanup_(mark_table_freep) struct mark_table *t = xcalloc(1, sizeof(*t)), *back = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len;

	for (unsigned i = 1; i < 6; i++) {
		struct link_mark m = mark_of(i, i);

		mark_table_put(t, &m);
	}
	text = mark_table_text(t, &len);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(mark_table_read(text, i, &back), -EBADMSG);
	for (size_t i = 0; i < len * 8; i++) {
		text[i / 8] ^= (char)(1 << i % 8);
		assert_int_equal(mark_table_read(text, len, &back), -EBADMSG);
		text[i / 8] ^= (char)(1 << i % 8);
	}
	assert_int_equal(mark_table_read(text, len, &back), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(a_full_table_takes_no_more),
		cmocka_unit_test(marks_are_found_and_taken_out),
		cmocka_unit_test(texts_are_made_printable),
		cmocka_unit_test(what_is_malformed_is_refused),
		cmocka_unit_test(each_bit_and_each_length_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
