// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary bytes as rows of a ledger, one behind the other, as a file or a manager brings them.
 * What is taken is written back as the same bytes. The rows are merged in their order and in the
 * other one: both ledgers are equal, know all of the rows, have a value in every one, and only rows
 * that can be sent.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/ledger.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

#define ROWS_MAX  64u
#define BYTES_MAX 3000u /* so that a row has fewer writers than it may have */

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_bytes(const struct ledger_row *row, const uint8_t *bytes, size_t len)
{
	_cleanup_free_ uint8_t *again = xmalloc(ledger_row_bytes(row));

	require(ledger_row_bytes(row) == len);
	ledger_row_pack(row, again);
	require(!memcmp(again, bytes, len));
}

static size_t read_rows(const uint8_t *input, size_t len, struct ledger_row *ret[ROWS_MAX])
{
	size_t n = 0;

	while (n < ROWS_MAX) {
		ssize_t taken = ledger_row_unpack(input, len, &ret[n]);

		if (taken < 0)
			break;
		check_bytes(ret[n++], input, (size_t)taken);
		input += taken;
		len -= (size_t)taken;
	}
	return n;
}

static void check_row(const struct ledger_row *row)
{
	_cleanup_free_ uint8_t *bytes = xmalloc(ledger_row_bytes(row));
	_cleanup_(ledger_row_freep) struct ledger_row *back = NULL;

	require(ledger_row_n_values(row) > 0);
	ledger_row_pack(row, bytes);
	require(ledger_row_unpack(bytes, ledger_row_bytes(row), &back) > 0);
}

/* A write of the row is in force, and stands alone. */
static void check_write(struct ledger *l, const struct ledger_row *row)
{
	struct ledger_value v = ledger_row_value(row);
	_cleanup_(ledger_row_freep) struct ledger_row *next = NULL;

	v.dot.by.instance = v.dot.by.instance ^ 1 ?: 2;
	v.dot.number = ledger_number(l, ledger_row_key(row)->table);
	if (v.dot.number++ == INT64_MAX)
		return;
	next = ledger_prepare(l, NULL, ledger_row_key(row), &v);
	require(ledger_merge(l, next) == LEDGER_OTHER);
	require(ledger_row_n_values(ledger_find(l, ledger_row_key(row))) == 1);
}

static void check_all(struct ledger *a, const struct ledger *b, struct ledger_row *const *rows,
		      size_t n)
{
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		struct ledger_digest da = ledger_digest(a, (enum ledger_table)t),
				     db = ledger_digest(b, (enum ledger_table)t);

		require(da.hash == db.hash && da.rows == db.rows);
	}
	for (size_t i = 0; i < n; i++) {
		require(!ledger_lacks(a, rows[i]));
		check_row(ledger_find(a, ledger_row_key(rows[i])));
	}
	for (size_t i = 0; i < n; i++)
		check_write(a, rows[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	_cleanup_(ledger_freep) struct ledger *a = ledger_new(), *b = ledger_new();
	struct ledger_row *rows[ROWS_MAX];
	size_t n = read_rows(input, MIN(len, BYTES_MAX), rows);

	for (size_t i = 0; i < n; i++) {
		ledger_merge(a, rows[i]);
		ledger_merge(b, rows[n - 1 - i]);
	}
	check_all(a, b, rows, n);
	for (size_t i = 0; i < n; i++)
		ledger_row_free(rows[i]);
	return 0;
}
