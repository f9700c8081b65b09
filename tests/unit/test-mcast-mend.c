// SPDX-License-Identifier: BSD-2-Clause
/*
 * Multicast trees around dead cables: each mended tree is followed packet by packet, on trees, tori
 * and random graphs, for single cables, several at once and whole switches; and beside unicast, for
 * cycles. Seeds are printed.
 */
#include "tests/unit/route-desk.h"

#include <stdio.h>

#include "route/mcast/mcast.h"
#include "route/proof/cdg.h"
#include "tests/lib/rounds.h"
#include "tests/unit/lanes-walk.h"
#include "tests/unit/mcast-judge.h"
#include "util/random.h"

#define MEMBERS_MAX 64

struct world {
	uint64_t rng;
	struct topo *t;
	struct mcast_planner *p;
	struct mcast_tree *tree;
	struct mcast_member members[MEMBERS_MAX];
	uint32_t n;
	bool *dead; /* per entry of topo->ports */
	uint32_t *part;
	struct mcast_mended last;
};

static uint32_t draw(struct world *w, uint32_t n)
{
	return (uint32_t)(random_next(&w->rng) % n);
}

static struct mcast_job job_of(const struct world *w)
{
	return (struct mcast_job){
		.mlid = MLID_MIN + 3,
		.members = w->members,
		.n_members = w->n,
		.previous = w->tree,
	};
}

static void add_member(struct world *w, uint32_t host, bool receive)
{
	const struct topo_host *h = &w->t->hosts[host];

	for (uint32_t i = 0; i < w->n; i++)
		if (w->members[i].sw == h->sw && w->members[i].port == h->sw_port)
			return;
	if (h->sw == TOPO_NONE || w->n == MEMBERS_MAX)
		return;
	w->members[w->n++] = (struct mcast_member){ h->sw, h->sw_port, receive };
}

/* Takes over the topo. */
static void begin(struct world *w, struct topo *t, const struct mcast_params *params)
{
	w->t = t;
	w->p = mcast_planner_new(params ? params : &(struct mcast_params){ .topo = t });
	w->dead = xcalloc(topo_n_entries(t) + 1ul, sizeof(*w->dead));
}

static void plan(struct world *w)
{
	const struct mcast_job job = job_of(w);
	struct mcast_tree *next = mcast_plan(w->p, &job);

	mcast_tree_unref(w->tree);
	w->tree = next;
}

static void end(struct world *w)
{
	mcast_tree_unref(w->tree);
	mcast_planner_free(w->p);
	topo_unref(w->t);
	free(w->dead);
	free(w->part);
}

static void cut(struct world *w, uint32_t entry)
{
	if (topo_peer(w->t, entry) == TOPO_NONE)
		return;
	w->dead[entry] = w->dead[topo_peer(w->t, entry)] = true;
	mcast_cables_died(w->p, &entry, 1);
}

static void mend(struct world *w)
{
	const struct mcast_job job = job_of(w);
	struct mcast_tree *next = mcast_mend(w->p, &job, &w->last);

	mcast_tree_unref(w->tree);
	w->tree = next;
}

/* ---- the judge ----------------------------------------------------------------------------- */

static uint32_t entry_of(const struct topo *t, uint32_t sw, unsigned port)
{
	return t->switches[sw].first_port + port;
}

/* Parts of the fabric over living cables, the plain way. */
static void find_parts(struct world *w)
{
	bool changed = true;

	free(w->part);
	w->part = xcalloc(w->t->n_switches + 1ul, sizeof(*w->part));
	for (uint32_t s = 0; s < w->t->n_switches; s++)
		w->part[s] = s;
	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < w->t->n_switches; s++)
			for (unsigned p = 1; p <= w->t->switches[s].n_ports; p++) {
				uint32_t to = topo_behind(w->t, s, p);

				if (to == TOPO_NONE || w->dead[entry_of(w->t, s, p)] ||
				    w->part[to] >= w->part[s])
					continue;
				w->part[s] = w->part[to];
				changed = true;
			}
	}
}

/* Rows in order, over living cables that exist; links counted right. */
static void rows_make_sense(const struct world *w)
{
	uint32_t links = 0;

	for (uint32_t i = 0; i < w->tree->n_rows; i++) {
		const struct mcast_row *r = &w->tree->rows[i];

		assert_int_equal(r->guid, w->t->switches[r->sw].guid);
		assert_true(i == 0 || w->tree->rows[i - 1].guid < r->guid);
		for (unsigned p = 1; p <= w->t->switches[r->sw].n_ports; p++)
			assert_false(has_port(r, p) && w->dead[entry_of(w->t, r->sw, p)]);
		if (r->up == MCAST_NONE)
			continue;
		links++;
		assert_false(w->dead[entry_of(w->t, r->sw, r->up_port)]);
		assert_int_equal(topo_behind(w->t, r->sw, r->up_port), w->tree->rows[r->up].sw);
		assert_int_equal(topo_port(w->t, r->sw, r->up_port)->port, r->down_port);
	}
	assert_int_equal(links, w->tree->n_links);
}

static uint32_t top_of(const struct mcast_tree *t, uint32_t row)
{
	for (uint32_t steps = 0; t->rows[row].up != MCAST_NONE; steps++) {
		assert_true(steps < t->n_rows);
		row = t->rows[row].up;
	}
	return row;
}

/* The piece that a switch is in: the row of its top; MCAST_NONE: none. */
static uint32_t piece_at(const struct world *w, uint32_t sw)
{
	const struct mcast_row *r = mcast_tree_find(w->tree, w->t->switches[sw].guid);

	return r ? top_of(w->tree, (uint32_t)(r - w->tree->rows)) : MCAST_NONE;
}

static uint32_t count_tops(const struct mcast_tree *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_rows; i++)
		n += t->rows[i].up == MCAST_NONE;
	return n;
}

/* Every member is heard by the receivers of its piece, once each, and by no other port. */
static void pieces_are_served(struct world *w)
{
	rows_make_sense(w);
	for (uint32_t i = 0; i < w->n; i++) {
		struct mcast_member same[MEMBERS_MAX];
		uint32_t piece = piece_at(w, w->members[i].sw), n = 0;

		if (piece == MCAST_NONE)
			continue;
		for (uint32_t k = 0; k < w->n; k++)
			if (piece_at(w, w->members[k].sw) == piece)
				same[n++] = w->members[k];
		assert_true(heard_right(w->t, w->tree, &w->members[i], same, n));
	}
}

/* Pieces are apart only where no cable leads from one to the other. */
static void only_the_fabric_separates(struct world *w)
{
	assert_int_equal(w->last.waiting, 0);
	find_parts(w);
	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t k = 0; k < i; k++) {
			uint32_t a = w->members[i].sw, b = w->members[k].sw;

			if (piece_at(w, a) != MCAST_NONE && piece_at(w, b) != MCAST_NONE)
				assert_int_equal(piece_at(w, a) == piece_at(w, b),
						 w->part[a] == w->part[b]);
		}
}

/* Is the cable at this port one of the tree? */
static bool uses(const struct mcast_tree *tree, const struct topo *t, uint32_t sw, unsigned port)
{
	const struct topo_port *p = topo_port(t, sw, port);
	const struct mcast_row *a = mcast_tree_find(tree, t->switches[sw].guid);
	const struct mcast_row *b = mcast_tree_find(tree, t->switches[p->sw].guid);

	return a && b &&
	       ((a->up != MCAST_NONE && &tree->rows[a->up] == b && a->up_port == port) ||
		(b->up != MCAST_NONE && &tree->rows[b->up] == a && b->up_port == p->port));
}

static bool has_member(const struct world *w, uint32_t sw)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->members[i].sw == sw)
			return true;
	return false;
}

/* By row: is its cable to the parent left, once dead cables and then bare ends are taken away? */
static bool *cables_left(const struct world *w, const struct mcast_tree *t)
{
	bool *left = xcalloc(t->n_rows + 1ul, sizeof(*left)), changed = true;

	for (uint32_t i = 0; i < t->n_rows; i++)
		left[i] = t->rows[i].up != MCAST_NONE &&
			  !w->dead[entry_of(w->t, t->rows[i].sw, t->rows[i].up_port)];
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < t->n_rows; i++) {
			unsigned degree = left[i] ? 1 : 0;
			uint32_t only = i;

			for (uint32_t k = 0; k < t->n_rows; k++)
				if (left[k] && t->rows[k].up == i) {
					degree++;
					only = k;
				}
			if (degree != 1 || has_member(w, t->rows[i].sw))
				continue;
			left[only] = false;
			changed = true;
		}
	}
	return left;
}

/* Living cables of the former tree stay, unless they led to no member any more. */
static void the_rest_stays(const struct world *w, const struct mcast_tree *before)
{
	_cleanup_free_ bool *left = cables_left(w, before);

	for (uint32_t i = 0; i < before->n_rows; i++)
		if (left[i])
			assert_true(
				uses(w->tree, w->t, before->rows[i].sw, before->rows[i].up_port));
}

/* ---- by hand ------------------------------------------------------------------------------- */

static void members_of_all_leaves(struct world *w)
{
	for (uint32_t h = 0; h < w->t->n_hosts; h++)
		add_member(w, h, true);
	plan(w);
}

/* The cable of a row to its parent. */
static uint32_t cable_of(const struct world *w, uint32_t row)
{
	return entry_of(w->t, w->tree->rows[row].sw, w->tree->rows[row].up_port);
}

static uint32_t first_below(const struct mcast_tree *t, uint32_t up)
{
	uint32_t i = 0;

	while (t->rows[i].up != up)
		i++;
	return i;
}

static unsigned rows_that_differ(const struct mcast_tree *a, const struct mcast_tree *b)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < a->n_rows; i++) {
		const struct mcast_row *other = mcast_tree_find(b, a->rows[i].guid);

		n += !other || memcmp(other->mask, a->rows[i].mask, sizeof(other->mask));
	}
	for (uint32_t i = 0; i < b->n_rows; i++)
		n += !mcast_tree_find(a, b->rows[i].guid);
	return n;
}

/*
 * A leaf and a spine have two cables, and the one that a tree leads over dies. The tree is led over
 * the other one: only the rows of these two switches change.
 */
static void the_cable_beside_it_takes_over(void **state)
{
	struct world w = { .rng = 1 };
	struct mcast_tree *before;
	uint32_t leaf;

	begin(&w, topogen_fat_tree2(4, 2, 2, 2, NULL), NULL);
	members_of_all_leaves(&w);
	before = mcast_tree_ref(w.tree);
	leaf = first_below(w.tree, w.tree->root);
	cut(&w, cable_of(&w, leaf));
	assert_true(mcast_uses_dead(w.p, w.tree));
	mend(&w);
	assert_false(mcast_uses_dead(w.p, w.tree));
	assert_int_equal(rows_that_differ(before, w.tree), 2);
	assert_int_equal(w.tree->n_rows, before->n_rows);
	assert_int_equal(w.last.mended, 1);
	pieces_are_served(&w);
	mcast_tree_unref(before);
	end(&w);
}

/* Over the other spine and another leaf: only four rows change. */
static void a_branch_goes_over_switches_outside_of_the_tree(void **state)
{
	struct world w = { .rng = 1 };
	struct mcast_tree *before;

	begin(&w, topogen_fat_tree2(6, 2, 2, 1, NULL), NULL);
	members_of_all_leaves(&w);
	before = mcast_tree_ref(w.tree);
	cut(&w, cable_of(&w, first_below(w.tree, w.tree->root)));
	mend(&w);
	assert_int_equal(w.tree->n_rows, before->n_rows + 1);
	assert_int_equal(rows_that_differ(before, w.tree), 4);
	assert_int_equal(w.last.mended, 1);
	assert_int_equal(w.last.waiting + w.last.cut_off, 0);
	pieces_are_served(&w);
	mcast_tree_unref(before);
	end(&w);
}

/* All its cables: every leaf is a branch of its own, and all meet at the other spine. */
static void the_spine_in_the_middle_dies(void **state)
{
	struct world w = { .rng = 1 };
	uint32_t spine;

	begin(&w, topogen_fat_tree2(6, 2, 2, 1, NULL), NULL);
	members_of_all_leaves(&w);
	spine = w.tree->rows[w.tree->root].sw;
	for (unsigned p = 1; p <= w.t->switches[spine].n_ports; p++)
		cut(&w, entry_of(w.t, spine, p));
	mend(&w);
	assert_int_equal(w.last.mended, 5);
	assert_int_equal(w.tree->n_rows, 7);
	assert_null(mcast_tree_find(w.tree, w.t->switches[spine].guid));
	pieces_are_served(&w);
	end(&w);
}

/* A leaf without living cables keeps its row, and its members hear each other. */
static void a_leaf_that_is_cut_off_keeps_its_members(void **state)
{
	struct world w = { .rng = 1 };
	const struct mcast_row *row;

	begin(&w, topogen_fat_tree2(4, 2, 3, 1, NULL), NULL);
	members_of_all_leaves(&w);
	for (unsigned p = 1; p <= w.t->switches[0].n_ports; p++)
		cut(&w, entry_of(w.t, 0, p));
	mend(&w);
	assert_int_equal(w.last.cut_off, 1);
	assert_int_equal(w.last.mended, 0);
	assert_int_equal(w.tree->n_left_out, 3);
	row = mcast_tree_find(w.tree, w.t->switches[0].guid);
	assert_non_null(row);
	assert_int_equal(__builtin_popcountll(row->mask[0]), 3);
	assert_int_not_equal(w.tree->rows[w.tree->root].sw, 0);
	pieces_are_served(&w);
	end(&w);
}

/* Members of it went, and the tree was not planned since: the branch is dropped. */
static void a_branch_without_members_is_dropped(void **state)
{
	struct world w = { .rng = 1 };
	uint32_t leaf, n = 0;

	begin(&w, topogen_fat_tree2(4, 2, 2, 1, NULL), NULL);
	members_of_all_leaves(&w);
	leaf = first_below(w.tree, w.tree->root);
	for (uint32_t i = 0; i < w.n; i++)
		if (w.members[i].sw != w.tree->rows[leaf].sw)
			w.members[n++] = w.members[i];
	w.n = n;
	cut(&w, cable_of(&w, leaf));
	mend(&w);
	assert_int_equal(w.last.mended + w.last.waiting + w.last.cut_off, 0);
	assert_int_equal(w.tree->n_rows, 4);
	pieces_are_served(&w);
	end(&w);
}

static void a_cable_that_no_tree_uses_changes_nothing(void **state)
{
	struct world w = { .rng = 1 };
	struct mcast_tree *before;
	uint32_t spine = 4;

	begin(&w, topogen_fat_tree2(4, 2, 2, 1, NULL), NULL);
	members_of_all_leaves(&w);
	before = mcast_tree_ref(w.tree);
	spine += w.tree->rows[w.tree->root].sw == spine ? 1 : 0;
	cut(&w, entry_of(w.t, spine, 1));
	assert_false(mcast_uses_dead(w.p, w.tree));
	mend(&w);
	assert_ptr_equal(w.tree, before);
	/* nor does the port of a host, nor a cable that is known to be dead */
	assert_false(
		mcast_cables_died(w.p, (uint32_t[]){ entry_of(w.t, 0, w.members[0].port) }, 1));
	assert_false(mcast_cables_died(w.p, (uint32_t[]){ entry_of(w.t, spine, 1) }, 1));
	mcast_tree_unref(before);
	end(&w);
}

/* A member that joins while a cable is dead gets a branch over living ones. */
static void joins_go_around_dead_cables(void **state)
{
	struct world w = { .rng = 1 };

	begin(&w, topogen_fat_tree2(4, 3, 2, 1, NULL), NULL);
	add_member(&w, 0, true);
	add_member(&w, 2, true);
	plan(&w);
	for (unsigned p = 1; p <= w.t->switches[3].n_ports; p++) {
		uint32_t spine = topo_behind(w.t, 3, p);

		if (spine != TOPO_NONE && piece_at(&w, spine) != MCAST_NONE)
			cut(&w, entry_of(w.t, 3, p));
	}
	add_member(&w, 7, true);
	plan(&w);
	assert_int_equal(w.tree->n_left_out, 0);
	assert_int_not_equal(piece_at(&w, 3), MCAST_NONE);
	pieces_are_served(&w);
	end(&w);
}

/*
 * 255 ports on a switch, of which the highest are members and cables: masks have all 256 bits. The
 * tree has one cable of two between such switches.
 */
static void switches_of_255_ports(void **state)
{
	struct topo_builder *b = topo_builder_new();
	struct world w = { .rng = 1 };

	for (guid_t g = 1; g <= 2; g++) {
		topo_add_switch(b,
				&(struct topo_switch){ .guid = g, .n_ports = 254, .lft_cap = 64 });
	}
	topo_add_link(b, 1, 254, 2, 254);
	topo_add_link(b, 1, 192, 2, 16);
	begin(&w, topo_build(b), NULL);
	w.members[w.n++] = (struct mcast_member){ 0, 253, true };
	w.members[w.n++] = (struct mcast_member){ 1, 64, true };
	w.members[w.n++] = (struct mcast_member){ 1, 0, true };
	plan(&w);
	for (unsigned i = 0; i < 2; i++) {
		uint32_t child = first_below(w.tree, w.tree->root);

		cut(&w, cable_of(&w, child));
		mend(&w);
		pieces_are_served(&w);
		assert_int_equal(w.last.mended, i ? 0 : 1);
		assert_int_equal(w.last.cut_off, i ? 1 : 0);
		if (w.tree->n_links == 0)
			break;
	}
	assert_int_equal(w.tree->n_rows, 2);
	end(&w);
}

/* Nothing proves trees, and the one in force is part of the tree of these routes. */
static void a_tree_that_is_bound_waits(void **state)
{
	struct topo *t = topogen_torus((const unsigned[3]){ 4, 1, 1 }, 2, NULL);
	struct routes *r = route(t, NULL);
	struct world w = { .rng = 1 };

	r->master_tree = xcalloc(t->n_switches, 1);
	for (uint32_t s = 1; s < 4; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++)
			if (topo_behind(t, s, p) == s - 1)
				r->master_tree[s] = (uint8_t)p;
	begin(&w, t, &(struct mcast_params){ .topo = t, .routes = r });
	add_member(&w, 2, true);
	add_member(&w, 4, true);
	plan(&w);
	assert_int_equal(w.tree->n_links, 1);
	cut(&w, entry_of(t, 2, r->master_tree[2]));
	mend(&w);
	assert_int_equal(w.last.waiting, 1);
	pieces_are_served(&w);
	routes_unref(r);
	end(&w);
}

/* ---- at random ----------------------------------------------------------------------------- */

/* Kills one to four cables, of the tree where there are some, or all of a switch. */
static void accident(struct world *w)
{
	uint32_t n = topo_n_entries(w->t), sw = draw(w, w->t->n_switches);

	if (draw(w, 4) == 0) {
		for (unsigned p = 1; p <= w->t->switches[sw].n_ports; p++)
			cut(w, entry_of(w->t, sw, p));
		return;
	}
	for (uint32_t i = draw(w, 4) + 1; i > 0; i--) {
		uint32_t row = w->tree->n_rows ? draw(w, w->tree->n_rows) : 0;

		if (w->tree->n_rows && w->tree->rows[row].up != MCAST_NONE)
			cut(w, cable_of(w, row));
		else
			cut(w, draw(w, n));
	}
}

static void draw_members(struct world *w)
{
	uint32_t n = 2 + draw(w, 20);

	for (uint32_t i = 0; i < n && w->t->n_hosts; i++)
		add_member(w, draw(w, w->t->n_hosts), draw(w, 6) != 0);
}

static void mended_trees_reach_all_that_can_be_reached(void **state)
{
	unsigned mended = 0, cut_off = 0;

	for (unsigned seed = 1; seed <= test_rounds(240); seed++) {
		struct topogen o = any_options(seed);
		struct world w = { .rng = seed };

		begin(&w, any_fabric(seed, &o), NULL);
		draw_members(&w);
		plan(&w);
		for (unsigned i = 0; i < 6; i++) {
			_cleanup_(mcast_tree_unrefp) struct mcast_tree *before =
				mcast_tree_ref(w.tree);

			accident(&w);
			mend(&w);
			assert_false(mcast_uses_dead(w.p, w.tree));
			pieces_are_served(&w);
			only_the_fabric_separates(&w);
			the_rest_stays(&w, before);
			assert_int_equal(count_tops(w.tree),
					 (w.tree->n_rows != 0) + w.last.cut_off);
			mended += w.last.mended;
			cut_off += w.last.cut_off;
		}
		if (seed % 80 == 0)
			printf("# seeds up to %u: %u branches mended, %u cut off\n", seed, mended,
			       cut_off);
		end(&w);
	}
	assert_true(mended > test_rounds(240));
	assert_true(cut_off > 0);
}

/* ---- beside unicast ------------------------------------------------------------------------ */

static struct routes *routed(const char *engine, const struct topo *t, unsigned lanes)
{
	struct route_job job = {
		.topo = t,
		.options = { .nue_max_num_vls = (uint8_t)lanes },
	};
	char why[200] = "";
	struct routes *r = route_engine_find(engine)->compute(&job, why, sizeof(why));

	if (r && (lanes_walk(r, false).cycle || !t->n_hosts))
		r = routes_unref(r);
	return r;
}

struct outcome {
	unsigned fabrics, mended, waiting, unproved;
	unsigned avoidable; /* groups that wait, though a fresh tree would fit these tables */
};

#define TREES 4

/* Would there be a proved tree, if no other group was there? */
static bool fits_afresh(const struct world *w, const struct routes *r)
{
	_cleanup_(mcast_planner_freep) struct mcast_planner *p = mcast_planner_new(
		&(struct mcast_params){ .topo = w->t, .routes = r, .depends = cdg_of(r, 1) });
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree = NULL;
	struct mcast_job job = job_of(w);

	for (uint32_t i = 0; i < topo_n_entries(w->t); i++)
		if (w->dead[i])
			mcast_cables_died(p, &i, 1);
	job.previous = NULL;
	tree = mcast_plan(p, &job);
	return !tree->unproved;
}

/* Groups beside the tables; then an accident, and all their trees are mended. */
static void mend_beside(struct world *w, const struct routes *r, struct outcome *o)
{
	struct mcast_tree *trees[2 * TREES];
	struct mcast_member members[TREES][MEMBERS_MAX];
	uint32_t n[TREES];
	bool unproved = false;

	for (unsigned g = 0; g < TREES; g++) {
		w->n = 0;
		w->tree = NULL;
		draw_members(w);
		plan(w);
		trees[g] = w->tree;
		unproved |= w->tree->unproved;
		n[g] = w->n;
		memcpy(members[g], w->members, sizeof(members[g]));
	}
	accident(w);
	for (unsigned g = 0; g < TREES; g++) {
		w->n = n[g];
		w->tree = mcast_tree_ref(trees[g]);
		memcpy(w->members, members[g], sizeof(members[g]));
		mend(w);
		pieces_are_served(w);
		/* a group that moves to the common tree leaves what is cut off behind */
		assert_true(count_tops(w->tree) <=
			    (w->tree->n_rows != 0) + w->last.cut_off + w->last.waiting);
		o->mended += w->last.mended;
		o->waiting += w->last.waiting;
		o->avoidable += w->last.waiting && fits_afresh(w, r);
		trees[TREES + g] = w->tree;
	}
	w->tree = NULL;
	o->unproved += unproved;
	if (!unproved)
		assert_false(lanes_walk_living(r, false, trees, 2 * TREES, w->dead).cycle);
	for (unsigned g = 0; g < 2 * TREES; g++)
		mcast_tree_unref(trees[g]);
}

/* Together with the trees as they were: switches may hold either while Sets are under way. */
static void mended_trees_close_no_cycle(void **state)
{
	static const char *const engines[] = { "minhop", "updn", "nue" };
	struct outcome o = { 0 };

	for (unsigned number = 0; number < test_rounds(120); number++) {
		struct topogen options = any_options(number);
		struct topo *t = any_fabric(number, &options);
		struct routes *r = routed(engines[number / 6 % 3], t, 1 + number % 2);
		struct world w = { .rng = number };

		if (!r) {
			topo_unref(t);
			continue;
		}
		begin(&w, t,
		      &(struct mcast_params){ .topo = t, .routes = r, .depends = cdg_of(r, 1) });
		mend_beside(&w, r, &o);
		o.fabrics++;
		end(&w);
		routes_unref(r);
	}
	print_message(
		"%u fabrics: %u branches mended, %u wait, %u of these groups need not; %u with "
		"unproved trees\n",
		o.fabrics, o.mended, o.waiting, o.avoidable, o.unproved);
	assert_true(o.fabrics > test_rounds(120) / 2);
	assert_true(o.mended > 2 * o.fabrics);
	assert_true(o.waiting * 5 < o.mended);
	assert_true(o.avoidable * 50 < o.mended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cable_beside_it_takes_over),
		cmocka_unit_test(a_branch_goes_over_switches_outside_of_the_tree),
		cmocka_unit_test(the_spine_in_the_middle_dies),
		cmocka_unit_test(a_leaf_that_is_cut_off_keeps_its_members),
		cmocka_unit_test(a_branch_without_members_is_dropped),
		cmocka_unit_test(a_cable_that_no_tree_uses_changes_nothing),
		cmocka_unit_test(joins_go_around_dead_cables),
		cmocka_unit_test(switches_of_255_ports),
		cmocka_unit_test(a_tree_that_is_bound_waits),
		cmocka_unit_test(mended_trees_reach_all_that_can_be_reached),
		cmocka_unit_test(mended_trees_close_no_cycle),
	};

	return cmocka_run_group_tests_name("mcast-mend", tests, NULL, NULL);
}
