// SPDX-License-Identifier: BSD-2-Clause
/* The table of managers: at most MAX_REMOTE_SMS. An unused row is given to another manager. */
#include <string.h>

#include "sm/channel/channel_internal.h"
#include "util/mem.h"

struct channel_peer *peer_find(struct channel *c, guid_t guid)
{
	for (unsigned i = 0; guid && i < c->n_rows; i++) {
		if (c->peers[i].guid == guid)
			return &c->peers[i];
	}
	return NULL;
}

struct channel_peer *peer_of_session(struct channel *c, uint32_t session)
{
	for (unsigned i = 0; session && i < c->n_rows; i++) {
		if (c->peers[i].guid && c->peers[i].in_session.id == session)
			return &c->peers[i];
	}
	return NULL;
}

unsigned peer_index(const struct channel *c, const struct channel_peer *p)
{
	return (unsigned)(p - c->peers);
}

/* Clears a row; earlier proofs of its manager are not valid any more. */
void peer_clear(struct channel *c, struct channel_peer *p)
{
	c->free_turn = ++c->n_sessions;
	explicit_bzero(p, sizeof(*p));
}

static bool may_go(const struct channel_peer *p)
{
	return p->guid && !p->trusted && !p->registered && !p->connected && !p->hello_out;
}

/* The row of the manager that was last heard of the longest ago. */
static struct channel_peer *replace(struct channel *c)
{
	struct channel_peer *found = NULL;

	for (unsigned i = 0; i < c->n_rows; i++) {
		struct channel_peer *p = &c->peers[i];

		if (may_go(p) && (!found || p->in_at < found->in_at))
			found = p;
	}
	if (!found)
		return NULL;
	in_reset(c, found);
	peer_clear(c, found);
	return found;
}

static struct channel_peer *free_row(struct channel *c)
{
	for (unsigned i = 0; i < MAX_REMOTE_SMS; i++) {
		if (!c->peers[i].guid) {
			c->n_rows = MAX(c->n_rows, i + 1);
			return &c->peers[i];
		}
	}
	return replace(c);
}

struct channel_peer *peer_add(struct channel *c, guid_t guid)
{
	struct channel_peer *p = free_row(c);

	if (!p)
		return NULL;
	p->guid = guid;
	p->turn = c->free_turn;
	p->log = (struct log_limit){ .interval = 30 * MONO_S, .burst = 6 };
	return p;
}

/*
 * Is the manager accepted? With default keys only if the election sees it, so that no host can be
 * one in secret.
 */
bool peer_is_welcome(const struct sm *sm, guid_t guid)
{
	const struct channel_peer *p = peer_find(sm->m.channel, guid);

	return guid && guid != sm->tr->port_guid && !sm->conf->ignore_other_sm &&
	       elect_is_allowed(sm, guid) &&
	       (channel_is_secret(sm) || elect_is_manager(sm, guid) ||
		(p && (p->trusted || p->registered)));
}
