// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory: allocation that does not fail, ownership that can be seen.
 *
 * x*() never return NULL: out of memory ends the process with one line. Sizes chosen by a remote
 * peer go through try_calloc(), which is bounded by its caller. An owning local is declared with
 * _cleanup_(), and handing it over reads take(p).
 */
#pragma once

#include <stddef.h>
#include <stdlib.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _cleanup_free_ _cleanup_(freep)

#define take(p)                                                                                    \
	({                                                                                         \
		__typeof__(p) *take_from_ = &(p);                                                  \
		__typeof__(p) taken_ = *take_from_;                                                \
		*take_from_ = NULL;                                                                \
		taken_;                                                                            \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
/* Like reallocarray(). */
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
void *xmemdup(const void *p, size_t size);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Zeroed memory, 64-byte aligned (one LFT block, one cache line). */
void *xalloc_aligned64(size_t size);

/* The same, not zeroed; what is large comes in large pages if the system has them. */
void *xmalloc_aligned64(size_t size);

/* NULL when n * size exceeds `limit` bytes or memory is short. */
void *try_calloc(size_t n, size_t size, size_t limit);

static inline void freep(void *p)
{
	free(*(void **)p);
}

/*
 * Grows `array` so that index `need - 1` exists; capacity doubles. `cap` counts elements.
 * Elements added are not initialised.
 */
#define GROW(array, need, cap)                                                                     \
	do {                                                                                       \
		if ((size_t)(need) > (size_t)(cap)) {                                              \
			(cap) = MAX((size_t)(need), (size_t)(cap) * 2);                            \
			(array) = xrealloc((array), (cap), sizeof(*(array)));                      \
		}                                                                                  \
	} while (0)
