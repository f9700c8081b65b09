// SPDX-License-Identifier: BSD-2-Clause
/*
 * Buffered text and numbers for the dump files. Knows no file format.
 */
#include "dump/dump_out.h"

#include <stdarg.h>

#include "util/mem.h"

#define TEXT_MAX   4096
#define DIGITS_MAX 64

struct dump_out *out_new(FILE *stream)
{
	struct dump_out *o = xmalloc(sizeof(*o));

	o->stream = stream;
	o->len = 0;
	return o;
}

struct dump_out *out_free(struct dump_out *o)
{
	if (!o)
		return NULL;
	out_flush(o);
	free(o);
	return NULL;
}

/* Bytes that cannot be written are lost, and the stream remembers the error. */
void out_flush(struct dump_out *o)
{
	if (o->len)
		fwrite(o->text, 1, o->len, o->stream);
	o->len = 0;
}

void out_printf(struct dump_out *o, const char *fmt, ...)
{
	char *at = out_room(o, TEXT_MAX);
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(at, TEXT_MAX, fmt, args);
	va_end(args);
	o->len += (size_t)MIN(MAX(n, 0), TEXT_MAX - 1);
}

void out_text(struct dump_out *o, const char *text)
{
	out_bytes(o, text, strnlen(text, TEXT_MAX));
}

/* The digits stand at the end of `text`, from `at` on. */
static void out_digits(struct dump_out *o, char *text, unsigned at, unsigned width)
{
	while (DIGITS_MAX - at < MIN(width, (unsigned)DIGITS_MAX))
		text[--at] = '0';
	out_bytes(o, text + at, DIGITS_MAX - at);
}

static void out_base16(struct dump_out *o, uint64_t v, unsigned width, const char *digits)
{
	char text[DIGITS_MAX];
	unsigned at = DIGITS_MAX;

	do {
		text[--at] = digits[v & 15];
		v >>= 4;
	} while (v);
	out_digits(o, text, at, width);
}

void out_hex(struct dump_out *o, uint64_t v, unsigned width)
{
	out_base16(o, v, width, "0123456789abcdef");
}

void out_hex_upper(struct dump_out *o, uint64_t v, unsigned width)
{
	out_base16(o, v, width, "0123456789ABCDEF");
}

void out_dec(struct dump_out *o, uint64_t v, unsigned width)
{
	char text[DIGITS_MAX];
	unsigned at = DIGITS_MAX;

	do {
		text[--at] = '0' + v % 10;
		v /= 10;
	} while (v);
	out_digits(o, text, at, width);
}
