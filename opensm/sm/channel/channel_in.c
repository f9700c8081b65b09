// SPDX-License-Identifier: BSD-2-Clause
/*
 * Receives messages. Memory grows with what has arrived, not with what a part announces; all
 * together have CHANNEL_BYTES_MAX. Each segment was sealed by its sender, and numbers of messages
 * only grow within a session, so a copy cannot be delivered again.
 */
#include <string.h>

#include "sm/channel/channel_internal.h"
#include "util/mem.h"

#define HOLD	 (50 * MONO_MS) /* time that a request is held; its sender waits longer */
/* time after which a partial message is dropped if no more of it arrives */
#define IDLE_MAX (60 * MONO_S)

static void free_bytes(struct channel *c, struct channel_in *in)
{
	c->in_bytes -= in->cap;
	free_wiped(in->bytes, in->cap);
	in->bytes = NULL;
	in->cap = 0;
}

/* Drops a message for good: further parts of it are STALE, which ends the session. */
static void in_drop(struct channel *c, struct channel_in *in)
{
	free_bytes(c, in);
	*in = (struct channel_in){ .serial = in->serial };
}

void in_reset(struct channel *c, struct channel_peer *p)
{
	for (unsigned i = 0; i < CHANNEL_STREAMS; i++) {
		free_bytes(c, &p->in[i]);
		p->in[i] = (struct channel_in){ 0 };
	}
	explicit_bzero(&p->in_session, sizeof(p->in_session));
}

/* ---- answers ------------------------------------------------------------------------------- */

static void answer(struct sm *sm, const struct channel_peer *p, const struct transport_event *ev,
		   const struct channel_part *part)
{
	channel_answer(sm, &ev->from, ev->mad, part, p->in_session.back);
}

/* Makes an answer of this kind to `rq`. */
static struct channel_part answer_to(const struct channel_part *rq, enum channel_kind kind)
{
	return (struct channel_part){ .kind = kind,
				      .stream = rq->stream,
				      .session = rq->session,
				      .serial = rq->serial,
				      .offset = rq->offset };
}

static void answer_kind(struct sm *sm, const struct channel_peer *p,
			const struct transport_event *ev, const struct channel_part *rq,
			enum channel_kind kind)
{
	const struct channel_part part = answer_to(rq, kind);

	answer(sm, p, ev, &part);
}

static void refuse(struct sm *sm, const struct channel_peer *p, const struct transport_event *ev,
		   const struct channel_part *rq, enum channel_reason reason)
{
	struct channel_part part = answer_to(rq, PART_REFUSED);

	part.reason = (uint8_t)reason;
	sm->m.channel->stats.refused++;
	answer(sm, p, ev, &part);
}

static void hold(struct sm *sm, struct channel_in *in, const struct transport_event *ev)
{
	in->held = true;
	in->held_since = sm->now;
	in->held_from = ev->from;
	memcpy(in->held_mad, ev->mad, SA_DATA);
}

/* Answers a request that is held: with the reply, or PENDING. */
static void answer_held(struct sm *sm, struct channel_peer *p, unsigned stream)
{
	struct channel_in *in = &p->in[stream];
	bool replied = in->state == IN_REPLIED;
	const struct channel_part part = {
		.kind = replied ? PART_REPLY : PART_PENDING,
		.stream = (uint8_t)stream,
		.session = p->in_session.id,
		.serial = in->serial,
		.length = replied ? (uint32_t)in->reply_len : 0,
		.offset = replied ? 0 : in->held_segment * CHANNEL_PART_BYTES,
		.bytes = in->reply,
		.n = replied ? in->reply_len : 0,
	};

	if (!in->held)
		return;
	in->held = false;
	channel_answer(sm, &in->held_from, in->held_mad, &part, p->in_session.back);
}

void in_reply(struct sm *sm, struct channel_peer *p, const struct channel_ticket *ticket,
	      const void *bytes, size_t len)
{
	struct channel_in *in = &p->in[ticket->stream];

	if (in->state != IN_WORKING || ticket->serial != in->serial)
		return;
	in->state = IN_REPLIED;
	in->reply_len = len;
	if (len)
		memcpy(in->reply, bytes, len);
	answer_held(sm, p, ticket->stream);
}

/* ---- segments ------------------------------------------------------------------------------ */

static bool reserve(struct channel *c, struct channel_in *in, size_t need)
{
	size_t cap = MIN(in->len, MAX(need, in->cap * 2));
	uint8_t *bytes;

	if (need <= in->cap)
		return true;
	if (c->in_bytes - in->cap + cap > CHANNEL_BYTES_MAX)
		return false;
	bytes = try_calloc(cap, 1, CHANNEL_MESSAGE_MAX + VERSION_BYTES);
	if (!bytes)
		return false;
	if (in->cap)
		memcpy(bytes, in->bytes, in->cap);
	free_bytes(c, in);
	in->bytes = bytes;
	in->cap = cap;
	c->in_bytes += cap;
	return true;
}

static void begin_message(struct channel *c, struct channel_in *in,
			  const struct channel_part *part)
{
	free_bytes(c, in);
	*in = (struct channel_in){ .state = IN_COMING,
				   .serial = part->serial,
				   .len = part->length,
				   .n_segments = channel_segments(part->length) };
}

/* Takes the message, and separates its version, which precedes it. */
static struct channel_message take_message(struct channel *c, const struct channel_peer *p,
					   struct channel_in *in)
{
	struct channel_message m = { .from = p->guid,
				     .version = ib_bits_get(in->bytes, 0, 64),
				     .len = in->len - VERSION_BYTES,
				     .bytes = in->bytes };

	memmove(m.bytes, m.bytes + VERSION_BYTES, m.len);
	c->in_bytes -= in->cap;
	in->bytes = NULL;
	in->cap = 0;
	return m;
}

/* Delivers a message all of whose segments have arrived. */
static void deliver(struct sm *sm, struct channel_peer *p, const struct transport_event *ev,
		    const struct channel_part *part)
{
	struct channel *c = sm->m.channel;
	struct channel_in *in = &p->in[part->stream];
	const struct channel_handler *h = &c->handlers[part->stream];
	struct channel_message m = take_message(c, p, in);

	m.ticket = (struct channel_ticket){ .stream = part->stream,
					    .session = p->in_session.id,
					    .serial = in->serial };
	in->state = IN_WORKING;
	in->held_segment = part->offset / CHANNEL_PART_BYTES;
	hold(sm, in, ev);
	c->stats.messages_received++;
	h->fn(sm, h->arg, &m);
	free_wiped(m.bytes, m.bytes ? m.len : 0);
}

static void keep_segment(struct sm *sm, struct channel_peer *p, const struct transport_event *ev,
			 const struct channel_part *part)
{
	struct channel_in *in = &p->in[part->stream];
	uint32_t segment = part->offset / CHANNEL_PART_BYTES;

	if (segment >= in->base + CHANNEL_WINDOW)
		return; /* a sender of this program is never so far ahead */
	if (segment >= in->base && !(in->got >> (segment - in->base) & 1)) {
		if (!reserve(sm->m.channel, in, part->offset + part->n)) {
			refuse(sm, p, ev, part, REASON_LENGTH);
			return;
		}
		memcpy(in->bytes + part->offset, part->bytes, part->n);
		in->got |= 1ull << (segment - in->base);
	}
	for (; in->got & 1; in->got >>= 1)
		in->base++;
	in->touched_at = sm->now;
	if (in->base == in->n_segments)
		deliver(sm, p, ev, part);
	else
		answer_kind(sm, p, ev, part, PART_RECEIVED);
}

/* Answers a segment of a message that is complete already. */
static void repeat_segment(struct sm *sm, struct channel_peer *p, const struct transport_event *ev,
			   const struct channel_part *part)
{
	struct channel_in *in = &p->in[part->stream];

	if (in->state == IN_WORKING && part->offset / CHANNEL_PART_BYTES != in->held_segment) {
		answer_kind(sm, p, ev, part, PART_RECEIVED);
		return;
	}
	hold(sm, in, ev);
	if (in->state == IN_REPLIED)
		answer_held(sm, p, part->stream);
}

/* The reason to refuse a segment; 0: none. */
static enum channel_reason check_segment(const struct sm *sm, const struct channel_peer *p,
					 const struct channel_part *part)
{
	const struct channel *c = sm->m.channel;

	if (part->stream >= CHANNEL_STREAMS || !c->handlers[part->stream].fn)
		return REASON_STREAM;
	if (part->length > CHANNEL_MESSAGE_MAX + VERSION_BYTES)
		return REASON_LENGTH;
	if (part->length < VERSION_BYTES || !part->serial)
		return REASON_MALFORMED;
	if (part->serial < p->in[part->stream].serial ||
	    (part->serial == p->in[part->stream].serial &&
	     p->in[part->stream].state == IN_NONE))
		return REASON_STALE;
	return 0;
}

static void take_segment(struct sm *sm, struct channel_peer *p, const struct transport_event *ev,
			 const struct channel_part *part)
{
	struct channel_in *in = &p->in[part->stream];

	if (in->state == IN_NONE || part->serial > in->serial)
		begin_message(sm->m.channel, in, part);
	if (in->len != part->length)
		refuse(sm, p, ev, part, REASON_MALFORMED);
	else if (in->state == IN_COMING)
		keep_segment(sm, p, ev, part);
	else
		repeat_segment(sm, p, ev, part);
}

void in_segment(struct sm *sm, struct channel_peer *p, const struct transport_event *ev,
		const struct channel_part *part)
{
	enum channel_reason reason = check_segment(sm, p, part);

	if (reason)
		refuse(sm, p, ev, part, reason);
	else
		take_segment(sm, p, ev, part);
}

/* ---- turns --------------------------------------------------------------------------------- */

static void tick_message(struct sm *sm, struct channel_peer *p, unsigned stream)
{
	struct channel_in *in = &p->in[stream];

	if (in->held && sm->now >= in->held_since + HOLD)
		answer_held(sm, p, stream);
	if (in->state == IN_COMING && sm->now >= in->touched_at + IDLE_MAX)
		in_drop(sm->m.channel, in);
}

void in_tick(struct sm *sm)
{
	struct channel *c = sm->m.channel;

	for (unsigned i = 0; i < c->n_rows; i++) {
		for (unsigned k = 0; c->peers[i].in_session.id && k < CHANNEL_STREAMS; k++)
			tick_message(sm, &c->peers[i], k);
	}
}

mono_t in_next(const struct sm *sm)
{
	const struct channel *c = sm->m.channel;
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; i < c->n_rows; i++) {
		for (unsigned k = 0; c->peers[i].in_session.id && k < CHANNEL_STREAMS; k++) {
			if (c->peers[i].in[k].held)
				next = mono_min(next, c->peers[i].in[k].held_since + HOLD);
		}
	}
	return next;
}
