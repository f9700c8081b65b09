// SPDX-License-Identifier: BSD-2-Clause
/*
 * One line of figures of one engine on one fabric, for the script bench-engines:
 *
 *   bench-engines-row ours FABRIC ENGINE THREADS [opensm.conf]    routed here
 *   bench-engines-row tables FABRIC LFTS.dump                     of another manager
 *
 * Prints: lost cut loop lanes SLs detours max-load eBB permutations shift mean-RP worst-RP A2A
 * CPU-seconds wall-seconds peak-RSS-MB engine note. `loop` is that of the lanes; of a dump it is
 * that of one lane, since a dump says nothing of them. RP is the most flows on a channel under
 * random permutations, A2A the most of min(senders, receivers) on one; above A2A_HOSTS that would
 * take gigabytes, and is "-". The note of ours says what the judge refuses.
 * With SEEDS=20 in the environment the line ends with bisections and permutations of 20 seeds, 200
 * patterns each, as mean and standard error, and with the mean of shifts.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "conf/text/lines.h"
#include "offline/plan.h"
#include "plan/route_lists.h"
#include "route/proof/check.h"
#include "route/select/choose.h"
#include "route/select/engines.h"
#include "tests/lib/tables.h"
#include "util/mem.h"

#define A2A_HOSTS 15000
#define SEED_PATTERNS 200
#define SHIFTS 400

struct cost {
	double cpu, wall, mb;
};

static double seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double peak_mb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static void print_cost(const struct cost *c)
{
	if (c)
		printf(" %.3f %.3f %.1f", c->cpu, c->wall, c->mb);
	else
		printf(" - - -");
}

static void print_mean(const struct routes *r, unsigned seeds, const char *what,
		       double (*measure)(const struct routes *r, unsigned patterns, uint64_t seed))
{
	double sum = 0, squares = 0;

	for (unsigned i = 0; i < seeds; i++) {
		double value = measure(r, SEED_PATTERNS, 1000 + 77 * i);

		sum += value;
		squares += value * value;
	}
	printf(" %s %.5f +- %.5f", what, sum / seeds,
	       seeds > 1 ? sqrt(fmax(squares - sum * sum / seeds, 0) / seeds / (seeds - 1)) : 0.0);
}

static void print_seeds(const struct routes *r)
{
	const char *asked = getenv("SEEDS");
	unsigned seeds = asked ? (unsigned)strtoul(asked, NULL, 10) : 0;

	if (!seeds)
		return;
	print_mean(r, seeds, "bisections", tables_bisections);
	print_mean(r, seeds, "permutations", tables_permutations);
	printf(" shifts %.5f", tables_shifts(r, SHIFTS));
}

/* `cost` NULL: tables of another manager, which are not refused either. */
static void print_row(const struct routes *r, const struct cost *cost)
{
	uint32_t hosts = MAX(r->topo->n_hosts, 1u);
	unsigned patterns = MAX(5u, MIN(50u, 100000000 / hosts)), worst_shift;
	struct route_measures m;
	const char *fault;
	struct route_verdict v;

	routes_check(r, 0, &v);
	fault = cost ? route_fault(&v) : NULL;
	m = tables_measure(r, patterns, MAX(20u, MIN(200u, 10000000 / hosts)), 1, &worst_shift);
	printf("%" PRIu64 " %" PRIu64 " %s %u %u %" PRIu64 " %u %.3f %.3f %u %.1f %u ", v.lost,
	       v.cut, v.credit_loop ? "LOOP" : "ok", r->lanes ? r->lanes->n_vls : 1, v.n_sls,
	       v.detours, v.max_load, m.bisection, m.permutation, worst_shift, m.flows,
	       m.most_flows);
	if (hosts <= A2A_HOSTS)
		printf("%u", tables_all_to_all_risk(r));
	else
		printf("-");
	print_cost(cost);
	printf(" %s %s%s%s", r->engine, fault ? "refused, its tables " : "", fault ? fault : "",
	       r->note[0] && !fault ? r->note : "");
	print_seeds(r);
	putchar('\n');
}

static int ours(struct plan_world *w, const char *engine)
{
	struct route_job job = { .topo = w->topo, .threads = w->args->threads,
		.options = route_lists_options(w->conf, w->files) };
	const struct route_engine *e = route_engine_find(engine);
	char why[256] = "no such engine";
	struct cost cost = { -seconds(CLOCK_PROCESS_CPUTIME_ID), -seconds(CLOCK_MONOTONIC), 0 };
	struct routes *r = e ? route_engine_run(e, &job, why, sizeof(why)) : NULL;

	cost.cpu += seconds(CLOCK_PROCESS_CPUTIME_ID);
	cost.wall += seconds(CLOCK_MONOTONIC);
	cost.mb = peak_mb();
	if (!r) {
		printf("- - - - - - - - - - - - -");
		print_cost(&cost);
		printf(" %s declines: %s\n", engine, why);
		return 0;
	}
	print_row(r, &cost);
	routes_unref(r);
	return 0;
}

struct loader {
	struct routes *routes;
	uint32_t sw;
};

static void on_line(void *arg, struct line *line)
{
	struct loader *l = arg;
	const char *guid = strstr(line->text, " guid 0x");
	unsigned lid, port;
	uint64_t value;

	if (!strncmp(line->text, "Unicast", 7) && guid &&
	    sscanf(guid, " guid 0x%" SCNx64, &value) == 1)
		l->sw = topo_find_switch(l->routes->topo, value);
	else if (sscanf(line->text, "0x%4x %3u", &lid, &port) == 2 && l->sw != TOPO_NONE &&
		 lid <= l->routes->top)
		routes_row(l->routes, l->sw)[lid] = (uint8_t)port;
}

static int tables(struct plan_world *w, const char *path)
{
	struct loader l = { .routes = routes_new(w->topo, "dump", w->topo->max_lid),
			    .sw = TOPO_NONE };
	FILE *in = fopen(path, "r"); /* up to 10 GB: line by line */
	struct line line = { 0 };
	size_t cap = 0;

	if (!in) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return 1;
	}
	while (getline(&line.text, &cap, in) >= 0)
		on_line(&l, &line);
	free(line.text);
	fclose(in);
	print_row(l.routes, NULL);
	routes_unref(l.routes);
	return 0;
}

int main(int argc, char **argv)
{
	struct plan_args args = { 0 };
	struct plan_world w;
	int r;

	if (argc < 4) {
		fputs("bench-engines-row ours FABRIC ENGINE THREADS [CONF] | tables FABRIC LFTS\n",
		      stderr);
		return 2;
	}
	args.fabric = argv[2];
	args.threads = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
	args.conf = argc > 5 ? argv[5] : NULL;
	if (plan_read(&args, &w) < 0)
		return 1;
	r = strcmp(argv[1], "ours") ? tables(&w, argv[3]) : ours(&w, argv[3]);
	plan_world_clear(&w);
	return r;
}
