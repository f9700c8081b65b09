// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links taken out of service by an administrator, on a simulated tree: what no scenario
 * (tests/scenario/marks*.scn) sees. Rows of other managers, the cost of a plan, the inside of the
 * machine. Random marks: test-sm-marks-fabrics.
 */
#include "tests/unit/marks-world.h"

#include <inttypes.h>
#include <unistd.h>

#include "sm/ledger/settle_internal.h"
#include "sm/marks/marks_internal.h"
#include "sm/out_of_use/counters.h"
#include "tests/lib/scratch.h"

#define N_LEAVES 4u

/* ---- what other managers write --------------------------------------------------------------- */

/* Rows may be changed here, or not. */
static void may_change(struct world *w, bool may)
{
	w->sm->m.settle->state = may ? SETTLE_WRITING : SETTLE_FOREIGN;
}

/* A write of another manager that has seen all of ours is stored here, and told. */
static void write_elsewhere(struct world *w, unsigned port, unsigned kind)
{
	const struct ledger *l = settle_ledger(w->sm);
	const uint8_t bytes[9] = { (uint8_t)kind };
	struct ledger_key key = { .table = LEDGER_MARK, .len = 9 };
	const struct ledger_value v = {
		.dot = { ledger_number(l, LEDGER_MARK) + 1, { 0x77, 1 } },
		.removed = !kind,
		.len = kind ? sizeof(bytes) : 0,
		.bytes = kind ? bytes : NULL,
	};
	_cleanup_(ledger_row_freep) struct ledger_row *row = NULL;

	ib_bits_put(key.bytes, 0, 64, guid_of(w, "leaf2"));
	key.bytes[8] = (uint8_t)port;
	row = ledger_prepare(l, NULL, &key, &v);
	assert_int_equal(ledger_merge(w->sm->m.settle->ledger, row), LEDGER_OTHER);
	disk_tell_owners(w->sm, &key, 1);
}

/* Whether or not this manager may change rows: out of service is the safe side. */
static void what_others_write_is_in_force(void **st)
{
	struct world *w = *st;
	unsigned port;

	start(w);
	port = uplink(w, "leaf2", "spine1");
	may_change(w, false);
	write_elsewhere(w, port, LEDGER_MARK_ISOLATE);
	assert_int_equal(marks_table(w->sm)->n, 1);
	run_for(w, 30 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT));
	write_elsewhere(w, port, LEDGER_MARK_DRAIN);
	run_for(w, 30 * MONO_S);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
	assert_int_equal(entries_to(w, "leaf2", port), 0);
	listen_for(w, "restored (as another manager has it)");
	write_elsewhere(w, port, 0);
	assert_true(w->said);
	run_for(w, 30 * MONO_S);
	assert_int_not_equal(entries_to(w, "leaf2", port), 0);
}

/* Routes are being computed without it, and links are in INIT: its link is held at once. */
static void a_mark_that_comes_in_the_first_sweep_is_held_at_once(void **st)
{
	struct world *w = *st;
	mono_t until = sim_now(w->sim) + 30 * MONO_S;
	unsigned port;
	int i;

	w->rig->job_time = 50 * MONO_MS;
	i = rig_start(w->rig, "h0", 0, w->conf, NULL);
	assert_true(i >= 0);
	w->sm = w->rig->sms[i].sm;
	while (!w->rig->sms[i].jobs || w->sm->state != SM_MASTER)
		assert_true(rig_step(w->rig, until));
	assert_false(w->sm->first_sweep_done);
	port = uplink(w, "leaf2", "spine1");
	write_elsewhere(w, port, LEDGER_MARK_ISOLATE);
	do
		assert_int_equal(state(w, "leaf2", port), IB_PORT_INIT);
	while (rig_step(w->rig, until));
	assert_true(w->sm->first_sweep_done);
	assert_int_equal(marks_table(w->sm)->n, 1);
	assert_int_equal(unreachable(w), 0);
}

/* Each of two managers has marked one end of the cable. */
static void a_cable_marked_at_both_ends_is_restored(void **st)
{
	struct world *w = *st;
	const struct port *far;
	struct mark_result r;
	unsigned port;

	start(w);
	port = uplink(w, "leaf2", "spine1");
	far = port_of(w, "leaf2", port)->peer;
	assert_int_equal(ask(w, MARK_DO_DRAIN, "spine1", far->num).end, MARK_DONE);
	write_elsewhere(w, port, LEDGER_MARK_ISOLATE);
	run_for(w, 30 * MONO_S);
	assert_int_equal(marks_table(w->sm)->n, 2);
	assert_true(link_is(w, "leaf2", port, IB_PORT_INIT));
	r = ask(w, MARK_DO_RESTORE, "spine1", far->num);
	assert_int_equal(r.end, MARK_DONE);
	assert_int_equal(r.n_marks, 2);
	run_for(w, 30 * MONO_S);
	assert_int_equal(marks_table(w->sm)->n, 0);
	assert_true(link_is(w, "leaf2", port, IB_PORT_ACTIVE));
}

/* More than one manager alone takes: none of them is used. */
static void managers_that_meet_keep_all_marks(void **st)
{
	struct world *w = *st;
	struct mark_table *t = xcalloc(1, sizeof(*t));

	start(w);
	for (unsigned i = 0; i < MARKS_MAX; i++) {
		const struct link_mark m = { .node = 1 + i, .port = 1, .by = "-" };

		assert_true(mark_table_put(t, &m));
	}
	marks_take(w->sm, t, NULL);
	marks_store(w->sm);
	write_elsewhere(w, uplink(w, "leaf2", "spine1"), LEDGER_MARK_ISOLATE);
	assert_int_equal(marks_table(w->sm)->n, MARKS_MAX + 1);
	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf3", uplink(w, "leaf3", "spine2")).end,
			 MARK_NO_ROOM);
}

static void requests_are_refused_while_others_are_asked(void **st)
{
	struct world *w = *st;
	struct mark_request rq;
	struct mark_result r;

	start(w);
	rq = request(w, MARK_DO_DRAIN, "leaf2", uplink(w, "leaf2", "spine1"));
	may_change(w, false);
	r = ask_watched(w, &rq, NULL);
	assert_int_equal(r.end, MARK_CLOSED);
	assert_string_equal(r.text, settle_closed(w->sm));
	assert_int_equal(marks_table(w->sm)->n, 0);
	rq.plan = true;
	assert_int_equal(ask_watched(w, &rq, NULL).end, MARK_DONE);
	rq.plan = false;
	may_change(w, true); /* without a cache folder, for as long as this manager runs */
	r = ask_watched(w, &rq, NULL);
	assert_int_equal(r.end, MARK_DONE);
	assert_int_equal(r.n_standbys, 0);
	assert_int_equal(marks_table(w->sm)->n, 1);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* While the ledger accepts no change, a mark whose time is over stays in force. */
static void a_mark_that_is_over_waits_for_the_ledger(void **st)
{
	struct world *w = *st;
	struct mark_request rq;
	char dir[SCRATCH_PATH];

	scratch_folder(dir);
	start_in(w, dir);
	rq = request(w, MARK_DO_DRAIN, "leaf2", uplink(w, "leaf2", "spine1"));
	rq.seconds = 3600;
	assert_int_equal(ask_watched(w, &rq, NULL).end, MARK_DONE);
	may_change(w, false);
	run_for(w, 3720 * MONO_S);
	assert_int_equal(marks_table(w->sm)->n, 1);
	may_change(w, true);
	run_for(w, 5 * MONO_S);
	assert_int_equal(marks_table(w->sm)->n, 0);
	scratch_remove(dir);
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

/* leaf3 sends on, by entries that are not the manager's; false: the link was taken down. */
static bool send_on(struct world *w, unsigned port)
{
	if (state(w, "leaf3", port) != IB_PORT_ACTIVE)
		return false;
	sim_count_errors(w->sim, node_of(w, "leaf3"), port, SIM_XMIT_PACKETS, 50);
	run_for(w, 100 * MONO_MS);
	return true;
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
	struct mark_request rq;
	unsigned port;

	start(w);
	port = uplink(w, "leaf3", "spine2");
	rq = request(w, MARK_DO_ISOLATE, "leaf3", port);
	rq.wait = false;
	assert_int_equal(ask_watched(w, &rq, NULL).end, MARK_DONE);
	sim_set_pma(w->sim, node_of(w, "leaf1"), SIM_PMA_SILENT);
	for (unsigned i = 0; i < 80; i++) {
		ask_too_much(w);
		assert_true(send_on(w, port));
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(what_others_write_is_in_force),
		TEST(a_mark_that_comes_in_the_first_sweep_is_held_at_once),
		TEST(a_cable_marked_at_both_ends_is_restored),
		TEST(managers_that_meet_keep_all_marks),
		TEST(requests_are_refused_while_others_are_asked),
		TEST(a_mark_that_is_over_waits_for_the_ledger),
		TEST(the_plan_counts_the_pairs_that_use_a_cable),
		TEST(a_link_that_cannot_be_asked_now_does_not_count_as_unused),
		TEST(another_table_does_not_put_off_the_look_at_marks),
		TEST(a_clock_that_is_wrong_leaves_a_mark_that_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
