// SPDX-License-Identifier: BSD-2-Clause
/* Which groups are to be judged: those whose goal, or whose cells, have changed. */
#include "sync/mft_internal.h"
#include "util/mem.h"

void group_is_due(struct mft_sync *s, unsigned number)
{
	if (s->groups[number].due)
		return;
	s->groups[number].due = true;
	GROW(s->due, s->n_due + 1, s->cap_due);
	s->due[s->n_due++] = (uint16_t)number;
}

void groups_cell_changed(struct mft_sync *s, struct mft_switch *sw, uint32_t mod,
			 const struct mft_cell *before, const struct mft_cell *after)
{
	unsigned block = MFT_MOD_BLOCK(mod), position = MFT_MOD_POSITION(mod);
	unsigned first = block * MFT_BLOCK_MLIDS;
	bool known;
	const struct mft_cell *want = mft_have_cell(&sw->want, block, position, &known);

	for (unsigned i = 0; i < MFT_BLOCK_MLIDS && first + i < N_MLIDS; i++) {
		struct mft_group *g = &s->groups[first + i];
		unsigned wanted = want ? want->mask[i] : 0;

		if (g->step != MFT_CUT || g->due)
			continue;
		g->excess -= (before->mask[i] & ~wanted) != 0;
		g->excess += (after->mask[i] & ~wanted) != 0;
		if (!g->excess)
			group_is_due(s, first + i);
	}
}

void groups_block_read(struct mft_sync *s, unsigned block)
{
	for (unsigned i = 0; i < MFT_BLOCK_MLIDS; i++) {
		unsigned number = block * MFT_BLOCK_MLIDS + i;

		if (number < N_MLIDS && (s->complete || s->groups[number].goal))
			group_is_due(s, number);
	}
}
