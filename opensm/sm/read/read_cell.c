// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads tables of devices on demand that are not kept, as SL2VL, VL arbitration and unknown blocks.
 * Limited, so that external requests do not crowd out a sweep: READS_MAX at a time over all
 * devices, READS_PER_NODE of one, none of a device that does not answer.
 */
#include <errno.h>

#include "sm/sm_internal.h"
#include "util/mem.h"

#define READS_MAX      64
#define READS_PER_NODE 4

struct cell_reader {
	struct sm *sm;
	struct cell_read {
		struct node *node; /* NULL: free */
		cell_done_fn done;
		void *arg;
	} reads[READS_MAX];
};
MACHINE_MEMORY(cell_reader);

void cell_reader_node_goes(struct sm *sm, struct node *n)
{
	mad_cancel(sm->mad, sm->m.cell_reader, &n->target);
}

static void on_cell(void *owner, const struct mad_result *result)
{
	struct cell_read *slot = result->arg;
	struct cell_read ended = *slot;

	slot->node = NULL;
	ended.done(ended.arg, result->end == MAD_END_ANSWERED ? result->payload : NULL);
}

/* A free row of the table of reads under way; NULL: the table, or the share of `n`, is full. */
static struct cell_read *place_for(struct cell_reader *r, const struct node *n)
{
	struct cell_read *free_slot = NULL;
	unsigned same = 0;

	for (unsigned i = 0; i < READS_MAX; i++) {
		if (!r->reads[i].node)
			free_slot = &r->reads[i];
		else
			same += r->reads[i].node == n;
	}
	return same < READS_PER_NODE ? free_slot : NULL;
}

int discover_read_cell(struct sm *sm, struct port *p, uint16_t attr, uint32_t mod,
			cell_done_fn done, void *arg)
{
	struct cell_reader *r = sm->m.cell_reader;
	struct cell_read *slot = place_for(r, p->node);
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = attr,
		.mod = mod,
		.path = &path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
	};

	if (mad_target_silent(sm->mad, &p->node->target) ||
	    fabric_port_path(sm->fabric, p, &path) < 0)
		return -ENOENT;
	if (!slot)
		return -EAGAIN;
	*slot = (struct cell_read){ .node = p->node, .done = done, .arg = arg };
	mad_submit(sm->mad, &rq, on_cell, r, slot);
	return 0;
}
