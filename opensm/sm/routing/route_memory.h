// SPDX-License-Identifier: BSD-2-Clause
/*
 * The memory of former routing jobs: how long they took, which engines died of this fabric and
 * when they are asked again, and whether the child that made the tables in force can go on from
 * there. On the thread of the SM.
 *
 *   asked --dies with former tables--> asked without them --dies--> left out for 1 min, 2 min, ...
 *   1 h
 *     ^------------------------- that time is over, or the configuration changed --------------'
 */
#pragma once

#include "conf/files.h"
#include "route/select/choose.h"
#include "sm/routing/route_job.h"
#include "sm/routing/route_task.h"
#include "util/mono.h"

/* How long former runs took, all with the same engine asked first. */
struct route_runs {
	char first[32];
	/* the longest one, and the largest tables; the last one from scratch; 0: none is known */
	uint64_t longest_cells, fresh_cells;
	unsigned longest_ms, fresh_ms;
};

/* By engine and cause, since the start; the last row takes all others. */
struct route_death_count {
	char engine[32], cause[16];
	uint64_t n;
};
#define ROUTE_DEATH_COUNTS 24

struct route_memory;
struct route_memory *route_memory_new(void);
/* NULL is fine; returns NULL. */
struct route_memory *route_memory_free(struct route_memory *m);

/* A job ended with `routes` (NULL: no tables) under this configuration. Counts deaths. */
void route_memory_note(struct route_memory *m, const struct routes *routes,
		       const struct route_report *report, const struct conf *conf,
		       const struct conf_files *files, mono_t now);
/* Engines are asked again, whatever they died of: the configuration changed. */
void route_memory_forgive(struct route_memory *m);
/* When the next engine that is left out is to be asked again; MONO_NEVER: none is. */
mono_t route_memory_next(const struct route_memory *m);
/* The same of a process for routing, where none could be started; and that it is tried now. */
mono_t route_memory_child_next(const struct route_memory *m);
bool route_memory_release_child(struct route_memory *m, mono_t now);
/* errno: the last job could start no process; 0: it could. */
int route_memory_no_child(const struct route_memory *m);
/* Engines that were left out until `now` are asked again. True: there are some. */
bool route_memory_release(struct route_memory *m, mono_t now);

/*
 * Leaves out of `t` what is to be left out, and takes former tables away from engines that died of
 * them.
 */
void route_memory_apply(const struct route_memory *m, struct route_task *t, mono_t now);
/* The run, the child of which has `t` before it, but for topo and what is left out; 0: none. */
uint64_t route_memory_follows(const struct route_memory *m, const struct route_task *t);
/* A job reads them once, as it is made. */
struct route_runs route_memory_runs(const struct route_memory *m);
/*
 * How long a computation may take that asks `first` first (`slow`: and perhaps one that takes long;
 * `fresh`: from scratch): by the last run of that, else by the size of the fabric.
 */
unsigned route_limit_ms(const struct route_runs *runs, const struct topo *t, const char *first,
			bool fresh, bool slow);

const struct route_death_count *route_memory_counts(const struct route_memory *m, unsigned *ret_n);
/*
 * "auto (ended by SIGSEGV, again in 57 s)": engines that are left out now, and that there is no
 * process; "" none.
 */
void route_memory_str(const struct route_memory *m, mono_t now, char *ret, size_t cap);
