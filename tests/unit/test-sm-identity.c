// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hosts that say they are another node, or a switch: with guid_location_policy hold they get
 * nothing, and the node that was there first loses nothing.
 */
#include "unit/trap-world.h"

#include "fabric/observe.h"
#include "sm/trust/violations.h"
#include "sm/read/identity.h"
#include "tests/lib/scratch.h"

static void start_with(struct world *w, const char *policy)
{
	free(w->conf->guid_location_policy);
	w->conf->guid_location_policy = xstrdup(policy);
	start(w);
}

static unsigned state_of(struct world *w, const char *name, unsigned port)
{
	return sim_port_state(w->sim, node_of(w, name), port);
}

static void bounce(struct world *w, const char *name)
{
	assert_int_equal(sim_link_flap(w->sim, node_of(w, name), 1, MONO_S), 0);
}

/* From now on `liar` says that it is `victim`; its link comes up anew. */
static void forge(struct world *w, const char *liar, const char *victim)
{
	sim_set_guid(w->sim, node_of(w, liar), sim_node_guid(w->sim, node_of(w, victim)));
	sim_ignore(w->sim, node_of(w, liar), true);
	bounce(w, liar);
}

static const char *name_at(struct world *w, const char *sw, unsigned port)
{
	const struct port *p = known(w, sw)->ports[port].peer;

	return p ? p->node->desc : "";
}

static const char *left_out(struct world *w)
{
	static char line[600];

	sm_left_out(w->sm, line, sizeof(line));
	return line;
}

/* h1 is nearer to the manager than h9: what is met first in a sweep proves nothing. */
static void a_forged_guid_is_held_and_both_places_are_named(void **state)
{
	struct world *w = *state;
	lid_t lid;

	start_with(w, "hold");
	lid = lid_of(w, "h9");
	listen_for(w, "answers here, and belongs to 'leaf3' port 2");
	forge(w, "h1", "h9");
	run_for(w, 5 * MONO_S);
	assert_true(w->said);
	listen_for(w, "answers here");
	for (unsigned i = 0; i < 5; i++) {
		sm_request_heavy(w->sm, NULL);
		run_for(w, 60 * MONO_S);
		assert_int_equal(state_of(w, "leaf1", 2), IB_PORT_INIT);
		assert_int_equal(state_of(w, "h9", 1), IB_PORT_ACTIVE);
		assert_int_equal(lid_of(w, "h9"), lid);
		assert_string_equal(name_at(w, "leaf1", 2), "");
		assert_true(is_good(w));
	}
	assert_false(w->said);
	assert_non_null(strstr(left_out(w), "held (guid_location_policy)"));
	assert_int_equal(violations_of(&known(w, "leaf1")->ports[2])->n[VIOLATION_IDENTITY], 1);
}

/* Every bounce of the link costs a few Gets, and the victim nothing. */
static void a_forger_that_comes_and_goes_disturbs_no_other_port(void **state)
{
	struct world *w = *state;
	uint32_t heavy;

	start_with(w, "hold");
	heavy = sm_stats(w->sm)->heavy_sweeps;
	forge(w, "h1", "h9");
	for (unsigned i = 0; i < 30; i++) {
		run_for(w, 5 * MONO_S);
		bounce(w, "h1");
		assert_int_equal(state_of(w, "h9", 1), IB_PORT_ACTIVE);
		assert_true(is_good(w));
	}
	assert_int_equal(sm_stats(w->sm)->heavy_sweeps, heavy);
}

static void a_guid_may_move_when_its_place_has_been_free_for_long_enough(void **state)
{
	struct world *w = *state;

	w->conf->guid_location_hold_time = 40;
	start_with(w, "hold");
	forge(w, "h1", "h9");
	run_for(w, 20 * MONO_S);
	assert_int_equal(state_of(w, "leaf1", 2), IB_PORT_INIT);
	assert_int_equal(sim_unplug(w->sim, node_of(w, "h9"), 1), 0);
	run_for(w, 35 * MONO_S);
	assert_int_equal(state_of(w, "leaf1", 2), IB_PORT_INIT);
	run_for(w, 15 * MONO_S);
	assert_int_equal(state_of(w, "leaf1", 2), IB_PORT_ACTIVE);
	assert_null(strstr(left_out(w), "guid_location_policy"));
}

/* The host left first: that it is forgotten does not make its GUID anyone's. */
static void a_guid_that_left_is_waited_for_as_well(void **state)
{
	struct world *w = *state;

	start_with(w, "hold");
	assert_int_equal(sim_unplug(w->sim, node_of(w, "h9"), 1), 0);
	run_for(w, 10 * MONO_S);
	assert_null(known(w, "h9"));
	forge(w, "h1", "h9");
	run_for(w, 10 * MONO_S);
	assert_int_equal(state_of(w, "leaf1", 2), IB_PORT_INIT);
	run_for(w, 20 * MONO_S);
	assert_int_equal(state_of(w, "leaf1", 2), IB_PORT_ACTIVE);
}

static uint64_t gets_of_a_minute(struct world *w)
{
	uint64_t before = sim_gets(w->sim);

	run_for(w, 60 * MONO_S);
	return sim_gets(w->sim) - before;
}

/* Its first claim is stale: nothing is asked for it, although that place is free one day. */
static void a_forger_that_changes_its_mind_costs_nothing(void **state)
{
	struct world *w = *state;
	uint64_t usual, asked;

	start_with(w, "hold");
	forge(w, "h1", "h9");
	run_for(w, 60 * MONO_S);
	usual = gets_of_a_minute(w);
	sim_set_guid(w->sim, node_of(w, "h1"), sim_node_guid(w->sim, node_of(w, "h8")));
	sm_request_heavy(w->sm, NULL);
	run_for(w, 5 * MONO_S);
	assert_int_equal(state_of(w, "leaf1", 2), IB_PORT_INIT);
	assert_int_equal(sim_unplug(w->sim, node_of(w, "h9"), 1), 0);
	run_for(w, 60 * MONO_S);
	asked = gets_of_a_minute(w);
	assert_in_range(asked, 0, usual + 10);
	assert_int_equal(state_of(w, "leaf1", 2), IB_PORT_INIT);
}

static void a_host_that_reboots_waits_for_nothing(void **state)
{
	struct world *w = *state;

	start_with(w, "hold");
	listen_for(w, "answers here");
	sim_reboot(w->sim, node_of(w, "h9"), 5 * MONO_S);
	run_for(w, 8 * MONO_S);
	assert_int_equal(state_of(w, "h9", 1), IB_PORT_ACTIVE);
	assert_false(w->said);
	assert_true(is_good(w));
}

/* As ever: the newcomer is believed where the old place is out of the way. */
static void report_says_it_once_and_follows(void **state)
{
	struct world *w = *state;

	start_with(w, "report");
	assert_int_equal(sim_unplug(w->sim, node_of(w, "h1"), 1), 0);
	run_for(w, 5 * MONO_S);
	listen_for(w, "it is taken for moved");
	assert_int_equal(sim_move(w->sim, node_of(w, "h9"), 1, node_of(w, "leaf1"), 2), 0);
	run_for(w, 10 * MONO_S);
	assert_true(w->said);
	assert_int_equal(state_of(w, "h9", 1), IB_PORT_ACTIVE);
	assert_string_equal(name_at(w, "leaf1", 2), known(w, "h9")->desc);
	listen_for(w, "it is taken for moved");
	sm_request_heavy(w->sm, NULL);
	run_for(w, 30 * MONO_S);
	assert_false(w->said);
}

static void off_says_nothing(void **state)
{
	struct world *w = *state;

	start_with(w, "off");
	assert_int_equal(sim_unplug(w->sim, node_of(w, "h1"), 1), 0);
	run_for(w, 5 * MONO_S);
	listen_for(w, "guid_location_policy");
	assert_int_equal(sim_move(w->sim, node_of(w, "h9"), 1, node_of(w, "leaf1"), 2), 0);
	run_for(w, 10 * MONO_S);
	assert_false(w->said);
	assert_int_equal(state_of(w, "h9", 1), IB_PORT_ACTIVE);
}

/* leaf2 port 2 had h5; a switch comes in its place. */
static void put_a_switch_where_a_host_was(struct world *w)
{
	int leaf2 = node_of(w, "leaf2"), leaf4 = node_of(w, "leaf4");

	assert_int_equal(sim_unplug(w->sim, leaf2, 2), 0);
	assert_int_equal(sim_unplug(w->sim, leaf4, 4), 0);
	run_for(w, 60 * MONO_S);
	assert_int_equal(sim_plug(w->sim, leaf2, 2, leaf4, 4), 0);
	run_for(w, 20 * MONO_S);
}

static void a_host_port_leads_to_no_switch(void **state)
{
	struct world *w = *state;

	start_with(w, "hold");
	listen_for(w, "says that it is a switch");
	put_a_switch_where_a_host_was(w);
	assert_true(w->said);
	assert_int_equal(state_of(w, "leaf2", 2), IB_PORT_INIT);
	assert_string_equal(name_at(w, "leaf2", 2), "");
	sm_request_heavy(w->sm, NULL);
	run_for(w, 30 * MONO_S);
	assert_int_equal(state_of(w, "leaf2", 2), IB_PORT_INIT);
}

static void a_host_port_may_become_one_of_a_switch_by_report(void **state)
{
	struct world *w = *state;

	start_with(w, "report");
	put_a_switch_where_a_host_was(w);
	assert_int_equal(state_of(w, "leaf2", 2), IB_PORT_ACTIVE);
	assert_true(is_good(w));
}

static void a_host_with_the_guid_of_a_switch_is_held(void **state)
{
	struct world *w = *state;

	start_with(w, "hold");
	listen_for(w, "says that it is a host");
	forge(w, "h1", "leaf3");
	for (unsigned i = 0; i < 3; i++) {
		sm_request_heavy(w->sm, NULL);
		run_for(w, 60 * MONO_S);
		assert_int_equal(state_of(w, "leaf1", 2), IB_PORT_INIT);
		assert_true(is_good(w));
	}
	assert_true(w->said);
	assert_true(node_is_switch(known(w, "leaf3")));
}

/* Not even where hosts may move: the tables of the switch would go with it. */
static void no_switch_makes_room_for_a_host(void **state)
{
	struct world *w = *state;

	start_with(w, "report");
	listen_for(w, "says that it is a host");
	forge(w, "h1", "leaf3");
	run_for(w, 10 * MONO_S);
	assert_true(w->said);
	listen_for(w, "was replaced by another with its GUID");
	for (unsigned i = 0; i < 3; i++) {
		sm_request_heavy(w->sm, NULL);
		run_for(w, 60 * MONO_S);
		assert_int_equal(state_of(w, "leaf1", 2), IB_PORT_INIT);
		assert_true(is_good(w));
	}
	assert_false(w->said);
	assert_true(node_is_switch(known(w, "leaf3")));
	assert_int_equal(violations_of(&known(w, "leaf1")->ports[2])->n[VIOLATION_IDENTITY], 1);
}

/* ---- over a restart ------------------------------------------------------------------------- */

static void start_in(struct world *w, const char *dir)
{
	assert_true(rig_start(w->rig, "h0", 0, w->conf, dir) >= 0);
	run_for(w, 15 * MONO_S);
	w->sm = rig_master(w->rig);
	assert_non_null(w->sm);
}

/* The manager ends, h1 says that it is h9, and the next manager starts with the same files. */
static void restart_beside_a_forger(struct world *w, const char *dir)
{
	rig_stop(w->rig, 0);
	forge(w, "h1", "h9");
	run_for(w, 5 * MONO_S);
	listen_for(w, "answers here, and belongs to");
	start_in(w, dir);
}

static void homes_are_known_over_a_restart(void **state)
{
	struct world *w = *state;
	char dir[SCRATCH_PATH];

	scratch_folder(dir);
	free(w->conf->guid_location_policy);
	w->conf->guid_location_policy = xstrdup("hold");
	start_in(w, dir);
	restart_beside_a_forger(w, dir);
	assert_true(w->said);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(state_of(w, "leaf1", 2), IB_PORT_INIT);
		assert_int_equal(state_of(w, "h9", 1), IB_PORT_ACTIVE);
		assert_string_equal(name_at(w, "leaf3", 2), known(w, "h9")->desc);
		assert_true(is_good(w));
		sm_request_heavy(w->sm, NULL);
		run_for(w, 60 * MONO_S);
	}
	scratch_remove(dir);
}

/* Moved while no manager looked: it waits for the time of the option, and is served. */
static void a_host_that_moved_meanwhile_waits_for_the_hold_time(void **state)
{
	struct world *w = *state;
	char dir[SCRATCH_PATH];

	scratch_folder(dir);
	free(w->conf->guid_location_policy);
	w->conf->guid_location_policy = xstrdup("hold");
	start_in(w, dir);
	rig_stop(w->rig, 0);
	assert_int_equal(sim_unplug(w->sim, node_of(w, "h1"), 1), 0);
	run_for(w, 5 * MONO_S);
	assert_int_equal(sim_move(w->sim, node_of(w, "h9"), 1, node_of(w, "leaf1"), 2), 0);
	start_in(w, dir);
	assert_int_equal(state_of(w, "leaf1", 2), IB_PORT_INIT);
	run_for(w, 40 * MONO_S);
	assert_int_equal(state_of(w, "leaf1", 2), IB_PORT_ACTIVE);
	scratch_remove(dir);
}

/*
 * A port that was left out for a GUID that is there twice is held for a claim: documents that are
 * being copied have to say so.
 */
static void another_reason_is_an_edit(void **state)
{
	struct world *w = *state;
	uint8_t info[SMP_DATA_SIZE] = { 0 };
	struct node *leaf;
	uint64_t before;

	start_with(w, "hold");
	leaf = fabric_find_node(sm_fabric(w->sm), known(w, "leaf1")->guid);
	ib_put(info, NI_NODE_TYPE, IB_NODE_CA);
	ib_put(info, NI_NODE_GUID, known(w, "h9")->guid);
	ib_put(info, NI_PORT_GUID, known(w, "h9")->ports[1].guid);
	ib_put(info, NI_LOCAL_PORT, 1);
	observe_quarantine(&leaf->ports[2], true);
	before = leaf->edited;
	assert_true(identity_holds(w->sm, &leaf->ports[2], info));
	assert_true(identity_is_held(&leaf->ports[2]));
	assert_true(leaf->edited > before);
	free(w->conf->guid_location_policy);
	w->conf->guid_location_policy = xstrdup("off");
	before = leaf->edited;
	assert_false(identity_holds(w->sm, &leaf->ports[2], info));
	assert_true(leaf->edited > before);
	before = leaf->edited;
	assert_false(identity_holds(w->sm, &leaf->ports[2], info));
	assert_int_equal(leaf->edited, before);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_forged_guid_is_held_and_both_places_are_named),
		TEST(a_forger_that_comes_and_goes_disturbs_no_other_port),
		TEST(a_guid_may_move_when_its_place_has_been_free_for_long_enough),
		TEST(a_guid_that_left_is_waited_for_as_well),
		TEST(a_forger_that_changes_its_mind_costs_nothing),
		TEST(a_host_that_reboots_waits_for_nothing),
		TEST(report_says_it_once_and_follows),
		TEST(off_says_nothing),
		TEST(a_host_port_leads_to_no_switch),
		TEST(a_host_port_may_become_one_of_a_switch_by_report),
		TEST(a_host_with_the_guid_of_a_switch_is_held),
		TEST(no_switch_makes_room_for_a_host),
		TEST(another_reason_is_an_edit),
		TEST(homes_are_known_over_a_restart),
		TEST(a_host_that_moved_meanwhile_waits_for_the_hold_time),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
