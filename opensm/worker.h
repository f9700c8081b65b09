// SPDX-License-Identifier: BSD-2-Clause
/*
 * The worker: one thread that runs jobs one at a time, in order. A job belongs to the thread that
 * works on it; handing over is by two pipes of pointers, so there is nothing to lock.
 */
#pragma once

#include <stdbool.h>

#include "sm/sm.h"

struct worker;

struct worker *worker_new(void);
/* Waits until every job submitted has ended, at most `ms` (-1: as long as it takes); calls done(). True: all ended. */
bool worker_drain(struct worker *w, int ms);
/* Drains, then ends the thread. NULL is fine; returns NULL. */
struct worker *worker_free(struct worker *w);
void worker_submit(struct worker *w, struct sm_job *job);
/* Polls readable when a job has ended. */
int worker_fd(const struct worker *w);
/* Calls done() for what has ended. */
void worker_collect(struct worker *w);
