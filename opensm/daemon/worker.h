// SPDX-License-Identifier: BSD-2-Clause
/*
 * The worker: one thread that runs jobs one at a time, in order. A job belongs to the thread that
 * works on it, and is handed over by an atomic exchange, so there is nothing to lock. A worker
 * costs one descriptor: that of the main loop, which polls more than this.
 *
 * Jobs are waited for at the end of the process only: a manager that loses its port leaves its jobs
 * behind as orphans (worker_orphan()), so that a disk that hangs holds up no other.
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
/* Calls done() for jobs that have ended. */
void worker_collect(struct worker *w, mono_t now);
/* The owner of all jobs so far is gone: they run to their end, and their done() only frees. */
void worker_orphan(struct worker *w);
/* The job that runs ("routing"), and since when it or its present turn does; NULL: none. */
const char *worker_running(struct worker *w, mono_t now, mono_t *ret_since);
/* At the end of the process: waits at most `ms` for all jobs, calling done(). True: all ended. */
bool worker_drain(struct worker *w, int ms);
