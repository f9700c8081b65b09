// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sends on a thread of its own, so that a device whose write() waits, or never returns, holds up
 * that thread alone. What cannot be sent comes back.
 *
 *   main thread   reserve, fill, commit, flush --> ring --> write()       sender thread
 *                 front, pop                   <-- ring <-- what failed
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libvendor/out.h"

/* Writes `out`; may wait. 0 or -errno. Called on the sender's thread. */
typedef int (*sender_write_fn)(void *arg, struct out *out);

struct bell;
struct sender;
struct window;

/*
 * `bell` rings when something failed. The thread writes what waits in `window` where there is room
 * for it; NULL: there is no window. Both stay the caller's. NULL and errno on failure.
 */
struct sender *sender_new(sender_write_fn write, void *arg, struct window *window,
			  struct bell *bell);
/*
 * Ends the thread; what is not sent is dropped. False: it does not come back from write() within
 * `patience_ms`: it and all it uses must be left alone until the process ends. NULL is fine.
 */
bool sender_free(struct sender *s, unsigned patience_ms);

/*
 * Waits at most that long for the end of a thread, and joins it. False: it goes on, and may still
 * touch what it knows.
 */
bool thread_ends(pthread_t thread, unsigned patience_ms);

/* The next one to fill; NULL: the device is too slow, later. */
struct out *sender_reserve(struct sender *s);
/* It is complete. A thread that sleeps is woken by the next flush, once for all before it. */
void sender_commit(struct sender *s);
void sender_flush(struct sender *s);
/* There is room on the wire for what waits in front of it. */
void sender_wake(struct sender *s);

/*
 * Is it within write() now, and how many of them have returned? Two looks tell whether it is held
 * there.
 */
bool sender_is_writing(const struct sender *s);
unsigned sender_written(const struct sender *s);
/* Bytes of messages longer than one MAD that wait to be written. */
size_t sender_big_bytes(const struct sender *s);
/* Has all that was committed been written, or failed? */
bool sender_is_idle(const struct sender *s);

/* `out` could not be sent: it comes back to the main thread. Of any thread but that one. */
void sender_give_back(struct sender *s, const struct out *out, int error);

/* What failed, oldest first; NULL: nothing, and the bell rings when there is. */
const struct out *sender_front(struct sender *s);
void sender_pop(struct sender *s);
