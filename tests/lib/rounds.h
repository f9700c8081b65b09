// SPDX-License-Identifier: BSD-2-Clause
/*
 * Number of random draws of a test. With sanitizers a round takes five to ten times as long, and a
 * third of the rounds suffices to find memory errors; other builds do all.
 */
#pragma once

#ifdef __SANITIZE_ADDRESS__
#define TEST_THINNED 3u
#else
#define TEST_THINNED 1u
#endif

/* Number of rounds with a seed each, the first ones of `n`. */
static inline unsigned test_rounds(unsigned n)
{
	return (n + TEST_THINNED - 1) / TEST_THINNED;
}

/* Step from one tested moment of a run to the next one; `n` without sanitizers. */
static inline unsigned test_stride(unsigned n)
{
	return n * TEST_THINNED;
}
