// SPDX-License-Identifier: BSD-2-Clause
/*
 * Allocation that does not fail. Every array is a block of malloc(), in an arena too: an arena says
 * together with what it is freed, and saves no time.
 */
#include "util/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINE_64	  63u /* mask of a 64-byte line */
#define HUGE_PAGE ((size_t)1 << 21)

/* Must not allocate: prints a constant line and ends. */
_Noreturn static void out_of_memory(void)
{
	static const char line[] = "opensm: out of memory\n";

	if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
		_exit(EXIT_FAILURE);
	abort();
}

static void *checked(void *p)
{
	if (!p)
		out_of_memory();
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	if (!n || !size)
		n = size = 1;
	return checked(calloc(n, size));
}

void *xmalloc_ones(size_t n, size_t size)
{
	void *p = xrealloc(NULL, n, size);

	return memset(p, 0xFF, n * size);
}

void *xrealloc(void *p, size_t n, size_t size)
{
	if (!n || !size)
		n = size = 1;
	return checked(reallocarray(p, n, size));
}

void free_wiped(void *p, size_t n)
{
	if (n)
		explicit_bzero(p, n);
	free(p);
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

void *xmemdup(const void *p, size_t size)
{
	void *copy = xmalloc(size);

	if (size)
		memcpy(copy, p, size);
	return copy;
}

char *xvasprintf(const char *fmt, va_list args)
{
	char *text;

	return checked(vasprintf(&text, fmt, args) < 0 ? strdup("") : text);
}

char *xasprintf(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	return text;
}

void *xmalloc_aligned64(size_t size)
{
	size_t align = size >= 4 * HUGE_PAGE ? HUGE_PAGE : LINE_64 + 1;
	void *p;

	if (size > SIZE_MAX - HUGE_PAGE)
		out_of_memory();
	size = size ? (size + align - 1) & ~(align - 1) : align;
	p = checked(aligned_alloc(align, size));
	if (align == HUGE_PAGE)
		madvise(p, size, MADV_HUGEPAGE);
	return p;
}

void *xalloc_aligned64(size_t size)
{
	return memset(xmalloc_aligned64(size), 0, size);
}

void *try_calloc(size_t n, size_t size, size_t limit)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total) || total > limit)
		return NULL;
	return calloc(total ? n : 1, total ? size : 1);
}

struct arena_part {
	struct arena_part *before;
	void *kept; /* NULL: the bytes are all there is */
	_Alignas(max_align_t) unsigned char bytes[];
};

void *arena_calloc(struct arena *a, size_t n, size_t size)
{
	struct arena_part *part;
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(*part), &bytes))
		out_of_memory();
	part = xcalloc(1, bytes);
	part->before = a->last;
	a->last = part;
	return part->bytes;
}

void *arena_keep(struct arena *a, void *p)
{
	struct arena_part *part = xcalloc(1, sizeof(*part));

	part->kept = p;
	part->before = a->last;
	a->last = part;
	return p;
}

void arena_done(struct arena *a)
{
	while (a->last) {
		struct arena_part *before = a->last->before;

		free(a->last->kept);
		free(a->last);
		a->last = before;
	}
}
