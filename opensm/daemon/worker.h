// SPDX-License-Identifier: BSD-2-Clause
/*
 * The worker: one thread that runs jobs one at a time, in order. A job belongs to the thread that
 * works on it, and changes hands by an atomic exchange, so there is nothing to lock. A worker costs
 * one descriptor, polled by the main loop.
 *
 * Jobs are waited for at the end of the process only: a manager that loses its port leaves its jobs
 * to worker_orphan(), so that a disk that hangs holds up no other manager.
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
/* A descriptor that is readable when a job has ended. */
int worker_fd(const struct worker *w);
/* Calls done() for jobs that have ended. */
void worker_collect(struct worker *w, mono_t now);
/* Drops the owner of all jobs so far: they run to their end, and their done() only frees. */
void worker_orphan(struct worker *w);
/* Name of the running job ("routing") and the start of it or of its present turn; NULL: none. */
const char *worker_running(struct worker *w, mono_t now, mono_t *ret_since);
/* At the end of the process: waits at most `ms` for all jobs, calling done(). True: all ended. */
bool worker_drain(struct worker *w, int ms);
