// SPDX-License-Identifier: BSD-2-Clause
/*
 * A bounded queue between exactly two threads: one writes slots, the other reads them.
 *
 * Nothing is dropped and no thread spins: a writer waits while the ring is full, a reader of an
 * empty ring is woken through a descriptor, which costs a system call only when the reader may be
 * asleep.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Wakes the thread that reads one ring, or several of them. */
struct bell;

enum bell_reader {
	BELL_POLLED, /* in its event loop, where bell_fd() is readable */
	BELL_WAITED, /* by bell_wait() */
};

/* NULL and errno on failure. */
struct bell *bell_new(enum bell_reader reader);
/* Must be called after all rings with this bell were freed. NULL is fine; returns NULL. */
struct bell *bell_free(struct bell *b);
/* Readable when a slot was published in a ring whose front() returned NULL. */
int bell_fd(const struct bell *b);
/*
 * Called after front() of all rings of the bell returned NULL. True: the thread may poll now.
 * False: the rings must be asked again.
 */
bool bell_is_quiet(struct bell *b);
/* Makes bell_fd() readable and lets bell_wait() return. Any thread may call it. */
void bell_ring(struct bell *b);
/*
 * Blocks until bell_ring() is called by any thread. May return without that: the caller looks into
 * its rings, and calls again if all are empty.
 */
void bell_wait(struct bell *b);

struct ring;

/*
 * `slots` is a power of two; `slot_size` bytes each, aligned to 64. `bell` stays the caller's. NULL
 * and errno on failure.
 */
struct ring *ring_new(unsigned slots, size_t slot_size, struct bell *bell);
/* No thread may be using the ring any more. NULL is fine; returns NULL. */
struct ring *ring_free(struct ring *r);

/* Writer: the slot to fill next, NULL while the ring is full. */
void *ring_reserve(struct ring *r);
/* Writer: blocks until there is room. May return early: reserve again. */
void ring_wait_room(struct ring *r);
/* Writer: the reserved slot is complete. The reader is not woken yet. */
void ring_publish(struct ring *r);
/* Writer: wakes the reader if it may sleep and a slot was published. */
void ring_notify(struct ring *r);

/* Reader: the oldest slot, valid until ring_pop(); NULL when empty (and then the bell is armed). */
void *ring_front(struct ring *r);
/* Reader: gives the slot of ring_front() back. */
void ring_pop(struct ring *r);
