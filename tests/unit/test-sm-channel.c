// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages between managers: whole, once, in order, whatever is lost, doubled or late; nothing from
 * a sender that did not prove itself, and nothing of the keys on the wire.
 */
#include <errno.h>

#include "sm/channel/channel_internal.h"
#include "tests/lib/channel-seal.h"
#include "unit/two-managers.h"

#define PART CHANNEL_REPLY_MAX

/* What the standby's handlers got, and what came back to the master. */
static struct {
	unsigned n;
	size_t len;
	uint64_t version, sum;
	guid_t from;
	struct channel_ticket ticket;
	bool later; /* the test replies, not the handler */
} got[CHANNEL_STREAMS];

static struct {
	unsigned n;
	enum channel_end end;
	char text[CHANNEL_REPLY_MAX + 1];
	size_t len;
} back[CHANNEL_STREAMS];

static uint64_t sum_of(const uint8_t *bytes, size_t len)
{
	uint64_t sum = len;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

static void on_message(struct sm *sm, void *arg, struct channel_message *m)
{
	unsigned stream = m->ticket.stream;
	char text[64];

	got[stream].n++;
	got[stream].len = m->len;
	got[stream].version = m->version;
	got[stream].sum = sum_of(m->bytes, m->len);
	got[stream].from = m->from;
	got[stream].ticket = m->ticket;
	if (got[stream].later)
		return;
	snprintf(text, sizeof(text), "stored up to %llu", (unsigned long long)m->version);
	channel_reply(sm, &m->ticket, text, strlen(text));
}

static void on_reply(struct sm *sm, void *arg, guid_t peer, enum channel_end end,
		     const uint8_t *bytes, size_t len)
{
	unsigned stream = (unsigned)(uintptr_t)arg;

	back[stream].n++;
	back[stream].end = end;
	back[stream].len = len;
	if (len)
		memcpy(back[stream].text, bytes, len);
	back[stream].text[len] = '\0';
}

static bool is_connected(struct world *w)
{
	struct channel_standby s;

	return sm_of(w, ACTIVE) && channel_standby_at(sm_of(w, ACTIVE), 0, &s);
}

static void listen_both(struct world *w)
{
	for (unsigned i = 0; i < CHANNEL_STREAMS; i++)
		channel_register(sm_of(w, SPARE), i, on_message, NULL);
	channel_register(sm_of(w, ACTIVE), CHANNEL_LEDGER, on_message, NULL);
}

static void connect_both(struct world *w)
{
	memset(got, 0, sizeof(got));
	memset(back, 0, sizeof(back));
	for (unsigned i = 0; i < 2; i++) /* messages of the tests alone */
		w->conf[i]->replicate_configuration = false;
	start_both(w);
	listen_both(w);
	run_for(w, 5 * MONO_S);
	assert_true(is_connected(w));
}

static guid_t guid_of(struct world *w, unsigned which)
{
	return sm_of(w, which)->tr->port_guid;
}

/* What this manager knows of the other one. */
static struct channel_peer *row_of(struct world *w, unsigned which)
{
	struct channel_peer *p =
		peer_find(sm_of(w, which)->m.channel, sm_of(w, !which)->tr->port_guid);

	assert_non_null(p);
	return p;
}

static int send_from(struct world *w, unsigned which, unsigned stream, uint64_t version,
		     const uint8_t *bytes, size_t len)
{
	return channel_send(sm_of(w, which), guid_of(w, !which), stream, version, bytes, len,
			    on_reply, (void *)(uintptr_t)stream);
}

static int send_bytes(struct world *w, unsigned stream, uint64_t version, const uint8_t *bytes,
		      size_t len)
{
	return send_from(w, ACTIVE, stream, version, bytes, len);
}

static bool run_until_back(struct world *w, unsigned stream, unsigned n, mono_t limit)
{
	mono_t until = sim_now(w->rig->sim) + limit;

	while (back[stream].n < n) {
		if (!rig_step(w->rig, until))
			return false;
	}
	return true;
}

static uint8_t *pattern(size_t len)
{
	uint8_t *bytes = xmalloc(len + 1);
	uint64_t dice = len;

	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)random_next(&dice);
	return bytes;
}

/* It arrives once, as it was, and the reply comes back. */
static void exchange_from(struct world *w, unsigned which, unsigned stream, uint64_t version,
			  size_t len)
{
	_cleanup_free_ uint8_t *bytes = pattern(len);
	unsigned before = got[stream].n, answered = back[stream].n;
	char reply[64];

	assert_int_equal(send_from(w, which, stream, version, bytes, len), 0);
	assert_true(run_until_back(w, stream, answered + 1, 600 * MONO_S));
	assert_int_equal(got[stream].n, before + 1);
	assert_int_equal(got[stream].len, len);
	assert_int_equal(got[stream].sum, sum_of(bytes, len));
	assert_int_equal(got[stream].version, version);
	assert_int_equal(got[stream].from, guid_of(w, which));
	assert_int_equal(back[stream].end, CHANNEL_REPLIED);
	snprintf(reply, sizeof(reply), "stored up to %llu", (unsigned long long)version);
	assert_string_equal(back[stream].text, reply);
}

static void exchange(struct world *w, unsigned stream, uint64_t version, size_t len)
{
	exchange_from(w, ACTIVE, stream, version, len);
}

static const size_t sizes[] = { 0,	      1,	    PART - 1,	     PART,
				PART + 1,     7 * PART - 1, 7 * PART,	     7 * PART + 1,
				64 * PART,    65 * PART,    64 << 10,	     PART - 8,
				PART - 7,     PART - 9 };

static void messages_of_all_sizes_arrive(void **state)
{
	struct world *w = *state;

	connect_both(w);
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++)
		exchange(w, i % CHANNEL_STREAMS, UINT64_MAX - i, sizes[i]);
}

static void the_longest_message_arrives_and_a_longer_one_is_refused(void **state)
{
	struct world *w = *state;
	_cleanup_free_ uint8_t *bytes = pattern(CHANNEL_MESSAGE_MAX + 1);

	connect_both(w);
	assert_int_equal(send_bytes(w, CHANNEL_CONFIG, 1, bytes, CHANNEL_MESSAGE_MAX + 1),
			 -EMSGSIZE);
	exchange(w, CHANNEL_CONFIG, 2, CHANNEL_MESSAGE_MAX);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_STANDBY);
}

/* Requests and answers get lost, come twice, and overtake each other. */
static void what_is_lost_doubled_or_late_does_no_harm(void **state)
{
	struct world *w = *state;

	connect_both(w);
	spare_tap(w)->channel.lost = 20;
	spare_tap(w)->channel.twice = 20;
	spare_tap(w)->channel.late = 20;
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++)
		exchange(w, CHANNEL_TENANTS, i, sizes[i]);
	for (unsigned i = 0; i < 200; i++)
		exchange(w, CHANNEL_TENANTS, 100 + i, i);
	assert_true(channel_stats(sm_of(w, ACTIVE))->parts_again > 0);
	assert_true(is_connected(w));
}

/* One message per stream; streams do not wait for each other. */
static void streams_are_independent(void **state)
{
	struct world *w = *state;
	_cleanup_free_ uint8_t *bytes = pattern(1 << 20);

	connect_both(w);
	assert_int_equal(send_bytes(w, CHANNEL_CONFIG, 1, bytes, 1 << 20), 0);
	assert_int_equal(send_bytes(w, CHANNEL_CONFIG, 2, bytes, 1), -EBUSY);
	exchange(w, CHANNEL_TENANTS, 3, 100);
	assert_int_equal(back[CHANNEL_CONFIG].n, 0);
	assert_true(run_until_back(w, CHANNEL_CONFIG, 1, 60 * MONO_S));
	assert_int_equal(got[CHANNEL_CONFIG].sum, sum_of(bytes, 1 << 20));
}

/* The handler may wait for a disk. */
static void a_late_reply_comes_back(void **state)
{
	struct world *w = *state;

	connect_both(w);
	spare_tap(w)->channel.lost = 3;
	for (unsigned i = 0; i < CHANNEL_STREAMS; i++) {
		got[i].later = true;
		assert_int_equal(send_bytes(w, i, 7, (const uint8_t *)"seven", 5), 0);
	}
	run_for(w, 10 * MONO_S);
	assert_int_equal(back[CHANNEL_TENANTS].n, 0);
	channel_reply(sm_of(w, SPARE), &got[CHANNEL_TENANTS].ticket, "now", 3);
	channel_reply(sm_of(w, SPARE), &got[CHANNEL_TENANTS].ticket, "twice", 5);
	assert_true(run_until_back(w, CHANNEL_TENANTS, 1, 5 * MONO_S));
	assert_string_equal(back[CHANNEL_TENANTS].text, "now");
	assert_int_equal(got[CHANNEL_TENANTS].n, 1);
	assert_true(run_until_back(w, CHANNEL_CONFIG, 1, 120 * MONO_S)); /* it never replies */
	assert_int_equal(back[CHANNEL_CONFIG].end, CHANNEL_LOST);
	assert_int_equal(got[CHANNEL_CONFIG].n, 1);
	channel_reply(sm_of(w, SPARE), &got[CHANNEL_CONFIG].ticket, "too late", 8);
	got[CHANNEL_CONFIG].later = false;
	exchange(w, CHANNEL_CONFIG, 8, 3);
}

static void a_stream_without_handler_is_refused(void **state)
{
	struct world *w = *state;

	connect_both(w);
	channel_register(sm_of(w, SPARE), CHANNEL_TENANTS, NULL, NULL);
	assert_int_equal(send_bytes(w, CHANNEL_TENANTS, 7, (const uint8_t *)"seven", 5), 0);
	assert_true(run_until_back(w, CHANNEL_TENANTS, 1, 5 * MONO_S));
	assert_int_equal(back[CHANNEL_TENANTS].end, CHANNEL_REFUSED);
	exchange(w, CHANNEL_CONFIG, 8, 3);
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
			send_bytes(w, CHANNEL_TENANTS, 7, (const uint8_t *)"seven", 5);
	} while (rig_step(w->rig, until));
	assert_true(said("the channel to this manager is closed", "") > 0);
	assert_true(said("the channel to this manager is", "") < 20);
	assert_true(channel_stats(sm_of(w, ACTIVE))->parts_sent < before + 1000);
	run_for(w, 5 * MONO_S);
	exchange(w, CHANNEL_CONFIG, 8, 3);
}

/* ---- one side goes ------------------------------------------------------------------------- */

static void a_standby_that_dies_is_lost_and_comes_back(void **state)
{
	struct world *w = *state;
	_cleanup_free_ uint8_t *bytes = pattern(1 << 20);

	connect_both(w);
	assert_int_equal(send_bytes(w, CHANNEL_CONFIG, 1, bytes, 1 << 20), 0);
	while (channel_stats(sm_of(w, SPARE))->parts_received < 1000)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + MONO_S));
	rig_kill(w->rig, SPARE);
	assert_true(run_until_back(w, CHANNEL_CONFIG, 1, 20 * MONO_S));
	assert_int_equal(back[CHANNEL_CONFIG].end, CHANNEL_LOST);
	assert_false(is_connected(w));
	assert_int_equal(said("the channel to this manager is closed", ""), 1);
	assert_int_equal(rig_start(w->rig, "h11", 1, w->conf[SPARE], w->dir[SPARE]), 2);
	run_for(w, 30 * MONO_S);
	assert_true(is_connected(w));
	channel_register(w->rig->sms[2].sm, CHANNEL_CONFIG, on_message, NULL);
	assert_int_equal(channel_send(sm_of(w, ACTIVE), w->rig->sms[2].sm->tr->port_guid,
				      CHANNEL_CONFIG, 2, bytes, 1 << 20, on_reply,
				      (void *)(uintptr_t)CHANNEL_CONFIG),
			 0);
	assert_true(run_until_back(w, CHANNEL_CONFIG, 2, 60 * MONO_S));
	assert_int_equal(back[CHANNEL_CONFIG].end, CHANNEL_REPLIED);
	assert_int_equal(got[CHANNEL_CONFIG].sum, sum_of(bytes, 1 << 20));
}

/* Silence, and no more: what is sent afterwards arrives. */
static void a_channel_that_was_cut_is_opened_again(void **state)
{
	struct world *w = *state;

	connect_both(w);
	spare_tap(w)->channel.cut = true;
	assert_int_equal(send_bytes(w, CHANNEL_TENANTS, 1, (const uint8_t *)"one", 3), 0);
	assert_true(run_until_back(w, CHANNEL_TENANTS, 1, 20 * MONO_S));
	assert_int_equal(back[CHANNEL_TENANTS].end, CHANNEL_LOST);
	assert_int_equal(send_bytes(w, CHANNEL_TENANTS, 2, (const uint8_t *)"two", 3), -ENOTCONN);
	spare_tap(w)->channel.cut = false;
	run_for(w, 5 * MONO_S);
	exchange(w, CHANNEL_TENANTS, 3, 1000);
}

static void half_a_message_of_a_dead_master_is_none(void **state)
{
	struct world *w = *state;
	_cleanup_free_ uint8_t *bytes = pattern(1 << 20);

	connect_both(w);
	assert_int_equal(send_bytes(w, CHANNEL_CONFIG, 1, bytes, 1 << 20), 0);
	while (channel_stats(sm_of(w, SPARE))->parts_received < 1000)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + MONO_S));
	fail_over(w);
	assert_int_equal(got[CHANNEL_CONFIG].n, 0);
	assert_int_equal(back[CHANNEL_CONFIG].n, 0);
	/* the former master comes back, gets the fabric, and is at the other end now */
	assert_int_equal(rig_start(w->rig, "h0", 1, w->conf[ACTIVE], w->dir[ACTIVE]), 2);
	run_for(w, 60 * MONO_S);
	assert_int_equal(sm_state(w->rig->sms[2].sm), SM_MASTER);
	assert_int_equal(channel_send(w->rig->sms[2].sm, guid_of(w, SPARE), CHANNEL_CONFIG, 2, bytes,
				      100, on_reply, (void *)(uintptr_t)CHANNEL_CONFIG),
			 0);
	assert_true(run_until_back(w, CHANNEL_CONFIG, 1, 5 * MONO_S));
	assert_int_equal(got[CHANNEL_CONFIG].n, 1);
	assert_int_equal(got[CHANNEL_CONFIG].len, 100);
}

/* ---- either side sends --------------------------------------------------------------------- */

static bool are_connected(struct world *w)
{
	return channel_is_connected(sm_of(w, ACTIVE), guid_of(w, SPARE)) &&
	       channel_is_connected(sm_of(w, SPARE), guid_of(w, ACTIVE));
}

static void run_until_connected(struct world *w, mono_t limit)
{
	mono_t until = sim_now(w->rig->sim) + limit;

	while (!are_connected(w))
		assert_true(rig_step(w->rig, until));
}

static void give_real_keys(struct world *w)
{
	for (unsigned i = 0; i < 2; i++) {
		w->conf[i]->sm_key = 0x5a17c0ffee15dead;
		w->conf[i]->sa_key = 0x0b5e55edfacade42;
	}
}

static void a_standby_is_connected_before_it_registers(void **state)
{
	struct world *w = *state;

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

static void managers_that_start_at_once_are_both_connected(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(rig_start(w->rig, i ? "h11" : "h0", 1, w->conf[i], w->dir[i]), i);
	run_until_connected(w, 20 * MONO_S);
	run_for(w, 10 * MONO_S);
	assert_true(are_connected(w));
	listen_both(w);
	exchange_from(w, SPARE, CHANNEL_LEDGER, 1, 1000);
	exchange_from(w, ACTIVE, CHANNEL_LEDGER, 2, 1000);
}

static void a_standby_sends_too(void **state)
{
	struct world *w = *state;
	_cleanup_free_ uint8_t *bytes = pattern(1 << 20);

	connect_both(w);
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++)
		exchange_from(w, SPARE, CHANNEL_LEDGER, i, sizes[i]);
	assert_int_equal(send_bytes(w, CHANNEL_CONFIG, 1, bytes, 1 << 20), 0);
	exchange_from(w, SPARE, CHANNEL_LEDGER, 99, 10);
	assert_int_equal(back[CHANNEL_CONFIG].n, 0);
	assert_true(run_until_back(w, CHANNEL_CONFIG, 1, 60 * MONO_S));
	assert_int_equal(got[CHANNEL_CONFIG].sum, sum_of(bytes, 1 << 20));
}

/* What a master sends to standbys, nobody else sends; and nobody who follows no one takes. */
static void other_streams_are_the_masters_alone(void **state)
{
	struct world *w = *state;
	struct channel_peer *p;

	connect_both(w);
	channel_register(sm_of(w, ACTIVE), CHANNEL_TENANTS, on_message, NULL);
	assert_int_equal(send_from(w, SPARE, CHANNEL_TENANTS, 1, (const uint8_t *)"one", 3),
			 -ENOTCONN);
	p = row_of(w, SPARE);
	assert_int_equal(out_start(sm_of(w, SPARE), p, CHANNEL_TENANTS, 1, "one", 3), 0);
	run_for(w, 3 * MONO_S);
	assert_int_equal(got[CHANNEL_TENANTS].n, 0);
	run_for(w, 5 * MONO_S);
	exchange_from(w, SPARE, CHANNEL_LEDGER, 2, 10);
}

/* Sessions outlive a change of states. */
static void a_handover_ends_no_session(void **state)
{
	struct world *w = *state;
	uint32_t before[2];

	connect_both(w);
	for (unsigned i = 0; i < 2; i++)
		before[i] = row_of(w, i)->in_session.id;
	sm_set_priority(sm_of(w, SPARE), 9);
	run_for(w, 60 * MONO_S);
	assert_int_equal(sm_state(sm_of(w, SPARE)), SM_MASTER);
	assert_int_equal(sm_state(sm_of(w, ACTIVE)), SM_STANDBY);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(row_of(w, i)->in_session.id, before[i]);
		exchange_from(w, i, CHANNEL_LEDGER, i, 1000);
	}
	assert_int_equal(send_from(w, ACTIVE, CHANNEL_TENANTS, 1, (const uint8_t *)"one", 3),
			 -ENOTCONN);
	assert_true(channel_is_standby(sm_of(w, SPARE), guid_of(w, ACTIVE)));
	assert_false(channel_is_standby(sm_of(w, ACTIVE), guid_of(w, SPARE)));
	channel_register(sm_of(w, ACTIVE), CHANNEL_TENANTS, on_message, NULL);
	exchange_from(w, SPARE, CHANNEL_TENANTS, 3, 10);
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

/* ---- keys ---------------------------------------------------------------------------------- */

static void connect_in_secret(struct world *w)
{
	give_real_keys(w);
	connect_both(w);
	run_until_connected(w, 5 * MONO_S);
	assert_true(channel_is_secret(sm_of(w, ACTIVE)) && channel_is_secret(sm_of(w, SPARE)));
}

static unsigned found_on_wire(struct world *w, uint64_t sought)
{
	unsigned before = w->tap[ACTIVE].channel.found + w->tap[SPARE].channel.found;
	uint8_t message[24] = { 0 };

	for (unsigned i = 0; i < 2; i++)
		w->tap[i].channel.sought = sought;
	ib_bits_put(message, 64, 64, 0x7e57ab1ebead5eed);
	for (unsigned i = 0; i < 2; i++) {
		unsigned n = back[CHANNEL_LEDGER].n;

		row_of(w, i)->fail = true; /* so that they meet again */
		run_for(w, 5 * MONO_S);
		assert_int_equal(send_from(w, i, CHANNEL_LEDGER, 1, message, sizeof(message)), 0);
		assert_true(run_until_back(w, CHANNEL_LEDGER, n + 1, 5 * MONO_S));
	}
	return w->tap[ACTIVE].channel.found + w->tap[SPARE].channel.found - before;
}

static void neither_keys_nor_messages_are_on_the_wire(void **state)
{
	struct world *w = *state;

	connect_in_secret(w);
	assert_true(found_on_wire(w, guid_of(w, ACTIVE)) > 0); /* what is there is found */
	assert_int_equal(found_on_wire(w, w->conf[ACTIVE]->sm_key), 0);
	assert_int_equal(found_on_wire(w, w->conf[ACTIVE]->sa_key), 0);
	assert_int_equal(found_on_wire(w, 0x7e57ab1ebead5eed), 0);
	run_for(w, 10 * MONO_S);
	assert_int_equal(memcmp(back[CHANNEL_LEDGER].text, "stored up to 1", 14), 0);
	assert_int_equal(found_on_wire(w, 0x73746f7265642075 /* "stored u", a reply */), 0);
}

static void well_known_keys_are_no_secret(void **state)
{
	struct world *w = *state;
	struct sm *sm;

	connect_both(w);
	sm = sm_of(w, ACTIVE);
	assert_false(channel_is_secret(sm));
	sm->conf->sm_key = 7;
	assert_false(channel_is_secret(sm));
	sm->conf->sa_key = 7;
	assert_true(channel_is_secret(sm));
	sm->conf->sm_key = 0;
	assert_false(channel_is_secret(sm));
	sm->conf->sm_key = 7;
	sm->conf->randomize_sa_key = true;
	assert_false(channel_is_secret(sm));
}

static void another_sa_key_proves_nothing(void **state)
{
	struct world *w = *state;

	give_real_keys(w);
	w->conf[SPARE]->sa_key++;
	start_both(w);
	run_for(w, 30 * MONO_S);
	assert_false(channel_is_connected(sm_of(w, ACTIVE), guid_of(w, SPARE)));
	assert_false(channel_is_connected(sm_of(w, SPARE), guid_of(w, ACTIVE)));
	assert_int_equal(row_of(w, ACTIVE)->in_session.id, 0);
	assert_false(channel_has_answered(sm_of(w, ACTIVE), guid_of(w, SPARE)));
	assert_true(channel_tries(sm_of(w, ACTIVE), guid_of(w, SPARE)) > 10);
	assert_int_equal(said("does not prove that its sm_key and sa_key are ours", ""), 2);
	assert_int_equal(send_bytes(w, CHANNEL_LEDGER, 1, (const uint8_t *)"one", 3), -ENOTCONN);
}

static void other_keys_make_other_sessions(void **state)
{
	struct world *w = *state;
	uint32_t before;

	connect_in_secret(w);
	before = row_of(w, SPARE)->in_session.id;
	for (unsigned i = 0; i < 2; i++)
		sm_of(w, i)->conf->sa_key += 100;
	run_for(w, 10 * MONO_S);
	assert_true(are_connected(w));
	assert_int_not_equal(row_of(w, SPARE)->in_session.id, before);
	assert_true(said("closed: this manager has other keys now", "") > 0);
	exchange_from(w, SPARE, CHANNEL_LEDGER, 1, 1000);
	sm_of(w, SPARE)->conf->randomize_sa_key = true;
	run_for(w, 10 * MONO_S);
	assert_false(channel_is_connected(sm_of(w, SPARE), guid_of(w, ACTIVE)));
	assert_false(channel_is_connected(sm_of(w, ACTIVE), guid_of(w, SPARE)));
}

/* ---- others -------------------------------------------------------------------------------- */

static void an_older_version_is_sent_nothing(void **state)
{
	struct world *w = *state;
	struct channel_standby s;

	spare_tap(w)->channel.old = true;
	start_both(w);
	run_for(w, 60 * MONO_S);
	assert_int_equal(managers(w), 2);
	assert_false(channel_standby_at(sm_of(w, ACTIVE), 0, &s));
	assert_int_equal(said("speaks version 1 of the channel", "run the same version"), 1);
	assert_in_range(w->tap[ACTIVE].channel.n_sent, 1, 60);
	assert_int_equal(send_bytes(w, CHANNEL_TENANTS, 2, (const uint8_t *)"two", 3), -ENOTCONN);
}

static lid_t lid_of(struct world *w, unsigned which)
{
	const struct port *p = fabric_find_port(sm_of(w, SPARE)->fabric, guid_of(w, which));

	assert_non_null(p);
	return ib_get(p->info, PI_LID);
}

static struct transport_event request_to_spare(struct world *w)
{
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = MAD_SIZE };

	ev.from.lid = lid_of(w, ACTIVE);
	ev.from.qp = 1;
	ib_put(ev.mad, SAH_BASE_VERSION, 1);
	ib_put(ev.mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(ev.mad, SAH_METHOD, MAD_SET);
	ib_put(ev.mad, SAH_ATTR_ID, SA_CHANNEL);
	ib_put(ev.mad, SAH_TID, 0x1234567890ull);
	ib_put(ev.mad + SA_DATA, CHP_VERSION, CHANNEL_VERSION);
	return ev;
}

static void seal_again(struct world *w, struct transport_event *ev)
{
	seal_part(row_of(w, ACTIVE)->session.forth, ev->mad);
}

/* The first part of a new message of 10 bytes, as the master would send it, without a seal. */
static struct transport_event next_part(struct world *w)
{
	struct transport_event ev = request_to_spare(w);
	uint8_t *part = ev.mad + SA_DATA;

	ib_put(part, CHP_KIND, PART_SEGMENT);
	ib_put(part, CHP_STREAM, CHANNEL_TENANTS);
	ib_put(part, CHP_SESSION, row_of(w, ACTIVE)->session.id);
	ib_put(part, CHP_SERIAL, ++row_of(w, ACTIVE)->serial);
	ib_put(part, CHP_LENGTH, VERSION_BYTES + 10);
	return ev;
}

static enum { IGNORED, REFUSED, TAKEN } fate_of(struct world *w, struct transport_event *ev)
{
	struct tap *tap = spare_tap(w);
	unsigned before = tap->channel.n_sent;

	assert_true(channel_receive(sm_of(w, SPARE), ev));
	if (tap->channel.n_sent == before)
		return IGNORED;
	return ib_get(tap->channel.sent + SA_DATA, CHP_KIND) == PART_REFUSED ? REFUSED : TAKEN;
}

static unsigned reason_given(struct world *w)
{
	return ib_get(spare_tap(w)->channel.sent + SA_DATA, CHP_REASON);
}

static void parts_without_a_seal_are_ignored(void **state)
{
	struct world *w = *state;
	struct transport_event ev;
	unsigned n;
	uint64_t strangers;

	connect_both(w);
	exchange(w, CHANNEL_TENANTS, 1, 10);
	strangers = channel_stats(sm_of(w, SPARE))->strangers;
	n = got[CHANNEL_TENANTS].n;
	ev = next_part(w);
	assert_int_equal(fate_of(w, &ev), IGNORED);
	assert_int_equal(channel_stats(sm_of(w, SPARE))->damaged, 1);
	seal_again(w, &ev);
	ev.from.qp = 2;
	assert_int_equal(fate_of(w, &ev), IGNORED);
	ev.from.qp = 1;
	ib_put(ev.mad, SAH_METHOD, MAD_GET);
	assert_int_equal(fate_of(w, &ev), IGNORED);
	ib_put(ev.mad, SAH_METHOD, MAD_SET);
	assert_true(channel_receive(sm_of(w, ACTIVE), &ev)); /* it has no such session */
	assert_int_equal(channel_stats(sm_of(w, SPARE))->strangers, strangers + 2);
	assert_int_equal(got[CHANNEL_TENANTS].n, n);
	assert_int_equal(fate_of(w, &ev), TAKEN);
	assert_int_equal(got[CHANNEL_TENANTS].n, n + 1);
}

/* Of the master itself: refused, with a reason. */
static void parts_that_make_no_sense_are_refused(void **state)
{
	struct world *w = *state;
	const struct {
		unsigned field, width;
		uint64_t value;
	} bad[] = {
		{ CHP_STREAM, 8, CHANNEL_STREAMS }, { CHP_LENGTH, 32, 0 },
		{ CHP_LENGTH, 32, VERSION_BYTES - 1 },
		{ CHP_LENGTH, 32, CHANNEL_MESSAGE_MAX + VERSION_BYTES + 1 },
		{ CHP_LENGTH, 32, UINT32_MAX },	    { CHP_SERIAL, 32, 0 },
		{ CHP_SERIAL, 32, 1 },
	};

	connect_both(w);
	exchange(w, CHANNEL_TENANTS, 0, 10);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		struct transport_event ev;

		exchange(w, CHANNEL_TENANTS, i, 10);
		ev = next_part(w);
		ib_bits_put(ev.mad + SA_DATA, bad[i].field, bad[i].width, bad[i].value);
		seal_again(w, &ev);
		assert_int_equal(fate_of(w, &ev), REFUSED);
		assert_int_not_equal(reason_given(w), 0);
		assert_int_equal(got[CHANNEL_TENANTS].n, i + 2);
	}
	exchange(w, CHANNEL_TENANTS, 99, 10);
}

/* What cannot be opened, as it is no part, is of a stranger. */
static void what_is_no_part_is_ignored(void **state)
{
	struct world *w = *state;
	const struct {
		unsigned field, width;
		uint64_t value;
		int fate;
	} bad[] = {
		{ CHP_KIND, 8, 0, IGNORED },	    { CHP_KIND, 8, PART_RECEIVED, IGNORED },
		{ CHP_KIND, 8, PART_LATER + 1, IGNORED },
		{ CHP_OFFSET, 32, 1, IGNORED },	    { CHP_OFFSET, 32, PART, IGNORED },
		{ CHP_OFFSET, 32, UINT32_MAX, IGNORED },
		{ CHP_VERSION, 8, 1, REFUSED },	    { CHP_VERSION, 8, 3, REFUSED },
		{ CHP_SESSION, 32, 17, REFUSED },   { CHP_SESSION, 32, 0, REFUSED },
	};

	connect_both(w);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		struct transport_event ev = next_part(w);

		ib_bits_put(ev.mad + SA_DATA, bad[i].field, bad[i].width, bad[i].value);
		seal_again(w, &ev);
		assert_int_equal(fate_of(w, &ev), bad[i].fate);
		exchange(w, CHANNEL_TENANTS, i, 10);
	}
	assert_int_equal(said("speaks version 1 of the channel", ""), 1);
	assert_int_equal(said("speaks version 3 of the channel", ""), 0); /* not so soon */
}

/* A length is a word; memory comes with what has arrived. */
static void a_large_promise_costs_nothing(void **state)
{
	struct world *w = *state;
	struct transport_event ev, first;

	connect_both(w);
	exchange(w, CHANNEL_TENANTS, 1, 10);
	first = next_part(w);
	ib_put(first.mad + SA_DATA, CHP_LENGTH, CHANNEL_MESSAGE_MAX);
	ev = first;
	seal_again(w, &ev);
	assert_int_equal(fate_of(w, &ev), TAKEN);
	assert_in_range(sm_of(w, SPARE)->m.channel->in_bytes, PART, 64 * PART);
	ev = first;
	ib_put(ev.mad + SA_DATA, CHP_OFFSET, 64 * PART);
	seal_again(w, &ev);
	assert_int_equal(fate_of(w, &ev), TAKEN);
	ev = first;
	ib_put(ev.mad + SA_DATA, CHP_OFFSET, 65 * PART); /* base is 1 by now */
	seal_again(w, &ev);
	assert_int_equal(fate_of(w, &ev), IGNORED);
	ev = first;
	ib_put(ev.mad + SA_DATA, CHP_LENGTH, PART); /* the message has another length */
	seal_again(w, &ev);
	assert_int_equal(fate_of(w, &ev), REFUSED);
	assert_int_equal(got[CHANNEL_TENANTS].n, 1);
	run_for(w, 61 * MONO_S);
	assert_int_equal(sm_of(w, SPARE)->m.channel->in_bytes, 0);
	exchange(w, CHANNEL_TENANTS, 2, 10);
}

/* All of a meeting and of what was said then, once more: to the same session, and to a later one. */
static void what_was_recorded_is_of_no_use(void **state)
{
	struct world *w = *state;
	struct tap *tap = spare_tap(w);
	struct transport_event heard[HEARD];
	unsigned n, n_got;
	uint32_t session;

	connect_in_secret(w);
	row_of(w, ACTIVE)->fail = true;
	tap->channel.n_heard = 0;
	run_for(w, 3 * MONO_S);
	for (unsigned i = 0; i < 4; i++)
		exchange(w, CHANNEL_LEDGER, i, 500);
	n = tap->channel.n_heard;
	assert_in_range(n, 10, HEARD); /* HELLO, CONFIRM, segments */
	memcpy(heard, tap->channel.heard, sizeof(heard));
	n_got = got[CHANNEL_LEDGER].n;
	for (unsigned again = 0; again < 2; again++) {
		session = row_of(w, SPARE)->in_session.id;
		for (unsigned i = 0; i < n; i++)
			assert_true(channel_receive(sm_of(w, SPARE), &heard[i]));
		assert_int_equal(row_of(w, SPARE)->in_session.id, session);
		assert_int_equal(got[CHANNEL_LEDGER].n, n_got);
		exchange(w, CHANNEL_LEDGER, 9, 500);
		n_got++;
		row_of(w, ACTIVE)->fail = true;
		run_for(w, 5 * MONO_S);
	}
}

static uint64_t roll(uint64_t *dice)
{
	return random_next(dice);
}

/* HELLOs and proofs of a thousand strangers, and of one who says to be the master. */
static void strangers_leave_no_trace(void **state)
{
	struct world *w = *state;
	struct channel *c;
	uint64_t dice = 5;
	uint32_t session;
	unsigned rows;

	connect_in_secret(w);
	c = sm_of(w, SPARE)->m.channel;
	session = row_of(w, SPARE)->in_session.id;
	rows = c->n_rows;
	for (unsigned i = 0; i < 4000; i++) {
		struct transport_event ev = request_to_spare(w);
		uint8_t *part = ev.mad + SA_DATA, *bytes = part + CHP_BYTES;

		for (unsigned k = SA_DATA + CHP_BYTES; k < SA_DATA + CHP_BYTES + PART; k++)
			ev.mad[k] = (uint8_t)roll(&dice);
		ib_put(part, CHP_KIND, i % 2 ? PART_HELLO : PART_CONFIRM);
		ib_put(part, CHP_SESSION, i % 8 < 4 ? session : (uint32_t)roll(&dice));
		if (i % 4 < 2)
			ib_put(bytes, CHM_GUID, guid_of(w, ACTIVE));
		ev.from.lid = 1 + i;
		assert_int_equal(fate_of(w, &ev), i % 2 ? TAKEN : IGNORED);
	}
	assert_int_equal(c->n_rows, rows);
	assert_int_equal(row_of(w, SPARE)->in_session.id, session);
	assert_true(said("is not proven to be one of ours", "") <= 6);
	exchange(w, CHANNEL_LEDGER, 1, 1000);
	exchange_from(w, SPARE, CHANNEL_LEDGER, 2, 1000);
}

/* With keys that everybody knows, a manager that nobody sees is none. */
static void a_stranger_with_well_known_keys_gets_no_answer(void **state)
{
	struct world *w = *state;
	struct transport_event ev;

	connect_both(w);
	ev = request_to_spare(w);
	ib_put(ev.mad + SA_DATA, CHP_KIND, PART_HELLO);
	ib_put(ev.mad + SA_DATA + CHP_BYTES, CHM_GUID, 0x17);
	ib_put(ev.mad + SA_DATA + CHP_BYTES, CHM_LIFE, 1);
	assert_int_equal(fate_of(w, &ev), IGNORED);
	ib_put(ev.mad + SA_DATA + CHP_BYTES, CHM_GUID, guid_of(w, SPARE)); /* itself */
	assert_int_equal(fate_of(w, &ev), IGNORED);
	ib_put(ev.mad + SA_DATA + CHP_BYTES, CHM_GUID, guid_of(w, ACTIVE));
	assert_int_equal(fate_of(w, &ev), TAKEN);
}

static void what_was_changed_on_the_way_is_sent_again(void **state)
{
	struct world *w = *state;

	connect_in_secret(w);
	for (unsigned i = 0; i < 2; i++)
		w->tap[i].channel.flipped = 10;
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++)
		exchange(w, CHANNEL_LEDGER, i, sizes[i]);
	for (unsigned i = 0; i < 200; i++)
		exchange_from(w, SPARE, CHANNEL_LEDGER, 100 + i, i);
	for (unsigned i = 0; i < 2; i++)
		w->tap[i].channel.flipped = 0;
	assert_true(channel_stats(sm_of(w, SPARE))->damaged > 0);
	assert_true(channel_stats(sm_of(w, ACTIVE))->parts_again > 0);
	run_for(w, 5 * MONO_S);
	assert_true(are_connected(w));
}

static void each_bit_of_a_part_counts(void **state)
{
	struct world *w = *state;
	struct transport_event right;

	connect_both(w);
	right = next_part(w);
	seal_again(w, &right);
	for (unsigned bit = 8; bit < 8 * (CHP_BYTES + VERSION_BYTES + 10); bit++) {
		struct transport_event ev = right;

		ev.mad[SA_DATA + bit / 8] ^= (uint8_t)(1u << bit % 8);
		channel_receive(sm_of(w, SPARE), &ev);
		assert_int_equal(got[CHANNEL_TENANTS].n, 0);
	}
	assert_int_equal(fate_of(w, &right), TAKEN);
	assert_int_equal(got[CHANNEL_TENANTS].n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(messages_of_all_sizes_arrive),
		TEST(the_longest_message_arrives_and_a_longer_one_is_refused),
		TEST(what_is_lost_doubled_or_late_does_no_harm),
		TEST(streams_are_independent),
		TEST(a_late_reply_comes_back),
		TEST(a_stream_without_handler_is_refused),
		TEST(a_standby_that_refuses_causes_no_storm),
		TEST(a_standby_that_dies_is_lost_and_comes_back),
		TEST(a_channel_that_was_cut_is_opened_again),
		TEST(half_a_message_of_a_dead_master_is_none),
		TEST(a_standby_is_connected_before_it_registers),
		TEST(managers_that_start_at_once_are_both_connected),
		TEST(a_standby_sends_too),
		TEST(other_streams_are_the_masters_alone),
		TEST(a_handover_ends_no_session),
		TEST(a_manager_that_starts_anew_is_another_one),
		TEST(managers_are_shown_with_their_silence),
		TEST(neither_keys_nor_messages_are_on_the_wire),
		TEST(well_known_keys_are_no_secret),
		TEST(another_sa_key_proves_nothing),
		TEST(other_keys_make_other_sessions),
		TEST(an_older_version_is_sent_nothing),
		TEST(parts_without_a_seal_are_ignored),
		TEST(parts_that_make_no_sense_are_refused),
		TEST(what_is_no_part_is_ignored),
		TEST(a_large_promise_costs_nothing),
		TEST(what_was_recorded_is_of_no_use),
		TEST(strangers_leave_no_trace),
		TEST(a_stranger_with_well_known_keys_gets_no_answer),
		TEST(what_was_changed_on_the_way_is_sent_again),
		TEST(each_bit_of_a_part_counts),
	};

	return cmocka_run_group_tests_name("sm-channel", tests, NULL, NULL);
}
