// SPDX-License-Identifier: BSD-2-Clause
/* As STANDBY: the master's configuration comes, is stored by a job, and counts from then on. */
#include <string.h>

#include "sm/share/share_internal.h"
#include "sm/base/about.h"
#include "sm/base/key_mark.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/mem.h"
#include "util/str.h"

static void answer(struct sm *sm, const struct channel_ticket *ticket, enum share_status status)
{
	const struct share *s = sm->m.share;
	uint8_t reply[SRP_BYTES] = { 0 };

	ib_put(reply, SRP_FORMAT, SHARE_REPLY_FORMAT);
	ib_put(reply, SRP_STATUS, status);
	ib_put(reply, SRP_PINS, s->pins.n);
	channel_reply(sm, ticket, reply, sizeof(reply));
}

/* ---- storing ------------------------------------------------------------------------------- */

struct store_job {
	struct sm_job base;
	struct sm *sm;
	struct channel_ticket ticket;
	char *folder, *text;
	size_t len;
	struct copied *copied;
	int64_t at;
	int error;
};

static void run_store(struct sm_job *base)
{
	struct store_job *job = (struct store_job *)base;

	job->error = share_store(job->folder, job->copied, job->text, job->len, &job->at);
}

/* The master sends it again each minute: told once, as long as it lasts. */
static void tell_not_stored(struct sm *sm, const struct store_job *job)
{
	if (told_first(&sm->m.share->told, TOLD_NOT_STORED))
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = job->folder, .error = -job->error),
		       LOGB_ERROR, "%s: the configuration of the master cannot be stored: %s",
		       job->folder, strerror(-job->error));
}

static void stored(struct sm *sm, struct store_job *job)
{
	sm->m.share->storing = false;
	if (job->error < 0) {
		tell_not_stored(sm, job);
		answer(sm, &job->ticket, SHARE_DISK);
		return;
	}
	told_change(&sm->m.share->told, TOLD_NOT_STORED, false);
	job->copied->at = job->at;
	share_use(sm, take(job->copied));
	answer(sm, &job->ticket, SHARE_STORED);
}

static void end_store(struct sm_job *base)
{
	struct store_job *job = (struct store_job *)base;

	if (!job->base.orphan)
		stored(job->sm, job);
	copied_unref(job->copied);
	free(job->folder);
	free(job->text);
	free(job);
}

/* Takes over one reference of `c`. */
static void start_store(struct sm *sm, struct copied *c, struct channel_message *m)
{
	struct share *s = sm->m.share;
	struct store_job *job = xcalloc(1, sizeof(*job));

	*job = (struct store_job){
		.base = { .run = run_store,
			  .done = end_store,
			  .what = "storing the master's configuration",
			  .disk = true },
		.sm = sm,
		.ticket = m->ticket,
		.folder = xstrdup(s->folder),
		.text = (char *)take(m->bytes),
		.len = m->len,
		.copied = c,
	};
	s->storing = true;
	sm->hooks.submit_job(sm->hooks.arg, &job->base);
}

static void on_text(struct sm *sm, struct channel_message *m)
{
	struct share *s = sm->m.share;
	_cleanup_(copied_unrefp) struct copied *c = NULL;

	if (!s->own->replicate_configuration) {
		answer(sm, &m->ticket, SHARE_DECLINED);
	} else if (!s->folder) {
		answer(sm, &m->ticket, SHARE_DISK);
	} else if (copied_read((const char *)m->bytes, m->len, &c) < 0 || c->from != m->from) {
		answer(sm, &m->ticket, SHARE_DAMAGED);
	} else if (s->copied && s->copied->hash == c->hash) {
		answer(sm, &m->ticket, SHARE_STORED);
	} else if (!s->storing) { /* else the master asks again, after this one was lost */
		copied_filter(c, share_holds_option, share_holds_file);
		start_store(sm, take(c), m);
	}
}

/* ---- queries ------------------------------------------------------------------------------- */

/* A page of the differences; at offset 0 they are looked for. */
static void on_query(struct sm *sm, const struct channel_message *m, uint64_t offset)
{
	struct share *s = sm->m.share;
	uint8_t reply[CHANNEL_REPLY_MAX] = { 0 };
	size_t len, n;

	if (!s->copied) {
		answer(sm, &m->ticket, SHARE_NOTHING);
		return;
	}
	if (!offset || !s->page_text) {
		free(s->page_text);
		s->page_text = copied_diff(sm->conf, s->copied, key_mark_short);
	}
	len = MIN(strlen(s->page_text), (size_t)SHARE_DIFF_MAX);
	n = MIN(len - MIN(len, offset), (size_t)SHARE_PAGE);
	ib_put(reply, SRP_FORMAT, SHARE_REPLY_FORMAT);
	ib_put(reply, SRP_STATUS, SHARE_DIFFERS);
	ib_put(reply, SRP_PINS, s->pins.n);
	ib_put(reply, SRP_LENGTH, len);
	ib_put(reply, SRP_HASH, hash_bytes(HASH_START, s->page_text, len));
	if (n)
		memcpy(reply + SRP_BYTES, s->page_text + offset, n);
	channel_reply(sm, &m->ticket, reply, SRP_BYTES + n);
}

static void on_message(struct sm *sm, void *arg, struct channel_message *m)
{
	const size_t n = strlen(SHARE_QUERY);
	char number[24];
	uint64_t offset;

	if (m->len <= n || m->len - n >= sizeof(number) || memcmp(m->bytes, SHARE_QUERY, n) != 0) {
		on_text(sm, m);
		return;
	}
	memcpy(number, m->bytes + n, m->len - n);
	number[m->len - n] = '\0';
	if (str_to_u64(number, 10, SHARE_DIFF_MAX, &offset) == 0)
		on_query(sm, m, offset);
	else
		answer(sm, &m->ticket, SHARE_DAMAGED);
}

void share_listen(struct sm *sm)
{
	channel_register(sm, CHANNEL_CONFIG, on_message, NULL);
}
