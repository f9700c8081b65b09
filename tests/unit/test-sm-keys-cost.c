// SPDX-License-Identifier: BSD-2-Clause
/*
 * What leases cost at 648 hosts, with a key for each port at level 2, after a rotation: one Get for
 * each port and half lease, and no wrong key.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/gen/gen.h"
#include "sm/sm_internal.h"
#include "tests/lib/rig.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"

#define LEASE	    60
#define HALF_LEASES 10

static void drop_line(void *arg, unsigned bits, const char *text)
{
	if (getenv("LOUD"))
		fprintf(stderr, "%s\n", text);
}

static void run_for(struct rig *rig, mono_t t)
{
	rig_run(rig, sim_now(rig->sim) + t);
}

static uint64_t sent(const struct sm *sm, uint8_t method, uint16_t attr)
{
	const struct mad_count *rows;
	uint64_t sum = 0;
	unsigned n;

	rows = mad_counts(sm_mad(sm), &n);
	for (unsigned i = 0; i < n; i++) {
		if (rows[i].method == method && rows[i].attr == attr)
			sum += rows[i].sent;
	}
	return sum;
}

static uint64_t wrong_keys(struct sim *sim)
{
	uint8_t info[SMP_DATA_SIZE];
	uint64_t n = 0;

	for (int node = 0; node < (int)sim_n_nodes(sim); node++) {
		unsigned port = sim_node_is_switch(sim, node) ? 0 : 1;

		assert_int_equal(sim_read(sim, node, IB_ATTR_PORT_INFO, port, info), 0);
		n += ib_get(info, PI_M_KEY_VIOLATIONS);
	}
	return n;
}

static void assert_all_have(const struct sm *sm, uint32_t epoch)
{
	struct sm_keys keys;

	sm_keys(sm, &keys);
	assert_int_equal(keys.epoch, epoch);
	assert_int_equal(keys.n_ports, 648 + 54);
	assert_int_equal(keys.n_right, keys.n_ports);
}

static void a_half_lease_takes_one_get_for_each_port(void **state)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree2(36);
	struct rig *rig = rig_new(sim_new(net, 1));
	struct conf *conf = conf_new();
	uint64_t names, infos, ports, switches, wrong, sweeps;
	char dir[SCRATCH_PATH];
	struct sm *sm;

	log_set_sink(drop_line, NULL);
	conf->m_key_per_port = true;
	conf->m_key = UINT64_C(0x5eed0000000000aa);
	conf->m_key_protection_level = 2;
	conf->m_key_lease_period = LEASE;
	conf->port_state_poll_interval = 0; /* light sweeps alone serve the leases of switches */
	assert_int_equal(rig_start(rig, "h0", 0, conf, scratch_folder(dir)), 0);
	run_for(rig, 60 * MONO_S);
	sm = rig_master(rig);
	assert_non_null(sm);
	assert_all_have(sm, 1);
	assert_int_equal(sm_rotate_keys(sm), 0);
	run_for(rig, 200 * MONO_S);
	assert_all_have(sm, 2);
	names = sent(sm, MAD_GET, IB_ATTR_NODE_DESC);
	infos = sent(sm, MAD_GET, IB_ATTR_NODE_INFO);
	ports = sent(sm, MAD_GET, IB_ATTR_PORT_INFO);
	switches = sent(sm, MAD_GET, IB_ATTR_SWITCH_INFO);
	wrong = wrong_keys(rig->sim);
	run_for(rig, HALF_LEASES * (LEASE / 2) * MONO_S);
	names = sent(sm, MAD_GET, IB_ATTR_NODE_DESC) - names;
	assert_in_range(names, 648 * (HALF_LEASES - 1), 648 * (HALF_LEASES + 1));
	assert_int_equal(sent(sm, MAD_GET, IB_ATTR_NODE_INFO) - infos, 0);
	/* Light sweeps, which serve the leases of switches: state, and one block of a table. */
	sweeps = HALF_LEASES * (LEASE / 2) / conf->sweep_interval + 2;
	assert_in_range(sent(sm, MAD_GET, IB_ATTR_PORT_INFO) - ports, 0, 54 * sweeps);
	assert_in_range(sent(sm, MAD_GET, IB_ATTR_SWITCH_INFO) - switches, 54 * HALF_LEASES,
			54 * sweeps);
	assert_int_equal(wrong_keys(rig->sim) - wrong, 0);
	assert_all_have(sm, 2);
	rig_free(rig);
	conf_unref(conf);
	scratch_remove(dir);
	log_set_sink(NULL, NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_half_lease_takes_one_get_for_each_port),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
