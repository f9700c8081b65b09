// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pseudo-random numbers, the same on all machines: for ties, patterns and tests, never for secrets.
 */
#pragma once

#include <stdint.h>

/* Returns the next number of the sequence and moves `*state`, at first any value: splitmix64. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}
