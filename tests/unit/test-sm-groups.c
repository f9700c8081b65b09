// SPDX-License-Identifier: BSD-2-Clause
/*
 * Groups under change: hosts join and leave at random while links fall, switches reboot and the
 * manager is killed. At no moment may a multicast packet loop or come twice; once it is over each
 * group reaches exactly its members, and no MLID is lost.
 *
 * SEED=n, N=count choose; LOUD=1 shows the log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/client.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "sa/sa.h"
#include "sm/sm.h"
#include "sm/sweep/multicast.h"
#include "sync/mft.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"

#define N_GROUPS  6
#define MAX_HOSTS 64
#define N_STEPS	  120

struct world {
	struct rig *rig;
	struct conf *conf;
	bool unproved; /* minhop whatever comes of it: trees then need not fit */
	uint64_t rng;
	unsigned n_hosts, n_nodes;
	struct client *host[MAX_HOSTS];
	/*
	 * What each host believes: joined groups, as bits; cleared when it is asked to register
	 * again.
	 */
	uint32_t joined[MAX_HOSTS];
	lid_t mlid[N_GROUPS];
	char dir[SCRATCH_PATH];
};

static unsigned rnd(struct world *w, unsigned below)
{
	w->rng = w->rng * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(w->rng >> 33) % below;
}

static void quiet(void *arg, unsigned bits, const char *text)
{
}

static struct netfile *fabric_of(struct world *w)
{
	switch (rnd(w, 4)) {
	case 0:
		return gen_tree(2 + rnd(w, 3), 3, 2 + rnd(w, 2), 1 + rnd(w, 2));
	case 1:
		return gen_torus(3, 3, 1, 2);
	case 2:
		return gen_random(6 + rnd(w, 6), 4, 2, w->rng);
	default:
		return gen_ring(4 + rnd(w, 4), 2);
	}
}

static void world_new(struct world *w, unsigned seed)
{
	memset(w, 0, sizeof(*w));
	w->rng = seed * 2654435761u + 1;
}

static void world_start(struct world *w, const struct netfile *net, unsigned seed)
{
	scratch_folder(w->dir);
	w->conf = conf_new();
	w->conf->sa_db_dump = rnd(w, 2);
	if (w->unproved) {
		static const char text[] = "routing_engine minhop\nallow_unsafe_routes TRUE\n";
		struct conf_report r = { 0 };

		assert_int_equal(conf_read_text(w->conf, "test", text, strlen(text), &r), 0);
		conf_report_clear(&r);
	}
	w->rig = rig_new(sim_new(net, seed));
	w->n_nodes = sim_n_nodes(w->rig->sim);
	for (unsigned i = 1;
	     i < w->n_nodes && !sim_node_is_switch(w->rig->sim, (int)i) && w->n_hosts < MAX_HOSTS;
	     i++)
		w->host[w->n_hosts++] = client_new(w->rig->sim, sim_node_id(w->rig->sim, (int)i));
	assert_true(rig_start(w->rig, sim_node_id(w->rig->sim, 0), 1, w->conf, w->dir) >= 0);
	rig_run(w->rig, 5 * MONO_S);
}

static void world_end(struct world *w)
{

	for (unsigned i = 0; i < w->n_hosts; i++)
		client_free(w->host[i]);
	rig_free(w->rig);
	conf_unref(w->conf);
	scratch_remove(w->dir);
}

static void mgid_of(unsigned group, uint8_t ret[16])
{
	static const uint8_t base[16] = { 0xFF, 0x12, 0x40, 0x01, 0xFF, 0xFF };

	memcpy(ret, base, 16);
	ret[15] = group + 1;
}

static void send_change(struct world *w, unsigned host, unsigned group, bool join)
{
	uint8_t mgid[16], record[MCM_BYTES];
	struct question q;

	mgid_of(group, mgid);
	q = client_join(w->host[host], join ? MAD_SET : MAD_SA_DELETE, mgid, MC_FULL, record);
	client_send(w->host[host], &q);
	if (join)
		w->joined[host] |= 1u << group;
	else
		w->joined[host] &= ~(1u << group);
}

/* Answers are of no interest here; Reports are answered. */
static void drain(struct world *w)
{
	struct transport_event ev;

	for (unsigned i = 0; i < w->n_hosts; i++)
		while (client_receive(w->host[i], &ev))
			free(ev.whole);
}

static void break_something(struct world *w)
{
	struct sim *sim = w->rig->sim;
	int node = (int)(1 + rnd(w, w->n_nodes - 1));
	unsigned ports = sim_node_ports(sim, node), port = 1 + rnd(w, MAX(ports, 1u));

	switch (rnd(w, 4)) {
	case 0:
		sim_link_flap(sim, node, port, (1 + rnd(w, 3000)) * MONO_MS);
		break;
	case 1:
		if (sim_node_is_switch(sim, node))
			sim_reboot(sim, node, (100 + rnd(w, 2000)) * MONO_MS);
		break;
	case 2:
		if (sim_node_is_switch(sim, node))
			sim_link_flap(sim, node, port, (1 + rnd(w, 20000)) * MONO_MS);
		break;
	default:
		sim_set_loss(sim, rnd(w, 2) * rnd(w, 10), rnd(w, 2) * rnd(w, 10));
		break;
	}
}

static void restart(struct world *w)
{
	unsigned last = w->rig->n_sms - 1;

	if (w->rig->n_sms == RIG_MAX_SMS)
		return;
	if (rnd(w, 2) && rig_master(w->rig))
		sm_shutdown(rig_master(w->rig));
	rig_kill(w->rig, last);
	assert_true(rig_start(w->rig, sim_node_id(w->rig->sim, 0), 1, w->conf, w->dir) >= 0);
}

static void live(struct world *w)
{
	for (unsigned i = 0; i < N_STEPS; i++) {
		unsigned what = rnd(w, 40);

		if (what == 0)
			restart(w);
		else if (what < 6)
			break_something(w);
		else
			send_change(w, rnd(w, w->n_hosts), rnd(w, N_GROUPS), rnd(w, 3) > 0);
		rig_run(w->rig, sim_now(w->rig->sim) + rnd(w, 400) * MONO_MS);
		drain(w);
	}
}

/* Every host states its memberships once more, as hosts do that were asked to register again. */
static void settle(struct world *w)
{
	sim_set_loss(w->rig->sim, 0, 0);
	rig_run(w->rig, sim_now(w->rig->sim) + 300 * MONO_S);
	drain(w);
	for (unsigned i = 0; i < w->n_hosts; i++) {
		for (unsigned g = 0; g < N_GROUPS; g++) {
			bool join = w->joined[i] >> g & 1;

			send_change(w, i, g, true);
			if (!join)
				send_change(w, i, g, false);
		}
		rig_run(w->rig, sim_now(w->rig->sim) + MONO_S);
		drain(w);
	}
	rig_run(w->rig, sim_now(w->rig->sim) + 60 * MONO_S);
	drain(w);
}

struct copies {
	struct world *w;
	uint64_t hosts;
	unsigned strangers;
};

static void count_copy(void *arg, int node, unsigned port)
{
	struct copies *c = arg;

	for (unsigned i = 0; i < c->w->n_hosts; i++) {
		if (c->w->host[i]->node == node) {
			c->hosts |= 1ull << i;
			return;
		}
	}
	c->strangers++;
}

static lid_t mlid_of(struct world *w, unsigned host, unsigned group)
{
	uint8_t mgid[16], record[MCM_BYTES] = { 0 };
	const struct question q = { .method = MAD_GET,
				    .attr = SA_MC_MEMBER_RECORD,
				    .mask = SA_COMP(MCM_MGID),
				    .data = record,
				    .len = sizeof(record) };
	struct transport_event ev;
	int r;

	mgid_of(group, mgid);
	memcpy(record, mgid, 16);
	r = client_ask(w->host[host], w->rig, &q, &ev);
	assert_true(r == 0 || r == SA_NO_RECORDS);
	return r ? 0 : ib_get(client_record(&ev), MCM_MLID);
}

static void check_group(struct world *w, unsigned group)
{
	uint64_t members = 0;
	lid_t mlid = mlid_of(w, 0, group);

	for (unsigned i = 0; i < w->n_hosts; i++)
		members |= (uint64_t)(w->joined[i] >> group & 1) << i;
	assert_int_equal(mlid != 0, members != 0);
	for (unsigned i = 0; i < w->n_hosts && mlid; i++) {
		struct copies c = { .w = w };

		if (!(members >> i & 1))
			continue;
		sim_mcast_reach(w->rig->sim, mlid, w->host[i]->node, 1, count_copy, &c);
		if (c.hosts != (members & ~(1ull << i)) || c.strangers)
			fail_msg("group %u (0x%04x) from host %u: reaches %llx of %llx, %u others",
				 group, mlid, i, (unsigned long long)c.hosts,
				 (unsigned long long)(members & ~(1ull << i)), c.strangers);
	}
}

static void one_life(unsigned seed)
{
	struct world *w = xcalloc(1, sizeof(*w));
	_cleanup_(netfile_freep) struct netfile *net = NULL;
	unsigned used = 0;

	world_new(w, seed);
	net = fabric_of(w);
	world_start(w, net, seed);
	live(w);
	settle(w);
	assert_non_null(rig_master(w->rig));
	for (unsigned g = 0; g < N_GROUPS; g++) {
		check_group(w, g);
		used += mlid_of(w, 0, g) != 0;
	}
	assert_int_equal(sa_stats(sm_sa(rig_master(w->rig)))->groups, used + 1);
	assert_int_equal(sim_mcast_loops_ever(w->rig->sim), 0);
	assert_int_equal(sim_mcast_twice_ever(w->rig->sim), 0);
	world_end(w);
	free(w);
}

static void groups_are_right_after_any_life(void **state)
{
	unsigned n = getenv("N") ? (unsigned)atoi(getenv("N")) : 12;
	unsigned first = getenv("SEED") ? (unsigned)atoi(getenv("SEED")) : 1;

	if (!getenv("LOUD"))
		log_set_sink(quiet, NULL);
	for (unsigned i = 0; i < n; i++) {
		print_message("SEED=%u\n", first + i);
		one_life(first + i);
	}
	log_set_sink(NULL, NULL);
}

/* ---- trees that grow old ------------------------------------------------------------------- */

static void change_and_wait(struct world *w, unsigned host, bool join)
{
	send_change(w, host, 0, join);
	rig_run(w->rig, sim_now(w->rig->sim) + MONO_S);
	drain(w);
}

static unsigned cables_of_tree(struct world *w)
{
	const struct mcast_tree *t =
		mft_sync_wanted(multicast_tables(rig_master(w->rig)), mlid_of(w, 0, 0));

	return t ? t->n_links : 0;
}

/*
 * On a ring each goes the shortest way to the first ones; then all leave but two neighbours
 * opposite to these.
 */
static void walk_the_ring(struct world *w)
{
	for (unsigned i = 0; i < w->n_hosts; i++)
		change_and_wait(w, i, true);
	for (unsigned i = 0; i < w->n_hosts; i++)
		if (i != 5 && i != 6)
			change_and_wait(w, i, false);
}

/*
 * While members come and go no other is moved; once that is over the short way is taken, and for
 * good.
 */
static void a_tree_that_has_decayed_is_mended_when_it_is_quiet(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_ring(9, 1);
	struct world w;
	uint64_t sets;

	log_set_sink(quiet, NULL);
	world_new(&w, 1);
	w.unproved = true;
	world_start(&w, net, 1);
	assert_int_equal(w.n_hosts, 8);
	rig_run(w.rig, sim_now(w.rig->sim) + 30 * MONO_S);
	walk_the_ring(&w);
	assert_int_equal(cables_of_tree(&w), 8);
	rig_run(w.rig, sim_now(w.rig->sim) + 10 * MONO_S);
	assert_int_equal(cables_of_tree(&w), 1);
	check_group(&w, 0);
	sets = sim_sets(w.rig->sim);
	sm_request_heavy(rig_master(w.rig), NULL);
	rig_run(w.rig, sim_now(w.rig->sim) + 10 * MONO_S);
	assert_int_equal(sim_sets(w.rig->sim), sets);
	assert_int_equal(sim_mcast_loops_ever(w.rig->sim), 0);
	assert_int_equal(sim_mcast_twice_ever(w.rig->sim), 0);
	world_end(&w);
	log_set_sink(NULL, NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_that_has_decayed_is_mended_when_it_is_quiet),
		cmocka_unit_test(groups_are_right_after_any_life),
	};

	return cmocka_run_group_tests_name("sm-groups", tests, NULL, NULL);
}
