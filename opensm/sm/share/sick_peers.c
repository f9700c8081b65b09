// SPDX-License-Identifier: BSD-2-Clause
#include "sm/share/sick_peers.h"

#include <stdlib.h>
#include <string.h>

#include "sm/channel/channel.h"
#include "sm/channel/peer_rows.h"
#include "sm/health/sick.h"
#include "sm/sm_internal.h"
#include "util/mem.h"

#define PACE (300 * MONO_S)
#define LOOK_AGAIN (10 * MONO_S) /* nothing was known that a standby would lack */

enum reply { REPLY_TAKEN = 1, REPLY_DAMAGED };

struct sick_peer {
	guid_t guid;   /* 0: a free row */
	uint64_t sent, urgent; /* versions; 0: none */
	mono_t again;
	bool busy, refuses;
};

struct sick_peers {
	struct sick_peer peers[MAX_REMOTE_SMS];
	unsigned n_rows; /* of peers: those behind were never in use, and are not looked at */
};

void sick_peers_new(struct sm *sm, const struct sm_paths *paths)
{
	sm->m.sick_peers = xcalloc(1, sizeof(*sm->m.sick_peers));
}

void sick_peers_free(struct sm *sm)
{
	free(sm->m.sick_peers);
	sm->m.sick_peers = NULL;
}

static struct sick_peer *peer_of(struct sick_peers *sp, guid_t guid)
{
	return peer_row_find(sp->peers, sizeof(sp->peers[0]), guid);
}

void sick_peers_standby(struct sm *sm, guid_t guid, bool connected)
{
	struct sick_peers *sp = sm->m.sick_peers;

	peer_row_change(sp->peers, sizeof(sp->peers[0]), &sp->n_rows, guid, connected);
}

/* ---- as master ------------------------------------------------------------------------------- */

static void on_reply(struct sm *sm, void *arg, guid_t guid, enum channel_end end,
		     const uint8_t *bytes, size_t len)
{
	struct sick_peer *p = peer_of(sm->m.sick_peers, guid);

	if (!p)
		return;
	p->busy = false;
	p->refuses = end == CHANNEL_REFUSED;
	if (end != CHANNEL_REPLIED || !len || bytes[0] != REPLY_TAKEN)
		p->sent = 0;
}

/* Asked at each MAD: that nothing is known against any link is found out in serve_peer(). */
static bool is_behind(const struct sm *sm, const struct sick_peer *p)
{
	return p->guid && !p->busy && !p->refuses && p->sent != sick_version(sm);
}

/* Which ports are disabled is not kept waiting. */
static mono_t due_at(const struct sm *sm, const struct sick_peer *p)
{
	return p->urgent < sick_urgent_version(sm) ? 0 : p->again;
}

static void serve_peer(struct sm *sm, struct sick_peer *p)
{
	_cleanup_free_ char *text = NULL;
	size_t len;

	if (sm->now < due_at(sm, p) || !is_behind(sm, p))
		return;
	p->urgent = sick_urgent_version(sm);
	if (sick_is_clean(sm)) {
		p->again = sm->now + LOOK_AGAIN;
		return;
	}
	p->again = sm->now + PACE;
	p->sent = sick_version(sm);
	text = sick_text(sm, &len);
	p->busy = channel_send(sm, p->guid, CHANNEL_HEALTH, p->sent, text, len, on_reply, NULL) ==
		  0;
}

void sick_peers_tick(struct sm *sm)
{
	for (unsigned i = 0; i < sm->m.sick_peers->n_rows && sm->state == SM_MASTER; i++)
		serve_peer(sm, &sm->m.sick_peers->peers[i]);
}

mono_t sick_peers_next(const struct sm *sm)
{
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; i < sm->m.sick_peers->n_rows && sm->state == SM_MASTER; i++) {
		const struct sick_peer *p = &sm->m.sick_peers->peers[i];

		if (is_behind(sm, p))
			next = mono_min(next, MAX(due_at(sm, p), sm->now));
	}
	return next;
}

/* ---- as standby ------------------------------------------------------------------------------ */

static void on_message(struct sm *sm, void *arg, struct channel_message *m)
{
	uint8_t reply = REPLY_DAMAGED;

	if (sm->state != SM_MASTER && sick_take_over(sm, (const char *)m->bytes, m->len))
		reply = REPLY_TAKEN;
	channel_reply(sm, &m->ticket, &reply, sizeof(reply));
}

void sick_peers_listen(struct sm *sm)
{
	channel_register(sm, CHANNEL_HEALTH, on_message, NULL);
}

void sick_peers_state_changed(struct sm *sm)
{
	memset(sm->m.sick_peers->peers, 0, sizeof(sm->m.sick_peers->peers));
}
