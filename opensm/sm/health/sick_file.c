// SPDX-License-Identifier: BSD-2-Clause
/* The state of the judge on the disk: read at the start, written every five minutes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/health/sick_internal.h"
#include "util/file.h"
#include "util/mem.h"

#define SAVE_EVERY (300 * MONO_S)

struct sick_job {
	struct sm_job base;
	struct sm *sm;
	char *path, *text;
	size_t len;
	uint64_t version;
	int error;
};

static int store(const char *path, const char *text, size_t len)
{
	_cleanup_(file_replace_abortp) struct file_replace *f = file_replace_open(path, false);

	if (!f)
		return -errno;
	if (fwrite(text, 1, len, file_replace_stream(f)) != len)
		return -EIO;
	return file_replace_commit(take(f), true);
}

static void run_save(struct sm_job *base)
{
	struct sick_job *job = (struct sick_job *)base;

	job->error = store(job->path, job->text, job->len);
}

static void end_save(struct sm_job *base)
{
	struct sick_job *job = (struct sick_job *)base;
	struct sick *k = base->orphan ? NULL : job->sm->m.sick;

	if (k) {
		k->saving = false;
		k->changed |= job->error < 0;
		k->saved = job->error < 0 ? k->saved : job->version;
	}
	if (k && job->error < 0 && !k->fault_told)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = job->path, .error = -job->error),
		       LOGB_ERROR,
		       "%s: what is known of the health of links cannot be stored: %s; a restart "
		       "would forget it",
		       job->path, strerror(-job->error));
	if (k)
		k->fault_told = job->error < 0;
	free(job->text);
	free(job->path);
	free(job);
}

void sick_save(struct sm *sm)
{
	struct sick *k = sm->m.sick;
	struct sick_job *job;

	if (!k->path || !k->changed || k->saving || sm->now < k->save_at)
		return;
	k->save_at = sm->now + SAVE_EVERY;
	k->saving = true;
	k->changed = false;
	job = xcalloc(1, sizeof(*job));
	job->base = (struct sm_job){
		.run = run_save, .done = end_save, .what = "storing health of links", .disk = true
	};
	job->sm = sm;
	job->version = k->version;
	job->path = xstrdup(k->path);
	job->text = health_text(k->judge, &job->len);
	sm->hooks.submit_job(sm->hooks.arg, &job->base);
}

void sick_read(struct sm *sm)
{
	struct sick *k = sm->m.sick;
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r = k->path ? file_read(k->path, HEALTH_TEXT_MAX, &text, &len) : -ENOENT;

	if (r == 0)
		r = health_read(k->judge, text, len);
	if (r < 0 && r != -ENOENT)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = k->path, .error = -r), LOGB_ERROR,
		       "%s: %s: what was known of the health of links is forgotten", k->path,
		       r == -EBADMSG ? "damaged" : strerror(-r));
}
