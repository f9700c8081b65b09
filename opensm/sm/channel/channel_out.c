// SPDX-License-Identifier: BSD-2-Clause
/*
 * As MASTER: messages that are sent. Of each message a window of segments is under way; what is not
 * answered in time is sent again, beginning with the first. The window grows with each answer, and
 * is halved by silence, once per round trip.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sm/channel/channel_internal.h"
#include "util/hash.h"
#include "util/mem.h"

#define WINDOW_FIRST  8u
#define WINDOW_MAX    32u
#define TIMEOUT_FIRST 250u /* ms; doubled with each silence in a row, up to */
#define TIMEOUT_LAST  1000u
#define ASK_AGAIN     (10 * MONO_MS)
#define PATIENCE      (60 * MONO_S) /* with a handler that does not reply */
#define RESTARTS_MAX  3
#define BUSY_RETRY    MONO_MS

/* ---- begin and end ------------------------------------------------------------------------- */

void out_clear(struct channel *c, struct channel_out *o)
{
	if (!o->busy)
		return;
	c->bytes -= o->len;
	free_wiped(o->bytes, o->len);
	*o = (struct channel_out){ 0 };
}

static unsigned index_of(const struct channel *c, const struct channel_peer *p)
{
	return (unsigned)(p - c->peers);
}

static void drop_shots(struct channel *c, const struct channel_peer *p, unsigned stream)
{
	for (unsigned i = 0; i < CHANNEL_SHOTS; i++) {
		struct channel_shot *s = &c->shots[i];

		if (s->tid && !s->hello && s->peer == index_of(c, p) && s->stream == stream)
			channel_free_shot(c, s);
	}
}

/* `part`: the reply, or NULL. */
static void out_end(struct sm *sm, struct channel_peer *p, unsigned stream, enum channel_end end,
		    const struct channel_part *part)
{
	struct channel *c = sm->m.channel;
	channel_reply_fn *on_reply = p->out[stream].on_reply;
	void *arg = p->out[stream].arg;
	guid_t guid = p->guid;

	drop_shots(c, p, stream);
	out_clear(c, &p->out[stream]);
	if (on_reply)
		on_reply(sm, arg, guid, end, part ? part->bytes : NULL, part ? part->n : 0);
}

static void rewind_message(struct channel_out *o)
{
	o->base = o->fresh = 0;
	o->done = o->out = 0;
	o->shots = 0;
	o->window = WINDOW_FIRST;
	o->pending_since = MONO_NEVER;
}

int out_start(struct sm *sm, struct channel_peer *p, enum channel_stream stream, uint64_t version,
	      const void *bytes, size_t len)
{
	struct channel *c = sm->m.channel;
	struct channel_out *o = &p->out[stream];

	if (o->busy)
		return -EBUSY;
	if (c->bytes + len > CHANNEL_BYTES_MAX)
		return -ENOBUFS;
	if (!++c->last_serial)
		c->last_serial = 1;
	*o = (struct channel_out){
		.busy = true,
		.bytes = len ? xmemdup(bytes, len) : NULL,
		.len = len,
		.version = version,
		.digest = hash_bytes(HASH_START, bytes, len),
		.serial = c->last_serial,
		.n_segments = channel_segments(len),
	};
	rewind_message(o);
	c->bytes += len;
	c->stats.messages_sent++;
	return 0;
}

void out_lose(struct sm *sm, struct channel_peer *p)
{
	for (unsigned i = 0; i < CHANNEL_STREAMS; i++) {
		if (p->out[i].busy)
			out_end(sm, p, i, CHANNEL_LOST, NULL);
	}
}

/* ---- sending ------------------------------------------------------------------------------- */

/* The first segment that is neither there nor on its way; false: none that may be sent now. */
static bool next_segment(const struct sm *sm, const struct channel_out *o, uint32_t *ret)
{
	if (!o->busy || o->shots >= o->window || sm->now < o->not_before)
		return false;
	for (unsigned i = 0; i < CHANNEL_WINDOW && o->base + i < o->n_segments; i++) {
		if (!((o->done | o->out) >> i & 1)) {
			*ret = o->base + i;
			return true;
		}
	}
	return false;
}

static unsigned timeout_of(const struct channel_peer *p)
{
	return MIN(TIMEOUT_FIRST << MIN(p->silent, 3u), TIMEOUT_LAST);
}

static int send_segment(struct sm *sm, struct channel_peer *p, unsigned stream, uint32_t segment)
{
	struct channel *c = sm->m.channel;
	struct channel_out *o = &p->out[stream];
	const struct port *port = fabric_find_port(sm->fabric, p->guid);
	uint32_t offset = segment * CHANNEL_PART_BYTES;
	const struct channel_shot shot = {
		.peer = index_of(c, p),
		.stream = (uint8_t)stream,
		.segment = segment,
		.lid = port && port->known ? ib_get(port->info, PI_LID) : 0,
	};
	const struct channel_part part = {
		.kind = PART_SEGMENT,
		.stream = (uint8_t)stream,
		.session = p->session,
		.serial = o->serial,
		.length = (uint32_t)o->len,
		.offset = offset,
		.digest = o->digest,
		.message_version = o->version,
		.bytes = o->bytes + offset,
		.n = channel_segment_bytes(o->len, segment),
	};
	int r = shot.lid ? channel_shoot(sm, &shot, &part, timeout_of(p)) : -ENOTCONN;

	if (r == -ENOTCONN)
		p->fail = true;
	if (r < 0)
		return r;
	o->out |= 1ull << (segment - o->base);
	o->shots++;
	if (segment < o->fresh)
		c->stats.parts_again++;
	else
		o->fresh = segment + 1;
	return 0;
}

/* One segment of one of its messages; false: there is none, or it cannot be sent. */
static bool feed_peer(struct sm *sm, struct channel_peer *p)
{
	bool sent = false;

	if (!p->guid || !p->connected || p->fail)
		return false;
	for (unsigned i = 0; i < CHANNEL_STREAMS; i++) {
		struct channel_out *o = &p->out[i];
		uint32_t segment;

		if (sm->m.channel->n_shots >= CHANNEL_DATA_SHOTS || !next_segment(sm, o, &segment))
			continue;
		if (send_segment(sm, p, i, segment) < 0)
			o->not_before = sm->now + BUSY_RETRY;
		else
			sent = true;
	}
	return sent;
}

/* All standbys in turn, a segment each, until nothing more may be sent. */
void out_feed(struct sm *sm)
{
	struct channel *c = sm->m.channel;
	bool sent = true;

	while (sent && c->n_shots < CHANNEL_DATA_SHOTS) {
		unsigned first = c->turn < c->n_rows ? c->turn : 0;

		sent = false;
		for (unsigned i = 0; i < c->n_rows; i++)
			sent |= feed_peer(sm, &c->peers[(first + i) % c->n_rows]);
		c->turn = (c->turn + 1) % MAX_REMOTE_SMS;
	}
}

/* ---- answers ------------------------------------------------------------------------------- */

static void shot_is_over(struct channel_out *o, uint32_t segment)
{
	o->shots--;
	if (segment >= o->base)
		o->out &= ~(1ull << (segment - o->base));
}

static void note_received(struct channel_out *o, uint32_t segment)
{
	if (segment >= o->base)
		o->done |= 1ull << (segment - o->base);
	while (o->done & 1) {
		o->done >>= 1;
		o->out >>= 1;
		o->base++;
	}
	o->window = MIN(o->window + 1, WINDOW_MAX);
}

/* The receiver forgot the message, or got it wrong: sending begins anew. */
static void restart(struct sm *sm, struct channel_peer *p, unsigned stream)
{
	struct channel_out *o = &p->out[stream];

	if (++o->restarts > RESTARTS_MAX) {
		out_end(sm, p, stream, CHANNEL_REFUSED, NULL);
		return;
	}
	drop_shots(sm->m.channel, p, stream);
	rewind_message(o);
}

static void on_refusal(struct sm *sm, struct channel_peer *p, unsigned stream,
		       enum channel_reason reason)
{
	switch (reason) {
	case REASON_STALE:
	case REASON_MALFORMED:
		p->own_session = 0; /* it knows of messages that were none of ours */
		p->fail = true;
		return;
	case REASON_SESSION:
	case REASON_VERSION:
		p->fail = true;
		return;
	case REASON_DIGEST:
		restart(sm, p, stream);
		return;
	case REASON_STREAM:
	case REASON_LENGTH:
		break;
	}
	out_end(sm, p, stream, CHANNEL_REFUSED, NULL);
}

/* The message arrived whole, and its handler is at work. */
static void on_pending(struct sm *sm, struct channel_peer *p, unsigned stream)
{
	struct channel_out *o = &p->out[stream];

	o->not_before = sm->now + ASK_AGAIN;
	if (o->pending_since == MONO_NEVER)
		o->pending_since = sm->now;
	else if (sm->now >= o->pending_since + PATIENCE)
		out_end(sm, p, stream, CHANNEL_LOST, NULL);
}

/*
 * All segments are there, and yet none was the last: the answer that would have told of the reply
 * was lost with it. The last one is sent again.
 */
static void ask_for_reply(struct sm *sm, struct channel_out *o)
{
	if (o->base < o->n_segments)
		return;
	o->base = o->n_segments - 1;
	o->done = o->out = 0;
	o->not_before = sm->now + ASK_AGAIN;
}

void out_answer(struct sm *sm, const struct channel_shot *shot, const struct channel_part *part)
{
	struct channel_peer *p = &sm->m.channel->peers[shot->peer];
	struct channel_out *o = &p->out[shot->stream];

	shot_is_over(o, shot->segment);
	switch (part->kind) {
	case PART_RECEIVED:
		note_received(o, shot->segment);
		ask_for_reply(sm, o);
		break;
	case PART_PENDING:
		on_pending(sm, p, shot->stream);
		break;
	case PART_REPLY:
		out_end(sm, p, shot->stream, CHANNEL_REPLIED, part);
		break;
	case PART_REFUSED:
		on_refusal(sm, p, shot->stream, part->reason);
		break;
	case PART_HELLO:
	case PART_WELCOME:
	case PART_SEGMENT:
		break; /* no answer to this: as if it was silent */
	}
}

void out_silence(struct sm *sm, const struct channel_shot *shot)
{
	struct channel_out *o = &sm->m.channel->peers[shot->peer].out[shot->stream];

	shot_is_over(o, shot->segment);
	if (shot->sent_at < o->cut_at)
		return;
	o->window = MAX(o->window / 2, 1u);
	o->cut_at = sm->now;
}

mono_t out_next(const struct sm *sm)
{
	const struct channel *c = sm->m.channel;
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; c->n_shots && i < CHANNEL_SHOTS; i++) {
		if (c->shots[i].tid)
			next = mono_min(next, c->shots[i].deadline);
	}
	for (unsigned i = 0; i < c->n_rows; i++) {
		for (unsigned k = 0; k < CHANNEL_STREAMS; k++) {
			const struct channel_out *o = &c->peers[i].out[k];

			if (o->busy && o->shots < o->window && o->not_before > sm->now)
				next = mono_min(next, o->not_before);
		}
	}
	return next;
}
