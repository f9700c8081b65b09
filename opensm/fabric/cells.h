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
 * Distinct contents at a time: 64 MB. Devices make them up at will; beyond that they stay unknown.
 */
#define CELLS_MAX (1u << 20)

struct cells;

struct cells *cells_new(void);
struct cells *cells_free(struct cells *c);

/* The id of this content, with one more reference. CELL_UNKNOWN: CELLS_MAX are in use. */
cell_id cells_put(struct cells *c, const uint8_t payload[SMP_DATA_SIZE]);
/* Gives a reference back; CELL_UNKNOWN is fine. Without references an id may be given anew. */
void cells_unref(struct cells *c, cell_id id);
/* SMP_DATA_SIZE bytes, valid as long as a reference is held; NULL for CELL_UNKNOWN. */
const uint8_t *cells_get(const struct cells *c, cell_id id);
/* Distinct contents held now. */
size_t cells_count(const struct cells *c);

/* The blocks of one table of one port. NULL: nothing is known of any. */
struct cell_table {
	FACT uint16_t n;     /* blocks there is room for in have[] */
	FACT uint16_t n_out; /* Sets on the wire; at most one of a block */
	FACT bool unproven; /* written since a sweep last saw that the port had not changed */
	/* Counts; a table of which nothing is known any more has none. */
	OF_SYNC uint8_t tries;	    /* Sets in a row that failed and count (sync/rows.c) */
	OF_SYNC uint8_t unanswered; /* times in a row that others had to wait for this port */
	/*
	 * How often in a row the device did not answer an audit of this table, and how many of the
	 * next audits are left out for that (sm/read/audit.c)
	 */
	OF_READ uint8_t unread, rest;
	/* those that found it changed, the block of the last one, and bits of its turn */
	OF_READ uint8_t disproved_in;
	OF_READ uint16_t disproofs, disproved;
	OF_SYNC uint32_t given_up;  /* hash of values not kept: not written again; 0 none */
	FACT uint32_t have[]; /* cell_id, and CELL_OUT while a Set of the block is on the wire */
};
#define CELL_OUT 0x80000000u

/* The content of a block as known; CELL_UNKNOWN. */
static inline cell_id cell_table_id(const struct cell_table *t, unsigned block)
{
	return t && block < t->n ? t->have[block] & ~CELL_OUT : CELL_UNKNOWN;
}
/* Is a Set of the block on the wire? */
static inline bool cell_table_is_out(const struct cell_table *t, unsigned block)
{
	return t && block < t->n && t->have[block] & CELL_OUT;
}
/* The content of a block as known, or NULL. */
const uint8_t *cell_table_get(const struct cells *c, const struct cell_table *t, unsigned block);
