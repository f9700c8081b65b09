// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions at run time through the whole manager: what is sent, when it is answered, what devices
 * hold then; ports that are away, silent, rebooting, moved; the store on the disk.
 */
#include "ledger/store.h"
#include "sm/sm_internal.h"
#include "tenancy-desk.h"

/* ---- cost ------------------------------------------------------------------------------------ */

static void one_member_costs_two_sets_and_two_gets(void **state)
{
	struct desk *d = *state;
	uint64_t n_sets = sim_sets(d->rig->sim), n_gets = sim_gets(d->rig->sim);
	struct answer a = add(d, 0x5, 3);

	assert_done(a);
	assert_true(a.changed);
	assert_int_equal(a.generation, 1);
	assert_int_equal(a.n_members, 1);
	assert_int_equal(sim_sets(d->rig->sim) - n_sets, 2);
	assert_int_equal(sim_gets(d->rig->sim) - n_gets, 2);
	assert_true(both_hold(d, 3, 0x8005));
	n_sets = sim_sets(d->rig->sim);
	n_gets = sim_gets(d->rig->sim);
	assert_done(drop(d, 0x5, 3));
	assert_int_equal(sim_sets(d->rig->sim) - n_sets, 2);
	assert_int_equal(sim_gets(d->rig->sim) - n_gets, 2);
	assert_true(none_holds(d, 3, 0x8005));
}

static void what_is_so_already_costs_nothing(void **state)
{
	struct desk *d = *state;
	uint64_t smps;
	struct answer a;

	assert_done(add(d, 0x5, 3));
	smps = sim_sets(d->rig->sim) + sim_gets(d->rig->sim);
	a = add(d, 0x5, 3);
	assert_done(a);
	assert_false(a.changed);
	assert_int_equal(a.generation, 1);
	assert_int_equal(sim_sets(d->rig->sim) + sim_gets(d->rig->sim), smps);
}

static void a_membership_is_changed_in_its_place(void **state)
{
	struct desk *d = *state;
	int at;

	assert_done(add(d, 0x5, 3));
	assert_done(add(d, 0x6, 3));
	at = host_index(d, 3, 0x8005);
	assert_done(ask_one(d, TENANT_ADD, 0x5, d->guid[3], false, false));
	assert_int_equal(host_index(d, 3, 0x0005), at);
	assert_true(none_holds(d, 3, 0x8005));
	assert_true(switch_holds(d, 3, 0x0005));
	assert_true(both_hold(d, 3, 0x8006));
}

static void index0_moves_only_when_asked_for(void **state)
{
	struct desk *d = *state;

	assert_int_equal(host_index(d, 4, 0xFFFF), 0);
	assert_done(add(d, 0x5, 4));
	assert_int_equal(host_index(d, 4, 0xFFFF), 0);
	assert_done(ask_one(d, TENANT_ADD, 0x6, d->guid[4], true, true));
	assert_int_equal(host_index(d, 4, 0x8006), 0);
	assert_true(host_index(d, 4, 0xFFFF) > 0);
	assert_done(ask_one(d, TENANT_ADD, 0x7, d->guid[4], true, true));
	assert_int_equal(host_index(d, 4, 0x8007), 0);
	assert_true(host_index(d, 4, 0x8006) > 0);
	assert_done(drop(d, 0x7, 4));
	assert_int_equal(host_index(d, 4, 0xFFFF), 0);
	assert_true(host_index(d, 4, 0x8006) > 0);
}

static void the_managers_own_port_keeps_its_index0(void **state)
{
	struct desk *d = *state;
	struct answer a = ask_one(d, TENANT_ADD, 0x5, d->guid[0], true, true);

	assert_int_equal(a.end, SM_TENANCY_REFUSED);
	assert_int_equal(a.fault, TENANT_INVALID);
	assert_done(add(d, 0x5, 0));
	assert_int_equal(host_index(d, 0, 0xFFFF), 0);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void a_partition_of_the_file_is_read_only(void **state)
{
	struct desk *d = *state;
	uint64_t n_sets = sim_sets(d->rig->sim);
	struct answer a = add(d, 0x1, 3);

	assert_int_equal(a.end, SM_TENANCY_REFUSED);
	assert_int_equal(a.fault, TENANT_READ_ONLY);
	assert_int_equal(sim_sets(d->rig->sim), n_sets);
	assert_true(host_holds(d, 1, 0x8001));
}

/* 128 entries: one is the default key. */
static void a_full_table_is_refused_and_nothing_is_changed(void **state)
{
	struct desk *d = *state;
	struct tenant_member members[2] = { { d->guid[3], true, false },
					    { d->guid[5], true, false } };
	const struct tenant_request rq = {
		.action = TENANT_ADD, .pkey = 0x300, .members = members, .n_members = 2
	};
	unsigned cap = 8, n = 0;
	uint64_t n_sets;
	struct answer a;

	sim_set_pkey_cap(d->rig->sim, host_node(d, 3), cap);
	sim_reboot(d->rig->sim, host_node(d, 3), MONO_S);
	run_for(d, 10 * MONO_S);
	for (unsigned key = 0x100; key < 0x100 + cap - 1; key++, n++)
		assert_done(add(d, key, 3));
	n_sets = sim_sets(d->rig->sim);
	a = ask(d, &rq);
	assert_int_equal(a.end, SM_TENANCY_NO_ROOM);
	assert_non_null(strstr(a.text, "h3"));
	assert_int_equal(sim_sets(d->rig->sim), n_sets);
	assert_null(tenants_find(sm_tenants(sm_of(d)), 0x300));
	assert_false(host_holds(d, 5, 0x8300));
	assert_done(drop(d, 0x100, 3));
	assert_done(ask(d, &rq));
	assert_true(both_hold(d, 3, 0x8300));
}

static void a_dry_run_shows_blocks_and_changes_nothing(void **state)
{
	struct desk *d = *state;
	struct tenant_member member = { d->guid[3], true, false };
	const struct tenant_request rq = {
		.action = TENANT_ADD, .pkey = 0x5, .members = &member, .n_members = 1
	};
	uint64_t smps = sim_sets(d->rig->sim) + sim_gets(d->rig->sim);
	struct answer a = { 0 };

	sm_tenancy_request(sm_of(d), &rq, true, true, on_answer, &a);
	wait_for(d, &a);
	assert_int_equal(a.end, SM_TENANCY_DONE);
	assert_int_equal(a.n_blocks, 2);
	assert_true(a.blocks[0].is_switch);
	assert_false(a.blocks[1].is_switch);
	assert_int_equal(a.blocks[1].after[1], 0x8005);
	assert_int_equal(sim_sets(d->rig->sim) + sim_gets(d->rig->sim), smps);
	assert_int_equal(tenants_generation(sm_tenants(sm_of(d))), 0);
	run_for(d, 30 * MONO_S);
	assert_true(none_holds(d, 3, 0x8005));
}

/* ---- ports that are away --------------------------------------------------------------------- */

static void a_port_that_is_away_gets_its_keys_before_it_is_active(void **state)
{
	struct desk *d = *state;
	struct answer a;

	sim_power(d->rig->sim, host_node(d, 3), false);
	run_for(d, 5 * MONO_S);
	a = add(d, 0x5, 3);
	assert_done(a);
	assert_int_equal(a.n_pending, 1);
	assert_true(a.pending == d->guid[3]);
	assert_non_null(sm_tenancy_pending(sm_of(d), d->guid[3]));
	sim_power(d->rig->sim, host_node(d, 3), true);
	while (host_state(d, 3) != IB_PORT_ACTIVE)
		assert_true(rig_step(d->rig, sim_now(d->rig->sim) + 60 * MONO_S));
	assert_true(both_hold(d, 3, 0x8005));
	run_for(d, MONO_S);
	assert_null(sm_tenancy_pending(sm_of(d), d->guid[3]));
}

static void a_guid_that_never_was_is_stored(void **state)
{
	struct desk *d = *state;
	struct answer a = ask_one(d, TENANT_ADD, 0x5, 0x0200000000000001, true, false);

	assert_done(a);
	assert_int_equal(a.n_pending, 1);
	assert_int_equal(a.n_members, 1);
}

/* Steps until the port is ACTIVE, or time is up: the key must not be there when it is. */
static void watch_key(struct desk *d, unsigned host, unsigned key, mono_t t)
{
	mono_t until = sim_now(d->rig->sim) + t;

	while (rig_step(d->rig, until)) {
		if (host_state(d, host) == IB_PORT_ACTIVE)
			assert_false(host_holds(d, host, key) && switch_holds(d, host, key));
	}
}

static void removed_while_it_reboots_it_is_never_active_with_the_key(void **state)
{
	struct desk *d = *state;

	for (unsigned ms = 0; ms < 3000; ms += 150) {
		assert_done(add(d, 0x5, 3));
		assert_true(both_hold(d, 3, 0x8005));
		sim_reboot(d->rig->sim, host_node(d, 3), 1500 * MONO_MS);
		run_for(d, ms * MONO_MS);
		assert_done(drop(d, 0x5, 3));
		/* Long enough that its cable is not held for coming and going. */
		watch_key(d, 3, 0x8005, 100 * MONO_S);
		assert_true(none_holds(d, 3, 0x8005));
		assert_int_equal(host_state(d, 3), IB_PORT_ACTIVE);
	}
}

static void removed_while_it_is_unplugged_or_moves(void **state)
{
	struct desk *d = *state;
	unsigned port;
	int leaf;

	assert_done(add(d, 0x5, 3));
	leaf = leaf_of(d, 3, &port);
	sim_unplug(d->rig->sim, host_node(d, 3), 1);
	assert_done(drop(d, 0x5, 3));
	assert_int_equal(sim_plug(d->rig->sim, host_node(d, 3), 1, leaf, port), 0);
	watch_key(d, 3, 0x8005, 10 * MONO_S);
	assert_true(none_holds(d, 3, 0x8005));
	assert_int_equal(host_state(d, 3), IB_PORT_ACTIVE);

	assert_done(add(d, 0x5, 3));
	assert_true(both_hold(d, 3, 0x8005));
	sim_unplug(d->rig->sim, host_node(d, 10), 1);
	run_for(d, MONO_S);
	leaf = leaf_of(d, 11, &port);
	sim_unplug(d->rig->sim, host_node(d, 11), 1);
	sim_move(d->rig->sim, host_node(d, 3), 1, leaf, port);
	assert_done(drop(d, 0x5, 3));
	watch_key(d, 3, 0x8005, 20 * MONO_S);
	assert_true(none_holds(d, 3, 0x8005));
	assert_int_equal(host_state(d, 3), IB_PORT_ACTIVE);
}

static void a_silent_host_is_cut_at_its_switch(void **state)
{
	struct desk *d = *state;
	struct answer a;

	assert_done(add(d, 0x5, 3));
	sim_set_silent(d->rig->sim, host_node(d, 3), SIM_SILENT, 0);
	a = drop(d, 0x5, 3);
	assert_done(a);
	assert_false(switch_holds(d, 3, 0x8005));
	assert_true(host_holds(d, 3, 0x8005));
	a = add(d, 0x6, 3);
	assert_done(a);
	assert_int_equal(a.n_pending, 1);
	sim_set_silent(d->rig->sim, host_node(d, 3), SIM_ANSWERS, 0);
	run_for(d, 60 * MONO_S);
	assert_true(none_holds(d, 3, 0x8005));
	assert_true(both_hold(d, 3, 0x8006));
}

/* Its link is up and ACTIVE; sweeps have taken it out of the picture. */
static void a_host_that_is_out_of_the_picture_is_cut_at_its_switch(void **state)
{
	struct desk *d = *state;

	assert_done(add(d, 0x5, 3));
	assert_done(add(d, 0x6, 3));
	sim_set_silent(d->rig->sim, host_node(d, 3), SIM_SILENT, 0);
	for (unsigned i = 0; i < 6; i++) {
		sm_request_heavy(sm_of(d), NULL);
		run_for(d, 10 * MONO_S);
	}
	assert_non_null(sm_tenancy_pending(sm_of(d), d->guid[3]));
	assert_int_equal(host_state(d, 3), IB_PORT_ACTIVE);
	assert_true(switch_holds(d, 3, 0x8005));
	assert_done(drop(d, 0x5, 3));
	assert_false(switch_holds(d, 3, 0x8005));
	assert_true(switch_holds(d, 3, 0x8006));
	sim_set_silent(d->rig->sim, host_node(d, 3), SIM_ANSWERS, 0);
	run_for(d, 60 * MONO_S);
	assert_true(none_holds(d, 3, 0x8005));
	assert_true(both_hold(d, 3, 0x8006));
}

static void what_no_device_confirms_is_said_and_tried_on(void **state)
{
	struct desk *d = *state;
	unsigned port;
	int leaf = leaf_of(d, 3, &port);
	struct answer a;

	assert_done(add(d, 0x5, 3));
	sim_set_silent(d->rig->sim, host_node(d, 3), SIM_SILENT, IB_ATTR_PKEY_TABLE);
	sim_set_silent(d->rig->sim, leaf, SIM_SILENT, IB_ATTR_PKEY_TABLE);
	a = drop(d, 0x5, 3);
	assert_int_equal(a.end, SM_TENANCY_UNCONFIRMED);
	assert_true(a.changed);
	sim_set_silent(d->rig->sim, leaf, SIM_ANSWERS, 0);
	sim_set_silent(d->rig->sim, host_node(d, 3), SIM_ANSWERS, 0);
	run_for(d, 60 * MONO_S);
	assert_true(none_holds(d, 3, 0x8005));
	a = drop(d, 0x5, 3);
	assert_done(a);
	assert_false(a.changed);
}

/* ---- the store ------------------------------------------------------------------------------- */

static void restart(struct desk *d)
{
	rig_kill(d->rig, d->sm);
	start(d);
}

static void it_outlives_a_crash(void **state)
{
	struct desk *d = *state;

	assert_done(add(d, 0x5, 3));
	assert_done(add(d, 0x6, 4));
	assert_done(drop(d, 0x6, 4));
	restart(d);
	assert_int_equal(tenants_generation(sm_tenants(sm_of(d))), 3);
	assert_true(both_hold(d, 3, 0x8005));
	assert_true(none_holds(d, 4, 0x8006));
	assert_done(add(d, 0x6, 4));
	assert_int_equal(tenants_generation(sm_tenants(sm_of(d))), 4);
}

static int disk_fault;

int __real_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta);
int __wrap_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta);

int __wrap_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta)
{
	return disk_fault ? disk_fault : __real_ledger_store_write(s, rows, len, meta);
}

static void a_store_that_cannot_be_written_refuses(void **state)
{
	struct desk *d = *state;
	struct answer a;

	assert_done(add(d, 0x5, 3));
	disk_fault = -ENOSPC;
	a = add(d, 0x5, 4);
	assert_int_equal(a.end, SM_TENANCY_CLOSED);
	assert_non_null(strstr(a.text, d->store));
	run_for(d, 30 * MONO_S);
	disk_fault = 0;
	assert_true(none_holds(d, 4, 0x8005));
	assert_int_equal(tenants_generation(sm_tenants(sm_of(d))), 1);
	assert_done(add(d, 0x5, 4));
	assert_true(both_hold(d, 4, 0x8005));
}

/* An administrator has cleaned up: the next change writes all of it. */
static void a_store_that_is_deleted_is_written_anew(void **state)
{
	struct desk *d = *state;

	assert_done(add(d, 0x5, 3));
	assert_int_equal(unlink(d->store), 0);
	assert_done(add(d, 0x5, 5));
	restart(d);
	assert_true(both_hold(d, 3, 0x8005) && both_hold(d, 5, 0x8005));
	assert_int_equal(settle_state(sm_of(d)), SETTLE_WRITING);
}

static void make_silent(struct desk *d, unsigned host, bool silent)
{
	unsigned port;

	make_pkeys_silent(d, host_node(d, host), silent);
	make_pkeys_silent(d, leaf_of(d, host, &port), silent);
}

/* The manager that comes back knows nothing of what was open: the request that is repeated does. */
static void a_repeated_removal_is_not_done_before_devices_say_so(void **state)
{
	struct desk *d = *state;

	assert_done(add(d, 0x5, 3));
	make_silent(d, 3, true);
	assert_int_equal(drop(d, 0x5, 3).end, SM_TENANCY_UNCONFIRMED);
	restart(d);
	run_for(d, 20 * MONO_S);
	assert_true(sm_tenancy_closed(sm_of(d)) == NULL);
	assert_int_equal(drop(d, 0x5, 3).end, SM_TENANCY_UNCONFIRMED);
	make_silent(d, 3, false);
	run_for(d, 60 * MONO_S);
	assert_done(drop(d, 0x5, 3));
	assert_true(none_holds(d, 3, 0x8005));
}

static void a_full_member_that_becomes_limited_loses_something(void **state)
{
	struct desk *d = *state;

	assert_done(add(d, 0x5, 3));
	make_silent(d, 3, true);
	assert_int_equal(ask_one(d, TENANT_ADD, 0x5, d->guid[3], false, false).end,
			 SM_TENANCY_UNCONFIRMED);
	make_silent(d, 3, false);
	run_for(d, 60 * MONO_S);
	assert_true(both_hold(d, 3, 0x0005) && none_holds(d, 3, 0x8005));
}

/* A sweep has a Set of the block on the wire, to a host that takes its time. */
static void what_a_sweep_is_writing_is_waited_for(void **state)
{
	struct desk *d = *state;
	struct answer a;

	for (unsigned ms = 0; ms < 60; ms += 3) {
		sim_set_node_sma_time(d->rig->sim, host_node(d, 3), 30 * MONO_MS);
		sim_set_silent(d->rig->sim, host_node(d, 3), SIM_SILENT_SET, IB_ATTR_PKEY_TABLE);
		add(d, 0x5, 3);
		sim_set_silent(d->rig->sim, host_node(d, 3), SIM_ANSWERS, 0);
		sm_request_heavy(sm_of(d), NULL);
		run_for(d, ms * MONO_MS);
		a = drop(d, 0x5, 3);
		assert_done(a);
		assert_true(none_holds(d, 3, 0x8005));
		run_for(d, 40 * MONO_S);
		assert_true(none_holds(d, 3, 0x8005));
		sim_set_node_sma_time(d->rig->sim, host_node(d, 3), 0);
	}
}

static char told[16][300];
static unsigned n_told;

static void collect_log(void *arg, unsigned bits, const char *text)
{
	if (strstr(text, "generation") && n_told < ARRAY_SIZE(told))
		snprintf(told[n_told++], sizeof(told[0]), "%s", text);
}

static bool was_told(const char *text)
{
	for (unsigned i = 0; i < n_told; i++) {
		if (strstr(told[i], text))
			return true;
	}
	return false;
}

/* The disk takes longer than a caller waits: what may have changed is said, and how it ends. */
static struct answer add_slowly(struct desk *d, unsigned host)
{
	struct answer a;

	n_told = 0;
	log_set_sink(collect_log, NULL);
	d->rig->disk_time = 12 * MONO_S;
	a = add(d, 0x5, host);
	d->rig->disk_time = 0;
	assert_int_equal(a.end, SM_TENANCY_UNCONFIRMED);
	assert_true(a.changed);
	run_for(d, 20 * MONO_S);
	log_set_sink(NULL, NULL);
	return a;
}

static void a_change_that_is_stored_late_is_recorded(void **state)
{
	struct desk *d = *state;
	struct answer a = add_slowly(d, 3);

	assert_int_equal(a.generation, 1);
	assert_true(was_told("0x0005: generation 1 is stored after all"));
	assert_true(both_hold(d, 3, 0x8005));
	disk_fault = -EIO;
	a = add_slowly(d, 4);
	disk_fault = 0;
	assert_int_equal(a.generation, 2);
	assert_true(was_told("0x0005: generation 2 was not stored, and is taken back"));
	assert_int_equal(tenants_generation(sm_tenants(sm_of(d))), 1);
}

/* Its own port is lost between the disk and the devices, and there again. */
static void a_manager_that_cannot_write_to_devices_confirms_nothing(void **state)
{
	struct desk *d = *state;
	struct fabric *f;
	struct port *own;
	struct answer a;
	struct tenant_member member = { d->guid[3], true, false };
	const struct tenant_request rq = {
		.action = TENANT_REMOVE, .pkey = 0x5, .members = &member, .n_members = 1
	};

	assert_done(add(d, 0x5, 3));
	f = sm_of(d)->fabric;
	own = f->own_port;
	d->rig->disk_time = 10 * MONO_MS;
	submit(d, &rq, &a);
	run_for(d, MONO_MS);
	f->own_port = NULL;
	run_for(d, 20 * MONO_MS);
	assert_int_equal(tenants_generation(sm_tenants(sm_of(d))), 2);
	assert_true(both_hold(d, 3, 0x8005));
	assert_false(a.is_there);
	assert_non_null(sm_tenancy_closed(sm_of(d)));
	f->own_port = own;
	assert_done(wait_for(d, &a));
	assert_true(none_holds(d, 3, 0x8005));
}

static void a_listed_managers_port_keeps_its_index0(void **state)
{
	struct desk *d = desk_new();
	struct answer a;

	free(d->conf->allowed_sm_guids);
	d->conf->allowed_sm_guids =
		xasprintf("0x%016" PRIx64 ",0x%016" PRIx64, d->guid[0], d->guid[5]);
	start(d);
	a = ask_one(d, TENANT_ADD, 0x5, d->guid[5], true, true);
	assert_int_equal(a.end, SM_TENANCY_REFUSED);
	assert_int_equal(a.fault, TENANT_INVALID);
	assert_done(ask_one(d, TENANT_ADD, 0x5, d->guid[4], true, true));
	assert_done(add(d, 0x5, 5));
	assert_int_equal(host_index(d, 5, 0xFFFF), 0);
	desk_free(d);
}

/* The line in the middle may have taken keys away that those behind it gave back. */
static void a_corrupt_store_leaves_keys_where_they_are(void **state)
{
	struct desk *d = *state;
	FILE *f;

	assert_done(add(d, 0x5, 3));
	assert_done(ask_one(d, TENANT_ADD, 0x6, d->guid[4], true, true));
	assert_done(drop(d, 0x5, 3));
	rig_kill(d->rig, d->sm);
	f = fopen(d->store, "w");
	fputs("this is no database, and longer than the smallest page that one can have ......", f);
	for (unsigned i = 0; i < 1000; i++)
		fputs("0123456789", f);
	fclose(f);
	start(d);
	assert_non_null(sm_tenancy_closed(sm_of(d)));
	run_for(d, 15 * MONO_S);
	assert_int_equal(settle_state(sm_of(d)), SETTLE_KEEPING);
	assert_int_equal(add(d, 0x7, 5).end, SM_TENANCY_CLOSED);
	run_for(d, 60 * MONO_S);
	assert_true(both_hold(d, 4, 0x8006));
	assert_int_equal(host_index(d, 4, 0x8006), 0);
	assert_true(none_holds(d, 3, 0x8005));
	/* A host that comes up anew gets none: nothing says that it still may. */
	sim_reboot(d->rig->sim, host_node(d, 4), MONO_S);
	run_for(d, 20 * MONO_S);
	assert_true(none_holds(d, 4, 0x8006));
	assert_int_equal(host_state(d, 4), IB_PORT_ACTIVE);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

struct tally {
	unsigned n_done, n_busy, n_pending;
};

static void on_counted(void *arg, const struct sm_tenancy_result *r)
{
	struct tally *t = arg;

	assert_true(r->end == SM_TENANCY_DONE || r->end == SM_TENANCY_BUSY);
	t->n_done += r->end == SM_TENANCY_DONE;
	t->n_busy += r->end == SM_TENANCY_BUSY;
	t->n_pending += (unsigned)r->n_pending;
}

static void submit_many(struct desk *d, unsigned n, struct tally *t)
{
	for (unsigned i = 0; i < n; i++) {
		struct tenant_member member = { d->guid[1 + i % 11], i / 11 % 2 == 0, false };
		const struct tenant_request rq = { .action = TENANT_ADD,
						   .pkey = (uint16_t)(0x100 + i / 22 % 20),
						   .members = &member,
						   .n_members = 1 };

		sm_tenancy_request(sm_of(d), &rq, true, false, on_counted, t);
	}
}

/* Below, at and above what is judged together, and what may wait. */
static void requests_of_all_numbers_are_answered_once(void **state)
{
	static const unsigned numbers[] = { 1, 255, 256, 257, 511, 513, 4095, 4096, 4097, 5000 };
	struct desk *d = *state;

	for (unsigned i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct tally t = { 0 };
		unsigned busy = numbers[i] > 4096 ? numbers[i] - 4096 : 0;

		submit_many(d, numbers[i], &t);
		run_for(d, 5 * MONO_S);
		assert_int_equal(t.n_done, numbers[i] - busy);
		assert_int_equal(t.n_busy, busy);
	}
}

/* More ports than are tried at a time, in one request; there, and not there. */
static void one_request_with_many_ports(unsigned n_hosts, unsigned n_absent)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(4, n_hosts / 4, 1, 1);
	struct tenant_member members[700];
	struct tenant_request rq = { .action = TENANT_SET, .pkey = 0x5, .members = members };
	struct rig *rig = rig_new(sim_new(net, 1));
	struct conf *conf = conf_new();
	char dir[SCRATCH_PATH];
	struct tally t = { 0 };
	uint64_t n_sets;

	assert_true(rig_start(rig, "h0", 0, conf, scratch_folder(dir)) >= 0);
	rig_run(rig, 4 * MONO_S);
	for (unsigned i = 0; i < sim_n_nodes(rig->sim); i++) {
		uint8_t ni[SMP_DATA_SIZE];

		if (sim_node_is_switch(rig->sim, (int)i))
			continue;
		sim_read(rig->sim, (int)i, IB_ATTR_NODE_INFO, 0, ni);
		members[rq.n_members++] =
			(struct tenant_member){ ib_get(ni, NI_PORT_GUID), i % 2, false };
	}
	assert_int_equal(rq.n_members, n_hosts);
	for (unsigned i = 0; i < n_absent; i++)
		members[rq.n_members++] =
			(struct tenant_member){ 0x0200000000000001 + i, true, false };
	n_sets = sim_sets(rig->sim);
	sm_tenancy_request(rig_master(rig), &rq, true, false, on_counted, &t);
	rig_run(rig, sim_now(rig->sim) + 5 * MONO_S);
	assert_int_equal(t.n_done, 1);
	assert_int_equal(t.n_pending, n_absent);
	assert_int_equal(sim_sets(rig->sim) - n_sets, 2 * n_hosts);
	rq.n_members = 0;
	sm_tenancy_request(rig_master(rig), &rq, true, false, on_counted, &t);
	rig_run(rig, sim_now(rig->sim) + 5 * MONO_S);
	assert_int_equal(t.n_done, 2);
	assert_int_equal(sim_sets(rig->sim) - n_sets, 4 * n_hosts);
	rig_free(rig);
	conf_unref(conf);
	scratch_remove(dir);
}

static void requests_with_many_ports(void **state)
{
	one_request_with_many_ports(4, 0);
	one_request_with_many_ports(252, 3);
	one_request_with_many_ports(256, 0);
	one_request_with_many_ports(260, 300);
	one_request_with_many_ports(4, 257);
}

/* ---- the audit ------------------------------------------------------------------------------- */

struct audit {
	unsigned n_done;
	struct sm_tenancy_audit result;
	struct sm_tenancy_block first;
};

static void on_audit(void *arg, const struct sm_tenancy_audit *r)
{
	struct audit *a = arg;

	a->n_done++;
	a->result = *r;
	if (r->n_wrong_told)
		a->first = r->wrong[0];
}

static struct audit verify(struct desk *d)
{
	static struct audit a;

	a = (struct audit){ 0 };
	assert_true(sm_tenancy_verify(sm_of(d), on_audit, &a));
	assert_false(sm_tenancy_verify(sm_of(d), on_audit, &a)); /* one at a time */
	run_for(d, 4 * MONO_S);
	assert_int_equal(a.n_done, 1);
	return a;
}

/* Some program on h5 writes a P_Key into the last entry of block 1 of h3. */
static void write_from_outside(struct desk *d, unsigned key)
{
	const struct smp_head head = {
		.method = MAD_SET, .attr = IB_ATTR_PKEY_TABLE, .mod = 1, .tid = 7
	};
	struct transport *tr = sim_attach(d->rig->sim, "h5", 0);
	struct transport_addr to = { .lid = sim_port_lid(d->rig->sim, host_node(d, 3), 1) };
	uint8_t payload[SMP_DATA_SIZE], mad[MAD_SIZE];

	assert_non_null(tr);
	assert_int_equal(sim_read(d->rig->sim, host_node(d, 3), IB_ATTR_PKEY_TABLE, 1, payload), 0);
	ib_bits_put(payload, 31 * 16, 16, key);
	smp_build_lid(mad, &head, payload);
	assert_int_equal(transport_send(tr, &to, mad, sizeof(mad), 1000), 0);
	run_for(d, 10 * MONO_MS);
	transport_close(tr);
	assert_true(host_holds(d, 3, key));
}

static void an_audit_reads_devices_and_finds_what_others_wrote(void **state)
{
	struct desk *d = *state;
	uint64_t n_sets = sim_sets(d->rig->sim);
	struct audit a;

	a = verify(d);
	assert_int_equal(a.result.n_wrong, 0);
	assert_int_equal(a.result.n_silent, 0);
	/* Twelve hosts, as many switch ports, and port 0 of three switches. */
	assert_int_equal(a.result.n_ports, 27);
	write_from_outside(d, 0x8066);
	a = verify(d);
	assert_int_equal(a.result.n_wrong, 1);
	assert_true(a.first.node_guid == sim_node_guid(d->rig->sim, host_node(d, 3)));
	assert_false(a.first.is_switch);
	assert_int_equal(a.first.block, 1);
	assert_int_equal(a.first.before[31], 0x8066);
	assert_int_equal(a.first.after[31], 0);
	assert_int_equal(sim_sets(d->rig->sim) - n_sets, 1);
}

static void an_audit_counts_what_does_not_answer_and_ends(void **state)
{
	struct desk *d = *state;
	struct audit a = { 0 };

	sim_set_silent(d->rig->sim, host_node(d, 3), SIM_SILENT, IB_ATTR_PKEY_TABLE);
	a = verify(d);
	assert_true(a.result.n_silent > 0);
	assert_int_equal(a.result.n_wrong, 0);
	/* Its caller goes, and so does its manager. */
	sim_set_silent(d->rig->sim, host_node(d, 3), SIM_ANSWERS, 0);
	a = (struct audit){ 0 };
	assert_true(sm_tenancy_verify(sm_of(d), on_audit, &a));
	sm_tenancy_verify_abandon(sm_of(d), &a);
	run_for(d, MONO_MS);
	rig_kill(d->rig, d->sm);
	assert_int_equal(a.n_done, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_member_costs_two_sets_and_two_gets),
		TEST(what_is_so_already_costs_nothing),
		TEST(a_membership_is_changed_in_its_place),
		TEST(index0_moves_only_when_asked_for),
		TEST(the_managers_own_port_keeps_its_index0),
		TEST(a_partition_of_the_file_is_read_only),
		TEST(a_full_table_is_refused_and_nothing_is_changed),
		TEST(a_dry_run_shows_blocks_and_changes_nothing),
		TEST(a_port_that_is_away_gets_its_keys_before_it_is_active),
		TEST(a_guid_that_never_was_is_stored),
		TEST(removed_while_it_reboots_it_is_never_active_with_the_key),
		TEST(removed_while_it_is_unplugged_or_moves),
		TEST(a_silent_host_is_cut_at_its_switch),
		TEST(a_host_that_is_out_of_the_picture_is_cut_at_its_switch),
		TEST(what_no_device_confirms_is_said_and_tried_on),
		TEST(it_outlives_a_crash),
		TEST(a_store_that_cannot_be_written_refuses),
		TEST(a_store_that_is_deleted_is_written_anew),
		TEST(a_repeated_removal_is_not_done_before_devices_say_so),
		TEST(a_full_member_that_becomes_limited_loses_something),
		TEST(what_a_sweep_is_writing_is_waited_for),
		TEST(a_corrupt_store_leaves_keys_where_they_are),
		TEST(a_change_that_is_stored_late_is_recorded),
		TEST(a_manager_that_cannot_write_to_devices_confirms_nothing),
		cmocka_unit_test(a_listed_managers_port_keeps_its_index0),
		TEST(requests_of_all_numbers_are_answered_once),
		cmocka_unit_test(requests_with_many_ports),
		TEST(an_audit_reads_devices_and_finds_what_others_wrote),
		TEST(an_audit_counts_what_does_not_answer_and_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
