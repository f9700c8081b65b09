// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is held against cables: falls and complaints, and that no node is cut off by it. As seen on
 * the wire they are in tests/scenario (health-flap, complaints); here is what needs the inside of
 * the manager.
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
#include "sm/out_of_use/out_of_use.h"
#include "sm/sm.h"
#include "util/log.h"
#include "util/mem.h"

#define LINE_STRLEN 600 /* as the manager logs it */

struct world {
	struct rig *rig;
	struct sm *sm;
};

static void run(struct world *w, mono_t t)
{
	rig_run(w->rig, sim_now(w->rig->sim) + t);
}

static void start(struct world *w, struct netfile *net, bool policy)
{
	struct conf *conf = conf_new();

	log_set_sink(NULL, NULL); /* of a test that failed */
	*w = (struct world){ .rig = rig_new(sim_new(net, 1)) };
	netfile_free(net);
	conf->babbling_port_policy = policy;
	assert_int_equal(rig_start(w->rig, "h0", 0, conf, NULL), 0);
	conf_unref(conf);
	w->sm = w->rig->sms[0].sm;
	run(w, 5 * MONO_S);
	assert_true(sm_stats(w->sm)->up);
}

static void stop(struct world *w)
{
	rig_free(w->rig);
}

static struct port *port_at(struct world *w, const char *node, unsigned port)
{
	int at = sim_find(w->rig->sim, node);
	struct node *n = fabric_find_node(sm_fabric(w->sm), sim_node_guid(w->rig->sim, at));

	assert_non_null(n);
	return &n->ports[port];
}

static void complain(struct world *w, const char *node, unsigned port, unsigned n)
{
	sm_dispatch(w->sm, sim_now(w->rig->sim));
	for (unsigned i = 0; i < n; i++)
		out_of_use_complaint(w->sm, port_at(w, node, port), 129 + i % 3);
}

static void a_standby_does_not_count(void **state)
{
	struct conf *conf = conf_new();
	struct world w;
	struct sm *standby;

	start(&w, gen_tree(4, 4, 2, 1), true);
	assert_int_equal(rig_start(w.rig, "h5", 0, conf, NULL), 1);
	conf_unref(conf);
	run(&w, 20 * MONO_S);
	standby = w.rig->sms[1].sm;
	assert_int_equal(sm_state(standby), SM_STANDBY);
	w.sm = standby; /* in the fabric that it knows */
	complain(&w, "leaf1", 5, 300);
	assert_int_equal(out_of_use_cables(standby), 0);
	stop(&w);
}

/* Any complaint about any cable: every switch stays within reach, and the fabric is right. */
static void complaints_cut_nothing_in_two(void **state)
{
	for (unsigned seed = 1; seed <= 12; seed++) {
		struct world w;
		uint32_t n_switches;

		srand(seed);
		start(&w, gen_random(8, 3, 2, seed), true);
		n_switches = sm_fabric(w.sm)->n_switches;
		for (unsigned i = 0; i < 40; i++) {
			uint32_t at = (uint32_t)rand() % sm_fabric(w.sm)->n_nodes;
			struct node *n = sm_fabric(w.sm)->nodes[at];
			struct port *p = &n->ports[1 + (unsigned)rand() % n->n_ports];
			unsigned times = rand() % 2 ? 260 : 12;

			sm_dispatch(w.sm, sim_now(w.rig->sim));
			for (unsigned k = 0; k < times && node_is_switch(n); k++)
				out_of_use_complaint(w.sm, p, 130);
			run(&w, (mono_t)(rand() % 3) * MONO_S / 2);
		}
		run(&w, 20 * MONO_S);
		if (sm_fabric(w.sm)->n_switches != n_switches)
			fail_msg("seed %u: %u of %u switches are left", seed,
				 sm_fabric(w.sm)->n_switches, n_switches);
		assert_true(sm_stats(w.sm)->up);
		stop(&w);
	}
}

static void flap(struct world *w, const char *node, unsigned port, unsigned n, mono_t every)
{
	while (n--) {
		sim_link_flap(w->rig->sim, sim_find(w->rig->sim, node), port, 200 * MONO_MS);
		run(w, every);
	}
}

static void nothing_is_remembered_for_ever(void **state)
{
	struct world w;

	start(&w, gen_tree(4, 4, 2, 1), false);
	flap(&w, "leaf1", 5, 20, MONO_S);
	flap(&w, "h7", 1, 10, MONO_S);
	complain(&w, "leaf2", 5, 20);
	assert_int_equal(out_of_use_cables(w.sm), 3);
	run(&w, 3600 * MONO_S);
	assert_int_equal(out_of_use_cables(w.sm), 0);
	assert_null(port_at(&w, "leaf1", 5)->out.cable);
	assert_true(out_of_use_next(w.sm) == MONO_NEVER);
	stop(&w);
}

static void a_record_goes_with_its_nodes(void **state)
{
	struct world w;
	struct sim *sim;

	start(&w, gen_tree(4, 4, 2, 1), false);
	sim = w.rig->sim;
	flap(&w, "h7", 1, 2, MONO_S);
	assert_int_equal(out_of_use_cables(w.sm), 1);
	sim_power(sim, sim_find(sim, "leaf2"), false);
	run(&w, 30 * MONO_S);
	/* What is left are the cables of the leaf at the spines, which fell with it. */
	FABRIC_EACH_NODE(sm_fabric(w.sm), n) {
		for (unsigned i = 1; i <= n->n_ports && !node_is_switch(n); i++)
			assert_null(n->ports[i].out.cable);
	}
	stop(&w);
}

static void the_line_fits_whatever_the_room(void **state)
{
	char line[LINE_STRLEN + 1];
	struct world w;

	start(&w, gen_tree(4, 4, 2, 1), false);
	flap(&w, "leaf1", 5, 3, MONO_S);
	complain(&w, "leaf2", 5, 20);
	complain(&w, "leaf3", 6, 20);
	sim_set_silent(w.rig->sim, sim_find(w.rig->sim, "h7"), SIM_SILENT, 0);
	sm_request_heavy(w.sm, NULL);
	run(&w, 5 * MONO_S);
	for (size_t cap = 1; cap <= LINE_STRLEN; cap++) {
		unsigned n;

		memset(line, 'x', sizeof(line));
		n = sm_left_out(w.sm, line, cap);
		assert_true(n >= 2);
		assert_int_equal(line[cap], 'x');
		assert_true(strlen(line) < cap);
		if (cap > 40)
			assert_non_null(strstr(line, "left out: "));
		if (cap > 40 && cap < 100)
			assert_non_null(strstr(line, " more"));
	}
	stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_standby_does_not_count),
		cmocka_unit_test(complaints_cut_nothing_in_two),
		cmocka_unit_test(nothing_is_remembered_for_ever),
		cmocka_unit_test(a_record_goes_with_its_nodes),
		cmocka_unit_test(the_line_fits_whatever_the_room),
	};
	const struct log_config quiet = { .path = "/dev/null", .flags = 0x03, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	log_open(getenv("LOUD") ? &loud : &quiet);
	return cmocka_run_group_tests_name("sm-health", tests, NULL, NULL);
}
