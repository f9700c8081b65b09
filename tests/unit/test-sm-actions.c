// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an administrator asks for while managers run, in virtual time, where that needs the inside
 * of the manager; the rest is in tests/scenario/actions.scn.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/rig.h"
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
	sm_set_priority(sm, 16); /* is none */
	assert_int_equal(sm_priority(sm), 9);
	assert_false(sm_sweeping_enabled(sm));
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

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(it_outlives_a_pulled_cable),
		TEST(rerouting_waits_for_the_first_sweep),
		TEST(descriptions_are_read_again),
	};
	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	log_open(getenv("LOUD") ? &loud : &quiet);
	return cmocka_run_group_tests_name("sm-actions", tests, NULL, NULL);
}
