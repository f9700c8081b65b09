// SPDX-License-Identifier: BSD-2-Clause
/*
 * Groups: from a wanted tree to what every switch should hold right now. Decides whether the way
 * from what is held to what is wanted can be gone in one step, and waits where it cannot.
 *
 * Judgements are put off to feed(), so that changes that come together are judged once.
 */
#include "sync/mft.h"

#include <string.h>

#include "sync/mft_impl.h"
#include "util/mem.h"

struct mft_sync *mft_sync_new(struct fabric *f, struct mad_engine *mad,
			      const struct mft_hooks *hooks)
{
	struct mft_sync *s = xcalloc(1, sizeof(*s));

	s->fabric = f;
	s->mad = mad;
	s->hooks = *hooks;
	s->use_top = true;
	return s;
}

struct mft_sync *mft_sync_free(struct mft_sync *s)
{
	if (!s)
		return NULL;
	mft_sync_stop(s);
	while (s->n_spots)
		spot_drop(s, s->spots[s->n_spots - 1]);
	free(s->spots);
	free(s->due);
	free(s);
	return NULL;
}

/* ---- what is wanted ------------------------------------------------------------------------ */

void group_is_due(struct mft_sync *s, unsigned number)
{
	if (s->groups[number].due)
		return;
	s->groups[number].due = true;
	GROW(s->due, s->n_due + 1, s->cap_due);
	s->due[s->n_due++] = (uint16_t)number;
}

static void group_enter(struct mft_sync *s, struct mft_group *g, enum mft_step next)
{
	s->n_waiting -= g->step != MFT_BUILD;
	g->step = next;
	s->n_waiting += g->step != MFT_BUILD;
}

void mft_sync_want(struct mft_sync *s, lid_t mlid, const struct mcast_tree *tree)
{
	unsigned number = (unsigned)mlid - MLID_MIN;
	struct mft_group *g;
	bool used;

	if (mlid < MLID_MIN || mlid > MLID_MAX)
		return;
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
		spots_read_block(s, number / MFT_BLOCK_MLIDS);
}

const struct mcast_tree *mft_sync_wanted(const struct mft_sync *s, lid_t mlid)
{
	return mlid < MLID_MIN || mlid > MLID_MAX ? NULL : s->groups[mlid - MLID_MIN].goal;
}

void mft_sync_use_top(struct mft_sync *s, bool use)
{
	s->use_top = use;
}

void mft_sync_distrust(struct mft_sync *s)
{
	FABRIC_EACH_NODE(s->fabric, n) {
		if (node_is_switch(n))
			mft_have_forget_all(&n->mft);
	}
}

void mft_sync_topology(struct mft_sync *s)
{
	spots_refresh(s);
	spots_retry(s);
	for (unsigned b = 0; b < MFT_MAX_BLOCKS; b++)
		if (block_matters(s, b))
			spots_read_block(s, b);
	s->sink = s->told = true;
	for (unsigned i = 0; i < N_MLIDS; i++)
		if (block_matters(s, i / MFT_BLOCK_MLIDS))
			group_is_due(s, i);
}

void mft_sync_lower_tops(struct mft_sync *s)
{
	s->sink = true;
}

void mft_sync_forget(struct mft_sync *s, struct node *n)
{
	struct mft_spot *spot = spot_of(s, n);

	if (s->outcome.failed_example == n)
		s->outcome.failed_example = NULL;
	if (!spot)
		return;
	mad_cancel(s->mad, s, &n->target);
	spot_drop(s, spot);
}

void mft_sync_stop(struct mft_sync *s)
{
	mad_cancel(s->mad, s, NULL);
	for (unsigned i = 0; i < N_MLIDS; i++) {
		struct mft_group *g = &s->groups[i];

		mcast_tree_unref(g->goal);
		*g = (struct mft_group){ 0 };
	}
	memset(s->used, 0, sizeof(s->used));
	memset(s->asked, 0, sizeof(s->asked));
	spots_reset(s);
	s->n_due = s->n_waiting = s->not_served = 0;
	s->was_busy = s->sink = s->told = false;
	memset(&s->outcome, 0, sizeof(s->outcome));
}

/* ---- judgement ----------------------------------------------------------------------------- */

static bool has_bit(const uint64_t mask[4], unsigned port)
{
	return mask[port / 64] >> port % 64 & 1;
}

static void clear_bit(uint64_t mask[4], unsigned port)
{
	mask[port / 64] &= ~(UINT64_C(1) << port % 64);
}

/* Calls for each port of a mask; `p` is the port. */
#define EACH_PORT(mask, p)                                                                         \
	for (unsigned p##_w = 0; p##_w < 4; p##_w++)                                               \
		for (uint64_t p##_left = (mask)[p##_w]; p##_left; p##_left &= p##_left - 1)        \
			for (unsigned p = p##_w * 64 + (unsigned)__builtin_ctzll(p##_left),        \
				      p##_once = 1;                                                \
			     p##_once; p##_once = 0)

static uint32_t boss_of(struct mft_sync *s, uint32_t i)
{
	while (s->spots[i]->boss != i)
		i = s->spots[i]->boss = s->spots[s->spots[i]->boss]->boss;
	return i;
}

/* False: they are connected already. */
static bool unite(struct mft_sync *s, uint32_t a, uint32_t b)
{
	a = boss_of(s, a);
	b = boss_of(s, b);
	s->spots[MAX(a, b)]->boss = MIN(a, b);
	return a != b;
}

static uint32_t place_of(const struct mft_spot *spot)
{
	return spot->node->mft.spot - 1;
}

static struct mft_spot *spot_of_row(const struct mft_sync *s, const struct mcast_row *row)
{
	const struct node *n = fabric_find_node(s->fabric, row->guid);

	return n ? spot_of(s, n) : NULL;
}

static unsigned mcast_cap(const struct node *n)
{
	return n->switch_known ? (unsigned)ib_get(n->switch_info, SI_MULTICAST_FDB_CAP) : 0;
}

/* Gives spots their rows of the goal, and makes the cables of the goal one piece. */
static void lay_out_goal(struct mft_sync *s, unsigned number)
{
	struct mft_group *g = &s->groups[number];

	s->not_served -= g->not_served;
	g->not_served = 0;
	for (uint32_t i = 0; i < s->n_spots; i++) {
		s->spots[i]->row = NULL;
		s->spots[i]->boss = i;
	}
	for (uint32_t i = 0; g->goal && i < g->goal->n_rows; i++) {
		struct mft_spot *spot = spot_of_row(s, &g->goal->rows[i]);

		if (spot && number < mcast_cap(spot->node))
			spot->row = &g->goal->rows[i];
		else if (spot)
			g->not_served++;
	}
	s->not_served += g->not_served;
	for (uint32_t i = 0; i < s->n_spots; i++) {
		const struct mcast_row *row = s->spots[i]->row;
		struct mft_spot *up = row && row->up != MCAST_NONE
					      ? spot_of_row(s, &g->goal->rows[row->up])
					      : NULL;

		if (up)
			unite(s, i, place_of(up));
	}
}

/* The switch behind a port, if data can get there; NULL. */
static struct mft_spot *behind(const struct mft_sync *s, const struct mft_spot *spot, unsigned port)
{
	const struct port *p =
		port && port <= spot->node->n_ports ? &spot->node->ports[port] : NULL;

	return p && p->peer && node_is_switch(p->peer->node) ? spot_of(s, p->peer->node) : NULL;
}

/* Is the cable at `port` one of the goal, used the other way? */
static bool is_goal_cable(const struct mft_sync *s, const struct mft_group *g,
			  const struct mft_spot *spot, unsigned port, const struct mft_spot *other)
{
	unsigned far = spot->node->ports[port].peer->num;

	if (spot->row && spot->row->up != MCAST_NONE && spot->row->up_port == port &&
	    spot_of_row(s, &g->goal->rows[spot->row->up]) == other)
		return true;
	return other->row && other->row->up != MCAST_NONE && other->row->up_port == far &&
	       spot_of_row(s, &g->goal->rows[other->row->up]) == spot;
}

/* Do the copies that the spot may send beyond the goal close a circle? */
static bool closes_circle(struct mft_sync *s, unsigned number, struct mft_spot *spot,
			  const uint64_t extra[4])
{
	EACH_PORT(extra, port)
	{
		struct mft_spot *other = behind(s, spot, port);
		uint64_t there[4];
		unsigned far;

		if (!other || is_goal_cable(s, &s->groups[number], spot, port, other))
			continue;
		/* Held at both ends: the first end counts. */
		far = spot->node->ports[port].peer->num;
		mft_have_row(&other->node->mft, (lid_t)(MLID_MIN + number), there);
		if (has_bit(there, far) && !(other->row && has_bit(other->row->mask, far)) &&
		    place_of(other) < place_of(spot))
			continue;
		if (!unite(s, place_of(spot), place_of(other)))
			return true;
	}
	return false;
}

/* Can rows be replaced in any order? */
static bool is_safe(struct mft_sync *s, unsigned number)
{
	for (uint32_t i = 0; i < s->n_spots; i++) {
		struct mft_spot *spot = s->spots[i];
		uint64_t held[4];

		if (!mft_have_row(&spot->node->mft, (lid_t)(MLID_MIN + number), held))
			continue;
		for (unsigned w = 0; spot->row && w < 4; w++)
			held[w] &= ~spot->row->mask[w];
		if (closes_circle(s, number, spot, held))
			return false;
	}
	return true;
}

/* The wanted row without the cables that are not held yet. */
static void cut_row(const struct mft_sync *s, const struct mft_spot *spot, unsigned number,
		    uint64_t row[4])
{
	uint64_t held[4], new[4];

	mft_have_row(&spot->node->mft, (lid_t)(MLID_MIN + number), held);
	for (unsigned w = 0; w < 4; w++)
		new[w] = row[w] & ~held[w];
	EACH_PORT(new, port)
	{
		if (behind(s, spot, port))
			clear_bit(row, port);
	}
}

/* Cells of the spot that may hold what is not in `row`. */
static uint32_t count_excess(const struct mft_spot *spot, unsigned number, const uint64_t row[4])
{
	uint64_t held[4];
	uint32_t n = 0;

	mft_have_row(&spot->node->mft, (lid_t)(MLID_MIN + number), held);
	for (unsigned p = 0; p < MFT_MAX_POSITIONS; p++)
		n += (held[p / 4] & ~row[p / 4]) >> p % 4 * MFT_POSITION_PORTS & 0xFFFF ? 1 : 0;
	return n;
}

static void program(struct mft_sync *s, unsigned number)
{
	struct mft_group *g = &s->groups[number];

	g->excess = 0;
	for (uint32_t i = 0; i < s->n_spots; i++) {
		struct mft_spot *spot = s->spots[i];
		uint64_t row[4] = { 0 };

		if (spot->row)
			memcpy(row, spot->row->mask, sizeof(row));
		if (spot->row && g->step == MFT_CUT)
			cut_row(s, spot, number, row);
		spot_want(s, spot, number, row);
		if (g->step == MFT_CUT)
			g->excess += count_excess(spot, number, row);
	}
}

static void judge(struct mft_sync *s, unsigned number)
{
	struct mft_group *g = &s->groups[number];

	g->due = false;
	if (s->reads[number / MFT_BLOCK_MLIDS]) {
		group_enter(s, g, MFT_READ);
		return;
	}
	lay_out_goal(s, number);
	group_enter(s, g, is_safe(s, number) ? MFT_BUILD : MFT_CUT);
	program(s, number);
}

void groups_cell_changed(struct mft_sync *s, struct mft_spot *spot, uint32_t mod,
			 const struct mft_cell *before, const struct mft_cell *after)
{
	unsigned block = MFT_MOD_BLOCK(mod), position = MFT_MOD_POSITION(mod);
	unsigned first = block * MFT_BLOCK_MLIDS;
	bool known;
	const struct mft_cell *want = mft_have_cell(&spot->want, block, position, &known);

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

		if (number < N_MLIDS && (s->told || s->groups[number].goal))
			group_is_due(s, number);
	}
}

/* ---- the run ------------------------------------------------------------------------------- */

bool mft_sync_busy(const struct mft_sync *s)
{
	return s->n_due || s->sink || s->first || s->in_flight || spots_tops_due(s);
}

static void say_idle(struct mft_sync *s)
{
	struct mft_outcome o = s->outcome;

	s->was_busy = false;
	memset(&s->outcome, 0, sizeof(s->outcome));
	o.given_up = s->n_failed;
	o.waiting = s->n_waiting;
	o.not_served = s->not_served;
	if (s->hooks.idle)
		s->hooks.idle(s->hooks.arg, &o);
}

void mft_sync_feed(struct mft_sync *s)
{
	if (s->n_due)
		spots_refresh(s);
	do {
		while (s->n_due)
			judge(s, s->due[--s->n_due]);
		if (s->sink)
			spots_sink(s);
		s->sink = false;
		spots_feed(s);
	} while (s->n_due);
	if (mft_sync_busy(s))
		s->was_busy = true;
	else if (s->was_busy)
		say_idle(s);
}

/* One MLID at one port: may copies pass? `have` and `want`: is the port in the row? */
static bool is_clean(const struct mft_group *g, bool have, bool want)
{
	if (!have && !want)
		return true;
	return want && g->step == MFT_BUILD && !g->due;
}

bool mft_sync_port_is_clean(const struct mft_sync *s, const struct node *n, unsigned port)
{
	const struct mft_spot *spot = spot_of(s, n);
	unsigned position = port / MFT_POSITION_PORTS;
	uint16_t bit = (uint16_t)(1u << port % MFT_POSITION_PORTS);
	bool known;

	for (unsigned i = 0; i < N_MLIDS; i++) {
		unsigned b = i / MFT_BLOCK_MLIDS, k = i % MFT_BLOCK_MLIDS;
		const struct mft_cell *have = mft_have_cell(&n->mft, b, position, &known);
		const struct mft_cell *want =
			spot ? mft_have_cell(&spot->want, b, position, &known) : NULL;

		if (block_matters(s, b) && mft_have_is_untold(&n->mft, b, position))
			return false;
		if (!have && !want)
			i |= MFT_BLOCK_MLIDS - 1; /* nothing in this block */
		else if (!is_clean(&s->groups[i], have && (have->mask[k] & bit),
				   want && (want->mask[k] & bit)))
			return false;
	}
	return true;
}
