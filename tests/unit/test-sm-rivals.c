// SPDX-License-Identifier: BSD-2-Clause
/*
 * Other subnet managers as they are: greater, lower, dead, idle, stubborn, foreign; and which ends
 * as master.
 */
#include "tests/unit/elect-desk.h"

/* ---- handing over, and what becomes of it ---- */

static void a_greater_one_gets_the_fabric_when_it_is_looked_at(void **state)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", OUR_PRIO + 1, SM_STANDBY);

	p->takes = true;
	elect_look_at(w->sm, fabric_find_port(sm_fabric(w->sm), p->tr->port_guid));
	run(w, 20 * MONO_MS);
	assert_int_equal(p->handed, 1);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
	run(w, 120 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
	assert_int_equal(p->handed, 1);
	world_free(w);
}

static void a_manager_that_was_discovering_is_asked_again_soon(void **state)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", OUR_PRIO + 1, SM_DISCOVERING);

	p->takes = true;
	elect_look_at(w->sm, fabric_find_port(sm_fabric(w->sm), p->tr->port_guid));
	run(w, 250 * MONO_MS);
	assert_int_equal(p->handed, 0);
	p->state = SM_STANDBY;
	run(w, 500 * MONO_MS);
	assert_int_equal(p->handed, 1);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
	world_free(w);
}

static void a_manager_that_discovers_for_ever_is_asked_ever_less_often(void **state)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", OUR_PRIO + 1, SM_DISCOVERING);
	unsigned before;

	elect_look_at(w->sm, fabric_find_port(sm_fabric(w->sm), p->tr->port_guid));
	run(w, 30 * MONO_S);
	assert_in_range(p->asked, 7, 14);
	before = p->asked;
	run(w, 100 * MONO_S); /* by sweeps alone */
	assert_in_range(p->asked - before, 5, 11);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	world_free(w);
}

static void equal_priorities_are_decided_by_the_guid(void **state)
{
	struct world *w = as_master(); /* h0: the lowest GUID of all hosts */
	struct puppet *p = puppet(w, "h1", OUR_PRIO, SM_STANDBY);

	run(w, 30 * MONO_S);
	assert_int_equal(p->handed, 0);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	world_free(w);
}

static void who_takes_the_fabric_and_dies_is_replaced(void **state)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", 9, SM_STANDBY);

	p->takes = true;
	assert_true(becomes(w, SM_STANDBY, 15 * MONO_S));
	run(w, MONO_MS);
	assert_int_equal(p->handed, 1);
	p->mute = true;
	assert_true(becomes(w, SM_MASTER, (POLL_RETRY + 2) * POLL_EVERY + 2 * MONO_S));
	run(w, 60 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	world_free(w);
}

static void who_refuses_the_fabric_is_not_offered_it_again(void **state)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", 9, SM_STANDBY);

	p->refuses = ILLEGAL;
	run(w, 60 * MONO_S);
	assert_int_equal(p->handed, 1);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	assert_true(sm_stats(w->sm)->up);
	world_free(w);
}

/* testing.md 5.1 #15: it answers polls and nothing else. */
static void who_takes_the_fabric_and_does_nothing_is_passed_over(void **state)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", 15, SM_STANDBY);

	assert_true(becomes(w, SM_STANDBY, 15 * MONO_S));
	assert_true(becomes(w, SM_MASTER, 15 * MONO_S));
	run(w, 300 * MONO_S);
	assert_int_equal(p->handed, 1);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	assert_int_equal(count_said("is to be MASTER and stays STANDBY", "'h1'"), 1);
	world_free(w);
}

/* It says MASTER and writes nothing: that is said, once. */
static void a_master_that_rules_nothing_is_reported(void **state)
{
	struct world *w = as_master();

	puppet(w, "h1", 15, SM_MASTER);
	run(w, 300 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_STANDBY);
	assert_int_equal(count_said("has not written its LID to our port", "'h1'"), 1);
	world_free(w);
}

static void who_asks_again_gets_three_chances(void **state)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", 15, SM_STANDBY);

	for (unsigned i = 0; i < 20; i++) {
		run(w, 15 * MONO_S);
		elect_look_at(w->sm, fabric_find_port(sm_fabric(w->sm), p->tr->port_guid));
	}
	run(w, 15 * MONO_S);
	assert_int_equal(p->handed, 3);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	world_free(w);
}

static void the_end_hands_over_to_who_stands_by(void **state)
{
	struct world *w = as_master();
	struct puppet *lower = puppet(w, "h1", 2, SM_STANDBY),
		      *higher = puppet(w, "h2", 3, SM_STANDBY);

	elect_look_at(w->sm, fabric_find_port(sm_fabric(w->sm), lower->tr->port_guid));
	elect_look_at(w->sm, fabric_find_port(sm_fabric(w->sm), higher->tr->port_guid));
	run(w, MONO_S);
	rig_stop(w->rig, 0);
	run(w, MONO_MS);
	assert_int_equal(higher->handed, 1);
	assert_int_equal(lower->handed, 0);
	world_free(w);
}

/*
 * One that is DISCOVERING has nothing of what was entrusted to us: the one that stands by gets it.
 */
static void the_end_hands_over_to_none_that_is_discovering(void **state)
{
	struct world *w = as_master();
	struct puppet *started = puppet(w, "h1", 3, SM_DISCOVERING), *ready;

	elect_look_at(w->sm, fabric_find_port(sm_fabric(w->sm), started->tr->port_guid));
	run(w, MONO_S);
	rig_stop(w->rig, 0);
	run(w, MONO_MS);
	assert_int_equal(started->handed, 0);
	world_free(w);

	w = as_master();
	started = puppet(w, "h1", 3, SM_DISCOVERING);
	ready = puppet(w, "h2", 2, SM_STANDBY);
	elect_look_at(w->sm, fabric_find_port(sm_fabric(w->sm), started->tr->port_guid));
	elect_look_at(w->sm, fabric_find_port(sm_fabric(w->sm), ready->tr->port_guid));
	run(w, MONO_S);
	rig_stop(w->rig, 0);
	run(w, MONO_MS);
	assert_int_equal(started->handed, 0);
	assert_int_equal(ready->handed, 1);
	world_free(w);
}

static void the_end_hands_over_to_nobody_who_is_not_obeyed(void **state)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", 2, SM_STANDBY), *q = puppet(w, "h2", 3, SM_NOT_ACTIVE);

	p->key = 3;
	elect_look_at(w->sm, fabric_find_port(sm_fabric(w->sm), p->tr->port_guid));
	elect_look_at(w->sm, fabric_find_port(sm_fabric(w->sm), q->tr->port_guid));
	run(w, MONO_S);
	rig_stop(w->rig, 0);
	run(w, MONO_MS);
	assert_int_equal(p->handed + q->handed, 0);
	world_free(w);
}

/* ---- another master ---- */

static void a_lower_master_is_waited_for_and_told(void **state)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", 1, SM_MASTER);
	uint64_t sets = sim_sets(w->rig->sim);
	lid_t lid = sim_port_lid(w->rig->sim, sim_find(w->rig->sim, "h0"), 1);

	elect_look_at(w->sm, fabric_find_port(sm_fabric(w->sm), p->tr->port_guid));
	run(w, POLL_EVERY);
	sm_request_heavy(w->sm, NULL);
	run(w, POLL_EVERY / 2);
	assert_int_equal(sim_sets(w->rig->sim), sets);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	assert_true(p->traps > 0);
	assert_int_equal(ib_get(p->trap, NT_TRAP), TRAP_LOCAL_CHANGE);
	assert_int_equal(ib_get(p->trap, NT_TYPE), 4);
	assert_int_equal(ib_get(p->trap, NT_PRODUCER), IB_NODE_CA);
	assert_int_equal(ib_get(p->trap, NT_ISSUER_LID), lid);
	assert_int_equal(ib_get(p->trap, N144_LID), lid);
	assert_int_equal(ib_get(p->trap, N144_OTHER_CHANGES), 1);
	assert_int_equal(ib_get(p->trap, N144_CHANGES), N144_SM_PRIORITY);
	assert_true(ib_get(p->trap, N144_CAP_MASK) & IB_CAP(IB_CAP_IS_SM));
	p->state = SM_STANDBY;
	send_set(w, p, SMI_HANDOVER, &to_h0); /* says STANDBY: illegal, but seen by the next poll */
	run(w, 5 * MONO_S);
	assert_int_equal(p->status, ILLEGAL);
	assert_true(sm_stats(w->sm)->up);
	assert_int_equal(elect_polled(w->sm), 0);
	world_free(w);
}

static void a_lower_master_that_never_hands_over_is_not_waited_for_for_ever(void **state)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", 1, SM_MASTER);
	uint32_t sweeps = sm_stats(w->sm)->heavy_sweeps;

	run(w, 12 * MONO_S + (POLL_RETRY + 3) * POLL_EVERY);
	assert_int_equal(count_said("does not hand over: the fabric is set up", "'h1'"), 1);
	assert_true(sm_stats(w->sm)->heavy_sweeps > sweeps);
	run(w, 120 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	assert_int_equal(elect_polled(w->sm), 0);
	assert_int_equal(count_said("does not hand over: the fabric is set up", "'h1'"), 1);
	assert_int_equal(p->handed, 0);
	world_free(w);
}

static void a_master_that_vanishes_while_it_is_waited_for_is_not_missed(void **state)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", 1, SM_MASTER);
	uint32_t sweeps;

	elect_look_at(w->sm, fabric_find_port(sm_fabric(w->sm), p->tr->port_guid));
	run(w, POLL_EVERY);
	sweeps = sm_stats(w->sm)->heavy_sweeps;
	assert_int_equal(elect_polled(w->sm), p->tr->port_guid);
	p->mute = true;
	run(w, (POLL_RETRY + 2) * POLL_EVERY + 3 * MONO_S);
	assert_true(sm_stats(w->sm)->heavy_sweeps > sweeps);
	assert_true(sm_stats(w->sm)->up);
	world_free(w);
}

/* ---- polling ---- */

static void a_master_that_stops_answering_is_replaced_in_time(void **state)
{
	struct world *w = as_standby();
	mono_t from;

	run(w, 3 * MONO_S);
	w->puppets[0].mute = true;
	from = sim_now(w->rig->sim);
	assert_true(becomes(w, SM_MASTER, 10 * MONO_S));
	assert_in_range(sim_now(w->rig->sim) - from, POLL_RETRY * POLL_EVERY,
			(POLL_RETRY + 2) * POLL_EVERY + MONO_S);
	world_free(w);
}

static void a_master_that_is_none_any_more_is_replaced_at_once(void **state)
{
	static const enum sm_state states[] = { SM_NOT_ACTIVE, SM_STANDBY };

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		struct world *w = as_standby();

		w->puppets[0].state = (uint8_t)states[i];
		w->puppets[0].priority = states[i] == SM_STANDBY ? 1 : 9;
		assert_true(becomes(w, SM_MASTER, 2 * POLL_EVERY));
		run(w, 30 * MONO_S);
		assert_int_equal(sm_state(w->sm), SM_MASTER);
		world_free(w);
	}
}

/* ---- which are believed - */

static void rogues_are_reported_once_with_their_place_and_never_obeyed(void **state)
{
	for (unsigned listed = 0; listed < 2; listed++) {
		const char *what = listed ? "is not in allowed_sm_guids" : "has another SM_Key";
		struct world *w = world_new();
		struct puppet *p;
		int leaf2;

		if (listed)
			w->conf->allowed_sm_guids = xstrdup("0x100000, 0x999");
		start(w);
		run(w, 15 * MONO_S);
		p = puppet(w, "h1", 15, SM_MASTER);
		p->key = listed ? OUR_KEY : 0x77;
		run(w, 60 * MONO_S);
		assert_int_equal(sm_state(w->sm), SM_MASTER);
		assert_int_equal(p->handed, 0);
		assert_true(p->asked > 3);
		assert_int_equal(count_said(what, "behind 'leaf1' port 2"), 1);
		leaf2 = sim_find(w->rig->sim, "leaf2");
		assert_int_equal(sim_unplug(w->rig->sim, leaf2, 3), 0);
		assert_int_equal(sim_move(w->rig->sim, sim_find(w->rig->sim, "h1"), 1, leaf2, 3),
				 0);
		forget_said();
		run(w, 60 * MONO_S);
		assert_int_equal(count_said(what, "behind 'leaf2' port 3"), 1);
		world_free(w);
	}
}

static void a_standby_leaves_a_master_that_is_not_allowed_any_more(void **state)
{
	struct world *w = as_standby();
	struct conf *strict = conf_copy(w->conf);

	strict->allowed_sm_guids = xstrdup("0x999");
	sm_request_heavy(w->sm, strict);
	assert_true(becomes(w, SM_MASTER, 2 * MONO_S));
	run(w, 60 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	conf_unref(strict);
	world_free(w);
}

static void a_standby_that_is_given_another_priority_tells_the_master(void **state)
{
	struct world *w = as_standby();
	struct conf *other = conf_copy(w->conf);
	struct puppet *p = &w->puppets[0];

	run(w, 3 * POLL_EVERY);
	p->traps = 0;
	other->sm_priority = 4;
	sm_request_heavy(w->sm, other);
	run(w, 10 * MONO_MS);
	assert_int_equal(p->traps, 1);
	assert_int_equal(ib_get(p->trap, N144_CHANGES), N144_SM_PRIORITY);
	conf_unref(other);
	world_free(w);
}

static void a_silent_sm_delays_no_sweep(void **state)
{
	struct world *w = as_master();
	struct puppet *p = puppet(w, "h1", 15, SM_MASTER);
	mono_t from;
	uint32_t n;

	p->mute = true;
	for (unsigned i = 0; i < 3; i++) { /* then it is not waited for any more */
		sm_request_heavy(w->sm, NULL);
		run(w, 5 * MONO_S);
	}
	n = sm_stats(w->sm)->heavy_sweeps;
	sm_request_heavy(w->sm, NULL);
	from = sim_now(w->rig->sim);
	while (sm_stats(w->sm)->heavy_sweeps == n && sim_now(w->rig->sim) < from + MONO_S)
		run(w, MONO_MS);
	assert_true(sim_now(w->rig->sim) - from < 100 * MONO_MS);
	p->mute = false;
	assert_true(becomes(w, SM_STANDBY, 12 * MONO_S));
	world_free(w);
}

static void ignore_other_sm_asks_nobody(void **state)
{
	struct world *w = world_new();
	struct puppet *p = puppet(w, "h1", 15, SM_MASTER);

	w->conf->ignore_other_sm = true;
	start(w);
	run(w, 60 * MONO_S);
	assert_int_equal(sm_state(w->sm), SM_MASTER);
	assert_int_equal(p->asked, 0);
	world_free(w);
}

static void master_sm_priority_is_told_while_master(void **state)
{
	struct world *w = world_new();
	struct puppet *p;

	w->conf->master_sm_priority = 14;
	start(w);
	run(w, 15 * MONO_S);
	assert_int_equal(sm_told_priority(w->sm), 14);
	assert_int_equal(sm_priority(w->sm), OUR_PRIO);
	p = puppet(w, "h1", 13, SM_STANDBY);
	run(w, 30 * MONO_S);
	assert_int_equal(p->handed, 0);
	p->priority = 15;
	assert_true(becomes(w, SM_STANDBY, 15 * MONO_S));
	assert_int_equal(sm_told_priority(w->sm), OUR_PRIO);
	world_free(w);
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_greater_one_gets_the_fabric_when_it_is_looked_at),
		TEST(a_manager_that_was_discovering_is_asked_again_soon),
		TEST(a_manager_that_discovers_for_ever_is_asked_ever_less_often),
		TEST(equal_priorities_are_decided_by_the_guid),
		TEST(who_takes_the_fabric_and_dies_is_replaced),
		TEST(who_refuses_the_fabric_is_not_offered_it_again),
		TEST(who_takes_the_fabric_and_does_nothing_is_passed_over),
		TEST(a_master_that_rules_nothing_is_reported),
		TEST(who_asks_again_gets_three_chances),
		TEST(the_end_hands_over_to_who_stands_by),
		TEST(the_end_hands_over_to_none_that_is_discovering),
		TEST(the_end_hands_over_to_nobody_who_is_not_obeyed),
		TEST(a_lower_master_is_waited_for_and_told),
		TEST(a_lower_master_that_never_hands_over_is_not_waited_for_for_ever),
		TEST(a_master_that_vanishes_while_it_is_waited_for_is_not_missed),
		TEST(a_master_that_stops_answering_is_replaced_in_time),
		TEST(a_master_that_is_none_any_more_is_replaced_at_once),
		TEST(rogues_are_reported_once_with_their_place_and_never_obeyed),
		TEST(a_standby_leaves_a_master_that_is_not_allowed_any_more),
		TEST(a_standby_that_is_given_another_priority_tells_the_master),
		TEST(a_silent_sm_delays_no_sweep),
		TEST(ignore_other_sm_asks_nobody),
		TEST(master_sm_priority_is_told_while_master),
	};

	log_set_sink(on_log, NULL);
	return cmocka_run_group_tests_name("sm-rivals", tests, NULL, NULL);
}
