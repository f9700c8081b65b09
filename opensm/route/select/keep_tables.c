// SPDX-License-Identifier: BSD-2-Clause
/*
 * Former tables against new ones: computes what keep_policy.h has to compare. The rules are the
 * same for tables that grew and for tables that were found; were they not, a new process would move
 * what the old one was content with.
 */
#include "route/select/keep_tables.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "route/core/aside.h"
#include "route/core/renumber.h"
#include "route/core/unassigned.h"
#include "route/proof/keep_policy.h"
#include "route/select/adopt_found.h"
#include "route/select/engines.h"
#include "route/select/reroute.h"
#include "util/mem.h"

struct keeping {
	const struct route_chain *chain;
	const struct route_job *job;
	struct keep_report *ret;
};

static const struct route_engine *engine_of(const struct keeping *w, const struct routes *r)
{
	return route_engine_find_in(w->chain->more, r->engine);
}

/* Sets `choice` anew if balance moved something. */
static struct routes *balanced(const struct keeping *w, const struct route_job *job,
			       struct routes *r)
{
	struct keep_report *ret = w->ret;
	struct reroute_report report = { .verdict = ret->choice.verdict };

	r = reroute_balance(engine_of(w, r), job, r, &report);
	if (report.n_entries || report.n_lids)
		snprintf(ret->note, sizeof(ret->note),
			 "%u table entries and all routes to %u LIDs are moved: %u paths on the "
			 "busiest link, else %u (all routes new: %u)",
			 report.n_entries, report.n_lids, report.verdict.max_load,
			 ret->choice.verdict.max_load, report.load_fresh);
	ret->choice.verdict = report.verdict;
	return r;
}

/* `previous` NULL: from scratch. */
static struct routes *computed(const struct keeping *w, const struct routes *previous, bool balance)
{
	struct route_job job = *w->job;
	struct routes *r;

	job.previous = previous;
	r = route_choose(w->chain, &job, &w->ret->choice);
	return r && balance ? balanced(w, &job, r) : r;
}

/* ---- our own ------------------------------------------------------------------------------- */

static struct routes *grown(const struct keeping *w)
{
	struct routes *r = computed(w, w->job->previous, true), *fresh;
	const struct route_verdict *kept = &w->ret->choice.verdict;
	struct keep_report anew = { .note = "" };

	if (!r || engine_of(w, r)->exact || w->ret->choice.unsafe ||
	    keep_is_surely_fair(route_engine_load_rule(r), kept) ||
	    keep_is_as_compared(r, w->job->previous, kept) || !keep_may_compare(r->topo))
		return r;
	w->ret->is_compared = anew.is_compared = true;
	fresh = computed(&(struct keeping){ .chain = w->chain, .job = w->job, .ret = &anew }, NULL,
			 true);
	if (!fresh ||
	    !keep_is_clearly_worse(route_engine_load_rule(r), kept, &anew.choice.verdict)) {
		routes_unref(fresh);
		return r;
	}
	snprintf(anew.note, sizeof(anew.note),
		 "all routes are computed anew: %u paths on the busiest link, %u if most stayed",
		 anew.choice.verdict.max_load, kept->max_load);
	routes_unref(r);
	*w->ret = anew;
	return fresh;
}

/* ---- switches that went or came ------------------------------------------------------------ */

/* Switches of `t` that `other` lacks. */
static uint32_t count_lacking(const struct topo *t, const struct topo *other)
{
	_cleanup_free_ uint32_t *match = topo_match_switches(t, other);
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		n += match[s] == TOPO_NONE;
	return n;
}

/* Few switches differ, and the former tables are of the kind that is repaired (repair.c). */
static bool may_number_alike(const struct routes *was, const struct topo *now)
{
	uint32_t gone, came;

	if (!was->hops || !was->options || !was->expected_load || was->lanes || was->master_tree ||
	    !was->judged)
		return false;
	gone = count_lacking(was->topo, now);
	came = count_lacking(now, was->topo);
	return gone + came && gone + came <= KEEP_REPAIR_SWITCHES;
}

/* The same tables, verdict and proof for `t`, with other bare switches. `made`: tables, or NULL. */
static struct routes *renumbered(const struct routes *r, struct routes *made, const struct topo *t,
				 struct route_verdict *v)
{
	struct renumbering m = renumbering_of(r->topo, t);

	if (!made)
		made = routes_renumber(r, &m);
	routes_check_renumber(r, made, &m, v);
	renumbering_done(&m);
	return made;
}

/* Former tables for `then`, with more bare switches: there already if these went a moment ago. */
static struct routes *former_alike(const struct routes *was, const struct topo *then)
{
	struct routes *made = atomic_exchange(&was->cache->alike, NULL), *before;
	struct route_verdict v = *was->judged;

	if (made && (was->topo == then || !topo_is_same(made->topo, then)))
		made = routes_unref(made);
	if (was->topo == then)
		return routes_ref(was);
	before = renumbered(was, made, made ? made->topo : then, &v);
	before->cache->brief = !made;
	free(before->judged);
	before->judged = xmemdup(&v, sizeof(v));
	return before;
}

/* Rows of switches that `t` lacks, as in tables with other numbers: they begin anew. */
static void clear_lacking(struct routes *r, const struct topo *t)
{
	for (uint32_t s = 0; s < r->topo->n_switches; s++) {
		bool lacks = topo_find_switch(t, r->topo->switches[s].guid) == TOPO_NONE;

		for (uint32_t lid = 0; lacks && lid < r->row_size; lid++)
			routes_write(r, s, (lid_t)lid, LFT_NO_PORT);
	}
}

/* Tables for the fabric of the job out of `r`, which it takes. They keep it, for former_alike(). */
static struct routes *without_bare(const struct keeping *w, struct routes *r)
{
	struct routes *ret;

	if (r->topo == w->job->topo)
		return r;
	ret = renumbered(r, NULL, w->job->topo, &w->ret->choice.verdict);
	clear_lacking(r, w->job->topo);
	ret->cache->alike = r;
	return ret;
}

/*
 * As grown(), with the same switches before and now: one that is missing is there without cables.
 * So it is repaired like cables that went or came. NULL: not possible.
 */
static struct routes *grown_alike(const struct keeping *w)
{
	const struct routes *was = w->job->previous;
	_cleanup_(topo_unrefp) struct topo *now = topo_with_bare(w->job->topo, was->topo);
	_cleanup_(topo_unrefp) struct topo *then = topo_with_bare(was->topo, w->job->topo);
	struct routes *before = former_alike(was, then), *r;
	struct route_job job = *w->job;

	job.topo = now;
	job.previous = before;
	r = grown(&(struct keeping){ .chain = w->chain, .job = &job, .ret = w->ret });
	if (r && before != was)
		routes_stand_for(r, before, was);
	routes_unref(before);
	if (r && (w->ret->choice.unsafe || r->lanes || r->master_tree))
		r = routes_unref(r);
	return r ? without_bare(w, r) : NULL;
}

static struct routes *grown_or_alike(const struct keeping *w)
{
	struct routes *r = NULL;

	if (may_number_alike(w->job->previous, w->job->topo))
		r = grown_alike(w);
	if (r || is_cancelled(w->job->cancelled))
		return r;
	*w->ret = (struct keep_report){ .note = "" };
	return grown(w);
}

/* The former tables were judged for the very fabric of the job. */
static bool has_same_fabric(const struct keeping *w)
{
	const struct routes *r = w->job->previous;
	const struct route_engine *engine = engine_of(w, r);

	return r->judged && engine && engine->compute && topo_is_same(r->topo, w->job->topo);
}

static struct routes *as_before(const struct keeping *w)
{
	const struct routes *r = w->job->previous;

	w->ret->choice.verdict = *r->judged;
	w->ret->choice.unsafe = route_fault(r->judged) != NULL;
	return routes_ref(r);
}

/* ---- found --------------------------------------------------------------------------------- */

/* The found entries in tables that hold, not clearly worse than `fresh`; NULL: there are none. */
static struct routes *standing(const struct keeping *w, const struct routes *base,
			       const struct route_verdict *fresh, bool whole)
{
	struct route_verdict v;
	struct routes *r = adopt_found(&(struct adopt_job){
		.job = w->job, .found = w->job->previous, .base = base, .whole = whole,
		.unsafe = w->ret->choice.unsafe, .fresh = fresh,
	}, &v);

	if (r)
		w->ret->choice.verdict = v;
	return r;
}

static void say_kept(struct keep_report *ret, const char *what, const struct route_verdict *fresh)
{
	snprintf(ret->note, sizeof(ret->note),
		 "routes found in the switches are kept %s: %u paths on the busiest link, %u with "
		 "new routes",
		 what, ret->choice.verdict.max_load, fresh->max_load);
}

/* Takes `fresh`. */
static struct routes *mended(const struct keeping *w, struct routes *fresh,
			     const struct keep_report *anew)
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
	if (r &&
	    !keep_is_clearly_worse(route_engine_load_rule(r), &w->ret->choice.verdict, least)) {
		say_kept(w->ret, "where they are right", least);
		routes_unref(fresh);
		return r;
	}
	*w->ret = *anew;
	if (r)
		snprintf(w->ret->note, sizeof(w->ret->note),
			 "routes found in the switches are replaced: new ones are clearly better");
	routes_unref(r);
	return fresh;
}

static struct routes *found(const struct keeping *w)
{
	struct routes *fresh = computed(w, NULL, true), *r = NULL;
	struct keep_report anew = *w->ret;

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

struct routes *keep_tables(const struct route_chain *chain, const struct route_job *job,
			   bool is_found, struct keep_report *ret)
{
	const struct keeping w = { .chain = chain, .job = job, .ret = ret };
	struct routes *r;

	assert(chain && job && job->topo && ret);
	*ret = (struct keep_report){ .note = "" };
	if (job->previous && !is_found && has_same_fabric(&w))
		return as_before(&w);
	r = !job->previous ? computed(&w, NULL, true) : is_found ? found(&w) : grown_or_alike(&w);
	if (r && is_cancelled(job->cancelled))
		return r;
	if (r) {
		free(r->judged);
		r->judged = xmemdup(&ret->choice.verdict, sizeof(ret->choice.verdict));
	}
	if (r && !r->by[0]) { /* else auto says it */
		bool is_as_before = job->previous && !ret->is_compared &&
				    !strcmp(job->previous->engine, r->engine);

		r->compared_load = is_as_before ? job->previous->compared_load
						: ret->choice.verdict.max_load;
	}
	return r;
}

/* ---- in quiet times ------------------------------------------------------------------------ */

static bool may_rebalance(const struct keeping *w)
{
	const struct routes *r = w->job->previous;
	const struct route_engine *engine = engine_of(w, r);

	return has_same_fabric(w) && !engine->exact && !route_fault(r->judged);
}

/* May `fresh` replace tables in a quiet time? */
static bool may_take(const struct routes *was, const struct routes *fresh,
		     const struct route_choice *choice)
{
	return !choice->unsafe && !keep_has_path_levels(fresh) &&
	       choice->verdict.unreachable == was->judged->unreachable;
}

static void take_column(struct routes *r, const struct routes *fresh, lid_t lid)
{
	for (uint32_t s = 0; s < r->topo->n_switches && lid <= r->top; s++)
		if (routes_port(r, s, lid) != routes_port(fresh, s, lid))
			routes_write(r, s, lid, routes_port(fresh, s, lid));
}

/* Of all LIDs that are assigned. */
static void take_all_columns(struct routes *r, const struct routes *fresh)
{
	const struct topo *t = r->topo;

	for (uint32_t s = 0; s < t->n_switches; s++)
		TOPO_EACH_LID(&t->switches[s], lid)
			take_column(r, fresh, (lid_t)lid);
	for (uint32_t h = 0; h < t->n_hosts; h++)
		TOPO_EACH_LID(&t->hosts[h], lid)
			take_column(r, fresh, (lid_t)lid);
	routes_set_aside(r);
	unassigned_open_loops(r);
}

/* What there is to tables besides their rows. */
static void take_making(struct routes *r, struct routes *fresh)
{
	memcpy(r->engine, fresh->engine, sizeof(r->engine));
	memcpy(r->by, fresh->by, sizeof(r->by));
	memcpy(r->note, fresh->note, sizeof(r->note));
	r->compared_load = fresh->compared_load;
	r->options = fresh->options;
	r->expected_load = fresh->expected_load;
	r->balanced_load = fresh->balanced_load;
	r->hops = take(fresh->hops);
	r->places = take(fresh->places);
	r->downs = take(fresh->downs);
	r->lanes = take(fresh->lanes);
	r->master_tree = take(fresh->master_tree);
}

/* May columns of both be in the same tables? */
static bool go_together(const struct routes *a, const struct routes *b)
{
	return !a->lanes && !b->lanes && !strcmp(a->by, b->by) && reroute_is_same_order(a, b) &&
	       a->options == b->options;
}

/*
 * `r`, the tables in force, with as few entries of `fresh` as do; else with all. Judged in w->ret.
 * False: it is as good as it need be.
 */
static bool rebalance(const struct keeping *w, struct routes *r, struct routes *fresh)
{
	struct route_verdict *v = &w->ret->choice.verdict, now;
	uint32_t limit = keep_limit(KEEP_QUIET, v->max_load);
	size_t mark = routes_mark(r);
	bool fits;

	routes_check_after(NULL, r, w->job->threads, &now);
	fits = go_together(w->job->previous, fresh) && reroute_columns(r, fresh, limit);
	if (routes_mark(r) == mark && now.max_load <= limit)
		return false;
	if (fits)
		routes_check_after(NULL, r, w->job->threads, v);
	fits &= !route_fault(v) && v->max_load <= limit;
	if (!fits) {
		routes_rewind(r, mark);
		take_all_columns(r, fresh);
	}
	take_making(r, fresh);
	r->dealt = w->job->previous->dealt && fresh->dealt;
	if (!fits)
		routes_check_after(NULL, r, w->job->threads, v);
	return true;
}

static void say_better(const struct routes *was, const struct routes *now, struct keep_report *ret)
{
	uint32_t before = was->judged->max_load, load = now->judged->max_load;

	if (load < before)
		snprintf(ret->note, sizeof(ret->note),
			 "routes are evened out in a quiet minute: %u paths on the busiest link, "
			 "%u before",
			 load, before);
	else
		snprintf(ret->note, sizeof(ret->note),
			 "routes are evened out in a quiet minute: a switch that carried little "
			 "has its share again; %u paths on the busiest link, %u before",
			 load, before);
}

struct routes *keep_tables_balanced(const struct route_chain *chain, const struct route_job *job,
				    struct keep_report *ret)
{
	const struct keeping w = { .chain = chain, .job = job, .ret = ret };
	const struct routes *was = job->previous;
	struct routes *fresh, *r = NULL;

	assert(chain && job->topo && was && ret);
	*ret = (struct keep_report){ .note = "" };
	if (!may_rebalance(&w))
		return routes_ref(was);
	fresh = computed(&w, NULL, true);
	if (fresh && !is_cancelled(job->cancelled) && may_take(was, fresh, &ret->choice)) {
		r = routes_derive(job->topo, was);
		if (!rebalance(&w, r, fresh))
			r = routes_unref(r);
	}
	routes_unref(fresh);
	if (!r || is_cancelled(job->cancelled) || route_fault(&ret->choice.verdict)) {
		routes_unref(r);
		return as_before(&w);
	}
	r->judged = xmemdup(&ret->choice.verdict, sizeof(ret->choice.verdict));
	say_better(was, r, ret);
	return r;
}
