// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads for what blocks: calls of the manager, and crypt(3). Work is queued by the main thread,
 * runs in a thread, and comes back to the main thread. Bounded, and fair between owners (users, or
 * addresses): one owner has at most its share of threads and of the queue, and a thread that is
 * free goes to the owner that has the fewest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/mem.h"

/* A part of the object that the work is about. */
struct work {
	struct work *next;
	const char *owner;	      /* stays valid until done() */
	void (*run)(struct work *w);  /* in a thread */
	void (*done)(struct work *w); /* on the main thread */
};

struct workers_limits {
	unsigned threads, queue;	     /* limits in total */
	unsigned owner_threads, owner_queue; /* limits for each owner */
};

struct workers;

/* NULL: errno. Signals must be blocked by the caller: threads inherit that. */
struct workers *workers_new(const struct workers_limits *limits);
/* Waits for running work; queued work is dropped without done(). NULL is fine. */
struct workers *workers_free(struct workers *w);
FREEP(workers_free, struct workers)

/* 0, or -EAGAIN: the queue, or the owner's share of it, is full. */
int workers_add(struct workers *w, struct work *work);
/* Readable when work is finished. */
int workers_fd(const struct workers *w);
/* Calls done() of finished work. */
void workers_reap(struct workers *w);
/* Work that is queued, runs, or waits for workers_reap(). */
size_t workers_count(const struct workers *w);
