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

#define LEDGER_CONTEXT_WRITERS 64u  /* of a row that is written */
#define LEDGER_WRITERS_MAX     255u /* of a row that is merged; those with the least numbers go */
#define LEDGER_BUCKETS	       256u

/* One run of a manager: `instance` is drawn at random when it starts, and is never 0. */
struct ledger_writer {
	guid_t guid; /* of its port */
	uint32_t instance;
};

struct ledger_dot {
	uint64_t number; /* 1 and up */
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
	int64_t at; /* seconds since 1970 as its writer's clock had it, for people; 0: not known */
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
/* The value in force; false: the row is not there, or removed. */
bool ledger_get(const struct ledger *l, const struct ledger_key *key, struct ledger_value *ret);
/* Also one that is removed. */
struct ledger_value ledger_row_value(const struct ledger_row *row);
const struct ledger_key *ledger_row_key(const struct ledger_row *row);
/* The greatest in it. */
uint64_t ledger_row_number(const struct ledger_row *row);
/* 1: no write of it stands beside another. */
unsigned ledger_row_n_values(const struct ledger_row *row);
/*
 * The n-th (from 0) of the values that stand: that in force, and those that its writer did not
 * know, in any order. False: there are no more.
 */
bool ledger_row_value_at(const struct ledger_row *row, unsigned n, struct ledger_value *ret);
/*
 * Rows of a table, removed ones too, in any order that is fixed while nothing is merged; `*pos`: 0
 * at first.
 */
const struct ledger_row *ledger_next(const struct ledger *l, enum ledger_table table, size_t *pos);
size_t ledger_rows(const struct ledger *l, enum ledger_table table); /* removed ones too */
size_t ledger_rows_there(const struct ledger *l, enum ledger_table table); /* not removed */
/* The greatest number seen in the clock of the table (tables of one clock have one). */
uint64_t ledger_number(const struct ledger *l, enum ledger_table table);

/* ---- writing -------------------------------------------------------------------------------- */

/*
 * A state of the row that knows all that `before` knows (NULL: the row of the ledger, if there is
 * one), with one value. `number`: greater than ledger_number() of its table, or equal to that of
 * other rows of the same change. NULL bytes and len 0 with `removed`. The caller frees.
 */
struct ledger_row *ledger_prepare(const struct ledger *l, const struct ledger_row *before,
				  const struct ledger_key *key, const struct ledger_value *value);
struct ledger_row *ledger_row_free(struct ledger_row *row);
FREEP(ledger_row_free, struct ledger_row)

enum ledger_merged {
	LEDGER_SAME,   /* all of it was known */
	LEDGER_LEARNT, /* the row is another one, and its value in force is the same */
	LEDGER_OTHER,  /* another value is in force (or another writer's dot of the same value) */
};
/* Takes nothing over: `row` is copied. */
enum ledger_merged ledger_merge(struct ledger *l, const struct ledger_row *row);
/* What merging it would make of the row: to be freed. NULL: all of it was known. */
struct ledger_row *ledger_joined(const struct ledger *l, const struct ledger_row *row);
/* Would merging it change the ledger? */
bool ledger_lacks(const struct ledger *l, const struct ledger_row *row);

/* ---- comparing ------------------------------------------------------------------------------ */

struct ledger_digest {
	uint64_t hash; /* equal for equal rows, whatever their order; 0 without any */
	uint64_t rows;
};
struct ledger_digest ledger_digest(const struct ledger *l, enum ledger_table table); /* O(1) */
/* Of the rows whose keys fall into each of the buckets; O(1). */
void ledger_buckets(const struct ledger *l, enum ledger_table table, uint64_t ret[LEDGER_BUCKETS]);
unsigned ledger_bucket_of(const struct ledger_key *key);
/* Rows of one bucket; as ledger_next(). */
const struct ledger_row *ledger_next_in(const struct ledger *l, enum ledger_table table,
					unsigned bucket, size_t *pos);

/* ---- bytes (the same on the wire and on the disk) ------------------------------------------- */

/* At most this many; of a usual member row 50. */
size_t ledger_row_bytes(const struct ledger_row *row);
/* Writes ledger_row_bytes(). */
void ledger_row_pack(const struct ledger_row *row, uint8_t *to);
/*
 * Reads one row from the front of bytes that may come from anywhere: every length, table, key and
 * value is judged (ledger_tables.h). Returns the bytes taken, and a row to be freed; -EBADMSG.
 */
ssize_t ledger_row_unpack(const uint8_t *from, size_t len, struct ledger_row **ret);
