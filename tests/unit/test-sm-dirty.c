// SPDX-License-Identifier: BSD-2-Clause
/*
 * Dirty sweeps that no scenario can ask for (tests/scenario/cost-of-changes.scn has what changes
 * cost): a standby that is told of a link, our own link that falls.
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
#include "tests/lib/rig.h"
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
};

static void run_for(struct place *pl, mono_t t)
{
	rig_run(pl->rig, sim_now(pl->rig->sim) + t);
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
	return pl;
}

static void place_free(struct place *pl)
{
	rig_free(pl->rig);
	conf_unref(pl->conf);
	free(pl);
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
