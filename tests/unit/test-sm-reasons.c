// SPDX-License-Identifier: BSD-2-Clause
/*
 * Why a port is left out, kept over many moments: as long as sm_reasons_hold(), the reason of a
 * port changes with an edit of its node alone. Random lives print their seed; TEST_SEED repeats a
 * run.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ib/attrs.h"
#include "ib/notices.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "sim/netfile/netfile.h"
#include "sm/marks/marks.h"
#include "sm/sm.h"
#include "tests/lib/rounds.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/random.h"

enum { CHANGES = 120, STEPS_MOST = 4000, ROWS = 254 };

struct life {
	struct rig *rig;
	struct conf *conf;
	struct sm *sm;
	struct sim *sim;
	uint64_t dice;
	struct sm_reasons *reasons; /* as they were; with them, by node->index and port: */
	const char **why;
	uint64_t edits;
	unsigned seen; /* changes of reasons */
};

static void quiet(void *arg, unsigned bits, const char *text)
{
}

static void on_answer(void *arg, const struct mark_result *r)
{
}

/* ---- changes --------------------------------------------------------------------------------- */

static void complain(struct life *l, int node, unsigned port)
{
	uint8_t notice[SMP_DATA_SIZE] = { 0 };

	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TYPE, 1);
	ib_put(notice, NT_TRAP, TRAP_LINK_INTEGRITY);
	ib_put(notice, N129_LID, sim_port_lid(l->sim, node, 0));
	ib_put(notice, N129_PORT, port);
	ib_put(notice, NT_ISSUER_LID, sim_port_lid(l->sim, node, 0));
	sim_send_trap(l->sim, node, port, notice);
}

static void mark(struct life *l, int node, unsigned port)
{
	const struct mark_request rq = { .action = random_next(&l->dice) % 3,
					 .node = sim_node_guid(l->sim, node),
					 .port = (uint8_t)port,
					 .by = "root",
					 .why = "a test" };

	if (fabric_find_node(sm_fabric(l->sm), rq.node))
		sm_mark_request(l->sm, &rq, on_answer, NULL);
}

static void mend_all(struct life *l)
{
	for (int i = 0; i < (int)sim_n_nodes(l->sim); i++) {
		sim_set_silent(l->sim, i, SIM_ANSWERS, 0);
		sim_set_refuse(l->sim, i, IB_ATTR_LFT, 0);
		for (unsigned port = 1; port <= sim_node_ports(l->sim, i); port++) {
			sim_link_enable(l->sim, i, port, true);
			sim_link_up(l->sim, i, port);
		}
	}
}

static void change(struct life *l)
{
	int node = (int)(random_next(&l->dice) % sim_n_nodes(l->sim));
	unsigned port = 1 + (unsigned)(random_next(&l->dice) % sim_node_ports(l->sim, node));
	bool on = random_next(&l->dice) & 1;

	if (node == sim_find(l->sim, "h0"))
		mend_all(l);
	switch (random_next(&l->dice) % 9) {
	case 0:
		sim_link_flap(l->sim, node, port, MONO_S);
		break;
	case 1:
		sim_reboot(l->sim, node, 3 * MONO_S);
		break;
	case 2:
		sim_set_silent(l->sim, node, SIM_SILENT, on ? IB_ATTR_PORT_INFO : 0);
		break;
	case 3:
		sim_link_enable(l->sim, node, port, on);
		break;
	case 4:
		sim_set_refuse(l->sim, node, IB_ATTR_LFT, MAD_STATUS_BAD_VALUE);
		break;
	case 5:
		mark(l, node, port);
		break;
	case 6:
		sm_request_heavy(l->sm, NULL);
		break;
	case 7:
		for (unsigned i = 0; i < 20; i++)
			sim_link_flap(l->sim, node, port, MONO_MS * (i + 1));
		break;
	case 8:
		for (unsigned i = 0; i < 60 && sim_node_is_switch(l->sim, node); i++)
			complain(l, node, port);
		break;
	}
}

/* ---- what is watched ------------------------------------------------------------------------- */

static void note_all(struct life *l)
{
	const struct fabric *f = sm_fabric(l->sm);

	sm_reasons_free(l->reasons);
	l->reasons = sm_reasons_new(l->sm);
	free(l->why);
	l->why = xcalloc((size_t)(f->n_nodes + 1u) * ROWS, sizeof(*l->why));
	l->edits = f->edits;
	FABRIC_EACH_NODE(f, n)
		for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++)
			l->why[n->index * ROWS + i] = sm_reason(l->reasons, &n->ports[i]);
}

static void look_at_node(struct life *l, const struct node *n)
{
	for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++) {
		const char *now = sm_reason(l->reasons, &n->ports[i]);
		const char *had = l->why[n->index * ROWS + i];

		if (now == had)
			continue;
		l->seen++;
		if (n->edited <= l->edits)
			fail_msg("'%s' port %u: \"%s\" became \"%s\" unnoticed", n->desc, i,
				 had ? had : "", now ? now : "");
	}
}

static void look(struct life *l)
{
	const struct fabric *f = sm_fabric(l->sm);
	bool holds = l->reasons && sm_reasons_hold(l->reasons, l->sm);

	if (holds)
		FABRIC_EACH_NODE(f, n)
			look_at_node(l, n);
	note_all(l);
}

static unsigned live(uint64_t seed)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, 3, 2, 1);
	struct life l = { .conf = conf_new(), .dice = seed };
	unsigned seen;

	l.sim = sim_new(net, 1);
	l.rig = rig_new(l.sim);
	l.conf->babbling_port_policy = true;
	assert_int_equal(rig_start(l.rig, "h0", 0, l.conf, NULL), 0);
	l.sm = l.rig->sms[0].sm;
	rig_run(l.rig, 20 * MONO_S);
	for (unsigned i = 0; i < CHANGES; i++) {
		mono_t until = sim_now(l.sim) + (mono_t)(random_next(&l.dice) % 8) * MONO_S;

		change(&l);
		for (unsigned step = 0; step < STEPS_MOST && rig_step(l.rig, until); step++)
			look(&l);
	}
	seen = l.seen;
	sm_reasons_free(l.reasons);
	free(l.why);
	rig_free(l.rig);
	conf_unref(l.conf);
	return seen;
}

static void reasons_change_with_their_nodes(void **state)
{
	const char *seed = getenv("TEST_SEED");
	uint64_t first = seed ? strtoull(seed, NULL, 0) : 1;
	unsigned seen = 0;

	log_set_sink(quiet, NULL);
	for (uint64_t i = first; i < first + test_rounds(10); i++) {
		print_message("# TEST_SEED=%" PRIu64 "\n", i);
		seen += live(i);
	}
	assert_true(seen > test_rounds(100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_change_with_their_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
