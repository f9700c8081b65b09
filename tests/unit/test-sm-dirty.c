// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a change costs, counted in SMPs: links and hosts that come and go, a manager that starts
 * again, a standby that takes over.
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
#include "ib/notices.h"
#include "lib/rig.h"
#include "sim/gen/gen.h"
#include "sm/answers/standby.h"
#include "sm/read/incremental.h"
#include "sm/sm.h"
#include "util/log.h"
#include "util/mem.h"

/*
 * A tree of three levels of K-port switches: with 8, 128 hosts on 80 switches. K=24 in the
 * environment: 3,456.
 */
static unsigned k = 8;

struct place {
	struct rig *rig;
	struct conf *conf;
	uint64_t n_gets, n_sets, lft_gets, lft_sets, port_sets, pkey_gets, pkey_sets;
};

static void run_for(struct place *pl, mono_t t)
{
	rig_run(pl->rig, sim_now(pl->rig->sim) + t);
}

static void mark(struct place *pl)
{
	struct sim *sim = pl->rig->sim;

	pl->n_gets = sim_gets(sim);
	pl->n_sets = sim_sets(sim);
	pl->lft_gets = sim_count(sim, IB_ATTR_LFT, MAD_GET);
	pl->lft_sets = sim_count(sim, IB_ATTR_LFT, MAD_SET);
	pl->port_sets = sim_count(sim, IB_ATTR_PORT_INFO, MAD_SET);
	pl->pkey_gets = sim_count(sim, IB_ATTR_PKEY_TABLE, MAD_GET);
	pl->pkey_sets = sim_count(sim, IB_ATTR_PKEY_TABLE, MAD_SET);
}

static unsigned since(const struct place *pl, uint64_t before, uint16_t attr, uint8_t method)
{
	return (unsigned)(sim_count(pl->rig->sim, attr, method) - before);
}

static void assert_good(struct place *pl)
{
	struct sim_verdict v;

	sim_check_all(pl->rig->sim, &v);
	if (!sim_verdict_good(&v))
		fail_msg("%s", v.first);
}

static void tell(const struct place *pl, const char *event)
{
	struct sim *sim = pl->rig->sim;

	print_message("%s: %u Gets (%u LFT, %u P_Key), %u Sets (%u LFT, %u PortInfo, %u P_Key)\n",
		      event, (unsigned)(sim_gets(sim) - pl->n_gets),
		      since(pl, pl->lft_gets, IB_ATTR_LFT, MAD_GET),
		      since(pl, pl->pkey_gets, IB_ATTR_PKEY_TABLE, MAD_GET),
		      (unsigned)(sim_sets(sim) - pl->n_sets),
		      since(pl, pl->lft_sets, IB_ATTR_LFT, MAD_SET),
		      since(pl, pl->port_sets, IB_ATTR_PORT_INFO, MAD_SET),
		      since(pl, pl->pkey_sets, IB_ATTR_PKEY_TABLE, MAD_SET));
}

static unsigned smps(const struct place *pl)
{
	return (unsigned)(sim_gets(pl->rig->sim) - pl->n_gets + sim_sets(pl->rig->sim) -
			  pl->n_sets);
}

static struct sm *manager(struct place *pl, const char *node)
{
	return pl->rig->sms[rig_find(pl->rig, node)].sm;
}

/* Up, and light sweeps have proved what was written. */
static struct place *place_new(void)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree3(k);
	struct place *pl = xcalloc(1, sizeof(*pl));

	pl->conf = conf_new();
	pl->conf->sminfo_polling_timeout = 1000;
	pl->conf->polling_retry_number = 2;
	pl->rig = rig_new(sim_new(net, 7));
	assert_int_equal(rig_start(pl->rig, "h0", 0, pl->conf, NULL), 0);
	run_for(pl, 35 * MONO_S);
	assert_good(pl);
	mark(pl);
	return pl;
}

static void place_free(struct place *pl)
{
	rig_free(pl->rig);
	conf_unref(pl->conf);
	free(pl);
}

/* ---- links and hosts ------------------------------------------------------------------------- */

/*
 * A switch is read with k + 4 questions at most: SwitchInfo, its clearing, a block, all its ports.
 */
static void a_link_between_switches(void **state)
{
	struct place *pl = place_new();
	int leaf = sim_find(pl->rig->sim, "leaf1");
	unsigned heavy = sm_stats(manager(pl, "h0"))->heavy_sweeps;

	sim_link_down(pl->rig->sim, leaf, k / 2 + 1);
	run_for(pl, 1 * MONO_S);
	assert_good(pl);
	tell(pl, "link down");
	assert_in_range(smps(pl), 2, 2 * (k + 4) + 300);
	assert_in_range(since(pl, pl->lft_sets, IB_ATTR_LFT, MAD_SET), 1, 250);
	run_for(pl, 12 * MONO_S);
	mark(pl);
	sim_link_up(pl->rig->sim, leaf, k / 2 + 1);
	run_for(pl, 1 * MONO_S);
	assert_good(pl);
	tell(pl, "link up");
	assert_in_range(smps(pl), 2, 2 * (k + 4) + 300);
	assert_int_equal(sm_stats(manager(pl, "h0"))->heavy_sweeps, heavy);
	place_free(pl);
}

static void a_host_leaves_and_returns(void **state)
{
	struct place *pl = place_new();
	int host = sim_find(pl->rig->sim, "h5");
	unsigned heavy = sm_stats(manager(pl, "h0"))->heavy_sweeps;

	sim_link_down(pl->rig->sim, host, 1);
	run_for(pl, 1 * MONO_S);
	assert_good(pl);
	tell(pl, "host gone");
	assert_in_range(smps(pl), 2, k + 12);
	run_for(pl, 12 * MONO_S);
	mark(pl);
	sim_link_up(pl->rig->sim, host, 1);
	run_for(pl, 1 * MONO_S);
	assert_good(pl);
	tell(pl, "host back");
	assert_in_range(smps(pl), 2, k + 30);
	assert_int_equal(since(pl, pl->lft_sets, IB_ATTR_LFT, MAD_SET), 0);
	assert_int_equal(sm_stats(manager(pl, "h0"))->heavy_sweeps, heavy);
	place_free(pl);
}

static void nothing_is_left_to_a_heavy_sweep(void **state)
{
	struct place *pl = place_new();
	struct sim *sim = pl->rig->sim;

	sim_link_down(sim, sim_find(sim, "leaf1"), k / 2 + 1);
	sim_link_flap(sim, sim_find(sim, "h9"), 1, 300 * MONO_MS);
	run_for(pl, 100 * MONO_MS);
	sim_reboot(sim, sim_find(sim, "agg2"), 200 * MONO_MS);
	run_for(pl, 3 * MONO_S);
	assert_good(pl);
	mark(pl);
	sm_request_heavy(manager(pl, "h0"), NULL);
	run_for(pl, 2 * MONO_S);
	assert_int_equal(sim_sets(sim), pl->n_sets);
	place_free(pl);
}

/* ---- managers ------------------------------------------------------------------------------- */

static void a_restart_writes_nothing(void **state)
{
	struct place *pl = place_new();

	pl->conf->no_clients_rereg = true;
	rig_kill(pl->rig, 0);
	assert_int_equal(rig_start(pl->rig, "h0", 0, pl->conf, NULL), 1);
	run_for(pl, 30 * MONO_S);
	assert_good(pl);
	tell(pl, "restart");
	assert_int_equal(sim_sets(pl->rig->sim), pl->n_sets);
	place_free(pl);
}

/* Ports learn their SM, once each; nothing else is written, and no table is read. */
static void a_standby_takes_over(void **state)
{
	struct place *pl = place_new();
	unsigned ends = 0, i;

	rig_start(pl->rig, "h20", 0, pl->conf, NULL);
	run_for(pl, 5 * MONO_S);
	assert_int_equal(sm_state(manager(pl, "h20")), SM_STANDBY);
	run_for(pl, 130 * MONO_S);
	mark(pl);
	rig_kill(pl->rig, 0);
	for (i = 0; i < 1000 && !sm_stats(manager(pl, "h20"))->up; i++)
		run_for(pl, 10 * MONO_MS);
	tell(pl, "takeover");
	FABRIC_EACH_NODE(sm_fabric(manager(pl, "h20")), n)
		ends += node_is_switch(n) || n->ports[1].known;
	assert_int_equal(since(pl, pl->lft_gets, IB_ATTR_LFT, MAD_GET), 0);
	assert_int_equal(since(pl, pl->lft_sets, IB_ATTR_LFT, MAD_SET), 0);
	/* its own: replica.c asks with which P_Key it may speak to the master */
	assert_in_range(since(pl, pl->pkey_gets, IB_ATTR_PKEY_TABLE, MAD_GET), 0, 1);
	assert_int_equal(since(pl, pl->pkey_sets, IB_ATTR_PKEY_TABLE, MAD_SET), 0);
	assert_int_equal(since(pl, pl->port_sets, IB_ATTR_PORT_INFO, MAD_SET), ends);
	assert_good(pl);
	mark(pl);
	run_for(pl, 15 * MONO_S);
	tell(pl, "the proof");
	assert_true(since(pl, pl->lft_gets, IB_ATTR_LFT, MAD_GET) > 0);
	assert_int_equal(sim_sets(pl->rig->sim), pl->n_sets);
	place_free(pl);
}

/*
 * What the master changed and told is known; what it changed without telling is found afterwards.
 */
static void a_stale_picture_is_made_good(void **state)
{
	struct place *pl = place_new();
	struct sim *sim = pl->rig->sim;

	rig_start(pl->rig, "h20", 0, pl->conf, NULL);
	run_for(pl, 130 * MONO_S);
	sim_link_down(sim, sim_find(sim, "leaf1"), k / 2 + 1);
	run_for(pl, 500 * MONO_MS);
	rig_kill(pl->rig, 0);
	sim_link_down(sim, sim_find(sim, "leaf3"), k / 2 + 2);
	run_for(pl, 30 * MONO_S);
	assert_int_equal(sm_state(manager(pl, "h20")), SM_MASTER);
	assert_good(pl);
	mark(pl);
	sm_request_heavy(manager(pl, "h20"), NULL);
	run_for(pl, 2 * MONO_S);
	assert_int_equal(sim_sets(sim), pl->n_sets);
	place_free(pl);
}

/*
 * After a quiet time a standby that is told of a link reads that switch, and not the whole fabric.
 */
static void a_standby_reads_what_it_is_told_of(void **state)
{
	struct place *pl = place_new();
	uint8_t notice[SMP_DATA_SIZE + 16] = { 0 };
	struct sm *standby;
	unsigned before;

	rig_start(pl->rig, "h20", 0, pl->conf, NULL);
	run_for(pl, 60 * MONO_S);
	standby = manager(pl, "h20");
	assert_int_equal(sm_state(standby), SM_STANDBY);
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TRAP, TRAP_LINK_STATE);
	ib_put(notice, N128_LID, sm_fabric(standby)->nodes[1]->ports[0].lid); /* its switch */
	before = since(pl, 0, IB_ATTR_NODE_INFO, MAD_GET);
	standby_notice(standby, notice);
	run_for(pl, 5 * MONO_S);
	assert_in_range(since(pl, before, IB_ATTR_NODE_INFO, MAD_GET), 0, k);
	place_free(pl);
}

/*
 * Our own link falls, and a dirty sweep is the first that sees it: there is nothing to be master
 * of.
 */
static void our_own_link_falls(void **state)
{
	struct place *pl = place_new();
	struct sim *sim = pl->rig->sim;
	struct sm *sm = manager(pl, "h0");

	sim_link_down(sim, sim_find(sim, "h0"), 1);
	incremental_port(sm, sm_fabric(sm)->own_port, "test");
	run_for(pl, 1 * MONO_S);
	assert_int_equal(sm_state(sm), SM_DISCOVERING);
	assert_false(sm_stats(sm)->up);
	sim_link_up(sim, sim_find(sim, "h0"), 1);
	run_for(pl, 15 * MONO_S);
	assert_good(pl);
	place_free(pl);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_between_switches),
		cmocka_unit_test(a_host_leaves_and_returns),
		cmocka_unit_test(nothing_is_left_to_a_heavy_sweep),
		cmocka_unit_test(a_restart_writes_nothing),
		cmocka_unit_test(a_standby_takes_over),
		cmocka_unit_test(a_stale_picture_is_made_good),
		cmocka_unit_test(a_standby_reads_what_it_is_told_of),
		cmocka_unit_test(our_own_link_falls),
	};
	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	if (getenv("K"))
		k = atoi(getenv("K"));
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	log_open(getenv("LOUD") ? &loud : &quiet);
	return cmocka_run_group_tests_name("sm-dirty", tests, NULL, NULL);
}
