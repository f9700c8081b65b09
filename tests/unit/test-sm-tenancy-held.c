// SPDX-License-Identifier: BSD-2-Clause
/* Which ports may hold a P_Key that is not theirs: what a REST client takes for "gone". */
#include "tests/unit/tenancy-desk.h"

static void make_silent(struct desk *d, unsigned host, bool silent)
{
	unsigned port;
	int leaf = leaf_of(d, host, &port);
	enum sim_silence what = silent ? SIM_SILENT : SIM_ANSWERS;

	sim_set_silent(d->rig->sim, host_node(d, host), what, silent ? IB_ATTR_PKEY_TABLE : 0);
	sim_set_silent(d->rig->sim, leaf, what, silent ? IB_ATTR_PKEY_TABLE : 0);
}

static void restart(struct desk *d)
{
	rig_kill(d->rig, d->sm);
	start(d);
}

/* What was not read for a first question is read for the second. */
static unsigned open_of(struct desk *d, unsigned pkey)
{
	sm_tenancy_open(sm_of(d), (uint16_t)pkey);
	run_for(d, 2 * MONO_S);
	return sm_tenancy_open(sm_of(d), (uint16_t)pkey);
}

static void a_settled_fabric_holds_nothing(void **state)
{
	struct desk *d = *state;

	assert_int_equal(open_of(d, 0x5), 0);
	assert_done(add(d, 0x5, 3));
	assert_int_equal(open_of(d, 0x5), 0); /* it is to have it */
	assert_done(drop(d, 0x5, 3));
	assert_int_equal(sm_tenancy_open(sm_of(d), 0x5), 0);
	restart(d);
	assert_int_equal(open_of(d, 0x5), 0);
}

/* The manager that comes back knows nothing of what was open, and devices still hold it. */
static void what_devices_hold_is_open_after_a_restart(void **state)
{
	struct desk *d = *state;

	assert_done(add(d, 0x5, 3));
	make_silent(d, 3, true);
	assert_int_equal(drop(d, 0x5, 3).end, SM_TENANCY_UNCONFIRMED);
	assert_int_not_equal(sm_tenancy_open(sm_of(d), 0x5), 0);
	restart(d);
	run_for(d, 20 * MONO_S);
	assert_true(both_hold(d, 3, 0x8005));
	assert_int_not_equal(open_of(d, 0x5), 0);
	make_silent(d, 3, false);
	run_for(d, 60 * MONO_S);
	assert_true(none_holds(d, 3, 0x8005));
	assert_int_equal(open_of(d, 0x5), 0);
}

static void a_port_that_fails_for_ever_leaves_other_keys_alone(void **state)
{
	struct desk *d = *state;

	assert_done(add(d, 0x5, 3));
	assert_done(add(d, 0x6, 4));
	make_silent(d, 3, true);
	assert_int_equal(drop(d, 0x5, 3).end, SM_TENANCY_UNCONFIRMED);
	run_for(d, 60 * MONO_S);
	assert_int_not_equal(open_of(d, 0x5), 0);
	assert_int_equal(open_of(d, 0x7), 0);
	assert_int_not_equal(sm_tenancy_open(sm_of(d), 0), 0);
}

/* What came and went while it failed may be there too. */
static void so_it_does_of_keys_that_it_was_given_meanwhile(void **state)
{
	struct desk *d = *state;

	assert_done(add(d, 0x5, 3));
	make_silent(d, 3, true);
	assert_int_equal(drop(d, 0x5, 3).end, SM_TENANCY_UNCONFIRMED);
	add(d, 0x7, 3);
	drop(d, 0x7, 3);
	assert_int_not_equal(open_of(d, 0x7), 0);
	assert_int_equal(open_of(d, 0x8), 0);
}

/*
 * A host that does not answer, and whose link is up: a manager without the file neighbors does not
 * know whose it is. Its switch port is read.
 */
static void a_link_to_something_unknown_is_read(void **state)
{
	struct desk *d = *state;
	_cleanup_free_ char *neighbors = xasprintf("%s/neighbors", d->dir);

	assert_done(add(d, 0x5, 3));
	sim_set_silent(d->rig->sim, host_node(d, 3), SIM_SILENT, 0);
	rig_kill(d->rig, d->sm);
	assert_int_equal(unlink(neighbors), 0);
	start(d);
	assert_int_equal(drop(d, 0x5, 3).end, SM_TENANCY_UNCONFIRMED);
	assert_true(both_hold(d, 3, 0x8005));
	assert_int_equal(host_state(d, 3), IB_PORT_ACTIVE);
	assert_int_equal(open_of(d, 0x5), 1);
	assert_int_equal(open_of(d, 0x6), 0);
	sim_set_silent(d->rig->sim, host_node(d, 3), SIM_ANSWERS, 0);
	run_for(d, 60 * MONO_S);
	assert_true(none_holds(d, 3, 0x8005));
	assert_int_equal(open_of(d, 0x5), 0);
}

/* Before the first sweep has ended nothing is known. */
static void a_manager_that_starts_knows_of_no_key_that_it_is_gone(void **state)
{
	struct desk *d = *state;
	int sm;

	rig_kill(d->rig, d->sm);
	sm = rig_start(d->rig, "h0", 0, d->conf, d->dir);
	assert_true(sm >= 0);
	d->sm = (unsigned)sm;
	assert_int_not_equal(sm_tenancy_open(sm_of(d), 0x5), 0);
}

/* What is said of all ports at once is what is said of each. */
static void all_ports_are_pending_as_each_is(void **state)
{
	struct desk *d = *state;
	struct sm_tenancy_pending *all;
	const char *other;
	unsigned n_hosts = 0;
	size_t n;

	make_silent(d, 3, true);
	add(d, 0x5, 3);
	all = sm_tenancy_all_pending(sm_of(d), &n, &other);
	assert_string_equal(other, sm_tenancy_pending(sm_of(d), 0xdead));
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(all[i].why, sm_tenancy_pending(sm_of(d), all[i].guid));
		for (unsigned k = 0; k < N_HOSTS; k++)
			n_hosts += all[i].guid == d->guid[k];
	}
	assert_int_equal(n_hosts, N_HOSTS);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_settled_fabric_holds_nothing),
		TEST(what_devices_hold_is_open_after_a_restart),
		TEST(a_port_that_fails_for_ever_leaves_other_keys_alone),
		TEST(so_it_does_of_keys_that_it_was_given_meanwhile),
		TEST(a_link_to_something_unknown_is_read),
		TEST(a_manager_that_starts_knows_of_no_key_that_it_is_gone),
		TEST(all_ports_are_pending_as_each_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
