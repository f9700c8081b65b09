// SPDX-License-Identifier: BSD-2-Clause
/*
 * One row: its bytes, and the algebra of its states. For the files of this folder.
 *
 * A state is a floor and one entry a writer that has a number above the floor: the greatest number
 * of that writer which is known, and the value of that write if it still stands. More is not
 * needed: a state that knows a later write of a writer knows its former ones, so these stand in no
 * state that has the later one.
 *
 * A row is kept as it is packed: a state is read entry by entry, and written whole. One byte string
 * belongs to a state. The number of an entry is above the floor; at least one value stands; and the
 * greatest number of all belongs to one that stands, as a write has a greater number than all that
 * it takes away. So no merge leaves a row without a value. Where a table keeps one value, that is
 * the one with the greatest number, of equal ones that of the greatest writer.
 *
 *   row    table (1), length of the key (1), key, state
 *   state  floor, number of entries (1..255), entries in the order of their writers
 *   entry  GUID (8), instance (4), number, what: 0: known only; 1: removed; 2 + n: n bytes;
 *          unless known only: seconds since 1970; the n bytes
 *
 * Numbers without a size are of 7 bits a byte, the most significant first, all but the last with
 * the upper bit set, none longer than it must be.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/ledger.h"

#define LEDGER_ENTRIES_MAX (2 * LEDGER_WRITERS_MAX) /* entries of two rows before pruning */

struct ledger_row {
	struct ledger_key key;
	uint32_t size; /* length of `state` */
	uint8_t state[];
};

struct ledger_entry {
	struct ledger_value value; /* only its dot, if it does not stand */
	bool stands;
};

struct ledger_state {
	uint64_t floor;
	unsigned n;
	struct ledger_entry entries[LEDGER_ENTRIES_MAX]; /* their bytes belong to others */
};

int ledger_writer_compare(const struct ledger_writer *a, const struct ledger_writer *b);

/* Iterator over the entries of a row. */
struct ledger_entries {
	uint64_t floor;
	unsigned left;
	const uint8_t *at;
};
struct ledger_entries ledger_entries_of(const struct ledger_row *row);
bool ledger_entries_next(struct ledger_entries *e, struct ledger_entry *ret);

struct ledger_row *ledger_row_new(const struct ledger_key *key, const struct ledger_state *state);
/* for rows of one key */
bool ledger_row_equal(const struct ledger_row *a, const struct ledger_row *b);
uint64_t ledger_key_hash(const struct ledger_key *key);
/* A hash of key and state; of a secret row of key and dots alone, lest values be guessed. */
uint64_t ledger_row_hash(const struct ledger_row *row);

/* ---- algebra (ledger_join.c) ---- */

/* Joins two states; at most LEDGER_WRITERS_MAX entries. n is 0 only if both are empty. */
void ledger_state_join(struct ledger_state *ret, struct ledger_entries a, struct ledger_entries b,
		       enum ledger_table table);
/* Makes a state that knows all of `before`, and has this value alone. */
void ledger_state_write(struct ledger_state *ret, struct ledger_entries before,
			const struct ledger_value *value, enum ledger_table table);
