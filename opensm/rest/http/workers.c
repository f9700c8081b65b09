// SPDX-License-Identifier: BSD-2-Clause
/* One lock around three lists; the threads hold it only to move a piece of work. */
#include "rest/http/workers.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct workers {
	struct workers_limits limits;
	pthread_t *threads;
	unsigned n_threads;
	int fd;
	size_t count; /* main thread only */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stopping;
	struct work *queue, *running, *finished;
};

static unsigned count_owner(const struct work *list, const char *owner)
{
	unsigned n = 0;

	for (; list; list = list->next)
		if (!owner || !strcmp(list->owner, owner))
			n++;
	return n;
}

static void append(struct work **list, struct work *work)
{
	while (*list)
		list = &(*list)->next;
	work->next = NULL;
	*list = work;
}

static void unlink_work(struct work **list, struct work *work)
{
	while (*list && *list != work)
		list = &(*list)->next;
	if (*list)
		*list = work->next;
}

/* The first of the owner that has the fewest threads, and one left of its share. */
static struct work *next_work(struct workers *w)
{
	unsigned fewest = w->limits.owner_threads;
	struct work *next = NULL;

	for (struct work *at = w->queue; at && fewest; at = at->next) {
		unsigned n = count_owner(w->running, at->owner);

		if (n >= fewest)
			continue;
		fewest = n;
		next = at;
	}
	return next;
}

static void announce(struct workers *w)
{
	const uint64_t one = 1;

	while (write(w->fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void *run_thread(void *arg)
{
	struct workers *w = arg;

	pthread_mutex_lock(&w->lock);
	while (!w->stopping) {
		struct work *work = next_work(w);

		if (!work) {
			pthread_cond_wait(&w->wake, &w->lock);
			continue;
		}
		unlink_work(&w->queue, work);
		append(&w->running, work);
		pthread_mutex_unlock(&w->lock);
		work->run(work);
		pthread_mutex_lock(&w->lock);
		unlink_work(&w->running, work);
		append(&w->finished, work);
		announce(w);
		/* An owner may have become free to use another thread. */
		pthread_cond_broadcast(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct workers *workers_new(const struct workers_limits *limits)
{
	struct workers *w = xcalloc(1, sizeof(*w));

	assert(limits && limits->threads && limits->queue && limits->owner_threads &&
	       limits->owner_queue);
	w->limits = *limits;
	w->threads = xcalloc(limits->threads, sizeof(*w->threads));
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->wake, NULL);
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (; w->fd >= 0 && w->n_threads < limits->threads; w->n_threads++) {
		int r = pthread_create(&w->threads[w->n_threads], NULL, run_thread, w);

		if (r) {
			workers_free(w);
			errno = r;
			return NULL;
		}
	}
	return w->fd < 0 ? workers_free(w) : w;
}

struct workers *workers_free(struct workers *w)
{
	if (!w)
		return NULL;
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_broadcast(&w->wake);
	pthread_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->n_threads; i++)
		pthread_join(w->threads[i], NULL);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	if (w->fd >= 0)
		close(w->fd);
	free(w->threads);
	free(w);
	return NULL;
}

int workers_add(struct workers *w, struct work *work)
{
	int r = 0;

	assert(w && work && work->owner && work->run && work->done);
	pthread_mutex_lock(&w->lock);
	if (count_owner(w->queue, NULL) >= w->limits.queue ||
	    count_owner(w->queue, work->owner) >= w->limits.owner_queue)
		r = -EAGAIN;
	else
		append(&w->queue, work);
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	if (!r)
		w->count++;
	return r;
}

int workers_fd(const struct workers *w)
{
	return w->fd;
}

void workers_reap(struct workers *w)
{
	struct work *list, *next;
	uint64_t n;

	assert(w);
	if (read(w->fd, &n, sizeof(n)) < 0)
		return;
	pthread_mutex_lock(&w->lock);
	list = w->finished;
	w->finished = NULL;
	pthread_mutex_unlock(&w->lock);
	for (; list; list = next) {
		next = list->next;
		w->count--;
		list->done(list);
	}
}

size_t workers_count(const struct workers *w)
{
	return w->count;
}
