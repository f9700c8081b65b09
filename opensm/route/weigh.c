// SPDX-License-Identifier: BSD-2-Clause
/*
 * Former tables against new ones. The one measure for all: bounds below, by which what grew out of many changes is
 * replaced while there is a manager, and by which the next one judges what it finds. Were they not the same, a new
 * process would move what the old one was content with.
 */
#include "route/weigh.h"

#include <stdio.h>
#include <string.h>

#include "route/cancel.h"
#include "route/reroute.h"
#include "route/stand.h"
#include "util/mem.h"

/* Former tables go when their most loaded channel carries this much more than need be, or their ways are that longer. */
#define CLEARLY_WORSE  1.5
#define CLEARLY_LONGER 1.1
/* Where paths have service levels: who has asked for one keeps it, so others cost more. */
#define MUCH_WORSE 2.0
/* Switches times LIDs up to which tables that grew are compared with those from scratch at every change. */
#define SMALL (4u << 20)

struct weighing {
	const struct route_chain *chain;
	const struct route_job *job;
	struct weighed *ret;
};

static double bound_of(const struct routes *r)
{
	bool by_path = r->lanes && r->lanes->by != LANES_BY_NOTHING;

	return by_path || routes_are_by(r, "dfsssp") || routes_are_by(r, "lash") || routes_are_by(r, "nue")
		       ? MUCH_WORSE
		       : CLEARLY_WORSE;
}

static bool is_clearly_worse(const struct routes *r, const struct route_verdict *kept, const struct route_verdict *fresh)
{
	if (fresh->unreachable != kept->unreachable)
		return fresh->unreachable < kept->unreachable;
	if (fresh->switch_unreachable < kept->switch_unreachable)
		return true;
	return kept->max_load > bound_of(r) * fresh->max_load || kept->avg_hops > CLEARLY_LONGER * fresh->avg_hops;
}

/* Ways are as short as can be, so no tables have a channel that carries less than the mean of these. */
static bool is_surely_fair(const struct routes *r, const struct route_verdict *v)
{
	return v->minimal && !v->unreachable && !v->switch_unreachable && v->max_load <= bound_of(r) * v->avg_load;
}

static const struct route_engine *engine_of(const struct weighing *w, const struct routes *r)
{
	return route_engine_find_in(w->chain->more, r->engine);
}

/* Sets `choice` anew if balance moved something. */
static struct routes *balanced(const struct weighing *w, const struct route_job *job, struct routes *r)
{
	struct weighed *ret = w->ret;
	struct reroute_report report = { .verdict = ret->choice.verdict };

	r = reroute_balance(engine_of(w, r), job, r, &report);
	if (report.n_entries || report.n_lids)
		snprintf(ret->note, sizeof(ret->note),
			 "a channel would carry %u, with routes from scratch %u: %u entries move and %u LIDs are "
			 "routed anew, now it is %u",
			 ret->choice.verdict.max_load, report.load_fresh, report.n_entries, report.n_lids,
			 report.verdict.max_load);
	ret->choice.verdict = report.verdict;
	return r;
}

/* `previous` NULL: from scratch. */
static struct routes *computed(const struct weighing *w, const struct routes *previous, bool balance)
{
	struct route_job job = *w->job;
	struct routes *r;

	job.previous = previous;
	r = route_choose(w->chain, &job, &w->ret->choice);
	return r && balance ? balanced(w, &job, r) : r;
}

/* ---- our own ------------------------------------------------------------------------------- */

static struct routes *grown(const struct weighing *w)
{
	const struct topo *t = w->job->topo;
	struct routes *r = computed(w, w->job->previous, true), *fresh;
	const struct route_verdict *kept = &w->ret->choice.verdict;
	struct weighed anew = { .note = "" };

	if (!r || engine_of(w, r)->exact || w->ret->choice.unsafe || is_surely_fair(r, kept) ||
	    (uint64_t)t->n_switches * t->max_lid > SMALL)
		return r;
	fresh = computed(&(struct weighing){ .chain = w->chain, .job = w->job, .ret = &anew }, NULL, true);
	if (!fresh || !is_clearly_worse(r, kept, &anew.choice.verdict)) {
		routes_unref(fresh);
		return r;
	}
	snprintf(anew.note, sizeof(anew.note),
		 "what stayed would load a channel with %u, from scratch with %u: everything is routed anew",
		 kept->max_load, anew.choice.verdict.max_load);
	routes_unref(r);
	*w->ret = anew;
	return fresh;
}

/* Nothing is different since. */
static bool is_as_before(const struct weighing *w)
{
	const struct routes *r = w->job->previous;
	const struct route_engine *engine = engine_of(w, r);

	return r->judged && engine && engine->compute && topo_is_same(r->topo, w->job->topo);
}

static struct routes *as_before(const struct weighing *w)
{
	const struct routes *r = w->job->previous;

	w->ret->choice.verdict = *r->judged;
	w->ret->choice.unsafe = route_fault(r->judged) != NULL;
	return routes_ref(r);
}

/* ---- found --------------------------------------------------------------------------------- */

static bool is_good_enough(const struct routes *r, const struct route_verdict *v, const void *fresh)
{
	return !is_clearly_worse(r, v, fresh);
}

/* The found entries in tables that hold and are not clearly worse than `fresh`; NULL: there are none. */
static struct routes *standing(const struct weighing *w, const struct routes *base, const struct route_verdict *fresh,
			       bool whole)
{
	struct route_verdict v;
	struct routes *r = stand(&(struct stand_job){
		.job = w->job, .found = w->job->previous, .base = base, .whole = whole,
		.unsafe = w->ret->choice.unsafe, .accepts = is_good_enough, .arg = fresh,
	}, &v);

	if (r)
		w->ret->choice.verdict = v;
	return r;
}

static void say_kept(struct weighed *ret, const char *what, const struct route_verdict *fresh)
{
	snprintf(ret->note, sizeof(ret->note), "tables found in the switches are kept %s (load %u, from scratch %u)",
		 what, ret->choice.verdict.max_load, fresh->max_load);
}

/* Takes `fresh`. */
static struct routes *mended(const struct weighing *w, struct routes *fresh, const struct weighed *anew)
{
	const struct route_verdict *least = &anew->choice.verdict;
	struct routes *r = computed(w, w->job->previous, false), *more;

	if (r && !engine_of(w, r)->exact) {
		more = standing(w, r, least, false);
		if (more) {
			routes_unref(r);
			r = more;
		}
	}
	if (r && !is_clearly_worse(r, &w->ret->choice.verdict, least)) {
		say_kept(w->ret, "where they are right", least);
		routes_unref(fresh);
		return r;
	}
	*w->ret = *anew;
	if (r)
		snprintf(w->ret->note, sizeof(w->ret->note),
			 "tables found in the switches are clearly worse than from scratch: they are replaced");
	routes_unref(r);
	return fresh;
}

static struct routes *found(const struct weighing *w)
{
	struct routes *fresh = computed(w, NULL, true), *r = NULL;
	struct weighed anew = *w->ret;

	if (fresh && !engine_of(w, fresh)->compute)
		return fresh; /* tables of an engine from outside are its own affair */
	if (fresh && !engine_of(w, fresh)->exact)
		r = standing(w, fresh, &anew.choice.verdict, true);
	if (r) {
		say_kept(w->ret, "as they are", &anew.choice.verdict);
		routes_unref(fresh);
		return r;
	}
	return fresh ? mended(w, fresh, &anew) : NULL;
}

struct routes *route_weigh(const struct route_chain *chain, const struct route_job *job, bool is_found,
			   struct weighed *ret)
{
	const struct weighing w = { .chain = chain, .job = job, .ret = ret };
	struct routes *r;

	*ret = (struct weighed){ .note = "" };
	if (job->previous && !is_found && is_as_before(&w))
		return as_before(&w);
	r = !job->previous ? computed(&w, NULL, true) : is_found ? found(&w) : grown(&w);
	if (r && is_cancelled(job->cancelled))
		return r;
	if (r) {
		free(r->judged);
		r->judged = xmemdup(&ret->choice.verdict, sizeof(ret->choice.verdict));
	}
	return r;
}
