// SPDX-License-Identifier: BSD-2-Clause
/*
 * The file of the expected topology, and the copy in the cache folder of the one that is in force:
 *
 *	opensm expected topology 1 FLAWS DIGEST
 *	... the text
 *
 * FLAWS: a set of enum expect_flaw for which the cap was kept; DIGEST of the text.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/expected/expected_internal.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/mem.h"

#define HEAD	  "opensm expected topology 1 "
#define HEAD_LEN  80

/* NULL: `r` says why. */
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
	conf_report_clear(&r);
	return m;
}

void expected_read_copy(struct sm *sm)
{
	struct expected *e = sm->m.expected;
	int error = -ENOENT;

	if (e->path)
		e->kept = read_copy(e->path, &e->agreed, &error);
	if (e->kept || error == -ENOENT)
		return;
	e->agreed = 0;
	log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = e->path, .error = -error), LOGB_ERROR,
	       "%s: %s: the copy of the expected topology is not used", e->path,
	       error == -EBADMSG ? "damaged" : strerror(-error));
}

struct store_job {
	struct sm_job base;
	struct sm *sm;
	struct meant *meant;
	char *path;
	unsigned agreed;
	int error;
};

static void run_store(struct sm_job *base)
{
	struct store_job *job = (struct store_job *)base;
	struct file_replace *f = file_replace_open(job->path, true);
	FILE *out;

	if (!f) {
		job->error = -errno;
		return;
	}
	out = file_replace_stream(f);
	fprintf(out, HEAD "%u %016" PRIx64 "\n", job->agreed, job->meant->digest);
	fwrite(job->meant->text, 1, job->meant->len, out);
	job->error = file_replace_commit(f, true);
}

static void tell_store(struct sm *sm, int error)
{
	struct expected *e = sm->m.expected;

	if (told_change(&e->told, TOLD_STORE, error < 0) == TOLD_BEGINS)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = e->path, .error = -error), LOGB_ERROR,
		       "%s: the copy of the expected topology cannot be stored: %s", e->path,
		       strerror(-error));
}

static void end_store(struct sm_job *base)
{
	struct store_job *job = (struct store_job *)base;
	struct expected *e = base->orphan ? NULL : job->sm->m.expected;

	if (e) {
		e->storing = false;
		tell_store(job->sm, job->error);
		if (e->store_again)
			expected_store(job->sm);
	}
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
	job->base = (struct sm_job){ .run = run_store,
				     .done = end_store,
				     .what = "storing the expected topology",
				     .disk = true };
	job->sm = sm;
	job->meant = e->now;
	job->meant->refs++;
	job->path = xstrdup(e->path);
	job->agreed = e->agreed;
	sm->hooks.submit_job(sm->hooks.arg, &job->base);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void tell_faulty(struct sm *sm, const char *path, const char *why)
{
	struct expected *e = sm->m.expected;

	snprintf(e->why, sizeof(e->why), "%s", why);
	log_on(ABOUT(.id = LOG_ID_TOPOLOGY, .file = path), LOGB_ERROR,
	       "expected topology %s: %s; %s", path, why,
	       e->now ? "the last good one counts on"
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

static void read_candidate(struct sm *sm, const struct conf_file *f)
{
	struct expected *e = sm->m.expected;
	struct conf_report r = { 0 };
	struct meant *m = meant_new(f->path, f->text, f->len, &r);

	log_findings(&r);
	conf_report_clear(&r);
	if (!m) {
		tell_faulty(sm, f->path, "it cannot be understood");
		return;
	}
	if ((e->now && e->now->digest == m->digest) || e->refused == m->digest) {
		if (e->refused != m->digest)
			e->why[0] = '\0';
		meant_unref(m);
		return;
	}
	e->candidate = m;
}

void expected_file_came(struct sm *sm)
{
	struct expected *e = sm->m.expected;
	const struct conf_file *f = sm->files ? sm->files->of[CONF_FILE_EXPECTED] : NULL;

	if (!f) {
		drop_all(e);
		return;
	}
	if (!e->now)
		e->now = take(e->kept);
	e->candidate = meant_unref(e->candidate);
	if (f->loaded < 0)
		tell_faulty(sm, f->path, strerror(-f->loaded));
	else
		read_candidate(sm, f);
}
