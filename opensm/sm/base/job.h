// SPDX-License-Identifier: BSD-2-Clause
/*
 * Work of a machine that takes long or waits for a disk, done on another thread (struct sm_job).
 * Before, the machine puts into `data` whatever run() needs: it sees nothing else. Jobs for the
 * disk are done in the order of their starts.
 */
#pragma once

#include "sm/sm.h"

struct job_kind {
	const char *what;	/* "saving partitions", for the log */
	int (*run)(void *data); /* on another thread; returns 0, or -errno */
	/* Takes the result, `error` of run(), on the thread of the manager. */
	void (*ended)(struct sm *sm, void *data, int error);
	void (*free)(void *data); /* frees `data`, at last */
	bool disk;		  /* set if it waits for a disk */
	/* set if ended() is called also if the manager has ended meanwhile; `sm` is NULL then */
	bool after_end;
};
#define JOB(what, run, ended, free)	 ((struct job_kind){ what, run, ended, free, false, false })
#define DISK_JOB(what, run, ended, free) ((struct job_kind){ what, run, ended, free, true, false })
#define LAST_JOB(what, run, ended, free) ((struct job_kind){ what, run, ended, free, true, true })

/* Takes over `data`. */
void job_start(struct sm *sm, struct job_kind kind, void *data);
