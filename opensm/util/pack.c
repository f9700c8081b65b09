// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bytes there and back. An array says of which kind it is: none, whole, pieces that are different,
 * pieces that are not zero.
 */
#include "util/pack.h"

#include <assert.h>
#include <string.h>

#include "util/mem.h"

#define PIECE 1024u /* arrays are compared by so many bytes */

enum array_kind { ARRAY_NONE, ARRAY_WHOLE, ARRAY_CHANGED, ARRAY_SPARSE, ARRAY_KINDS };

struct array_head {
	uint64_t kind, bytes;
};

void pack_bytes(struct pack *p, const void *bytes, size_t n)
{
	assert(bytes || !n);
	if (!n)
		return;
	GROW(p->bytes, p->n + n, p->cap);
	memcpy(p->bytes + p->n, bytes, n);
	p->n += n;
}

static void pack_head(struct pack *p, enum array_kind kind, size_t bytes)
{
	const struct array_head head = { .kind = kind, .bytes = bytes };

	pack_value(p, head);
}

void pack_array(struct pack *p, const void *array, size_t n, size_t size)
{
	pack_head(p, array ? ARRAY_WHOLE : ARRAY_NONE, array ? n * size : 0);
	pack_bytes(p, array, array ? n * size : 0);
}

/*
 * Pieces follow, each with its place; the place behind the last one ends the list. `was` NULL:
 * zeros.
 */
static void pack_pieces(struct pack *p, const uint8_t *now, const uint8_t *was, uint64_t end)
{
	static const uint8_t zeros[PIECE];

	for (uint64_t at = 0; at < end; at += PIECE) {
		size_t len = MIN(PIECE, end - at);

		if (!memcmp(now + at, was ? was + at : zeros, len))
			continue;
		pack_value(p, at);
		pack_bytes(p, now + at, len);
	}
	pack_value(p, end);
}

void pack_changed(struct pack *p, const void *array, const void *before, size_t n, size_t size)
{
	if (!array || !before) {
		pack_array(p, array, n, size);
		return;
	}
	pack_head(p, ARRAY_CHANGED, n * size);
	pack_pieces(p, array, before, n * size);
}

void pack_sparse(struct pack *p, const void *array, size_t n, size_t size)
{
	assert(array);
	pack_head(p, ARRAY_SPARSE, n * size);
	pack_pieces(p, array, NULL, n * size);
}

void unpack_bytes(struct unpack *u, void *to, size_t n)
{
	if (n > u->left)
		u->bad = true;
	if (u->bad) {
		memset(to, 0, n);
		return;
	}
	if (n)
		memcpy(to, u->at, n);
	u->at += n;
	u->left -= n;
}

static enum array_kind unpack_head(struct unpack *u, size_t bytes)
{
	struct array_head head;

	unpack_value(u, head);
	if (head.kind >= ARRAY_KINDS || (head.kind != ARRAY_NONE && head.bytes != bytes))
		u->bad = true;
	return u->bad ? ARRAY_NONE : (enum array_kind)head.kind;
}

static void *unpack_whole(struct unpack *u, size_t bytes)
{
	uint8_t *ret;

	if (bytes > u->left) {
		u->bad = true;
		return NULL;
	}
	ret = xmalloc(bytes + 1);
	unpack_bytes(u, ret, bytes);
	return ret;
}

/* Into `ret`. Places ascend, so that there are no more pieces than fit. */
static void unpack_pieces(struct unpack *u, uint8_t *ret, size_t bytes)
{
	uint64_t at = 0, least = 0;

	while (!u->bad) {
		unpack_value(u, at);
		if (at == bytes)
			return;
		if (at < least || at > bytes) {
			u->bad = true;
			return;
		}
		unpack_bytes(u, ret + at, MIN(PIECE, bytes - at));
		least = at + PIECE;
	}
}

static void *unpack_over(struct unpack *u, const void *before, size_t bytes)
{
	_cleanup_free_ uint8_t *ret = NULL;

	if (!before) {
		u->bad = true;
		return NULL;
	}
	ret = xmalloc(bytes + 1);
	memcpy(ret, before, bytes);
	unpack_pieces(u, ret, bytes);
	return u->bad ? NULL : take(ret);
}

void *unpack_changed(struct unpack *u, const void *before, size_t n, size_t size)
{
	size_t bytes = n * size;

	switch (unpack_head(u, bytes)) {
	case ARRAY_WHOLE:
		return unpack_whole(u, bytes);
	case ARRAY_CHANGED:
		return unpack_over(u, before, bytes);
	case ARRAY_SPARSE: /* read by a call of its own: it needs more room than it has bytes */
		u->bad = true;
		break;
	case ARRAY_NONE:
	case ARRAY_KINDS:
		break;
	}
	return NULL;
}

void *unpack_sparse(struct unpack *u, size_t n, size_t size)
{
	_cleanup_free_ uint8_t *ret = NULL;

	if (unpack_head(u, n * size) != ARRAY_SPARSE) {
		u->bad = true;
		return NULL;
	}
	ret = xcalloc(n * size + 1, 1);
	unpack_pieces(u, ret, n * size);
	return u->bad ? NULL : take(ret);
}

void *unpack_array(struct unpack *u, size_t n, size_t size)
{
	return unpack_changed(u, NULL, n, size);
}
