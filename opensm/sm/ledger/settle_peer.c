// SPDX-License-Identifier: BSD-2-Clause
/*
 * One other manager of ours: what it is sent, and what its messages mean.
 *
 *   connected --DIGESTS--> the tables that differ, as it answers --BUCKETS of each--> its rows come
 *                                                                 --its BUCKETS-----> ours go
 *
 * pull: PULL_DUE --BUCKETS sent--> PULL_ASKED --the last row of the table is stored--> PULL_DONE
 * push: PUSH_NOT --its BUCKETS came--> PUSH_ASKED --all rows stored there--> PUSH_DONE
 *
 * Rows that are merged later go into its queue. One message is under way at a time.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/channel/peer_rows.h"
#include "sm/ledger/settle_internal.h"
#include "util/mem.h"

/* patience with an answer: after that, changes do not wait for the manager any longer */
#define PATIENCE (2 * MONO_S)
#define PAUSE	 (5 * MONO_S)	 /* pause after the other manager reported a fault */
#define SOON	 (200 * MONO_MS) /* pause after it was busy */
#define COMPARE	 (60 * MONO_S)	 /* period of comparisons of digests if all is well */
#define LEAP	 (UINT64_C(1) << 36) /* greatest credible lead of another manager's numbers */

/* ---- rows of managers ------------------------------------------------------------------------ */

struct settle_peer *settle_peer_of(struct settle *s, guid_t guid)
{
	return guid ? peer_row_find(s->peers, sizeof(s->peers[0]), guid) : NULL;
}

static void clear_peer(struct settle_peer *p)
{
	free(p->queue);
	*p = (struct settle_peer){ 0 };
}

void peers_free(struct settle *s)
{
	for (unsigned i = 0; i < s->n_peers; i++)
		clear_peer(&s->peers[i]);
}

/* The tables that the manager may have. */
static uint32_t tables_for(const struct sm *sm)
{
	uint32_t tables = 0;

	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		if (!ledger_table(t)->secret || channel_is_secret(sm))
			tables |= 1u << t;
	}
	return tables;
}

/* Starts to compare all tables with a manager whose rows are unknown. */
static void begin_peer(struct sm *sm, struct settle_peer *p)
{
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		p->of[t].pull = PULL_NOT;
		/*
		 * Rows that it asked for are sent all the same. Rows that were queued or under way
		 * may be of any bucket, so all buckets are sent.
		 */
		if (p->of[t].push == PUSH_DONE)
			p->of[t].push = PUSH_NOT;
		memset(p->of[t].buckets, 0xFF, sizeof(p->of[t].buckets));
		p->of[t].bucket = 0;
	}
	memset(p->queued, 0, sizeof(p->queued));
	memset(p->stored, 0, sizeof(p->stored));
	p->tables = tables_for(sm);
	p->n_queue = 0;
	p->busy = false;
	p->digests_due = true;
	p->again = sm->now;
}

void settle_peer(struct sm *sm, guid_t guid, bool connected)
{
	struct settle *s = sm->m.settle;
	struct settle_peer *p = settle_peer_of(s, guid);

	if (p && !connected)
		settle_lost(sm, guid);
	/* After it was asked, another manager may have learnt what this one was not told. */
	if (p && !connected && s->state != SETTLE_WRITING && !peer_is_settled(p))
		peers_doubt(sm);
	if (p)
		clear_peer(p);
	peer_row_change(s->peers, sizeof(s->peers[0]), &s->n_peers, guid, connected);
	p = settle_peer_of(s, guid);
	if (p) {
		p->connected = true;
		p->connected_at = sm->now;
		begin_peer(sm, p);
	}
	settle_look(sm);
}

void peers_doubt(struct sm *sm)
{
	struct settle *s = sm->m.settle;

	for (unsigned i = 0; i < s->n_peers; i++) {
		if (s->peers[i].guid)
			begin_peer(sm, &s->peers[i]);
	}
}

void peers_tell_state(struct settle *s)
{
	for (unsigned i = 0; i < s->n_peers; i++)
		s->peers[i].digests_due = s->peers[i].state_due = true;
}

bool peer_is_settled(const struct settle_peer *p)
{
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		if ((p->tables >> t & 1) && p->of[t].pull != PULL_DONE)
			return false;
	}
	return p->connected;
}

static bool is_pushed(const struct settle_peer *p, bool wanted_only)
{
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		if ((p->tables >> t & 1) && p->of[t].push != PUSH_DONE &&
		    (ledger_table(t)->is_wanted || !wanted_only))
			return false;
	}
	return true;
}

size_t peer_behind(const struct settle *s, const struct settle_peer *p)
{
	if (!is_pushed(p, false))
		return SIZE_MAX;
	return p->n_queue + (p->busy && p->busy_with == MESSAGE_ROWS ? p->n_sent : 0);
}

/* ---- messages to be sent --------------------------------------------------------------------- */

static void queue_row(struct sm *sm, struct settle_peer *p, const struct ledger_key *key,
		      uint64_t number)
{
	if (!(p->tables >> key->table & 1))
		return;
	if (p->n_queue >= SETTLE_QUEUE_MAX) {
		begin_peer(sm, p);
		return;
	}
	APPEND(p->queue, p->n_queue, p->cap_queue) = *key;
	p->queued[ledger_table(key->table)->clock] = number;
}

void peers_queue(struct sm *sm, const struct ledger_key *key, uint64_t number, guid_t from)
{
	struct settle *s = sm->m.settle;

	for (unsigned i = 0; i < s->n_peers; i++) {
		if (s->peers[i].guid && s->peers[i].guid != from)
			queue_row(sm, &s->peers[i], key, number);
	}
}

static void on_reply(struct sm *sm, void *arg, guid_t guid, enum channel_end end,
		     const uint8_t *bytes, size_t len);

static void send_message(struct sm *sm, struct settle_peer *p, enum settle_message kind,
			 const uint8_t *bytes, size_t len)
{
	int r = channel_send(sm, p->guid, CHANNEL_LEDGER, 0, bytes, len, on_reply,
			     (void *)(uintptr_t)++p->question);

	p->busy = r == 0;
	p->busy_with = kind;
	p->sent_at = sm->now;
	if (r < 0)
		p->again = sm->now + SOON;
}

static void send_digests(struct sm *sm, struct settle_peer *p)
{
	const struct settle *s = sm->m.settle;
	struct settle_digests d = {
		.term = s->meta.term,
		.tables = tables_for(sm),
		.state = s->state,
		.is_founded = s->meta.founded,
		.has_doubts = s->doubts != 0,
		.is_stored = disk_has_all(s),
	};
	uint8_t bytes[DIGESTS_BYTES];

	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		if (d.tables >> t & 1)
			d.of[t] = ledger_digest(s->ledger, t);
	}
	digests_pack(&d, bytes);
	send_message(sm, p, MESSAGE_DIGESTS, bytes, sizeof(bytes));
	if (!p->busy)
		return;
	p->digests_due = p->state_due = false;
	p->compared_at = sm->now;
}

static void send_buckets(struct sm *sm, struct settle_peer *p, enum ledger_table t)
{
	struct settle_half *h = &p->of[t];
	const struct settle_end question = { t, (uint8_t)(h->pull_round + 1) };
	uint64_t buckets[LEDGER_BUCKETS];
	uint8_t bytes[BUCKETS_BYTES];

	ledger_buckets(sm->m.settle->ledger, t, buckets);
	buckets_pack(&question, buckets, bytes);
	send_message(sm, p, MESSAGE_BUCKETS, bytes, sizeof(bytes));
	if (!p->busy)
		return;
	h->pull = PULL_ASKED;
	h->pull_round = question.round;
	h->asked_at = sm->now;
}

struct packing {
	uint8_t *bytes;
	size_t len, cap, n;
};

/* Packs a row. False: no room in this message. `whole`: it is packed in any case. */
static bool pack_row(struct packing *pk, const struct ledger_row *row, bool whole)
{
	size_t len = ledger_row_bytes(row);

	if (!whole && pk->len > ROWS_HEAD && pk->len + len > SETTLE_ROWS_BYTES)
		return false;
	GROW(pk->bytes, pk->len + len, pk->cap);
	ledger_row_pack(row, pk->bytes + pk->len);
	pk->len += len;
	pk->n++;
	return true;
}

static void begin_rows(struct packing *pk)
{
	GROW(pk->bytes, 4096, pk->cap);
	pk->len = ROWS_HEAD;
}

static void send_rows(struct sm *sm, struct settle_peer *p, struct packing *pk,
		      struct settle_end end)
{
	rows_head_pack(&end, pk->bytes);
	p->sent_end = end;
	p->n_sent = pk->n;
	send_message(sm, p, MESSAGE_ROWS, pk->bytes, pk->len);
	free_wiped(pk->bytes, pk->cap);
}

/* Sends rows of the buckets that the manager asked for; the last message is marked as such. */
static void send_asked(struct sm *sm, struct settle_peer *p, enum ledger_table t)
{
	struct settle_half *h = &p->of[t];
	const struct ledger *l = sm->m.settle->ledger;
	struct packing pk = { 0 };
	unsigned bucket = h->bucket;
	bool all = true;

	begin_rows(&pk);
	for (; bucket < LEDGER_BUCKETS && all; bucket++) {
		const struct ledger_row *row;
		size_t pos = 0, before = pk.len, n = pk.n;

		if (!(h->buckets[bucket / 8] >> bucket % 8 & 1))
			continue;
		while (all && (row = ledger_next_in(l, t, bucket, &pos)))
			all = pack_row(&pk, row, !n);
		if (all)
			continue;
		pk.len = before;
		pk.n = n;
		break;
	}
	send_rows(sm, p, &pk, (struct settle_end){ all ? t : ROWS_END_NONE, h->push_round });
	if (p->busy)
		h->bucket = bucket;
}

/* Sends as many rows of the queue as fit one message. */
static void send_queue(struct sm *sm, struct settle_peer *p)
{
	const struct ledger *l = sm->m.settle->ledger;
	struct packing pk = { 0 };
	size_t i = 0;

	begin_rows(&pk);
	for (; i < p->n_queue; i++) {
		const struct ledger_row *row = ledger_find(l, &p->queue[i]);

		if (row && !pack_row(&pk, row, false))
			break;
	}
	send_rows(sm, p, &pk, (struct settle_end){ ROWS_END_NONE, 0 });
	if (!p->busy)
		return;
	p->n_queue -= i;
	memmove(p->queue, p->queue + i, p->n_queue * sizeof(*p->queue));
	for (unsigned c = 0; c < LEDGER_CLOCKS; c++)
		p->sent[c] = p->n_queue ? p->stored[c] : p->queued[c];
}

static enum ledger_table table_in(const struct settle_peer *p, bool push)
{
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		if (push ? p->of[t].push == PUSH_ASKED : p->of[t].pull == PULL_DUE)
			return t;
	}
	return LEDGER_TABLES;
}

/* Repeats a question whose answer was not completed. */
static void ask_again(const struct sm *sm, struct settle_peer *p)
{
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		if (p->of[t].pull == PULL_ASKED && sm->now >= p->of[t].asked_at + COMPARE)
			p->of[t].pull = PULL_DUE;
	}
}

static void serve_peer(struct sm *sm, struct settle_peer *p)
{
	enum ledger_table pull = table_in(p, false), push = table_in(p, true);

	if (!p->guid || p->busy || sm->now < p->again)
		return;
	if (sm->now >= p->compared_at + COMPARE)
		p->digests_due = true;
	ask_again(sm, p);
	if (p->state_due)
		send_digests(sm, p);
	else if (pull < LEDGER_TABLES)
		send_buckets(sm, p, pull);
	else if (p->n_queue)
		send_queue(sm, p);
	else if (push < LEDGER_TABLES)
		send_asked(sm, p, push);
	else if (p->digests_due)
		send_digests(sm, p);
}

void peers_tick(struct sm *sm)
{
	struct settle *s = sm->m.settle;

	for (unsigned i = 0; i < s->n_peers; i++)
		serve_peer(sm, &s->peers[i]);
}

static bool has_to_send(const struct settle_peer *p)
{
	return p->n_queue || p->digests_due || table_in(p, false) < LEDGER_TABLES ||
	       table_in(p, true) < LEDGER_TABLES;
}

mono_t peers_next(const struct sm *sm)
{
	const struct settle *s = sm->m.settle;
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; i < s->n_peers; i++) {
		const struct settle_peer *p = &s->peers[i];

		if (!p->guid)
			continue;
		if (sm->now < p->connected_at + SETTLE_NEWCOMER)
			next = mono_min(next, p->connected_at + SETTLE_NEWCOMER);
		if (p->busy && sm->now < p->sent_at + PATIENCE)
			next = mono_min(next, p->sent_at + PATIENCE);
		if (!p->busy)
			next = mono_min(next, has_to_send(p)
						      ? MAX(p->again, sm->now)
						      : MAX(p->compared_at + COMPARE, p->again));
	}
	return next;
}

/* ---- its answers ----------------------------------------------------------------------------- */

/* Notes that both have the same rows of the table. */
static void is_equal(struct settle_peer *p, enum ledger_table t)
{
	p->of[t].pull = PULL_DONE;
	/* the manager waits for the end of rows that it asked for */
	if (p->of[t].push != PUSH_ASKED)
		p->of[t].push = PUSH_DONE;
}

/*
 * Takes a comparison of digests; `differ`: bits of tables. Digests that were not asked for may be
 * as old as this process stood still, so equal ones only count as an answer.
 */
static void take_comparison(struct sm *sm, struct settle_peer *p, uint32_t differ, bool is_answer)
{
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		if (!(p->tables >> t & 1))
			continue;
		if (!(differ >> t & 1) && is_answer)
			is_equal(p, t);
		else if ((differ >> t & 1) && p->of[t].pull != PULL_ASKED)
			p->of[t].pull = PULL_DUE;
	}
	settle_look(sm);
}

static void tell_refusal(struct sm *sm, struct settle_peer *p, bool refuses)
{
	p->refuses = refuses;
	if (told_change(&p->told, TOLD_REFUSES, refuses) == TOLD_BEGINS)
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this standby cannot store what is changed at run time: its own log says "
			 "why; tried again every %d s",
			 (int)(PAUSE / MONO_S));
}

/*
 * The manager has not stored rows that were sent: they are sent again later. Its own rows stay
 * known.
 */
static void not_stored(struct sm *sm, struct settle_peer *p)
{
	enum settle_pull pulls[LEDGER_TABLES];

	for (unsigned t = 0; t < LEDGER_TABLES; t++)
		pulls[t] = p->of[t].pull;
	begin_peer(sm, p);
	for (unsigned t = 0; t < LEDGER_TABLES; t++)
		p->of[t].pull = pulls[t];
	p->again = sm->now + PAUSE;
}

/* The manager refused a message: all rows are compared anew, later. */
static void not_taken(struct sm *sm, struct settle_peer *p, mono_t pause)
{
	begin_peer(sm, p);
	p->again = sm->now + pause;
}

/* Is it the end of the question under way? Not if the table was asked for again in the meantime. */
static bool is_end_of(const struct settle_peer *p, const struct settle_end *end)
{
	return end->table < LEDGER_TABLES && p->of[end->table].push == PUSH_ASKED &&
	       p->of[end->table].push_round == end->round && p->of[end->table].bucket;
}

static void rows_taken(struct sm *sm, struct settle_peer *p, bool in_memory)
{
	tell_refusal(sm, p, false);
	if (in_memory && !p->in_memory)
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_INFO,
			 "this standby has no cache folder: what is changed at run time is kept "
			 "there until it ends");
	p->in_memory = in_memory;
	p->stores = !in_memory;
	memcpy(p->stored, p->sent, sizeof(p->stored));
	if (is_end_of(p, &p->sent_end))
		p->of[p->sent_end.table].push = PUSH_DONE;
	tell_news(sm, NEWS_STANDBY_STORED);
}

static void take_reply(struct sm *sm, struct settle_peer *p, const uint8_t *bytes, size_t len)
{
	switch ((enum settle_reply)bytes[0]) {
	case REPLY_IN_MEMORY:
	case REPLY_FINE:
		if (p->busy_with == MESSAGE_ROWS)
			rows_taken(sm, p, bytes[0] == REPLY_IN_MEMORY);
		else if (p->busy_with == MESSAGE_DIGESTS && len >= 5)
			take_comparison(sm, p,
					(uint32_t)bytes[1] << 24 | (uint32_t)bytes[2] << 16 |
						(uint32_t)bytes[3] << 8 | bytes[4],
					true);
		return;
	case REPLY_NOT_STORED:
		tell_refusal(sm, p, true);
		p->stores = false;
		not_stored(sm, p);
		return;
	case REPLY_BUSY:
		not_taken(sm, p, SOON);
		return;
	case REPLY_BAD:
		break;
	}
	not_taken(sm, p, PAUSE);
}

static void on_reply(struct sm *sm, void *arg, guid_t guid, enum channel_end end,
		     const uint8_t *bytes, size_t len)
{
	struct settle_peer *p = settle_peer_of(sm->m.settle, guid);

	if (!p || !p->busy || (uintptr_t)arg != p->question)
		return;
	p->busy = false;
	if (end == CHANNEL_REPLIED && len >= 1)
		take_reply(sm, p, bytes, len);
	else
		not_taken(sm, p, SOON);
	p->n_sent = 0;
	tell_news(sm, NEWS_SETTLED);
}

/* ---- its messages ---------------------------------------------------------------------------- */

static void reply(struct sm *sm, const struct channel_ticket *ticket, enum settle_reply status,
		  uint32_t differ)
{
	const uint8_t bytes[5] = { (uint8_t)status, (uint8_t)(differ >> 24),
				   (uint8_t)(differ >> 16), (uint8_t)(differ >> 8),
				   (uint8_t)differ };

	channel_reply(sm, ticket, bytes, sizeof(bytes));
}

/*
 * Is a number credible? A faulty or hostile manager could use up all numbers, and no change would
 * be possible.
 */
static bool is_credible(uint64_t number, uint64_t own)
{
	return number <= own || number - own <= LEAP;
}

/* Are arrived rows credible? Secrets are taken only from managers that may have ours. */
static bool rows_are_credible(const struct sm *sm, struct ledger_row **rows, size_t n)
{
	uint32_t tables = tables_for(sm);

	for (size_t i = 0; i < n; i++) {
		enum ledger_table t = ledger_row_key(rows[i])->table;

		if (!(tables >> t & 1) ||
		    !is_credible(ledger_row_number(rows[i]),
				 ledger_number(sm->m.settle->ledger, t)))
			return false;
	}
	return true;
}

static bool is_alike(const struct ledger_digest *a, const struct ledger_digest *b)
{
	return a->hash == b->hash && a->rows == b->rows;
}

static void on_digests(struct sm *sm, struct settle_peer *p, const struct channel_message *m)
{
	struct settle *s = sm->m.settle;
	struct settle_digests d;
	uint32_t differ = 0;

	if (!digests_read(m->bytes, m->len, &d) || !is_credible(d.term, s->meta.term)) {
		reply(sm, &m->ticket, REPLY_BAD, 0);
		return;
	}
	p->tables = d.tables & tables_for(sm);
	p->term = d.term;
	p->state = d.state;
	p->is_founded = d.is_founded;
	p->has_doubts = d.has_doubts;
	p->stores = d.is_stored;
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		struct ledger_digest own;

		if (!(p->tables >> t & 1))
			continue;
		own = ledger_digest(s->ledger, t);
		if (!is_alike(&own, &d.of[t]))
			differ |= 1u << t;
	}
	reply(sm, &m->ticket, REPLY_FINE, differ);
	settle_heard(sm, p);
	take_comparison(sm, p, differ, false);
}

static void on_buckets(struct sm *sm, struct settle_peer *p, const struct channel_message *m)
{
	uint64_t theirs[LEDGER_BUCKETS], ours[LEDGER_BUCKETS];
	struct settle_half *h;
	struct settle_end q;

	if (!buckets_read(m->bytes, m->len, &q, theirs) || !(tables_for(sm) >> q.table & 1)) {
		reply(sm, &m->ticket, REPLY_BAD, 0);
		return;
	}
	h = &p->of[q.table];
	ledger_buckets(sm->m.settle->ledger, q.table, ours);
	memset(h->buckets, 0, sizeof(h->buckets));
	for (unsigned i = 0; i < LEDGER_BUCKETS; i++) {
		if (ours[i] != theirs[i])
			h->buckets[i / 8] |= (uint8_t)(1u << i % 8);
	}
	h->bucket = 0;
	h->push_round = q.round;
	h->push = PUSH_ASKED;
	reply(sm, &m->ticket, REPLY_FINE, 0);
}

static void on_rows(struct sm *sm, struct settle_peer *p, const struct channel_message *m)
{
	struct settle_end end;
	size_t n = 0;
	struct ledger_row **rows = rows_read(m->bytes, m->len, &end, &n);

	if (rows && rows_are_credible(sm, rows, n)) {
		disk_take(sm, m->from, rows, n, &m->ticket, &end);
		return;
	}
	words_rows_free(rows, n);
	if (told_first(&p->told, TOLD_BAD))
		log_guid(sm, m->from, LOG_ID_REPLICA, LOGB_ERROR,
			 "this manager sent rows of the ledger that cannot be: none of them was "
			 "taken; run the same version on both hosts");
	reply(sm, &m->ticket, REPLY_BAD, 0);
}

/*
 * Called when all rows of a table have arrived and are stored: everything is here that the manager
 * had when it was asked.
 */
static void pull_ended(struct sm *sm, struct settle_peer *p, const struct settle_end *end)
{
	struct settle_half *h = end->table < LEDGER_TABLES ? &p->of[end->table] : NULL;

	if (h && h->pull == PULL_ASKED && h->pull_round == end->round)
		h->pull = PULL_DONE;
	settle_look(sm);
}

void peers_rows_stored(struct sm *sm, guid_t from, const struct channel_ticket *ticket,
		       const struct settle_end *end, enum disk_end stored)
{
	static const enum settle_reply replies[] = {
		[DISK_STORED] = REPLY_FINE,
		[DISK_NO_FOLDER] = REPLY_IN_MEMORY,
		[DISK_SHUT] = REPLY_NOT_STORED,
		[DISK_FAILED] = REPLY_NOT_STORED,
	};
	struct settle_peer *p = settle_peer_of(sm->m.settle, from);

	reply(sm, ticket, replies[stored], 0);
	if (!p)
		return;
	if (stored != DISK_FAILED) {
		pull_ended(sm, p, end);
		return;
	}
	not_taken(sm, p, PAUSE);
	/*
	 * Devices may be written by these rows already. If the master dies before it sends them
	 * again, this standby must have doubts.
	 */
	if (sm->state == SM_STANDBY)
		sm->m.settle->doubts |= DOUBT_FOLLOWED;
}

/*
 * Handles a message. If the manager's connection opened before ours, settle_peer() makes its row
 * later.
 */
static void on_message(struct sm *sm, void *arg, struct channel_message *m)
{
	struct settle_peer *p = settle_peer_of(sm->m.settle, m->from);

	contact_heard(sm, m->from);
	if (!p || !m->len) {
		reply(sm, &m->ticket, p ? REPLY_BAD : REPLY_BUSY, 0);
		return;
	}
	switch ((enum settle_message)m->bytes[0]) {
	case MESSAGE_DIGESTS:
		on_digests(sm, p, m);
		return;
	case MESSAGE_BUCKETS:
		on_buckets(sm, p, m);
		return;
	case MESSAGE_ROWS:
		on_rows(sm, p, m);
		return;
	}
	reply(sm, &m->ticket, REPLY_BAD, 0);
}

void peers_listen(struct sm *sm)
{
	channel_register(sm, CHANNEL_LEDGER, on_message, NULL);
}

/* ---- as others see it ------------------------------------------------------------------------ */

/* Do changes wait for the manager: does it answer in time, and can it store? */
static bool is_waited_for(const struct sm *sm, const struct settle_peer *p)
{
	return !p->refuses && (!p->busy || sm->now < p->sent_at + PATIENCE);
}

/*
 * Has it all rows up to `number`? The row queued last may have a lower one, as rows after it came
 * from the manager itself.
 */
static bool has_up_to(const struct settle_peer *p, enum ledger_clock clock, uint64_t number)
{
	return is_pushed(p, false) && p->stored[clock] >= MIN(number, p->queued[clock]);
}

struct settle_reach settle_reach(const struct sm *sm, enum ledger_table table, uint64_t number)
{
	const struct settle *s = sm->m.settle;
	enum ledger_clock clock = ledger_table(table)->clock;
	struct settle_reach reach = { 0 };

	for (unsigned i = 0; i < s->n_peers; i++) {
		const struct settle_peer *p = &s->peers[i];
		bool has = p->guid && has_up_to(p, clock, number);

		if (!p->guid || !(p->tables >> table & 1))
			continue;
		reach.of++;
		reach.with += has && p->stores;
		reach.waited_for += !has && is_waited_for(sm, p);
	}
	return reach;
}

bool settle_peer_at(const struct sm *sm, unsigned n, struct settle_peer_view *ret)
{
	const struct settle *s = sm->m.settle;

	for (unsigned i = 0; i < s->n_peers; i++) {
		const struct settle_peer *p = &s->peers[i];

		if (!p->guid || n-- > 0)
			continue;
		*ret = (struct settle_peer_view){
			.guid = p->guid,
			.is_settled = peer_is_settled(p),
			.refuses = p->refuses,
			.in_memory = p->in_memory,
			.n_behind = peer_behind(s, p),
		};
		return true;
	}
	return false;
}

bool settle_has_all(const struct sm *sm, guid_t guid)
{
	const struct settle_peer *p = settle_peer_of(sm->m.settle, guid);

	if (!p)
		return !settle_knows(sm, guid);
	return is_pushed(p, true) && !p->n_queue && !(p->busy && p->busy_with == MESSAGE_ROWS);
}
