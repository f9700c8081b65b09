// SPDX-License-Identifier: BSD-2-Clause
/*
 * Keys that are removed from hosts that do not answer, by a manager that has never seen them
 * answer: the removal is done at the switch port that the host was at, or it is not confirmed.
 */
#include "tenancy-desk.h"

#define HOST	3
#define VIRTUAL 0x0200000000000001

/* h3 has a key and falls silent behind a link that stays up; the manager is another process now. */
static void go_silent_and_restart(struct desk *d, bool keep_neighbors)
{
	_cleanup_free_ char *neighbors = xasprintf("%s/neighbors", d->dir);

	assert_done(add(d, 0x5, HOST));
	sim_set_silent(d->rig->sim, host_node(d, HOST), SIM_SILENT, 0);
	run_for(d, 15 * MONO_S);
	rig_kill(d->rig, d->sm);
	if (!keep_neighbors)
		assert_int_equal(unlink(neighbors), 0);
	start(d);
	run_for(d, 5 * MONO_S);
	assert_int_equal(host_state(d, HOST), IB_PORT_ACTIVE);
	assert_true(both_hold(d, HOST, 0x8005));
}

static void a_silent_host_is_cut_where_it_was_before_the_restart(void **state)
{
	struct desk *d = *state;

	go_silent_and_restart(d, true);
	assert_done(drop(d, 0x5, HOST));
	assert_false(switch_holds(d, HOST, 0x8005));
}

static void without_a_place_its_removal_is_not_confirmed(void **state)
{
	struct desk *d = *state;

	go_silent_and_restart(d, false);
	assert_int_equal(drop(d, 0x5, HOST).end, SM_TENANCY_UNCONFIRMED);
	assert_int_equal(drop(d, 0x5, HOST).end, SM_TENANCY_UNCONFIRMED);
	assert_true(sm_tenancy_open(sm_of(d), 0x5) > 0);
	sim_set_silent(d->rig->sim, host_node(d, HOST), SIM_ANSWERS, 0);
	run_for(d, 60 * MONO_S);
	assert_true(none_holds(d, HOST, 0x8005));
	assert_done(drop(d, 0x5, HOST));
	assert_int_equal(sm_tenancy_open(sm_of(d), 0x5), 0);
}

/* Until the link is down: then the host cannot send. */
static void without_a_place_a_dark_link_that_goes_down_confirms(void **state)
{
	struct desk *d = *state;

	go_silent_and_restart(d, false);
	assert_int_equal(drop(d, 0x5, HOST).end, SM_TENANCY_UNCONFIRMED);
	sim_power(d->rig->sim, host_node(d, HOST), false);
	run_for(d, 40 * MONO_S);
	assert_done(drop(d, 0x5, HOST));
}

/* Members that never were are given keys, and lose them, while a host is silent. */
static void what_is_behind_the_link_is_known_to_be_another(void **state)
{
	struct desk *d = *state;
	struct answer a;

	go_silent_and_restart(d, true);
	a = ask_one(d, TENANT_ADD, 0x6, VIRTUAL, true, false);
	assert_done(a);
	assert_int_equal(a.n_pending, 1);
	assert_done(ask_one(d, TENANT_REMOVE, 0x6, VIRTUAL, true, false));
	assert_true(switch_holds(d, HOST, 0x8005));
}

/* What is only given is pending, as ever. */
static void without_a_place_a_key_can_be_given(void **state)
{
	struct desk *d = *state;
	struct answer a;

	go_silent_and_restart(d, false);
	a = ask_one(d, TENANT_ADD, 0x6, VIRTUAL, true, false);
	assert_done(a);
	assert_int_equal(a.n_pending, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_silent_host_is_cut_where_it_was_before_the_restart),
		TEST(without_a_place_its_removal_is_not_confirmed),
		TEST(without_a_place_a_dark_link_that_goes_down_confirms),
		TEST(what_is_behind_the_link_is_known_to_be_another),
		TEST(without_a_place_a_key_can_be_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
