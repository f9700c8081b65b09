// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions at run time in tables of several blocks: keys that are removed while the host, or the
 * manager, is away are gone from every block of the switch port before the link is ACTIVE again.
 */
#include "sm/tenants/tenancy_internal.h"
#include "sm/ledger/settle_internal.h"
#include "tenancy-desk.h"

#define CAP	  128 /* entries of hosts and switch ports: four blocks */
#define FIRST_KEY 0x100
#define N_KEYS	  40
#define N_LEFT	  31 /* with the default key they fill one block */
#define N_GONE	  (N_KEYS - N_LEFT)
#define FIRST_GUID UINT64_C(0x0200000000000001)
#define HOST	  3
#define OTHER	  10 /* at another leaf */

static int setup_large(void **state)
{
	struct desk *d = desk_new();

	sim_set_pkey_cap(d->rig->sim, -1, CAP);
	start(d);
	*state = d;
	return 0;
}

#define LARGE_TEST(f) cmocka_unit_test_setup_teardown(f, setup_large, teardown)

/* The request is made; its answer is not waited for. */
static void submit_key(struct desk *d, enum tenant_action action, unsigned i, struct answer *ret)
{
	struct tenant_member member = { d->guid[HOST], true, false };
	const struct tenant_request rq = { .action = action,
					   .pkey = (uint16_t)(FIRST_KEY + i),
					   .members = &member,
					   .n_members = 1 };

	submit(d, &rq, ret);
}

/* Keys from `from` on, `n` of them: all is answered as done. */
static void change_keys(struct desk *d, enum tenant_action action, unsigned from, unsigned n)
{
	struct answer answers[CAP] = { 0 };

	for (unsigned i = 0; i < n; i++)
		submit_key(d, action, from + i, &answers[i]);
	for (unsigned i = 0; i < n; i++)
		assert_done(wait_for(d, &answers[i]));
}

static unsigned keys_of(const struct desk *d, int node, unsigned port, unsigned from, unsigned n)
{
	unsigned found = 0;

	for (unsigned i = from; i < from + n; i++)
		found += index_of(d, node, port, 0x8000 | (FIRST_KEY + i)) >= 0;
	return found;
}

/* Steps until the link is ACTIVE: no removed key is in the switch port then. */
static void assert_clean_when_active(struct desk *d, int leaf, unsigned port, unsigned from,
				     unsigned n)
{
	mono_t until = sim_now(d->rig->sim) + 120 * MONO_S;

	while (sim_port_state(d->rig->sim, leaf, port) != IB_PORT_ACTIVE)
		assert_true(rig_step(d->rig, until));
	assert_int_equal(keys_of(d, leaf, port, from, n), 0);
}

/* Of `n_keys`, the last `n_gone` are removed while the host is down. */
static void removed_while_down(unsigned n_keys, unsigned n_gone)
{
	void *state;
	struct desk *d;
	unsigned port, left = n_keys - n_gone;
	int leaf;

	setup_large(&state);
	d = state;
	leaf = leaf_of(d, HOST, &port);
	change_keys(d, TENANT_ADD, 0, n_keys);
	assert_int_equal(keys_of(d, leaf, port, 0, n_keys), n_keys);
	sim_power(d->rig->sim, host_node(d, HOST), false);
	run_for(d, 5 * MONO_S);
	change_keys(d, TENANT_REMOVE, left, n_gone);
	sim_power(d->rig->sim, host_node(d, HOST), true);
	assert_clean_when_active(d, leaf, port, left, n_gone);
	assert_int_equal(keys_of(d, leaf, port, 0, left), left);
	teardown(&state);
}

static void keys_removed_while_the_host_is_down(void **state)
{
	/* The default key is one more: 31 keys fill a block. */
	static const unsigned sizes[] = { 30, 31, 32, 33, 40, 63, 64, 65 };

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		removed_while_down(sizes[i], 1);
		removed_while_down(sizes[i], 8);
		removed_while_down(sizes[i], sizes[i]);
	}
}

/* Removals are on the disk, and the manager dies before a device is written to. */
static void keys_removed_between_disk_and_wire(void **state)
{
	struct desk *d = *state;
	struct answer answers[N_GONE];
	unsigned port;
	int leaf = leaf_of(d, HOST, &port);
	uint64_t generation;
	mono_t until;

	change_keys(d, TENANT_ADD, 0, N_KEYS);
	make_pkeys_silent(d, leaf, true);
	make_pkeys_silent(d, host_node(d, HOST), true);
	generation = tenants_generation(sm_tenants(sm_of(d)));
	for (unsigned i = 0; i < N_GONE; i++)
		submit_key(d, TENANT_REMOVE, N_LEFT + i, &answers[i]);
	run_for(d, 50 * MONO_MS);
	assert_int_equal(tenants_generation(sm_tenants(sm_of(d))), generation + N_GONE);
	for (unsigned i = 0; i < N_GONE; i++)
		sm_tenancy_abandon(sm_of(d), &answers[i]);
	rig_kill(d->rig, d->sm);
	make_pkeys_silent(d, leaf, false);
	make_pkeys_silent(d, host_node(d, HOST), false);
	assert_int_equal(keys_of(d, leaf, port, N_LEFT, N_GONE), N_GONE);
	start(d);
	until = sim_now(d->rig->sim) + 10 * MONO_S;
	while (keys_of(d, leaf, port, N_LEFT, N_GONE))
		assert_true(rig_step(d->rig, until));
	assert_int_equal(keys_of(d, leaf, port, 0, N_LEFT), N_LEFT);
	assert_int_equal(keys_of(d, host_node(d, HOST), 0, 0, N_KEYS), N_LEFT);
}

/* The manager that removes them has never read the switch port. */
static void keys_removed_by_a_manager_that_came_later(void **state)
{
	struct desk *d = *state;
	unsigned port;
	int leaf = leaf_of(d, HOST, &port);

	change_keys(d, TENANT_ADD, 0, N_KEYS);
	sim_power(d->rig->sim, host_node(d, HOST), false);
	rig_kill(d->rig, d->sm);
	start(d);
	change_keys(d, TENANT_REMOVE, N_LEFT, N_GONE);
	sim_power(d->rig->sim, host_node(d, HOST), true);
	assert_clean_when_active(d, leaf, port, N_LEFT, N_GONE);
	assert_int_equal(keys_of(d, leaf, port, 0, N_LEFT), N_LEFT);
}

/* The host is gone for good, and another one is plugged into its switch port. */
static void another_host_has_no_key_of_the_one_before(void **state)
{
	struct desk *d = *state;
	unsigned port;
	int leaf = leaf_of(d, HOST, &port);

	change_keys(d, TENANT_ADD, 0, N_KEYS);
	sim_unplug(d->rig->sim, host_node(d, HOST), 1);
	run_for(d, 5 * MONO_S);
	sim_move(d->rig->sim, host_node(d, OTHER), 1, leaf, port);
	assert_clean_when_active(d, leaf, port, 0, N_KEYS);
}

/* Tables that are known cost what differs, in the second block as in the first. */
static void one_member_costs_two_sets_and_two_gets(void **state)
{
	struct desk *d = *state;
	uint64_t n_sets, n_gets;

	for (unsigned i = 0; i < 70; i++) {
		n_sets = sim_sets(d->rig->sim);
		n_gets = sim_gets(d->rig->sim);
		change_keys(d, TENANT_ADD, i, 1);
		assert_int_equal(sim_sets(d->rig->sim) - n_sets, 2);
		assert_int_equal(sim_gets(d->rig->sim) - n_gets, 2);
	}
}

/* ---- requests with many members -------------------------------------------------------------- */

#define N_LARGE 100

struct large_tally {
	unsigned n, n_done, n_too_much;
};

static void on_tally(void *arg, const struct sm_tenancy_result *r)
{
	struct large_tally *t = arg;

	t->n++;
	t->n_done += r->end == SM_TENANCY_DONE;
	t->n_too_much += r->end == SM_TENANCY_BUSY && strstr(r->text, "128 MiB") != NULL;
}

/* They are members of no partition: it costs memory and no device. */
static void remove_many(struct desk *d, unsigned pkey, struct large_tally *t)
{
	struct tenant_member *members = xcalloc(TENANT_REQUEST_MAX, sizeof(*members));
	const struct tenant_request rq = { .action = TENANT_REMOVE,
					   .pkey = (uint16_t)pkey,
					   .members = members,
					   .n_members = TENANT_REQUEST_MAX };

	for (size_t i = 0; i < rq.n_members; i++)
		members[i] = (struct tenant_member){ FIRST_GUID + i, true, false };
	sm_tenancy_request(sm_of(d), &rq, true, false, on_tally, t);
	free(members);
}

/* Fewer than may wait by their number, and more than there is memory for. */
static void large_requests_are_bounded_by_what_they_take(void **state)
{
	struct desk *d = *state;
	struct large_tally t = { 0 };
	size_t most = 0;

	for (unsigned i = 0; i < N_LARGE; i++)
		remove_many(d, 0x100 + i, &t);
	for (unsigned i = 0; i < 300 && t.n < N_LARGE; i++) {
		run_for(d, 50 * MONO_MS);
		most = MAX(most, sm_of(d)->m.tenancy->bytes);
	}
	assert_int_equal(t.n, N_LARGE);
	assert_true(t.n_done > 0 && t.n_too_much > 0);
	assert_true(most <= TENANCY_BYTES_MAX + TENANT_REQUEST_MAX * 100ul);
	/* What was taken is given back: there is room again. */
	assert_true(sm_of(d)->m.tenancy->bytes == 0);
	assert_done(add(d, 0x5, HOST));
}

/* ---- rows of other managers ------------------------------------------------------------------ */

/* Another manager sends that the port was removed; it is stored before what is asked for then. */
static void removal_arrives(struct desk *d, unsigned host)
{
	struct sm *sm = sm_of(d);
	const struct ledger *l = settle_ledger(sm);
	const struct ledger_key key = tenancy_member_key(0x5, d->guid[host]);
	const struct ledger_value removed = { .dot = { ledger_number(l, LEDGER_MEMBER) + 1,
						       { d->guid[7], 1 } },
					      .removed = true };
	struct ledger_row **rows = xcalloc(1, sizeof(struct ledger_row *));

	rows[0] = ledger_prepare(l, NULL, &key, &removed);
	disk_take(sm, d->guid[7], rows, 1, &(struct channel_ticket){ 0 },
		  &(struct settle_end){ .table = ROWS_END_NONE });
}

static void a_change_wins_over_what_arrives_while_it_is_stored(void **state)
{
	struct desk *d = *state;

	assert_done(add(d, 0x5, 3));
	d->rig->disk_time = 100 * MONO_MS;
	removal_arrives(d, 3);
	assert_done(ask_one(d, TENANT_ADD, 0x5, d->guid[3], false, false));
	assert_true(both_hold(d, 3, 0x0005));
	run_for(d, 60 * MONO_S);
	assert_true(both_hold(d, 3, 0x0005));
}

static void note_wrong(void *arg, const struct sm_tenancy_audit *r)
{
	size_t *n_wrong = arg;

	*n_wrong = r->n_wrong;
}

/* Verify goes by members, not by the plan of what is written: that is out of date here. */
static void a_port_that_was_not_planned_is_found_by_verify(void **state)
{
	struct desk *d = *state;
	struct tenant_row rows[] = {
		{ .kind = TENANT_ROW_PARTITION, .pkey = 0x5, .generation = 9 },
		{ .kind = TENANT_ROW_MEMBER, .pkey = 0x5, .generation = 9,
		  .member = { .guid = d->guid[HOST], .full = true } },
	};
	const struct tenant_entry e = { .generation = 9, .rows = rows, .n_rows = 2 };
	size_t n_wrong = SIZE_MAX;

	assert_true(sm_tenancy_verify(sm_of(d), note_wrong, &n_wrong));
	run_for(d, 4 * MONO_S);
	assert_int_equal(n_wrong, 0);
	tenants_play(partition_tenants(sm_of(d)), &e);
	assert_true(sm_tenancy_verify(sm_of(d), note_wrong, &n_wrong));
	run_for(d, 4 * MONO_S);
	assert_int_equal(n_wrong, 2); /* the table of the host, and that of its switch port */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_removed_while_the_host_is_down),
		LARGE_TEST(keys_removed_between_disk_and_wire),
		LARGE_TEST(keys_removed_by_a_manager_that_came_later),
		LARGE_TEST(another_host_has_no_key_of_the_one_before),
		LARGE_TEST(one_member_costs_two_sets_and_two_gets),
		LARGE_TEST(large_requests_are_bounded_by_what_they_take),
		LARGE_TEST(a_change_wins_over_what_arrives_while_it_is_stored),
		LARGE_TEST(a_port_that_was_not_planned_is_found_by_verify),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
