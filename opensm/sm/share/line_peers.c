// SPDX-License-Identifier: BSD-2-Clause
#include "sm/share/line_peers.h"

#include <string.h>

#include "fabric/store.h"
#include "keys/key_lines.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/channel/channel.h"
#include "sm/channel/peer_rows.h"
#include "sm/sm_internal.h"
#include "util/mem.h"
#include "util/told.h"

#define PAUSE (10 * MONO_S)

enum reply { REPLY_STORED = 1, REPLY_NOT_STORED, REPLY_DAMAGED, REPLY_BUSY };

enum { TOLD_MANY, TOLD_DAMAGED };
/* Of a standby. */
enum { TOLD_FAULT };

struct line_peer {
	guid_t guid;	    /* 0: a free row */
	uint64_t has, sent; /* versions of lines; 0: none */
	mono_t again;
	bool busy, refuses;
	struct told told;
};

struct line_peers {
	struct key_lines *lines; /* as MASTER */
	unsigned n_sweeps;	 /* that may have changed something, when `lines` were made */
	struct line_peer peers[MAX_REMOTE_SMS];
	unsigned n_rows; /* of peers: those behind were never in use, and are not looked at */
	struct told told;
	/* As standby: the message whose lines are being stored. */
	struct channel_ticket ticket;
	bool has_ticket;
};

void line_peers_new(struct sm *sm, const struct sm_paths *paths)
{
	sm->m.line_peers = xcalloc(1, sizeof(*sm->m.line_peers));
	sm->m.line_peers->lines = key_lines_new();
}

void line_peers_free(struct sm *sm)
{
	key_lines_free(sm->m.line_peers->lines);
	free(sm->m.line_peers);
	sm->m.line_peers = NULL;
}

/* ---- what is absent -------------------------------------------------------------------------- */

static bool is_here(const struct sm *sm, guid_t guid)
{
	const struct port *p = fabric_find_port(sm->fabric, guid);

	return p && p->known && !p->doubt && !p->key_doubts;
}

static bool next_absent(const struct sm *sm, size_t *pos, struct key_line *ret)
{
	*ret = (struct key_line){ 0 };
	while (store_next_mkey(sm->store, pos, &ret->guid, &ret->key)) {
		if (key_line_can_be(ret) && !is_here(sm, ret->guid))
			return true;
	}
	return false;
}

struct list {
	struct key_line *lines;
	size_t n;
};

/*
 * A line for each cable that is known of the port, or one without. A file that was kept may name
 * ports that cannot be, and one line with such a port would make the standby refuse all.
 */
static void collect(const struct sm *sm, const struct key_line *line, struct list *list)
{
	struct key_line with = *line;
	unsigned n = store_n_neighbors(sm->store, line->guid);
	size_t before = list->n;

	for (unsigned port = 1; n && port <= UINT8_MAX; port++) {
		with.port = (uint8_t)port;
		if (!store_neighbor(sm->store, line->guid, with.port, &with.far, &with.far_port))
			continue;
		n--;
		if (key_line_can_be(&with))
			list->lines[list->n++] = with;
	}
	if (list->n == before)
		list->lines[list->n++] = *line;
	explicit_bzero(&with, sizeof(with));
}

static size_t most_lines(const struct sm *sm)
{
	struct key_line line;
	size_t n = 0;

	for (size_t pos = 0; next_absent(sm, &pos, &line);)
		n += MAX(store_n_neighbors(sm->store, line.guid), 1u);
	explicit_bzero(&line, sizeof(line));
	return n;
}

/* All of them: which are too many is not to depend on the order of a table. */
static struct list collect_all(const struct sm *sm)
{
	size_t n = most_lines(sm);
	struct list list = { .lines = n ? xcalloc(n, sizeof(*list.lines)) : NULL };
	struct key_line line;

	for (size_t pos = 0; n && next_absent(sm, &pos, &line);)
		collect(sm, &line, &list);
	explicit_bzero(&line, sizeof(line));
	return list;
}

static guid_t end_guid(const struct port *p)
{
	return node_is_switch(p->node) ? p->node->guid : p->guid;
}

static void map_cable(struct key_cable *cables, struct key_map *map, const struct port *p)
{
	cables[map->n++] = (struct key_cable){
		.guid = end_guid(p),
		.far = end_guid(p->peer),
		.port = p->num,
		.far_port = p->peer->num,
	};
}

static size_t most_cables(const struct sm *sm)
{
	size_t n = 1;

	FABRIC_EACH_NODE(sm->fabric, node)
		n += node_is_switch(node) ? node->n_ports : 0;
	return n;
}

/* Cables between switches, and the own one; the caller frees the array. */
static struct key_cable *make_map(const struct sm *sm, struct key_map *ret)
{
	struct key_cable *cables = xcalloc(most_cables(sm), sizeof(*cables));
	const struct port *own = sm->fabric->own_port;

	*ret = (struct key_map){ .own = own ? end_guid(own) : 0, .cables = cables };
	if (own && !node_is_switch(own->node) && own->peer)
		map_cable(cables, ret, own);
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 1; node_is_switch(n) && i <= n->n_ports; i++) {
			const struct port *p = &n->ports[i];

			if (p->peer && node_is_switch(p->peer->node) &&
			    n->guid < p->peer->node->guid)
				map_cable(cables, ret, p);
		}
	}
	return cables;
}

/* Which lines are left out asks for the map; it is made for that only. */
static size_t renew(struct sm *sm, const struct list *list)
{
	struct key_lines *lines = sm->m.line_peers->lines;
	_cleanup_free_ struct key_cable *cables = NULL;
	struct key_map map = { 0 };

	if (list->n > KEY_LINES_MAX)
		cables = make_map(sm, &map);
	return key_lines_renew(lines, list->lines, list->n, &map);
}

static void tell_many(struct sm *sm, bool many)
{
	if (told_change(&sm->m.line_peers->told, TOLD_MANY, many) == TOLD_BEGINS)
		log_on(ABOUT(.id = LOG_ID_REPLICA), LOGB_ERROR,
		       "guid2mkey has the keys of more than %u cables of ports that are not there: "
		       "standbys are not sent the rest. Stop all managers of this subnet, then "
		       "take the lines of hosts that do not come back out of guid2mkey on each",
		       KEY_LINES_MAX);
}

void line_peers_sweep_ended(struct sm *sm)
{
	struct line_peers *lp = sm->m.line_peers;
	unsigned n = sm->stats.heavy_sweeps + sm->stats.dirty_sweeps;
	bool had = key_lines_count(lp->lines);
	struct list list;

	if (sm->state != SM_MASTER || !keys_ring(sm) || n == lp->n_sweeps)
		return;
	lp->n_sweeps = n;
	list = collect_all(sm);
	tell_many(sm, renew(sm, &list) > 0);
	free_wiped(list.lines, list.n * sizeof(*list.lines));
	if (had && !key_lines_count(lp->lines)) /* standbys lack nothing any more */
		tell_news(sm, NEWS_STANDBY_STORED);
}

/* ---- as master ------------------------------------------------------------------------------- */

static struct line_peer *peer_of(struct line_peers *lp, guid_t guid)
{
	return peer_row_find(lp->peers, sizeof(lp->peers[0]), guid);
}

void line_peers_standby(struct sm *sm, guid_t guid, bool connected)
{
	struct line_peers *lp = sm->m.line_peers;

	peer_row_change(lp->peers, sizeof(lp->peers[0]), &lp->n_rows, guid, connected);
}

static bool may_be_sent(const struct sm *sm)
{
	return sm->state == SM_MASTER && keys_ring(sm) && keys_may_be_sent(sm);
}

static bool has_all(const struct sm *sm, const struct line_peer *p)
{
	return p->refuses || p->has >= key_lines_version(sm->m.line_peers->lines);
}

bool line_peers_have_lines(const struct sm *sm)
{
	return may_be_sent(sm) && key_lines_count(sm->m.line_peers->lines);
}

bool line_peers_is_with(const struct sm *sm, guid_t guid)
{
	const struct line_peer *p = peer_of(sm->m.line_peers, guid);

	return !line_peers_have_lines(sm) || (p && has_all(sm, p));
}

static void take_reply(struct sm *sm, struct line_peer *p, const uint8_t *reply)
{
	switch ((enum reply)reply[0]) {
	case REPLY_STORED:
		p->has = p->sent;
		p->again = sm->now;
		told_change(&p->told, TOLD_FAULT, false);
		tell_news(sm, NEWS_STANDBY_STORED);
		return;
	case REPLY_BUSY:
		p->again = sm->now + MONO_S;
		return;
	case REPLY_NOT_STORED:
	case REPLY_DAMAGED:
		break;
	}
	if (told_first(&p->told, TOLD_FAULT))
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this standby cannot store M_Keys of hosts that are off: its own log says "
			 "why; after a takeover it may not reach these when they come back");
}

static void on_reply(struct sm *sm, void *arg, guid_t guid, enum channel_end end,
		     const uint8_t *bytes, size_t len)
{
	struct line_peer *p = peer_of(sm->m.line_peers, guid);

	if (!p)
		return;
	p->busy = false;
	p->refuses = end == CHANNEL_REFUSED;
	p->again = sm->now + PAUSE;
	if (end == CHANNEL_REPLIED && len)
		take_reply(sm, p, bytes);
	else if (p->refuses) /* it is not waited for */
		tell_news(sm, NEWS_STANDBY_STORED);
}

/* The peer lacks lines, and none are on their way to it. */
static bool is_behind(const struct sm *sm, const struct line_peer *p)
{
	return p->guid && !p->busy && !has_all(sm, p);
}

static void serve_peer(struct sm *sm, struct line_peer *p)
{
	const struct key_lines *lines = sm->m.line_peers->lines;
	uint8_t *text;
	size_t len;

	if (!is_behind(sm, p) || sm->now < p->again || !elect_has_proved(sm, p->guid))
		return;
	p->again = sm->now + PAUSE;
	p->sent = key_lines_version(lines);
	text = key_lines_text(lines, p->has, &len);
	if (text) {
		p->busy = channel_send(sm, p->guid, CHANNEL_LINES, p->sent, text, len, on_reply,
				       NULL) == 0;
	} else { /* these ports are back */
		p->has = p->sent;
		tell_news(sm, NEWS_STANDBY_STORED);
	}
	free_wiped(text, len);
}

void line_peers_tick(struct sm *sm)
{
	for (unsigned i = 0; i < sm->m.line_peers->n_rows && may_be_sent(sm); i++)
		serve_peer(sm, &sm->m.line_peers->peers[i]);
}

mono_t line_peers_next(const struct sm *sm)
{
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; i < sm->m.line_peers->n_rows && may_be_sent(sm); i++) {
		const struct line_peer *p = &sm->m.line_peers->peers[i];

		if (is_behind(sm, p))
			next = mono_min(next, MAX(p->again, sm->now));
	}
	return next;
}

/* ---- as standby ------------------------------------------------------------------------------ */

static void tell_damaged(struct sm *sm, bool damaged)
{
	if (told_change(&sm->m.line_peers->told, TOLD_DAMAGED, damaged) == TOLD_BEGINS)
		log_on(ABOUT(.id = LOG_ID_REPLICA), LOGB_ERROR,
		       "what the master sent of M_Keys of hosts that are off cannot be read, and "
		       "is not stored: run the same version on both hosts");
}

static void reply(struct sm *sm, enum reply status)
{
	struct line_peers *lp = sm->m.line_peers;
	const uint8_t byte = (uint8_t)status;

	if (lp->has_ticket)
		channel_reply(sm, &lp->ticket, &byte, sizeof(byte));
	lp->has_ticket = false;
}

static void on_saved(struct sm *sm, int error)
{
	reply(sm, error < 0 ? REPLY_NOT_STORED : REPLY_STORED);
}

/* The end of a cable that this manager has seen itself, since it watches the fabric. */
static bool is_cabled(const struct sm *sm, guid_t guid, uint8_t port)
{
	const struct node *n = fabric_find_node(sm->fabric, guid);
	const struct port *p = n && port <= n->n_ports ? &n->ports[port] : NULL;

	if (!n)
		p = fabric_find_port(sm->fabric, guid);
	return p && p->peer;
}

/*
 * As this manager has seen itself. One that it has seen with an older key may have been given the
 * line's since, and have gone.
 */
static bool has_newest_key(const struct sm *sm, guid_t guid)
{
	return is_here(sm, guid) &&
	       fabric_find_port(sm->fabric, guid)->m_key == keys_wanted(sm, guid);
}

/* Where the port is, and that it has the newest key, this manager may have seen later. */
static void take_line(struct sm *sm, const struct key_line *line, bool is_only)
{
	store_set_mkey(sm->store, line->guid,
		       has_newest_key(sm, line->guid) ? keys_wanted(sm, line->guid) : line->key);
	if (line->far && !is_cabled(sm, line->guid, line->port) &&
	    !is_cabled(sm, line->far, line->far_port))
		(is_only ? store_set_only_neighbor : store_set_neighbor)(
			sm->store, line->guid, line->port, line->far, line->far_port);
}

static void take_lines(struct sm *sm, const uint8_t *text, size_t n)
{
	struct key_line line, next = key_lines_at(text, 0);
	guid_t before = 0;

	for (size_t i = 0; i < n; i++) {
		line = next;
		if (i + 1 < n)
			next = key_lines_at(text, i + 1);
		take_line(sm, &line,
			  line.guid != before && (i + 1 == n || next.guid != line.guid));
		before = line.guid;
	}
	explicit_bzero(&line, sizeof(line));
	explicit_bzero(&next, sizeof(next));
}

static void on_message(struct sm *sm, void *arg, struct channel_message *m)
{
	struct line_peers *lp = sm->m.line_peers;
	size_t n = sm->state == SM_MASTER ? 0 : key_lines_check(m->bytes, m->len);

	if (n)
		take_lines(sm, m->bytes, n);
	explicit_bzero(m->bytes, m->len);
	tell_damaged(sm, !n && sm->state != SM_MASTER);
	/* The reply to an earlier message is not waited for any more. */
	lp->ticket = m->ticket;
	lp->has_ticket = true;
	if (n)
		lids_save_then(sm, on_saved);
	else
		reply(sm, REPLY_DAMAGED);
}

void line_peers_listen(struct sm *sm)
{
	channel_register(sm, CHANNEL_LINES, on_message, NULL);
}

void line_peers_state_changed(struct sm *sm)
{
	struct line_peers *lp = sm->m.line_peers;

	memset(lp->peers, 0, sizeof(lp->peers));
	lp->has_ticket = false;
	key_lines_renew(lp->lines, NULL, 0, &(struct key_map){ 0 });
	lp->n_sweeps = 0;
}
