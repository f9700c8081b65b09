// SPDX-License-Identifier: BSD-2-Clause
/*
 * Marks that are limited in time: their cables return by themselves only if no error was counted
 * for the probation; else the mark stays, and says why.
 */
#include "marks-world.h"

#include "lib/scratch.h"

#define HOUR (3600 * MONO_S)

static int64_t clock_of(void *arg)
{
	struct rig_sm *s = arg;

	return 1700000000 + sim_now(s->rig->sim) / MONO_S;
}

static void start_with_clock(struct world *w, const char *dir)
{
	int i = rig_start(w->rig, "h0", 0, w->conf, dir);

	assert_true(i >= 0);
	w->sm = w->rig->sms[i].sm;
	w->sm->hooks.realtime = clock_of;
	run_for(w, 15 * MONO_S);
	assert_ptr_equal(w->sm, rig_master(w->rig));
}

/* For an hour. */
static void mark_for_an_hour(struct world *w, enum mark_action action, const char *name,
			     unsigned port)
{
	struct mark_request rq = request(w, action, name, port);

	rq.seconds = 3600;
	assert_int_equal(ask_watched(w, &rq, NULL).end, MARK_DONE);
}

static unsigned n_marks(struct world *w)
{
	return marks_table(w->sm)->n;
}

static void shows(struct world *w, enum mark_state state, const char *kept)
{
	struct mark_shown s;

	assert_true(sm_mark_at(w->sm, 0, &s));
	assert_string_equal(sm_mark_state_name(s.state), sm_mark_state_name(state));
	assert_string_equal(s.kept, kept);
}

static void errors_keep_a_cable_out(void **st)
{
	struct world *w = *st;
	unsigned port;

	start_with_clock(w, NULL);
	port = uplink(w, "leaf2", "spine1");
	mark_for_an_hour(w, MARK_DO_DRAIN, "leaf2", port);
	run_for(w, HOUR / 2);
	sim_count_errors(w->sim, node_of(w, "leaf2"), port, SIM_SYMBOL_ERRORS, 12);
	listen_for(w, "it stays drained: SymbolErrorCounter grew by 12: it returns after 3600 s "
		      "without an error, or by opensmctl restore");
	run_for(w, HOUR / 2 - 60 * MONO_S);
	shows(w, MARK_DRAINED, "");
	assert_false(w->said);
	run_for(w, 180 * MONO_S);
	assert_true(w->said);
	shows(w, MARK_UNCLEAN, "SymbolErrorCounter grew by 12");
	run_for(w, HOUR / 2 - 300 * MONO_S);
	assert_int_equal(n_marks(w), 1);
	run_for(w, 400 * MONO_S);
	assert_int_equal(n_marks(w), 0);
	assert_int_equal(unreachable(w), 0);
}

/* Cleared by another program, and discards, which tell of load: both are no error of the cable. */
static void cleared_counters_and_discards_are_no_error(void **st)
{
	struct world *w = *st;
	unsigned port;

	start_with_clock(w, NULL);
	port = uplink(w, "leaf2", "spine1");
	sim_count_errors(w->sim, node_of(w, "leaf2"), port, SIM_RCV_ERRORS, 1000);
	mark_for_an_hour(w, MARK_DO_ISOLATE, "leaf2", port);
	run_for(w, HOUR / 2);
	sim_count_errors(w->sim, node_of(w, "leaf2"), port, SIM_XMIT_DISCARDS, 50);
	sim_clear_counters(w->sim, node_of(w, "leaf2"), port);
	run_for(w, HOUR / 2 - 60 * MONO_S);
	assert_int_equal(n_marks(w), 1);
	run_for(w, 120 * MONO_S);
	assert_int_equal(n_marks(w), 0);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
}

static void a_counter_at_its_maximum_tells_nothing(void **st)
{
	struct world *w = *st;
	unsigned port;

	start_with_clock(w, NULL);
	port = uplink(w, "leaf2", "spine1");
	sim_count_errors(w->sim, node_of(w, "spine1"), port_of(w, "leaf2", port)->peer->num,
			 SIM_LINK_DOWNED, 255);
	mark_for_an_hour(w, MARK_DO_DRAIN, "leaf2", port);
	run_for(w, HOUR + 120 * MONO_S);
	shows(w, MARK_UNCLEAN, "LinkDownedCounter is at its maximum, and has to be cleared");
	sim_clear_counters(w->sim, node_of(w, "spine1"), port_of(w, "leaf2", port)->peer->num);
	run_for(w, HOUR - 120 * MONO_S);
	assert_int_equal(n_marks(w), 1);
	run_for(w, 300 * MONO_S);
	assert_int_equal(n_marks(w), 0);
}

static void ends_that_do_not_answer_are_not_clean(void **st)
{
	struct world *w = *st;
	unsigned port;

	start_with_clock(w, NULL);
	port = uplink(w, "leaf2", "spine1");
	sim_set_pma(w->sim, node_of(w, "leaf2"), SIM_PMA_SILENT);
	sim_set_pma(w->sim, node_of(w, "spine1"), SIM_PMA_SILENT);
	mark_for_an_hour(w, MARK_DO_DRAIN, "leaf2", port);
	run_for(w, HOUR + 180 * MONO_S);
	shows(w, MARK_UNCLEAN, "neither end answers with its error counters");
	sim_set_pma(w->sim, node_of(w, "leaf2"), SIM_PMA_BASIC); /* one is enough */
	run_for(w, HOUR + 180 * MONO_S);
	assert_int_equal(n_marks(w), 0);
}

static void a_cable_that_is_not_there_does_not_return(void **st)
{
	struct world *w = *st;
	unsigned port, far;

	start_with_clock(w, NULL);
	port = uplink(w, "leaf2", "spine1");
	far = port_of(w, "leaf2", port)->peer->num;
	mark_for_an_hour(w, MARK_DO_DRAIN, "leaf2", port);
	sim_unplug(w->sim, node_of(w, "leaf2"), port);
	run_for(w, HOUR + 240 * MONO_S);
	shows(w, MARK_UNCLEAN, "no cable is there");
	sim_plug(w->sim, node_of(w, "leaf2"), port, node_of(w, "spine1"), far);
	run_for(w, HOUR - 120 * MONO_S);
	assert_int_equal(n_marks(w), 1);
	run_for(w, 300 * MONO_S);
	assert_int_equal(n_marks(w), 0);
	assert_int_equal(unreachable(w), 0);
}

/* Of a switch every cable counts. */
static void a_switch_returns_with_all_its_cables(void **st)
{
	struct world *w = *st;
	unsigned port;

	start_with_clock(w, NULL);
	port = port_of(w, "leaf3", uplink(w, "leaf3", "spine1"))->peer->num;
	mark_for_an_hour(w, MARK_DO_DRAIN, "spine1", MARK_WHOLE_SWITCH);
	run_for(w, HOUR - 600 * MONO_S);
	sim_count_errors(w->sim, node_of(w, "spine1"), port, SIM_LINK_RECOVERIES, 1);
	run_for(w, 720 * MONO_S);
	shows(w, MARK_UNCLEAN, "LinkErrorRecoveryCounter grew by 1");
	run_for(w, HOUR - 600 * MONO_S);
	assert_int_equal(n_marks(w), 0);
}

/* Another manager, or this one after a restart, has no reading of before: it watches anew. */
static void a_restart_watches_anew(void **st)
{
	struct world *w = *st;
	char dir[SCRATCH_PATH];

	scratch_folder(dir);
	start_with_clock(w, dir);
	mark_for_an_hour(w, MARK_DO_DRAIN, "leaf2", uplink(w, "leaf2", "spine1"));
	run_for(w, HOUR / 2);
	rig_kill(w->rig, (unsigned)rig_find(w->rig, "h0"));
	start_with_clock(w, dir);
	run_for(w, HOUR / 2 + 120 * MONO_S);
	shows(w, MARK_RETURNING, "");
	run_for(w, HOUR / 2);
	assert_int_equal(n_marks(w), 0);
	scratch_remove(dir);
}

/* What is asked for anew counts from now. */
static void a_longer_time_forgets_what_was_found(void **st)
{
	struct world *w = *st;
	unsigned port;

	start_with_clock(w, NULL);
	port = uplink(w, "leaf2", "spine1");
	mark_for_an_hour(w, MARK_DO_DRAIN, "leaf2", port);
	run_for(w, HOUR / 2);
	sim_count_errors(w->sim, node_of(w, "leaf2"), port, SIM_SYMBOL_ERRORS, 12);
	run_for(w, HOUR / 2 + 120 * MONO_S);
	shows(w, MARK_UNCLEAN, "SymbolErrorCounter grew by 12");
	mark_for_an_hour(w, MARK_DO_DRAIN, "leaf2", port);
	shows(w, MARK_DRAINED, "");
	run_for(w, HOUR + 120 * MONO_S);
	assert_int_equal(n_marks(w), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(errors_keep_a_cable_out),
		TEST(cleared_counters_and_discards_are_no_error),
		TEST(a_counter_at_its_maximum_tells_nothing),
		TEST(ends_that_do_not_answer_are_not_clean),
		TEST(a_cable_that_is_not_there_does_not_return),
		TEST(a_switch_returns_with_all_its_cables),
		TEST(a_restart_watches_anew),
		TEST(a_longer_time_forgets_what_was_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
