// SPDX-License-Identifier: BSD-2-Clause
/*
 * The file of the expected topology, and the copy in the cache folder of the one that is in force:
 *
 *	opensm expected topology 1 FLAWS DIGEST
 *	... the text
 *
 * FLAWS: a set of enum expect_flaw for which the cap was kept; DIGEST of the text.
 *
 * Both are read by a job: megabytes of text. What it has read counts unless another file came
 * meanwhile (`generation`); a sweep does not route before (expected_busy()).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/base/job.h"
#include "sm/expected/expected_internal.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/mem.h"

#define HEAD	 "opensm expected topology 1 "
#define HEAD_LEN 80

/* Reads the text; NULL: it has faults, which are in `r`. */
static struct meant *meant_new(const char *path, const char *text, size_t len,
			       struct conf_report *r)
{
	struct expect *x = expect_read_text(path, text, len, r);
	struct meant *m;

	if (!x)
		return NULL;
	m = xcalloc(1, sizeof(*m));
	m->refs = 1;
	m->x = x;
	m->text = xmalloc(len + 1);
	memcpy(m->text, text, len);
	m->text[len] = '\0';
	m->len = len;
	m->digest = hash_bytes(HASH_START, text, len);
	m->learnt = expect_text_learnt(text, len);
	return m;
}

struct meant *meant_unref(struct meant *m)
{
	if (!m || --m->refs)
		return NULL;
	expect_free(m->x);
	free(m->text);
	free(m);
	return NULL;
}

/* ---- the copy -------------------------------------------------------------------------------- */

static struct meant *read_copy(const char *path, unsigned *ret_agreed, int *ret_error)
{
	_cleanup_free_ char *text = NULL;
	struct conf_report r = { 0 };
	struct meant *m = NULL;
	uint64_t digest = 0;
	size_t len = 0;
	char *body;

	*ret_error = file_read(path, TOPOFILE_MAX, &text, &len);
	if (*ret_error < 0)
		return NULL;
	*ret_error = -EBADMSG;
	body = memchr(text, '\n', MIN(len, (size_t)HEAD_LEN));
	if (!body || sscanf(text, HEAD "%u %" SCNx64 "\n", ret_agreed, &digest) != 2)
		return NULL;
	body++;
	len -= (size_t)(body - text);
	if (hash_bytes(HASH_START, body, len) == digest)
		m = meant_new(path, body, len, &r);
	*ret_error = m ? 0 : -EBADMSG;
	conf_report_clear(&r);
	return m;
}

struct store_job {
	struct meant *meant;
	char *path;
	unsigned agreed;
};

static int run_store(void *data)
{
	const struct store_job *job = data;
	struct file_replace *f = file_replace_open(job->path, true);
	FILE *out;

	if (!f)
		return -errno;
	out = file_replace_stream(f);
	fprintf(out, HEAD "%u %016" PRIx64 "\n", job->agreed, job->meant->digest);
	fwrite(job->meant->text, 1, job->meant->len, out);
	return file_replace_commit(f, true);
}

static void tell_store(struct sm *sm, int error)
{
	struct expected *e = sm->m.expected;

	if (told_change(&e->told, TOLD_STORE, error < 0) == TOLD_BEGINS)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = e->path, .error = -error), LOGB_ERROR,
		       "%s: the copy of the expected topology cannot be stored: %s", e->path,
		       strerror(-error));
}

static void end_store(struct sm *sm, void *data, int error)
{
	sm->m.expected->storing = false;
	tell_store(sm, error);
	if (sm->m.expected->store_again)
		expected_store(sm);
}

static void free_store(void *data)
{
	struct store_job *job = data;

	meant_unref(job->meant);
	free(job->path);
	free(job);
}

void expected_store(struct sm *sm)
{
	struct expected *e = sm->m.expected;
	struct store_job *job;

	e->store_again = e->storing;
	if (!e->path || e->storing || !e->now)
		return;
	e->storing = true;
	job = xcalloc(1, sizeof(*job));
	job->meant = e->now;
	job->meant->refs++;
	job->path = xstrdup(e->path);
	job->agreed = e->agreed;
	job_start(sm, DISK_JOB("storing the expected topology", run_store, end_store, free_store),
		  job);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void tell_faulty(struct sm *sm, const char *path, const char *why)
{
	struct expected *e = sm->m.expected;

	snprintf(e->why, sizeof(e->why), "%s", why);
	log_on(ABOUT(.id = LOG_ID_TOPOLOGY, .file = path), LOGB_ERROR,
	       "expected topology %s: %s; %s", path, why,
	       e->now ? "the last good one stays in force"
		      : "there is no good copy of it: nothing is expected, and nothing is held");
}

static void drop_all(struct expected *e)
{
	e->now = meant_unref(e->now);
	e->candidate = meant_unref(e->candidate);
	e->drift = drift_unref(e->drift);
	e->refused = 0;
	e->why[0] = '\0';
}

struct read_job {
	uint64_t generation;
	struct conf_files *files; /* has the text of the file; NULL: only the copy is read */
	char *copy_path;	  /* NULL: the copy was read before, or there is none */
	struct meant *copy, *file;
	unsigned agreed;
	int copy_error;
	struct conf_report report;
};

static int run_read(void *data)
{
	struct read_job *job = data;
	const struct conf_file *f = job->files ? job->files->of[CONF_FILE_EXPECTED] : NULL;

	if (job->copy_path)
		job->copy = read_copy(job->copy_path, &job->agreed, &job->copy_error);
	if (f && f->loaded >= 0)
		job->file = meant_new(f->path, f->text, f->len, &job->report);
	return 0;
}

static void take_copy(struct expected *e, struct read_job *job)
{
	int error = job->copy_error;

	e->knows_copy = true;
	if (job->copy && !e->now) {
		e->now = take(job->copy);
		e->agreed = job->agreed;
	}
	if (!error || error == -ENOENT)
		return;
	log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = e->path, .error = -error), LOGB_ERROR,
	       "%s: %s: the copy of the expected topology is not used", e->path,
	       error == -EBADMSG ? "damaged" : strerror(-error));
}

static void take_file(struct sm *sm, struct read_job *job)
{
	struct expected *e = sm->m.expected;
	const struct conf_file *f = job->files->of[CONF_FILE_EXPECTED];
	uint64_t digest = job->file ? job->file->digest : 0;

	log_findings(&job->report);
	if (f->loaded < 0)
		tell_faulty(sm, f->path, strerror(-f->loaded));
	else if (!job->file)
		tell_faulty(sm, f->path, "it cannot be understood");
	else if (e->refused == digest)
		return;
	else if (e->now && e->now->digest == digest)
		e->why[0] = '\0';
	else
		e->candidate = take(job->file);
	/* a sweep that waits for the file judges it; one that has routed does not */
	e->judge_anew = e->candidate;
}

static void end_read(struct sm *sm, void *data, int error)
{
	struct expected *e = sm->m.expected;
	struct read_job *job = data;

	if (e->generation != job->generation)
		return;
	e->reading = false;
	if (job->copy_path)
		take_copy(e, job);
	if (job->files)
		take_file(sm, job);
}

static void free_read(void *data)
{
	struct read_job *job = data;

	conf_report_clear(&job->report);
	meant_unref(job->copy);
	meant_unref(job->file);
	conf_files_unref(job->files);
	free(job->copy_path);
	free(job);
}

/* Starts to read; `files` NULL: only the copy. */
static void begin_read(struct sm *sm, const struct conf_files *files)
{
	struct expected *e = sm->m.expected;
	struct read_job *job = xcalloc(1, sizeof(*job));

	job->generation = e->generation;
	job->files = conf_files_ref(files);
	job->copy_path = e->path && !e->knows_copy ? xstrdup(e->path) : NULL;
	e->reading = true;
	job_start(sm, JOB("reading the expected topology", run_read, end_read, free_read), job);
}

void expected_file_came(struct sm *sm)
{
	struct expected *e = sm->m.expected;

	e->generation++;
	e->reading = e->judge_anew = false;
	e->candidate = meant_unref(e->candidate);
	if (sm->files && sm->files->of[CONF_FILE_EXPECTED])
		begin_read(sm, sm->files);
	else
		drop_all(e);
}

void expected_recall(struct sm *sm)
{
	struct expected *e = sm->m.expected;

	if (!e->reading && !e->knows_copy && e->path && conf_expected_path(sm->conf))
		begin_read(sm, NULL);
}

bool expected_busy(const struct sm *sm)
{
	return sm->m.expected->reading;
}
