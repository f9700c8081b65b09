// SPDX-License-Identifier: BSD-2-Clause
#include "sm/admin/marks_peers.h"

#include <inttypes.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/channel/channel.h"
#include "sm/channel/peer_rows.h"
#include "util/mem.h"

#define PAUSE	    (10 * MONO_S)
#define REPLY_BYTES 9 /* enum reply_status, digest of the table that the standby has */

enum reply_status { REPLY_STORED = 1, REPLY_NOT_STORED, REPLY_DAMAGED, REPLY_BUSY };

struct mark_peer {
	guid_t guid;	    /* 0: a free row */
	uint64_t has, sent; /* digests; 0: none that is known */
	mono_t again;
	bool busy, refuses, fault_told;
};

struct marks_peers {
	struct mark_peer peers[MAX_REMOTE_SMS];
	unsigned n_rows; /* of peers: those behind were never in use, and are not looked at */
	/* As standby: the message whose table is being stored. */
	struct channel_ticket ticket;
	uint64_t received; /* its digest */
	bool has_ticket;
};

void marks_peers_new(struct sm *sm, const struct sm_paths *paths)
{
	sm->m.marks_peers = xcalloc(1, sizeof(*sm->m.marks_peers));
}

void marks_peers_free(struct sm *sm)
{
	free(sm->m.marks_peers);
	sm->m.marks_peers = NULL;
}

/* ---- as master ------------------------------------------------------------------------------- */

static struct mark_peer *peer_of(struct marks_peers *mp, guid_t guid)
{
	return peer_row_find(mp->peers, sizeof(mp->peers[0]), guid);
}

void marks_peers_standby(struct sm *sm, guid_t guid, bool connected)
{
	struct marks_peers *mp = sm->m.marks_peers;

	peer_row_change(mp->peers, sizeof(mp->peers[0]), &mp->n_rows, guid, connected);
}

bool marks_peers_are_there(const struct sm *sm)
{
	for (unsigned i = 0; i < MAX_REMOTE_SMS; i++)
		if (sm->m.marks_peers->peers[i].guid)
			return true;
	return false;
}

bool marks_peers_have(const struct sm *sm, uint64_t digest)
{
	const struct marks_peers *mp = sm->m.marks_peers;

	for (unsigned i = 0; i < MAX_REMOTE_SMS; i++)
		if (mp->peers[i].guid && mp->peers[i].has != digest)
			return false;
	return marks_peers_are_there(sm);
}

bool marks_peers_is_with(const struct sm *sm, guid_t guid)
{
	const struct mark_peer *p = peer_of(sm->m.marks_peers, guid);

	return !sm_marks_generation(sm) || (p && (p->refuses || p->has == marks_digest(sm)));
}

static void take_reply(struct sm *sm, struct mark_peer *p, const uint8_t *reply)
{
	uint64_t digest = 0;

	for (unsigned i = 0; i < 8; i++)
		digest = digest << 8 | reply[1 + i];
	switch ((enum reply_status)reply[0]) {
	case REPLY_STORED:
		p->has = digest == p->sent ? digest : 0;
		p->fault_told = false;
		p->again = sm->now;
		tell_news(sm, NEWS_STANDBY_STORED);
		return;
	case REPLY_BUSY:
		p->again = sm->now + MONO_S;
		return;
	case REPLY_NOT_STORED:
	case REPLY_DAMAGED:
		break;
	}
	if (!p->fault_told)
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this standby cannot store which links are out of service: its own log "
			 "says why; after a takeover it would use them");
	p->fault_told = true;
}

static void on_reply(struct sm *sm, void *arg, guid_t guid, enum channel_end end,
		     const uint8_t *bytes, size_t len)
{
	struct mark_peer *p = peer_of(sm->m.marks_peers, guid);

	if (!p)
		return;
	p->busy = false;
	p->refuses = end == CHANNEL_REFUSED;
	p->again = sm->now + PAUSE;
	if (end == CHANNEL_REPLIED && len >= REPLY_BYTES)
		take_reply(sm, p, bytes);
}

/*
 * The standby lacks the table, and none is on its way to it. A manager that never had a mark takes
 * none away from others.
 */
static bool is_behind(const struct sm *sm, const struct mark_peer *p)
{
	return p->guid && sm_marks_generation(sm) && !p->busy && p->has != marks_digest(sm);
}

static void serve_peer(struct sm *sm, struct mark_peer *p)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (!is_behind(sm, p) || sm->now < p->again)
		return;
	p->again = sm->now + PAUSE;
	text = mark_table_text(marks_table(sm), &len);
	p->sent = marks_digest(sm);
	p->busy = channel_send(sm, p->guid, CHANNEL_MARKS, sm_marks_generation(sm), text, len,
			       on_reply, NULL) == 0;
}

/* ---- as standby ------------------------------------------------------------------------------ */

static void reply_stored(struct sm *sm, enum reply_status status)
{
	struct marks_peers *mp = sm->m.marks_peers;
	uint8_t reply[REPLY_BYTES] = { (uint8_t)status };

	if (!mp->has_ticket)
		return;
	mp->has_ticket = false;
	for (unsigned i = 0; i < 8; i++)
		reply[1 + i] = (uint8_t)(mp->received >> 8 * (7 - i));
	channel_reply(sm, &mp->ticket, reply, sizeof(reply));
}

static void on_stored(struct sm *sm, bool ok)
{
	reply_stored(sm, ok ? REPLY_STORED : REPLY_NOT_STORED);
}

static void on_message(struct sm *sm, void *arg, struct channel_message *m)
{
	struct marks_peers *mp = sm->m.marks_peers;
	struct mark_table *t = NULL;

	if (mp->has_ticket) {
		const uint8_t busy[REPLY_BYTES] = { REPLY_BUSY };

		channel_reply(sm, &m->ticket, busy, sizeof(busy));
		return;
	}
	mp->ticket = m->ticket;
	mp->has_ticket = true;
	mp->received = 0;
	if (mark_table_read((const char *)m->bytes, m->len, &t) < 0) {
		reply_stored(sm, REPLY_DAMAGED);
		return;
	}
	mp->received = mark_table_digest(t);
	if (t->generation < sm_marks_generation(sm))
		log_guid(sm, m->from, LOG_ID_REPLICA, LOGB_ERROR,
			 "this master knows an older table of links out of service (generation "
			 "%" PRIu64 ", here %" PRIu64 "), which counts: look at opensmctl marks",
			 t->generation, sm_marks_generation(sm));
	if (mp->received == marks_digest(sm)) {
		mark_table_free(t);
		reply_stored(sm, REPLY_STORED);
	} else if (!marks_take_over(sm, t, on_stored)) {
		reply_stored(sm, REPLY_BUSY);
	}
}

void marks_peers_listen(struct sm *sm)
{
	channel_register(sm, CHANNEL_MARKS, on_message, NULL);
}

/* ---- when ------------------------------------------------------------------------------------ */

void marks_peers_state_changed(struct sm *sm)
{
	struct marks_peers *mp = sm->m.marks_peers;

	memset(mp->peers, 0, sizeof(mp->peers));
	mp->has_ticket = false;
}

void marks_peers_tick(struct sm *sm)
{
	for (unsigned i = 0; i < sm->m.marks_peers->n_rows && sm->state == SM_MASTER; i++)
		serve_peer(sm, &sm->m.marks_peers->peers[i]);
}

mono_t marks_peers_next(const struct sm *sm)
{
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; i < sm->m.marks_peers->n_rows && sm->state == SM_MASTER; i++) {
		const struct mark_peer *p = &sm->m.marks_peers->peers[i];

		if (is_behind(sm, p))
			next = mono_min(next, MAX(p->again, sm->now));
	}
	return next;
}
