// SPDX-License-Identifier: BSD-2-Clause
/*
 * Changes of nodes, ports, cables and tables, for the files of this folder. All others write
 * through the functions of observe.h, whose names say what was learnt; tests/check/calls.sh refuses
 * these functions elsewhere. Tests build fabrics with them.
 */
#pragma once

#include "fabric/fabric.h"

/* ---- nodes and cables (fabric.c) ---- */

/* Notes a change of what is shown of the node. */
static inline void fabric_edited(struct node *n)
{
	if (n->of)
		n->edited = ++n->of->edits;
}

static inline void fabric_mft_edited(struct node *n)
{
	if (n->of)
		n->mft.edited = ++n->of->mft_edits;
}

/* Makes a node from a NodeInfo payload; NULL: invalid payload (zero GUID, ports out of range). */
struct node *fabric_add_node(struct fabric *f, const uint8_t *node_info);
/* Removes a node, its cables and GUIDs, and frees it. Its transactions must be cancelled before. */
void fabric_remove_node(struct fabric *f, struct node *n);

/* Sets the port GUID of a CA or router port. Returns 0; -EEXIST: it belongs to another port. */
int fabric_set_port_guid(struct fabric *f, struct port *p, guid_t guid);

void fabric_connect(struct port *a, struct port *b);
void fabric_disconnect(struct port *p);

/* ---- M_Keys (fabric.c) ---- */

/* Takes over the M_Key that info[] shows, if it is credible (14.2.4: it may be hidden, or none). */
void fabric_learn_mkey(struct port *p);
/* A request was not answered: the next one uses the other key, if there are two. */
void fabric_doubt_mkey(struct port *p);

/* ---- forwarding tables of a switch (fabric.c, mft.c) ---- */

void lft_have_set(struct lft_have *lft, uint32_t block, const uint8_t *entries);
/* lft_have_set() by a Set: the block stays unproven until lft_have_prove(). */
void lft_have_written(struct lft_have *lft, uint32_t block, const uint8_t *entries);
void lft_have_prove(struct lft_have *lft);
void lft_have_forget(struct lft_have *lft, uint32_t block);
void lft_have_forget_all(struct lft_have *lft);

/* A switch has shown the content of the cell. */
void mft_have_set(struct mft_have *h, unsigned block, unsigned position,
		  const struct mft_cell *cell);
/* mft_have_set() by the answer to a Set: unproven until node_prove_tables(). */
void mft_have_written(struct mft_have *h, unsigned block, unsigned position,
		      const struct mft_cell *cell);
/* A Set of `cell` is under way: the cell may hold the old content or the new one. */
void mft_have_doubt(struct mft_have *h, unsigned block, unsigned position,
		    const struct mft_cell *cell);
/* The cell cannot be read: its known content is assumed to be all. */
void mft_have_assume(struct mft_have *h, unsigned block, unsigned position);
/* The switch rebooted, or another manager wrote: nothing is known, and all has to be read. */
void mft_have_forget_all(struct mft_have *h);

/* Makes the forwarding tables of a switch unknown. */
void node_forget_tables(struct node *n);
/* Marks the forwarding tables as proven: its Sets went to this switch. */
void node_prove_tables(struct node *n);

/* ---- tables of a port (cells.c) ---- */

/* A device has shown the content of a block, 0..65534. Makes or enlarges *t. */
void cell_table_set(struct cells *c, struct cell_table **t, unsigned block,
		    const uint8_t payload[SMP_DATA_SIZE]);
void cell_table_forget(struct cells *c, struct cell_table *t, unsigned block);
/*
 * A Set of a block leaves; it has ended. There must be room for the block, and no other Set of it.
 */
void cell_table_send(struct cell_table *t, unsigned block);
void cell_table_back(struct cell_table *t, unsigned block);
/* Sets of blocks 0..n-1 leave at once, which are not waited for. Makes room. */
void cell_table_send_many(struct cell_table **t, unsigned n);
/*
 * Forgets all blocks and Sets: frees *t and sets it to NULL, unless a Set is under way, which is
 * waited for and leaves its block unproven.
 */
void cell_table_clear(struct cells *c, struct cell_table **t);
/* cell_table_clear(), even if a Set is under way. */
void cell_table_free(struct cells *c, struct cell_table **t);
/* Makes room for blocks 0..n-1, so that the end of a Set can be noted. n: 1..65535. */
void cell_table_grow(struct cell_table **t, unsigned n);

/* ---- all tables of a port (port_tables.c) ---- */

/*
 * A device has shown the content of a block. True: it was known to be that, or the port has no such
 * block.
 */
bool fabric_observe_cell(struct fabric *f, struct port *p, enum port_table table, unsigned block,
			 const uint8_t *payload);
/* Makes all tables of a port unknown: it trained anew, or another manager wrote. */
void fabric_forget_cells(struct fabric *f, struct port *p);
void fabric_prove_cells(struct port *p);
