// SPDX-License-Identifier: BSD-2-Clause
/*
 * A change moves as few entries as it can, and every one of many leaves the most loaded channel
 * with a little more than a fresh start would. So when tables have not changed for a minute, they
 * are compared with those of a fresh start, and moved there if that is worth it
 * (keep_tables_balanced()): once, and again only after they were changed by something else. A
 * switch that came back gets most of its share then. Where changes never end, they are compared
 * five minutes after the first that it is owed for, in between the others. A manager that begins
 * with tables found in switches owes it for those: the one before it may have.
 *
 *   tables change --> WAITING --a minute--> COMPARED (job) --better--> taken by a rerouting sweep
 *   --> nothing to do
 *                        ^                      |  \--as good--> nothing to do
 *                        \--a sweep that writes-/
 *
 * The job is in no sweep: one that has to write something ends it. Where a sweep began before its
 * result was taken, and changed nothing, it is made anew a second later.
 */
#include "sm/routing/quiet.h"

#include <assert.h>

#include "sm/sm_internal.h"
#include "sm/base/news.h"
#include "util/mem.h"

#define QUIET  (60 * MONO_S)
#define LATEST (5 * 60 * MONO_S)
#define AGAIN  MONO_S /* pause after another change if the comparison is late */

struct quiet {
	mono_t at;	/* time of the comparison; MONO_NEVER: none is due */
	mono_t since;	/* time of the first change since the last comparison; MONO_NEVER: none */
	mono_t started; /* start of the last comparison */
	struct sm_job *job;	    /* comparing job; NULL: none is running */
	struct routes *result;	    /* better routes than those in force; NULL: none */
	struct route_report report; /* report on `result` */
};
MACHINE_MEMORY_WITH(quiet, .at = MONO_NEVER, .since = MONO_NEVER);

/* Makes a comparison due. Each change delays it, until it is late. */
static void owe(struct sm *sm)
{
	struct quiet *q = sm->m.quiet;

	q->since = mono_min(q->since, sm->now);
	q->at = mono_min(sm->now + QUIET, MAX(q->since + LATEST, mono_min(q->at, sm->now + AGAIN)));
}

static void drop_result(struct quiet *q)
{
	q->result = routes_unref(q->result);
	q->report.transition = transition_free(q->report.transition);
	cdg_free(q->report.depends);
	q->report.depends = NULL;
}

void quiet_free(struct sm *sm)
{
	drop_result(sm->m.quiet);
}

void quiet_changed(struct sm *sm, const struct routes *now, bool found)
{
	const struct routes *before = sm_routes(sm);

	if (before ? before == now : !found)
		return;
	if (before && before->topo->n_switches == now->topo->n_switches &&
	    before->row_size == now->row_size && routes_are_same(before, now))
		return;
	owe(sm);
}

void quiet_interrupted(struct sm *sm)
{
	struct quiet *q = sm->m.quiet;

	if (q->job) {
		atomic_store(&q->job->orphan, true);
		owe(sm);
	}
	/*
	 * Not a minute later: silent ports are asked every 20 s, so the next comparison would meet
	 * such a sweep, too.
	 */
	if (q->result)
		q->at = sm->now + AGAIN;
	q->job = NULL;
	drop_result(q);
}

static void on_routes(void *owner, struct routes *routes, struct route_report *report)
{
	struct sm *sm = owner;
	struct quiet *q = sm->m.quiet;

	q->job = NULL;
	report->took = sm->now - q->started;
	routing_note_job(sm, routes, report);
	if (!routes || routes == sm_routes(sm)) {
		q->since = MONO_NEVER;
		routes_unref(routes);
		return;
	}
	drop_result(q);
	q->result = routes;
	q->report = *report;
	report->transition = NULL;
	report->depends = NULL;
	tell_news(sm, NEWS_SWEEP_EXPECTED, .text = "a quiet minute");
}

/*
 * May tables be compared? Switches must hold them, and the fabric must be unchanged. Other errors,
 * as a port that stays in INIT, do not matter.
 */
static bool may_compare(const struct sm *sm)
{
	return sm->state == SM_MASTER && sm_routes(sm) && picture_holds(sm) &&
	       !own_port_is_silent(sm->m.own_port) && !sm->sweeping_off && !routing_is_afresh(sm) &&
	       adopt_holds(sm, sm_routes(sm), sm_routes(sm)->topo);
}

void quiet_tick(struct sm *sm)
{
	struct quiet *q = sm->m.quiet;
	struct route_order order = { .quiet = true };

	if (q->job || sm->now < q->at)
		return;
	q->at = MONO_NEVER;
	if (!may_compare(sm)) {
		q->at = sm->now + QUIET;
		return;
	}
	order.topo = sm_routes(sm)->topo;
	order.previous = sm_routes(sm);
	order.conf = sm->conf;
	order.files = sm->files;
	order.engines = sm->hooks.engines;
	order.runner = sm->hooks.runner;
	order.memory = sm->m.route_memory;
	order.now = sm->now;
	order.done = on_routes;
	order.owner = sm;
	q->started = sm->now;
	q->job = route_job_new(&order);
	sm->hooks.submit_job(sm->hooks.arg, q->job);
}

mono_t quiet_next(const struct sm *sm)
{
	return sm->state == SM_MASTER && !sm->m.quiet->job ? sm->m.quiet->at : MONO_NEVER;
}

mono_t sm_comparison_due(const struct sm *sm)
{
	return quiet_next(sm);
}

bool quiet_has_better(const struct sm *sm)
{
	return sm->m.quiet->result;
}

struct routes *quiet_take(struct sm *sm, struct route_report *ret)
{
	struct quiet *q = sm->m.quiet;

	assert(q->result);
	*ret = q->report;
	q->report.transition = NULL;
	q->report.depends = NULL;
	q->since = MONO_NEVER;
	return take(q->result);
}
