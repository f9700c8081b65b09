// SPDX-License-Identifier: BSD-2-Clause
/*
 * Allocation that does not fail. Not a place for pools or accounting: malloc is good enough.
 */
#include "util/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINE_64 63u /* mask of a 64-byte line */
#define HUGE_PAGE ((size_t)1 << 21)

/* Nothing here may allocate: a constant line and out. */
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

void *xrealloc(void *p, size_t n, size_t size)
{
	if (!n || !size)
		n = size = 1;
	return checked(reallocarray(p, n, size));
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

char *xasprintf(const char *fmt, ...)
{
	va_list args, again;
	char *text;
	int len;

	va_start(args, fmt);
	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, args);
	text = xmalloc(len < 0 ? 1 : (size_t)len + 1);
	text[0] = '\0';
	if (len > 0)
		vsnprintf(text, (size_t)len + 1, fmt, again);
	va_end(again);
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
