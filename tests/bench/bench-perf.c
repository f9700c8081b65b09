// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the performance manager costs on a tree of three levels that it reads each minute: its share
 * of a core, its longest turn, its questions. What the simulated transport takes for a send is in
 * it. `make bench-perf && ./bench-perf 36 [extended|wide]`: 13,284 nodes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/counters.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "util/log.h"
#include "util/mem.h"

#define MINUTES 4

struct bench {
	struct perf *perf;
	struct sm *sm;
	struct rig *rig;
	double spent, longest; /* ms */
};

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void on_line(void *arg, unsigned bits, const char *text)
{
	if (strstr(text, "heavy sweep"))
		printf("%s\n", text);
}

static void note(struct bench *b, double start)
{
	double took = cpu_ms() - start;

	b->spent += took;
	b->longest = MAX(b->longest, took);
}

static struct perf_place place_now(const struct bench *b)
{
	mono_t now = sim_now(b->rig->sim);

	return counters_place(b->sm, now, now / MONO_S);
}

static void on_perf(struct rig_sm *sm, struct transport_event *ev, mono_t now)
{
	struct bench *b = sm->rig->owner;
	const struct perf_place place = place_now(b);
	double start = cpu_ms();

	perf_receive(b->perf, ev, &place);
	note(b, start);
}

static void run_for(struct bench *b, mono_t t)
{
	mono_t until = sim_now(b->rig->sim) + t, now;

	while ((now = sim_now(b->rig->sim)) < until) {
		const struct perf_place place = place_now(b);
		double start = cpu_ms();

		perf_dispatch(b->perf, &place);
		note(b, start);
		rig_step(b->rig, mono_min(MAX(perf_next(b->perf), now + 1), until));
	}
}

int main(int argc, char **argv)
{
	unsigned k = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 8;
	enum sim_pma kind = argc > 2 && !strcmp(argv[2], "wide") ? SIM_PMA_WIDE : SIM_PMA_EXTENDED;
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree3(k);
	_cleanup_(conf_unrefp) struct conf *conf = conf_new();
	struct bench b = { .rig = rig_new(sim_new(net, 1)) };

	log_set_sink(on_line, NULL);
	b.rig->owner = &b;
	b.rig->perf = on_perf;
	rig_start(b.rig, "h0", 0, conf, NULL);
	rig_run(b.rig, 30 * MONO_S);
	b.sm = b.rig->sms[0].sm;
	for (unsigned i = 0; i < sm_fabric(b.sm)->n_nodes; i++)
		sim_set_pma(b.rig->sim, (int)i, kind);
	conf->perfmgr = true;
	conf->perfmgr_sweep_time_s = 60;
	b.perf = perf_new(conf, NULL);
	for (unsigned i = 0; i < MINUTES; i++) {
		uint64_t before = perf_status(b.perf)->queries;

		b.spent = b.longest = 0;
		run_for(&b, 60 * MONO_S);
		printf("%u nodes, minute %u: %.0f ms (%.2f %% of a core), longest turn %.2f ms, %u "
		       "questions\n", sm_fabric(b.sm)->n_nodes, i + 1, b.spent, b.spent / 600,
		       b.longest, (unsigned)(perf_status(b.perf)->queries - before));
	}
	perf_free(b.perf);
	rig_free(b.rig);
	return 0;
}
