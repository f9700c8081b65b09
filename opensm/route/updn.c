// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engines updn and dnup: ways that go up and then down (tree.h), on any graph.
 *
 * updn takes its levels from root_guid_file; without one, or where no root of it is there, from the distance to
 * the leaves, which a few broken cables do not change. dnup takes them from the distance to the nearest host.
 * Where levels say nothing, as on a torus, the order grows along the fabric (tree.c).
 *
 * connect_roots needs nothing here: roots have ways to each other in any case, legal ones.
 */
#include "route/updown.h"

#include <stdio.h>
#include <string.h>

#include "route/engines.h"
#include "route/repair.h"
#include "route/updn.h"
#include "util/mem.h"

/* Below this share of cables between neighbouring levels (percent) there are none worth following. */
#define LEVELLED 70

struct routes *updown_route(const struct route_job *job, const struct updown *how, char *why,
			    size_t why_len)
{
	const struct tree *tree = how->tree;
	struct graph *g = how->graph;
	struct fill_plan plan = {
		.engine = how->engine, .graph = g, .tree = tree,
		.spread = { .levels = how->levels, .apart = how->apart,
			    .from_above = how->from_above },
		.keeps_homes = how->keeps_homes,
	};
	struct routes *r;

	tree_orient(tree, g);
	r = repair_tables(job, &plan);
	if (!r) {
		plan.distances = tree_distances(tree, g, fill_threads(job), job->cancelled);
		r = plan.distances ? fill_tables(job, &plan) : NULL;
		distances_free(plan.distances);
	}
	if (!r) {
		snprintf(why, why_len, "cancelled");
		return NULL;
	}
	if (tree->n_below)
		snprintf(r->note, sizeof(r->note),
			 "%u switches have their only ways through lower ones, and count as lowest",
			 tree->n_below);
	return r;
}

/* The levels if they are worth it; NULL: none. */
static const uint16_t *worthy(const struct graph *g, const uint16_t *levels)
{
	bool any = false;

	for (uint32_t u = 0; u < g->n; u++)
		any |= levels[u] && levels[u] != DISTANCE_NONE;
	return any && tree_levelled(g, levels) >= LEVELLED ? levels : NULL;
}

/* Fills `levels`; NULL if they are not worth following. */
static const uint16_t *updn_levels(const struct graph *g, const struct route_options *o,
				   uint16_t *levels, bool *ret_roots)
{
	*ret_roots = o->roots.n && tree_levels_from_roots(g, &o->roots, levels);
	if (*ret_roots)
		return levels;
	spread_levels(g, levels);
	return worthy(g, levels);
}

uint32_t updn_roots(const struct topo *t, const struct route_options *o, uint32_t **ret)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(t, o);
	_cleanup_free_ uint16_t *levels = xcalloc(g->n + 1, sizeof(*levels));
	_cleanup_(tree_freep) struct tree *tree = NULL;
	const uint16_t *followed;
	uint16_t top = 0;
	uint32_t n = 0;
	bool has_roots;

	followed = updn_levels(g, o, levels, &has_roots);
	*ret = xcalloc(g->n + 1, sizeof(**ret));
	if (!followed) {
		tree = tree_new(g, &(struct tree_plan){ .ids = o->ids, .n_ids = o->n_ids });
		if (tree->n)
			(*ret)[n++] = tree->order[0];
		return n;
	}
	for (uint32_t s = 0; s < g->n; s++)
		if (levels[s] != DISTANCE_NONE)
			top = MAX(top, levels[s]);
	for (uint32_t s = 0; s < g->n; s++)
		if (levels[s] == top)
			(*ret)[n++] = s;
	return n;
}

struct routes *updn_compute(const struct route_job *job, char *why, size_t why_len)
{
	const struct route_options *o = &job->options;
	_cleanup_(graph_freep) struct graph *g = NULL;
	_cleanup_(tree_freep) struct tree *tree = NULL;
	_cleanup_free_ uint16_t *levels = NULL;
	const uint16_t *followed;
	struct routes *r;
	bool has_roots;

	if (!fill_is_possible(job, why, why_len))
		return NULL;
	g = graph_new(job->topo, o);
	levels = xcalloc(g->n, sizeof(*levels));
	followed = updn_levels(g, o, levels, &has_roots);
	tree = tree_new(g, &(struct tree_plan){
		.levels = followed, .ids = o->ids, .n_ids = o->n_ids, .previous = job->previous,
	});
	r = updown_route(job, &(struct updown){
		.engine = "updn", .graph = g, .tree = tree, .levels = followed,
	}, why, why_len);
	if (r && o->roots.given && !has_roots)
		snprintf(r->note, sizeof(r->note),
			 "no switch of root_guid_file is there: levels are found by distance to the hosts");
	return r;
}

struct routes *dnup_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = NULL;
	_cleanup_(tree_freep) struct tree *tree = NULL;
	_cleanup_free_ uint16_t *levels = NULL;
	const uint16_t *followed;

	if (!fill_is_possible(job, why, why_len))
		return NULL;
	g = graph_new(job->topo, &job->options);
	levels = xcalloc(g->n, sizeof(*levels));
	tree_levels_from_edge(g, levels);
	followed = worthy(g, levels);
	tree = tree_new(g, &(struct tree_plan){ .levels = followed, .previous = job->previous });
	return updown_route(job, &(struct updown){
		.engine = "dnup", .graph = g, .tree = tree, .levels = followed,
	}, why, why_len);
}
