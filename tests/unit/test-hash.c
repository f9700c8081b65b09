// SPDX-License-Identifier: BSD-2-Clause
/* Numbers for bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "util/hash.h"

#define WORDS 8u
#define BITS  (WORDS * 64)

static void each_bit_of_a_word_counts(void **state)
{
	uint8_t bytes[WORDS * 8] = { 0 };
	uint64_t numbers[BITS];

	for (unsigned i = 0; i < BITS; i++) {
		bytes[i / 8] = (uint8_t)(1u << i % 8);
		numbers[i] = hash_words(HASH_START, bytes, WORDS);
		bytes[i / 8] = 0;
		assert_int_not_equal(numbers[i], hash_words(HASH_START, bytes, WORDS));
		for (unsigned k = 0; k < i; k++)
			assert_int_not_equal(numbers[i], numbers[k]);
	}
}

/* The last bytes of two words: what one changes is not what the next one takes back. */
static void words_do_not_cancel_out(void **state)
{
	uint8_t bytes[16] = { 0 };
	uint64_t none = hash_words(HASH_START, bytes, 2);

	for (unsigned a = 1; a < 256; a++) {
		for (unsigned b = 1; b < 256; b++) {
			bytes[7] = (uint8_t)a;
			bytes[15] = (uint8_t)b;
			assert_int_not_equal(hash_words(HASH_START, bytes, 2), none);
		}
	}
}

static void words_may_stand_anywhere(void **state)
{
	uint8_t bytes[17] = "0123456789abcdef", moved[17];

	memcpy(moved + 1, bytes, 16);
	assert_int_equal(hash_words(HASH_START, bytes, 2), hash_words(HASH_START, moved + 1, 2));
	assert_int_not_equal(hash_words(HASH_START, bytes, 2), hash_words(1, bytes, 2));
	assert_int_equal(hash_words(HASH_START, bytes, 0), HASH_START);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_bit_of_a_word_counts),
		cmocka_unit_test(words_do_not_cancel_out),
		cmocka_unit_test(words_may_stand_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
