// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages from the master to a standby: whole, once, in order, whatever is lost, doubled or late;
 * and nothing from any other sender.
 */
#include <errno.h>

#include "sm/channel/channel_internal.h"
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

static guid_t spare_guid(struct world *w)
{
	return sm_of(w, SPARE)->tr->port_guid;
}

static int send_bytes(struct world *w, unsigned stream, uint64_t version, const uint8_t *bytes,
		      size_t len)
{
	return channel_send(sm_of(w, ACTIVE), spare_guid(w), stream, version, bytes, len, on_reply,
			    (void *)(uintptr_t)stream);
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
static void exchange(struct world *w, unsigned stream, uint64_t version, size_t len)
{
	_cleanup_free_ uint8_t *bytes = pattern(len);
	unsigned before = got[stream].n, answered = back[stream].n;
	char reply[64];

	assert_int_equal(send_bytes(w, stream, version, bytes, len), 0);
	assert_true(run_until_back(w, stream, answered + 1, 600 * MONO_S));
	assert_int_equal(got[stream].n, before + 1);
	assert_int_equal(got[stream].len, len);
	assert_int_equal(got[stream].sum, sum_of(bytes, len));
	assert_int_equal(got[stream].version, version);
	assert_int_equal(got[stream].from, sm_of(w, ACTIVE)->tr->port_guid);
	assert_int_equal(back[stream].end, CHANNEL_REPLIED);
	snprintf(reply, sizeof(reply), "stored up to %llu", (unsigned long long)version);
	assert_string_equal(back[stream].text, reply);
}

static const size_t sizes[] = { 0,	      1,	    PART - 1,	     PART,
				PART + 1,     7 * PART - 1, 7 * PART,	     7 * PART + 1,
				64 * PART,    65 * PART,    64 << 10 };

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
		sm_of(w, SPARE)->m.channel->session += 2; /* another one than it said */
		if (is_connected(w))
			send_bytes(w, CHANNEL_TENANTS, 7, (const uint8_t *)"seven", 5);
	} while (rig_step(w->rig, until));
	assert_true(said("the channel to this standby is closed", "") > 0);
	assert_true(said("the channel to this standby is", "") < 20);
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
	assert_int_equal(said("the channel to this standby is closed", ""), 1);
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
	assert_int_equal(channel_send(w->rig->sms[2].sm, spare_guid(w), CHANNEL_CONFIG, 2, bytes,
				      100, on_reply, (void *)(uintptr_t)CHANNEL_CONFIG),
			 0);
	assert_true(run_until_back(w, CHANNEL_CONFIG, 1, 5 * MONO_S));
	assert_int_equal(got[CHANNEL_CONFIG].n, 1);
	assert_int_equal(got[CHANNEL_CONFIG].len, 100);
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
	assert_int_equal(w->tap[ACTIVE].channel.n_sent, 0);
	assert_int_equal(send_bytes(w, CHANNEL_TENANTS, 2, (const uint8_t *)"two", 3), -ENOTCONN);
}

/* The last part that the master sent, as the standby received it. */
static struct transport_event last_part(struct world *w)
{
	const struct port *p =
		fabric_find_port(sm_of(w, SPARE)->fabric, sm_of(w, ACTIVE)->tr->port_guid);
	struct transport_event ev = { .kind = TRANSPORT_MAD, .length = MAD_SIZE };

	assert_non_null(p);
	ev.from.lid = ib_get(p->info, PI_LID);
	ev.from.qp = 1;
	memcpy(ev.mad, w->tap[ACTIVE].channel.sent, MAD_SIZE);
	ib_put(ev.mad, SAH_TID, 0x1234567890ull);
	return ev;
}

static enum { IGNORED, REFUSED, TAKEN } fate_of(struct world *w, struct transport_event *ev)
{
	struct tap *tap = spare_tap(w);
	unsigned before = tap->channel.n_sent;
	uint64_t refused = channel_stats(sm_of(w, SPARE))->refused;

	assert_true(channel_receive(sm_of(w, SPARE), ev));
	if (tap->channel.n_sent == before)
		return IGNORED;
	return channel_stats(sm_of(w, SPARE))->refused > refused ? REFUSED : TAKEN;
}

/* A new message, as the master would send it. */
static struct transport_event next_part(struct world *w, uint32_t ahead)
{
	struct transport_event ev = last_part(w);
	uint8_t *part = ev.mad + SA_DATA;

	ib_put(part, CHP_SERIAL, ib_get(part, CHP_SERIAL) + ahead);
	return ev;
}

static void forged_senders_are_ignored(void **state)
{
	struct world *w = *state;
	struct transport_event ev;
	unsigned n;

	connect_both(w);
	exchange(w, CHANNEL_TENANTS, 1, 10);
	n = got[CHANNEL_TENANTS].n;
	ev = next_part(w, 1);
	ev.from.lid++;
	assert_int_equal(fate_of(w, &ev), IGNORED);
	ev = next_part(w, 1);
	ev.from.qp = 2;
	assert_int_equal(fate_of(w, &ev), IGNORED);
	ev = next_part(w, 1);
	ib_put(ev.mad, SAH_SM_KEY, 2);
	assert_int_equal(fate_of(w, &ev), IGNORED);
	ev = next_part(w, 1);
	ib_put(ev.mad, SAH_METHOD, MAD_GET);
	assert_int_equal(fate_of(w, &ev), IGNORED);
	assert_true(channel_receive(sm_of(w, ACTIVE), &ev)); /* and at a master */
	assert_int_equal(channel_stats(sm_of(w, SPARE))->strangers, 4);
	assert_int_equal(got[CHANNEL_TENANTS].n, n);
	exchange(w, CHANNEL_TENANTS, 2, 10);
}

static unsigned reason_given(struct world *w)
{
	return ib_get(spare_tap(w)->channel.sent + SA_DATA, CHP_REASON);
}

/* Of the master itself: refused, with a reason. */
static void parts_that_make_no_sense_are_refused(void **state)
{
	struct world *w = *state;
	const struct {
		unsigned field, width;
		uint64_t value;
	} bad[] = {
		{ CHP_VERSION, 8, 2 },	       { CHP_KIND, 8, 0 },
		{ CHP_KIND, 8, 5 },	       { CHP_STREAM, 8, CHANNEL_STREAMS },
		{ CHP_SESSION, 32, 17 },       { CHP_LENGTH, 32, CHANNEL_MESSAGE_MAX + 1 },
		{ CHP_LENGTH, 32, UINT32_MAX }, { CHP_OFFSET, 32, 1 },
		{ CHP_OFFSET, 32, PART },       { CHP_OFFSET, 32, UINT32_MAX },
		{ CHP_SERIAL, 32, 0 },	       { CHP_DIGEST, 64, 3 },
	};

	connect_both(w);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		struct transport_event ev;

		exchange(w, CHANNEL_TENANTS, i, 10);
		ev = next_part(w, 1);
		ib_bits_put(ev.mad + SA_DATA, bad[i].field, bad[i].width, bad[i].value);
		assert_int_equal(fate_of(w, &ev), REFUSED);
		assert_int_not_equal(reason_given(w), 0);
		assert_int_equal(ib_get(spare_tap(w)->channel.sent + SA_DATA, CHP_VERSION),
				 CHANNEL_VERSION);
		assert_int_equal(got[CHANNEL_TENANTS].n, i + 1);
	}
	exchange(w, CHANNEL_TENANTS, 99, 10);
}

/* A length is a word; memory comes with what has arrived. */
static void a_large_promise_costs_nothing(void **state)
{
	struct world *w = *state;
	struct transport_event ev;

	connect_both(w);
	exchange(w, CHANNEL_TENANTS, 1, 10);
	ev = next_part(w, 1);
	ib_put(ev.mad + SA_DATA, CHP_LENGTH, CHANNEL_MESSAGE_MAX);
	assert_int_equal(fate_of(w, &ev), TAKEN);
	ib_put(ev.mad + SA_DATA, CHP_OFFSET, 64 * PART);
	assert_int_equal(fate_of(w, &ev), TAKEN);
	ib_put(ev.mad + SA_DATA, CHP_OFFSET, 65 * PART); /* base is 1 by now */
	assert_int_equal(fate_of(w, &ev), IGNORED);
	ib_put(ev.mad + SA_DATA, CHP_LENGTH, PART); /* the message has another length */
	ib_put(ev.mad + SA_DATA, CHP_OFFSET, 0);
	assert_int_equal(fate_of(w, &ev), REFUSED);
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
		TEST(an_older_version_is_sent_nothing),
		TEST(forged_senders_are_ignored),
		TEST(parts_that_make_no_sense_are_refused),
		TEST(a_large_promise_costs_nothing),
	};

	return cmocka_run_group_tests_name("sm-channel", tests, NULL, NULL);
}
