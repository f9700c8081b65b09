// SPDX-License-Identifier: BSD-2-Clause
/*
 * A minute after the last change of many, the most loaded channel carries what it would after a
 * fresh start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ib/attrs.h"
#include "tests/lib/rig.h"
#include "tests/lib/tables.h"
#include "sim/gen/gen.h"
#include "route/proof/check.h"
#include "sm/sm.h"
#include "sm/routing/quiet.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/random.h"

struct place {
	struct rig *rig;
	struct conf *conf;
	uint64_t dice;
	unsigned sm; /* the manager */
};

static void run_for(struct place *pl, mono_t t)
{
	rig_run(pl->rig, sim_now(pl->rig->sim) + t);
}

static struct place *place_routed_by(const char *engines, const char *const *words, unsigned n)
{
	char err[200];
	_cleanup_(netfile_freep) struct netfile *net = gen_words(n, words, err, sizeof(err));
	struct place *pl = xcalloc(1, sizeof(*pl));

	assert_non_null(net);
	log_set_flags(LOGB_ERROR);
	pl->conf = conf_new();
	if (engines) {
		free(pl->conf->routing_engine);
		pl->conf->routing_engine = xstrdup(engines);
	}
	pl->dice = 1;
	pl->rig = rig_new(sim_new(net, 7));
	assert_int_equal(rig_start(pl->rig, "h0", 0, pl->conf, NULL), 0);
	run_for(pl, 30 * MONO_S);
	return pl;
}

static struct place *place_new(const char *const *words, unsigned n)
{
	return place_routed_by(NULL, words, n);
}

static void place_free(struct place *pl)
{
	rig_free(pl->rig);
	conf_unref(pl->conf);
	free(pl);
}

static uint32_t load(const struct place *pl)
{
	return sm_routes(pl->rig->sms[pl->sm].sm)->judged->max_load;
}

static mono_t due(const struct place *pl)
{
	return sm_comparison_due(pl->rig->sms[pl->sm].sm);
}

static unsigned lft_sets(const struct place *pl)
{
	return (unsigned)sim_count(pl->rig->sim, IB_ATTR_LFT, MAD_SET);
}

static void assert_good(struct place *pl)
{
	struct sim_verdict v;

	sim_check_all(pl->rig->sim, &v);
	if (!sim_verdict_good(&v))
		fail_msg("%s", v.first);
	assert_int_equal(v.loops_ever, 0);
}

/* A cable between two switches, drawn. */
static void draw(struct place *pl, int *ret_node, unsigned *ret_port)
{
	struct sim *sim = pl->rig->sim;
	unsigned peer_port;
	int peer;

	do {
		*ret_node = (int)(random_next(&pl->dice) % sim_n_nodes(sim));
		*ret_port = 1 + (unsigned)(random_next(&pl->dice) % sim_node_ports(sim, *ret_node));
	} while (!sim_node_is_switch(sim, *ret_node) ||
		 !sim_peer(sim, *ret_node, *ret_port, &peer, &peer_port) ||
		 !sim_node_is_switch(sim, peer));
}

static void cables_go_and_come_back(struct place *pl, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		int node[2];
		unsigned port[2];

		for (unsigned k = 0; k < 2; k++) {
			draw(pl, &node[k], &port[k]);
			sim_link_down(pl->rig->sim, node[k], port[k]);
			run_for(pl, 5 * MONO_S);
		}
		for (unsigned k = 0; k < 2; k++) {
			sim_link_up(pl->rig->sim, node[k], port[k]);
			run_for(pl, 5 * MONO_S);
		}
	}
}

static void a_quiet_minute_makes_good_what_changes_left(void **state)
{
	static const char *const fabrics[][4] = { { "fat-tree3", "8" },
						  { "fat-tree2", "12" },
						  { "dragonfly", "5", "4", "2" } };
	unsigned moved = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(fabrics); i++) {
		unsigned n = 0, before;
		struct place *pl;
		uint32_t fresh;

		while (n < 4 && fabrics[i][n])
			n++;
		pl = place_new(fabrics[i], n);
		fresh = load(pl);
		cables_go_and_come_back(pl, 6);
		print_message("# %s: fresh %u, after the changes %u\n", fabrics[i][0], fresh,
			      load(pl));
		before = lft_sets(pl);
		assert_int_not_equal(due(pl), MONO_NEVER);
		assert_true(due(pl) <= sim_now(pl->rig->sim) + 60 * MONO_S);
		run_for(pl, 70 * MONO_S);
		moved += lft_sets(pl) - before;
		print_message("# after a minute %u, %u blocks\n", load(pl), lft_sets(pl) - before);
		assert_true(load(pl) <= fresh + fresh / 50);
		assert_good(pl);
		before = lft_sets(pl);
		run_for(pl, 300 * MONO_S);
		assert_int_equal(lft_sets(pl), before);
		assert_int_equal(due(pl), MONO_NEVER);
		place_free(pl);
	}
	assert_true(moved > 0);
}

/* A port that no sweep brings up is no reason to leave the others out of balance. */
static void a_stuck_port_does_not_prevent_it(void **state)
{
	struct place *pl = place_new((const char *const[]){ "fat-tree3", "8" }, 2);
	struct sim *sim = pl->rig->sim;
	uint32_t fresh = load(pl);

	sim_set_refuse(sim, sim_find(sim, "h10"), IB_ATTR_PORT_INFO, 0x1c);
	sim_reboot(sim, sim_find(sim, "h10"), MONO_S);
	for (unsigned i = 0; i < 5; i++) {
		run_for(pl, 10 * MONO_S);
		sm_request_heavy(pl->rig->sms[pl->sm].sm, NULL);
	}
	run_for(pl, 10 * MONO_S);
	assert_true(sm_stats(pl->rig->sms[pl->sm].sm)->ports_stuck > 0);
	assert_false(sm_stats(pl->rig->sms[pl->sm].sm)->up);
	cables_go_and_come_back(pl, 6);
	assert_true(load(pl) > fresh + fresh / 50);
	run_for(pl, 70 * MONO_S);
	assert_true(load(pl) <= fresh + fresh / 50);
	place_free(pl);
}

/*
 * No engine routes what is left of the fabric: the tables in force are of switches that are not
 * there any more.
 */
static void a_switch_that_went_without_new_tables_is_no_reason_to_crash(void **state)
{
	struct place *pl = place_routed_by("hyperx,no_fallback",
					   (const char *const[]){ "hypercube", "4", "1" }, 3);
	struct sim *sim = pl->rig->sim;
	int host = sim_find(sim, "h0"), own, node = 0;
	unsigned port;

	assert_true(sim_peer(sim, host, 1, &own, &port));
	while (!sim_node_is_switch(sim, node) || node == own)
		node++;
	sim_link_down(sim, sim_find(sim, "h7"), 1);
	run_for(pl, 5 * MONO_S);
	sim_link_up(sim, sim_find(sim, "h7"), 1);
	run_for(pl, 5 * MONO_S);
	for (int i = node, n = 0; i < (int)sim_n_nodes(sim) && n < 5; i++) {
		if (!sim_node_is_switch(sim, i) || i == own)
			continue;
		sim_power(sim, i, false);
		n++;
	}
	run_for(pl, 200 * MONO_S);
	assert_true(sm_stats(pl->rig->sms[pl->sm].sm)->no_routes > 0);
	place_free(pl);
}

/* The comparison takes ten seconds here, and a cable does not wait for it. */
static void a_change_does_not_wait_for_it(void **state)
{
	struct place *pl = place_new((const char *const[]){ "fat-tree3", "8" }, 2);
	int node = sim_find(pl->rig->sim, "leaf3");
	uint32_t fresh = load(pl);

	cables_go_and_come_back(pl, 6);
	run_for(pl, 50 * MONO_S);
	pl->rig->job_time = 8 * MONO_S;
	run_for(pl, 7 * MONO_S); /* it is out */
	sim_link_down(pl->rig->sim, node, 5);
	run_for(pl, 20 * MONO_S);
	assert_good(pl);
	pl->rig->job_time = 0;
	sim_link_up(pl->rig->sim, node, 5);
	run_for(pl, 75 * MONO_S);
	assert_true(load(pl) <= fresh + fresh / 50);
	assert_good(pl);
	place_free(pl);
}

/* Entries that lead to the switch. */
static unsigned lead_to(const struct place *pl, int node)
{
	const struct routes *r = sm_routes(pl->rig->sms[pl->sm].sm);

	return tables_lead_to(r, topo_find_switch(r->topo, sim_node_guid(pl->rig->sim, node)));
}

/* `n` cables of as many leaves to the last spine, one after another, and none often. */
static void one_by_one(struct place *pl, unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++) {
		char name[16];
		int leaf;

		snprintf(name, sizeof(name), "leaf%u", i);
		leaf = sim_find(pl->rig->sim, name);
		sim_link_down(pl->rig->sim, leaf, 24);
		run_for(pl, 20 * MONO_S);
		sim_link_up(pl->rig->sim, leaf, 24);
		run_for(pl, 20 * MONO_S);
	}
}

/* A switch came back 20 s ago, another minute began 40 s ago. Ret: entries over it before. */
static unsigned let_spine_come_back(struct place *pl, int spine)
{
	unsigned before, after;

	for (unsigned port = 13; port <= 18; port++)
		sim_link_down(pl->rig->sim, sim_find(pl->rig->sim, "leaf1"), port);
	run_for(pl, 100 * MONO_S);
	before = lead_to(pl, spine);
	sim_power(pl->rig->sim, spine, false);
	run_for(pl, 20 * MONO_S);
	sim_power(pl->rig->sim, spine, true);
	run_for(pl, 20 * MONO_S);
	after = lead_to(pl, spine);
	print_message("# entries over it %u, back %u\n", before, after);
	assert_true(before && after < before / 2);
	return before;
}

/* One cable after another goes and comes back, all 40 s, and none so often that it is held down. */
static void changes_without_end_do_not_put_it_off(void **state)
{
	struct place *pl = place_new((const char *const[]){ "fat-tree2", "24" }, 2);
	int spine = sim_find(pl->rig->sim, "spine3");
	unsigned before = let_spine_come_back(pl, spine);

	one_by_one(pl, 2, 2);
	assert_true(lead_to(pl, spine) < before / 2);
	one_by_one(pl, 4, 7);
	assert_true(lead_to(pl, spine) > before / 2);
	assert_good(pl);
	place_free(pl);
}

/* When it is late, changes come so fast that there is not a second between two of them. */
static void changes_without_a_second_between_do_not_put_it_off(void **state)
{
	struct place *pl = place_new((const char *const[]){ "fat-tree2", "24" }, 2);
	int spine = sim_find(pl->rig->sim, "spine3");
	unsigned before = let_spine_come_back(pl, spine), n = 0;

	one_by_one(pl, 2, 6);
	for (; n < 120 && lead_to(pl, spine) < before / 2; n++) {
		char name[16];

		snprintf(name, sizeof(name), "leaf%u", 8 + n / 2 % 16);
		(n % 2 ? sim_link_up : sim_link_down)(pl->rig->sim, sim_find(pl->rig->sim, name),
						      17 + n / 32);
		run_for(pl, MONO_S / 2);
	}
	print_message("# after %u more changes %u\n", n, lead_to(pl, spine));
	assert_true(n > 10);
	assert_true(lead_to(pl, spine) > before / 2);
	assert_good(pl);
	place_free(pl);
}

/* The manager ends before the minute is over; what it left is found by the next one. */
static void a_new_manager_owes_it_too(void **state)
{
	struct place *pl = place_new((const char *const[]){ "fat-tree2", "24" }, 2);
	int spine = sim_find(pl->rig->sim, "spine3");
	unsigned before = let_spine_come_back(pl, spine), sets;

	rig_kill(pl->rig, 0);
	sets = lft_sets(pl);
	pl->sm = (unsigned)rig_start(pl->rig, "h0", 0, pl->conf, NULL);
	run_for(pl, 50 * MONO_S);
	assert_int_equal(lft_sets(pl), sets);
	run_for(pl, 40 * MONO_S);
	print_message("# over it in the end: %u Sets\n", lft_sets(pl) - sets);
	assert_true(lead_to(pl, spine) > before / 2);
	assert_good(pl);
	sets = lft_sets(pl);
	run_for(pl, 300 * MONO_S);
	assert_int_equal(lft_sets(pl), sets);
	place_free(pl);
}

/* They are of the configuration before, and must not pass for what SIGHUP asks for. */
static void a_reload_is_not_taken_for_served(void **state)
{
	struct place *pl = place_new((const char *const[]){ "fat-tree3", "8" }, 2);
	_cleanup_(conf_unrefp) struct conf *conf = conf_copy(pl->conf);
	struct sm *sm = pl->rig->sms[pl->sm].sm;
	unsigned before;

	cables_go_and_come_back(pl, 6);
	run_for(pl, 50 * MONO_S);
	pl->rig->job_time = 8 * MONO_S;
	run_for(pl, 7 * MONO_S); /* it is out */
	sm_set_sweeping(sm, false);
	run_for(pl, 10 * MONO_S);
	assert_true(quiet_has_better(sm));
	pl->rig->job_time = 0;
	before = lft_sets(pl);
	conf->scatter_ports = 7;
	sm_dispatch(sm, sim_now(pl->rig->sim)); /* it is given the time */
	sm_reload(sm, conf, sm_files(sm));
	sm_set_sweeping(sm, true);
	run_for(pl, 5 * MONO_S);
	assert_true(lft_sets(pl) > before);
	before = lft_sets(pl);
	sm_request_reroute(sm);
	run_for(pl, 5 * MONO_S);
	assert_int_equal(lft_sets(pl), before);
	assert_good(pl);
	place_free(pl);
}

/* A switch without hosts. */
static int find_spine(const struct sim *sim)
{
	for (int node = 0; node < (int)sim_n_nodes(sim); node++) {
		unsigned peer_port;
		int peer = -1;
		bool has_hosts = false;

		for (unsigned p = 1; p <= sim_node_ports(sim, node); p++)
			if (sim_peer(sim, node, p, &peer, &peer_port))
				has_hosts |= !sim_node_is_switch(sim, peer);
		if (sim_node_is_switch(sim, node) && !has_hosts)
			return node;
	}
	fail_msg("no spine");
	return -1;
}

/* Routes after a spine went, came back (as another switch) and a minute passed. */
static struct routes *routes_after_a_spine_was_away(bool is_other)
{
	static const char *const words[] = { "fat-tree3", "8" };
	struct place *pl = place_routed_by("minhop", words, ARRAY_SIZE(words));
	struct sim *sim = pl->rig->sim;
	int spine = find_spine(sim);
	struct routes *ret;

	sim_power(sim, spine, false);
	run_for(pl, 10 * MONO_S);
	if (is_other)
		sim_set_guid(sim, spine, UINT64_C(0xfff0000000000001));
	sim_power(sim, spine, true);
	run_for(pl, 80 * MONO_S);
	assert_good(pl);
	ret = routes_ref(sm_routes(pl->rig->sms[pl->sm].sm));
	place_free(pl);
	return ret;
}

static void another_switch_in_the_place_of_one_gets_the_routes_of_that_one(void **state)
{
	struct routes *a = routes_after_a_spine_was_away(false),
		      *b = routes_after_a_spine_was_away(true);
	const struct topo *t = a->topo;

	assert_int_equal(t->n_switches, b->topo->n_switches);
	assert_true(b->topo->is_reordered);
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (uint32_t h = 0; h < t->n_hosts; h++)
			assert_int_equal(routes_port(a, s, t->hosts[h].lid),
					 routes_port(b, s, t->hosts[h].lid));
	routes_unref(a);
	routes_unref(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quiet_minute_makes_good_what_changes_left),
		cmocka_unit_test(a_stuck_port_does_not_prevent_it),
		cmocka_unit_test(a_switch_that_went_without_new_tables_is_no_reason_to_crash),
		cmocka_unit_test(a_change_does_not_wait_for_it),
		cmocka_unit_test(changes_without_end_do_not_put_it_off),
		cmocka_unit_test(changes_without_a_second_between_do_not_put_it_off),
		cmocka_unit_test(a_new_manager_owes_it_too),
		cmocka_unit_test(a_reload_is_not_taken_for_served),
		cmocka_unit_test(another_switch_in_the_place_of_one_gets_the_routes_of_that_one),
	};

	return cmocka_run_group_tests_name("sm-quiet", tests, NULL, NULL);
}
