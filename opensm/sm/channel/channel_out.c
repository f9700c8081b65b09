// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sends messages. A window of segments of each message is under way; those not answered in time are
 * sent again, from the first on. Each answer enlarges the window; silence halves it, once per round
 * trip. An unsealed answer counts as silence.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sm/channel/channel_internal.h"
#include "util/mem.h"

#define WINDOW_FIRST  8u
#define WINDOW_MAX    32u
#define TIMEOUT_FIRST 250u /* ms; doubled with each silence in a row, up to the next */
#define TIMEOUT_LAST  1000u
#define ASK_AGAIN     (10 * MONO_MS)
#define PATIENCE      (60 * MONO_S) /* patience with a handler that does not reply */
#define BUSY_RETRY    MONO_MS

/* ---- begin and end ------------------------------------------------------------------------- */

void out_clear(struct channel *c, struct channel_out *o)
{
	if (!o->busy)
		return;
	c->out_bytes -= o->len;
	free_wiped(o->bytes, o->len);
	*o = (struct channel_out){ 0 };
}

static void drop_shots(struct channel *c, const struct channel_peer *p, unsigned stream)
{
	for (unsigned i = 0; i < CHANNEL_SHOTS; i++) {
		struct channel_shot *s = &c->shots[i];

		if (s->tid && s->what == SHOT_SEGMENT && s->peer == peer_index(c, p) &&
		    s->stream == stream)
			channel_free_shot(c, s);
	}
}

/* Ends a message; `part`: the reply, or NULL. */
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

/* Puts the version in front of the message. */
static uint8_t *join_version(uint64_t version, const void *bytes, size_t len)
{
	uint8_t *ret = xmalloc(VERSION_BYTES + len);

	ib_bits_put(ret, 0, 64, version);
	if (len)
		memcpy(ret + VERSION_BYTES, bytes, len);
	return ret;
}

/* Takes the next number. None is used twice in a session, so the last one ends it. */
static bool next_serial(struct channel_peer *p)
{
	if (p->serial == UINT32_MAX)
		p->fail = true;
	else
		p->serial++;
	return !p->fail;
}

int out_start(struct sm *sm, struct channel_peer *p, enum channel_stream stream, uint64_t version,
	      const void *bytes, size_t len)
{
	struct channel *c = sm->m.channel;
	struct channel_out *o = &p->out[stream];

	if (o->busy)
		return -EBUSY;
	if (c->out_bytes + VERSION_BYTES + len > CHANNEL_BYTES_MAX)
		return -ENOBUFS;
	if (!next_serial(p))
		return -ENOTCONN;
	*o = (struct channel_out){
		.busy = true,
		.bytes = join_version(version, bytes, len),
		.len = VERSION_BYTES + len,
		.serial = p->serial,
		.n_segments = channel_segments(VERSION_BYTES + len),
		.window = WINDOW_FIRST,
		.pending_since = MONO_NEVER,
	};
	c->out_bytes += o->len;
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

/*
 * Finds the first segment that was neither received nor is under way; false: none may be sent now.
 */
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
	uint32_t offset = segment * CHANNEL_PART_BYTES;
	const struct channel_shot shot = {
		.peer = peer_index(c, p),
		.stream = (uint8_t)stream,
		.segment = segment,
	};
	const struct channel_part part = {
		.kind = PART_SEGMENT,
		.stream = (uint8_t)stream,
		.session = p->session.id,
		.serial = o->serial,
		.length = (uint32_t)o->len,
		.offset = offset,
		.bytes = o->bytes + offset,
		.n = channel_segment_bytes(o->len, segment),
	};
	int r = channel_shoot(sm, &shot, &part, p->session.forth, timeout_of(p));

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

/* Sends one segment of one message; false: there is none, or it cannot be sent. */
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

/* Sends one segment for each manager in turn, until nothing more may be sent. */
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

static void on_refusal(struct sm *sm, struct channel_peer *p, unsigned stream,
		       enum channel_reason reason)
{
	switch (reason) {
	case REASON_STALE: /* another session begins with other numbers */
	case REASON_MALFORMED:
	case REASON_SESSION:
	case REASON_VERSION:
		p->fail = true;
		return;
	case REASON_STREAM:
	case REASON_LENGTH:
		break;
	}
	out_end(sm, p, stream, CHANNEL_REFUSED, NULL);
}

/* The message has arrived, and its handler is working: waits for the reply. */
static void wait_for_reply(struct sm *sm, struct channel_peer *p, unsigned stream)
{
	struct channel_out *o = &p->out[stream];

	o->not_before = sm->now + ASK_AGAIN;
	if (o->pending_since == MONO_NEVER)
		o->pending_since = sm->now;
	else if (sm->now >= o->pending_since + PATIENCE)
		out_end(sm, p, stream, CHANNEL_LOST, NULL);
}

/*
 * Sends the last segment again: all were received, and the answer that told of the reply was lost.
 */
static void ask_for_reply(struct sm *sm, struct channel_out *o)
{
	if (o->base < o->n_segments)
		return;
	o->base = o->n_segments - 1;
	o->done = o->out = 0;
	o->not_before = sm->now + ASK_AGAIN;
}

bool out_open(const struct channel_peer *p, const struct channel_shot *shot,
	      const struct transport_event *ev, struct channel_part *part,
	      uint8_t bytes[CHANNEL_PART_BYTES])
{
	return part->session == p->session.id && part->stream == shot->stream &&
	       part->serial == p->out[shot->stream].serial &&
	       (part->kind == PART_REPLY ||
		part->offset == shot->segment * CHANNEL_PART_BYTES) &&
	       channel_part_open(ev, p->session.back, part, bytes);
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
		wait_for_reply(sm, p, shot->stream);
		break;
	case PART_REPLY:
		out_end(sm, p, shot->stream, CHANNEL_REPLIED, part);
		break;
	case PART_REFUSED:
		on_refusal(sm, p, shot->stream, part->reason);
		break;
	case PART_HELLO:
	case PART_WELCOME:
	case PART_CONFIRM:
	case PART_CONFIRMED:
	case PART_SEGMENT:
		break; /* counts as silence */
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
