// SPDX-License-Identifier: BSD-2-Clause
/* Pauses between tries of opening a port that is gone again at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/timer.h"

static void pauses_grow_while_it_fails_at_once(void **state)
{
	static const mono_t want[] = { 0, 1, 2, 4, 8, 16, 32, 64, 64, 64 };
	struct retry r = { 0 };
	mono_t now = 1000 * MONO_S;

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		retry_began(&r, now, MONO_S);
		retry_failed(&r, now + MONO_MS);
		assert_int_equal(r.at - now - MONO_MS, want[i] * MONO_S);
		now = r.at;
	}
}

static void one_that_lasted_is_no_failure(void **state)
{
	struct retry r = { 0 };
	mono_t now = 1000 * MONO_S;

	for (unsigned i = 0; i < 5; i++) {
		retry_began(&r, now, MONO_S);
		retry_failed(&r, now);
		now = r.at;
	}
	retry_began(&r, now, MONO_S);
	now += RETRY_LASTED;
	retry_failed(&r, now);
	assert_int_equal(r.at, now);
	retry_began(&r, now, MONO_S);
	retry_failed(&r, now);
	assert_int_equal(r.at, now + MONO_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses_grow_while_it_fails_at_once),
		cmocka_unit_test(one_that_lasted_is_no_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
