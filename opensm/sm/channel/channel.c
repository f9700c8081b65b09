// SPDX-License-Identifier: BSD-2-Clause
/* The functions for callers, and the assignment of MADs to the sides of the channel. */
#include "sm/channel/channel.h"

#include <assert.h>
#include <errno.h>

#include "sm/channel/channel_internal.h"
#include "util/mem.h"

MACHINE_MEMORY(channel);

void channel_new(struct sm *sm, const struct channel_questions *questions)
{
	struct channel *c = sm->m.channel;

	c->questions = questions;
	c->log = (struct log_limit){ .interval = 10 * MONO_S, .burst = 5 };
	c->version_log = (struct log_limit){ .interval = 600 * MONO_S, .burst = 1 };
}

void channel_free(struct sm *sm)
{
	struct channel *c = sm->m.channel;

	for (unsigned i = 0; i < c->n_rows; i++) {
		for (unsigned k = 0; k < CHANNEL_STREAMS; k++)
			out_clear(c, &c->peers[i].out[k]);
		in_reset(c, &c->peers[i]);
	}
}

/* ---- sending ------------------------------------------------------------------------------- */

int channel_send(struct sm *sm, guid_t peer, enum channel_stream stream, uint64_t version,
		 const void *bytes, size_t len, channel_reply_fn *on_reply, void *arg)
{
	struct channel_peer *p = peer_find(sm->m.channel, peer);
	int r;

	assert(stream < CHANNEL_STREAMS && (bytes || !len));
	if (len > CHANNEL_MESSAGE_MAX)
		return -EMSGSIZE;
	if (!p || !p->connected || p->fail || sm->state == SM_NOT_ACTIVE)
		return -ENOTCONN;
	r = out_start(sm, p, stream, version, bytes, len);
	if (r < 0)
		return r;
	p->out[stream].on_reply = on_reply;
	p->out[stream].arg = arg;
	out_feed(sm);
	return 0;
}

bool channel_is_connected(const struct sm *sm, guid_t guid)
{
	const struct channel_peer *p = peer_find(sm->m.channel, guid);

	return p && p->connected && !p->fail;
}

bool channel_peer_at(const struct sm *sm, unsigned n, struct channel_peer_view *ret)
{
	const struct channel *c = sm->m.channel;

	for (unsigned i = 0; i < c->n_rows; i++) {
		const struct channel_peer *p = &c->peers[i];

		if (!p->guid || n-- > 0)
			continue;
		*ret = (struct channel_peer_view){ .guid = p->guid,
						   .connected = p->connected && !p->fail,
						   .known = p->answered,
						   .since = p->connected ? p->connected_at
									 : p->lost_at };
		return true;
	}
	return false;
}

bool channel_has_answered(const struct sm *sm, guid_t guid)
{
	const struct channel_peer *p = peer_find(sm->m.channel, guid);

	return p && p->answered && !p->is_foreign;
}

uint64_t channel_life_of(const struct sm *sm, guid_t guid)
{
	const struct channel_peer *p = peer_find(sm->m.channel, guid);

	return p ? p->life : 0;
}

unsigned channel_tries(const struct sm *sm, guid_t guid)
{
	const struct channel_peer *p = peer_find(sm->m.channel, guid);

	return p && !p->connected ? p->tries : 0;
}

/* ---- standbys ------------------------------------------------------------------------------ */

bool channel_is_known(const struct sm *sm, guid_t guid)
{
	const struct channel_peer *p = peer_find(sm->m.channel, guid);

	return sm->state == SM_MASTER && p && p->registered;
}

bool channel_is_standby(const struct sm *sm, guid_t guid)
{
	return channel_is_known(sm, guid) && channel_is_connected(sm, guid);
}

bool channel_standby_at(const struct sm *sm, unsigned n, guid_t *ret)
{
	const struct channel *c = sm->m.channel;

	for (unsigned i = 0; i < c->n_rows; i++) {
		const struct channel_peer *p = &c->peers[i];

		if (!p->guid || !channel_is_standby(sm, p->guid) || n-- > 0)
			continue;
		*ret = p->guid;
		return true;
	}
	return false;
}

void channel_manager_seen(struct sm *sm, guid_t guid, const uint8_t *record)
{
	if (sm->state == SM_MASTER && record)
		peer_seen(sm, guid, record);
}

/* ---- receiving ----------------------------------------------------------------------------- */

void channel_register(struct sm *sm, enum channel_stream stream, channel_message_fn *fn, void *arg)
{
	assert(stream < CHANNEL_STREAMS);
	sm->m.channel->handlers[stream] = (struct channel_handler){ .fn = fn, .arg = arg };
}

void channel_reply(struct sm *sm, const struct channel_ticket *ticket, const void *bytes,
		   size_t len)
{
	struct channel_peer *p = peer_of_session(sm->m.channel, ticket->session);

	assert(ticket->stream < CHANNEL_STREAMS && len <= CHANNEL_REPLY_MAX && (bytes || !len));
	if (p)
		in_reply(sm, p, ticket, bytes, len);
}

/* Handles the end of a request for a part; `ev`: its answer, or NULL. */
static void shot_ended(struct sm *sm, struct channel_shot *found, const struct transport_event *ev)
{
	struct channel_shot shot = *found;
	struct channel_part part;
	bool is_part = ev && !ib_get(ev->mad, SAH_STATUS) && channel_part_read(ev, &part);

	channel_free_shot(sm->m.channel, found);
	if (ev)
		peer_answer(sm, &shot, ev, is_part ? &part : NULL);
	else
		peer_silence(sm, &shot);
	out_feed(sm);
}

bool channel_receive(struct sm *sm, const struct transport_event *ev)
{
	uint8_t method = ib_get(ev->mad, SAH_METHOD);
	struct channel_shot *shot;

	if (ev->kind == TRANSPORT_GONE || ib_get(ev->mad, SAH_ATTR_ID) != SA_CHANNEL)
		return false;
	if (ev->kind == TRANSPORT_MAD && !(method & MAD_RESPONSE_BIT)) {
		meet_receive(sm, ev);
		return true;
	}
	shot = channel_find_shot(sm, ev);
	if (shot)
		shot_ended(sm, shot, ev->kind == TRANSPORT_MAD ? ev : NULL);
	return true;
}

/* ---- turns --------------------------------------------------------------------------------- */

/* Reacts to a new state: standbys register only with a master. */
void channel_state_changed(struct sm *sm)
{
	struct channel *c = sm->m.channel;

	if (!c)
		return;
	c->master_since = sm->state == SM_MASTER ? sm->now : MONO_NEVER;
	if (sm->state == SM_NOT_ACTIVE)
		peer_lose_all(sm, "this manager is not active");
	for (unsigned i = 0; i < c->n_rows && sm->state != SM_MASTER; i++)
		c->peers[i].registered = false;
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
	if (channel_keys_changed(sm)) {
		peer_lose_all(sm, "this manager has other keys now");
		channel_forget_keys(sm->m.channel);
	}
	if (sm->state == SM_NOT_ACTIVE)
		return;
	in_tick(sm);
	give_up_old_shots(sm);
	peer_tick(sm);
	out_feed(sm);
}

mono_t channel_next(const struct sm *sm)
{
	if (sm->state == SM_NOT_ACTIVE)
		return MONO_NEVER;
	return mono_min(in_next(sm), mono_min(peer_next(sm), out_next(sm)));
}

const struct channel_stats *channel_stats(const struct sm *sm)
{
	return &sm->m.channel->stats;
}
