// SPDX-License-Identifier: BSD-2-Clause
/*
 * How often a test draws at random. With sanitizers a round takes five to ten times as long, and a
 * third of the rounds shows errors of memory as well; builds without do all of them.
 */
#pragma once

#ifdef __SANITIZE_ADDRESS__
#define TEST_THINNED 3u
#else
#define TEST_THINNED 1u
#endif

/* Of rounds with a seed each: the first ones. */
static inline unsigned test_rounds(unsigned n)
{
	return (n + TEST_THINNED - 1) / TEST_THINNED;
}

/* From one moment of a run to the next one that is tried: of `n` without sanitizers. */
static inline unsigned test_stride(unsigned n)
{
	return n * TEST_THINNED;
}
