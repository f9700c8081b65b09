// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions through the whole manager: what sweeps read and write, what reboots, restarts and
 * vandals leave behind, and tables that are asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/rig.h"
#include "sim/gen/gen.h"
#include "sm/read/discover.h"
#include "sm/sm.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"

/* Six hosts at two leaves. h1 and h2 are joined by 1, h4 and h5 by 2, where h5 is limited. */
#define TWO_PARTITIONS                                                                             \
	"Default=0x7fff: ALL=full;\n"                                                              \
	"One=0x1: 0x%1$016lx=full, 0x%2$016lx=full;\n"                                             \
	"Two=0x2: 0x%4$016lx=full, 0x%5$016lx=limited;\n"
/* h2 has changed sides. */
#define MOVED                                                                                      \
	"Default=0x7fff: ALL=full;\n"                                                              \
	"One=0x1: 0x%1$016lx=full;\n"                                                              \
	"Two=0x2: 0x%2$016lx=full, 0x%4$016lx=full, 0x%5$016lx=limited;\n"

struct place {
	struct rig *rig;
	struct conf *conf;
	char dir[SCRATCH_PATH], file[96];
	unsigned sm;
};

static guid_t guid_of(const struct place *pl, unsigned h)
{
	uint8_t ni[SMP_DATA_SIZE];
	char id[8];

	snprintf(id, sizeof(id), "h%u", h);
	assert_int_equal(
		sim_read(pl->rig->sim, sim_find(pl->rig->sim, id), IB_ATTR_NODE_INFO, 0, ni), 0);
	return ib_get(ni, NI_PORT_GUID);
}

static void write_file(struct place *pl, const char *format)
{
	FILE *f = fopen(pl->file, "w");

	assert_non_null(f);
	fprintf(f, format, guid_of(pl, 1), guid_of(pl, 2), guid_of(pl, 3), guid_of(pl, 4),
		guid_of(pl, 5));
	assert_int_equal(fclose(f), 0);
}

static struct place *place_new(const char *partitions)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 3, 1, 1);
	struct place *pl = xcalloc(1, sizeof(*pl));

	scratch_folder(pl->dir);
	snprintf(pl->file, sizeof(pl->file), "%s/partitions.conf", pl->dir);
	pl->rig = rig_new(sim_new(net, 1));
	pl->conf = conf_new();
	free(pl->conf->partition_config_file);
	pl->conf->partition_config_file = xstrdup(pl->file);
	write_file(pl, partitions);
	return pl;
}

static void place_free(struct place *pl)
{
	rig_free(pl->rig);
	conf_unref(pl->conf);
	unlink(pl->file);
	rmdir(pl->dir);
	free(pl);
}

static void run_for(struct place *pl, mono_t t)
{
	rig_run(pl->rig, sim_now(pl->rig->sim) + t);
}

static void start(struct place *pl)
{
	int sm = rig_start(pl->rig, "h0", 0, pl->conf, NULL);

	assert_true(sm >= 0);
	pl->sm = (unsigned)sm;
	run_for(pl, 15 * MONO_S);
}

static struct place *place_up(void)
{
	struct place *pl = place_new(TWO_PARTITIONS);

	start(pl);
	return pl;
}

static uint64_t count(const struct place *pl, uint8_t method)
{
	return sim_count(pl->rig->sim, IB_ATTR_PKEY_TABLE, method);
}

/* Does the table of a node (port > 0: of a switch port) hold this key? */
static bool holds(const struct place *pl, const char *node, unsigned port, unsigned key)
{
	int n = sim_find(pl->rig->sim, node);
	uint8_t payload[SMP_DATA_SIZE];

	for (unsigned block = 0;
	     sim_read(pl->rig->sim, n, IB_ATTR_PKEY_TABLE, port << 16 | block, payload) == 0;
	     block++) {
		for (unsigned i = 0; i < PKEYS_PER_BLOCK; i++) {
			if (ib_bits_get(payload, i * 16, 16) == key)
				return true;
		}
	}
	return false;
}

/* The port of its leaf that a host is plugged into. */
static unsigned leaf_port(const struct place *pl, const char *host)
{
	unsigned port;
	int leaf;

	assert_true(sim_peer(pl->rig->sim, sim_find(pl->rig->sim, host), 1, &leaf, &port));
	return port;
}

static void assert_two_partitions(const struct place *pl)
{
	assert_true(holds(pl, "h1", 0, 0x8001));
	assert_true(holds(pl, "h2", 0, 0x8001));
	assert_true(holds(pl, "h4", 0, 0x8002));
	assert_true(holds(pl, "h5", 0, 0x0002));
	assert_false(holds(pl, "h5", 0, 0x8002));
	assert_false(holds(pl, "h3", 0, 0x8001));
	assert_true(holds(pl, "h3", 0, 0xFFFF));
	assert_true(holds(pl, "leaf1", 0, 0xFFFF));
	assert_true(holds(pl, "leaf1", leaf_port(pl, "h2"), 0x8001));
	assert_false(holds(pl, "leaf1", leaf_port(pl, "h2"), 0x8002));
	assert_true(holds(pl, "leaf2", leaf_port(pl, "h5"), 0x0002));
}

static void assert_good(struct place *pl)
{
	struct sim_verdict v;

	sim_check_all(pl->rig->sim, &v);
	v.loops_ever = 0;
	if (!sim_verdict_good(&v))
		fail_msg("%s", v.first);
	assert_true(sm_stats(rig_master(pl->rig))->up);
}

static void sweep(struct place *pl)
{
	sm_request_heavy(rig_master(pl->rig), NULL);
	run_for(pl, 3 * MONO_S);
}

/* ---- sweeps --------------------------------------------------------------------------------- */

/* 64 keys at hosts: 2 blocks; one at each switch, one at each port that faces a host. */
static void a_fabric_comes_up_with_its_partitions(void **state)
{
	struct place *pl = place_up();

	assert_two_partitions(pl);
	assert_good(pl);
	assert_int_equal(count(pl, MAD_SET), 6 * 2 + 3 + 6);
	place_free(pl);
}

/* What was meant to keep hosts apart is not there: nothing is opened. */
static void a_partition_file_that_is_named_and_missing_opens_nothing(void **state)
{
	struct place *pl = place_new("");

	unlink(pl->file);
	start(pl);
	assert_true(holds(pl, "h0", 0, 0xFFFF));
	assert_true(holds(pl, "h3", 0, 0x7FFF));
	assert_false(holds(pl, "h3", 0, 0xFFFF));
	write_file(pl, TWO_PARTITIONS);
	sweep(pl);
	assert_two_partitions(pl);
	place_free(pl);
}

/* As Debian's OpenSM takes it: every port is a full member of the default partition. */
static void an_empty_partition_file_is_the_default_partition(void **state)
{
	static const char *const texts[] = { "", "# nothing yet\n\n" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct place *pl = place_new(texts[i]);

		start(pl);
		assert_true(holds(pl, "h0", 0, 0xFFFF));
		assert_true(holds(pl, "h3", 0, 0xFFFF));
		place_free(pl);
	}
}

/* What `opensm --check` warns of is in the line for `systemctl status`, too. */
static void partitions_without_a_full_member_are_in_the_status(void **state)
{
	struct place *pl = place_new("Default=0x7fff: ALL=full;\n"
				     "One=0x1: 0x%1$016lx, 0x%2$016lx;\n"
				     "Two=0x2: 0x%4$016lx=full, 0x%5$016lx;\nThree=0x3: ALL;\n");

	start(pl);
	assert_non_null(strstr(pl->rig->sms[pl->sm].status,
			       "; partitions without a full member: 2, the first 0x0001"));
	write_file(pl, TWO_PARTITIONS);
	sweep(pl);
	assert_null(strstr(pl->rig->sms[pl->sm].status, "full member"));
	place_free(pl);
}

/* In the middle of being saved it says nothing for a moment. */
static void a_partition_file_that_is_emptied_opens_nothing(void **state)
{
	struct place *pl = place_up();

	write_file(pl, "");
	sweep(pl);
	assert_two_partitions(pl);
	write_file(pl, TWO_PARTITIONS);
	sweep(pl);
	assert_two_partitions(pl);
	place_free(pl);
}

static void a_second_sweep_asks_and_writes_nothing(void **state)
{
	struct place *pl = place_up();
	uint64_t all = sim_sets(pl->rig->sim), reads = count(pl, MAD_GET);

	sweep(pl);
	assert_int_equal(sim_sets(pl->rig->sim), all);
	assert_int_equal(count(pl, MAD_GET), reads);
	place_free(pl);
}

/* h2 loses one key and gets another, at itself and at its switch port: two Sets each. */
static void a_change_of_the_file_costs_what_it_changes(void **state)
{
	struct place *pl = place_up();
	uint64_t sets = count(pl, MAD_SET), all = sim_sets(pl->rig->sim);

	write_file(pl, MOVED);
	sweep(pl);
	assert_true(holds(pl, "h2", 0, 0x8002));
	assert_false(holds(pl, "h2", 0, 0x8001));
	assert_true(holds(pl, "leaf1", leaf_port(pl, "h2"), 0x8002));
	assert_int_equal(count(pl, MAD_SET) - sets, 4);
	assert_int_equal(sim_sets(pl->rig->sim) - all, 4);
	assert_good(pl);
	place_free(pl);
}

static void reboots_bring_the_tables_back(void **state)
{
	static const char *const nodes[] = { "h5", "leaf1", "leaf2", "spine1" };

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		struct place *pl = place_up();

		sim_reboot(pl->rig->sim, sim_find(pl->rig->sim, nodes[i]), 50 * MONO_MS);
		run_for(pl, 30 * MONO_S);
		assert_two_partitions(pl);
		assert_good(pl);
		place_free(pl);
	}
}

/* Whenever it goes down during a sweep. */
static void reboots_in_the_middle_of_a_sweep(void **state)
{
	static const char *const nodes[] = { "h5", "leaf2" };

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		for (mono_t at = 0; at < 20 * MONO_MS; at += 500 * MONO_US) {
			struct place *pl = place_new(TWO_PARTITIONS);

			sim_set_train_time(pl->rig->sim, 100 * MONO_US);
			sim_set_sma_time(pl->rig->sim, 100 * MONO_US);
			assert_int_equal(rig_start(pl->rig, "h0", 0, pl->conf, NULL), 0);
			run_for(pl, at);
			sim_reboot(pl->rig->sim, sim_find(pl->rig->sim, nodes[i]), 100 * MONO_US);
			run_for(pl, 40 * MONO_S);
			assert_two_partitions(pl);
			assert_good(pl);
			place_free(pl);
		}
	}
}

/* ---- found in place ------------------------------------------------------------------------- */

static void a_restart_reads_and_writes_nothing(void **state)
{
	struct place *pl = place_up();
	uint64_t sets;

	rig_kill(pl->rig, pl->sm);
	sets = count(pl, MAD_SET);
	start(pl);
	assert_int_equal(count(pl, MAD_SET), sets);
	assert_int_equal(count(pl, MAD_GET), 6 * 2 + 3 + 6);
	assert_two_partitions(pl);
	place_free(pl);
}

/* Writes one key at entry 31 of a block of `node`, from the port of h5. */
static void vandal(struct place *pl, const char *node, unsigned port, unsigned block, unsigned key)
{
	const struct smp_head head = {
		.method = MAD_SET, .attr = IB_ATTR_PKEY_TABLE, .mod = port << 16 | block, .tid = 7
	};
	struct transport *tr = sim_attach(pl->rig->sim, "h5", 0);
	int n = sim_find(pl->rig->sim, node);
	struct transport_addr to = { .qp = 0 };
	uint8_t payload[SMP_DATA_SIZE], mad[MAD_SIZE];

	assert_non_null(tr);
	assert_int_equal(sim_read(pl->rig->sim, n, IB_ATTR_PKEY_TABLE, head.mod, payload), 0);
	ib_bits_put(payload, 31 * 16, 16, key);
	to.lid = sim_port_lid(pl->rig->sim, n, sim_node_is_switch(pl->rig->sim, n) ? 0 : 1);
	smp_build_lid(mad, &head, payload);
	assert_int_equal(transport_send(tr, &to, mad, sizeof(mad), 1000), 0);
	run_for(pl, 10 * MONO_MS);
	transport_close(tr);
	assert_true(holds(pl, node, port, key));
}

static void keys_of_a_former_manager_go(void **state)
{
	struct place *pl = place_up();

	rig_kill(pl->rig, pl->sm);
	vandal(pl, "h3", 0, 1, 0x8006);
	vandal(pl, "leaf2", leaf_port(pl, "h3"), 0, 0x8006);
	start(pl);
	assert_false(holds(pl, "h3", 0, 0x8006));
	assert_false(holds(pl, "leaf2", leaf_port(pl, "h3"), 0x8006));
	assert_two_partitions(pl);
	place_free(pl);
}

static void the_audit_finds_what_others_wrote(void **state)
{
	struct place *pl = place_up();

	vandal(pl, "h3", 0, 1, 0x8006);
	vandal(pl, "leaf2", leaf_port(pl, "h3"), 0, 0x8006);
	run_for(pl, 10 * 60 * MONO_S);
	assert_false(holds(pl, "h3", 0, 0x8006));
	assert_false(holds(pl, "leaf2", leaf_port(pl, "h3"), 0x8006));
	place_free(pl);
}

/* A P_Key table that another program has written at our own port is repaired within 31 s. */
static void the_managers_own_port_is_audited_first(void **state)
{
	struct place *pl = place_up();

	for (unsigned block = 0; block < 2; block++) {
		vandal(pl, "h0", 0, block, 0x8006);
		run_for(pl, 31 * MONO_S);
		assert_false(holds(pl, "h0", 0, 0x8006));
	}
	place_free(pl);
}

/* ---- tables on request ---------------------------------------------------------------------- */

struct asked {
	unsigned ended, good;
	uint8_t payload[SMP_DATA_SIZE];
};

static void on_cell(void *arg, const uint8_t *payload)
{
	struct asked *a = arg;

	a->ended++;
	if (!payload)
		return;
	a->good++;
	memcpy(a->payload, payload, SMP_DATA_SIZE);
}

static struct port *some_port(struct place *pl, const char *node, unsigned port)
{
	int n = sim_find(pl->rig->sim, node);
	struct sm *sm = rig_master(pl->rig);

	return &fabric_find_node(sm_fabric(sm), sim_node_guid(pl->rig->sim, n))->ports[port];
}

static void a_table_is_read_from_its_device(void **state)
{
	struct place *pl = place_up();
	struct sm *sm = rig_master(pl->rig);
	struct asked a = { 0 };
	uint8_t there[SMP_DATA_SIZE];

	assert_int_equal(discover_read_cell(sm, some_port(pl, "leaf2", 1), IB_ATTR_SL2VL,
					    1 << 8 | 2, on_cell, &a),
			 0);
	assert_int_equal(a.ended, 0);
	run_for(pl, 10 * MONO_MS);
	assert_int_equal(a.good, 1);
	sim_read(pl->rig->sim, sim_find(pl->rig->sim, "leaf2"), IB_ATTR_SL2VL, 1 << 8 | 2, there);
	assert_memory_equal(a.payload, there, SMP_DATA_SIZE);
	place_free(pl);
}

static void questions_are_few_and_all_end(void **state)
{
	static const char *const hosts[] = { "h1", "h2", "h3", "h4", "h5" };
	struct place *pl = place_up();
	struct sm *sm = rig_master(pl->rig);
	struct asked a = { 0 };
	unsigned taken = 0;

	sim_set_silent(pl->rig->sim, sim_find(pl->rig->sim, "h4"), SIM_SILENT_GET, IB_ATTR_VLARB);
	for (unsigned i = 0; i < 100; i++)
		taken += discover_read_cell(sm, some_port(pl, hosts[i % 5], 1), IB_ATTR_VLARB,
					    1 << 16, on_cell, &a) == 0;
	assert_in_range(taken, 5, 64);
	run_for(pl, 10 * MONO_S);
	assert_int_equal(a.ended, taken);
	assert_int_equal(a.good, taken / 5 * 4);
	place_free(pl);
}

static void questions_end_with_the_device_and_with_us(void **state)
{
	struct place *pl = place_up();
	struct sm *sm = rig_master(pl->rig);
	struct asked a = { 0 };

	assert_int_equal(
		discover_read_cell(sm, some_port(pl, "h4", 1), IB_ATTR_SL2VL, 0, on_cell, &a), 0);
	forget_node(sm, some_port(pl, "h4", 1)->node);
	assert_int_equal(a.ended, 1);
	assert_int_equal(
		discover_read_cell(sm, some_port(pl, "h5", 1), IB_ATTR_SL2VL, 0, on_cell, &a), 0);
	rig_kill(pl->rig, pl->sm);
	assert_int_equal(a.ended, 2);
	assert_int_equal(a.good, 0);
	place_free(pl);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fabric_comes_up_with_its_partitions),
		cmocka_unit_test(a_partition_file_that_is_named_and_missing_opens_nothing),
		cmocka_unit_test(an_empty_partition_file_is_the_default_partition),
		cmocka_unit_test(partitions_without_a_full_member_are_in_the_status),
		cmocka_unit_test(a_partition_file_that_is_emptied_opens_nothing),
		cmocka_unit_test(a_second_sweep_asks_and_writes_nothing),
		cmocka_unit_test(a_change_of_the_file_costs_what_it_changes),
		cmocka_unit_test(reboots_bring_the_tables_back),
		cmocka_unit_test(reboots_in_the_middle_of_a_sweep),
		cmocka_unit_test(a_restart_reads_and_writes_nothing),
		cmocka_unit_test(keys_of_a_former_manager_go),
		cmocka_unit_test(the_audit_finds_what_others_wrote),
		cmocka_unit_test(the_managers_own_port_is_audited_first),
		cmocka_unit_test(a_table_is_read_from_its_device),
		cmocka_unit_test(questions_are_few_and_all_end),
		cmocka_unit_test(questions_end_with_the_device_and_with_us),
	};
	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const struct log_config loud = { .path = "stderr", .flags = 0x0f, .quiet = true };

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	log_open(getenv("LOUD") ? &loud : &quiet);
	return cmocka_run_group_tests_name("sm-pkeys", tests, NULL, NULL);
}
