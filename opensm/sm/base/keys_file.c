// SPDX-License-Identifier: BSD-2-Clause
/* CACHE/m_key_ring: read at the start, written by a job. */
#include "sm/base/keys_internal.h"

#include <errno.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/base/job.h"
#include "sm/sm_internal.h"
#include "util/file.h"
#include "util/mem.h"

int keys_store(const char *path, const struct key_ring *ring)
{
	_cleanup_(file_replace_abortp) struct file_replace *f = NULL;
	char *text;
	size_t len, done;

	if (!path)
		return 0;
	f = file_replace_open(path, true);
	if (!f)
		return -errno;
	/* Unbuffered, as a buffer would keep a copy of the seeds. */
	setvbuf(file_replace_stream(f), NULL, _IONBF, 0);
	text = key_ring_text(ring, &len);
	done = fwrite(text, 1, len, file_replace_stream(f));
	free_wiped(text, len);
	return done == len ? file_replace_commit(take(f), true) : -EIO;
}

struct store_job {
	char *path;
	struct key_ring *ring;
	void (*stored)(struct sm *sm, const struct key_ring *ring, int error);
};

static int run_store(void *data)
{
	const struct store_job *job = data;

	return keys_store(job->path, job->ring);
}

static void end_store(struct sm *sm, void *data, int error)
{
	const struct store_job *job = data;

	if (error == 0)
		sm->m.keys->kept = key_ring_mark(job->ring);
	job->stored(sm, job->ring, error);
}

static void free_store(void *data)
{
	struct store_job *job = data;

	key_ring_unref(job->ring);
	free(job->path);
	free(job);
}

void keys_store_later(struct sm *sm, struct key_ring *ring,
		      void (*done)(struct sm *sm, const struct key_ring *ring, int error))
{
	struct store_job *job = xcalloc(1, sizeof(*job));

	job->path = sm->m.keys->path ? xstrdup(sm->m.keys->path) : NULL;
	job->ring = ring;
	job->stored = done;
	job_start(sm, DISK_JOB("storing M_Keys", run_store, end_store, free_store), job);
}

/* Moves a file that cannot be read aside, so that it is not overwritten. */
static void set_aside(const struct keys *k)
{
	_cleanup_free_ char *aside = xasprintf("%s.bad", k->path);

	if (rename(k->path, aside) < 0)
		log_error("%s: cannot be set aside: %s", k->path, strerror(errno));
}

void keys_read(struct keys *k)
{
	_cleanup_free_ char *text = NULL;
	struct key_ring *ring = NULL;
	size_t len;
	int r = k->path ? file_read(k->path, KEY_RING_TEXT, &text, &len) : -ENOENT;

	if (r == 0) {
		r = key_ring_read(text, len, &ring);
		explicit_bzero(text, len);
	}
	if (r < 0 && r != -ENOENT)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = k->path, .error = -r), LOGB_ERROR,
		       "%s: the seeds of M_Keys cannot be used: %s; ports that are locked with "
		       "keys of theirs are reached with the keys of guid2mkey only",
		       k->path, r == -EBADMSG ? "the file is damaged" : strerror(-r));
	if (r < 0 && r != -ENOENT)
		set_aside(k);
	k->is_fresh = !ring;
	k->known = ring ? ring : key_ring_new();
	k->kept = key_ring_mark(k->known);
	k->none = key_ring_new();
}
