// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sends cells and tops that differ, one switch after the other, and handles the answers. Knows
 * nothing of trees; groups and their steps are in mft.c.
 */
#include <assert.h>
#include <string.h>

#include "fabric/observe.h"
#include "sync/mft_internal.h"
#include "util/mem.h"

/* Number of requests kept queued ahead of the window, and of those to one switch. */
#define FEED_DEPTH 256
#define PER_SWITCH 4

#define TOP_NONE (MLID_MIN - 1u)

static const struct mft_cell empty;

struct mft_switch *switch_of(const struct mft_sync *s, const struct node *n)
{
	return n->mft.place ? s->switches[n->mft.place - 1] : NULL;
}

/* ---- cells --------------------------------------------------------------------------------- */

static struct mft_work *work_at(struct mft_switch *sw, uint32_t mod)
{
	uint32_t at = MFT_MOD_BLOCK(mod) * sw->n_positions + MFT_MOD_POSITION(mod);

	if (at >= sw->n_work) {
		uint32_t n = (MFT_MOD_BLOCK(mod) + 1) * sw->n_positions;

		sw->work = xrealloc(sw->work, n, sizeof(*sw->work));
		memset(sw->work + sw->n_work, 0, (n - sw->n_work) * sizeof(*sw->work));
		sw->n_work = n;
	}
	return &sw->work[at];
}

static const struct mft_cell *wanted_cell(const struct mft_switch *sw, uint32_t mod)
{
	bool known;
	const struct mft_cell *c =
		mft_have_cell(&sw->want, MFT_MOD_BLOCK(mod), MFT_MOD_POSITION(mod), &known);

	return c ? c : &empty;
}

static const struct mft_cell *held_cell(const struct mft_switch *sw, uint32_t mod, bool *ret_known)
{
	const struct mft_cell *c =
		mft_have_cell(&sw->node->mft, MFT_MOD_BLOCK(mod), MFT_MOD_POSITION(mod), ret_known);

	return c ? c : &empty;
}

static bool cell_is_untold(const struct mft_switch *sw, uint32_t mod)
{
	return mft_have_is_untold(&sw->node->mft, MFT_MOD_BLOCK(mod), MFT_MOD_POSITION(mod));
}

static bool cell_differs(const struct mft_switch *sw, uint32_t mod)
{
	bool known;
	const struct mft_cell *have = held_cell(sw, mod, &known), *want = wanted_cell(sw, mod);

	if (memcmp(have, want, sizeof(*have)))
		return true;
	return !known && memcmp(want, &empty, sizeof(*want));
}

static void switch_enqueue(struct mft_sync *s, struct mft_switch *sw)
{
	if (sw->listed || sw->head == sw->tail || sw->in_flight >= PER_SWITCH)
		return;
	sw->listed = true;
	TAILQ_INSERT_TAIL(&s->busy, sw, next_busy);
}

static void switch_dequeue(struct mft_sync *s, struct mft_switch *sw)
{
	if (sw->listed)
		TAILQ_REMOVE(&s->busy, sw, next_busy);
	sw->listed = false;
}

static void queue_cell(struct mft_switch *sw, uint32_t mod)
{
	if (sw->head == sw->tail)
		sw->head = sw->tail = 0;
	GROW(sw->queue, sw->tail + 1, sw->cap);
	sw->queue[sw->tail++] = mod;
}

static void cell_enter(struct mft_sync *s, struct mft_switch *sw, uint32_t mod,
		       enum mft_cell_state next)
{
	struct mft_work *w = work_at(sw, mod);
	uint32_t *stuck = &s->stuck[MFT_MOD_BLOCK(mod)];

	s->n_failed -= w->state == MFT_GIVEN_UP;
	*stuck -= w->state == MFT_GIVEN_UP && w->awaited;
	w->state = (uint8_t)next;
	switch (next) {
	case MFT_REST:
		break;
	case MFT_QUEUED:
		queue_cell(sw, mod);
		switch_enqueue(s, sw);
		break;
	case MFT_OUT:
		w->changed = false;
		break;
	case MFT_GIVEN_UP:
		s->n_failed++;
		*stuck += w->awaited;
		break;
	}
}

/* Reacts to a change of the cell, or of its want (`changed`). */
static void cell_touch(struct mft_sync *s, struct mft_switch *sw, uint32_t mod, bool changed)
{
	struct mft_work *w = work_at(sw, mod);

	switch ((enum mft_cell_state)w->state) {
	case MFT_REST:
		cell_enter(s, sw, mod, MFT_QUEUED);
		break;
	case MFT_QUEUED:
		break;
	case MFT_OUT:
		w->changed |= changed;
		break;
	case MFT_GIVEN_UP:
		if (!changed)
			break;
		w->tries = 0;
		cell_enter(s, sw, mod, MFT_QUEUED);
		break;
	}
}

/* Called when the cell was read, or cannot be. */
static void read_done(struct mft_sync *s, struct mft_switch *sw, uint32_t mod)
{
	struct mft_work *w = work_at(sw, mod);
	unsigned block = MFT_MOD_BLOCK(mod);

	if (!w->awaited)
		return;
	w->awaited = false;
	if (--s->reads[block] == 0)
		groups_block_read(s, block);
}

static void await_read(struct mft_sync *s, struct mft_switch *sw, uint32_t mod)
{
	struct mft_work *w = work_at(sw, mod);

	if (!w->awaited)
		s->reads[MFT_MOD_BLOCK(mod)]++;
	w->awaited = true;
}

static void switch_read_block(struct mft_sync *s, struct mft_switch *sw, unsigned block)
{
	for (unsigned p = 0; p < sw->n_positions; p++) {
		uint32_t mod = MFT_MOD(block, p);
		struct mft_work *w;

		if (!cell_is_untold(sw, mod))
			continue;
		w = work_at(sw, mod);
		if (w->state != MFT_REST && w->state != MFT_QUEUED)
			continue;
		await_read(s, sw, mod);
		cell_touch(s, sw, mod, false);
	}
}

void switches_read_block(struct mft_sync *s, unsigned block)
{
	for (uint32_t i = 0; i < s->n_switches; i++)
		switch_read_block(s, s->switches[i], block);
}

/* ---- tops ---------------------------------------------------------------------------------- */

static unsigned wanted_top(const struct mft_switch *sw)
{
	unsigned cap = (unsigned)ib_get(sw->node->switch_info, SI_MULTICAST_FDB_CAP);
	unsigned top = MLID_MIN + sw->n_high * MFT_BLOCK_MLIDS - 1u;

	return MIN(MIN(top, MLID_MIN + cap - 1u), (unsigned)MLID_MAX);
}

/* Does its top have to be written? Raising cannot wait; lowering can. */
static bool top_differs(const struct mft_sync *s, const struct mft_switch *sw, bool may_sink)
{
	const struct node *n = sw->node;
	unsigned want = wanted_top(sw), have;

	if (!s->use_top || !n->switch_known ||
	    !(fabric_cap_mask(&n->ports[0]) & IB_CAP(IB_CAP_MULTICAST_FDB_TOP)))
		return false;
	have = (unsigned)ib_get(n->switch_info, SI_MULTICAST_FDB_TOP);
	if (have < TOP_NONE) /* it was never set up */
		return want != TOP_NONE;
	return may_sink ? have != want : have < want;
}

static void top_enter(struct mft_sync *s, struct mft_switch *sw, enum mft_cell_state next)
{
	s->tops_due -= sw->top == MFT_QUEUED;
	s->n_failed -= sw->top == MFT_GIVEN_UP;
	sw->top = next;
	s->tops_due += sw->top == MFT_QUEUED;
	s->n_failed += sw->top == MFT_GIVEN_UP;
}

static void top_check(struct mft_sync *s, struct mft_switch *sw, bool may_sink)
{
	sw->node->mft.want_top = (lid_t)wanted_top(sw);
	if (sw->top == MFT_OUT)
		return;
	if (sw->left_alone || !top_differs(s, sw, may_sink))
		top_enter(s, sw, MFT_REST);
	else if (sw->top == MFT_REST)
		top_enter(s, sw, MFT_QUEUED);
}

static bool wants_block(const struct mft_switch *sw, unsigned block)
{
	for (unsigned p = 0; p < sw->n_positions; p++) {
		if (memcmp(wanted_cell(sw, MFT_MOD(block, p)), &empty, sizeof(empty)))
			return true;
	}
	return false;
}

void switches_sink(struct mft_sync *s)
{
	for (uint32_t i = 0; i < s->n_switches; i++) {
		struct mft_switch *sw = s->switches[i];

		while (sw->n_high && !wants_block(sw, sw->n_high - 1))
			sw->n_high--;
		top_check(s, sw, true);
	}
}

bool switches_tops_due(const struct mft_sync *s)
{
	return s->tops_due && s->hooks.may_write_top && s->hooks.may_write_top(s->hooks.arg);
}

/* ---- wants --------------------------------------------------------------------------------- */

void switch_want(struct mft_sync *s, struct mft_switch *sw, unsigned number, const uint64_t mask[4])
{
	unsigned block = number / MFT_BLOCK_MLIDS, i = number % MFT_BLOCK_MLIDS;

	for (unsigned p = 0; p < sw->n_positions; p++) {
		uint32_t mod = MFT_MOD(block, p);
		uint16_t want = (uint16_t)(mask[p / 4] >> p % 4 * MFT_POSITION_PORTS);
		bool known, changed = want != wanted_cell(sw, mod)->mask[i];

		if (!changed && want == held_cell(sw, mod, &known)->mask[i] && (known || !want))
			continue;
		if (changed)
			mft_have_room(&sw->want, block, p)->mask[i] = want;
		if (want && block >= sw->n_high) {
			sw->n_high = block + 1;
			sw->top_tries = 0;
			top_check(s, sw, false);
		}
		cell_touch(s, sw, mod, changed);
	}
}

/* ---- switches ------------------------------------------------------------------------------ */

static void switch_add(struct mft_sync *s, struct node *n)
{
	struct mft_switch *sw = xcalloc(1, sizeof(*sw));

	sw->node = n;
	sw->n_positions = mft_positions(n->n_ports);
	GROW(s->switches, s->n_switches + 1, s->cap_switches);
	s->switches[s->n_switches++] = sw;
	n->mft.place = s->n_switches;
	for (unsigned b = 0; b < MFT_MAX_BLOCKS; b++)
		if (block_matters(s, b))
			switch_read_block(s, sw, b);
}

void switches_refresh(struct mft_sync *s)
{
	if (s->n_switches == s->fabric->n_switches)
		return;
	FABRIC_EACH_NODE(s->fabric, n) {
		if (node_is_switch(n) && !n->mft.place)
			switch_add(s, n);
	}
}

/* Ends the wait of groups for the switch. */
static void settle_cells(struct mft_sync *s, struct mft_switch *sw)
{
	const struct mft_have *have = &sw->node->mft;

	for (uint32_t i = 0; i < sw->n_work; i++) {
		uint32_t mod = MFT_MOD(i / sw->n_positions, i % sw->n_positions);

		cell_enter(s, sw, mod, MFT_REST);
		read_done(s, sw, mod);
	}
	for (uint32_t b = 0; b < have->n_blocks; b++)
		for (unsigned p = 0; have->blocks[b] && p < have->blocks[b]->n_positions; p++)
			groups_cell_changed(s, sw, MFT_MOD(b, p), &have->blocks[b]->cells[p],
					    &empty);
}

void switch_drop(struct mft_sync *s, struct mft_switch *sw)
{
	uint32_t at = sw->node->mft.place - 1;

	switch_dequeue(s, sw);
	settle_cells(s, sw);
	top_enter(s, sw, MFT_REST);
	s->switches[at] = s->switches[--s->n_switches];
	s->switches[at]->node->mft.place = at + 1;
	sw->node->mft.place = 0;
	sw->node->mft.want_top = 0;
	mft_have_clear(&sw->want);
	free(sw->work);
	free(sw->queue);
	free(sw);
}

void switch_leave_alone(struct mft_sync *s, struct mft_switch *sw)
{
	sw->left_alone = true;
	top_check(s, sw, false);
}

void switches_send_anew(struct mft_sync *s)
{
	for (uint32_t i = 0; i < s->n_switches; i++) {
		struct mft_switch *sw = s->switches[i];

		if (!sw->in_flight || fabric_path_holds(s->fabric, sw->node))
			continue;
		mad_cancel(s->sender.mad, s, &sw->node->target);
		for (uint32_t k = 0; k < sw->n_work; k++) {
			uint32_t mod = MFT_MOD(k / sw->n_positions, k % sw->n_positions);

			if (sw->work[k].state == MFT_REST &&
			    (sw->work[k].awaited || cell_differs(sw, mod)))
				cell_enter(s, sw, mod, MFT_QUEUED);
		}
		top_check(s, sw, false);
	}
}

void switches_retry(struct mft_sync *s)
{
	for (uint32_t i = 0; i < s->n_switches; i++) {
		struct mft_switch *sw = s->switches[i];

		sw->top_tries = 0;
		sw->left_alone = false;
		if (sw->top == MFT_GIVEN_UP)
			top_enter(s, sw, MFT_REST);
		for (uint32_t k = 0; k < sw->n_work; k++) {
			uint32_t mod = MFT_MOD(k / sw->n_positions, k % sw->n_positions);

			if (sw->work[k].state != MFT_GIVEN_UP)
				continue;
			sw->work[k].tries = 0;
			cell_enter(s, sw, mod,
				   sw->work[k].awaited || cell_differs(sw, mod) ? MFT_QUEUED
										: MFT_REST);
		}
	}
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Stores the content of an answered cell; groups that waited for it continue. */
static void cell_observe(struct mft_sync *s, struct mft_switch *sw, const struct mad_result *r)
{
	unsigned block = MFT_MOD_BLOCK(r->mod), position = MFT_MOD_POSITION(r->mod);
	struct mft_cell before, now;
	bool known;

	before = now = *held_cell(sw, r->mod, &known);
	if (r->end == MAD_END_ANSWERED) {
		mft_cell_get(r->payload, &now);
		if (r->method == MAD_SET)
			observe_mft_written(sw->node, block, position, &now);
		else
			observe_mft_cell(sw->node, block, position, &now);
	} else if (r->method == MAD_GET && r->end == MAD_END_BAD_STATUS) {
		observe_mft_unreadable(sw->node, block, position);
	}
	groups_cell_changed(s, sw, r->mod, &before, &now);
}

/* Ends a request. After a read, the judgement of groups decides which cells are written. */
static void cell_ended(struct mft_sync *s, struct mft_switch *sw, const struct mad_result *r)
{
	struct mft_work *w = work_at(sw, r->mod);
	bool was_read = r->method == MAD_GET, is_open, over;
	enum verdict v;

	cell_observe(s, sw, r);
	v = sync_verdict(r, was_read || w->changed || !cell_differs(sw, r->mod));
	is_open = was_read ? v == VERDICT_SILENT : cell_differs(sw, r->mod);
	over = sync_tries_are_over(&mft_row, &w->tries, v);
	if (v != VERDICT_STORED)
		s->failed_example = sw->node;
	if (is_open) {
		cell_enter(s, sw, r->mod, over ? MFT_GIVEN_UP : MFT_QUEUED);
		return;
	}
	w->tries = 0;
	cell_enter(s, sw, r->mod, MFT_REST);
	read_done(s, sw, r->mod);
}

static void top_ended(struct mft_sync *s, struct mft_switch *sw, const struct mad_result *r)
{
	enum verdict v;
	bool over;

	if (r->end == MAD_END_ANSWERED)
		observe_tops(sw->node, r->payload);
	top_enter(s, sw, MFT_REST);
	if (r->end == MAD_END_CANCELLED)
		return;
	v = top_differs(s, sw, false) ? sync_verdict(r, false) : VERDICT_STORED;
	over = sync_tries_are_over(&mft_row, &sw->top_tries, v);
	if (v == VERDICT_STORED)
		return;
	s->failed_example = sw->node;
	top_enter(s, sw, over ? MFT_GIVEN_UP : MFT_QUEUED);
}

static void on_end(void *owner, const struct mad_result *r)
{
	struct mft_sync *s = owner;
	struct mft_switch *sw = switch_of(s, r->arg);

	s->in_flight--;
	sw->in_flight--;
	if (r->attr == IB_ATTR_SWITCH_INFO)
		top_ended(s, sw, r);
	else if (r->end == MAD_END_CANCELLED)
		cell_enter(s, sw, r->mod, MFT_REST);
	else
		cell_ended(s, sw, r);
	if (r->end != MAD_END_CANCELLED)
		switch_enqueue(s, sw);
}

/* ---- requests -------------------------------------------------------------------------------- */

/*
 * In a hurry: a route to a switch whose known route leads over a dead cable, as no answer would
 * come before the next reading of the fabric. False: the known route is taken.
 */
static bool find_way(struct mft_sync *s, const struct mft_switch *sw, struct dr_path *ret)
{
	if (!s->hurry || fabric_path_holds(s->fabric, sw->node))
		return false;
	if (!s->ways)
		s->ways = fabric_ways_new(s->fabric);
	return fabric_way(s->ways, sw->node, ret);
}

/*
 * Sends a Set, or with `payload` NULL a Get. switches_feed() has checked that it may be sent, and
 * switches can always be addressed.
 */
static void send_request(struct mft_sync *s, struct mft_switch *sw, uint16_t attr, uint32_t mod,
			 const uint8_t *payload)
{
	struct dr_path way;
	const struct mad_request rq = {
		.attr = attr,
		.mod = mod,
		.payload = payload,
		.urgent = s->hurry,
		.path = find_way(s, sw, &way) ? &way : NULL,
	};
	bool sent = (payload ? smp_set : smp_get)(&s->sender, &sw->node->ports[0], &rq, on_end, s,
						  sw->node);

	assert(sent);
	s->in_flight++;
	sw->in_flight++;
}

static void send_cell(struct mft_sync *s, struct mft_switch *sw, uint32_t mod)
{
	const struct mft_cell *want = wanted_cell(sw, mod);
	uint8_t payload[SMP_DATA_SIZE] = { 0 };

	mft_cell_put(payload, want);
	observe_mft_sent(sw->node, MFT_MOD_BLOCK(mod), MFT_MOD_POSITION(mod), want);
	cell_enter(s, sw, mod, MFT_OUT);
	send_request(s, sw, IB_ATTR_MFT, mod, payload);
}

/* Sends the next cell of the switch, if that is still needed. */
static void send_next(struct mft_sync *s, struct mft_switch *sw)
{
	uint32_t mod = sw->queue[sw->head++];
	unsigned block = MFT_MOD_BLOCK(mod);
	bool is_read = cell_is_untold(sw, mod) && block_matters(s, block);

	if (is_read)
		await_read(s, sw, mod);
	if (mad_target_silent(s->sender.mad, &sw->node->target)) {
		cell_enter(s, sw, mod, MFT_GIVEN_UP);
	} else if (is_read) {
		cell_enter(s, sw, mod, MFT_OUT);
		send_request(s, sw, IB_ATTR_MFT, mod, NULL);
	} else if (!sw->left_alone && !s->reads[block] && cell_differs(sw, mod)) {
		send_cell(s, sw, mod);
	} else {
		cell_enter(s, sw, mod, MFT_REST);
		read_done(s, sw, mod);
	}
}

static void send_top(struct mft_sync *s, struct mft_switch *sw)
{
	uint8_t info[SMP_DATA_SIZE] = { 0 };

	memcpy(info, sw->node->switch_info, SI_BYTES);
	ib_put(info, SI_MULTICAST_FDB_TOP, wanted_top(sw));
	ib_put(info, SI_PORT_STATE_CHANGE, 0); /* writing 0 leaves it as it is (14.2.5.4) */
	top_enter(s, sw, MFT_OUT);
	send_request(s, sw, IB_ATTR_SWITCH_INFO, 0, info);
}

/* May one more request leave now? */
static bool has_room(const struct mft_sync *s)
{
	return s->hurry ? s->in_flight < MFT_HURRY : mad_pending(s->sender.mad) < FEED_DEPTH;
}

/* Writes tops after the cells of the switch: rows that become valid must be right. */
static void feed_tops(struct mft_sync *s)
{
	for (uint32_t i = 0; i < s->n_switches && has_room(s); i++) {
		struct mft_switch *sw = s->switches[i];

		if (sw->top != MFT_QUEUED || sw->in_flight || sw->head != sw->tail)
			continue;
		if (mad_target_silent(s->sender.mad, &sw->node->target))
			top_enter(s, sw, MFT_GIVEN_UP);
		else
			send_top(s, sw);
	}
}

void switches_feed(struct mft_sync *s)
{
	if ((TAILQ_EMPTY(&s->busy) && !s->tops_due) || !s->sender.may_write(s->sender.arg))
		return;
	while (!TAILQ_EMPTY(&s->busy) && has_room(s)) {
		struct mft_switch *sw = TAILQ_FIRST(&s->busy);

		switch_dequeue(s, sw);
		send_next(s, sw);
		switch_enqueue(s, sw);
	}
	if (switches_tops_due(s))
		feed_tops(s);
	s->ways = fabric_ways_free(s->ways);
}
