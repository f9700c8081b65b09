// SPDX-License-Identifier: BSD-2-Clause
/*
 * The core under random faults of many kinds: links, reboots, silence, moved cables, rough weather,
 * partial silence, refusals, addresses changed behind the manager's back, two managers, restarts
 * with a cache. Once it is over everything is ACTIVE and reachable, P_Key tables are what the file
 * says, and another sweep sends no Set.
 *
 * SEED=n, N=count and KINDS=links,reboots,... choose; LOUD=1 shows the log.
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
#include "sim/gen/gen.h"
#include "tests/lib/rounds.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"

#define MAX_NODES 256

enum kind {
	LINKS,
	REBOOTS,
	SILENCE,
	WEATHER,
	CABLES,
	PARTIAL,
	REFUSALS,
	ADDRESSES,
	RIVAL,
	RESTART,
	LMC,
	ENHANCED,
	PKEYS,
	N_KINDS
};
static const char *const kind_names[N_KINDS] = { "links",  "reboots", "silence",  "weather",
						 "cables", "partial", "refusals", "addresses",
						 "rival",  "restart", "lmc",	  "enhanced",
						 "pkeys" };

struct cable {
	int a, b;
	unsigned a_port, b_port;
};

struct world {
	struct rig *rig;
	uint64_t rng;
	unsigned seed, n_nodes, n_cables, kinds;
	int rival_node;
	struct conf *conf;
	struct cable cables[4096];
	char dir[SCRATCH_PATH];
};

static unsigned rnd(struct world *w, unsigned below)
{
	w->rng ^= w->rng << 13;
	w->rng ^= w->rng >> 7;
	w->rng ^= w->rng << 17;
	return (w->rng >> 11) % below;
}

static bool has(const struct world *w, enum kind k)
{
	return w->kinds & 1u << k;
}

static struct netfile *fabric_of(unsigned seed)
{
	switch (seed % 7) {
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
	case 5:
		return gen_tree(8, 9, 4, 2);
	default:
		return gen_fat_tree3(4);
	}
}

static void note_cables(struct world *w)
{
	struct sim *sim = w->rig->sim;

	for (int n = 0; n < (int)w->n_nodes; n++)
		for (unsigned p = 1; p <= sim_node_ports(sim, n); p++) {
			struct cable c = { .a = n, .a_port = p };

			if (sim_peer(sim, n, p, &c.b, &c.b_port) &&
			    (n < c.b || (n == c.b && p < c.b_port)))
				w->cables[w->n_cables++] = c;
		}
}

/* Some node that no manager sits on. */
static int victim(struct world *w)
{
	int node;

	do
		node = 1 + (int)rnd(w, w->n_nodes - 1);
	while (node == w->rival_node);
	return node;
}

static void move_cables(struct world *w)
{
	struct sim *sim = w->rig->sim;
	struct cable *x = &w->cables[rnd(w, w->n_cables)], *y = &w->cables[rnd(w, w->n_cables)];
	int bx, by;
	unsigned px, py;

	if (x == y || x->a == 0 || y->a == 0 || x->a == w->rival_node || y->a == w->rival_node ||
	    !sim_peer(sim, x->a, x->a_port, &bx, &px) ||
	    !sim_peer(sim, y->a, y->a_port, &by, &py) || bx == 0 || by == 0 ||
	    bx == w->rival_node || by == w->rival_node)
		return;
	sim_unplug(sim, x->a, x->a_port);
	sim_unplug(sim, y->a, y->a_port);
	if (rnd(w, 4) == 0)
		return;
	if (rnd(w, 8) == 0) {
		sim_plug(sim, x->a, x->a_port, x->a, x->a_port);
		return;
	}
	sim_plug(sim, x->a, x->a_port, by, py);
	sim_plug(sim, y->a, y->a_port, bx, px);
}

static void one_fault(struct world *w)
{
	/* P_Key tables last: what refuses them for a while is given up until the file changes. */
	static const uint16_t attrs[] = {
		IB_ATTR_NODE_INFO, IB_ATTR_NODE_DESC, IB_ATTR_SWITCH_INFO,
		IB_ATTR_PORT_INFO, IB_ATTR_LFT,	      IB_ATTR_PKEY_TABLE
	};
	struct sim *sim = w->rig->sim;
	int node = victim(w);
	unsigned port = 1 + rnd(w, sim_node_ports(sim, node));
	enum kind k;

	do
		k = rnd(w, ADDRESSES + 1);
	while (!has(w, k));
	switch (k) {
	case LINKS:
		if (rnd(w, 3) == 0)
			sim_link_down(sim, node, port);
		else if (rnd(w, 2))
			sim_link_up(sim, node, port);
		else
			sim_link_flap(sim, node, port, (mono_t)rnd(w, 200000));
		break;
	case REBOOTS:
		for (unsigned i = rnd(w, 4); i < 4; i++)
			sim_reboot(sim, victim(w), (mono_t)rnd(w, 800) * MONO_MS);
		break;
	case SILENCE:
		sim_set_silent(sim, node, rnd(w, 2) ? SIM_SILENT : SIM_ANSWERS, 0);
		break;
	case WEATHER:
		/*
		 * No copy of a Set arrives after a later one: no manager could know, only read all
		 * back.
		 */
		sim_set_loss(sim, rnd(w, 20), rnd(w, 20));
		sim_set_reorder(sim, rnd(w, 30), (mono_t)rnd(w, 5000));
		sim_set_delay(sim, 1 + rnd(w, 200), (mono_t)rnd(w, 60000));
		sim_set_sma_queue(sim, rnd(w, 10));
		break;
	case CABLES:
		move_cables(w);
		break;
	case PARTIAL:
		sim_set_silent(sim, node, 1 + rnd(w, 3), attrs[rnd(w, ARRAY_SIZE(attrs))]);
		break;
	case REFUSALS:
		sim_set_refuse(sim, node, attrs[2 + rnd(w, 3)],
			       rnd(w, 2) ? 1 : MAD_STATUS_BAD_VALUE);
		break;
	case ADDRESSES:
		sim_set_lid(sim, node, sim_node_is_switch(sim, node) ? 0 : 1, rnd(w, 60), 0,
			    rnd(w, 60));
		break;
	default:
		break;
	}
}

static void heal(struct world *w)
{
	struct sim *sim = w->rig->sim;

	sim_set_loss(sim, 0, 0);
	sim_set_duplicates(sim, 0);
	sim_set_reorder(sim, 0, 0);
	sim_set_delay(sim, 1, 0);
	sim_set_sma_queue(sim, 0);
	for (unsigned n = 0; n < w->n_nodes; n++) {
		sim_set_silent(sim, n, SIM_ANSWERS, 0);
		sim_set_refuse(sim, n, 0, 0);
	}
	for (unsigned i = 0; i < w->n_cables && has(w, CABLES); i++) {
		const struct cable *c = &w->cables[i];
		int b;
		unsigned p;

		if (sim_peer(sim, c->a, c->a_port, &b, &p) && b == c->b && p == c->b_port)
			continue;
		sim_unplug(sim, c->a, c->a_port);
		sim_unplug(sim, c->b, c->b_port);
		sim_plug(sim, c->a, c->a_port, c->b, c->b_port);
	}
	for (unsigned n = 0; n < w->n_nodes; n++)
		for (unsigned p = 1; p <= sim_node_ports(sim, n); p++)
			sim_link_up(sim, n, p);
}

static void run_for(struct world *w, mono_t t)
{
	rig_run(w->rig, sim_now(w->rig->sim) + t);
}

static void assert_good(struct world *w, const char *when)
{
	struct sim_verdict v;

	sim_check_all(w->rig->sim, &v);
	v.loops_ever = 0; /* order of updates is not judged here */
	if (!sim_verdict_good(&v))
		fail_msg("seed %u, %s: %s", w->seed, when, v.first);
	assert_true(v.end_ports > 0);
}

static void assert_quiet(struct world *w)
{
	struct sm *sm = rig_master(w->rig);
	uint64_t sets;

	if (!sm)
		fail_msg("seed %u: %u masters", w->seed, rig_count(w->rig, SM_MASTER));
	sets = sim_sets(w->rig->sim);
	sm_request_heavy(sm, NULL);
	run_for(w, 5 * MONO_S);
	if (sim_sets(w->rig->sim) != sets)
		if (sim_sets(w->rig->sim) != sets)
			fail_msg("seed %u: a sweep of an unchanged fabric sent %u Sets", w->seed,
				 (unsigned)(sim_sets(w->rig->sim) - sets));
	if (!sm_stats(sm)->up)
		fail_msg("seed %u: not up", w->seed);
}

static void note_lids(struct world *w, lid_t *ret)
{
	for (unsigned n = 0; n < w->n_nodes; n++)
		ret[n] = sim_port_lid(w->rig->sim, n, sim_node_is_switch(w->rig->sim, n) ? 0 : 1);
}

/* ---- partitions: host number h is in h % N_PARTS + 1, every other time as limited member ---- */

#define N_PARTS 3

static unsigned key_of(unsigned host)
{
	return (host % N_PARTS + 1) | (host / N_PARTS % 2 ? 0 : 0x8000);
}

static guid_t port_guid_of(struct world *w, int node)
{
	uint8_t ni[SMP_DATA_SIZE];

	sim_read(w->rig->sim, node, IB_ATTR_NODE_INFO, 0, ni);
	return ib_get(ni, NI_PORT_GUID);
}

static void write_partitions(struct world *w, struct conf *conf)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/partitions.conf", w->dir);
	free(conf->partition_config_file);
	conf->partition_config_file = xstrdup(path);
	if (!has(w, PKEYS))
		return;
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "Default=0x7fff: ALL=full;\n");
	for (unsigned n = 0; n < w->n_nodes; n++) {
		if (!sim_node_is_switch(w->rig->sim, n))
			fprintf(f, "0x%x: 0x%016llx=%s;\n", key_of(n) & 0x7FFF,
				(unsigned long long)port_guid_of(w, n),
				key_of(n) & 0x8000 ? "full" : "limited");
	}
	assert_int_equal(fclose(f), 0);
}

/*
 * Exactly the default key and that of the host, at the host (port 0) or at the port that faces it.
 */
static void assert_keys(struct world *w, int node, unsigned port, unsigned host)
{
	uint8_t payload[SMP_DATA_SIZE];
	unsigned n = 0;

	for (unsigned block = 0;
	     sim_read(w->rig->sim, node, IB_ATTR_PKEY_TABLE, port << 16 | block, payload) == 0;
	     block++) {
		for (unsigned i = 0; i < SMP_DATA_SIZE / 2; i++) {
			unsigned key = ib_bits_get(payload, i * 16, 16);

			if (key && key != 0xFFFF && key != key_of(host))
				fail_msg("seed %u: 0x%04x at %s:%u", w->seed, key,
					 sim_node_id(w->rig->sim, node), port);
			n += key != 0;
		}
	}
	if (n != 2)
		fail_msg("seed %u: %u keys at %s:%u", w->seed, n, sim_node_id(w->rig->sim, node),
			 port);
}

static void assert_partitions(struct world *w)
{
	for (unsigned n = 0; n < w->n_nodes && has(w, PKEYS); n++) {
		unsigned port;
		int sw;

		if (sim_node_is_switch(w->rig->sim, n))
			continue;
		assert_keys(w, n, 0, n);
		if (sim_peer(w->rig->sim, n, 1, &sw, &port) && sim_node_is_switch(w->rig->sim, sw))
			assert_keys(w, sw, port, n);
	}
}

static void start(struct world *w)
{
	_cleanup_(netfile_freep) struct netfile *net = fabric_of(w->seed);
	struct conf *conf = conf_new();

	w->rng = w->seed * 0x9E3779B97F4A7C15ull + 1;
	if (has(w, ENHANCED))
		for (size_t i = 0; i < net->n_nodes; i++)
			if (net->nodes[i].type == IB_NODE_SWITCH)
				net->nodes[i].enhanced_port0 = rnd(w, 2);
	w->rig = rig_new(sim_new(net, w->seed));
	w->n_nodes = sim_n_nodes(w->rig->sim);
	note_cables(w);
	conf->max_wire_smps = 16;
	conf->polling_retry_number = 1;
	conf->sminfo_polling_timeout = 1000;
	conf->sm_priority = 5;
	if (has(w, LMC)) {
		conf->lmc = w->seed % 4;
		conf->lmc_esp0 = rnd(w, 2);
	}
	w->conf = conf;
	scratch_folder(w->dir);
	write_partitions(w, conf);
	assert_int_equal(rig_start(w->rig, "h0", 0, conf, w->dir), 0);
	w->rival_node = -1;
	if (has(w, RIVAL)) {
		conf->sm_priority = 3;
		w->rival_node = sim_find(w->rig->sim, "h3");
		run_for(w, 2 * MONO_S);
		assert_true(rig_start(w->rig, "h3", 0, conf, NULL) >= 0);
		conf->sm_priority = 5;
	}
}

static void managers(struct world *w)
{
	int first = rig_find(w->rig, "h0");

	if (has(w, RESTART) && w->rig->n_sms < RIG_MAX_SMS && rnd(w, 6) == 0) {
		rig_kill(w->rig, first);
		run_for(w, (mono_t)rnd(w, 3000) * MONO_MS);
		assert_true(rig_start(w->rig, "h0", 0, w->conf, w->dir) >= 0);
	} else if (has(w, RIVAL) && rnd(w, 6) == 0) {
		rig_freeze(w->rig, first, true);
		run_for(w, (mono_t)rnd(w, 6000) * MONO_MS);
		rig_freeze(w->rig, first, false);
	}
}

static void clean(struct world *w)
{
	rig_free(w->rig);
	conf_unref(w->conf);
	scratch_remove(w->dir);
}

static void one_life(unsigned seed, unsigned kinds)
{
	static struct world w;
	lid_t before[MAX_NODES], after[MAX_NODES];
	unsigned faults;

	w = (struct world){ .seed = seed, .kinds = kinds };
	start(&w);
	faults = 5 + rnd(&w, 25);
	if (rnd(&w, 2) || has(&w, RIVAL))
		run_for(&w, 10 * MONO_S);
	else
		run_for(&w, (mono_t)rnd(&w, 5000));
	note_lids(&w, before);
	for (unsigned i = 0; i < faults; i++) {
		one_fault(&w);
		run_for(&w, rnd(&w, 2) ? (mono_t)rnd(&w, 5000) : (mono_t)rnd(&w, 1500) * MONO_MS);
		managers(&w);
	}
	heal(&w);
	run_for(&w, 200 * MONO_S);
	if (has(&w, ADDRESSES) || has(&w, REFUSALS)) {
		assert_non_null(rig_master(w.rig));
		sm_request_heavy(rig_master(w.rig), NULL);
		run_for(&w, 20 * MONO_S);
	}
	assert_good(&w, "healed");
	assert_partitions(&w);
	note_lids(&w, after);
	for (unsigned i = 0; i < w.n_nodes; i++)
		if (before[i] && before[i] != after[i] && !has(&w, ADDRESSES) && !has(&w, RIVAL))
			fail_msg("seed %u: LID of %s moved from %u to %u", seed,
				 sim_node_id(w.rig->sim, i), before[i], after[i]);
	assert_quiet(&w);
	clean(&w);
}

static unsigned kinds_of_env(void)
{
	const char *env = getenv("KINDS");
	unsigned kinds = 0;

	for (unsigned i = 0; i < N_KINDS; i++)
		if (!env || strstr(env, kind_names[i]))
			kinds |= 1u << i;
	return kinds;
}

static void storms_leave_no_trace(void **state)
{
	unsigned first = 1, n = getenv("N") ? (unsigned)atoi(getenv("N")) : test_rounds(60);

	if (getenv("SEED"))
		first = strtoul(getenv("SEED"), NULL, 0), n = getenv("N") ? n : 1;
	for (unsigned i = 0; i < n; i++)
		one_life(first + i, kinds_of_env());
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(storms_leave_no_trace) };
	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	log_open(getenv("LOUD") ? &loud : &quiet);
	return cmocka_run_group_tests_name("sm-storms", tests, NULL, NULL);
}
