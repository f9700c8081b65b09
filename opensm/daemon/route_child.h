// SPDX-License-Identifier: BSD-2-Clause
/*
 * The process in which routes are computed, so that a computation can be ended: a fork of the
 * daemon that has all its memory as it was, and nothing else of it. It is never there for its own
 * sake:
 *
 *   none --run()--> BUSY --result--> IDLE --run() that follows--> BUSY
 *                    |                  `--run() that does not follow: ended, and a new one is
 *                                       forked
 *                    `--death, deadline, cancelled: none
 *
 * A child that is idle keeps what it made, so the next small change costs a small computation, not
 * a fork of some gigabytes and a proof of all tables from the start. It ends with the daemon,
 * whatever that dies of. What an engine starts in it is of its process group, and ends with it.
 *
 * To be used on one thread, which must outlive it, and must not have run OpenMP with several
 * threads (a fork has no threads but that one).
 */
#pragma once

#include "sm/routing/route_runner.h"
#include "util/title.h"

struct route_child;

/*
 * `now_ms`: a clock that goes on; called on the thread that runs. `title`: where the command line
 * of the daemon has room for a text, which says in the child that it is one.
 */
struct route_child *route_child_new(uint64_t (*now_ms)(void), struct title title);
/* Ends it. NULL is fine; returns NULL. */
struct route_child *route_child_free(struct route_child *c);
/* Good as long as `c`. */
const struct route_runner *route_child_runner(struct route_child *c);
