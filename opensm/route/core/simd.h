// SPDX-License-Identifier: BSD-2-Clause
/* Sixteen distances at a time. Functions with SIMD_CLONES are also compiled for newer machines. */
#pragma once

#include <stdint.h>

#define SIMD_LANES 16

/* vector at any address */
typedef uint16_t simd_u16 __attribute__((vector_size(32), aligned(2), may_alias));

/*
 * Which clone is called is decided while the program is loaded, before the run time library of a
 * sanitizer is ready for that.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SIMD_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define SIMD_CLONES
#endif

static inline __attribute__((always_inline)) void simd_min(simd_u16 *a, const simd_u16 *b)
{
	simd_u16 less = (simd_u16)(*b < *a);

	*a = (*b & less) | (*a & ~less);
}
