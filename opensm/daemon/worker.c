// SPDX-License-Identifier: BSD-2-Clause
/*
 * Jobs go in over a list that the thread takes whole, newest first, and a semaphore counts them.
 * They come back in the order in which they went in: only how many have ended is told.
 */
#include "daemon/worker.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "util/log.h"
#include "util/mem.h"

/* Steps in which the end waits, in ms. */
#define DRAIN_SLICE 5

struct worker {
	pthread_t thread;
	_Atomic(struct sm_job *) in; /* handed in and not taken yet, newest first */
	sem_t to;		     /* number of submitted jobs, and the end */
	int back;		     /* eventfd: number of ended jobs */
	/* Jobs that have not come back; the first one runs. For the main thread alone. */
	struct sm_job *first, **end;
	mono_t since; /* the first one runs, at most, or is in this turn */
	unsigned turn;
};

/* Takes the jobs in the order of submission; NULL: none, which means the end. */
static struct sm_job *take_jobs(struct worker *w)
{
	struct sm_job *newest = atomic_exchange(&w->in, NULL), *ret = NULL;

	while (newest) {
		struct sm_job *older = newest->link;

		newest->link = ret;
		ret = newest;
		newest = older;
	}
	return ret;
}

static void *run_jobs(void *arg)
{
	struct worker *w = arg;
	struct sm_job *mine = NULL, *job;
	const uint64_t one = 1;

	for (;;) {
		while (sem_wait(&w->to) < 0)
			;
		if (!mine)
			mine = take_jobs(w);
		job = mine;
		if (!job)
			return NULL;
		mine = job->link; /* before it runs: then it is the owner's */
		job->run(job);
		while (write(w->back, &one, sizeof(one)) < 0 && errno == EINTR)
			;
	}
}

struct worker *worker_new(void)
{
	struct worker *w = xcalloc(1, sizeof(*w));
	sigset_t all, old;
	int r;

	w->back = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->back < 0 || sem_init(&w->to, 0, 0) < 0) {
		log_error("the worker thread cannot be started: no descriptor (%s)",
			  strerror(errno));
		abort();
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&w->thread, NULL, run_jobs, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r) {
		log_error("the worker thread cannot be started: %s", strerror(r));
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
	job->link = atomic_load(&w->in);
	while (!atomic_compare_exchange_weak(&w->in, &job->link, job))
		;
	sem_post(&w->to);
}

int worker_fd(const struct worker *w)
{
	return w->back;
}

void worker_collect(struct worker *w, mono_t now)
{
	uint64_t n = 0;

	if (read(w->back, &n, sizeof(n)) != sizeof(n))
		return;
	for (; n; n--) {
		struct sm_job *job = w->first; /* jobs end in order */

		w->first = job->next;
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
	struct pollfd pfd = { .fd = w->back, .events = POLLIN };

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
	sem_post(&w->to);
	pthread_join(w->thread, NULL);
	sem_destroy(&w->to);
	close(w->back);
	free(w);
	return NULL;
}
