// SPDX-License-Identifier: BSD-2-Clause
/*
 * What congestion control costs: MADs of class 0x21 of a bring-up, of a heavy sweep behind it, of a
 * host that came back, and of hosts that never answer.
 *
 * `make bench-congestion && ./bench-congestion 36`: a tree of 3 levels of 36-port switches, 11,664
 * hosts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/counters.h"
#include "sim/cca.h"
#include "sim/gen/gen.h"
#include "tests/lib/rig.h"
#include "util/log.h"
#include "util/mem.h"

struct bench {
	struct rig *rig;
	struct cc *cc;
	struct cc_status before;
	double cpu; /* of congestion control alone, seconds */
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

static void on_congestion(struct rig_sm *sm, struct transport_event *ev, mono_t now)
{
	struct bench *b = sm->rig->owner;
	double t = cpu_seconds();

	congestion_receive(b->cc, sm->sm, ev, now);
	b->cpu += cpu_seconds() - t;
}

static void on_event(struct rig_sm *sm, const struct sm_event *event)
{
	struct bench *b = sm->rig->owner;

	congestion_note(b->cc, event);
}

static void run(struct bench *b, mono_t t)
{
	mono_t until = sim_now(b->rig->sim) + t, now;

	while ((now = sim_now(b->rig->sim)) < until) {
		struct sm *sm = b->rig->sms[0].sm;
		double began = cpu_seconds();

		congestion_dispatch(b->cc, sm, now);
		b->cpu += cpu_seconds() - began;
		rig_step(b->rig, sm_state(sm) == SM_MASTER
					 ? mono_min(until, MAX(cc_next(b->cc), now + 1))
					 : until);
	}
}

static void end(struct bench *b, const char *what)
{
	struct cc_status st;

	cc_status(b->cc, &st);
	printf("%-28s %6" PRIu64 " Gets %6" PRIu64 " Sets %5" PRIu64
	       " timeouts  %8.1f ms CPU  %u set up, %u silent\n",
	       what, st.n_gets - b->before.n_gets, st.n_sets - b->before.n_sets,
	       st.timeouts - b->before.timeouts, b->cpu * 1e3, st.ports[CC_SETTLED],
	       st.ports[CC_SILENT]);
	b->before = st;
	b->cpu = 0;
}

/* `profile`: of cc_profile; NULL: none. */
static struct conf *options(const char *profile)
{
	static const struct conf_place nowhere;
	struct conf_report r = { 0 };
	struct conf *c = conf_new();

	c->congestion_control = true;
	c->cc_log_interval = 0;
	c->cc_key_enable = 2;
	c->cc_key = 0x5eed;
	c->cc_sw_cong_setting_control_map = 0x15;
	c->cc_sw_cong_setting_threshold = 15;
	c->cc_ca_cong_setting_control_map = 1;
	c->cc_ca_cong_setting_ccti_timer.values[0] = 150;
	c->cc_cct.n = CONF_CCT_MAX;
	for (unsigned i = 0; i < CONF_CCT_MAX; i++)
		c->cc_cct.entries[i].multiplier = (uint16_t)i;
	if (profile && conf_set(c, CONF_ID_cc_profile, profile, &nowhere, &r) < 0)
		printf("cc_profile %s is none\n", profile);
	conf_report_clear(&r);
	return c;
}

int main(int argc, char **argv)
{
	unsigned k = argc > 1 ? (unsigned)atoi(argv[1]) : 8;
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree3(k);
	struct bench b = { .rig = rig_new(sim_new(net, 1)), .cc = cc_new() };
	struct conf *conf = options(argc > 2 ? argv[2] : NULL);
	int host;

	log_set_sink(drop_line, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("fat tree of 3 levels, %u-port switches, %u hosts, 2 blocks of the table\n", k,
	       k * k * k / 4);
	b.rig->congestion = on_congestion;
	b.rig->event = on_event;
	b.rig->owner = &b;
	host = sim_find(b.rig->sim, "h9");
	sim_set_cc(b.rig->sim, sim_find(b.rig->sim, "h5"), SIM_CC_SILENT);
	rig_start(b.rig, "h0", 0, conf, NULL);
	run(&b, 8 * MONO_S);
	end(&b, "bring-up, one host silent");
	run(&b, 12 * MONO_S);
	end(&b, "the second heavy sweep");
	sm_request_heavy(b.rig->sms[0].sm, NULL);
	run(&b, 20 * MONO_S);
	end(&b, "a heavy sweep");
	sim_link_flap(b.rig->sim, host, 1, 2 * MONO_S);
	run(&b, 30 * MONO_S);
	end(&b, "a host that came back");
	run(&b, 300 * MONO_S);
	end(&b, "five quiet minutes");
	cc_free(b.cc);
	rig_free(b.rig);
	conf_unref(conf);
	return 0;
}
