// SPDX-License-Identifier: BSD-2-Clause
/*
 * A bounded queue between exactly two threads: one writes slots, the other reads them.
 *
 * Nothing is dropped and no thread spins: a writer that finds it full waits, a reader that finds it
 * empty is told through a descriptor, which costs a system call only when the reader may be asleep.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Wakes the thread that reads one ring, or several of them. */
struct bell;

enum bell_reader {
	BELL_POLLED, /* in its loop: bell_fd() polls readable */
	BELL_WAITED, /* by bell_wait() */
};

/* NULL and errno on failure. */
struct bell *bell_new(enum bell_reader reader);
/* No ring has it any more. NULL is fine; returns NULL. */
struct bell *bell_free(struct bell *b);
/* Polls readable when something was published in a ring of which front() said NULL. */
int bell_fd(const struct bell *b);
/* front() of all its rings said NULL. True: now the thread may poll. False: ask the rings again. */
bool bell_is_quiet(struct bell *b);
/* It polls readable, and bell_wait() returns. Of any thread. */
void bell_ring(struct bell *b);
/* Blocks until then. May return early: ask the rings again. */
void bell_wait(struct bell *b);

struct ring;

/*
 * `slots` is a power of two; `slot_size` bytes each, aligned to 64. `bell` stays the caller's. NULL
 * and errno on failure.
 */
struct ring *ring_new(unsigned slots, size_t slot_size, struct bell *bell);
/* No thread may be using it any more. NULL is fine; returns NULL. */
struct ring *ring_free(struct ring *r);

/* Writer: the slot to fill next, NULL while the ring is full. */
void *ring_reserve(struct ring *r);
/* Writer: blocks until there is room. May return early: reserve again. */
void ring_wait_room(struct ring *r);
/* Writer: the reserved slot is complete. The reader is not woken yet. */
void ring_publish(struct ring *r);
/* Writer: wakes the reader if it may sleep and something was published. */
void ring_notify(struct ring *r);

/* Reader: the oldest slot, valid until ring_pop(); NULL when empty (and then the bell is armed). */
void *ring_front(struct ring *r);
/* Reader: gives the slot of ring_front() back. */
void ring_pop(struct ring *r);
