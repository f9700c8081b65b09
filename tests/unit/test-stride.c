// SPDX-License-Identifier: BSD-2-Clause
/* Strides come to every place once, whatever the radix. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "util/mem.h"
#include "util/stride.h"

static void assert_comes_everywhere(uint32_t n)
{
	uint32_t stride = coprime_stride(n), at = n / 3;
	bool *seen = xcalloc(n, sizeof(*seen));

	assert_in_range(stride, 1, n);
	for (uint32_t k = 0; k < n; k++, at = (at + stride) % n) {
		assert_false(seen[at]);
		seen[at] = true;
	}
	assert_int_equal(at, n / 3);
	free(seen);
}

static void every_radix_is_visited_whole(void **state)
{
	for (uint32_t n = 1; n <= 255; n++)
		assert_comes_everywhere(n);
}

static void larger_rings_too(void **state)
{
	for (uint32_t n = 256; n <= 4096; n++)
		assert_comes_everywhere(n);
	for (uint32_t n = 1; n <= 9 * 5 * 7 * 11 * 13 * 16; n *= 3)
		assert_comes_everywhere(n);
	assert_comes_everywhere(9 * 5 * 7 * 11 * 13 * 16);
}

static void neighbours_are_far_apart(void **state)
{
	for (uint32_t n = 12; n <= 255; n++) {
		uint32_t stride = coprime_stride(n);

		assert_in_range(stride, n / 2 + 1, n * 3 / 4);
	}
}

/* Also where the numbers come to the end of their range. */
static void assert_turns_come_everywhere(uint32_t n, uint32_t first)
{
	bool *seen = xcalloc(n, sizeof(*seen));

	for (uint32_t k = 0; k < n; k++) {
		uint32_t at = coprime_turn(first + k, n);

		assert_in_range(at, 0, n - 1);
		assert_false(seen[at]);
		seen[at] = true;
	}
	free(seen);
}

static void every_place_has_its_turn(void **state)
{
	for (uint32_t n = 1; n <= 255; n++) {
		assert_turns_come_everywhere(n, 0);
		assert_turns_come_everywhere(n, UINT32_MAX - n);
	}
}

/* The product of two numbers of this size does not fit 32 bits. */
static void the_largest_ring_has_a_stride(void **state)
{
	uint64_t a = UINT32_MAX, b = coprime_stride(UINT32_MAX);

	assert_in_range(b, UINT32_MAX / 2, UINT32_MAX - 1);
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	assert_int_equal(a, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_radix_is_visited_whole),
		cmocka_unit_test(larger_rings_too),
		cmocka_unit_test(every_place_has_its_turn),
		cmocka_unit_test(neighbours_are_far_apart),
		cmocka_unit_test(the_largest_ring_has_a_stride),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
