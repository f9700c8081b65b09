// SPDX-License-Identifier: BSD-2-Clause
/*
 * Marks on many fabrics, each entry followed after every Set: random ones until the guard refuses,
 * and each switch of a tree in turn. No pair of hosts is ever without a way, nothing loops, and a
 * cable carries nothing any more when it is taken down.
 *
 *   test-sm-marks-fabrics [ROUNDS [LEAVES HOSTS SPINES]]
 *       rounds on each of 7 fabrics (8), 25 times as many on the eighth, the tree (4 4 3)
 */
#include "tests/unit/marks-world.h"

#include "tests/lib/rounds.h"
#include "util/random.h"

static const unsigned n_pauses = 60;
static unsigned n_rounds = 8, n_leaves = 4, n_hosts = 4, n_spines = 3;
static uint64_t n_marked;

static struct netfile *draw(unsigned which)
{
	switch (which) {
	case 0:
		return gen_tree(4, 2, 3, 1);
	case 1:
		return gen_tree(3, 2, 2, 2);
	case 2:
		return gen_ring(6, 1);
	case 3:
		return gen_torus(3, 3, 1, 1);
	case 4:
		return gen_random(8, 3, 1, 7);
	case 5:
		return gen_fat_tree3(4);
	case 7: /* of which many rounds are made */
		return gen_tree(4, 4, 2, 1);
	default: /* of which cables are out, see open_fabric() */
		return gen_tree(4, 2, 3, 1);
	}
}

static void open_fabric(struct world *w, struct netfile *net, bool damaged)
{
	w->sim = sim_new(net, 1);
	netfile_free(net);
	w->rig = rig_new(w->sim);
	w->conf = conf_new();
	w->conf->sweep_interval = 10;
	log_set_sink(on_line, w);
	if (damaged) {
		sim_unplug(w->sim, node_of(w, "leaf2"), 3);
		sim_unplug(w->sim, node_of(w, "leaf3"), 4);
		sim_unplug(w->sim, node_of(w, "leaf3"), 5);
	}
	start(w);
	sim_watch_lost(w->sim, true);
}

static void close_fabric(struct world *w)
{
	log_set_sink(NULL, NULL);
	rig_free(w->rig);
	conf_unref(w->conf);
}

/* One switch, or one cable between two. */
static bool choose(struct world *w, uint64_t *dice, struct mark_request *ret)
{
	unsigned i = (unsigned)(random_next(dice) % sim_n_nodes(w->sim));
	const struct node *n = fabric_find_node(sm_fabric(w->sm), sim_node_guid(w->sim, (int)i));
	unsigned port;

	if (!n || !node_is_switch(n))
		return false;
	port = 1 + (unsigned)(random_next(dice) % (n->n_ports + 1u));
	if (port <= n->n_ports &&
	    (!n->ports[port].peer || !node_is_switch(n->ports[port].peer->node)))
		return false;
	*ret = request(w, random_next(dice) % 2 ? MARK_DO_DRAIN : MARK_DO_ISOLATE, node_name(n),
		       port > n->n_ports ? MARK_WHOLE_SWITCH : port);
	ret->wait = random_next(dice) % 4;
	return true;
}

static void mark_until_refused(struct world *w, uint64_t *dice)
{
	unsigned refused = 0;

	for (unsigned i = 0; i < 400 && refused < 5; i++) {
		struct mark_request rq;

		if (choose(w, dice, &rq))
			refused += ask_watched(w, &rq, NULL).end == MARK_REFUSED ? 1 : 0;
	}
}

static void ignore_isolated(struct world *w, bool ignore)
{
	struct mark_shown m;

	for (unsigned i = 0; sm_mark_at(w->sm, i, &m); i++)
		if (m.mark->port == MARK_WHOLE_SWITCH && m.mark->kind == MARK_ISOLATE && m.port)
			sim_ignore(w->sim, node_of(w, node_name(m.port->node)), ignore);
}

static void mark_at_random(unsigned fabric)
{
	const struct mark_request all = { .action = MARK_DO_RESTORE, .all = true, .wait = true };
	struct world w = { 0 };
	uint64_t dice = fabric + 1;
	uint32_t n_nodes;

	open_fabric(&w, draw(fabric), fabric == 6);
	n_nodes = sm_fabric(w.sm)->n_nodes;
	for (unsigned round = 0; round < n_rounds * (fabric == 7 ? 25 : 1); round++) {
		mark_until_refused(&w, &dice);
		run_for(&w, 5 * MONO_S);
		n_marked += marks_table(w.sm)->n;
		ignore_isolated(&w, true);
		if (unreachable(&w))
			fail_msg("fabric %u, round %u: a pair has no way", fabric, round);
		if (state(&w, "h0", 1) != IB_PORT_ACTIVE || sm_fabric(w.sm)->n_nodes != n_nodes)
			fail_msg("fabric %u, round %u: the manager's own way", fabric, round);
		ignore_isolated(&w, false);
		ask_watched(&w, &all, NULL);
		run_for(&w, 15 * MONO_S);
	}
	assert_true(is_good(&w));
	assert_int_equal(sim_loops_ever(w.sim), 0);
	close_fabric(&w);
}

static void random_marks_until_the_guard_refuses_cut_off_no_pair(void **state)
{
	for (unsigned fabric = 0; fabric < 8; fabric++)
		mark_at_random(fabric);
	assert_true(n_marked >= 32 * n_rounds);
}

/* `wait`: the pause begins when the first link was seen down. */
static void put_back_after(struct world *w, mono_t pause, bool wait)
{
	struct mark_request rq = request(w, MARK_DO_ISOLATE, "spine1", MARK_WHOLE_SWITCH);

	rq.wait = wait;
	assert_int_equal(ask_watched(w, &rq, NULL).end, MARK_DONE);
	run_for(w, pause);
	rq.action = MARK_DO_RESTORE;
	assert_int_equal(ask_watched(w, &rq, NULL).end, MARK_DONE);
	run_for(w, 30 * MONO_S);
	if (sim_lost_ever(w->sim))
		fail_msg("put back after %u ms, wait %d: a pair was lost",
			 (unsigned)(pause / MONO_MS), wait);
	assert_true(is_good(w));
}

/*
 * A spine is isolated and put back after a pause, in which its links may still be up, be down, or
 * train. Cables that come back are routed over when both their ends are ACTIVE, not before.
 */
static void a_spine_is_put_back_at_any_moment(void **state)
{
	struct world w = { 0 };

	open_fabric(&w, gen_tree(8, 16, 8, 1), false);
	for (unsigned i = 0; i < 2 * n_pauses; i += test_stride(1)) {
		mono_t pause = i < n_pauses ? i * MONO_MS : (i - n_pauses) * 100 * MONO_MS;

		put_back_after(&w, pause, i < n_pauses);
	}
	assert_int_equal(sim_loops_ever(w.sim), 0);
	close_fabric(&w);
}

/* Every spine is drained, then isolated; every leaf but the manager's by force. */
static void mark_switch(struct world *w, const char *kind, unsigned i, enum mark_action action)
{
	struct mark_request rq;
	char name[16];

	snprintf(name, sizeof(name), "%s%u", kind, i);
	rq = request(w, action, name, MARK_WHOLE_SWITCH);
	rq.force = !strcmp(kind, "leaf");
	assert_int_equal(ask_watched(w, &rq, NULL).end, MARK_DONE);
	if (!rq.force)
		assert_int_equal(sim_lost_ever(w->sim), 0);
	rq.action = MARK_DO_RESTORE;
	assert_int_equal(ask_watched(w, &rq, NULL).end, MARK_DONE);
	run_for(w, 15 * MONO_S);
	if (!rq.force)
		assert_int_equal(sim_lost_ever(w->sim), 0);
}

static void each_switch_of_a_tree_is_taken_out_and_put_back(void **state)
{
	struct world w = { 0 };

	open_fabric(&w, gen_tree(n_leaves, n_hosts, n_spines, 1), false);
	for (unsigned i = 1; i <= n_spines; i++) {
		mark_switch(&w, "spine", i, MARK_DO_DRAIN);
		mark_switch(&w, "spine", i, MARK_DO_ISOLATE);
	}
	for (unsigned i = 2; i <= n_leaves; i++)
		mark_switch(&w, "leaf", i, MARK_DO_DRAIN);
	assert_true(sim_lost_ever(w.sim) > 0); /* by force: the watch sees what is lost */
	assert_int_equal(sim_loops_ever(w.sim), 0);
	assert_true(is_good(&w));
	close_fabric(&w);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_marks_until_the_guard_refuses_cut_off_no_pair),
		cmocka_unit_test(a_spine_is_put_back_at_any_moment),
		cmocka_unit_test(each_switch_of_a_tree_is_taken_out_and_put_back),
	};

	n_rounds = argc > 1 ? (unsigned)atoi(argv[1]) : test_rounds(n_rounds);
	n_leaves = argc > 4 ? (unsigned)atoi(argv[2]) : n_leaves;
	n_hosts = argc > 4 ? (unsigned)atoi(argv[3]) : n_hosts;
	n_spines = argc > 4 ? (unsigned)atoi(argv[4]) : n_spines;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
