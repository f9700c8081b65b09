// SPDX-License-Identifier: BSD-2-Clause
/*
 * Switches: cells and tops that are not as they should be leave, one switch after the other, and
 * their answers come back. Knows nothing of trees; groups and their steps are in mft.c.
 */
#include <assert.h>
#include <string.h>

#include "fabric/observe.h"
#include "sync/mft_internal.h"
#include "util/mem.h"

/* Requests kept queued ahead of the window, and of them on one switch. */
#define FEED_DEPTH 256
#define PER_SWITCH 4

#define TOP_NONE (MLID_MIN - 1u)

static const struct mft_cell empty;

struct mft_spot *spot_of(const struct mft_sync *s, const struct node *n)
{
	return n->mft.spot ? s->spots[n->mft.spot - 1] : NULL;
}

/* ---- cells --------------------------------------------------------------------------------- */

static struct mft_work *work_at(struct mft_spot *spot, uint32_t mod)
{
	uint32_t at = MFT_MOD_BLOCK(mod) * spot->n_positions + MFT_MOD_POSITION(mod);

	if (at >= spot->n_work) {
		uint32_t n = (MFT_MOD_BLOCK(mod) + 1) * spot->n_positions;

		spot->work = xrealloc(spot->work, n, sizeof(*spot->work));
		memset(spot->work + spot->n_work, 0, (n - spot->n_work) * sizeof(*spot->work));
		spot->n_work = n;
	}
	return &spot->work[at];
}

static const struct mft_cell *wanted_cell(const struct mft_spot *spot, uint32_t mod)
{
	bool known;
	const struct mft_cell *c =
		mft_have_cell(&spot->want, MFT_MOD_BLOCK(mod), MFT_MOD_POSITION(mod), &known);

	return c ? c : &empty;
}

static const struct mft_cell *held_cell(const struct mft_spot *spot, uint32_t mod, bool *ret_known)
{
	const struct mft_cell *c = mft_have_cell(&spot->node->mft, MFT_MOD_BLOCK(mod),
						 MFT_MOD_POSITION(mod), ret_known);

	return c ? c : &empty;
}

static bool cell_is_untold(const struct mft_spot *spot, uint32_t mod)
{
	return mft_have_is_untold(&spot->node->mft, MFT_MOD_BLOCK(mod), MFT_MOD_POSITION(mod));
}

static bool cell_differs(const struct mft_spot *spot, uint32_t mod)
{
	bool known;
	const struct mft_cell *have = held_cell(spot, mod, &known), *want = wanted_cell(spot, mod);

	if (memcmp(have, want, sizeof(*have)))
		return true;
	return !known && memcmp(want, &empty, sizeof(*want));
}

static void spot_enlist(struct mft_sync *s, struct mft_spot *spot)
{
	if (spot->listed || spot->head == spot->tail || spot->in_flight >= PER_SWITCH)
		return;
	spot->listed = true;
	TAILQ_INSERT_TAIL(&s->busy, spot, next_busy);
}

static void spot_unlist(struct mft_sync *s, struct mft_spot *spot)
{
	if (spot->listed)
		TAILQ_REMOVE(&s->busy, spot, next_busy);
	spot->listed = false;
}

static void queue_cell(struct mft_spot *spot, uint32_t mod)
{
	if (spot->head == spot->tail)
		spot->head = spot->tail = 0;
	GROW(spot->queue, spot->tail + 1, spot->cap);
	spot->queue[spot->tail++] = mod;
}

static void cell_enter(struct mft_sync *s, struct mft_spot *spot, uint32_t mod,
		       enum mft_cell_state next)
{
	struct mft_work *w = work_at(spot, mod);
	uint32_t *stuck = &s->stuck[MFT_MOD_BLOCK(mod)];

	s->n_failed -= w->state == MFT_GIVEN_UP;
	*stuck -= w->state == MFT_GIVEN_UP && w->awaited;
	w->state = (uint8_t)next;
	switch (next) {
	case MFT_REST:
		break;
	case MFT_QUEUED:
		queue_cell(spot, mod);
		spot_enlist(s, spot);
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

/* The cell, or its want (`changed`), is not as it was. */
static void cell_touch(struct mft_sync *s, struct mft_spot *spot, uint32_t mod, bool changed)
{
	struct mft_work *w = work_at(spot, mod);

	switch ((enum mft_cell_state)w->state) {
	case MFT_REST:
		cell_enter(s, spot, mod, MFT_QUEUED);
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
		cell_enter(s, spot, mod, MFT_QUEUED);
		break;
	}
}

/* The cell is read, or never will be. */
static void read_done(struct mft_sync *s, struct mft_spot *spot, uint32_t mod)
{
	struct mft_work *w = work_at(spot, mod);
	unsigned block = MFT_MOD_BLOCK(mod);

	if (!w->awaited)
		return;
	w->awaited = false;
	if (--s->reads[block] == 0)
		groups_block_read(s, block);
}

static void await_read(struct mft_sync *s, struct mft_spot *spot, uint32_t mod)
{
	struct mft_work *w = work_at(spot, mod);

	if (!w->awaited)
		s->reads[MFT_MOD_BLOCK(mod)]++;
	w->awaited = true;
}

static void spot_read_block(struct mft_sync *s, struct mft_spot *spot, unsigned block)
{
	for (unsigned p = 0; p < spot->n_positions; p++) {
		uint32_t mod = MFT_MOD(block, p);
		struct mft_work *w;

		if (!cell_is_untold(spot, mod))
			continue;
		w = work_at(spot, mod);
		if (w->state != MFT_REST && w->state != MFT_QUEUED)
			continue;
		await_read(s, spot, mod);
		cell_touch(s, spot, mod, false);
	}
}

void spots_read_block(struct mft_sync *s, unsigned block)
{
	for (uint32_t i = 0; i < s->n_spots; i++)
		spot_read_block(s, s->spots[i], block);
}

/* ---- tops ---------------------------------------------------------------------------------- */

static unsigned wanted_top(const struct mft_spot *spot)
{
	unsigned cap = (unsigned)ib_get(spot->node->switch_info, SI_MULTICAST_FDB_CAP);
	unsigned top = MLID_MIN + spot->n_high * MFT_BLOCK_MLIDS - 1u;

	return MIN(MIN(top, MLID_MIN + cap - 1u), (unsigned)MLID_MAX);
}

/* Does its top have to be written? Raising cannot wait; lowering can. */
static bool top_differs(const struct mft_sync *s, const struct mft_spot *spot, bool may_sink)
{
	const struct node *n = spot->node;
	unsigned want = wanted_top(spot), have;

	if (!s->use_top || !n->switch_known ||
	    !(fabric_cap_mask(&n->ports[0]) & IB_CAP(IB_CAP_MULTICAST_FDB_TOP)))
		return false;
	have = (unsigned)ib_get(n->switch_info, SI_MULTICAST_FDB_TOP);
	if (have < TOP_NONE) /* never set up */
		return want != TOP_NONE;
	return may_sink ? have != want : have < want;
}

static void top_enter(struct mft_sync *s, struct mft_spot *spot, enum mft_cell_state next)
{
	s->tops_due -= spot->top == MFT_QUEUED;
	s->n_failed -= spot->top == MFT_GIVEN_UP;
	spot->top = next;
	s->tops_due += spot->top == MFT_QUEUED;
	s->n_failed += spot->top == MFT_GIVEN_UP;
}

static void top_check(struct mft_sync *s, struct mft_spot *spot, bool may_sink)
{
	spot->node->mft.want_top = (lid_t)wanted_top(spot);
	if (spot->top == MFT_OUT)
		return;
	if (!top_differs(s, spot, may_sink))
		top_enter(s, spot, MFT_REST);
	else if (spot->top == MFT_REST)
		top_enter(s, spot, MFT_QUEUED);
}

static bool wants_block(const struct mft_spot *spot, unsigned block)
{
	for (unsigned p = 0; p < spot->n_positions; p++) {
		if (memcmp(wanted_cell(spot, MFT_MOD(block, p)), &empty, sizeof(empty)))
			return true;
	}
	return false;
}

void spots_sink(struct mft_sync *s)
{
	for (uint32_t i = 0; i < s->n_spots; i++) {
		struct mft_spot *spot = s->spots[i];

		while (spot->n_high && !wants_block(spot, spot->n_high - 1))
			spot->n_high--;
		top_check(s, spot, true);
	}
}

bool spots_tops_due(const struct mft_sync *s)
{
	return s->tops_due && s->hooks.may_write_top && s->hooks.may_write_top(s->hooks.arg);
}

/* ---- wants --------------------------------------------------------------------------------- */

void spot_want(struct mft_sync *s, struct mft_spot *spot, unsigned number, const uint64_t mask[4])
{
	unsigned block = number / MFT_BLOCK_MLIDS, i = number % MFT_BLOCK_MLIDS;

	for (unsigned p = 0; p < spot->n_positions; p++) {
		uint32_t mod = MFT_MOD(block, p);
		uint16_t want = (uint16_t)(mask[p / 4] >> p % 4 * MFT_POSITION_PORTS);
		bool known, changed = want != wanted_cell(spot, mod)->mask[i];

		if (!changed && want == held_cell(spot, mod, &known)->mask[i] && (known || !want))
			continue;
		if (changed)
			mft_have_room(&spot->want, block, p)->mask[i] = want;
		if (want && block >= spot->n_high) {
			spot->n_high = block + 1;
			spot->top_tries = 0;
			top_check(s, spot, false);
		}
		cell_touch(s, spot, mod, changed);
	}
}

/* ---- spots --------------------------------------------------------------------------------- */

static void spot_add(struct mft_sync *s, struct node *n)
{
	struct mft_spot *spot = xcalloc(1, sizeof(*spot));

	spot->node = n;
	spot->n_positions = mft_positions(n->n_ports);
	GROW(s->spots, s->n_spots + 1, s->cap_spots);
	s->spots[s->n_spots++] = spot;
	n->mft.spot = s->n_spots;
	for (unsigned b = 0; b < MFT_MAX_BLOCKS; b++)
		if (block_matters(s, b))
			spot_read_block(s, spot, b);
}

void spots_refresh(struct mft_sync *s)
{
	if (s->n_spots == s->fabric->n_switches)
		return;
	FABRIC_EACH_NODE(s->fabric, n) {
		if (node_is_switch(n) && !n->mft.spot)
			spot_add(s, n);
	}
}

/* Groups do not wait for the switch any more. */
static void settle_cells(struct mft_sync *s, struct mft_spot *spot)
{
	const struct mft_have *have = &spot->node->mft;

	for (uint32_t i = 0; i < spot->n_work; i++) {
		uint32_t mod = MFT_MOD(i / spot->n_positions, i % spot->n_positions);

		cell_enter(s, spot, mod, MFT_REST);
		read_done(s, spot, mod);
	}
	for (uint32_t b = 0; b < have->n_blocks; b++)
		for (unsigned p = 0; have->blocks[b] && p < have->blocks[b]->n_positions; p++)
			groups_cell_changed(s, spot, MFT_MOD(b, p), &have->blocks[b]->cells[p],
					    &empty);
}

void spot_drop(struct mft_sync *s, struct mft_spot *spot)
{
	uint32_t at = spot->node->mft.spot - 1;

	spot_unlist(s, spot);
	settle_cells(s, spot);
	top_enter(s, spot, MFT_REST);
	s->spots[at] = s->spots[--s->n_spots];
	s->spots[at]->node->mft.spot = at + 1;
	spot->node->mft.spot = 0;
	spot->node->mft.want_top = 0;
	mft_have_clear(&spot->want);
	free(spot->work);
	free(spot->queue);
	free(spot);
}

void spots_retry(struct mft_sync *s)
{
	for (uint32_t i = 0; i < s->n_spots; i++) {
		struct mft_spot *spot = s->spots[i];

		spot->top_tries = 0;
		if (spot->top == MFT_GIVEN_UP)
			top_enter(s, spot, MFT_REST);
		for (uint32_t k = 0; k < spot->n_work; k++) {
			uint32_t mod = MFT_MOD(k / spot->n_positions, k % spot->n_positions);

			if (spot->work[k].state != MFT_GIVEN_UP)
				continue;
			spot->work[k].tries = 0;
			cell_enter(s, spot, mod,
				   spot->work[k].awaited || cell_differs(spot, mod) ? MFT_QUEUED
										    : MFT_REST);
		}
	}
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Takes in the content of the cell, if it was answered; groups that waited for it go on. */
static void cell_observe(struct mft_sync *s, struct mft_spot *spot, const struct mad_result *r)
{
	unsigned block = MFT_MOD_BLOCK(r->mod), position = MFT_MOD_POSITION(r->mod);
	struct mft_cell before, now;
	bool known;

	before = now = *held_cell(spot, r->mod, &known);
	if (r->end == MAD_END_ANSWERED) {
		mft_cell_get(r->payload, &now);
		if (r->method == MAD_SET)
			observe_mft_written(spot->node, block, position, &now);
		else
			observe_mft_cell(spot->node, block, position, &now);
	} else if (r->method == MAD_GET && r->end == MAD_END_BAD_STATUS) {
		observe_mft_unreadable(spot->node, block, position);
	}
	groups_cell_changed(s, spot, r->mod, &before, &now);
}

/* After a read, the judgement that waits for it says which cells have to be written. */
static void cell_ended(struct mft_sync *s, struct mft_spot *spot, const struct mad_result *r)
{
	struct mft_work *w = work_at(spot, r->mod);
	bool was_read = r->method == MAD_GET, is_open, over;
	enum verdict v;

	cell_observe(s, spot, r);
	v = sync_verdict(r, was_read || w->changed || !cell_differs(spot, r->mod));
	is_open = was_read ? v == VERDICT_SILENT : cell_differs(spot, r->mod);
	over = sync_tries_are_over(&mft_row, &w->tries, v);
	if (v != VERDICT_STORED)
		s->failed_example = spot->node;
	if (is_open) {
		cell_enter(s, spot, r->mod, over ? MFT_GIVEN_UP : MFT_QUEUED);
		return;
	}
	w->tries = 0;
	cell_enter(s, spot, r->mod, MFT_REST);
	read_done(s, spot, r->mod);
}

static void top_ended(struct mft_sync *s, struct mft_spot *spot, const struct mad_result *r)
{
	enum verdict v;
	bool over;

	if (r->end == MAD_END_ANSWERED)
		observe_tops(spot->node, r->payload);
	top_enter(s, spot, MFT_REST);
	if (r->end == MAD_END_CANCELLED)
		return;
	v = top_differs(s, spot, false) ? sync_verdict(r, false) : VERDICT_STORED;
	over = sync_tries_are_over(&mft_row, &spot->top_tries, v);
	if (v == VERDICT_STORED)
		return;
	s->failed_example = spot->node;
	top_enter(s, spot, over ? MFT_GIVEN_UP : MFT_QUEUED);
}

static void on_end(void *owner, const struct mad_result *r)
{
	struct mft_sync *s = owner;
	struct mft_spot *spot = spot_of(s, r->arg);

	s->in_flight--;
	spot->in_flight--;
	if (r->attr == IB_ATTR_SWITCH_INFO)
		top_ended(s, spot, r);
	else if (r->end == MAD_END_CANCELLED)
		cell_enter(s, spot, r->mod, MFT_REST);
	else
		cell_ended(s, spot, r);
	if (r->end != MAD_END_CANCELLED)
		spot_enlist(s, spot);
}

/* ---- requests -------------------------------------------------------------------------------- */

/*
 * `payload` NULL: a Get. spots_feed() has asked whether anything may be written, and switches can
 * always be addressed.
 */
static void send_request(struct mft_sync *s, struct mft_spot *spot, uint16_t attr, uint32_t mod,
			 const uint8_t *payload)
{
	const struct mad_request rq = { .attr = attr, .mod = mod, .payload = payload };
	bool sent = (payload ? door_set : door_get)(&s->door, &spot->node->ports[0], &rq, on_end, s,
						    spot->node);

	assert(sent);
	s->in_flight++;
	spot->in_flight++;
}

static void send_cell(struct mft_sync *s, struct mft_spot *spot, uint32_t mod)
{
	const struct mft_cell *want = wanted_cell(spot, mod);
	uint8_t payload[SMP_DATA_SIZE] = { 0 };

	mft_cell_put(payload, want);
	observe_mft_sent(spot->node, MFT_MOD_BLOCK(mod), MFT_MOD_POSITION(mod), want);
	cell_enter(s, spot, mod, MFT_OUT);
	send_request(s, spot, IB_ATTR_MFT, mod, payload);
}

/* The next cell of the spot leaves, or turns out not to need it. */
static void send_next(struct mft_sync *s, struct mft_spot *spot)
{
	uint32_t mod = spot->queue[spot->head++];
	unsigned block = MFT_MOD_BLOCK(mod);
	bool is_read = cell_is_untold(spot, mod) && block_matters(s, block);

	if (is_read)
		await_read(s, spot, mod);
	if (mad_target_silent(s->door.mad, &spot->node->target)) {
		cell_enter(s, spot, mod, MFT_GIVEN_UP);
	} else if (is_read) {
		cell_enter(s, spot, mod, MFT_OUT);
		send_request(s, spot, IB_ATTR_MFT, mod, NULL);
	} else if (!s->reads[block] && cell_differs(spot, mod)) {
		send_cell(s, spot, mod);
	} else {
		cell_enter(s, spot, mod, MFT_REST);
		read_done(s, spot, mod);
	}
}

static void send_top(struct mft_sync *s, struct mft_spot *spot)
{
	uint8_t info[SMP_DATA_SIZE] = { 0 };

	memcpy(info, spot->node->switch_info, SI_BYTES);
	ib_put(info, SI_MULTICAST_FDB_TOP, wanted_top(spot));
	ib_put(info, SI_PORT_STATE_CHANGE, 0); /* written 0: stays as it is (14.2.5.4) */
	top_enter(s, spot, MFT_OUT);
	send_request(s, spot, IB_ATTR_SWITCH_INFO, 0, info);
}

/* After the cells of the switch: rows that become valid must be right. */
static void feed_tops(struct mft_sync *s)
{
	for (uint32_t i = 0; i < s->n_spots && mad_pending(s->door.mad) < FEED_DEPTH; i++) {
		struct mft_spot *spot = s->spots[i];

		if (spot->top != MFT_QUEUED || spot->in_flight || spot->head != spot->tail)
			continue;
		if (mad_target_silent(s->door.mad, &spot->node->target))
			top_enter(s, spot, MFT_GIVEN_UP);
		else
			send_top(s, spot);
	}
}

void spots_feed(struct mft_sync *s)
{
	if ((TAILQ_EMPTY(&s->busy) && !s->tops_due) || !s->door.may_write(s->door.arg))
		return;
	while (!TAILQ_EMPTY(&s->busy) && mad_pending(s->door.mad) < FEED_DEPTH) {
		struct mft_spot *spot = TAILQ_FIRST(&s->busy);

		spot_unlist(s, spot);
		send_next(s, spot);
		spot_enlist(s, spot);
	}
	if (spots_tops_due(s))
		feed_tops(s);
}
