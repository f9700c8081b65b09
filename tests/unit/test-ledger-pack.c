// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bytes of rows: what is packed reads back as the same row and the same bytes, and nothing else is
 * taken. Inputs are built byte by byte here, so that the form itself is tested.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/ledger-desk.h"

#define LEDGER _cleanup_(ledger_freep) struct ledger *
#define ROW    _cleanup_(ledger_row_freep) struct ledger_row *

/* Is written and read once more without a difference. */
static void round_trip(const struct ledger_row *row)
{
	size_t len, again_len;
	_cleanup_free_ uint8_t *bytes = packed(row, &len), *again = NULL;
	ROW back = NULL;

	assert_int_equal(ledger_row_unpack(bytes, len, &back), len);
	again = packed(back, &again_len);
	assert_int_equal(again_len, len);
	assert_memory_equal(again, bytes, len);
	assert_memory_equal(ledger_row_key(back), ledger_row_key(row), sizeof(struct ledger_key));
	assert_int_equal(ledger_row_n_values(back), ledger_row_n_values(row));
	for (size_t cut = 0; cut < len && cut < 200; cut++) {
		struct ledger_row *none = NULL;

		assert_int_equal(ledger_row_unpack(bytes, cut, &none), -EBADMSG);
		assert_null(none);
	}
}

static void rows_of_every_table_are_read_back(void **state)
{
	static const uint8_t bytes[600] = { 1, [8] = 5 };
	LEDGER l = ledger_new();

	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		enum ledger_table table = (enum ledger_table)t;
		uint32_t max = MIN(ledger_table(table)->value_max, (uint32_t)sizeof(bytes));
		ROW row = written(l, table_key(table, 1), value_of(dot(1, 9), bytes, max));
		ROW gone = written(l, table_key(table, 2), removed_at(dot(INT64_MAX, 9)));

		round_trip(row);
		round_trip(gone);
	}
}

static void rows_with_values_and_contexts_are_read_back(void **state)
{
	struct ledger_key key = table_key(LEDGER_CABLE, 1);
	static const uint8_t bytes[] = "where it was";
	LEDGER all = ledger_new();

	for (unsigned i = 0; i < 300; i++) {
		LEDGER one = ledger_new();

		write_row(one, key, value_of(dot(100 + i, 5000 - i), bytes, i % sizeof(bytes)));
		merge_all(all, one);
		round_trip(ledger_find(all, &key));
	}
	for (unsigned i = 0; i < 40; i++) {
		write_row(all, key, value_of(dot(UINT64_C(1) << (i + 10), i), bytes, 1));
		round_trip(ledger_find(all, &key));
	}
}

static void the_largest_value_is_read_back(void **state)
{
	uint32_t max = ledger_table(LEDGER_CONFIG)->value_max;
	_cleanup_free_ uint8_t *bytes = xcalloc(max, 1);
	LEDGER l = ledger_new();
	ROW row = written(l, table_key(LEDGER_CONFIG, 1), value_of(dot(1, 9), bytes, max));

	round_trip(row);
}

/* After the first change of a subnet that changed ten million times. */
static void a_usual_member_takes_50_bytes(void **state)
{
	LEDGER l = ledger_new();

	write_row(l, member_key(0x0002c90300abcdef), member(dot(10000000, 0x0002c90300abcdee), 1));
	assert_in_range(ledger_row_bytes(ledger_find(l, (struct ledger_key[]){
								member_key(0x0002c90300abcdef) })),
			1, 50);
}

/* ---- one form, and no other ------------------------------------------------------------------ */

struct bytes {
	uint8_t at[10000];
	size_t n;
};

static void add(struct bytes *b, const void *bytes, size_t n)
{
	assert_true(b->n + n <= sizeof(b->at));
	memcpy(b->at + b->n, bytes, n);
	b->n += n;
}

#define LIST(...)   ((const uint8_t[]){ __VA_ARGS__ })
#define ADD(b, ...) add((b), LIST(__VA_ARGS__), sizeof(LIST(__VA_ARGS__)))
#define MEMBER_HEAD LEDGER_MEMBER, 10, 0x12, 0x34, 0, 0, 0, 0, 0, 0, 0, 1
#define WRITER(n)   0, 0, 0, 0, 0, 0, 0, n, 0, 0, 0, 7
#define VALUE(byte) 3, 0x86, 0x01, byte /* one byte; at 769 */

static bool is_taken(const struct bytes *b)
{
	_cleanup_free_ uint8_t *copy = xmalloc(b->n); /* so that ASan sees its end */
	struct ledger_row *row = NULL;
	ssize_t r;

	memcpy(copy, b->at, b->n);
	r = ledger_row_unpack(copy, b->n, &row);
	assert_true(row ? r == (ssize_t)b->n : r == -EBADMSG);
	if (row)
		round_trip(row);
	ledger_row_free(row);
	return r > 0;
}

#define TAKES(...)                                                                                 \
	({                                                                                         \
		struct bytes b_ = { 0 };                                                           \
		ADD(&b_, __VA_ARGS__);                                                             \
		is_taken(&b_);                                                                     \
	})

static void the_form_is_what_the_header_says(void **state)
{
	struct bytes b = { 0 };
	ROW row = NULL;
	struct ledger_value v;

	ADD(&b, MEMBER_HEAD, 4, 2, WRITER(1), 5, 0, WRITER(2), 0x81, 0x00, VALUE(2));
	assert_true(is_taken(&b));
	assert_int_equal(ledger_row_unpack(b.at, b.n, &row), b.n);
	v = ledger_row_value(row);
	assert_int_equal(ledger_row_n_values(row), 1);
	assert_int_equal(v.dot.number, 128);
	assert_int_equal(v.dot.by.guid, 2);
	assert_int_equal(v.dot.by.instance, 7);
	assert_int_equal(v.at, 769);
	assert_int_equal(v.len, 1);
	assert_int_equal(v.bytes[0], 2);
	assert_int_equal(ledger_row_key(row)->bytes[9], 1);
}

/* Of equal numbers: where one value is kept, the last entry stands, so that no merge has none. */
static void what_is_known_is_not_later_than_what_stands(void **state)
{
	assert_false(TAKES(MEMBER_HEAD, 0, 2, WRITER(1), 6, 0, WRITER(2), 5, VALUE(1)));
	assert_false(TAKES(MEMBER_HEAD, 0, 2, WRITER(1), 5, 0, WRITER(2), 5, VALUE(1)));
	assert_false(TAKES(MEMBER_HEAD, 0, 2, WRITER(1), 5, VALUE(1), WRITER(2), 5, 0));
	assert_true(TAKES(LEDGER_CONFIG, 1, 'a', 0, 2, WRITER(1), 5, 0, WRITER(2), 5, VALUE(1)));
	assert_false(TAKES(LEDGER_CONFIG, 1, 'a', 0, 2, WRITER(1), 5, VALUE(1), WRITER(2), 5, 0));
	assert_false(TAKES(LEDGER_CONFIG, 1, 'a', 0, 2, WRITER(1), 6, 0, WRITER(2), 5, VALUE(1)));
}

static void bytes_behind_a_row_are_not_looked_at(void **state)
{
	struct bytes b = { 0 };
	ROW row = NULL;

	ADD(&b, MEMBER_HEAD, 0, 1, WRITER(1), 5, VALUE(1), 0xff, 0xff);
	assert_int_equal(ledger_row_unpack(b.at, b.n, &row), b.n - 2);
}

static void keys_are_judged(void **state)
{
	assert_true(TAKES(LEDGER_PARTITION, 2, 1, 2, 0, 1, WRITER(1), 5, 1, 0));
	assert_false(TAKES(LEDGER_TABLES, 2, 1, 2, 0, 1, WRITER(1), 5, 1, 0));
	assert_false(TAKES(255, 2, 1, 2, 0, 1, WRITER(1), 5, 1, 0));
	assert_false(TAKES(LEDGER_PARTITION, 0, 0, 1, WRITER(1), 5, 1, 0));
	assert_false(TAKES(LEDGER_PARTITION, 1, 1, 0, 1, WRITER(1), 5, 1, 0));
	assert_false(TAKES(LEDGER_PARTITION, 3, 1, 2, 3, 0, 1, WRITER(1), 5, 1, 0));
	assert_true(TAKES(LEDGER_CONFIG, 1, '~', 0, 1, WRITER(1), 5, 1, 0));
	assert_false(TAKES(LEDGER_CONFIG, 1, '\n', 0, 1, WRITER(1), 5, 1, 0));
	assert_false(TAKES(LEDGER_CONFIG, 0, 0, 1, WRITER(1), 5, 1, 0));
}

static bool takes_name(uint8_t len)
{
	struct bytes b = { 0 };

	ADD(&b, LEDGER_CONFIG, len);
	for (unsigned i = 0; i < len; i++)
		ADD(&b, 'a');
	ADD(&b, 0, 1, WRITER(1), 5, 1, 0);
	return is_taken(&b);
}

static void names_have_at_most_64_bytes(void **state)
{
	assert_true(takes_name(64));
	assert_false(takes_name(65));
	assert_false(takes_name(255));
}

static void writers_are_in_order_and_none_is_there_twice(void **state)
{
	assert_true(TAKES(MEMBER_HEAD, 0, 2, WRITER(1), 5, 0, WRITER(2), 6, VALUE(1)));
	assert_false(TAKES(MEMBER_HEAD, 0, 2, WRITER(2), 5, 0, WRITER(1), 6, VALUE(1)));
	assert_false(TAKES(MEMBER_HEAD, 0, 2, WRITER(1), 5, 0, WRITER(1), 6, VALUE(1)));
	assert_false(TAKES(MEMBER_HEAD, 0, 2, WRITER(1), 5, VALUE(1), WRITER(1), 5, VALUE(1)));
}

static void an_instance_is_never_0(void **state)
{
	assert_false(TAKES(MEMBER_HEAD, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 5, VALUE(1)));
	assert_true(TAKES(MEMBER_HEAD, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 5, VALUE(1)));
}

static void numbers_are_above_0_and_the_floor(void **state)
{
	assert_false(TAKES(MEMBER_HEAD, 0, 1, WRITER(1), 0, VALUE(1)));
	assert_true(TAKES(MEMBER_HEAD, 4, 1, WRITER(1), 5, VALUE(1)));
	assert_false(TAKES(MEMBER_HEAD, 5, 1, WRITER(1), 5, VALUE(1)));
	assert_false(TAKES(MEMBER_HEAD, 6, 1, WRITER(1), 5, VALUE(1)));
	assert_false(TAKES(MEMBER_HEAD, 5, 2, WRITER(1), 5, 0, WRITER(2), 6, VALUE(1)));
}

static void the_greatest_number_stands(void **state)
{
	assert_false(TAKES(MEMBER_HEAD, 0, 1, WRITER(1), 5, 0));
	assert_false(TAKES(MEMBER_HEAD, 0, 2, WRITER(1), 6, 0, WRITER(2), 6, VALUE(1)));
	assert_false(TAKES(MEMBER_HEAD, 0, 2, WRITER(1), 7, 0, WRITER(2), 6, VALUE(1)));
	assert_true(TAKES(MEMBER_HEAD, 0, 2, WRITER(1), 6, VALUE(1), WRITER(2), 6, VALUE(1)));
}

static void sizes_of_numbers_are_the_least(void **state)
{
	assert_false(TAKES(MEMBER_HEAD, 0x80, 0x00, 1, WRITER(1), 5, VALUE(1)));
	assert_false(TAKES(MEMBER_HEAD, 0, 0x80, 0x01, WRITER(1), 5, VALUE(1)));
	assert_false(TAKES(MEMBER_HEAD, 0, 1, WRITER(1), 0x80, 0x05, VALUE(1)));
	assert_false(TAKES(MEMBER_HEAD, 0, 1, WRITER(1), 5, 0x80, 0x03, 1, 1));
	assert_false(TAKES(MEMBER_HEAD, 0, 1, WRITER(1), 5, 3, 0x80, 0x01, 1));
	assert_true(TAKES(MEMBER_HEAD, 0, 1, WRITER(1), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			  0xff, 0x7f, VALUE(1)));
	assert_false(TAKES(MEMBER_HEAD, 0, 1, WRITER(1), 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
			   0x80, 0x80, 0x00, VALUE(1)));
}

static void values_are_judged(void **state)
{
	assert_true(TAKES(MEMBER_HEAD, 0, 1, WRITER(1), 5, VALUE(3)));
	assert_false(TAKES(MEMBER_HEAD, 0, 1, WRITER(1), 5, VALUE(4)));
	assert_false(TAKES(MEMBER_HEAD, 0, 1, WRITER(1), 5, 2, 0));	     /* of no byte */
	assert_false(TAKES(MEMBER_HEAD, 0, 1, WRITER(1), 5, 4, 0, 1, 1)); /* of two */
	assert_true(TAKES(MEMBER_HEAD, 0, 1, WRITER(1), 5, 1, 0));
}

#define MARK_HEAD LEDGER_MARK, 9, 0, 0, 0, 0, 0, 0, 0, 1, 36, 0, 1, WRITER(1), 5
#define UNTIL	  0, 0, 0, 0, 0, 0, 0, 9

static void marks_are_judged(void **state)
{
	assert_true(TAKES(MARK_HEAD, 2 + 9, 0, LEDGER_MARK_DRAIN, UNTIL));
	assert_true(TAKES(MARK_HEAD, 2 + 10, 0, LEDGER_MARK_ISOLATE, UNTIL, 'x'));
	assert_false(TAKES(MARK_HEAD, 2 + 9, 0, 0, UNTIL));
	assert_false(TAKES(MARK_HEAD, 2 + 9, 0, 3, UNTIL));
	assert_false(TAKES(MARK_HEAD, 2 + 8, 0, LEDGER_MARK_DRAIN, 0, 0, 0, 0, 0, 0, 9));
}

/* `len` bytes as a value; `declared`: how many there are said to be. */
static bool takes_value(enum ledger_table table, size_t len, size_t declared)
{
	struct ledger_key key = table_key(table, 1);
	struct bytes b = { 0 };

	ADD(&b, (uint8_t)table, key.len);
	add(&b, key.bytes, key.len);
	ADD(&b, 0, 1, WRITER(1), 5);
	if (declared + 2 >= 128)
		ADD(&b, (uint8_t)(0x80 | (declared + 2) >> 7), (declared + 2) & 0x7f);
	else
		ADD(&b, (uint8_t)(declared + 2));
	ADD(&b, 0);
	for (size_t i = 0; i < len; i++)
		ADD(&b, 1);
	return is_taken(&b);
}

static void values_are_as_long_as_their_tables_allow(void **state)
{
	for (unsigned t = 0; t < LEDGER_CONFIG; t++) {
		enum ledger_table table = (enum ledger_table)t;
		size_t max = ledger_table(table)->value_max;

		assert_true(takes_value(table, max, max));
		assert_false(takes_value(table, max + 1, max + 1));
		assert_false(takes_value(table, max - 1, max));
	}
	assert_false(takes_value(LEDGER_HEALTH, 7, 7)); /* less than a count */
	assert_true(takes_value(LEDGER_HEALTH, 8, 8));
}

static void a_length_beyond_all_is_refused(void **state)
{
	assert_false(TAKES(LEDGER_CONFIG, 1, 'a', 0, 1, WRITER(1), 5, 0xff, 0xff, 0xff, 0xff, 0xff,
			   0xff, 0xff, 0xff, 0x7f, 0, 1));
	assert_false(TAKES(LEDGER_CONFIG, 1, 'a', 0, 1, WRITER(1), 5, 0x90, 0x80, 0x80, 0x80, 0x02,
			   0, 1)); /* 2^32 bytes */
}

/* A member row of `n` writers; the last one stands. */
static bool takes_writers(unsigned n)
{
	_cleanup_free_ uint8_t *bytes = xcalloc(16 * (n + 2), 1);
	static const uint8_t head[] = { MEMBER_HEAD, 0 }, value[] = { 7, VALUE(1) };
	struct ledger_row *row = NULL;
	uint8_t *at = bytes;

	memcpy(at, head, sizeof(head));
	at += sizeof(head);
	if (n >= 128)
		*at++ = (uint8_t)(0x80 | n >> 7);
	*at++ = n & 0x7f;
	for (unsigned i = 1; i <= n; i++) {
		at[6] = (uint8_t)(i >> 8);
		at[7] = (uint8_t)i;
		at[11] = 1;
		at[12] = 6;
		at += 14;
	}
	if (n) {
		memcpy(at - 2, value, sizeof(value));
		at += sizeof(value) - 2;
	}
	if (ledger_row_unpack(bytes, (size_t)(at - bytes), &row) < 0)
		return false;
	ledger_row_free(row);
	return true;
}

static void a_row_has_1_to_255_writers(void **state)
{
	assert_false(takes_writers(0));
	assert_true(takes_writers(1));
	assert_true(takes_writers(127));
	assert_true(takes_writers(128));
	assert_true(takes_writers(255));
	assert_false(takes_writers(256));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_every_table_are_read_back),
		cmocka_unit_test(rows_with_values_and_contexts_are_read_back),
		cmocka_unit_test(the_largest_value_is_read_back),
		cmocka_unit_test(a_usual_member_takes_50_bytes),
		cmocka_unit_test(the_form_is_what_the_header_says),
		cmocka_unit_test(what_is_known_is_not_later_than_what_stands),
		cmocka_unit_test(bytes_behind_a_row_are_not_looked_at),
		cmocka_unit_test(keys_are_judged),
		cmocka_unit_test(names_have_at_most_64_bytes),
		cmocka_unit_test(writers_are_in_order_and_none_is_there_twice),
		cmocka_unit_test(an_instance_is_never_0),
		cmocka_unit_test(numbers_are_above_0_and_the_floor),
		cmocka_unit_test(the_greatest_number_stands),
		cmocka_unit_test(sizes_of_numbers_are_the_least),
		cmocka_unit_test(values_are_judged),
		cmocka_unit_test(marks_are_judged),
		cmocka_unit_test(values_are_as_long_as_their_tables_allow),
		cmocka_unit_test(a_length_beyond_all_is_refused),
		cmocka_unit_test(a_row_has_1_to_255_writers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
