// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a run writes to switches as a whole: PortStateChange, forwarding tables, LinearFDBTop.
 *
 * Which table is right is route/; this file only compares and sends.
 */
#include <string.h>

#include "sync/impl.h"
#include "util/mem.h"

void tables_start(struct sync *s)
{
	s->n_routed = 0;
	s->epoch = 0;
	memset(s->lost, 0, sizeof(s->lost));
	if (!s->plan.routes)
		return;
	s->routed = xrealloc(s->routed, MAX(s->fabric->n_switches, 1u), sizeof(*s->routed));
	FABRIC_EACH_NODE(s->fabric, n) {
		uint32_t sw = node_is_switch(n) ? topo_find_switch(s->plan.routes->topo, n->guid)
						: TOPO_NONE;

		if (sw != TOPO_NONE)
			s->routed[s->n_routed++] = (struct routed){ .node = n, .sw = sw };
	}
}

/* ---- CLEAR ---------------------------------------------------------------------------------- */

static void on_clear(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct node *n = r->arg;

	if (!sync_ended_well(s, n, r))
		return;
	memcpy(n->switch_info, r->payload, SI_BYTES);
	n->change_uncleared = false;
	n->cleared_late = true;
}

/* Before anything is written: whatever happens to the switch from now on shows again. */
bool tables_feed_clear(struct sync *s)
{
	uint8_t want[SMP_DATA_SIZE] = { 0 };
	struct node *n;

	if (s->node >= s->fabric->n_nodes)
		return false;
	n = s->fabric->nodes[s->node++];
	if (n->change_uncleared && !sync_leaves_out(s, n)) {
		const struct mad_request rq = { .attr = IB_ATTR_SWITCH_INFO,
						.path = &n->path,
						.payload = want };

		memcpy(want, n->switch_info, SI_BYTES);
		sync_send(s, &n->ports[0], &rq, on_clear, n);
	}
	return true;
}

/* ---- TABLES ------------------------------------------------------------------------------- */

static void on_lft(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct node *n = r->arg;

	if (sync_ended_well(s, n, r)) {
		lft_have_written(&n->lft, r->mod, r->payload);
		if (s->hooks.table_written)
			s->hooks.table_written(s->hooks.arg, n, false, r->mod);
		s->outcome.recovered += n->lft_failures == NODE_LFT_TRIES;
		n->lft_failures = 0;
		return;
	}
	lft_have_forget(&n->lft, r->mod);
	s->lost[r->mod] = true;
	if (r->end != MAD_END_CANCELLED && n->lft_failures < NODE_LFT_TRIES)
		n->lft_failures++;
}

static const uint8_t *wanted_block(const struct sync *s, const struct routed *at, uint32_t block)
{
	return routes_row(s->plan.routes, at->sw) + (size_t)block * LFT_BLOCK_LIDS;
}

static void send_lft_block(struct sync *s, struct node *n, uint32_t block, const uint8_t *entries)
{
	const struct mad_request rq = {
		.attr = IB_ATTR_LFT,
		.mod = block,
		.path = &n->path,
		.payload = entries,
	};

	sync_send(s, &n->ports[0], &rq, on_lft, n);
}

static bool has_block(const struct sync *s, const struct routed *at, uint32_t block)
{
	const uint8_t *have = lft_have_block(&at->node->lft, block);

	return have && !memcmp(have, wanted_block(s, at, block), LFT_BLOCK_LIDS);
}

/* Is this the epoch of the block? */
static bool is_due(const struct sync *s, const struct routed *at, uint32_t block)
{
	const struct transition *t = s->plan.transition;

	return !t || transition_epoch(t, at->sw, block) == s->epoch;
}

static void queue_lft_block(struct sync *s, const struct routed *at, uint32_t block)
{
	const uint8_t *want = wanted_block(s, at, block);

	if (!is_due(s, at, block) || has_block(s, at, block))
		return;
	if (s->plan.transition && s->shut[block])
		s->outcome.tables_kept++;
	else
		send_lft_block(s, at->node, block, want);
}

/* Entries that change and could loop meanwhile lead nowhere first; the others stay for now. */
static void drain_lft_block(struct sync *s, const struct routed *at, uint32_t block)
{
	const struct transition *t = s->plan.transition;
	const uint8_t *have = lft_have_block(&at->node->lft, block);
	const uint8_t *want = wanted_block(s, at, block);
	uint8_t drained[LFT_BLOCK_LIDS];

	if (!have)
		return;
	for (unsigned i = 0; i < LFT_BLOCK_LIDS; i++) {
		uint32_t lid = block * LFT_BLOCK_LIDS + i;
		bool drain = lid <= t->top && t->drain[lid] && have[i] != want[i];

		drained[i] = drain ? LFT_NO_PORT : have[i];
	}
	if (memcmp(have, drained, LFT_BLOCK_LIDS))
		send_lft_block(s, at->node, block, drained);
}

/*
 * Block by block over all switches: neighbours fill in step, and no SMA gets a burst. A switch
 * that does not take its block may go on with the old one; where a transition says that others wait
 * for it, they keep theirs in this run.
 */
static bool feed_blocks(struct sync *s,
			void (*fn)(struct sync *s, const struct routed *at, uint32_t block))
{
	uint32_t blocks = s->n_routed ? s->plan.routes->row_size / LFT_BLOCK_LIDS : 0;
	const struct routed *at;

	if (s->item >= blocks)
		return false;
	at = &s->routed[s->node];
	if (!sync_leaves_out(s, at->node))
		fn(s, at, s->item);
	else if (fn == queue_lft_block && is_due(s, at, s->item) && !has_block(s, at, s->item))
		s->lost[s->item] = true;
	if (++s->node == s->n_routed) {
		s->node = 0;
		s->item++;
	}
	return true;
}

bool tables_feed_drain(struct sync *s)
{
	return s->plan.transition && feed_blocks(s, drain_lft_block);
}

/* A switch that took no table at all is left out of the routes; one block that leads nowhere asks whether it does now. */
static void ask_refuser(struct sync *s, struct node *n)
{
	uint8_t nowhere[LFT_BLOCK_LIDS];

	if (!n->avoided || sync_leaves_out(s, n))
		return;
	memset(nowhere, LFT_NO_PORT, sizeof(nowhere));
	send_lft_block(s, n, 0, nowhere);
}

bool tables_feed_refusers(struct sync *s)
{
	struct node *n;

	if (s->node >= s->fabric->n_nodes)
		return false;
	n = s->fabric->nodes[s->node++];
	if (node_is_switch(n))
		ask_refuser(s, n);
	return true;
}

bool tables_feed_blocks(struct sync *s)
{
	if (!s->item && !s->node)
		memcpy(s->shut, s->lost, sizeof(s->shut));
	return feed_blocks(s, queue_lft_block);
}

bool tables_next_epoch(struct sync *s)
{
	return s->plan.transition && ++s->epoch < s->plan.transition->n_epochs;
}

/* ---- TOP ---------------------------------------------------------------------------------- */

static void on_switch_info(void *owner, const struct mad_result *r)
{
	struct sync *s = owner;
	struct node *n = r->arg;
	bool top_changed;

	if (!sync_ended_well(s, n, r))
		return;
	top_changed = ib_get(n->switch_info, SI_LINEAR_FDB_TOP) !=
		      ib_get(r->payload, SI_LINEAR_FDB_TOP);
	memcpy(n->switch_info, r->payload, SI_BYTES);
	n->lft_top_written = ib_get(r->payload, SI_LINEAR_FDB_TOP);
	if (top_changed && s->hooks.table_written)
		s->hooks.table_written(s->hooks.arg, n, true, n->lft_top_written);
}

bool tables_feed_top(struct sync *s)
{
	uint8_t want[SMP_DATA_SIZE] = { 0 };
	struct node *n;

	if (s->node >= s->n_routed)
		return false;
	n = s->routed[s->node++].node;
	if (sync_leaves_out(s, n))
		return true;
	memcpy(want, n->switch_info, SI_BYTES);
	ib_put(want, SI_LINEAR_FDB_TOP,
	       MIN((unsigned)s->plan.routes->top, (unsigned)ib_get(want, SI_LINEAR_FDB_CAP) - 1u));
	ib_put(want, SI_LIFE_TIME, s->plan.conf->packet_life_time & 0x1F);
	ib_put(want, SI_PORT_STATE_CHANGE, 0); /* written 0: stays as it is (14.2.5.4) */
	if (ib_get(want, SI_LINEAR_FDB_TOP) != ib_get(n->switch_info, SI_LINEAR_FDB_TOP) ||
	    ib_get(want, SI_LIFE_TIME) != ib_get(n->switch_info, SI_LIFE_TIME)) {
		const struct mad_request rq = { .attr = IB_ATTR_SWITCH_INFO,
						.path = &n->path,
						.payload = want };

		sync_send(s, &n->ports[0], &rq, on_switch_info, n);
	}
	return true;
}
