// SPDX-License-Identifier: BSD-2-Clause
/*
 * What one cable costs the routing job as the daemon runs it: in this process, and in a process of
 * its own that goes on from the last event. Asserts nothing.
 *
 *   bench-child [-e engine] [-n events] [-s seed] FABRIC, as in tests/lib/topocut.h
 *
 * ms per event, median over all: time that passes, processor time of all processes, and what of it
 * is the child's.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/route_child.h"
#include "sm/routing/route_job.h"
#include "sm/routing/route_memory.h"
#include "tests/lib/topocut.h"
#include "util/mem.h"
#include "util/random.h"

struct bench {
	struct topo *whole;
	struct conf *conf;
	struct conf_files *files;
	unsigned events;
	uint64_t seed;
};

/* One manager: with a child or without. */
struct manager {
	struct route_child *child;
	struct route_memory *memory;
	struct routes *routes;
	double *wall, *cpu, *of_child;
	unsigned n;
};

static double seconds(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t now_ms(void)
{
	return (uint64_t)(seconds(CLOCK_MONOTONIC) * 1e3);
}

static pid_t child_of(const struct manager *m)
{
	char path[64];
	long pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
	f = m->child ? fopen(path, "re") : NULL;
	if (!f)
		return 0;
	if (fscanf(f, "%ld", &pid) != 1)
		pid = 0;
	fclose(f);
	return (pid_t)pid;
}

static double child_seconds(const struct manager *m)
{
	pid_t pid = child_of(m);
	clockid_t clock;

	return pid && clock_getcpuclockid(pid, &clock) == 0 ? seconds(clock) : 0;
}

static void on_routes(void *owner, struct routes *routes, struct route_report *report)
{
	struct manager *m = owner;

	if (!routes) {
		fprintf(stderr, "%s\n", report->why);
		exit(1);
	}
	routes_unref(m->routes);
	m->routes = routes;
	route_memory_note(m->memory, routes, report, report->conf, report->files, 0);
}

static void compute(struct manager *m, const struct bench *b, const struct topo *t)
{
	struct sm_job *job = route_job_new(&(struct route_order){
		.topo = t,
		.previous = m->routes,
		.conf = b->conf,
		.files = b->files,
		.engines = &(struct route_engines){ .n = 0 },
		.runner = m->child ? route_child_runner(m->child) : NULL,
		.memory = m->memory,
		.done = on_routes,
		.owner = m,
	});
	double wall, cpu, child;

	wall = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	child = child_seconds(m);
	job->run(job);
	job->done(job);
	m->wall[m->n] = (seconds(CLOCK_MONOTONIC) - wall) * 1e3;
	m->cpu[m->n] = (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e3;
	usleep(300 * 1000); /* what is left to do when the result is out counts, too */
	m->of_child[m->n] = (child_seconds(m) - child) * 1e3;
	m->cpu[m->n] += m->of_child[m->n];
	m->n++;
}

static void set_up(struct manager *m, const struct bench *b, bool with_child)
{
	*m = (struct manager){ .memory = route_memory_new() };
	m->wall = xcalloc(b->events * 2 + 1, sizeof(double));
	m->cpu = xcalloc(b->events * 2 + 1, sizeof(double));
	m->of_child = xcalloc(b->events * 2 + 1, sizeof(double));
	if (with_child)
		m->child = route_child_new(now_ms, (struct title){ 0 });
	compute(m, b, b->whole);
	routes_settle(m->routes); /* as the subnet manager does when there is time */
	m->n = 0;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *all, unsigned n)
{
	qsort(all, n, sizeof(*all), by_size);
	return n ? all[n / 2] : 0;
}

static void tell(const char *what, struct manager *m)
{
	printf("%-10s %9.1f %9.1f %9.1f\n", what, median(m->wall, m->n), median(m->cpu, m->n),
	       median(m->of_child, m->n));
}

static void tear_down(struct manager *m)
{
	route_child_free(m->child);
	route_memory_free(m->memory);
	routes_unref(m->routes);
	free(m->wall);
	free(m->cpu);
	free(m->of_child);
}

static void run(const struct bench *b)
{
	struct topocut *cut = topocut_new(b->whole);
	uint32_t n, *cables = topocut_cables(b->whole, &n);
	struct manager child, here;
	uint64_t seed = b->seed;

	set_up(&child, b, true); /* before this process has threads of its own */
	set_up(&here, b, false);
	for (unsigned i = 0; i < b->events && n; i++) {
		uint32_t at = cables[random_next(&seed) % n];
		struct topo *t;

		cut->ports[at] = true;
		t = topocut_apply(b->whole, cut);
		cut->ports[at] = false;
		compute(&child, b, t);
		compute(&here, b, t);
		compute(&child, b, b->whole);
		compute(&here, b, b->whole);
		topo_unref(t);
	}
	printf("%-10s %9s %9s %9s\n", "ms", "passed", "cpu", "of child");
	tell("here", &here);
	tell("in a child", &child);
	tear_down(&child);
	tear_down(&here);
	topocut_free(cut);
	free(cables);
}

static int usage(void)
{
	fprintf(stderr, "bench-child [-e engine] [-n events] [-s seed] FABRIC\n" TOPOGEN_WORDS);
	return 2;
}

int main(int argc, char **argv)
{
	struct bench b = { .events = 20, .seed = 1 };
	const struct conf_place nowhere = { 0 };
	struct conf_report report = { 0 };
	const char *engine = "auto";
	int c;

	while ((c = getopt(argc, argv, "e:n:s:")) != -1) {
		switch (c) {
		case 'e': engine = optarg; break;
		case 'n': b.events = (unsigned)atoi(optarg); break;
		case 's': b.seed = strtoull(optarg, NULL, 0); break;
		default: return usage();
		}
	}
	signal(SIGPIPE, SIG_IGN);
	b.whole = topogen_words(argc - optind, argv + optind, &(struct topogen){ .seed = 1 });
	if (!b.whole)
		return usage();
	b.conf = conf_new();
	if (conf_set(b.conf, CONF_ID_routing_engine, engine, &nowhere, &report) < 0)
		return usage();
	b.files = conf_files_read(b.conf, NULL);
	run(&b);
	conf_report_clear(&report);
	conf_files_unref(b.files);
	conf_unref(b.conf);
	topo_unref(b.whole);
	return 0;
}
