// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages between managers as bytes, numbers in network order. A message may come from a faulty
 * manager, so every length and number is checked.
 */
#include <assert.h>
#include <string.h>

#include "sm/ledger/settle_internal.h"
#include "util/mem.h"

static uint8_t *put64(uint8_t *to, uint64_t number)
{
	for (unsigned i = 0; i < 8; i++)
		to[i] = (uint8_t)(number >> 8 * (7 - i));
	return to + 8;
}

static uint64_t get64(const uint8_t *from)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < 8; i++)
		number = number << 8 | from[i];
	return number;
}

void digests_pack(const struct settle_digests *d, uint8_t to[DIGESTS_BYTES])
{
	uint8_t *at = to;

	*at++ = MESSAGE_DIGESTS;
	at = put64(at, d->term);
	for (unsigned i = 0; i < 4; i++)
		*at++ = (uint8_t)(d->tables >> 8 * (3 - i));
	*at++ = (uint8_t)d->state;
	*at++ = (uint8_t)(d->is_founded | d->has_doubts << 1 | d->is_stored << 2);
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		at = put64(at, d->of[t].hash);
		at = put64(at, d->of[t].rows);
	}
	assert(at == to + DIGESTS_BYTES);
}

bool digests_read(const uint8_t *from, size_t len, struct settle_digests *ret)
{
	size_t n = len < DIGESTS_HEAD ? 0 : (len - DIGESTS_HEAD) / DIGEST_BYTES;
	const uint8_t *at;

	if (!n || len != DIGESTS_HEAD + n * DIGEST_BYTES || from[0] != MESSAGE_DIGESTS ||
	    from[13] > SETTLE_KEEPING || from[14] > 7)
		return false;
	ret->term = get64(from + 1);
	n = MIN(n, LEDGER_TABLES);
	ret->tables = (uint32_t)(get64(from + 5)) & ((1u << n) - 1);
	ret->state = from[13];
	ret->is_founded = from[14] & 1;
	ret->has_doubts = from[14] >> 1 & 1;
	ret->is_stored = from[14] >> 2;
	at = from + DIGESTS_HEAD;
	for (size_t t = 0; t < n; t++, at += DIGEST_BYTES)
		ret->of[t] = (struct ledger_digest){ get64(at), get64(at + 8) };
	return true;
}

void buckets_pack(const struct settle_end *question, const uint64_t buckets[LEDGER_BUCKETS],
		  uint8_t to[BUCKETS_BYTES])
{
	uint8_t *at = to;

	*at++ = MESSAGE_BUCKETS;
	*at++ = (uint8_t)question->table;
	*at++ = question->round;
	for (unsigned i = 0; i < LEDGER_BUCKETS; i++)
		at = put64(at, buckets[i]);
}

bool buckets_read(const uint8_t *from, size_t len, struct settle_end *ret_question,
		  uint64_t ret[LEDGER_BUCKETS])
{
	if (len != BUCKETS_BYTES || from[0] != MESSAGE_BUCKETS || from[1] >= LEDGER_TABLES)
		return false;
	*ret_question = (struct settle_end){ from[1], from[2] };
	for (unsigned i = 0; i < LEDGER_BUCKETS; i++)
		ret[i] = get64(from + 3 + 8 * i);
	return true;
}

void rows_head_pack(const struct settle_end *end, uint8_t to[ROWS_HEAD])
{
	to[0] = MESSAGE_ROWS;
	to[1] = (uint8_t)end->table;
	to[2] = end->round;
}

void words_rows_free(struct ledger_row **rows, size_t n)
{
	while (n)
		ledger_row_free(rows[--n]);
	free(rows);
}

struct ledger_row **rows_read(const uint8_t *from, size_t len, struct settle_end *ret_end,
			      size_t *ret_n)
{
	struct ledger_row **rows = xcalloc(1, sizeof(struct ledger_row *)), *row;
	size_t n = 0, cap = 1, at = ROWS_HEAD;
	bool is_fine = len >= ROWS_HEAD && from[0] == MESSAGE_ROWS && from[1] <= ROWS_END_NONE;

	while (is_fine && at < len) {
		ssize_t taken = ledger_row_unpack(from + at, len - at, &row);

		is_fine = taken > 0;
		if (!is_fine)
			break;
		APPEND(rows, n, cap) = row;
		at += (size_t)taken;
	}
	if (!is_fine) {
		words_rows_free(rows, n);
		return NULL;
	}
	*ret_end = (struct settle_end){ from[1], from[2] };
	*ret_n = n;
	return rows;
}
