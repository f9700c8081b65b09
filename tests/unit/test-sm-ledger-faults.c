// SPDX-License-Identifier: BSD-2-Clause
/*
 * Faults that meet the exchange between managers: messages that end in the middle, a disk that is
 * full for a while, rows that no manager of ours writes (sm/ledger/).
 */
#include "ledger-managers.h"
#include "sm/ledger/settle_internal.h"

static const struct ledger_store *full; /* nothing can be written to it; NULL: to all */

int __real_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta);
int __wrap_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta);

int __wrap_ledger_store_write(struct ledger_store *s, const uint8_t *rows, size_t len,
			      const struct ledger_meta *meta)
{
	return full && s == full ? -ENOSPC : __real_ledger_store_write(s, rows, len, meta);
}

static struct settle *settle_of(struct world *w, unsigned which)
{
	return sm_of(w, which)->m.settle;
}

static struct settle_peer *peer_in(struct world *w, unsigned which, unsigned other)
{
	return settle_peer_of(settle_of(w, which), sm_of(w, other)->tr->port_guid);
}

/* A message is under way to a slow one: digests are sent behind it, not a minute later. */
static void a_doubt_with_a_message_under_way_ends_soon(void **state)
{
	struct world *w = *state;
	static struct answer a;

	start_connected(w);
	rig_freeze(w->rig, SPARE, true);
	submit(w, ACTIVE, true, 0x8, 3, &a);
	run_for(w, 300 * MONO_MS);
	assert_true(peer_in(w, ACTIVE, SPARE)->busy);
	settle_doubt(sm_of(w, ACTIVE), "as this test wants it");
	run_for(w, 500 * MONO_MS);
	rig_freeze(w->rig, SPARE, false);
	run_for(w, 5 * MONO_S);
	assert_int_equal(settle_state(sm_of(w, ACTIVE)), SETTLE_WRITING);
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

/* It asked for all rows, could not store them, and a change comes before they are sent again. */
static void what_a_full_standby_did_not_take_is_not_counted(void **state)
{
	struct world *w = *state;
	unsigned host;

	assert_int_equal(begin(w, ACTIVE), ACTIVE);
	run_for(w, 5 * MONO_S);
	for (host = 1; host < 5; host++)
		assert_int_equal(ask_for(w, ACTIVE, true, 0x10 + host, host).end, SM_TENANCY_DONE);
	assert_int_equal(begin(w, SPARE), SPARE);
	full = settle_of(w, SPARE)->store;
	run_for(w, 20 * MONO_S);
	assert_true(peer_in(w, ACTIVE, SPARE)->refuses);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x20, 7).with, 0);
	run_for(w, 8 * MONO_S);
	full = NULL;
	run_with_true_count(w, 60 * MONO_S, generation_of(w, ACTIVE), 0x20, 7);
	assert_int_equal(sm_tenancy_standbys(sm_of(w, ACTIVE)), 1);
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

/* Rows that arrive between a change and its turn at the disk have greater numbers than it. */
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
		.bytes = &flags
	};

	ib_bits_put(e.key.bytes, 0, 16, pkey);
	ib_bits_put(e.key.bytes, 16, 64, w->host[host]->guid);
	return e;
}

/* Rows of both halves of a split subnet: read in any order, they give the same. */
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

/* Nor with digests: what it says was forgotten, or its term. */
static void digests_with_a_number_near_the_end_are_not_taken(void **state)
{
	struct world *w = *state;

	start_connected(w);
	ledger_forget(settle_of(w, SPARE)->ledger, LEDGER_MARK, UINT64_MAX);
	run_for(w, 90 * MONO_S);
	assert_int_equal(ledger_forgotten(settle_ledger(sm_of(w, ACTIVE)), LEDGER_MARK), 0);
	settle_of(w, SPARE)->meta.term = UINT64_MAX;
	run_for(w, 90 * MONO_S);
	assert_true(settle_of(w, ACTIVE)->meta.term < 10);
	assert_int_equal(settle_state(sm_of(w, ACTIVE)), SETTLE_WRITING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_doubt_with_a_message_under_way_ends_soon),
		TEST(what_a_full_standby_did_not_take_is_not_counted),
		TEST(what_waited_when_all_was_compared_anew_is_not_counted),
		TEST(a_change_that_was_overtaken_is_counted_when_it_is_there),
		TEST(the_smaller_pkey_has_index0_after_a_restart_too),
		TEST(a_number_near_the_end_is_not_taken),
		TEST(digests_with_a_number_near_the_end_are_not_taken),
	};

	if (getenv("ONLY"))
		cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
