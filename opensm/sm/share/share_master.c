// SPDX-License-Identifier: BSD-2-Clause
/*
 * As MASTER: the configuration in force as a text, sent to each standby that does not have it, and
 * what each says of the differences.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sm/share/share_internal.h"
#include "sm/base/about.h"
#include "sm/base/key_mark.h"
#include "sm/base/news.h"
#include "util/hash.h"
#include "util/mem.h"

#define RETRY	  (60 * MONO_S) /* a standby that could not store it */
#define ASK_AGAIN (60 * MONO_S) /* in what it differs */
#define LARGE	  (8u << 20)

/* ---- the text ------------------------------------------------------------------------------ */

static guid_t source_of(const struct sm *sm, enum conf_id id, bool file)
{
	const struct copied *c = sm->m.share->copied;
	const struct copied_option *o = c && !file ? copied_option(c, id) : NULL;
	const struct copied_file *f = c && file ? copied_file(c, id) : NULL;

	if (!sm->conf->copied[id])
		return sm->tr->port_guid;
	return o ? o->source : f ? f->source : sm->tr->port_guid;
}

static void add_options(const struct sm *sm, struct copied *c)
{
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		_cleanup_free_ char *text = NULL;

		if (conf_is_secret(id))
			copied_add_key(c, id, key_mark_short(sm->conf, id));
		if (!share_holds_option(id))
			continue;
		text = conf_value_text(sm->conf, id);
		copied_add_option(c, id, source_of(sm, id, false), text);
	}
}

/* False: it cannot be sent now. */
static bool add_file(struct sm *sm, struct copied *c, enum conf_file_kind kind)
{
	const struct conf_file *f = sm->files->of[kind];
	struct told *told = &sm->m.share->told;
	enum conf_id id = conf_file_option(kind);

	if (!f && copied_path(sm->conf, id))
		return true; /* named, and not read: it does not count now */
	if (f && !copied_path(sm->conf, id) && kind == CONF_FILE_EXPECTED)
		return true; /* topo_config_file, which has modes of its own */
	if (f && f->loaded == 0 && f->error == 0 && f->len > LARGE) {
		if (told_first(told, TOLD_LARGE_FILE))
			log_on(ABOUT(.id = LOG_ID_REPLICA, .file = f->path), LOGB_ERROR,
			       "%s has %zu bytes, and files of more than %u are not sent to "
			       "standbys: copy it to the other hosts",
			       f->path, f->len, LARGE);
		return true;
	}
	if (f && f->error && f->loaded != -ENOENT) {
		if (told_first(told, TOLD_FAULTY_FILE))
			log_on(ABOUT(.id = LOG_ID_REPLICA, .file = f->path), LOGB_ERROR,
			       "%s has faults: the configuration is not sent to standbys until "
			       "it has none",
			       f->path);
		return false;
	}
	copied_add_file(c, id, source_of(sm, id, true), f && f->loaded == 0 ? f->text : NULL,
			f ? f->len : 0);
	return true;
}

static struct copied *make_copied(struct sm *sm)
{
	_cleanup_(copied_unrefp) struct copied *c = copied_new(sm->tr->port_guid);

	add_options(sm, c);
	for (unsigned kind = 0; kind < CONF_N_FILES; kind++) {
		if (share_holds_file(conf_file_option(kind)) && !add_file(sm, c, kind))
			return NULL;
	}
	told_change(&sm->m.share->told, TOLD_FAULTY_FILE, false);
	return take(c);
}

/* Makes the text for standbys anew, if the configuration in force has changed. */
static void refresh_text(struct sm *sm)
{
	struct share *s = sm->m.share;
	_cleanup_(copied_unrefp) struct copied *c = NULL;

	if (!sm->first_sweep_done || !sm->files ||
	    (s->text_of == sm->conf && s->text_of_files == sm->files))
		return;
	conf_unref(s->text_of);
	conf_files_unref(s->text_of_files);
	s->text_of = conf_ref(sm->conf);
	s->text_of_files = conf_files_ref(sm->files);
	c = make_copied(sm);
	if (!c)
		return;
	free(s->text);
	s->text = copied_text(c, &s->len);
	if (s->hash == c->hash)
		return;
	s->hash = c->hash;
	s->version++;
	for (unsigned i = 0; i < MAX_REMOTE_SMS; i++)
		s->peers[i].retry_at = sm->now;
}

/* ---- standbys ------------------------------------------------------------------------------ */

static struct share_peer *peer_of(struct share *s, guid_t guid, bool add)
{
	struct share_peer *place = NULL;

	for (unsigned i = 0; i < MAX_REMOTE_SMS; i++) {
		if (s->peers[i].guid == guid)
			return &s->peers[i];
		if (!s->peers[i].guid && !place)
			place = &s->peers[i];
	}
	if (!add || !place)
		return NULL;
	*place = (struct share_peer){ .guid = guid };
	s->n_rows = MAX(s->n_rows, (unsigned)(place - s->peers) + 1);
	return place;
}

static void clear_peer(struct share_peer *p)
{
	free(p->diff);
	free(p->coming);
	*p = (struct share_peer){ 0 };
}

void share_forget_peers(struct share *s)
{
	for (unsigned i = 0; i < MAX_REMOTE_SMS; i++)
		clear_peer(&s->peers[i]);
}

static void tell_status(struct sm *sm, const struct share_peer *p, unsigned pins)
{
	switch (p->status) {
	case SHARE_STORED:
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_INFO,
			 "this standby has our configuration%s",
			 pins ? ", except for what is set otherwise there (opensmctl managers "
				"--diff)"
			      : "");
		break;
	case SHARE_DECLINED:
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_INFO,
			 "this standby does not take our configuration: replicate_configuration "
			 "is FALSE there");
		break;
	case SHARE_DAMAGED:
	case SHARE_DISK:
		log_guid(sm, p->guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this standby has not our configuration: %s",
			 p->status == SHARE_DISK ? "it cannot store it, its log says why"
						 : "it does not understand it");
		break;
	case SHARE_DIFFERS:
	case SHARE_NOTHING:
		break;
	}
}

static void on_stored(struct sm *sm, void *arg, guid_t guid, enum channel_end end,
		      const uint8_t *bytes, size_t len)
{
	struct share_peer *p = peer_of(sm->m.share, guid, false);
	enum share_status before;

	if (!p)
		return;
	before = p->status;
	p->busy = false;
	p->retry_at = sm->now + RETRY;
	if (end == CHANNEL_LOST) {
		p->retry_at = sm->now + MONO_S;
		return;
	}
	p->status = end == CHANNEL_REPLIED && len >= SRP_BYTES ? ib_get(bytes, SRP_STATUS)
								: SHARE_DAMAGED;
	if (p->status == SHARE_STORED)
		p->stored = p->sent;
	p->ask_at = sm->now;
	tell_news(sm, NEWS_SUCCESSOR_READY);
	if (p->status != before || p->status == SHARE_STORED)
		tell_status(sm, p, len >= SRP_BYTES ? ib_get(bytes, SRP_PINS) : 0);
}

static void send_text(struct sm *sm, struct share_peer *p)
{
	struct share *s = sm->m.share;

	p->busy = channel_send(sm, p->guid, CHANNEL_CONFIG, s->version, s->text, s->len, on_stored,
			       NULL) == 0;
	p->sent = s->hash;
	p->retry_at = sm->now + MONO_S;
}

bool share_is_with(const struct sm *sm, guid_t guid)
{
	const struct share *s = sm->m.share;
	const struct share_peer *p = NULL;

	if (!s->own->replicate_configuration || !channel_is_known(sm, guid))
		return true;
	for (unsigned i = 0; i < MAX_REMOTE_SMS; i++) {
		if (s->peers[i].guid == guid)
			p = &s->peers[i];
	}
	return p && p->status && (p->status != SHARE_STORED || p->stored == s->hash);
}

/* ---- differences --------------------------------------------------------------------------- */

static void ask_difference(struct sm *sm, struct share_peer *p);

/* Another text than that of the pages before: from the beginning. */
static void restart_pages(struct share_peer *p, const uint8_t *reply)
{
	if (p->coming && p->coming_hash == ib_get(reply, SRP_HASH))
		return;
	free(p->coming);
	p->coming_len = MIN((size_t)ib_get(reply, SRP_LENGTH), (size_t)SHARE_DIFF_MAX);
	p->coming_hash = ib_get(reply, SRP_HASH);
	p->coming = xcalloc(p->coming_len + 1, 1);
	p->n_coming = 0;
}

/* True: all of it is there. */
static bool take_page(struct share_peer *p, const uint8_t *reply, size_t len)
{
	size_t n = len - SRP_BYTES, from = p->n_coming;

	restart_pages(p, reply);
	if (p->n_coming == from && n <= p->coming_len - from) {
		memcpy(p->coming + from, reply + SRP_BYTES, n);
		p->n_coming += n;
	}
	if (p->n_coming < p->coming_len)
		return false;
	free(p->diff);
	p->diff = take(p->coming);
	return true;
}

static void on_difference(struct sm *sm, void *arg, guid_t guid, enum channel_end end,
			  const uint8_t *bytes, size_t len)
{
	struct share_peer *p = peer_of(sm->m.share, guid, false);

	if (!p)
		return;
	p->busy = false;
	if (end != CHANNEL_REPLIED || len < SRP_BYTES || ib_get(bytes, SRP_STATUS) != SHARE_DIFFERS)
		return;
	if (!take_page(p, bytes, len) && len > SRP_BYTES)
		ask_difference(sm, p);
}

static void ask_difference(struct sm *sm, struct share_peer *p)
{
	char query[32];
	int n = snprintf(query, sizeof(query), SHARE_QUERY "%zu", p->coming ? p->n_coming : 0);

	p->ask_at = sm->now + ASK_AGAIN;
	p->busy = channel_send(sm, p->guid, CHANNEL_CONFIG, 0, query, (size_t)n, on_difference,
			       NULL) == 0;
}

/* ---- when ---------------------------------------------------------------------------------- */

static void serve_standby(struct sm *sm, const struct channel_standby *standby)
{
	struct share *s = sm->m.share;
	struct share_peer *p = peer_of(s, standby->guid, true);

	if (!p || p->busy)
		return;
	if (standby->busy[CHANNEL_CONFIG]) {
		p->retry_at = p->ask_at = sm->now + MONO_S;
		return;
	}
	if (p->stored != s->hash) {
		if (sm->now >= p->retry_at)
			send_text(sm, p);
	} else if (sm->now >= p->ask_at) {
		free(p->coming);
		p->coming = NULL;
		p->n_coming = 0;
		ask_difference(sm, p);
	}
}

static void forget_others(struct sm *sm)
{
	struct share *s = sm->m.share;

	for (unsigned i = 0; i < s->n_rows; i++) {
		if (s->peers[i].guid && !channel_is_connected(sm, s->peers[i].guid))
			clear_peer(&s->peers[i]);
	}
}

void share_master_tick(struct sm *sm)
{
	struct share *s = sm->m.share;
	struct channel_standby standby;

	forget_others(sm);
	if (!channel_standby_at(sm, 0, &standby) || !s->own->replicate_configuration)
		return;
	refresh_text(sm);
	for (unsigned n = 0; s->text && channel_standby_at(sm, n, &standby); n++)
		serve_standby(sm, &standby);
}

mono_t share_master_next(const struct sm *sm)
{
	const struct share *s = sm->m.share;
	mono_t next = MONO_NEVER;

	/* share_master_tick() looks at no peer then, and what is due would stay due. */
	if (!s->own->replicate_configuration)
		return MONO_NEVER;
	for (unsigned i = 0; i < s->n_rows; i++) {
		const struct share_peer *p = &s->peers[i];

		if (p->guid && !p->busy && s->text)
			next = mono_min(next, p->stored != s->hash ? p->retry_at : p->ask_at);
	}
	return next;
}
