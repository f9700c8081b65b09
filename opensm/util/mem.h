// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory: allocation that does not fail, visible ownership.
 *
 * x*() never return NULL: out of memory ends the process with one line. Sizes chosen by a remote
 * peer go through try_calloc(), which is bounded by its caller. An owning local is declared with
 * _cleanup_(), and handing it over reads take(p).
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define _cleanup_(f)   __attribute__((cleanup(f)))
#define _cleanup_free_ _cleanup_(freep)

#define take(p)                                                                                    \
	({                                                                                         \
		__typeof__(p) *take_from_ = &(p);                                                  \
		__typeof__(p) taken_ = *take_from_;                                                \
		*take_from_ = NULL;                                                                \
		taken_;                                                                            \
	})

/*
 * Lets the owner of shared read-only memory change it: to count references, to free it. The only
 * place where const is cast away.
 */
static inline void *as_owner(const void *shared)
{
	return (void *)(uintptr_t)shared;
}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)     ((a) < (b) ? (a) : (b))
#define MAX(a, b)     ((a) > (b) ? (a) : (b))

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
/* Like reallocarray(). */
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
void *xmemdup(const void *p, size_t size);
/* Allocates memory with all bits set: as indices, "none". */
void *xmalloc_ones(size_t n, size_t size);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));

/* Zeroed memory, 64-byte aligned (one LFT block, one cache line). */
void *xalloc_aligned64(size_t size);

/*
 * Allocates 64-byte aligned memory, not zeroed; in large pages if it is large and the system has
 * them.
 */
void *xmalloc_aligned64(size_t size);

/* NULL when n * size exceeds `limit` bytes or memory is short. */
void *try_calloc(size_t n, size_t size, size_t limit);

/* Frees a secret after overwriting it. Accepts NULL with n = 0. */
void free_wiped(void *p, size_t n);

static inline void freep(void *p)
{
	free(*(void **)p);
}

/* Frees several pointers, which may be NULL: FREE_ALL(p->rows, p->columns, p). */
#define FREE_ALL(...)                                                                              \
	free_pointers((void *const[]){ __VA_ARGS__ },                                              \
		      sizeof((void *const[]){ __VA_ARGS__ }) / sizeof(void *))

static inline void free_pointers(void *const *all, size_t n)
{
	while (n)
		free(all[--n]);
}

/* For _cleanup_(): FREEP(x_free, struct x) defines x_freep(); x_free() returns NULL. */
#define FREEP(FREE, TYPE)                                                                          \
	static inline void FREE##p(TYPE **p)                                                       \
	{                                                                                          \
		*p = FREE(*p);                                                                     \
	}

/*
 * Arrays that are freed together: those of one object, or the work space of a computation. All zero
 * is an empty arena. Its memory must not be passed to free().
 */
struct arena {
	struct arena_part *last;
};

/* Zeroed, as xcalloc(). */
void *arena_calloc(struct arena *a, size_t n, size_t size);
#define ARENA_ARRAY(a, pointer, n) ((pointer) = arena_calloc((a), (n), sizeof(*(pointer))))
/* Allocates for up to 8 pointers, `n` elements each: ARENA_ARRAYS(a, n, p->x, p->y, ...). */
#define ARENA_ARRAYS(a, n, ...)                                                                    \
	MEM_9TH_(__VA_ARGS__, MEM_AT_8_, MEM_AT_7_, MEM_AT_6_, MEM_AT_5_, MEM_AT_4_, MEM_AT_3_,    \
		 MEM_AT_2_, ARENA_ARRAY_, none)(a, n, __VA_ARGS__)
#define MEM_9TH_(p1, p2, p3, p4, p5, p6, p7, p8, it, ...) it
#define ARENA_ARRAY_(a, n, p) ARENA_ARRAY(a, p, n)
#define MEM_AT_2_(a, n, p, ...) (ARENA_ARRAY(a, p, n), ARENA_ARRAY_(a, n, __VA_ARGS__))
#define MEM_AT_3_(a, n, p, ...) (ARENA_ARRAY(a, p, n), MEM_AT_2_(a, n, __VA_ARGS__))
#define MEM_AT_4_(a, n, p, ...) (ARENA_ARRAY(a, p, n), MEM_AT_3_(a, n, __VA_ARGS__))
#define MEM_AT_5_(a, n, p, ...) (ARENA_ARRAY(a, p, n), MEM_AT_4_(a, n, __VA_ARGS__))
#define MEM_AT_6_(a, n, p, ...) (ARENA_ARRAY(a, p, n), MEM_AT_5_(a, n, __VA_ARGS__))
#define MEM_AT_7_(a, n, p, ...) (ARENA_ARRAY(a, p, n), MEM_AT_6_(a, n, __VA_ARGS__))
#define MEM_AT_8_(a, n, p, ...) (ARENA_ARRAY(a, p, n), MEM_AT_7_(a, n, __VA_ARGS__))
#define ARENA_ONES(a, pointer, n)                                                                  \
	((pointer) = arena_keep((a), xmalloc_ones((n), sizeof(*(pointer)))))
/* Takes over malloc()ed memory, to be freed with the arena. Returns it. */
void *arena_keep(struct arena *a, void *p);
/* Frees all memory of the arena. */
void arena_done(struct arena *a);

/*
 * ARENA_FREE(x_free, struct x) defines x_free() of an object whose arrays are all in its arena
 * `memory`: it accepts NULL, and returns NULL.
 */
#define ARENA_FREE(FREE, TYPE)                                                                     \
	TYPE *FREE(TYPE *object)                                                                   \
	{                                                                                          \
		if (object)                                                                        \
			arena_done(&object->memory);                                               \
		free(object);                                                                      \
		return NULL;                                                                       \
	}

/*
 * Grows `array` so that index `need - 1` exists; capacity doubles. `cap` counts elements.
 * Elements added are not initialised.
 */
#define GROW(array, need, cap)                                                                     \
	do {                                                                                       \
		if ((size_t)(need) > (size_t)(cap)) {                                              \
			(cap) = MAX((size_t)(need), (size_t)(cap)*2);                              \
			(array) = xrealloc((array), (cap), sizeof(*(array)));                      \
		}                                                                                  \
	} while (0)

/* The place of one more element behind the `n` of `array`; `n` is incremented. */
#define APPEND(array, n, cap)                                                                      \
	(*({                                                                                       \
		GROW(array, (n) + 1, cap);                                                         \
		&(array)[(n)++];                                                                   \
	}))
