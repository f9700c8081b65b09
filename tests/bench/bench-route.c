// SPDX-License-Identifier: BSD-2-Clause
/*
 * Routes a fabric built in memory and prints what it cost and how good it is. Asserts nothing.
 *
 *   bench-route [options] FABRIC, as in tests/lib/topocut.h
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "route/proof/check.h"
#include "route/core/engine.h"
#include "route/select/engines.h"
#include "tests/lib/tables.h"
#include "tests/lib/topocut.h"
#include "tests/lib/topogen.h"
#include "util/mem.h"

struct bench {
	struct topogen gen;
	struct route_options options;
	const char *engine;
	unsigned threads, patterns, shifts, repeat;
	unsigned steps; /* the damage comes one after the other, each time keeping what may stay */
	bool check, again;
};

struct clocks {
	double cpu, wall;
};

static double seconds(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static struct clocks clocks_now(void)
{
	return (struct clocks){
		.cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), .wall = seconds(CLOCK_MONOTONIC),
	};
}

static void print_since(const char *what, struct clocks since)
{
	struct clocks now = clocks_now();
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("%-8s %8.3f s cpu %8.3f s wall %8.1f MB peak\n", what, now.cpu - since.cpu,
	       now.wall - since.wall, (double)usage.ru_maxrss / 1024);
}

static void usage(void)
{
	fputs("bench-route [-e engine] [-d damage-percent] [-s seed] [-t threads] [-p patterns] "
	      "[-S shifts]\n"
	      "            [-n repeats] [-R scatter-seed] [-l lmc] [-H percent of hosts absent]\n"
	      "            [-L random LIDs] [-G random GUIDs]\n"
	      "            [-c no check] [-a route again with the result as previous]\n"
	      "            [-v lanes at most]\n"
	      "            [-P port shifting] [-D steps: damage grows in steps] FABRIC\n"
	      "FABRIC:      " TOPOGEN_WORDS,
	      stderr);
	exit(2);
}

static struct routes *compute(const struct bench *b, const struct topo *t,
			      const struct routes *previous)
{
	struct route_job job = {
		.topo = t, .previous = previous, .options = b->options, .threads = b->threads,
	};
	const struct route_engine *engine = route_engine_find(b->engine);
	char why[256] = "no such engine";
	struct routes *r = engine ? engine->compute(&job, why, sizeof(why)) : NULL;

	if (!r) {
		fprintf(stderr, "%s: %s\n", b->engine, why);
		exit(1);
	}
	return r;
}

static uint64_t changed_blocks(const struct routes *a, const struct routes *b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < (size_t)a->topo->n_switches * a->row_size; i += LFT_BLOCK_LIDS)
		n += memcmp(a->lft + i, b->lft + i, LFT_BLOCK_LIDS) != 0;
	return n;
}

/* Breaks the fabric in steps; returns the tables after the last. */
static struct routes *decay(const struct bench *b, int n, char **words)
{
	struct topogen gen = b->gen;
	struct routes *r = NULL;
	uint64_t blocks = 0;

	for (unsigned i = 0; i <= b->steps; i++) {
		struct topo *t;
		struct routes *next;

		gen.damage = b->gen.damage * i / b->steps;
		t = topogen_words(n, words, &gen);
		next = compute(b, t, r);
		blocks += r ? changed_blocks(r, next) : 0;
		routes_unref(r);
		topo_unref(t);
		r = next;
	}
	printf("decay    %llu blocks changed in %u steps\n", (unsigned long long)blocks, b->steps);
	return r;
}

static void report(const struct bench *b, const struct routes *r)
{
	char line[ROUTE_VERDICT_STRLEN];
	struct route_verdict v;
	struct clocks since = clocks_now();

	if (b->check) {
		routes_check(r, b->threads, &v);
		print_since("check", since);
		printf("         %s\n", route_verdict_str(&v, line));
	}
	if (r->note[0])
		printf("note     %s\n", r->note);
	if (b->patterns)
		printf("eBB      %.3f over %u patterns\n", tables_bisections(r, b->patterns, 1),
		       b->patterns);
	if (b->shifts)
		printf("shifts   %u flows on a channel at worst\n",
		       tables_shift_congestion(r, b->shifts));
}

static void run(const struct bench *b, int n, char **words)
{
	struct clocks since = clocks_now();
	struct topo *t = topogen_words(n, words, &b->gen);
	struct routes *r = NULL;

	if (!t)
		usage();
	print_since("topo", since);
	printf("         %u switches, %u hosts, LIDs to %u\n", t->n_switches, t->n_hosts,
	       t->max_lid);
	for (unsigned i = 0; i < b->repeat; i++) {
		routes_unref(r);
		since = clocks_now();
		r = compute(b, t, NULL);
		print_since("route", since);
	}
	if (b->again) {
		struct routes *second;

		since = clocks_now();
		second = compute(b, t, r);
		print_since("again", since);
		routes_unref(r);
		r = second;
	}
	report(b, r);
	routes_unref(r);
	topo_unref(t);
	if (b->steps) {
		r = decay(b, n, words);
		report(b, r);
		routes_unref(r);
	}
}

int main(int argc, char **argv)
{
	struct bench b = {
		.threads = 1, .patterns = 50, .repeat = 1, .check = true, .engine = "minhop"
	};
	int opt;

	while ((opt = getopt(argc, argv, "d:s:t:p:S:n:R:l:D:H:e:v:LGcaP")) != -1)
		switch (opt) {
		case 'd': b.gen.damage = atof(optarg) / 100; break;
		case 's': b.gen.seed = strtoull(optarg, NULL, 0); break;
		case 't': b.threads = (unsigned)atoi(optarg); break;
		case 'p': b.patterns = (unsigned)atoi(optarg); break;
		case 'S': b.shifts = (unsigned)atoi(optarg); break;
		case 'n': b.repeat = (unsigned)MAX(atoi(optarg), 1); break;
		case 'R': b.options.scatter_seed = (uint32_t)atoi(optarg); break;
		case 'l': b.gen.lmc = (uint8_t)atoi(optarg); break;
		case 'D': b.steps = (unsigned)atoi(optarg); break;
		case 'H': b.gen.absent = atof(optarg) / 100; break;
		case 'L': b.gen.random_lids = true; break;
		case 'G': b.gen.random_guids = true; break;
		case 'e': b.engine = optarg; break;
		case 'v': b.options.max_vls = (unsigned)atoi(optarg); break;
		case 'c': b.check = false; break;
		case 'a': b.again = true; break;
		case 'P': b.options.port_shifting = true; break;
		default: usage();
		}
	if (!route_engine_find(b.engine))
		usage();
	run(&b, argc - optind, argv + optind);
	return 0;
}
