// SPDX-License-Identifier: BSD-2-Clause
/*
 * Managers to send to: one that the election trusts, that has registered with our SA, or that
 * proved itself to us is sent HELLO until it answers, and then from time to time, to see if it is
 * still there.
 */
#include <string.h>

#include "sm/base/drawn_key.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/channel/channel_internal.h"
#include "util/mem.h"

#define HELLO_TIMEOUT	1000u /* ms */
#define HELLO_CONNECTED (2 * MONO_S)
#define HELLO_KNOWN	MONO_S
#define HELLO_OLD	(10 * MONO_S) /* interval of HELLOs to a manager that is in doubt */
#define HELLO_FOREIGN	(600 * MONO_S)
/* time without a registration, or number of unanswered HELLOs, that puts a manager in doubt */
#define OLD		(60 * MONO_S)
#define OLD_TRIES	60u
#define FORGET		(600 * MONO_S)
/* pauses before a part is sent again after an unsealed answer */
#define DAMAGED (10 * MONO_MS)
#define DOUBTED (250 * MONO_MS)
/* Number of unanswered MADs, and time, after which a manager is gone. */
#define SILENT_MADS	5
#define SILENT_TIME	(4 * MONO_S)

/* ---- managers that come ------------------------------------------------------------------ */

static void tell_version(struct sm *sm, struct channel_peer *p, unsigned version)
{
	if (told_first(&p->told, TOLD_VERSION))
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this manager speaks version %u of the channel between managers, we "
			 "speak %u: nothing is sent to it; run the same version on both hosts",
			 version, CHANNEL_VERSION);
}

void peer_seen(struct sm *sm, guid_t guid, const uint8_t *record)
{
	struct channel *c = sm->m.channel;
	unsigned version = ib_get(ib_at(record, SVR_DATA8_0), SMC_CHANNEL);
	struct channel_peer *p = peer_find(c, guid);

	if (guid == sm->tr->port_guid || !version)
		return;
	p = p ?: peer_add(c, guid);
	if (!p)
		return;
	p->registered_at = sm->now;
	p->registered = version == CHANNEL_VERSION;
	p->is_foreign = !p->registered;
	if (p->is_foreign) {
		tell_version(sm, p, version);
		return;
	}
	if (!p->connected && !p->hello_out)
		p->hello_at = sm->now;
}

/* Notes if the election trusts the manager; one that comes back is asked at once. */
static void trust(struct sm *sm, struct channel_peer *p, bool trusted)
{
	if (trusted && !p->trusted && !p->connected && !p->hello_out)
		p->hello_at = mono_min(p->hello_at, sm->now);
	p->trusted = trusted;
}

static bool is_among(const guid_t *all, unsigned n, guid_t guid)
{
	for (unsigned i = 0; i < n; i++) {
		if (all[i] == guid)
			return true;
	}
	return false;
}

/* Adds managers that the election believes; one that never answered the election gets no row. */
static void look_around(struct sm *sm)
{
	struct channel *c = sm->m.channel;
	guid_t all[MAX_REMOTE_SMS];
	unsigned n = elect_successors(sm, all);

	for (unsigned i = 0; i < n; i++) {
		if (!peer_find(c, all[i]) && elect_is_manager(sm, all[i]))
			peer_add(c, all[i]);
	}
	for (unsigned i = 0; i < c->n_rows; i++)
		trust(sm, &c->peers[i], is_among(all, n, c->peers[i].guid));
}

/* ---- managers that go -------------------------------------------------------------------- */

/*
 * Logs a standby that is lost to this master, and when it is there again. A former master that died
 * is none: that was logged.
 */
static void tell_lost(struct sm *sm, struct channel_peer *p, const char *why)
{
	bool is_former = p->heard_at < sm->m.channel->master_since;
	unsigned more;

	if (!log_allow(&p->log, sm->now, &more))
		return;
	p->lost_told = sm->state == SM_MASTER && !is_former;
	if (p->lost_told)
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this standby is out of reach (%s): what is changed now it learns when it "
			 "is back. If it does not come back, look at opensm on its host",
			 why);
	else
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_VERBOSE,
			 "the channel to this manager is closed: %s", why);
}

static void tell_connected(struct sm *sm, struct channel_peer *p)
{
	unsigned more;

	if (p->lost_told)
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_INFO, "this standby is in reach again");
	else if (log_allow(&p->log, sm->now, &more))
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_VERBOSE,
			 "the channel to this manager is open");
	p->lost_told = false;
}

/* Notes that a manager is gone. One that was connected only briefly is not asked again at once. */
static void lose(struct sm *sm, struct channel_peer *p, const char *why)
{
	bool connected = p->connected;
	bool brief = connected && sm->now < p->connected_at + HELLO_CONNECTED;

	p->fail = false;
	p->connected = false;
	p->hello_out = false;
	p->silent = 0;
	p->hello_at = brief ? sm->now + HELLO_KNOWN : sm->now;
	p->lost_at = connected ? sm->now : p->lost_at;
	explicit_bzero(&p->session, sizeof(p->session));
	channel_free_shots(sm->m.channel, peer_index(sm->m.channel, p));
	out_lose(sm, p);
	if (!connected)
		return;
	tell_lost(sm, p, why);
	tell_news(sm, NEWS_STANDBY_LOST, .guid = p->guid);
}

void peer_lose_all(struct sm *sm, const char *why)
{
	struct channel *c = sm->m.channel;

	for (unsigned i = 0; i < c->n_rows; i++) {
		if (!c->peers[i].guid)
			continue;
		lose(sm, &c->peers[i], why);
		in_reset(c, &c->peers[i]);
		peer_clear(c, &c->peers[i]);
	}
}

void peer_lives(struct sm *sm, struct channel_peer *p, uint64_t life)
{
	if (p->life == life)
		return;
	if (p->life)
		p->registered = false;
	p->life = life;
	if (p->connected)
		lose(sm, p, "it has started anew");
}

/* ---- HELLO --------------------------------------------------------------------------------- */

static bool is_in_doubt(const struct sm *sm, const struct channel_peer *p)
{
	return sm->now >= p->registered_at + OLD && (!p->trusted || p->tries >= OLD_TRIES);
}

static mono_t hello_period(const struct sm *sm, const struct channel_peer *p)
{
	if (p->connected)
		return HELLO_CONNECTED;
	if (p->is_foreign)
		return HELLO_FOREIGN;
	return is_in_doubt(sm, p) ? HELLO_OLD : HELLO_KNOWN;
}

static int shoot_meeting(struct sm *sm, struct channel_peer *p, bool is_hello)
{
	struct channel *c = sm->m.channel;
	const struct channel_shot shot = { .peer = peer_index(c, p),
					   .what = is_hello ? SHOT_HELLO : SHOT_CONFIRM };
	struct channel_meeting m = { .guid = p->pair.from,
				     .life = p->pair.from_life,
				     .nonce = p->pair.from_nonce };
	uint8_t bytes[CHM_BYTES];
	struct channel_part part = { .kind = is_hello ? PART_HELLO : PART_CONFIRM,
				     .bytes = bytes,
				     .n = sizeof(bytes) };

	if (!is_hello) {
		m.answered = p->pair.to_nonce;
		part.session = p->next.id;
		part.tag = channel_proof(&c->secret, CHANNEL_PROOF_FROM, &p->pair, part.session);
	}
	channel_meeting_write(&m, bytes);
	return channel_shoot(sm, &shot, &part, NULL, HELLO_TIMEOUT);
}

static void send_hello(struct sm *sm, struct channel_peer *p)
{
	struct channel *c = sm->m.channel;
	int r;

	p->hello_at = sm->now + hello_period(sm, p);
	if (!channel_is_ready(sm) || !peer_is_welcome(sm, p->guid)) {
		p->fail = p->connected;
		return;
	}
	p->pair = (struct channel_pair){ .from = sm->tr->port_guid,
					 .to = p->guid,
					 .from_life = c->life };
	if (!sm_draw(sm, p->pair.from_nonce.bytes, CHANNEL_NONCE_BYTES))
		return;
	r = shoot_meeting(sm, p, true);
	p->hello_out = r == 0;
	if (r == -ENOTCONN)
		p->fail = p->connected;
}

/* Counts an unanswered HELLO. The next one waits even if an answer without proof came at once. */
static void not_answered(struct sm *sm, struct channel_peer *p)
{
	p->hello_out = false;
	p->tries++;
	if (p->connected)
		p->hello_at = sm->now + HELLO_KNOWN;
	else
		p->way++;
}

static void timed_out(struct sm *sm, struct channel_peer *p)
{
	not_answered(sm, p);
	if (p->connected)
		p->hello_at = sm->now;
}

static void tell_keys(struct sm *sm, struct channel_peer *p)
{
	if (told_first(&p->told, TOLD_KEYS))
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this manager does not prove that its sm_key and sa_key are ours: "
			 "nothing is sent to it; give all managers the same keys");
}

/* Is the answer proven to be of this manager, and new? */
static bool is_proven(struct sm *sm, struct channel_peer *p, const struct channel_part *part,
		      const struct channel_meeting *m)
{
	struct channel_tag tag;

	if (m->guid != p->guid || !m->life)
		return false;
	p->pair.to_life = m->life;
	p->pair.to_nonce = m->nonce;
	tag = channel_proof(&sm->m.channel->secret, CHANNEL_PROOF_TO, &p->pair, part->session);
	if (channel_tag_is(&tag, &part->tag))
		return true;
	tell_keys(sm, p);
	return false;
}

/* Handles WELCOME. If the manager does not have our session, another one begins. */
static void on_welcome(struct sm *sm, struct channel_peer *p, const struct channel_part *part)
{
	struct channel_meeting m;

	channel_meeting_read(part, &m);
	if (!is_proven(sm, p, part, &m)) {
		not_answered(sm, p);
		return;
	}
	p->heard_at = sm->now;
	p->silent = p->tries = 0;
	p->answered = true;
	p->is_foreign = false;
	p->told = (struct told){ 0 };
	peer_lives(sm, p, m.life);
	if (p->connected && part->session == p->session.id) {
		p->hello_out = false;
		return;
	}
	if (p->connected)
		lose(sm, p, "it does not have it any more");
	channel_session_make(&sm->m.channel->secret, &p->pair, &p->next);
	p->hello_out = shoot_meeting(sm, p, false) == 0;
	p->hello_at = sm->now + HELLO_KNOWN;
}

static void on_confirmed(struct sm *sm, struct channel_peer *p, const struct transport_event *ev,
			 struct channel_part *part)
{
	uint8_t none[CHANNEL_PART_BYTES];

	if (part->kind != PART_CONFIRMED || part->session != p->next.id ||
	    !channel_part_open(ev, p->next.back, part, none)) {
		not_answered(sm, p);
		return;
	}
	p->hello_out = false;
	p->heard_at = p->connected_at = sm->now;
	p->at = ev->from;
	p->session = p->next;
	explicit_bzero(&p->next, sizeof(p->next));
	p->serial = 0;
	p->connected = true;
	p->hello_at = sm->now + hello_period(sm, p);
	tell_connected(sm, p);
	tell_news(sm, NEWS_STANDBY_CONNECTED, .guid = p->guid);
}

/* Handles a foreign answer, which is not believed for a connected manager. */
static void on_foreign(struct sm *sm, struct channel_peer *p, const struct channel_part *part)
{
	not_answered(sm, p);
	if (p->connected)
		return;
	p->is_foreign = true;
	p->hello_at = sm->now + hello_period(sm, p);
	if (part && part->version != CHANNEL_VERSION)
		tell_version(sm, p, part->version);
}

/* ---- answers ------------------------------------------------------------------------------- */

static void answered_hello(struct sm *sm, struct channel_peer *p, const struct channel_shot *shot,
			   const struct transport_event *ev, struct channel_part *part)
{
	if (!part || part->version != CHANNEL_VERSION)
		on_foreign(sm, p, part);
	else if (shot->what == SHOT_CONFIRM)
		on_confirmed(sm, p, ev, part);
	else if (part->kind == PART_WELCOME)
		on_welcome(sm, p, part);
	else
		not_answered(sm, p);
}

/*
 * Handles an unsealed answer: it counts as silence, and the next part waits. If it says that the
 * session is unknown there, a WELCOME must prove that.
 */
static void not_sealed(struct sm *sm, const struct channel_shot *shot,
		       const struct channel_part *part)
{
	struct channel_peer *p = &sm->m.channel->peers[shot->peer];
	bool doubts = part && part->kind == PART_REFUSED && part->reason == REASON_SESSION;

	p->out[shot->stream].not_before = sm->now + (doubts ? DOUBTED : DAMAGED);
	peer_silence(sm, shot);
	if (!doubts || p->hello_out || sm->now < p->hastened_at + HELLO_KNOWN)
		return;
	p->hastened_at = p->hello_at = sm->now;
}

void peer_answer(struct sm *sm, const struct channel_shot *shot, const struct transport_event *ev,
		 struct channel_part *part)
{
	struct channel_peer *p = &sm->m.channel->peers[shot->peer];
	uint8_t bytes[CHANNEL_PART_BYTES];

	if (shot->what != SHOT_SEGMENT) {
		answered_hello(sm, p, shot, ev, part);
	} else if (part && out_open(p, shot, ev, part, bytes)) {
		p->heard_at = sm->now;
		p->silent = 0;
		out_answer(sm, shot, part);
		explicit_bzero(bytes, sizeof(bytes));
	} else {
		not_sealed(sm, shot, part);
	}
}

void peer_silence(struct sm *sm, const struct channel_shot *shot)
{
	struct channel_peer *p = &sm->m.channel->peers[shot->peer];

	if (shot->sent_at >= p->heard_at)
		p->silent++;
	if (p->silent >= SILENT_MADS && sm->now >= p->heard_at + SILENT_TIME)
		p->fail = p->connected;
	if (shot->what == SHOT_SEGMENT)
		out_silence(sm, shot);
	else
		timed_out(sm, p);
}

/* ---- turns --------------------------------------------------------------------------------- */

static bool is_forgotten(const struct sm *sm, const struct channel_peer *p)
{
	mono_t last = MAX(MAX(p->registered_at, p->heard_at), p->in_at);

	return !p->connected && !p->trusted && !p->hello_out && sm->now >= last + FORGET;
}

/* Is it a manager of ours? One of another kind would log each HELLO as an error. */
static bool is_ours(const struct sm *sm, const struct channel_peer *p)
{
	return p->registered || p->in_at || p->heard_at || elect_has_proved(sm, p->guid);
}

static bool may_be_asked(const struct sm *sm, const struct channel_peer *p)
{
	return p->guid && !p->hello_out && is_ours(sm, p);
}

static void tick_peer(struct sm *sm, struct channel_peer *p)
{
	struct channel *c = sm->m.channel;

	if (p->fail)
		lose(sm, p, "it does not answer");
	if (!p->connected && sm->now >= p->registered_at + FORGET)
		p->registered = false;
	if (is_forgotten(sm, p)) {
		in_reset(c, p);
		peer_clear(c, p);
	} else if (may_be_asked(sm, p) && sm->now >= p->hello_at && sm->now >= c->blocked_until) {
		send_hello(sm, p);
	}
}

void peer_tick(struct sm *sm)
{
	struct channel *c = sm->m.channel;

	look_around(sm);
	for (unsigned i = 0; i < c->n_rows; i++) {
		if (c->peers[i].guid)
			tick_peer(sm, &c->peers[i]);
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
		if (may_be_asked(sm, p))
			next = mono_min(next, MAX(p->hello_at, c->blocked_until));
	}
	return next;
}
