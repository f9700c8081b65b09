// SPDX-License-Identifier: BSD-2-Clause
/*
 * What an expected topology costs the manager of a tree of three levels: CPU time of its jobs, and
 * the longest time that the thread of the manager did nothing else, each dispatch measured, with
 * and without the file. What the simulated fabric takes to answer is in it.
 * `make bench-expected && ./bench-expected 36 [csv|text|topo] [enforce]`: 11,664 hosts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/rig.h"
#include "tests/lib/scratch.h"
#include "sim/gen/gen.h"
#include "fabric/observe.h"
#include "sm/expected/expected_internal.h"
#include "topo/expect_file.h"
#include "util/log.h"
#include "util/mem.h"
#include "view/view_copy.h"
#include "view/view_facts.h"

struct bench {
	struct rig *rig;
	struct sm *sm;
	double longest; /* ms */
};

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* The jobs of the manager are run by the rig itself: their time is theirs. */
static void run_job(struct bench *b, struct rig_sm *s)
{
	struct rig_job *j = s->jobs;
	double start = cpu_ms(), took;

	s->jobs = j->next;
	j->job->run(j->job);
	took = cpu_ms() - start;
	if (strstr(j->job->what, "topology"))
		printf("  job '%s': %.1f ms\n", j->job->what, took);
	start = cpu_ms();
	j->job->done(j->job);
	sm_dispatch(s->sm, sim_now(b->rig->sim));
	took = cpu_ms() - start;
	b->longest = MAX(b->longest, took);
	free(j);
}

static void run_for(struct bench *b, mono_t t)
{
	struct rig_sm *s = &b->rig->sms[0];
	mono_t until = sim_now(b->rig->sim) + t;

	b->longest = 0;
	for (bool any = true; any;) {
		double start;

		while (s->jobs)
			run_job(b, s);
		start = cpu_ms();
		any = rig_step(b->rig, until);
		b->longest = MAX(b->longest, cpu_ms() - start);
	}
}

static void write_topo(const struct expect *x, FILE *out)
{
	for (uint32_t i = 0; i < x->n_nodes; i++) {
		const struct expect_node *n = &x->nodes[i];

		fprintf(out, "T %s\n", n->name);
		for (uint32_t k = n->first_port; k < n->first_port + n->n_ports; k++) {
			const struct expect_port *far = &x->ports[x->ports[k].peer];

			fprintf(out, "  P%u -> T %s P%u\n", x->ports[k].number,
				x->nodes[far->node].name, far->number);
		}
		fputs("\n", out);
	}
}

static char *write_file(const struct bench *b, const char *kind)
{
	_cleanup_(view_unrefp) struct view *v = sm_view_now(b->sm, NULL, 0);
	struct expect *x = expect_build(view_facts(v));
	char *path = scratch_file("");
	FILE *out = fopen(path, "w");

	if (!out)
		exit(1);
	if (!strcmp(kind, "topo"))
		write_topo(x, out);
	else
		expect_write(x, strcmp(kind, "csv") ? EXPECT_NETDISCOVER : EXPECT_CSV, 0, out);
	printf("file: %ld bytes\n", ftell(out));
	fclose(out);
	expect_free(x);
	return path;
}

/* The cables that are found, for `opensmctl topology save`. */
static void time_copy(const struct bench *b)
{
	struct view_copy *c = sm_view_copy(b->sm, NULL, 0, NULL);
	struct view *v = NULL;
	double longest = 0, all = 0;
	unsigned turns = 0;

	while (!v) {
		double start = cpu_ms();

		view_copy_turn(&c, &v);
		longest = MAX(longest, cpu_ms() - start);
		all += cpu_ms() - start;
		turns++;
	}
	printf("  copying the fabric: %.1f ms in %u turns, %.2f ms at most\n", all, turns,
	       longest);
	view_unref(v);
}

static void time_settle(const struct bench *b, const char *when)
{
	uint64_t before = b->sm->m.expected->verdicts.judged;
	double start = cpu_ms();

	expected_settle(b->sm);
	printf("  judging, %s: %.2f ms, %" PRIu64 " cables\n", when, cpu_ms() - start,
	       b->sm->m.expected->verdicts.judged - before);
}

/* What is done on the thread of the manager: before each routing, and after each sweep. */
static void time_steps(const struct bench *b)
{
	double start, longest = -1;

	time_copy(b);
	time_settle(b, "nothing has changed");
	observe_shown(sm_fabric(b->sm)->nodes[0]);
	time_settle(b, "a node has changed");
	((struct fabric *)sm_fabric(b->sm))->shape++;
	time_settle(b, "a node came or went");
	expected_forget_verdicts(b->sm->m.expected);
	time_settle(b, "another file");
	start = cpu_ms();
	expected_sweep_ended(b->sm);
	while (longest < 0 || cpu_ms() - start > 0.01) {
		longest = MAX(longest, cpu_ms() - start);
		start = cpu_ms();
		expected_tick(b->sm);
	}
	printf("  what a comparison begins with: %.2f ms at most at a time\n", longest);
}

static void use_file(struct bench *b, struct conf *conf, const char *path)
{
	_cleanup_(conf_unrefp) struct conf *with = conf_copy(conf);
	_cleanup_(conf_files_unrefp) struct conf_files *files = NULL;

	free(with->expected_topology_file);
	with->expected_topology_file = path ? xstrdup(path) : NULL;
	files = conf_files_read(with, sm_files(b->sm));
	sm_reload(b->sm, with, files);
}

int main(int argc, char **argv)
{
	unsigned k = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 8;
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree3(k);
	_cleanup_(conf_unrefp) struct conf *conf = conf_new();
	struct bench b = { .rig = rig_new(sim_new(net, 1)) };
	struct sm_expected e;
	char *path;

	if (argc > 3) {
		free(conf->expected_topology_links);
		conf->expected_topology_links = xstrdup(argv[3]);
	}
	b.rig->job_time = 1;
	rig_start(b.rig, "h0", 0, conf, NULL);
	b.sm = b.rig->sms[0].sm;
	run_for(&b, 300 * MONO_S);
	path = write_file(&b, argc > 2 ? argv[2] : "csv");
	for (unsigned turn = 0; turn < 6; turn++) {
		use_file(&b, conf, turn % 2 ? path : NULL);
		run_for(&b, 60 * MONO_S);
		sm_expected(b.sm, &e);
		printf("%s: %u cables expected, %u findings, the thread was held %.2f ms\n",
		       turn % 2 ? "with the file" : "without it", e.cables,
		       e.drift ? e.drift->n : 0, b.longest);
		time_steps(&b);
	}
	free(path);
	rig_free(b.rig);
	return 0;
}
