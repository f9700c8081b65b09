// SPDX-License-Identifier: BSD-2-Clause
/* zlib behind a stdio stream. What it cannot allocate ends the process (util/mem.h). */
#include "metrics/gzip.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Of windowBits: the format is gzip's, not zlib's. */
#define GZIP_WINDOW (MAX_WBITS + 16)
/* Text of metrics shrinks to a fifteenth at this level, and not much more at any other. */
#define LEVEL	    4
#define MEM_LEVEL   8
/* Bytes that there is room for before the compressor runs. */
#define ROOM	    16384u

struct writer {
	z_stream z;
	struct gzip_text *to;
};

void gzip_text_clear(struct gzip_text *t)
{
	free(t->bytes);
	*t = (struct gzip_text){ 0 };
}

/* Compresses what is in `z`; with Z_FINISH to the end of the file. */
static void deflate_all(struct writer *w, int flush)
{
	int r;

	do {
		GROW(w->to->bytes, w->to->len + ROOM, w->to->cap);
		w->z.next_out = w->to->bytes + w->to->len;
		w->z.avail_out = ROOM;
		r = deflate(&w->z, flush);
		assert(r != Z_STREAM_ERROR);
		w->to->len += ROOM - w->z.avail_out;
	} while (!w->z.avail_out);
}

static ssize_t on_write(void *arg, const char *bytes, size_t len)
{
	struct writer *w = arg;

	w->z.next_in = (Bytef *)(uintptr_t)bytes; /* zlib reads there, and has no const */
	w->z.avail_in = (uInt)len;
	deflate_all(w, Z_NO_FLUSH);
	w->to->plain_len += len;
	return (ssize_t)len;
}

static int on_close(void *arg)
{
	struct writer *w = arg;

	deflate_all(w, Z_FINISH);
	deflateEnd(&w->z);
	free(w);
	return 0;
}

FILE *gzip_writer(struct gzip_text *ret)
{
	const cookie_io_functions_t io = { .write = on_write, .close = on_close };
	struct writer *w = xcalloc(1, sizeof(*w));
	FILE *out;

	assert(ret);
	gzip_text_clear(ret);
	w->to = ret;
	if (deflateInit2(&w->z, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		abort();
	out = fopencookie(w, "w", io);
	if (!out)
		abort();
	return out;
}

struct gzip_reader {
	z_stream z;
	bool ended;
};

struct gzip_reader *gzip_reader_new(const struct gzip_text *t)
{
	struct gzip_reader *r = xcalloc(1, sizeof(*r));

	assert(t && t->len <= UINT32_MAX);
	r->z.next_in = t->bytes;
	r->z.avail_in = (uInt)t->len;
	if (inflateInit2(&r->z, GZIP_WINDOW) != Z_OK)
		abort();
	return r;
}

ssize_t gzip_reader_next(struct gzip_reader *r, void *ret, size_t cap)
{
	int verdict = Z_OK;

	assert(r && ret && cap && cap <= UINT32_MAX);
	r->z.next_out = ret;
	r->z.avail_out = (uInt)cap;
	while (!r->ended && r->z.avail_out && verdict == Z_OK) {
		verdict = inflate(&r->z, Z_NO_FLUSH);
		r->ended = verdict == Z_STREAM_END;
	}
	if (!r->ended && verdict != Z_OK)
		return -EBADMSG;
	return (ssize_t)(cap - r->z.avail_out);
}

struct gzip_reader *gzip_reader_free(struct gzip_reader *r)
{
	if (r)
		inflateEnd(&r->z);
	free(r);
	return NULL;
}
