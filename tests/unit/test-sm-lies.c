// SPDX-License-Identifier: BSD-2-Clause
/*
 * A host that lies about what its port can do (MTU, VLs, no P_Key table) spoils its own paths, and
 * those of no other host: links and groups of the others stay as they are.
 */
#include "tests/unit/trap-world.h"

static unsigned neighbor_mtu(struct world *w, const char *name, unsigned port)
{
	uint8_t info[SMP_DATA_SIZE];

	assert_int_equal(sim_read(w->sim, node_of(w, name), IB_ATTR_PORT_INFO, port, info), 0);
	return (unsigned)ib_get(info, PI_NEIGHBOR_MTU);
}

/* The status of h<i>'s join of the broadcast group; the group's record into `ret`. */
static int join(struct world *w, unsigned i, uint8_t ret[MCM_BYTES])
{
	uint8_t record[MCM_BYTES];
	struct transport_event ev = { 0 };
	struct client *c;
	struct question q;
	char name[8];
	int status;

	snprintf(name, sizeof(name), "h%u", i);
	c = client_new(w->sim, name);
	q = client_join_broadcast(c, 0xFFFF, record);
	status = client_ask(c, w->rig, &q, &ev);
	if (!status)
		memcpy(ret, client_record(&ev), MCM_BYTES);
	free(ev.whole);
	client_free(c);
	return status;
}

static void path_between(struct world *w, unsigned from, unsigned to, uint8_t ret[PR_BYTES])
{
	uint8_t record[PR_BYTES];
	struct transport_event ev = { 0 };
	struct client *c;
	struct question q;
	char name[8];

	snprintf(name, sizeof(name), "h%u", from);
	c = client_new(w->sim, name);
	snprintf(name, sizeof(name), "h%u", to);
	q = client_path(c, sim_node_guid(w->sim, node_of(w, name)) + 1, 0xFFFF, record);
	assert_int_equal(client_ask(c, w->rig, &q, &ev), 0);
	memcpy(ret, client_record(&ev), PR_BYTES);
	free(ev.whole);
	client_free(c);
}

static void lie(struct world *w)
{
	sim_set_caps(w->sim, node_of(w, "h9"), IB_MTU_256, 1);
}

/* All that the others have, whether the liar is there or not. */
static void others_are_well(struct world *w, unsigned mtu, unsigned rate)
{
	uint8_t group[MCM_BYTES], path[PR_BYTES];

	assert_int_equal(join(w, 2, group), 0);
	assert_int_equal(ib_get(group, MCM_MTU), mtu);
	assert_int_equal(ib_get(group, MCM_RATE), rate);
	path_between(w, 2, 10, path);
	assert_true(ib_get(path, PR_MTU) > IB_MTU_256);
	assert_true(neighbor_mtu(w, "h10", 1) > IB_MTU_256);
	assert_true(neighbor_mtu(w, "leaf3", 5) > IB_MTU_256);
	assert_true(is_good(w));
}

static void a_small_mtu_is_the_liars_alone(void **state)
{
	struct world *w = *state;
	uint8_t group[MCM_BYTES], path[PR_BYTES];
	unsigned mtu, rate;

	start(w);
	assert_int_equal(join(w, 2, group), 0);
	mtu = (unsigned)ib_get(group, MCM_MTU);
	rate = (unsigned)ib_get(group, MCM_RATE);
	assert_true(mtu > IB_MTU_256);
	lie(w);
	sim_link_flap(w->sim, node_of(w, "h9"), 1, MONO_S);
	run_for(w, 20 * MONO_S);
	assert_int_equal(neighbor_mtu(w, "h9", 1), IB_MTU_256);
	assert_true(join(w, 9, group) != 0);
	path_between(w, 2, 9, path);
	assert_int_equal(ib_get(path, PR_MTU), IB_MTU_256);
	others_are_well(w, mtu, rate);
}

/* It was there first: the group is not made after it. */
static void a_liar_that_is_there_before_the_manager_makes_no_group_smaller(void **state)
{
	struct world *w = *state;
	uint8_t group[MCM_BYTES];

	lie(w);
	start(w);
	assert_true(join(w, 9, group) != 0);
	assert_int_equal(join(w, 2, group), 0);
	assert_true(ib_get(group, MCM_MTU) > IB_MTU_256);
	others_are_well(w, (unsigned)ib_get(group, MCM_MTU), (unsigned)ib_get(group, MCM_RATE));
}

static void a_port_without_a_p_key_table_takes_nothing_from_the_others(void **state)
{
	struct world *w = *state;
	uint8_t group[MCM_BYTES];

	sim_set_pkey_cap(w->sim, node_of(w, "h9"), 0);
	start(w);
	assert_int_equal(join(w, 2, group), 0);
	others_are_well(w, (unsigned)ib_get(group, MCM_MTU), (unsigned)ib_get(group, MCM_RATE));
	assert_true(sm_stats(w->sm)->up);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(a_small_mtu_is_the_liars_alone),
		TEST(a_liar_that_is_there_before_the_manager_makes_no_group_smaller),
		TEST(a_port_without_a_p_key_table_takes_nothing_from_the_others),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
