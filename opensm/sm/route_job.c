// SPDX-License-Identifier: BSD-2-Clause
/*
 * The routing job: engines in the order asked for, minhop as the last resort unless no_fallback.
 */
#include "sm/route_job.h"

#include <stdio.h>
#include <string.h>

#include "route/engine.h"
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

static bool is_separator(char c)
{
	return c == ',' || c == ' ' || c == '\t' || c == '\n';
}

/* The next name of the list; false at its end. */
static bool next_name(const char **list, char *ret, size_t cap)
{
	size_t len = 0;

	while (**list && is_separator(**list))
		(*list)++;
	while (**list && !is_separator(**list)) {
		if (len + 1 < cap)
			ret[len++] = **list;
		(*list)++;
	}
	ret[len] = '\0';
	return len > 0;
}

/* ---- engines from outside -------------------------------------------------------------------- */

static const char *fault_of(const struct route_verdict *v)
{
	return v->looping     ? "go round"
	       : v->unreachable ? "leave pairs without a path"
	       : v->credit_loop ? "can block each other (credit loop)"
				: NULL;
}

/* Where a fabric has no better tables, those that have a fault are as good as others. */
static bool minhop_is_no_better(const struct route_job *job, const struct route_verdict *v)
{
	_cleanup_(routes_unrefp) struct routes *other = NULL;
	struct route_verdict w;
	char why[160];

	if (v->looping)
		return false;
	other = route_engine_find("minhop")->compute(job, why, sizeof(why));
	if (!other)
		return false;
	routes_check(other, job->threads, &w);
	return w.unreachable >= v->unreachable && (w.credit_loop || !v->credit_loop);
}

static void note_refusal(struct route_job_state *st, const char *name, const char *why)
{
	size_t len = strlen(st->report.refused);

	snprintf(st->report.refused + len, sizeof(st->report.refused) - len, "%s%s: %s",
		 len ? "; " : "", name, why);
}

/* What an engine from outside made is judged before it counts. */
static struct routes *run_external(struct route_job_state *st, const struct route_engine *engine,
				   const struct route_job *job)
{
	struct routes *r = route_engine_run(engine, job, st->report.why, sizeof(st->report.why));
	char text[ROUTE_VERDICT_STRLEN], why[ROUTE_VERDICT_STRLEN + 80];
	struct route_verdict v;

	if (!r) {
		note_refusal(st, engine->name, st->report.why);
		return NULL;
	}
	routes_check(r, job->threads, &v);
	if (!fault_of(&v) || minhop_is_no_better(job, &v))
		return r;
	snprintf(why, sizeof(why), "its tables %s and are refused (%s)", fault_of(&v),
		 route_verdict_str(&v, text));
	note_refusal(st, engine->name, why);
	snprintf(st->report.why, sizeof(st->report.why), "%s: its tables %s", engine->name,
		 fault_of(&v));
	routes_unref(r);
	return NULL;
}

/* ---- the list -------------------------------------------------------------------------------- */

static struct routes *run_engine(struct route_job_state *st, const struct route_engine *engine,
				 const struct route_job *job)
{
	if (engine->compute_with)
		return run_external(st, engine, job);
	return engine->compute(job, st->report.why, sizeof(st->report.why));
}

static struct routes *compute(struct route_job_state *st, const struct route_job *job)
{
	const char *list = st->conf->routing_engine ? st->conf->routing_engine : "";
	bool fallback = true;
	char name[64];

	st->report.refused[0] = '\0';
	while (next_name(&list, name, sizeof(name))) {
		const struct route_engine *engine = route_engine_find_in(st->engines, name);
		struct routes *r;

		if (!strcmp(name, "no_fallback"))
			fallback = false;
		if (!engine)
			continue;
		r = run_engine(st, engine, job);
		if (r)
			return r;
	}
	if (!fallback) {
		if (!st->report.why[0])
			snprintf(st->report.why, sizeof(st->report.why),
				 "routing_engine has no_fallback and names no engine that is "
				 "supported");
		return NULL;
	}
	return route_engine_find("minhop")->compute(job, st->report.why, sizeof(st->report.why));
}

/* Sets `verdict` anew if routes from scratch take the place of those built on adopted tables. */
static void weigh(struct route_job_state *st, struct route_job *job, struct route_verdict *verdict)
{
	struct route_verdict fresh;
	struct routes *r;

	job->previous = NULL;
	r = compute(st, job);
	if (!r)
		return;
	routes_check(r, job->threads, &fresh);
	if (fresh.unreachable > verdict->unreachable ||
	    verdict->max_load <= CLEARLY_WORSE * fresh.max_load) {
		snprintf(st->report.note, sizeof(st->report.note),
			 "tables found in the switches are kept where they are right (load %u, "
			 "from scratch %u)",
			 verdict->max_load, fresh.max_load);
		routes_unref(r);
		return;
	}
	snprintf(st->report.note, sizeof(st->report.note),
		 "tables found in the switches load a channel with %u, from scratch with %u: they "
		 "are replaced",
		 verdict->max_load, fresh.max_load);
	routes_unref(st->result);
	st->result = r;
	*verdict = fresh;
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

static void run(struct sm_job *base)
{
	struct route_job_state *st = (struct route_job_state *)base;
	struct route_job job = {
		.topo = st->topo,
		.previous = st->fresh ? NULL : st->previous,
		.options = route_lists_options(st->conf, st->files),
		.cancelled = &base->orphan,
	};
	const struct route_engine *engine;
	struct route_verdict verdict;

	job.threads = (uint64_t)st->topo->n_switches * st->topo->max_lid < ONE_THREAD;
	st->result = compute(st, &job);
	if (!st->result)
		return;
	routes_check(st->result, job.threads, &verdict);
	engine = route_engine_find_in(st->engines, st->result->engine);
	/* Tables of an engine from outside are its own affair. */
	if (engine->compute && st->weigh && !st->fresh)
		weigh(st, &job, &verdict);
	else if (engine->compute)
		balance(st, &job, &verdict);
	if (st->held || st->previous)
		st->report.transition =
			transition_find(st->held ? st->held : st->previous, st->result);
	route_verdict_str(&verdict, st->report.verdict);
	st->report.unreachable = verdict.unreachable;
	st->report.bad = verdict.unreachable || verdict.looping;
}

static void done(struct sm_job *base)
{
	struct route_job_state *st = (struct route_job_state *)base;

	if (base->orphan)
		routes_unref(st->result);
	else
		st->done(st->owner, st->result, &st->report);
	transition_free(st->report.transition);
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
