// SPDX-License-Identifier: BSD-2-Clause
/*
 * Agents that go silent while their link is up: noticed, told, shown, and taken in again soon after
 * they answer, however long they were silent; what that costs in SMPs.
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

#define CROWD 600
#define CROWD_SWEEP (3 * MONO_S / 2) /* how long a light sweep lasts while half of them are asked */

struct place {
	struct rig *rig;
	struct conf *conf;
	struct sm *sm;
	struct sim *sim;
	unsigned silent, again; /* records of the log */
};

static void sink(void *arg, unsigned bits, const char *text)
{
	struct place *pl = arg;

	if (getenv("LOUD"))
		print_message("%s\n", text);
	pl->silent += strstr(text, "does not answer any more, its link is up") != NULL;
	pl->again += strstr(text, "answers again") != NULL;
}

static void run_for(struct place *pl, mono_t t)
{
	rig_run(pl->rig, sim_now(pl->sim) + t);
}

static mono_t interval(const struct place *pl)
{
	return pl->conf->sweep_interval * MONO_S;
}

static struct place *place_new(struct netfile *net, unsigned sweep_interval)
{
	struct place *pl = xcalloc(1, sizeof(*pl));

	log_set_sink(sink, pl);
	pl->sim = sim_new(net, 1);
	pl->rig = rig_new(pl->sim);
	pl->conf = conf_new();
	pl->conf->sweep_interval = sweep_interval;
	assert_int_equal(rig_start(pl->rig, "h0", 0, pl->conf, NULL), 0);
	pl->sm = pl->rig->sms[0].sm;
	run_for(pl, 25 * MONO_S + 2 * interval(pl));
	assert_true(sm_stats(pl->sm)->up);
	return pl;
}

static void place_free(struct place *pl)
{
	rig_free(pl->rig);
	conf_unref(pl->conf);
	log_set_sink(NULL, NULL);
	free(pl);
}

static void silence(struct place *pl, const char *node, bool on)
{
	sim_set_silent(pl->sim, sim_find(pl->sim, node), on ? SIM_SILENT : SIM_ANSWERS, 0);
}

static const char *reason(struct place *pl, const char *node)
{
	const struct node *n = fabric_find_node(sm_fabric(pl->sm),
						sim_node_guid(pl->sim, sim_find(pl->sim, node)));
	struct sm_reasons *r = sm_reasons_new(pl->sm);
	const char *why = n ? sm_reason(r, &n->ports[1]) : "gone";

	sm_reasons_free(r);
	return why;
}

static void assert_whole(struct place *pl)
{
	struct sim_verdict v;

	sim_check_all(pl->sim, &v);
	v.loops_ever = 0;
	if (!sim_verdict_good(&v))
		fail_msg("%s", v.first);
	assert_int_equal(sm_stats(pl->sm)->silent_nodes, 0);
	assert_int_equal(sm_left_out(pl->sm, (char[600]){ 0 }, 600), 0);
}

static void a_silent_host_is_noticed(void **state)
{
	static const unsigned intervals[] = { 3, 10, 30 };

	for (size_t i = 0; i < ARRAY_SIZE(intervals); i++) {
		_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 4, 1);
		struct place *pl = place_new(net, intervals[i]);
		uint64_t n_sets = sim_sets(pl->sim);

		silence(pl, "h9", true);
		run_for(pl, 10 * interval(pl) < 60 * MONO_S ? 11 * interval(pl)
							    : 60 * MONO_S + interval(pl));
		assert_int_equal(pl->silent, 1);
		assert_int_equal(sm_stats(pl->sm)->silent_nodes, 1);
		assert_string_equal(reason(pl, "h9"), "does not answer");
		assert_non_null(strstr(pl->rig->sms[0].status, "does not answer"));
		run_for(pl, 600 * MONO_S);
		assert_int_equal(pl->silent, 1);
		assert_int_equal(sim_sets(pl->sim), n_sets);
		silence(pl, "h9", false);
		run_for(pl, 2 * interval(pl) + MONO_S);
		assert_int_equal(pl->again, 1);
		assert_null(reason(pl, "h9"));
		assert_whole(pl);
		place_free(pl);
	}
}

/* The heavy sweep is first to miss it: the same record as by the question for its name, one. */
static void a_silent_host_is_noticed_by_a_heavy_sweep(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 4, 1);
	struct place *pl = place_new(net, 10);

	silence(pl, "h9", true);
	for (unsigned i = 1; i <= 2; i++) {
		sm_request_heavy(pl->sm, NULL);
		run_for(pl, 5 * MONO_S);
		assert_int_equal(pl->silent, 1);
		assert_int_equal(sm_stats(pl->sm)->silent_nodes, 1);
	}
	silence(pl, "h9", false);
	sm_request_heavy(pl->sm, NULL);
	run_for(pl, 25 * MONO_S);
	assert_int_equal(pl->again, 1);
	assert_whole(pl);
	place_free(pl);
}

/*
 * More go silent at once than the log has room for, and come back slowly: none is said to answer
 * again of which it was not said that it did not.
 */
static void hosts_that_were_not_said_do_not_come_back_in_the_log(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 16, 4, 1);
	struct place *pl = place_new(net, 10);
	char name[16];

	for (unsigned i = 2; i < 62; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		silence(pl, name, true);
	}
	sm_request_heavy(pl->sm, NULL);
	run_for(pl, 40 * MONO_S);
	assert_int_equal(sm_stats(pl->sm)->silent_nodes, 60);
	assert_in_range(pl->silent, 1, 50);
	for (unsigned i = 2; i < 62; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		silence(pl, name, false);
		if (i % 6 == 0)
			run_for(pl, 25 * MONO_S);
	}
	run_for(pl, 60 * MONO_S);
	assert_int_equal(sm_stats(pl->sm)->silent_nodes, 0);
	assert_int_equal(pl->again, pl->silent);
	place_free(pl);
}

/* A switch that hangs hides the hosts behind it: of these, which are not asked, nothing is said. */
static void a_silent_switch_does_not_accuse_its_hosts(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 4, 1);
	struct place *pl = place_new(net, 10);

	silence(pl, "leaf3", true);
	silence(pl, "h8", true);
	sm_request_heavy(pl->sm, NULL);
	run_for(pl, 5 * MONO_S);
	assert_int_equal(sm_stats(pl->sm)->silent_nodes, 5);
	assert_int_equal(pl->silent, 0);
	silence(pl, "leaf3", false);
	sm_request_heavy(pl->sm, NULL);
	run_for(pl, 2 * MONO_S);
	assert_int_equal(pl->silent, 1);
	assert_int_equal(pl->again, 0);
	silence(pl, "h8", false);
	sm_request_heavy(pl->sm, NULL);
	run_for(pl, 25 * MONO_S);
	assert_int_equal(pl->silent, 1);
	assert_int_equal(pl->again, 1);
	assert_whole(pl);
	place_free(pl);
}

/*
 * Not known any more, or never: back after two sweep intervals, though it was silent for ten
 * minutes.
 */
static void what_answers_again_is_back_soon(void **state)
{
	static const char *const nodes[] = { "h9", "leaf3", "spine2" };

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 4, 4, 1);
		struct place *pl = place_new(net, 3);

		silence(pl, nodes[i], true);
		sim_reboot(pl->sim, sim_find(pl->sim, nodes[i]), MONO_S);
		run_for(pl, 600 * MONO_S);
		assert_true(sm_left_out(pl->sm, (char[600]){ 0 }, 600) > 0);
		silence(pl, nodes[i], false);
		run_for(pl, 2 * interval(pl));
		assert_whole(pl);
		place_free(pl);
	}
}

/* Every second of these hosts is without power for a second, too: its link comes back alone. */
static void silence_crowd(struct place *pl, bool on)
{
	unsigned n = 0;

	for (int i = 0; n < CROWD; i++) {
		assert_in_range(i, 0, sim_n_nodes(pl->sim) - 1);
		if (sim_node_is_switch(pl->sim, i) || !strcmp(sim_node_id(pl->sim, i), "h0"))
			continue;
		sim_set_silent(pl->sim, i, on ? SIM_SILENT : SIM_ANSWERS, 0);
		if (on && n % 2)
			sim_reboot(pl->sim, i, MONO_S);
		n++;
	}
}

static void a_crowd_that_answers_again_is_back_soon(void **state)
{
	static const unsigned intervals[] = { 3, 10 };

	for (size_t i = 0; i < ARRAY_SIZE(intervals); i++) {
		_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree2(36);
		struct place *pl = place_new(net, intervals[i]);

		silence_crowd(pl, true);
		run_for(pl, 600 * MONO_S);
		assert_int_equal(sm_stats(pl->sm)->silent_nodes, CROWD / 2);
		silence_crowd(pl, false);
		run_for(pl, 2 * (interval(pl) + CROWD_SWEEP));
		assert_whole(pl);
		place_free(pl);
	}
}

/* One question each, in the time that is told; what is silent costs one more in each sweep. */
static void what_it_costs(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(8, 16, 4, 1);
	struct place *pl = place_new(net, 10);
	uint64_t asked = sim_count(pl->sim, IB_ATTR_NODE_DESC, MAD_GET), more;

	run_for(pl, 60 * MONO_S);
	asked = sim_count(pl->sim, IB_ATTR_NODE_DESC, MAD_GET) - asked;
	assert_in_range(asked, 8 * 16, 2 * 8 * 16);
	for (unsigned i = 10; i < 20; i++) {
		char name[8];

		snprintf(name, sizeof(name), "h%u", i);
		silence(pl, name, true);
	}
	run_for(pl, 300 * MONO_S);
	assert_int_equal(sm_stats(pl->sm)->silent_nodes, 10);
	more = sim_count(pl->sim, IB_ATTR_NODE_DESC, MAD_GET);
	run_for(pl, 60 * MONO_S);
	more = sim_count(pl->sim, IB_ATTR_NODE_DESC, MAD_GET) - more;
	assert_in_range(more, asked, asked + 10 * 7);
	place_free(pl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_silent_host_is_noticed),
		cmocka_unit_test(a_silent_host_is_noticed_by_a_heavy_sweep),
		cmocka_unit_test(hosts_that_were_not_said_do_not_come_back_in_the_log),
		cmocka_unit_test(a_silent_switch_does_not_accuse_its_hosts),
		cmocka_unit_test(what_answers_again_is_back_soon),
		cmocka_unit_test(a_crowd_that_answers_again_is_back_soon),
		cmocka_unit_test(what_it_costs),
	};

	return cmocka_run_group_tests_name("sm-silence", tests, NULL, NULL);
}
