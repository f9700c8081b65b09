// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages between managers as bytes: numbers with the most significant byte first. What arrives
 * may come from a manager with a fault, so every length and number is judged.
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
	*at++ = (uint8_t)(d->is_founded | d->has_doubts << 1);
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		at = put64(at, d->of[t].hash);
		at = put64(at, d->of[t].rows);
		at = put64(at, d->of[t].forgotten);
	}
	assert(at == to + DIGESTS_BYTES);
}

bool digests_read(const uint8_t *from, size_t len, struct settle_digests *ret)
{
	const uint8_t *at = from + 15;

	if (len != DIGESTS_BYTES || from[0] != MESSAGE_DIGESTS || from[13] > SETTLE_KEEPING ||
	    from[14] > 3)
		return false;
	ret->term = get64(from + 1);
	ret->tables = (uint32_t)(get64(from + 5)) & ((1u << LEDGER_TABLES) - 1);
	ret->state = from[13];
	ret->is_founded = from[14] & 1;
	ret->has_doubts = from[14] >> 1;
	for (unsigned t = 0; t < LEDGER_TABLES; t++, at += 24)
		ret->of[t] = (struct ledger_digest){ get64(at), get64(at + 8), get64(at + 16) };
	return true;
}

void buckets_pack(enum ledger_table t, const uint64_t buckets[LEDGER_BUCKETS],
		  uint8_t to[BUCKETS_BYTES])
{
	uint8_t *at = to;

	*at++ = MESSAGE_BUCKETS;
	*at++ = (uint8_t)t;
	for (unsigned i = 0; i < LEDGER_BUCKETS; i++)
		at = put64(at, buckets[i]);
}

bool buckets_read(const uint8_t *from, size_t len, enum ledger_table *ret_table,
		  uint64_t ret[LEDGER_BUCKETS])
{
	if (len != BUCKETS_BYTES || from[0] != MESSAGE_BUCKETS || from[1] >= LEDGER_TABLES)
		return false;
	*ret_table = from[1];
	for (unsigned i = 0; i < LEDGER_BUCKETS; i++)
		ret[i] = get64(from + 2 + 8 * i);
	return true;
}

struct ledger_row **rows_read(const uint8_t *from, size_t len, enum ledger_table *ret_end,
			      size_t *ret_n)
{
	struct ledger_row **rows = xcalloc(1, sizeof(struct ledger_row *)), *row;
	size_t n = 0, cap = 1, at = 2;
	ssize_t taken = 0;

	if (len < 2 || from[0] != MESSAGE_ROWS || from[1] > ROWS_END_NONE)
		goto bad;
	for (; at < len; at += (size_t)taken) {
		taken = ledger_row_unpack(from + at, len - at, &row);
		if (taken < 0)
			goto bad;
		APPEND(rows, n, cap) = row;
	}
	*ret_end = from[1];
	*ret_n = n;
	return rows;
bad:
	while (n)
		ledger_row_free(rows[--n]);
	free(rows);
	return NULL;
}
