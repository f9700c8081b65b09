// SPDX-License-Identifier: BSD-2-Clause
/*
 * As MASTER: standbys of ours. One that announced a channel is asked HELLO until it answers, and
 * then from time to time whether it is still there.
 */
#include "sm/channel/channel_internal.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "util/mem.h"
#include "util/random.h"

#define HELLO_TIMEOUT	1000u /* ms */
#define HELLO_CONNECTED (2 * MONO_S)
#define HELLO_KNOWN	MONO_S
#define HELLO_OLD	(10 * MONO_S) /* it has not registered for */
#define OLD		(60 * MONO_S)
#define FORGET		(600 * MONO_S)
/* Silent for so many MADs, and for so long: it is gone. */
#define SILENT_MADS	5
#define SILENT_TIME	(4 * MONO_S)

struct channel_peer *peer_find(struct channel *c, guid_t guid)
{
	for (unsigned i = 0; guid && i < c->n_rows; i++) {
		if (c->peers[i].guid == guid)
			return &c->peers[i];
	}
	return NULL;
}

static struct channel_peer *add_peer(struct channel *c, guid_t guid)
{
	for (unsigned i = 0; i < MAX_REMOTE_SMS; i++) {
		if (!c->peers[i].guid) {
			c->peers[i] = (struct channel_peer){
				.guid = guid,
				.log = { .interval = 30 * MONO_S, .burst = 6 },
			};
			c->n_rows = MAX(c->n_rows, i + 1);
			return &c->peers[i];
		}
	}
	return NULL;
}

void peer_seen(struct sm *sm, guid_t guid, const uint8_t *record)
{
	struct channel *c = sm->m.channel;
	const uint8_t *config = ib_at(record, SVR_DATA8_0);
	struct channel_peer *p = peer_find(c, guid);

	if (guid == sm->tr->port_guid || !ib_get(config, SMC_CHANNEL))
		return;
	if (!p)
		p = add_peer(c, guid);
	if (!p)
		return;
	p->registered_at = sm->now;
	if (!p->connected && !p->hello_out)
		p->hello_at = sm->now;
}

static void log_peer(struct sm *sm, struct channel_peer *p, const char *what, const char *why)
{
	unsigned more;

	if (!log_allow(&p->log, sm->now, &more))
		return;
	log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_INFO, "the channel to this standby is %s%s",
		 what, why);
	if (more)
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_INFO,
			 "the channel to this standby had opened or closed %u times more", more);
}

/* One that was there for a moment only is not asked again at once: it would go on like that. */
static void lose(struct sm *sm, struct channel_peer *p, const char *why)
{
	bool connected = p->connected;
	bool brief = connected && sm->now < p->connected_at + HELLO_CONNECTED;

	p->fail = false;
	p->connected = false;
	p->hello_out = false;
	p->silent = 0;
	p->hello_at = brief ? sm->now + HELLO_KNOWN : sm->now;
	channel_free_shots(sm->m.channel, (unsigned)(p - sm->m.channel->peers));
	out_lose(sm, p);
	if (!connected)
		return;
	log_peer(sm, p, "closed: ", why);
	tell_news(sm, NEWS_STANDBY_LOST, .guid = p->guid);
}

void peer_lose_all(struct sm *sm)
{
	struct channel *c = sm->m.channel;

	for (unsigned i = 0; i < c->n_rows; i++) {
		if (!c->peers[i].guid)
			continue;
		lose(sm, &c->peers[i], "this manager is not master any more");
		c->peers[i] = (struct channel_peer){ 0 };
	}
}

/* ---- HELLO --------------------------------------------------------------------------------- */

static mono_t hello_period(const struct sm *sm, const struct channel_peer *p)
{
	if (p->connected)
		return HELLO_CONNECTED;
	return sm->now < p->registered_at + OLD ? HELLO_KNOWN : HELLO_OLD;
}

static void send_hello(struct sm *sm, struct channel_peer *p)
{
	struct channel *c = sm->m.channel;
	const struct port *port = fabric_find_port(sm->fabric, p->guid);
	const struct channel_shot shot = {
		.peer = (unsigned)(p - c->peers),
		.hello = true,
		.lid = port && port->known ? ib_get(port->info, PI_LID) : 0,
	};
	struct channel_part part = { .kind = PART_HELLO };

	if (!p->own_session)
		p->own_session = (uint32_t)random_next(&c->dice) | 1;
	part.session = p->own_session;
	p->hello_at = sm->now + hello_period(sm, p);
	if (!shot.lid || !elect_is_manager(sm, p->guid)) {
		p->fail = p->connected;
		return;
	}
	p->hello_out = channel_shoot(sm, &shot, &part, HELLO_TIMEOUT) == 0;
}

static void connected(struct sm *sm, struct channel_peer *p, uint32_t session)
{
	if (p->connected && p->session != session)
		lose(sm, p, "it has started anew");
	p->session = session;
	p->told = (struct told){ 0 };
	if (p->connected)
		return;
	p->connected = true;
	p->connected_at = sm->now;
	log_peer(sm, p, "open", "");
	tell_news(sm, NEWS_STANDBY_CONNECTED, .guid = p->guid);
}

static void answered_hello(struct sm *sm, struct channel_peer *p, const struct channel_part *part)
{
	p->hello_out = false;
	p->hello_at = sm->now + hello_period(sm, p);
	if (part->kind == PART_WELCOME && part->session) {
		connected(sm, p, part->session);
		p->hello_at = sm->now + hello_period(sm, p);
		return;
	}
	p->fail = p->connected;
	if (part->version != CHANNEL_VERSION && told_first(&p->told, TOLD_VERSION))
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this standby speaks version %u of the channel between managers, we "
			 "speak %u: nothing is sent to it; run the same version on both hosts",
			 part->version, CHANNEL_VERSION);
}

void peer_answer(struct sm *sm, const struct channel_shot *shot, const struct channel_part *part)
{
	struct channel_peer *p = &sm->m.channel->peers[shot->peer];

	p->heard_at = sm->now;
	p->silent = 0;
	if (shot->hello)
		answered_hello(sm, p, part);
	else
		out_answer(sm, shot, part);
}

void peer_silence(struct sm *sm, const struct channel_shot *shot)
{
	struct channel_peer *p = &sm->m.channel->peers[shot->peer];

	if (shot->sent_at >= p->heard_at)
		p->silent++;
	if (p->silent >= SILENT_MADS && sm->now >= p->heard_at + SILENT_TIME)
		p->fail = p->connected;
	if (shot->hello) {
		p->hello_out = false;
		p->hello_at = p->connected ? sm->now : p->hello_at;
	} else {
		out_silence(sm, shot);
	}
}

void peer_tick(struct sm *sm)
{
	struct channel *c = sm->m.channel;

	for (unsigned i = 0; i < c->n_rows; i++) {
		struct channel_peer *p = &c->peers[i];

		if (!p->guid)
			continue;
		if (p->fail)
			lose(sm, p, "it does not answer, or does not follow us");
		if (!p->connected && sm->now >= MAX(p->registered_at, p->heard_at) + FORGET)
			*p = (struct channel_peer){ 0 };
		else if (!p->hello_out && sm->now >= p->hello_at && sm->now >= c->blocked_until)
			send_hello(sm, p);
	}
}

mono_t peer_next(const struct sm *sm)
{
	const struct channel *c = sm->m.channel;
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; i < c->n_rows; i++) {
		const struct channel_peer *p = &c->peers[i];

		if (p->guid && p->fail)
			return sm->now;
		if (p->guid && !p->hello_out)
			next = mono_min(next, MAX(p->hello_at, c->blocked_until));
	}
	return next;
}
