// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is held against cables: falls and complaints, and that no node is cut off by it. Falls as
 * seen on the wire are in tests/scenario/health-*.scn; here is what needs the inside of the
 * manager.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/rig.h"
#include "sim/gen/gen.h"
#include "sm/out_of_use/out_of_use.h"
#include "sm/sm.h"
#include "unit/sim-probe.h"
#include "util/log.h"
#include "util/mem.h"

#define LINE_STRLEN 600 /* as the manager logs it */

struct world {
	struct rig *rig;
	struct sm *sm;
	unsigned said; /* records with `word` in them */
	const char *word;
};

static void run(struct world *w, mono_t t)
{
	rig_run(w->rig, sim_now(w->rig->sim) + t);
}

static void start(struct world *w, struct netfile *net, bool policy)
{
	struct conf *conf = conf_new();

	log_set_sink(NULL, NULL); /* of a test that failed */
	*w = (struct world){ .rig = rig_new(sim_new(net, 1)), .word = "-" };
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

static void count_words(void *arg, unsigned bits, const char *text)
{
	struct world *w = arg;

	w->said += strstr(text, w->word) != NULL;
}

static void listen_for(struct world *w, const char *word)
{
	w->word = word;
	w->said = 0;
	log_set_sink(count_words, w);
}

static struct port *port_at(struct world *w, const char *node, unsigned port)
{
	int at = sim_find(w->rig->sim, node);
	struct node *n = fabric_find_node(sm_fabric(w->sm), sim_node_guid(w->rig->sim, at));

	assert_non_null(n);
	return &n->ports[port];
}

static unsigned state_of(struct world *w, const char *node, unsigned port)
{
	return sim_port_state(w->rig->sim, sim_find(w->rig->sim, node), port);
}

static void complain(struct world *w, const char *node, unsigned port, unsigned n)
{
	sm_dispatch(w->sm, sim_now(w->rig->sim));
	for (unsigned i = 0; i < n; i++)
		out_of_use_complaint(w->sm, port_at(w, node, port), 129 + i % 3);
}

static void assert_good(struct world *w, unsigned end_ports)
{
	struct sim_verdict v;

	sim_check_all(w->rig->sim, &v);
	if (!sim_verdict_good(&v))
		fail_msg("%s", v.first);
	assert_int_equal(v.end_ports, end_ports);
}

static const char *line_of(struct world *w)
{
	static char line[LINE_STRLEN];

	sm_left_out(w->sm, line, sizeof(line));
	return line;
}

/* ---- complaints ---- */

static void ten_complaints_make_a_link_avoided_for_a_minute(void **state)
{
	struct world w;
	uint64_t sets;

	start(&w, gen_tree(4, 4, 2, 1), false);
	complain(&w, "leaf1", 5, 10);
	run(&w, MONO_S);
	assert_true(port_at(&w, "leaf1", 5)->out.avoided);
	assert_true(port_at(&w, "leaf1", 5)->peer->out.avoided);
	assert_int_equal(state_of(&w, "leaf1", 5), IB_PORT_ACTIVE);
	assert_non_null(strstr(line_of(&w), "'leaf1' port 5"));
	assert_non_null(strstr(w.rig->sms[0].status, "complains too much"));
	assert_good(&w, 22);
	sets = sim_sets(w.rig->sim);
	run(&w, 58 * MONO_S);
	assert_true(port_at(&w, "leaf1", 5)->out.avoided);
	assert_int_equal(sim_sets(w.rig->sim), sets);
	run(&w, 2 * MONO_S);
	assert_false(port_at(&w, "leaf1", 5)->out.avoided);
	assert_true(sim_sets(w.rig->sim) > sets);
	assert_string_equal(line_of(&w), "");
	assert_good(&w, 22);
	stop(&w);
}

static void few_complaints_or_slow_ones_are_nothing(void **state)
{
	struct world w;

	start(&w, gen_tree(4, 4, 2, 1), false);
	for (unsigned i = 0; i < 10; i++) {
		complain(&w, "leaf1", 5, 9);
		run(&w, 5 * MONO_S);
		assert_false(port_at(&w, "leaf1", 5)->out.avoided);
	}
	stop(&w);
}

static void a_host_that_complains_stays(void **state)
{
	struct world w;

	start(&w, gen_tree(4, 4, 2, 1), false);
	complain(&w, "h5", 1, 249);
	complain(&w, "leaf2", 1, 249);
	run(&w, MONO_S);
	assert_false(port_at(&w, "h5", 1)->out.avoided);
	assert_false(port_at(&w, "leaf2", 1)->out.avoided);
	assert_good(&w, 22);
	stop(&w);
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

/* ---- switching off ---- */

static unsigned phys_state(struct world *w, const char *node, unsigned port)
{
	uint8_t info[SMP_DATA_SIZE];

	assert_int_equal(sim_read(w->rig->sim, sim_find(w->rig->sim, node), IB_ATTR_PORT_INFO,
				  port, info),
			 0);
	return ib_get(info, PI_PHYS_STATE);
}

/* As `ibportstate LID PORT enable` from another host. */
static void enable(struct world *w, const char *node, unsigned port)
{
	struct probe p = probe_open(w->rig->sim, "h3", 1);

	probe_get_port(&p, sim_find(w->rig->sim, node), port);
	ib_put(p.answer, PI_PORT_STATE, IB_PORT_DOWN);
	ib_put(p.answer, PI_PHYS_STATE, IB_PHYS_POLLING);
	assert_int_equal(
		probe_set(&p, sim_find(w->rig->sim, node), IB_ATTR_PORT_INFO, port), 0);
	probe_close(&p);
}

static void a_babbling_host_is_switched_off_until_enabled(void **state)
{
	struct world w;

	start(&w, gen_tree(4, 4, 2, 1), true);
	listen_for(&w, "switched off at 'leaf2' port 2");
	complain(&w, "h5", 1, 249);
	run(&w, MONO_S);
	assert_int_equal(state_of(&w, "h5", 1), IB_PORT_ACTIVE);
	complain(&w, "h5", 1, 1);
	run(&w, MONO_S);
	assert_int_equal(state_of(&w, "h5", 1), IB_PORT_DOWN);
	assert_int_equal(phys_state(&w, "leaf2", 2), IB_PHYS_DISABLED);
	assert_int_equal(w.said, 1);
	assert_good(&w, 21);
	run(&w, 3600 * MONO_S);
	assert_non_null(strstr(line_of(&w), "'leaf2' port 2"));
	assert_non_null(strstr(line_of(&w), "switched off by babbling_port_policy"));
	assert_int_equal(state_of(&w, "h5", 1), IB_PORT_DOWN);
	enable(&w, "leaf2", 2);
	run(&w, 20 * MONO_S);
	assert_int_equal(state_of(&w, "h5", 1), IB_PORT_ACTIVE);
	assert_string_equal(line_of(&w), "");
	assert_good(&w, 22);
	log_set_sink(NULL, NULL);
	stop(&w);
}

static void a_babbling_switch_port_is_switched_off_at_the_other_end(void **state)
{
	struct world w;

	start(&w, gen_tree(4, 4, 2, 1), true);
	complain(&w, "leaf1", 5, 250);
	run(&w, MONO_S);
	assert_int_equal(state_of(&w, "leaf1", 5), IB_PORT_DOWN);
	assert_int_equal(phys_state(&w, "spine1", 1), IB_PHYS_DISABLED);
	assert_good(&w, 22);
	stop(&w);
}

/* Routes take longer than the babbling lasted: what is quiet by then is not switched off. */
static void who_is_quiet_when_its_time_comes_stays(void **state)
{
	struct world w;

	start(&w, gen_tree(4, 4, 2, 1), true);
	w.rig->job_time = 120 * MONO_S;
	complain(&w, "leaf1", 5, 250);
	run(&w, 600 * MONO_S);
	assert_int_equal(state_of(&w, "leaf1", 5), IB_PORT_ACTIVE);
	assert_good(&w, 22);
	stop(&w);
}

static void the_last_way_and_our_own_cable_are_not_switched_off(void **state)
{
	struct world w;

	start(&w, gen_mesh(4, 1, 1, 2), true);
	for (unsigned port = 1; port <= 4; port++) {
		if (port_at(&w, "s1", port)->peer &&
		    node_is_switch(port_at(&w, "s1", port)->peer->node))
			complain(&w, "s1", port, 1000);
	}
	complain(&w, "h0", 1, 1000);
	complain(&w, "s0", 1, 1000);
	run(&w, 2 * MONO_S);
	assert_string_equal(line_of(&w), "");
	assert_good(&w, 12);
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

/* ---- falls ---- */

static void flap(struct world *w, const char *node, unsigned port, unsigned n, mono_t every)
{
	while (n--) {
		sim_link_flap(w->rig->sim, sim_find(w->rig->sim, node), port, 200 * MONO_MS);
		run(w, every);
	}
}

static void holding_is_said_once_and_so_is_letting_go(void **state)
{
	struct world w;

	start(&w, gen_tree(4, 4, 2, 1), false);
	listen_for(&w, "came and went 3 times in");
	flap(&w, "leaf1", 5, 60, MONO_S);
	assert_true(port_at(&w, "leaf1", 5)->out.held);
	assert_int_equal(w.said, 1);
	listen_for(&w, "used again after");
	run(&w, 300 * MONO_S);
	assert_false(port_at(&w, "leaf1", 5)->out.held);
	assert_int_equal(w.said, 1);
	log_set_sink(NULL, NULL);
	stop(&w);
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

static void a_cable_in_another_place_is_another_cable(void **state)
{
	struct world w;
	struct sim *sim;

	start(&w, gen_tree(4, 4, 2, 1), false);
	sim = w.rig->sim;
	flap(&w, "leaf1", 5, 20, MONO_S);
	assert_true(port_at(&w, "leaf1", 5)->out.held);
	sim_unplug(sim, sim_find(sim, "leaf1"), 5);
	sim_unplug(sim, sim_find(sim, "leaf2"), 5);
	sim_plug(sim, sim_find(sim, "leaf1"), 5, sim_find(sim, "spine1"), 2);
	sim_plug(sim, sim_find(sim, "leaf2"), 5, sim_find(sim, "spine1"), 1);
	run(&w, 5 * MONO_S);
	assert_false(port_at(&w, "leaf1", 5)->out.held);
	assert_int_equal(state_of(&w, "leaf1", 5), IB_PORT_ACTIVE);
	assert_good(&w, 22);
	stop(&w);
}

/* ---- the line ---- */

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

static void the_line_is_logged_when_it_changes(void **state)
{
	struct world w;

	start(&w, gen_tree(4, 4, 2, 1), false);
	listen_for(&w, "1 left out: ");
	sim_set_silent(w.rig->sim, sim_find(w.rig->sim, "h7"), SIM_SILENT, 0);
	sm_request_heavy(w.sm, NULL);
	run(&w, 100 * MONO_S);
	assert_in_range(w.said, 1, 2); /* silent, then behind a port that is */
	listen_for(&w, "left out");
	run(&w, 1000 * MONO_S);
	assert_int_equal(w.said, 0);
	sim_set_silent(w.rig->sim, sim_find(w.rig->sim, "h7"), SIM_ANSWERS, 0);
	run(&w, 100 * MONO_S);
	assert_int_equal(w.said, 1); /* nothing is left out any more */
	log_set_sink(NULL, NULL);
	stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_complaints_make_a_link_avoided_for_a_minute),
		cmocka_unit_test(few_complaints_or_slow_ones_are_nothing),
		cmocka_unit_test(a_host_that_complains_stays),
		cmocka_unit_test(a_standby_does_not_count),
		cmocka_unit_test(a_babbling_host_is_switched_off_until_enabled),
		cmocka_unit_test(a_babbling_switch_port_is_switched_off_at_the_other_end),
		cmocka_unit_test(who_is_quiet_when_its_time_comes_stays),
		cmocka_unit_test(the_last_way_and_our_own_cable_are_not_switched_off),
		cmocka_unit_test(complaints_cut_nothing_in_two),
		cmocka_unit_test(holding_is_said_once_and_so_is_letting_go),
		cmocka_unit_test(nothing_is_remembered_for_ever),
		cmocka_unit_test(a_record_goes_with_its_nodes),
		cmocka_unit_test(a_cable_in_another_place_is_another_cable),
		cmocka_unit_test(the_line_fits_whatever_the_room),
		cmocka_unit_test(the_line_is_logged_when_it_changes),
	};
	const struct log_config quiet = { .path = "/dev/null", .flags = 0x03, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	log_open(getenv("LOUD") ? &loud : &quiet);
	return cmocka_run_group_tests_name("sm-health", tests, NULL, NULL);
}
