// SPDX-License-Identifier: BSD-2-Clause
/*
 * Our own port does not answer for a while (its firmware hangs, it was given a key): nothing is
 * taken out of the picture of the fabric, nothing is written, it is told, and all is as before when
 * it answers.
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
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "sm/sm.h"
#include "util/log.h"
#include "util/mem.h"

struct place {
	struct rig *rig;
	struct conf *conf;
	struct sm *sm;
	int own;
	uint32_t n_nodes;
};

static void run_for(struct place *pl, mono_t t)
{
	rig_run(pl->rig, sim_now(pl->rig->sim) + t);
}

static void assert_good(struct place *pl)
{
	struct sim_verdict v;

	sim_check_all(pl->rig->sim, &v);
	if (!sim_verdict_good(&v))
		fail_msg("%s", v.first);
}

/* Four leaves with four hosts each, the manager on the first, all is up. */
static int setup(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 4, 1);
	struct place *pl = xcalloc(1, sizeof(*pl));

	pl->rig = rig_new(sim_new(net, 1));
	pl->conf = conf_new();
	assert_int_equal(rig_start(pl->rig, "h0", 0, pl->conf, NULL), 0);
	pl->sm = pl->rig->sms[0].sm;
	pl->own = sim_find(pl->rig->sim, "h0");
	run_for(pl, 20 * MONO_S);
	assert_good(pl);
	pl->n_nodes = sm_fabric(pl->sm)->n_nodes;
	*state = pl;
	return 0;
}

static int teardown(void **state)
{
	struct place *pl = *state;

	rig_free(pl->rig);
	conf_unref(pl->conf);
	free(pl);
	return 0;
}

static void assert_told(const struct place *pl, bool silent)
{
	assert_int_equal(sm_own_silent(pl->sm), silent);
	assert_int_equal(strstr(pl->rig->sms[0].status, "our own port does not answer") != NULL,
			 silent);
}

/* A host comes and goes: its leaf sends traps, so there is something to look at. */
static void flap_a_host(struct place *pl)
{
	assert_int_equal(
		sim_link_flap(pl->rig->sim, sim_find(pl->rig->sim, "h5"), 1, 100 * MONO_MS), 0);
}

static void assert_all_known(const struct place *pl)
{
	assert_int_equal(sm_fabric(pl->sm)->n_nodes, pl->n_nodes);
	assert_non_null(sm_fabric(pl->sm)->own_port);
	assert_int_equal(sm_state(pl->sm), SM_MASTER);
}

/*
 * The sweep that found our own port silent has read nothing. A change that is told of then must not
 * be taken for a whole picture of the fabric: everything but the change would be gone, our own node
 * with it.
 */
static void nothing_is_taken_out_while_it_is_silent(void **state)
{
	struct place *pl = *state;
	uint64_t n_sets;

	sim_set_silent(pl->rig->sim, pl->own, SIM_SILENT, 0);
	sm_request_heavy(pl->sm, NULL);
	run_for(pl, 5 * MONO_S);
	assert_told(pl, true);
	assert_all_known(pl);
	n_sets = sim_sets(pl->rig->sim);
	for (unsigned i = 0; i < 20; i++) {
		flap_a_host(pl);
		run_for(pl, 3 * MONO_S);
		assert_all_known(pl);
	}
	assert_int_equal(sim_sets(pl->rig->sim), n_sets);
	sim_set_silent(pl->rig->sim, pl->own, SIM_ANSWERS, 0);
	run_for(pl, 20 * MONO_S);
	assert_told(pl, false);
	assert_all_known(pl);
	assert_good(pl);
}

/* It answers NodeInfo and no PortInfo: the same. */
static void half_an_answer_is_none(void **state)
{
	struct place *pl = *state;

	sim_set_silent(pl->rig->sim, pl->own, SIM_SILENT, IB_ATTR_PORT_INFO);
	sm_request_heavy(pl->sm, NULL);
	run_for(pl, 10 * MONO_S);
	assert_told(pl, true);
	for (unsigned i = 0; i < 5; i++) {
		flap_a_host(pl);
		run_for(pl, 3 * MONO_S);
		assert_all_known(pl);
	}
	sim_set_silent(pl->rig->sim, pl->own, SIM_ANSWERS, 0);
	run_for(pl, 20 * MONO_S);
	assert_told(pl, false);
	assert_good(pl);
}

/* What is next to it does not answer: the sweep ended there, and the picture is the one before. */
static void a_silent_first_switch_takes_nothing_out(void **state)
{
	struct place *pl = *state;
	unsigned port;
	int leaf;

	assert_true(sim_peer(pl->rig->sim, pl->own, 1, &leaf, &port));
	sim_set_silent(pl->rig->sim, leaf, SIM_SILENT, 0);
	sm_request_heavy(pl->sm, NULL);
	run_for(pl, 5 * MONO_S);
	for (unsigned i = 0; i < 5; i++) {
		flap_a_host(pl);
		run_for(pl, 3 * MONO_S);
		assert_all_known(pl);
		assert_null(strstr(pl->rig->sms[0].status, "used as it was"));
	}
	sim_set_silent(pl->rig->sim, leaf, SIM_ANSWERS, 0);
	run_for(pl, 20 * MONO_S);
	assert_all_known(pl);
	assert_good(pl);
}

/* It is asked again and again, at a pace that does not grow, and traps do not make it faster. */
static void it_is_asked_at_its_own_pace(void **state)
{
	struct place *pl = *state;
	uint64_t n_gets;

	sim_set_silent(pl->rig->sim, pl->own, SIM_SILENT, 0);
	sm_request_heavy(pl->sm, NULL);
	run_for(pl, 300 * MONO_S);
	n_gets = sim_gets(pl->rig->sim);
	for (unsigned i = 0; i < 600; i++) {
		flap_a_host(pl);
		run_for(pl, 100 * MONO_MS);
	}
	assert_in_range(sim_gets(pl->rig->sim) - n_gets, 5, 300);
	sim_set_silent(pl->rig->sim, pl->own, SIM_ANSWERS, 0);
	run_for(pl, 10 * MONO_S);
	assert_told(pl, false);
	/* The host that flapped 600 times is held for a while; everything else is as it was. */
	assert_all_known(pl);
}

/* Lost MADs look the same for a moment: that costs a second, not five. */
static void a_short_silence_is_a_short_pause(void **state)
{
	struct place *pl = *state;

	sim_set_silent(pl->rig->sim, pl->own, SIM_SILENT, 0);
	sm_request_heavy(pl->sm, NULL);
	for (unsigned i = 0; i < 100 && !sm_own_silent(pl->sm); i++)
		run_for(pl, 50 * MONO_MS);
	assert_true(sm_own_silent(pl->sm));
	sim_set_silent(pl->rig->sim, pl->own, SIM_ANSWERS, 0);
	run_for(pl, 1000 * MONO_MS);
	assert_told(pl, false);
	assert_all_known(pl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_is_taken_out_while_it_is_silent, setup,
						teardown),
		cmocka_unit_test_setup_teardown(half_an_answer_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(a_silent_first_switch_takes_nothing_out, setup,
						teardown),
		cmocka_unit_test_setup_teardown(it_is_asked_at_its_own_pace, setup, teardown),
		cmocka_unit_test_setup_teardown(a_short_silence_is_a_short_pause, setup, teardown),
	};

	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	log_open(getenv("LOUD") ? &loud : &quiet);
	return cmocka_run_group_tests_name("sm-own-port", tests, NULL, NULL);
}
