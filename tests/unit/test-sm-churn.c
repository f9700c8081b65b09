// SPDX-License-Identifier: BSD-2-Clause
/*
 * Churn on a fabric of real size (36-port switches, 648 hosts): cables, hosts and switches that go
 * and come, one manager or two, of which one is killed; once the last cable is back, and all
 * answers, two sweep intervals are enough, but for cables that are named as held.
 *
 *   test-sm-churn SEED MANAGERS FAULTS_PER_SECOND     another life; LOUD=1 shows the log
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/netfile/netfile.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "sm/sm.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/random.h"

#define RADIX	 36
#define CHURN	 (20 * MONO_S)
#define INTERVAL 3

struct place {
	struct rig *rig;
	struct conf *conf;
	struct sim *sim;
	uint64_t dice;
	int hosts[RADIX * RADIX / 2], switches[RADIX + RADIX / 2];
	unsigned n_hosts, n_switches;
};

static unsigned draw(struct place *pl, unsigned n)
{
	return (unsigned)(random_next(&pl->dice) % n);
}

static void run_for(struct place *pl, mono_t t)
{
	rig_run(pl->rig, sim_now(pl->sim) + t);
}

static bool is_manager(const struct place *pl, int node)
{
	for (unsigned i = 0; i < pl->rig->n_sms; i++) {
		if (sim_find(pl->sim, pl->rig->sms[i].node) == node)
			return true;
	}
	return false;
}

/* Short outages of anything but the hosts of managers; the last are over before CHURN is. */
static void fault(struct place *pl)
{
	int host = pl->hosts[draw(pl, pl->n_hosts)], sw = pl->switches[draw(pl, pl->n_switches)];
	mono_t t = (1 + draw(pl, 40)) * 100 * MONO_MS;

	if (is_manager(pl, host))
		return;
	switch (draw(pl, 8)) {
	case 0:
	case 1:
		sim_link_flap(pl->sim, host, 1, t);
		break;
	case 2:
	case 3:
	case 4:
		sim_link_flap(pl->sim, sw, RADIX / 2 + 1 + draw(pl, RADIX / 2), t);
		break;
	case 5:
	case 6:
		sim_reboot(pl->sim, host, t);
		break;
	case 7:
		sim_reboot(pl->sim, sw, t);
		break;
	}
}

/* What is not as it should be is held for coming and going, port by port, and named so. */
static bool only_held(struct place *pl, const struct sm *sm, const struct sim_verdict *v)
{
	const struct fabric *f = sm_fabric(sm);
	unsigned n_ports = 0;
	bool host = false;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		for (unsigned num = 1; num <= f->nodes[i]->n_ports; num++) {
			bool held = sm_held_for(&f->nodes[i]->ports[num], sim_now(pl->sim)) > 0;

			n_ports += held;
			host |= held && !node_is_switch(f->nodes[i]);
		}
	}
	return !v->lids_missing && !v->lids_duplicate && !v->sm_lid_wrong &&
	       v->ports_not_active <= n_ports && (host || !v->unreachable);
}

static const char *ailment(struct place *pl)
{
	static char text[900];
	struct sm *sm = rig_master(pl->rig);
	struct sim_verdict v;
	char left_out[600] = "";

	if (!sm)
		return "no master, or two";
	sim_check_all(pl->sim, &v);
	v.loops_ever = 0;
	if (sim_verdict_good(&v))
		return NULL;
	sm_left_out(sm, left_out, sizeof(left_out));
	if (only_held(pl, sm, &v))
		return NULL;
	snprintf(text, sizeof(text), "%s; %s", v.first, left_out);
	return text;
}

static struct place *place_new(uint64_t seed, unsigned managers)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree2(RADIX);
	static const char *const nodes[] = { "h0", "h100" };
	struct place *pl = xcalloc(1, sizeof(*pl));

	pl->dice = seed;
	pl->sim = sim_new(net, seed);
	for (int n = 0; n < (int)sim_n_nodes(pl->sim); n++) {
		if (sim_node_is_switch(pl->sim, n))
			pl->switches[pl->n_switches++] = n;
		else
			pl->hosts[pl->n_hosts++] = n;
	}
	pl->rig = rig_new(pl->sim);
	pl->conf = conf_new();
	pl->conf->sweep_interval = INTERVAL;
	pl->conf->sminfo_polling_timeout = 1000;
	pl->conf->polling_retry_number = 2;
	for (unsigned i = 0; i < managers; i++)
		assert_true(rig_start(pl->rig, nodes[i], 0, pl->conf, NULL) >= 0);
	run_for(pl, 20 * MONO_S);
	assert_null(ailment(pl));
	return pl;
}

static void place_free(struct place *pl)
{
	rig_free(pl->rig);
	conf_unref(pl->conf);
	free(pl);
}

/* Returns how long it takes after the last thing is back. */
static mono_t live(uint64_t seed, unsigned managers, unsigned faults_per_s)
{
	struct place *pl = place_new(seed, managers);
	mono_t until = sim_now(pl->sim) + CHURN, begin;
	const char *why = "";

	for (unsigned i = 0; sim_now(pl->sim) < until; i++) {
		fault(pl);
		run_for(pl, MONO_S / faults_per_s);
		if (managers > 1 && i == CHURN / MONO_S * faults_per_s / 3)
			rig_kill(pl->rig, 0);
		if (managers > 1 && i == CHURN / MONO_S * faults_per_s * 2 / 3)
			assert_true(rig_start(pl->rig, "h0", 0, pl->conf, NULL) >= 0);
	}
	run_for(pl, 4 * MONO_S); /* the longest outage */
	begin = sim_now(pl->sim);
	while (why && sim_now(pl->sim) < begin + 120 * MONO_S) {
		why = ailment(pl);
		if (why)
			run_for(pl, MONO_S / 4);
		if (why && getenv("LOUD"))
			print_message("%d ms: %s\n", (int)((sim_now(pl->sim) - begin) / MONO_MS),
				      why);
	}
	begin = sim_now(pl->sim) - begin;
	place_free(pl);
	return begin;
}

static void one_manager(void **state)
{
	mono_t took = live(1, 1, 6);

	assert_true(took <= 2 * INTERVAL * MONO_S);
}

static void two_managers(void **state)
{
	mono_t took = live(2, 2, 6);

	assert_true(took <= 2 * INTERVAL * MONO_S);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_manager),
		cmocka_unit_test(two_managers),
	};
	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x07, .quiet = true };

	log_open(getenv("LOUD") ? &loud : &quiet);
	if (argc == 4) {
		print_message("%d ms\n",
			      (int)(live(strtoull(argv[1], NULL, 0), (unsigned)atoi(argv[2]),
					 (unsigned)atoi(argv[3])) /
				    MONO_MS));
		return 0;
	}
	return cmocka_run_group_tests_name("sm-churn", tests, NULL, NULL);
}
