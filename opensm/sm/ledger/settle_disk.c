// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ledger of this manager and its file: changes and arrived rows are worked off in order, one
 * transaction each.
 *
 *   queued --prepared on what is merged--> being written (job) --> merged, told to owners, sent to
 *                                               |                  other managers
 *                                               '--disk fault--> nothing changes; the asker knows
 *
 * What is in the ledger is on the disk. Without a cache folder nothing is stored: changes that
 * their owner permits then count until this process ends.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/base/drawn_key.h"
#include "sm/base/about.h"
#include "sm/base/job.h"
#include "sm/base/news.h"
#include "sm/ledger/settle_internal.h"
#include "util/mem.h"

#define FORMER ".taken" /* suffix of files of former builds after they were read */

/* ---- the job --------------------------------------------------------------------------------- */

struct disk_job {
	struct ledger_store *store; /* the job's own while it runs */
	char *path;		    /* path of a file to be created; NULL: it exists */
	uint8_t *bytes;
	size_t len, cap;
	struct ledger_meta *meta; /* NULL: unchanged */
};

static int disk_run(void *data)
{
	struct disk_job *job = data;
	char aside[LEDGER_ASIDE_MAX];
	int error = 0;
	bool fresh;

	if (job->path) {
		job->store = ledger_store_close(job->store);
		error = ledger_store_open(job->path, &job->store, &fresh, aside);
	}
	return error ?: ledger_store_write(job->store, job->bytes, job->len, job->meta);
}

static void work_ended(struct sm *sm, int error);
static void write_work(struct sm *sm, const struct settle_work *w);

/* If the file is gone, all rows are written to a new one. True: that was started. */
static bool is_written_anew(struct sm *sm, const struct disk_job *job, int error)
{
	struct settle *s = sm->m.settle;

	/* A new file that could not be filled lacks rows, too. */
	s->is_gone = error == -ENOENT || !s->store || (job->path && error < 0);
	if (!s->is_gone || job->path)
		return false;
	log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = s->path), LOGB_ERROR,
	       "%s was removed while it was in use: it is written anew", s->path);
	write_work(sm, s->first);
	return true;
}

static void disk_ended(struct sm *sm, void *data, int error)
{
	struct disk_job *job = data;

	sm->m.settle->store = take(job->store);
	if (!is_written_anew(sm, job, error))
		work_ended(sm, error);
}

static void disk_job_free(void *data)
{
	struct disk_job *job = data;

	ledger_store_close(job->store);
	free_wiped(job->bytes, job->cap);
	free(job->path);
	free(job->meta);
	free(job);
}

static void pack_row(struct disk_job *job, const struct ledger_row *row)
{
	size_t len = ledger_row_bytes(row);

	GROW(job->bytes, job->len + len, job->cap);
	ledger_row_pack(row, job->bytes + job->len);
	job->len += len;
}

static void pack_all(struct disk_job *job, const struct ledger *l)
{
	for (unsigned t = 0; t < LEDGER_TABLES; t++) {
		const struct ledger_row *row;
		size_t pos = 0;

		while ((row = ledger_next(l, t, &pos)))
			pack_row(job, row);
	}
}

static void write_work(struct sm *sm, const struct settle_work *w)
{
	struct settle *s = sm->m.settle;
	struct disk_job *job = xcalloc(1, sizeof(*job));

	job->store = s->store;
	if (s->is_gone) {
		job->path = xstrdup(s->path);
		pack_all(job, s->ledger);
	}
	for (size_t i = 0; i < w->n; i++) {
		if (w->rows[i])
			pack_row(job, w->rows[i]);
	}
	if (s->meta_changed || s->is_gone)
		job->meta = xmemdup(&s->meta, sizeof(s->meta));
	s->meta_changed = false;
	job_start(sm, DISK_JOB("storing the ledger", disk_run, disk_ended, disk_job_free), job);
}

/* ---- works ----------------------------------------------------------------------------------- */

static void add_work(struct settle *s, struct settle_work *w)
{
	w->next = NULL;
	*s->last = w;
	s->last = &w->next;
}

static void work_free(struct settle_work *w)
{
	for (size_t i = 0; w->rows && i < w->n; i++)
		ledger_row_free(w->rows[i]);
	for (size_t i = 0; w->edits && i < w->n; i++)
		free_wiped(as_owner(w->edits[i].bytes), w->edits[i].len);
	free(w->rows);
	free(w->edits);
	free(w);
}

/* By key, then in order of the edits: the last one of a row decides, as all are stored together. */
static int by_key(const void *a, const void *b)
{
	const struct settle_edit *x = *(const struct settle_edit *const *)a;
	const struct settle_edit *y = *(const struct settle_edit *const *)b;
	int order = (int)x->key.table - (int)y->key.table;

	order = order ? order : (int)x->key.len - (int)y->key.len;
	order = order ? order : memcmp(x->key.bytes, y->key.bytes, x->key.len);
	return order ? order : (x < y ? -1 : x > y);
}

static bool is_same_key(const struct ledger_key *a, const struct ledger_key *b)
{
	return a->table == b->table && a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}

/*
 * The amount by which numbers are raised to stay the greatest: rows may have arrived since they
 * were chosen.
 */
static uint64_t shift_of(const struct settle *s, const struct settle_work *w)
{
	uint64_t shift = 0;

	for (size_t i = 0; i < w->n; i++) {
		uint64_t number = ledger_number(s->ledger, w->edits[i].key.table);

		if (w->edits[i].number <= number)
			shift = MAX(shift, number + 1 - w->edits[i].number);
	}
	return shift;
}

static struct ledger_row *prepare_edit(const struct sm *sm, const struct settle_edit *e,
				       uint64_t shift)
{
	struct settle *s = sm->m.settle;
	const struct ledger_value value = {
		.dot = { .number = e->number + shift, .by = s->self },
		.at = sm_realtime(sm),
		.removed = e->removed,
		.len = e->removed ? 0 : e->len,
		.bytes = e->removed ? NULL : e->bytes,
	};

	return ledger_prepare(s->ledger, NULL, &e->key, &value);
}

static void prepare_edits(const struct sm *sm, struct settle_work *w)
{
	const struct settle_edit **sorted = xcalloc(w->n + 1, sizeof(*sorted));
	uint64_t shift = shift_of(sm->m.settle, w);

	w->rows = xcalloc(w->n + 1, sizeof(struct ledger_row *));
	for (size_t i = 0; i < w->n; i++)
		sorted[i] = &w->edits[i];
	qsort(sorted, w->n, sizeof(*sorted), by_key);
	for (size_t i = 0; i < w->n; i++) {
		if (i + 1 < w->n && is_same_key(&sorted[i]->key, &sorted[i + 1]->key))
			continue;
		w->rows[i] = prepare_edit(sm, sorted[i], shift);
	}
	free(sorted);
}

/* Joins arrived rows with the present ones; the results are stored. */
static void prepare_arrived(const struct settle *s, struct settle_work *w)
{
	for (size_t i = 0; i < w->n; i++) {
		_cleanup_(ledger_row_freep) struct ledger_row *arrived = w->rows[i];

		w->rows[i] = ledger_joined(s->ledger, arrived);
	}
}

static bool has_rows(const struct settle_work *w)
{
	for (size_t i = 0; i < w->n; i++) {
		if (w->rows[i])
			return true;
	}
	return false;
}

static bool has_disk(const struct settle *s)
{
	return s->path && !s->is_shut;
}

static void start_next(struct sm *sm)
{
	struct settle *s = sm->m.settle;
	struct settle_work *w = s->first;

	if (s->is_storing || !w)
		return;
	s->is_storing = true;
	if (w->edits)
		prepare_edits(sm, w);
	else
		prepare_arrived(s, w);
	if (has_disk(s) && (has_rows(w) || s->meta_changed))
		write_work(sm, w);
	else
		work_ended(sm, 0);
}

/* ---- after storing --------------------------------------------------------------------------- */

static void tell_fault(struct sm *sm, int error)
{
	struct settle *s = sm->m.settle;
	enum told_change change = told_change(&s->told, TOLD_DISK, error < 0);

	s->fault[0] = '\0';
	if (error < 0)
		snprintf(s->fault, sizeof(s->fault), "%.180s cannot be written: %.80s", s->path,
			 strerror(-error));
	if (change == TOLD_BEGINS)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = s->path, .error = -error), LOGB_ERROR,
		       "%s: nothing can be changed at run time until it can", s->fault);
	else if (change == TOLD_ENDS)
		log_info("%s can be written again", s->path);
}

void disk_note_change(struct settle *s, const struct ledger_row *row)
{
	struct settle_newest *newest = &s->newest[ledger_row_key(row)->table];
	struct ledger_value v = ledger_row_value(row);

	if (v.dot.number >= newest->number)
		*newest = (struct settle_newest){ v.dot.number, v.at };
}

/*
 * Must the owner of the row be told? Also if only a value changed that is not in force: it may be
 * that of an earlier partition, and the owner may use it.
 */
static bool is_news(const struct ledger *l, const struct ledger_key *key, enum ledger_merged m)
{
	struct ledger_value v;

	return m == LEDGER_OTHER ||
	       (m == LEDGER_LEARNT && ledger_row_value_at(ledger_find(l, key), 1, &v));
}

/*
 * Merges rows that are on the disk now. Tells owners about rows of other managers, and queues rows
 * for other managers.
 */
static void merge_rows(struct sm *sm, struct settle_work *w)
{
	struct settle *s = sm->m.settle;
	struct ledger_key *changed = xcalloc(w->n + 1, sizeof(*changed));
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct ledger_key *key;
		enum ledger_merged m;

		if (!w->rows[i])
			continue;
		key = ledger_row_key(w->rows[i]);
		m = ledger_merge(s->ledger, w->rows[i]);
		if (w->from && is_news(s->ledger, key, m))
			changed[n++] = *key;
		if (m == LEDGER_OTHER)
			disk_note_change(s, ledger_find(s->ledger, key));
		if (m != LEDGER_SAME)
			peers_queue(sm, key, ledger_number(s->ledger, key->table), w->from);
	}
	s->version++;
	disk_tell_owners(sm, changed, n);
	free(changed);
}

bool disk_has_all(const struct settle *s)
{
	return has_disk(s) && !s->fault[0];
}

static enum disk_end disk_end_of(const struct settle *s, int error)
{
	if (error < 0)
		return DISK_FAILED;
	return has_disk(s) ? DISK_STORED : s->path ? DISK_SHUT : DISK_NO_FOLDER;
}

/* Are there rows of another manager that affect P_Keys of devices and are new here? */
static bool decides_keys(const struct settle_work *w)
{
	for (size_t i = 0; w->from && i < w->n; i++) {
		enum ledger_table t =
			w->rows[i] ? ledger_row_key(w->rows[i])->table : LEDGER_TABLES;

		if (t == LEDGER_PARTITION || t == LEDGER_MEMBER)
			return true;
	}
	return false;
}

static void work_ended(struct sm *sm, int error)
{
	struct settle *s = sm->m.settle;
	struct settle_work *w = s->first;

	assert(w && s->is_storing);
	s->is_storing = false;
	s->first = w->next;
	if (!s->first)
		s->last = &s->first;
	if (has_disk(s))
		tell_fault(sm, error);
	if (error < 0)
		s->meta_changed = true;
	else
		merge_rows(sm, w);
	if (w->done)
		w->done(sm, w->arg, error);
	if (w->from)
		peers_rows_stored(sm, w->from, &w->ticket, &w->end, disk_end_of(s, error));
	if (error < 0 && decides_keys(w))
		settle_lacks(sm);
	work_free(w);
	start_next(sm);
}

void disk_tell_owners(struct sm *sm, const struct ledger_key *keys, size_t n)
{
	struct settle *s = sm->m.settle;

	for (size_t i = 0; i < n;) {
		enum ledger_table table = keys[i].table;
		size_t end = i;

		while (end < n && keys[end].table == table)
			end++;
		if (s->owners[table].changed)
			s->owners[table].changed(sm, keys + i, end - i);
		i = end;
	}
}

void disk_take(struct sm *sm, guid_t from, struct ledger_row **rows, size_t n,
	       const struct channel_ticket *ticket, const struct settle_end *end)
{
	struct settle_work *w = xcalloc(1, sizeof(*w));

	*w = (struct settle_work){
		.rows = rows, .n = n, .from = from, .ticket = *ticket, .end = *end
	};
	add_work(sm->m.settle, w);
	start_next(sm);
}

/* Is there work whose job has not started, so that it will also write meta? */
static bool has_work_to_start(const struct settle *s)
{
	return s->first && (!s->is_storing || s->first->next);
}

void disk_note_meta(struct sm *sm)
{
	struct settle_work *w;

	sm->m.settle->meta_changed = true;
	if (has_work_to_start(sm->m.settle))
		return;
	w = xcalloc(1, sizeof(*w));
	w->rows = xcalloc(1, sizeof(struct ledger_row *));
	add_work(sm->m.settle, w);
	start_next(sm);
}

uint64_t settle_next_number(const struct sm *sm, enum ledger_table table)
{
	const struct settle *s = sm->m.settle;
	uint64_t number = ledger_number(s->ledger, table);

	for (const struct settle_work *w = s->first; w; w = w->next) {
		for (size_t i = 0; w->edits && i < w->n; i++) {
			if (ledger_table(w->edits[i].key.table)->clock ==
			    ledger_table(table)->clock)
				number = MAX(number, w->edits[i].number);
		}
	}
	return number + 1;
}

struct ledger_dot settle_dot(const struct sm *sm, uint64_t number)
{
	return (struct ledger_dot){ .number = number, .by = sm->m.settle->self };
}

void settle_commit(struct sm *sm, const struct settle_edit *edits, size_t n, settle_done_fn *done,
		   void *arg)
{
	struct settle_work *w = xcalloc(1, sizeof(*w));

	assert(edits || !n);
	w->n = n;
	w->edits = xcalloc(n + 1, sizeof(*w->edits));
	for (size_t i = 0; i < n; i++) {
		assert(edits[i].number && edits[i].key.table < LEDGER_TABLES);
		w->edits[i] = edits[i];
		w->edits[i].bytes = edits[i].len ? xmemdup(edits[i].bytes, edits[i].len) : NULL;
	}
	w->done = done;
	w->arg = arg;
	add_work(sm->m.settle, w);
	start_next(sm);
}

/* ---- begin and end --------------------------------------------------------------------------- */

static uint32_t draw_instance(const struct sm *sm)
{
	uint32_t instance = 0;

	if (!sm_draw(sm, &instance, sizeof(instance)))
		instance = (uint32_t)sm_realtime(sm);
	return instance ? instance : 1;
}

/*
 * Gives up on a file that cannot be used: until the next start nothing is stored, or can be
 * changed.
 */
static void close_file(struct sm *sm, int error)
{
	struct settle *s = sm->m.settle;

	s->store = ledger_store_close(s->store);
	s->is_shut = true;
	snprintf(s->fault, sizeof(s->fault), "%.180s cannot be opened: %.80s", s->path,
		 strerror(-error));
	log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = s->path, .error = -error), LOGB_ERROR,
	       "%s: nothing can be changed at run time until it can, and opensm is restarted",
	       s->fault);
}

static void tell_aside(const struct settle *s, const char *aside)
{
	if (aside[0])
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = s->path), LOGB_ERROR,
		       "%s was damaged and is kept as %s: what it held is asked of other managers",
		       s->path, aside);
}

/* Makes a new file after an invalid row; rows read before it are discarded, too. */
static int renew_file(struct settle *s, char aside[LEDGER_ASIDE_MAX])
{
	ledger_free(s->ledger);
	s->ledger = ledger_new();
	s->meta = (struct ledger_meta){ 0 };
	return ledger_store_renew(s->path, &s->store, aside);
}

static void open_file(struct sm *sm)
{
	struct settle *s = sm->m.settle;
	char aside[LEDGER_ASIDE_MAX] = "";
	bool fresh;
	int r = ledger_store_open(s->path, &s->store, &fresh, aside);

	if (r == 0)
		r = ledger_store_load(s->store, s->ledger, &s->meta);
	if (r == -EBADMSG)
		r = renew_file(s, aside);
	if (r < 0)
		close_file(sm, r);
	tell_aside(s, aside);
}

static void tell_loaded(const struct settle *s)
{
	size_t n = 0;

	for (unsigned t = 0; t < LEDGER_TABLES; t++)
		n += ledger_rows_there(s->ledger, t);
	if (n)
		log_verbose("%s: %zu rows of what was changed at run time", s->path, n);
}

void disk_load(struct sm *sm, const struct sm_paths *paths)
{
	struct settle *s = sm->m.settle;

	s->last = &s->first;
	s->ledger = ledger_new();
	s->self = (struct ledger_writer){ sm->tr->port_guid, draw_instance(sm) };
	if (!paths || !paths->cache_dir) {
		snprintf(s->fault, sizeof(s->fault),
			 "there is no cache folder to store changes in");
		s->meta.founded = true;
		return;
	}
	s->path = xasprintf("%s/%s", paths->cache_dir, LEDGER_FILE);
	open_file(sm);
	s->doubts = s->meta.founded ? 0 : DOUBT_ABSENT;
	tell_loaded(s);
}

void disk_free(struct settle *s)
{
	while (s->first) {
		struct settle_work *w = s->first;

		s->first = w->next;
		work_free(w);
	}
	if (!s->is_storing || !has_disk(s)) /* while storing, the job closes the store */
		ledger_store_close(s->store);
	ledger_free(s->ledger);
	free(s->path);
}
