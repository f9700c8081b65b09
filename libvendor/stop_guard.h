// SPDX-License-Identifier: BSD-2-Clause
/*
 * The end of the process within a bound, whatever holds the main thread: a device may hold it
 * while the port is opened, claimed or closed, and then a stop signal that the event loop is to
 * take is not served.
 *
 *   SIGTERM, SIGINT --pending, and not taken for `patience`--> a line in the log, end
 *   stop_guard_ending() --the end takes longer than `patience`--> a line on stderr, end
 *
 * A thread looks whether a signal waits, and never takes it: that is for the event loop. A system
 * call that the kernel does not let any signal end (state D) is beyond its reach.
 */
#pragma once

struct stop_guard;

/*
 * Both signals are blocked in all threads by now. `patience_s` > 0. NULL and errno: no thread, and
 * the process goes on without.
 */
struct stop_guard *stop_guard_new(unsigned patience_s);
/* The signal was taken: the end has begun, and is to have this exit status. `g` may be NULL. */
void stop_guard_ending(const struct stop_guard *g, int status);
/* Ends the thread; a bound that stop_guard_ending() has set stays. NULL is fine; returns NULL. */
struct stop_guard *stop_guard_free(struct stop_guard *g);
