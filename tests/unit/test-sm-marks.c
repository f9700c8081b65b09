// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links taken out of service by an administrator, on a simulated tree: cases that no scenario sees
 * (tests/scenario/marks.scn): two requests at once, random ones, the cost of a plan, links over
 * which others send, the inside of the machine.
 *
 *   test-sm-marks [SEED]    random marks from that seed on
 */
#include "tests/unit/marks-world.h"

#include "sm/marks/marks_internal.h"
#include "sm/out_of_use/counters.h"
#include "tests/lib/scratch.h"
#include "util/random.h"

#define N_SEEDS	 200u
#define N_LEAVES 4u
#define N_SPINES 2u

static void two_requests_at_once_do_not_cut_off_what_one_may_not(void **st)
{
	struct world *w = *st;
	struct answer a = { 0 }, b = { 0 };
	struct mark_request rq;

	start(w);
	rq = request(w, MARK_DO_ISOLATE, "leaf2", uplink(w, "leaf2", "spine1"));
	assert_true(sm_mark_request(w->sm, &rq, on_answer, &a));
	rq = request(w, MARK_DO_ISOLATE, "leaf2", uplink(w, "leaf2", "spine2"));
	assert_true(sm_mark_request(w->sm, &rq, on_answer, &b));
	run_for(w, 30 * MONO_S);
	assert_int_equal(a.r.end, MARK_DONE);
	assert_int_equal(b.r.end, MARK_REFUSED);
	assert_int_equal(unreachable(w), 0);
}

/* ---- random ---------------------------------------------------------------------------------- */

/* Any port of any switch, and switches as a whole, until five refusals in a row. */
static void mark_at_random(struct world *w, uint64_t seed)
{
	static const char *const names[] = {
		"leaf1", "leaf2", "leaf3", "leaf4", "spine1", "spine2"
	};
	unsigned refused = 0;

	for (unsigned i = 0; i < 40 && refused < 5; i++) {
		const char *name = names[random_next(&seed) % ARRAY_SIZE(names)];
		unsigned port = 1 + (unsigned)(random_next(&seed) % (known(w, name)->n_ports + 1u));
		struct mark_request rq;
		struct mark_result r;
		const struct port *p;

		if (port > known(w, name)->n_ports)
			port = MARK_WHOLE_SWITCH;
		p = port == MARK_WHOLE_SWITCH ? NULL : port_of(w, name, port)->peer;
		if (p && !node_is_switch(p->node))
			continue; /* the host itself would be lost */
		rq = request(w, random_next(&seed) % 2 ? MARK_DO_DRAIN : MARK_DO_ISOLATE, name,
			     port);
		rq.wait = random_next(&seed) % 2;
		r = ask_watched(w, &rq, NULL);
		refused = r.end == MARK_REFUSED ? refused + 1 : 0;
	}
}

/* Hosts alone: an isolated switch is not to be reached. */
static void ignore_isolated(struct world *w, bool ignore)
{
	struct mark_shown m;

	for (unsigned i = 0; sm_mark_at(w->sm, i, &m); i++)
		if (m.mark->port == MARK_WHOLE_SWITCH && m.mark->kind == MARK_ISOLATE && m.port)
			sim_ignore(w->sim, node_of(w, node_name(m.port->node)), ignore);
}

static uint64_t first_seed = 1;

static void random_marks_never_cut_off_a_pair(void **st)
{
	struct world *w = *st;
	unsigned n_marks = 0;

	start(w);
	for (uint64_t seed = first_seed; seed < first_seed + N_SEEDS; seed++) {
		const struct mark_request all = { .action = MARK_DO_RESTORE,
						  .all = true,
						  .wait = true };
		uint64_t lost;

		mark_at_random(w, seed);
		run_for(w, 5 * MONO_S);
		n_marks += marks_table(w->sm)->n;
		ignore_isolated(w, true);
		lost = unreachable(w);
		ignore_isolated(w, false);
		if (lost)
			fail_msg("seed %llu: %llu pairs without a way", (unsigned long long)seed,
				 (unsigned long long)lost);
		ask_watched(w, &all, NULL);
	}
	assert_true(n_marks > N_SEEDS);
	run_for(w, 30 * MONO_S);
	assert_true(is_good(w));
}

/* ---- what it would cost ---------------------------------------------------------------------- */

static uint64_t pairs_between(struct world *w, const char *leaf, unsigned port)
{
	struct node *n = port_of(w, leaf, port)->node;
	uint64_t pairs = 0;

	for (unsigned i = 0; i < N_HOSTS; i++) {
		char name[8];

		snprintf(name, sizeof(name), "h%u", i);
		for (unsigned k = 0; k < N_HOSTS; k++) {
			char to[8];

			snprintf(to, sizeof(to), "h%u", k);
			if (port_of(w, name, 1)->peer->node == n &&
			    routes_port(sm_routes(w->sm),
					topo_find_switch(sm_routes(w->sm)->topo, n->guid),
					lid_of(w, to)) == port)
				pairs++;
		}
	}
	return pairs;
}

static void the_plan_counts_the_pairs_that_use_a_cable(void **st)
{
	struct world *w = *st;
	struct mark_cost cost;
	unsigned port;
	const struct port *p;
	uint64_t down = 0;

	start(w);
	port = uplink(w, "leaf2", "spine1");
	p = port_of(w, "leaf2", port)->peer;
	sm_mark_cost(w->sm, sm_routes(w->sm), MARK_DRAIN, p->peer->node, port, &cost);
	/* Those that go up there, and those that come down: of other leaves, through spine0. */
	for (unsigned i = 0; i < N_LEAVES; i++) {
		char leaf[8];

		snprintf(leaf, sizeof(leaf), "leaf%u", i + 1);
		for (unsigned k = 4; k < 8 && i != 1; k++) {
			char name[8];
			uint32_t sw;

			snprintf(name, sizeof(name), "h%u", k);
			sw = topo_find_switch(sm_routes(w->sm)->topo, guid_of(w, leaf));
			if (routes_port(sm_routes(w->sm), sw, lid_of(w, name)) ==
			    uplink(w, leaf, "spine1"))
				down += 4;
		}
	}
	assert_int_equal(cost.cables, 1);
	assert_int_equal(cost.pairs_over, pairs_between(w, "leaf2", port) + down);
	assert_int_equal(cost.pairs_lost, 0);
	sm_mark_cost(w->sm, sm_routes(w->sm), MARK_ISOLATE, known(w, "leaf2"), MARK_WHOLE_SWITCH,
		     &cost);
	assert_int_equal(cost.cables, 6);
	assert_int_equal(cost.hosts, 4);
	assert_int_equal(cost.pairs_lost, 16 * 15 - 12 * 11);
	assert_int_equal(cost.pairs_over, 16 * 15 - 12 * 11);
	assert_false(cost.own);
	sm_mark_cost(w->sm, sm_routes(w->sm), MARK_ISOLATE, known(w, "leaf1"), 1, &cost);
	assert_true(cost.own);
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

static void on_counters(struct sm *sm, const struct counters_ask *ask,
			const struct transport_event *ev)
{
}

/* Asks leaf1, whose counters are silent, until no further question has room. */
static void ask_too_much(struct world *w)
{
	const struct counters_ask ask = { .attr = PERF_COUNTERS, .done = on_counters };

	while (counters_get(w->sm, port_of(w, "leaf1", 1), &ask))
		;
	assert_int_equal(counters_free(w->sm), 0);
}

static void a_link_that_cannot_be_asked_now_does_not_count_as_unused(void **st)
{
	struct world *w = *st;
	unsigned port = begin_isolation(w);

	sim_set_pma(w->sim, node_of(w, "leaf1"), SIM_PMA_SILENT);
	for (unsigned i = 0; i < 80; i++) {
		ask_too_much(w);
		assert_true(send_on(w, "leaf3", port, 100 * MONO_MS));
	}
	run_for(w, 20 * MONO_S);
	assert_true(link_is(w, "leaf3", port, IB_PORT_INIT));
}

/* ---- inside ---------------------------------------------------------------------------------- */

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

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_link_is_not_taken_down_while_either_end_sends),
		TEST(packets_that_do_not_end_are_told_and_not_waited_for_for_ever),
		TEST(a_link_that_cannot_be_asked_now_does_not_count_as_unused),
		TEST(another_table_does_not_put_off_the_look_at_marks),
		TEST(a_clock_that_is_wrong_leaves_a_mark_that_can_be_read),
		TEST(a_mark_that_is_stored_when_the_fabric_was_handed_over_is_not_called_done),
		TEST(two_requests_at_once_do_not_cut_off_what_one_may_not),
		TEST(random_marks_never_cut_off_a_pair),
		TEST(the_plan_counts_the_pairs_that_use_a_cable),
	};

	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
