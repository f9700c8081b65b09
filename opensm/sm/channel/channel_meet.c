// SPDX-License-Identifier: BSD-2-Clause
/*
 * Handles requests of others. Any HELLO is answered, which takes no memory; CONFIRM proves its
 * sender, gives it a row, and begins its session of sending; SEGMENTs of a session are opened and
 * passed on.
 */
#include <string.h>

#include "sm/base/about.h"
#include "sm/channel/channel_internal.h"

static void count_stranger(struct sm *sm, const struct transport_event *ev)
{
	struct channel *c = sm->m.channel;
	unsigned more;

	c->stats.strangers++;
	if (log_allow(&c->log, sm->now, &more))
		log_on(ABOUT(.id = LOG_ID_REPLICA, .lid = ev->from.lid), LOGB_VERBOSE,
		       "LID %u sent a message of the channel between managers, and is not proven "
		       "to be one of ours: ignored (%u more)",
		       ev->from.lid, more);
}

static void tell_version(struct sm *sm, const struct transport_event *ev, unsigned version)
{
	struct channel *c = sm->m.channel;
	unsigned more;

	if (log_allow(&c->version_log, sm->now, &more))
		log_on(ABOUT(.id = LOG_ID_REPLICA, .lid = ev->from.lid), LOGB_ERROR,
		       "LID %u speaks version %u of the channel between managers, we speak %u: "
		       "nothing of it is taken; run the same version on both hosts",
		       ev->from.lid, version, CHANNEL_VERSION);
}

/* Answers REFUSED, unsealed. */
static void refuse(struct sm *sm, const struct transport_event *ev, const struct channel_part *rq,
		   enum channel_reason reason)
{
	const struct channel_part part = { .kind = PART_REFUSED,
					   .stream = rq->stream,
					   .reason = (uint8_t)reason,
					   .session = rq->session,
					   .serial = rq->serial,
					   .offset = rq->offset };

	channel_answer(sm, &ev->from, ev->mad, &part, NULL);
}

/* ---- HELLO and CONFIRM --------------------------------------------------------------------- */

/* The pair for a HELLO; our nonce is that of the answer. */
static struct channel_pair pair_of(const struct sm *sm, const struct channel_meeting *m)
{
	const struct channel *c = sm->m.channel;
	const struct channel_peer *p = peer_find(sm->m.channel, m->guid);
	struct channel_pair pair = { .from = m->guid,
				     .to = sm->tr->port_guid,
				     .from_life = m->life,
				     .to_life = c->life,
				     .from_nonce = m->nonce };

	pair.to_nonce = channel_nonce_make(&c->own, &pair, p ? p->turn : c->free_turn);
	return pair;
}

static void on_hello(struct sm *sm, const struct transport_event *ev,
		     const struct channel_part *hello)
{
	struct channel *c = sm->m.channel;
	struct channel_meeting m;
	const struct channel_peer *p;
	struct channel_pair pair;
	uint8_t bytes[CHM_BYTES];
	struct channel_part part = { .kind = PART_WELCOME, .bytes = bytes, .n = sizeof(bytes) };

	channel_meeting_read(hello, &m);
	if (!m.life || !peer_is_welcome(sm, m.guid)) {
		count_stranger(sm, ev);
		return;
	}
	p = peer_find(c, m.guid);
	pair = pair_of(sm, &m);
	part.session = p ? p->in_session.id : 0;
	part.tag = channel_proof(&c->secret, CHANNEL_PROOF_TO, &pair, part.session);
	m = (struct channel_meeting){ .guid = pair.to, .life = c->life, .nonce = pair.to_nonce };
	channel_meeting_write(&m, bytes);
	channel_answer(sm, &ev->from, ev->mad, &part, NULL);
}

static void confirm(struct sm *sm, const struct channel_peer *p, const struct transport_event *ev)
{
	const struct channel_part part = { .kind = PART_CONFIRMED, .session = p->in_session.id };

	channel_answer(sm, &ev->from, ev->mad, &part, p->in_session.back);
}

/* Begins the session in which a proven sender sends. */
static void begin_session(struct sm *sm, struct channel_peer *p, const struct channel_pair *pair)
{
	struct channel *c = sm->m.channel;

	in_reset(c, p);
	channel_session_make(&c->secret, pair, &p->in_session);
	p->turn = ++c->n_sessions;
	peer_lives(sm, p, pair->from_life);
	if (!p->connected && !p->hello_out)
		p->hello_at = sm->now;
}

static bool is_proven(const struct channel *c, const struct channel_pair *pair,
		      const struct channel_part *part)
{
	const struct channel_tag tag =
		channel_proof(&c->secret, CHANNEL_PROOF_FROM, pair, part->session);

	return channel_tag_is(&tag, &part->tag);
}

/*
 * Is it the CONFIRM of the present session, repeated as its answer was lost? Any other is too late.
 */
static bool is_repeated(const struct sm *sm, const struct channel_meeting *m,
			const struct channel_pair *fresh, const struct channel_part *part)
{
	const struct channel_peer *p = peer_find(sm->m.channel, m->guid);
	struct channel_pair pair = *fresh;

	if (!p || !part->session || p->in_session.id != part->session)
		return false;
	pair.to_nonce = m->answered;
	return is_proven(sm->m.channel, &pair, part);
}

static void on_confirm(struct sm *sm, const struct transport_event *ev,
		       const struct channel_part *part)
{
	struct channel *c = sm->m.channel;
	struct channel_meeting m;
	struct channel_pair pair;
	struct channel_session session;
	struct channel_peer *p;

	channel_meeting_read(part, &m);
	if (!m.life || !peer_is_welcome(sm, m.guid)) {
		count_stranger(sm, ev);
		return;
	}
	pair = pair_of(sm, &m);
	p = peer_find(c, m.guid);
	if (is_repeated(sm, &m, &pair, part)) {
		confirm(sm, p, ev);
		return;
	}
	channel_session_make(&c->secret, &pair, &session);
	if (memcmp(&pair.to_nonce, &m.answered, sizeof(m.answered)) != 0 ||
	    session.id != part->session || !is_proven(c, &pair, part)) {
		count_stranger(sm, ev);
		return;
	}
	p = p ?: peer_add(c, m.guid);
	if (!p)
		return; /* there are more managers than rows */
	p->at = ev->from;
	p->in_at = sm->now;
	begin_session(sm, p, &pair);
	confirm(sm, p, ev);
}

/* ---- segments ------------------------------------------------------------------------------ */

static void on_segment(struct sm *sm, const struct transport_event *ev, struct channel_part *part)
{
	struct channel *c = sm->m.channel;
	struct channel_peer *p = peer_of_session(c, part->session);
	uint8_t bytes[CHANNEL_PART_BYTES];

	if (!p || !peer_is_welcome(sm, p->guid)) {
		c->stats.strangers++;
		refuse(sm, ev, part, REASON_SESSION);
		return;
	}
	if (!channel_part_open(ev, p->in_session.forth, part, bytes)) {
		c->stats.damaged++;
		return;
	}
	c->stats.parts_received++;
	p->in_at = sm->now;
	p->at = ev->from;
	in_segment(sm, p, ev, part);
	explicit_bzero(bytes, sizeof(bytes));
}

void meet_receive(struct sm *sm, const struct transport_event *ev)
{
	struct channel_part part;

	if (ib_get(ev->mad, SAH_METHOD) != MAD_SET || ev->from.qp != 1 || !channel_is_ready(sm) ||
	    !channel_part_read(ev, &part)) {
		count_stranger(sm, ev);
	} else if (part.version != CHANNEL_VERSION) {
		tell_version(sm, ev, part.version);
		refuse(sm, ev, &part, REASON_VERSION);
	} else if (part.kind == PART_HELLO) {
		on_hello(sm, ev, &part);
	} else if (part.kind == PART_CONFIRM) {
		on_confirm(sm, ev, &part);
	} else if (part.kind == PART_SEGMENT) {
		on_segment(sm, ev, &part);
	} else {
		count_stranger(sm, ev);
	}
}
