// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ends the process in bounded time, whatever blocks the main thread: a device may block it while
 * the port is opened, claimed or closed, and then the event loop does not take a stop signal.
 *
 *   SIGTERM, SIGINT --pending, and not taken for `patience`--> a line in the log, end
 *   stop_guard_ending() --the end takes longer than `patience`--> a line on stderr, end
 *
 * A thread looks for pending signals without taking them, as the event loop does that. A system
 * call that no signal interrupts (state D) cannot be ended.
 */
#pragma once

struct stop_guard;

/*
 * Both signals must be blocked in all threads. `patience_s` > 0. NULL and errno: there is no
 * thread, and the process runs without the guard.
 */
struct stop_guard *stop_guard_new(unsigned patience_s);
/*
 * The signal was taken: the process is ending, and has this exit status if the guard ends it. `g`
 * may be NULL.
 */
void stop_guard_ending(const struct stop_guard *g, int status);
/* Ends the thread; a bound that stop_guard_ending() has set stays. NULL is fine; returns NULL. */
struct stop_guard *stop_guard_free(struct stop_guard *g);
