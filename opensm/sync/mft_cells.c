// SPDX-License-Identifier: BSD-2-Clause
/*
 * Switches: cells and tops that are not as they should be leave, one switch after the other, and their
 * answers come back. Knows nothing of trees; what a group makes of an answer is mft.c's.
 */
#include <string.h>

#include "sync/mft_impl.h"
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

static const struct mft_cell *wanted(const struct mft_spot *spot, uint32_t mod)
{
	bool known;
	const struct mft_cell *c =
		mft_have_cell(&spot->want, MFT_MOD_BLOCK(mod), MFT_MOD_POSITION(mod), &known);

	return c ? c : &empty;
}

static const struct mft_cell *held(const struct mft_spot *spot, uint32_t mod, bool *ret_known)
{
	const struct mft_cell *c = mft_have_cell(&spot->node->mft, MFT_MOD_BLOCK(mod),
						 MFT_MOD_POSITION(mod), ret_known);

	return c ? c : &empty;
}

static bool is_untold(const struct mft_spot *spot, uint32_t mod)
{
	return mft_have_is_untold(&spot->node->mft, MFT_MOD_BLOCK(mod), MFT_MOD_POSITION(mod));
}

static bool differs(const struct mft_spot *spot, uint32_t mod)
{
	bool known;
	const struct mft_cell *have = held(spot, mod, &known), *want = wanted(spot, mod);

	if (memcmp(have, want, sizeof(*have)))
		return true;
	return !known && memcmp(want, &empty, sizeof(*want));
}

static void list(struct mft_sync *s, struct mft_spot *spot)
{
	if (spot->listed || spot->head == spot->tail || spot->in_flight >= PER_SWITCH)
		return;
	spot->listed = true;
	spot->next = NULL;
	if (s->last)
		s->last->next = spot;
	else
		s->first = spot;
	s->last = spot;
}

static struct mft_spot *unlist_first(struct mft_sync *s)
{
	struct mft_spot *spot = s->first;

	s->first = spot->next;
	if (!s->first)
		s->last = NULL;
	spot->listed = false;
	return spot;
}

static void unlist(struct mft_sync *s, struct mft_spot *spot)
{
	struct mft_spot *before = NULL;

	if (!spot->listed)
		return;
	for (struct mft_spot *at = s->first; at != spot; at = at->next)
		before = at;
	if (before)
		before->next = spot->next;
	else
		s->first = spot->next;
	if (s->last == spot)
		s->last = before;
	spot->listed = false;
}

static void push(struct mft_spot *spot, uint32_t mod)
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

	s->n_failed -= w->state == MFT_FAILED;
	*stuck -= w->state == MFT_FAILED && w->awaited;
	w->state = (uint8_t)next;
	switch (next) {
	case MFT_REST:
		break;
	case MFT_QUEUED:
		push(spot, mod);
		list(s, spot);
		break;
	case MFT_WIRE:
		w->changed = false;
		break;
	case MFT_FAILED:
		s->n_failed++;
		*stuck += w->awaited;
		break;
	}
}

/* Something about the cell is not as it was; `changed`: what is wanted of it. */
static void touch(struct mft_sync *s, struct mft_spot *spot, uint32_t mod, bool changed)
{
	struct mft_work *w = work_at(spot, mod);

	switch ((enum mft_cell_state)w->state) {
	case MFT_REST:
		cell_enter(s, spot, mod, MFT_QUEUED);
		break;
	case MFT_QUEUED:
		break;
	case MFT_WIRE:
		w->changed |= changed;
		break;
	case MFT_FAILED:
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

	s->reads[MFT_MOD_BLOCK(mod)] += !w->awaited;
	w->awaited = true;
}

static void spot_read_block(struct mft_sync *s, struct mft_spot *spot, unsigned block)
{
	for (unsigned p = 0; p < spot->n_positions; p++) {
		uint32_t mod = MFT_MOD(block, p);
		struct mft_work *w;

		if (!is_untold(spot, mod))
			continue;
		w = work_at(spot, mod);
		if (w->state != MFT_REST && w->state != MFT_QUEUED)
			continue;
		await_read(s, spot, mod);
		touch(s, spot, mod, false);
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
	s->n_failed -= spot->top == MFT_FAILED;
	spot->top = next;
	s->tops_due += spot->top == MFT_QUEUED;
	s->n_failed += spot->top == MFT_FAILED;
}

static void top_check(struct mft_sync *s, struct mft_spot *spot, bool may_sink)
{
	spot->node->mft.want_top = (lid_t)wanted_top(spot);
	if (spot->top == MFT_WIRE)
		return;
	if (!top_differs(s, spot, may_sink))
		top_enter(s, spot, MFT_REST);
	else if (spot->top == MFT_REST)
		top_enter(s, spot, MFT_QUEUED);
}

static uint32_t highest_block(const struct mft_spot *spot)
{
	uint32_t n = spot->want.n_blocks;

	while (n > 0) {
		const struct mft_block *b = spot->want.blocks[n - 1];

		for (unsigned p = 0; b && p < b->n_positions; p++)
			if (memcmp(&b->cells[p], &empty, sizeof(empty)))
				return n;
		n--;
	}
	return 0;
}

void spots_sink(struct mft_sync *s)
{
	for (uint32_t i = 0; i < s->n_spots; i++) {
		s->spots[i]->n_high = highest_block(s->spots[i]);
		top_check(s, s->spots[i], true);
	}
}

bool spots_tops_due(const struct mft_sync *s)
{
	return s->tops_due && s->hooks.may_write_top && s->hooks.may_write_top(s->hooks.arg);
}

/* ---- what is wanted ------------------------------------------------------------------------ */

void spot_want(struct mft_sync *s, struct mft_spot *spot, unsigned number, const uint64_t mask[4])
{
	unsigned block = number / MFT_BLOCK_MLIDS, i = number % MFT_BLOCK_MLIDS;

	for (unsigned p = 0; p < spot->n_positions; p++) {
		uint32_t mod = MFT_MOD(block, p);
		uint16_t want = (uint16_t)(mask[p / 4] >> p % 4 * MFT_POSITION_PORTS);
		bool known, changed = want != wanted(spot, mod)->mask[i];

		if (!changed && want == held(spot, mod, &known)->mask[i] && (known || !want))
			continue;
		if (changed)
			mft_have_room(&spot->want, block, p)->mask[i] = want;
		if (want && block >= spot->n_high) {
			spot->n_high = block + 1;
			spot->top_tries = 0;
			top_check(s, spot, false);
		}
		touch(s, spot, mod, changed);
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

/* Nobody waits for it any more. */
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

	unlist(s, spot);
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

void spots_reset(struct mft_sync *s)
{
	for (uint32_t i = 0; i < s->n_spots; i++) {
		struct mft_spot *spot = s->spots[i];

		mft_have_clear(&spot->want);
		if (spot->n_work)
			memset(spot->work, 0, spot->n_work * sizeof(*spot->work));
		spot->head = spot->tail = 0;
		spot->in_flight = spot->n_high = spot->top_tries = 0;
		spot->top = MFT_REST;
		spot->listed = false;
		spot->node->mft.want_top = 0;
	}
	memset(s->reads, 0, sizeof(s->reads));
	memset(s->stuck, 0, sizeof(s->stuck));
	s->first = s->last = NULL;
	s->in_flight = s->n_failed = s->tops_due = 0;
}

void spots_retry(struct mft_sync *s)
{
	for (uint32_t i = 0; i < s->n_spots; i++) {
		struct mft_spot *spot = s->spots[i];

		spot->top_tries = 0;
		if (spot->top == MFT_FAILED)
			top_enter(s, spot, MFT_REST);
		for (uint32_t k = 0; k < spot->n_work; k++) {
			uint32_t mod = MFT_MOD(k / spot->n_positions, k % spot->n_positions);

			if (spot->work[k].state != MFT_FAILED)
				continue;
			spot->work[k].tries = 0;
			cell_enter(s, spot, mod,
				   spot->work[k].awaited || differs(spot, mod) ? MFT_QUEUED
									       : MFT_REST);
		}
	}
}

/* ---- transactions -------------------------------------------------------------------------- */

static void ask(struct mft_sync *s, struct mft_spot *spot, const struct mad_request *what,
		mad_done_fn on_done)
{
	struct mad_request rq = *what;

	rq.path = &spot->node->path;
	rq.m_key = port_of_sma(&spot->node->ports[0])->m_key;
	rq.target = &spot->node->target;
	s->in_flight++;
	spot->in_flight++;
	if (rq.method == MAD_SET)
		s->outcome.sets++;
	else
		s->outcome.reads++;
	mad_submit(s->mad, &rq, on_done, s, spot->node);
}

static void note_failure(struct mft_sync *s, struct mft_spot *spot, const struct mad_result *r)
{
	s->outcome.timeouts += r->end == MAD_END_TIMEOUT;
	s->outcome.refused += r->end == MAD_END_BAD_STATUS;
	s->outcome.unstored += r->end == MAD_END_ANSWERED;
	s->outcome.failed_example = spot->node;
	s->outcome.failed_attr = r->attr;
	s->outcome.failed_status = r->status;
}

/* Bookkeeping of every end. False: cancelled, nothing more is to be done. */
static bool ended(struct mft_sync *s, const struct mad_result *r, struct mft_spot **ret_spot)
{
	struct mft_spot *spot = spot_of(s, r->arg);

	s->in_flight--;
	spot->in_flight--;
	*ret_spot = spot;
	return r->end != MAD_END_CANCELLED;
}

static void on_set(void *owner, const struct mad_result *r)
{
	struct mft_sync *s = owner;
	struct mft_spot *spot;
	struct mft_cell before, now;
	struct mft_work *w;
	bool known;

	if (!ended(s, r, &spot)) {
		cell_enter(s, spot, r->mod, MFT_REST);
		return;
	}
	w = work_at(spot, r->mod);
	before = now = *held(spot, r->mod, &known);
	if (r->end == MAD_END_ANSWERED) {
		mft_cell_get(r->payload, &now);
		mft_have_set(&spot->node->mft, MFT_MOD_BLOCK(r->mod), MFT_MOD_POSITION(r->mod),
			     &now);
	}
	if (r->end == MAD_END_ANSWERED && (w->changed || !differs(spot, r->mod))) {
		w->tries = 0;
	} else {
		w->tries++;
		note_failure(s, spot, r);
	}
	groups_cell_changed(s, spot, r->mod, &before, &now);
	if (!differs(spot, r->mod))
		cell_enter(s, spot, r->mod, MFT_REST);
	else
		cell_enter(s, spot, r->mod, w->tries < MFT_TRIES ? MFT_QUEUED : MFT_FAILED);
	list(s, spot);
}

static void on_read(void *owner, const struct mad_result *r)
{
	struct mft_sync *s = owner;
	struct mft_have *have;
	struct mft_spot *spot;
	struct mft_cell before, now;
	struct mft_work *w;
	bool known;

	if (!ended(s, r, &spot)) {
		cell_enter(s, spot, r->mod, MFT_REST);
		return;
	}
	have = &spot->node->mft;
	before = now = *held(spot, r->mod, &known);
	if (r->end == MAD_END_ANSWERED) {
		mft_cell_get(r->payload, &now);
		mft_have_set(have, MFT_MOD_BLOCK(r->mod), MFT_MOD_POSITION(r->mod), &now);
	} else {
		note_failure(s, spot, r);
	}
	if (r->end == MAD_END_BAD_STATUS)
		mft_have_assume(have, MFT_MOD_BLOCK(r->mod), MFT_MOD_POSITION(r->mod));
	groups_cell_changed(s, spot, r->mod, &before, &now);
	w = work_at(spot, r->mod);
	w->tries = r->end == MAD_END_TIMEOUT ? w->tries + 1 : 0;
	if (w->tries > 0 && w->tries < MFT_TRIES) {
		cell_enter(s, spot, r->mod, MFT_QUEUED);
		list(s, spot);
		return;
	}
	/* What has to be written is said by the judgement that waits for this, now or after topology(). */
	cell_enter(s, spot, r->mod, w->tries ? MFT_FAILED : MFT_REST);
	if (!w->tries)
		read_done(s, spot, r->mod);
	list(s, spot);
}

static void send_read(struct mft_sync *s, struct mft_spot *spot, uint32_t mod)
{
	const struct mad_request rq = { .method = MAD_GET, .attr = IB_ATTR_MFT, .mod = mod };

	await_read(s, spot, mod);
	cell_enter(s, spot, mod, MFT_WIRE);
	ask(s, spot, &rq, on_read);
}

static void send_set(struct mft_sync *s, struct mft_spot *spot, uint32_t mod)
{
	uint8_t payload[SMP_DATA_SIZE] = { 0 };
	const struct mad_request rq = {
		.method = MAD_SET, .attr = IB_ATTR_MFT, .mod = mod, .payload = payload
	};
	const struct mft_cell *want = wanted(spot, mod);

	mft_cell_put(payload, want);
	mft_have_doubt(&spot->node->mft, MFT_MOD_BLOCK(mod), MFT_MOD_POSITION(mod), want);
	cell_enter(s, spot, mod, MFT_WIRE);
	ask(s, spot, &rq, on_set);
}

/* The next cell of the spot leaves, or turns out not to need it. */
static void send_next(struct mft_sync *s, struct mft_spot *spot)
{
	uint32_t mod = spot->queue[spot->head++];
	unsigned block = MFT_MOD_BLOCK(mod);

	if (mad_target_silent(s->mad, &spot->node->target)) {
		if (is_untold(spot, mod) && block_matters(s, block))
			await_read(s, spot, mod);
		cell_enter(s, spot, mod, MFT_FAILED);
	} else if (is_untold(spot, mod) && block_matters(s, block)) {
		send_read(s, spot, mod);
	} else if (!s->reads[block] && differs(spot, mod)) {
		send_set(s, spot, mod);
	} else {
		cell_enter(s, spot, mod, MFT_REST);
		read_done(s, spot, mod);
	}
}

static void on_top(void *owner, const struct mad_result *r)
{
	struct mft_sync *s = owner;
	struct mft_spot *spot;

	if (!ended(s, r, &spot)) {
		top_enter(s, spot, MFT_REST);
		return;
	}
	if (r->end == MAD_END_ANSWERED)
		memcpy(spot->node->switch_info, r->payload, SI_BYTES);
	top_enter(s, spot, MFT_REST);
	if (!top_differs(s, spot, false)) {
		spot->top_tries = 0;
	} else {
		note_failure(s, spot, r);
		top_enter(s, spot, ++spot->top_tries < MFT_TRIES ? MFT_QUEUED : MFT_FAILED);
	}
	list(s, spot);
}

static void send_top(struct mft_sync *s, struct mft_spot *spot)
{
	uint8_t info[SMP_DATA_SIZE] = { 0 };
	const struct mad_request rq = { .method = MAD_SET,
					.attr = IB_ATTR_SWITCH_INFO,
					.payload = info };

	memcpy(info, spot->node->switch_info, SI_BYTES);
	ib_put(info, SI_MULTICAST_FDB_TOP, wanted_top(spot));
	ib_put(info, SI_PORT_STATE_CHANGE, 0); /* written 0: stays as it is (14.2.5.4) */
	top_enter(s, spot, MFT_WIRE);
	ask(s, spot, &rq, on_top);
}

/* After the cells of the switch: what becomes valid must be right. */
static void feed_tops(struct mft_sync *s)
{
	for (uint32_t i = 0; i < s->n_spots && mad_pending(s->mad) < FEED_DEPTH; i++) {
		struct mft_spot *spot = s->spots[i];

		if (spot->top != MFT_QUEUED || spot->in_flight || spot->head != spot->tail)
			continue;
		if (mad_target_silent(s->mad, &spot->node->target))
			top_enter(s, spot, MFT_FAILED);
		else
			send_top(s, spot);
	}
}

void spots_feed(struct mft_sync *s)
{
	if ((!s->first && !s->tops_due) || !s->hooks.may_write(s->hooks.arg))
		return;
	while (s->first && mad_pending(s->mad) < FEED_DEPTH) {
		struct mft_spot *spot = unlist_first(s);

		send_next(s, spot);
		list(s, spot);
	}
	if (spots_tops_due(s))
		feed_tops(s);
}
