// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a page of metrics costs on a tree of three levels: how long the loop stands still, how long
 * a worker renders, how long the text is. `make bench-metrics && ./bench-metrics 36`: 11,664 hosts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/netfile/netfile.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "metrics/metrics.h"
#include "util/log.h"
#include "util/mem.h"

static double ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void on_line(void *arg, unsigned bits, const char *text)
{
}

int main(int argc, char **argv)
{
	unsigned k = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 8;
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree3(k);
	struct rig *rig = rig_new(sim_new(net, 1));
	struct conf *conf = conf_new();
	struct daemon_api api = { .conf = conf, .version = "bench", .instance = "bench" };
	const struct metrics_tally tally = { 0 };

	log_set_sink(on_line, NULL);
	rig_start(rig, "h0", 0, conf, NULL);
	rig_run(rig, 30 * MONO_S);
	api.sm = rig->sms[0].sm;
	for (unsigned per_port = 0; per_port < 2; per_port++) {
		double start = ms(), taken, rendered;
		struct metrics *m = metrics_take(&api, &tally, per_port);
		size_t len;
		char *text;

		taken = ms();
		text = metrics_render(m, false, &len);
		rendered = ms();
		metrics_free(m);
		printf("%u nodes, %s: main thread %.1f ms, worker %.1f ms, %.1f MB, freed in %.1f "
		       "ms\n",
		       sm_fabric(api.sm)->n_nodes, per_port ? "each port" : "no ports",
		       taken - start, rendered - taken, (double)len / 1e6, ms() - rendered);
		free(text);
	}
	rig_free(rig);
	conf_unref(conf);
	return 0;
}
