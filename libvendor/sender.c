// SPDX-License-Identifier: BSD-2-Clause
/*
 * The thread that sends. It shares two rings with the main thread, and a flag that tells it to end.
 */
#include "libvendor/sender.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <time.h>

#include "libvendor/ring.h"
#include "libvendor/window.h"
#include "util/mem.h"

#define SLOTS 512
/* MADs that are handed over before the thread hears of them; all after them wait for the flush */
#define UNTOLD_MAX 16

struct sender {
	sender_write_fn write;
	void *arg;
	struct window *window; /* window of the device; NULL: none */
	struct bell *work; /* bell of the thread */
	struct ring *out, *failed;
	pthread_mutex_t failing; /* held by the one thread that writes to `failed` */
	atomic_bool stop, writing;
	atomic_uint written;
	atomic_size_t big_bytes; /* bytes of queued messages longer than one MAD */
	/* used by the main thread; untold: slots since the last flush */
	unsigned committed, untold;
	pthread_t thread;
};

void sender_give_back(struct sender *s, const struct out *out, int error)
{
	struct out *slot;

	pthread_mutex_lock(&s->failing);
	while (!(slot = ring_reserve(s->failed)) && !atomic_load(&s->stop))
		ring_wait_room(s->failed);
	if (slot) {
		*slot = *out;
		slot->big = NULL;
		slot->error = error;
		ring_publish(s->failed);
		ring_notify(s->failed);
	}
	pthread_mutex_unlock(&s->failing);
}

static void *send_loop(void *arg)
{
	struct sender *s = arg;
	struct out *out;
	int r;

	prctl(PR_SET_NAME, "umad-send");
	while (!atomic_load(&s->stop)) {
		if (s->window)
			window_pump(s->window);
		out = ring_front(s->out);
		if (!out) {
			bell_wait(s->work);
			continue;
		}
		if (atomic_load(&s->stop))
			break;
		atomic_store(&s->writing, true);
		r = out_is_late(out) ? -ETIMEDOUT : s->write(s->arg, out);
		atomic_fetch_add(&s->written, 1);
		atomic_store(&s->writing, false);
		if (r < 0)
			sender_give_back(s, out, r);
		if (out->big)
			atomic_fetch_sub(&s->big_bytes, out->length);
		free(take(out->big));
		ring_pop(s->out);
	}
	return NULL;
}

static void free_all(struct sender *s)
{
	struct out *out;

	while (s->out && (out = ring_front(s->out))) {
		free(out->big);
		ring_pop(s->out);
	}
	ring_free(s->out);
	ring_free(s->failed);
	bell_free(s->work);
	pthread_mutex_destroy(&s->failing);
	free(s);
}

struct sender *sender_new(sender_write_fn write, void *arg, struct window *window,
			  struct bell *bell)
{
	struct sender *s = xcalloc(1, sizeof(*s));
	sigset_t all, before;
	int r;

	assert(write && bell);
	s->write = write;
	s->arg = arg;
	s->window = window;
	pthread_mutex_init(&s->failing, NULL);
	s->work = bell_new(BELL_WAITED);
	s->out = s->work ? ring_new(SLOTS, sizeof(struct out), s->work) : NULL;
	s->failed = ring_new(SLOTS, sizeof(struct out), bell);
	r = s->out && s->failed ? 0 : ENOMEM;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (r == 0)
		r = pthread_create(&s->thread, NULL, send_loop, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r == 0)
		return s;
	free_all(s);
	errno = r;
	return NULL;
}

/*
 * Wakes the thread: from its wait for work by something to do, from its wait for room by making
 * some.
 */
static void wake(struct sender *s)
{
	struct out *out = ring_reserve(s->out);

	if (out) {
		*out = (struct out){ 0 };
		ring_publish(s->out);
		ring_notify(s->out);
	}
	while (ring_front(s->failed))
		ring_pop(s->failed);
}

bool thread_ends(pthread_t thread, unsigned patience_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += patience_ms / 1000;
	until.tv_nsec += (long)(patience_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

bool sender_free(struct sender *s, unsigned patience_ms)
{
	if (!s)
		return true;
	atomic_store(&s->stop, true);
	wake(s);
	if (!thread_ends(s->thread, patience_ms))
		return false;
	free_all(s);
	return true;
}

struct out *sender_reserve(struct sender *s)
{
	return ring_reserve(s->out);
}

void sender_commit(struct sender *s)
{
	const struct out *out = ring_reserve(s->out);

	assert(out);
	if (out->big)
		atomic_fetch_add(&s->big_bytes, out->length);
	s->committed++;
	ring_publish(s->out);
	if (++s->untold >= UNTOLD_MAX)
		sender_flush(s);
}

void sender_flush(struct sender *s)
{
	s->untold = 0;
	ring_notify(s->out);
}

void sender_wake(struct sender *s)
{
	bell_ring(s->work);
}

bool sender_is_writing(const struct sender *s)
{
	return atomic_load(&s->writing);
}

unsigned sender_written(const struct sender *s)
{
	return atomic_load(&s->written);
}

size_t sender_big_bytes(const struct sender *s)
{
	return atomic_load(&s->big_bytes);
}

bool sender_is_idle(const struct sender *s)
{
	return atomic_load(&s->written) == s->committed;
}

const struct out *sender_front(struct sender *s)
{
	return ring_front(s->failed);
}

void sender_pop(struct sender *s)
{
	ring_pop(s->failed);
}
