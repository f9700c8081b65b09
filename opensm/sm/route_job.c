// SPDX-License-Identifier: BSD-2-Clause
/*
 * The routing job: what route/choose makes of the list of engines, weighed against what switches hold.
 */
#include "sm/route_job.h"

#include <stdio.h>
#include <string.h>

#include "route/choose.h"
#include "route/reroute.h"
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

/* Adopted tables go when their most loaded channel carries this much more than need be. */
#define CLEARLY_WORSE 1.25

static struct routes *compute(struct route_job_state *st, const struct route_job *job,
			      struct route_choice *choice)
{
	const struct route_chain chain = {
		.list = st->conf->routing_engine,
		.more = st->engines,
		.allow_unsafe = st->conf->allow_unsafe_routes,
	};

	return route_choose(&chain, job, choice);
}

/* Sets `choice` anew if routes from scratch take the place of those built on adopted tables. */
static void weigh(struct route_job_state *st, struct route_job *job, struct route_choice *choice)
{
	const struct route_verdict *kept = &choice->verdict;
	struct route_choice fresh;
	struct routes *r;

	job->previous = NULL;
	r = compute(st, job, &fresh);
	if (!r)
		return;
	if (fresh.verdict.unreachable > kept->unreachable ||
	    kept->max_load <= CLEARLY_WORSE * fresh.verdict.max_load) {
		snprintf(st->report.note, sizeof(st->report.note),
			 "tables found in the switches are kept where they are right (load %u, "
			 "from scratch %u)",
			 kept->max_load, fresh.verdict.max_load);
		routes_unref(r);
		return;
	}
	snprintf(st->report.note, sizeof(st->report.note),
		 "tables found in the switches load a channel with %u, from scratch with %u: they "
		 "are replaced",
		 kept->max_load, fresh.verdict.max_load);
	routes_unref(st->result);
	st->result = r;
	*choice = fresh;
}

/* Routes that grew out of our own: kept where they are right, as long as they are balanced. */
static void balance(struct route_job_state *st, const struct route_job *job,
		    struct route_verdict *verdict)
{
	struct reroute_report report = { .verdict = *verdict };

	st->result =
		reroute_balance(route_engine_find(st->result->engine), job, st->result, &report);
	if (report.n_entries || report.n_lids)
		snprintf(st->report.note, sizeof(st->report.note),
			 "a channel would carry %u, with routes from scratch %u: %u entries move "
			 "and %u LIDs are routed anew, now it is %u",
			 verdict->max_load, report.load_fresh, report.n_entries, report.n_lids,
			 report.verdict.max_load);
	*verdict = report.verdict;
}

static void tell(struct route_job_state *st, const struct route_choice *choice)
{
	struct route_report *report = &st->report;

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
	struct route_choice choice;
	const struct route_engine *engine;

	job.threads = (uint64_t)st->topo->n_switches * st->topo->max_lid < ONE_THREAD;
	st->result = compute(st, &job, &choice);
	if (!st->result) {
		tell(st, &choice);
		st->report.depends = graph_of_old(st, job.threads);
		return;
	}
	engine = route_engine_find_in(st->engines, st->result->engine);
	/* Tables of an engine from outside are its own affair. */
	if (engine->compute && st->weigh && !st->fresh)
		weigh(st, &job, &choice);
	else
		balance(st, &job, &choice.verdict);
	if (st->held || st->previous)
		st->report.transition =
			transition_find(st->held ? st->held : st->previous, st->result);
	tell(st, &choice);
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
