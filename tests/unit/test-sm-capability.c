// SPDX-License-Identifier: BSD-2-Clause
/*
 * A host port that says what cannot be of its MTU, VLs, P_Keys, width or speed is named once, with
 * its switch port; a port that is only slow is not. And how many ports are remembered for what they
 * do (tests/scenario/violations.scn has the rest).
 */
#include "fabric/fabric_internal.h"
#include "tests/unit/trap-world.h"

#include "sm/trust/violations.h"
#include "sm/read/capability.h"
#include "sm/sm_internal.h"

static struct port *port_of(struct world *w, const char *name)
{
	return &((struct node *)known(w, name))->ports[1];
}

static uint64_t counted(struct world *w, const char *name)
{
	const struct violation_counts *c = violations_of(port_of(w, name));

	return c ? c->n[VIOLATION_CAPABILITY] : 0;
}

static void sweep(struct world *w)
{
	sm_request_heavy(w->sm, NULL);
	run_for(w, 10 * MONO_S);
}

static void honest_ports_are_not_named(void **state)
{
	struct world *w = *state;

	sim_set_caps(w->sim, node_of(w, "h6"), IB_MTU_2048, 2); /* an old adapter */
	start(w);
	sweep(w);
	sweep(w);
	assert_int_equal(violations_total(w->sm)->n[VIOLATION_CAPABILITY], 0);
}

/* As to have a group made smaller for all. */
static void a_port_that_shrinks_on_a_live_link_is_named_once(void **state)
{
	struct world *w = *state;

	start(w);
	listen_for(w, "behind 'leaf2' port 2: says MTUCap 1, and said");
	sim_set_caps(w->sim, node_of(w, "h5"), IB_MTU_256, 1);
	sweep(w);
	assert_true(w->said);
	assert_int_equal(counted(w, "h5"), 1);
	assert_int_equal(violations_total(w->sm)->n[VIOLATION_CAPABILITY], 1);
	listen_for(w, "says MTUCap");
	sim_set_caps(w->sim, node_of(w, "h5"), IB_MTU_2048, 1);
	sweep(w);
	sim_set_caps(w->sim, node_of(w, "h5"), IB_MTU_256, 1);
	sweep(w);
	assert_false(w->said);
	assert_int_equal(counted(w, "h5"), 2);
}

static void nonsense_is_named(void **state)
{
	struct world *w = *state;

	start(w);
	listen_for(w, "behind 'leaf2' port 2: says MTUCap 7, which is no MTU");
	sim_set_caps(w->sim, node_of(w, "h5"), 7, 1);
	sweep(w);
	assert_true(w->said);
	listen_for(w, "says VLCap 0, which is no number of VLs");
	sim_set_caps(w->sim, node_of(w, "h6"), IB_MTU_4096, 0);
	sweep(w);
	assert_true(w->said);
	listen_for(w, "says PartitionCap 0: room for no P_Key");
	port_of(w, "h7")->node->partition_cap = 0;
	capability_read(w->sm, port_of(w, "h7"), NULL);
	assert_true(w->said);
}

/* The cable may have trained between the two answers. */
static void ends_of_a_cable_that_differ_twice_are_named(void **state)
{
	struct world *w = *state;
	struct port *p;

	start(w);
	p = port_of(w, "h5");
	listen_for(w, "behind 'leaf2' port 2: says link width 1x, and its switch port has 4x");
	ib_put(p->info, PI_WIDTH_ACTIVE, 1);
	capability_read(w->sm, p, NULL);
	assert_int_equal(counted(w, "h5"), 0);
	capability_read(w->sm, p, NULL);
	assert_true(w->said);
	assert_int_equal(counted(w, "h5"), 1);
	p = port_of(w, "h6");
	listen_for(w, "says link speed 5.0 Gb/s a lane, and its switch port has");
	ib_put(p->info, PI_SPEED_ACTIVE, 2);
	ib_put(p->info, PI_SPEED_EXT_ACTIVE, 0);
	capability_read(w->sm, p, NULL);
	p->peer->seen--; /* that answer is of another sweep */
	capability_read(w->sm, p, NULL);
	p->peer->seen++;
	capability_read(w->sm, p, NULL);
	assert_int_equal(counted(w, "h6"), 0);
	capability_read(w->sm, p, NULL);
	assert_true(w->said);
}

/* It trained with one lane, as both ends say. */
static void a_slow_link_is_not_named(void **state)
{
	struct world *w = *state;
	struct port *p;

	start(w);
	p = port_of(w, "h5");
	ib_put(p->info, PI_WIDTH_ACTIVE, 1);
	ib_put(p->peer->info, PI_WIDTH_ACTIVE, 1);
	capability_read(w->sm, p, NULL);
	capability_read(w->sm, p, NULL);
	assert_int_equal(counted(w, "h5"), 0);
}

/* More ports than there are records: single claims against many make room for each other only. */
static void a_host_that_accuses_all_others_displaces_no_record_that_counts(void **state)
{
	struct world *w = *state;
	uint8_t info[SMP_DATA_SIZE] = { 0 };
	unsigned isolated;

	start(w);
	for (unsigned i = 0; i < 3; i++)
		violation_seen(w->sm, VIOLATION_Q_KEY, port_of(w, "h5"), false);
	ib_put(info, NI_NODE_TYPE, IB_NODE_SWITCH);
	ib_put(info, NI_NUM_PORTS, 254);
	for (unsigned s = 0; s < 20; s++) {
		struct node *n;

		ib_put(info, NI_NODE_GUID, 0xabc000 + s);
		ib_put(info, NI_PORT_GUID, 0xabc000 + s);
		n = fabric_add_node(w->sm->fabric, info);
		assert_non_null(n);
		for (unsigned p = 1; p <= 254; p++)
			violation_seen(w->sm, VIOLATION_P_KEY, &n->ports[p], false);
		if (s == 19)
			assert_non_null(violations_of(&n->ports[254]));
	}
	assert_int_equal(violations_ports(w->sm, &isolated), 4096);
	assert_int_equal(violations_of(port_of(w, "h5"))->n[VIOLATION_Q_KEY], 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(honest_ports_are_not_named),
		TEST(a_port_that_shrinks_on_a_live_link_is_named_once),
		TEST(nonsense_is_named),
		TEST(ends_of_a_cable_that_differ_twice_are_named),
		TEST(a_slow_link_is_not_named),
		TEST(a_host_that_accuses_all_others_displaces_no_record_that_counts),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
