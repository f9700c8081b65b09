// SPDX-License-Identifier: BSD-2-Clause
/* str.c: hostile text, near words, strict numbers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

static void control_characters_become_blanks(void **state)
{
	char out[16];

	assert_string_equal(str_printable("a\tb\x1b[1m\xff!", 9, out, sizeof(out)), "a b [1m !");
}

static void text_stops_at_nul_or_length(void **state)
{
	char out[16];

	assert_string_equal(str_printable("ab\0cd", 5, out, sizeof(out)), "ab");
	assert_string_equal(str_printable("abcd", 3, out, sizeof(out)), "abc");
}

static void trailing_blanks_go_leading_stay(void **state)
{
	char out[16];

	assert_string_equal(str_printable("  a \n\t", 6, out, sizeof(out)), "  a");
	assert_string_equal(str_printable("\n \t", 3, out, sizeof(out)), "");
}

static void result_fits_its_room(void **state)
{
	char out[4] = "xyz";

	assert_string_equal(str_printable("abcdef", 6, out, sizeof(out)), "abc");
	assert_string_equal(str_printable("abcdef", 6, out, 1), "");
	out[0] = 'k';
	str_printable("abcdef", 6, out, 0);
	assert_int_equal(out[0], 'k');
}

static const char *const words[] = { "sweep_interval", "log_flags", "lmc", "log_file", "qos" };

static const char *nearest(const char *word)
{
	return str_nearest(word, words, ARRAY_SIZE(words));
}

static void a_typing_error_finds_its_word(void **state)
{
	assert_string_equal(nearest("swep_interval"), "sweep_interval");
	assert_string_equal(nearest("sweep_intervall"), "sweep_interval");
	assert_string_equal(nearest("sweep_inetrval"), "sweep_interval");
	assert_string_equal(nearest("log_flgas"), "log_flags");
	assert_string_equal(nearest("lmd"), "lmc");
	assert_string_equal(nearest("qos"), "qos");
}

static void far_words_find_nothing(void **state)
{
	char long_word[200];

	assert_null(nearest("partition"));
	assert_null(nearest("x"));
	assert_null(nearest(""));
	assert_null(nearest("lxy")); /* 2 edits of 3 characters */
	assert_null(nearest("sweepx_xintexrvaxl")); /* 4 edits */
	memset(long_word, 'a', sizeof(long_word) - 1);
	long_word[sizeof(long_word) - 1] = '\0';
	assert_null(nearest(long_word));
}

static void a_swap_counts_once(void **state)
{
	static const char *const two[] = { "abdc" };

	/* Four letters allow two edits: "bacd" is two swaps away, or four replacements. */
	assert_non_null(str_nearest("abcd", two, 1));
	assert_non_null(str_nearest("bacd", two, 1));
	assert_null(str_nearest("bxcy", two, 1));
}

static void numbers_are_read_in_their_base(void **state)
{
	uint64_t v;

	assert_int_equal(str_to_u64("42", 0, 100, &v), 0);
	assert_int_equal(v, 42);
	assert_int_equal(str_to_u64("0x2A", 0, 100, &v), 0);
	assert_int_equal(v, 42);
	assert_int_equal(str_to_u64("052", 0, 100, &v), 0);
	assert_int_equal(v, 42);
	assert_int_equal(str_to_u64("ffffffffffffffff", 16, UINT64_MAX, &v), 0);
	assert_true(v == UINT64_MAX);
}

static void what_is_not_a_number_is_refused(void **state)
{
	static const char *const bad[] = {
		"", " 1", "1 ", "-1", "+1", "0x", "1x", "abc", "08", "\t"
	};
	uint64_t v = 7;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(str_to_u64(bad[i], 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(v, 7);
}

static void numbers_beyond_the_limit_are_refused(void **state)
{
	uint64_t v = 7;

	assert_int_equal(str_to_u64("100", 0, 100, &v), 0);
	assert_int_equal(str_to_u64("101", 0, 100, &v), -ERANGE);
	assert_int_equal(str_to_u64("18446744073709551616", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(v, 100);
}

static void null_equals_null_only(void **state)
{
	assert_true(str_equal(NULL, NULL));
	assert_false(str_equal(NULL, ""));
	assert_false(str_equal("", NULL));
	assert_true(str_equal("a", "a"));
	assert_false(str_equal("a", "A"));
	assert_true(str_starts("abc", "ab"));
	assert_true(str_starts("abc", ""));
	assert_false(str_starts("ab", "abc"));
}

static void bounded_allocation_says_no(void **state)
{
	_cleanup_free_ char *p = try_calloc(4, 4, 16);

	assert_non_null(p);
	assert_int_equal(p[15], 0);
	assert_null(try_calloc(4, 5, 16));
	assert_null(try_calloc(SIZE_MAX, 2, SIZE_MAX));
}

static void aligned_memory_is_zero_and_aligned(void **state)
{
	_cleanup_free_ char *p = xalloc_aligned64(65);

	assert_int_equal((uintptr_t)p % 64, 0);
	for (unsigned i = 0; i < 65; i++)
		assert_int_equal(p[i], 0);
}

static void a_long_text_is_formatted_whole(void **state)
{
	_cleanup_free_ char *p = xasprintf("%0300d|%s", 7, "end");

	assert_int_equal(strlen(p), 304);
	assert_string_equal(p + 299, "7|end");
}

static void taking_leaves_nothing_behind(void **state)
{
	char *p = xstrdup("x");
	_cleanup_free_ char *q = take(p);

	assert_null(p);
	assert_string_equal(q, "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_become_blanks),
		cmocka_unit_test(text_stops_at_nul_or_length),
		cmocka_unit_test(trailing_blanks_go_leading_stay),
		cmocka_unit_test(result_fits_its_room),
		cmocka_unit_test(a_typing_error_finds_its_word),
		cmocka_unit_test(far_words_find_nothing),
		cmocka_unit_test(a_swap_counts_once),
		cmocka_unit_test(numbers_are_read_in_their_base),
		cmocka_unit_test(what_is_not_a_number_is_refused),
		cmocka_unit_test(numbers_beyond_the_limit_are_refused),
		cmocka_unit_test(null_equals_null_only),
		cmocka_unit_test(bounded_allocation_says_no),
		cmocka_unit_test(aligned_memory_is_zero_and_aligned),
		cmocka_unit_test(a_long_text_is_formatted_whole),
		cmocka_unit_test(taking_leaves_nothing_behind),
	};

	return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
