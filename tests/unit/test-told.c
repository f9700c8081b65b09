// SPDX-License-Identifier: BSD-2-Clause
/* Things that are said once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/told.h"

enum { TOLD_A, TOLD_LAST = 31 };

static void a_thing_is_said_when_it_begins_and_when_it_ends(void **state)
{
	struct told t = { 0 };

	assert_int_equal(told_change(&t, TOLD_A, false), TOLD_SAME);
	assert_int_equal(told_change(&t, TOLD_A, true), TOLD_BEGINS);
	assert_int_equal(told_change(&t, TOLD_A, true), TOLD_SAME);
	assert_true(told_holds(&t, TOLD_A));
	assert_int_equal(told_change(&t, TOLD_A, false), TOLD_ENDS);
	assert_int_equal(told_change(&t, TOLD_A, false), TOLD_SAME);
}

static void things_are_told_apart(void **state)
{
	struct told t = { 0 };

	assert_true(told_first(&t, TOLD_LAST));
	assert_false(told_first(&t, TOLD_LAST));
	assert_false(told_holds(&t, TOLD_A));
	assert_true(told_first(&t, TOLD_A));
	assert_int_equal(told_change(&t, TOLD_LAST, false), TOLD_ENDS);
	assert_true(told_holds(&t, TOLD_A));
	assert_true(told_first(&t, TOLD_LAST));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thing_is_said_when_it_begins_and_when_it_ends),
		cmocka_unit_test(things_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
