// SPDX-License-Identifier: BSD-2-Clause
/*
 * From the wanted tree of a group to the row that each switch should hold now. Rows are replaced in
 * one step if any order is safe, otherwise in two (plan/mft_order.h). Groups are judged in feed(),
 * so that changes that come together are judged once.
 */
#include "sync/mft.h"

#include <assert.h>
#include <string.h>

#include "sync/mft_internal.h"
#include "util/mem.h"

/* Most judgements in one feed that follow from others; the rest waits for the next. */
#define ROUNDS_MAX 1000

struct mft_sync *mft_sync_new(struct fabric *f, struct mad_engine *mad,
			      const struct mft_hooks *hooks)
{
	struct mft_sync *s = xcalloc(1, sizeof(*s));

	assert(f && mad && hooks && hooks->may_write);
	s->fabric = f;
	s->sender = (struct smp_sender){ f, mad, hooks->may_write, hooks->arg };
	s->hooks = *hooks;
	s->use_top = true;
	TAILQ_INIT(&s->busy);
	return s;
}

struct mft_sync *mft_sync_free(struct mft_sync *s)
{
	if (!s)
		return NULL;
	mft_sync_stop(s);
	free(s->places);
	free(s->sets);
	free(s->switches);
	free(s->due);
	free(s);
	return NULL;
}

/* ---- wants --------------------------------------------------------------------------------- */

void mft_sync_want(struct mft_sync *s, lid_t mlid, const struct mcast_tree *tree)
{
	unsigned number = (unsigned)mlid - MLID_MIN;
	struct mft_group *g;
	bool used;

	assert(s && mlid >= MLID_MIN && mlid <= MLID_MAX);
	if (tree && !tree->n_rows)
		tree = NULL;
	g = &s->groups[number];
	if (g->goal == tree)
		return;
	used = g->goal;
	mcast_tree_unref(g->goal);
	g->goal = mcast_tree_ref(tree);
	group_is_due(s, number);
	if (used == !!tree)
		return;
	if (used)
		s->used[number / MFT_BLOCK_MLIDS]--;
	else if (s->used[number / MFT_BLOCK_MLIDS]++ == 0)
		switches_read_block(s, number / MFT_BLOCK_MLIDS);
}

const struct mcast_tree *mft_sync_wanted(const struct mft_sync *s, lid_t mlid)
{
	assert(mlid >= MLID_MIN && mlid <= MLID_MAX);
	return s->groups[mlid - MLID_MIN].goal;
}

bool mft_sync_is_read(struct mft_sync *s, lid_t mlid)
{
	unsigned block = ((unsigned)mlid - MLID_MIN) / MFT_BLOCK_MLIDS;

	assert(mlid >= MLID_MIN && mlid <= MLID_MAX);
	switches_refresh(s);
	if (!s->asked[block]) {
		s->asked[block] = true;
		switches_read_block(s, block);
	}
	return s->reads[block] == s->stuck[block];
}

void mft_sync_use_top(struct mft_sync *s, bool use)
{
	s->use_top = use;
}

void mft_sync_topology(struct mft_sync *s)
{
	switches_refresh(s);
	switches_retry(s);
	for (unsigned b = 0; b < MFT_MAX_BLOCKS; b++)
		if (block_matters(s, b))
			switches_read_block(s, b);
	s->sink = s->complete = true;
	for (unsigned i = 0; i < N_MLIDS; i++)
		if (block_matters(s, i / MFT_BLOCK_MLIDS))
			group_is_due(s, i);
}

void mft_sync_lower_tops(struct mft_sync *s)
{
	s->sink = true;
}

void mft_sync_hurry(struct mft_sync *s)
{
	s->hurry = true;
	switches_send_anew(s);
}

void mft_sync_leave_alone(struct mft_sync *s, const struct node *n)
{
	struct mft_switch *sw = switch_of(s, n);

	if (sw)
		switch_leave_alone(s, sw);
}

void mft_sync_forget(struct mft_sync *s, struct node *n)
{
	struct mft_switch *sw = switch_of(s, n);

	if (s->failed_example == n)
		s->failed_example = NULL;
	if (!sw)
		return;
	mad_cancel(s->sender.mad, s, &n->target);
	switch_drop(s, sw);
}

void mft_sync_stop(struct mft_sync *s)
{
	mad_cancel(s->sender.mad, s, NULL);
	for (unsigned i = 0; i < N_MLIDS; i++) {
		struct mft_group *g = &s->groups[i];

		mcast_tree_unref(g->goal);
		*g = (struct mft_group){ 0 };
	}
	memset(s->used, 0, sizeof(s->used));
	memset(s->asked, 0, sizeof(s->asked));
	s->was_busy = s->sink = s->complete = s->hurry = false;
	while (s->n_switches)
		switch_drop(s, s->switches[s->n_switches - 1]);
	s->n_due = 0;
	s->failed_example = NULL;
}

/* ---- judgement ----------------------------------------------------------------------------- */

static uint32_t place_of(const struct mft_sync *s, const struct mcast_row *row)
{
	const struct node *n = fabric_find_node(s->fabric, row->guid);

	return n && n->mft.place ? n->mft.place - 1 : MCAST_NONE;
}

static unsigned mcast_cap(const struct node *n)
{
	return n->switch_known ? (unsigned)ib_get(n->switch_info, SI_MULTICAST_FDB_CAP) : 0;
}

/* The switch behind a port; copies do not reach a switch that is not in the fabric. */
static uint32_t place_behind(const void *arg, uint32_t place, unsigned port, unsigned *ret_far)
{
	const struct mft_sync *s = arg;
	const struct node *n = s->switches[place]->node;
	const struct port *p = port && port <= n->n_ports ? n->ports[port].peer : NULL;

	if (!p || !node_is_switch(p->node) || !p->node->mft.place)
		return MCAST_NONE;
	*ret_far = p->num;
	return p->node->mft.place - 1;
}

/* The group in its present and in its wanted state. */
static struct mft_order lay_out(struct mft_sync *s, unsigned number)
{
	struct mft_group *g = &s->groups[number];

	if (s->n_switches > s->cap_places) {
		s->cap_places = s->cap_switches;
		s->places = xrealloc(s->places, s->cap_places, sizeof(*s->places));
		s->sets = xrealloc(s->sets, s->cap_places, sizeof(*s->sets));
	}
	for (uint32_t i = 0; i < s->n_switches; i++) {
		s->places[i] = (struct mft_place){ .up = MCAST_NONE };
		mft_have_row(&s->switches[i]->node->mft, (lid_t)(MLID_MIN + number),
			     s->places[i].held);
	}
	g->not_served = 0;
	for (uint32_t i = 0; g->goal && i < g->goal->n_rows; i++) {
		const struct mcast_row *row = &g->goal->rows[i];
		uint32_t place = place_of(s, row);

		if (place == MCAST_NONE)
			continue;
		if (number >= mcast_cap(s->switches[place]->node)) {
			g->not_served++;
			continue;
		}
		s->places[place].row = row;
		if (row->up != MCAST_NONE)
			s->places[place].up = place_of(s, &g->goal->rows[row->up]);
	}
	return (struct mft_order){ s->places, s->sets, s->n_switches, place_behind, s };
}

/* The number of cells that may have ports which `row` lacks. */
static uint32_t count_excess(const uint64_t held[4], const uint64_t row[4])
{
	uint32_t n = 0;

	for (unsigned p = 0; p < MFT_MAX_POSITIONS; p++)
		n += (held[p / 4] & ~row[p / 4]) >> p % 4 * MFT_POSITION_PORTS & 0xFFFF ? 1 : 0;
	return n;
}

static void judge_group(struct mft_sync *s, unsigned number)
{
	struct mft_group *g = &s->groups[number];
	struct mft_order order;
	uint64_t row[4];

	g->due = false;
	if (s->reads[number / MFT_BLOCK_MLIDS]) {
		g->step = MFT_READ;
		return;
	}
	order = lay_out(s, number);
	g->step = mft_order_is_free(&order) ? MFT_BUILD : MFT_CUT;
	g->excess = 0;
	if (g->step == MFT_BUILD) {
		s->sink |= g->sinks;
		g->sinks = false;
	}
	for (uint32_t i = 0; i < s->n_switches; i++) {
		mft_order_row(&order, i, g->step == MFT_CUT, row);
		switch_want(s, s->switches[i], number, row);
		if (g->step == MFT_CUT)
			g->excess += count_excess(s->places[i].held, row);
	}
}

/* ---- the run ------------------------------------------------------------------------------- */

bool mft_sync_busy(const struct mft_sync *s)
{
	return s->n_due || s->sink || !TAILQ_EMPTY(&s->busy) || s->in_flight ||
	       switches_tops_due(s);
}

static void report_idle(struct mft_sync *s)
{
	struct mft_outcome o = { .given_up = s->n_failed, .failed_example = s->failed_example };

	s->was_busy = false;
	s->failed_example = NULL;
	for (unsigned i = 0; i < N_MLIDS; i++) {
		o.waiting += s->groups[i].step != MFT_BUILD ? 1 : 0;
		o.not_served += s->groups[i].not_served;
	}
	if (s->hooks.idle)
		s->hooks.idle(s->hooks.arg, &o);
}

/*
 * Lowers tops. Rows of groups that wait for reads, or for cables to be cut, stay wanted: the
 * switches that they leave are lowered afterwards.
 */
static void sink_tops(struct mft_sync *s)
{
	switches_sink(s);
	for (unsigned i = 0; i < N_MLIDS; i++)
		s->groups[i].sinks |= s->groups[i].step != MFT_BUILD;
	s->sink = false;
}

void mft_sync_feed(struct mft_sync *s)
{
	if (s->n_due)
		switches_refresh(s);
	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		while (s->n_due)
			judge_group(s, s->due[--s->n_due]);
		if (s->sink)
			sink_tops(s);
		switches_feed(s);
		if (!s->n_due)
			break;
	}
	if (mft_sync_busy(s)) {
		s->was_busy = true;
		return;
	}
	s->hurry = false;
	if (s->was_busy)
		report_idle(s);
}

/* May copies of one MLID pass a port? `have` and `want`: is the port in the row? */
static bool mlid_is_clean(const struct mft_group *g, bool have, bool want)
{
	if (!have && !want)
		return true;
	return want && g->step == MFT_BUILD && !g->due;
}

/* Is this so for all MLIDs of a block, by its cells? NULL: no row of the cell has the port. */
static bool block_is_clean(const struct mft_sync *s, unsigned block, const struct mft_cell *have,
			   const struct mft_cell *want, uint16_t bit)
{
	const struct mft_group *g = &s->groups[block * MFT_BLOCK_MLIDS];
	unsigned n = MIN(MFT_BLOCK_MLIDS, N_MLIDS - block * MFT_BLOCK_MLIDS);

	for (unsigned k = 0; k < n && (have || want); k++)
		if (!mlid_is_clean(&g[k], have && (have->mask[k] & bit),
				   want && (want->mask[k] & bit)))
			return false;
	return true;
}

bool mft_sync_port_is_clean(const struct mft_sync *s, const struct node *n, unsigned port)
{
	const struct mft_switch *sw = switch_of(s, n);
	unsigned position = port / MFT_POSITION_PORTS;
	uint16_t bit = (uint16_t)(1u << port % MFT_POSITION_PORTS);
	/* beyond these blocks nothing is known or wanted */
	uint32_t end = MAX(n->mft.n_blocks, sw ? sw->want.n_blocks : 0);
	bool known;

	assert(s && n);
	for (unsigned b = 0; b < (n->mft.inherited ? MFT_MAX_BLOCKS : end); b++) {
		const struct mft_cell *have = mft_have_cell(&n->mft, b, position, &known);
		const struct mft_cell *want =
			sw ? mft_have_cell(&sw->want, b, position, &known) : NULL;

		if (block_matters(s, b) && mft_have_is_untold(&n->mft, b, position))
			return false;
		if (!block_is_clean(s, b, have, want, bit))
			return false;
	}
	return true;
}
