// SPDX-License-Identifier: BSD-2-Clause
/*
 * The whole core under random sequences of faults: whatever happened, once it stops the fabric is
 * brought up completely, a further sweep finds nothing to do, and no LID has moved.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "lib/rig.h"
#include "libvendor/sim/gen.h"
#include "util/log.h"
#include "util/mem.h"

struct world {
	struct rig *rig;
	uint64_t rng;
	unsigned n_nodes;
};

static unsigned rnd(struct world *w, unsigned below)
{
	w->rng ^= w->rng << 13;
	w->rng ^= w->rng >> 7;
	w->rng ^= w->rng << 17;
	return (w->rng >> 11) % below;
}

static struct netfile *fabric_of(unsigned seed)
{
	switch (seed % 6) {
	case 0:
		return gen_tree(4, 4, 2, 1);
	case 1:
		return gen_torus(3, 3, 1, 2);
	case 2:
		return gen_random(8, 3, 2, seed);
	case 3:
		return gen_ring(5, 2);
	case 4:
		return gen_hypercube(3, 2);
	default:
		return gen_fat_tree3(4);
	}
}

/* The manager's own host keeps its cable: node 0 is h0. */
static void one_fault(struct world *w)
{
	struct sim *sim = w->rig->sim;
	int node = 1 + rnd(w, w->n_nodes - 1);
	unsigned port = 1 + rnd(w, sim_node_ports(sim, node));

	switch (rnd(w, 7)) {
	case 0:
		sim_link_down(sim, node, port);
		break;
	case 1:
	case 2:
		sim_link_up(sim, node, port);
		break;
	case 3:
		sim_link_flap(sim, node, port, (mono_t)rnd(w, 2000) * MONO_MS);
		break;
	case 4:
		sim_reboot(sim, node, (mono_t)rnd(w, 3000) * MONO_MS);
		break;
	case 5:
		sim_set_silent(sim, node, SIM_SILENT, 0);
		break;
	default:
		sim_set_silent(sim, node, SIM_ANSWERS, 0);
		break;
	}
}

static void heal(struct world *w)
{
	struct sim *sim = w->rig->sim;

	sim_set_loss(sim, 0, 0);
	for (unsigned n = 0; n < w->n_nodes; n++) {
		sim_set_silent(sim, n, SIM_ANSWERS, 0);
		for (unsigned p = 1; p <= sim_node_ports(sim, n); p++)
			sim_link_up(sim, n, p);
	}
}

static void run_for(struct world *w, mono_t t)
{
	rig_run(w->rig, sim_now(w->rig->sim) + t);
}

static void assert_good(struct world *w, unsigned seed)
{
	struct sim_verdict v;

	sim_check_all(w->rig->sim, &v);
	v.loops_ever = 0; /* a silent switch keeps old entries beside everybody's new ones */
	if (!sim_verdict_good(&v))
		fail_msg("seed %u: %s", seed, v.first);
	assert_int_equal(v.end_ports > 0, true);
}

static void assert_quiet(struct world *w, unsigned seed)
{
	struct sm *sm = rig_master(w->rig);
	uint64_t sets;

	assert_non_null(sm);
	sets = sim_sets(w->rig->sim);
	sm_request_heavy(sm, NULL);
	run_for(w, 5 * MONO_S);
	if (sim_sets(w->rig->sim) != sets)
		fail_msg("seed %u: a sweep of an unchanged fabric sent %u Sets", seed,
			 (unsigned)(sim_sets(w->rig->sim) - sets));
	assert_true(sm_stats(sm)->up);
}

static void note_lids(struct world *w, lid_t *ret)
{
	for (unsigned n = 0; n < w->n_nodes; n++)
		ret[n] = sim_port_lid(w->rig->sim, n, sim_node_is_switch(w->rig->sim, n) ? 0 : 1);
}

static void start(struct world *w, unsigned seed)
{
	_cleanup_(netfile_freep) struct netfile *net = fabric_of(seed);
	struct conf *conf = conf_new();

	w->rng = seed * 0x9E3779B97F4A7C15ull + 1;
	w->rig = rig_new(sim_new(net, seed));
	w->n_nodes = sim_n_nodes(w->rig->sim);
	conf->max_wire_smps = 16;
	assert_int_equal(rig_start(w->rig, "h0", 0, conf, NULL), 0);
	conf_unref(conf);
}

static void one_life(unsigned seed)
{
	struct world w = { 0 };
	lid_t before[64], after[64];

	start(&w, seed);
	run_for(&w, 5 * MONO_S);
	assert_good(&w, seed);
	note_lids(&w, before);
	if (seed % 3 == 0)
		sim_set_loss(w.rig->sim, 5, 5);
	for (unsigned i = 0; i < 12; i++) {
		one_fault(&w);
		run_for(&w, (mono_t)rnd(&w, 1500) * MONO_MS);
	}
	heal(&w);
	run_for(&w, 200 * MONO_S);
	assert_good(&w, seed);
	note_lids(&w, after);
	assert_memory_equal(before, after, w.n_nodes * sizeof(lid_t));
	assert_quiet(&w, seed);
	rig_free(w.rig);
}

static void random_faults_leave_no_trace(void **state)
{
	unsigned first = 1, n = 120;

	if (getenv("SEED"))
		first = strtoul(getenv("SEED"), NULL, 0), n = 1;
	print_message("# seeds %u to %u; SEED=n for one\n", first, first + n - 1);
	for (unsigned i = 0; i < n; i++)
		one_life(first + i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_faults_leave_no_trace),
	};
	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	log_open(getenv("SEED") ? &loud : &quiet);
	return cmocka_run_group_tests_name("sm-faults", tests, NULL, NULL);
}
