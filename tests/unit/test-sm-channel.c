// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages between managers: whole, once, in order, whatever is lost, doubled or late, from either
 * side.
 */
#include "tests/unit/channel-desk.h"

static void messages_of_all_sizes_arrive(void **state)
{
	struct world *w = *state;

	connect_both(w);
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++)
		exchange(w, UINT64_MAX - i, sizes[i]);
}

static void the_longest_message_arrives_and_a_longer_one_is_refused(void **state)
{
	struct world *w = *state;
	_cleanup_free_ uint8_t *bytes = pattern(CHANNEL_MESSAGE_MAX + 1);

	connect_both(w);
	assert_int_equal(send_bytes(w, 1, bytes, CHANNEL_MESSAGE_MAX + 1),
			 -EMSGSIZE);
	exchange(w, 2, CHANNEL_MESSAGE_MAX);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
}

/* Requests and answers get lost, come twice, and overtake each other. */
static void what_is_lost_doubled_or_late_does_no_harm(void **state)
{
	struct world *w = *state;

	connect_both(w);
	/* With 20 a part in some thousand is lost in all its tries, which ends a session. */
	spare_tap(w)->channel.lost = 10;
	spare_tap(w)->channel.twice = 20;
	spare_tap(w)->channel.late = 20;
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++)
		exchange(w, i, sizes[i]);
	for (unsigned i = 0; i < 200; i++)
		exchange(w, 100 + i, i);
	assert_true(channel_stats(sm_of(w, ACTIVE))->parts_again > 0);
	assert_true(is_connected(w));
}

static void one_message_is_under_way_at_a_time(void **state)
{
	struct world *w = *state;
	_cleanup_free_ uint8_t *bytes = pattern(1 << 20);

	connect_both(w);
	assert_int_equal(send_bytes(w, 1, bytes, 1 << 20), 0);
	assert_int_equal(send_bytes(w, 2, bytes, 1), -EBUSY);
	assert_true(run_until_back(w, ACTIVE, 1, 60 * MONO_S));
	assert_int_equal(got[SPARE].sum, sum_of(bytes, 1 << 20));
}

/* The handler may wait for a disk. */
static void a_late_reply_comes_back(void **state)
{
	struct world *w = *state;

	connect_both(w);
	spare_tap(w)->channel.lost = 3;
	got[SPARE].later = true;
	assert_int_equal(send_bytes(w, 7, (const uint8_t *)"seven", 5), 0);
	run_for(w, 10 * MONO_S);
	assert_int_equal(back[ACTIVE].n, 0);
	channel_reply(sm_of(w, SPARE), &got[SPARE].ticket, "now", 3);
	channel_reply(sm_of(w, SPARE), &got[SPARE].ticket, "twice", 5);
	assert_true(run_until_back(w, ACTIVE, 1, 5 * MONO_S));
	assert_string_equal(back[ACTIVE].text, "now");
	assert_int_equal(got[SPARE].n, 1);
}

static void a_reply_that_never_comes_is_not_waited_for(void **state)
{
	struct world *w = *state;

	connect_both(w);
	spare_tap(w)->channel.lost = 3;
	got[SPARE].later = true;
	assert_int_equal(send_bytes(w, 7, (const uint8_t *)"seven", 5), 0);
	assert_true(run_until_back(w, ACTIVE, 1, 120 * MONO_S));
	assert_int_equal(back[ACTIVE].end, CHANNEL_LOST);
	assert_int_equal(got[SPARE].n, 1);
	channel_reply(sm_of(w, SPARE), &got[SPARE].ticket, "too late", 8);
	got[SPARE].later = false;
	exchange(w, 8, 3);
}

static void a_stream_without_handler_is_refused(void **state)
{
	struct world *w = *state;

	connect_both(w);
	channel_register(sm_of(w, SPARE), CHANNEL_LEDGER, NULL, NULL);
	assert_int_equal(send_bytes(w, 7, (const uint8_t *)"seven", 5), 0);
	assert_true(run_until_back(w, ACTIVE, 1, 5 * MONO_S));
	assert_int_equal(back[ACTIVE].end, CHANNEL_REFUSED);
	listen_both(w);
	exchange(w, 8, 3);
}

/* A standby that refuses all that is sent to it: the channel opens and closes, now and then. */
static void a_standby_that_refuses_causes_no_storm(void **state)
{
	struct world *w = *state;
	mono_t until;
	uint64_t before;

	connect_both(w);
	before = channel_stats(sm_of(w, ACTIVE))->parts_sent;
	until = sim_now(w->rig->sim) + 60 * MONO_S;
	do {
		row_of(w, SPARE)->in_session.id += 2; /* another one than it said */
		if (is_connected(w))
			send_bytes(w, 7, (const uint8_t *)"seven", 5);
	} while (rig_step(w->rig, until));
	assert_true(said("this standby is out of reach", "") > 0);
	assert_true(said("this standby is", "") < 20);
	assert_true(channel_stats(sm_of(w, ACTIVE))->parts_sent < before + 1000);
	run_for(w, 5 * MONO_S);
	exchange(w, 8, 3);
}

/* ---- one side goes ------------------------------------------------------------------------- */

static void a_standby_that_dies_is_lost_and_comes_back(void **state)
{
	struct world *w = *state;
	_cleanup_free_ uint8_t *bytes = pattern(1 << 20);

	connect_both(w);
	assert_int_equal(send_bytes(w, 1, bytes, 1 << 20), 0);
	while (channel_stats(sm_of(w, SPARE))->parts_received < 1000)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + MONO_S));
	rig_kill(w->rig, SPARE);
	assert_true(run_until_back(w, ACTIVE, 1, 20 * MONO_S));
	assert_int_equal(back[ACTIVE].end, CHANNEL_LOST);
	assert_false(is_connected(w));
	assert_int_equal(said("this standby is out of reach", ""), 1);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), 2);
	run_for(w, 30 * MONO_S);
	assert_true(is_connected(w));
	listen_as(w, 2, SPARE);
	hush_ledger(w, ACTIVE, 2);
	assert_int_equal(channel_send(sm_of(w, ACTIVE), guid_of(w, 2), CHANNEL_LEDGER, 2, bytes,
				      1 << 20, on_reply, (void *)(uintptr_t)ACTIVE),
			 0);
	assert_true(run_until_back(w, ACTIVE, 2, 60 * MONO_S));
	assert_int_equal(back[ACTIVE].end, CHANNEL_REPLIED);
	assert_int_equal(got[SPARE].sum, sum_of(bytes, 1 << 20));
}

/* Silence, and no more: what is sent afterwards arrives. */
static void a_channel_that_was_cut_is_opened_again(void **state)
{
	struct world *w = *state;

	connect_both(w);
	spare_tap(w)->channel.cut = true;
	assert_int_equal(send_bytes(w, 1, (const uint8_t *)"one", 3), 0);
	assert_true(run_until_back(w, ACTIVE, 1, 20 * MONO_S));
	assert_int_equal(back[ACTIVE].end, CHANNEL_LOST);
	assert_int_equal(send_bytes(w, 2, (const uint8_t *)"two", 3), -ENOTCONN);
	spare_tap(w)->channel.cut = false;
	run_for(w, 5 * MONO_S);
	exchange(w, 3, 1000);
}

static void half_a_message_of_a_dead_master_is_none(void **state)
{
	struct world *w = *state;
	_cleanup_free_ uint8_t *bytes = pattern(1 << 20);

	connect_both(w);
	assert_int_equal(send_bytes(w, 1, bytes, 1 << 20), 0);
	while (channel_stats(sm_of(w, SPARE))->parts_received < 1000)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + MONO_S));
	fail_over(w);
	assert_int_equal(got[SPARE].n, 0);
	assert_int_equal(back[ACTIVE].n, 0);
	/* the former master comes back, gets the fabric, and is at the other end now */
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), 2);
	run_for(w, 60 * MONO_S);
	assert_int_equal(sm_state(w->rig->sms[2].sm), SM_MASTER);
	hush_ledger(w, 2, SPARE);
	got[SPARE].n = 0;
	assert_int_equal(channel_send(sm_of(w, 2), guid_of(w, SPARE), CHANNEL_LEDGER, 2, bytes,
				      100, on_reply, (void *)(uintptr_t)ACTIVE),
			 0);
	assert_true(run_until_back(w, ACTIVE, 1, 5 * MONO_S));
	assert_int_equal(got[SPARE].n, 1);
	assert_int_equal(got[SPARE].len, 100);
}

/* ---- either side sends --------------------------------------------------------------------- */

static void one_that_proves_its_key_is_connected_before_it_registers(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 2; i++)
		w->conf[i]->sm_key = 0x5EC12E7;
	spare_tap(w)->unregistered = true;
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), ACTIVE);
	run_for(w, 3 * MONO_S);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), SPARE);
	run_until_connected(w, 3 * MONO_S);
	assert_false(channel_is_known(sm_of(w, ACTIVE), guid_of(w, SPARE)));
	run_for(w, 5 * MONO_S);
	assert_false(is_connected(w));
	spare_tap(w)->unregistered = false;
	run_for(w, 60 * MONO_S);
	assert_true(channel_is_known(sm_of(w, ACTIVE), guid_of(w, SPARE)));
	assert_true(is_connected(w));
	assert_int_equal(said("the channel to this manager is open", ""), 2);
	assert_int_equal(said("the channel to this manager is closed", ""), 0);
}

/* The other one may be of another kind, whose log would have an error of each HELLO. */
static void one_that_proves_nothing_is_asked_when_it_registers(void **state)
{
	struct world *w = *state;

	spare_tap(w)->unregistered = true;
	start_both(w);
	run_for(w, 60 * MONO_S);
	assert_int_equal(w->tap[ACTIVE].channel.n_sent, 0);
	spare_tap(w)->unregistered = false;
	run_for(w, 60 * MONO_S);
	assert_true(is_connected(w));
}

static void managers_that_share_no_configuration_are_connected(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 2; i++)
		w->conf[i]->replicate_configuration = false;
	start_both(w);
	run_for(w, 60 * MONO_S);
	assert_true(is_connected(w));
}

static void managers_that_start_at_once_are_both_connected(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(rig_start(w->rig, i ? "h11" : "h0", 1, w->conf[i], w->dir[i]), i);
	run_until_connected(w, 20 * MONO_S);
	run_for(w, 10 * MONO_S);
	assert_true(are_connected(w));
	listen_both(w);
	exchange_from(w, SPARE, 1, 1000);
	exchange_from(w, ACTIVE, 2, 1000);
}

static void a_standby_sends_too(void **state)
{
	struct world *w = *state;
	_cleanup_free_ uint8_t *bytes = pattern(1 << 20);

	connect_both(w);
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++)
		exchange_from(w, SPARE, i, sizes[i]);
	assert_int_equal(send_bytes(w, 1, bytes, 1 << 20), 0);
	exchange_from(w, SPARE, 99, 10); /* neither waits for the other */
	assert_int_equal(back[ACTIVE].n, 0);
	assert_true(run_until_back(w, ACTIVE, 1, 60 * MONO_S));
	assert_int_equal(got[SPARE].sum, sum_of(bytes, 1 << 20));
}

/* Sessions outlive a change of states. */
static void a_handover_ends_no_session(void **state)
{
	struct world *w = *state;
	uint32_t before[2];

	start_both(w);
	run_until_connected(w, 5 * MONO_S);
	for (unsigned i = 0; i < 2; i++)
		before[i] = row_of(w, i)->in_session.id;
	sm_set_priority(sm_of(w, SPARE), 9);
	run_for(w, 60 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	assert_int_equal(sm_state(sm_of(w, ACTIVE)), SM_STANDBY);
	listen_both(w);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(row_of(w, i)->in_session.id, before[i]);
		exchange_from(w, i, i, 1000);
	}
	assert_true(channel_is_standby(sm_of(w, SPARE), guid_of(w, ACTIVE)));
	assert_false(channel_is_standby(sm_of(w, ACTIVE), guid_of(w, SPARE)));
}

/* It is noticed by its HELLO, not by silence. */
static void a_manager_that_starts_anew_is_another_one(void **state)
{
	struct world *w = *state;
	struct channel_peer *p;
	uint64_t life;
	mono_t until;

	connect_both(w);
	p = row_of(w, ACTIVE);
	life = p->life;
	rig_kill(w->rig, SPARE);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), 2);
	until = sim_now(w->rig->sim) + 3 * MONO_S;
	while (p->life == life || !p->connected)
		assert_true(rig_step(w->rig, until));
	assert_int_equal(p->guid, w->rig->sms[2].tr->port_guid);
	assert_false(channel_is_known(sm_of(w, ACTIVE), p->guid));
}

static void managers_are_shown_with_their_silence(void **state)
{
	struct world *w = *state;
	struct channel_peer_view v;

	connect_both(w);
	assert_true(channel_peer_at(sm_of(w, SPARE), 0, &v));
	assert_int_equal(v.guid, guid_of(w, ACTIVE));
	assert_true(v.connected && v.known && v.since > 0);
	assert_false(channel_peer_at(sm_of(w, SPARE), 1, &v));
	assert_int_equal(channel_tries(sm_of(w, ACTIVE), guid_of(w, SPARE)), 0);
	spare_tap(w)->channel.cut = true;
	run_for(w, 20 * MONO_S);
	assert_true(channel_peer_at(sm_of(w, ACTIVE), 0, &v));
	assert_false(v.connected);
	assert_true(v.known && channel_has_answered(sm_of(w, ACTIVE), guid_of(w, SPARE)));
	assert_in_range(channel_tries(sm_of(w, ACTIVE), guid_of(w, SPARE)), 10, 20);
	assert_true(channel_is_connected(sm_of(w, SPARE), guid_of(w, ACTIVE)));
	spare_tap(w)->channel.cut = false;
	run_for(w, 3 * MONO_S);
	assert_int_equal(channel_tries(sm_of(w, ACTIVE), guid_of(w, SPARE)), 0);
	assert_true(are_connected(w));
	assert_false(channel_has_answered(sm_of(w, ACTIVE), 17));
	assert_int_equal(channel_tries(sm_of(w, ACTIVE), 17), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(messages_of_all_sizes_arrive),
		TEST(the_longest_message_arrives_and_a_longer_one_is_refused),
		TEST(what_is_lost_doubled_or_late_does_no_harm),
		TEST(one_message_is_under_way_at_a_time),
		TEST(a_late_reply_comes_back),
		TEST(a_reply_that_never_comes_is_not_waited_for),
		TEST(a_stream_without_handler_is_refused),
		TEST(a_standby_that_refuses_causes_no_storm),
		TEST(a_standby_that_dies_is_lost_and_comes_back),
		TEST(a_channel_that_was_cut_is_opened_again),
		TEST(half_a_message_of_a_dead_master_is_none),
		TEST(one_that_proves_its_key_is_connected_before_it_registers),
		TEST(one_that_proves_nothing_is_asked_when_it_registers),
		TEST(managers_that_share_no_configuration_are_connected),
		TEST(managers_that_start_at_once_are_both_connected),
		TEST(a_standby_sends_too),
		TEST(a_handover_ends_no_session),
		TEST(a_manager_that_starts_anew_is_another_one),
		TEST(managers_are_shown_with_their_silence),
	};

	return cmocka_run_group_tests_name("sm-channel", tests, NULL, NULL);
}
