// SPDX-License-Identifier: BSD-2-Clause
/* Steps through a ring of n places that visit each of them once. */
#pragma once

#include <assert.h>
#include <stdint.h>

/*
 * A step through a ring of n places: at, at + step, at + 2 * step ... (each modulo n) are all n
 * places after n steps. Consecutive places are far apart: the step is the first number from about
 * five eighths of n that has no common factor with n. There is one, as n - 1 has none.
 */
static inline uint32_t coprime_stride(uint32_t n)
{
	assert(n > 0);
	for (uint32_t stride = (uint32_t)((uint64_t)n * 5 / 8) | 1; stride < n; stride++) {
		uint32_t a = n, b = stride;

		while (b) { /* Euclid: b becomes less with every step */
			uint32_t rest = a % b;

			a = b;
			b = rest;
		}
		if (a == 1)
			return stride;
	}
	return 1; /* n is 1 */
}

/* The place after `number` such steps: n consecutive numbers have n different places. */
static inline uint32_t coprime_turn(uint32_t number, uint32_t n)
{
	return (uint32_t)((uint64_t)number * coprime_stride(n) % n);
}
