// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions at run time through the whole manager, where no scenario goes
 * (tests/scenario/tenants.scn has the rest): ports that reboot or move at any moment, the store on
 * the disk, many requests at once.
 */
#include "ledger/store.h"
#include "sm/sm_internal.h"
#include "tenancy-desk.h"

/* ---- ports that are away --------------------------------------------------------------------- */

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

/* ---- the store ------------------------------------------------------------------------------- */

static void restart(struct desk *d)
{
	rig_kill(d->rig, d->sm);
	start(d);
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
		TEST(removed_while_it_reboots_it_is_never_active_with_the_key),
		TEST(removed_while_it_is_unplugged_or_moves),
		TEST(a_store_that_cannot_be_written_refuses),
		TEST(a_store_that_is_deleted_is_written_anew),
		TEST(what_a_sweep_is_writing_is_waited_for),
		TEST(a_corrupt_store_leaves_keys_where_they_are),
		TEST(a_change_that_is_stored_late_is_recorded),
		TEST(a_manager_that_cannot_write_to_devices_confirms_nothing),
		TEST(requests_of_all_numbers_are_answered_once),
		cmocka_unit_test(requests_with_many_ports),
		TEST(an_audit_counts_what_does_not_answer_and_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
