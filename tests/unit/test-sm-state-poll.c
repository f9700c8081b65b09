// SPDX-License-Identifier: BSD-2-Clause
/*
 * The port state poll: blocks and nibbles of SwitchPortStateTable for switches of any width, which
 * tables are not believed, and how much is asked of switches that do not answer
 * (tests/scenario/state-poll.scn has the rest).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ib/attrs.h"
#include "sim/gen/gen.h"
#include "sim/netfile/netfile.h"
#include "sm/read/light_internal.h"
#include "sm/sm_internal.h"
#include "tests/lib/rig.h"
#include "util/log.h"
#include "util/mem.h"

static const unsigned widths[] = { 1, 2, 31, 32, 33, 64, 126, 127, 128, 129, 254, 255 };

/* ---- the table ---- */

struct desk {
	struct node node;
	struct port ports[256];
	uint8_t table[PST_BLOCKS * SMP_DATA_SIZE];
};

/* Port `i` of PortInfo and in the table: even ports in the high half of a byte. */
static void put(struct desk *d, unsigned i, unsigned picture, unsigned said)
{
	uint8_t *byte = &d->table[i / 2];

	d->ports[i].known = true;
	ib_put(d->ports[i].info, PI_PORT_STATE, picture);
	*byte = (uint8_t)(i % 2 ? (*byte & 0xF0) | said : (*byte & 0x0F) | said << 4);
}

static void desk_set(struct desk *d, unsigned n_ports)
{
	*d = (struct desk){ .node = { .n_ports = (uint8_t)n_ports } };
	d->node.ports = d->ports;
	for (unsigned i = 0; i <= n_ports; i++)
		put(d, i, IB_PORT_DOWN + i % 4, IB_PORT_DOWN + i % 4);
}

static void each_port_has_its_place(void **state)
{
	static struct desk d;

	for (unsigned w = 0; w < ARRAY_SIZE(widths); w++) {
		unsigned n = widths[w];

		desk_set(&d, n);
		assert_int_equal(state_table_blocks(&d.node), n < 128 ? 1 : 2);
		assert_int_equal(state_table_differs(&d.node, d.table, 1), 0);
		for (unsigned i = 1; i <= n; i++) {
			unsigned other = IB_PORT_DOWN + (i + 1) % 4;

			put(&d, i, IB_PORT_DOWN + i % 4, other);
			assert_int_equal(state_table_state(d.table, i), other);
			assert_int_equal(state_table_differs(&d.node, d.table, 1), i);
			assert_int_equal(state_table_differs(&d.node, d.table, i + 1), 0);
			put(&d, i, IB_PORT_DOWN + i % 4, IB_PORT_DOWN + i % 4);
		}
	}
}

static void defer_is_active_and_nonsense_differs(void **state)
{
	static struct desk d;

	desk_set(&d, 40);
	put(&d, 33, IB_PORT_ACTIVE, PST_ACTIVE_DEFER);
	assert_int_equal(state_table_differs(&d.node, d.table, 1), 0);
	put(&d, 33, IB_PORT_DOWN, PST_ACTIVE_DEFER);
	assert_int_equal(state_table_differs(&d.node, d.table, 1), 33);
	put(&d, 33, IB_PORT_ACTIVE, IB_PORT_NO_CHANGE);
	assert_int_equal(state_table_differs(&d.node, d.table, 1), 33);
	put(&d, 33, IB_PORT_ACTIVE, 15);
	assert_int_equal(state_table_differs(&d.node, d.table, 1), 33);
	d.ports[33].known = false;
	assert_int_equal(state_table_differs(&d.node, d.table, 1), 0);
	put(&d, 0, IB_PORT_ACTIVE, IB_PORT_DOWN); /* port 0 has no link */
	assert_int_equal(state_table_differs(&d.node, d.table, 1), 0);
}

/* ---- on a fabric ---- */

/* One manager, with all traps lost once the subnet is up. */
struct world {
	struct rig *rig;
	struct sim *sim;
	struct sm *sm;
	struct conf *conf;
};

static void run_for(struct world *w, mono_t t)
{
	rig_run(w->rig, sim_now(w->sim) + t);
}

static void world_start(struct world *w, struct netfile *net, enum sim_state_table table)
{
	log_set_flags(LOGB_ERROR);
	*w = (struct world){ .sim = sim_new(net, 3), .conf = conf_new() };
	w->conf->sweep_interval = 3600;
	w->rig = rig_new(w->sim);
	sim_set_state_table(w->sim, -1, table);
	assert_int_equal(rig_start(w->rig, "h0", 0, w->conf, NULL), 0);
	run_for(w, 20 * MONO_S);
	w->sm = rig_master(w->rig);
	assert_non_null(w->sm);
	sim_set_trap_loss(w->sim, 100);
}

static void world_end(struct world *w)
{
	rig_free(w->rig);
	conf_unref(w->conf);
}

static const struct node *node_of(struct world *w, const char *id)
{
	guid_t guid = sim_node_guid(w->sim, sim_find(w->sim, id));
	const struct node *n = fabric_find_node(sm_fabric(w->sm), guid);

	assert_non_null(n);
	return n;
}

static uint64_t tables_asked(struct world *w)
{
	return sim_count(w->sim, IB_ATTR_PORT_STATE_TABLE, MAD_GET);
}

static uint64_t infos_asked(struct world *w)
{
	return sim_count(w->sim, IB_ATTR_SWITCH_INFO, MAD_GET);
}

/* Host h0 - a, of `n` ports, and from its last port on to b: two cables if there is room. */
static struct netfile *wide(unsigned n)
{
	struct netfile *net = netfile_new();
	int h = netfile_add(net, IB_NODE_CA, "h0", 1, 0),
	    a = netfile_add(net, IB_NODE_SWITCH, "a", (uint8_t)n, 0), b;

	assert_int_equal(netfile_link(net, h, 1, a, 1), 0);
	if (n < 3)
		return net;
	b = netfile_add(net, IB_NODE_SWITCH, "b", 4, 0);
	assert_int_equal(netfile_link(net, a, (uint8_t)n, b, 1), 0);
	assert_int_equal(netfile_link(net, a, (uint8_t)(n - 1), b, 2), 0);
	return net;
}

/* The last port of `a`, and as many Gets as it takes. A device of 255 ports is left out. */
static void a_lost_trap_is_made_up_for_at_any_width(void **state)
{
	for (unsigned i = 0; i < ARRAY_SIZE(widths) && widths[i] < 255; i++) {
		unsigned n = widths[i], blocks = n < 128 ? 1 : 2;
		_cleanup_(netfile_freep) struct netfile *net = wide(n);
		struct world w;
		uint64_t before;

		world_start(&w, net, SIM_STATE_TABLE);
		before = tables_asked(&w);
		run_for(&w, 10 * MONO_S);
		assert_int_equal(tables_asked(&w) - before, 10 * (blocks + (n > 2)));
		assert_int_equal(node_of(&w, "a")->states_doubted, 0);
		if (n > 2) {
			int a = sim_find(w.sim, "a");

			/* b does not tell: its agent is silent, and a alone shows it */
			sim_set_silent(w.sim, sim_find(w.sim, "b"), SIM_SILENT, 0);
			assert_int_equal(sim_link_down(w.sim, a, n), 0);
			run_for(&w, MONO_S + 200 * MONO_MS);
			assert_int_equal(port_state(&node_of(&w, "a")->ports[n]), IB_PORT_DOWN);
			assert_int_equal(state_poll_stats_of(w.sm)->found, 1);
		}
		world_end(&w);
	}
}

/* With bit 15 of the modifier a device tells Active-Defer, without it ACTIVE. */
static void the_simulated_device_heeds_the_modifier(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = wide(200);
	uint8_t table[SMP_DATA_SIZE];
	struct world w;
	int a;

	world_start(&w, net, SIM_STATE_TABLE);
	a = sim_find(w.sim, "a");
	assert_int_equal(sim_set_defer(w.sim, a, 200, true), 0);
	assert_int_equal(sim_read(w.sim, a, IB_ATTR_PORT_STATE_TABLE, 1, table), 0);
	assert_int_equal(table[36] >> 4, IB_PORT_ACTIVE);
	assert_int_equal(sim_read(w.sim, a, IB_ATTR_PORT_STATE_TABLE, 0x8001, table), 0);
	assert_int_equal(table[36] >> 4, 5);
	assert_int_equal(sim_read(w.sim, a, IB_ATTR_PORT_STATE_TABLE, 2, table), -ENOENT);
	run_for(&w, 5 * MONO_S);
	assert_int_equal(state_poll_stats_of(w.sm)->found, 0);
	world_end(&w);
}

/* A table that lies is read three times; one that is refused once. Then SwitchInfo is read. */
static void a_wrong_table_is_left_alone(void **state)
{
	static const struct {
		enum sim_state_table table;
		unsigned of_a;
	} cases[] = { { SIM_STATE_TABLE_LIES, 3 }, { SIM_STATE_TABLE_REFUSED, 1 } };

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_(netfile_freep) struct netfile *net = wide(36);
		struct world w;
		uint64_t tables, infos;

		/* `b` has a free port as well */
		world_start(&w, net, cases[i].table);
		assert_int_equal(tables_asked(&w), 2 * cases[i].of_a);
		tables = tables_asked(&w);
		infos = infos_asked(&w);
		run_for(&w, 10 * MONO_S);
		assert_int_equal(tables_asked(&w), tables);
		assert_int_equal(infos_asked(&w) - infos, 20);
		assert_int_equal(sim_link_down(w.sim, sim_find(w.sim, "a"), 36), 0);
		run_for(&w, MONO_S + 200 * MONO_MS);
		assert_int_equal(port_state(&node_of(&w, "a")->ports[36]), IB_PORT_DOWN);
		world_end(&w);
	}
}

/* Half of 80 leaves stop answering at one time; the others are asked as before. */
static void silent_switches_pile_nothing_up(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(80, 1, 2, 1);
	struct world w;
	uint64_t before;
	unsigned most = 0;
	mono_t end;
	char id[16];

	world_start(&w, net, SIM_STATE_TABLE);
	for (unsigned i = 41; i <= 80; i++) {
		snprintf(id, sizeof(id), "leaf%u", i);
		sim_set_silent(w.sim, sim_find(w.sim, id), SIM_SILENT, 0);
	}
	run_for(&w, 5 * MONO_S);
	before = tables_asked(&w);
	end = sim_now(w.sim) + 10 * MONO_S;
	while (rig_step(w.rig, end))
		most = MAX(most, mad_pending(sm_mad(w.sm)));
	assert_in_range(most, 1, 32);
	/* 42 that answer, ten times; of the others each in one turn of ten, with its repetitions */
	assert_in_range(tables_asked(&w) - before, 410, 420 + 40 * 8);
	world_end(&w);
}

/* Every fifth SMP is lost: the table is still believed, and no change is made up. */
static void lost_answers_are_no_change(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(8, 2, 2, 1);
	struct world w;

	world_start(&w, net, SIM_STATE_TABLE);
	sim_set_loss(w.sim, 10, 10);
	run_for(&w, 60 * MONO_S);
	assert_int_equal(state_poll_stats_of(w.sm)->found, 0);
	FABRIC_EACH_NODE(sm_fabric(w.sm), n)
		assert_int_equal(n->states_doubted, 0);
	world_end(&w);
}

/* Gets of the poll are none of a sweep's. */
static void a_sweep_does_not_count_them(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(8, 2, 2, 1);
	struct world w;
	uint32_t alone;

	world_start(&w, net, SIM_STATE_TABLE);
	sm_request_heavy(w.sm, NULL);
	run_for(&w, 5 * MONO_S);
	alone = sm_stats(w.sm)->last_gets;
	assert_true(alone > 0);
	w.rig->job_time = 4 * MONO_S;
	sm_request_heavy(w.sm, NULL);
	run_for(&w, 10 * MONO_S);
	assert_int_equal(sm_stats(w.sm)->last_gets, alone);
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_port_has_its_place),
		cmocka_unit_test(defer_is_active_and_nonsense_differs),
		cmocka_unit_test(a_lost_trap_is_made_up_for_at_any_width),
		cmocka_unit_test(the_simulated_device_heeds_the_modifier),
		cmocka_unit_test(a_wrong_table_is_left_alone),
		cmocka_unit_test(silent_switches_pile_nothing_up),
		cmocka_unit_test(lost_answers_are_no_change),
		cmocka_unit_test(a_sweep_does_not_count_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
