// SPDX-License-Identifier: BSD-2-Clause
/* Searching sorted arrays, and sorting them. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

/*
 * Less than 0, 0, or more: `x` is below `y`, equal, or above. For comparison functions of qsort():
 * `return COMPARE(x->a, y->a) ?: COMPARE(x->b, y->b);`.
 */
#define COMPARE(x, y) (((x) > (y)) - ((x) < (y)))

/* Sorts `n` elements, perhaps none, of an array by a comparison function. */
#define SORT(array, n, compare) \
	((n) ? qsort((array), (n), sizeof(*(array)), (compare)) : (void)0)

/*
 * Counting sort of `n` elements into another array by `key`, an expression of `i`, below `keys`;
 * elements with the same key keep their order. `first`: keys + 2 numbers, 0 before; afterwards
 * elements with `key` are to[first[key]] .. to[first[key + 1] - 1].
 *
 *	SORT_BY_KEY(all, sorted, n, all[i].lid, top + 1, first);
 */
#define SORT_BY_KEY(from, to, n, key, keys, first)                   \
	do {                                                         \
		for (size_t i = 0; i < (n); i++)                     \
			(first)[(key) + 2]++;                        \
		for (size_t k_ = 1; k_ <= (keys); k_++)              \
			(first)[k_ + 1] += (first)[k_];              \
		for (size_t i = 0; i < (n); i++)                     \
			(to)[(first)[(key) + 1]++] = (from)[i];      \
	} while (0)

static inline int compare_u32(const void *a, const void *b)
{
	return COMPARE(*(const uint32_t *)a, *(const uint32_t *)b);
}

static inline int compare_u64(const void *a, const void *b)
{
	return COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

/*
 * The first `i` from `from` to `to` - 1 for which `is_below`, an expression of `i`, is false; `to`
 * if there is none. It must be false for all that follow.
 *
 * 	uint32_t at = BISECT(i, 0, n, rows[i].guid < guid);
 */
#define BISECT(i, from, to, is_below)                                \
	({                                                           \
		__typeof__((to) + 0) low_ = (from), high_ = (to);    \
								     \
		while (low_ < high_) {                               \
			const __typeof__(low_) i = low_ + (high_ - low_) / 2; \
								     \
			if (is_below)                                \
				low_ = i + 1;                        \
			else                                         \
				high_ = i;                           \
		}                                                    \
		low_;                                                \
	})
