// SPDX-License-Identifier: BSD-2-Clause
/*
 * Partitions at run time through the whole manager, where no scenario (tests/scenario/tenants*.scn)
 * goes: many requests at once, and requests with many ports.
 */
#include "sm/sm_internal.h"
#include "tenancy-desk.h"

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

/* What is said of all ports at once is what is said of each. */
static void all_ports_are_pending_as_each_is(void **state)
{
	struct desk *d = *state;
	struct sm_tenancy_pending *all;
	const char *other;
	unsigned n_hosts = 0;
	size_t n;

	sim_set_silent(d->rig->sim, host_node(d, 3), SIM_SILENT, IB_ATTR_PKEY_TABLE);
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
		TEST(a_manager_that_cannot_write_to_devices_confirms_nothing),
		TEST(requests_of_all_numbers_are_answered_once),
		cmocka_unit_test(requests_with_many_ports),
		TEST(an_audit_counts_what_does_not_answer_and_ends),
		TEST(all_ports_are_pending_as_each_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
