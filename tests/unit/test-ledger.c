// SPDX-License-Identifier: BSD-2-Clause
/* The ledger: the sentences of ledger.h and ledger_tables.h, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/ledger-desk.h"

#define LEDGER _cleanup_(ledger_freep) struct ledger *
#define MEMBER_1 ((const struct ledger_key[]){ member_key(1) })
#define ROW    _cleanup_(ledger_row_freep) struct ledger_row *

/* ---- looking and writing --------------------------------------------------------------------- */

static void an_empty_ledger_has_nothing(void **state)
{
	LEDGER l = ledger_new();
	struct ledger_key key = member_key(1);
	struct ledger_value v = { .at = 5 };
	size_t pos = 0;

	assert_null(ledger_find(l, &key));
	assert_false(ledger_get(l, &key, &v));
	assert_int_equal(v.at, 5);
	assert_null(ledger_next(l, LEDGER_MEMBER, &pos));
	assert_null(ledger_next(l, LEDGER_MEMBER, &pos));
	assert_int_equal(ledger_rows(l, LEDGER_MEMBER), 0);
	assert_int_equal(ledger_number(l, LEDGER_MEMBER), 0);
	assert_int_equal(ledger_digest(l, LEDGER_MEMBER).hash, 0);
	assert_null(ledger_free(NULL));
	assert_null(ledger_row_free(NULL));
}

static void what_is_written_is_in_force(void **state)
{
	LEDGER l = ledger_new();
	struct ledger_key key = member_key(1);
	struct ledger_value v;

	assert_int_equal(write_row(l, key, member(dot(3, 9), FULL)), LEDGER_OTHER);
	assert_true(ledger_get(l, &key, &v));
	assert_int_equal(v.dot.number, 3);
	assert_int_equal(v.dot.by.guid, 9);
	assert_int_equal(v.dot.by.instance, 7);
	assert_int_equal(v.at, 1795000000);
	assert_int_equal(v.len, 1);
	assert_int_equal(v.bytes[0], FULL);
	assert_int_equal(ledger_row_n_values(ledger_find(l, &key)), 1);
	assert_memory_equal(ledger_row_key(ledger_find(l, &key)), &key, sizeof(key));
}

static void preparing_changes_nothing(void **state)
{
	LEDGER l = ledger_new();
	ROW row = written(l, member_key(1), member(dot(3, 9), FULL));

	assert_int_equal(ledger_rows(l, LEDGER_MEMBER), 0);
	assert_true(ledger_lacks(l, row));
	ledger_merge(l, row);
	assert_false(ledger_lacks(l, row));
	assert_int_equal(ledger_merge(l, row), LEDGER_SAME);
}

static void a_time_before_1970_is_not_known(void **state)
{
	LEDGER l = ledger_new();
	struct ledger_value v = member(dot(1, 1), FULL);

	v.at = -5;
	write_row(l, member_key(1), v);
	assert_true(ledger_get(l, MEMBER_1, &v));
	assert_int_equal(v.at, 0);
}

static void a_removed_row_is_kept_and_not_got(void **state)
{
	LEDGER l = ledger_new();
	struct ledger_key key = member_key(1);
	struct ledger_value v;

	write_row(l, key, member(dot(1, 1), FULL));
	write_row(l, member_key(2), member(dot(1, 1), FULL));
	assert_int_equal(write_row(l, key, member(dot(2, 1), REMOVED)), LEDGER_OTHER);
	assert_false(ledger_get(l, &key, &v));
	assert_true(ledger_row_value(ledger_find(l, &key)).removed);
	assert_int_equal(ledger_row_value(ledger_find(l, &key)).len, 0);
	assert_int_equal(ledger_rows(l, LEDGER_MEMBER), 2);
	assert_int_equal(ledger_rows_there(l, LEDGER_MEMBER), 1);
	write_row(l, key, member(dot(3, 1), LIMITED));
	assert_int_equal(ledger_rows_there(l, LEDGER_MEMBER), 2);
}

static void tables_of_a_clock_have_one_number(void **state)
{
	LEDGER l = ledger_new();

	write_row(l, member_key(1), member(dot(8, 1), FULL));
	write_row(l, table_key(LEDGER_PARTITION, 5), value_of(dot(5, 1), "x", 1));
	assert_int_equal(ledger_number(l, LEDGER_MEMBER), 8);
	assert_int_equal(ledger_number(l, LEDGER_PARTITION), 8);
	assert_int_equal(ledger_number(l, LEDGER_MARK), 0);
	assert_int_equal(ledger_number(l, LEDGER_CONFIG), 0);
}

static void a_number_that_is_only_known_counts(void **state)
{
	LEDGER a = ledger_new(), *b = ledger_new();

	write_row(a, member_key(1), member(dot(8, 1), FULL));
	write_row(a, member_key(1), member(dot(9, 2), FULL));
	merge_all(b, a);
	assert_int_equal(ledger_number(b, LEDGER_MEMBER), 9);
}

static void every_row_is_walked_once(void **state)
{
	enum { N = 3000 };
	_cleanup_free_ uint8_t *seen = xcalloc(N, 1);
	LEDGER l = ledger_new();
	const struct ledger_row *row;
	size_t pos = 0, n = 0;

	for (unsigned i = 0; i < N; i++)
		write_row(l, member_key(i), member(dot(1, 1), FULL));
	write_row(l, table_key(LEDGER_PARTITION, 5), value_of(dot(5, 1), "x", 1));
	for (; (row = ledger_next(l, LEDGER_MEMBER, &pos)); n++) {
		const uint8_t *bytes = ledger_row_key(row)->bytes;
		unsigned i = bytes[8] << 8 | bytes[9];

		assert_in_range(i, 0, N - 1);
		assert_int_equal(seen[i]++, 0);
	}
	assert_int_equal(n, N);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(member_in(l, i), FULL);
	assert_int_equal(member_in(l, N), -1);
}

static void a_write_knows_the_row_it_is_given(void **state)
{
	LEDGER l = ledger_new();
	struct ledger_key key = member_key(1);
	struct ledger_value second = member(dot(2, 1), LIMITED);
	ROW first = written(l, key, member(dot(1, 1), FULL));
	ROW next = ledger_prepare(l, first, &key, &second);

	ledger_merge(l, next);
	assert_int_equal(ledger_merge(l, first), LEDGER_SAME);
	assert_int_equal(member_in(l, 1), LIMITED);
	assert_int_equal(ledger_row_n_values(ledger_find(l, &key)), 1);
}

/* ---- merging --------------------------------------------------------------------------------- */

static void a_later_write_takes_the_place_in_any_order(void **state)
{
	for (int first = 0; first < 2; first++) {
		LEDGER a = ledger_new(), *b = ledger_new();
		ROW one = written(a, member_key(1), member(dot(1, 1), LIMITED));
		struct ledger_row *two;

		ledger_merge(a, one);
		two = written(a, member_key(1), member(dot(2, 2), FULL));
		assert_int_equal(ledger_merge(b, first ? two : one), LEDGER_OTHER);
		assert_int_equal(ledger_merge(b, first ? one : two),
				 first ? LEDGER_SAME : LEDGER_OTHER);
		assert_int_equal(member_in(b, 1), FULL);
		ledger_row_free(two);
	}
}

/* Two halves write the row without knowing of each other; then they meet. */
static int meet(unsigned what_a, unsigned what_b, uint64_t number_a, uint64_t number_b)
{
	LEDGER a = ledger_new(), *b = ledger_new();
	struct ledger_key key = member_key(1);

	write_row(a, key, member(dot(1, 1), FULL));
	merge_all(b, a);
	write_row(a, key, member(dot(number_a, 1), what_a));
	write_row(b, key, member(dot(number_b, 2), what_b));
	merge_all(a, b);
	merge_all(b, a);
	assert_int_equal(ledger_row_n_values(ledger_find(a, &key)), 2);
	assert_int_equal(member_in(a, 1), member_in(b, 1));
	assert_int_equal(ledger_digest(a, LEDGER_MEMBER).hash,
			 ledger_digest(b, LEDGER_MEMBER).hash);
	return member_in(a, 1);
}

static void of_writes_that_did_not_know_each_other_less_access_is_in_force(void **state)
{
	assert_int_equal(meet(REMOVED, FULL, 2, 99), REMOVED);
	assert_int_equal(meet(FULL, REMOVED, 99, 2), REMOVED);
	assert_int_equal(meet(LIMITED, FULL, 2, 99), LIMITED);
	assert_int_equal(meet(FULL, LIMITED, 99, 2), LIMITED);
	assert_int_equal(meet(REMOVED, LIMITED, 2, 99), REMOVED);
	assert_int_equal(meet(FULL, FULL | LEDGER_MEMBER_INDEX0, 2, 3),
			 FULL | LEDGER_MEMBER_INDEX0);
	assert_int_equal(meet(FULL, FULL | LEDGER_MEMBER_INDEX0, 3, 2), FULL);
	assert_int_equal(meet(FULL, FULL | LEDGER_MEMBER_INDEX0, 2, 2),
			 FULL | LEDGER_MEMBER_INDEX0); /* of writer 2 */
}

static void the_next_write_knows_them_all_and_stands_alone(void **state)
{
	LEDGER a = ledger_new(), *b = ledger_new();
	struct ledger_key key = member_key(1);

	write_row(a, key, member(dot(5, 1), REMOVED));
	write_row(b, key, member(dot(6, 2), LIMITED));
	assert_int_equal(ledger_merge(a, ledger_find(b, &key)), LEDGER_LEARNT);
	assert_int_equal(ledger_merge(b, ledger_find(a, &key)), LEDGER_OTHER);
	write_row(a, key, member(dot(7, 1), FULL));
	assert_int_equal(ledger_merge(b, ledger_find(a, &key)), LEDGER_OTHER);
	assert_int_equal(member_in(b, 1), FULL);
	assert_int_equal(ledger_row_n_values(ledger_find(b, &key)), 1);
	assert_int_equal(ledger_merge(a, ledger_find(b, &key)), LEDGER_SAME);
}

static bool can_be_sent(const struct ledger_row *row)
{
	size_t len;
	_cleanup_free_ uint8_t *bytes = packed(row, &len);
	ROW back = NULL;

	return ledger_row_unpack(bytes, len, &back) == (ssize_t)len;
}

static struct ledger *with_config(uint64_t number, guid_t guid)
{
	struct ledger *l = ledger_new();

	write_row(l, table_key(LEDGER_CONFIG, 1), value_of(dot(number, guid), "text", 4));
	return l;
}

/* Its rows could not be sent with two of its greatest values. */
static void a_table_that_keeps_one_value_has_the_later_in_any_order(void **state)
{
	static const uint64_t numbers[] = { 6, 6, 7, 5 };
	struct ledger_key key = table_key(LEDGER_CONFIG, 1);
	struct ledger *all[ARRAY_SIZE(numbers)];

	for (unsigned i = 0; i < ARRAY_SIZE(all); i++)
		all[i] = with_config(numbers[i], i + 1);
	merge_all(all[0], all[1]); /* equal numbers: the greater writer */
	assert_int_equal(ledger_row_value(ledger_find(all[0], &key)).dot.by.guid, 2);
	assert_int_equal(ledger_row_n_values(ledger_find(all[0], &key)), 1);
	assert_true(can_be_sent(ledger_find(all[0], &key)));
	assert_int_equal(ledger_merge(all[3], ledger_find(all[2], &key)), LEDGER_OTHER);
	for (unsigned turn = 0; turn < 2; turn++) {
		for (unsigned i = 0; i < ARRAY_SIZE(all); i++)
			merge_all(all[i], all[(i + 1) % ARRAY_SIZE(all)]);
		for (unsigned i = 0; i < ARRAY_SIZE(all); i++)
			merge_all(all[(i + 2) % ARRAY_SIZE(all)], all[i]);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
		const struct ledger_row *row = ledger_find(all[i], &key);

		assert_int_equal(ledger_row_n_values(row), 1);
		assert_int_equal(ledger_row_value(row).dot.number, 7);
		assert_int_equal(ledger_digest(all[i], LEDGER_CONFIG).hash,
				 ledger_digest(all[0], LEDGER_CONFIG).hash);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(all); i++)
		ledger_free(all[i]);
}

static void the_same_value_of_another_dot_is_another_one(void **state)
{
	LEDGER a = ledger_new(), *b = ledger_new();

	write_row(a, member_key(1), member(dot(5, 1), FULL));
	write_row(b, member_key(1), member(dot(6, 2), FULL));
	assert_int_equal(ledger_merge(a, ledger_find(b, MEMBER_1)),
			 LEDGER_OTHER);
}

static void merging_copies_the_row(void **state)
{
	LEDGER l = ledger_new();
	struct ledger_row *row = written(l, member_key(1), member(dot(5, 1), FULL));

	ledger_merge(l, row);
	ledger_row_free(row);
	assert_int_equal(member_in(l, 1), FULL);
}

/* ---- short contexts -------------------------------------------------------------------------- */

/* Bytes of the row after writes 1..n, each by another writer. */
static size_t bytes_after(struct ledger *l, unsigned n)
{
	struct ledger_key key = member_key(1);

	for (unsigned i = 1; i <= n; i++)
		write_row(l, key, member(dot(i, i), FULL));
	return ledger_row_bytes(ledger_find(l, &key));
}

static void a_context_has_at_most_64_writers_and_a_floor(void **state)
{
	LEDGER few = ledger_new(), *all = ledger_new(), *many = ledger_new(), *old = ledger_new();

	assert_true(bytes_after(few, 63) < bytes_after(all, 64));
	ledger_free(take(all));
	all = ledger_new();
	assert_int_equal(bytes_after(many, 100), bytes_after(all, 64));
	/* The first 36 are known by the floor. */
	write_row(old, member_key(1), member(dot(36, 1), REMOVED));
	merge_all(many, old);
	assert_int_equal(member_in(many, 1), FULL);
	ledger_free(take(old));
	old = ledger_new();
	write_row(old, member_key(1), member(dot(37, 1), REMOVED));
	merge_all(many, old);
	assert_int_equal(member_in(many, 1), REMOVED);
}

/* 300 managers write a row without knowing each other; numbers of the first one is `first`. */
static void crowd(struct ledger *to, unsigned first_what, uint64_t first)
{
	for (unsigned i = 0; i < 300; i++) {
		LEDGER one = ledger_new();

		write_row(one, member_key(1), i ? member(dot(1000 + i, i + 1), FULL)
						: member(dot(first, 1), first_what));
		merge_all(to, one);
	}
}

static void a_merged_row_has_at_most_255_writers(void **state)
{
	struct ledger_key key = member_key(1);
	LEDGER l = ledger_new(), *again = ledger_new();

	crowd(l, FULL, 1);
	assert_int_equal(ledger_row_n_values(ledger_find(l, &key)), 255);
	crowd(again, FULL, 1);
	assert_int_equal(ledger_digest(l, LEDGER_MEMBER).hash,
			 ledger_digest(again, LEDGER_MEMBER).hash);
	/* Those with the least numbers went, and are known. */
	write_row(again, member_key(2), member(dot(2, 1), FULL));
	merge_all(l, again);
	assert_int_equal(ledger_row_value(ledger_find(l, &key)).dot.number, 1299);
}

static void the_value_in_force_does_not_go_for_want_of_room(void **state)
{
	struct ledger_key key = member_key(1);
	LEDGER l = ledger_new();

	crowd(l, REMOVED, 1);
	assert_int_equal(ledger_row_n_values(ledger_find(l, &key)), 255);
	assert_int_equal(member_in(l, 1), REMOVED);
	assert_true(can_be_sent(ledger_find(l, &key)));
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void digests_do_not_know_the_order_of_rows(void **state)
{
	LEDGER a = ledger_new(), *b = ledger_new();
	uint64_t in_a[LEDGER_BUCKETS], in_b[LEDGER_BUCKETS], sum = 0;

	for (unsigned i = 0; i < 500; i++) {
		write_row(a, member_key(i), member(dot(3, 1), FULL));
		write_row(b, member_key(499 - i), member(dot(3, 1), FULL));
	}
	assert_int_equal(ledger_digest(a, LEDGER_MEMBER).hash,
			 ledger_digest(b, LEDGER_MEMBER).hash);
	assert_int_equal(ledger_digest(a, LEDGER_MEMBER).rows, 500);
	ledger_buckets(a, LEDGER_MEMBER, in_a);
	ledger_buckets(b, LEDGER_MEMBER, in_b);
	assert_memory_equal(in_a, in_b, sizeof(in_a));
	for (unsigned i = 0; i < LEDGER_BUCKETS; i++)
		sum += in_a[i];
	assert_int_equal(sum, ledger_digest(a, LEDGER_MEMBER).hash);
}

static void a_digest_is_of_the_rows_there_are_now(void **state)
{
	LEDGER a = ledger_new(), *b = ledger_new();
	uint64_t hash;

	write_row(a, member_key(1), member(dot(1, 1), FULL));
	hash = ledger_digest(a, LEDGER_MEMBER).hash;
	assert_int_not_equal(hash, 0);
	write_row(a, member_key(2), member(dot(2, 1), FULL));
	assert_int_not_equal(ledger_digest(a, LEDGER_MEMBER).hash, hash);
	write_row(b, member_key(2), member(dot(3, 1), REMOVED));
	write_row(b, member_key(1), member(dot(1, 1), FULL));
	write_row(a, member_key(2), member(dot(3, 1), REMOVED));
	assert_int_equal(ledger_digest(a, LEDGER_MEMBER).hash,
			 ledger_digest(b, LEDGER_MEMBER).hash);
}

static void a_bucket_has_its_own_rows(void **state)
{
	LEDGER l = ledger_new();
	const struct ledger_row *row;
	unsigned n = 0, empty = 0;

	for (unsigned i = 0; i < 5000; i++)
		write_row(l, member_key(i), member(dot(3, 1), FULL));
	for (unsigned i = 0; i < LEDGER_BUCKETS; i++) {
		size_t pos = 0;
		unsigned before = n;

		while ((row = ledger_next_in(l, LEDGER_MEMBER, i, &pos))) {
			assert_int_equal(ledger_bucket_of(ledger_row_key(row)), i);
			n++;
		}
		empty += n == before ? 1 : 0;
		assert_in_range(n - before, 0, 60); /* of 20 */
	}
	assert_int_equal(n, 5000);
	assert_int_equal(empty, 0);
}

/* Managers of another build and machine have the same. */
static void buckets_are_the_same_everywhere(void **state)
{
	LEDGER l = ledger_new();
	struct ledger_key key = member_key(0x0002c90300abcdef);

	write_row(l, key, member(dot(3, 0x0002c90300000001), FULL));
	assert_int_equal(ledger_bucket_of(&key), 0x36);
	assert_int_equal(ledger_digest(l, LEDGER_MEMBER).hash, UINT64_C(0xae8c024cd345568d));
}

static uint64_t digest_of(enum ledger_table table, const char *bytes, uint32_t len)
{
	LEDGER l = ledger_new();

	write_row(l, table_key(table, 3), value_of(dot(3, 1), bytes, len));
	return ledger_digest(l, table).hash;
}

static void digests_of_secrets_say_nothing_of_the_values(void **state)
{
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		enum ledger_table table = (enum ledger_table)t;
		uint64_t one, two;

		if (table == LEDGER_MEMBER)
			continue; /* of one byte */
		one = digest_of(table, "\1aaaaaaaa", 9);
		two = digest_of(table, "\1bbbbbbbb", 9);
		assert_int_equal(one == two, ledger_table(table)->secret);
	}
}

/* ---- rules of tables ------------------------------------------------------------------------- */

struct rule {
	enum ledger_table table;
	struct ledger_value first, other; /* the first one is in force */
};

#define BYTES(number, bytes)   value_of(dot(number, 1), bytes, sizeof(bytes) - 1)
#define REMOVAL(number)	       removed_at(dot(number, 1))
#define MARK(number, kind, n)  BYTES(number, kind "\0\0\0\0\0\0\0" n)
#define DRAIN		       "\1"
#define ISOLATE		       "\2"
#define SEED(number, epoch, turn)                                                                  \
	BYTES(number, "01234567890123456789012345678901\0\0\0" epoch "\0\0\0\0\0\0\0" turn)
#define COUNT(number, n)       BYTES(number, "\0\0\0\0\0\0\0" n)

static void rules_of_tables(void **state)
{
	const struct ledger_dot instance_8 = { 1, { 1, 8 } };
	const struct rule rules[] = {
		{ LEDGER_PARTITION, REMOVAL(1), BYTES(2, "a") },
		{ LEDGER_PARTITION, BYTES(2, "a"), BYTES(1, "b") },
		{ LEDGER_MARK, MARK(1, ISOLATE, "\5"), MARK(2, DRAIN, "\5") },
		{ LEDGER_MARK, MARK(1, ISOLATE, "\5"), MARK(2, DRAIN, "\0") },
		{ LEDGER_MARK, MARK(1, DRAIN, "\5"), REMOVAL(2) },
		{ LEDGER_MARK, MARK(1, DRAIN, "\6"), MARK(2, DRAIN, "\5") },
		{ LEDGER_MARK, MARK(1, DRAIN, "\0"), MARK(2, DRAIN, "\5") },
		{ LEDGER_MARK, MARK(2, DRAIN, "\5b"), MARK(1, DRAIN, "\5c") },
		{ LEDGER_MARK, REMOVAL(2), REMOVAL(1) },
		{ LEDGER_SEED, BYTES(1, "a"), REMOVAL(2) },
		{ LEDGER_SEED, BYTES(2, "a"), BYTES(1, "b") },
		{ LEDGER_SEED, SEED(1, "\2", "\1"), SEED(2, "\1", "\2") },
		{ LEDGER_SEED, SEED(1, "\1", "\2"), SEED(2, "\1", "\1") },
		{ LEDGER_SEED, SEED(2, "\1", "\1"), SEED(1, "\1", "\1") },
		{ LEDGER_EPOCH, REMOVAL(2), BYTES(1, "a") },
		{ LEDGER_EPOCH, BYTES(2, "a"), REMOVAL(1) },
		{ LEDGER_CABLE, BYTES(2, "a"), BYTES(1, "b") },
		{ LEDGER_CONFIG, BYTES(2, "a"), BYTES(1, "b") },
		{ LEDGER_HEALTH, COUNT(1, "\7"), COUNT(2, "\6") },
		{ LEDGER_HEALTH, BYTES(1, "\1\0\0\0\0\0\0\0"), COUNT(2, "\xff") },
		{ LEDGER_HEALTH, COUNT(1, "\0"), REMOVAL(2) },
		{ LEDGER_HEALTH, COUNT(2, "\7a"), COUNT(1, "\7b") },
		/* The greater writer, if no number is greater. */
		{ LEDGER_CABLE, value_of(dot(1, 2), "a", 1), value_of(dot(1, 1), "b", 1) },
		{ LEDGER_CABLE, value_of(instance_8, "a", 1), BYTES(1, "b") },
		/* Of one dot: must not be, and is the same everywhere. */
		{ LEDGER_CABLE, REMOVAL(1), BYTES(1, "b") },
		{ LEDGER_CABLE, BYTES(1, "b"), BYTES(1, "a") },
		{ LEDGER_CABLE, BYTES(1, "ab"), BYTES(1, "a") },
		{ LEDGER_CABLE, BYTES(1, "a"), BYTES(1, "") },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const struct rule *r = &rules[i];

		assert_true(ledger_table(r->table)->prefer(&r->first, &r->other) < 0);
		assert_true(ledger_table(r->table)->prefer(&r->other, &r->first) > 0);
		assert_int_equal(ledger_table(r->table)->prefer(&r->first, &r->first), 0);
	}
}

static void one_dot_with_two_contents_is_settled_the_same_everywhere(void **state)
{
	LEDGER a = ledger_new(), *b = ledger_new();

	write_row(a, member_key(1), member(dot(5, 1), FULL));
	write_row(b, member_key(1), member(dot(5, 1), LIMITED));
	merge_all(a, b);
	merge_all(b, a);
	assert_int_equal(member_in(a, 1), LIMITED);
	assert_int_equal(member_in(b, 1), LIMITED);
	assert_int_equal(ledger_digest(a, LEDGER_MEMBER).hash,
			 ledger_digest(b, LEDGER_MEMBER).hash);
}

static void tables_are_what_their_comments_say(void **state)
{
	static const uint8_t key_len[] = { 2, 10, 9, 8, 8, 9, 9 };

	for (unsigned t = 0; t < LEDGER_CONFIG; t++) {
		assert_int_equal(ledger_table((enum ledger_table)t)->key_min, key_len[t]);
		assert_int_equal(ledger_table((enum ledger_table)t)->key_max, key_len[t]);
	}
	assert_int_equal(ledger_table(LEDGER_CONFIG)->key_max, LEDGER_KEY_MAX);
	assert_string_equal(ledger_table(LEDGER_MEMBER)->name, "member");
	assert_true(ledger_table_is_key(LEDGER_CONFIG, (const uint8_t *)"qos policy", 10));
	assert_false(ledger_table_is_key(LEDGER_CONFIG, (const uint8_t *)"a\nb", 3));
	assert_false(ledger_table_is_key(LEDGER_CONFIG, (const uint8_t *)"a\x7f", 2));
	assert_false(ledger_table_is_key(LEDGER_CONFIG, (const uint8_t *)"", 0));
	assert_true(ledger_table_is_key(LEDGER_SEED, (const uint8_t *)"\0\1\2\3\4\5\6\7", 8));
	assert_false(ledger_table_is_key(LEDGER_SEED, (const uint8_t *)"\0\1\2\3\4\5\6", 7));
}

static void large_values_are_whole(void **state)
{
	uint32_t max = ledger_table(LEDGER_CONFIG)->value_max;
	_cleanup_free_ uint8_t *bytes = xmalloc(max);
	struct ledger_key key = table_key(LEDGER_CONFIG, 1);
	LEDGER l = ledger_new();
	struct ledger_value v;

	for (uint32_t i = 0; i < max; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251);
	write_row(l, key, value_of(dot(1, 1), bytes, max));
	assert_true(ledger_get(l, &key, &v));
	assert_int_equal(v.len, max);
	assert_memory_equal(v.bytes, bytes, max);
	assert_int_equal(max, 12u << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_ledger_has_nothing),
		cmocka_unit_test(what_is_written_is_in_force),
		cmocka_unit_test(preparing_changes_nothing),
		cmocka_unit_test(a_time_before_1970_is_not_known),
		cmocka_unit_test(a_removed_row_is_kept_and_not_got),
		cmocka_unit_test(tables_of_a_clock_have_one_number),
		cmocka_unit_test(a_number_that_is_only_known_counts),
		cmocka_unit_test(every_row_is_walked_once),
		cmocka_unit_test(a_write_knows_the_row_it_is_given),
		cmocka_unit_test(a_later_write_takes_the_place_in_any_order),
		cmocka_unit_test(of_writes_that_did_not_know_each_other_less_access_is_in_force),
		cmocka_unit_test(the_next_write_knows_them_all_and_stands_alone),
		cmocka_unit_test(a_table_that_keeps_one_value_has_the_later_in_any_order),
		cmocka_unit_test(the_same_value_of_another_dot_is_another_one),
		cmocka_unit_test(merging_copies_the_row),
		cmocka_unit_test(a_context_has_at_most_64_writers_and_a_floor),
		cmocka_unit_test(a_merged_row_has_at_most_255_writers),
		cmocka_unit_test(the_value_in_force_does_not_go_for_want_of_room),
		cmocka_unit_test(digests_do_not_know_the_order_of_rows),
		cmocka_unit_test(a_digest_is_of_the_rows_there_are_now),
		cmocka_unit_test(a_bucket_has_its_own_rows),
		cmocka_unit_test(buckets_are_the_same_everywhere),
		cmocka_unit_test(digests_of_secrets_say_nothing_of_the_values),
		cmocka_unit_test(rules_of_tables),
		cmocka_unit_test(one_dot_with_two_contents_is_settled_the_same_everywhere),
		cmocka_unit_test(tables_are_what_their_comments_say),
		cmocka_unit_test(large_values_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
