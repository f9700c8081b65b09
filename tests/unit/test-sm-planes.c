// SPDX-License-Identifier: BSD-2-Clause
/* Hosts with two ports, each with a link in two planes, and the same GUID in both. */
#include "tests/unit/marks-world.h"

#include "fabric/store.h"
#include "keys/key_ring.h"
#include "sm/base/keys.h"

/* h0 has the ports 1 and 2 of one GUID, 3 and 4 of another; h1 has one port in two planes. */
static const char net[] = "vendid=0x2c9\ndevid=0xd2f4\nsysimgguid=0x500\nswitchguid=0x5001\n"
			  "Switch\t8 \"a1\"\n"
			  "[1]\t\"h0\"[1]\n[2]\t\"h1\"[1]\n[3]\t\"h0\"[3]\n[8]\t\"a2\"[8]\n\n"
			  "sysimgguid=0x500\nswitchguid=0x5002\nSwitch\t8 \"a2\"\n"
			  "[1]\t\"h0\"[2]\n[2]\t\"h1\"[2]\n[3]\t\"h0\"[4]\n[8]\t\"a1\"[8]\n\n"
			  "sysimgguid=0x10\ncaguid=0x10\nCa\t4 \"h0\"\n"
			  "[1](11)\t\"a1\"[1]\n[2](11)\t\"a2\"[1]\n"
			  "[3](13)\t\"a1\"[3]\n[4](13)\t\"a2\"[3]\n\n"
			  "sysimgguid=0x20\ncaguid=0x20\nCa\t2 \"h1\"\n"
			  "[1](21)\t\"a1\"[2]\n[2](21)\t\"a2\"[2]\n";

static int open_with(void **st, bool m_key_per_port)
{
	struct world *w = *st = xcalloc(1, sizeof(*w));
	struct netfile *file;
	char why[200];

	file = netfile_parse(net, sizeof(net) - 1, why, sizeof(why));
	assert_non_null(file);
	w->sim = sim_new(file, 1);
	netfile_free(file);
	w->rig = rig_new(w->sim);
	w->conf = conf_new();
	w->conf->sweep_interval = 10;
	w->conf->m_key_per_port = m_key_per_port;
	w->conf->m_key = 0x5eed;
	log_set_sink(on_line, w);
	assert_int_equal(rig_start(w->rig, "h1", 0, w->conf, NULL), 0);
	run_for(w, 15 * MONO_S);
	w->sm = rig_master(w->rig);
	assert_non_null(w->sm);
	return 0;
}

static int open_planes(void **st)
{
	return open_with(st, false);
}

static int open_locked(void **st)
{
	return open_with(st, true);
}

static void the_first_plane_serves_the_port(void **st)
{
	struct world *w = *st;

	for (unsigned port = 1; port <= 4; port++)
		assert_int_equal(state(w, "h0", port),
				 port % 2 ? IB_PORT_ACTIVE : IB_PORT_INIT);
}

/* The host stays known by its other port; its second plane takes over. */
static void the_other_plane_serves_when_the_first_is_down(void **st)
{
	struct world *w = *st;

	assert_int_equal(sim_link_down(w->sim, node_of(w, "h0"), 1), 0);
	run_for(w, 60 * MONO_S);
	assert_int_equal(state(w, "h0", 1), IB_PORT_DOWN);
	assert_int_equal(state(w, "h0", 2), IB_PORT_ACTIVE);
	assert_int_equal(state(w, "h0", 3), IB_PORT_ACTIVE);
	assert_int_equal(state(w, "h0", 4), IB_PORT_INIT);
	assert_int_equal(sim_link_up(w->sim, node_of(w, "h0"), 1), 0);
	run_for(w, 60 * MONO_S);
	assert_int_equal(state(w, "h0", 2), IB_PORT_ACTIVE);
	assert_int_equal(state(w, "h0", 1), IB_PORT_INIT);
}

/* A port of a host has one end in `neighbors`: with several it would pass for a switch. */
static void the_other_plane_is_the_only_neighbor(void **st)
{
	struct world *w = *st;
	const struct store *s = w->sm->store;
	uint8_t far_port;
	guid_t far;

	assert_int_equal(store_n_neighbors(s, 0x11), 1);
	assert_int_equal(sim_link_down(w->sim, node_of(w, "h0"), 1), 0);
	run_for(w, 60 * MONO_S);
	assert_int_equal(store_n_neighbors(s, 0x11), 1);
	assert_true(store_neighbor(s, 0x11, 2, &far, &far_port));
	assert_int_equal(far, 0x5002);
	assert_false(store_neighbor(s, 0x5001, 1, &far, &far_port));
	assert_int_equal(store_former_neighbor(s, 0x5001, 1, 0), 0x11);
	assert_int_equal(store_n_neighbors(s, 0x5001), 3);
}

/* Hosts are sent no key of an epoch to come, whatever plane they were met on. */
static void a_host_of_several_planes_is_no_switch(void **st)
{
	struct world *w = *st;
	uint64_t ahead;

	assert_int_equal(sim_link_down(w->sim, node_of(w, "h0"), 1), 0);
	run_for(w, 60 * MONO_S);
	sim_power(w->sim, node_of(w, "h0"), false);
	run_for(w, 60 * MONO_S);
	assert_null(fabric_find_port(w->sm->fabric, 0x11));
	ahead = key_ring_key_ahead(keys_ring(w->sm), 0x11, 1);
	for (unsigned nth = 0; nth < 200; nth++)
		assert_true(keys_expected(w->sm, 0x11, nth) != ahead);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_first_plane_serves_the_port, open_planes,
						close_world),
		cmocka_unit_test_setup_teardown(the_other_plane_serves_when_the_first_is_down,
						open_planes, close_world),
		cmocka_unit_test_setup_teardown(the_other_plane_is_the_only_neighbor, open_planes,
						close_world),
		cmocka_unit_test_setup_teardown(a_host_of_several_planes_is_no_switch, open_locked,
						close_world),
	};

	return cmocka_run_group_tests_name("sm-planes", tests, NULL, NULL);
}
