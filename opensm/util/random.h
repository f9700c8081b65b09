// SPDX-License-Identifier: BSD-2-Clause
/*
 * Numbers that look like chance and are the same everywhere: for ties, patterns and tests, never
 * for secrets.
 */
#pragma once

#include <stdint.h>

/* The next of the sequence that `*state` (any value) is in: splitmix64. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}
