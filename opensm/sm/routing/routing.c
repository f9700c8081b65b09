// SPDX-License-Identifier: BSD-2-Clause
#include "sm/routing/routing.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "fabric/snapshot.h"
#include "sm/base/events.h"
#include "sm/sm_internal.h"
#include "sm/routing/dead_cables.h"
#include "sm/routing/quiet.h"
#include "sm/routing/rail_watch.h"
#include "sm/routing/route_death.h"
#include "sm/routing/route_job.h"
#include "sm/routing/route_memory.h"
#include "sm/routing/replacements.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "util/mem.h"
#include "util/told.h"

/* Number of jobs in a row that cables overtake; the tables of the last one come into force. */
#define STALE_MOST 3

enum { TOLD_NO_CHILD, TOLD_UNSAFE };

struct routing {
	struct routes *routes; /* routes installed, or being installed */
	/*
	 * Tables in force before they were patched: those that engines go on from, and whose VLs
	 * others still read. NULL: not patched.
	 */
	const struct routes *patched;
	bool from_patched; /* set if the job knows the tables in force as patched */
	/* number of jobs in a row whose tables led over cables that died meanwhile */
	unsigned stale;
	struct routes *fresh;	       /* result of the job; NULL: none, or `routes` stay */
	struct transition *transition; /* from `routes` to `fresh` */
	/* dependencies of `fresh`; NULL: none, or passed to multicast.c */
	struct cdg *depends;
	const struct routes *depends_of; /* routes that `depends` is of; compared only */
	bool pending;			 /* set while the job is running */
	bool quiet;			 /* set if `fresh` is from quiet.c */
	bool found;			 /* set if `fresh` is made of tables of unknown origin */
	bool afresh;			 /* set if the next routes must be computed from scratch */
	bool engines_again;		 /* set if an engine that died may run again */
	struct told told;
	mono_t started;
	mono_t took;	      /* time that the computation of `fresh` took */
	uint64_t lost_told;   /* number of pairs without a path in the last record */
	char engine_told[32]; /* engine in the last record on tables; "": there was none */
	uint64_t unreachable; /* number of pairs without a path in `fresh` */
	char refused[600];    /* last logged text on engines that were refused */
	char why[160];	      /* reason why the last job made no tables; "": it made some */
	char *deaths_folder;  /* folder for files of deaths; NULL: none */
};
MACHINE_MEMORY(routing);

void routing_new(struct sm *sm, const struct sm_paths *paths)
{
	struct routing *r = sm->m.routing;

	if (paths && (paths->cache_dir || paths->dump_dir))
		r->deaths_folder = xstrdup(paths->cache_dir ? paths->cache_dir : paths->dump_dir);
	sm->m.route_memory = route_memory_new();
	sm->m.replacements = replacements_new();
}

void routing_free(struct sm *sm)
{
	struct routing *r = sm->m.routing;

	routes_unref(r->routes);
	routes_unref(r->patched);
	routes_unref(r->fresh);
	transition_free(r->transition);
	cdg_free(r->depends);
	free(r->deaths_folder);
	sm->m.route_memory = route_memory_free(sm->m.route_memory);
	sm->m.replacements = replacements_free(sm->m.replacements);
}

const struct routes *sm_routes(const struct sm *sm)
{
	return sm->m.routing->routes;
}

const char *sm_routes_refused(const struct sm *sm)
{
	return sm->m.routing->refused;
}

const char *sm_no_routes(const struct sm *sm)
{
	return sm->m.routing->why;
}

void sm_engines_out(const struct sm *sm, char *ret, size_t cap)
{
	assert(cap);
	route_memory_str(sm->m.route_memory, sm->now, ret, cap);
}

void routing_forget(struct sm *sm)
{
	sync_patch_forget(sm->sync);
	sm->m.routing->routes = routes_unref(sm->m.routing->routes);
	sm->m.routing->patched = routes_unref(sm->m.routing->patched);
}

void routing_patch(struct sm *sm, struct routes *routes)
{
	struct routing *r = sm->m.routing;

	assert(r->routes && routes && routes_are_alike(r->routes, routes));
	if (r->patched)
		routes_unref(r->routes);
	else
		r->patched = r->routes;
	r->routes = routes;
	r->from_patched = false;
}

bool routing_busy(const struct sm *sm)
{
	return sm->m.routing->pending;
}

bool routing_has_new(const struct sm *sm)
{
	return sm->m.routing->fresh;
}

const struct transition *routing_transition(const struct sm *sm)
{
	return sm->m.routing->transition;
}

struct cdg *routing_take_depends(struct sm *sm)
{
	struct routing *r = sm->m.routing;

	return r->depends_of == r->routes ? take(r->depends) : NULL;
}

void routing_afresh(struct sm *sm)
{
	sm->m.routing->afresh = true;
}

bool routing_is_afresh(const struct sm *sm)
{
	return sm->m.routing->afresh;
}

bool routing_ask_engines_again(struct sm *sm)
{
	if (!route_memory_release(sm->m.route_memory, sm->now))
		return false;
	sm->m.routing->engines_again = true;
	return true;
}

bool routing_try_process_again(struct sm *sm)
{
	return route_memory_release_child(sm->m.route_memory, sm->now);
}

bool sm_routing_has_process(const struct sm *sm)
{
	return !route_memory_no_child(sm->m.route_memory);
}

mono_t routing_next(const struct sm *sm)
{
	const struct route_memory *m = sm->m.route_memory;

	return mono_min(route_memory_next(m), route_memory_child_next(m));
}

uint64_t routing_unreachable(const struct sm *sm)
{
	return sm->m.routing->unreachable;
}

static void tell_routes(struct sm *sm)
{
	const struct routing *r = sm->m.routing;
	struct sm_event e = {
		.kind = SM_EVENT_ROUTES,
		.routes = {
			.engine = r->routes->engine,
			.reroute = sm->sweep == SWEEP_REROUTE,
			.ms = (unsigned)(r->took / MONO_MS),
			.unreachable = (unsigned)MIN(r->unreachable, (uint64_t)UINT32_MAX),
			.lanes = r->routes->lanes ? r->routes->lanes->n_vls : 1,
		},
	};

	event_raise(sm, &e);
}

/*
 * Not every switch may hold the tables in force that were patched: one did not answer yet, or its
 * Set was lost. Then the way to the new tables begins with what each is known to hold.
 */
static void begin_with_held(struct sm *sm)
{
	struct routing *r = sm->m.routing;
	const struct topo *topo = r->fresh->topo;
	_cleanup_(routes_unrefp) struct routes *held = NULL;

	if (!r->patched || r->fresh == r->routes ||
	    (r->from_patched && adopt_holds(sm, r->routes, topo)))
		return;
	held = adopt_routes(sm, topo);
	transition_free(r->transition);
	r->transition = held ? transition_find(held, r->fresh) : NULL;
}

void routing_install(struct sm *sm)
{
	struct routing *r = sm->m.routing;

	if (!r->fresh)
		return;
	begin_with_held(sm);
	if (!r->quiet)
		tell_news(sm, NEWS_ROUTES, .routes = r->fresh, .flag = r->found);
	routes_unref(r->routes);
	r->patched = routes_unref(r->patched);
	r->routes = take(r->fresh);
	rail_watch_routed(sm, r->routes->topo);
	tell_routes(sm);
}

/*
 * Copies a text without figures (also of GUIDs), plurals and words in brackets, for comparisons:
 * two sweeps may have other loads, and the same reason.
 */
static size_t without_figures(const char *text, char *ret, size_t cap)
{
	unsigned depth = 0;
	size_t n = 0;

	for (; *text && n + 1 < cap; text++) {
		depth += *text == '(';
		if (!depth && !isxdigit((unsigned char)*text) && *text != 's')
			ret[n++] = *text;
		depth -= depth && *text == ')';
	}
	ret[n] = '\0';
	return n;
}

/* Logs refusals of engines, once until engines or reasons change. */
static void tell_refusal(struct sm *sm, const char *refused)
{
	struct routing *r = sm->m.routing;
	char before[sizeof(r->refused)], now[sizeof(r->refused)];
	bool same = without_figures(refused, now, sizeof(now)) ==
			    without_figures(r->refused, before, sizeof(before)) &&
		    !refused[0] == !r->refused[0] && !strcmp(now, before);

	snprintf(r->refused, sizeof(r->refused), "%s", refused);
	if (same)
		return;
	if (refused[0])
		log_on(ABOUT(.id = LOG_ID_NO_ROUTES), LOGB_ERROR, "routing engine %s", refused);
	else
		log_info("routing: each engine of routing_engine makes good tables again");
}

/* Logs that there is no process for routing, and when there is one again. */
static void tell_process(struct sm *sm, const struct routes *routes, int error)
{
	struct told *told = &sm->m.routing->told;

	switch (told_change(told, TOLD_NO_CHILD, !sm_routing_has_process(sm))) {
	case TOLD_SAME:
		break;
	case TOLD_BEGINS:
		log_on(ABOUT(.id = LOG_ID_NO_CHILD, .error = error), LOGB_ERROR,
		       "no process can be started for routing (%s): %s; it is tried again",
		       strerror(error),
		       routes ? "routes are computed in the manager itself this time, as there "
				"are none"
			      : "the tables in force stay");
		break;
	case TOLD_ENDS:
		log_on(ABOUT(.id = LOG_ID_NO_CHILD), LOGB_INFO,
		       "routes are computed in a process of their own again");
		break;
	}
}

/* Counts deaths of engines, writes their files, and logs them. */
void routing_note_job(struct sm *sm, const struct routes *routes, const struct route_report *report)
{
	for (unsigned i = 0; i < report->n_deaths; i++)
		route_death_keep(sm, sm->m.routing->deaths_folder, &report->deaths[i], report);
	route_memory_note(sm->m.route_memory, routes, report, report->conf, report->files, sm->now);
	if (report->asleep)
		log_info("routing: its process did not begin to work, and was replaced by another "
			 "one");
	tell_process(sm, routes, report->no_child);
}

/* Logs tables: the first ones, those of another engine, and where pairs lose or get their paths. */
static void tell_tables(struct sm *sm, const struct routes *routes,
			const struct route_report *report)
{
	struct routing *r = sm->m.routing;
	bool is_new = strcmp(r->engine_told, routes->engine) != 0;
	uint64_t lost = report->bad ? MAX(report->unreachable, 1u) : 0;

	if (report->note[0])
		log_verbose("%s", report->note);
	log_at(is_new ? LOGB_INFO : LOGB_VERBOSE, "%s tables: %s%s%s", routes->engine,
	       report->verdict, routes->note[0] ? "; " : "", routes->note);
	snprintf(r->engine_told, sizeof(r->engine_told), "%s", routes->engine);
	if (!report->fault)
		told_change(&r->told, TOLD_UNSAFE, false);
	else if (told_first(&r->told, TOLD_UNSAFE))
		log_on(ABOUT(.id = LOG_ID_ROUTE_CHECK), LOGB_ERROR,
		       "%s tables %s, and are used as allow_unsafe_routes is TRUE", routes->engine,
		       report->fault);
	if (lost && lost != r->lost_told)
		log_on(ABOUT(.id = LOG_ID_ROUTE_CHECK), LOGB_ERROR,
		       "%s tables leave pairs without a path: %s", routes->engine, report->verdict);
	else if (!lost && r->lost_told)
		log_on(ABOUT(.id = LOG_ID_ROUTE_CHECK), LOGB_INFO,
		       "%s tables have a path for all pairs again", routes->engine);
	r->lost_told = lost;
}

static void take_routes(struct sm *sm, struct routes *routes, struct route_report *report)
{
	struct routing *r = sm->m.routing;
	bool is_same;

	r->pending = false;
	/* if the same routes stay, no engine was asked */
	if ((!routes || routes != r->routes) && strcmp(report->refused, r->refused))
		tell_refusal(sm, report->refused);
	is_same = !strcmp(r->why, report->why);
	snprintf(r->why, sizeof(r->why), "%s", routes ? "" : report->why);
	tell_news(sm, NEWS_ROUTED, .flag = routes != NULL);
	cdg_free(r->depends);
	r->depends = take(report->depends);
	r->depends_of = routes ? routes : r->routes;
	if (!routes && report->no_child)
		return; /* logged once */
	if (!routes) {
		log_on(ABOUT(.id = LOG_ID_NO_ROUTES), is_same ? LOGB_VERBOSE : LOGB_ERROR,
		       "no routes: %s; %s", report->why,
		       r->routes ? "the old tables stay, new ports get no path"
				 : "nothing is written: switches keep what they hold and no port "
				   "comes up");
		return;
	}
	r->fresh = routes;
	r->unreachable = report->unreachable;
	r->afresh = false;
	r->transition = take(report->transition);
	if (r->transition)
		log_verbose("%u LIDs are drained while their routes change", r->transition->n_lids);
	r->took = report->took;
	tell_tables(sm, routes, report);
}

/*
 * Tables that lead over cables that died while they were computed do not come into force: those in
 * force stay, patched as they are, and the sweep that reads the change has them computed again.
 * Where cables die faster than tables are computed, the third ones come into force all the same,
 * and are patched there.
 */
static bool is_overtaken(struct sm *sm, const struct routes *routes)
{
	struct routing *r = sm->m.routing;
	bool is_stale =
		routes && r->routes && dead_cables_in(sm, routes) && ++r->stale < STALE_MOST;

	if (!is_stale)
		r->stale = 0;
	return is_stale;
}

/* The tables in force stay, as if they were the result; what was asked for is asked for again. */
static void stay(struct sm *sm)
{
	struct routing *r = sm->m.routing;

	log_verbose("the tables that were computed lead over a cable that died meanwhile: those in "
		    "force stay");
	r->pending = false;
	cdg_free(r->depends);
	r->depends = NULL;
	r->fresh = routes_ref(r->routes);
	tell_news(sm, NEWS_ROUTED, .flag = true);
	tell_news(sm, NEWS_TABLES, .text = "a cable died while routes were computed");
}

static void on_routes(void *owner, struct routes *routes, struct route_report *report)
{
	struct sm *sm = owner;

	report->took = sm->now - sm->m.routing->started;
	routing_note_job(owner, routes, report);
	if (!is_overtaken(sm, routes)) {
		take_routes(owner, routes, report);
		return;
	}
	routes_unref(routes);
	stay(sm);
}

static void drop_new(struct routing *r)
{
	r->fresh = routes_unref(r->fresh);
	r->transition = transition_free(r->transition);
	r->quiet = false;
}

void routing_take_quiet(struct sm *sm, struct routes *routes, struct route_report *report)
{
	assert(routes && report);
	drop_new(sm->m.routing);
	take_routes(sm, routes, report);
	sm->m.routing->quiet = true;
}

static bool is_aside(const void *sm, const struct node *ca)
{
	return node_quirk(sm, ca, QUIRK_AGGREGATION);
}

static struct topo *routed_topo(struct sm *sm)
{
	marks_settle(sm);
	sick_settle(sm);
	expected_settle(sm);
	out_of_use_settle(sm);
	return replacements_order(sm->m.replacements, fabric_snapshot(sm->fabric, is_aside, sm));
}

void routing_start(struct sm *sm)
{
	struct routing *r = sm->m.routing;
	_cleanup_(topo_unrefp) struct topo *topo = routed_topo(sm);
	_cleanup_(routes_unrefp) struct routes *adopted =
		r->routes && !adopt_has_asked(sm) && adopt_holds(sm, r->routes, topo)
			? NULL
			: adopt_routes(sm, topo);
	const struct route_order order = {
		.topo = topo,
		.previous = r->patched	? r->patched
			    : r->routes ? r->routes
					: adopted,
		.held = adopted,
		.patched = r->patched && !adopted ? r->routes : NULL,
		.weigh = !r->routes && adopted,
		.fresh = r->afresh && r->routes,
		.conf = sm->conf,
		.files = sm->files,
		.engines = sm->hooks.engines,
		.again = r->engines_again,
		.runner = sm->hooks.runner,
		.memory = sm->m.route_memory,
		.now = sm->now,
		.done = on_routes,
		.owner = sm,
	};

	assert(!sm->m.routing->pending);
	dead_cables_routed(sm);
	r->from_patched = order.patched;
	drop_new(sm->m.routing);
	r->pending = true;
	r->found = order.weigh;
	r->engines_again = false;
	r->started = sm->now;
	sm->hooks.submit_job(sm->hooks.arg, route_job_new(&order));
}
