// SPDX-License-Identifier: BSD-2-Clause
/*
 * The channel between managers takes nothing from a sender that did not prove itself, or that was
 * changed on the way, and shows nothing of its keys.
 */
#include "tests/unit/channel-desk.h"

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
		unsigned n = back[i].n;

		row_of(w, i)->fail = true; /* so that they meet again */
		run_for(w, 5 * MONO_S);
		hush_ledger(w, i, !i);
		assert_int_equal(send_from(w, i, 1, message, sizeof(message)), 0);
		assert_true(run_until_back(w, i, n + 1, 5 * MONO_S));
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
	assert_int_equal(memcmp(back[ACTIVE].text, "stored up to 1", 14), 0);
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
	assert_int_equal(send_bytes(w, 1, (const uint8_t *)"one", 3), -ENOTCONN);
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
	exchange_from(w, SPARE, 1, 1000);
	sm_of(w, SPARE)->conf->randomize_sa_key = true;
	run_for(w, 10 * MONO_S);
	assert_false(channel_is_connected(sm_of(w, SPARE), guid_of(w, ACTIVE)));
	assert_false(channel_is_connected(sm_of(w, ACTIVE), guid_of(w, SPARE)));
}

/* ---- others -------------------------------------------------------------------------------- */

/* One of the two has its new keys already: the other one asks it each second, not at once again. */
static void a_host_with_other_keys_is_not_flooded(void **state)
{
	struct world *w = *state;
	const struct channel_stats *stats;
	uint64_t before;

	connect_both(w);
	stats = channel_stats(sm_of(w, ACTIVE));
	before = stats->parts_sent;
	sm_of(w, SPARE)->conf->sa_key += 100;
	run_for(w, 10 * MONO_S);
	assert_in_range(stats->parts_sent - before, 5, 20);
	assert_int_equal(said("does not prove that its sm_key and sa_key are ours", ""), 1);
}

static void an_older_version_is_sent_nothing(void **state)
{
	struct world *w = *state;
	guid_t s;

	spare_tap(w)->channel.old = true;
	start_both(w);
	run_for(w, 60 * MONO_S);
	assert_int_equal(managers(w), 2);
	assert_false(channel_standby_at(sm_of(w, ACTIVE), 0, &s));
	assert_int_equal(said("speaks version 1 of the channel", "run the same version"), 1);
	assert_int_equal(w->tap[ACTIVE].channel.n_sent, 0);
	assert_int_equal(send_bytes(w, 2, (const uint8_t *)"two", 3), -ENOTCONN);
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
	ib_put(part, CHP_STREAM, CHANNEL_LEDGER);
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
	exchange(w, 1, 10);
	strangers = channel_stats(sm_of(w, SPARE))->strangers;
	n = got[SPARE].n;
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
	assert_int_equal(got[SPARE].n, n);
	assert_int_equal(fate_of(w, &ev), TAKEN);
	assert_int_equal(got[SPARE].n, n + 1);
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
	exchange(w, 0, 10);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		struct transport_event ev;

		exchange(w, i, 10);
		ev = next_part(w);
		ib_bits_put(ev.mad + SA_DATA, bad[i].field, bad[i].width, bad[i].value);
		seal_again(w, &ev);
		assert_int_equal(fate_of(w, &ev), REFUSED);
		assert_int_not_equal(reason_given(w), 0);
		assert_int_equal(got[SPARE].n, i + 2);
	}
	exchange(w, 99, 10);
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
		{ CHP_KIND, 8, PART_CONFIRMED + 1, IGNORED },
		{ CHP_OFFSET, 32, 1, IGNORED },	    { CHP_OFFSET, 32, PART, IGNORED },
		{ CHP_OFFSET, 32, UINT32_MAX, IGNORED },
		{ CHP_VERSION, 8, 2, REFUSED },	    { CHP_VERSION, 8, 4, REFUSED },
		{ CHP_SESSION, 32, 17, REFUSED },   { CHP_SESSION, 32, 0, REFUSED },
	};

	connect_both(w);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		struct transport_event ev = next_part(w);

		ib_bits_put(ev.mad + SA_DATA, bad[i].field, bad[i].width, bad[i].value);
		seal_again(w, &ev);
		assert_int_equal(fate_of(w, &ev), bad[i].fate);
		exchange(w, i, 10);
	}
	assert_int_equal(said("speaks version 2 of the channel", ""), 1);
	assert_int_equal(said("speaks version 4 of the channel", ""), 0); /* not so soon */
}

/* A length is a word; memory comes with what has arrived. */
static void a_large_promise_costs_nothing(void **state)
{
	struct world *w = *state;
	struct transport_event ev, first;

	connect_both(w);
	exchange(w, 1, 10);
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
	assert_int_equal(got[SPARE].n, 1);
	run_for(w, 61 * MONO_S);
	assert_int_equal(sm_of(w, SPARE)->m.channel->in_bytes, 0);
	exchange(w, 2, 10);
}

/* A number that the receiver is beyond ends the session, and no message after that. */
static void numbers_that_went_apart_are_mended(void **state)
{
	struct world *w = *state;
	struct transport_event ev;

	connect_both(w);
	ev = next_part(w);
	ib_put(ev.mad + SA_DATA, CHP_SERIAL, UINT32_MAX - 1);
	seal_again(w, &ev);
	assert_int_equal(fate_of(w, &ev), TAKEN);
	assert_int_equal(send_bytes(w, 1, (const uint8_t *)"one", 3), 0);
	assert_true(run_until_back(w, ACTIVE, 1, 5 * MONO_S));
	assert_int_equal(back[ACTIVE].end, CHANNEL_LOST);
	run_for(w, 5 * MONO_S);
	exchange(w, 2, 10);
	row_of(w, ACTIVE)->serial = UINT32_MAX; /* the last one that there is */
	assert_int_equal(send_bytes(w, 1, (const uint8_t *)"one", 3), -ENOTCONN);
	run_for(w, 5 * MONO_S);
	exchange(w, 3, 10);
}

/* A meeting and its messages, once more: in the same session, and in a later one. */
static void what_was_recorded_is_of_no_use(void **state)
{
	struct world *w = *state;
	struct tap *tap = spare_tap(w);
	struct transport_event heard[TAP_HEARD];
	unsigned n, n_got;
	uint32_t session;

	connect_in_secret(w);
	row_of(w, ACTIVE)->fail = true;
	tap->channel.n_heard = 0;
	run_for(w, 3 * MONO_S);
	for (unsigned i = 0; i < 4; i++)
		exchange(w, i, 500);
	n = tap->channel.n_heard;
	assert_in_range(n, 10, TAP_HEARD); /* HELLO, CONFIRM, segments */
	memcpy(heard, tap->channel.heard, sizeof(heard));
	n_got = got[SPARE].n;
	for (unsigned again = 0; again < 2; again++) {
		session = row_of(w, SPARE)->in_session.id;
		for (unsigned i = 0; i < n; i++)
			assert_true(channel_receive(sm_of(w, SPARE), &heard[i]));
		assert_int_equal(row_of(w, SPARE)->in_session.id, session);
		assert_int_equal(got[SPARE].n, n_got);
		exchange(w, 9, 500);
		row_of(w, ACTIVE)->fail = true;
		run_for(w, 5 * MONO_S);
		n_got = got[SPARE].n; /* some are of the ledger, which compares digests */
	}
}

static uint64_t roll(uint64_t *dice)
{
	return random_next(dice);
}

/* HELLOs and proofs of thousands of strangers, half of them in the name of the master. */
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
	exchange(w, 1, 1000);
	exchange_from(w, SPARE, 2, 1000);
}

/* It has the keys, and may be no manager of ours. */
static void a_manager_that_is_not_allowed_is_not_answered(void **state)
{
	struct world *w = *state;
	char *list = NULL;

	connect_in_secret(w);
	list = sm_of(w, SPARE)->conf->allowed_sm_guids;
	sm_of(w, SPARE)->conf->allowed_sm_guids = xstrdup("0x17");
	elect_reconfigured(sm_of(w, SPARE), sm_of(w, SPARE)->conf);
	run_for(w, 30 * MONO_S);
	assert_false(channel_is_connected(sm_of(w, SPARE), guid_of(w, ACTIVE)));
	assert_false(channel_is_connected(sm_of(w, ACTIVE), guid_of(w, SPARE)));
	assert_true(channel_tries(sm_of(w, ACTIVE), guid_of(w, SPARE)) > 10);
	free(sm_of(w, SPARE)->conf->allowed_sm_guids);
	sm_of(w, SPARE)->conf->allowed_sm_guids = list;
	elect_reconfigured(sm_of(w, SPARE), sm_of(w, SPARE)->conf);
	run_for(w, 30 * MONO_S);
	assert_true(are_connected(w));
}

/* Segments of its session are not taken any more, either; without a HELLO in between. */
static void a_session_ends_where_its_manager_is_not_allowed(void **state)
{
	struct world *w = *state;
	struct transport_event ev;
	struct sm *sm;

	connect_in_secret(w);
	ev = next_part(w);
	seal_again(w, &ev);
	sm = sm_of(w, SPARE);
	sm->conf->ignore_other_sm = true;
	assert_int_equal(fate_of(w, &ev), REFUSED);
	assert_int_equal(reason_given(w), REASON_SESSION);
	sm->conf->ignore_other_sm = false;
	assert_int_equal(fate_of(w, &ev), TAKEN);
}

/* With keys that every distribution has, a manager that the election does not see is none. */
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
		exchange(w, i, sizes[i]);
	for (unsigned i = 0; i < 200; i++)
		exchange_from(w, SPARE, 100 + i, i);
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
		assert_int_equal(got[SPARE].n, 0);
	}
	assert_int_equal(fate_of(w, &right), TAKEN);
	assert_int_equal(got[SPARE].n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(neither_keys_nor_messages_are_on_the_wire),
		TEST(well_known_keys_are_no_secret),
		TEST(another_sa_key_proves_nothing),
		TEST(other_keys_make_other_sessions),
		TEST(a_host_with_other_keys_is_not_flooded),
		TEST(an_older_version_is_sent_nothing),
		TEST(parts_without_a_seal_are_ignored),
		TEST(parts_that_make_no_sense_are_refused),
		TEST(what_is_no_part_is_ignored),
		TEST(a_large_promise_costs_nothing),
		TEST(numbers_that_went_apart_are_mended),
		TEST(what_was_recorded_is_of_no_use),
		TEST(strangers_leave_no_trace),
		TEST(a_stranger_with_well_known_keys_gets_no_answer),
		TEST(a_manager_that_is_not_allowed_is_not_answered),
		TEST(a_session_ends_where_its_manager_is_not_allowed),
		TEST(what_was_changed_on_the_way_is_sent_again),
		TEST(each_bit_of_a_part_counts),
	};

	return cmocka_run_group_tests_name("sm-channel-proof", tests, NULL, NULL);
}
