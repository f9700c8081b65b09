// SPDX-License-Identifier: BSD-2-Clause
/*
 * As MASTER: writes the configuration in force as text to a row of the ledger, which standbys get
 * as any other. Logs what each of them reports on it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sm/share/share_internal.h"
#include "sm/base/about.h"
#include "sm/base/key_mark.h"
#include "util/hash.h"
#include "util/mem.h"

#define RETRY (60 * MONO_S) /* pause after ledger.db could not be written */
#define LARGE (8u << 20)

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

/* Adds a file. False: it cannot be sent now. */
static bool add_file(struct sm *sm, struct copied *c, enum conf_file_kind kind)
{
	const struct conf_file *f = sm->files->of[kind];
	struct told *told = &sm->m.share->told;
	enum conf_id id = conf_file_option(kind);

	if (!f && copied_path(sm->conf, id))
		return true; /* named, and not read: it has no effect now */
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

static void set_text(struct share *s, struct copied *c)
{
	const size_t max = ledger_table(LEDGER_CONFIG)->value_max;

	free(s->text);
	s->text = copied_text(c, &s->len);
	s->hash = hash_bytes(HASH_START, s->text, s->len);
	s->is_row_due = true;
	if (s->len <= max) {
		told_change(&s->told, TOLD_LARGE_TEXT, false);
		return;
	}
	if (told_first(&s->told, TOLD_LARGE_TEXT))
		log_on(ABOUT(.id = LOG_ID_REPLICA), LOGB_ERROR,
		       "the configuration has %zu bytes with its files, and more than %zu are not "
		       "sent to standbys: copy the files to the other hosts",
		       s->len, max);
	free(take(s->text));
	s->len = 0;
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
	if (c) {
		set_text(s, c);
		return;
	}
	/* The former text is not sent instead. */
	free(take(s->text));
	s->len = 0;
}

/* ---- the row ------------------------------------------------------------------------------- */

/* May rows be written? Not while two masters see each other: each would undo the other's row. */
static bool may_write(const struct sm *sm)
{
	return settle_state(sm) == SETTLE_WRITING || settle_state(sm) == SETTLE_KEEPING;
}

/* Is the text that of the configuration in force, and not of an earlier time as MASTER? */
static bool is_text_current(const struct sm *sm)
{
	const struct share *s = sm->m.share;

	return s->text && s->text_of == sm->conf && s->text_of_files == sm->files;
}

static bool is_row_due(const struct sm *sm)
{
	const struct share *s = sm->m.share;

	return s->is_row_due && !s->writing && may_write(sm) &&
	       (is_text_current(sm) || !s->own->replicate_configuration);
}

static void on_written(struct sm *sm, void *arg, int error)
{
	struct share *s = sm->m.share;

	s->writing = false;
	if (error == 0)
		return;
	s->is_row_due = true;
	s->write_at = sm->now + RETRY;
}

/* Writes the text to the row; removes the row if nothing is to be shared. */
static void write_row(struct sm *sm)
{
	struct share *s = sm->m.share;
	const struct settle_edit e = { .key = share_text_key(),
				       .removed = !s->own->replicate_configuration,
				       .number = settle_next_number(sm, LEDGER_CONFIG),
				       .len = (uint32_t)s->len,
				       .bytes = (const uint8_t *)s->text };

	s->is_row_due = false;
	if (share_is_row(sm, &e))
		return;
	s->writing = true;
	settle_commit(sm, &e, 1, on_written, NULL);
}

/* ---- standbys ------------------------------------------------------------------------------ */

/* The note of a standby, or a free one for `guid` 0; NULL: there is none. */
static struct share_told *told_of(struct share *s, guid_t guid)
{
	for (unsigned i = 0; i < SHARE_TOLD; i++)
		if (s->with_told[i].guid == guid)
			return &s->with_told[i];
	return NULL;
}

/* Is it news that the standby has our configuration? It has each change of it, in turn. */
static bool is_news(struct share *s, const struct share_said *said)
{
	struct share_told *t = told_of(s, said->guid) ?: told_of(s, 0);
	bool is_new = !t || t->guid != said->guid || t->pins != !!said->pins;

	if (t)
		*t = (struct share_told){ said->guid, !!said->pins };
	return is_new;
}

static void forget_told(struct share *s, guid_t guid)
{
	struct share_told *t = told_of(s, guid);

	if (t)
		t->guid = 0;
}

static void tell_status(struct sm *sm, const struct share_said *said)
{
	unsigned bits;

	switch (said->status) {
	case SHARE_STORED:
		bits = is_news(sm->m.share, said) ? LOGB_INFO : LOGB_VERBOSE;
		log_guid(sm, said->guid, LOG_ID_REPLICA, bits,
			 "this standby has the configuration of this host%s",
			 said->pins ? ", except for what is set otherwise there "
				      "(opensmctl managers --diff)"
				    : "");
		break;
	case SHARE_DECLINED:
		log_guid(sm, said->guid, LOG_ID_REPLICA, LOGB_INFO,
			 "this standby does not take the configuration of this host: "
			 "replicate_configuration is FALSE there");
		forget_told(sm->m.share, said->guid);
		break;
	case SHARE_DAMAGED:
	case SHARE_DISK:
		log_guid(sm, said->guid, LOG_ID_REPLICA, LOGB_ERROR,
			 "this standby lacks the configuration of this host: %s",
			 said->status == SHARE_DISK
				 ? "it cannot store it, its log says why"
				 : "it does not understand it; run the same version on both hosts");
		forget_told(sm->m.share, said->guid);
		break;
	case SHARE_COMING:
		break;
	}
}

void share_master_hears(struct sm *sm, const struct ledger_key *key)
{
	struct share_said said;

	if (sm->state == SM_MASTER && share_said(sm, key, &said) &&
	    said.hash == sm->m.share->hash)
		tell_status(sm, &said);
}

bool share_is_with(const struct sm *sm, guid_t guid)
{
	const struct ledger_key key = share_said_key(guid);
	const struct share *s = sm->m.share;
	struct share_said said;

	/* A standby that has just started may be connected before it registers. */
	if (!s->own->replicate_configuration || told_holds(&s->told, TOLD_LARGE_TEXT) ||
	    (!channel_is_known(sm, guid) && !channel_is_connected(sm, guid)))
		return true;
	return share_said(sm, &key, &said) && said.hash == s->hash;
}

/* ---- when ---------------------------------------------------------------------------------- */

void share_master_tick(struct sm *sm)
{
	struct share *s = sm->m.share;
	guid_t standby;

	if (s->own->replicate_configuration && channel_standby_at(sm, 0, &standby))
		refresh_text(sm);
	if (is_row_due(sm) && sm->now >= s->write_at)
		write_row(sm);
}

mono_t share_master_next(const struct sm *sm)
{
	return is_row_due(sm) ? sm->m.share->write_at : MONO_NEVER;
}
