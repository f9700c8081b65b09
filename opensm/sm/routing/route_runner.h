// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where a routing computation runs so that it can be ended: what the daemon hands in
 * (route_child.h), and the simulator does not. The computation is given as a function; what it
 * makes comes back as bytes (util/pack.h), because the process that makes them may have been
 * damaged by then.
 *
 * 	run()                 forks, unless the child of `follows` is still there
 *          work(self, NULL)    in the child: the first task; it has all memory of the parent as it
 *                              was
 * 	  work(self, more)    in the same child, later: `more` says what is different
 * 	release()             the bytes of the last run() are of no use any more
 *
 * Called on the thread of the worker, one task at a time.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "route/core/engine.h"
#include "util/pack.h"

enum run_end {
	RUN_DONE,
	RUN_CANCELLED,
	RUN_SIGNALLED, /* `number`: the signal */
	RUN_EXITED,    /* `number`: the exit status; the engine called exit() */
	RUN_TOO_LONG,
	RUN_IMPOSSIBLE, /* no child can be made; `number`: errno */
};

struct run_order {
	void (*work)(void *self, struct unpack *more, struct route_progress *progress,
		     struct pack *ret);
	/* Called in the child after its result was sent, to prepare the next run. */
	void (*rest)(void *self);
	void *self;
	/* Serial of the run that it continues; 0: a new child in any case. */
	uint64_t follows;
	const struct pack *more;
	unsigned limit_ms;
	uint64_t memory;  /* most bytes by which the child may grow */
	const int *files; /* descriptors that the child keeps */
	unsigned n_files;
	const atomic_bool *cancelled;
};

struct run_result {
	enum run_end end;
	int number;
	unsigned ms;
	/* set if a first child slept since its fork, and this is the result of a second one */
	bool asleep;
	uint64_t serial;		/* serial of this run; never 0 */
	struct route_progress progress; /* progress at its end */
	struct unpack bytes;
};

struct route_runner {
	void (*run)(void *arg, const struct run_order *order, struct run_result *ret);
	/*
	 * Releases the bytes of the last run(). `keep` false: they are invalid, and the child ends.
	 */
	void (*release)(void *arg, bool keep);
	void *arg;
};
