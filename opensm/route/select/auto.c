// SPDX-License-Identifier: BSD-2-Clause
/*
 * The automatic engine: recognises the fabric, lets the engines that suit it compute tables, and
 * takes the best of those that hold.
 *
 * Every candidate is checked like the tables of any other engine: tables that leave pairs without a
 * path although cables connect them, that go round or can block themselves are out. Among the
 * others two aims decide, weighed in rate(): bandwidth under random bisections, permutations and
 * shifts, and the load of the most loaded channel; then no need for service levels by path, less
 * load at the same bandwidth, hops, VLs; the order of candidates breaks ties. A whole fabric that
 * the first candidate serves by shortest paths, a whole tree with hardly more load than any tables
 * must have, needs no others; of large ones only the first that holds counts, so that choosing
 * costs no more than computing. For small fabrics without a clear favourite (of no shape, or trees
 * with damage) all engines compute.
 *
 * Staying counts: while there are previous tables, those that change fewest entries win unless
 * others are clearly better, so that a small fault does not bring another engine's tables. In a
 * damaged fabric the engine of the previous tables goes first, and while its most loaded channel
 * carries little more than when all were compared, no other engine computes: an event costs one
 * computation.
 *
 * With LMC a third aim is weighed, disjoint paths of a port's LIDs, and candidates go on until
 * these part nearly as well as shortest paths can.
 *
 * The last resort is one VL, up then down (updn), which is possible on every fabric.
 */
#include "route/select/engines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "route/core/lid_spread.h"
#include "route/core/memo.h"
#include "route/proof/check.h"
#include "route/proof/disjoint.h"
#include "route/proof/keep_policy.h"
#include "route/select/reroute.h"
#include "route/shape/recognise.h"
#include "route/vl/port_class.h"
#include "util/hash.h"
#include "util/mem.h"

#define CANDIDATES	 10
#define TINY		 (1u << 19) /* the same, for fabrics without a favourite engine */
#define PATTERNS	 24	    /* of 1,024 end ports */
#define PATTERNS_MAX	 96
#define PATTERN_SEED	 0x5EED
#define LOAD_WORTH	 1.03 /* bandwidth that doubles the load of the most loaded channel */
#define UNEVEN		 1.5  /* most load, by the mean, at which others get their turn */
#define ALIKE		 1.02 /* most load, by the least possible, that no engine betters */
#define BETTER		 1.01
#define SAME		 1.002
#define PARTED_WORTH	 0.5 /* twice as many disjoint paths are worth 1.41 of bandwidth */
#define PARTED_ENOUGH	 0.95
#define PARTED_PAIRS	 500

/* Candidates by shape, in this order; those after a bar compute only while none before it holds. */
static const char *const suits[][CANDIDATES] = {
	[SHAPE_SINGLE] = { "minhop" },
	[SHAPE_TREE] = { "minhop", "sssp", "ftree", "updn", "columns", "|", "dfsssp", "|", "nue" },
	[SHAPE_HYPERX] = { "hyperx", "dor", "torus-2QoS", "|", "lash", "dfsssp", "|", "nue" },
	[SHAPE_GRID] = { "dor", "torus-2QoS", "|", "lash", "dfsssp", "|", "nue" },
	[SHAPE_DRAGONFLY] = { "dragonfly", "|", "dfsssp", "|", "lash", "nue" },
	[SHAPE_DRAGONFLY_PLUS] = { "sssp", "minhop", "dragonfly", "|", "dfsssp", "|", "lash",
				   "nue" },
	[SHAPE_OTHER] = { "minhop", "columns", "|", "dfsssp", "updn", "|", "lash", "nue" },
};

struct trial {
	const char *name;
	struct routes *routes;
	struct route_verdict verdict;
	double bisection, bandwidth; /* 0: not measured */
	double score;
	double parted;	  /* share of the possible disjoint paths that the LIDs of a port give */
	uint64_t changes; /* entries that differ from the previous tables */
};

struct automatic {
	const struct route_job *job;
	struct route_job with_memo; /* the caller's, and `memo` */
	struct route_memo memo;
	struct graph *graph;
	struct shape *shape; /* of the core, if there are tails */
	struct tails *tails; /* tails of the fabric (tails.h); NULL: none */
	bool small, tiny;
	struct trial best, next; /* next: the best of the others, without its routes */
	unsigned n_held;
	/* hashes of the tables of each engine so far, before and after loads were balanced */
	uint64_t known[2 * CANDIDATES + 2];
	unsigned n_known;
	bool compared;
	bool stale; /* the previous tables were made with other options */
	const char *looped; /* the first candidate that could block itself */
};

static void automatic_done(struct automatic *a)
{
	graph_free(a->graph);
	shape_free(a->shape);
	tails_free(a->tails);
	routes_unref(a->best.routes);
	route_memo_done(&a->memo);
}

/*
 * Entries of the previous tables that are different now, among switches that are there and were:
 * one without a LID is not (keep_tables.c).
 */
static uint64_t count_changes(const struct routes *r, const struct routes *previous)
{
	uint64_t n = 0;

	for (uint32_t s = 0; previous && s < r->topo->n_switches; s++) {
		uint32_t was = topo_find_switch(previous->topo, r->topo->switches[s].guid);
		unsigned top = MIN(r->top, previous->top);

		if (!r->topo->switches[s].lid ||
		    (was != TOPO_NONE && !previous->topo->switches[was].lid))
			continue;
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

static unsigned vls_of(const struct trial *t)
{
	return t->routes->lanes ? t->routes->lanes->n_vls : 1;
}

static unsigned vls_needed(const struct trial *t)
{
	return t->routes->lanes && t->routes->lanes->n_needed ? t->routes->lanes->n_needed
							      : vls_of(t);
}

/* Do paths need service levels of their own? */
static bool wants_levels(const struct trial *t)
{
	return t->routes->lanes && t->routes->lanes->by != SL2VL_BY_NOTHING;
}

/* With several LIDs per port (LMC), these are asked for so that paths have nothing in common. */
static double share_parted(const struct trial *x)
{
	struct disjoint_sums d;

	if (!lid_spread_is_needed(x->routes->topo))
		return 1;
	disjoint_measure(x->routes, PARTED_PAIRS, &d);
	return d.most_cables ? MIN((double)d.have_cables / (double)d.most_cables, 1.0) : 1;
}

/*
 * Bandwidth of random bisections, of permutations and of shifts, each counted alike, and the load
 * of the most loaded channel: twice as much of it must bring LOAD_WORTH as much bandwidth.
 */
static void rate(struct trial *x)
{
	struct route_measures m;

	routes_measure(x->routes, patterns_for(x->routes->topo), PATTERN_SEED, &m);
	x->bisection = m.bisection;
	x->bandwidth = cbrt(m.bisection * m.permutation * m.shift);
	x->parted = share_parted(x);
	x->score = x->bandwidth * pow(x->parted, PARTED_WORTH) /
		   pow(LOAD_WORTH, log2(MAX(x->verdict.max_load, 1u)));
}

/* Less load at the same bandwidth. */
static bool carries_less(const struct trial *x, const struct trial *y, double times)
{
	return x->verdict.max_load * times < y->verdict.max_load &&
	       x->bandwidth * SAME >= y->bandwidth;
}

/*
 * More than `times` as good by its score, or equal in it and better in the next criteria. In a tree
 * one VL counts before shorter paths: those that turn down and up save a hop for a few pairs, and
 * cost SL2VL tables at every switch.
 */
static bool is_better(const struct trial *x, const struct trial *y, double times, bool is_tree)
{
	if (x->score > y->score * times)
		return true;
	if (y->score > x->score * times)
		return false;
	if (wants_levels(x) != wants_levels(y))
		return wants_levels(y);
	if (carries_less(x, y, times))
		return true;
	if (carries_less(y, x, times))
		return false;
	if (is_tree && (vls_needed(x) > 1) != (vls_needed(y) > 1))
		return vls_needed(y) > 1;
	if (x->verdict.avg_hops * times < y->verdict.avg_hops)
		return true;
	if (y->verdict.avg_hops * times < x->verdict.avg_hops)
		return false;
	return vls_needed(x) < vls_needed(y);
}

/* Worth the change of many entries; less load is, while it costs no bandwidth. */
static bool is_clearly_better(const struct trial *x, const struct trial *y)
{
	return x->score > keep_bound(KEEP_CANDIDATE_BANDWIDTH, y->score) ||
	       (x->bandwidth >= y->bandwidth &&
		y->verdict.max_load > keep_bound(KEEP_CANDIDATE_LOAD, x->verdict.max_load));
}

static bool wins(const struct automatic *a, const struct trial *x)
{
	const struct routes *previous = a->job->previous;
	const struct trial *best = &a->best;
	bool is_tree = a->shape->kind == SHAPE_TREE;

	if (!best->routes)
		return true;
	if (a->stale)
		return is_better(x, best, BETTER, is_tree);
	if (best->changes > keep_bound(KEEP_CHANGES, x->changes))
		return !is_clearly_better(best, x);
	if (x->changes > keep_bound(KEEP_CHANGES, best->changes))
		return is_clearly_better(x, best);
	/* Another engine must be more than a little better: a change rewrites entries, too. */
	return is_better(x, best,
			 previous && !strcmp(best->name, previous->by) &&
					 strcmp(x->name, previous->by) != 0
				 ? keep_bound(KEEP_CANDIDATE, 1) : BETTER, is_tree);
}

/* Improves tables where keeping entries cost too much, but no adopted ones of unknown engines. */
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

static uint64_t hash_of(const struct routes *r)
{
	uint64_t h = HASH_START;

	for (uint32_t s = 0; s < r->topo->n_switches; s++)
		h = hash_words(h, routes_row(r, s), r->row_size / 8);
	return h;
}

/*
 * Of tables whose loads are not balanced yet. Engines whose tables are balanced in different ways
 * (reroute_balance()) have different hashes.
 */
static uint64_t hash_computed(const char *name, const struct routes *r)
{
	return hash_of(r) + 1 + route_engine_find(name)->balances + 2 * (r->places != NULL);
}

/*
 * Engines that suit a fabric often come to the same tables, as computed or as balanced then: the
 * first of them whose tables hold has them.
 */
static bool is_known(const struct automatic *a, const struct routes *r, uint64_t hash)
{
	if (!a->small || a->stale || r->lanes)
		return false;
	for (unsigned i = 0; i < a->n_known; i++)
		if (a->known[i] == hash)
			return true;
	return false;
}

static void note_known(struct automatic *a, const struct routes *r, uint64_t hash)
{
	if (!r->lanes)
		a->known[a->n_known++] = hash;
}

/* Checks the routes and keeps them if they are the best so far. Takes the reference. */
static void consider(struct automatic *a, const char *name, struct routes *r)
{
	struct trial x = { .name = name, .routes = r };
	const struct routes *old = a->job->previous;
	uint64_t computed = a->small ? hash_computed(name, r) : 0, balanced;
	/* With other options than before, the choice is that of a start. */
	bool is_anew = old && old->options && !strcmp(name, old->by) && r->options != old->options;

	if (!is_anew && is_known(a, r, computed)) {
		routes_unref(r);
		return;
	}
	if (r->judged && (!r->lanes || r->lanes->n_levels < 2))
		x.verdict = *r->judged;
	else if (old)
		port_class_check(route_engine_find(name), a->job, a->n_held ? NULL : old, r,
				 &x.verdict);
	else
		port_class_try(route_engine_find(name), a->job, r, &x.verdict);
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
		a->stale |= is_anew;
		balanced = hash_of(r);
		if (is_known(a, r, balanced)) {
			routes_unref(r);
			return;
		}
		note_known(a, r, computed);
		note_known(a, r, balanced);
		rate(&x);
		x.changes = count_changes(r, old);
	}
	if (wins(a, &x)) {
		struct trial was = a->best;

		a->best = x;
		x = was;
	}
	if (x.name && (!a->next.name || x.score > a->next.score))
		a->next = x;
	routes_unref(x.routes);
}

static bool is_whole(const struct automatic *a)
{
	const struct shape *s = a->shape;

	return !s->n_cut && !s->n_cross && s->kind != SHAPE_OTHER;
}

/* Of the most loaded channel: the cables of a switch carry all flows of its end ports to others. */
static double least_load(const struct automatic *a)
{
	const struct topo *t = a->job->topo;
	_cleanup_free_ uint32_t *hosts = topo_count_senders(t);
	_cleanup_free_ bool *stub = topo_find_stubs(t);
	uint32_t n = 0;
	double most = 0;

	for (uint32_t u = 0; u < t->n_switches; u++)
		n += hosts[u];
	for (uint32_t u = 0; u < t->n_switches; u++) {
		double cables = 0; /* of the median rate */

		for (unsigned p = 1; p <= t->switches[u].n_ports; p++) {
			uint32_t entry = t->switches[u].first_port + p;

			if (t->ports[entry].sw != TOPO_NONE)
				cables += topo_room(t->paces, entry);
		}
		if (cables > 0 && !stub[u])
			most = MAX(most, (double)hosts[u] * (n - hosts[u]) / cables);
	}
	return most;
}

/* Would an engine that takes long only find about the same load in a tree again? */
static bool is_spared(const struct automatic *a, const char *name)
{
	return a->best.routes && a->shape->kind == SHAPE_TREE && route_engine_find(name)->slow &&
	       a->best.verdict.max_load <= ALIKE * least_load(a);
}

/* Whole, and served by shortest paths; a tree with about the least load, too, or as options say. */
static bool is_perfect(const struct automatic *a)
{
	const struct route_verdict *v = &a->best.verdict;

	return a->best.routes && v->minimal && is_whole(a) &&
	       (a->shape->kind != SHAPE_TREE || route_says_how_to_count(&a->job->options) ||
		v->max_load <= ALIKE * least_load(a));
}

static void try_one(struct automatic *a, const char *name)
{
	const struct route_engine *engine = route_engine_find(name);
	char why[160];
	struct routes *r;

	if (a->job->progress)
		snprintf(a->job->progress->inner, sizeof(a->job->progress->inner), "%s", name);
	if (engine->compute_shape && !a->tails)
		r = engine->compute_shape(a->job, a->graph, a->shape, why, sizeof(why));
	else
		r = route_engine_run(engine, a->job, why, sizeof(why));
	route_complete(a->job, r);
	if (r)
		consider(a, name, r);
}

/*
 * In a damaged fabric the engine of the previous tables, if they are good enough still, goes first,
 * and alone if its new ones are good as well. Returns its name; NULL: none.
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

static bool is_good_as_before(const struct automatic *a)
{
	const struct routes *previous = a->job->previous;
	const struct route_verdict *v = &a->best.verdict;

	return a->n_held && previous->judged &&
	       keep_is_as_before(KEEP_COMPARED, v->max_load, previous->compared_load) &&
	       v->avg_hops <= keep_bound(KEEP_COMPARED_HOPS, previous->judged->avg_hops);
}

/*
 * True: the tables that hold are even enough, and candidates after the bar need not compute. They
 * do only if one channel of a damaged fabric, whose engine keeps to its shape, carries much more
 * than the mean.
 */
static bool is_even(const struct automatic *a)
{
	return is_whole(a) || a->shape->kind == SHAPE_TREE || a->shape->kind == SHAPE_OTHER ||
	       a->best.verdict.max_load <= UNEVEN * a->best.verdict.avg_load;
}

/* Small, without a favourite: of no shape, or of one with damage whose engines all go by load. */
static bool is_unstructured(const struct automatic *a)
{
	enum shape_kind kind = a->shape->kind;

	return a->tiny && (kind == SHAPE_OTHER ||
			   (!is_whole(a) && (kind == SHAPE_TREE || kind == SHAPE_DRAGONFLY_PLUS)));
}

/* Engines that go by load alone are out of place where an option says how to count. */
static bool follows(const struct automatic *a, const char *name)
{
	const struct route_engine *engine = route_engine_find(name);

	return a->shape->kind != SHAPE_TREE || !route_says_how_to_count(&a->job->options) ||
	       !engine->by_load || engine->sls == PATH_SL;
}

/* Do the tables that hold serve so well that no further candidate needs to compute? */
static bool is_settled(const struct automatic *a, bool bar, unsigned n_bars)
{
	if (!a->n_held || !a->small)
		return a->n_held;
	return a->best.parted >= PARTED_ENOUGH &&
	       ((bar && !is_unstructured(a) && (is_even(a) || n_bars)) || is_perfect(a));
}

static void try_all(struct automatic *a)
{
	const char *const *names = suits[a->shape->kind];
	const char *same = try_same(a);
	unsigned n_bars = 0;

	if (same && is_good_as_before(a)) {
		a->compared = false;
		return;
	}
	for (unsigned i = 0; i < CANDIDATES && names[i] && !is_cancelled(a->job->cancelled); i++) {
		bool bar = names[i][0] == '|';

		if (is_settled(a, bar, n_bars))
			return;
		n_bars += bar;
		if (!bar && names[i] != same && follows(a, names[i]) && !is_spared(a, names[i]))
			try_one(a, names[i]);
	}
	if (!a->n_held && !is_cancelled(a->job->cancelled))
		try_one(a, route_engine_last_resort(1)->name);
}

static void write_note(struct automatic *a)
{
	const struct trial *best = &a->best;
	struct routes *r = best->routes;
	char shape[SHAPE_STRLEN], bandwidth[48] = "", next[64] = "", looped[48] = "";
	char needed[20] = "";

	if (a->small && best->verdict.pairs)
		snprintf(bandwidth, sizeof(bandwidth), ", effective bandwidth %.2f",
			 best->bisection);
	if (a->small && a->next.name)
		snprintf(next, sizeof(next), "; next best %.16s: %.2f, most load %u", a->next.name,
			 MIN(a->next.bisection, 1.0), a->next.verdict.max_load);
	if (a->looped)
		snprintf(looped, sizeof(looped), "; %.16s would have a credit loop", a->looped);
	if (vls_needed(best) < vls_of(best))
		snprintf(needed, sizeof(needed), " (%u needed)", vls_needed(best));
	snprintf(r->note, sizeof(r->note), "%s: %s on %u VL%s%s%s%s%s%s",
		 shape_str(a->shape, shape), best->name, vls_of(best),
		 vls_of(best) == 1 ? "" : "s", needed,
		 r->lanes && !wants_levels(best) ? " by port class, no SL by path" : "", bandwidth,
		 next, looped);
}

struct routes *automatic_compute(const struct route_job *job, char *why, size_t why_len)
{
	const struct topo *t = job->topo;
	_cleanup_(automatic_done) struct automatic a = {
		.job = job, .with_memo = *job, .memo.topo = t, .compared = true,
	};

	if (!route_is_possible(job, why, why_len))
		return NULL;
	a.with_memo.memo = &a.memo;
	a.job = &a.with_memo;
	a.graph = graph_new(t, &job->options);
	a.shape = shape_find_core(a.graph, &job->options, &a.tails);
	a.small = keep_may_compare(t);
	a.tiny = (uint64_t)t->n_switches * t->max_lid <= TINY;
	try_all(&a);
	if (!a.best.routes)
		return route_refuse(why, why_len, "no engine routes this fabric");
	write_note(&a);
	free(a.best.routes->judged); /* by an engine that proved its tables itself */
	a.best.routes->judged = xmemdup(&a.best.verdict, sizeof(a.best.verdict));
	a.best.routes->compared_load =
		a.compared ? a.best.verdict.max_load : job->previous->compared_load;
	snprintf(a.best.routes->by, sizeof(a.best.routes->by), "%s", a.best.name);
	snprintf(a.best.routes->engine, sizeof(a.best.routes->engine), "auto");
	return take(a.best.routes);
}
