// SPDX-License-Identifier: BSD-2-Clause
/*
 * Standbys of ours store what the master stores (channel.h, stream CHANNEL_TENANTS).
 *
 *   MET --HELLO--> the same table? yes --> FOLLOWS: gets the lines of each batch
 *    ^              no --whole table--> FOLLOWS
 *    '-- a reply says otherwise, or that it could not store: asked again after a pause
 *
 * A change waits for the standbys that are connected; for one that takes longer than PATIENCE only
 * if require_standby says so.
 *
 * As a standby: entries that follow from our table are written behind our file; a whole table takes
 * its place. A table of ours that holds what the master's does not is kept as `tenants.diverged`.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sm/channel/channel.h"
#include "sm/channel/peer_rows.h"
#include "sm/admin/tenancy_internal.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "util/mem.h"
#include "util/told.h"

#define PATIENCE   (2 * MONO_S)
#define PAUSE	   (5 * MONO_S)
#define PAUSE_BUSY (200 * MONO_MS)
#define OUTBOX_MAX (4u << 20) /* lines for one standby; beyond, it gets the whole table */
#define DIVERGED   ".diverged"

enum message_kind {
	MESSAGE_HELLO = 1,
	MESSAGE_LINES = 2,
	MESSAGE_TABLE = 3,
	MESSAGE_TABLE_INSTEAD = 4, /* the same to one whose table went apart: it keeps that aside */
};

/* Of a reply. */
enum reply_status {
	REPLY_SAME = 0,
	REPLY_OTHER = 1,
	REPLY_NOT_STORED = 2,
	REPLY_BUSY = 3, /* what came before is still on its way to the disk */
};

/* Identifies a table and its state, in a HELLO and in every reply. */
struct mark {
	uint64_t lineage, generation, chain;
};
#define MARK_BYTES  24u
#define HELLO_BYTES (1 + MARK_BYTES)
#define REPLY_BYTES (1 + MARK_BYTES)

enum { TOLD_FAULT };

/* A standby that is connected. */
struct peer {
	guid_t guid; /* 0: a free row */
	enum { PEER_MET, PEER_ASKED, PEER_LACKS, PEER_FOLLOWS } state;
	uint64_t generation;   /* that it has stored, where it follows */
	struct mark sent;      /* the table that it has then, by what is under way */
	mono_t sent_at, again; /* again: nothing is sent before */
	bool busy;
	bool went_apart; /* it had entries that we have not */
	struct told told; /* that it cannot store */
	char *outbox;	 /* lines that it has not been sent */
	size_t outbox_len;
	uint64_t outbox_generation; /* behind them */
};

#define HISTORY 4096u /* entries whose chain value is remembered */

struct peers {
	struct peer rows[MAX_REMOTE_SMS];
	unsigned n_rows; /* those behind were never in use, and are not looked at */
	/* By generation, modulo: what the chain value was. As far as this process has seen. */
	struct {
		uint64_t generation, chain;
	} history[HISTORY];
	/* As a standby: the message whose disk job is out. */
	struct channel_ticket ticket;
	bool has_ticket;
	struct mark too_large; /* a table that no standby can be sent */
	struct mark master; /* as it said last */
};

static struct mark own_mark(const struct sm *sm)
{
	const struct tenants *t = partition_tenants(sm);

	return (struct mark){ tenants_lineage(t), tenants_generation(t), tenants_chain(t) };
}

static bool is_same(const struct mark *a, const struct mark *b)
{
	return a->lineage == b->lineage && a->generation == b->generation && a->chain == b->chain;
}

static void put_mark(uint8_t *to, const struct mark *m)
{
	ib_bits_put(to, 0, 64, m->lineage);
	ib_bits_put(to, 64, 64, m->generation);
	ib_bits_put(to, 128, 64, m->chain);
}

static struct mark get_mark(const uint8_t *from)
{
	return (struct mark){ ib_bits_get(from, 0, 64), ib_bits_get(from, 64, 64),
			      ib_bits_get(from, 128, 64) };
}

/* ---- as master ----------------------------------------------------------------------------- */

static struct peer *peer_of(struct sm *sm, guid_t guid)
{
	const struct peers *all = sm->m.tenancy->peers;

	return peer_row_find(all->rows, sizeof(all->rows[0]), guid);
}

static void peer_lacks(struct sm *sm, struct peer *p, bool pause)
{
	p->state = PEER_LACKS;
	p->again = pause ? sm->now + PAUSE : 0;
	free(p->outbox);
	p->outbox = NULL;
	p->outbox_len = 0;
}

void peers_note(struct sm *sm, uint64_t generation, uint64_t chain)
{
	struct peers *all = sm->m.tenancy->peers;

	all->history[generation % HISTORY].generation = generation;
	all->history[generation % HISTORY].chain = chain;
}

/* Does the table of this mark hold entries that ours does not come from, as far as is known? */
static bool went_apart(const struct sm *sm, const struct mark *m)
{
	const struct peers *all = sm->m.tenancy->peers;
	const struct mark own = own_mark(sm);

	if (!m->generation || m->lineage != own.lineage || m->generation > own.generation)
		return m->generation != 0;
	return all->history[m->generation % HISTORY].generation == m->generation &&
	       all->history[m->generation % HISTORY].chain != m->chain;
}

static void take_reply(struct sm *sm, struct peer *p, enum reply_status status,
		       const struct mark *has)
{
	bool asked = p->state == PEER_ASKED;

	if (status == REPLY_NOT_STORED) {
		if (told_first(&p->told, TOLD_FAULT))
			log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_ERROR,
				 "this standby cannot store partitions made at run time: its own "
				 "log says why; tried again every %d s",
				 (int)(PAUSE / MONO_S));
		peer_lacks(sm, p, true);
		return;
	}
	if (status == REPLY_BUSY) {
		peer_lacks(sm, p, false);
		p->state = PEER_MET;
		p->again = sm->now + PAUSE_BUSY;
		return;
	}
	/* A standby plays only lines that follow from its table: their chain is looked at there. */
	if (asked ? is_same(has, &p->sent)
		  : status == REPLY_SAME && has->generation == p->sent.generation) {
		p->state = PEER_FOLLOWS;
		p->generation = has->generation;
		p->went_apart = false;
		p->told = (struct told){ 0 };
		tell_news(sm, NEWS_STANDBY_STORED);
		return;
	}
	p->went_apart = asked && went_apart(sm, has);
	peer_lacks(sm, p, false);
}

static void on_reply(struct sm *sm, void *arg, guid_t guid, enum channel_end end,
		     const uint8_t *bytes, size_t len)
{
	struct peer *p = peer_of(sm, guid);
	struct mark has;

	if (!p || !p->busy)
		return;
	p->busy = false;
	sm->m.tenancy->settled = true;
	if (end != CHANNEL_REPLIED || len < REPLY_BYTES) {
		p->state = PEER_MET;
		p->again = sm->now + PAUSE;
		return;
	}
	has = get_mark(bytes + 1);
	take_reply(sm, p, bytes[0], &has);
}

static void send_message(struct sm *sm, struct peer *p, enum message_kind kind, const void *bytes,
			 size_t len)
{
	const struct mark own = own_mark(sm);
	uint8_t *message = xmalloc(HELLO_BYTES + len);
	struct mark said = own;
	int r;

	/* The table has more while a batch is being written: a standby must not miss that. */
	if (kind == MESSAGE_LINES)
		said.generation = p->outbox_generation;
	message[0] = (uint8_t)kind;
	put_mark(message + 1, &said);
	if (len)
		memcpy(message + HELLO_BYTES, bytes, len);
	r = channel_send(sm, p->guid, CHANNEL_TENANTS, own.generation, message, HELLO_BYTES + len,
			 on_reply, NULL);
	free(message);
	p->busy = r == 0;
	p->sent = own;
	p->sent_at = sm->now;
	if (r < 0)
		p->again = sm->now + PAUSE;
	if (r == -EMSGSIZE)
		sm->m.tenancy->peers->too_large = own;
}

static void tell_too_large(struct sm *sm, struct peer *p)
{
	const struct tenants *t = partition_tenants(sm);

	if (told_first(&p->told, TOLD_FAULT))
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this standby cannot be given the partitions made at run time: their "
			 "%zu members are more than the %u MiB of text that can be sent; copy "
			 "%s to its cache folder and start it again",
			 tenants_members(t), CHANNEL_MESSAGE_MAX >> 20,
			 sm->m.tenancy->path ? sm->m.tenancy->path : TENANTS_FILE);
}

/* Known without its text, which is as large. */
static bool is_too_large(const struct sm *sm)
{
	const struct mark own = own_mark(sm);

	return tenants_members(partition_tenants(sm)) >
		       CHANNEL_MESSAGE_MAX / TENANTS_MEMBER_BYTES ||
	       is_same(&own, &sm->m.tenancy->peers->too_large);
}

static void send_table(struct sm *sm, struct peer *p)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (is_too_large(sm)) {
		tell_too_large(sm, p);
		p->again = sm->now + PAUSE;
		return;
	}
	text = tenants_text(partition_tenants(sm), &len);
	send_message(sm, p, p->went_apart ? MESSAGE_TABLE_INSTEAD : MESSAGE_TABLE, text, len);
}

static void send_lines(struct sm *sm, struct peer *p)
{
	_cleanup_free_ char *lines = take(p->outbox);
	size_t len = p->outbox_len;

	p->outbox_len = 0;
	send_message(sm, p, MESSAGE_LINES, lines, len);
	p->sent.generation = p->outbox_generation;
	if (!p->busy)
		peer_lacks(sm, p, true);
}

/* While a batch is being written the table is ahead of the disk: what is on the disk is sent. */
static void serve_peer(struct sm *sm, struct peer *p)
{
	if (!p->guid || p->busy || sm->now < p->again)
		return;
	if (p->state == PEER_FOLLOWS) {
		if (p->outbox_len)
			send_lines(sm, p);
		return;
	}
	if (sm->m.tenancy->writing || sm->m.tenancy->batch.first)
		return;
	if (p->state == PEER_LACKS)
		send_table(sm, p);
	else
		send_message(sm, p, MESSAGE_HELLO, NULL, 0);
	if (p->busy)
		p->state = PEER_ASKED;
}

void peers_batch(struct sm *sm, const char *lines, size_t len)
{
	struct peers *all = sm->m.tenancy->peers;

	for (unsigned i = 0; i < ARRAY_SIZE(all->rows); i++) {
		struct peer *p = &all->rows[i];

		if (!p->guid || p->state == PEER_LACKS || p->state == PEER_MET)
			continue;
		if (p->outbox_len + len > OUTBOX_MAX) {
			peer_lacks(sm, p, false);
			continue;
		}
		p->outbox = xrealloc(p->outbox, p->outbox_len + len + 1, 1);
		memcpy(p->outbox + p->outbox_len, lines, len);
		p->outbox_len += len;
		p->outbox_generation = tenants_generation(partition_tenants(sm));
	}
}

/* A standby that takes longer, or could not be sent to, is not waited for. */
static bool is_waited_for(const struct sm *sm, const struct peer *p)
{
	return p->busy ? sm->now < p->sent_at + PATIENCE : sm->now >= p->again;
}

void peers_reach(const struct sm *sm, uint64_t *ret_all, uint64_t *ret_some)
{
	const struct peers *all = sm->m.tenancy->peers;

	*ret_all = UINT64_MAX;
	*ret_some = 0;
	for (unsigned i = 0; i < all->n_rows; i++) {
		const struct peer *p = &all->rows[i];
		uint64_t has = p->state == PEER_FOLLOWS ? p->generation : 0;

		if (!p->guid)
			continue;
		*ret_some = MAX(*ret_some, has);
		if (is_waited_for(sm, p))
			*ret_all = MIN(*ret_all, has);
	}
}

unsigned sm_tenancy_standbys(const struct sm *sm)
{
	const struct peers *all = sm->m.tenancy->peers;
	unsigned n = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(all->rows); i++)
		n += all->rows[i].guid && all->rows[i].state == PEER_FOLLOWS;
	return n;
}

bool tenancy_is_with(const struct sm *sm, guid_t guid)
{
	const struct peers *all = sm->m.tenancy->peers;
	const uint64_t generation = tenants_generation(partition_tenants(sm));

	for (unsigned i = 0; i < ARRAY_SIZE(all->rows); i++) {
		const struct peer *p = &all->rows[i];

		if (p->guid == guid && p->state == PEER_FOLLOWS && p->generation == generation)
			return true;
	}
	return !generation;
}

static void forget_peer(struct peer *p)
{
	free(p->outbox);
	*p = (struct peer){ 0 };
}

void tenancy_standby(struct sm *sm, guid_t guid, bool connected)
{
	struct peers *all = sm->m.tenancy->peers;
	struct peer *p = guid ? peer_of(sm, guid) : NULL;

	if (p)
		forget_peer(p);
	peer_row_change(all->rows, sizeof(all->rows[0]), &all->n_rows, guid, connected);
}

void peers_tick(struct sm *sm)
{
	struct peers *all = sm->m.tenancy->peers;

	if (sm->state != SM_MASTER || !sm->first_sweep_done || store_is_closed(sm->m.tenancy))
		return;
	for (unsigned i = 0; i < all->n_rows; i++)
		serve_peer(sm, &all->rows[i]);
}

mono_t peers_next(const struct sm *sm)
{
	const struct peers *all = sm->m.tenancy->peers;
	mono_t next = MONO_NEVER;

	if (sm->state != SM_MASTER)
		return MONO_NEVER;
	for (unsigned i = 0; i < all->n_rows; i++) {
		const struct peer *p = &all->rows[i];

		if (p->guid && p->busy && sm->now < p->sent_at + PATIENCE)
			next = mono_min(next, p->sent_at + PATIENCE);
		if (p->guid && !p->busy && sm->now < p->again)
			next = mono_min(next, p->again);
	}
	return next;
}

/* ---- as standby ---------------------------------------------------------------------------- */

static void reply(struct sm *sm, const struct channel_ticket *ticket, enum reply_status status)
{
	const struct mark own = own_mark(sm);
	uint8_t bytes[REPLY_BYTES];

	bytes[0] = (uint8_t)status;
	put_mark(bytes + 1, &own);
	channel_reply(sm, ticket, bytes, sizeof(bytes));
}

void peers_stored(struct sm *sm, int error)
{
	struct peers *all = sm->m.tenancy->peers;

	if (!all->has_ticket)
		return;
	all->has_ticket = false;
	/* The file may lack what the table has: the next write is whole. */
	if (error < 0)
		sm->m.tenancy->has_file = false;
	reply(sm, &all->ticket, error < 0 ? REPLY_NOT_STORED : REPLY_SAME);
}

static void store_received(struct sm *sm, const struct channel_message *m, const void *text,
			   size_t len)
{
	struct tenancy *t = sm->m.tenancy;
	char *copy = xmalloc(len + 1);

	t->peers->ticket = m->ticket;
	t->peers->has_ticket = true;
	memcpy(copy, text, len);
	store_append(sm, copy, len);
}

/* The master writes these ports' P_Keys about now: what was read of them does not count. */
static void distrust_ports(struct sm *sm, const struct tenant_entry *e)
{
	for (size_t i = 0; i < e->n_rows; i++) {
		struct port *p = fabric_find_port(sm->fabric, e->rows[i].member.guid);

		if (p)
			observe_distrust_pkeys(sm->fabric, p);
	}
}

static void distrust_all(struct sm *sm)
{
	FABRIC_EACH_END_PORT(sm->fabric, p)
		observe_distrust_pkeys(sm->fabric, p);
}

/* Plays the line, if it is the next one. */
static bool play_line(struct sm *sm, const char *line, size_t len)
{
	struct tenant_entry e = { 0 }, inverse = { 0 };
	uint64_t chain;
	char why[200];
	bool fits;

	if (tenants_entry_parse(line, len, &e, &chain) < 0)
		return false;
	fits = tenants_follows(partition_tenants(sm), &e, chain, why, sizeof(why));
	if (fits) {
		tenants_inverse(partition_tenants(sm), &e, &inverse);
		tenants_play(partition_tenants(sm), &e, chain);
		peers_note(sm, e.generation, chain);
		distrust_ports(sm, &e);
		distrust_ports(sm, &inverse);
	}
	tenant_entry_clear(&inverse);
	tenant_entry_clear(&e);
	return fits;
}

static void take_lines(struct sm *sm, const struct channel_message *m)
{
	const char *at = (const char *)m->bytes + HELLO_BYTES;
	size_t left = m->len - HELLO_BYTES, played = 0;

	while (left > played) {
		const char *end = memchr(at + played, '\n', left - played);

		if (!end || !play_line(sm, at + played, (size_t)(end - at) - played))
			break;
		played = (size_t)(end - at) + 1;
	}
	partition_join(sm);
	if (!played) {
		reply(sm, &m->ticket, REPLY_OTHER);
		return;
	}
	store_received(sm, m, at, played);
}

/* Ours has entries that the master's table does not come from. */
static bool diverges(const struct sm *sm, const struct tenants *other)
{
	const struct tenants *own = partition_tenants(sm);

	return tenants_generation(own) && (tenants_lineage(own) != tenants_lineage(other) ||
					   tenants_generation(own) > tenants_generation(other) ||
					   (tenants_generation(own) == tenants_generation(other) &&
					    tenants_chain(own) != tenants_chain(other)));
}

static void keep_diverged(struct sm *sm)
{
	struct tenancy *t = sm->m.tenancy;
	_cleanup_free_ char *aside = xasprintf("%s%s", t->path, DIVERGED);

	/*
	 * A second name does not wait for the disk, and ours stays until the master's takes its
	 * place: without a table all keys would be cleared. The first one that is kept stays.
	 */
	if (link(t->path, aside) < 0) {
		log_error("partitions made at run time: the stored table up to generation %" PRIu64
			  " differs from the master's and is dropped: %s could not be made, or is "
			  "there already",
			  tenants_generation(partition_tenants(sm)), aside);
		return;
	}
	log_error("partitions made at run time: the stored table up to generation %" PRIu64
		  " differs from the master's; ours is kept as %s, the master's is in force",
		  tenants_generation(partition_tenants(sm)), aside);
}

static void take_table(struct sm *sm, const struct channel_message *m)
{
	struct tenancy *t = sm->m.tenancy;
	struct conf_report report = { 0 };
	struct tenants *table = NULL;
	size_t good;
	int r = tenants_parse((const char *)m->bytes + HELLO_BYTES, m->len - HELLO_BYTES,
			      "the master", &report, &table, &good);

	if (r < 0) {
		log_error("partitions made at run time, as the master sent them: %s",
			  report.n ? report.findings[0].text : "they cannot be read");
		tenants_free(table);
		reply(sm, &m->ticket, REPLY_OTHER);
	} else {
		if (t->path && (t->store == STORE_CORRUPT || diverges(sm, table) ||
				m->bytes[0] == MESSAGE_TABLE_INSTEAD))
			keep_diverged(sm);
		partition_set_tenants(sm, table);
		partition_heard_of(sm, tenants_generation(table));
		distrust_all(sm);
		store_is_whole(sm);
		store_received(sm, m, "", 0);
	}
	conf_report_clear(&report);
}

static void on_message(struct sm *sm, void *arg, struct channel_message *m)
{
	struct tenancy *t = sm->m.tenancy;
	const struct mark own = own_mark(sm);

	if (m->len < HELLO_BYTES || sm->state != SM_STANDBY)
		return;
	t->peers->master = get_mark(m->bytes + 1);
	if (t->store == STORE_NONE || t->writing)
		reply(sm, &m->ticket, t->writing ? REPLY_BUSY : REPLY_NOT_STORED);
	else if (m->bytes[0] == MESSAGE_LINES && t->store == STORE_FINE)
		take_lines(sm, m);
	else if (m->bytes[0] == MESSAGE_TABLE || m->bytes[0] == MESSAGE_TABLE_INSTEAD)
		take_table(sm, m);
	else
		reply(sm, &m->ticket,
		      t->store == STORE_FINE && is_same(&own, &t->peers->master) ? REPLY_SAME
										 : REPLY_OTHER);
}

bool peers_master_had_more(const struct sm *sm, struct heard *ret)
{
	const struct mark own = own_mark(sm), *master = &sm->m.tenancy->peers->master;

	*ret = (struct heard){ master->lineage, MAX(partition_heard(sm), master->generation) };
	return partition_heard(sm) > own.generation ||
	       (master->generation && !is_same(&own, master) &&
		(own.lineage != master->lineage || own.generation < master->generation));
}

void peers_heard(struct sm *sm, const struct heard *heard)
{
	if (heard->lineage)
		sm->m.tenancy->peers->master =
			(struct mark){ heard->lineage, heard->generation, 0 };
	partition_heard_of(sm, heard->generation);
}

void peers_state_changed(struct sm *sm)
{
	struct peers *all = sm->m.tenancy->peers;

	for (unsigned i = 0; sm->state != SM_MASTER && i < ARRAY_SIZE(all->rows); i++)
		forget_peer(&all->rows[i]);
	if (sm->state == SM_MASTER)
		all->master = (struct mark){ 0 };
}

void peers_new(struct sm *sm)
{
	sm->m.tenancy->peers = xcalloc(1, sizeof(*sm->m.tenancy->peers));
	channel_register(sm, CHANNEL_TENANTS, on_message, NULL);
}

void peers_free(struct tenancy *t)
{
	for (unsigned i = 0; t->peers && i < ARRAY_SIZE(t->peers->rows); i++)
		forget_peer(&t->peers->rows[i]);
	free(t->peers);
}
