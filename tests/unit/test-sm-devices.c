// SPDX-License-Identifier: BSD-2-Clause
/*
 * Today's devices, and devices that disappoint: speeds of XDR are kept, switches with a table of
 * port states are asked for it, and what it costs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ib/attrs.h"
#include "lib/rig.h"
#include "lib/scratch.h"
#include "sim/gen/gen.h"
#include "sim/netfile/netfile.h"
#include "sm/sm.h"
#include "util/mem.h"

#define ROUNDS 64 /* light sweeps in which each switch has its turn */

struct place {
	struct rig *rig;
	struct conf *conf;
	struct sm *sm;
};

static void run_for(struct place *pl, mono_t t)
{
	rig_run(pl->rig, sim_now(pl->rig->sim) + t);
}

static void assert_good(struct place *pl)
{
	struct sim_verdict v;

	sim_check_all(pl->rig->sim, &v);
	if (!sim_verdict_good(&v))
		fail_msg("%s", v.first);
}

/* Four leaves with four hosts each at XDR, two spines, no manager yet. */
static int setup(void **state)
{
	struct netfile *net = gen_speed(gen_tree(4, 4, 2, 1), 2000, 4);
	struct place *pl = xcalloc(1, sizeof(*pl));

	pl->rig = rig_new(sim_new(net, 1));
	pl->conf = conf_new();
	netfile_free(net);
	*state = pl;
	return 0;
}

static int teardown(void **state)
{
	struct place *pl = *state;

	rig_free(pl->rig);
	conf_unref(pl->conf);
	free(pl);
	return 0;
}

static void bring_up(struct place *pl)
{
	assert_int_equal(rig_start(pl->rig, "h0", 0, pl->conf, NULL), 0);
	pl->sm = pl->rig->sms[0].sm;
	run_for(pl, 20 * MONO_S);
	assert_good(pl);
}

/* ---- XDR ---- */

static void assert_xdr(struct place *pl, const char *node, unsigned port)
{
	struct sim *sim = pl->rig->sim;
	uint8_t info[SMP_DATA_SIZE];

	assert_int_equal(sim_read(sim, sim_find(sim, node), IB_ATTR_PORT_INFO,
				  port | PI_MOD_EXTENDED_SPEEDS, info),
			 0);
	assert_int_equal(info[56], 1 << 5 | 1 << 3 | 1);
	assert_int_equal(ib_link_speed(info, ib_speed_sets(info), false), 2000);
	assert_true(ib_get(info, PI_CAP_MASK2) & IB_CAP(IB_CAP2_XDR) || port > 4);
}

/* A device that is told to enable no XDR comes up again without it. */
static void speeds_of_xdr_are_written_as_they_were_read(void **state)
{
	struct place *pl = *state;
	struct sim *sim = pl->rig->sim;
	uint64_t sets;

	bring_up(pl);
	for (unsigned i = 0; i < 2; i++) {
		assert_xdr(pl, "h3", 1);
		assert_xdr(pl, "h12", 1);
		sim_link_down(sim, sim_find(sim, "h3"), 1);
		sim_link_down(sim, sim_find(sim, "h12"), 1);
		run_for(pl, 5 * MONO_S);
		sim_link_up(sim, sim_find(sim, "h3"), 1);
		sim_link_up(sim, sim_find(sim, "h12"), 1);
		run_for(pl, 20 * MONO_S);
		assert_good(pl);
	}
	sets = sim_sets(sim);
	sm_request_heavy(pl->sm, NULL);
	run_for(pl, 20 * MONO_S);
	assert_int_equal(sim_sets(sim), sets);
}

/* ---- SwitchPortStateTable ---- */

struct cost {
	uint64_t port_infos, tables;
};

/* What four turns of each switch cost. */
static struct cost cost_of_turns(struct place *pl)
{
	struct sim *sim = pl->rig->sim;
	struct cost before = { sim_count(sim, IB_ATTR_PORT_INFO, MAD_GET),
			       sim_count(sim, IB_ATTR_PORT_STATE_TABLE, MAD_GET) };

	run_for(pl, 4 * ROUNDS * (pl->conf->sweep_interval * MONO_S + 100 * MONO_MS));
	return (struct cost){ sim_count(sim, IB_ATTR_PORT_INFO, MAD_GET) - before.port_infos,
			      sim_count(sim, IB_ATTR_PORT_STATE_TABLE, MAD_GET) - before.tables };
}

static struct cost costs_with(struct place *pl, enum sim_state_table kind)
{
	sim_set_state_table(pl->rig->sim, -1, kind);
	bring_up(pl);
	return cost_of_turns(pl);
}

static void switch_without_the_table_is_not_asked_for_it(void **state)
{
	const struct cost c = costs_with(*state, SIM_NO_STATE_TABLE);

	printf("without: %u PortInfo\n", (unsigned)c.port_infos);
	assert_int_equal(c.tables, 0);
	assert_in_range(c.port_infos, 4 * 6 * 4, 4 * 6 * 16);
}

/* Three of four turns cost one Get each instead of one for each port. */
static void table_saves_reading_ports(void **state)
{
	struct place *pl = *state;
	const struct cost c = costs_with(pl, SIM_STATE_TABLE);

	printf("with: %u PortInfo, %u tables\n", (unsigned)c.port_infos, (unsigned)c.tables);
	assert_in_range(c.tables, 3 * 6 - 6, 3 * 6 + 6);
	assert_in_range(c.port_infos, 1, 2 * 6 * 6);
	assert_good(pl);
}

static void refused_table_is_asked_for_once(void **state)
{
	const struct cost c = costs_with(*state, SIM_STATE_TABLE_REFUSED);

	assert_in_range(c.tables, 1, 6);
	assert_in_range(c.port_infos, 4 * 6 * 4, 4 * 6 * 16);
}

/* Ports without cables are told to be ACTIVE: three times, then they are read one by one. */
static void lying_table_is_left_alone(void **state)
{
	struct place *pl = *state;
	struct cost c;

	for (int i = 1; i < 16; i += 4)
		sim_power(pl->rig->sim, i, false);
	sim_power(pl->rig->sim, sim_find(pl->rig->sim, "spine2"), false);
	c = costs_with(pl, SIM_STATE_TABLE_LIES);
	assert_in_range(c.tables, 4 * 2, 4 * 3 + 3);
	cost_of_turns(pl);
	c = cost_of_turns(pl);
	/* The spine has no port that is down: its table is right. */
	assert_int_equal(c.tables, 3);
	assert_in_range(c.port_infos, 4 * 4 * 4, 4 * 6 * 16);
	assert_good(pl);
}

/* ---- quirks ---- */

static void use_quirks(struct place *pl, const char *text)
{
	char folder[SCRATCH_PATH];
	FILE *f;

	free(pl->conf->quirks_file);
	pl->conf->quirks_file = xasprintf("%s/quirks", scratch_folder(folder));
	f = fopen(pl->conf->quirks_file, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void table_that_is_known_to_lie_is_never_asked_for(void **state)
{
	struct place *pl = *state;

	use_quirks(pl, "0x2c9 * no_state_table\n");
	assert_int_equal(costs_with(pl, SIM_STATE_TABLE_LIES).tables, 0);
	assert_good(pl);
}

static uint64_t ext_port_infos(struct place *pl)
{
	return sim_count(pl->rig->sim, IB_ATTR_MLNX_EXT_PORT_INFO, MAD_GET);
}

static void vendor_attribute_is_asked_of_devices_that_have_it(void **state)
{
	struct place *pl = *state;
	struct netfile *net = gen_speed(gen_tree(4, 4, 2, 1), IB_SPEED_QDR, 4);

	pl->rig = rig_free(pl->rig);
	pl->rig = rig_new(sim_new(net, 1));
	bring_up(pl);
	assert_true(ext_port_infos(pl) > 0);
	pl->rig = rig_free(pl->rig);
	pl->rig = rig_new(sim_new(net, 1));
	netfile_free(net);
	use_quirks(pl, "0x2c9 * -ext_port_info\n");
	bring_up(pl);
	assert_int_equal(ext_port_infos(pl), 0);
}

/* One question tells that a switch does not know the attribute: its other ports are not asked. */
static void device_that_refuses_the_vendor_attribute_is_asked_once(void **state)
{
	struct place *pl = *state;
	struct netfile *net = gen_speed(gen_tree(4, 4, 2, 1), IB_SPEED_QDR, 4);

	for (size_t i = 0; i < net->n_nodes; i++)
		net->nodes[i].vendor_id = 0x1234;
	pl->rig = rig_free(pl->rig);
	pl->rig = rig_new(sim_new(net, 1));
	use_quirks(pl, "0x1234 * ext_port_info\n");
	bring_up(pl);
	assert_int_equal(ext_port_infos(pl), net->n_nodes);
	sm_request_heavy(pl->sm, NULL);
	run_for(pl, 20 * MONO_S);
	assert_int_equal(ext_port_infos(pl), net->n_nodes);
	netfile_free(net);
	assert_good(pl);
}

/* A manager without memory begins on a fabric that another has set up: Sets of LFT blocks. */
static uint64_t blocks_at_takeover(struct place *pl, const char *cache_dir)
{
	struct sim *sim = pl->rig->sim;
	uint64_t before;

	rig_stop(pl->rig, (unsigned)rig_find(pl->rig, "h0"));
	run_for(pl, 2 * MONO_S);
	before = sim_count(sim, IB_ATTR_LFT, MAD_SET);
	assert_true(rig_start(pl->rig, "h0", 0, pl->conf, cache_dir) >= 0);
	run_for(pl, 20 * MONO_S);
	assert_good(pl);
	return sim_count(sim, IB_ATTR_LFT, MAD_SET) - before;
}

static void stale_tables_end_by_one_block_a_switch_at_the_first_takeover(void **state)
{
	struct place *pl = *state;
	struct sim_verdict v;

	bring_up(pl);
	assert_int_equal(blocks_at_takeover(pl, NULL), 0);
	use_quirks(pl, "0x2c9 * stale_tables\n");
	assert_int_equal(blocks_at_takeover(pl, NULL), 6);
	sim_check_all(pl->rig->sim, &v);
	assert_int_equal(v.loops_ever, 0);
}

/* What we set up ourselves has no tables of others: a restart writes nothing. */
static void own_fabric_is_not_written_to_at_a_restart(void **state)
{
	struct place *pl = *state;
	char dir[SCRATCH_PATH];

	scratch_folder(dir);
	use_quirks(pl, "0x2c9 * stale_tables\n");
	bring_up(pl);
	assert_int_equal(blocks_at_takeover(pl, dir), 6);
	assert_int_equal(blocks_at_takeover(pl, dir), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(speeds_of_xdr_are_written_as_they_were_read),
		TEST(switch_without_the_table_is_not_asked_for_it),
		TEST(table_saves_reading_ports),
		TEST(refused_table_is_asked_for_once),
		TEST(lying_table_is_left_alone),
		TEST(table_that_is_known_to_lie_is_never_asked_for),
		TEST(vendor_attribute_is_asked_of_devices_that_have_it),
		TEST(device_that_refuses_the_vendor_attribute_is_asked_once),
		TEST(stale_tables_end_by_one_block_a_switch_at_the_first_takeover),
		TEST(own_fabric_is_not_written_to_at_a_restart),
	};

	return cmocka_run_group_tests_name("sm-devices", tests, NULL, NULL);
}
