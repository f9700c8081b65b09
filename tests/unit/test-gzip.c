// SPDX-License-Identifier: BSD-2-Clause
/* Texts held compressed: they come back as they were, in pieces of any size. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "metrics/gzip.h"
#include "util/mem.h"

#define LINES 20000u

static void write_lines(struct gzip_text *ret, unsigned n)
{
	FILE *out = gzip_writer(ret);

	for (unsigned i = 0; i < n; i++)
		fprintf(out, "opensm_x{port=\"%u\"} %u\n", i % 41, i * 2654435761u);
	fclose(out);
}

static char *lines(unsigned n, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	for (unsigned i = 0; i < n; i++)
		fprintf(out, "opensm_x{port=\"%u\"} %u\n", i % 41, i * 2654435761u);
	fclose(out);
	return text;
}

static void reads_as(const struct gzip_text *t, const char *text, size_t len, size_t piece)
{
	_cleanup_(gzip_reader_freep) struct gzip_reader *r = gzip_reader_new(t);
	_cleanup_free_ char *got = xmalloc(piece);
	size_t at = 0;
	ssize_t n;

	while ((n = gzip_reader_next(r, got, piece)) > 0) {
		assert_true(at + (size_t)n <= len);
		assert_memory_equal(got, text + at, (size_t)n);
		at += (size_t)n;
	}
	assert_int_equal(n, 0);
	assert_int_equal(at, len);
	assert_int_equal(gzip_reader_next(r, got, piece), 0);
}

static void a_text_comes_back(void **state)
{
	static const size_t pieces[] = { 1, 7, 4096, 1 << 20 };
	static const unsigned lengths[] = { 0, 1, 100, LINES };
	struct gzip_text t = { 0 };

	for (unsigned i = 0; i < ARRAY_SIZE(lengths); i++) {
		_cleanup_free_ char *text = NULL;
		size_t len;

		text = lines(lengths[i], &len);
		write_lines(&t, lengths[i]);
		assert_int_equal(t.plain_len, len);
		assert_true(len < 1000 || t.len < len / 2);
		assert_int_equal(t.bytes[0], 0x1F); /* RFC 1952, 2.3.1 */
		assert_int_equal(t.bytes[1], 0x8B);
		for (unsigned k = 0; k < ARRAY_SIZE(pieces); k++)
			reads_as(&t, text, len, pieces[k]);
	}
	gzip_text_clear(&t);
	assert_null(t.bytes);
}

static void half_a_file_is_no_text(void **state)
{
	struct gzip_reader *r;
	struct gzip_text t = { 0 };
	char got[65536];
	ssize_t n;

	write_lines(&t, 100);
	t.len -= 5;
	r = gzip_reader_new(&t);
	while ((n = gzip_reader_next(r, got, sizeof(got))) > 0)
		;
	assert_int_equal(n, -EBADMSG);
	gzip_reader_free(r);
	t.bytes[0] = 'x';
	r = gzip_reader_new(&t);
	assert_int_equal(gzip_reader_next(r, got, sizeof(got)), -EBADMSG);
	gzip_reader_free(r);
	gzip_text_clear(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_comes_back),
		cmocka_unit_test(half_a_file_is_no_text),
	};

	return cmocka_run_group_tests_name("gzip", tests, NULL, NULL);
}
