// SPDX-License-Identifier: BSD-2-Clause
/*
 * Multicast tables from wants to switches, in the simulator, which follows every packet after every
 * Set: which members are reached, what that costs, and what happens when answers are lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/fabric_internal.h"
#include "tests/lib/field.h"
#include "util/mem.h"

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

static void never_looped(const struct field *f)
{
	assert_int_equal(sim_mcast_loops_ever(f->sim), 0);
	assert_int_equal(sim_mcast_twice_ever(f->sim), 0);
}

static void good(struct field *f)
{
	struct sim_verdict v;

	assert_true(field_all_reach(f));
	never_looped(f);
	sim_check_all(f->sim, &v);
	assert_int_equal(v.mcast_faults, 0);
}

static void join(struct field *f, unsigned group, unsigned host)
{
	field_join(f, group, field_host(f, host), true);
}

static void apply(struct field *f)
{
	field_plan(f);
	field_settle(f);
}

/* Four leaves with four hosts each, two spines. */
static struct field *small(unsigned n_groups)
{
	return field_new(gen_tree(4, 4, 2, 1), 1, n_groups);
}

/* ---- the table as known -------------------------------------------------------------------- */

static void a_cell_travels(void **state)
{
	struct mft_cell cell = { .mask = { [0] = 0x8001, [31] = 0x1234 } }, back;
	uint8_t payload[SMP_DATA_SIZE];

	mft_cell_put(payload, &cell);
	assert_int_equal(payload[0], 0x80);
	assert_int_equal(payload[1], 0x01);
	assert_int_equal(payload[62], 0x12);
	mft_cell_get(payload, &back);
	assert_memory_equal(&cell, &back, sizeof(cell));
}

static void doubt_adds_up(void **state)
{
	const struct mft_cell one = { .mask = { [3] = 0x0003 } },
			      two = { .mask = { [3] = 0x0006 } };
	struct mft_have h = { 0 };
	uint64_t row[4];
	bool known;

	assert_null(mft_have_cell(&h, 2, 1, &known));
	mft_have_set(&h, 2, 1, &one);
	mft_have_doubt(&h, 2, 1, &two);
	assert_int_equal(mft_have_cell(&h, 2, 1, &known)->mask[3], 0x0007);
	assert_false(known);
	assert_true(mft_have_row(&h, MFT_FIRST_MLID + 67, row));
	assert_int_equal(row[0], 0x70000);
	assert_false(mft_have_row(&h, MFT_FIRST_MLID + 68, row));
	mft_have_set(&h, 2, 1, &two);
	assert_int_equal(mft_have_cell(&h, 2, 1, &known)->mask[3], 0x0006);
	assert_true(known);
	assert_false(mft_have_is_untold(&h, 7, 0));
	mft_have_forget_all(&h);
	assert_true(mft_have_is_untold(&h, 2, 1));
	mft_have_cell(&h, 2, 1, &known);
	assert_false(known);
	mft_have_clear(&h);
}

/* ---- joins and leaves ---------------------------------------------------------------------- */

static void two_hosts_hear_each_other(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);

	join(f, 0, 0);
	apply(f);
	assert_int_equal(field_sets(f), 0);
	join(f, 0, 15);
	apply(f);
	good(f);
	assert_int_equal(field_sets(f), 3);
	assert_int_equal(sim_count(f->sim, IB_ATTR_SWITCH_INFO, MAD_SET), 3); /* the tops */
	assert_int_equal(f->idles, 1);
}

static void who_only_sends_is_not_served(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);

	join(f, 0, 0);
	join(f, 0, 1);
	field_join(f, 0, field_host(f, 9), false);
	apply(f);
	good(f);
}

static void a_join_writes_its_branch_alone(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);
	uint64_t sets;

	for (unsigned h = 0; h < 12; h++)
		join(f, 0, h);
	apply(f);
	sets = field_sets(f);
	assert_int_equal(sets, 4);
	join(f, 0, 12); /* a leaf that had no member */
	apply(f);
	assert_int_equal(field_sets(f) - sets, 2);
	join(f, 0, 13);
	apply(f);
	assert_int_equal(field_sets(f) - sets, 3);
	field_leave(f, 0, field_host(f, 13));
	apply(f);
	assert_int_equal(field_sets(f) - sets, 4);
	good(f);
}

/* A block of groups fits one SMP; what changes while it waits goes along. */
static void groups_share_cells(void **state)
{
	_cleanup_(field_freep) struct field *f = small(33);

	for (unsigned g = 0; g < 32; g++)
		for (unsigned h = 0; h < 16; h += 4)
			join(f, g, h + g % 4);
	apply(f);
	good(f);
	assert_int_equal(field_sets(f), 6);
	join(f, 32, 0);
	join(f, 32, 1);
	apply(f);
	assert_int_equal(field_sets(f), 7);
}

static void the_last_one_leaves_nothing(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);
	_cleanup_free_ uint8_t *before = field_image(f), *after = NULL;

	for (unsigned h = 0; h < 16; h++)
		join(f, 0, h);
	apply(f);
	for (unsigned h = 0; h < 16; h++)
		field_leave(f, 0, field_host(f, h));
	apply(f);
	after = field_image(f);
	assert_int_equal(field_cells_changed(f, before, after), 0);
}

static void nothing_is_written_without_authority(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);

	f->may_write = false;
	join(f, 0, 0);
	join(f, 0, 5);
	field_plan(f);
	field_run(f, 10 * MONO_MS);
	assert_int_equal(field_sets(f), 0);
	f->may_write = true;
	field_settle(f);
	good(f);
}

/* A master that steps down forgets what it wanted. */
static void stopping_writes_no_more(void **state)
{
	_cleanup_(field_freep) struct field *f = small(40);
	uint64_t sets;

	for (unsigned g = 0; g < 40; g++)
		for (unsigned h = 0; h < 16; h++)
			join(f, g, h);
	field_plan(f);
	mft_sync_feed(f->sync);
	mad_dispatch(f->mad, sim_now(f->sim), 100);
	mft_sync_stop(f->sync);
	sets = field_sets(f);
	assert_true(sets > 0);
	field_run(f, 100 * MONO_MS);
	assert_int_equal(field_sets(f), sets);
	assert_false(mft_sync_busy(f->sync));
	assert_null(mft_sync_wanted(f->sync, MLID_MIN));
	FABRIC_EACH_NODE(f->fabric, n) /* and comes back */
		mft_have_forget_all(&n->mft);
	for (unsigned g = 0; g < 40; g++)
		f->groups[g].dirty = true;
	field_plan(f);
	mft_sync_topology(f->sync);
	field_settle(f);
	good(f);
}

/* ---- ways that turn ------------------------------------------------------------------------ */

/* The two trees a group of all hosts can have. */
static struct mcast_tree *tree_over(const struct field *f, unsigned spine, unsigned n_hosts)
{
	_cleanup_free_ struct mcast_member *m = xcalloc(n_hosts, sizeof(*m));

	for (uint32_t h = 0; h < n_hosts; h++)
		m[h] = (struct mcast_member){ .sw = f->topo->hosts[h].sw,
					      .port = f->topo->hosts[h].sw_port,
					      .receive = true };
	for (lid_t mlid = MLID_MIN;; mlid++) {
		const struct mcast_job job = { .mlid = mlid, .members = m, .n_members = n_hosts };
		struct mcast_tree *t = mcast_plan(f->planner, &job);

		if (t->rows[t->root].guid ==
		    sim_node_guid(f->sim, sim_find(f->sim, spine == 1 ? "spine1" : "spine2")))
			return t;
		mcast_tree_unref(t);
	}
}

static void all_join(struct field *f, unsigned group)
{
	for (unsigned h = 0; h < field_hosts(f); h++)
		join(f, group, h);
	f->groups[group].dirty = false;
}

/* From one spine to the other: no leaf may hold both, so the old cables go first. */
static void a_tree_moves_in_two_steps(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *one = tree_over(f, 1, 16);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *two = tree_over(f, 2, 16);

	all_join(f, 0);
	mft_sync_want(f->sync, MLID_MIN, one);
	field_settle(f);
	good(f);
	assert_int_equal(field_sets(f), 5);
	mft_sync_want(f->sync, MLID_MIN, two);
	field_settle(f);
	good(f);
	assert_int_equal(field_sets(f), 5 + 5 + 5); /* leaves twice, each spine once */
}

/* The same, to and fro, while requests and answers are lost. */
static void trees_move_under_loss(void **state)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		_cleanup_(field_freep) struct field *f = field_new(gen_tree(4, 4, 2, 1), seed, 1);
		_cleanup_(mcast_tree_unrefp) struct mcast_tree *one = tree_over(f, 1, 16);
		_cleanup_(mcast_tree_unrefp) struct mcast_tree *two = tree_over(f, 2, 16);
		uint64_t rng = seed;

		all_join(f, 0);
		sim_set_loss(f->sim, 15, 15);
		for (unsigned i = 0; i < 30; i++) {
			mft_sync_want(f->sync, MLID_MIN, i % 2 ? one : two);
			field_run(f, (mono_t)(next_random(&rng) % 2000) * 1000);
		}
		never_looped(f);
		sim_set_loss(f->sim, 0, 0);
		field_settle(f);
		FABRIC_EACH_NODE(f->fabric, n) {
			mad_target_revive(&n->target);
		}
		mft_sync_topology(f->sync);
		field_settle(f);
		good(f);
		assert_int_equal(f->last.given_up, 0);
	}
}

/* A leaf does not answer: the group waits, half served, rather than go round; then it goes on. */
static void a_silent_switch_is_waited_for(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *one = tree_over(f, 1, 16);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *two = tree_over(f, 2, 16);
	int leaf = sim_find(f->sim, "leaf2");

	all_join(f, 0);
	mft_sync_want(f->sync, MLID_MIN, one);
	field_settle(f);
	sim_set_silent(f->sim, leaf, SIM_SILENT, 0);
	mft_sync_want(f->sync, MLID_MIN, two);
	field_settle(f);
	never_looped(f);
	assert_int_equal(f->last.waiting, 1);
	assert_int_equal(f->last.given_up, 1);
	assert_string_equal(sim_node_id(f->sim, leaf), "leaf2");
	assert_int_equal(f->last.failed_example->guid, sim_node_guid(f->sim, leaf));
	sim_set_silent(f->sim, leaf, SIM_ANSWERS, 0);
	mad_target_revive(&fabric_find_node(f->fabric, sim_node_guid(f->sim, leaf))->target);
	mft_sync_topology(f->sync);
	field_settle(f);
	good(f);
	assert_int_equal(f->last.waiting, 0);
}

/* The same switch vanishes instead: no other waits for it. */
static void a_vanished_switch_is_not_waited_for(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *one = tree_over(f, 1, 16);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *two = tree_over(f, 2, 16);
	int leaf = sim_find(f->sim, "leaf2");

	all_join(f, 0);
	mft_sync_want(f->sync, MLID_MIN, one);
	field_settle(f);
	sim_set_silent(f->sim, leaf, SIM_SILENT, 0);
	mft_sync_want(f->sync, MLID_MIN, two);
	field_settle(f);
	assert_int_equal(f->last.waiting, 1);
	sim_power(f->sim, leaf, false);
	field_sweep(f);
	good(f);
	assert_int_equal(f->last.waiting, 0);
}

static void what_is_refused_is_said(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);

	sim_set_refuse(f->sim, sim_find(f->sim, "leaf1"), IB_ATTR_MFT, 0x1C);
	join(f, 0, 0);
	join(f, 0, 1);
	apply(f);
	assert_int_equal(field_sets(f), MFT_TRIES);
	assert_int_equal(f->last.given_up, 1);
	join(f, 0, 2); /* another want is another try */
	apply(f);
	assert_int_equal(field_sets(f), 2 * MFT_TRIES);
	sim_set_refuse(f->sim, sim_find(f->sim, "leaf1"), IB_ATTR_MFT, 0);
	mft_sync_topology(f->sync);
	field_settle(f);
	assert_int_equal(f->last.given_up, 0);
	good(f);
}

/* ---- by chance ----------------------------------------------------------------------------- */

#define RANDOM_GROUPS 40

static struct netfile *random_net(uint64_t *rng)
{
	switch (next_random(rng) % 6) {
	case 0:
		return gen_fat_tree3(4);
	case 1:
		return gen_torus(4, 3, 1, 2);
	case 2:
		return gen_tree(5, 3, 3, 2);
	case 3:
		return gen_ring(7, 2);
	case 4:
		return gen_mesh(4, 4, 1, 1);
	default:
		return gen_random(14, 4, 2, next_random(rng));
	}
}

static void change_membership(struct field *f, uint64_t *rng)
{
	unsigned group = next_random(rng) % RANDOM_GROUPS;
	int host = field_host(f, next_random(rng) % field_hosts(f));

	if (field_is_member(f, group, host) && next_random(rng) % 3)
		field_leave(f, group, host);
	else
		field_join(f, group, host, next_random(rng) % 5);
}

/* ---- after others -------------------------------------------------------------------------- */

static void a_restart_writes_nothing(void **state)
{
	_cleanup_(field_freep) struct field *f = small(50);
	uint64_t sets, all;

	for (unsigned g = 0; g < 50; g++)
		for (unsigned h = g % 3; h < 16; h += 3)
			join(f, g, h);
	apply(f);
	sets = field_sets(f);
	all = sim_sets(f->sim);
	field_restart(f);
	mft_sync_topology(f->sync);
	field_settle(f);
	assert_int_equal(field_sets(f), sets);
	assert_int_equal(sim_sets(f->sim), all);
	assert_int_equal(sim_count(f->sim, IB_ATTR_MFT, MAD_GET), 6 * 2); /* 2 blocks, 1 position */
	good(f);
}

/* Trees that grew and shrank are not those one would plan today; they stay all the same. */
static void a_restart_keeps_what_has_grown(void **state)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		uint64_t rng = seed, sets;
		_cleanup_(field_freep) struct field *f =
			field_new(random_net(&rng), seed, RANDOM_GROUPS);

		for (unsigned i = 0; i < 20; i++) {
			for (unsigned k = 0; k < 20; k++)
				change_membership(f, &rng);
			apply(f);
		}
		mft_sync_topology(f->sync); /* tops sink */
		field_settle(f);
		good(f);
		sets = sim_sets(f->sim);
		field_restart(f);
		mft_sync_topology(f->sync);
		field_settle(f);
		assert_int_equal(sim_sets(f->sim), sets);
		good(f);
	}
}

/* The former master had other trees, and groups that are no more. */
static void stale_trees_are_cleared(void **state)
{
	_cleanup_(field_freep) struct field *f = small(4);
	struct mcast_tree *one, *two;

	one = tree_over(f, 1, 16);
	two = tree_over(f, 2, 16);
	all_join(f, 0);
	mft_sync_want(f->sync, MLID_MIN, one);
	mft_sync_want(f->sync, MLID_MIN + 1, two);
	field_settle(f);
	f->groups[0].n = 0;
	field_restart(f);
	all_join(f, 0);
	mft_sync_want(f->sync, MLID_MIN, two);
	mft_sync_topology(f->sync);
	field_settle(f);
	good(f);
	for (unsigned h = 0; h < 16; h++)
		assert_int_equal(
			sim_mcast_reach(f->sim, MLID_MIN + 1, field_host(f, h), 1, NULL, NULL), 0);
	mcast_tree_unref(one);
	mcast_tree_unref(two);
}

/* Tables of another manager in blocks that are not used stay as they are. */
static void unused_blocks_are_left_alone(void **state)
{
	_cleanup_(field_freep) struct field *f = small(40);
	uint64_t reads;

	join(f, 35, 0);
	join(f, 35, 7);
	apply(f);
	f->groups[35].n = 0;
	reads = sim_count(f->sim, IB_ATTR_MFT, MAD_GET);
	field_restart(f);
	join(f, 0, 0);
	join(f, 0, 9);
	apply(f);
	assert_int_equal(sim_count(f->sim, IB_ATTR_MFT, MAD_GET) - reads, 6);
	assert_int_equal(sim_mcast_reach(f->sim, MLID_MIN + 35, field_host(f, 0), 1, NULL, NULL),
			 1);
}

static void a_rebooted_switch_is_filled_again(void **state)
{
	_cleanup_(field_freep) struct field *f = small(3);
	int spine = sim_find(f->sim, "spine1");

	for (unsigned g = 0; g < 3; g++)
		for (unsigned h = 0; h < 16; h++)
			join(f, g, h);
	apply(f);
	sim_reboot(f->sim, spine, 10 * MONO_MS);
	field_run(f, 100 * MONO_MS);
	mft_have_forget_all(&fabric_find_node(f->fabric, sim_node_guid(f->sim, spine))->mft);
	field_sweep(f);
	good(f);
}

/* ---- tops ---------------------------------------------------------------------------------- */

static unsigned top_of(const struct field *f, const char *sw)
{
	uint8_t info[SMP_DATA_SIZE];

	sim_read(f->sim, sim_find(f->sim, sw), IB_ATTR_SWITCH_INFO, 0, info);
	return (unsigned)ib_get(info, SI_MULTICAST_FDB_TOP);
}

static void the_top_follows_whole_blocks(void **state)
{
	_cleanup_(field_freep) struct field *f = small(100);

	join(f, 40, 0);
	join(f, 40, 1);
	apply(f);
	assert_int_equal(top_of(f, "leaf1"), 0xC03F);
	assert_int_equal(top_of(f, "leaf2"), 0);
	good(f);
	join(f, 99, 0);
	join(f, 99, 1);
	apply(f);
	assert_int_equal(top_of(f, "leaf1"), 0xC07F);
	good(f);
	field_leave(f, 99, field_host(f, 0));
	apply(f);
	assert_int_equal(top_of(f, "leaf1"), 0xC07F);
	mft_sync_lower_tops(f->sync);
	field_settle(f);
	assert_int_equal(top_of(f, "leaf1"), 0xC03F);
	field_leave(f, 40, field_host(f, 0));
	apply(f);
	assert_int_equal(top_of(f, "leaf1"), 0xC03F);
	mft_sync_topology(f->sync);
	field_settle(f);
	assert_int_equal(top_of(f, "leaf1"), 0xBFFF);
	assert_int_equal(top_of(f, "leaf2"), 0);
}

/* Tables are read before the tree may move: the spine that it leaves is wanted until then. */
static void the_top_sinks_behind_a_tree_that_moves(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *one = tree_over(f, 1, 16);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *two = tree_over(f, 2, 16);

	all_join(f, 0);
	mft_sync_want(f->sync, MLID_MIN, one);
	mft_sync_topology(f->sync);
	field_settle(f);
	assert_int_equal(top_of(f, "spine1"), 0xC01F);
	FABRIC_EACH_NODE(f->fabric, n)
		mft_have_forget_all(&n->mft);
	mft_sync_want(f->sync, MLID_MIN, two);
	mft_sync_topology(f->sync);
	field_settle(f);
	assert_int_equal(top_of(f, "spine1"), 0xBFFF);
	assert_int_equal(top_of(f, "spine2"), 0xC01F);
	good(f);
}

static void the_top_waits_for_its_turn(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);

	f->may_write_top = false;
	join(f, 0, 0);
	join(f, 0, 1);
	apply(f);
	assert_int_equal(top_of(f, "leaf1"), 0);
	f->may_write_top = true;
	field_settle(f);
	assert_int_equal(top_of(f, "leaf1"), 0xC01F);
}

static void no_top_without_the_option(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);

	mft_sync_use_top(f->sync, false);
	join(f, 0, 0);
	join(f, 0, 1);
	apply(f);
	assert_int_equal(top_of(f, "leaf1"), 0);
	good(f);
}

static void rows_beyond_the_capacity_are_counted(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *one = tree_over(f, 1, 16);

	sim_set_mcast_cap(f->sim, sim_find(f->sim, "leaf1"), 32);
	field_sweep(f);
	mft_sync_want(f->sync, MLID_MIN + 32, one);
	field_settle(f);
	assert_int_equal(f->last.not_served, 1);
	assert_int_equal(f->last.given_up, 0);
}

static void a_clean_port_leads_nowhere_stale(void **state)
{
	_cleanup_(field_freep) struct field *f = small(1);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *one = tree_over(f, 1, 16);
	const struct node *spine =
		fabric_find_node(f->fabric, sim_node_guid(f->sim, sim_find(f->sim, "spine1")));

	mft_sync_want(f->sync, MLID_MIN, one);
	field_settle(f);
	assert_true(mft_sync_port_is_clean(f->sync, spine, 1));
	sim_set_refuse(f->sim, sim_find(f->sim, "spine1"), IB_ATTR_MFT, 0x1C);
	mft_sync_want(f->sync, MLID_MIN, NULL);
	field_settle(f);
	assert_false(mft_sync_port_is_clean(f->sync, spine, 1));
	assert_true(mft_sync_port_is_clean(f->sync, spine, 9));
}

/* ---- random -------------------------------------------------------------------------------- */

/* Joins and leaves in crowds; each crowd costs at most 1.5 times the cells that change. */
static void play_members(uint64_t seed)
{
	uint64_t rng = seed, sets = 0, cells = 0;
	_cleanup_(field_freep) struct field *f = field_new(random_net(&rng), seed, RANDOM_GROUPS);

	for (unsigned i = 0; i < 25; i++) {
		unsigned crowd = 1 + next_random(&rng) % 30;
		_cleanup_free_ uint8_t *before = field_image(f), *after = NULL;
		uint64_t sets_before = field_sets(f);

		for (unsigned k = 0; k < crowd; k++)
			change_membership(f, &rng);
		apply(f);
		good(f);
		after = field_image(f);
		cells += field_cells_changed(f, before, after);
		sets += field_sets(f) - sets_before;
	}
	assert_true(cells > 0);
	assert_in_range(sets, cells, cells + cells / 2);
}

static void crowds_cost_what_changes(void **state)
{
	for (uint64_t seed = 1; seed <= 25; seed++)
		play_members(seed);
}

/* A random cable between switches changes its state. */
static void change_cable(struct field *f, uint64_t *rng)
{
	unsigned n = sim_n_nodes(f->sim), port;
	int node = (int)(next_random(rng) % n), peer;
	unsigned peer_port;

	if (!sim_node_is_switch(f->sim, node))
		return;
	port = 1 + next_random(rng) % sim_node_ports(f->sim, node);
	if (!sim_peer(f->sim, node, port, &peer, &peer_port) || !sim_node_is_switch(f->sim, peer))
		return;
	if (sim_port_state(f->sim, node, port) > IB_PORT_DOWN)
		sim_link_down(f->sim, node, port);
	else
		sim_link_up(f->sim, node, port);
}

static void revive(struct field *f)
{
	FABRIC_EACH_NODE(f->fabric, n) {
		mad_target_revive(&n->target);
	}
}

/* Everything at once: members, cables, lost SMPs, restarts. */
static void play_storm(uint64_t seed)
{
	uint64_t rng = seed;
	_cleanup_(field_freep) struct field *f = field_new(random_net(&rng), seed, RANDOM_GROUPS);

	for (unsigned i = 0; i < 25; i++) {
		unsigned n = next_random(&rng) % 20;
		double there = (double)(next_random(&rng) % 10);

		sim_set_loss(f->sim, there, (double)(next_random(&rng) % 10));
		for (unsigned k = 0; k < n; k++)
			change_membership(f, &rng);
		for (unsigned k = next_random(&rng) % 5; k-- > 0;)
			change_cable(f, &rng);
		field_plan(f);
		field_run(f, (mono_t)(next_random(&rng) % 20000) * 1000);
		if (next_random(&rng) % 8 == 0)
			field_restart(f);
		if (next_random(&rng) % 2)
			field_sweep(f);
		never_looped(f);
	}
	sim_set_loss(f->sim, 0, 0);
	field_run(f, 100 * MONO_MS);
	for (unsigned i = 0; i < 3; i++) {
		revive(f);
		field_sweep(f);
		field_settle(f);
	}
	good(f);
	assert_int_equal(f->last.given_up, 0);
}

static void storms_never_loop(void **state)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		if (seed % 10 == 0)
			printf("# seeds up to %u\n", (unsigned)seed);
		play_storm(seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cell_travels),
		cmocka_unit_test(doubt_adds_up),
		cmocka_unit_test(two_hosts_hear_each_other),
		cmocka_unit_test(who_only_sends_is_not_served),
		cmocka_unit_test(a_join_writes_its_branch_alone),
		cmocka_unit_test(groups_share_cells),
		cmocka_unit_test(the_last_one_leaves_nothing),
		cmocka_unit_test(nothing_is_written_without_authority),
		cmocka_unit_test(stopping_writes_no_more),
		cmocka_unit_test(a_tree_moves_in_two_steps),
		cmocka_unit_test(trees_move_under_loss),
		cmocka_unit_test(a_silent_switch_is_waited_for),
		cmocka_unit_test(a_vanished_switch_is_not_waited_for),
		cmocka_unit_test(what_is_refused_is_said),
		cmocka_unit_test(a_restart_writes_nothing),
		cmocka_unit_test(a_restart_keeps_what_has_grown),
		cmocka_unit_test(stale_trees_are_cleared),
		cmocka_unit_test(unused_blocks_are_left_alone),
		cmocka_unit_test(a_rebooted_switch_is_filled_again),
		cmocka_unit_test(the_top_follows_whole_blocks),
		cmocka_unit_test(the_top_sinks_behind_a_tree_that_moves),
		cmocka_unit_test(the_top_waits_for_its_turn),
		cmocka_unit_test(no_top_without_the_option),
		cmocka_unit_test(rows_beyond_the_capacity_are_counted),
		cmocka_unit_test(a_clean_port_leads_nowhere_stale),
		cmocka_unit_test(crowds_cost_what_changes),
		cmocka_unit_test(storms_never_loop),
	};

	return cmocka_run_group_tests_name("mft", tests, NULL, NULL);
}
