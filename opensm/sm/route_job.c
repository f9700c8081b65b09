// SPDX-License-Identifier: BSD-2-Clause
/*
 * The routing job: what route/choose makes of the list of engines, weighed against what switches hold.
 */
#include "sm/route_job.h"

#include <stdio.h>
#include <string.h>

#include "route/weigh.h"
#include "plan/route_lists.h"
#include "util/mem.h"

struct route_job_state {
	struct sm_job base;
	struct topo *topo;
	struct routes *previous, *held, *result;
	struct conf *conf;
	struct conf_files *files;
	void (*done)(void *owner, struct routes *routes, struct route_report *report);
	void *owner;
	bool weigh, fresh;
	const struct route_engines *engines;
	struct route_report report;
};

/* Table bytes below which a second thread costs more than it saves. */
#define ONE_THREAD (4u << 20)

static void tell(struct route_job_state *st, const struct weighed *weighed)
{
	const struct route_choice *choice = &weighed->choice;
	struct route_report *report = &st->report;

	snprintf(report->note, sizeof(report->note), "%s", weighed->note);
	snprintf(report->why, sizeof(report->why), "%s", choice->why);
	snprintf(report->refused, sizeof(report->refused), "%s", choice->refused);
	if (!st->result)
		return;
	route_verdict_str(&choice->verdict, report->verdict);
	report->unreachable = choice->verdict.unreachable;
	report->bad = choice->verdict.unreachable || choice->verdict.looping;
	report->fault = route_fault(&choice->verdict);
}

/* Routes that stay because there are no new ones: multicast is planned beside them. NULL: they prove nothing. */
static struct dependency_graph *graph_of_old(const struct route_job_state *st, unsigned threads)
{
	struct dependency_graph *g;

	if (!st->previous || st->weigh || st->conf->disable_multicast)
		return NULL;
	g = dependency_graph_of(st->previous, threads);
	if (dependency_graph_is_acyclic(g))
		return g;
	dependency_graph_free(g);
	return NULL;
}

static void run(struct sm_job *base)
{
	struct route_job_state *st = (struct route_job_state *)base;
	struct route_job job = {
		.topo = st->topo,
		.previous = st->fresh ? NULL : st->previous,
		.options = route_lists_options(st->conf, st->files),
		.cancelled = &base->orphan,
	};
	const struct route_chain chain = {
		.list = st->conf->routing_engine,
		.more = st->engines,
		.allow_unsafe = st->conf->allow_unsafe_routes,
	};
	struct weighed weighed;

	job.threads = (uint64_t)st->topo->n_switches * st->topo->max_lid < ONE_THREAD;
	st->result = route_weigh(&chain, &job, st->weigh, &weighed);
	tell(st, &weighed);
	if (!st->result) {
		st->report.depends = graph_of_old(st, job.threads);
		return;
	}
	if (st->held || st->previous)
		st->report.transition =
			transition_find(st->held ? st->held : st->previous, st->result);
	if (!st->report.fault && !st->conf->disable_multicast)
		st->report.depends = dependency_graph_of(st->result, job.threads);
}

static void done(struct sm_job *base)
{
	struct route_job_state *st = (struct route_job_state *)base;

	if (base->orphan)
		routes_unref(st->result);
	else
		st->done(st->owner, st->result, &st->report);
	transition_free(st->report.transition);
	dependency_graph_free(st->report.depends);
	topo_unref(st->topo);
	routes_unref(st->previous);
	routes_unref(st->held);
	conf_unref(st->conf);
	conf_files_unref(st->files);
	free(st);
}

struct sm_job *route_job_new(const struct route_order *order)
{
	struct route_job_state *st = xcalloc(1, sizeof(*st));

	st->base = (struct sm_job){ .run = run, .done = done, .what = "routing" };
	st->topo = topo_ref(order->topo);
	st->previous = order->previous ? routes_ref(order->previous) : NULL;
	st->held = order->held ? routes_ref(order->held) : NULL;
	st->conf = conf_ref(order->conf);
	st->files = conf_files_ref(order->files);
	st->done = order->done;
	st->owner = order->owner;
	st->weigh = order->weigh;
	st->fresh = order->fresh;
	st->engines = order->engines;
	return &st->base;
}

struct settle_job {
	struct sm_job base;
	struct routes *routes;
};

static void run_settle(struct sm_job *base)
{
	routes_settle(((struct settle_job *)base)->routes);
}

static void settle_done(struct sm_job *base)
{
	struct settle_job *job = (struct settle_job *)base;

	routes_unref(job->routes);
	free(job);
}

struct sm_job *route_settle_job_new(const struct routes *routes)
{
	struct settle_job *job = xcalloc(1, sizeof(*job));

	job->base = (struct sm_job){ .run = run_settle, .done = settle_done, .what = "settling tables" };
	job->routes = routes_ref(routes);
	return &job->base;
}
