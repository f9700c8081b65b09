// SPDX-License-Identifier: BSD-2-Clause
/*
 * Output of hundreds of millions of lines: a buffer in front of a stream, and numbers without
 * printf.
 *
 * Errors stay in the stream (ferror) until its owner asks for them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

struct dump_out {
	FILE *stream;
	size_t len;
	char text[64 * 1024];
};

struct dump_out *out_new(FILE *stream);
/* Flushes into the stream, which stays open. NULL is fine; returns NULL. */
struct dump_out *out_free(struct dump_out *o);
FREEP(out_free, struct dump_out)

void out_flush(struct dump_out *o);

/* Room for `n` <= 4096 bytes; the writer adds what it used to o->len. */
static inline char *out_room(struct dump_out *o, size_t n)
{
	if (o->len + n > sizeof(o->text))
		out_flush(o);
	return o->text + o->len;
}

static inline void out_bytes(struct dump_out *o, const char *text, size_t n)
{
	memcpy(out_room(o, n), text, n);
	o->len += n;
}

/* Writes a literal, whose length is known. */
#define out_lit(o, literal) out_bytes((o), "" literal, sizeof(literal) - 1)

/* Writes as printf() does, at most 4095 bytes: for text that is written once per switch or port. */
void out_printf(struct dump_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes at most 4096 bytes of `text`. */
void out_text(struct dump_out *o, const char *text);

/* Write at least `width` digits, with leading zeros. */
void out_hex(struct dump_out *o, uint64_t v, unsigned width);       /* %0*x */
void out_hex_upper(struct dump_out *o, uint64_t v, unsigned width); /* %0*X */
void out_dec(struct dump_out *o, uint64_t v, unsigned width);       /* %0*u */
