// SPDX-License-Identifier: BSD-2-Clause
/*
 * The core where scenarios do not reach: jobs that hang, keys of ports, clones of a switch, traps
 * whose questions are not answered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/rig.h"
#include "sim/netfile/netfile.h"
#include "sim/gen/gen.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"

static void run_for(struct rig *rig, mono_t t)
{
	rig_run(rig, sim_now(rig->sim) + t);
}

static struct netfile *parse(const char *text)
{
	char err[256] = "";
	struct netfile *net = netfile_parse(text, strlen(text), err, sizeof(err));

	if (!net)
		print_message("%s\n", err);
	return net;
}

static void assert_good(struct rig *rig)
{
	struct sim_verdict v;

	sim_check_all(rig->sim, &v);
	v.loops_ever = 0;
	if (!sim_verdict_good(&v))
		fail_msg("%s", v.first);
}

/* The second port of an adapter has no key yet: the first one's key is not forgotten for it. */
static void keys_belong_to_ports(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = parse(
		"Switch 4 \"S1\"\n[1] \"h0\"[1]\n[2] \"h1\"[1]\n[3] \"h1\"[2]\n\n"
		"Ca 1 \"h0\"\n[1] \"S1\"[1]\n\nCa 2 \"h1\"\n[1] \"S1\"[2]\n[2] \"S1\"[3]\n\n");
	struct conf *conf = conf_new();
	struct rig *rig = rig_new(sim_new(net, 1));

	conf->m_key = 0x1234;
	conf->m_key_protection_level = 2;
	sim_set_m_key(rig->sim, sim_find(rig->sim, "h0"), 1, 0x1234, 2, 0);
	sim_set_m_key(rig->sim, sim_find(rig->sim, "h1"), 1, 0x1234, 2, 0);
	sim_set_m_key(rig->sim, sim_find(rig->sim, "h1"), 2, 0x1234, 2, 0);
	sim_set_m_key(rig->sim, sim_find(rig->sim, "S1"), 0, 0x1234, 2, 0);
	sim_link_down(rig->sim, sim_find(rig->sim, "h1"), 2);
	assert_int_equal(rig_start(rig, "h0", 0, conf, NULL), 0);
	run_for(rig, 10 * MONO_S);
	assert_good(rig);
	sim_set_m_key(rig->sim, sim_find(rig->sim, "h1"), 2, 0, 0, 0);
	sim_link_up(rig->sim, sim_find(rig->sim, "h1"), 2);
	run_for(rig, 100 * MONO_S);
	assert_good(rig);
	rig_free(rig);
	conf_unref(conf);
}

/* A second switch with the GUID of another: no cable to a port of the first that is down. */
static void no_phantom_cables(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = parse(
		"Switch 8 \"S1\"\n[1] \"h0\"[1]\n[2] \"S2\"[2]\n[3] \"D\"[8]\n\n"
		"sysimgguid=0x99\nSwitch 8 \"S2\"\n[1] \"h1\"[1]\n[2] \"S1\"[2]\n[3] \"S3\"[3]\n\n"
		"Switch 8 \"S3\"\n[1] \"h2\"[1]\n[2] \"h3\"[1]\n[3] \"S2\"[3]\n[4] \"D\"[7]\n[5] "
		"\"h4\"[1]\n[6] \"h5\"[1]\n\n"
		"sysimgguid=0x99\nSwitch 8 \"D\"\n[8] \"S1\"[3]\n[7] \"S3\"[4]\n\n"
		"Ca 1 \"h0\"\n[1] \"S1\"[1]\n\nCa 1 \"h1\"\n[1] \"S2\"[1]\n\nCa 1 \"h2\"\n[1] "
		"\"S3\"[1]\n\nCa 1 \"h3\"\n[1] \"S3\"[2]\n\n"
		"Ca 1 \"h4\"\n[1] \"S3\"[5]\n\nCa 1 \"h5\"\n[1] \"S3\"[6]\n\n");
	struct conf *conf = conf_new();
	struct rig *rig = rig_new(sim_new(net, 1));

	sim_set_guid(rig->sim, sim_find(rig->sim, "D"),
		     sim_node_guid(rig->sim, sim_find(rig->sim, "S2")));
	sim_ignore(rig->sim, sim_find(rig->sim, "D"), true);
	assert_int_equal(rig_start(rig, "h0", 0, conf, NULL), 0);
	run_for(rig, 100 * MONO_S);
	assert_good(rig);
	rig_free(rig);
	conf_unref(conf);
}

/* A job that takes long (a disk that hangs): the loop sleeps meanwhile. */
struct held {
	struct sm_job *jobs[64];
	unsigned n, ups;
	bool hold;
};

static void hold_job(void *arg, struct sm_job *job)
{
	struct held *h = arg;

	h->jobs[h->n++] = job;
}

static void held_up(void *arg, const struct sm *sm)
{
	((struct held *)arg)->ups++;
}

static void run_held(struct held *h)
{
	for (unsigned i = 0; i < h->n; i++) {
		h->jobs[i]->run(h->jobs[i]);
		h->jobs[i]->done(h->jobs[i]);
	}
	h->n = 0;
}

static void step(struct sim *sim, struct sm *sm)
{
	sim_advance(sim, mono_min(sim_now(sim) + MONO_S, mono_min(sim_next(sim), sm_next(sm))));
	sm_dispatch(sm, sim_now(sim));
}

static void waiting_for_a_job_is_no_spin(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 2, 2, 1);
	struct sim *sim = sim_new(net, 1);
	struct transport *tr = sim_attach(sim, "h0", 0);
	char dir[SCRATCH_PATH];
	struct held h = { 0 };
	const struct sm_hooks hooks = { .submit_job = hold_job, .subnet_up = held_up, .arg = &h };
	struct conf *conf = conf_new();
	const struct sm_paths paths = { .cache_dir = scratch_folder(dir) };
	struct sm *sm = sm_new(conf, tr, &paths, &hooks);

	while (!h.ups) {
		run_held(&h);
		step(sim, sm);
	}
	run_held(&h);
	sim_unplug(sim, sim_find(sim, "h3"), 1);
	for (unsigned i = 0; i < 10000 && !h.n; i++)
		step(sim, sm);
	assert_true(h.n > 0); /* routes without it */
	sm_dispatch(sm, sim_now(sim));
	assert_true(sm_next(sm) > sim_now(sim));
	run_held(&h);
	sm_free(sm);
	transport_close(tr);
	sim_free(sim);
	conf_unref(conf);
	scratch_remove(dir);
}

/* Sweeps that have read and written a change, or everything. */
static unsigned sweeps(struct rig *rig)
{
	const struct sm_stats *st = sm_stats(rig_master(rig));

	return (unsigned)(st->heavy_sweeps + st->dirty_sweeps);
}

/* One host sends trap 144 "description changed" and tells it slowly: sweeps go on, memory stays. */
static void trap_144_without_answers(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(3, 3, 2, 1);
	struct rig *rig = rig_new(sim_new(net, 1));
	struct conf *conf = conf_new();
	int h5 = sim_find(rig->sim, "h5"), leaf = sim_find(rig->sim, "leaf1");
	unsigned before;

	conf->port_state_poll_interval = 0; /* its answers would show how slow the agents are */
	assert_int_equal(rig_start(rig, "h0", 0, conf, NULL), 0);
	run_for(rig, 15 * MONO_S);
	assert_good(rig);
	sim_set_sma_time(rig->sim, 100 * MONO_MS);
	before = sweeps(rig);
	for (unsigned i = 0; i < 3000; i++) {
		uint8_t notice[SMP_DATA_SIZE] = { 0x84, 0, 0, 1, 0, 144 };
		uint8_t pi[SMP_DATA_SIZE];

		sim_read(rig->sim, h5, IB_ATTR_PORT_INFO, 1, pi);
		notice[10 + 1] = i; /* differs */
		memcpy(notice + 16, pi + PI_CAP_MASK / 8, 4);
		notice[21] = 1;
		sim_send_trap(rig->sim, h5, 1, notice);
		if (i == 5)
			sim_link_down(rig->sim, leaf, 4);
		run_for(rig, 20 * MONO_MS);
	}
	print_message("sweeps %u pending %u\n", sweeps(rig) - before,
		      mad_pending(sm_mad(rig_master(rig))));
	assert_true(sweeps(rig) > before);
	assert_true(mad_pending(sm_mad(rig_master(rig))) < 50);
	rig_free(rig);
	conf_unref(conf);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_belong_to_ports),
		cmocka_unit_test(no_phantom_cables),
		cmocka_unit_test(waiting_for_a_job_is_no_spin),
		cmocka_unit_test(trap_144_without_answers),
	};
	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	log_open(getenv("LOUD") ? &loud : &quiet);
	return cmocka_run_group_tests_name("sm-core", tests, NULL, NULL);
}
