// SPDX-License-Identifier: BSD-2-Clause
/*
 * The multicast forwarding table a switch is known to hold (14.2.5.12).
 *
 * A cell is what one SMP carries: 16 ports (the position) of 32 MLIDs (the block). Knowledge of a
 * cell has three values: known; in doubt, when a Set was sent and not answered yet, or never: then
 * the masks are everything the cell may hold, old and new together; and nothing known at all. What
 * nothing is known about is taken for empty, unless the switch was forwarding before we came
 * (`inherited`): then it has to be read before it can be judged.
 *
 * Blocks exist from when something was said about them, so a switch that holds little costs little.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fabric/owners.h"
#include "util/types.h"

#define MFT_FIRST_MLID		 ((lid_t)0xC000)
#define MFT_BLOCK_MLIDS		 32u
#define MFT_POSITION_PORTS	 16u
#define MFT_MAX_POSITIONS	 16u
#define MFT_MAX_BLOCKS		 512u
/* Attribute modifier of a cell. */
#define MFT_MOD(block, position) ((uint32_t)(block) | (uint32_t)(position) << 28)
#define MFT_MOD_BLOCK(mod)	 ((mod)&0x1FFu)
#define MFT_MOD_POSITION(mod)	 ((mod) >> 28)

struct mft_cell {
	uint16_t mask[MFT_BLOCK_MLIDS]; /* bit b: port 16 * position + b */
};

struct mft_block {
	uint16_t known; /* bit per position: the cell is certain */
	/*
	 * bit per position: the masks are all that the cell may hold; matters on inherited switches
	 */
	uint16_t told;
	uint8_t n_positions; /* number of cells there is room for */
	struct mft_cell cells[];
};

/*
 * All zero: the table of a switch that holds nothing. That of a node is written through observe.h;
 * functions below that change one are for tables of the caller's own (wanted tables, a view).
 */
struct mft_have {
	struct mft_block **FACT blocks; /* n_blocks pointers; NULL: nothing is known of the block */
	FACT uint32_t n_blocks;
	FACT bool inherited; /* a cell of which no answer told may hold anything */
	FACT bool unproven; /* written since a sweep last saw that no port of the switch changed */
	FACT uint64_t edited; /* of->mft_edits when it changed last */
	OF_SYNC lid_t want_top; /* MulticastFDBTop the switch should have; 0: none is wanted */
	OF_SYNC uint32_t place;	/* its place in sync/mft, + 1; 0: none */
};

/* The number of positions of a switch with `n_ports` external ports, 1..16. */
static inline unsigned mft_positions(unsigned n_ports)
{
	return n_ports / MFT_POSITION_PORTS + 1;
}

/* Frees the blocks. */
void mft_have_clear(struct mft_have *h);
/* Frees `all` (NULL is fine) and its `n` tables. Returns NULL. */
struct mft_have *mft_haves_free(struct mft_have *all, uint32_t n);
/* Copies the table to `to`, which must be empty. */
void mft_have_copy(struct mft_have *to, const struct mft_have *from);

/* The known content of a cell; NULL: none. *ret_known: is it certain? */
const struct mft_cell *mft_have_cell(const struct mft_have *h, unsigned block, unsigned position,
				     bool *ret_known);
/* The cell to be written to, made if missing. Its block grows to `position` + 1 cells. */
struct mft_cell *mft_have_room(struct mft_have *h, unsigned block, unsigned position);
/* May the cell hold more than answers have shown? Then it has to be read. */
bool mft_have_is_untold(const struct mft_have *h, unsigned block, unsigned position);

/* Fills in the ports that may get copies of `mlid`, all positions. False: none. */
bool mft_have_row(const struct mft_have *h, lid_t mlid, uint64_t ret_mask[4]);
/* The first MLID after the last known block; MFT_FIRST_MLID if there is none. */
static inline unsigned mft_have_end(const struct mft_have *h)
{
	return MFT_FIRST_MLID + h->n_blocks * MFT_BLOCK_MLIDS;
}

/* Between wire and host order; `payload` is SMP_DATA_SIZE bytes. */
void mft_cell_get(const uint8_t *payload, struct mft_cell *ret);
void mft_cell_put(uint8_t *payload, const struct mft_cell *cell);
