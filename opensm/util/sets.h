// SPDX-License-Identifier: BSD-2-Clause
/*
 * Disjoint sets of numbers, as an array in which all begin with set[i] = i. The smallest member
 * stands for its set.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* The member that stands for the set of `i`. What is asked becomes nearer to it. */
static inline uint32_t sets_root(uint32_t *set, uint32_t i)
{
	while (set[i] != i) {
		assert(set[i] < i); /* and so it ends: i falls with every step */
		set[i] = set[set[i]];
		i = set[i];
	}
	return i;
}

/* Makes the sets of `i` and `j` one. True: they were two. */
static inline bool sets_join(uint32_t *set, uint32_t i, uint32_t j)
{
	i = sets_root(set, i);
	j = sets_root(set, j);
	if (i < j)
		set[j] = i;
	else
		set[i] = j;
	return i != j;
}
