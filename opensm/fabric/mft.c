// SPDX-License-Identifier: BSD-2-Clause
/* The known content of a switch's multicast table. Knows no trees and sends nothing. */
#include "fabric/fabric_internal.h"

#include <string.h>

#include "ib/layout.h"
#include "util/mem.h"

void mft_have_clear(struct mft_have *h)
{
	for (uint32_t i = 0; i < h->n_blocks; i++)
		free(h->blocks[i]);
	free(h->blocks);
	h->blocks = NULL;
	h->n_blocks = 0;
}

struct mft_have *mft_haves_free(struct mft_have *all, uint32_t n)
{
	for (uint32_t i = 0; all && i < n; i++)
		mft_have_clear(&all[i]);
	free(all);
	return NULL;
}

void mft_have_copy(struct mft_have *to, const struct mft_have *from)
{
	if (!from->n_blocks)
		return;
	to->blocks = xcalloc(from->n_blocks, sizeof(*to->blocks));
	to->n_blocks = from->n_blocks;
	for (uint32_t i = 0; i < from->n_blocks; i++) {
		const struct mft_block *b = from->blocks[i];

		if (b)
			to->blocks[i] =
				xmemdup(b, sizeof(*b) + b->n_positions * sizeof(b->cells[0]));
	}
}

const struct mft_cell *mft_have_cell(const struct mft_have *h, unsigned block, unsigned position,
				     bool *ret_known)
{
	const struct mft_block *b = block < h->n_blocks ? h->blocks[block] : NULL;

	*ret_known = b && b->known >> position & 1;
	return b && position < b->n_positions ? &b->cells[position] : NULL;
}

static struct mft_block *grow_block(struct mft_block *b, unsigned n)
{
	unsigned had = b ? b->n_positions : 0;

	b = xrealloc(b, 1, sizeof(*b) + n * sizeof(b->cells[0]));
	if (!had)
		b->known = b->told = 0;
	memset(b->cells + had, 0, (n - had) * sizeof(b->cells[0]));
	b->n_positions = (uint8_t)n;
	return b;
}

struct mft_cell *mft_have_room(struct mft_have *h, unsigned block, unsigned position)
{
	if (block >= h->n_blocks) {
		h->blocks = xrealloc(h->blocks, block + 1, sizeof(*h->blocks));
		memset(h->blocks + h->n_blocks, 0, (block + 1 - h->n_blocks) * sizeof(*h->blocks));
		h->n_blocks = block + 1;
	}
	if (!h->blocks[block] || position >= h->blocks[block]->n_positions)
		h->blocks[block] = grow_block(h->blocks[block], position + 1);
	return &h->blocks[block]->cells[position];
}

void mft_have_set(struct mft_have *h, unsigned block, unsigned position,
		  const struct mft_cell *cell)
{
	*mft_have_room(h, block, position) = *cell;
	h->blocks[block]->known |= (uint16_t)(1u << position);
	h->blocks[block]->told |= (uint16_t)(1u << position);
}

void mft_have_written(struct mft_have *h, unsigned block, unsigned position,
		      const struct mft_cell *cell)
{
	mft_have_set(h, block, position, cell);
	h->unproven = true;
}

void mft_have_doubt(struct mft_have *h, unsigned block, unsigned position,
		    const struct mft_cell *cell)
{
	struct mft_cell *have = mft_have_room(h, block, position);

	for (unsigned i = 0; i < MFT_BLOCK_MLIDS; i++)
		have->mask[i] |= cell->mask[i];
	h->blocks[block]->known &= (uint16_t) ~(1u << position);
}

bool mft_have_is_untold(const struct mft_have *h, unsigned block, unsigned position)
{
	const struct mft_block *b = block < h->n_blocks ? h->blocks[block] : NULL;

	return h->inherited && !(b && b->told >> position & 1);
}

void mft_have_assume(struct mft_have *h, unsigned block, unsigned position)
{
	mft_have_room(h, block, position);
	h->blocks[block]->told |= (uint16_t)(1u << position);
}

void mft_have_forget_all(struct mft_have *h)
{
	for (uint32_t i = 0; i < h->n_blocks; i++)
		if (h->blocks[i])
			h->blocks[i]->known = h->blocks[i]->told = 0;
	h->inherited = true;
	h->unproven = false;
}

bool mft_have_row(const struct mft_have *h, lid_t mlid, uint64_t ret_mask[4])
{
	unsigned number = mlid - MFT_FIRST_MLID, block = number / MFT_BLOCK_MLIDS;
	const struct mft_block *b = block < h->n_blocks ? h->blocks[block] : NULL;
	bool any = false;

	memset(ret_mask, 0, 4 * sizeof(*ret_mask));
	for (unsigned p = 0; b && p < b->n_positions; p++) {
		uint64_t mask = b->cells[p].mask[number % MFT_BLOCK_MLIDS];

		ret_mask[p / 4] |= mask << p % 4 * MFT_POSITION_PORTS;
		any |= mask != 0;
	}
	return any;
}

void mft_cell_get(const uint8_t *payload, struct mft_cell *ret)
{
	for (unsigned i = 0; i < MFT_BLOCK_MLIDS; i++)
		ret->mask[i] = (uint16_t)ib_bits_get(payload, i * 16, 16);
}

void mft_cell_put(uint8_t *payload, const struct mft_cell *cell)
{
	for (unsigned i = 0; i < MFT_BLOCK_MLIDS; i++)
		ib_bits_put(payload, i * 16, 16, cell->mask[i]);
}
