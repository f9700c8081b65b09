// SPDX-License-Identifier: BSD-2-Clause
/*
 * The worker: one thread that runs jobs one at a time, in order. A job belongs to the thread that
 * works on it; handing over is by two pipes of pointers, so there is nothing to lock.
 *
 * Nobody waits for a job but at the end of the process: a manager whose port vanishes leaves its jobs
 * behind as orphans (worker_orphan()), so that a disk that hangs holds up nobody.
 */
#pragma once

#include <stdbool.h>

#include "sm/sm.h"
#include "util/mono.h"

struct worker;

struct worker *worker_new(void);
/* All jobs must have ended. Ends the thread. NULL is fine; returns NULL. */
struct worker *worker_free(struct worker *w);

void worker_submit(struct worker *w, struct sm_job *job, mono_t now);
/* Polls readable when a job has ended. */
int worker_fd(const struct worker *w);
/* Calls done() for what has ended. */
void worker_collect(struct worker *w, mono_t now);
/* Whoever handed out jobs so far is gone: they run to their end, and their done() only frees. */
void worker_orphan(struct worker *w);
/* What runs now ("routing") and since when; NULL: nothing. */
const char *worker_running(const struct worker *w, mono_t *ret_since);
/* At the end of the process: waits for all jobs, calling done(), for at most `ms`. True: all ended. */
bool worker_drain(struct worker *w, int ms);
