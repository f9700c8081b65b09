// SPDX-License-Identifier: BSD-2-Clause
/*
 * Values as bytes for another process of the same program: in order, without names, in the byte
 * order of the machine. The reader has a sticky error: missing bytes read as zero and set `bad`.
 * Values are copied before they are used, so bytes that change meanwhile do no harm.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer that grows as needed; zero is empty. The owner of `bytes` frees them. */
struct pack {
	uint8_t *bytes;
	size_t n, cap;
};

void pack_bytes(struct pack *p, const void *bytes, size_t n);
/* Packs an array that may be NULL; the reader must know its length. */
void pack_array(struct pack *p, const void *array, size_t n, size_t size);
/*
 * Packs an array as differences from `before` (of the same length, not NULL): cheap if there are
 * few.
 */
void pack_changed(struct pack *p, const void *array, const void *before, size_t n, size_t size);
/* Packs an array, not NULL, that is mostly zero. */
void pack_sparse(struct pack *p, const void *array, size_t n, size_t size);
#define pack_value(p, v) pack_bytes((p), &(v), sizeof(v))

struct unpack {
	const uint8_t *at;
	size_t left;
	bool bad;
};

/* Fills `to` with zero if there are not enough bytes. */
void unpack_bytes(struct unpack *u, void *to, size_t n);
/*
 * Returns an array to be freed by the caller; NULL if it was NULL, or if `u` is bad, also for
 * another length.
 */
void *unpack_array(struct unpack *u, size_t n, size_t size);
/* Unpacks pack_array() or pack_changed(). `before` NULL: differences are not accepted. */
void *unpack_changed(struct unpack *u, const void *before, size_t n, size_t size);
/* Unpacks pack_sparse(): memory for `n` elements, however few bytes there are. NULL: bad. */
void *unpack_sparse(struct unpack *u, size_t n, size_t size);
/* Sets the sticky error. Returns NULL. */
static inline void *unpack_bad(struct unpack *u)
{
	u->bad = true;
	return NULL;
}

#define unpack_value(u, v) unpack_bytes((u), &(v), sizeof(v))
