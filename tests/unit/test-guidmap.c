// SPDX-License-Identifier: BSD-2-Clause
/* guidmap.c against an array that is searched from end to end. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/bisect.h"
#include "util/guidmap.h"
#include "util/hash.h"
#include "util/mem.h"

#define N 5000

static char values[N];

static void empty_map_has_nothing(void **state)
{
	_cleanup_(guidmap_freep) struct guidmap *m = guidmap_new();
	size_t pos = 0;

	assert_int_equal(guidmap_count(m), 0);
	assert_null(guidmap_get(m, 1));
	assert_null(guidmap_get(m, 0));
	assert_null(guidmap_remove(m, 1));
	assert_false(guidmap_next(m, &pos, NULL, NULL));
	assert_null(guidmap_free(NULL));
}

static void put_returns_what_was_there(void **state)
{
	_cleanup_(guidmap_freep) struct guidmap *m = guidmap_new();

	assert_null(guidmap_put(m, 5, &values[1]));
	assert_ptr_equal(guidmap_put(m, 5, &values[2]), &values[1]);
	assert_int_equal(guidmap_count(m), 1);
	assert_ptr_equal(guidmap_get(m, 5), &values[2]);
	assert_ptr_equal(guidmap_remove(m, 5), &values[2]);
	assert_int_equal(guidmap_count(m), 0);
	assert_null(guidmap_get(m, 5));
}

/* Keys as a vendor numbers them, with a bias towards collisions. */
static guid_t key_of(unsigned i)
{
	return i % 2 ? 0x0002c90300000000ull + i * 16 : (guid_t)i << 40 | 1;
}

static void check_all(const struct guidmap *m, const bool *there, size_t count)
{
	size_t pos = 0, seen = 0;
	guid_t key;
	void *value;

	assert_int_equal(guidmap_count(m), count);
	for (unsigned i = 0; i < N; i++)
		assert_ptr_equal(guidmap_get(m, key_of(i)), there[i] ? &values[i] : NULL);
	while (guidmap_next(m, &pos, &key, &value)) {
		unsigned i = (unsigned)((char *)value - values);

		assert_true(i < N && there[i] && key_of(i) == key);
		seen++;
	}
	assert_int_equal(seen, count);
}

static void random_puts_and_removes_agree_with_an_array(void **state)
{
	_cleanup_(guidmap_freep) struct guidmap *m = guidmap_new();
	unsigned seed = 20231;
	bool there[N] = { false };
	size_t count = 0;

	print_message("# seed %u\n", seed);
	for (unsigned step = 0; step < 60000; step++) {
		unsigned i = (unsigned)rand_r(&seed) % N;
		/* Fill, then drain, then fill again. */
		bool put = (unsigned)rand_r(&seed) % 8 < (step / 20000 == 1 ? 2u : 6u);

		if (put)
			assert_ptr_equal(guidmap_put(m, key_of(i), &values[i]),
					 there[i] ? &values[i] : NULL);
		else
			assert_ptr_equal(guidmap_remove(m, key_of(i)),
					 there[i] ? &values[i] : NULL);
		count += put && !there[i];
		count -= !put && there[i];
		there[i] = put;
		if (step % 10000 == 9999)
			check_all(m, there, count);
	}
}

static void the_same_history_gives_the_same_order(void **state)
{
	_cleanup_(guidmap_freep) struct guidmap *a = guidmap_new();
	_cleanup_(guidmap_freep) struct guidmap *b = guidmap_new();
	size_t pos_a = 0, pos_b = 0;
	guid_t key_a, key_b;

	for (unsigned i = 0; i < 100; i++) {
		guidmap_put(a, key_of(i), &values[i]);
		guidmap_put(b, key_of(i), &values[i]);
	}
	for (unsigned i = 0; i < 100; i++) {
		assert_true(guidmap_next(a, &pos_a, &key_a, NULL));
		assert_true(guidmap_next(b, &pos_b, &key_b, NULL));
		assert_int_equal(key_a, key_b);
	}
}

/* Values that FNV-1a is published with. */
static void hashes_are_those_of_fnv_1a(void **state)
{
	assert_true(hash_bytes(HASH_START, "", 0) == HASH_START);
	assert_true(hash_bytes(HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
	assert_true(hash_bytes(HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
	assert_true(hash_bytes(hash_bytes(HASH_START, "foo", 3), "bar", 3) ==
		    UINT64_C(0x85944171f73967e8));
}

static void bisecting_finds_what_a_walk_finds(void **state)
{
	static const int rows[] = { 1, 3, 3, 3, 7, 9, 9, 12 };

	for (size_t n = 0; n <= 8; n++)
		for (int what = 0; what < 14; what++) {
			size_t walk = 0, at = BISECT(k, 0, n, rows[k] < what);

			while (walk < n && rows[walk] < what)
				walk++;
			assert_int_equal(at, walk);
		}
	assert_int_equal(BISECT(k, 3, 5, rows[k] < 7), 4);
	assert_int_equal(BISECT(k, 5, 5, true), 5);
}

static void counting_sorts_and_keeps_the_order_of_equals(void **state)
{
	static const struct keyed {
		unsigned key, was;
	} all[] = { { 3, 0 }, { 0, 1 }, { 3, 2 }, { 1, 3 }, { 0, 4 } };
	static const unsigned order[] = { 1, 4, 3, 0, 2 }, begins[] = { 0, 2, 3, 3, 5 };
	struct keyed sorted[5];
	unsigned first[6] = { 0 };

	SORT_BY_KEY(all, sorted, 5u, all[i].key, 4u, first);
	for (unsigned k = 0; k < 5; k++) {
		assert_int_equal(sorted[k].was, order[k]);
		assert_int_equal(first[k], begins[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_map_has_nothing),
		cmocka_unit_test(put_returns_what_was_there),
		cmocka_unit_test(random_puts_and_removes_agree_with_an_array),
		cmocka_unit_test(the_same_history_gives_the_same_order),
		cmocka_unit_test(hashes_are_those_of_fnv_1a),
		cmocka_unit_test(bisecting_finds_what_a_walk_finds),
		cmocka_unit_test(counting_sorts_and_keeps_the_order_of_equals),
	};

	return cmocka_run_group_tests_name("guidmap", tests, NULL, NULL);
}
