// SPDX-License-Identifier: BSD-2-Clause
/* title.c: a status in one's own command line. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/title.h"

static void it_fills_its_place_exactly(void **state)
{
	_cleanup_free_ char *word = title_new(16, "hello");
	char *argv[] = { "opensm", word, NULL };
	const struct title t = title_find(2, argv);

	assert_string_equal(word, "[hello]         ");
	assert_ptr_equal(t.at, word);
	title_set(&t, "good");
	assert_string_equal(word, "[good]");
	title_set(&t, "");
	assert_string_equal(word, "[]");
	assert_memory_equal(word + 2, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 15);
	title_set(&t, "fourteen bytes");
	assert_string_equal(word, "[fourteen bytes]");
	title_set(&t, "fifteen bytes!!");
	assert_string_equal(word, "[fifteen byt...]");
}

static void it_is_printable(void **state)
{
	_cleanup_free_ char *word = title_new(12, "a\nb\x1b\xff" "c");

	assert_string_equal(word, "[a b  c]    ");
}

static void other_arguments_are_left_alone(void **state)
{
	char *argv[] = { "opensm", "-v", NULL };
	struct title t = title_find(2, argv);

	assert_null(t.at);
	title_set(&t, "text");
	t = title_find(1, argv);
	assert_null(t.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_fills_its_place_exactly),
		cmocka_unit_test(it_is_printable),
		cmocka_unit_test(other_arguments_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
