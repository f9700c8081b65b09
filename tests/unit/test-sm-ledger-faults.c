// SPDX-License-Identifier: BSD-2-Clause
/*
 * Faults that meet the exchange between managers: messages that end in the middle, a disk that is
 * full for a while, rows that no manager of ours writes (sm/ledger/).
 */
#include "ledger-managers.h"
#include "sm/ledger/settle_internal.h"
#include "sm/sm_ledger.h"
#include "sm/sweep/program.h"

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

/* A message is under way to a standby that is slow: digests are sent right behind it. */
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
	settle_doubt(sm_of(w, ACTIVE), "as this test wants it");
	run_for(w, 20 * MONO_S);
	assert_int_equal(settle_state(sm_of(w, ACTIVE)), SETTLE_WRITING);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x20, 7).with, 0);
	run_for(w, 8 * MONO_S);
	full = NULL;
	run_with_true_count(w, 60 * MONO_S, generation_of(w, ACTIVE), 0x20, 7);
	assert_int_equal(sm_tenancy_standbys(sm_of(w, ACTIVE)), 1);
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

/*
 * The standby gave a removed P_Key again while the master was frozen, hands over, and its messages
 * get lost. What is removed behind that is taken.
 */
static void what_a_silent_manager_may_have_given_is_not_taken(void **state)
{
	struct world *w = *state;
	mono_t until = sim_now(w->rig->sim) + 300 * MONO_S;
	struct answer a;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 4).end, SM_TENANCY_DONE);
	assert_int_equal(ask_for(w, ACTIVE, false, 0x8, 3).end, SM_TENANCY_DONE);
	rig_freeze(w->rig, ACTIVE, true);
	while (sm_of(w, SPARE)->state != SM_MASTER || !settle_may_write(sm_of(w, SPARE)) ||
	       !sm_of(w, SPARE)->first_sweep_done)
		assert_true(rig_step(w->rig, until));
	assert_int_equal(ask_for(w, SPARE, true, 0x8, 3).end, SM_TENANCY_DONE);
	w->tap[ACTIVE].channel.cut = w->tap[SPARE].channel.cut = true;
	rig_freeze(w->rig, ACTIVE, false);
	while (settle_state(sm_of(w, ACTIVE)) != SETTLE_TAKING) {
		assert_true(host_holds(w, 3, 0x8008) && switch_holds(w, 3, 0x8008));
		assert_true(rig_step(w->rig, until));
	}
	run_with(w, 2 * MONO_S, 3, 0x8008);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 5).end, SM_TENANCY_CLOSED);
	assert_int_equal(ask_for(w, ACTIVE, false, 0x8, 6).end, SM_TENANCY_CLOSED);
	a = ask_for(w, ACTIVE, false, 0x8, 4);
	assert_int_equal(a.end, SM_TENANCY_UNCONFIRMED);
	assert_non_null(strstr(a.text, "takes it from devices"));
	run_with(w, 2 * MONO_S, 3, 0x8008);
	assert_true(switch_holds(w, 3, 0x8008));
	assert_int_equal(settle_state(sm_of(w, ACTIVE)), SETTLE_TAKING);
	assert_false(host_holds(w, 4, 0x8008) || switch_holds(w, 4, 0x8008));
	w->tap[ACTIVE].channel.cut = w->tap[SPARE].channel.cut = false;
	settled(w, 1);
	run_with(w, 10 * MONO_S, 3, 0x8008);
	assert_false(host_holds(w, 4, 0x8008) || switch_holds(w, 4, 0x8008));
}

/* Messages of the standby get lost until the end of the test: this master asks it in vain. */
static void ask_in_vain(struct world *w)
{
	mono_t until = sim_now(w->rig->sim) + 60 * MONO_S;

	w->tap[ACTIVE].channel.cut = w->tap[SPARE].channel.cut = true;
	settle_doubt(sm_of(w, ACTIVE), "as this test wants it");
	while (settle_state(sm_of(w, ACTIVE)) != SETTLE_TAKING || rig_sweeping(w->rig))
		assert_true(rig_step(w->rig, until));
}

/* For the time `t` the state is TAKING, and the switch port drops the host's packets. */
static void run_taking_without(struct world *w, unsigned which, mono_t t, unsigned host,
			       unsigned key)
{
	mono_t until = sim_now(w->rig->sim) + t;

	do {
		assert_int_equal(settle_state(sm_of(w, which)), SETTLE_TAKING);
		assert_false(switch_holds(w, host, key));
	} while (rig_step(w->rig, until));
}

/* The removal is confirmed, as the switch port of the silent host lets nothing through. */
static void cut_h3(struct world *w)
{
	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	sim_set_silent(w->rig->sim, w->host[3]->node, SIM_SILENT, 0);
	assert_int_equal(ask_for(w, ACTIVE, false, 0x8, 3).end, SM_TENANCY_DONE);
	assert_true(host_holds(w, 3, 0x8008) && !switch_holds(w, 3, 0x8008));
}

static void a_host_that_was_cut_gets_nothing_back_while_keys_are_taken(void **state)
{
	struct world *w = *state;

	cut_h3(w);
	ask_in_vain(w);
	sim_set_silent(w->rig->sim, w->host[3]->node, SIM_ANSWERS, 0);
	sm_request_heavy(sm_of(w, ACTIVE), NULL);
	run_taking_without(w, ACTIVE, 20 * MONO_S, 3, 0x8008);
}

/* The same at a start, before the standby has answered. */
static void a_host_that_was_cut_gets_nothing_back_at_a_start(void **state)
{
	struct world *w = *state;
	mono_t until = sim_now(w->rig->sim) + 120 * MONO_S;
	unsigned again;

	cut_h3(w);
	rig_kill(w->rig, ACTIVE);
	sim_set_silent(w->rig->sim, w->host[3]->node, SIM_ANSWERS, 0);
	w->tap[SPARE].channel.cut = true;
	again = begin(w, ACTIVE);
	while (settle_state(sm_of(w, again)) != SETTLE_TAKING) {
		assert_false(switch_holds(w, 3, 0x8008));
		assert_true(rig_step(w->rig, until));
	}
	run_taking_without(w, again, 10 * MONO_S, 3, 0x8008);
}

/* All behind leaf2 is cut off, and the questions to it go on for longer than a takeover. */
static void a_port_is_missed_while_a_sweep_waits_for_others(void **state)
{
	struct world *w = *state;
	struct sim *sim = w->rig->sim;
	mono_t since, until;

	for (unsigned i = 0; i < 2; i++) {
		w->conf[i]->sminfo_polling_timeout = 500;
		w->conf[i]->max_wire_smps = w->conf[i]->max_wire_smps2 = 1;
		w->conf[i]->sweep_interval = 0;
	}
	start_connected(w);
	rig_freeze(w->rig, SPARE, true);
	for (int node = 0; node < (int)sim_n_nodes(sim); node++) {
		if (node != sim_find(sim, "h0") && node != sim_find(sim, "leaf1"))
			sim_set_silent(sim, node, SIM_SILENT, 0);
	}
	since = sim_now(sim);
	until = since + 60 * MONO_S;
	sm_request_heavy(sm_of(w, ACTIVE), NULL);
	while (!settle_waits(sm_of(w, ACTIVE)))
		assert_true(rig_step(w->rig, until));
	assert_true(rig_sweeping(w->rig));
	assert_in_range(sim_now(sim) - since, 0, 1500 * MONO_MS);
}

/*
 * It is connected, and tells nothing: a change is answered, and no table may be written yet. Then
 * its ports get their keys without another change.
 */
static void a_change_beside_a_newcomer_reaches_devices(void **state)
{
	struct world *w = *state;
	mono_t until = sim_now(w->rig->sim) + 180 * MONO_S;
	struct tenant_member member = { w->host[3]->guid, true, false };
	const struct tenant_request rq = {
		.action = TENANT_ADD, .pkey = 0x8, .members = &member, .n_members = 1
	};
	static struct answer a;
	unsigned spare;
	guid_t guid;

	start_connected(w);
	guid = sm_of(w, SPARE)->tr->port_guid;
	rig_kill(w->rig, SPARE);
	run_for(w, 60 * MONO_S);
	spare = begin(w, SPARE);
	while (!channel_is_connected(sm_of(w, ACTIVE), guid))
		assert_true(rig_step(w->rig, until));
	rig_freeze(w->rig, spare, true);
	assert_false(settle_may_write(sm_of(w, ACTIVE)));
	a = (struct answer){ 0 };
	sm_tenancy_request(sm_of(w, ACTIVE), &rq, false, false, on_answer, &a);
	while (!a.is_there)
		assert_true(rig_step(w->rig, until));
	assert_int_equal(a.end, SM_TENANCY_DONE);
	assert_false(settle_may_write(sm_of(w, ACTIVE)));
	rig_freeze(w->rig, spare, false);
	run_for(w, 10 * MONO_S);
	assert_true(host_holds(w, 3, 0x8008) && switch_holds(w, 3, 0x8008));
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

/* Rows count there until its process ends: it says so before it is sent any. */
static void a_standby_whose_file_cannot_be_opened_is_not_counted(void **state)
{
	struct world *w = *state;
	_cleanup_free_ char *path = xasprintf("%s/ledger.db", w->dir[SPARE]);

	assert_int_equal(begin(w, ACTIVE), ACTIVE);
	run_for(w, 5 * MONO_S);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(begin(w, SPARE), SPARE);
	run_for(w, 20 * MONO_S);
	assert_int_equal(rmdir(path), 0);
	assert_true(settle_of(w, SPARE)->is_shut);
	for (unsigned host = 1; host < 4; host++) {
		struct answer a = ask_for(w, ACTIVE, true, 0x8, host);

		assert_int_equal(a.of, 1);
		assert_int_equal(a.with, 0);
		run_for(w, 10 * MONO_S);
		assert_int_equal(settle_reach(sm_of(w, ACTIVE), LEDGER_MEMBER,
					      generation_of(w, ACTIVE))
					 .with,
				 0);
	}
}

/* A removal that did not fit on its disk is on devices: it does not undo it as master. */
static void a_full_standby_that_takes_over_gives_nothing_back(void **state)
{
	struct world *w = *state;

	start_connected(w);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 3).end, SM_TENANCY_DONE);
	full = settle_of(w, SPARE)->store;
	assert_int_equal(ask_for(w, ACTIVE, false, 0x8, 3).with, 0);
	run_for(w, MONO_S);
	rig_kill(w->rig, ACTIVE);
	run_without(w, 120 * MONO_S, 3, 0x8008);
	full = NULL;
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	assert_int_equal(settle_state(sm_of(w, SPARE)), SETTLE_KEEPING);
}

/* The one of the two that is master. */
static unsigned ruler_of(struct world *w, unsigned one, unsigned other)
{
	return sm_state(sm_of(w, one)) == SM_MASTER ? one : other;
}

/*
 * A host loses its P_Key in the other half of a split subnet, whose master dies. The one that is
 * left there tells of it, and the disk of this master is full.
 */
static void a_full_master_gives_nothing_back_that_it_cannot_store(void **state)
{
	struct world *w = *state;
	mono_t until = sim_now(w->rig->sim) + 300 * MONO_S;
	unsigned third, ruler;

	start_connected(w);
	third = begin(w, 2);
	settled(w, 2);
	assert_int_equal(ask_for(w, ACTIVE, true, 0x8, 7).with, 2);
	split(w, true);
	run_until_two_masters(w);
	ruler = ruler_of(w, SPARE, third);
	while (!settle_may_write(sm_of(w, ruler)) || !sm_tenancy_standbys(sm_of(w, ruler)))
		assert_true(rig_step(w->rig, until));
	assert_int_equal(ask_for(w, ruler, false, 0x8, 7).with, 1);
	run_for(w, MONO_S);
	full = settle_of(w, ACTIVE)->store;
	rig_kill(w->rig, ruler);
	split(w, false);
	run_without(w, 60 * MONO_S, 7, 0x8008);
	assert_int_equal(settle_state(sm_of(w, ACTIVE)), SETTLE_TAKING);
	full = NULL;
	run_without(w, 30 * MONO_S, 7, 0x8008);
	assert_int_equal(settle_state(sm_of(w, ACTIVE)), SETTLE_WRITING);
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

/* ---- many faults of three managers ----------------------------------------------------------- */

#define N_KEYS 4

/* What is known of memberships by changes that were answered as done. */
struct storm {
	struct world *w;
	uint64_t random;
	int8_t member[N_KEYS][N_HOSTS]; /* -1: not known, as its change was not answered so */
	int number[3];			/* of the manager on h0, h11, h10 */
};

static unsigned pick(struct storm *s, unsigned n)
{
	return (unsigned)(random_next(&s->random) >> 32) % n;
}

static void check(struct storm *s)
{
	for (unsigned key = 0; key < N_KEYS; key++) {
		for (unsigned host = 1; host < N_HOSTS - 2; host++) {
			int8_t member = s->member[key][host];

			if (member < 0)
				continue;
			assert_int_equal(host_holds(s->w, host, 0x8010 + key), member);
			assert_int_equal(switch_holds(s->w, host, 0x8010 + key), member);
		}
	}
}

/* Changes of hosts `from` to `to`; what is answered counts if `with` standbys or more have it. */
static void change_some(struct storm *s, unsigned which, unsigned from, unsigned to, unsigned with)
{
	static struct answer a[4];
	unsigned n = 1 + pick(s, ARRAY_SIZE(a)), key[ARRAY_SIZE(a)], host[ARRAY_SIZE(a)];
	bool give[ARRAY_SIZE(a)];

	for (unsigned i = 0; i < n; i++) {
		key[i] = pick(s, N_KEYS);
		host[i] = from + pick(s, to - from + 1);
		give[i] = pick(s, 2);
		submit(s->w, which, give[i], 0x10 + key[i], host[i], &a[i]);
		if (s->member[key[i]][host[i]] != give[i])
			s->member[key[i]][host[i]] = -1;
	}
	run_for(s->w, pick(s, 2) ? 4 * MONO_S : pick(s, 3000) * MONO_MS / 10);
	for (unsigned i = 0; i < n; i++) {
		bool overtaken = false;

		for (unsigned k = i + 1; k < n; k++)
			overtaken |= key[k] == key[i] && host[k] == host[i];
		if (a[i].is_there && !overtaken && a[i].end == SM_TENANCY_DONE && a[i].with >= with)
			s->member[key[i]][host[i]] = give[i];
		sm_tenancy_abandon(sm_of(s->w, which), &a[i]);
	}
}

static const char *folder_of(struct storm *s, unsigned which, char ret[SCRATCH_PATH + 32])
{
	snprintf(ret, SCRATCH_PATH + 32, "%s%s", s->w->dir[MIN(which, 1u)],
		 which == 2 ? "/third" : "");
	return ret;
}

/* The ledger of a manager goes to, or comes from, another place. */
static void move_ledger(struct storm *s, unsigned which, const char *command)
{
	_cleanup_free_ char *text = NULL;
	char folder[SCRATCH_PATH + 32];

	folder_of(s, which, folder);
	text = xasprintf("cd %s && mkdir -p old && %s", folder, command);
	assert_int_equal(system(text), 0);
}

/* Both halves rule, and take changes of their own hosts. */
static void fault_split(struct storm *s)
{
	struct world *w = s->w;

	split(w, true);
	run_for(w, 5 * MONO_S + pick(s, 20) * MONO_S);
	for (unsigned i = 0; i < 3; i++) {
		struct sm *sm = sm_of(w, (unsigned)s->number[i]);

		if (sm->state == SM_MASTER && settle_may_write(sm) && sm->first_sweep_done)
			change_some(s, (unsigned)s->number[i], i ? 6 : 1, i ? 9 : 5, 0);
	}
	run_for(w, pick(s, 5) * MONO_S);
	split(w, false);
}

static void change_as_master(struct storm *s)
{
	struct sm *master = rig_master(s->w->rig);

	if (master && settle_may_write(master) && master->first_sweep_done)
		change_some(s, number_of(s->w, master), 1, 9, 1);
}

static void restart_one(struct storm *s, unsigned which, const char *meanwhile)
{
	rig_kill(s->w->rig, (unsigned)s->number[which]);
	if (meanwhile)
		move_ledger(s, which, meanwhile);
	run_for(s->w, pick(s, 8000) * MONO_MS);
	change_as_master(s);
	s->number[which] = (int)begin(s->w, which);
}

static void fault(struct storm *s)
{
	unsigned which = pick(s, 3), kind = pick(s, 7);
	unsigned number = (unsigned)s->number[which];
	struct world *w = s->w;
	int node = sim_find(w->rig->sim, ports[which]);

	change_as_master(s);
	if (kind == 0) {
		restart_one(s, which, NULL);
	} else if (kind == 1) {
		restart_one(s, which, "rm -f ledger.db*");
	} else if (kind == 2) {
		restart_one(s, which, "rm -f ledger.db*; cp -a old/. .");
		move_ledger(s, which, "rm -rf old");
	} else if (kind == 3) {
		rig_freeze(w->rig, number, true);
		run_for(w, pick(s, 12000) * MONO_MS);
		change_as_master(s);
		rig_freeze(w->rig, number, false);
	} else if (kind == 4) {
		sim_link_down(w->rig->sim, node, 1);
		run_for(w, pick(s, 12000) * MONO_MS);
		change_as_master(s);
		sim_link_up(w->rig->sim, node, 1);
	} else if (kind == 5) {
		full = settle_of(w, number)->store;
		change_as_master(s);
		run_for(w, pick(s, 12000) * MONO_MS);
		full = NULL;
		run_for(w, 6 * MONO_S);
	} else {
		fault_split(s);
	}
	settled(w, 2);
	run_for(w, 8 * MONO_S);
	if (getenv("LOUD"))
		fprintf(stderr, "fault %u of %u\n", kind, which);
	check(s);
}

/* A copy of a folder that is used, some faults later, in place of the one of then. */
static void save_one(struct storm *s)
{
	unsigned which = pick(s, 3);

	rig_kill(s->w->rig, (unsigned)s->number[which]);
	move_ledger(s, which, "cp -a ledger.db* old/");
	s->number[which] = (int)begin(s->w, which);
	settled(s->w, 2);
}

static void many_faults_of_three(void **state)
{
	struct storm s = { .w = *state, .random = 5, .number = { ACTIVE, SPARE, 2 } };
	unsigned n = getenv("N") ? (unsigned)atoi(getenv("N")) : 5;

	if (getenv("SEED"))
		s.random = (uint64_t)atoll(getenv("SEED"));
	print_message("SEED=%llu N=%u\n", (unsigned long long)s.random, n);
	start_connected(s.w);
	begin(s.w, 2);
	settled(s.w, 2);
	s.w->rig->job_time = 3 * MONO_MS;
	for (unsigned i = 0; i < n; i++) {
		if (i % 5 == 0)
			save_one(&s);
		fault(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_doubt_with_a_message_under_way_ends_soon),
		TEST(what_a_full_standby_did_not_take_is_not_counted),
		TEST(without_sweeps_a_lost_manager_holds_nothing_for_long),
		TEST(rows_of_the_first_version_count),
		TEST(tables_that_cannot_be_read_stay_while_keys_are_taken),
		TEST(what_a_silent_manager_may_have_given_is_not_taken),
		TEST(a_host_that_was_cut_gets_nothing_back_while_keys_are_taken),
		TEST(a_host_that_was_cut_gets_nothing_back_at_a_start),
		TEST(a_port_is_missed_while_a_sweep_waits_for_others),
		TEST(a_change_beside_a_newcomer_reaches_devices),
		TEST(a_standby_whose_file_cannot_be_opened_is_not_counted),
		TEST(a_full_standby_that_takes_over_gives_nothing_back),
		TEST(a_full_master_gives_nothing_back_that_it_cannot_store),
		TEST(what_waited_when_all_was_compared_anew_is_not_counted),
		TEST(a_change_that_was_overtaken_is_counted_when_it_is_there),
		TEST(the_smaller_pkey_has_index0_after_a_restart_too),
		TEST(a_number_near_the_end_is_not_taken),
		TEST(digests_with_a_number_near_the_end_are_not_taken),
		TEST(digests_of_other_versions_are_compared),
		TEST(many_faults_of_three),
	};

	if (getenv("ONLY"))
		cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
