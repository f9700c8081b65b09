// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a change of a partition at run time costs a manager: SMPs, CPU and wall-clock time from the
 * request to its answer, disk included, simulated devices included (so too high). Changes one after
 * the other, then all at once.
 *
 * `make bench-tenancy && ./bench-tenancy 36 [changes [folder]]`: a tree of 3 levels of 36-port
 * switches, 11,664 hosts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/gen/gen.h"
#include "tests/lib/rig.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/random.h"

struct bench {
	struct rig *rig;
	guid_t *guids;
	unsigned n_hosts, n_open, n_failed;
	uint64_t random;
};

static void drop_line(void *arg, unsigned bits, const char *text)
{
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void note_hosts(struct bench *b)
{
	b->guids = xcalloc(sim_n_nodes(b->rig->sim) + 1, sizeof(*b->guids));
	for (unsigned i = 0; i < sim_n_nodes(b->rig->sim); i++) {
		uint8_t ni[SMP_DATA_SIZE];

		if (sim_node_is_switch(b->rig->sim, (int)i))
			continue;
		sim_read(b->rig->sim, (int)i, IB_ATTR_NODE_INFO, 0, ni);
		b->guids[b->n_hosts++] = ib_get(ni, NI_PORT_GUID);
	}
}

static void on_answer(void *arg, const struct sm_tenancy_result *r)
{
	struct bench *b = arg;

	b->n_open--;
	b->n_failed += r->end != SM_TENANCY_DONE;
}

static void ask_random(struct bench *b)
{
	uint64_t r = random_next(&b->random);
	struct tenant_member member = { b->guids[(r >> 20) % b->n_hosts], true, false };
	const struct tenant_request rq = {
		.action = r & 1 << 19 ? TENANT_REMOVE : TENANT_ADD,
		.pkey = (uint16_t)(1 + (r & 0x3F)),
		.members = &member,
		.n_members = 1,
		.keep_empty = true,
	};

	b->n_open++;
	sm_tenancy_request(rig_master(b->rig), &rq, true, false, on_answer, b);
}

static void wait_for_all(struct bench *b)
{
	while (b->n_open && rig_step(b->rig, sim_now(b->rig->sim) + 60 * MONO_S))
		;
}

static void changes(struct bench *b, const char *what, unsigned n, bool at_once)
{
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
	uint64_t n_sets = sim_sets(b->rig->sim), n_gets = sim_gets(b->rig->sim);

	for (unsigned i = 0; i < n; i++) {
		ask_random(b);
		if (!at_once)
			wait_for_all(b);
	}
	wait_for_all(b);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = seconds(CLOCK_MONOTONIC) - wall;
	printf("%-14s %6u changes  %7" PRIu64 " Sets %7" PRIu64 " Gets  %8.3f ms CPU each  "
	       "%8.3f ms each, disk included  %u failed\n",
	       what, n, sim_sets(b->rig->sim) - n_sets, sim_gets(b->rig->sim) - n_gets,
	       cpu * 1e3 / n, wall * 1e3 / n, b->n_failed);
}

/* All hosts into one partition by one request, and out of it. */
static void set_all(struct bench *b, bool in)
{
	struct tenant_member *members = xcalloc(b->n_hosts, sizeof(*members));
	const struct tenant_request rq = {
		.action = TENANT_SET,
		.pkey = 0x700,
		.members = members,
		.n_members = in ? b->n_hosts : 0,
		.keep_empty = true,
	};
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), longest = 0, t, step;
	uint64_t n_sets = sim_sets(b->rig->sim);

	for (unsigned i = 0; i < b->n_hosts; i++)
		members[i] = (struct tenant_member){ b->guids[i], true, false };
	b->n_open++;
	sm_tenancy_request(rig_master(b->rig), &rq, true, false, on_answer, b);
	while (b->n_open) {
		t = seconds(CLOCK_PROCESS_CPUTIME_ID);
		rig_step(b->rig, sim_now(b->rig->sim) + 60 * MONO_S);
		step = seconds(CLOCK_PROCESS_CPUTIME_ID) - t;
		longest = step > longest ? step : longest;
	}
	printf("%-14s %6u members %7" PRIu64 " Sets  %8.1f ms CPU, longest dispatch %8.1f ms  %u "
	       "failed\n",
	       in ? "all join" : "all leave", b->n_hosts, sim_sets(b->rig->sim) - n_sets,
	       (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e3, longest * 1e3, b->n_failed);
	free(members);
}

int main(int argc, char **argv)
{
	unsigned k = argc > 1 ? (unsigned)atoi(argv[1]) : 8,
		 n = argc > 2 ? (unsigned)atoi(argv[2]) : 1000;
	char own[SCRATCH_PATH];
	const char *dir = argc > 3 ? argv[3] : scratch_folder(own);
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree3(k);
	struct bench b = { .random = 1 };
	struct conf *conf = conf_new();

	log_set_sink(drop_line, NULL);
	b.rig = rig_new(sim_new(net, 1));
	rig_start(b.rig, "h0", 0, conf, dir);
	rig_run(b.rig, 4 * MONO_S);
	note_hosts(&b);
	printf("%u hosts, %s\n", b.n_hosts, rig_master(b.rig) ? "MASTER" : "no master");
	if (!rig_master(b.rig)) /* more hosts than LIDs, say */
		return 1;
	changes(&b, "one by one", n, false);
	changes(&b, "all at once", n, true);
	set_all(&b, true);
	set_all(&b, false);
	rig_free(b.rig);
	conf_unref(conf);
	free(b.guids);
	return 0;
}
