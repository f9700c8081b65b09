// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ledger: rows that managers of one subnet share, and how two states of a row become one.
 *
 * A row is { table, key, values }. Each write has a dot: a number that is greater than every number
 * its writer had seen in that clock, and the writer. A row remembers which writes it knows (its
 * context) and the values of those that no later write of the row knew: one after a usual write,
 * several after writes that did not know each other (a subnet was split). Merging two states keeps
 * a value if both have it, or if the other one does not know its dot. So merging is commutative,
 * associative and idempotent: order, repetition and loss of messages change nothing.
 *
 * The value in force of several is chosen by the rule of the table (ledger_tables.h): the one that
 * gives less access. The next write of the row knows them all, and stands alone.
 *
 * A write is prepared, stored by the owner, and merged then: what is in a ledger is on its disk.
 *
 * Contexts are kept short when a row is written: at most LEDGER_CONTEXT_WRITERS writers, and a
 * floor: every dot with a number up to it counts as known.
 *
 * Removed rows are kept for ever, as another manager, or an old copy of its file, may have a former
 * value.
 *
 * Pure: no clock, no file, no fabric. Not here: which manager is asked, and when (sm/ledger/).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger_tables.h"
#include "util/mem.h"
#include "util/types.h"

#define LEDGER_CONTEXT_WRITERS 64u /* most writers of a row that is written */
/* most writers of a row that is merged; those with the lowest numbers are dropped */
#define LEDGER_WRITERS_MAX     255u
#define LEDGER_BUCKETS	       256u

/* One run of a manager: `instance` is drawn at random when it starts, and is never 0. */
struct ledger_writer {
	guid_t guid; /* port GUID */
	uint32_t instance;
};

struct ledger_dot {
	uint64_t number; /* from 1 */
	struct ledger_writer by;
};

struct ledger_key {
	enum ledger_table table;
	uint8_t len; /* 1..LEDGER_KEY_MAX */
	uint8_t bytes[LEDGER_KEY_MAX];
};

/* A value of a row; `bytes` belong to the row. */
struct ledger_value {
	struct ledger_dot dot;
	/* seconds since 1970 by the clock of its writer, for administrators; 0: not known */
	int64_t at;
	bool removed;
	uint32_t len; /* 0 if removed */
	const uint8_t *bytes;
};

struct ledger;
struct ledger_row;

struct ledger *ledger_new(void);
struct ledger *ledger_free(struct ledger *l); /* values of secret tables are overwritten */
FREEP(ledger_free, struct ledger)

/* ---- looking ------------------------------------------------------------------------------- */

const struct ledger_row *ledger_find(const struct ledger *l, const struct ledger_key *key);
/* The value in force; false: there is no such row, or it is removed. */
bool ledger_get(const struct ledger *l, const struct ledger_key *key, struct ledger_value *ret);
/* The value in force, also of a removed row. */
struct ledger_value ledger_row_value(const struct ledger_row *row);
const struct ledger_key *ledger_row_key(const struct ledger_row *row);
/* The greatest number in the row. */
uint64_t ledger_row_number(const struct ledger_row *row);
/* The number of values of the row; 1: no concurrent writes. */
unsigned ledger_row_n_values(const struct ledger_row *row);
/*
 * The n-th value of the row (from 0), in any order: that in force, and concurrent ones. False: no
 * more.
 */
bool ledger_row_value_at(const struct ledger_row *row, unsigned n, struct ledger_value *ret);
/*
 * The next row of a table, removed ones too; `*pos` is 0 at first. The order is fixed while nothing
 * is merged. NULL: no more.
 */
const struct ledger_row *ledger_next(const struct ledger *l, enum ledger_table table, size_t *pos);
size_t ledger_rows(const struct ledger *l, enum ledger_table table); /* removed rows included */
/* The number of rows of a table that are not removed. */
size_t ledger_rows_there(const struct ledger *l, enum ledger_table table);
/* The greatest number seen in the clock of the table (tables of one clock have one). */
uint64_t ledger_number(const struct ledger *l, enum ledger_table table);

/* ---- writing -------------------------------------------------------------------------------- */

/*
 * Makes a state of the row that knows all that `before` knows (NULL: the row of the ledger, if
 * any), with one value. `number`: greater than ledger_number() of its table, or equal to that of
 * other rows of the same change. With `removed`: NULL bytes and len 0. The caller frees.
 */
struct ledger_row *ledger_prepare(const struct ledger *l, const struct ledger_row *before,
				  const struct ledger_key *key, const struct ledger_value *value);
struct ledger_row *ledger_row_free(struct ledger_row *row);
FREEP(ledger_row_free, struct ledger_row)

enum ledger_merged {
	LEDGER_SAME,   /* all of the row was known */
	LEDGER_LEARNT, /* the row has changed, but not its value in force */
	LEDGER_OTHER,  /* another value is in force, or the same value by another writer */
};
/* Merges a copy of `row`. */
enum ledger_merged ledger_merge(struct ledger *l, const struct ledger_row *row);
/* The row as merging would make it, to be freed; NULL: all of it was known. */
struct ledger_row *ledger_joined(const struct ledger *l, const struct ledger_row *row);
/* Would merging it change the ledger? */
bool ledger_lacks(const struct ledger *l, const struct ledger_row *row);

/* ---- comparing ------------------------------------------------------------------------------ */

struct ledger_digest {
	uint64_t hash; /* equal for equal rows in any order; 0: no rows */
	uint64_t rows;
};
struct ledger_digest ledger_digest(const struct ledger *l, enum ledger_table table); /* O(1) */
/* Fills in a hash per bucket of the rows whose keys fall into it; O(1). */
void ledger_buckets(const struct ledger *l, enum ledger_table table, uint64_t ret[LEDGER_BUCKETS]);
unsigned ledger_bucket_of(const struct ledger_key *key);
/* ledger_next() for the rows of one bucket. */
const struct ledger_row *ledger_next_in(const struct ledger *l, enum ledger_table table,
					unsigned bucket, size_t *pos);

/* ---- bytes (the same on the wire and on the disk) ------------------------------------------- */

/* The packed length of a row; a usual member row has 50 bytes. */
size_t ledger_row_bytes(const struct ledger_row *row);
/* Writes the row as ledger_row_bytes() bytes. */
void ledger_row_pack(const struct ledger_row *row, uint8_t *to);
/*
 * Reads one row from the front of untrusted bytes: every length, table, key and value is checked
 * (ledger_tables.h). Returns the number of bytes read, and a row to be freed; -EBADMSG.
 */
ssize_t ledger_row_unpack(const uint8_t *from, size_t len, struct ledger_row **ret);
