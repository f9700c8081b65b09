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
/* Engines that were left out until `now` are asked again. True: there are some. */
bool route_memory_release(struct route_memory *m, mono_t now);

/*
 * Leaves out of `t` what is to be left out, and takes former tables away from engines that died of
 * them.
 */
void route_memory_apply(const struct route_memory *m, struct route_task *t, mono_t now);
/* The run, the child of which has `t` before it, but for topo and what is left out; 0: none. */
uint64_t route_memory_follows(const struct route_memory *m, const struct route_task *t);
/*
 * How long the computation may take; and one that has nothing to go by: the longest run may have
 * been of another engine.
 */
unsigned route_memory_limit_ms(const struct route_memory *m, const struct topo *t, bool slow);
unsigned route_memory_fresh_limit_ms(const struct topo *t, bool slow);

const struct route_death_count *route_memory_counts(const struct route_memory *m, unsigned *ret_n);
/* "auto (ended by SIGSEGV, again in 57 s)": engines that are left out now; "" none. */
void route_memory_str(const struct route_memory *m, mono_t now, char *ret, size_t cap);
