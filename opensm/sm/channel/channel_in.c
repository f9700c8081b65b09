// SPDX-License-Identifier: BSD-2-Clause
/*
 * As STANDBY: messages from the master. Memory grows with what has arrived, never with what a part
 * says is to come.
 */
#include <string.h>

#include "sm/channel/channel_internal.h"
#include "util/hash.h"
#include "util/mem.h"
#include "util/random.h"

#define HOLD (50 * MONO_MS) /* the master waits longer for an answer */

static void in_clear(struct channel_in *in)
{
	free_wiped(in->bytes, in->cap);
	*in = (struct channel_in){ 0 };
}

void in_reset(struct channel *c)
{
	for (unsigned i = 0; i < CHANNEL_STREAMS; i++)
		in_clear(&c->in[i]);
	c->master = 0;
	c->master_session = c->session = 0;
}

/* ---- answers ------------------------------------------------------------------------------- */

static void answer(struct sm *sm, const struct transport_event *ev, const struct channel_part *rq,
		   enum channel_kind kind, enum channel_reason reason)
{
	const struct channel_part part = {
		.kind = kind,
		.stream = rq->stream,
		.reason = (uint8_t)reason,
		.session = sm->m.channel->session,
		.serial = rq->serial,
	};

	channel_answer(sm, &ev->from, ev->mad, &part);
}

static void refuse(struct sm *sm, const struct transport_event *ev, const struct channel_part *rq,
		   enum channel_reason reason)
{
	sm->m.channel->stats.refused++;
	answer(sm, ev, rq, PART_REFUSED, reason);
}

static void hold(struct sm *sm, struct channel_in *in, const struct transport_event *ev)
{
	in->held = true;
	in->held_since = sm->now;
	in->held_from = ev->from;
	memcpy(in->held_mad, ev->mad, SA_DATA);
}

/* The request that is held gets its answer: the reply, or PENDING. */
static void answer_held(struct sm *sm, unsigned stream)
{
	struct channel_in *in = &sm->m.channel->in[stream];
	bool replied = in->state == IN_REPLIED;
	const struct channel_part part = {
		.kind = replied ? PART_REPLY : PART_PENDING,
		.stream = (uint8_t)stream,
		.session = sm->m.channel->session,
		.serial = in->serial,
		.length = replied ? (uint32_t)in->reply_len : 0,
		.bytes = in->reply,
		.n = replied ? in->reply_len : 0,
	};

	if (!in->held)
		return;
	in->held = false;
	channel_answer(sm, &in->held_from, in->held_mad, &part);
}

void in_reply(struct sm *sm, const struct channel_ticket *ticket, const void *bytes, size_t len)
{
	struct channel *c = sm->m.channel;
	struct channel_in *in = &c->in[ticket->stream];

	if (ticket->session != c->session || in->state != IN_WORKING ||
	    ticket->serial != in->serial)
		return;
	in->state = IN_REPLIED;
	in->reply_len = len;
	if (len)
		memcpy(in->reply, bytes, len);
	answer_held(sm, ticket->stream);
}

/* ---- segments ------------------------------------------------------------------------------ */

static bool reserve(struct channel_in *in, size_t need)
{
	size_t cap = MIN(in->len, MAX(need, in->cap * 2));
	uint8_t *bytes;

	if (need <= in->cap)
		return true;
	bytes = try_calloc(cap, 1, CHANNEL_MESSAGE_MAX);
	if (!bytes)
		return false;
	if (in->cap)
		memcpy(bytes, in->bytes, in->cap);
	free_wiped(in->bytes, in->cap);
	in->bytes = bytes;
	in->cap = cap;
	return true;
}

static void advance(struct channel_in *in)
{
	while (in->got & 1) {
		in->hash = hash_bytes(in->hash, in->bytes + (size_t)in->base * CHANNEL_PART_BYTES,
				      channel_segment_bytes(in->len, in->base));
		in->got >>= 1;
		in->base++;
	}
}

static void begin_message(struct channel_in *in, const struct channel_part *part)
{
	in_clear(in);
	in->state = IN_COMING;
	in->serial = part->serial;
	in->len = part->length;
	in->n_segments = channel_segments(part->length);
	in->version = part->message_version;
	in->digest = part->digest;
	in->hash = HASH_START;
}

static bool is_of_message(const struct channel_in *in, const struct channel_part *part)
{
	return in->len == part->length && in->digest == part->digest &&
	       in->version == part->message_version;
}

/* All segments are there. */
static void deliver(struct sm *sm, const struct transport_event *ev,
		    const struct channel_part *part)
{
	struct channel *c = sm->m.channel;
	struct channel_in *in = &c->in[part->stream];
	const struct channel_handler *h = &c->handlers[part->stream];
	struct channel_message m = {
		.from = c->master,
		.version = in->version,
		.bytes = in->bytes,
		.len = in->len,
		.ticket = { .stream = part->stream, .session = c->session, .serial = in->serial },
	};

	if (in->hash != in->digest) {
		in_clear(in);
		refuse(sm, ev, part, REASON_DIGEST);
		return;
	}
	in->state = IN_WORKING;
	in->bytes = NULL;
	in->cap = 0;
	in->held_segment = part->offset / CHANNEL_PART_BYTES;
	hold(sm, in, ev);
	c->stats.messages_received++;
	h->fn(sm, h->arg, &m);
	free(m.bytes);
}

static void keep_segment(struct sm *sm, const struct transport_event *ev,
			 const struct channel_part *part)
{
	struct channel_in *in = &sm->m.channel->in[part->stream];
	uint32_t segment = part->offset / CHANNEL_PART_BYTES;

	if (segment >= in->base + CHANNEL_WINDOW)
		return; /* no sender of ours is so far ahead */
	if (segment >= in->base && !(in->got >> (segment - in->base) & 1)) {
		if (!reserve(in, part->offset + part->n)) {
			refuse(sm, ev, part, REASON_LENGTH);
			return;
		}
		if (part->n)
			memcpy(in->bytes + part->offset, part->bytes, part->n);
		in->got |= 1ull << (segment - in->base);
		advance(in);
	}
	if (in->base == in->n_segments)
		deliver(sm, ev, part);
	else
		answer(sm, ev, part, PART_RECEIVED, 0);
}

/* Of a message that is whole already. */
static void repeat_segment(struct sm *sm, const struct transport_event *ev,
			   const struct channel_part *part)
{
	struct channel_in *in = &sm->m.channel->in[part->stream];

	if (in->state == IN_WORKING && part->offset / CHANNEL_PART_BYTES != in->held_segment) {
		answer(sm, ev, part, PART_RECEIVED, 0);
		return;
	}
	hold(sm, in, ev);
	if (in->state == IN_REPLIED)
		answer_held(sm, part->stream);
}

static void on_segment(struct sm *sm, const struct transport_event *ev,
		       const struct channel_part *part)
{
	struct channel *c = sm->m.channel;
	struct channel_in *in = &c->in[part->stream];
	int32_t ahead = (int32_t)(part->serial - in->serial);

	if (in->state == IN_NONE ? !part->serial : ahead < 0) {
		refuse(sm, ev, part, REASON_STALE);
		return;
	}
	if (in->state == IN_NONE || ahead > 0)
		begin_message(in, part);
	if (!is_of_message(in, part))
		refuse(sm, ev, part, REASON_MALFORMED);
	else if (in->state == IN_COMING)
		keep_segment(sm, ev, part);
	else
		repeat_segment(sm, ev, part);
}

/* ---- what arrives -------------------------------------------------------------------------- */

/* One life of the master meets one of ours; the same HELLO again changes nothing. */
static void on_hello(struct sm *sm, const struct transport_event *ev,
		     const struct channel_part *part)
{
	struct channel *c = sm->m.channel;
	guid_t master = elect_polled(sm);

	if (!part->session) {
		refuse(sm, ev, part, REASON_MALFORMED);
		return;
	}
	if (c->master != master || c->master_session != part->session) {
		in_reset(c);
		c->master = master;
		c->master_session = part->session;
		c->session = (uint32_t)random_next(&c->dice) | 1;
	}
	answer(sm, ev, part, PART_WELCOME, 0);
}

/* 0: it may be taken in. */
static enum channel_reason check_segment(const struct sm *sm, const struct channel_part *part)
{
	const struct channel *c = sm->m.channel;

	if (!c->session || part->session != c->session || c->master != elect_polled(sm))
		return REASON_SESSION;
	if (part->stream >= CHANNEL_STREAMS || !c->handlers[part->stream].fn)
		return REASON_STREAM;
	if (part->length > CHANNEL_MESSAGE_MAX)
		return REASON_LENGTH;
	return 0;
}

static void on_stranger(struct sm *sm, const struct transport_event *ev)
{
	struct channel *c = sm->m.channel;
	unsigned more;

	c->stats.strangers++;
	if (log_allow(&c->log, sm->now, &more))
		log_on(ABOUT(.id = LOG_ID_REPLICA, .lid = ev->from.lid), LOGB_VERBOSE,
		       "LID %u sent a message of the channel between managers, and is not the "
		       "master that this manager follows: ignored (%u more)",
		       ev->from.lid, more);
}

static bool is_of_master(const struct sm *sm, const struct transport_event *ev)
{
	const struct channel_questions *ask = sm->m.channel->questions;

	/* A key drawn at random is known to no other manager. */
	if (conf_draws_sa_key(sm->conf))
		return false;
	return ib_get(ev->mad, SAH_METHOD) == MAD_SET && ask->is_from_master(sm, &ev->from) &&
	       ib_get(ev->mad, SAH_SM_KEY) == sm->conf->sa_key;
}

/* A manager that is locked out has a use for keys and cables alone; the rest comes again later. */
static bool is_for_now(const struct sm *sm, const struct channel_part *part)
{
	return sm->state == SM_STANDBY || part->kind != PART_SEGMENT ||
	       part->stream == CHANNEL_KEYS || part->stream == CHANNEL_CABLES;
}

void in_receive(struct sm *sm, const struct transport_event *ev)
{
	struct channel_part part;
	enum channel_reason reason;

	if (!is_of_master(sm, ev)) {
		on_stranger(sm, ev);
		return;
	}
	sm->m.channel->stats.parts_received++;
	if (!channel_part_read(ev, &part)) {
		refuse(sm, ev, &part, REASON_MALFORMED);
	} else if (part.version != CHANNEL_VERSION) {
		refuse(sm, ev, &part, REASON_VERSION);
	} else if (part.kind == PART_HELLO) {
		on_hello(sm, ev, &part);
	} else if (part.kind != PART_SEGMENT) {
		refuse(sm, ev, &part, REASON_MALFORMED);
	} else if (is_for_now(sm, &part)) {
		reason = check_segment(sm, &part);
		if (reason)
			refuse(sm, ev, &part, reason);
		else
			on_segment(sm, ev, &part);
	}
}

void in_tick(struct sm *sm)
{
	struct channel *c = sm->m.channel;

	for (unsigned i = 0; i < CHANNEL_STREAMS; i++) {
		if (c->in[i].held && sm->now >= c->in[i].held_since + HOLD)
			answer_held(sm, i);
	}
}

mono_t in_next(const struct sm *sm)
{
	const struct channel *c = sm->m.channel;
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; i < CHANNEL_STREAMS; i++) {
		if (c->in[i].held)
			next = mono_min(next, c->in[i].held_since + HOLD);
	}
	return next;
}
