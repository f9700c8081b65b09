// SPDX-License-Identifier: BSD-2-Clause
/*
 * Convergence that is stuck is told: in the log, in the status line, to metrics, with what it waits
 * for; and nothing is told where changes are served.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ib/attrs.h"
#include "sim/netfile/netfile.h"
#include "lib/rig.h"
#include "sim/gen/gen.h"
#include "sm/sm.h"
#include "util/log.h"
#include "util/mem.h"

struct place {
	struct rig *rig;
	struct conf *conf;
	struct sm *sm;
	struct sim *sim;
	unsigned told, told_late, served; /* records of the log */
};

static void sink(void *arg, unsigned bits, const char *text)
{
	struct place *pl = arg;

	pl->told += strstr(text, "a change is not served for") != NULL;
	pl->told_late += strstr(text, "a change is not served yet for") != NULL;
	pl->served += strstr(text, "changes are served again") != NULL;
}

static void run_for(struct place *pl, mono_t t)
{
	rig_run(pl->rig, sim_now(pl->sim) + t);
}

static struct place *place_new(const struct netfile *net)
{
	struct place *pl = xcalloc(1, sizeof(*pl));

	log_set_sink(sink, pl);
	pl->sim = sim_new(net, 1);
	pl->rig = rig_new(pl->sim);
	pl->conf = conf_new();
	/*
	 * A machine that has been up for a while: what a manager asks for at its start is not as
	 * old as that.
	 */
	run_for(pl, 3 * 3600 * MONO_S);
	return pl;
}

static void start(struct place *pl)
{
	assert_int_equal(rig_start(pl->rig, "h0", 0, pl->conf, NULL), 0);
	pl->sm = pl->rig->sms[0].sm;
}

static int setup(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 4, 1);
	struct place *pl = place_new(net);

	start(pl);
	run_for(pl, 30 * MONO_S);
	*state = pl;
	return 0;
}

/* Four times as many hosts, devices that take a while for each SMP, and one SMP at a time. */
static int setup_slow(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(8, 8, 8, 1);
	struct place *pl = place_new(net);

	sim_set_sma_time(pl->sim, 150 * MONO_MS);
	pl->conf->max_wire_smps = pl->conf->max_wire_smps2 = 1;
	start(pl);
	*state = pl;
	return 0;
}

static int teardown(void **state)
{
	struct place *pl = *state;

	rig_free(pl->rig);
	conf_unref(pl->conf);
	log_set_sink(NULL, NULL);
	free(pl);
	return 0;
}

static bool is_stuck(const struct place *pl)
{
	struct sm_unserved is;

	return sm_unserved(pl->sm, sim_now(pl->sim), &is) && is.stuck;
}

static void assert_nothing_open(const struct place *pl)
{
	struct sm_unserved is;

	if (sm_unserved(pl->sm, sim_now(pl->sim), &is))
		fail_msg("%d ms: %s, %s", (int)(is.age / MONO_MS), is.why, is.cause);
	assert_null(strstr(pl->rig->sms[0].status, "NOT SERVED"));
}

static void leaf_down(struct place *pl, bool down)
{
	int leaf = sim_find(pl->sim, "leaf2");

	if (down)
		assert_int_equal(sim_link_down(pl->sim, leaf, 5), 0);
	else
		assert_int_equal(sim_link_up(pl->sim, leaf, 5), 0);
}

static void changes_that_are_served_are_no_news(void **state)
{
	struct place *pl = *state;

	assert_int_equal(pl->told, 0);
	assert_nothing_open(pl);
	for (unsigned i = 0; i < 10; i++) {
		leaf_down(pl, i % 2 == 0);
		run_for(pl, 60 * MONO_S);
		assert_nothing_open(pl);
	}
	sm_request_heavy(pl->sm, NULL);
	sm_request_light(pl->sm);
	sm_request_reroute(pl->sm);
	run_for(pl, 10 * MONO_S);
	assert_nothing_open(pl);
	assert_int_equal(pl->told, 0);
}

/* The defect that this is for: the routing job does not come back, no SMP moves, no sweep ends. */
static void a_routing_that_does_not_end(void **state)
{
	struct place *pl = *state;
	struct sm_unserved is;

	pl->rig->job_time = 1000 * MONO_S;
	leaf_down(pl, true);
	run_for(pl, 50 * MONO_S);
	assert_false(is_stuck(pl));
	assert_int_equal(pl->told, 0);
	run_for(pl, 15 * MONO_S);
	assert_true(is_stuck(pl));
	assert_int_equal(pl->told, 1);
	assert_true(sm_unserved(pl->sm, sim_now(pl->sim), &is));
	assert_non_null(strstr(is.cause, "'routing'"));
	assert_non_null(strstr(is.why, "link"));
	assert_non_null(strstr(pl->rig->sms[0].status, "A CHANGE IS NOT SERVED for 6"));
	run_for(pl, 600 * MONO_S);
	assert_in_range(pl->told, 3, 5);
	assert_non_null(strstr(pl->rig->sms[0].status, "A CHANGE IS NOT SERVED for 6"));
	pl->rig->job_time = 0;
	run_for(pl, 400 * MONO_S);
	assert_nothing_open(pl);
	assert_int_equal(pl->served, 1);
}

/* The first sweep takes minutes, and moves: that is told as what it is. */
static void a_sweep_that_is_slow_and_moves(void **state)
{
	struct place *pl = *state;
	struct sm_unserved is = { 0 };
	bool wrote_tables = false;
	unsigned late = 0;

	for (unsigned i = 0; sm_stats(pl->sm)->heavy_sweeps == 0; i++) {
		assert_true(i < 600);
		run_for(pl, MONO_S);
		if (!sm_unserved(pl->sm, sim_now(pl->sim), &is) || !is.is_late)
			continue;
		late++;
		assert_false(is.stuck);
		assert_null(strstr(pl->rig->sms[0].status, "A CHANGE IS NOT SERVED"));
		wrote_tables |= strstr(is.cause, "'programming' for") &&
				strstr(is.cause, ", writing forwarding tables, ") &&
				strstr(is.cause, " of 32 blocks; ") &&
				strstr(is.cause, " SMPs were answered in it");
	}
	assert_true(late > 60);
	assert_true(wrote_tables);
	assert_int_equal(pl->told, 0);
	assert_true(pl->told_late > 0);
}

static void sweeping_that_is_switched_off(void **state)
{
	struct place *pl = *state;
	struct sm_unserved is;

	sm_set_sweeping(pl->sm, false);
	leaf_down(pl, true);
	run_for(pl, 100 * MONO_S);
	assert_true(sm_unserved(pl->sm, sim_now(pl->sim), &is));
	assert_true(is.stuck);
	assert_string_equal(is.cause, "sweeping is switched off");
	sm_set_sweeping(pl->sm, true);
	run_for(pl, 20 * MONO_S);
	assert_nothing_open(pl);
}

static void a_silent_own_port(void **state)
{
	struct place *pl = *state;
	struct sm_unserved is;

	sim_set_silent(pl->sim, sim_find(pl->sim, "h0"), SIM_SILENT, 0);
	sm_request_heavy(pl->sm, NULL);
	run_for(pl, 100 * MONO_S);
	assert_true(sm_unserved(pl->sm, sim_now(pl->sim), &is));
	assert_true(is.stuck);
	sim_set_silent(pl->sim, sim_find(pl->sim, "h0"), SIM_ANSWERS, 0);
	run_for(pl, 20 * MONO_S);
	assert_nothing_open(pl);
}

/*
 * A host that is dead, a port that stays in INIT: named as left out, and no reason to cry for ever.
 */
static void what_is_left_out_is_served(void **state)
{
	struct place *pl = *state;

	sim_set_silent(pl->sim, sim_find(pl->sim, "h7"), SIM_SILENT, 0);
	sim_set_silent(pl->sim, sim_find(pl->sim, "h9"), SIM_SILENT_SET, IB_ATTR_PORT_INFO);
	sim_set_refuse(pl->sim, sim_find(pl->sim, "h10"), IB_ATTR_PORT_INFO, 0x1c);
	sim_reboot(pl->sim, sim_find(pl->sim, "h9"), MONO_S);
	sim_reboot(pl->sim, sim_find(pl->sim, "h10"), MONO_S);
	sm_request_heavy(pl->sm, NULL);
	run_for(pl, 1000 * MONO_S);
	assert_false(is_stuck(pl));
	leaf_down(pl, true);
	run_for(pl, 200 * MONO_S);
	assert_false(is_stuck(pl));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(changes_that_are_served_are_no_news, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_routing_that_does_not_end, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sweep_that_is_slow_and_moves, setup_slow,
						teardown),
		cmocka_unit_test_setup_teardown(sweeping_that_is_switched_off, setup, teardown),
		cmocka_unit_test_setup_teardown(a_silent_own_port, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_left_out_is_served, setup, teardown),
	};

	return cmocka_run_group_tests_name("sm-unserved", tests, NULL, NULL);
}
