// SPDX-License-Identifier: BSD-2-Clause
/*
 * What will happen, earliest first; equal times in the order they were planned. A binary heap
 * whose members know their place, so a timeout that is no longer due can be taken out.
 *
 * Also the pool of events: they are born and die millions of times. Not here: what an event means.
 */
#include "sim/sim_internal.h"

#define CHUNK_EVENTS 256

struct chunk {
	struct chunk *next;
	struct event events[CHUNK_EVENTS];
};

static void pool_grow(struct queue *q)
{
	struct chunk *c = xmalloc(sizeof(*c));

	c->next = q->chunks;
	q->chunks = c;
	for (unsigned i = CHUNK_EVENTS; i-- > 0;) {
		c->events[i].next = q->free;
		q->free = &c->events[i];
	}
}

struct event *event_new(struct sim *sim, enum event_kind kind)
{
	struct queue *q = &sim->queue;
	struct event *ev;

	if (!q->free)
		pool_grow(q);
	ev = q->free;
	q->free = ev->next;
	memset(ev, 0, offsetof(struct event, mad));
	ev->heap = SIM_NONE;
	ev->kind = kind;
	return ev;
}

void event_free(struct sim *sim, struct event *ev)
{
	if (!ev)
		return;
	ev->kind = EV_IDLE;
	ev->next = sim->queue.free;
	sim->queue.free = ev;
}

static bool earlier(const struct slot *a, const struct slot *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void put_slot(struct queue *q, size_t i, struct slot s)
{
	q->heap[i] = s;
	s.ev->heap = (uint32_t)i;
}

static void sift_up(struct queue *q, size_t i, struct slot s)
{
	while (i > 0) {
		size_t parent = (i - 1) / 2;

		if (!earlier(&s, &q->heap[parent]))
			break;
		put_slot(q, i, q->heap[parent]);
		i = parent;
	}
	put_slot(q, i, s);
}

static void sift_down(struct queue *q, size_t i, struct slot s)
{
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= q->n)
			break;
		if (child + 1 < q->n && earlier(&q->heap[child + 1], &q->heap[child]))
			child++;
		if (!earlier(&q->heap[child], &s))
			break;
		put_slot(q, i, q->heap[child]);
		i = child;
	}
	put_slot(q, i, s);
}

void queue_add(struct sim *sim, struct event *ev, mono_t at)
{
	struct queue *q = &sim->queue;

	ev->at = at < sim->now ? sim->now : at;
	ev->seq = q->seq++;
	GROW(q->heap, q->n + 1, q->cap);
	q->n++;
	sift_up(q, q->n - 1, (struct slot){ ev->at, ev->seq, ev });
}

void queue_remove(struct sim *sim, struct event *ev)
{
	struct queue *q = &sim->queue;
	size_t i = ev->heap;
	struct slot last;

	if (ev->heap == SIM_NONE)
		return;
	ev->heap = SIM_NONE;
	last = q->heap[--q->n];
	if (i == q->n)
		return;
	if (i > 0 && earlier(&last, &q->heap[(i - 1) / 2]))
		sift_up(q, i, last);
	else
		sift_down(q, i, last);
}

struct event *queue_pop(struct sim *sim, mono_t until)
{
	struct queue *q = &sim->queue;
	struct event *ev;

	if (q->n == 0 || q->heap[0].at > until)
		return NULL;
	ev = q->heap[0].ev;
	queue_remove(sim, ev);
	return ev;
}

mono_t queue_next(const struct sim *sim)
{
	return sim->queue.n ? sim->queue.heap[0].at : MONO_NEVER;
}

void queue_clear(struct sim *sim)
{
	struct queue *q = &sim->queue;

	while (q->chunks) {
		struct chunk *c = q->chunks;

		q->chunks = c->next;
		free(c);
	}
	free(q->heap);
	*q = (struct queue){ 0 };
}
