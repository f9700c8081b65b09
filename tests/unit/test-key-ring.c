// SPDX-License-Identifier: BSD-2-Clause
/* Keys of ports: made as written in key_ring.h, found again after rotations, kept as a text. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "keys/key_ring.h"

#define PORT UINT64_C(0x0002c90300000001)

/* hmac.new(bytes(range(32)), b"opensm\x01" + GUID + epoch + b"\0", sha256), the first 8 bytes */
#define KEY_1_1 UINT64_C(0x5080528498fbca1b)
#define KEY_1_2 UINT64_C(0x35de07fd72b2c7b6)
#define KEY_2_1 UINT64_C(0x9f3a092ea4256b5c)

static struct key_seed seed_number(uint8_t first)
{
	struct key_seed s;

	for (unsigned i = 0; i < KEY_SEED_BYTES; i++)
		s.bytes[i] = (uint8_t)(first + i);
	return s;
}

static struct key_ring *ring_of(unsigned n_seeds)
{
	struct key_ring *r = key_ring_new();

	for (unsigned i = n_seeds; i-- > 0;) {
		const struct key_seed s = seed_number((uint8_t)i);

		assert_true(key_ring_use(r, &s));
	}
	return r;
}

static void keys_are_hmac_sha_256(void **state)
{
	struct key_ring *r = ring_of(1);

	assert_int_equal(key_ring_epoch(r), 1);
	assert_int_equal(key_ring_key(r, PORT), KEY_1_1);
	assert_int_equal(key_ring_key(r, PORT + 1), KEY_2_1);
	assert_true(key_ring_turn(r));
	assert_int_equal(key_ring_key(r, PORT), KEY_1_2);
	key_ring_unref(r);
}

static bool has(const uint64_t *keys, unsigned n, uint64_t key)
{
	for (unsigned i = 0; i < n; i++) {
		if (keys[i] == key)
			return true;
	}
	return false;
}

static void the_key_of_three_rotations_ago_is_found(void **state)
{
	struct key_ring *r = ring_of(2);
	uint64_t former[KEY_RING_FORMER], keys[6];

	for (unsigned i = 0; i < 6; i++) {
		keys[i] = key_ring_key(r, PORT);
		key_ring_turn(r);
	}
	assert_int_equal(key_ring_epoch(r), 7);
	unsigned n = key_ring_former(r, PORT, former, KEY_RING_FORMER);
	assert_in_range(n, 4, KEY_RING_FORMER);
	assert_false(has(former, n, key_ring_key(r, PORT)));
	for (unsigned i = 3; i < 6; i++)
		assert_true(has(former, n, keys[i]));
	/* the likeliest first: the epoch before, then the last epoch of the other seed */
	assert_int_equal(former[0], keys[5]);
	for (unsigned i = 3; i < 5; i++)
		assert_int_equal(key_ring_after(r, PORT, keys[i]), keys[i + 1]);
	assert_int_equal(key_ring_after(r, PORT, keys[5]), key_ring_key(r, PORT));
	assert_int_equal(key_ring_after(r, PORT, key_ring_key(r, PORT)), 0);
	key_ring_unref(r);
}

/* A port went away when its key was being changed, and stayed away for many rotations. */
static void the_key_behind_a_stored_one_is_found_much_later(void **state)
{
	struct key_ring *r = ring_of(2);
	uint64_t former[KEY_RING_FORMER], stored, written;
	unsigned n;

	key_ring_turn(r);
	stored = key_ring_key(r, PORT);
	key_ring_turn(r);
	written = key_ring_key(r, PORT);
	for (unsigned i = 0; i < 255; i++)
		key_ring_turn(r);
	n = key_ring_former(r, PORT, former, KEY_RING_FORMER);
	assert_false(has(former, n, stored) || has(former, n, written));
	assert_int_equal(key_ring_after(r, PORT, stored), written);
	key_ring_turn(r);
	assert_int_equal(key_ring_after(r, PORT, stored), 0);
	key_ring_unref(r);
}

/* One seed to one more than there are places. */
static void the_newest_seeds_are_kept(void **state)
{
	for (unsigned n = 1; n <= KEY_RING_SEEDS + 1; n++) {
		struct key_ring *r = ring_of(n), *first = ring_of(1);
		const struct key_seed oldest = seed_number((uint8_t)(n - 1));
		uint64_t former[KEY_RING_FORMER];
		unsigned n_former = key_ring_former(r, PORT, former, KEY_RING_FORMER);

		assert_int_equal(key_ring_key(r, PORT), key_ring_key(first, PORT));
		assert_int_equal(n_former, MIN(n, KEY_RING_SEEDS) - 1);
		/* back to the oldest: known still unless it was dropped */
		assert_true(key_ring_turn(r));
		assert_int_equal(key_ring_use(r, &oldest), n > 1);
		assert_int_equal(key_ring_epoch(r), n > 1 ? 1 : 2);
		key_ring_unref(first);
		key_ring_unref(r);
	}
}

static void a_seed_that_comes_back_goes_on_in_its_epoch(void **state)
{
	struct key_ring *r = ring_of(1);
	const struct key_seed other = seed_number(99), own = seed_number(0);

	key_ring_turn(r);
	assert_true(key_ring_use(r, &other));
	assert_int_equal(key_ring_epoch(r), 1);
	assert_true(key_ring_use(r, &own));
	assert_int_equal(key_ring_epoch(r), 2);
	assert_false(key_ring_use(r, &own));
	key_ring_unref(r);
}

static void rings_of_two_managers_are_joined(void **state)
{
	struct key_ring *a = ring_of(1), *b = ring_of(2);
	uint64_t mark = key_ring_mark(a);

	assert_true(mark != key_ring_mark(b));
	key_ring_turn(b);
	assert_true(key_ring_merge(a, b));
	assert_false(key_ring_merge(a, b));
	assert_int_equal(key_ring_key(a, PORT), key_ring_key(b, PORT));
	assert_int_equal(key_ring_mark(a), key_ring_mark(b));
	assert_true(mark != key_ring_mark(a));
	key_ring_unref(a);
	key_ring_unref(b);
}

/* What is in use stays so, as long as standbys do not have the next seed. */
static void a_seed_to_come_is_kept_behind_the_one_in_use(void **state)
{
	for (unsigned n = 1; n <= KEY_RING_SEEDS; n++) {
		struct key_ring *r = ring_of(n), *next = key_ring_copy(r), *kept = key_ring_copy(r);
		const struct key_seed seed = seed_number(100);

		assert_true(key_ring_use(next, &seed));
		assert_true(key_ring_keep(kept, next));
		assert_true(key_ring_is_alike(kept, r));
		assert_false(key_ring_keep(kept, next));
		/* with all of the next one, so that it changes by nothing but the order */
		assert_false(key_ring_merge(kept, next));
		assert_true(key_ring_use(kept, &seed));
		assert_true(key_ring_mark(kept) == key_ring_mark(next));
		key_ring_unref(r);
		key_ring_unref(next);
		key_ring_unref(kept);
	}
}

static void an_epoch_to_come_is_not_kept(void **state)
{
	struct key_ring *r = ring_of(2), *next = key_ring_copy(r);

	assert_true(key_ring_turn(next));
	assert_false(key_ring_keep(r, next));
	assert_int_equal(key_ring_epoch(r), 1);
	key_ring_unref(r);
	key_ring_unref(next);
}

static void a_text_brings_the_ring_back(void **state)
{
	for (unsigned n = 1; n <= KEY_RING_SEEDS; n++) {
		struct key_ring *r = ring_of(n), *back = NULL;
		size_t len;
		char *text;

		for (unsigned i = 0; i < n; i++)
			key_ring_turn(r);
		text = key_ring_text(r, &len);
		assert_int_equal(len, strlen(text));
		assert_int_equal(key_ring_read(text, len, &back), 0);
		assert_int_equal(key_ring_mark(r), key_ring_mark(back));
		free(text);
		key_ring_unref(r);
		key_ring_unref(back);
	}
}

/* Each byte of a text changed, and each length below: nothing is taken for a ring. */
static void damage_is_noticed(void **state)
{
	struct key_ring *r = ring_of(2), *back = NULL;
	size_t len;
	char *text = key_ring_text(r, &len);

	for (size_t i = 0; i < len; i++) {
		text[i] ^= 1;
		assert_int_equal(key_ring_read(text, len, &back), -EBADMSG);
		text[i] ^= 1;
		assert_int_equal(key_ring_read(text, i, &back), -EBADMSG);
	}
	assert_null(back);
	free(text);
	key_ring_unref(r);
}

static void seeds_are_64_digits(void **state)
{
	static const char digits[] =
		"000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";
	const struct key_seed want = seed_number(0);
	struct key_seed s;
	char text[80];

	assert_true(key_seed_parse(digits, &s));
	assert_memory_equal(&s, &want, sizeof(s));
	snprintf(text, sizeof(text), "  %s\n", digits);
	assert_true(key_seed_parse(text, &s));
	snprintf(text, sizeof(text), "%s0", digits);
	assert_false(key_seed_parse(text, &s));
	snprintf(text, sizeof(text), "%.63s", digits);
	assert_false(key_seed_parse(text, &s));
	snprintf(text, sizeof(text), "%.62sg0", digits);
	assert_false(key_seed_parse(text, &s));
	assert_false(key_seed_parse("", &s));
}

static void a_number_is_a_seed(void **state)
{
	struct key_seed a;

	key_seed_of_number(UINT64_C(0x0102030405060708), &a);
	assert_int_equal(a.bytes[0], 1);
	assert_int_equal(a.bytes[7], 8);
	assert_int_equal(a.bytes[8], 0);
}

/* One key for all ports has no epochs; as a seed, the same number is another thing. */
static void one_key_for_all_is_kept_among_seeds(void **state)
{
	struct key_ring *r = ring_of(1), *back = NULL;
	uint64_t former[KEY_RING_FORMER];
	struct key_seed seed;
	char *text;
	size_t len;

	assert_true(key_ring_use_shared(r, 0xabc));
	assert_false(key_ring_use_shared(r, 0xabc));
	assert_true(key_ring_is_shared(r));
	assert_int_equal(key_ring_epoch(r), 0);
	assert_int_equal(key_ring_key(r, PORT), 0xabc);
	assert_int_equal(key_ring_key(r, PORT + 1), 0xabc);
	assert_false(key_ring_turn(r));
	assert_int_equal(key_ring_former(r, PORT, former, KEY_RING_FORMER), 1);
	assert_int_equal(former[0], KEY_1_1);
	text = key_ring_text(r, &len);
	assert_int_equal(key_ring_read(text, len, &back), 0);
	assert_int_equal(key_ring_mark(back), key_ring_mark(r));
	free(text);
	key_seed_of_number(0xabc, &seed);
	assert_true(key_ring_use(back, &seed));
	assert_false(key_ring_is_shared(back));
	assert_true(key_ring_key(back, PORT) != 0xabc);
	assert_int_equal(key_ring_former(back, PORT, former, KEY_RING_FORMER), 2);
	assert_int_equal(former[0], 0xabc);
	assert_false(key_ring_find(back, PORT, 0xabd, 100));
	assert_true(key_ring_merge(r, back));
	assert_true(key_ring_is_shared(r));
	key_ring_unref(r);
	key_ring_unref(back);
}

static void a_shared_key_is_a_number(void **state)
{
#define ZEROS "000000000000000000000000000000000000000000000000"
	static const char zero[] = "0000000000000000" ZEROS " 0\n";
	static const char wide[] = ZEROS "0000000000000abc 0\n";
	static const char good[] = "0000000000000abc" ZEROS " 0\n";
	static const struct {
		const char *line;
		int r;
	} rows[] = { { zero, -EBADMSG }, { wide, -EBADMSG }, { good, 0 } };

	for (unsigned i = 0; i < 3; i++) {
		struct key_ring *r = NULL;
		size_t len;
		char *text = key_ring_sealed(rows[i].line, strlen(rows[i].line), &len);

		assert_int_equal(key_ring_read(text, len, &r), rows[i].r);
		key_ring_unref(r);
		free(text);
	}
}

/* Seeds of another manager come one by one, behind the own ones. */
static void a_ring_takes_what_it_lacks(void **state)
{
	struct key_ring *a = key_ring_new(), *b = key_ring_new();
	struct key_seed seed;
	uint8_t sent[KEY_SEED_SENT];

	key_seed_of_number(1, &seed);
	key_ring_use(a, &seed);
	key_seed_of_number(2, &seed);
	key_ring_use(b, &seed);
	key_ring_use_shared(b, 3);
	key_ring_turn(a);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(key_ring_at(b, i, sent));
		assert_true(key_ring_take(a, sent));
		assert_false(key_ring_take(a, sent));
		assert_false(key_ring_is_alike(a, b));
	}
	assert_false(key_ring_at(b, 2, sent));
	assert_int_equal(key_ring_epoch(a), 2);
	assert_true(key_ring_at(a, 1, sent)); /* the number in use in `b` */
	assert_int_not_equal(key_ring_former_ahead(a, 1, PORT, 1), 0);
	assert_int_equal(key_ring_former_ahead(a, 0, PORT, 1), 0); /* of all ports */
	assert_int_equal(key_ring_former_ahead(a, 2, PORT, 1), 0);
	sent[KEY_SEED_BYTES - 1] = 1;
	memset(sent + KEY_SEED_BYTES, 0, 4); /* no number, and no epoch */
	assert_false(key_ring_take(a, sent));
	key_ring_unref(a);
	key_ring_unref(b);
}

/* A port has a key of the last epoch of a former seed: another manager has put that in force. */
static void a_key_says_which_seed_is_in_use(void **state)
{
	struct key_ring *r = key_ring_new();
	struct key_seed one, two;
	uint64_t key;

	key_seed_of_number(1, &one);
	key_seed_of_number(2, &two);
	key_ring_use(r, &one);
	key_ring_turn(r);
	key = key_ring_key(r, PORT);
	assert_false(key_ring_use_of(r, PORT, key));
	key_ring_use_shared(r, 3);
	key_ring_use(r, &two);
	assert_false(key_ring_use_of(r, PORT, 3));
	assert_false(key_ring_use_of(r, PORT + 1, key));
	assert_true(key_ring_use_of(r, PORT, key));
	assert_int_equal(key_ring_epoch(r), 2);
	assert_int_equal(key_ring_key(r, PORT), key);
	key_ring_unref(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_takes_what_it_lacks),
		cmocka_unit_test(a_key_says_which_seed_is_in_use),
		cmocka_unit_test(keys_are_hmac_sha_256),
		cmocka_unit_test(the_key_of_three_rotations_ago_is_found),
		cmocka_unit_test(the_key_behind_a_stored_one_is_found_much_later),
		cmocka_unit_test(the_newest_seeds_are_kept),
		cmocka_unit_test(a_seed_that_comes_back_goes_on_in_its_epoch),
		cmocka_unit_test(rings_of_two_managers_are_joined),
		cmocka_unit_test(a_seed_to_come_is_kept_behind_the_one_in_use),
		cmocka_unit_test(an_epoch_to_come_is_not_kept),
		cmocka_unit_test(a_text_brings_the_ring_back),
		cmocka_unit_test(damage_is_noticed),
		cmocka_unit_test(seeds_are_64_digits),
		cmocka_unit_test(one_key_for_all_is_kept_among_seeds),
		cmocka_unit_test(a_shared_key_is_a_number),
		cmocka_unit_test(a_number_is_a_seed),
	};

	return cmocka_run_group_tests_name("key-ring", tests, NULL, NULL);
}
