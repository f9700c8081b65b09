// SPDX-License-Identifier: BSD-2-Clause
/* Jobs go in through one pipe and come back through the other; a pointer is written atomically. */
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "util/log.h"
#include "util/mem.h"

struct worker {
	pthread_t thread;
	int to[2], back[2];
	unsigned pending;
};

static void *work(void *arg)
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
	r = pthread_create(&w->thread, NULL, work, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r) {
		log_error("no worker thread: error %d", r);
		abort();
	}
	return w;
}

void worker_submit(struct worker *w, struct sm_job *job)
{
	w->pending++;
	while (write(w->to[1], &job, sizeof(job)) < 0 && errno == EINTR)
		;
}

int worker_fd(const struct worker *w)
{
	return w->back[0];
}

void worker_collect(struct worker *w)
{
	struct sm_job *job;

	while (read(w->back[0], &job, sizeof(job)) == sizeof(job)) {
		w->pending--;
		job->done(job);
	}
}

bool worker_drain(struct worker *w, int ms)
{
	struct pollfd pfd = { .fd = w->back[0], .events = POLLIN };

	while (w->pending) {
		if (poll(&pfd, 1, ms) == 0)
			return false;
		worker_collect(w);
	}
	return true;
}

struct worker *worker_free(struct worker *w)
{
	if (!w)
		return NULL;
	worker_drain(w, -1);
	close(w->to[1]);
	pthread_join(w->thread, NULL);
	close(w->to[0]);
	close(w->back[0]);
	close(w->back[1]);
	free(w);
	return NULL;
}
