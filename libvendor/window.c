// SPDX-License-Identifier: BSD-2-Clause
/*
 * The queue in front of the wire. Two locks: `writing` is held through write() and taken by the
 * threads that may wait; `lock` guards the queue and the ids, for moments.
 */
#include "libvendor/window.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include "ib/mad.h"
#include "util/mem.h"

/* A request that waits or is on the wire. */
struct known {
	uint32_t tid;
	bool is_written;
	int64_t at_us; /* when it was written */
};

struct window {
	sender_write_fn write;
	window_failed_fn failed;
	void *arg;
	pthread_mutex_t writing, lock;
	atomic_bool is_writing;
	atomic_uint written;
	/* under `lock`, but the slot at `tail` is the main thread's, that at `head` the writer's */
	unsigned window, on_wire;
	unsigned head, tail;
	unsigned n_known;
	struct known known[WINDOW_MAX + WINDOW_QUEUE];
	struct out queue[WINDOW_QUEUE];
};

struct window *window_new(sender_write_fn write, window_failed_fn failed, void *arg)
{
	struct window *w = xcalloc(1, sizeof(*w));

	assert(write && failed);
	w->write = write;
	w->failed = failed;
	w->arg = arg;
	w->window = 1;
	pthread_mutex_init(&w->writing, NULL);
	pthread_mutex_init(&w->lock, NULL);
	return w;
}

struct window *window_free(struct window *w)
{
	if (!w)
		return NULL;
	pthread_mutex_destroy(&w->writing);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return NULL;
}

/* ---- under the lock ---- */

static struct known *find(struct window *w, uint32_t tid)
{
	for (unsigned i = 0; i < w->n_known; i++)
		if (w->known[i].tid == tid)
			return &w->known[i];
	return NULL;
}

static void forget(struct window *w, struct known *k)
{
	assert(!k->is_written || w->on_wire > 0);
	w->on_wire -= k->is_written;
	*k = w->known[--w->n_known];
}

static bool has_room(const struct window *w)
{
	return w->head != w->tail && w->on_wire < w->window;
}

/* The next to be written is on the wire from now on; NULL: none waits, or there is no room. */
static struct out *take_next(struct window *w)
{
	for (; has_room(w); w->head++) {
		struct out *out = &w->queue[w->head % WINDOW_QUEUE];
		struct known *k = find(w, out->tid);

		if (!k)
			continue; /* forgotten while it waited */
		k->is_written = true;
		k->at_us = out_now_us();
		w->on_wire++;
		return out;
	}
	return NULL;
}

/* ---- the main thread ---- */

bool window_set_size(struct window *w, unsigned window)
{
	bool room;

	assert(window > 0 && window <= WINDOW_MAX);
	pthread_mutex_lock(&w->lock);
	w->window = window;
	room = has_room(w);
	pthread_mutex_unlock(&w->lock);
	return room;
}

struct out *window_reserve(struct window *w)
{
	bool full;

	pthread_mutex_lock(&w->lock);
	full = w->tail - w->head >= WINDOW_QUEUE || w->n_known >= ARRAY_SIZE(w->known);
	pthread_mutex_unlock(&w->lock);
	return full ? NULL : &w->queue[w->tail % WINDOW_QUEUE];
}

bool window_commit(struct window *w, uint32_t tid)
{
	bool room;

	pthread_mutex_lock(&w->lock);
	assert(w->tail - w->head < WINDOW_QUEUE && w->n_known < ARRAY_SIZE(w->known));
	w->queue[w->tail % WINDOW_QUEUE].tid = tid;
	w->known[w->n_known++] = (struct known){ .tid = tid };
	w->tail++;
	room = has_room(w);
	pthread_mutex_unlock(&w->lock);
	return room;
}

static enum transport_fate fate_of(const struct known *k)
{
	return !k ? TRANSPORT_ENDED : k->is_written ? TRANSPORT_ON_WIRE : TRANSPORT_WAITS;
}

enum transport_fate window_forget(struct window *w, uint32_t tid, bool *ret_room)
{
	enum transport_fate fate;
	struct known *k;

	pthread_mutex_lock(&w->lock);
	k = find(w, tid);
	fate = fate_of(k);
	if (k)
		forget(w, k);
	*ret_room = has_room(w);
	pthread_mutex_unlock(&w->lock);
	return fate;
}

enum transport_fate window_fate(struct window *w, uint32_t tid, int64_t *ret_us)
{
	enum transport_fate fate;
	const struct known *k;

	pthread_mutex_lock(&w->lock);
	k = find(w, tid);
	fate = fate_of(k);
	*ret_us = k ? k->at_us : 0;
	pthread_mutex_unlock(&w->lock);
	return fate;
}

bool window_is_writing(const struct window *w)
{
	return atomic_load(&w->is_writing);
}

unsigned window_written(const struct window *w)
{
	return atomic_load(&w->written);
}

/* ---- the threads that may write ---- */

/* `done` was written, or failed; NULL: none was. Returns the one to write now. */
static struct out *next_to_write(struct window *w, const struct out *done, bool failed)
{
	struct known *k;
	struct out *out;

	pthread_mutex_lock(&w->lock);
	k = failed ? find(w, done->tid) : NULL;
	if (k)
		forget(w, k);
	w->head += done != NULL;
	out = take_next(w);
	pthread_mutex_unlock(&w->lock);
	return out;
}

/* `writing` is held, and given back. */
static void pump(struct window *w)
{
	struct out *out = NULL;
	int r = 0;

	while ((out = next_to_write(w, out, r < 0))) {
		atomic_store(&w->is_writing, true);
		r = out_is_late(out) ? -ETIMEDOUT : w->write(w->arg, out);
		atomic_fetch_add(&w->written, 1);
		atomic_store(&w->is_writing, false);
		if (r < 0)
			w->failed(w->arg, out, r);
	}
	pthread_mutex_unlock(&w->writing);
}

void window_pump(struct window *w)
{
	pthread_mutex_lock(&w->writing);
	pump(w);
}

bool window_try_pump(struct window *w)
{
	bool mine = pthread_mutex_trylock(&w->writing) == 0;

	if (mine)
		pump(w);
	return mine;
}

uint32_t window_ended(struct window *w, uint32_t tid)
{
	uint32_t took = 0;
	struct known *k;

	pthread_mutex_lock(&w->lock);
	k = find(w, tid);
	if (k && k->is_written) {
		took = (uint32_t)MIN(MAX(out_now_us() - k->at_us, (int64_t)1), (int64_t)UINT32_MAX);
		forget(w, k);
	}
	pthread_mutex_unlock(&w->lock);
	return took;
}

bool window_has_plenty(struct window *w)
{
	bool plenty;

	pthread_mutex_lock(&w->lock);
	plenty = w->n_known - w->on_wire >= WINDOW_PLENTY;
	pthread_mutex_unlock(&w->lock);
	return plenty;
}
