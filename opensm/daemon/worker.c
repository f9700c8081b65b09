// SPDX-License-Identifier: BSD-2-Clause
/* Jobs go in through one pipe and come back through the other; a pointer is written atomically. */
#include "daemon/worker.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "util/log.h"
#include "util/mem.h"

/* Steps in which the end waits, in ms. */
#define DRAIN_SLICE 5

struct worker {
	pthread_t thread;
	int to[2], back[2];
	/* Jobs that have not come back; the first one runs. For the main thread alone. */
	struct sm_job *first, **end;
	mono_t since; /* the first one runs, at most, or is in this turn */
	unsigned turn;
};

static void *run_jobs(void *arg)
{
	struct worker *w = arg;
	struct sm_job *job;

	for (;;) {
		ssize_t n = read(w->to[0], &job, sizeof(job));

		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(job))
			return NULL;
		job->run(job);
		while (write(w->back[1], &job, sizeof(job)) < 0 && errno == EINTR)
			;
	}
}

struct worker *worker_new(void)
{
	struct worker *w = xcalloc(1, sizeof(*w));
	sigset_t all, old;
	int r;

	if (pipe2(w->to, O_CLOEXEC) < 0 || pipe2(w->back, O_CLOEXEC) < 0) {
		log_error("no pipes for the worker thread: errno %d", errno);
		abort();
	}
	fcntl(w->back[0], F_SETFL, O_NONBLOCK);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&w->thread, NULL, run_jobs, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r) {
		log_error("no worker thread: error %d", r);
		abort();
	}
	return w;
}

void worker_submit(struct worker *w, struct sm_job *job, mono_t now)
{
	assert(job->run && job->done);
	if (!w->first) {
		w->end = &w->first;
		w->since = now;
	}
	job->next = NULL;
	*w->end = job;
	w->end = &job->next;
	while (write(w->to[1], &job, sizeof(job)) < 0 && errno == EINTR)
		;
}

int worker_fd(const struct worker *w)
{
	return w->back[0];
}

void worker_collect(struct worker *w, mono_t now)
{
	struct sm_job *job;

	while (read(w->back[0], &job, sizeof(job)) == sizeof(job)) {
		w->first = job->next; /* they come back in order */
		w->since = now;
		job->done(job);
	}
}

void worker_orphan(struct worker *w)
{
	for (struct sm_job *job = w->first; job; job = job->next)
		job->orphan = true;
}

const char *worker_running(struct worker *w, mono_t now, mono_t *ret_since)
{
	unsigned turn = w->first ? w->first->turn : 0;

	if (turn != w->turn) {
		w->turn = turn;
		w->since = now;
	}
	*ret_since = w->since;
	return w->first ? w->first->what : NULL;
}

bool worker_drain(struct worker *w, int ms)
{
	struct pollfd pfd = { .fd = w->back[0], .events = POLLIN };

	for (int waited = 0; w->first; waited += DRAIN_SLICE) {
		if (waited >= ms)
			return false;
		if (poll(&pfd, 1, DRAIN_SLICE) > 0)
			worker_collect(w, w->since);
	}
	return true;
}

struct worker *worker_free(struct worker *w)
{
	if (!w)
		return NULL;
	close(w->to[1]);
	pthread_join(w->thread, NULL);
	close(w->to[0]);
	close(w->back[0]);
	close(w->back[1]);
	free(w);
	return NULL;
}
