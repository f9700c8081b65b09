// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables of devices that are asked for through the whole manager, on a fabric with partitions
 * (tests/scenario/pkeys*.scn have what sweeps read and write).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/rig.h"
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
