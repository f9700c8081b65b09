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
	/* Counted by sync/ and by audits (sm/read/light.c); cell_table_clear() begins anew. */
	uint8_t tries;	    /* Sets in a row that failed in a way that counts (sync/rows.c) */
	uint8_t unanswered; /* times in a row that others had to wait for this port */
	uint8_t disproofs;  /* audits in a row that found it changed */
	uint32_t given_up; /* hash of the values that were not kept: not written again; 0 none */
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
/* A device said what block 0..65534 holds. Makes or enlarges *t. */
void cell_table_set(struct cells *c, struct cell_table **t, unsigned block,
		    const uint8_t payload[SMP_DATA_SIZE]);
void cell_table_forget(struct cells *c, struct cell_table *t, unsigned block);
/*
 * A Set of a block that there is room for, and of which none is on the wire, leaves; and has
 * ended.
 */
void cell_table_send(struct cell_table *t, unsigned block);
/* The same of blocks 0..n-1 at once, which are not waited for: they may be written. Makes room. */
void cell_table_send_many(struct cell_table **t, unsigned n);
void cell_table_back(struct cell_table *t, unsigned block);
/*
 * Nothing known, no memory of Sets: *t is freed and NULL, unless some Set is on the wire: that one
 * is still waited for, and what it wrote is unproven.
 */
void cell_table_clear(struct cells *c, struct cell_table **t);
/* The same whatever is on the wire. */
void cell_table_free(struct cells *c, struct cell_table **t);
/* Room for blocks 0..n-1, so that what became of a Set can be noted. 1..65535. */
void cell_table_grow(struct cell_table **t, unsigned n);
