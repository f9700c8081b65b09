// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cells: what one SMP carries, 64 bytes, kept once per distinct content and named by a 32-bit id.
 *
 * A fabric of many ports holds few distinct P_Key blocks; so a port keeps ids, and only if
 * something is known of it. Id 0 is "unknown". Ids are counted references: a holder gives it
 * back.
 *
 * Not for forwarding tables (flat arrays, fabric.h, mft.h), and not for what a cell means.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/owners.h"
#include "ib/attrs.h"

typedef uint32_t cell_id;
#define CELL_UNKNOWN ((cell_id)0)

/*
 * Most distinct contents at a time, 64 MB. Devices make them up at will; further contents stay
 * unknown.
 */
#define CELLS_MAX (1u << 20)

struct cells;

struct cells *cells_new(void);
struct cells *cells_free(struct cells *c);

/* The id of this content, with one more reference. CELL_UNKNOWN: CELLS_MAX are in use. */
cell_id cells_put(struct cells *c, const uint8_t payload[SMP_DATA_SIZE]);
/* Returns a reference; CELL_UNKNOWN is fine. An id without references may be reused. */
void cells_unref(struct cells *c, cell_id id);
/* SMP_DATA_SIZE bytes, valid as long as a reference is held; NULL for CELL_UNKNOWN. */
const uint8_t *cells_get(const struct cells *c, cell_id id);
/* The number of distinct contents held now. */
size_t cells_count(const struct cells *c);

/* The blocks of one table of one port; a NULL pointer means that none is known. */
struct cell_table {
	FACT uint16_t n;     /* blocks that have[] has room for */
	FACT uint16_t n_out; /* Sets under way; at most one per block */
	/* set if written since a sweep last saw that the port had not changed */
	FACT bool unproven;
	/* Counters, zero in a table of which nothing is known. */
	OF_SYNC uint8_t tries;	    /* failed Sets in a row that count (sync/rows.c) */
	OF_SYNC uint8_t unanswered; /* times in a row that others had to wait for this port */
	/*
	 * Unanswered audits of this table in a row, and the number of next audits that are left out
	 * for that (sm/read/audit.c).
	 */
	OF_READ uint8_t unread, rest;
	/* Audits that found it changed, with the last one's block and bits of its turn. */
	OF_READ uint8_t disproved_in;
	OF_READ uint16_t disproofs, disproved;
	/* hash of values that the device did not keep, which are not written again; 0: none */
	OF_SYNC uint32_t given_up;
	FACT uint32_t have[]; /* cell_id, and CELL_OUT while a Set of the block is on the wire */
};
#define CELL_OUT 0x80000000u

/* The id of the known content of a block; CELL_UNKNOWN. */
static inline cell_id cell_table_id(const struct cell_table *t, unsigned block)
{
	return t && block < t->n ? t->have[block] & ~CELL_OUT : CELL_UNKNOWN;
}
/* Is a Set of the block under way? */
static inline bool cell_table_is_out(const struct cell_table *t, unsigned block)
{
	return t && block < t->n && t->have[block] & CELL_OUT;
}
/* The known content of a block, SMP_DATA_SIZE bytes; NULL: unknown. */
const uint8_t *cell_table_get(const struct cells *c, const struct cell_table *t, unsigned block);
