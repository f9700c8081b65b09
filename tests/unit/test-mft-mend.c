// SPDX-License-Identifier: BSD-2-Clause
/*
 * Trees around dead cables, from the planner to switches, in the simulator, which follows every
 * packet after every Set: nothing loops or comes twice, and Sets are ahead of what else is queued.
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
#include "tests/lib/rounds.h"
#include "util/mem.h"
#include "util/random.h"
#include "util/sets.h"

static void never_looped(const struct field *f)
{
	assert_int_equal(sim_mcast_loops_ever(f->sim), 0);
	assert_int_equal(sim_mcast_twice_ever(f->sim), 0);
}

static void join(struct field *f, unsigned group, unsigned host)
{
	field_join(f, group, field_host(f, host), true);
}

static struct node *node_at(const struct field *f, const char *id)
{
	return fabric_find_node(f->fabric, sim_node_guid(f->sim, sim_find(f->sim, id)));
}

/* Four leaves with four hosts each, `spines` spines; all hosts in all groups. */
static struct field *crowd(unsigned spines, unsigned n_groups)
{
	struct field *f = field_new(gen_tree(4, 4, spines, 1), 1, n_groups);

	for (unsigned g = 0; g < n_groups; g++)
		for (unsigned h = 0; h < 16; h++)
			join(f, g, h);
	field_plan(f);
	field_settle(f);
	assert_true(field_all_reach(f));
	return f;
}

static void a_mended_tree_reaches_all(void **state)
{
	_cleanup_(field_freep) struct field *f = crowd(3, 40);
	int leaf = sim_find(f->sim, "leaf2");
	uint64_t sets = field_sets(f);

	for (unsigned spine = 0; spine < 2; spine++) {
		field_cable_dies(f, leaf, 5 + spine);
		assert_false(field_all_reach(f));
		field_mend(f);
		field_settle(f);
		assert_true(field_all_reach(f));
	}
	/* 40 groups are two blocks; switches have 8 ports, so one cell a block */
	assert_in_range(field_sets(f) - sets, 1, 2 * 2 * 7);
	never_looped(f);
}

static void on_other(void *owner, const struct mad_result *r)
{
	unsigned *pending = owner;

	--*pending;
}

/*
 * Hundreds of other requests fill the window of SMPs in flight, and more wait for a place in it.
 * Sets that repair a multicast tree are sent all the same, without waiting.
 */
static void sets_are_ahead_of_all_others(void **state)
{
	_cleanup_(field_freep) struct field *f = crowd(2, 1);
	struct node *leaf = node_at(f, "leaf1");
	unsigned pending = 0;

	field_cable_dies(f, sim_find(f->sim, "leaf2"), 5);
	if (field_all_reach(f))
		field_cable_dies(f, sim_find(f->sim, "leaf3"), 6);
	assert_false(field_all_reach(f));
	for (unsigned i = 0; i < 2000; i++) {
		const struct mad_request rq = {
			.method = MAD_GET,
			.attr = IB_ATTR_LFT,
			.path = &leaf->path,
		};

		mad_submit(f->mad, &rq, on_other, &pending, NULL);
		pending++;
	}
	field_mend(f);
	for (unsigned i = 0; i < 1000 && !field_all_reach(f); i++)
		field_run(f, 10 * MONO_US);
	assert_true(field_all_reach(f));
	assert_true(pending > 1000);
	field_settle(f);
	assert_int_equal(pending, 0);
	never_looped(f);
}

/* The known route to the leaf leads over the dead cable: what is sent by it is lost. */
static void routes_lead_around_the_dead_cable(void **state)
{
	_cleanup_(field_freep) struct field *f = crowd(2, 8);
	struct node *leaf = node_at(f, "leaf3");
	unsigned port = f->fabric->own->ports[1]
				.peer->node->ports[leaf->path.hop[2]]
				.peer->node->ports[leaf->path.hop[3]]
				.peer->num;
	mono_t before = sim_now(f->sim);

	assert_int_equal(leaf->path.length, 3);
	field_cable_dies(f, sim_find(f->sim, "leaf3"), port);
	assert_false(field_all_reach(f));
	field_mend(f);
	field_settle(f);
	assert_true(field_all_reach(f));
	assert_true(sim_now(f->sim) - before < 20 * MONO_MS); /* no request had to be repeated */
	never_looped(f);
}

/* What was under way by that route when the cable died is not waited for. */
static void what_was_under_way_is_sent_anew(void **state)
{
	_cleanup_(field_freep) struct field *f = crowd(2, 8);
	struct node *leaf = node_at(f, "leaf3");
	unsigned port = f->fabric->own->ports[1]
				.peer->node->ports[leaf->path.hop[2]]
				.peer->node->ports[leaf->path.hop[3]]
				.peer->num;
	mono_t before;

	sim_link_down(f->sim, sim_find(f->sim, "leaf3"), port); /* not known yet */
	for (unsigned g = 0; g < 8; g++)
		field_leave(f, g, field_host(f, 9));
	field_plan(f);
	field_run(f, 100 * MONO_US);
	before = sim_now(f->sim);
	field_cable_dies(f, sim_find(f->sim, "leaf3"), port);
	field_mend(f);
	field_settle(f);
	assert_true(field_all_reach(f));
	assert_true(sim_now(f->sim) - before < 15 * MONO_MS);
	never_looped(f);
}

/*
 * A cable that is to be used no more, and still carries packets: the new connection would close a
 * circle with it, so rows lose it before any gets the new one.
 */
static void a_cable_that_still_carries_packets_is_cut_first(void **state)
{
	_cleanup_(field_freep) struct field *f = crowd(3, 6);
	const struct node *leaf = node_at(f, "leaf2");
	uint32_t sw = topo_find_switch(f->topo, leaf->guid);

	for (unsigned port = 5; port <= 6; port++) {
		uint32_t entry = f->topo->switches[sw].first_port + port;

		mcast_cables_died(f->planner, &entry, 1);
		field_mend(f);
		field_settle(f);
		assert_true(field_all_reach(f));
		never_looped(f);
		for (unsigned g = 0; g < 6; g++)
			assert_false(mcast_uses_dead(
				f->planner, mft_sync_wanted(f->sync, (lid_t)(MLID_MIN + g))));
	}
}

/* A switch without living cables: no Set times out, and none is a fault; later it gets its rows. */
static void a_switch_out_of_reach_is_left_alone(void **state)
{
	_cleanup_(field_freep) struct field *f = crowd(2, 1);
	int leaf = sim_find(f->sim, "leaf3");
	mono_t before = sim_now(f->sim);

	for (unsigned p = 5; p <= 6; p++)
		field_cable_dies(f, leaf, p);
	mft_sync_leave_alone(f->sync, node_at(f, "leaf3"));
	field_mend(f);
	field_leave(f, 0, field_host(f, 9)); /* on that leaf */
	field_plan(f);
	field_settle(f);
	assert_true(sim_now(f->sim) - before < 20 * MONO_MS);
	assert_int_equal(f->last.given_up, 0);
	for (unsigned p = 5; p <= 6; p++)
		sim_link_up(f->sim, leaf, p);
	field_run(f, 100 * MONO_MS);
	field_sweep(f);
	assert_true(field_all_reach(f));
	never_looped(f);
}

/* ---- random -------------------------------------------------------------------------------- */

#define GROUPS 6

/* Is the fabric still in one piece without the cables that died, and this one? */
static bool holds_together(const struct field *f, const struct topo_port *without)
{
	_cleanup_free_ uint32_t *set = xcalloc(f->topo->n_switches, sizeof(*set));
	uint32_t pieces = f->topo->n_switches;

	for (uint32_t i = 0; i < f->topo->n_switches; i++)
		set[i] = i;
	for (uint32_t i = 0; i < f->topo->n_switches; i++) {
		const struct topo_switch *sw = &f->topo->switches[i];
		const struct node *n = fabric_find_node(f->fabric, sw->guid);

		for (unsigned p = 1; p <= sw->n_ports; p++) {
			uint32_t to = topo_behind(f->topo, i, p);

			if (to != TOPO_NONE && port_state(&n->ports[p]) > IB_PORT_DOWN &&
			    topo_port(f->topo, i, p) != without &&
			    &f->topo->ports[topo_peer(f->topo, sw->first_port + p)] != without &&
			    sets_join(set, i, to))
				pieces--;
		}
	}
	return pieces == 1;
}

/* A cable between switches dies, if the fabric then still holds together. */
static void accident(struct field *f, uint64_t *rng)
{
	uint32_t sw = (uint32_t)(random_next(rng) % f->topo->n_switches);
	unsigned port = 1 + (unsigned)(random_next(rng) % f->topo->switches[sw].n_ports);

	if (topo_behind(f->topo, sw, port) == TOPO_NONE ||
	    !holds_together(f, topo_port(f->topo, sw, port)))
		return;
	for (unsigned n = 0; n < sim_n_nodes(f->sim); n++)
		if (sim_node_guid(f->sim, (int)n) == f->topo->switches[sw].guid)
			field_cable_dies(f, (int)n, port);
}

static void change_member(struct field *f, uint64_t *rng)
{
	unsigned group = (unsigned)(random_next(rng) % GROUPS);
	int host = field_host(f, (unsigned)(random_next(rng) % field_hosts(f)));

	if (field_is_member(f, group, host) && random_next(rng) % 2)
		field_leave(f, group, host);
	else
		field_join(f, group, host, random_next(rng) % 5 != 0);
}

static struct netfile *random_net(uint64_t *rng)
{
	switch (random_next(rng) % 3) {
	case 0:
		return gen_tree(5, 3, 3, 1);
	case 1:
		return gen_torus(3, 3, 2, 1);
	default:
		return gen_random(14, 4, 2, *rng);
	}
}

/* Cables die while members come and go, answers get lost, and Sets of earlier mends are out. */
static void play(uint64_t seed)
{
	uint64_t rng = seed;
	_cleanup_(field_freep) struct field *f = field_new(random_net(&rng), seed, GROUPS);

	for (unsigned i = 0; i < 40; i++)
		change_member(f, &rng);
	field_plan(f);
	field_settle(f);
	sim_set_loss(f->sim, (double)(random_next(&rng) % 6), (double)(random_next(&rng) % 6));
	for (unsigned i = 0; i < 12; i++) {
		for (unsigned k = 1 + (unsigned)(random_next(&rng) % 3); k > 0; k--)
			accident(f, &rng);
		field_mend(f);
		for (unsigned k = (unsigned)(random_next(&rng) % 3); k > 0; k--)
			change_member(f, &rng);
		field_plan(f);
		field_run(f, (mono_t)(random_next(&rng) % 300) * MONO_US);
		never_looped(f);
	}
	sim_set_loss(f->sim, 0, 0);
	field_mend(f);
	field_settle(f);
	field_sweep(f);
	assert_true(field_all_reach(f));
	never_looped(f);
}

static void mends_never_loop(void **state)
{
	for (uint64_t seed = 1; seed <= test_rounds(60); seed++) {
		if (seed % 20 == 0)
			printf("# seeds up to %u\n", (unsigned)seed);
		play(seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mended_tree_reaches_all),
		cmocka_unit_test(sets_are_ahead_of_all_others),
		cmocka_unit_test(routes_lead_around_the_dead_cable),
		cmocka_unit_test(what_was_under_way_is_sent_anew),
		cmocka_unit_test(a_cable_that_still_carries_packets_is_cut_first),
		cmocka_unit_test(a_switch_out_of_reach_is_left_alone),
		cmocka_unit_test(mends_never_loop),
	};

	return cmocka_run_group_tests_name("mft-mend", tests, NULL, NULL);
}
