// SPDX-License-Identifier: BSD-2-Clause
/*
 * Changes of nodes, ports, cables and tables, for the files of this folder. All others write
 * through the functions of observe.h, whose names say what was learnt; tests/check/calls.sh refuses
 * these functions elsewhere. Tests build fabrics with them.
 */
#pragma once

#include "fabric/fabric.h"

/* ---- nodes and cables (fabric.c) ---- */

/* Something that is shown of the node has changed. */
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

/*
 * A node from a NodeInfo payload; NULL if the payload makes no sense (zero GUID, ports out of
 * range).
 */
struct node *fabric_add_node(struct fabric *f, const uint8_t *node_info);
/*
 * Takes a node, its cables and GUIDs out and frees it. Its transactions must be cancelled before.
 */
void fabric_remove_node(struct fabric *f, struct node *n);

/* Notes the port GUID of a CA or router port. -EEXIST: it belongs to another port. */
int fabric_set_port_guid(struct fabric *f, struct port *p, guid_t guid);

void fabric_connect(struct port *a, struct port *b);
void fabric_disconnect(struct port *p);

/* ---- M_Keys (fabric.c) ---- */

/*
 * Takes over the key that info[] shows, if it can be believed (14.2.4: it is hidden, or there is
 * none).
 */
void fabric_learn_mkey(struct port *p);
/* A question was not answered: next time with the other key, if there are two. */
void fabric_doubt_mkey(struct port *p);

/* ---- forwarding tables of a switch (fabric.c, mft.c) ---- */

void lft_have_set(struct lft_have *lft, uint32_t block, const uint8_t *entries);
/* The same, by a Set: it stays unproven until lft_have_prove(). */
void lft_have_written(struct lft_have *lft, uint32_t block, const uint8_t *entries);
void lft_have_prove(struct lft_have *lft);
void lft_have_forget(struct lft_have *lft, uint32_t block);
void lft_have_forget_all(struct lft_have *lft);

/* A switch said what the cell holds. */
void mft_have_set(struct mft_have *h, unsigned block, unsigned position,
		  const struct mft_cell *cell);
/* The same, as the answer to a Set: it stays unproven until node_prove_tables(). */
void mft_have_written(struct mft_have *h, unsigned block, unsigned position,
		      const struct mft_cell *cell);
/* `cell` is on its way: now it may hold what it held or that. */
void mft_have_doubt(struct mft_have *h, unsigned block, unsigned position,
		    const struct mft_cell *cell);
/* The cell cannot be read: what is known is taken for all it may hold. */
void mft_have_assume(struct mft_have *h, unsigned block, unsigned position);
/* Rebooted, or written by another manager: nothing is known, all has to be read first. */
void mft_have_forget_all(struct mft_have *h);

/* The forwarding tables of a switch are unknown. */
void node_forget_tables(struct node *n);
/* Sets of its forwarding tables went to this switch: they are proven. */
void node_prove_tables(struct node *n);

/* ---- tables of a port (cells.c) ---- */

/* A device said what block 0..65534 holds. Makes or enlarges *t. */
void cell_table_set(struct cells *c, struct cell_table **t, unsigned block,
		    const uint8_t payload[SMP_DATA_SIZE]);
void cell_table_forget(struct cells *c, struct cell_table *t, unsigned block);
/*
 * A Set of a block that there is room for, and of which none is on the wire, leaves; and has
 * ended.
 */
void cell_table_send(struct cell_table *t, unsigned block);
void cell_table_back(struct cell_table *t, unsigned block);
/* Blocks 0..n-1 at once, which are not waited for: they may be written. Makes room. */
void cell_table_send_many(struct cell_table **t, unsigned n);
/*
 * Nothing known, no memory of Sets: *t is freed and NULL, unless some Set is on the wire: that one
 * is still waited for, and what it wrote is unproven.
 */
void cell_table_clear(struct cells *c, struct cell_table **t);
/* The same whatever is on the wire. */
void cell_table_free(struct cells *c, struct cell_table **t);
/* Room for blocks 0..n-1, so that what became of a Set can be noted. 1..65535. */
void cell_table_grow(struct cell_table **t, unsigned n);

/* ---- all tables of a port (port_tables.c) ---- */

/*
 * A device said what a block holds. True: that is what was known already, or the port has no such
 * block.
 */
bool fabric_observe_cell(struct fabric *f, struct port *p, enum port_table table, unsigned block,
			 const uint8_t *payload);
/* Nothing is known any more of the tables of a port: it trained anew, or another wrote. */
void fabric_forget_cells(struct fabric *f, struct port *p);
void fabric_prove_cells(struct port *p);
