// SPDX-License-Identifier: BSD-2-Clause
/*
 * As STANDBY: checks the row of the master that is followed, has a job store its text, and puts it
 * into force. The result and the differences of this manager are reported in a row of its own; both
 * are checked again each minute, as files may have changed.
 */
#include <string.h>

#include "sm/share/share_internal.h"
#include "sm/base/about.h"
#include "sm/base/job.h"
#include "sm/base/key_mark.h"
#include "sm/base/news.h"
#include "util/hash.h"
#include "util/mem.h"

#define AGAIN (60 * MONO_S)

/* ---- reports ------------------------------------------------------------------------------- */

static void on_said(struct sm *sm, void *arg, int error)
{
	sm->m.share->saying = false;
}

static void say_status(struct sm *sm, enum share_status status, uint64_t hash)
{
	struct share *s = sm->m.share;
	_cleanup_free_ char *diff = status == SHARE_STORED
					    ? copied_diff(sm->conf, s->copied, key_mark_short)
					    : xstrdup("");
	const struct share_said said = {
		.status = status,
		.pins = s->pins.n,
		.hash = hash,
		.life = channel_own_life(sm),
		.diff = diff,
		.len = strlen(diff),
	};
	struct settle_edit e = { .key = share_said_key(sm->tr->port_guid),
				 .number = settle_next_number(sm, LEDGER_CONFIG) };
	_cleanup_free_ uint8_t *bytes = share_said_pack(&said, &e.len);

	e.bytes = bytes;
	if (share_is_row(sm, &e))
		return;
	s->saying = true;
	settle_commit(sm, &e, 1, on_said, NULL);
}

/* ---- storing ------------------------------------------------------------------------------- */

struct store_job {
	char *folder, *text;
	size_t len;
	struct copied *copied;
	int64_t at;
};

static int run_store(void *data)
{
	struct store_job *job = data;

	return share_store(job->folder, job->copied, job->text, job->len, &job->at);
}

/* Storing is tried again each minute; the fault is logged once until it ends. */
static void tell_not_stored(struct sm *sm, const char *folder, int error)
{
	if (told_first(&sm->m.share->told, TOLD_NOT_STORED))
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = folder, .error = -error), LOGB_ERROR,
		       "%s: the configuration of the master cannot be stored: %s", folder,
		       strerror(-error));
}

/* Puts the copy into force; takes over one reference. */
static void use_copy(struct sm *sm, struct copied *c)
{
	struct share *s = sm->m.share;
	bool is_news = s->copy_told != c->from && !(s->copied && s->copied->hash == c->hash);

	copied_unref(s->copied);
	s->copied = c;
	log_guid(sm, c->from, LOG_ID_REPLICA, is_news ? LOGB_INFO : LOGB_VERBOSE,
		 "the configuration of this master was copied to this host: %zu options, %zu files",
		 c->n_options, c->n_files);
	s->copy_told = c->from;
	tell_news(sm, NEWS_CONFIG_COPIED);
}

static void end_store(struct sm *sm, void *data, int error)
{
	struct share *s = sm->m.share;
	struct store_job *job = data;

	s->storing = false;
	if (error < 0) {
		tell_not_stored(sm, job->folder, error);
		if (sm->state == SM_STANDBY)
			say_status(sm, SHARE_DISK, hash_bytes(HASH_START, job->text, job->len));
		return;
	}
	told_change(&s->told, TOLD_NOT_STORED, false);
	job->copied->at = job->at;
	s->is_due = true; /* once it is in force, its differences are reported */
	use_copy(sm, take(job->copied));
}

static void free_store(void *data)
{
	struct store_job *job = data;

	copied_unref(job->copied);
	free(job->folder);
	free(job->text);
	free(job);
}

/* Starts to store the copy; takes over one reference. */
static void start_store(struct sm *sm, struct copied *c, const struct ledger_value *row)
{
	struct share *s = sm->m.share;
	struct store_job *job = xcalloc(1, sizeof(*job));

	*job = (struct store_job){
		.folder = xstrdup(s->folder),
		.text = xmemdup(row->bytes, row->len),
		.len = row->len,
		.copied = c,
	};
	s->storing = true;
	job_start(sm,
		  DISK_JOB("storing the master's configuration", run_store, end_store, free_store),
		  job);
}

/* ---- the row ------------------------------------------------------------------------------- */

static bool row_of_master(const struct sm *sm, struct ledger_value *ret)
{
	const struct ledger_key key = share_text_key();

	return ledger_get(settle_ledger(sm), &key, ret) && ret->dot.by.guid == elect_polled(sm);
}

static enum share_status judge(struct sm *sm, const struct ledger_value *row)
{
	struct share *s = sm->m.share;
	_cleanup_(copied_unrefp) struct copied *c = NULL;

	if (!s->own->replicate_configuration)
		return SHARE_DECLINED;
	if (!s->folder)
		return SHARE_DISK;
	if (copied_read((const char *)row->bytes, row->len, &c) < 0 || c->from != row->dot.by.guid)
		return SHARE_DAMAGED;
	if (s->copied && s->copied->hash == c->hash)
		return SHARE_STORED;
	copied_filter(c, share_holds_option, share_holds_file);
	start_store(sm, take(c), row);
	return SHARE_COMING;
}

static bool is_busy(const struct share *s)
{
	return s->storing || s->saying;
}

void share_standby_tick(struct sm *sm)
{
	struct share *s = sm->m.share;
	struct ledger_value row;
	enum share_status status;

	if (is_busy(s) || (!s->is_due && s->followed == elect_polled(sm) && sm->now < s->look_at))
		return;
	s->is_due = false;
	s->followed = elect_polled(sm);
	s->look_at = sm->now + AGAIN;
	if (!row_of_master(sm, &row))
		return;
	status = judge(sm, &row);
	if (status != SHARE_COMING)
		say_status(sm, status, hash_bytes(HASH_START, row.bytes, row.len));
}

mono_t share_standby_next(const struct sm *sm)
{
	const struct share *s = sm->m.share;

	if (is_busy(s))
		return MONO_NEVER;
	return s->is_due ? sm->now : s->look_at;
}
