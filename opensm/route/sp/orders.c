// SPDX-License-Identifier: BSD-2-Clause
/*
 * Looks at a sample: up to SAMPLE switches as roots, and paths from everywhere to up to SAMPLE
 * others. Roots are taken greedily. A pair counts the less the more roots reach it already, so that
 * with more orders than are needed to reach all pairs, choice grows where it is least.
 */
#include "route/sp/orders.h"

#include <assert.h>
#include <string.h>

#include "route/core/path_dag.h"
#include "util/mem.h"

#define SAMPLE 64

struct orders {
	const struct graph *graph;
	const struct distances *distances;
	uint32_t n;
	uint32_t roots[SAMPLE], ends[SAMPLE];
	unsigned n_roots, n_ends;
	uint64_t *reached;  /* reached[end * n + switch]: a bit per root of the sample */
	uint64_t *straight; /* the same, per switch, of paths that only lead away */
	uint8_t *times;	    /* as reached: chosen roots that reach it */
};

/* Distinct switches spread over all that qualify; `sources` NULL: all do. */
static unsigned sample_switches(uint32_t n, const uint32_t *sources, uint32_t salt, uint32_t *ret)
{
	_cleanup_free_ uint32_t *all = xcalloc(n, sizeof(*all));
	uint32_t n_all = 0;
	unsigned most;

	for (uint32_t s = 0; s < n; s++)
		if (!sources || sources[s])
			all[n_all++] = s;
	most = MIN(n_all, SAMPLE);
	for (unsigned i = 0; i < most; i++) {
		uint32_t width = n_all / most, first = (uint32_t)((uint64_t)i * n_all / most);

		salt = salt * 1664525 + 1013904223;
		ret[i] = all[first + (salt >> 8) % width];
	}
	return most;
}

/* Which roots let `s` reach the end at all, and which without a step towards them. */
static void reach_end(struct orders *o, const struct path_dag *w, uint32_t i, uint64_t *reached)
{
	uint32_t s = w->order[i];

	reached[s] = o->straight[s] = 0;
	for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
		uint32_t v = w->edges[k].next;
		uint64_t towards = 0;

		if (k > w->first[i] && w->edges[k - 1].next == v)
			continue;
		for (unsigned r = 0; r < o->n_roots; r++)
			if (orders_towards(distances_from(o->distances, o->roots[r]), s, v))
				towards |= UINT64_C(1) << r;
		o->straight[s] |= o->straight[v] & ~towards;
		reached[s] |= (reached[v] & towards) | (o->straight[v] & ~towards);
	}
}

static void look_at_ends(struct orders *o)
{
	struct path_dag w;

	path_dag_init(&w, o->graph);
	for (unsigned e = 0; e < o->n_ends; e++) {
		uint64_t *reached = o->reached + (size_t)e * o->n;

		path_dag_find(&w, o->distances, o->ends[e]);
		reached[w.to] = o->straight[w.to] = UINT64_MAX;
		for (uint32_t i = 0; i < w.n; i++)
			reach_end(o, &w, i, reached);
		reached[w.to] = 0;
	}
	path_dag_done(&w);
}

static unsigned best_root(const struct orders *o, const uint32_t *sources)
{
	_cleanup_free_ uint64_t *worth = xcalloc(SAMPLE, sizeof(*worth));
	unsigned best = 0;

	for (size_t i = 0; i < (size_t)o->n_ends * o->n; i++) {
		uint64_t value = UINT64_C(1) << (24 - 3 * MIN(o->times[i], 8)),
			 reached = o->reached[i];

		for (; reached && sources[i % o->n]; reached &= reached - 1)
			worth[__builtin_ctzll(reached)] += value;
	}
	for (unsigned r = 1; r < o->n_roots; r++)
		if (worth[r] > worth[best])
			best = r;
	return best;
}

void orders_find(const struct graph *g, const struct distances *d, const uint32_t *sources,
		 unsigned n_roots, uint32_t *roots)
{
	_cleanup_(arena_done) struct arena memory = { NULL };
	struct orders o = { .graph = g, .distances = d, .n = g->n };

	assert(d->n == g->n && sources);
	memset(roots, 0, n_roots * sizeof(*roots));
	o.n_roots = sample_switches(g->n, NULL, 1, o.roots);
	o.n_ends = sample_switches(g->n, sources, 2, o.ends);
	if (!o.n_ends)
		return;
	ARENA_ARRAYS(&memory, (size_t)o.n_ends * o.n, o.reached, o.times);
	ARENA_ARRAY(&memory, o.straight, o.n);
	look_at_ends(&o);
	for (unsigned k = 0; k < n_roots; k++) {
		unsigned best = best_root(&o, sources);

		roots[k] = o.roots[best];
		for (size_t i = 0; i < (size_t)o.n_ends * o.n; i++)
			o.times[i] = (uint8_t)(o.times[i] + (o.reached[i] >> best & 1));
	}
}
