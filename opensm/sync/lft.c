// SPDX-License-Identifier: BSD-2-Clause
/*
 * Attributes of switches that a run writes: PortStateChange, forwarding tables, LinearFDBTop.
 * Routes decide on the tables; this file compares and sends.
 */
#include <string.h>

#include "sync/sync_internal.h"
#include "util/mem.h"

void lft_start(struct sync *s)
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

/* ---- SwitchInfo: CLEAR, TOP ------------------------------------------------------------------ */

static void write_switch_info(struct sync *s, struct node *n, const uint8_t *payload)
{
	sync_set(s, &n->ports[0],
		 &(struct mad_request){ .attr = IB_ATTR_SWITCH_INFO, .payload = payload });
}

/* Clears PortStateChange before anything is written, so that later changes are seen. */
void lft_clear(struct sync *s, struct node *n)
{
	uint8_t want[SMP_DATA_SIZE] = { 0 };

	if (!n->change_uncleared)
		return;
	memcpy(want, n->switch_info, SI_BYTES);
	write_switch_info(s, n, want);
}

bool lft_observe_clear(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod,
		    const uint8_t *payload)
{
	observe_change_cleared(p->node, payload, true);
	return true;
}

void lft_write_top(struct sync *s, struct node *n)
{
	uint8_t want[SMP_DATA_SIZE] = { 0 };

	if (!s->plan.routes || !node_is_switch(n) ||
	    topo_find_switch(s->plan.routes->topo, n->guid) == TOPO_NONE)
		return;
	memcpy(want, n->switch_info, SI_BYTES);
	ib_put(want, SI_LINEAR_FDB_TOP,
	       MIN((unsigned)s->plan.routes->top, (unsigned)ib_get(want, SI_LINEAR_FDB_CAP) - 1u));
	ib_put(want, SI_LIFE_TIME, s->plan.conf->packet_life_time & 0x1F);
	ib_put(want, SI_PORT_STATE_CHANGE, 0); /* writing 0 leaves it as it is (14.2.5.4) */
	if (ib_get(want, SI_LINEAR_FDB_TOP) != ib_get(n->switch_info, SI_LINEAR_FDB_TOP) ||
	    ib_get(want, SI_LIFE_TIME) != ib_get(n->switch_info, SI_LIFE_TIME))
		write_switch_info(s, n, want);
}

bool lft_observe_top(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod,
		  const uint8_t *payload)
{
	struct node *n = p->node;

	if (observe_tops(n, payload) && s->hooks.table_written)
		s->hooks.table_written(s->hooks.arg, n, true, n->lft_top_written);
	return true;
}

/* ---- the row of LFT blocks ------------------------------------------------------------------- */

bool lft_observe(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod,
	      const uint8_t *payload)
{
	observe_lft_written(p->node, mod, payload);
	if (s->hooks.table_written)
		s->hooks.table_written(s->hooks.arg, p->node, false, mod);
	if (p->node->sync.lft_failures == row->limit[VERDICT_REFUSED]) {
		s->outcome.recovered++;
		observe_shown(p->node);
	}
	return true;
}

void lft_forget(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod)
{
	observe_lft_lost(p->node, mod);
	s->lost[mod] = true;
}

void sync_node_back(struct node *n)
{
	if (n->sync.lft_failures)
		observe_shown(n);
	n->sync.lft_failures = 0;
}

/* Failed tries of a switch; after the last it is left out of routing (sm/out_of_use/guard.c). */
uint8_t *lft_tries(const struct sync_row *row, struct port *p)
{
	return &p->node->sync.lft_failures;
}

void lft_give_up(struct sync *s, const struct sync_row *row, struct port *p, uint32_t mod)
{
	observe_shown(p->node);
}

/* ---- DRAIN, TABLES, REFUSERS ----------------------------------------------------------------- */

static const uint8_t *wanted_block(const struct sync *s, const struct routed *at, uint32_t block)
{
	return routes_row(s->plan.routes, at->sw) + (size_t)block * LFT_BLOCK_LIDS;
}

static void send_block(struct sync *s, struct node *n, uint32_t block, const uint8_t *entries)
{
	sync_set(s, &n->ports[0],
		 &(struct mad_request){ .attr = IB_ATTR_LFT, .mod = block, .payload = entries });
}

static bool holds_block(const struct sync *s, const struct routed *at, uint32_t block)
{
	const uint8_t *have = lft_have_block(&at->node->lft, block);

	return have && !memcmp(have, wanted_block(s, at, block), LFT_BLOCK_LIDS);
}

/* Does the block belong to the present epoch? */
static bool block_is_due(const struct sync *s, const struct routed *at, uint32_t block)
{
	const struct transition *t = s->plan.transition;

	return !t || s->is_again || transition_epoch(t, at->sw, block) == s->epoch;
}

static void queue_block(struct sync *s, const struct routed *at, uint32_t block)
{
	const uint8_t *want = wanted_block(s, at, block);

	if (!block_is_due(s, at, block) || holds_block(s, at, block))
		return;
	if (s->plan.transition && s->shut[block])
		s->outcome.tables_kept++;
	else
		send_block(s, at->node, block, want);
}

/* Removes entries that change and could loop; others stay for now. */
static void drain_block(struct sync *s, const struct routed *at, uint32_t block)
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
		send_block(s, at->node, block, drained);
}

/*
 * Goes block by block over all switches, so that neighbours are written in step, and no SMA gets a
 * burst. A switch that does not take a block keeps the old one; if the transition has others wait
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
	else if (fn == queue_block && block_is_due(s, at, s->item) && !holds_block(s, at, s->item))
		s->lost[s->item] = true;
	if (++s->node == s->n_routed) {
		s->node = 0;
		s->item++;
	}
	return true;
}

void lft_place(const struct sync *s, uint64_t *ret_done, uint64_t *ret_all)
{
	uint64_t blocks = s->n_routed ? s->plan.routes->row_size / LFT_BLOCK_LIDS : 0;
	uint64_t each = blocks * s->n_routed, epochs = 1;

	if (s->stage == ST_TABLES && s->plan.transition)
		epochs = s->plan.transition->n_epochs;
	*ret_done = s->epoch * each + (uint64_t)s->item * s->n_routed + s->node;
	*ret_all = epochs * each;
}

bool lft_feed_drain(struct sync *s)
{
	return s->plan.transition && feed_blocks(s, drain_block);
}

bool lft_feed_blocks(struct sync *s)
{
	if (!s->item && !s->node)
		memcpy(s->shut, s->lost, sizeof(s->shut));
	return feed_blocks(s, queue_block);
}

bool lft_next_epoch(struct sync *s)
{
	return s->plan.transition && ++s->epoch < s->plan.transition->n_epochs;
}

bool lft_writes_again(struct sync *s)
{
	s->is_again = s->again;
	s->again = false;
	return s->is_again;
}

/*
 * Sends a block without entries to a switch that took no table, and is left out of routes, to see
 * if it takes tables now. Not if an administrator left it out: it may still carry packets.
 */
void lft_ask_refuser(struct sync *s, struct node *n)
{
	uint8_t nowhere[LFT_BLOCK_LIDS];

	if (!node_is_switch(n) || !n->avoided || n->isolated)
		return;
	memset(nowhere, LFT_NO_PORT, sizeof(nowhere));
	send_block(s, n, 0, nowhere);
}
