// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links taken out of service by an administrator, on a simulated tree: no pair of hosts is ever
 * without a way, nothing loops, what is isolated stays in INIT, what is refused changes nothing.
 *
 *   test-sm-marks [SEED]    random marks from that seed on
 */
#include "unit/marks-world.h"

#include "util/random.h"

#define N_SEEDS	 200u
#define N_LEAVES 4u
#define N_SPINES 2u

/* ---- drain ----------------------------------------------------------------------------------- */

static void draining_any_uplink_loses_no_pair_at_any_moment(void **st)
{
	struct world *w = *st;

	start(w);
	for (unsigned i = 0; i < N_LEAVES * N_SPINES; i++) {
		struct watch watch = { 0 };
		struct mark_request rq;
		struct mark_result r;
		char leaf[8], spine[8];
		unsigned port;

		snprintf(leaf, sizeof(leaf), "leaf%u", i / N_SPINES + 1);
		snprintf(spine, sizeof(spine), "spine%u", i % N_SPINES + 1);
		port = uplink(w, leaf, spine);
		assert_true(entries_to(w, leaf, port) > 0);
		rq = request(w, MARK_DO_DRAIN, leaf, port);
		r = ask_watched(w, &rq, &watch);
		assert_int_equal(r.end, MARK_DONE);
		assert_true(r.changed);
		assert_int_equal(r.state, MARK_DRAINED);
		assert_int_equal(entries_to(w, leaf, port), 0);
		assert_true(link_is(w, leaf, port, IB_PORT_ACTIVE));
		rq.action = MARK_DO_RESTORE;
		r = ask_watched(w, &rq, &watch);
		assert_int_equal(r.end, MARK_DONE);
		assert_false(port_of(w, leaf, port)->out.avoided);
		assert_int_equal(watch.unreachable, 0);
		assert_int_equal(watch.loops, 0);
		run_for(w, 15 * MONO_S);
	}
	assert_true(is_good(w));
}

static void either_end_names_the_cable(void **st)
{
	struct world *w = *st;
	const struct port *p;
	unsigned port;

	start(w);
	port = uplink(w, "leaf2", "spine1");
	p = port_of(w, "leaf2", port)->peer;
	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf2", port).state, MARK_DRAINED);
	assert_int_equal(ask(w, MARK_DO_DRAIN, "spine1", p->num).state, MARK_DRAINED);
	assert_int_equal(sm_marks(w->sm, MARK_DRAIN), 1);
	assert_int_equal(ask(w, MARK_DO_RESTORE, "leaf2", port).end, MARK_DONE);
	assert_int_equal(sm_marks(w->sm, MARK_DRAIN), 0);
	assert_int_equal(ask(w, MARK_DO_RESTORE, "leaf2", port).end, MARK_NOT_MARKED);
}

static void a_drained_spine_carries_packets_to_itself_alone(void **st)
{
	struct world *w = *st;
	struct watch watch = { 0 };
	struct mark_request rq;
	struct mark_result r;
	unsigned used = 0;

	start(w);
	rq = request(w, MARK_DO_DRAIN, "spine2", MARK_WHOLE_SWITCH);
	r = ask_watched(w, &rq, &watch);
	assert_int_equal(r.end, MARK_DONE);
	assert_int_equal(r.state, MARK_DRAINED);
	for (unsigned i = 0; i < N_LEAVES; i++) {
		char leaf[8];

		snprintf(leaf, sizeof(leaf), "leaf%u", i + 1);
		used += entries_to(w, leaf, uplink(w, leaf, "spine2"));
	}
	assert_int_equal(used, 1); /* the LID of its port 0, from one leaf */
	assert_int_equal(watch.unreachable, 0);
	assert_int_equal(unreachable(w), 0);
	assert_int_equal(ask(w, MARK_DO_DRAIN, "spine1", MARK_WHOLE_SWITCH).end, MARK_REFUSED);
	assert_int_equal(ask(w, MARK_DO_RESTORE, "spine2", MARK_WHOLE_SWITCH).end, MARK_DONE);
	run_for(w, 20 * MONO_S);
	assert_true(is_good(w));
}

static void a_host_is_not_drained(void **st)
{
	struct world *w = *st;
	struct mark_result r;

	start(w);
	r = ask(w, MARK_DO_DRAIN, "h5", 1);
	assert_int_equal(r.end, MARK_INVALID);
	assert_non_null(strstr(r.text, "isolate"));
	assert_int_equal(sm_marks(w->sm, MARK_DRAIN), 0);
}

/* ---- isolate --------------------------------------------------------------------------------- */

static void an_isolated_link_stays_in_init(void **st)
{
	struct world *w = *st;
	struct watch watch = { 0 };
	struct mark_request rq;
	struct mark_result r;
	unsigned port;
	mono_t asked;

	start(w);
	port = uplink(w, "leaf3", "spine2");
	asked = sim_now(w->sim);
	rq = request(w, MARK_DO_ISOLATE, "leaf3", port);
	r = ask_watched(w, &rq, &watch);
	assert_int_equal(r.end, MARK_DONE);
	assert_int_equal(r.state, MARK_ISOLATED);
	assert_true(sim_now(w->sim) - asked >= 1100 * MONO_MS);
	assert_true(link_is(w, "leaf3", port, IB_PORT_INIT));
	assert_int_equal(watch.loops, 0);
	assert_int_equal(watch.unreachable, 0);
	for (unsigned i = 0; i < 5; i++) {
		sm_request_heavy(w->sm, NULL);
		run_for(w, 20 * MONO_S);
		assert_true(link_is(w, "leaf3", port, IB_PORT_INIT));
	}
	sim_link_flap(w->sim, node_of(w, "leaf3"), port, MONO_S);
	run_for(w, 30 * MONO_S);
	assert_true(link_is(w, "leaf3", port, IB_PORT_INIT));
	assert_int_equal(unreachable(w), 0);
	r = ask(w, MARK_DO_RESTORE, "leaf3", port);
	assert_int_equal(r.end, MARK_DONE);
	run_for(w, 15 * MONO_S);
	assert_true(link_is(w, "leaf3", port, IB_PORT_ACTIVE));
	assert_true(is_good(w));
}

/* Its ports are given their tables once, and not in each sweep. */
static void an_isolated_link_is_left_in_peace_with_qos(void **st)
{
	struct world *w = *st;
	uint64_t sets;

	w->conf->qos = true;
	start(w);
	assert_int_equal(ask(w, MARK_DO_ISOLATE, "leaf3", uplink(w, "leaf3", "spine2")).end,
			 MARK_DONE);
	assert_int_equal(ask(w, MARK_DO_ISOLATE, "h5", 1).end, MARK_DONE);
	run_for(w, 60 * MONO_S);
	sets = sim_sets(w->sim);
	for (unsigned i = 0; i < 3; i++) {
		sm_request_heavy(w->sm, NULL);
		run_for(w, 20 * MONO_S);
		assert_int_equal(sim_sets(w->sim), sets);
	}
}

static void a_host_is_isolated_at_its_switch(void **st)
{
	struct world *w = *st;
	struct mark_result r;

	start(w);
	r = ask(w, MARK_DO_ISOLATE, "h5", 1);
	assert_int_equal(r.end, MARK_DONE);
	assert_int_equal(r.state, MARK_ISOLATED);
	run_for(w, 60 * MONO_S);
	assert_int_equal(state(w, "h5", 1), IB_PORT_INIT);
	assert_int_equal(marks_table(w->sm)->n, 1);
	assert_true(node_is_switch(
		fabric_find_node(sm_fabric(w->sm), marks_table(w->sm)->all[0].node)));
	assert_int_equal(ask(w, MARK_DO_RESTORE, "h5", 1).end, MARK_DONE);
	run_for(w, 15 * MONO_S);
	assert_true(is_good(w));
}

static void an_isolated_switch_has_no_link(void **st)
{
	struct world *w = *st;
	struct mark_result r;

	start(w);
	r = ask(w, MARK_DO_ISOLATE, "leaf4", MARK_WHOLE_SWITCH);
	assert_int_equal(r.end, MARK_REFUSED); /* its hosts */
	r = ask(w, MARK_DO_ISOLATE, "spine1", MARK_WHOLE_SWITCH);
	assert_int_equal(r.end, MARK_DONE);
	assert_int_equal(r.state, MARK_ISOLATED);
	run_for(w, 60 * MONO_S);
	for (unsigned i = 0; i < N_LEAVES; i++) {
		char leaf[8];

		snprintf(leaf, sizeof(leaf), "leaf%u", i + 1);
		assert_true(link_is(w, leaf, uplink(w, leaf, "spine1"), IB_PORT_INIT));
	}
	sim_ignore(w->sim, node_of(w, "spine1"), true);
	assert_int_equal(unreachable(w), 0);
	sim_ignore(w->sim, node_of(w, "spine1"), false);
	assert_int_equal(ask(w, MARK_DO_RESTORE, "spine1", MARK_WHOLE_SWITCH).end, MARK_DONE);
	run_for(w, 30 * MONO_S);
	assert_true(is_good(w));
}

static void on_disabled(void *owner, const struct mad_result *r)
{
	assert_int_equal(r->end, MAD_END_ANSWERED);
}

/* As by ibportstate. */
static void a_port_disabled_by_others_is_left_alone(void **st)
{
	struct world *w = *st;
	struct sm_reasons *reasons;
	uint8_t info[SMP_DATA_SIZE];
	unsigned port;

	start(w);
	port = uplink(w, "leaf2", "spine1");
	assert_true(
		sync_switch_off(w->sm->sync, port_of(w, "leaf2", port), on_disabled, w->sm, NULL));
	for (unsigned i = 0; i < 5; i++) {
		run_for(w, 30 * MONO_S);
		sm_request_heavy(w->sm, NULL);
	}
	run_for(w, 30 * MONO_S);
	assert_int_equal(sim_read(w->sim, node_of(w, "leaf2"), IB_ATTR_PORT_INFO, port, info), 0);
	assert_int_equal(ib_get(info, PI_PHYS_STATE), IB_PHYS_DISABLED);
	assert_int_equal(ib_get(port_of(w, "leaf2", port)->info, PI_PHYS_STATE), IB_PHYS_DISABLED);
	reasons = sm_reasons_new(w->sm);
	assert_null(sm_reason(reasons, port_of(w, "leaf2", port)));
	sm_reasons_free(reasons);
	assert_int_equal(unreachable(w), 0);
}

/* ---- the guard ------------------------------------------------------------------------------- */

static void the_last_way_is_refused_with_its_cost(void **st)
{
	struct world *w = *st;
	struct mark_result r;
	uint64_t generation;

	start(w);
	assert_int_equal(ask(w, MARK_DO_DRAIN, "leaf2", uplink(w, "leaf2", "spine1")).end,
			 MARK_DONE);
	generation = sm_marks_generation(w->sm);
	r = ask(w, MARK_DO_DRAIN, "leaf2", uplink(w, "leaf2", "spine2"));
	assert_int_equal(r.end, MARK_REFUSED);
	assert_non_null(
		strstr(r.text, "96 pairs of hosts would have no way; 4 host ports and 1 switches"));
	assert_false(r.changed);
	assert_int_equal(sm_marks_generation(w->sm), generation);
	assert_int_equal(sm_marks(w->sm, MARK_DRAIN), 1);
}

static void it_is_done_by_force(void **st)
{
	struct world *w = *st;
	struct mark_result r;

	start(w);
	force(w, MARK_DO_ISOLATE, "leaf2", uplink(w, "leaf2", "spine1"));
	r = force(w, MARK_DO_ISOLATE, "leaf2", uplink(w, "leaf2", "spine2"));
	assert_int_equal(r.end, MARK_DONE);
	run_for(w, 30 * MONO_S);
	assert_true(link_is(w, "leaf2", uplink(w, "leaf2", "spine2"), IB_PORT_INIT));
	assert_true(unreachable(w) > 0);
}

static void the_managers_own_way_is_refused_by_force_too(void **st)
{
	struct world *w = *st;

	start(w);
	assert_int_equal(force(w, MARK_DO_ISOLATE, "h0", 1).end, MARK_REFUSED);
	assert_int_equal(force(w, MARK_DO_ISOLATE, "leaf1", 1).end, MARK_REFUSED);
	assert_int_equal(force(w, MARK_DO_ISOLATE, "leaf1", MARK_WHOLE_SWITCH).end, MARK_REFUSED);
	assert_int_equal(force(w, MARK_DO_DRAIN, "leaf1", MARK_WHOLE_SWITCH).end, MARK_REFUSED);
	assert_int_equal(force(w, MARK_DO_ISOLATE, "leaf1", uplink(w, "leaf1", "spine1")).end,
			 MARK_DONE);
	assert_int_equal(force(w, MARK_DO_ISOLATE, "leaf1", uplink(w, "leaf1", "spine2")).end,
			 MARK_REFUSED);
	assert_int_equal(unreachable(w), 0);
}

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

static void what_becomes_the_last_way_is_used_again(void **st)
{
	struct world *w = *st;
	struct mark_shown shown;
	unsigned marked, other;

	start(w);
	marked = uplink(w, "leaf2", "spine1");
	other = uplink(w, "leaf2", "spine2");
	assert_int_equal(ask(w, MARK_DO_ISOLATE, "leaf2", marked).state, MARK_ISOLATED);
	listen_for(w, "it is isolated by an administrator; it is the only way");
	sim_link_down(w->sim, node_of(w, "leaf2"), other);
	run_for(w, 20 * MONO_S);
	assert_true(w->said);
	assert_true(sm_mark_at(w->sm, 0, &shown));
	assert_int_equal(shown.state, MARK_SPARED);
	assert_true(link_is(w, "leaf2", marked, IB_PORT_ACTIVE));
	assert_int_equal(unreachable(w), 0);
	sim_link_up(w->sim, node_of(w, "leaf2"), other);
	run_for(w, 60 * MONO_S);
	assert_true(sm_mark_at(w->sm, 0, &shown));
	assert_int_equal(shown.state, MARK_ISOLATED);
	assert_true(link_is(w, "leaf2", marked, IB_PORT_INIT));
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

/* ---- ports, not devices ---------------------------------------------------------------------- */

static void another_device_behind_a_marked_port_finds_it_marked(void **st)
{
	struct world *w = *st;
	const struct port *p;
	unsigned port;

	start(w);
	p = port_of(w, "h5", 1)->peer;
	port = p->num;
	assert_int_equal(ask(w, MARK_DO_ISOLATE, "h5", 1).end, MARK_DONE);
	sim_unplug(w->sim, node_of(w, "h9"), 1);
	sim_unplug(w->sim, node_of(w, "h5"), 1);
	run_for(w, 30 * MONO_S);
	listen_for(w, "another device is behind this port");
	sim_plug(w->sim, node_of(w, "leaf2"), port, node_of(w, "h9"), 1);
	run_for(w, 60 * MONO_S);
	assert_true(w->said);
	assert_int_equal(state(w, "h9", 1), IB_PORT_INIT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		TEST(draining_any_uplink_loses_no_pair_at_any_moment),
		TEST(either_end_names_the_cable),
		TEST(a_drained_spine_carries_packets_to_itself_alone),
		TEST(a_host_is_not_drained),
		TEST(an_isolated_link_stays_in_init),
		TEST(an_isolated_link_is_left_in_peace_with_qos),
		TEST(a_host_is_isolated_at_its_switch),
		TEST(an_isolated_switch_has_no_link),
		TEST(a_port_disabled_by_others_is_left_alone),
		TEST(the_last_way_is_refused_with_its_cost),
		TEST(it_is_done_by_force),
		TEST(the_managers_own_way_is_refused_by_force_too),
		TEST(two_requests_at_once_do_not_cut_off_what_one_may_not),
		TEST(what_becomes_the_last_way_is_used_again),
		TEST(random_marks_never_cut_off_a_pair),
		TEST(the_plan_counts_the_pairs_that_use_a_cable),
		TEST(another_device_behind_a_marked_port_finds_it_marked),
	};

	if (argc > 1)
		first_seed = strtoull(argv[1], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
