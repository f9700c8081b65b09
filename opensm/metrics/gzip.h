// SPDX-License-Identifier: BSD-2-Clause
/*
 * Texts that are held in memory compressed, in the form of gzip: a stream to write one with, and a
 * reader that gives it back in pieces, so that a long text is nowhere in memory as a whole.
 *
 *   FILE *out = gzip_writer(&text);
 *   fprintf(out, ...);
 *   fclose(out);               // only now is `text` complete
 *   ...
 *   gzip_text_clear(&text);
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "util/mem.h"

struct gzip_text {
	uint8_t *bytes; /* a gzip file of one member */
	size_t len, cap;
	uint64_t plain_len; /* length of the text that was written */
};
void gzip_text_clear(struct gzip_text *t);

/* A stream whose bytes go to `ret`, compressed. `ret` is emptied first. Never NULL. */
FILE *gzip_writer(struct gzip_text *ret);

struct gzip_reader;
/* Reads from the first byte of the plain text on; `t` must outlive it. Never NULL. */
struct gzip_reader *gzip_reader_new(const struct gzip_text *t);
/* The next `cap` bytes or fewer; 0: the text has ended. -EBADMSG: it is no whole gzip file. */
ssize_t gzip_reader_next(struct gzip_reader *r, void *ret, size_t cap);
struct gzip_reader *gzip_reader_free(struct gzip_reader *r); /* NULL is fine; returns NULL */
FREEP(gzip_reader_free, struct gzip_reader)
