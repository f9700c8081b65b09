// SPDX-License-Identifier: BSD-2-Clause
/*
 * The computation of a routing job, with input and result as bytes. A child keeps its result as
 * `previous` of its next task, so the state of the check (struct route_proof) is neither
 * transferred nor computed again.
 */
#include "sm/routing/route_task.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "plan/route_lists.h"
#include "route/io/routes_pack.h"
#include "route/select/keep_tables.h"
#include "topo/topo_pack.h"
#include "util/mem.h"

/* Size of tables, in bytes, below which a second thread costs more than it saves. */
#define ONE_THREAD (4u << 20)

/* ---- computing ------------------------------------------------------------------------------ */

static void fill_report(const struct keep_report *kept, const struct routes *result,
			struct route_report *report)
{
	const struct route_choice *choice = &kept->choice;

	snprintf(report->note, sizeof(report->note), "%s", kept->note);
	snprintf(report->why, sizeof(report->why), "%s", choice->why);
	snprintf(report->refused, sizeof(report->refused), "%s", choice->refused);
	if (!result)
		return;
	route_verdict_str(&choice->verdict, report->verdict);
	report->unreachable = choice->verdict.unreachable;
	report->bad = choice->verdict.unreachable || choice->verdict.looping;
	report->fault = route_fault(&choice->verdict);
}

/*
 * The dependency graph of former routes that stay: multicast is planned beside it. NULL: they are
 * not proven.
 */
static struct cdg *graph_of_old(const struct route_task *t, unsigned threads)
{
	struct cdg *g;

	if (!t->previous || t->weigh || t->conf->disable_multicast)
		return NULL;
	g = cdg_of(t->previous, threads);
	if (cdg_is_acyclic(g))
		return g;
	cdg_free(g);
	return NULL;
}

static struct route_chain chain_of(const struct route_task *t)
{
	return (struct route_chain){
		.list = t->conf->routing_engine,
		.more = t->engines,
		.allow_unsafe = t->conf->allow_unsafe_routes,
		.skip = t->skip,
		.n_skip = t->n_skip,
	};
}

const struct route_engine *route_task_first(const struct route_task *t)
{
	const struct route_chain chain = chain_of(t);

	return route_chain_first(&chain);
}

bool route_task_is_slow(const struct route_task *t)
{
	const struct route_chain chain = chain_of(t);

	return route_chain_is_slow(&chain);
}

struct routes *route_task_run(struct route_task *t, struct route_report *ret)
{
	struct route_job job = {
		.topo = t->topo,
		.previous = t->fresh ? NULL : t->previous,
		.options = route_lists_options(t->conf, t->files),
		.cancelled = t->cancelled,
		.progress = t->progress,
	};
	const struct route_chain chain = chain_of(t);
	struct keep_report kept;
	struct routes *r;

	assert(t->topo && t->conf);
	*ret = (struct route_report){ 0 };
	job.threads = t->one_thread ||
		      (uint64_t)t->topo->n_switches * t->topo->max_lid < ONE_THREAD;
	r = t->quiet ? keep_tables_balanced(&chain, &job, &kept)
		     : keep_tables(&chain, &job, t->weigh && !t->fresh, &kept);
	fill_report(&kept, r, ret);
	if (!r) {
		ret->depends = graph_of_old(t, job.threads);
		return NULL;
	}
	if (t->held || t->previous)
		ret->transition = transition_find(t->held ? t->held : t->previous, r);
	if (!ret->fault && !t->conf->disable_multicast)
		ret->depends = cdg_of(r, job.threads);
	return r;
}

void route_task_clear(struct route_task *t)
{
	topo_unref(t->topo);
	routes_unref(t->previous);
	routes_unref(t->held);
	conf_unref(t->conf);
	conf_files_unref(t->files);
	*t = (struct route_task){ 0 };
}

/* ---- the report as bytes -------------------------------------------------------------------- */

struct report_head {
	uint8_t has_routes, bad, has_depends; /* bools as bytes, which may have any value here */
	uint32_t fault; /* 0: none; else the row of faults[], counted from 1 */
	uint64_t unreachable;
	char why[sizeof(((struct route_report *)0)->why)];
	char refused[sizeof(((struct route_report *)0)->refused)];
	char verdict[ROUTE_VERDICT_STRLEN];
	char note[sizeof(((struct route_report *)0)->note)];
};

/* A verdict for each kind of fault, so that route_fault() gives its words. */
static const struct route_verdict faults[] = { { .looping = 1 },
					       { .lost = 1 },
					       { .credit_loop = true } };

static uint32_t fault_number(const char *fault)
{
	for (uint32_t i = 0; fault && i < ARRAY_SIZE(faults); i++)
		if (!strcmp(route_fault(&faults[i]), fault))
			return i + 1;
	return 0;
}

static void pack_report(const struct routes *r, const struct route_report *report, struct pack *p)
{
	struct report_head head;

	memset(&head, 0, sizeof(head));
	head.has_routes = r != NULL;
	head.bad = report->bad;
	head.has_depends = report->depends != NULL;
	head.fault = fault_number(report->fault);
	head.unreachable = report->unreachable;
	snprintf(head.why, sizeof(head.why), "%s", report->why);
	snprintf(head.refused, sizeof(head.refused), "%s", report->refused);
	snprintf(head.verdict, sizeof(head.verdict), "%s", report->verdict);
	snprintf(head.note, sizeof(head.note), "%s", report->note);
	pack_value(p, head);
}

static void take_text(char *to, const char *from, size_t cap)
{
	snprintf(to, cap, "%.*s", (int)cap - 1, from);
}

/* Reads a report. False: its head is invalid. */
static bool unpack_report(struct unpack *u, struct route_report *ret, bool *ret_has_routes)
{
	struct report_head head;

	unpack_value(u, head);
	if (u->bad || head.fault > ARRAY_SIZE(faults))
		return false;
	*ret_has_routes = head.has_routes;
	ret->bad = head.bad;
	ret->fault = head.fault ? route_fault(&faults[head.fault - 1]) : NULL;
	ret->unreachable = head.unreachable;
	take_text(ret->why, head.why, sizeof(ret->why));
	take_text(ret->refused, head.refused, sizeof(ret->refused));
	take_text(ret->verdict, head.verdict, sizeof(ret->verdict));
	take_text(ret->note, head.note, sizeof(ret->note));
	return true;
}

/* ---- in the child --------------------------------------------------------------------------- */

/* The former topology, which both sides have: the child keeps its result as `previous`. */
static const struct topo *topo_before(const struct route_task *t)
{
	return t->previous ? t->previous->topo : NULL;
}

void route_task_pack(const struct route_task *t, struct pack *ret)
{
	uint32_t n = t->n_skip;

	topo_pack(t->topo, topo_before(t), ret);
	pack_value(ret, t->quiet);
	pack_value(ret, n);
	pack_bytes(ret, t->skip, n * sizeof(*t->skip));
}

/* Changes the task by `more`; the last result is its `previous` already. */
static bool update_task(struct route_task *t, struct unpack *more)
{
	struct topo *topo = topo_unpack(more, topo_before(t));
	bool quiet;
	uint32_t n;

	unpack_value(more, quiet);
	unpack_value(more, n);
	if (!topo || more->bad || n > ROUTE_SKIPS) {
		topo_unref(topo);
		return false;
	}
	topo_unref(t->topo);
	t->topo = topo;
	t->n_skip = n;
	unpack_bytes(more, t->skip, n * sizeof(*t->skip));
	t->held = routes_unref(t->held);
	t->weigh = t->fresh = false;
	t->quiet = quiet && t->previous;
	return !more->bad;
}

void route_task_work(void *self, struct unpack *more, struct route_progress *progress,
		     struct pack *ret)
{
	struct route_task *t = self;
	struct route_report report;
	struct routes *r;

	if (more && !update_task(t, more))
		return; /* without a result the attempt has failed */
	if (!more) {
		routes_guard(t->previous);
		routes_guard(t->held);
	}
	t->cancelled = NULL; /* a job is cancelled by ending the process */
	t->progress = progress;
	r = route_task_run(t, &report);
	pack_report(r, &report, ret);
	if (r)
		routes_pack(r, t->previous, ret);
	transition_pack(report.transition, r, ret);
	cdg_pack(report.depends, ret);
	transition_free(report.transition);
	cdg_free(report.depends);
	if (!r)
		return;
	routes_unref(t->previous);
	t->previous = r;
}

void route_task_rest(void *self)
{
	const struct route_task *t = self;

	if (t->previous)
		routes_settle(t->previous);
}

bool route_task_unpack(const struct route_task *t, struct unpack *u, struct routes **ret,
		       struct route_report *report)
{
	_cleanup_(routes_unrefp) struct routes *r = NULL;
	bool has_routes;

	*report = (struct route_report){ 0 };
	if (!unpack_report(u, report, &has_routes))
		return false;
	if (has_routes)
		r = routes_unpack(u, t->topo, t->previous);
	if (!u->bad)
		report->transition = transition_unpack(u, r);
	if (!u->bad)
		report->depends = cdg_unpack(u, r ? r : t->previous);
	if (!u->bad && !has_routes == !r && !u->left) {
		*ret = take(r);
		return true;
	}
	report->transition = transition_free(report->transition);
	report->depends = cdg_free(report->depends);
	return false;
}
