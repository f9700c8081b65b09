// SPDX-License-Identifier: BSD-2-Clause
/*
 * What lost MADs cost a bring-up, in virtual time: a two-level tree from power-on until every port
 * is ACTIVE and every pair reachable, at 0, 1, 5 and 20 % of all MADs lost each way; the median of
 * seeds. `make bench-loss && ./bench-loss 36 [max_wire_smps [agent time in us [hop in us
 * [seeds]]]]`: 648 hosts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/gen/gen.h"
#include "tests/lib/rig.h"
#include "util/log.h"
#include "util/mem.h"

#define MAX_SEEDS 31

struct setup {
	unsigned k, wire, agent_us, hop_us, seeds;
};

struct outcome {
	mono_t took;
	uint64_t sent, retries, late;
	unsigned heavy;
};

static void drop_line(void *arg, unsigned bits, const char *text)
{
}

static bool is_done(struct rig *rig)
{
	struct sm *sm = rig_master(rig);
	struct sim_verdict v;

	if (!sm || !rig->sms[0].ups)
		return false;
	sim_check_all(rig->sim, &v);
	return sim_verdict_good(&v);
}

static struct outcome bring_up(const struct setup *s, double loss, uint64_t seed)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree2(s->k);
	struct rig *rig = rig_new(sim_new(net, seed));
	struct conf *conf = conf_new();
	struct outcome o = { 0 };
	const struct mad_count *rows;
	unsigned n;

	conf->max_wire_smps = conf->max_wire_smps2 = s->wire;
	sim_advance(rig->sim, 100 * MONO_MS);
	sim_set_loss(rig->sim, loss, loss);
	sim_set_sma_time(rig->sim, s->agent_us * MONO_US);
	sim_set_delay(rig->sim, s->hop_us * MONO_US, 0);
	rig_start(rig, "h0", 0, conf, NULL);
	while (!rig->sms[0].ups && rig_step(rig, 600 * MONO_S))
		;
	while (!is_done(rig) && sim_now(rig->sim) < 600 * MONO_S)
		rig_run(rig, sim_now(rig->sim) + 10 * MONO_MS);
	o.took = sim_now(rig->sim) - 100 * MONO_MS;
	rows = mad_counts(sm_mad(rig->sms[0].sm), &n);
	for (unsigned i = 0; i < n; i++) {
		o.sent += rows[i].sent;
		o.retries += rows[i].retries;
	}
	o.late = mad_strays(sm_mad(rig->sms[0].sm))[MAD_STRAY_LATE];
	o.heavy = sm_stats(rig->sms[0].sm)->heavy_sweeps;
	rig_free(rig);
	conf_unref(conf);
	return o;
}

static int by_time(const void *a, const void *b)
{
	const struct outcome *x = a, *y = b;

	return x->took < y->took ? -1 : x->took > y->took;
}

static unsigned number(int argc, char **argv, int i, unsigned otherwise)
{
	return argc > i ? (unsigned)strtoul(argv[i], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	static const double losses[] = { 0, 1, 5, 20 };
	const struct setup s = {
		.k = number(argc, argv, 1, 12),
		.wire = number(argc, argv, 2, 4),
		.agent_us = number(argc, argv, 3, 5),
		.hop_us = number(argc, argv, 4, 1),
		.seeds = MIN(number(argc, argv, 5, 5), MAX_SEEDS),
	};
	struct outcome o[MAX_SEEDS];
	mono_t quiet = 0;

	log_set_sink(drop_line, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		const struct outcome *m = &o[s.seeds / 2];

		for (unsigned k = 0; k < s.seeds; k++)
			o[k] = bring_up(&s, losses[i], k + 1);
		qsort(o, s.seeds, sizeof(*o), by_time);
		quiet = quiet ? quiet : m->took;
		printf("%2.0f %% lost: %8.1f ms (%.1f to %.1f), %.1f times; %llu SMPs, %llu "
		       "repeated, "
		       "%llu answers unused, %u heavy sweeps\n",
		       losses[i], (double)m->took / MONO_MS, (double)o[0].took / MONO_MS,
		       (double)o[s.seeds - 1].took / MONO_MS, (double)m->took / (double)quiet,
		       (unsigned long long)m->sent, (unsigned long long)m->retries,
		       (unsigned long long)m->late, m->heavy);
	}
	return 0;
}
