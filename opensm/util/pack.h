// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values as bytes for another process of the same program: in order, without names, in the order of
 * bytes of the machine. The reader has a sticky error: what does not fit reads as zero, and `bad`
 * says so at the end. It takes a copy of everything before it looks at it, so bytes that change
 * meanwhile do no harm.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Grows as needed; zero is empty. The owner of `bytes` frees them. */
struct pack {
	uint8_t *bytes;
	size_t n, cap;
};

void pack_bytes(struct pack *p, const void *bytes, size_t n);
/* An array that may be NULL; the reader must know how long it is. */
void pack_array(struct pack *p, const void *array, size_t n, size_t size);
/*
 * The same as what is not as in `before` (an array as long, not NULL): cheap where little is
 * different.
 */
void pack_changed(struct pack *p, const void *array, const void *before, size_t n, size_t size);
/* An array, not NULL, that is zero for the most part. */
void pack_sparse(struct pack *p, const void *array, size_t n, size_t size);
#define pack_value(p, v) pack_bytes((p), &(v), sizeof(v))

struct unpack {
	const uint8_t *at;
	size_t left;
	bool bad;
};

/* All of `to` is zero if there is not that much. */
void unpack_bytes(struct unpack *u, void *to, size_t n);
/* To be freed by the caller; NULL if it was, or if `u` is bad: also of another length. */
void *unpack_array(struct unpack *u, size_t n, size_t size);
/*
 * Of pack_array() or pack_changed(). `before` NULL: there is nothing that it could be compared
 * with.
 */
void *unpack_changed(struct unpack *u, const void *before, size_t n, size_t size);
/* Of pack_sparse(): room for `n` elements, however few bytes there are. NULL: bad. */
void *unpack_sparse(struct unpack *u, size_t n, size_t size);
/* Returns NULL. */
static inline void *unpack_bad(struct unpack *u)
{
	u->bad = true;
	return NULL;
}

#define unpack_value(u, v) unpack_bytes((u), &(v), sizeof(v))
