// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sends on a thread of its own, so that a device whose write() waits, or never returns, delays that
 * thread alone. MADs that cannot be sent come back.
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
 * `bell` rings when a MAD failed. The thread also writes the requests that wait in `window`, as far
 * as it has room; NULL: there is no window. Both stay the caller's. NULL and errno on failure.
 */
struct sender *sender_new(sender_write_fn write, void *arg, struct window *window,
			  struct bell *bell);
/*
 * Ends the thread; MADs not sent yet are dropped. False: it does not return from write() within
 * `patience_ms`: the thread and all it uses must be left alone until the process ends. NULL is
 * fine.
 */
bool sender_free(struct sender *s, unsigned patience_ms);

/*
 * Waits for the end of a thread for at most `patience_ms`, and joins it. False: it is still
 * running, and may use its memory.
 */
bool thread_ends(pthread_t thread, unsigned patience_ms);

/* The next slot to fill; NULL: the device is too slow. */
struct out *sender_reserve(struct sender *s);
/*
 * Completes the slot. A sleeping thread is woken by the next flush, once for all slots before it.
 */
void sender_commit(struct sender *s);
void sender_flush(struct sender *s);
/* Wakes the thread, as there is room on the wire for requests of the window. */
void sender_wake(struct sender *s);

/*
 * Is the thread within write() now, and how many calls have returned? Two calls of these tell
 * whether it hangs there.
 */
bool sender_is_writing(const struct sender *s);
unsigned sender_written(const struct sender *s);
/* Bytes of messages longer than one MAD that wait to be written. */
size_t sender_big_bytes(const struct sender *s);
/* Were all committed MADs written, or have failed? */
bool sender_is_idle(const struct sender *s);

/* Returns `out`, which could not be sent, to the main thread. For any thread but that one. */
void sender_give_back(struct sender *s, const struct out *out, int error);

/* The oldest MAD that failed; NULL: none, and the bell rings when there is one. */
const struct out *sender_front(struct sender *s);
void sender_pop(struct sender *s);
