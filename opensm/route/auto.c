// SPDX-License-Identifier: BSD-2-Clause
/*
 * The automatic engine: looks what the fabric is, lets the engines that suit it try, and takes the best of
 * what holds.
 *
 * Every candidate is judged as if somebody else had made it: who leaves pairs without a path that have one, goes
 * round or can wait for itself is out. Among the others the effective bandwidth under random bisections
 * decides, then a most loaded channel that carries clearly less, who needs no service levels by path, that
 * channel again, hops, lanes; the order of candidates breaks ties. A whole fabric that the first candidate serves by
 * shortest paths needs no others; of large ones only the first that holds counts, so that choosing costs no
 * more than computing. Of small fabrics that nobody knows best how to route (of no shape, or trees with damage) all
 * are asked.
 *
 * Staying counts: while there are previous tables, those that change fewest entries win unless others are
 * clearly better, so that a small fault does not bring another engine's tables. In a damaged fabric the engine of
 * the previous tables goes first, and while its most loaded channel carries little more than when all were compared,
 * nobody else is asked: an event costs one computation.
 *
 * At the end stands one lane, up then down (updn), which every fabric can have.
 */
#include "route/engines.h"

#include <stdio.h>
#include <string.h>

#include "route/cancel.h"
#include "route/check.h"
#include "route/choose.h"
#include "route/reroute.h"
#include "route/shapes.h"
#include "util/mem.h"

#define CANDIDATES	 9
#define SMALL		 (4u << 20) /* switches times LIDs up to which all candidates try */
#define TINY		 (1u << 19) /* the same, for those that nobody knows best how to route */
#define PATTERNS	 24	    /* of 1,024 end ports */
#define PATTERNS_MAX	 96
#define PATTERN_SEED	 0x5EED
#define CLEARLY_BETTER	 1.10
#define CLEARLY_LESS	 1.5
#define LESS		 1.25 /* load that is worth service levels */
#define UNEVEN		 1.5  /* most load, by the mean, at which others get their turn */
#define AS_BEFORE	 1.1
#define A_LITTLE_BETTER	 1.02
#define BETTER		 1.01

/* Who is asked, in this order; at a bar, nobody else when something holds already. */
static const char *const suits[][CANDIDATES] = {
	[SHAPE_SINGLE] = { "minhop" },
	[SHAPE_TREE] = { "minhop", "ftree", "updn", "columns", "|", "dfsssp", "|", "nue" },
	[SHAPE_HYPERX] = { "hyperx", "dor", "torus-2QoS", "|", "lash", "dfsssp", "|", "nue" },
	[SHAPE_GRID] = { "dor", "torus-2QoS", "|", "lash", "dfsssp", "|", "nue" },
	[SHAPE_DRAGONFLY] = { "dragonfly", "|", "dfsssp", "|", "lash", "nue" },
	[SHAPE_DRAGONFLY_PLUS] = { "sssp", "minhop", "dragonfly", "|", "dfsssp", "|", "lash", "nue" },
	[SHAPE_OTHER] = { "minhop", "columns", "|", "dfsssp", "updn", "|", "lash", "nue" },
};

struct trial {
	const char *name;
	struct routes *routes;
	struct route_verdict verdict;
	double bandwidth;
	uint64_t changes; /* entries that are not as they were */
};

struct automatic {
	const struct route_job *job;
	struct graph *graph;
	struct shape *shape;
	bool small, tiny;
	struct trial best;
	unsigned n_held;
	bool compared;
	const char *looped; /* the first candidate that could block itself */
};

static void automatic_done(struct automatic *a)
{
	graph_free(a->graph);
	shape_free(a->shape);
	routes_unref(a->best.routes);
}

static struct routes *run(const struct automatic *a, const char *name, char *why, size_t why_len)
{
	if (!strcmp(name, "hyperx"))
		return hyperx_routes(a->job, a->graph, a->shape, why, why_len);
	if (!strcmp(name, "dragonfly"))
		return dragonfly_routes(a->job, a->graph, a->shape, why, why_len);
	return route_engine_run(route_engine_find(name), a->job, why, why_len);
}

/* Entries of the previous tables that are different now, among switches that were there. */
static uint64_t count_changes(const struct routes *r, const struct routes *previous)
{
	uint64_t n = 0;

	for (uint32_t s = 0; previous && s < r->topo->n_switches; s++) {
		uint32_t was = topo_find_switch(previous->topo, r->topo->switches[s].guid);
		unsigned top = MIN(r->top, previous->top);

		for (unsigned lid = 1; was != TOPO_NONE && lid <= top; lid++)
			n += routes_row(r, s)[lid] != routes_row(previous, was)[lid];
	}
	return n;
}

/* A fabric of many end ports needs fewer patterns for the same certainty. */
static unsigned patterns_for(const struct topo *t)
{
	unsigned hosts = MAX(t->n_hosts, 1u);

	return MIN(MAX(PATTERNS * 1024 / hosts, 3u), PATTERNS_MAX);
}

static unsigned lanes_of(const struct trial *t)
{
	return t->routes->lanes ? t->routes->lanes->n_vls : 1;
}

static unsigned lanes_needed(const struct trial *t)
{
	return t->routes->lanes && t->routes->lanes->n_needed ? t->routes->lanes->n_needed : lanes_of(t);
}

/* Do paths need service levels of their own? */
static bool wants_levels(const struct trial *t)
{
	return t->routes->lanes && t->routes->lanes->by != LANES_BY_NOTHING;
}

/* More than `times` as good in bandwidth, or as good and better in what comes next. */
static bool is_better(const struct trial *x, const struct trial *y, double times)
{
	if (x->bandwidth > y->bandwidth * times)
		return true;
	if (y->bandwidth > x->bandwidth * times)
		return false;
	if (x->verdict.max_load * LESS < y->verdict.max_load)
		return true;
	if (y->verdict.max_load * LESS < x->verdict.max_load)
		return false;
	if (wants_levels(x) != wants_levels(y))
		return wants_levels(y);
	if (x->verdict.max_load * times < y->verdict.max_load)
		return true;
	if (y->verdict.max_load * times < x->verdict.max_load)
		return false;
	if (x->verdict.avg_hops * times < y->verdict.avg_hops)
		return true;
	if (y->verdict.avg_hops * times < x->verdict.avg_hops)
		return false;
	return lanes_needed(x) < lanes_needed(y);
}

/* Worth the change of many entries. */
static bool is_clearly_better(const struct trial *x, const struct trial *y)
{
	if (y->bandwidth > x->bandwidth)
		return false;
	return x->bandwidth > y->bandwidth * CLEARLY_BETTER ||
	       x->verdict.max_load * CLEARLY_LESS < y->verdict.max_load;
}

static bool wins(const struct trial *x, const struct trial *best)
{
	if (!best->routes)
		return true;
	if (x->changes * 2 < best->changes)
		return !is_clearly_better(best, x);
	if (best->changes * 2 < x->changes)
		return is_clearly_better(x, best);
	return is_better(x, best, BETTER);
}

/*
 * Tables that grew out of our own are improved where staying cost too much; adopted ones, of whose making nothing
 * is known, are not.
 */
static void balance(const struct automatic *a, struct trial *x)
{
	const struct route_engine *engine = route_engine_find(x->name);
	const struct routes *previous = a->job->previous;
	struct reroute_report report = { .verdict = x->verdict };

	if (previous && !previous->options)
		return;
	x->routes = reroute_balance(engine, a->job, x->routes, &report);
	x->verdict = report.verdict;
}

/* Judges and keeps what is better. Takes the routes. */
static void consider(struct automatic *a, const char *name, struct routes *r)
{
	struct trial x = { .name = name, .routes = r };

	routes_check_after(a->n_held ? NULL : a->job->previous, r, a->job->threads, &x.verdict);
	balance(a, &x);
	r = x.routes;
	if (route_fault(&x.verdict)) {
		if (x.verdict.credit_loop && !a->looped)
			a->looped = name;
		routes_unref(r);
		return;
	}
	a->n_held++;
	if (a->small) {
		x.bandwidth = routes_effective_bandwidth(r, patterns_for(r->topo), PATTERN_SEED);
		x.changes = count_changes(r, a->job->previous);
	}
	if (wins(&x, &a->best)) {
		routes_unref(a->best.routes);
		a->best = x;
	} else {
		routes_unref(r);
	}
}

/* Nothing is missing, and what was made for such fabrics serves it by shortest paths. */
static bool is_perfect(const struct automatic *a)
{
	const struct shape *s = a->shape;

	return a->best.routes && a->best.verdict.minimal && !s->n_cut && !s->n_cross &&
	       (s->kind == SHAPE_SINGLE || s->kind == SHAPE_TREE || s->kind == SHAPE_HYPERX ||
		s->kind == SHAPE_GRID || s->kind == SHAPE_DRAGONFLY ||
		s->kind == SHAPE_DRAGONFLY_PLUS);
}

static bool is_whole(const struct automatic *a)
{
	const struct shape *s = a->shape;

	return !s->n_cut && !s->n_cross && s->kind != SHAPE_OTHER;
}

static void try_one(struct automatic *a, const char *name)
{
	char why[160];
	struct routes *r = run(a, name, why, sizeof(why));

	if (r)
		consider(a, name, r);
}

/*
 * In a damaged fabric whose tables of before are good enough still goes first, and alone if they are. Returns
 * who that was, NULL: nobody.
 */
static const char *try_same(struct automatic *a)
{
	const struct routes *previous = a->job->previous;
	const char *const *names = suits[a->shape->kind];

	if (!previous || !previous->by[0] || is_whole(a))
		return NULL;
	for (unsigned i = 0; i < CANDIDATES && names[i]; i++) {
		if (strcmp(names[i], previous->by) != 0)
			continue;
		try_one(a, names[i]);
		return names[i];
	}
	return NULL;
}

static bool is_as_before(const struct automatic *a)
{
	const struct routes *previous = a->job->previous;
	const struct route_verdict *v = &a->best.verdict;

	return a->n_held && previous->judged && v->max_load <= AS_BEFORE * previous->by_load &&
	       v->avg_hops <= A_LITTLE_BETTER * previous->judged->avg_hops;
}

/*
 * Something holds; who comes after the first bar is asked only if much comes together on one channel of a damaged
 * fabric whose engine keeps to its shape. In others they do not know better.
 */
static bool is_even(const struct automatic *a)
{
	return is_whole(a) || a->shape->kind == SHAPE_TREE || a->shape->kind == SHAPE_OTHER ||
	       a->best.verdict.max_load <= UNEVEN * a->best.verdict.avg_load;
}

/* Small, and of no shape, or of one that is not whole and whose engines look at load as all others do. */
static bool is_anybodys(const struct automatic *a)
{
	enum shape_kind kind = a->shape->kind;

	return a->tiny && (kind == SHAPE_OTHER ||
			   (!is_whole(a) && (kind == SHAPE_TREE || kind == SHAPE_DRAGONFLY_PLUS)));
}

static void try_all(struct automatic *a)
{
	const char *const *names = suits[a->shape->kind];
	const char *same = try_same(a);
	unsigned n_bars = 0;

	if (same && is_as_before(a)) {
		a->compared = false;
		return;
	}
	for (unsigned i = 0; i < CANDIDATES && names[i] && !is_cancelled(a->job->cancelled); i++) {
		bool bar = names[i][0] == '|';

		if (a->n_held &&
		    (!a->small || (bar && !is_anybodys(a) && (is_even(a) || n_bars)) || is_perfect(a)))
			return;
		n_bars += bar;
		if (!bar && names[i] != same)
			try_one(a, names[i]);
	}
	if (!a->n_held && !is_cancelled(a->job->cancelled))
		try_one(a, "updn");
}

static void write_note(struct automatic *a)
{
	const struct trial *best = &a->best;
	struct routes *r = best->routes;
	char shape[SHAPE_STRLEN], bandwidth[48] = "", looped[64] = "", needed[32] = "";

	if (a->small)
		snprintf(bandwidth, sizeof(bandwidth), ", effective bandwidth %.2f", best->bandwidth);
	if (a->looped)
		snprintf(looped, sizeof(looped), "; %s would have a credit loop", a->looped);
	if (lanes_needed(best) < lanes_of(best))
		snprintf(needed, sizeof(needed), " (%u needed)", lanes_needed(best));
	snprintf(r->note, sizeof(r->note), "%s: %s on %u lane%s%s%s%s%s", shape_str(a->shape, shape),
		 best->name, lanes_of(best), lanes_of(best) == 1 ? "" : "s", needed,
		 r->lanes && r->lanes->by == LANES_BY_NOTHING ? ", no SL by path" : "", bandwidth,
		 looped);
}

struct routes *automatic_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(automatic_done) struct automatic a = { .job = job, .compared = true };
	const struct topo *t = job->topo;

	if (t->n_switches > UINT16_MAX - 1) {
		snprintf(why, why_len, "%u switches, at most %u can be routed", t->n_switches,
			 UINT16_MAX - 1);
		return NULL;
	}
	a.graph = graph_new(t, &job->options);
	a.shape = shape_find(a.graph);
	a.small = (uint64_t)t->n_switches * t->max_lid <= SMALL;
	a.tiny = (uint64_t)t->n_switches * t->max_lid <= TINY;
	try_all(&a);
	if (is_cancelled(job->cancelled)) {
		snprintf(why, why_len, "cancelled");
		return NULL;
	}
	if (!a.best.routes) {
		snprintf(why, why_len, "no engine routes this fabric");
		return NULL;
	}
	write_note(&a);
	free(a.best.routes->judged); /* by an engine that proved its tables itself */
	a.best.routes->judged = xmemdup(&a.best.verdict, sizeof(a.best.verdict));
	a.best.routes->by_load = a.compared ? a.best.verdict.max_load : job->previous->by_load;
	snprintf(a.best.routes->by, sizeof(a.best.routes->by), "%s", a.best.name);
	snprintf(a.best.routes->engine, sizeof(a.best.routes->engine), "auto");
	return take(a.best.routes);
}
