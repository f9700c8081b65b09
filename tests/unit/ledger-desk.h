// SPDX-License-Identifier: BSD-2-Clause
/* Rows for tests of opensm/ledger/: members and others from few numbers, and their states. */
#pragma once

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/ledger.h"

#define FULL	LEDGER_MEMBER_FULL
#define LIMITED 0
#define REMOVED 0x80 /* of a helper here: no value */

static inline struct ledger_key table_key(enum ledger_table table, uint64_t n)
{
	struct ledger_key key = { .table = table, .len = ledger_table(table)->key_min };

	for (unsigned i = 0; i < key.len && i < 8; i++)
		key.bytes[key.len - 1 - i] = (uint8_t)(n >> 8 * i);
	if (table == LEDGER_CONFIG) {
		key.len = 5;
		memcpy(key.bytes, "cong0", 5);
		key.bytes[4] = (uint8_t)('0' + n % 64);
	}
	return key;
}

static inline struct ledger_key member_key(uint64_t guid)
{
	struct ledger_key key = table_key(LEDGER_MEMBER, guid);

	key.bytes[0] = 0x12;
	key.bytes[1] = 0x34;
	return key;
}

static inline struct ledger_dot dot(uint64_t number, guid_t guid)
{
	return (struct ledger_dot){ number, { guid, 7 } };
}

static inline struct ledger_value value_of(struct ledger_dot d, const void *bytes, uint32_t len)
{
	return (struct ledger_value){ .dot = d, .at = 1795000000, .len = len, .bytes = bytes };
}

static inline struct ledger_value removed_at(struct ledger_dot d)
{
	return (struct ledger_value){ .dot = d, .at = 1795000000, .removed = true };
}

/* `what`: FULL, LIMITED or REMOVED. */
static inline struct ledger_value member(struct ledger_dot d, unsigned what)
{
	static const uint8_t bytes[] = { 0, 1, 2, 3 };

	assert(what == REMOVED || what < sizeof(bytes));
	return what == REMOVED ? removed_at(d) : value_of(d, &bytes[what], 1);
}

/* What a write of the ledger comes to, not merged yet. */
static inline struct ledger_row *written(const struct ledger *l, struct ledger_key key,
					 struct ledger_value v)
{
	return ledger_prepare(l, NULL, &key, &v);
}

static inline enum ledger_merged merge_free(struct ledger *l, struct ledger_row *row)
{
	enum ledger_merged merged = ledger_merge(l, row);

	ledger_row_free(row);
	return merged;
}

static inline enum ledger_merged write_row(struct ledger *l, struct ledger_key key,
					   struct ledger_value v)
{
	return merge_free(l, written(l, key, v));
}

/* FULL, LIMITED or REMOVED as it is in force; -1: there is no row. */
static inline int member_in(const struct ledger *l, uint64_t guid)
{
	struct ledger_key key = member_key(guid);
	const struct ledger_row *row = ledger_find(l, &key);
	struct ledger_value v;

	if (!row)
		return -1;
	v = ledger_row_value(row);
	return v.removed ? REMOVED : v.bytes[0];
}

/* All rows of `from`, removed ones too, into `to`. */
static inline void merge_all(struct ledger *to, const struct ledger *from)
{
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		const struct ledger_row *row;
		size_t pos = 0;

		while ((row = ledger_next(from, (enum ledger_table)t, &pos)))
			ledger_merge(to, row);
	}
}

/* To be freed. */
static inline uint8_t *packed(const struct ledger_row *row, size_t *ret_len)
{
	uint8_t *bytes = xmalloc(ledger_row_bytes(row));

	*ret_len = ledger_row_bytes(row);
	ledger_row_pack(row, bytes);
	return bytes;
}
