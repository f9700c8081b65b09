// SPDX-License-Identifier: BSD-2-Clause
/*
 * The worst single failure. What it cuts off is exact for every cable and switch: one search in
 * depth finds all bridges and cut switches, and how many end ports hang behind them. What it does
 * to the load needs an engine: of failures that look alike (loads both ways, ports, end ports at
 * both ends) one is routed, and no more than --tries in all. What a patch does before routes are
 * computed is tried for each cable.
 */
#include <stdlib.h>
#include <string.h>

#include "offline/plan.h"
#include "route/patch/patch_single.h"
#include "util/mem.h"

/* A search in depth without recursion. Switches are numbered as they are met. */
struct search {
	const struct topo *t;
	uint32_t *met;	   /* 0: not yet */
	uint32_t *low;	   /* the earliest that the subtree reaches besides its own cable */
	uint32_t *via;	   /* entry of ports that led here, on the parent; TOPO_NONE: a root */
	uint32_t *below;   /* end ports in the subtree */
	uint32_t *apart;   /* end ports in subtrees that only this switch connects */
	uint64_t *squares; /* ... their sizes squared, summed */
	uint32_t *root;
	uint16_t *at;	   /* next port to look at */
	uint32_t *stack;
	uint32_t *own;
	/* per entry of ports: end ports behind it, if it is a bridge downwards */
	uint32_t *bridge;
};

static void search_begin(struct search *s, const struct topo *t)
{
	size_t n = (size_t)t->n_switches + 1;

	s->t = t;
	s->met = xcalloc(n, sizeof(*s->met));
	s->low = xcalloc(n, sizeof(*s->low));
	s->via = xcalloc(n, sizeof(*s->via));
	s->below = xcalloc(n, sizeof(*s->below));
	s->apart = xcalloc(n, sizeof(*s->apart));
	s->squares = xcalloc(n, sizeof(*s->squares));
	s->root = xcalloc(n, sizeof(*s->root));
	s->at = xcalloc(n, sizeof(*s->at));
	s->stack = xcalloc(n, sizeof(*s->stack));
	s->own = xcalloc(n, sizeof(*s->own));
	s->bridge = xcalloc((size_t)cut_n_ports(t) + 1, sizeof(*s->bridge));
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE)
			s->own[t->hosts[h].sw]++;
}

static void search_end(struct search *s)
{
	free(s->met);
	free(s->low);
	free(s->via);
	free(s->below);
	free(s->apart);
	free(s->squares);
	free(s->root);
	free(s->at);
	free(s->stack);
	free(s->own);
	free(s->bridge);
}

/* All below `v` was searched: passes its results to its parent. */
static void leave_subtree(struct search *s, uint32_t v, uint32_t parent)
{
	s->below[parent] += s->below[v];
	s->low[parent] = MIN(s->low[parent], s->low[v]);
	if (s->low[v] > s->met[parent])
		s->bridge[s->via[v]] = s->below[v];
	if (s->low[v] >= s->met[parent]) {
		s->apart[parent] += s->below[v];
		s->squares[parent] += (uint64_t)s->below[v] * s->below[v];
	}
}

static void search_from(struct search *s, uint32_t root, uint32_t *met)
{
	const struct topo *t = s->t;
	uint32_t depth = 1;

	s->stack[0] = root;
	s->via[root] = TOPO_NONE;
	s->met[root] = s->low[root] = ++*met;
	s->below[root] = s->own[root];
	s->root[root] = root;
	while (depth) {
		uint32_t v = s->stack[depth - 1], entry, to;

		if (s->at[v] >= t->switches[v].n_ports) {
			if (--depth)
				leave_subtree(s, v, s->stack[depth - 1]);
			continue;
		}
		entry = t->switches[v].first_port + ++s->at[v];
		to = t->ports[entry].sw;
		if (to == TOPO_NONE)
			continue;
		if (s->met[to]) {
			/*
			 * Back over the very cable that led here counts for nothing; a parallel one
			 * does.
			 */
			if (s->via[v] == TOPO_NONE ||
			    topo_port(t, to, t->ports[entry].port) != &t->ports[s->via[v]])
				s->low[v] = MIN(s->low[v], s->met[to]);
			continue;
		}
		s->met[to] = s->low[to] = ++*met;
		s->via[to] = entry;
		s->below[to] = s->own[to];
		s->root[to] = root;
		s->stack[depth++] = to;
	}
}

/*
 * Ordered pairs that no path is left for without switch `v`; those of its own end ports included.
 */
static uint64_t lost_without(const struct search *s, uint32_t v, uint64_t *ret_beyond)
{
	uint64_t all = s->below[s->root[v]], own = s->own[v], rest = all - own - s->apart[v];
	uint64_t squares = s->squares[v] + rest * rest, others = all - own;

	*ret_beyond = others * others - squares;
	return own * (all - 1) + own * others + *ret_beyond;
}

static uint64_t lost_without_cable(const struct search *s, uint32_t entry)
{
	const struct topo_port *p = &s->t->ports[entry];
	uint32_t back = (uint32_t)(topo_port(s->t, p->sw, p->port) - s->t->ports);
	uint64_t behind = MAX(s->bridge[entry], s->bridge[back]), all = s->below[s->root[p->sw]];

	return 2 * behind * (all - behind);
}

/* --- Candidates ----------------------------------------------------------------------------- */

struct candidate {
	struct plan_failure row;
	uint32_t load;	  /* load of the failed channels */
	uint64_t looks;	  /* a hash, equal for failures that look alike */
};

#define COMPARE(x, y) ((x) < (y) ? -1 : (x) > (y))

/*
 * The order in which failures are routed: lost pairs besides those of a leaf's end ports come
 * first.
 */
static int by_weight(const void *va, const void *vb)
{
	const struct candidate *a = va, *b = vb;
	int r = COMPARE(b->row.beyond, a->row.beyond);

	if (!r)
		r = COMPARE(a->row.hosts > 0, b->row.hosts > 0);
	if (!r)
		r = COMPARE(b->row.lost, a->row.lost);
	if (!r)
		r = COMPARE(b->load, a->load);
	if (!r)
		r = COMPARE(a->looks, b->looks);
	return r ? r : COMPARE(a->row.at, b->row.at);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
	return h ^ h >> 31;
}

static struct candidate cable_of(const struct plan_result *r, const struct search *s, uint32_t sw,
				 uint32_t entry)
{
	const struct topo *t = r->world.topo;
	const struct topo_port *p = &t->ports[entry];
	uint32_t back = (uint32_t)(topo_port(t, p->sw, p->port) - t->ports);
	uint32_t one = r->now.figures.load[entry], two = r->now.figures.load[back];
	struct candidate c = { .row = { .kind = PLAN_WORST_LINK,
					.at = entry,
					.lost = lost_without_cable(s, entry) },
			       .load = MAX(one, two) };
	uint64_t ends = mix(0, s->own[sw]) ^ mix(1, t->switches[sw].n_ports) ^
			mix(0, s->own[p->sw]) ^ mix(1, t->switches[p->sw].n_ports);

	c.row.beyond = c.row.lost;
	c.looks = mix(mix(mix(ends, MAX(one, two)), MIN(one, two)), c.row.lost);
	return c;
}

static struct candidate switch_of(const struct plan_result *r, const struct search *s, uint32_t sw)
{
	const struct topo *t = r->world.topo;
	struct candidate c = {
		.row = { .kind = PLAN_WORST_SWITCH, .at = sw, .hosts = s->own[sw] }
	};
	uint64_t loads = 0;

	c.row.lost = lost_without(s, sw, &c.row.beyond);
	for (unsigned i = 1; i <= t->switches[sw].n_ports; i++) {
		uint32_t load = r->now.figures.load[t->switches[sw].first_port + i];

		loads += mix(7, load);
		c.load += load;
	}
	c.looks = mix(mix(mix(loads, s->own[sw]), t->switches[sw].n_ports), c.row.lost);
	return c;
}

static struct candidate *candidates_of(const struct plan_result *r, uint32_t *ret_n)
{
	const struct topo *t = r->world.topo;
	struct candidate *all = xcalloc((size_t)cut_n_ports(t) + 1, sizeof(*all));
	struct search s = { 0 };
	uint32_t met = 0, n = 0;

	search_begin(&s, t);
	for (uint32_t sw = 0; sw < t->n_switches; sw++)
		if (!s.met[sw])
			search_from(&s, sw, &met);
	for (uint32_t sw = 0; sw < t->n_switches; sw++) {
		if (r->world.args->worst == PLAN_WORST_SWITCH) {
			all[n++] = switch_of(r, &s, sw);
			continue;
		}
		for (unsigned i = 1; i <= t->switches[sw].n_ports; i++) {
			const struct topo_port *p = topo_port(t, sw, i);

			if (p->sw != TOPO_NONE && (sw < p->sw || (sw == p->sw && i < p->port)))
				all[n++] = cable_of(r, &s, sw, (uint32_t)(p - t->ports));
		}
	}
	search_end(&s);
	qsort(all, n, sizeof(*all), by_weight);
	*ret_n = n;
	return all;
}

/* --- Routing without them ------------------------------------------------------------------- */

/*
 * What all failures begin with. The tables of the whole fabric were not compared with those of
 * other engines, or not on a damaged one: auto would compare all of them at every failure. It does
 * so at the first, and its choice there is what the next ones begin with: they compare only where
 * the load is clearly higher (KEEP_COMPARED), as in a fabric that has a fault already.
 */
struct base {
	const struct plan_result *of;
	char by[sizeof(((struct routes *)0)->by)];
	uint32_t compared_load;
	bool compared;
};

static struct base base_begin(const struct plan_result *r)
{
	const struct routes *now = r->now.routes;
	struct base b = { .of = r, .compared_load = now->compared_load };

	memcpy(b.by, now->by, sizeof(b.by));
	return b;
}

static void base_end(struct base *b)
{
	struct routes *now = b->of->now.routes;

	memcpy(now->by, b->by, sizeof(b->by));
	now->compared_load = b->compared_load;
}

static void base_learn(struct base *b, const struct routes *after)
{
	struct routes *now = b->of->now.routes;

	if (b->compared || !after->by[0])
		return;
	b->compared = true;
	memcpy(now->by, after->by, sizeof(now->by));
	now->compared_load = after->compared_load;
}

static void try_failure(struct base *b, struct plan_failure *f)
{
	const struct plan_result *r = b->of;
	const struct topo *t = r->world.topo;
	struct plan_args args = *r->world.args;
	struct plan_world world = r->world;
	_cleanup_(cut_freep) struct cut *cut = cut_new(t);
	_cleanup_(topo_unrefp) struct topo *broken = NULL;
	struct plan_tables after;

	args.threads = MAX(args.threads, 1u); /* many short computations: threads would wait */
	world.args = &args;
	if (f->kind == PLAN_WORST_LINK)
		cut->ports[f->at] = true;
	else
		cut->switches[f->at] = true;
	broken = cut_apply(t, cut);
	plan_route(&world, broken, (struct plan_before){ r->now.routes, false }, false, &after);
	f->tried = true;
	f->routed = after.routes != NULL;
	if (after.routes) {
		f->max_load = after.choice.verdict.max_load;
		figures_compare(r->now.routes, after.routes, args.threads, &f->change);
		base_learn(b, after.routes);
	}
	plan_tables_clear(&after);
}

static int by_harm(const void *va, const void *vb)
{
	const struct plan_failure *a = va, *b = vb;
	int r = COMPARE(b->hosts > 0, a->hosts > 0);

	if (!r)
		r = COMPARE(b->lost, a->lost);

	if (!r)
		r = COMPARE(b->tried, a->tried);
	if (!r)
		r = COMPARE(b->tried && !b->routed, a->tried && !a->routed);
	if (!r)
		r = COMPARE(b->max_load, a->max_load);
	return r ? r : COMPARE(a->at, b->at);
}

static bool seen_before(const uint64_t *looks, uint32_t n, uint64_t one)
{
	for (uint32_t i = 0; i < n; i++)
		if (looks[i] == one)
			return true;
	return false;
}

/* Routes one failure of each look; if a number is given, then also others that look alike. */
static void try_some(const struct plan_result *r, struct candidate *all, struct plan_failures *ret)
{
	const struct plan_args *args = r->world.args;
	unsigned tries = args->tries ? args->tries : ret->n;
	_cleanup_free_ uint64_t *looks = xcalloc((size_t)tries + 1, sizeof(*looks));
	struct base base = base_begin(r);

	for (unsigned round = 0; round < (args->tries_given ? 2 : 1); round++)
		for (uint32_t i = 0; i < ret->n && ret->tried < tries; i++) {
			if (all[i].row.tried ||
			    (!round && seen_before(looks, ret->tried, all[i].looks)))
				continue;
			looks[ret->tried++] = all[i].looks;
			try_failure(&base, &all[i].row);
		}
	base_end(&base);
}

static int by_look(const void *va, const void *vb)
{
	const struct candidate *a = va, *b = vb;
	int r = COMPARE(a->looks, b->looks);

	return r ? r : COMPARE(b->row.tried, a->row.tried);
}

/* How many others look like each one. */
static void count_likes(struct candidate *all, uint32_t n)
{
	qsort(all, n, sizeof(*all), by_look);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && all[end].looks == all[i].looks;)
			end++;
		for (uint32_t k = i; k < end; k++) {
			all[k].row.likes = end - i - 1;
			all[k].row.alike = k > i && !all[k].row.tried;
		}
	}
}

struct plan_failures plan_find_worst(const struct plan_result *r)
{
	struct plan_failures ret = { 0 };
	_cleanup_free_ struct candidate *all = candidates_of(r, &ret.n);

	try_some(r, all, &ret);
	count_likes(all, ret.n);
	ret.rows = xcalloc((size_t)ret.n + 1, sizeof(*ret.rows));
	for (uint32_t i = 0; i < ret.n; i++)
		ret.rows[i] = all[i].row;
	qsort(ret.rows, ret.n, sizeof(*ret.rows), by_harm);
	return ret;
}

/* --- Patches of cables ---------------------------------------------------------------------- */

uint32_t plan_patch_moved(const struct plan_patch *p)
{
	uint32_t n = 0;

	for (unsigned how = 0; how < PATCH_WAITING; how++)
		n += p->counts[how];
	return n;
}

/*
 * Those without another way come first, then those that leave most destinations waiting for the
 * routing, then those whose patch goes furthest from what the engine would have done.
 */
static int compare_patches(const void *va, const void *vb)
{
	const struct plan_patch *a = va, *b = vb;
	int r = COMPARE(a->grade, b->grade);

	if (!r)
		r = COMPARE(b->lost, a->lost);
	for (unsigned how = PATCH_HOWS; !r && how-- > 0;)
		r = COMPARE(b->counts[how], a->counts[how]);
	return r;
}

static int by_patch(const void *va, const void *vb)
{
	const struct plan_patch *a = va, *b = vb;
	int r = compare_patches(a, b);

	return r ? r : COMPARE(a->at, b->at);
}

static enum plan_patch_grade grade_of(const struct plan_patch *p)
{
	if (!plan_patch_moved(p) && (p->counts[PATCH_WAITING] || p->lost))
		return PLAN_PATCH_NONE;
	if (p->counts[PATCH_WAITING])
		return PLAN_PATCH_WAITS;
	return plan_patch_moved(p) ? PLAN_PATCH_WHOLE : PLAN_PATCH_UNUSED;
}

static int by_entry(const void *va, const void *vb)
{
	const struct plan_failure *a = va, *b = vb;

	return COMPARE(a->at, b->at);
}

/* The pairs that each cable cuts off, of the failures that --worst has found. */
static void add_lost(struct plan_patches *p, const struct plan_failures *worst)
{
	struct plan_failure *by_at =
		worst->n ? xmemdup(worst->rows, worst->n * sizeof(*worst->rows)) : NULL;

	qsort(by_at, worst->n, sizeof(*by_at), by_entry);
	for (uint32_t i = 0; i < p->n; i++) {
		struct plan_failure key = { .at = p->rows[i].at };
		const struct plan_failure *f =
			bsearch(&key, by_at, worst->n, sizeof(*by_at), by_entry);

		p->rows[i].lost = f ? f->lost : 0;
	}
	free(by_at);
}

struct plan_patches plan_find_patches(const struct plan_result *r)
{
	struct plan_patches ret = { 0 };
	struct patch_single *cables = patch_singles(r->now.routes, r->world.args->threads, &ret.n);

	ret.rows = xcalloc(ret.n + 1u, sizeof(*ret.rows));
	for (uint32_t i = 0; i < ret.n; i++) {
		ret.rows[i].at = cables[i].at;
		memcpy(ret.rows[i].counts, cables[i].counts, sizeof(cables[i].counts));
	}
	free(cables);
	add_lost(&ret, &r->worst);
	for (uint32_t i = 0; i < ret.n; i++) {
		ret.rows[i].grade = grade_of(&ret.rows[i]);
		ret.n_of[ret.rows[i].grade]++;
		if (ret.rows[i].grade == PLAN_PATCH_WAITS)
			ret.waiting += ret.rows[i].counts[PATCH_WAITING];
	}
	qsort(ret.rows, ret.n, sizeof(*ret.rows), by_patch);
	return ret;
}

bool plan_patches_alike(const struct plan_patch *a, const struct plan_patch *b)
{
	return compare_patches(a, b) == 0;
}
