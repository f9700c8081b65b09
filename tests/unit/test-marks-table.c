// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of marks, values of its rows, and the text of former builds: what was written is read
 * again; of a damaged text nothing, of a damaged value what keeps the link out of service.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ledger/ledger.h"
#include "sm/marks/marks_table.h"
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

static void assert_equal(const struct link_mark *a, const struct link_mark *b)
{
	assert_int_equal(mark_compare(a, b), 0);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->forced, b->forced);
	assert_int_equal(a->since, b->since);
	assert_int_equal(a->until, b->until);
	assert_string_equal(a->by, b->by);
	assert_string_equal(a->why, b->why);
}

static void assert_same(const struct mark_table *a, const struct mark_table *b)
{
	assert_int_equal(a->generation, b->generation);
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++)
		assert_equal(&a->all[i], &b->all[i]);
}

/* As builds before the ledger wrote it; to be freed. */
static char *text_of(const struct mark_table *t, size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);

	fprintf(f, "opensm link marks 1\ngeneration %" PRIu64 "\n", t->generation);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct link_mark *m = &t->all[i];

		fprintf(f, "0x%016" PRIx64 " %u %s %s %" PRId64 " %" PRId64 " %s%s%s\n", m->node,
			m->port, mark_kind_name(m->kind), m->forced ? "forced" : "-", m->since,
			m->until, m->by, m->why[0] ? " " : "", m->why);
	}
	fflush(f);
	fprintf(f, "end 0x%016" PRIx64 "\n", hash_bytes(HASH_START, text, *ret_len));
	fclose(f);
	return text;
}

static struct mark_table *draw_table(uint64_t *dice)
{
	struct mark_table *t = xcalloc(1, sizeof(*t));

	t->generation = random_next(dice);
	for (unsigned i = random_next(dice) % 200; i > 0; i--) {
		struct link_mark m = mark_of(1 + random_next(dice) % 20,
					     1 + (unsigned)(random_next(dice) % 255));

		assert_true(mark_table_put(t, &m));
	}
	return t;
}

static void what_former_builds_wrote_is_read(void **state)
{
	uint64_t dice = 7;

	for (unsigned round = 0; round < 50; round++) {
		_cleanup_(mark_table_freep) struct mark_table *t = draw_table(&dice), *back = NULL;
		_cleanup_free_ char *text = NULL;
		size_t len;

		text = text_of(t, &len);
		assert_int_equal(mark_table_read(text, len, &back), 0);
		assert_same(t, back);
	}
}

/* All texts and times at their bounds. */
static struct link_mark greatest_mark(unsigned i)
{
	struct link_mark m = mark_of(UINT64_MAX - i / 16, 1 + i % 16);

	m.since = m.until = INT64_MAX;
	mark_set_texts(&m, "a_name_of_thirty-two_characters!!",
		       "ninety-six characters: .................................................."
		       "........................");
	return m;
}

static void a_full_table_takes_no_more(void **state)
{
	_cleanup_(mark_table_freep) struct mark_table *t = xcalloc(1, sizeof(*t)), *back = NULL;
	_cleanup_free_ char *text = NULL;
	struct link_mark m;
	size_t len;

	for (unsigned i = 0; i < MARKS_MAX; i++) {
		m = greatest_mark(i);
		assert_true(mark_table_put(t, &m));
	}
	m = mark_of(5, 5);
	assert_false(mark_table_put(t, &m));
	m = t->all[7];
	assert_true(mark_table_put(t, &m)); /* in its place */
	text = text_of(t, &len);
	assert_true(len <= MARKS_TEXT_MAX);
	assert_int_equal(mark_table_read(text, len, &back), 0);
	assert_same(t, back);
}

/* ---- values of rows -------------------------------------------------------------------------- */

static void assert_comes_back(const struct link_mark *m)
{
	uint8_t bytes[MARK_BYTES_MAX];
	struct link_mark back;
	uint32_t len = mark_pack(m, bytes);

	assert_in_range(len, 1, ledger_table(LEDGER_MARK)->value_max);
	assert_true(ledger_table(LEDGER_MARK)->is_value(bytes, len));
	assert_true(mark_unpack(m->node, m->port, bytes, len, &back));
	assert_equal(m, &back);
}

static void a_value_has_all_of_a_mark(void **state)
{
	struct link_mark m;

	for (unsigned port = 1; port <= MARK_WHOLE_SWITCH; port++) {
		m = mark_of(port, port);
		assert_comes_back(&m);
	}
	m = greatest_mark(0);
	assert_comes_back(&m);
	m = (struct link_mark){ .node = 1, .port = 1 };
	mark_set_texts(&m, NULL, NULL);
	assert_comes_back(&m);
}

/* Whatever becomes of the rest, the link stays as far out of service as the row says. */
static void a_damaged_value_keeps_its_kind_and_its_end(void **state)
{
	struct link_mark m = greatest_mark(3), back;
	uint8_t bytes[MARK_BYTES_MAX + 1];
	uint32_t len;

	m.kind = MARK_ISOLATE;
	m.until = 1234;
	len = mark_pack(&m, bytes);
	bytes[len] = 'x';
	for (uint32_t cut = 9; cut <= len + 1; cut++) {
		assert_true(mark_unpack(m.node, m.port, bytes, cut, &back));
		assert_int_equal(back.kind, MARK_ISOLATE);
		assert_int_equal(back.until, 1234);
	}
	assert_string_equal(back.why, ""); /* too long */
	for (uint32_t bit = 9 * 8; bit < len * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_true(mark_unpack(m.node, m.port, bytes, len, &back));
		assert_int_equal(back.kind, MARK_ISOLATE);
		assert_int_equal(back.until, 1234);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* An end that no clock can show never comes. */
static void an_end_that_cannot_be_is_none(void **state)
{
	uint8_t bytes[9] = { LEDGER_MARK_ISOLATE, 0x80 };
	struct link_mark m;

	assert_true(mark_unpack(1, 1, bytes, sizeof(bytes), &m));
	assert_int_equal(m.until, 0);
	assert_int_equal(m.since, 0);
	assert_string_equal(m.by, "-");
}

static void what_is_no_mark_is_refused(void **state)
{
	uint8_t bytes[9] = { LEDGER_MARK_DRAIN };
	struct link_mark m;

	assert_true(mark_unpack(1, 1, bytes, 9, &m));
	assert_false(mark_unpack(1, 1, bytes, 8, &m));
	assert_false(mark_unpack(0, 1, bytes, 9, &m));
	assert_false(mark_unpack(1, 0, bytes, 9, &m));
	assert_false(mark_unpack(1, 256, bytes, 9, &m));
	bytes[0] = 0;
	assert_false(mark_unpack(1, 1, bytes, 9, &m));
	bytes[0] = 3;
	assert_false(mark_unpack(1, 1, bytes, 9, &m));
}

/* ---- the table ------------------------------------------------------------------------------- */

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
	text = text_of(t, &len);
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
		cmocka_unit_test(what_former_builds_wrote_is_read),
		cmocka_unit_test(a_full_table_takes_no_more),
		cmocka_unit_test(a_value_has_all_of_a_mark),
		cmocka_unit_test(a_damaged_value_keeps_its_kind_and_its_end),
		cmocka_unit_test(an_end_that_cannot_be_is_none),
		cmocka_unit_test(what_is_no_mark_is_refused),
		cmocka_unit_test(marks_are_found_and_taken_out),
		cmocka_unit_test(texts_are_made_printable),
		cmocka_unit_test(what_is_malformed_is_refused),
		cmocka_unit_test(each_bit_and_each_length_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
