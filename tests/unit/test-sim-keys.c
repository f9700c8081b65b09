// SPDX-License-Identifier: BSD-2-Clause
/* The watch of M_Keys: what it finds, and what it leaves alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/sim-probe.h"

#define KEY   0x1234
#define OTHER 0x5678

struct fixture {
	struct netfile *net;
	struct sim *sim;
	struct probe p;
	int leaf, host;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->net = gen_tree(2, 2, 1, 1);
	f->sim = sim_new(f->net, 1);
	f->p = probe_open(f->sim, "h0", 1);
	f->leaf = sim_find(f->sim, "leaf2");
	f->host = sim_find(f->sim, "h3");
	sim_watch_keys(f->sim, 2);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	probe_close(&f->p);
	sim_free(f->sim);
	netfile_free(f->net);
	free(f);
	return 0;
}

/* One Set of PortInfo, as a manager does it that knows the present key. */
static int give(struct fixture *f, int node, uint64_t key, unsigned protect, unsigned lease)
{
	probe_get_port(&f->p, node, 0);
	ib_put(f->p.answer, PI_LID, probe_lid_of(node));
	ib_put(f->p.answer, PI_MASTER_SM_LID, 1);
	ib_put(f->p.answer, PI_M_KEY, key);
	ib_put(f->p.answer, PI_M_KEY_PROTECT, protect);
	ib_put(f->p.answer, PI_M_KEY_LEASE, lease);
	return probe_set(&f->p, node, IB_ATTR_PORT_INFO, 0);
}

static void assert_opened(struct fixture *f, unsigned n)
{
	assert_int_equal(sim_keys_watched(f->sim)->opened, n);
}

static void a_key_that_is_changed_for_another_is_well(void **state)
{
	struct fixture *f = *state;
	const int nodes[] = { f->host, f->leaf };
	uint64_t looks;

	for (unsigned i = 0; i < ARRAY_SIZE(nodes); i++) {
		f->p.m_key = 0;
		assert_int_equal(give(f, nodes[i], KEY, 2, 0), 0);
		looks = sim_keys_watched(f->sim)->looks;
		f->p.m_key = KEY;
		assert_int_equal(give(f, nodes[i], OTHER, 2, 0), 0);
		assert_true(sim_keys_watched(f->sim)->looks > looks);
	}
	assert_opened(f, 0);
}

static void a_port_that_never_had_a_key_is_well(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(give(f, f->host, 0, 0, 0), 0);
	assert_opened(f, 0);
}

static void a_key_that_is_taken_away_is_found_and_named(void **state)
{
	struct fixture *f = *state;
	const struct sim_key_watch *w = sim_keys_watched(f->sim);

	assert_int_equal(give(f, f->host, KEY, 2, 0), 0);
	f->p.m_key = KEY;
	assert_int_equal(give(f, f->host, 0, 0, 0), 0);
	assert_opened(f, 1);
	assert_int_equal(w->first[0].node, f->host);
	assert_int_equal(w->first[0].port, 1);
	assert_int_equal(w->first[0].has.key, 0);
	/* Found again only after it was closed. */
	assert_int_equal(give(f, f->host, 0, 0, 0), 0);
	assert_opened(f, 1);
	assert_int_equal(give(f, f->host, OTHER, 2, 0), 0);
	f->p.m_key = OTHER;
	assert_int_equal(give(f, f->host, 0, 0, 0), 0);
	assert_opened(f, 2);
}

static void a_key_without_its_level_is_found(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(give(f, f->leaf, KEY, 1, 0), 0);
	assert_opened(f, 1);
	assert_int_equal(sim_keys_watched(f->sim)->first[0].port, 0);
	assert_int_equal(sim_keys_watched(f->sim)->first[0].has.protect, 1);
}

/* The port opens without a Set; the next request finds it so. */
static void a_lease_that_ran_out_is_found(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(give(f, f->host, KEY, 2, 5), 0);
	assert_int_equal(probe_get(&f->p, f->host, IB_ATTR_NODE_INFO, 0), PROBE_TIMEOUT);
	assert_opened(f, 0);
	sim_advance(f->sim, sim_now(f->sim) + 6 * MONO_S);
	assert_int_equal(probe_get(&f->p, f->host, IB_ATTR_NODE_INFO, 0), 0);
	assert_opened(f, 1);
}

/* Readers without a key see all but the key; a Set without it is refused as ever. */
static void gets_are_open_to_judges(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(give(f, f->host, KEY, 2, 0), 0);
	assert_int_equal(probe_get(&f->p, f->host, IB_ATTR_PORT_INFO, 0), PROBE_TIMEOUT);
	sim_set_gets_open(f->sim, true);
	assert_int_equal(probe_get(&f->p, f->host, IB_ATTR_PORT_INFO, 0), 0);
	assert_int_equal(ib_get(f->p.answer, PI_M_KEY), 0);
	assert_int_equal(ib_get(f->p.answer, PI_M_KEY_PROTECT), 2);
	assert_int_equal(give(f, f->host, OTHER, 2, 0), PROBE_TIMEOUT);
	sim_set_gets_open(f->sim, false);
	assert_int_equal(probe_get(&f->p, f->host, IB_ATTR_PORT_INFO, 0), PROBE_TIMEOUT);
	assert_opened(f, 0);
}

static void a_power_cycle_may_open_a_port(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(give(f, f->host, KEY, 2, 0), 0);
	sim_reboot(f->sim, f->host, MONO_S);
	sim_advance(f->sim, sim_now(f->sim) + 2 * MONO_S);
	assert_int_equal(give(f, f->host, 0, 0, 0), 0);
	assert_opened(f, 0);
	assert_int_equal(give(f, f->host, KEY, 2, 0), 0);
	f->p.m_key = KEY;
	assert_int_equal(give(f, f->host, KEY, 0, 0), 0);
	assert_opened(f, 1);
}

/* Ports that were locked before the watch began count, and the watch can be ended. */
static void the_watch_begins_with_what_it_finds(void **state)
{
	struct fixture *f = *state;

	sim_watch_keys(f->sim, 0);
	assert_int_equal(give(f, f->host, KEY, 2, 0), 0);
	sim_set_m_key(f->sim, f->leaf, 0, KEY, 1, 0);
	f->p.m_key = KEY;
	assert_int_equal(give(f, f->host, OTHER, 0, 0), 0);
	f->p.m_key = OTHER;
	assert_int_equal(give(f, f->host, KEY, 2, 0), 0);
	assert_opened(f, 0);
	f->p.m_key = KEY;
	sim_watch_keys(f->sim, 2);
	assert_opened(f, 1);
	assert_int_equal(give(f, f->host, 0, 0, 0), 0);
	assert_opened(f, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_key_that_is_changed_for_another_is_well, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_port_that_never_had_a_key_is_well, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_key_that_is_taken_away_is_found_and_named, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_key_without_its_level_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lease_that_ran_out_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(gets_are_open_to_judges, setup, teardown),
		cmocka_unit_test_setup_teardown(a_power_cycle_may_open_a_port, setup, teardown),
		cmocka_unit_test_setup_teardown(the_watch_begins_with_what_it_finds, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
