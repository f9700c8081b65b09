// SPDX-License-Identifier: BSD-2-Clause
/*
 * How many disjoint paths the LIDs of a port give with an LMC, engine by engine, beside how many
 * shortest paths of the fabric could be. Asserts nothing.
 *
 *   bench-disjoint [-l lmc] [-d damage-percent] [-s seed] [-n pairs] [-e engine]... FABRIC
 *
 * One row per engine (all of them without -e): mean over pairs of hosts on different switches, of
 * paths without a common cable, and without a common switch; `of` the most among shortest paths.
 * behind: pairs with fewer than that, in per cent. load: the most loaded channel by the mean. The
 * bandwidths are those of the base LIDs.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "route/core/engine.h"
#include "route/proof/check.h"
#include "route/proof/disjoint.h"
#include "route/select/engines.h"
#include "tests/lib/tables.h"
#include "tests/lib/topocut.h"
#include "util/mem.h"

static const char *const all[] = { "auto",   "minhop", "updn", "dnup",	 "ftree",
				   "dor",    "lash",   "sssp", "dfsssp", "nue",
				   "torus-2QoS", "dragonfly", "hyperx", "columns" };

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void print_row(const char *name, const struct routes *r, uint32_t pairs, double seconds)
{
	struct disjoint_sums d;
	struct route_verdict v;
	double n;

	routes_check(r, 1, &v);
	disjoint_measure(r, pairs, &d);
	n = d.pairs ? (double)d.pairs : 1;
	printf("%-10s %-10s %5.2f of %5.2f %7.2f of %5.2f %6.1f %5.2f %5.3f %5.3f %7.3f%s%s\n",
	       name, r->by, (double)d.have_cables / n, (double)d.most_cables / n,
	       (double)d.have_switches / n, (double)d.most_switches / n,
	       100.0 * (double)d.behind / n,
	       v.avg_load > 0 ? v.max_load / v.avg_load : 0, tables_bisections(r, 20, 1),
	       tables_shifts(r, 64), seconds, v.credit_loop ? " credit loop" : "",
	       v.lost ? " lost" : "");
}

static void run_engine(const char *name, const struct topo *t, uint32_t pairs)
{
	struct route_job job = { .topo = t, .threads = 1 };
	const struct route_engine *engine = route_engine_find(name);
	char why[256] = "no such engine";
	double since = cpu_seconds();
	_cleanup_(routes_unrefp) struct routes *r =
		engine ? route_engine_run(engine, &job, why, sizeof(why)) : NULL;

	if (r)
		print_row(name, r, pairs, cpu_seconds() - since);
	else
		printf("%-10s %s\n", name, why);
}

static void usage(void)
{
	fputs("bench-disjoint [-l lmc] [-d damage-percent] [-s seed] [-n pairs] [-e engine]... "
	      "FABRIC\n"
	      "FABRIC:      " TOPOGEN_WORDS,
	      stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	struct topogen gen = { .lmc = 2 };
	const char *engines[16];
	unsigned n = 0, pairs = 2000;
	struct topo *t;
	int opt;

	while ((opt = getopt(argc, argv, "l:d:s:n:e:")) != -1)
		switch (opt) {
		case 'l': gen.lmc = (uint8_t)MIN((unsigned)atoi(optarg), 7u); break;
		case 'd': gen.damage = atof(optarg) / 100; break;
		case 's': gen.seed = strtoull(optarg, NULL, 0); break;
		case 'n': pairs = (unsigned)atoi(optarg); break;
		case 'e': engines[n] = optarg; n += n < 15; break;
		default: usage();
		}
	t = optind < argc ? topogen_words(argc - optind, argv + optind, &gen) : NULL;
	if (!t)
		usage();
	printf("%-10s %-10s %14s %16s %6s %5s %5s %5s %7s\n", "engine", "", "cables", "switches",
	       "behind", "load", "eBB", "shift", "s cpu");
	for (unsigned i = 0; i < (n ? n : ARRAY_SIZE(all)); i++)
		run_engine(n ? engines[i] : all[i], t, pairs);
	topo_unref(t);
	return 0;
}
