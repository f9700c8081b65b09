// SPDX-License-Identifier: BSD-2-Clause
/*
 * A tree around cables that died: each branch behind a dead cable is connected with the rest again,
 * by the shortest way over living cables, and nothing else of the tree changes.
 *
 * First all branches get their shortest connections, and the whole is proved once. If that closes a
 * cycle, or nothing proves it, branches are joined one after the other to the greatest piece, each
 * by a connection that agrees with the order of channels (mcast_way.c), or else by one of the
 * shortest, if one of them fits. If a branch has none, the group moves to the common tree
 * (mcast_safe.c), unless that has lost a cable as well: then the branch stays as it is, apart from
 * the dead port, so that its members still hear each other, and waits for the next plan.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "route/mcast/mcast_internal.h"
#include "util/bisect.h"
#include "util/mem.h"

/* Connections that are proved for one group, at most. */
#define GROUP_TRIES 32

struct mend {
	struct mcast_planner *p;
	uint8_t sl;
	uint32_t root;	/* top of the greatest piece */
	bool proof;	/* set if the tree has to fit the dependencies */
	uint32_t tries; /* left */
};

/* The vertices of a tree, to return to. */
struct growth {
	struct mcast_vertex *vertices;
	uint32_t n;
};

static struct growth growth_keep(const struct mcast_planner *p)
{
	struct growth k = { .n = p->n_switches };

	k.vertices = xcalloc(k.n + 1u, sizeof(*k.vertices));
	for (uint32_t i = 0; i < k.n; i++)
		k.vertices[i] = p->vertices[p->switches[i]];
	return k;
}

static void growth_restore(struct mcast_planner *p, const struct growth *k)
{
	mcast_fell(p); /* switches that came since */
	for (uint32_t i = 0; i < k->n; i++)
		p->vertices[p->switches[i]] = k->vertices[i];
}

static bool is_top(const struct mcast_planner *p, uint32_t sw)
{
	return p->vertices[sw].in_tree && p->vertices[sw].parent == MCAST_NONE;
}

static uint32_t count_pieces(const struct mcast_planner *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_switches; i++)
		n += is_top(p, p->switches[i]) ? 1 : 0;
	return n;
}

static bool fits(struct mend *m)
{
	struct mcast_tree *t;
	bool ok;

	if (!m->proof)
		return true;
	t = mcast_write_tree(m->p, m->root);
	ok = mcast_fits(m->p, t, m->sl);
	mcast_tree_unref(t);
	return ok;
}

/* Joins a piece to the greatest one by the shortest connection that fits. */
static bool join_if_it_fits(struct mend *m, uint32_t top)
{
	struct mcast_joint joint = { .to = m->root };
	struct growth before = growth_keep(m->p);
	bool done = false;

	if (mcast_join_in_order(m->p, top, m->root, m->sl)) {
		done = fits(m);
		if (!done)
			growth_restore(m->p, &before);
	}
	while (!done && m->tries && joint.n_banned < MCAST_TRIES &&
	       mcast_join_piece(m->p, top, &joint)) {
		m->tries--;
		done = fits(m);
		if (done)
			break;
		growth_restore(m->p, &before);
		joint.n_banned++;
	}
	free(before.vertices);
	return done;
}

static void join_one_by_one(struct mend *m)
{
	bool progress = true;

	while (progress && m->tries) { /* a piece less each time */
		progress = false;
		for (uint32_t i = 0; i < m->p->n_switches; i++) {
			uint32_t sw = m->p->switches[i];

			if (is_top(m->p, sw) && sw != m->root && join_if_it_fits(m, sw))
				progress = true;
		}
	}
}

static void join(struct mend *m)
{
	struct growth before = growth_keep(m->p);

	mcast_join_pieces(m->p, m->root);
	if (!fits(m)) {
		growth_restore(m->p, &before);
		join_one_by_one(m);
	}
	free(before.vertices);
}

/* ---- trees that must be part of another ---------------------------------------------------- */

/* Is every cable of the tree one of the master tree? */
static bool is_part_of_master(const struct mcast_planner *p, const struct mcast_tree *t)
{
	const uint8_t *up = p->proved->master_tree;

	for (uint32_t i = 0; i < t->n_rows; i++) {
		const struct mcast_row *row = &t->rows[i];
		uint32_t sw = topo_find_switch(p->topo, row->guid), far;

		if (row->up == MCAST_NONE)
			continue;
		far = topo_find_switch(p->topo, t->rows[row->up].guid);
		if ((sw == TOPO_NONE || up[sw] != row->up_port) &&
		    (far == TOPO_NONE || up[far] != row->down_port))
			return false;
	}
	return true;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Counts pieces that were not joined, and members that the greatest piece does not serve. */
static void count_rest(struct mcast_planner *p, uint32_t root, struct mcast_mended *ret)
{
	for (uint32_t i = 0; i < p->n_switches; i++) {
		uint32_t sw = p->switches[i];

		if (!is_top(p, sw) || sw == root)
			continue;
		if (p->island[sw] == p->island[root])
			ret->waiting++;
		else
			ret->cut_off++;
	}
	for (uint32_t i = 0; i < p->n_member_switches; i++) {
		const struct mcast_vertex *s = &p->vertices[p->member_switches[i]];

		if (s->in_tree && mcast_top_of(p, p->member_switches[i]) == root)
			continue;
		for (unsigned w = 0; w < ARRAY_SIZE(s->members); w++)
			p->n_left_out += (uint32_t)__builtin_popcountll(s->members[w]);
	}
}

/* The pieces that are left of the tree. Returns their number. */
static uint32_t take_pieces(struct mcast_planner *p, const struct mcast_job *job)
{
	p->plan++;
	p->n_switches = 0;
	p->number = job->mlid - MLID_MIN;
	mcast_find_common(p, job->sl & 15);
	mcast_find_islands(p);
	mcast_take_members(p, job, MCAST_NONE);
	SORT(p->member_switches, p->n_member_switches, compare_u32);
	mcast_import(p, job->previous, MCAST_NONE);
	mcast_prune(p);
	return count_pieces(p);
}

static struct mcast_tree *mend_pieces(struct mend *m, const struct mcast_tree *previous,
				      uint32_t n_pieces, struct mcast_mended *ret)
{
	struct mcast_tree *t;

	m->root = mcast_greatest_piece(m->p);
	if (m->root == MCAST_NONE)
		return mcast_tree_new(0);
	if (!m->p->bound || !is_part_of_master(m->p, previous))
		join(m);
	count_rest(m->p, m->root, ret);
	ret->mended = n_pieces - 1 - ret->waiting - ret->cut_off;
	t = mcast_write_tree(m->p, m->root);
	t->unproved = previous->unproved;
	return t;
}

/* Where branches would wait: the group moves to the common tree, which always fits. Takes `t`. */
static struct mcast_tree *take_common(struct mcast_planner *p, const struct mcast_job *job,
				      struct mcast_tree *t, struct mcast_mended *ret)
{
	struct mcast_tree *common = mcast_plan_common(p, job);

	if (!common)
		return t;
	if (!mcast_fits(p, common, job->sl & 15)) {
		mcast_tree_unref(common);
		return t;
	}
	mcast_tree_unref(t);
	ret->mended += ret->waiting;
	ret->waiting = 0;
	return common;
}

struct mcast_tree *mcast_mend(struct mcast_planner *p, const struct mcast_job *job,
			      struct mcast_mended *ret)
{
	struct mend m = { .p = p, .sl = job->sl & 15, .tries = GROUP_TRIES };
	struct mcast_tree *t;

	assert(job->mlid >= MLID_MIN && job->mlid <= MLID_MAX && job->previous);
	*ret = (struct mcast_mended){ 0 };
	m.proof = p->depends && !job->previous->unproved;
	t = mend_pieces(&m, job->previous, take_pieces(p, job), ret);
	if (ret->waiting && m.proof)
		t = take_common(p, job, t, ret);
	if (!mcast_tree_is_same(t, job->previous))
		return t;
	mcast_tree_unref(t);
	return mcast_tree_ref(job->previous);
}
