// SPDX-License-Identifier: BSD-2-Clause
/*
 * What rows of the ledger cost: memory of a member, time of a merge where the row is not here, and
 * where it is; with a path also the time to write, to open and to read the file.
 *
 *	bench-ledger ROWS [PATH]
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ledger/ledger.h"
#include "ledger/store.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static struct ledger_key member(uint64_t i)
{
	struct ledger_key key = { .table = LEDGER_MEMBER, .len = 10, .bytes = { 0x12, 0x34 } };

	for (unsigned b = 0; b < 8; b++)
		key.bytes[9 - b] = (uint8_t)((UINT64_C(0x0002c90300000000) + i * 16) >> 8 * b);
	return key;
}

/* Rows packed one behind the other, as a subnet of ten million changes writes them. */
static uint8_t *packed_rows(size_t n, size_t *ret_len)
{
	uint8_t *bytes = xmalloc(n * 64), *to = bytes, full = LEDGER_MEMBER_FULL;
	struct ledger *l = ledger_new();

	ledger_forget(l, LEDGER_MEMBER, 9000000);
	for (size_t i = 0; i < n; i++) {
		struct ledger_key key = member(i);
		struct ledger_value v = { .dot = { 9000001 + i, { 0x2c90300000001, 0xABCDEF12 } },
					  .at = 1795000000, .len = 1, .bytes = &full };
		struct ledger_row *row = ledger_prepare(l, NULL, &key, &v);

		ledger_row_pack(row, to);
		to += ledger_row_bytes(row);
		ledger_row_free(row);
	}
	ledger_free(l);
	*ret_len = (size_t)(to - bytes);
	return bytes;
}

static void merge_all(struct ledger *l, const uint8_t *bytes, size_t len)
{
	while (len) {
		struct ledger_row *row;
		ssize_t n = ledger_row_unpack(bytes, len, &row);

		if (n < 0)
			abort();
		ledger_merge(l, row);
		ledger_row_free(row);
		bytes += n;
		len -= (size_t)n;
	}
}

static void bench_file(const char *path, const uint8_t *bytes, size_t len)
{
	char aside[LEDGER_ASIDE_MAX];
	struct ledger *l = ledger_new();
	struct ledger_store *s;
	struct ledger_meta meta;
	double t = now();
	bool fresh;

	if (ledger_store_open(path, &s, &fresh, aside) < 0 ||
	    ledger_store_write(s, bytes, len, NULL))
		abort();
	printf("written in %.2f s\n", now() - t);
	s = ledger_store_close(s);
	t = now();
	if (ledger_store_open(path, &s, &fresh, aside) < 0)
		abort();
	printf("opened in %.2f s\n", now() - t);
	t = now();
	if (ledger_store_load(s, l, &meta) < 0)
		abort();
	printf("%zu rows read in %.2f s\n", ledger_rows(l, LEDGER_MEMBER), now() - t);
	ledger_store_close(s);
	ledger_free(l);
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000, len, before;
	uint8_t *bytes = packed_rows(n, &len);
	struct ledger *l = ledger_new();
	double t;

	before = in_use();
	t = now();
	merge_all(l, bytes, len);
	printf("%zu new rows merged: %.2f s\n", n, now() - t);
	printf("memory: %.1f bytes a row; packed: %.1f\n",
	       (double)(in_use() - before) / (double)n,
	       (double)len / (double)n);
	t = now();
	merge_all(l, bytes, len);
	printf("%zu known rows merged: %.2f s\n", n, now() - t);
	ledger_free(l);
	if (argc > 2)
		bench_file(argv[2], bytes, len);
	free(bytes);
	return 0;
}
