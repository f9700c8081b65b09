// SPDX-License-Identifier: BSD-2-Clause
/*
 * One routing computation: what the list of engines makes of a fabric and of former tables, with
 * the way to get there and what multicast must know. A function of its input, run here or in a
 * child (route_runner.h), with the same result.
 */
#pragma once

#include "route/select/choose.h"
#include "sm/routing/route_job.h"
#include "sm/routing/route_runner.h"

/* Most engines that are excluded from one computation. */
#define ROUTE_SKIPS 16

struct route_task {
	struct topo *topo;
	struct routes *previous, *held;
	struct conf *conf;
	struct conf_files *files;
	const struct route_engines *engines;
	bool weigh; /* set if `previous` was found in switches */
	bool fresh; /* set if `previous` is in switches, but no model for new tables */
	bool quiet; /* set if nothing has changed: the result is `previous` or better tables */
	bool one_thread;
	struct route_skip skip[ROUTE_SKIPS];
	unsigned n_skip;
	const atomic_bool *cancelled;
	struct route_progress *progress;
};

/* Runs the task. Returns one reference; NULL: no tables, `ret` says why. `ret` is overwritten. */
struct routes *route_task_run(struct route_task *t, struct route_report *ret);
void route_task_clear(struct route_task *t);

/* The engine that the task asks first; NULL: all are excluded. */
const struct route_engine *route_task_first(const struct route_task *t);
/* May the task ask an engine that takes long (route_chain_is_slow())? */
bool route_task_is_slow(const struct route_task *t);

/*
 * Is run_order.work, with a struct route_task as `self`: runs it as it is, later as `more` changes
 * it.
 */
void route_task_work(void *self, struct unpack *more, struct route_progress *progress,
		     struct pack *ret);
/* Is run_order.rest, with a struct route_task as `self`. */
void route_task_rest(void *self);
/* Packs what the child of the last run needs to go on: topo and excluded engines. */
void route_task_pack(const struct route_task *t, struct pack *ret);
/* The result of route_task_work(). False: invalid. `*ret` NULL and true: no tables. */
bool route_task_unpack(const struct route_task *t, struct unpack *u, struct routes **ret,
		       struct route_report *report);
