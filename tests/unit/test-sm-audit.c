// SPDX-License-Identifier: BSD-2-Clause
/*
 * Audits: tables that another program wrote are found, counted and repaired, whatever the table and
 * the port; an honest fabric costs no Set, a device or a host that does not give up costs few.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "marks-world.h"
#include "sim/gen/gen.h"
#include "util/mem.h"

/* Three leaves with two hosts each, two spines; with QoS, so that all tables are wanted. */
static struct world *audited_on(struct netfile *net)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->sim = sim_new(net, 5);
	netfile_free(net);
	w->rig = rig_new(w->sim);
	w->conf = conf_new();
	w->conf->qos = true;
	return w;
}

static void world_free(struct world *w)
{
	rig_free(w->rig);
	conf_unref(w->conf);
	free(w);
}

static struct world *audited_up(void)
{
	struct world *w = audited_on(gen_tree(3, 2, 2, 1));

	start(w);
	run_for(w, 33 * MONO_S); /* between two light sweeps */
	return w;
}

/* One table of one node, and an entry that nothing wants there. */
struct forgery {
	const char *node;
	uint16_t attr;
	uint32_t mod;
	unsigned bit, width, value;
};

static void read_table(struct world *w, const struct forgery *f, uint8_t *ret)
{
	assert_int_equal(sim_read(w->sim, node_of(w, f->node), f->attr, f->mod, ret), 0);
}

/* A Set as any host can send it, LID-routed. */
static void forge_from(struct world *w, const char *host, const struct forgery *f)
{
	const struct smp_head head = {
		.method = MAD_SET, .attr = f->attr, .mod = f->mod, .tid = 7
	};
	struct transport *tr = sim_attach(w->sim, host, 0);
	int n = node_of(w, f->node);
	struct transport_addr to = { .qp = 0 };
	uint8_t payload[SMP_DATA_SIZE], mad[MAD_SIZE];

	assert_non_null(tr);
	read_table(w, f, payload);
	ib_bits_put(payload, f->bit, f->width, f->value);
	to.lid = sim_port_lid(w->sim, n, sim_node_is_switch(w->sim, n) ? 0 : 1);
	smp_build_lid(mad, &head, payload);
	assert_int_equal(transport_send(tr, &to, mad, sizeof(mad), 1000), 0);
	run_for(w, 2 * MONO_MS);
	transport_close(tr);
}

static void forge(struct world *w, const struct forgery *f)
{
	forge_from(w, "h5", f);
}

static bool is_forged(struct world *w, const struct forgery *f)
{
	uint8_t payload[SMP_DATA_SIZE];

	read_table(w, f, payload);
	return ib_bits_get(payload, f->bit, f->width) == f->value;
}

static uint64_t found(struct world *w, unsigned table)
{
	return sm_stats(w->sm)->tables_changed[table];
}

/* Modifiers: port of a switch in the P_Key table; port in and out of SL2VL; block and port. */
#define SWITCH_PKEYS(port, block) ((uint32_t)(port) << 16 | (block))
#define SL2VL(in, out) ((uint32_t)(in) << 8 | (out))
#define VLARB(block, port) ((uint32_t)(block) << 16 | (port))

static const struct forgery forgeries[] = {
	{ "h0", IB_ATTR_PKEY_TABLE, 0, 31 * 16, 16, 0x8006 },	/* our own port */
	{ "h3", IB_ATTR_PKEY_TABLE, 1, 0, 16, 0x8006 },
	{ "leaf2", IB_ATTR_PKEY_TABLE, SWITCH_PKEYS(1, 0), 5 * 16, 16, 0x8006 },
	{ "spine1", IB_ATTR_PKEY_TABLE, SWITCH_PKEYS(0, 0), 5 * 16, 16, 0x8006 },
	{ "leaf2", IB_ATTR_SL2VL, SL2VL(1, 2), 0, 4, 15 },
	{ "spine1", IB_ATTR_SL2VL, SL2VL(3, 1), 60, 4, 15 },
	{ "h4", IB_ATTR_SL2VL, 0, 4, 4, 15 },
	{ "leaf1", IB_ATTR_VLARB, VLARB(1, 2), 8, 8, 0xFF },
	{ "leaf3", IB_ATTR_VLARB, VLARB(3, 3), 0, 8, 7 },
	{ "h2", IB_ATTR_VLARB, VLARB(1, 0), 8, 8, 0xFF },
	{ "leaf1", IB_ATTR_LFT, 0, 40 * 8, 8, 1 },
};

/* A Set of the vandal, and one of the manager. */
static void what_others_write_is_found_once_and_written_again(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(forgeries); i++) {
		const struct forgery *f = &forgeries[i];
		struct world *w = audited_up();
		enum port_table table = port_table_of(f->attr);
		uint64_t sets = sim_sets(w->sim);

		forge(w, f);
		assert_true(is_forged(w, f));
		run_for(w, 10 * 60 * MONO_S);
		if (is_forged(w, f))
			fail_msg("row %zu is not repaired", i);
		assert_int_equal(sim_sets(w->sim) - sets, 2);
		assert_int_equal(found(w, table), 1);
		assert_int_equal(sm_tables_changed(w->sm), 1);
		assert_true(sm_stats(w->sm)->up);
		world_free(w);
	}
}

/* The one table without which no host reaches the SA. */
static void our_own_port_is_read_in_each_light_sweep(void **state)
{
	struct world *w = audited_up();

	forge(w, &forgeries[0]);
	run_for(w, 11 * MONO_S);
	assert_false(is_forged(w, &forgeries[0]));
	world_free(w);
}

/* Once one of them was found all are, before the next light sweep. */
static void what_else_was_written_at_a_switch_is_found_with_it(void **state)
{
	struct world *w = audited_up();
	struct forgery row = { "leaf2", IB_ATTR_SL2VL, 0, 0, 4, 15 };
	uint64_t first;

	for (unsigned in = 0; in <= 4; in++) {
		for (unsigned out = 1; out <= 4; out++) {
			row.mod = SL2VL(in, out);
			if (in != out)
				forge(w, &row);
		}
	}
	for (unsigned s = 0; s < 600 && !found(w, TABLE_SL2VL); s++)
		run_for(w, MONO_S);
	first = found(w, TABLE_SL2VL);
	assert_in_range(first, 10, 25);
	run_for(w, 600 * MONO_S);
	assert_int_equal(found(w, TABLE_SL2VL), first);
	row.mod = SL2VL(1, 2);
	assert_false(is_forged(w, &row));
	row.mod = SL2VL(4, 3);
	assert_false(is_forged(w, &row));
	world_free(w);
}

static uint64_t table_gets(const struct world *w)
{
	uint64_t n = sim_count(w->sim, IB_ATTR_LFT, MAD_GET);

	for (unsigned i = 0; i < N_PORT_TABLES; i++)
		n += sim_count(w->sim, port_tables[i].attr, MAD_GET);
	return n;
}

/* A light sweep reads 64 blocks of tables of others, and two of our own port. */
static void an_honest_fabric_costs_gets_and_no_set(void **state)
{
	struct world *w = audited_up();
	uint64_t sets = sim_sets(w->sim), before = table_gets(w);

	run_for(w, 100 * MONO_S);
	assert_in_range(table_gets(w) - before, 300, 660);
	run_for(w, 3600 * MONO_S);
	assert_int_equal(sim_sets(w->sim), sets);
	assert_int_equal(sm_tables_changed(w->sm), 0);
	world_free(w);
}

/* More switches than cells in a turn: one at each. */
static void a_large_fabric_costs_a_get_for_each_switch(void **state)
{
	struct world *w = audited_on(gen_ring(80, 1));
	uint64_t before;

	start(w);
	run_for(w, 33 * MONO_S);
	before = table_gets(w);
	run_for(w, 100 * MONO_S);
	assert_in_range(table_gets(w) - before, 10 * 80, 10 * 82);
	assert_int_equal(sm_tables_changed(w->sm), 0);
	world_free(w);
}

/* In each kind all cells have their turn, also where each switch is asked for one at a time. */
static void no_cell_is_left_out_of_the_turns(void **state)
{
	static const struct forgery rows[] = {
		{ "h1", IB_ATTR_PKEY_TABLE, 0, 31 * 16, 16, 0x8006 },
		{ "h2", IB_ATTR_PKEY_TABLE, 1, 31 * 16, 16, 0x8006 },
		{ "s1", IB_ATTR_PKEY_TABLE, SWITCH_PKEYS(1, 0), 31 * 16, 16, 0x8006 },
		{ "s2", IB_ATTR_SL2VL, SL2VL(1, 2), 0, 4, 15 },
		{ "s3", IB_ATTR_VLARB, VLARB(1, 1), 8, 8, 0xFF },
	};
	struct world *w = audited_on(gen_ring(80, 1));

	start(w);
	run_for(w, 33 * MONO_S);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		forge(w, &rows[i]);
	run_for(w, 1800 * MONO_S);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (is_forged(w, &rows[i]))
			fail_msg("row %zu is not repaired", i);
	assert_int_equal(sm_tables_changed(w->sm), ARRAY_SIZE(rows));
	world_free(w);
}

/* A host that writes again and again does not make the manager do the same; it has no last word. */
static void a_host_that_does_not_give_up_costs_few_sets(void **state)
{
	const struct forgery *f = &forgeries[1];
	struct world *w = audited_up();
	unsigned forged = 0;
	uint64_t sets;

	sets = sim_sets(w->sim);
	for (mono_t end = sim_now(w->sim) + 1800 * MONO_S; sim_now(w->sim) < end; forged++) {
		forge(w, f);
		run_for(w, 4 * MONO_S);
	}
	assert_in_range(sim_sets(w->sim) - sets - forged, 5, 12);
	assert_true(is_forged(w, f));
	run_for(w, 3600 * MONO_S);
	assert_false(is_forged(w, f));
	/* It is over: the next time is the first again. */
	run_for(w, 60 * MONO_S);
	forge(w, f);
	run_for(w, 60 * MONO_S);
	assert_false(is_forged(w, f));
	world_free(w);
}

/* Of our own port, each 64th time at the latest. */
static void our_own_port_is_repaired_soon_after_a_long_attack(void **state)
{
	const struct forgery *f = &forgeries[0];
	struct world *w = audited_up();
	mono_t end = sim_now(w->sim) + 3 * 3600 * MONO_S;

	while (sim_now(w->sim) < end) {
		forge(w, f);
		run_for(w, 9 * MONO_S);
	}
	run_for(w, 65 * 10 * MONO_S);
	assert_false(is_forged(w, f));
	world_free(w);
}

/* Devices that do not answer for a table are asked less and less often, with four tries each. */
static void tables_that_are_not_answered_cost_little(void **state)
{
	static const uint16_t attrs[] = { IB_ATTR_VLARB, IB_ATTR_SL2VL };

	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		struct world *w = audited_up();
		uint64_t sets = sim_sets(w->sim), before;

		for (unsigned n = 0; n < sim_n_nodes(w->sim); n++)
			sim_set_silent(w->sim, (int)n, SIM_SILENT_GET, attrs[i]);
		run_for(w, 3 * 3600 * MONO_S);
		before = sim_count(w->sim, attrs[i], MAD_GET);
		run_for(w, 100 * MONO_S);
		assert_in_range(sim_count(w->sim, attrs[i], MAD_GET) - before, 0, 80);
		assert_int_equal(sim_sets(w->sim), sets);
		assert_int_equal(sm_tables_changed(w->sm), 0);
		assert_int_equal(sm_stats(w->sm)->silent_nodes, 0);
		assert_true(sm_stats(w->sm)->up);
		world_free(w);
	}
}

/* A host with room for fewer keys by now refuses the second block; its other tables are reset. */
static void a_refused_block_costs_no_set(void **state)
{
	struct world *w = audited_up();
	uint64_t sets;

	sim_set_pkey_cap(w->sim, node_of(w, "h4"), PKEYS_PER_BLOCK);
	run_for(w, 600 * MONO_S);
	assert_int_equal(found(w, TABLE_PKEYS), 0);
	assert_int_equal(found(w, TABLE_SL2VL) + found(w, TABLE_VLARB), 2);
	sets = sim_sets(w->sim);
	run_for(w, 3600 * MONO_S);
	assert_int_equal(sim_sets(w->sim), sets);
	assert_int_equal(sm_tables_changed(w->sm), 2);
	assert_true(sm_stats(w->sm)->up);
	world_free(w);
}

/* With one VL there is no VL arbitration: nothing is written, and so nothing is read. */
static void devices_without_arbitration_are_not_asked_for_it(void **state)
{
	struct world *w = audited_on(gen_tree(3, 2, 2, 1));
	uint64_t before;

	for (unsigned i = 0; i < sim_n_nodes(w->sim); i++)
		sim_set_caps(w->sim, (int)i, IB_MTU_2048, 1);
	start(w);
	run_for(w, 33 * MONO_S);
	before = sim_count(w->sim, IB_ATTR_VLARB, MAD_GET);
	run_for(w, 1800 * MONO_S);
	assert_int_equal(sim_count(w->sim, IB_ATTR_VLARB, MAD_GET), before);
	assert_int_equal(sm_tables_changed(w->sm), 0);
	world_free(w);
}

/* What a device has lost with its power was no other manager; also where no trap tells of it. */
static void a_reboot_is_no_change_by_another(void **state)
{
	static const char *const nodes[] = { "h3", "leaf2", "spine1" };

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		struct world *w = audited_up();

		sim_set_trap_loss(w->sim, 100);
		for (unsigned n = 0; n < 20; n++) {
			sim_reboot(w->sim, node_of(w, nodes[i]), 20 * MONO_MS);
			run_for(w, 60 * MONO_S);
		}
		assert_int_equal(sm_tables_changed(w->sm), 0);
		assert_true(sm_stats(w->sm)->up);
		world_free(w);
	}
}

/* One Set for many rows: what it wrote is known row by row, and found row by row. */
static void rows_of_one_set_are_audited_one_by_one(void **state)
{
	struct world *w = audited_on(gen_tree(3, 2, 2, 1));
	uint64_t sets;

	w->conf->use_optimized_slvl = true;
	for (unsigned i = 0; i < sim_n_nodes(w->sim); i++)
		sim_set_optimized_sl2vl(w->sim, (int)i, sim_node_is_switch(w->sim, (int)i));
	start(w);
	run_for(w, 33 * MONO_S);
	sets = sim_sets(w->sim);
	run_for(w, 1800 * MONO_S);
	assert_int_equal(sim_sets(w->sim), sets);
	forge(w, &forgeries[4]);
	run_for(w, 300 * MONO_S);
	assert_false(is_forged(w, &forgeries[4]));
	assert_int_equal(found(w, TABLE_SL2VL), 1);
	world_free(w);
}

static void an_isolated_port_is_left_in_peace(void **state)
{
	struct world *w = audited_up();
	uint64_t sets;

	assert_int_equal(ask(w, MARK_DO_ISOLATE, "h3", 1).end, MARK_DONE);
	run_for(w, 33 * MONO_S);
	sets = sim_sets(w->sim);
	run_for(w, 1800 * MONO_S);
	assert_int_equal(sim_sets(w->sim), sets);
	forge(w, &forgeries[6]);
	run_for(w, 300 * MONO_S);
	assert_false(is_forged(w, &forgeries[6]));
	assert_int_equal(sim_sets(w->sim) - sets, 2);
	assert_int_equal(sm_tables_changed(w->sm), 1);
	world_free(w);
}

/* Where no sweep is light, and where there is no switch, audits follow the heavy ones. */
static void audits_need_no_light_sweeps(void **state)
{
	const struct forgery far = { "h1", IB_ATTR_PKEY_TABLE, 0, 31 * 16, 16, 0x8006 };

	for (unsigned pair = 0; pair < 2; pair++) {
		struct world *w = audited_on(pair ? gen_pair() : gen_tree(3, 3, 2, 1));

		w->conf->force_heavy_sweep = !pair;
		start(w);
		run_for(w, 33 * MONO_S);
		if (pair) {
			struct forgery own = far;

			own.node = "h0";
			forge_from(w, "h1", &own);
			run_for(w, 30 * MONO_S);
			assert_false(is_forged(w, &own));
			forge_from(w, "h1", &far);
		} else {
			forge(w, &far);
		}
		run_for(w, 300 * MONO_S);
		assert_false(is_forged(w, &far));
		assert_int_equal(found(w, TABLE_PKEYS), 1 + pair);
		assert_true(sm_stats(w->sm)->up);
		world_free(w);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_others_write_is_found_once_and_written_again),
		cmocka_unit_test(our_own_port_is_read_in_each_light_sweep),
		cmocka_unit_test(what_else_was_written_at_a_switch_is_found_with_it),
		cmocka_unit_test(an_honest_fabric_costs_gets_and_no_set),
		cmocka_unit_test(a_large_fabric_costs_a_get_for_each_switch),
		cmocka_unit_test(no_cell_is_left_out_of_the_turns),
		cmocka_unit_test(a_host_that_does_not_give_up_costs_few_sets),
		cmocka_unit_test(our_own_port_is_repaired_soon_after_a_long_attack),
		cmocka_unit_test(tables_that_are_not_answered_cost_little),
		cmocka_unit_test(a_refused_block_costs_no_set),
		cmocka_unit_test(devices_without_arbitration_are_not_asked_for_it),
		cmocka_unit_test(a_reboot_is_no_change_by_another),
		cmocka_unit_test(rows_of_one_set_are_audited_one_by_one),
		cmocka_unit_test(an_isolated_port_is_left_in_peace),
		cmocka_unit_test(audits_need_no_light_sweeps),
	};
	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	log_open(getenv("LOUD") ? &loud : &quiet);
	return cmocka_run_group_tests_name("sm-audit", tests, NULL, NULL);
}
