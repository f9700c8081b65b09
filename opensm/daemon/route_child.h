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
 * An idle child keeps its results, so that the next small change costs a small computation instead
 * of a fork of some gigabytes and a proof of all tables from the start. It ends with the daemon,
 * even if that is killed. Processes that an engine starts are in its process group, and end with
 * it.
 *
 * All functions are called on one thread, which must outlive the child, and must not have run
 * OpenMP with several threads (a fork has no threads but the calling one).
 */
#pragma once

#include "sm/routing/route_runner.h"
#include "util/title.h"

struct route_child;

/*
 * `now_ms`: a monotonic clock, called on the thread that runs. `title`: place in the command line
 * of the daemon where the child shows that it is one.
 */
struct route_child *route_child_new(uint64_t (*now_ms)(void), struct title title);
/* Ends the child. NULL is fine; returns NULL. */
struct route_child *route_child_free(struct route_child *c);
/* The runner for engines, valid as long as `c`. */
const struct route_runner *route_child_runner(struct route_child *c);
