// SPDX-License-Identifier: BSD-2-Clause
/*
 * The routing job: route/choose runs the engines of the list, and compares the result with the
 * tables of switches. If an engine dies, this file decides which one is next, and with which input.
 */
#include "sm/routing/route_job.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "sm/routing/route_memory.h"
#include "sm/routing/route_runner.h"
#include "sm/routing/route_task.h"
#include "util/mem.h"
#include "route/select/engines.h"
#include "util/str.h"

struct route_job_state {
	struct sm_job base;
	struct route_task task;
	struct routes *result, *patched;
	const struct route_runner *runner;
	uint64_t follows;
	unsigned limit_ms; /* time limit of one attempt; 0: by `runs` */
	struct route_runs runs;
	bool fresh_wanted;
	unsigned n_unbegun; /* number of deaths before any engine had begun */
	void (*done)(void *owner, struct routes *routes, struct route_report *report);
	void *owner;
	struct route_report report;
};

/* Memory for a computation beyond that of the manager: a minimum, and a multiple of all tables. */
#define MEMORY_LEAST  (UINT64_C(1) << 30)
#define MEMORY_TABLES 16

/* ---- deaths --------------------------------------------------------------------------------- */

static const char *signal_word(int number, char ret[16])
{
	static const struct {
		int number;
		const char *word;
	} words[] = {
		{ SIGSEGV, "SIGSEGV" }, { SIGABRT, "SIGABRT" }, { SIGBUS, "SIGBUS" },
		{ SIGFPE, "SIGFPE" },	{ SIGILL, "SIGILL" },	{ SIGKILL, "SIGKILL" },
		{ SIGSYS, "SIGSYS" },	{ SIGTRAP, "SIGTRAP" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].number == number)
			return words[i].word;
	snprintf(ret, 16, "signal %d", number);
	return ret;
}

static void describe_death(const struct run_result *r, bool is_garbage, struct route_death *d)
{
	double seconds = r->ms / 1000.0;
	char number[16];
	const char *word = r->end == RUN_SIGNALLED ? signal_word(r->number, number) : "";

	if (is_garbage) {
		snprintf(d->cause, sizeof(d->cause), "garbage");
		snprintf(d->how, sizeof(d->how),
			 "it returned invalid tables after %.1f s", seconds);
	} else if (r->end == RUN_SIGNALLED) {
		snprintf(d->cause, sizeof(d->cause), "%s", word);
		snprintf(d->how, sizeof(d->how), "it died of %s after %.1f s%s", word, seconds,
			 r->number == SIGKILL ? " (out of memory?)" : "");
	} else if (r->end == RUN_EXITED) {
		snprintf(d->cause, sizeof(d->cause), "exit");
		snprintf(d->how, sizeof(d->how), "it called exit(%d) after %.1f s", r->number,
			 seconds);
	} else {
		snprintf(d->cause, sizeof(d->cause), "deadline");
		snprintf(d->how, sizeof(d->how), "it had no result after %.1f s and was ended",
			 seconds);
	}
}

static void skip_engine(struct route_task *t, const char *engine, const char *how)
{
	struct route_skip *skip = &t->skip[t->n_skip++];

	snprintf(skip->engine, sizeof(skip->engine), "%s", engine);
	snprintf(skip->why, sizeof(skip->why), "%s", how);
}

/*
 * After a death before any engine had begun, or with its name erased: tries again a few times, then
 * without the first engine, in this job only.
 */
static bool try_unbegun(struct route_job_state *st, const struct route_death *d)
{
	const struct route_engine *first = route_task_first(&st->task);

	if (++st->n_unbegun < ROUTE_DEATHS_UNBEGUN)
		return true;
	if (!first || st->task.n_skip == ROUTE_SKIPS)
		return false;
	skip_engine(&st->task, first->name, d->how);
	return true;
}

/* Prepares the next attempt after a death; false: there is none. */
static bool try_next(struct route_job_state *st, const struct route_death *d)
{
	const struct route_engine *engine = route_engine_find_in(st->task.engines, d->engine);
	struct route_task *t = &st->task;

	st->follows = 0;
	/* A computation for a quiet time need not succeed. */
	if (t->quiet || st->report.n_deaths == ROUTE_DEATHS)
		return false;
	if (!d->engine[0])
		return try_unbegun(st, d);
	if (!engine || t->n_skip == ROUTE_SKIPS)
		return false;
	if (d->had_tables) {
		t->fresh = true;
		return true;
	}
	skip_engine(t, d->engine, d->how);
	/* If nothing has changed, the tables in force stay, and no engine runs. */
	if (t->previous && t->previous->judged && !st->fresh_wanted &&
	    topo_is_same(t->previous->topo, t->topo))
		t->fresh = false;
	return true;
}

static bool is_skipped(const struct route_task *t, const char *engine)
{
	for (unsigned i = 0; i < t->n_skip; i++)
		if (!strcmp(t->skip[i].engine, engine))
			return true;
	return false;
}

/*
 * The engine that was running when the child died. The child may have written anything as its name;
 * if the name is unknown, the first engine of the list is meant.
 */
static const struct route_engine *blame_engine(const struct route_task *t,
					       const struct route_progress *p,
					       struct route_death *d)
{
	const struct route_engine *engine, *first = route_task_first(t);

	str_printable(p->engine, sizeof(p->engine), d->engine, sizeof(d->engine));
	str_printable(p->inner, sizeof(p->inner), d->inner, sizeof(d->inner));
	engine = route_engine_find_in(t->engines, d->engine);
	if (p->engine[0] && (!engine || is_skipped(t, d->engine))) {
		snprintf(d->engine, sizeof(d->engine), "%s", first ? first->name : "?");
		d->inner[0] = '\0';
		engine = first;
	}
	if (!strcmp(d->inner, d->engine))
		d->inner[0] = '\0';
	return engine;
}

static bool note_death(struct route_job_state *st, const struct run_result *r, bool is_garbage)
{
	struct route_death *d = &st->report.deaths[st->report.n_deaths++];
	const struct route_engine *engine;

	*d = (struct route_death){ 0 };
	engine = blame_engine(&st->task, &r->progress, d);
	/* Plugins get no former tables, so a second attempt would be the same. */
	d->had_tables = st->task.previous && !st->task.fresh && engine && engine->compute;
	d->quiet = st->task.quiet;
	describe_death(r, is_garbage, d);
	d->last = !try_next(st, d);
	return !d->last;
}

/* ---- attempts ------------------------------------------------------------------------------- */

/*
 * Runs in this process, on one thread where children are forked: a fork has no other, and OpenMP
 * would wait for them.
 */
static void run_here(struct route_job_state *st)
{
	struct route_report report;

	st->task.cancelled = &st->base.orphan;
	st->task.one_thread = st->runner != NULL;
	st->result = route_task_run(&st->task, &report);
	memcpy(report.deaths, st->report.deaths, sizeof(report.deaths));
	report.n_deaths = st->report.n_deaths;
	report.asleep = st->report.asleep;
	report.no_child = st->report.no_child;
	st->report = report;
}

/* Do the tables stay without any engine, as they were judged on this very fabric? */
static bool are_same_again(const struct route_task *t)
{
	const struct route_engine *engine =
		t->previous ? route_engine_find_in(t->engines, t->previous->engine) : NULL;

	return engine && engine->compute && t->previous->judged && !t->fresh && !t->quiet &&
	       topo_is_same(t->previous->topo, t->topo);
}

/*
 * Called if there can be no process. An engine that hangs or crashes would take the manager along,
 * so none runs here while there are tables of ours; a fabric without tables gets them all the same.
 */
static void do_without_child(struct route_job_state *st, int error)
{
	const struct route_task *t = &st->task;

	st->report.no_child = error;
	if (!t->previous || t->weigh || are_same_again(t))
		run_here(st);
	else
		snprintf(st->report.why, sizeof(st->report.why),
			 "no process can be started for routing (%s)", strerror(error));
}

/* Will the engine compute from scratch, which takes longer than small changes? */
static bool from_scratch(const struct route_task *t)
{
	return !t->previous || t->fresh || t->weigh || t->quiet;
}

static unsigned limit_of(const struct route_job_state *st)
{
	const struct route_task *t = &st->task;
	const struct route_engine *first = route_task_first(t);

	return st->limit_ms ? st->limit_ms
			    : route_limit_ms(&st->runs, t->topo, first ? first->name : "",
					     from_scratch(t), route_task_is_slow(t));
}

/* Takes the report of the result, and adds the deaths known here. */
static void take_report(struct route_job_state *st, const struct run_result *r,
			struct route_report *report)
{
	const struct route_engine *first = route_task_first(&st->task);

	memcpy(report->deaths, st->report.deaths, sizeof(report->deaths));
	report->n_deaths = st->report.n_deaths;
	report->asleep = st->report.asleep;
	report->serial = r->serial;
	report->ms = r->ms;
	/* for a quiet time perhaps no engine runs */
	report->fresh = from_scratch(&st->task) && !st->task.quiet;
	if (first)
		snprintf(report->first, sizeof(report->first), "%s", first->name);
	st->report = *report;
}

/* Runs one attempt. True: it succeeded, or was the last. */
static bool try_engine(struct route_job_state *st)
{
	const struct topo *t = st->task.topo;
	uint64_t row = ((uint64_t)t->max_lid + LFT_BLOCK_LIDS) + t->n_switches;
	const int files[] = { routes_fd(st->task.previous), routes_fd(st->task.held) };
	struct pack more = { 0 };
	struct run_order order = {
		.work = route_task_work,
		.rest = route_task_rest,
		.self = &st->task,
		.follows = st->follows,
		.more = &more,
		.limit_ms = limit_of(st),
		.memory = MEMORY_LEAST + MEMORY_TABLES * t->n_switches * row,
		.files = files,
		.n_files = ARRAY_SIZE(files),
		.cancelled = &st->base.orphan,
	};
	struct run_result r = { 0 };
	struct route_report report;
	bool good = false;

	if (st->follows)
		route_task_pack(&st->task, &more);
	st->runner->run(st->runner->arg, &order, &r);
	free(more.bytes);
	st->report.asleep |= r.asleep;
	if (r.end == RUN_IMPOSSIBLE) {
		do_without_child(st, r.number);
		return true;
	}
	if (r.end == RUN_DONE) {
		good = route_task_unpack(&st->task, &r.bytes, &st->result, &report);
		st->runner->release(st->runner->arg, good);
	}
	if (good)
		take_report(st, &r, &report);
	return good || r.end == RUN_CANCELLED || !note_death(st, &r, r.end == RUN_DONE);
}

/* Engines know nothing of patches; the way to the new tables begins with them. */
static void begin_with_patched(struct route_job_state *st)
{
	if (!st->patched || !st->result)
		return;
	transition_free(st->report.transition);
	st->report.transition = transition_find(st->patched, st->result);
}

static void job_run(struct sm_job *base)
{
	struct route_job_state *st = (struct route_job_state *)base;

	if (!st->runner) {
		run_here(st);
		begin_with_patched(st);
		return;
	}
	/* Each failed attempt is a death, of which there are ROUTE_DEATHS at most. */
	snprintf(st->report.why, sizeof(st->report.why), "every computation died");
	while (!base->orphan && !try_engine(st))
		base->turn++;
	begin_with_patched(st);
}

static void job_done(struct sm_job *base)
{
	struct route_job_state *st = (struct route_job_state *)base;

	st->report.topo = st->task.topo;
	st->report.previous = st->task.previous;
	st->report.conf = st->task.conf;
	st->report.files = st->task.files;
	if (base->orphan)
		routes_unref(st->result);
	else
		st->done(st->owner, st->result, &st->report);
	transition_free(st->report.transition);
	cdg_free(st->report.depends);
	routes_unref(st->patched);
	route_task_clear(&st->task);
	free(st);
}

struct sm_job *route_job_new(const struct route_order *order)
{
	struct route_job_state *st = xcalloc(1, sizeof(*st));
	struct route_task *t = &st->task;

	assert(order->topo && order->conf && order->done);
	assert(!order->quiet || order->previous);
	st->base = (struct sm_job){ .run = job_run, .done = job_done, .what = "routing" };
	t->topo = topo_ref(order->topo);
	t->previous = order->previous ? routes_ref(order->previous) : NULL;
	t->held = order->held ? routes_ref(order->held) : NULL;
	st->patched = order->patched ? routes_ref(order->patched) : NULL;
	t->conf = conf_ref(order->conf);
	t->files = conf_files_ref(order->files);
	t->weigh = order->weigh;
	t->fresh = order->fresh;
	t->quiet = order->quiet;
	st->fresh_wanted = order->fresh && !order->again;
	t->engines = order->engines;
	st->done = order->done;
	st->owner = order->owner;
	st->runner = order->runner;
	st->limit_ms = order->limit_ms;
	if (!order->memory)
		return &st->base;
	route_memory_apply(order->memory, t, order->now);
	st->follows = route_memory_follows(order->memory, t);
	st->runs = route_memory_runs(order->memory);
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

	job->base = (struct sm_job){ .run = run_settle,
				     .done = settle_done,
				     .what = "settling tables" };
	job->routes = routes_ref(routes);
	return &job->base;
}
