// SPDX-License-Identifier: BSD-2-Clause
/*
 * What may keep a mark from its end, and a restore from what it is to restore: devices that do not
 * do as told, cables that are not there any more, a manager that is not MASTER any more.
 */
#include "unit/marks-world.h"

#include "sm/marks/marks_internal.h"
#include "tests/lib/scratch.h"

/* ---- a mark comes to an end, or is said not to ----------------------------------------------- */

/* Its device refuses each Set of PortInfo. */
static void a_link_that_stays_up_is_told_and_asked_ever_less(void **st)
{
	struct world *w = *st;
	struct mark_shown s;
	unsigned port;
	uint64_t sets;

	start(w);
	port = uplink(w, "leaf3", "spine2");
	sim_set_refuse(w->sim, node_of(w, "spine2"), IB_ATTR_PORT_INFO, 7 << 2);
	listen_for(w, "is to be isolated and stays up");
	assert_int_equal(ask(w, MARK_DO_ISOLATE, "leaf3", port).end, MARK_UNAPPLIED);
	run_for(w, 60 * MONO_S);
	assert_true(w->said);
	sets = sim_count(w->sim, IB_ATTR_PORT_INFO, MAD_SET);
	run_for(w, 3600 * MONO_S);
	assert_in_range(sim_count(w->sim, IB_ATTR_PORT_INFO, MAD_SET) - sets, 1, 20);
	assert_true(sm_mark_at(w->sm, 0, &s));
	assert_int_equal(s.state, MARK_DRAINING);
	sim_set_refuse(w->sim, node_of(w, "spine2"), 0, 0);
	run_for(w, 1200 * MONO_S);
	assert_true(link_is(w, "leaf3", port, IB_PORT_INIT));
}

/* ---- at rest --------------------------------------------------------------------------------- */

/* Isolates leaf3 - spine2, without waiting for it. */
static unsigned begin_isolation(struct world *w)
{
	unsigned port;
	struct mark_request rq;

	start(w);
	port = uplink(w, "leaf3", "spine2");
	rq = request(w, MARK_DO_ISOLATE, "leaf3", port);
	rq.wait = false;
	assert_int_equal(ask_watched(w, &rq, NULL).end, MARK_DONE);
	return port;
}

/* One end sends on, by entries that are not the manager's; false: the link was taken down. */
static bool send_on(struct world *w, const char *node, unsigned port, mono_t t)
{
	for (mono_t end = sim_now(w->sim) + t; sim_now(w->sim) < end;) {
		if (state(w, node, port) != IB_PORT_ACTIVE)
			return false;
		sim_count_errors(w->sim, node_of(w, node), port, SIM_XMIT_PACKETS, 50);
		run_for(w, 100 * MONO_MS);
	}
	return true;
}

static void a_link_is_not_taken_down_while_either_end_sends(void **st)
{
	struct world *w = *st;
	unsigned port = begin_isolation(w), far = port_of(w, "leaf3", port)->peer->num;

	assert_true(send_on(w, "leaf3", port, 8 * MONO_S));
	assert_true(send_on(w, "spine2", far, 8 * MONO_S));
	run_for(w, 5 * MONO_S);
	assert_true(link_is(w, "leaf3", port, IB_PORT_INIT));
}

static void packets_that_do_not_end_are_told_and_not_waited_for_for_ever(void **st)
{
	struct world *w = *st;
	unsigned port = begin_isolation(w);

	listen_for(w, "although no table of this manager leads there");
	assert_true(send_on(w, "leaf3", port, 25 * MONO_S));
	assert_false(w->said);
	assert_false(send_on(w, "leaf3", port, 15 * MONO_S));
	assert_true(w->said);
	assert_true(link_is(w, "leaf3", port, IB_PORT_INIT));
}

/* The port of a drained cable has a host behind it now, which has no other way. */
static void a_mark_that_cannot_be_in_force_is_spared(void **st)
{
	struct world *w = *st;
	struct mark_shown s;
	unsigned port;

	start(w);
	port = uplink(w, "leaf2", "spine1");
	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf2", port).end, MARK_DONE);
	sim_unplug(w->sim, node_of(w, "h9"), 1);
	sim_unplug(w->sim, node_of(w, "leaf2"), port);
	run_for(w, 30 * MONO_S);
	sim_plug(w->sim, node_of(w, "leaf2"), port, node_of(w, "h9"), 1);
	run_for(w, 60 * MONO_S);
	assert_int_equal(state(w, "h9", 1), IB_PORT_ACTIVE);
	assert_true(sm_mark_at(w->sm, 0, &s));
	assert_int_equal(s.n_cables, 1);
	assert_int_equal(s.state, MARK_SPARED);
}

static void another_table_does_not_put_off_the_look_at_marks(void **st)
{
	struct world *w = *st;

	start(w);
	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf2", uplink(w, "leaf2", "spine1")).end,
			 MARK_DONE);
	assert_int_equal(marks_work_next(w->sm), MONO_NEVER);
	marks_sweep_ended(w->sm);
	marks_use(w->sm, mark_table_copy(marks_table(w->sm)));
	assert_true(marks_work_next(w->sm) <= w->sm->now);
}

static void the_only_way_of_the_manager_is_refused_by_force_too(void **st)
{
	struct world *w = *st;
	struct mark_result r;

	start(w);
	assert_int_equal(force(w, MARK_DO_ISOLATE, "spine1", MARK_WHOLE_SWITCH).end, MARK_DONE);
	r = force(w, MARK_DO_ISOLATE, "spine2", MARK_WHOLE_SWITCH);
	assert_int_equal(r.end, MARK_REFUSED);
	assert_non_null(strstr(r.text, "force does not help"));
	sim_ignore(w->sim, node_of(w, "spine1"), true);
	assert_int_equal(unreachable(w), 0);
}

static int64_t clock_before_1970(void *arg)
{
	return -5;
}

static void a_clock_that_is_wrong_leaves_a_mark_that_can_be_read(void **st)
{
	struct world *w = *st;
	const struct link_mark *m;

	start(w);
	w->sm->hooks.realtime = clock_before_1970;
	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf2", uplink(w, "leaf2", "spine1")).end,
			 MARK_DONE);
	assert_int_equal(marks_table(w->sm)->n, 1);
	m = &marks_table(w->sm)->all[0];
	assert_int_equal(m->since, 0);
	assert_int_equal(m->until, 0);
	assert_string_equal(m->why, "a test");
}

/* The new master knows nothing of it. */
static void a_mark_that_is_stored_when_the_fabric_was_handed_over_is_not_called_done(void **st)
{
	struct world *w = *st;
	_cleanup_(conf_unrefp) struct conf *greater = conf_new();
	struct answer a = { 0 };
	char dir[SCRATCH_PATH];
	struct mark_request rq;

	assert_int_equal(rig_start(w->rig, "h0", 0, w->conf, scratch_folder(dir)), 0);
	run_for(w, 15 * MONO_S);
	w->sm = rig_master(w->rig);
	greater->sm_priority = 15;
	rq = request(w, MARK_DO_DRAIN, "leaf2", uplink(w, "leaf2", "spine1"));
	w->rig->disk_time = 30 * MONO_S;
	assert_true(sm_mark_request(w->sm, &rq, on_answer, &a));
	assert_true(rig_start(w->rig, "h7", 0, greater, NULL) >= 0);
	run_for(w, 25 * MONO_S);
	assert_int_equal(w->sm->state, SM_STANDBY);
	assert_int_equal(a.n, 0);
	run_for(w, 30 * MONO_S);
	assert_int_equal(a.n, 1);
	assert_int_equal(a.r.end, MARK_UNAPPLIED);
	assert_non_null(strstr(a.r.text, "not MASTER any more"));
	scratch_remove(dir);
}

/* ---- restore --------------------------------------------------------------------------------- */

/* It is switched off meanwhile. */
static void restore_gone_host(struct world *w, bool by_port_guid)
{
	struct mark_request rq, unknown;
	unsigned port;
	guid_t guid;

	start(w);
	unknown = request(w, MARK_DO_RESTORE, "h5", 1);
	unknown.node = 0xabcdef;
	guid = port_of(w, "h5", 1)->guid;
	port = port_of(w, "h5", 1)->peer->num;
	rq = request(w, MARK_DO_RESTORE, "h5", 1);
	assert_int_equal(ask(w, MARK_DO_ISOLATE, "h5", 1).end, MARK_DONE);
	sim_unplug(w->sim, node_of(w, "h5"), 1);
	run_for(w, 60 * MONO_S);
	assert_null(fabric_find_node(sm_fabric(w->sm), rq.node));
	assert_int_equal(ask_watched(w, &unknown, NULL).end, MARK_NOT_FOUND);
	rq.node = by_port_guid ? guid : rq.node;
	assert_int_equal(ask_watched(w, &rq, NULL).end, MARK_DONE);
	assert_int_equal(marks_table(w->sm)->n, 0);
	sim_plug(w->sim, node_of(w, "leaf2"), port, node_of(w, "h5"), 1);
	run_for(w, 60 * MONO_S);
	assert_int_equal(state(w, "h5", 1), IB_PORT_ACTIVE);
}

static void a_host_that_is_gone_is_restored_by_its_name(void **st)
{
	restore_gone_host(*st, false);
}

/* As by REST. */
static void a_host_that_is_gone_is_restored_by_its_port_guid(void **st)
{
	restore_gone_host(*st, true);
}

static void a_switch_is_restored_with_all_its_cables(void **st)
{
	struct world *w = *st;
	struct mark_result r;
	const struct port *far;

	start(w);
	far = port_of(w, "leaf2", uplink(w, "leaf2", "spine1"))->peer;
	ask(w, MARK_DO_DRAIN, "spine1", far->num);
	ask(w, MARK_DO_DRAIN, "leaf3", uplink(w, "leaf3", "spine1"));
	ask(w, MARK_DO_DRAIN, "leaf4", uplink(w, "leaf4", "spine2"));
	assert_int_equal(force(w, MARK_DO_ISOLATE, "spine1", MARK_WHOLE_SWITCH).end, MARK_DONE);
	assert_int_equal(marks_table(w->sm)->n, 4);
	r = ask(w, MARK_DO_RESTORE, "spine1", MARK_WHOLE_SWITCH);
	assert_int_equal(r.n_marks, 3);
	assert_int_equal(marks_table(w->sm)->n, 1);
	assert_int_equal(marks_table(w->sm)->all[0].node, guid_of(w, "leaf4"));
}

static void a_cable_of_a_marked_switch_is_not_called_in_service(void **st)
{
	struct world *w = *st;
	struct mark_result r;

	start(w);
	assert_int_equal(ask(w, MARK_DO_ISOLATE, "spine1", MARK_WHOLE_SWITCH).end, MARK_DONE);
	r = ask(w, MARK_DO_RESTORE, "leaf2", uplink(w, "leaf2", "spine1"));
	assert_int_equal(r.end, MARK_NOT_FOUND);
	assert_non_null(strstr(r.text, "with its whole switch"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_link_that_stays_up_is_told_and_asked_ever_less),
		TEST(a_link_is_not_taken_down_while_either_end_sends),
		TEST(packets_that_do_not_end_are_told_and_not_waited_for_for_ever),
		TEST(a_mark_that_cannot_be_in_force_is_spared),
		TEST(another_table_does_not_put_off_the_look_at_marks),
		TEST(the_only_way_of_the_manager_is_refused_by_force_too),
		TEST(a_clock_that_is_wrong_leaves_a_mark_that_can_be_read),
		TEST(a_mark_that_is_stored_when_the_fabric_was_handed_over_is_not_called_done),
		TEST(a_host_that_is_gone_is_restored_by_its_name),
		TEST(a_host_that_is_gone_is_restored_by_its_port_guid),
		TEST(a_switch_is_restored_with_all_its_cables),
		TEST(a_cable_of_a_marked_switch_is_not_called_in_service),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
