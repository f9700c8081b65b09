// SPDX-License-Identifier: BSD-2-Clause
/*
 * A bounded queue between exactly two threads: one writes slots, the other reads them.
 *
 * Nothing is dropped and no thread spins: a writer that finds it full waits, a reader that finds it
 * empty is told through a descriptor, which costs a system call only when the reader may be asleep.
 */
#pragma once

#include <stddef.h>

struct ring;

/* `slots` is a power of two; `slot_size` bytes each, aligned to 64. NULL and errno on failure. */
struct ring *ring_new(unsigned slots, size_t slot_size);
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

/* Reader: polls readable when something was published since front() said NULL. */
int ring_fd(const struct ring *r);
/* Reader: the oldest slot, valid until ring_pop(); NULL when empty (and then fd is armed). */
void *ring_front(struct ring *r);
/* Reader: gives the slot of ring_front() back. */
void ring_pop(struct ring *r);
