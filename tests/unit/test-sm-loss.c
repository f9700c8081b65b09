// SPDX-License-Identifier: BSD-2-Clause
/*
 * What lost MADs cost a bring-up, as a multiple of the quiet one, in virtual time; and that nothing
 * is sent twice when nothing is lost, however slow or odd the agents are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "sim/gen/gen.h"
#include "tests/lib/rig.h"
#include "util/log.h"
#include "util/mem.h"

#define START (100 * MONO_MS)

struct way {
	const char *what;
	unsigned k; /* 12: 72 hosts on 18 switches; 36: 648 on 54 */
	unsigned wire;
	double loss;
	mono_t agent, hop, jitter;
	void (*more)(struct sim *sim);
	double times; /* as long as the quiet one at most; 0: not judged */
	bool is_quiet;
	unsigned per_cent; /* that may be repeated; 0: one */
};

struct outcome {
	mono_t took;
	uint64_t sent, retries;
};

static bool is_good(struct rig *rig)
{
	struct sim_verdict v;

	sim_check_all(rig->sim, &v);
	return sim_verdict_good(&v);
}

static struct outcome bring_up(const struct way *w, double loss, uint64_t seed)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree2(w->k);
	struct rig *rig = rig_new(sim_new(net, seed));
	struct conf *conf = conf_new();
	struct outcome o = { 0 };
	const struct mad_count *rows;
	unsigned n;

	conf->max_wire_smps = conf->max_wire_smps2 = w->wire;
	sim_advance(rig->sim, START);
	sim_set_loss(rig->sim, loss, loss);
	sim_set_sma_time(rig->sim, w->agent);
	sim_set_delay(rig->sim, w->hop, w->jitter);
	if (w->more)
		w->more(rig->sim);
	rig_start(rig, "h0", 0, conf, NULL);
	while (!rig->sms[0].ups && rig_step(rig, 300 * MONO_S))
		;
	for (unsigned i = 0; i < 1000 && !is_good(rig); i++)
		rig_run(rig, sim_now(rig->sim) + 10 * MONO_MS);
	if (!is_good(rig))
		fail_msg("%s: not up, seed %llu", w->what, (unsigned long long)seed);
	o.took = sim_now(rig->sim) - START;
	rows = mad_counts(sm_mad(rig->sms[0].sm), &n);
	for (unsigned i = 0; i < n; i++) {
		o.sent += rows[i].sent;
		o.retries += rows[i].retries;
	}
	rig_free(rig);
	conf_unref(conf);
	return o;
}

/* Every twelfth host takes 30 ms for a request, one at a time. */
static void some_are_slow(struct sim *sim)
{
	for (int i = 0; i < 72; i += 12)
		sim_set_node_sma_time(sim, i + 1, 30 * MONO_MS);
}

/* Hosts with agents of every speed from 0.05 to 100 ms. */
static void all_differ(struct sim *sim)
{
	for (int i = 1; i < 72; i++)
		sim_set_node_sma_time(sim, i, 50 * MONO_US << i % 12);
}

static const struct way ways[] = {
	{ "72 hosts, 1 % lost", 12, 4, 1, 50 * MONO_US, MONO_US, .times = 2 },
	{ "72 hosts, 5 % lost", 12, 4, 5, 50 * MONO_US, MONO_US, .times = 3 },
	{ "72 hosts, 20 % lost", 12, 4, 20, 50 * MONO_US, MONO_US, .times = 10 },
	{ "648 hosts, 5 % lost", 36, 4, 5, 50 * MONO_US, MONO_US, .times = 3 },
	{ "648 hosts, 20 % lost", 36, 4, 20, 50 * MONO_US, MONO_US, .times = 10 },
	{ "quiet", 12, 4, 0, 50 * MONO_US, MONO_US, .is_quiet = true },
	{ "648 hosts, no limit on the wire", 36, 100000, 0, 50 * MONO_US, MONO_US,
	  .is_quiet = true },
	{ "agents of 3 ms, many on the wire", 12, 64, 0, 3 * MONO_MS, MONO_US, .is_quiet = true },
	{ "agents of 20 ms, many on the wire", 12, 64, 0, 20 * MONO_MS, MONO_US, .is_quiet = true },
	{ "long ways", 12, 4, 0, 50 * MONO_US, 10 * MONO_MS, .is_quiet = true },
	{ "jitter", 12, 4, 0, 50 * MONO_US, MONO_US, 5 * MONO_MS, .is_quiet = true },
	{ "hosts of every speed", 12, 4, 0, 50 * MONO_US, MONO_US, .more = all_differ,
	  .is_quiet = true },
	{ "some slow hosts", 12, 4, 0, 50 * MONO_US, MONO_US, .more = some_are_slow,
	  .is_quiet = true, .per_cent = 2 },
};

/* The middle one of three seeds: one MAD lost eight times in a row is no fault. */
static struct outcome middle_of_three(const struct way *w, double loss)
{
	struct outcome o[3];

	for (unsigned i = 0; i < 3; i++)
		o[i] = bring_up(w, loss, i + 1);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned j = 0; j < 2; j++)
			if (o[j].took > o[j + 1].took) {
				struct outcome swap = o[j];

				o[j] = o[j + 1];
				o[j + 1] = swap;
			}
	return o[1];
}

static void loss_costs_a_few_times_the_quiet_bring_up(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const struct way *w = &ways[i];
		struct outcome quiet, lost;

		if (w->is_quiet)
			continue;
		quiet = bring_up(w, 0, 1);
		lost = middle_of_three(w, w->loss);
		printf("%s: %.1f times\n", w->what, (double)lost.took / (double)quiet.took);
		if ((double)lost.took > w->times * (double)quiet.took)
			fail_msg("%s: %lld us instead of %lld", w->what, (long long)lost.took,
				 (long long)quiet.took);
	}
}

static void nothing_is_sent_twice_when_nothing_is_lost(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const struct way *w = &ways[i];
		struct outcome o;

		if (!w->is_quiet)
			continue;
		o = bring_up(w, 0, 1);
		printf("%s: %llu of %llu repeated\n", w->what, (unsigned long long)o.retries,
		       (unsigned long long)o.sent);
		if (o.retries * 100 > o.sent * MAX(w->per_cent, 1u))
			fail_msg("%s: %llu of %llu repeated", w->what,
				 (unsigned long long)o.retries, (unsigned long long)o.sent);
	}
}

static void drop_line(void *arg, unsigned bits, const char *text)
{
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loss_costs_a_few_times_the_quiet_bring_up),
		cmocka_unit_test(nothing_is_sent_twice_when_nothing_is_lost),
	};

	log_set_sink(drop_line, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
