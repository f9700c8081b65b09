// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into a program of one thread: the most bytes of malloc() that were in use at one time,
 * in the file $HEAP_FILE when it ends. A resident set is in pages, and some of them are another
 * program's; this is the same number each time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Those of glibc: a search for the next malloc() would itself call it. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t align, size_t size);
extern void __libc_free(void *p);

static size_t in_use, most;

static void *gained(void *p)
{
	in_use += p ? malloc_usable_size(p) : 0;
	if (in_use > most)
		most = in_use;
	return p;
}

static void lost(void *p)
{
	in_use -= p ? malloc_usable_size(p) : 0;
}

void *malloc(size_t size)
{
	return gained(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return gained(__libc_calloc(n, size));
}

void *realloc(void *p, size_t size)
{
	size_t before = p ? malloc_usable_size(p) : 0;
	void *q = __libc_realloc(p, size);

	if (q || !size)
		in_use -= before;
	return gained(q);
}

void *memalign(size_t align, size_t size)
{
	return gained(__libc_memalign(align, size));
}

void *aligned_alloc(size_t align, size_t size)
{
	return gained(__libc_memalign(align, size));
}

int posix_memalign(void **ret, size_t align, size_t size)
{
	void *p = gained(__libc_memalign(align, size));

	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}

void free(void *p)
{
	lost(p);
	__libc_free(p);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("HEAP_FILE");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	fprintf(f, "%zu\n", most);
	fclose(f);
}
