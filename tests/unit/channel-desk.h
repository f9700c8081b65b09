// SPDX-License-Identifier: BSD-2-Clause
/*
 * The channel between a master and a standby, for test-sm-channel*.c: handlers and replies that are
 * noted, and messages from either side.
 *
 *	connect_both(w)		MASTER and STANDBY with the keys of every distribution
 *	exchange(w, version, len)	a message of the master arrives, and its reply
 *
 * The ledger, whose messages these would be, is silent meanwhile.
 */
#pragma once

#include <errno.h>

#include "sm/channel/channel_internal.h"
#include "tests/lib/channel-seal.h"
#include "tests/unit/two-managers.h"

#define PART CHANNEL_REPLY_MAX

/* By receiver: what its handler got. */
static struct {
	unsigned n;
	size_t len;
	uint64_t version, sum;
	guid_t from;
	struct channel_ticket ticket;
	bool later; /* the test replies, not the handler */
} got[2];

/* By sender: what came back. */
static struct {
	unsigned n;
	enum channel_end end;
	char text[CHANNEL_REPLY_MAX + 1];
	size_t len;
} back[2];

static inline uint64_t sum_of(const uint8_t *bytes, size_t len)
{
	uint64_t sum = len;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

static inline void on_message(struct sm *sm, void *arg, struct channel_message *m)
{
	unsigned which = (unsigned)(uintptr_t)arg;
	char text[64];

	got[which].n++;
	got[which].len = m->len;
	got[which].version = m->version;
	got[which].sum = sum_of(m->bytes, m->len);
	got[which].from = m->from;
	got[which].ticket = m->ticket;
	if (got[which].later)
		return;
	snprintf(text, sizeof(text), "stored up to %llu", (unsigned long long)m->version);
	channel_reply(sm, &m->ticket, text, strlen(text));
}

static inline void on_reply(struct sm *sm, void *arg, guid_t peer, enum channel_end end,
			    const uint8_t *bytes, size_t len)
{
	unsigned which = (unsigned)(uintptr_t)arg;

	back[which].n++;
	back[which].end = end;
	back[which].len = len;
	if (len)
		memcpy(back[which].text, bytes, len);
	back[which].text[len] = '\0';
}

static inline bool is_connected(struct world *w)
{
	guid_t s;

	return sm_of(w, ACTIVE) && channel_standby_at(sm_of(w, ACTIVE), 0, &s);
}

/* Manager `number` gets what is sent to `which`. */
static inline void listen_as(struct world *w, unsigned number, unsigned which)
{
	channel_register(sm_of(w, number), CHANNEL_LEDGER, on_message, (void *)(uintptr_t)which);
}

static inline void listen_both(struct world *w)
{
	for (unsigned i = 0; i < 2; i++)
		listen_as(w, i, i);
}

/* The ledger of one manager sends the other nothing, until it is connected anew. */
static inline void hush_ledger(struct world *w, unsigned from, unsigned to)
{
	struct channel_peer *p;

	settle_peer(sm_of(w, from), sm_of(w, to)->tr->port_guid, false);
	p = peer_find(sm_of(w, from)->m.channel, sm_of(w, to)->tr->port_guid);
	while (p && p->out[CHANNEL_LEDGER].busy)
		assert_true(rig_step(w->rig, sim_now(w->rig->sim) + 100 * MONO_S));
}

static inline void hush_both(struct world *w)
{
	hush_ledger(w, ACTIVE, SPARE);
	hush_ledger(w, SPARE, ACTIVE);
}

static inline void connect_both(struct world *w)
{
	memset(got, 0, sizeof(got));
	memset(back, 0, sizeof(back));
	for (unsigned i = 0; i < 2; i++) /* messages of the tests alone */
		w->conf[i]->replicate_configuration = false;
	start_both(w);
	listen_both(w);
	run_for(w, 5 * MONO_S);
	assert_true(is_connected(w));
	hush_both(w);
	memset(got, 0, sizeof(got));
}

static inline guid_t guid_of(struct world *w, unsigned which)
{
	return sm_of(w, which)->tr->port_guid;
}

/* What this manager knows of the other one. */
static inline struct channel_peer *row_of(struct world *w, unsigned which)
{
	struct channel_peer *p =
		peer_find(sm_of(w, which)->m.channel, sm_of(w, !which)->tr->port_guid);

	assert_non_null(p);
	return p;
}

static inline int send_from(struct world *w, unsigned which, uint64_t version,
			    const uint8_t *bytes, size_t len)
{
	return channel_send(sm_of(w, which), guid_of(w, !which), CHANNEL_LEDGER, version, bytes,
			    len, on_reply, (void *)(uintptr_t)which);
}

static inline int send_bytes(struct world *w, uint64_t version, const uint8_t *bytes, size_t len)
{
	return send_from(w, ACTIVE, version, bytes, len);
}

static inline bool run_until_back(struct world *w, unsigned which, unsigned n, mono_t limit)
{
	mono_t until = sim_now(w->rig->sim) + limit;

	while (back[which].n < n) {
		if (!rig_step(w->rig, until))
			return false;
	}
	return true;
}

static inline uint8_t *pattern(size_t len)
{
	uint8_t *bytes = xmalloc(len + 1);
	uint64_t dice = len;

	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)random_next(&dice);
	return bytes;
}

/* It arrives once, as it was, and the reply comes back. */
static inline void exchange_from(struct world *w, unsigned which, uint64_t version, size_t len)
{
	_cleanup_free_ uint8_t *bytes = pattern(len);
	unsigned before, answered;
	char reply[64];

	hush_ledger(w, which, !which);
	before = got[!which].n;
	answered = back[which].n;
	assert_int_equal(send_from(w, which, version, bytes, len), 0);
	assert_true(run_until_back(w, which, answered + 1, 600 * MONO_S));
	assert_int_equal(got[!which].n, before + 1);
	assert_int_equal(got[!which].len, len);
	assert_int_equal(got[!which].sum, sum_of(bytes, len));
	assert_int_equal(got[!which].version, version);
	assert_int_equal(got[!which].from, guid_of(w, which));
	assert_int_equal(back[which].end, CHANNEL_REPLIED);
	snprintf(reply, sizeof(reply), "stored up to %llu", (unsigned long long)version);
	assert_string_equal(back[which].text, reply);
}

static inline void exchange(struct world *w, uint64_t version, size_t len)
{
	exchange_from(w, ACTIVE, version, len);
}

static const size_t sizes[] = { 0,	      1,	    PART - 1,	     PART,
				PART + 1,     7 * PART - 1, 7 * PART,	     7 * PART + 1,
				64 * PART,    65 * PART,    64 << 10,	     PART - 8,
				PART - 7,     PART - 9 };

static inline bool are_connected(struct world *w)
{
	return channel_is_connected(sm_of(w, ACTIVE), guid_of(w, SPARE)) &&
	       channel_is_connected(sm_of(w, SPARE), guid_of(w, ACTIVE));
}

static inline void run_until_connected(struct world *w, mono_t limit)
{
	mono_t until = sim_now(w->rig->sim) + limit;

	while (!are_connected(w))
		assert_true(rig_step(w->rig, until));
}

static inline void give_real_keys(struct world *w)
{
	for (unsigned i = 0; i < 2; i++) {
		w->conf[i]->sm_key = 0x5a17c0ffee15dead;
		w->conf[i]->sa_key = 0x0b5e55edfacade42;
	}
}
