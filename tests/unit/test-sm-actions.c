// SPDX-License-Identifier: BSD-2-Clause
/* What an administrator asks for while managers run, in virtual time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/rig.h"
#include "sim/gen/gen.h"
#include "sm/routing/routing.h"
#include "sm/sm.h"
#include "sm/sweep/sweep.h"
#include "util/log.h"
#include "util/mem.h"

struct world {
	struct rig *rig;
	struct conf *conf;
};

static int setup(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 3, 1);
	struct world *w = xcalloc(1, sizeof(*w));

	w->rig = rig_new(sim_new(net, 1));
	w->conf = conf_new();
	w->conf->sminfo_polling_timeout = 1000;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	rig_free(w->rig);
	conf_unref(w->conf);
	free(w);
	return 0;
}

static void run_for(struct world *w, mono_t t)
{
	rig_run(w->rig, sim_now(w->rig->sim) + t);
}

/* With a priority of its own, and up before this returns. */
static struct sm *start(struct world *w, const char *node, unsigned priority)
{
	_cleanup_(conf_unrefp) struct conf *conf = conf_copy(w->conf);
	int place;

	conf->sm_priority = priority;
	place = rig_start(w->rig, node, 0, conf, NULL);
	assert_true(place >= 0);
	run_for(w, 15 * MONO_S);
	return w->rig->sms[place].sm;
}

/* ---- priority ------------------------------------------------------------------------------ */

/* A successor gets time to copy what hosts registered before it is handed the fabric. */
#define HANDOVER_TIME (15 * MONO_S)

static void a_standby_that_is_raised_becomes_master(void **state)
{
	struct world *w = *state;
	struct sm *low = start(w, "h5", 3), *high = start(w, "h9", 8);

	assert_ptr_equal(rig_master(w->rig), high);
	sm_set_priority(low, 9);
	assert_int_equal(sm_priority(low), 9);
	run_for(w, HANDOVER_TIME);
	assert_ptr_equal(rig_master(w->rig), low);
	assert_int_equal(sm_state(high), SM_STANDBY);
}

static void a_master_that_is_lowered_hands_over(void **state)
{
	struct world *w = *state;
	struct sm *low = start(w, "h5", 3), *high = start(w, "h9", 8);

	sm_set_priority(high, 2);
	run_for(w, HANDOVER_TIME);
	assert_ptr_equal(rig_master(w->rig), low);
	assert_int_equal(sm_state(high), SM_STANDBY);
}

static void what_changes_no_order_changes_no_master(void **state)
{
	struct world *w = *state;
	struct sm *low = start(w, "h5", 3), *high = start(w, "h9", 8);
	uint64_t sets = sim_sets(w->rig->sim);

	sm_set_priority(low, 7);
	sm_set_priority(high, 15);
	sm_set_priority(high, 16);
	run_for(w, 30 * MONO_S);
	assert_ptr_equal(rig_master(w->rig), high);
	assert_int_equal(sm_priority(high), 15);
	assert_int_equal(sim_sets(w->rig->sim), sets);
}

/* No handover goes to a manager that is gone, whatever its rank. */
static void nothing_goes_to_the_dead(void **state)
{
	struct world *w = *state;
	struct sm *high;

	start(w, "h5", 3);
	high = start(w, "h9", 8);
	rig_kill(w->rig, 0);
	sm_set_priority(high, 0);
	run_for(w, 30 * MONO_S);
	assert_ptr_equal(rig_master(w->rig), high);
}

static void a_reload_keeps_it_unless_the_file_says_otherwise(void **state)
{
	struct world *w = *state;
	struct sm *sm = start(w, "h5", 3);
	_cleanup_(conf_unrefp) struct conf *same = conf_copy(sm_conf(sm)), *other = conf_copy(same);

	sm_set_priority(sm, 9);
	same->subnet_timeout = 17;
	sm_request_heavy(sm, same);
	run_for(w, 5 * MONO_S);
	assert_int_equal(sm_conf(sm)->subnet_timeout, 17);
	assert_int_equal(sm_priority(sm), 9);
	other->sm_priority = 4;
	sm_request_heavy(sm, other);
	run_for(w, 5 * MONO_S);
	assert_int_equal(sm_priority(sm), 4);
}

/* The port vanishes, and with it the manager; the next one goes on as it was told. */
static void it_outlives_a_pulled_cable(void **state)
{
	struct world *w = *state;
	struct sm *sm = start(w, "h5", 0);
	struct sm_heritage h;

	sm_set_priority(sm, 9);
	sm_set_sweeping(sm, false);
	sm_bequeath(sm, &h);
	rig_kill(w->rig, 0);
	assert_int_equal(rig_start(w->rig, "h5", 0, w->conf, NULL), 1);
	sm = w->rig->sms[1].sm;
	sm_inherit(sm, &h);
	sm_heritage_clear(&h);
	assert_int_equal(sm_priority(sm), 9);
	assert_false(sm_sweeping_enabled(sm));
}

/* ---- sweeping ------------------------------------------------------------------------------ */

static void nothing_is_swept_while_it_is_off(void **state)
{
	struct world *w = *state;
	struct sm *sm = start(w, "h5", 0);
	int host = sim_find(w->rig->sim, "h7");
	uint64_t sent;

	sm_set_sweeping(sm, false);
	assert_false(sm_sweeping_enabled(sm));
	sent = sim_gets(w->rig->sim) + sim_sets(w->rig->sim);
	sim_link_flap(w->rig->sim, host, 1, 100 * MONO_MS);
	sm_request_heavy(sm, NULL);
	sm_request_light(sm);
	sm_reload_refused(sm);
	run_for(w, 120 * MONO_S);
	assert_int_equal(sim_gets(w->rig->sim) + sim_sets(w->rig->sim), sent);
	assert_int_equal(sim_port_state(w->rig->sim, host, 1), IB_PORT_INIT);
	assert_int_equal(sm_next(sm) > sim_now(w->rig->sim), true);
	assert_non_null(strstr(w->rig->sms[0].status, "sweeping is switched off"));
}

static void on_again_it_catches_up(void **state)
{
	struct world *w = *state;
	struct sm *sm = start(w, "h5", 0);
	int host = sim_find(w->rig->sim, "h7");

	sm_set_sweeping(sm, false);
	sim_link_flap(w->rig->sim, host, 1, 100 * MONO_MS);
	run_for(w, 120 * MONO_S);
	sm_set_sweeping(sm, true);
	assert_null(strstr(w->rig->sms[0].status, "sweeping is switched off"));
	run_for(w, 2 * MONO_S);
	assert_int_equal(sim_port_state(w->rig->sim, host, 1), IB_PORT_ACTIVE);
}

/* What runs when it is switched off is finished: no half-programmed fabric is left behind. */
static void a_running_sweep_ends(void **state)
{
	struct world *w = *state;
	struct sim_verdict verdict;
	struct sm *sm;

	assert_int_equal(rig_start(w->rig, "h5", 0, w->conf, NULL), 0);
	sm = w->rig->sms[0].sm;
	while (!sim_sets(w->rig->sim))
		rig_step(w->rig, MONO_NEVER);
	sm_set_sweeping(sm, false);
	run_for(w, 15 * MONO_S);
	sim_check_all(w->rig->sim, &verdict);
	assert_true(sim_verdict_good(&verdict));
	assert_int_equal(sm_stats(sm)->heavy_sweeps, 1);
}

static void a_standby_stops_watching_too(void **state)
{
	struct world *w = *state;
	struct sm *low;
	uint64_t asked;

	low = start(w, "h5", 3);
	start(w, "h9", 8);
	sm_set_sweeping(low, false);
	sm_set_sweeping(rig_master(w->rig), false);
	asked = sim_count(w->rig->sim, IB_ATTR_SWITCH_INFO, MAD_GET);
	run_for(w, 1000 * MONO_S);
	assert_int_equal(sim_count(w->rig->sim, IB_ATTR_SWITCH_INFO, MAD_GET), asked);
	assert_int_equal(rig_count(w->rig, SM_MASTER), 1);
}

/* ---- light, reroute, descriptions ---------------------------------------------------------- */

static void a_light_sweep_comes_at_once(void **state)
{
	struct world *w = *state;
	struct sm *sm;
	unsigned before;

	w->conf->sweep_interval = 0;
	sm = start(w, "h5", 0);
	before = sm_stats(sm)->light_sweeps;
	sm_request_light(sm);
	sm_request_light(sm);
	run_for(w, 1 * MONO_S);
	assert_int_equal(sm_stats(sm)->light_sweeps, before + 1);
}

/* Where there are no light sweeps it is a heavy one. */
static void light_is_heavy_where_all_are(void **state)
{
	struct world *w = *state;
	struct sm *sm;
	unsigned before;

	w->conf->sweep_interval = 0;
	w->conf->force_heavy_sweep = true;
	sm = start(w, "h5", 0);
	before = sm_stats(sm)->heavy_sweeps;
	sm_request_light(sm);
	run_for(w, 1 * MONO_S);
	assert_int_equal(sm_stats(sm)->heavy_sweeps, before + 1);
}

static void rerouting_reads_nothing(void **state)
{
	struct world *w = *state;
	int host = sim_find(w->rig->sim, "h7");
	const struct routes *before;
	struct sm *sm;
	struct sim_verdict verdict;
	uint64_t asked;

	w->conf->sweep_interval = 0;
	sm = start(w, "h5", 0);
	sim_link_flap(w->rig->sim, host, 1, 40 * MONO_S);
	run_for(w, 60 * MONO_S);
	before = sm_routes(sm);
	sm_set_sweeping(sm, false);
	run_for(w, 5 * MONO_S);
	sm_set_sweeping(sm, true);
	asked = sim_gets(w->rig->sim);
	sm_request_reroute(sm);
	run_for(w, 2 * MONO_S);
	assert_ptr_not_equal(sm_routes(sm), before);
	assert_int_equal(sim_gets(w->rig->sim), asked);
	assert_false(routing_is_afresh(sm));
	sim_check_all(w->rig->sim, &verdict);
	assert_true(sim_verdict_good(&verdict));
	assert_int_equal(sim_loops_ever(w->rig->sim), 0);
}

static void rerouting_waits_for_the_first_sweep(void **state)
{
	struct world *w = *state;
	struct sm *sm;

	assert_int_equal(rig_start(w->rig, "h5", 0, w->conf, NULL), 0);
	sm = w->rig->sms[0].sm;
	sm_request_reroute(sm);
	assert_false(sweep_is_wanted(sm, SWEEP_REROUTE)); /* no MASTER yet */
	while (sm_state(sm) != SM_MASTER)
		rig_step(w->rig, MONO_NEVER);
	sm_request_reroute(sm);
	run_for(w, 15 * MONO_S);
	assert_false(sweep_is_wanted(sm, SWEEP_REROUTE));
	assert_true(sm_stats(sm)->up);
}

static void descriptions_are_read_again(void **state)
{
	struct world *w = *state;
	struct sm *sm;
	uint64_t asked;

	w->conf->sweep_interval = 0;
	sm = start(w, "h5", 0);
	sim_set_trap_loss(w->rig->sim, 100);
	sim_set_desc(w->rig->sim, sim_find(w->rig->sim, "h7"), "renamed");
	run_for(w, 60 * MONO_S);
	asked = sim_count(w->rig->sim, IB_ATTR_NODE_DESC, MAD_GET);
	sm_request_descriptions(sm);
	sm_request_descriptions(sm);
	run_for(w, 2 * MONO_S);
	/* The second time all of them were being asked: they are asked once more. */
	assert_int_equal(sim_count(w->rig->sim, IB_ATTR_NODE_DESC, MAD_GET) - asked,
			 2 * sm_fabric(sm)->n_nodes);
	FABRIC_EACH_NODE(sm_fabric(sm), n)
		assert_string_not_equal(n->desc, "h7");
}

/* ---- other managers ------------------------------------------------------------------------ */

static void others_are_listed_while_they_are_there(void **state)
{
	struct world *w = *state;
	struct sm_manager m;
	struct sm *low, *high;

	low = start(w, "h5", 3);
	assert_false(sm_manager_at(low, 0, &m));
	high = start(w, "h9", 8);
	assert_true(sm_manager_at(low, 0, &m));
	assert_int_equal(m.priority, 8);
	assert_int_equal(m.state, SM_MASTER);
	assert_true(m.known && m.polled);
	assert_null(m.trust);
	assert_non_null(strstr(m.where, "h9"));
	assert_false(sm_manager_at(low, 1, &m));
	assert_true(sm_manager_at(high, 0, &m));
	assert_int_equal(m.state, SM_STANDBY);
	assert_false(m.polled);
	rig_stop(w->rig, 0);
	run_for(w, 30 * MONO_S);
	assert_false(sm_manager_at(high, 0, &m));
}

static void who_is_not_trusted_is_listed_with_the_reason(void **state)
{
	struct world *w = *state;
	struct sm_manager m;
	struct sm *sm = start(w, "h5", 3);

	w->conf->sm_key = 77;
	start(w, "h9", 8);
	run_for(w, 15 * MONO_S);
	assert_true(sm_manager_at(sm, 0, &m));
	assert_string_equal(m.trust, "has another SM_Key");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_standby_that_is_raised_becomes_master),
		TEST(a_master_that_is_lowered_hands_over),
		TEST(what_changes_no_order_changes_no_master),
		TEST(nothing_goes_to_the_dead),
		TEST(a_reload_keeps_it_unless_the_file_says_otherwise),
		TEST(it_outlives_a_pulled_cable),
		TEST(nothing_is_swept_while_it_is_off),
		TEST(on_again_it_catches_up),
		TEST(a_running_sweep_ends),
		TEST(a_standby_stops_watching_too),
		TEST(a_light_sweep_comes_at_once),
		TEST(light_is_heavy_where_all_are),
		TEST(rerouting_reads_nothing),
		TEST(rerouting_waits_for_the_first_sweep),
		TEST(descriptions_are_read_again),
		TEST(others_are_listed_while_they_are_there),
		TEST(who_is_not_trusted_is_listed_with_the_reason),
	};
	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	log_open(getenv("LOUD") ? &loud : &quiet);
	return cmocka_run_group_tests_name("sm-actions", tests, NULL, NULL);
}
