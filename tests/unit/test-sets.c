// SPDX-License-Identifier: BSD-2-Clause
/* The smallest member stands for its set, in whatever order sets are joined. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "util/mem.h"
#include "util/random.h"
#include "util/sets.h"

#define N_MAX 255

/* What the array says against one colour per member, painted over with every join. */
static void assert_sets(uint32_t n, uint64_t seed)
{
	uint32_t set[N_MAX], colour[N_MAX];

	for (uint32_t i = 0; i < n; i++)
		set[i] = colour[i] = i;
	for (uint32_t joins = 0; joins < 2 * n; joins++) {
		uint32_t a = (uint32_t)(random_next(&seed) % n),
			 b = (uint32_t)(random_next(&seed) % n);
		uint32_t low = MIN(colour[a], colour[b]), high = MAX(colour[a], colour[b]);

		assert_int_equal(sets_join(set, a, b), low != high);
		for (uint32_t i = 0; i < n; i++)
			if (colour[i] == high)
				colour[i] = low;
		for (uint32_t i = 0; i < n; i += 1 + n / 8)
			assert_int_equal(sets_root(set, i), colour[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(sets_root(set, i), colour[i]);
}

static void the_smallest_stands_for_all(void **state)
{
	for (uint32_t n = 1; n <= N_MAX; n++)
		assert_sets(n, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_smallest_stands_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
