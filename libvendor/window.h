// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests that wait for room on the wire. The main thread passes more of them than may be on the
 * wire at a time. Each answer makes room for the next one, which the receive thread writes at once:
 * the wire stays full while the main thread computes, and it is woken once for many answers.
 *
 *   main thread   reserve, fill, commit --> queue --> write()   sender thread where there is room,
 *                                                               receive thread behind an answer
 *
 * One thread writes at a time. The main thread never waits for that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libvendor/sender.h"
#include "opensm/transport.h"

#define WINDOW_MAX 256u
#define WINDOW_QUEUE 64u /* most requests that wait; a power of two */
/* As long as so many requests wait, the wire stays full without the main thread. */
#define WINDOW_PLENTY 8u

struct window;

/* A request that `write` refused. Called on the thread that writes. */
typedef void (*window_failed_fn)(void *arg, const struct out *out, int error);

/* `write` is called by one thread at a time, and may block. The window is 1 at first. */
struct window *window_new(sender_write_fn write, window_failed_fn failed, void *arg);
/* No thread may be using the window any more. NULL is fine; returns NULL. */
struct window *window_free(struct window *w);

/* ---- for the main thread ---- */

/*
 * Sets the window, 1 to WINDOW_MAX. True: there is room for waiting requests, window_pump() is due.
 */
bool window_set_size(struct window *w, unsigned window);
/* The next slot to fill; NULL: too many requests wait. */
struct out *window_reserve(struct window *w);
/* Completes the slot; its id is `tid`. True: there is room for it, window_pump() is due. */
bool window_commit(struct window *w, uint32_t tid);
/*
 * Forgets a request: removes it from the wire, or from those that wait. *ret_room: there is room
 * for waiting requests, window_pump() is due.
 */
enum transport_fate window_forget(struct window *w, uint32_t tid, bool *ret_room);
/* *ret_us: for TRANSPORT_ON_WIRE the time of its write(), in microseconds of CLOCK_MONOTONIC. */
enum transport_fate window_fate(struct window *w, uint32_t tid, int64_t *ret_us);
/* Is a thread within write(), and how many calls have returned? Two calls tell whether it hangs. */
bool window_is_writing(const struct window *w);
unsigned window_written(const struct window *w);

/* ---- for threads that may write ---- */

/* Writes waiting requests as long as there is room on the wire. */
void window_pump(struct window *w);
/* As window_pump(), but returns false at once if another thread is writing. */
bool window_try_pump(struct window *w);
/*
 * Notes an answer to `tid`, or the return of the request itself. 0: it is not on the wire; else the
 * microseconds since it was written, at least 1. window_pump() is due.
 */
uint32_t window_ended(struct window *w, uint32_t tid);
/* Do at least WINDOW_PLENTY requests wait? Then answers will keep arriving for a while. */
bool window_has_plenty(struct window *w);
