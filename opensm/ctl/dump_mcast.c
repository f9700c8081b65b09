// SPDX-License-Identifier: BSD-2-Clause
/* Multicast tables as text: opensm.mcfdbs (files.md 4), switches in the peer's order. */
#include "ctl/dump_files.h"

static void ports(struct dump_out *o, const uint64_t mask[4])
{
	for (unsigned p = 0; p < 256; p++) {
		if (!(mask[p / 64] >> p % 64 & 1))
			continue;
		out_lit(o, " 0x");
		out_hex_upper(o, p, 3);
		out_lit(o, " ");
	}
}

static void dump_switch(struct dump_out *o, const struct dump_node *n)
{
	unsigned end = mft_have_end(&n->mft);
	bool any = false;

	for (unsigned mlid = MFT_FIRST_MLID; mlid < end; mlid++) {
		uint64_t mask[4];

		if (!mft_have_row(&n->mft, (lid_t)mlid, mask))
			continue;
		if (!any) {
			out_lit(o, "\nSwitch 0x");
			out_hex(o, n->guid, 16);
			out_lit(o, "\nLID    : Out Port(s)\n");
		}
		any = true;
		out_lit(o, "0x");
		out_hex_upper(o, mlid, 4);
		out_lit(o, " :");
		ports(o, mask);
		out_lit(o, "\n");
	}
}

void dump_mcfdbs(const struct dump_source *s, struct dump_out *o)
{
	for (uint32_t i = 0; i < s->view->n_nodes; i++)
		dump_switch(o, &s->view->nodes[s->order[i]]);
}
