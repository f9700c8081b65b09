// SPDX-License-Identifier: BSD-2-Clause
/* Routing jobs that run in a child, and what becomes of them. */
#pragma once

#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "daemon/route_child.h"
#include "sm/routing/route_job.h"
#include "sm/routing/route_memory.h"
#include "tests/unit/route-desk.h"

static inline uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

struct desk {
	struct route_child *child;
	struct route_memory *memory;
	struct conf *conf;
	struct conf_files *files;
	struct route_engines engines;
	unsigned limit_ms;
	struct routes *routes; /* of the last job */
	struct route_report report; /* the same, without what it owns */
	unsigned done;
};

static inline void on_routes(void *owner, struct routes *routes, struct route_report *report)
{
	struct desk *d = owner;

	d->routes = routes;
	d->report = *report;
	d->done++;
	if (d->memory)
		route_memory_note(d->memory, routes, report, report->conf, report->files, 0);
}

static inline void open_desk(struct desk *d, const char *engine, bool with_child)
{
	const struct conf_place nowhere = { 0 };
	struct conf_report r = { 0 };

	*d = (struct desk){ .conf = conf_new(), .limit_ms = 60000 };
	assert_int_equal(conf_set(d->conf, CONF_ID_routing_engine, engine, &nowhere, &r), 0);
	conf_report_clear(&r);
	d->files = conf_files_read(d->conf, NULL);
	if (with_child)
		d->child = route_child_new(now_ms, (struct title){ 0 });
	d->memory = route_memory_new();
	signal(SIGPIPE, SIG_IGN); /* as the daemon does */
}

static inline void close_desk(struct desk *d)
{
	route_child_free(d->child);
	route_memory_free(d->memory);
	conf_unref(d->conf);
	conf_files_unref(d->files);
}

static inline struct sm_job *job_of(struct desk *d, const struct topo *t,
				    const struct routes *previous)
{
	return route_job_new(&(struct route_order){
		.topo = t,
		.previous = previous,
		.conf = d->conf,
		.files = d->files,
		.engines = &d->engines,
		.runner = d->child ? route_child_runner(d->child) : NULL,
		.memory = d->memory,
		.limit_ms = d->limit_ms,
		.done = on_routes,
		.owner = d,
	});
}

/* One reference, or NULL. */
static inline struct routes *compute(struct desk *d, const struct topo *t,
				     const struct routes *previous)
{
	struct sm_job *job = job_of(d, t, previous);

	d->routes = NULL;
	job->run(job);
	job->done(job);
	return d->routes;
}

/* The process that is idle; 0: none. */
static inline pid_t child_of_ours(void)
{
	char path[64];
	long pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/children", syscall(SYS_gettid));
	f = fopen(path, "re");
	assert_non_null(f);
	if (fscanf(f, "%ld", &pid) != 1)
		pid = 0;
	fclose(f);
	return (pid_t)pid;
}

static inline struct routes *compute_with(struct desk *desk, const struct route_engine *row,
				   const char *list)
{
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	struct routes *r;

	open_desk(desk, list, true);
	desk->engines = (struct route_engines){ .rows = row, .n = 1 };
	r = compute(desk, t, NULL);
	topo_unref(t);
	return r;
}
