// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is entrusted to managers of ours, with two and three of them: a change is with the standby
 * before it is answered; whatever stops, is wiped, freezes, is cut off or comes back, no
 * acknowledged change is lost, and no right that was removed is on a device again (sm/ledger/).
 */
#include "ledger-managers.h"

static void the_standby_stores_before_the_answer(void **state)
{
	struct world *w = *state;
	struct answer a;

	start_connected(w);
	a = ask_for(w, ACTIVE, true, 0x8, 3);
	assert_int_equal(a.end, SM_TENANCY_DONE);
	assert_true(a.replicated);
	assert_int_equal(a.with, 1);
	assert_int_equal(a.of, 1);
	assert_int_equal(generation_of(w, SPARE), 1);
	assert_non_null(tenants_find(sm_tenants(sm_of(w, SPARE)), 0x8));
}

static void takeover_keeps_what_was_given_and_gives_nothing_back(void **state)
{
	struct world *w = *state;
	uint64_t n_sets;

	start_connected(w);
	for (unsigned host = 1; host < 9; host++)
		assert_int_equal(ask_for(w, ACTIVE, true, 0x8, host).end, SM_TENANCY_DONE);
	for (unsigned host = 5; host < 9; host++)
		assert_int_equal(ask_for(w, ACTIVE, false, 0x8, host).end, SM_TENANCY_DONE);
	n_sets = sim_count(w->rig->sim, IB_ATTR_PKEY_TABLE, MAD_SET);
	fail_over(w);
	run_for(w, 60 * MONO_S);
	assert_int_equal(sim_count(w->rig->sim, IB_ATTR_PKEY_TABLE, MAD_SET), n_sets);
	for (unsigned host = 1; host < 9; host++) {
		assert_int_equal(host_holds(w, host, 0x8008), host < 5);
		assert_int_equal(switch_holds(w, host, 0x8008), host < 5);
	}
	assert_int_equal(ask_for(w, SPARE, true, 0x8, 9).end, SM_TENANCY_DONE);
	assert_int_equal(generation_of(w, SPARE), 13);
}

/*
 * The picture that the standby has is older than the key; what took the key away is known to it as
 * a change of the table alone.
 */
static void takeover_does_not_take_a_key_for_gone_that_devices_hold(void **state)
{
	struct world *w = *state;
	int host, leaf;
	unsigned port;

	start_connected(w);
	run_for(w, 60 * MONO_S);
	host = w->host[3]->node;
	assert_true(sim_peer(w->rig->sim, host, 1, &leaf, &port));
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	sim_set_silent(w->rig->sim, host, SIM_SILENT, IB_ATTR_PKEY_TABLE);
	sim_set_silent(w->rig->sim, leaf, SIM_SILENT, IB_ATTR_PKEY_TABLE);
	assert_int_equal(ask_for(w, ACTIVE, false, 0x8, 3).end, SM_TENANCY_UNCONFIRMED);
	fail_over(w);
	assert_int_not_equal(sm_tenancy_open(sm_of(w, SPARE), 0x8), 0);
	run_for(w, 20 * MONO_S);
	assert_true(host_holds(w, 3, 0x8008) && switch_holds(w, 3, 0x8008));
	assert_int_not_equal(sm_tenancy_open(sm_of(w, SPARE), 0x8), 0);
	sim_set_silent(w->rig->sim, host, SIM_ANSWERS, 0);
	sim_set_silent(w->rig->sim, leaf, SIM_ANSWERS, 0);
	run_for(w, 60 * MONO_S);
	assert_false(host_holds(w, 3, 0x8008) || switch_holds(w, 3, 0x8008));
	assert_int_equal(sm_tenancy_open(sm_of(w, SPARE), 0x8), 0);
}

static void a_standby_that_comes_later_gets_the_whole_table(void **state)
{
	struct world *w = *state;

	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 5 * MONO_S);
	for (unsigned host = 1; host < 9; host++)
		assert_int_equal(ask_for(w, ACTIVE, true, 0x10 + host, host).end, SM_TENANCY_DONE);
	assert_false(ask_for(w, ACTIVE, true, 0x20, 1).replicated);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), SPARE);
	settled(w, 1);
	assert_int_equal(generation_of(w, SPARE), 9);
	fail_over(w);
	assert_true(host_holds(w, 1, 0x8020) && host_holds(w, 8, 0x8018));
}

static void without_a_standby_nothing_is_changed_if_one_is_required(void **state)
{
	struct world *w = *state;

	w->conf[ACTIVE]->require_standby = true;
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 5 * MONO_S);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_NO_STANDBY);
	assert_false(host_holds(w, 3, 0x8008));
	assert_int_equal(generation_of(w, ACTIVE), 0);
}

static void a_silent_host_is_cut_after_a_takeover(void **state)
{
	struct world *w = *state;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	run_for(w, 30 * MONO_S);
	sim_set_silent(w->rig->sim, w->host[3]->node, SIM_SILENT, 0);
	rig_kill(w->rig, SPARE);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), 2);
	run_for(w, 60 * MONO_S);
	rig_kill(w->rig, ACTIVE);
	attend(w, 4, 60 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, 2)), SM_MASTER);
	assert_true(switch_holds(w, 3, 0x8008));
	assert_int_equal(ask_for(w, 2, false, 0x8, 3).end, SM_TENANCY_DONE);
	assert_false(switch_holds(w, 3, 0x8008));
}

/* What the standby sends when it takes over must reach limited members. */
static void a_standbys_port_keeps_its_index0(void **state)
{
	struct world *w = *state;
	struct tenant_member member = { w->host[1]->guid, true, true };
	const struct tenant_request rq = {
		.action = TENANT_ADD, .pkey = 0x8, .members = &member, .n_members = 1
	};
	struct answer a = { 0 };

	start_connected(w);
	sm_tenancy_request(sm_of(w, ACTIVE), &rq, true, false, on_answer, &a);
	run_for(w, MONO_S);
	assert_int_equal(a.end, SM_TENANCY_DONE);
	member.guid = sm_of(w, SPARE)->tr->port_guid;
	a = (struct answer){ 0 };
	sm_tenancy_request(sm_of(w, ACTIVE), &rq, true, false, on_answer, &a);
	run_for(w, MONO_S);
	assert_true(a.is_there);
	assert_int_equal(a.end, SM_TENANCY_REFUSED);
	assert_non_null(strstr(a.text, "subnet manager"));
}

/* ---- one that lacks what others know -------------------------------------------------------- */

static void a_master_with_an_empty_folder_asks_its_standby(void **state)
{
	struct world *w = *state;

	start_connected(w);
	for (unsigned host = 1; host < 5; host++)
		assert_int_equal(ask_for(w, ACTIVE, true, 0x8, host).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, false, 0x8, 4).end, SM_TENANCY_DONE);
	rig_kill(w->rig, ACTIVE);
	wipe(w, ACTIVE);
	run_for(w, 200 * MONO_MS);
	begin(w, ACTIVE);
	run_with(w, 30 * MONO_S, 3, 0x8008);
	settled(w, 1);
	assert_true(host_holds(w, 1, 0x8008) && host_holds(w, 2, 0x8008));
	assert_false(host_holds(w, 4, 0x8008));
	assert_int_equal(generation_of(w, number_of(w, rig_master(w->rig))), 5);
}

/* Their rows are lost: the keys stay where they are until an administrator has decided. */
static void without_anybody_to_ask_keys_stay_on_devices(void **state)
{
	struct world *w = *state;
	unsigned n;

	assert_int_equal(begin(w, ACTIVE), ACTIVE);
	run_for(w, 5 * MONO_S);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	rig_kill(w->rig, ACTIVE);
	wipe(w, ACTIVE);
	n = begin(w, ACTIVE);
	run_with(w, 30 * MONO_S, 3, 0x8008);
	assert_int_equal(settle_state(sm_of(w, n)), SETTLE_KEEPING);
	assert_int_equal(settle_unexplained(sm_of(w, n)), 1);
	assert_int_equal(ask_for(w, n, true, 0x9, 3).end, SM_TENANCY_CLOSED);
	assert_int_equal(settle_forget_devices(sm_of(w, n)), 0);
	run_for(w, 5 * MONO_S);
	assert_false(host_holds(w, 3, 0x8008));
	assert_int_equal(ask_for(w, n, true, 0x9, 3).end, SM_TENANCY_DONE);
}

/* A manager with rows comes into sight: all goes on by itself. */
static void one_that_keeps_is_told_by_one_that_comes(void **state)
{
	struct world *w = *state;
	unsigned n;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	rig_kill(w->rig, SPARE);
	rig_kill(w->rig, ACTIVE);
	wipe(w, ACTIVE);
	n = begin(w, ACTIVE);
	run_with(w, 30 * MONO_S, 3, 0x8008);
	assert_int_equal(settle_state(sm_of(w, n)), SETTLE_KEEPING);
	begin(w, SPARE);
	settled(w, 1);
	assert_true(host_holds(w, 3, 0x8008));
	assert_non_null(tenants_find(sm_tenants(sm_of(w, n)), 0x8));
}

/* A second manager, wiped too, comes: an administrator can still decide. */
static void one_that_keeps_does_not_ask_for_ever(void **state)
{
	struct world *w = *state;
	unsigned n;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	rig_kill(w->rig, SPARE);
	rig_kill(w->rig, ACTIVE);
	wipe(w, ACTIVE);
	wipe(w, SPARE);
	n = begin(w, ACTIVE);
	run_with(w, 30 * MONO_S, 3, 0x8008);
	assert_int_equal(settle_state(sm_of(w, n)), SETTLE_KEEPING);
	begin(w, SPARE);
	run_with(w, 60 * MONO_S, 3, 0x8008);
	assert_int_equal(settle_state(sm_of(w, n)), SETTLE_KEEPING);
	assert_int_equal(settle_forget_devices(sm_of(w, n)), 0);
	run_for(w, 10 * MONO_S);
	assert_false(host_holds(w, 3, 0x8008));
	assert_int_equal(ask_for(w, n, true, 0x9, 3).end, SM_TENANCY_DONE);
}

/* A fabric without keys of tenants needs no decision of an administrator. */
static void a_first_start_needs_no_decision(void **state)
{
	struct world *w = *state;

	assert_int_equal(begin(w, ACTIVE), ACTIVE);
	run_for(w, 5 * MONO_S);
	assert_int_equal(settle_state(sm_of(w, ACTIVE)), SETTLE_WRITING);
}

/* ---- a master that stands still ------------------------------------------------------------- */

/* It may be cut off, and master of hosts that are within our reach again in the next moment. */
static void keys_wait_until_a_silent_port_is_explained(void **state)
{
	struct world *w = *state;
	static struct answer a;
	int spare = sim_find(w->rig->sim, "h11");
	mono_t until = sim_now(w->rig->sim) + 120 * MONO_S;

	start_connected(w);
	rig_freeze(w->rig, SPARE, true);
	sim_set_silent(w->rig->sim, spare, SIM_SILENT, 0);
	while (!settle_waits(sm_of(w, ACTIVE)))
		assert_true(rig_step(w->rig, until));
	submit(w, ACTIVE, true, 0x8, 3, &a);
	while (settle_waits(sm_of(w, ACTIVE))) {
		assert_false(host_holds(w, 3, 0x8008));
		assert_true(rig_step(w->rig, until));
	}
	run_for(w, 10 * MONO_S);
	assert_true(host_holds(w, 3, 0x8008));
	sim_set_silent(w->rig->sim, spare, SIM_ANSWERS, 0);
	while (!settle_waits(sm_of(w, ACTIVE)))
		assert_true(rig_step(w->rig, until));
	rig_freeze(w->rig, SPARE, false);
	settled(w, 1);
	run_with(w, 10 * MONO_S, 3, 0x8008);
}

/* The file says other P_Keys in a sweep that may write none; there are no tenants. */
static void a_file_that_is_read_meanwhile_counts_behind_it(void **state)
{
	struct world *w = *state;
	int spare = sim_find(w->rig->sim, "h11");
	mono_t until = sim_now(w->rig->sim) + 120 * MONO_S;
	const char *path = w->conf[ACTIVE]->partition_config_file;
	struct conf_files *files;
	FILE *f;

	start_connected(w);
	rig_freeze(w->rig, SPARE, true);
	sim_set_silent(w->rig->sim, spare, SIM_SILENT, 0);
	while (!settle_waits(sm_of(w, ACTIVE)))
		assert_true(rig_step(w->rig, until));
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fprintf(f, "Default=0x7fff: ALL=full;\nsix=0x6: ALL=full;\n") > 0);
	assert_int_equal(fclose(f), 0);
	files = conf_files_read(w->conf[ACTIVE], sm_files(sm_of(w, ACTIVE)));
	sm_reload(sm_of(w, ACTIVE), w->conf[ACTIVE], files);
	conf_files_unref(files);
	while (settle_waits(sm_of(w, ACTIVE)) || rig_sweeping(w->rig))
		assert_true(rig_step(w->rig, until));
	run_for(w, 5 * MONO_S);
	assert_true(host_holds(w, 3, 0x8006) && switch_holds(w, 3, 0x8006));
}

static void a_frozen_master_does_not_undo_a_removal(void **state)
{
	struct world *w = *state;
	mono_t until;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 4).end, SM_TENANCY_DONE);
	rig_freeze(w->rig, ACTIVE, true);
	until = sim_now(w->rig->sim) + 60 * MONO_S;
	while (sm_state(sm_of(w, SPARE)) != SM_MASTER || !settle_may_write(sm_of(w, SPARE)) ||
	       !sm_of(w, SPARE)->first_sweep_done)
		assert_true(rig_step(w->rig, until));
	assert_int_equal(ask_for(w, SPARE, false, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, SPARE, true, 0x9, 5).end, SM_TENANCY_DONE);
	rig_freeze(w->rig, ACTIVE, false);
	run_with_h5(w, 60 * MONO_S, 3, 0x8008);
	settled(w, 1);
	assert_true(host_holds(w, 4, 0x8008));
	assert_int_equal(generation_of(w, ACTIVE), generation_of(w, SPARE));
}

/* Its cable is out meanwhile, and it goes on believing that it is master. */
static bool is_member(struct world *w, unsigned which, unsigned pkey, unsigned host)
{
	size_t n;
	const struct tenant_right *rights =
		tenants_of_port(sm_tenants(sm_of(w, which)), w->host[host]->guid, &n);

	for (size_t i = 0; i < n; i++) {
		if (rights[i].pkey == pkey)
			return true;
	}
	return false;
}

/*
 * A change comes to the other manager, to the port of the switch and to the host one after the
 * other. The master is frozen before each of these, and behind the last one.
 */
static void a_master_frozen_in_the_middle_of_a_change_leaves_nothing(void **state)
{
	struct world *w = *state;
	static struct answer a;
	unsigned answered = 0;

	start_connected(w);
	for (unsigned steps = 0; answered < 2; steps++) {
		mono_t until = sim_now(w->rig->sim) + 120 * MONO_S;
		bool gives = steps % 2;

		assert_int_equal(ask_for(w, ACTIVE, !gives, 0x8, 3).end, SM_TENANCY_DONE);
		run_for(w, 15 * MONO_S);
		submit(w, ACTIVE, gives, 0x8, 3, &a);
		for (unsigned i = 0; i < steps / 2; i++)
			rig_step(w->rig, until);
		answered += a.is_there;
		rig_freeze(w->rig, ACTIVE, true);
		while (sm_state(sm_of(w, SPARE)) != SM_MASTER || rig_sweeping(w->rig) ||
		       !settle_may_write(sm_of(w, SPARE)))
			assert_true(rig_step(w->rig, until));
		run_for(w, 10 * MONO_S);
		assert_int_equal(host_holds(w, 3, 0x8008), is_member(w, SPARE, 0x8, 3));
		assert_int_equal(switch_holds(w, 3, 0x8008), is_member(w, SPARE, 0x8, 3));
		rig_freeze(w->rig, ACTIVE, false);
		assert_ptr_equal(settled(w, 1), sm_of(w, ACTIVE));
		run_for(w, 10 * MONO_S);
		assert_ptr_equal(settled(w, 1), sm_of(w, ACTIVE));
		assert_true(steps < 200);
	}
}

static void a_master_that_was_cut_off_does_not_undo_a_removal(void **state)
{
	struct world *w = *state;
	int own = sim_find(w->rig->sim, "h0");
	mono_t until;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(sim_link_down(w->rig->sim, own, 1), 0);
	until = sim_now(w->rig->sim) + 60 * MONO_S;
	while (sm_state(sm_of(w, SPARE)) != SM_MASTER || !settle_may_write(sm_of(w, SPARE)) ||
	       !sm_of(w, SPARE)->first_sweep_done)
		assert_true(rig_step(w->rig, until));
	assert_int_equal(ask_for(w, SPARE, false, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, SPARE, true, 0x9, 5).end, SM_TENANCY_DONE);
	assert_int_equal(sim_link_up(w->rig->sim, own, 1), 0);
	run_with_h5(w, 60 * MONO_S, 3, 0x8008);
	settled(w, 1);
	assert_int_equal(generation_of(w, ACTIVE), generation_of(w, SPARE));
}

/* ---- the fabric falls apart ----------------------------------------------------------------- */

/* h1 to h5 are in one half, h6 to h10 in the other one. */
static void changes_of_both_halves_stay(void **state)
{
	struct world *w = *state;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 8).end, SM_TENANCY_DONE);
	split(w, true);
	run_until_two_masters(w);
	assert_int_equal(ask_for(w, ACTIVE, false, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x9, 4).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, SPARE, false, 0x8, 8).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, SPARE, true, 0xA, 9).end, SM_TENANCY_DONE);
	split(w, false);
	settled(w, 1);
	run_for(w, 10 * MONO_S);
	assert_false(host_holds(w, 3, 0x8008) || switch_holds(w, 3, 0x8008));
	assert_false(host_holds(w, 8, 0x8008) || switch_holds(w, 8, 0x8008));
	assert_true(host_holds(w, 4, 0x8009) && host_holds(w, 9, 0x800A));
}

/* Of one row the one that gives less access. */
static void of_one_member_the_removal_stays(void **state)
{
	struct world *w = *state;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 8).end, SM_TENANCY_DONE);
	split(w, true);
	run_until_two_masters(w);
	assert_int_equal(ask_for(w, SPARE, false, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, false, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	split(w, false);
	settled(w, 1);
	run_for(w, 10 * MONO_S);
	assert_false(host_holds(w, 3, 0x8008) || switch_holds(w, 3, 0x8008));
	assert_true(host_holds(w, 8, 0x8008));
}

/* One half empties the partition, and makes it anew, while the other one adds to it. */
static void a_partition_that_is_made_anew_gives_nothing_back(void **state)
{
	struct world *w = *state;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 4).end, SM_TENANCY_DONE);
	split(w, true);
	run_until_two_masters(w);
	assert_int_equal(ask_for(w, ACTIVE, false, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, SPARE, false, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, SPARE, true, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, SPARE, true, 0x8, 8).end, SM_TENANCY_DONE);
	assert_int_equal(change(w, ACTIVE, TENANT_DELETE, 0x8, 4).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 5).end, SM_TENANCY_DONE);
	split(w, false);
	run_without(w, 60 * MONO_S, 3, 0x8008);
	settled(w, 1);
	assert_true(host_holds(w, 5, 0x8008));
	assert_false(host_holds(w, 8, 0x8008) || switch_holds(w, 8, 0x8008));
}

/* One half lowers a member of the partition that the other one deletes, and makes anew with it. */
static void a_member_of_the_partition_that_is_gone_says_nothing_of_the_new_one(void **state)
{
	struct world *w = *state;
	mono_t until = sim_now(w->rig->sim) + 300 * MONO_S;
	struct tenant_member member = { w->host[3]->guid, false, false };
	const struct tenant_request rq = {
		.action = TENANT_SET, .pkey = 0x8, .members = &member, .n_members = 1
	};
	static struct answer a;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 4).end, SM_TENANCY_DONE);
	split(w, true);
	run_until_two_masters(w);
	a = (struct answer){ 0 };
	sm_tenancy_request(sm_of(w, ACTIVE), &rq, true, false, on_answer, &a);
	while (!a.is_there)
		assert_true(rig_step(w->rig, until));
	assert_int_equal(a.end, SM_TENANCY_DONE);
	assert_true(host_holds(w, 3, 0x0008));
	assert_int_equal(change(w, SPARE, TENANT_DELETE, 0x8, 4).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, SPARE, true, 0x8, 3).end, SM_TENANCY_DONE);
	split(w, false);
	settled(w, 1);
	run_for(w, 10 * MONO_S);
	assert_true(host_holds(w, 3, 0x8008) && switch_holds(w, 3, 0x8008));
	assert_int_equal(generation_of(w, ACTIVE), generation_of(w, SPARE));
}

/* Both do what the same tool asks of them. */
static void a_partition_that_both_halves_make_has_the_members_of_both(void **state)
{
	struct world *w = *state;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x9, 3).end, SM_TENANCY_DONE);
	assert_int_equal(change(w, ACTIVE, TENANT_DELETE, 0x9, 3).end, SM_TENANCY_DONE);
	split(w, true);
	run_until_two_masters(w);
	for (unsigned pkey = 0x8; pkey < 0xA; pkey++) {
		assert_int_equal(ask_for(w, ACTIVE, true, pkey, 4).end, SM_TENANCY_DONE);
		assert_int_equal(ask_for(w, SPARE, true, pkey, 8).end, SM_TENANCY_DONE);
	}
	split(w, false);
	settled(w, 1);
	run_for(w, 10 * MONO_S);
	for (unsigned pkey = 0x8; pkey < 0xA; pkey++) {
		assert_true(host_holds(w, 4, 0x8000 | pkey) && switch_holds(w, 4, 0x8000 | pkey));
		assert_true(host_holds(w, 8, 0x8000 | pkey) && switch_holds(w, 8, 0x8000 | pkey));
	}
	assert_false(host_holds(w, 3, 0x8009));
}

/* As after a split whose cables came back unnoticed: see settle_contact.c, "our own port". */
static void a_master_whose_port_another_one_sets_up_looks_for_it(void **state)
{
	struct world *w = *state;
	const struct port *own;
	unsigned sweeps;

	start_connected(w);
	split(w, true);
	run_until_two_masters(w);
	run_for(w, 30 * MONO_S);
	own = sm_fabric(sm_of(w, SPARE))->own_port;
	sweeps = sm_stats(sm_of(w, SPARE))->heavy_sweeps;
	sim_set_lid(w->rig->sim, sim_find(w->rig->sim, "h11"), own->num, own->lid, 0,
		    own->lid + 1);
	run_for(w, 2 * MONO_S);
	assert_int_equal(sm_stats(sm_of(w, SPARE))->heavy_sweeps, sweeps + 1);
	run_for(w, 30 * MONO_S);
	assert_int_equal(sm_stats(sm_of(w, SPARE))->heavy_sweeps, sweeps + 1);
	assert_int_equal(ask_for(w, SPARE, true, 0x8, 8).end, SM_TENANCY_DONE);
}

/* ---- failback ------------------------------------------------------------------------------- */

static void the_greater_one_rules_when_it_has_everything(void **state)
{
	struct world *w = *state;
	unsigned n;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 4).end, SM_TENANCY_DONE);
	fail_over(w);
	settled(w, 0);
	assert_int_equal(ask_for(w, SPARE, false, 0x8, 3).end, SM_TENANCY_DONE);
	/* Its discovery takes long. */
	sim_set_silent(w->rig->sim, w->host[7]->node, SIM_SILENT, 0);
	n = begin(w, ACTIVE);
	run_without(w, 90 * MONO_S, 3, 0x8008);
	settled(w, 1);
	assert_ptr_equal(rig_master(w->rig), sm_of(w, n));
	assert_int_equal(generation_of(w, n), 3);
	assert_true(host_holds(w, 4, 0x8008));
}

/* The folder is one of a backup: rows of the others win. */
static void an_old_copy_of_the_folder_wins_nothing(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *save = NULL, *back = NULL;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	rig_kill(w->rig, ACTIVE);
	save = xasprintf("cp -a %s %s.old", w->dir[ACTIVE], w->dir[ACTIVE]);
	back = xasprintf("rm -rf %s && mv %s.old %s", w->dir[ACTIVE], w->dir[ACTIVE],
			 w->dir[ACTIVE]);
	assert_int_equal(system(save), 0);
	begin(w, ACTIVE);
	settled(w, 1);
	assert_int_equal(ask_for(w, number_of(w, rig_master(w->rig)), false, 0x8, 3).end,
			 SM_TENANCY_DONE);
	rig_kill(w->rig, number_of(w, rig_master(w->rig)));
	assert_int_equal(system(back), 0);
	begin(w, ACTIVE);
	run_without(w, 60 * MONO_S, 3, 0x8008);
	settled(w, 1);
}

/* ---- three ---------------------------------------------------------------------------------- */

/* The third one slept while the others acknowledged, and is alone then. */
static void one_that_slept_clears_nothing(void **state)
{
	struct world *w = *state;
	unsigned third;
	mono_t until;

	start_connected(w);
	third = begin(w, 2);
	settled(w, 2);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).with, 2);
	rig_freeze(w->rig, third, true);
	run_for(w, 10 * MONO_S);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x9, 4).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, false, 0x8, 3).end, SM_TENANCY_DONE);
	rig_kill(w->rig, ACTIVE);
	rig_kill(w->rig, SPARE);
	run_for(w, 4 * MONO_S);
	rig_freeze(w->rig, third, false);
	until = sim_now(w->rig->sim) + 60 * MONO_S;
	while (sm_state(sm_of(w, third)) != SM_MASTER || !sm_of(w, third)->first_sweep_done)
		assert_true(rig_step(w->rig, until));
	run_with(w, 30 * MONO_S, 4, 0x8009);
	assert_false(host_holds(w, 3, 0x8008) || switch_holds(w, 3, 0x8008));
	begin(w, SPARE);
	settled(w, 1);
	run_with(w, 10 * MONO_S, 4, 0x8009);
	assert_false(host_holds(w, 3, 0x8008) || switch_holds(w, 3, 0x8008));
}

/* The answer waits no longer than for one that answers; it tells of how many. */
static void a_standby_that_is_lost_changes_the_numbers(void **state)
{
	struct world *w = *state;
	struct answer a;

	start_connected(w);
	begin(w, 2);
	settled(w, 2);
	rig_freeze(w->rig, SPARE, true);
	a = ask_for(w, ACTIVE, true, 0x8, 3);
	assert_int_equal(a.end, SM_TENANCY_DONE);
	assert_int_equal(a.with, 1);
	assert_true(a.of == 1 || a.of == 2);
	rig_freeze(w->rig, SPARE, false);
	settled(w, 2);
	a = ask_for(w, ACTIVE, true, 0x8, 4);
	assert_int_equal(a.with, 2);
	assert_int_equal(a.of, 2);
}

/* ---- many faults ---------------------------------------------------------------------------- */

#define N_KEYS 4

/* What is known of memberships: by acknowledged changes, each stored by every manager alive. */
struct storm {
	struct world *w;
	uint64_t random;
	int8_t member[N_KEYS][N_HOSTS]; /* -1: not known, as its change was not answered */
	int number[2];			/* of the manager on h0, h11; -1: it is down */
};

static unsigned pick(struct storm *s, unsigned n)
{
	return (unsigned)(random_next(&s->random) >> 32) % n;
}

static void check(struct storm *s)
{
	for (unsigned key = 0; key < N_KEYS; key++) {
		for (unsigned host = 1; host < N_HOSTS - 1; host++) {
			int8_t member = s->member[key][host];

			if (member < 0)
				continue;
			assert_int_equal(host_holds(s->w, host, 0x8010 + key), member);
			assert_int_equal(switch_holds(s->w, host, 0x8010 + key), member);
		}
	}
}

static void change_some(struct storm *s, bool may_die)
{
	struct answer a[6];
	unsigned n = 1 + pick(s, ARRAY_SIZE(a)), key[ARRAY_SIZE(a)], host[ARRAY_SIZE(a)];
	unsigned master = number_of(s->w, rig_master(s->w->rig));
	bool give[ARRAY_SIZE(a)];

	for (unsigned i = 0; i < n; i++) {
		key[i] = pick(s, N_KEYS);
		host[i] = 1 + pick(s, N_HOSTS - 2);
		give[i] = pick(s, 2);
		submit(s->w, master, give[i], 0x10 + key[i], host[i], &a[i]);
		if (s->member[key[i]][host[i]] != give[i])
			s->member[key[i]][host[i]] = -1;
	}
	run_for(s->w, may_die && pick(s, 3) ? pick(s, 3000) : 2 * MONO_S);
	for (unsigned i = 0; i < n; i++) {
		bool overtaken = false;

		for (unsigned k = i + 1; k < n; k++)
			overtaken |= key[k] == key[i] && host[k] == host[i];
		if (a[i].is_there && !overtaken && a[i].end == SM_TENANCY_DONE && a[i].replicated)
			s->member[key[i]][host[i]] = give[i];
		sm_tenancy_abandon(sm_of(s->w, master), &a[i]);
	}
}

static void stop(struct storm *s, unsigned which)
{
	rig_kill(s->w->rig, (unsigned)s->number[which]);
	s->number[which] = -1;
}

/* One of both dies, freezes, or is cut off; the other one rules, and takes changes. */
static void fault(struct storm *s)
{
	unsigned which = pick(s, 2), kind = pick(s, 4);
	struct world *w = s->w;
	int node = sim_find(w->rig->sim, ports[which]);

	change_some(s, kind == 0);
	if (kind == 0 || kind == 3)
		stop(s, which);
	else if (kind == 1)
		rig_freeze(w->rig, (unsigned)s->number[which], true);
	else
		sim_link_down(w->rig->sim, node, 1);
	if (kind == 3)
		wipe(w, which);
	run_for(w, 100 * MONO_MS + pick(s, 12000) * MONO_MS);
	if (rig_master(w->rig) && settle_may_write(rig_master(w->rig)))
		change_some(s, false);
	if (kind == 1)
		rig_freeze(w->rig, (unsigned)s->number[which], false);
	else if (kind == 2)
		sim_link_up(w->rig->sim, node, 1);
	else
		s->number[which] = (int)begin(w, which);
	settled(w, 1);
	run_for(w, 3 * MONO_S);
	check(s);
}

static void many_faults(void **state)
{
	struct storm s = { .w = *state, .random = 5, .number = { ACTIVE, SPARE } };
	unsigned n = getenv("N") ? (unsigned)atoi(getenv("N")) : 40;

	if (getenv("SEED"))
		s.random = (uint64_t)atoll(getenv("SEED"));
	print_message("SEED=%llu N=%u\n", (unsigned long long)s.random, n);
	s.w->conf[ACTIVE]->require_standby = s.w->conf[SPARE]->require_standby = true;
	start_connected(s.w);
	s.w->rig->job_time = 3 * MONO_MS; /* a disk: the table is ahead of it */
	for (unsigned i = 0; i < n; i++)
		fault(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_standby_stores_before_the_answer),
		TEST(takeover_keeps_what_was_given_and_gives_nothing_back),
		TEST(takeover_does_not_take_a_key_for_gone_that_devices_hold),
		TEST(a_standby_that_comes_later_gets_the_whole_table),
		TEST(without_a_standby_nothing_is_changed_if_one_is_required),
		TEST(a_silent_host_is_cut_after_a_takeover),
		TEST(a_standbys_port_keeps_its_index0),
		TEST(a_master_with_an_empty_folder_asks_its_standby),
		TEST(without_anybody_to_ask_keys_stay_on_devices),
		TEST(one_that_keeps_is_told_by_one_that_comes),
		TEST(one_that_keeps_does_not_ask_for_ever),
		TEST(a_first_start_needs_no_decision),
		TEST(keys_wait_until_a_silent_port_is_explained),
		TEST(a_file_that_is_read_meanwhile_counts_behind_it),
		TEST(a_frozen_master_does_not_undo_a_removal),
		TEST(a_master_frozen_in_the_middle_of_a_change_leaves_nothing),
		TEST(a_master_that_was_cut_off_does_not_undo_a_removal),
		TEST(changes_of_both_halves_stay),
		TEST(of_one_member_the_removal_stays),
		TEST(a_partition_that_is_made_anew_gives_nothing_back),
		TEST(a_member_of_the_partition_that_is_gone_says_nothing_of_the_new_one),
		TEST(a_partition_that_both_halves_make_has_the_members_of_both),
		TEST(a_master_whose_port_another_one_sets_up_looks_for_it),
		TEST(the_greater_one_rules_when_it_has_everything),
		TEST(an_old_copy_of_the_folder_wins_nothing),
		TEST(one_that_slept_clears_nothing),
		TEST(a_standby_that_is_lost_changes_the_numbers),
		TEST(many_faults),
	};

	if (getenv("ONLY"))
		cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
