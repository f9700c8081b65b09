// SPDX-License-Identifier: BSD-2-Clause
/*
 * Requests that wait for a place on the wire. The main thread hands over more of them than may be
 * on the wire at a time. Each answer makes room for the next, which the receive thread writes at
 * once: the wire stays full while the main thread computes, and that one is woken for many answers
 * together.
 *
 *   main thread   reserve, fill, commit --> queue --> write()   sender thread where there is room,
 *                                                               receive thread behind an answer
 *
 * One thread writes at a time. The main thread never waits for it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libvendor/sender.h"
#include "opensm/transport.h"

#define WINDOW_MAX 256u
#define WINDOW_QUEUE 64u /* requests that wait; a power of two */
/* While this many requests wait, the wire stays full without help of the main thread. */
#define WINDOW_PLENTY 8u

struct window;

/* A request that `write` refused. Called on the thread that writes. */
typedef void (*window_failed_fn)(void *arg, const struct out *out, int error);

/* `write` is called by one thread at a time, and may wait. The window is 1. */
struct window *window_new(sender_write_fn write, window_failed_fn failed, void *arg);
/* No thread may use it any more. NULL is fine; returns NULL. */
struct window *window_free(struct window *w);

/* ---- of the main thread ---- */

/* `window`: 1 to WINDOW_MAX. True: there is room now for what waits, window_pump() is due. */
bool window_set_size(struct window *w, unsigned window);
/* The next one to fill; NULL: too many wait. */
struct out *window_reserve(struct window *w);
/* It is complete, its id is `tid`. True: there is room for it now, window_pump() is due. */
bool window_commit(struct window *w, uint32_t tid);
/*
 * It is not waited for any more: it leaves the wire, or it never gets there. *ret_room: there is
 * room now for what waits, window_pump() is due.
 */
enum transport_fate window_forget(struct window *w, uint32_t tid, bool *ret_room);
/* *ret_us: TRANSPORT_ON_WIRE: CLOCK_MONOTONIC when it was written, in microseconds. */
enum transport_fate window_fate(struct window *w, uint32_t tid, int64_t *ret_us);
/* A write() that does not return: two looks at window_written() tell. */
bool window_is_writing(const struct window *w);
unsigned window_written(const struct window *w);

/* ---- of the threads that may write ---- */

/* Writes what waits while there is room on the wire. */
void window_pump(struct window *w);
/* As window_pump(), but returns false at once if another thread is writing. */
bool window_try_pump(struct window *w);
/*
 * An answer to `tid` came, or the request itself came back. 0: it is none of those on the wire;
 * else the microseconds since it was written, at least 1. window_pump() is due.
 */
uint32_t window_ended(struct window *w, uint32_t tid);
/* At least WINDOW_PLENTY requests wait for the wire: answers will keep coming for a while. */
bool window_has_plenty(struct window *w);
