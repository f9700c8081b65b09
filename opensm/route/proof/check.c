// SPDX-License-Identifier: BSD-2-Clause
/*
 * routes_check(). Follows the tables, whatever the engine intended.
 *
 * The entries for one destination LID are a graph in which every switch has one output. LIDs of a
 * switch that follow each other are checked together (check_run.c), destinations with other than
 * shortest paths one by one (check_any.c). All findings are sums, and the same in any order;
 * threads share LIDs among them. The channel dependency graph (cdg.h) collects, for flows
 * between end ports, which channel is used directly after which; a cycle in it is a possible
 * deadlock (Dally and Seitz).
 */
#include "route/proof/check.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "route/proof/check_internal.h"
#include "route/proof/cdg_internal.h"
#include "util/mem.h"

#define MANY 128 /* of so many entries one was written: the whole is checked faster */

static void merge(struct check_worker *all, const struct check_worker *w)
{
	const struct verifier *j = w->j;

	for (uint32_t c = 0; c < j->n_ports; c++)
		all->load[c] += w->load[c];
	for (uint32_t h = 0; h <= j->topo->n_switches; h++)
		all->pairs_at[h] += w->pairs_at[h];
	all->v.pairs += w->v.pairs;
	all->v.unreachable += w->v.unreachable;
	all->v.cut += w->v.cut;
	all->v.lost += w->v.lost;
	all->v.looping += w->v.looping;
	all->v.detours += w->v.detours;
	all->v.switch_unreachable += w->v.switch_unreachable;
	if (w->v.lost_example.to)
		verdict_note_lost(&all->v, &w->v.lost_example);
}

/* Adjacent LIDs of end ports on one switch, either of hosts or of those set aside. */
struct lid_run {
	lid_t first;
	uint8_t n;
};

static uint32_t find_lid_runs(const struct verifier *j, struct lid_run *ret)
{
	uint32_t n = 0;

	for (unsigned lid = 1; lid <= j->top; lid++) {
		if (j->targets[lid].sw == TOPO_NONE || !j->targets[lid].port)
			continue;
		if (n && ret[n - 1].first + ret[n - 1].n == (int)lid && ret[n - 1].n < 64 &&
		    j->targets[ret[n - 1].first].sw == j->targets[lid].sw &&
		    j->targets[ret[n - 1].first].aside == j->targets[lid].aside)
			ret[n - 1].n++;
		else
			ret[n++] = (struct lid_run){ .first = (lid_t)lid, .n = 1 };
	}
	return n;
}

static void verify_switches(struct check_worker *all)
{
	const struct verifier *j = all->j;
	_cleanup_free_ bool *bad = xcalloc(j->top + 1u, sizeof(*bad));
	_cleanup_free_ lid_t *lids = xcalloc(j->top + 1u, sizeof(*lids));
	uint32_t n = 0;

	for (unsigned lid = 1; lid <= j->top; lid++)
		if (j->targets[lid].sw != TOPO_NONE && !j->targets[lid].port)
			lids[n++] = (lid_t)lid;
#pragma omp parallel for num_threads(j->threads) schedule(static)
	for (uint32_t s = 0; s < j->topo->n_switches; s++)
		for (uint32_t i = 0; i < n; i++)
			if (!verifier_comes_nearer(j, s, lids[i], false))
				__atomic_store_n(&bad[i], true, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t before = all->v.switch_unreachable;

		if (!bad[i]) {
			all->v.switch_unreachable +=
				j->topo->n_switches - j->n_reach[j->targets[lids[i]].sw];
		} else {
			verifier_column_of(j, lids[i], all->columns);
			verify_switch(all, all->columns, lids[i]);
		}
		j->nearer[lids[i]] = !bad[i];
		j->missing[lids[i]] = (uint32_t)(all->v.switch_unreachable - before);
	}
}

static void verify_all(struct check_worker *all)
{
	const struct verifier *j = all->j;
	_cleanup_free_ struct lid_run *runs = xcalloc(j->top + 1u, sizeof(*runs));
	uint32_t n = find_lid_runs(j, runs);

	j->dependencies->turns = cdg_turns_new(j->dependencies, j->threads);
#pragma omp parallel num_threads(j->threads)
	{
		struct check_worker *w = check_worker_new(j);

#pragma omp for schedule(dynamic, 4)
		for (uint32_t i = 0; i < n; i++)
			verify_run(w, runs[i].first, runs[i].n);
#pragma omp critical
		merge(all, w);
		check_worker_free(w);
	}
	j->dependencies->turns = cdg_turns_free(j->dependencies->turns);
	verify_switches(all);
}

static void sum_hops(const struct verifier *j, const uint64_t *pairs_at, struct route_verdict *v)
{
	uint64_t sum = 0, pairs = 0;

	v->max_hops = 0;
	for (uint32_t h = 0; h <= j->topo->n_switches; h++) {
		if (pairs_at[h])
			v->max_hops = h;
		sum += pairs_at[h] * h;
		pairs += pairs_at[h];
	}
	v->avg_hops = pairs ? (double)sum / (double)pairs : 0;
	v->minimal = !v->detours;
}

/* Cables of stubs are left out: no routes can lower what they carry together. */
static void sum_loads(const struct verifier *j, const uint32_t *load, struct route_verdict *v)
{
	const uint32_t *paces = j->topo->paces;
	uint64_t sum = 0;
	double channels = 0; /* in cables of the median rate */

	v->max_load = 0;
	v->min_load = UINT32_MAX;
	for (uint32_t c = 0; c < j->n_ports; c++) {
		if (!j->counted[c])
			continue;
		channels += topo_room(paces, c);
		sum += load[c];
		v->max_load = MAX(v->max_load, topo_load(paces, c, load[c]));
		v->min_load = MIN(v->min_load, topo_load(paces, c, load[c]));
	}
	v->avg_load = channels > 0 ? (double)sum / channels : 0;
	if (v->min_load == UINT32_MAX)
		v->min_load = 0;
}

/* Counts the VLs in use, and the SLs of paths between end ports. */
static void count_vls(const struct verifier *j, struct route_verdict *v)
{
	const struct sl2vl *l = j->routes->lanes;
	_cleanup_free_ bool *seen = NULL;
	_cleanup_free_ lid_t *lids = NULL;
	uint32_t n = 0;
	uint16_t sls = 0;

	if (!l || l->by == SL2VL_BY_NOTHING) {
		v->n_vls = (unsigned)__builtin_popcount(cdg_vls(j->dependencies));
		v->n_sls = 1;
		return;
	}
	seen = xcalloc(j->topo->n_switches, sizeof(*seen));
	lids = xcalloc(j->top + 1u, sizeof(*lids));
	for (unsigned lid = 0; lid <= j->top; lid++) {
		uint32_t to = j->targets[lid].sw;

		if (to == TOPO_NONE || !j->targets[lid].port || j->targets[lid].aside ||
		    (l->by == SL2VL_BY_SWITCHES && seen[to]))
			continue;
		seen[to] = true;
		lids[n++] = (lid_t)lid;
	}
	for (uint32_t s = 0; s < j->topo->n_switches; s++)
		for (uint32_t i = 0; j->sources[s] && i < n; i++)
			sls |= (uint16_t)(1u << sl2vl_sl(l, s, j->targets[lids[i]].sw, lids[i], 0));
	/* a graph that was moved on may have VLs that went with their end ports */
	v->n_vls = (unsigned)__builtin_popcount(cdg_vls_with(j->dependencies, sls));
	v->n_sls = (unsigned)__builtin_popcount(sls);
}

/* From sums to figures. */
static void sum_up(const struct route_proof *p, struct route_verdict *ret)
{
	*ret = p->v;
	count_vls(&p->j, ret);
	sum_hops(&p->j, p->pairs_at, ret);
	sum_loads(&p->j, p->load, ret);
}

static struct route_proof *route_proof_free(struct route_proof *p)
{
	if (!p)
		return NULL;
	verifier_done(&p->j);
	FREE_ALL(p->load, p->pairs_at, p);
	return NULL;
}

/* Checks everything. */
static struct route_proof *verify_whole(const struct routes *r, unsigned threads,
					struct route_verdict *ret)
{
	struct route_proof *p = xcalloc(1, sizeof(*p));
	struct check_worker *all;

	verifier_begin(&p->j, r, threads);
	all = check_worker_new(&p->j);
	verify_all(all);
	p->v = all->v;
	p->load = take(all->load);
	p->pairs_at = take(all->pairs_at);
	check_worker_free(all);
	sum_up(p, ret);
	if (!cdg_is_acyclic(p->j.dependencies))
		ret->cycle_channels = cdg_on_cycles(p->j.dependencies);
	ret->credit_loop = ret->cycle_channels;
	return p;
}

void routes_check_graph(const struct routes *r, unsigned threads, struct route_verdict *ret,
			struct cdg **graph)
{
	struct route_proof *p = verify_whole(r, threads, ret);

	if (graph)
		*graph = take(p->j.dependencies);
	route_proof_free(p);
}

void routes_check(const struct routes *r, unsigned threads, struct route_verdict *ret)
{
	assert(r && ret);
	routes_check_graph(r, threads, ret, NULL);
}

/* Not if there are more levels of service by now. */
static bool is_graph_of(const struct cdg *g, const struct routes *r)
{
	return !g->lanes || (g->lanes == r->lanes && g->scheme_vls == g->lanes->n_vls);
}

/* Forgets LIDs of all hosts from `n` on, of others on a switch, and of ends that are set aside. */
static void forget_targets(struct verifier *j, uint32_t n, enum check_some some)
{
	const struct topo *t = j->topo;
	_cleanup_free_ bool *has = xcalloc(t->n_switches + 1u, sizeof(*has));

	for (uint32_t h = 0; h < t->n_hosts; h++) {
		uint32_t at = t->hosts[h].sw;

		if (at == TOPO_NONE || !t->hosts[h].lid ||
		    (h < n && (some == CHECK_EACH || !has[at])))
			has[at == TOPO_NONE ? t->n_switches : at] |= t->hosts[h].lid != 0;
		else
			TOPO_EACH_LID(&t->hosts[h], lid)
				j->targets[lid].sw = TOPO_NONE;
	}
	for (uint32_t i = 0; i < t->n_asides; i++)
		TOPO_EACH_LID(&t->asides[i], lid)
			j->targets[lid].sw = TOPO_NONE;
}

bool routes_loop_to(const struct routes *r, unsigned threads, uint32_t n_hosts,
		    enum check_some some)
{
	_cleanup_(verifier_done) struct verifier j = { .routes = NULL };
	_cleanup_free_ struct lid_run *runs = NULL;
	uint32_t n;

	assert(r && n_hosts <= r->topo->n_hosts);
	verifier_begin(&j, r, threads);
	forget_targets(&j, n_hosts, some);
	runs = xcalloc(j.top + 1u, sizeof(*runs));
	n = find_lid_runs(&j, runs);
	j.dependencies->turns = cdg_turns_new(j.dependencies, j.threads);
#pragma omp parallel num_threads(j.threads)
	{
		struct check_worker *w = check_worker_new(&j);

#pragma omp for schedule(dynamic, 4)
		for (uint32_t i = 0; i < n; i++)
			verify_dependencies(w, runs[i].first, runs[i].n);
		check_worker_free(w);
	}
	return !cdg_is_acyclic(j.dependencies);
}

struct cdg *cdg_of(const struct routes *r, unsigned threads)
{
	struct cdg *g = NULL;
	struct route_verdict v;

	/* A proof's graph may have those of former paths, too; no present one is missing. */
	if (r->cache->proof && is_graph_of(r->cache->proof->j.dependencies, r))
		return cdg_copy(r->cache->proof->j.dependencies);
	g = atomic_exchange(&r->cache->graph, NULL);
	if (g && is_graph_of(g, r))
		return g;
	cdg_free(g);
	routes_check_graph(r, threads, &v, &g);
	return g;
}

/* What cdg_of() is to return, once: `g`, without a cycle, of a check of these very tables. */
static void cdg_leave(const struct routes *r, struct cdg *g)
{
	r->cache->graph_free = cdg_free;
	cdg_free(atomic_exchange(&r->cache->graph, g));
}

const char *route_fault(const struct route_verdict *v)
{
	return v->looping	? "go round"
	       : v->lost	 ? "leave pairs without a path"
	       : v->credit_loop ? "can block each other (credit loop)"
				: NULL;
}

/* ---- check after a former check -------------------------------------------------------------- */

/*
 * State that the next check can start from; NULL where it would have to start anew anyway: then
 * the graph alone stays.
 */
static struct route_proof *prove(const struct routes *r, unsigned threads,
				 struct route_verdict *ret)
{
	struct route_proof *p = verify_whole(r, threads, ret);

	if (!route_fault(ret) && (p->j.simple || r->lanes))
		return p;
	cdg_leave(r, ret->credit_loop ? NULL : take(p->j.dependencies));
	return route_proof_free(p);
}

/* Takes over `p`, the proof of tables that differ by `changes` (NULL: unknown). Was it enough? */
static bool check_moved(struct route_proof *p, const struct routes *r,
			const struct route_changes *changes, unsigned threads,
			struct route_verdict *ret)
{
	bool short_way = p && route_proof_move(p, r, changes);

	if (short_way) {
		sum_up(p, ret);
	} else {
		route_proof_free(p);
		p = prove(r, threads, ret);
	}
	r->cache->proof_free = route_proof_free;
	route_proof_free(atomic_exchange(&r->cache->proof, p));
	return short_way;
}

bool routes_check_after(const struct routes *previous, const struct routes *r, unsigned threads,
			struct route_verdict *ret)
{
	struct route_changes changes = { .entries = NULL };
	struct route_proof *p = NULL;
	bool short_way;

	if (previous)
		p = atomic_exchange(&previous->cache->proof, NULL);
	if (p)
		changes.entries = routes_changes(previous, r, &changes.n);
	short_way = check_moved(p, r, &changes, threads, ret);
	free(changes.entries);
	return short_way;
}

bool routes_check_since(struct routes *r, size_t mark, unsigned threads, struct route_verdict *ret)
{
	size_t written = routes_mark(r) - mark;
	struct route_changes changes;
	bool short_way;

	if (written > (size_t)r->topo->n_switches * r->top / MANY)
		return routes_check_after(NULL, r, threads, ret);
	changes.entries = routes_changes_since(r, mark, &changes.n);
	short_way = check_moved(atomic_exchange(&r->cache->proof, NULL), r, &changes, threads, ret);
	free(changes.entries);
	return short_way;
}

const uint32_t *routes_judged_load(const struct routes *r)
{
	return r->cache->proof ? r->cache->proof->load : NULL;
}

/* Every switch is a source as well, by its port 0, and every LID a destination. */
struct cdg *cdg_with_switches(const struct routes *r, unsigned threads)
{
	_cleanup_(verifier_done) struct verifier j = { .routes = NULL };

	verifier_begin(&j, r, threads);
	for (uint32_t s = 0; s < r->topo->n_switches; s++) {
		j.sources[s]++;
		j.n_sources++;
		j.dependencies->hosts[(size_t)s * j.dependencies->words] |= 1;
	}
	j.dependencies->turns = cdg_turns_new(j.dependencies, j.threads);
#pragma omp parallel num_threads(j.threads)
	{
		struct check_worker *w = check_worker_new(&j);

#pragma omp for schedule(dynamic, 16)
		for (unsigned lid = 1; lid <= j.top; lid++) {
			if (j.targets[lid].sw == TOPO_NONE)
				continue;
			verifier_column_of(&j, (lid_t)lid, w->columns);
			verify_any(w, w->columns, (lid_t)lid);
		}
		check_worker_free(w);
	}
	j.dependencies->turns = cdg_turns_free(j.dependencies->turns);
	return take(j.dependencies);
}

char *route_verdict_str(const struct route_verdict *v, char ret[ROUTE_VERDICT_STRLEN])
{
	char reach[96], loops[64];

	if (v->unreachable)
		snprintf(reach, sizeof(reach), "%llu of %llu pairs have no path (%llu going round)",
			 (unsigned long long)v->unreachable, (unsigned long long)v->pairs,
			 (unsigned long long)v->looping);
	else if (!v->pairs)
		snprintf(reach, sizeof(reach), "no pairs of end ports on switches");
	else
		snprintf(reach, sizeof(reach), "all %llu pairs have a path",
			 (unsigned long long)v->pairs);
	if (v->credit_loop)
		snprintf(loops, sizeof(loops), "credit loops over %u channels", v->cycle_channels);
	else
		snprintf(loops, sizeof(loops), "no credit loop");
	snprintf(ret, ROUTE_VERDICT_STRLEN,
		 "%s, %s, %.2f hops on average and %u at most%s, %u to %u paths on a link (%.0f on "
		 "average)",
		 reach, loops, v->avg_hops, v->max_hops, v->minimal ? "" : " (not minimal)",
		 v->min_load, v->max_load, v->avg_load);
	return ret;
}
