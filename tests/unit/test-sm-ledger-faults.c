// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a scenario (ledger-faults.scn) cannot see of the exchange between managers: how far a
 * message is, what is read and written at one moment, rows that no manager of ours writes.
 */
#include "ledger-managers.h"
#include "sm/ledger/settle_internal.h"
#include "sm/sm_ledger.h"
#include "sm/sweep/program.h"

static struct settle *settle_of(struct world *w, unsigned which)
{
	return sm_of(w, which)->m.settle;
}

static struct settle_peer *peer_in(struct world *w, unsigned which, unsigned other)
{
	return settle_peer_of(settle_of(w, which), sm_of(w, other)->tr->port_guid);
}

/* Runs for `t`: as soon as the master counts the standby as one that has the member, it has it. */
static void run_with_true_count(struct world *w, mono_t t, uint64_t number, unsigned pkey,
				unsigned host)
{
	mono_t until = sim_now(w->rig->sim) + t;
	struct ledger_key key = { .table = LEDGER_MEMBER, .len = 10 };

	ib_bits_put(key.bytes, 0, 16, pkey);
	ib_bits_put(key.bytes, 16, 64, w->host[host]->guid);
	do {
		if (settle_reach(sm_of(w, ACTIVE), LEDGER_MEMBER, number).with)
			assert_non_null(ledger_find(settle_ledger(sm_of(w, SPARE)), &key));
	} while (rig_step(w->rig, until));
}

/*
 * The P_Key table of a host that is in use does not answer while P_Keys are planned, and answers
 * when they are written.
 */
static void tables_that_cannot_be_read_stay_while_keys_are_taken(void **state)
{
	struct world *w = *state;
	int h3 = sim_find(w->rig->sim, "h3");
	mono_t until;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	settle_doubt(sm_of(w, ACTIVE), "as this test wants it");
	until = sim_now(w->rig->sim) + 40 * MONO_S;
	do {
		peer_in(w, ACTIVE, SPARE)->state = SETTLE_WRITING; /* as if it were a master */
		sim_set_silent(w->rig->sim, h3,
			       program_busy(sm_of(w, ACTIVE)) ? SIM_ANSWERS : SIM_SILENT_GET,
			       IB_ATTR_PKEY_TABLE);
		assert_true(host_holds(w, 3, 0x8008) && switch_holds(w, 3, 0x8008));
	} while (rig_step(w->rig, until));
	assert_true(host_holds(w, 3, 0xFFFF) && switch_holds(w, 3, 0xFFFF));
	assert_int_equal(settle_state(sm_of(w, ACTIVE)), SETTLE_TAKING);
}

static bool is_waiting(struct world *w)
{
	char line[LEDGER_REASON_STRLEN];

	return sm_ledger_trouble(sm_of(w, ACTIVE)) == LEDGER_WAITS &&
	       strstr(sm_ledger_status(sm_of(w, ACTIVE), line), "another manager is out of reach");
}

/* Nothing would show what is there: P_Keys do not wait for ever. */
static void without_sweeps_a_lost_manager_holds_nothing_for_long(void **state)
{
	struct world *w = *state;
	mono_t until = sim_now(w->rig->sim) + 120 * MONO_S;
	struct sm_ledger view;

	start_connected(w);
	sm_set_sweeping(sm_of(w, ACTIVE), false);
	rig_freeze(w->rig, SPARE, true);
	sim_set_silent(w->rig->sim, sim_find(w->rig->sim, "h11"), SIM_SILENT, 0);
	while (!settle_waits(sm_of(w, ACTIVE)))
		assert_true(rig_step(w->rig, until));
	assert_false(is_waiting(w));
	for (unsigned i = 0; i < SETTLE_CONTACTS; i++)
		settle_of(w, ACTIVE)->contacts[i].since -= 11 * MONO_S;
	assert_true(is_waiting(w));
	sm_ledger(sm_of(w, ACTIVE), &view);
	assert_non_null(strstr(view.reason, "was out of reach"));
	run_for(w, 10 * MONO_S);
	assert_false(settle_waits(sm_of(w, ACTIVE)));
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
}

/* A change waits behind rows that it asked for; the master has doubts then, and all is compared. */
static void what_waited_when_all_was_compared_anew_is_not_counted(void **state)
{
	struct world *w = *state;
	static struct answer a;
	mono_t until;

	assert_int_equal(begin(w, ACTIVE), ACTIVE);
	run_for(w, 5 * MONO_S);
	for (unsigned host = 1; host < 5; host++)
		assert_int_equal(ask_for(w, ACTIVE, true, 0x10 + host, host).end, SM_TENANCY_DONE);
	w->rig->disk_time = MONO_S;
	assert_int_equal(begin(w, SPARE), SPARE);
	until = sim_now(w->rig->sim) + 60 * MONO_S;
	while (!peer_in(w, ACTIVE, SPARE) ||
	       peer_in(w, ACTIVE, SPARE)->of[LEDGER_MEMBER].push != PUSH_ASKED)
		assert_true(rig_step(w->rig, until));
	submit(w, ACTIVE, true, 0x11, 7, &a);
	while (!peer_in(w, ACTIVE, SPARE)->n_queue)
		assert_true(rig_step(w->rig, until));
	assert_int_equal(peer_in(w, ACTIVE, SPARE)->of[LEDGER_MEMBER].push, PUSH_ASKED);
	peers_doubt(sm_of(w, ACTIVE));
	w->tap[ACTIVE].channel.cut = true; /* what the standby asks next gets lost */
	run_with_true_count(w, 8 * MONO_S, generation_of(w, ACTIVE), 0x11, 7);
	w->tap[ACTIVE].channel.cut = false;
	run_with_true_count(w, 60 * MONO_S, generation_of(w, ACTIVE), 0x11, 7);
	assert_int_equal(sm_tenancy_standbys(sm_of(w, ACTIVE)), 1);
}

/* Rows that arrive between a change and its turn at the disk have greater numbers. */
static void a_change_that_was_overtaken_is_counted_when_it_is_there(void **state)
{
	struct world *w = *state;
	struct settle_edit edit = { .key = { .table = LEDGER_MEMBER, .len = 10 }, .removed = true };
	struct ledger_key key = { .table = LEDGER_MEMBER, .len = 10 };
	static struct answer a;
	unsigned third;
	mono_t until;

	start_connected(w);
	third = begin(w, 2);
	settled(w, 2);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).with, 2);
	w->rig->disk_time = MONO_S;
	ib_bits_put(edit.key.bytes, 0, 16, 0x30);
	ib_bits_put(edit.key.bytes, 16, 64, 0x1234);
	edit.number = settle_next_number(sm_of(w, third), LEDGER_MEMBER) + 50;
	settle_commit(sm_of(w, third), &edit, 1, NULL, NULL);
	until = sim_now(w->rig->sim) + 10 * MONO_S;
	while (!settle_of(w, ACTIVE)->is_storing)
		assert_true(rig_step(w->rig, until));
	submit(w, ACTIVE, true, 0x8, 4, &a);
	ib_bits_put(key.bytes, 0, 16, 0x8);
	ib_bits_put(key.bytes, 16, 64, w->host[4]->guid);
	while (!ledger_find(settle_ledger(sm_of(w, ACTIVE)), &key))
		assert_true(rig_step(w->rig, until));
	rig_freeze(w->rig, SPARE, true);
	while (!a.is_there)
		assert_true(rig_step(w->rig, until));
	assert_non_null(ledger_find(settle_ledger(sm_of(w, third)), &key));
	assert_null(ledger_find(settle_ledger(sm_of(w, SPARE)), &key));
	assert_int_equal(a.with, 1);
	assert_int_equal(a.of, 2);
}

static struct settle_edit member_edit(struct world *w, unsigned pkey, unsigned host,
				      uint64_t number)
{
	static const uint8_t flags = LEDGER_MEMBER_FULL | LEDGER_MEMBER_INDEX0;
	struct settle_edit e = {
		.key = { .table = LEDGER_MEMBER, .len = 10 },
		.number = number,
		.len = 1,
		.bytes = &flags,
	};

	ib_bits_put(e.key.bytes, 0, 16, pkey);
	ib_bits_put(e.key.bytes, 16, 64, w->host[host]->guid);
	return e;
}

/* A version before this one wrote them: the partition names no removal that it was made behind. */
static void rows_of_the_first_version_count(void **state)
{
	struct world *w = *state;
	static const uint8_t fields[] = { 1, 4, 2, 0, 'o', 'l', 'd' };
	struct settle_edit edits[2];
	uint64_t number;

	start_connected(w);
	number = settle_next_number(sm_of(w, SPARE), LEDGER_MEMBER);
	edits[0] = (struct settle_edit){ .key = { .table = LEDGER_PARTITION, .len = 2,
						  .bytes = { 0, 0x8 } },
					 .number = number,
					 .len = sizeof(fields),
					 .bytes = fields };
	edits[1] = member_edit(w, 0x8, 3, number);
	settle_commit(sm_of(w, SPARE), edits, 2, NULL, NULL);
	run_for(w, 10 * MONO_S);
	assert_true(host_holds(w, 3, 0x8008) || host_holds(w, 3, 0x8));
	assert_string_equal(tenants_find(sm_tenants(sm_of(w, ACTIVE)), 0x8)->fields.name, "old");
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 4).end, SM_TENANCY_DONE);
	assert_true(host_holds(w, 4, 0x8008));
	assert_true(host_holds(w, 3, 0x8008) || host_holds(w, 3, 0x8));
}

/* Rows of both halves of a split subnet: one table comes of them, in any order. */
static void the_smaller_pkey_has_index0_after_a_restart_too(void **state)
{
	struct world *w = *state;
	struct settle_edit edits[2];
	uint64_t number;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 4).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x9, 4).end, SM_TENANCY_DONE);
	number = settle_next_number(sm_of(w, SPARE), LEDGER_MEMBER);
	edits[0] = member_edit(w, 0x8, 3, number);
	edits[1] = member_edit(w, 0x9, 3, number);
	settle_commit(sm_of(w, SPARE), edits, 2, NULL, NULL);
	run_for(w, 10 * MONO_S);
	assert_int_equal(tenants_at_index0(sm_tenants(sm_of(w, ACTIVE)), w->host[3]->guid), 0x8);
	rig_kill(w->rig, SPARE);
	rig_kill(w->rig, ACTIVE);
	assert_int_equal(begin(w, ACTIVE), 2);
	run_for(w, 90 * MONO_S);
	assert_int_equal(tenants_at_index0(sm_tenants(sm_of(w, 2)), w->host[3]->guid), 0x8);
}

/* Else the next change of all managers has a number that cannot be, for ever. */
static void a_number_near_the_end_is_not_taken(void **state)
{
	struct world *w = *state;
	struct settle_edit edit;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 4).end, SM_TENANCY_DONE);
	edit = member_edit(w, 0x8, 3, INT64_MAX);
	settle_commit(sm_of(w, SPARE), &edit, 1, NULL, NULL);
	run_for(w, 10 * MONO_S);
	assert_null(ledger_find(settle_ledger(sm_of(w, ACTIVE)), &edit.key));
	assert_int_not_equal(said("rows of the ledger that cannot be", ""), 0);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 5).end, SM_TENANCY_DONE);
}

/* Nor with digests: its term. */
static void digests_with_a_number_near_the_end_are_not_taken(void **state)
{
	struct world *w = *state;

	start_connected(w);
	settle_of(w, SPARE)->meta.term = UINT64_MAX;
	run_for(w, 90 * MONO_S);
	assert_true(settle_of(w, ACTIVE)->meta.term < 10);
	assert_int_equal(settle_state(sm_of(w, ACTIVE)), SETTLE_WRITING);
}

/* DIGESTS as a manager of another version sends them, with one table more or one less. */
static void digests_of_other_versions_are_compared(void **state)
{
	struct settle_digests d = { .term = 7, .tables = (1u << LEDGER_TABLES) - 1 }, back;
	uint8_t bytes[DIGESTS_BYTES + DIGEST_BYTES] = { 0 };

	for (unsigned t = 0; t < LEDGER_TABLES; t++)
		d.of[t] = (struct ledger_digest){ .hash = 100 + t, .rows = t };
	digests_pack(&d, bytes);
	assert_true(digests_read(bytes, sizeof(bytes), &back));
	assert_int_equal(back.tables, d.tables);
	assert_memory_equal(back.of, d.of, sizeof(d.of));
	assert_true(digests_read(bytes, DIGESTS_BYTES - DIGEST_BYTES, &back));
	assert_int_equal(back.tables, d.tables >> 1);
	assert_int_equal(back.of[LEDGER_TABLES - 2].hash, 100 + LEDGER_TABLES - 2);
	for (size_t len = 0; len < DIGESTS_BYTES; len++) {
		if (len < DIGESTS_HEAD || (len - DIGESTS_HEAD) % DIGEST_BYTES)
			assert_false(digests_read(bytes, len, &back));
	}
}

/* ---- a manager that keeps what devices hold -------------------------------------------------- */

struct ended {
	bool is_there;
	struct sm_ledger_ended r;
};

static void on_ended(void *arg, const struct sm_ledger_ended *r)
{
	struct ended *e = arg;

	assert_false(e->is_there);
	*e = (struct ended){ true, *r };
}

/* It has lost its folder with a member. */
static struct sm *start_keeping(struct world *w)
{
	struct sm *sm;

	begin(w, ACTIVE);
	run_for(w, 5 * MONO_S);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	rig_kill(w->rig, ACTIVE);
	scratch_remove(w->dir[ACTIVE]);
	assert_int_equal(mkdir(w->dir[ACTIVE], 0700), 0);
	scratch_open_partitions(w->conf[ACTIVE]->partition_config_file);
	sm = sm_of(w, begin(w, ACTIVE));
	run_for(w, 20 * MONO_S);
	assert_int_equal(settle_state(sm), SETTLE_KEEPING);
	return sm;
}

static size_t n_members(const struct sm *sm)
{
	return ledger_rows_there(settle_ledger(sm), LEDGER_MEMBER);
}

static void one_way_out_at_a_time(void **state)
{
	struct world *w = *state;
	struct ended first = { 0 }, second = { 0 };
	struct sm *sm = start_keeping(w);

	assert_int_equal(sm_ledger_adopt(sm, on_ended, &first), 0);
	assert_int_equal(sm_ledger_adopt(sm, on_ended, &second), -EBUSY);
	assert_int_equal(sm_ledger_forget(sm, on_ended, &second), -EBUSY);
	run_for(w, 5 * MONO_S);
	assert_true(first.is_there);
	assert_int_equal(first.r.error, 0);
	assert_false(second.is_there);
	assert_int_equal(n_members(sm), 1);
}

static void a_caller_that_left_is_not_told(void **state)
{
	struct world *w = *state;
	struct ended e = { 0 };
	struct sm *sm = start_keeping(w);

	assert_int_equal(sm_ledger_adopt(sm, on_ended, &e), 0);
	sm_ledger_abandon(sm, &e);
	run_for(w, 5 * MONO_S);
	assert_false(e.is_there);
	assert_int_equal(n_members(sm), 1);
}

/* A term that begins while rows are being written is on the disk a moment later. */
static void what_is_noted_while_rows_are_written_is_stored_too(void **state)
{
	struct world *w = *state;
	static struct answer a;
	struct settle *s;
	uint64_t term;

	begin(w, ACTIVE);
	run_for(w, 5 * MONO_S);
	s = settle_of(w, ACTIVE);
	term = s->meta.term + 7;
	w->rig->disk_time = MONO_S;
	submit(w, ACTIVE, true, 0x5, 3, &a);
	run_for(w, 500 * MONO_MS);
	assert_true(s->is_storing);
	s->meta.term = term;
	disk_note_meta(sm_of(w, ACTIVE));
	run_for(w, 10 * MONO_S);
	assert_int_equal(a.end, SM_TENANCY_DONE);
	w->rig->disk_time = 0;
	rig_kill(w->rig, ACTIVE);
	s = sm_of(w, begin(w, ACTIVE))->m.settle;
	run_for(w, 5 * MONO_S);
	assert_true(s->meta.term > term);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_sweeps_a_lost_manager_holds_nothing_for_long),
		TEST(rows_of_the_first_version_count),
		TEST(tables_that_cannot_be_read_stay_while_keys_are_taken),
		TEST(what_waited_when_all_was_compared_anew_is_not_counted),
		TEST(a_change_that_was_overtaken_is_counted_when_it_is_there),
		TEST(the_smaller_pkey_has_index0_after_a_restart_too),
		TEST(a_number_near_the_end_is_not_taken),
		TEST(digests_with_a_number_near_the_end_are_not_taken),
		TEST(digests_of_other_versions_are_compared),
		TEST(one_way_out_at_a_time),
		TEST(a_caller_that_left_is_not_told),
		TEST(what_is_noted_while_rows_are_written_is_stored_too),
	};

	if (getenv("ONLY"))
		cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
