// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a page of metrics costs on a tree of three levels: how long the loop stands still, how long
 * a worker renders and compresses, how many series and bytes there are. `make bench-metrics &&
 * ./bench-metrics 24`: 3,456 hosts; 36: 11,664.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/netfile/netfile.h"
#include "tests/lib/metrics-counted.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "metrics/metrics.h"
#include "metrics/gzip.h"
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

static void no_clock(void *arg, mono_t *ret_now, int64_t *ret_realtime)
{
	*ret_now = *ret_realtime = 0;
}

static unsigned count_series(const struct gzip_text *page)
{
	_cleanup_(gzip_reader_freep) struct gzip_reader *r = gzip_reader_new(page);
	char at, before = '\n';
	unsigned n = 0;

	while (gzip_reader_next(r, &at, 1) > 0) {
		n += before == '\n' && at != '#';
		before = at;
	}
	return n;
}

static void measure(const struct daemon_api *api, const char *groups)
{
	const struct metrics_tally tally = { 0 };
	struct gzip_text page = { 0 };
	double start = ms(), taken, done;
	struct metrics *m = metrics_take(api, &tally, conf_metrics_groups(groups));
	FILE *out;

	metrics_counted(m, sm_fabric(api->sm));
	taken = ms();
	out = gzip_writer(&page);
	metrics_render(m, false, out);
	fclose(out);
	done = ms();
	metrics_free(m);
	printf("%u nodes, %s: %u series, %.2f MB, gzip %.2f MB; main thread %.1f ms, worker %.1f "
	       "ms\n",
	       sm_fabric(api->sm)->n_nodes, groups, count_series(&page),
	       (double)page.plain_len / 1e6, (double)page.len / 1e6, taken - start, done - taken);
	gzip_text_clear(&page);
}

int main(int argc, char **argv)
{
	unsigned k = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 8;
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree3(k);
	struct rig *rig = rig_new(sim_new(net, 1));
	struct conf *conf = conf_new();
	struct daemon_api api = {
		.conf = conf, .version = "bench", .instance = "bench", .clock = no_clock
	};

	log_set_sink(on_line, NULL);
	rig_start(rig, "h0", 0, conf, NULL);
	rig_run(rig, 30 * MONO_S);
	api.sm = rig->sms[0].sm;
	measure(&api, "default");
	measure(&api, "default,cables");
	measure(&api, "default,port_errors");
	measure(&api, "all");
	rig_free(rig);
	conf_unref(conf);
	return 0;
}
