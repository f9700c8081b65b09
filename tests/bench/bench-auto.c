// SPDX-License-Identifier: BSD-2-Clause
/*
 * auto beside every engine it could have taken, on a fabric that loses cables and switches: figures
 * of each as means over seeds of the damage. Asserts nothing.
 *
 *   bench-auto [-k cables] [-w switches] [-n seeds] [-s first seed] [-e "ENGINE..."] FABRIC
 *
 * FABRIC as in tests/lib/topocut.h, or: grid SHAPE HOSTS PARALLEL, or a file that --plan reads.
 * Columns: refused (seeds without tables, or with ones that do not hold), lanes, SLs by path,
 * bandwidth under bisections, permutations and shifts, load, worst shift, mean of the most flows
 * under permutations, mean hops, CPU milliseconds; in how many seeds it is clearly better than auto
 * in lanes (v), bandwidth (b, p, of shifts: m), load (l), worst shift (s), flows (f), hops (h); the
 * last note or refusal.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "offline/plan.h"
#include "route/proof/check.h"
#include "route/select/choose.h"
#include "route/select/reroute.h"
#include "tests/lib/tables.h"
#include "tests/lib/topocut.h"
#include "util/mem.h"
#include "route/select/engines.h"
#include "util/random.h"

#define ENGINES 16

enum figure {
	LANES, LEVELS, BISECTION, PERMUTATION, SHIFTS, LOAD, SHIFT, FLOWS, HOPS, MS, N_FIGURES
};

struct row {
	unsigned n, refused;
	double sum[N_FIGURES], last[N_FIGURES];
	unsigned better[N_FIGURES]; /* seeds in which it is clearly better than auto */
	char why[160];
};

struct bench {
	unsigned cables, switches, seeds, seed;
	const char *engines[ENGINES];
	unsigned n_engines;
};

static struct topo *cut(const struct bench *b, struct topo *t, uint64_t seed)
{
	struct topocut *c = topocut_new(t);
	uint64_t state = seed;
	uint32_t n, *ends = topocut_cables(t, &n);
	struct topo *left;

	for (unsigned i = 0; i < b->cables && n; i++) {
		uint32_t k = (uint32_t)(random_next(&state) % n);

		c->ports[ends[k]] = true;
		ends[k] = ends[--n];
	}
	for (unsigned i = 0; i < b->switches; i++)
		c->switches[random_next(&state) % t->n_switches] = true;
	left = topocut_apply(t, c);
	free(ends);
	topocut_free(c);
	topo_unref(t);
	return left;
}

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec * 1e-6;
}

/* Of one fabric; false: refused. */
static bool measure(const struct topo *t, const char *name, struct row *row)
{
	struct route_job job = { .topo = t, .threads = 1 };
	const struct route_engine *engine = route_engine_find(name);
	struct reroute_report report = { .why = "no such engine" };
	double began = cpu_ms(), *f = row->last;
	struct routes *r = engine ? tables_reroute(engine, &job, &report) : NULL;
	unsigned patterns = MAX(5u, MIN(50u, 50000 / MAX(t->n_hosts, 1u))), worst;
	struct route_measures m;

	f[MS] = cpu_ms() - began;
	if (!r || route_fault(&report.verdict)) {
		row->refused++;
		snprintf(row->why, sizeof(row->why), "%s",
			 r ? route_fault(&report.verdict) : report.why);
		routes_unref(r);
		return false;
	}
	row->n++;
	f[LANES] = r->lanes ? r->lanes->n_vls : 1;
	f[LEVELS] = r->lanes && r->lanes->by != SL2VL_BY_NOTHING;
	m = tables_measure(r, patterns, MAX(10u, MIN(200u, 100000 / MAX(t->n_hosts, 1u))), 1,
			   &worst);
	f[BISECTION] = m.bisection;
	f[PERMUTATION] = m.permutation;
	f[SHIFTS] = m.shift;
	f[LOAD] = report.verdict.max_load;
	f[SHIFT] = tables_shift_congestion(r, 100);
	f[FLOWS] = m.flows;
	f[HOPS] = report.verdict.avg_hops;
	for (unsigned i = 0; i < N_FIGURES; i++)
		row->sum[i] += f[i];
	if (r->note[0])
		snprintf(row->why, sizeof(row->why), "%.*s", (int)sizeof(row->why) - 1, r->note);
	routes_unref(r);
	return true;
}

static void compare(struct row *row, const double *with)
{
	const double *f = row->last;

	row->better[LANES] += f[LANES] < with[LANES];
	row->better[BISECTION] += f[BISECTION] > with[BISECTION] * 1.005;
	row->better[PERMUTATION] += f[PERMUTATION] > with[PERMUTATION] * 1.005;
	row->better[SHIFTS] += f[SHIFTS] > with[SHIFTS] * 1.005;
	for (unsigned i = LOAD; i < MS; i++)
		row->better[i] += f[i] * 1.005 < with[i];
}

static void print(const char *name, const struct row *r)
{
	static const char letters[N_FIGURES] = { 'v', ' ', 'b', 'p', 'm', 'l', 's', 'f', 'h', ' ' };
	double n = MAX(r->n, 1u);

	printf("%-11s %2u %5.1f %3.1f %6.4f %6.4f %6.4f %8.1f %6.2f %6.2f %6.3f %8.1f ", name,
	       r->refused, r->sum[LANES] / n, r->sum[LEVELS] / n, r->sum[BISECTION] / n,
	       r->sum[PERMUTATION] / n, r->sum[SHIFTS] / n, r->sum[LOAD] / n, r->sum[SHIFT] / n,
	       r->sum[FLOWS] / n, r->sum[HOPS] / n, r->sum[MS] / MAX(r->n + r->refused, 1u));
	for (unsigned i = 0; i < N_FIGURES; i++)
		if (r->better[i])
			printf("%c%u ", letters[i], r->better[i]);
	printf("%s\n", r->why);
}

static struct topo *fabric(int n, char **words)
{
	struct topogen o = { 0 };

	if (n == 1 && strchr(words[0], '.')) {
		struct plan_args args = { .fabric = words[0] };
		struct plan_world w;
		struct topo *t = NULL;

		if (!plan_read(&args, &w))
			t = topo_ref(w.topo);
		plan_world_clear(&w);
		return t;
	}
	if (n == 4 && !strcmp(words[0], "grid"))
		return topogen_grid(words[1], (unsigned)atoi(words[2]), (unsigned)atoi(words[3]),
				    &o);
	return topogen_words(n, words, &o);
}

/* All engines on the fabric of one seed. */
static bool run(const struct bench *b, uint64_t seed, int n, char **words, struct row *rows)
{
	struct topo *t = fabric(n, words);
	bool first = true;

	if (!t)
		return false;
	t = cut(b, t, seed);
	for (unsigned i = 0; i < b->n_engines; i++) {
		if (measure(t, b->engines[i], &rows[i]) && i && first)
			compare(&rows[i], rows[0].last);
		else if (!i)
			first = !!rows[0].n;
	}
	topo_unref(t);
	return true;
}

int main(int argc, char **argv)
{
	char all[] = "minhop updn dnup ftree dor lash sssp dfsssp nue torus-2QoS dragonfly hyperx",
	     *list = all;
	struct bench b = { .seeds = 1, .seed = 1, .engines = { "auto" }, .n_engines = 1 };
	struct row rows[ENGINES] = { 0 };
	char *rest;
	int opt;

	while ((opt = getopt(argc, argv, "k:w:n:s:e:")) != -1)
		switch (opt) {
		case 'k': b.cables = (unsigned)atoi(optarg); break;
		case 'w': b.switches = (unsigned)atoi(optarg); break;
		case 'n': b.seeds = (unsigned)atoi(optarg); break;
		case 's': b.seed = (unsigned)atoi(optarg); break;
		case 'e': list = optarg; break;
		default: return 2;
		}
	for (char *name = strtok_r(list, " ", &rest); name && b.n_engines < ENGINES;
	     name = strtok_r(NULL, " ", &rest))
		b.engines[b.n_engines++] = name;
	printf("\n%u cables, %u switches less:", b.cables, b.switches);
	for (int i = optind; i < argc; i++)
		printf(" %s", argv[i]);
	printf("\n");
	for (unsigned i = 0; i < b.seeds; i++)
		if (!run(&b, b.seed + i, argc - optind, argv + optind, rows)) {
			fputs(TOPOGEN_WORDS "            | grid SHAPE HOSTS PARALLEL\n", stderr);
			return 2;
		}
	for (unsigned i = 0; i < b.n_engines; i++)
		print(b.engines[i], &rows[i]);
	return 0;
}
