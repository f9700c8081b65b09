// SPDX-License-Identifier: BSD-2-Clause
/*
 * What M_Keys of single ports cost a manager, disk and simulated devices included (so too high):
 * bring-up with and without them, a rotation of all keys, and ten minutes of leases afterwards.
 *
 * `make bench-keys && ./bench-keys 36 [rotations]`: a tree of 3 levels of 36-port switches, 11,664
 * hosts.
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

#define LEASE 60
#define SEED  UINT64_C(0x5eed0000000000aa)
#define QUIET (600 * MONO_S)

struct bench {
	struct rig *rig;
	double cpu, longest;
	uint64_t n_sets, n_gets;
	mono_t began;
};

static void drop_line(void *arg, unsigned bits, const char *text)
{
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void begin(struct bench *b)
{
	b->cpu = cpu_seconds();
	b->longest = 0;
	b->n_sets = sim_sets(b->rig->sim);
	b->n_gets = sim_gets(b->rig->sim);
	b->began = sim_now(b->rig->sim);
}

static void step(struct bench *b, mono_t until)
{
	double t = cpu_seconds();

	rig_step(b->rig, until);
	t = cpu_seconds() - t;
	b->longest = t > b->longest ? t : b->longest;
}

static void run(struct bench *b, mono_t t)
{
	mono_t until = sim_now(b->rig->sim) + t;

	while (sim_now(b->rig->sim) < until)
		step(b, until);
}

static void end(const struct bench *b, const char *what)
{
	printf("%-22s %7" PRIu64 " Gets %7" PRIu64 " Sets  %9.1f ms CPU  %8.1f s virtual  longest "
	       "dispatch %6.1f ms\n",
	       what, sim_gets(b->rig->sim) - b->n_gets, sim_sets(b->rig->sim) - b->n_sets,
	       (cpu_seconds() - b->cpu) * 1e3,
	       (double)(sim_now(b->rig->sim) - b->began) / (double)MONO_S, b->longest * 1e3);
}

static bool is_done(struct bench *b, uint32_t epoch)
{
	const struct sm *sm = rig_master(b->rig);
	struct sm_keys keys;

	if (!sm)
		return false;
	sm_keys(sm, &keys);
	return !keys.changing && keys.epoch >= epoch && keys.n_ports &&
	       keys.n_right == keys.n_ports;
}

static void rotate(struct bench *b)
{
	struct sm_keys keys;
	mono_t until = sim_now(b->rig->sim) + 600 * MONO_S;

	sm_keys(rig_master(b->rig), &keys);
	begin(b);
	if (sm_rotate_keys(rig_master(b->rig)) < 0)
		printf("the rotation is refused\n");
	/* Looked at now and then only: each look makes the keys of all ports. */
	while (sim_now(b->rig->sim) < until && !is_done(b, keys.epoch + 1))
		run(b, 100 * MONO_MS);
	end(b, "rotation");
}

static void quiet(struct bench *b)
{
	begin(b);
	run(b, QUIET);
	end(b, "ten minutes of leases");
}

/* A fabric of its own; with a key for each port if `locked`. */
static void measure(unsigned k, bool locked, unsigned n_rotations)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree3(k);
	struct bench b = { .rig = rig_new(sim_new(net, 1)) };
	struct conf *conf = conf_new();
	char dir[SCRATCH_PATH];

	if (locked) {
		conf->m_key_per_port = true;
		conf->m_key = SEED;
		conf->m_key_protection_level = 2;
		conf->m_key_lease_period = LEASE;
	}
	begin(&b);
	rig_start(b.rig, "h0", 0, conf, scratch_folder(dir));
	run(&b, 8 * MONO_S);
	end(&b, locked ? "bring-up, level 2" : "bring-up, no keys");
	for (unsigned i = 0; locked && i < n_rotations; i++) {
		rotate(&b);
		run(&b, 150 * MONO_S); /* keys may be those of before or after so long */
	}
	if (locked)
		quiet(&b);
	rig_free(b.rig);
	conf_unref(conf);
	scratch_remove(dir);
}

int main(int argc, char **argv)
{
	unsigned k = argc > 1 ? (unsigned)atoi(argv[1]) : 8;
	unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 3;

	log_set_sink(drop_line, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("fat tree of 3 levels, %u-port switches, %u hosts\n", k, k * k * k / 4);
	measure(k, false, 0);
	measure(k, true, n);
	return 0;
}
