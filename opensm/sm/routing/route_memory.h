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

/* Durations of former runs, all with the same engine asked first. */
struct route_runs {
	char first[32];
	/* The longest run, and the largest tables; the last run from scratch. 0: not known. */
	uint64_t longest_cells, fresh_cells;
	unsigned longest_ms, fresh_ms;
};

/* Number of deaths by engine and cause since the start; the last row counts all others. */
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
/* Has all engines asked again, as the configuration changed. */
void route_memory_forgive(struct route_memory *m);
/* The time at which the next excluded engine is asked again; MONO_NEVER: none is excluded. */
mono_t route_memory_next(const struct route_memory *m);
/* When a process for routing is tried again, after none could be started; has it tried now. */
mono_t route_memory_child_next(const struct route_memory *m);
bool route_memory_release_child(struct route_memory *m, mono_t now);
/* The errno with which the last job could start no process; 0: it could. */
int route_memory_no_child(const struct route_memory *m);
/* Has engines that were excluded until `now` asked again. True: there are some. */
bool route_memory_release(struct route_memory *m, mono_t now);

/*
 * Excludes engines from `t` that died lately, and takes former tables away from those that died of
 * them.
 */
void route_memory_apply(const struct route_memory *m, struct route_task *t, mono_t now);
/* The run whose child has the input of `t`, except for topo and excluded engines; 0: none. */
uint64_t route_memory_follows(const struct route_memory *m, const struct route_task *t);
/* The durations of former runs; a job reads them once, when it is made. */
struct route_runs route_memory_runs(const struct route_memory *m);
/*
 * The longest time that a computation may take which asks `first` first (`slow`: and perhaps an
 * engine that takes long; `fresh`: from scratch): by the last such run, else by the size of the
 * fabric.
 */
unsigned route_limit_ms(const struct route_runs *runs, const struct topo *t, const char *first,
			bool fresh, bool slow);

const struct route_death_count *route_memory_counts(const struct route_memory *m, unsigned *ret_n);
/*
 * Fills in, as text, the engines that are excluded now, and whether no process can be started:
 * "auto (ended by SIGSEGV, again in 57 s)"; "": none.
 */
void route_memory_str(const struct route_memory *m, mono_t now, char *ret, size_t cap);
