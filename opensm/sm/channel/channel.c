// SPDX-License-Identifier: BSD-2-Clause
/*
 * The doors of the channel, and which MAD belongs to which side of it.
 */
#include "sm/channel/channel.h"

#include <assert.h>
#include <errno.h>

#include "sm/channel/channel_internal.h"
#include "util/mem.h"

void channel_new(struct sm *sm, const struct channel_questions *questions)
{
	struct channel *c = xcalloc(1, sizeof(*c));

	c->questions = questions;
	c->log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 5 };
	sm->m.channel = c;
}

void channel_free(struct sm *sm)
{
	struct channel *c = sm->m.channel;

	if (!c)
		return;
	for (unsigned i = 0; i < MAX_REMOTE_SMS; i++) {
		for (unsigned k = 0; k < CHANNEL_STREAMS; k++)
			out_clear(c, &c->peers[i].out[k]);
	}
	in_reset(c);
	free(c);
	sm->m.channel = NULL;
}

int channel_send(struct sm *sm, guid_t peer, enum channel_stream stream, uint64_t version,
		 const void *bytes, size_t len, channel_reply_fn *on_reply, void *arg)
{
	struct channel_peer *p = peer_find(sm->m.channel, peer);
	int r;

	assert(stream < CHANNEL_STREAMS && (bytes || !len));
	if (len > CHANNEL_MESSAGE_MAX)
		return -EMSGSIZE;
	if (sm->state != SM_MASTER || !p || !p->connected || p->fail)
		return -ENOTCONN;
	r = out_start(sm, p, stream, version, bytes, len);
	if (r < 0)
		return r;
	p->out[stream].on_reply = on_reply;
	p->out[stream].arg = arg;
	out_feed(sm);
	return 0;
}

bool channel_standby_at(const struct sm *sm, unsigned n, struct channel_standby *ret)
{
	const struct channel *c = sm->m.channel;

	for (unsigned i = 0; i < c->n_rows; i++) {
		const struct channel_peer *p = &c->peers[i];

		if (!p->guid || !p->connected || p->fail || n-- > 0)
			continue;
		*ret = (struct channel_standby){ .guid = p->guid };
		for (unsigned k = 0; k < CHANNEL_STREAMS; k++)
			ret->busy[k] = p->out[k].busy;
		return true;
	}
	return false;
}

bool channel_is_known(const struct sm *sm, guid_t guid)
{
	return peer_find(sm->m.channel, guid) != NULL;
}

bool channel_is_connected(const struct sm *sm, guid_t guid)
{
	const struct channel_peer *p = peer_find(sm->m.channel, guid);

	return p && p->connected && !p->fail;
}

void channel_register(struct sm *sm, enum channel_stream stream, channel_message_fn *fn, void *arg)
{
	assert(stream < CHANNEL_STREAMS);
	sm->m.channel->handlers[stream] = (struct channel_handler){ .fn = fn, .arg = arg };
}

void channel_reply(struct sm *sm, const struct channel_ticket *ticket, const void *bytes,
		   size_t len)
{
	assert(ticket->stream < CHANNEL_STREAMS && len <= CHANNEL_REPLY_MAX && (bytes || !len));
	in_reply(sm, ticket, bytes, len);
}

void channel_manager_seen(struct sm *sm, guid_t guid, const uint8_t *record)
{
	if (sm->state == SM_MASTER && record)
		peer_seen(sm, guid, record);
}

void channel_state_changed(struct sm *sm)
{
	struct channel *c = sm->m.channel;

	if (!c)
		return;
	if (sm->state != SM_MASTER)
		peer_lose_all(sm);
	/* The master that sent keys while we were locked out is the one that is followed now. */
	if (sm->state == SM_STANDBY && c->session && !c->master)
		c->master = elect_polled(sm);
	if (sm->state != SM_STANDBY)
		in_reset(c);
	/* sessions that no other life of this manager had, as far as the clock tells */
	c->dice ^= sm->tr->port_guid * 2654435761u ^ sm->now;
}

/* ---- what arrives -------------------------------------------------------------------------- */

/* A shot has ended: an answer came, or it came back. */
static void shot_ended(struct sm *sm, struct channel_shot *found, const struct channel_part *part)
{
	struct channel_shot shot = *found;

	channel_free_shot(sm->m.channel, found);
	if (part)
		peer_answer(sm, &shot, part);
	else
		peer_silence(sm, &shot);
	out_feed(sm);
}

static bool is_answer_to(const struct channel_shot *shot, const struct channel_part *part)
{
	if (part->version != CHANNEL_VERSION)
		return true;
	return shot->hello || part->stream == shot->stream;
}

bool channel_receive(struct sm *sm, const struct transport_event *ev)
{
	uint8_t method = ib_get(ev->mad, SAH_METHOD);
	struct channel_shot *shot;
	struct channel_part part;
	bool heard;

	if (ev->kind == TRANSPORT_GONE || ib_get(ev->mad, SAH_ATTR_ID) != SA_CHANNEL)
		return false;
	if (ev->kind == TRANSPORT_MAD && !(method & MAD_RESPONSE_BIT)) {
		in_receive(sm, ev);
		return true;
	}
	shot = channel_find_shot(sm, ev);
	if (!shot)
		return true;
	heard = ev->kind == TRANSPORT_MAD && !ib_get(ev->mad, SAH_STATUS) &&
		channel_part_read(ev, &part) && is_answer_to(shot, &part);
	shot_ended(sm, shot, heard ? &part : NULL);
	return true;
}

static void give_up_old_shots(struct sm *sm)
{
	struct channel *c = sm->m.channel;

	for (unsigned i = 0; c->n_shots && i < CHANNEL_SHOTS; i++) {
		if (c->shots[i].tid && sm->now >= c->shots[i].deadline)
			shot_ended(sm, &c->shots[i], NULL);
	}
}

void channel_tick(struct sm *sm)
{
	if (sm->state == SM_STANDBY || sm->state == SM_DISCOVERING)
		in_tick(sm);
	if (sm->state != SM_MASTER)
		return;
	give_up_old_shots(sm);
	peer_tick(sm);
	out_feed(sm);
}

mono_t channel_next(const struct sm *sm)
{
	if (sm->state == SM_STANDBY || sm->state == SM_DISCOVERING)
		return in_next(sm);
	return sm->state == SM_MASTER ? mono_min(peer_next(sm), out_next(sm)) : MONO_NEVER;
}

const struct channel_stats *channel_stats(const struct sm *sm)
{
	return &sm->m.channel->stats;
}
