// SPDX-License-Identifier: BSD-2-Clause
/* Multicast tables as text: opensm.mcfdbs (files.md 4), switches in the peer's order. */
#include "dump/dump_internal.h"

#include <inttypes.h>

static void write_mask(struct dump_out *o, const uint64_t mask[4])
{
	for (unsigned p = 0; p < 256; p++) {
		if (!(mask[p / 64] >> p % 64 & 1))
			continue;
		out_lit(o, " 0x");
		out_hex_upper(o, p, 3);
		out_lit(o, " ");
	}
}

static void dump_switch(struct dump_out *o, guid_t guid, const struct mft_have *mft)
{
	unsigned end = mft_have_end(mft);
	bool any = false;

	for (unsigned mlid = MFT_FIRST_MLID; mlid < end; mlid++) {
		uint64_t mask[4];

		if (!mft_have_row(mft, (lid_t)mlid, mask))
			continue;
		if (!any)
			out_printf(o, "\nSwitch 0x%016" PRIx64 "\nLID    : Out Port(s)\n", guid);
		any = true;
		out_lit(o, "0x");
		out_hex_upper(o, mlid, 4);
		out_lit(o, " :");
		write_mask(o, mask);
		out_lit(o, "\n");
	}
}

void dump_mcfdbs(const struct dump_source *s, struct dump_out *o)
{
	const struct view *v = s->view;

	for (uint32_t i = 0; v->mfts && i < v->n_nodes; i++)
		dump_switch(o, v->nodes[s->order[i]].guid, &v->mfts[s->order[i]]);
}
