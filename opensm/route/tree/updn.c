// SPDX-License-Identifier: BSD-2-Clause
/*
 * The engines updn and dnup: paths that go up and then down (tree.h), on any graph.
 *
 * updn takes its levels from root_guid_file; without one, or where no root of it is there, from the
 * distance to the leaves, which a few broken cables do not change. dnup takes them from the
 * distance to the nearest host. Where levels say nothing, as on a torus, the order grows along the
 * fabric (tree.c).
 *
 * connect_roots has no effect: roots have legal paths to each other in any case.
 */
#include "route/tree/updown.h"

#include <assert.h>
#include <stdio.h>

#include "route/select/engines.h"
#include "route/tree/repair.h"
#include "util/mem.h"

/* Below this share of cables between neighbouring levels (percent) levels are not followed. */
#define LEVELLED 70

struct routes *updown_route(const struct route_job *job, const struct fill_plan *plan)
{
	struct routes *r;

	assert(plan->tree && plan->graph);
	r = repair_or_fill(job, plan);
	if (r && plan->tree->n_below)
		snprintf(r->note, sizeof(r->note),
			 "%u switches have their only ways through lower ones, and count as lowest",
			 plan->tree->n_below);
	return r;
}

/* The levels if they are worth following; NULL: none. */
static const uint16_t *levels_worth_following(const struct graph *g, const uint16_t *levels)
{
	bool any = false;

	for (uint32_t u = 0; u < g->n; u++)
		any |= levels[u] && levels[u] != DISTANCE_NONE;
	return any && tree_levelled(g, levels) >= LEVELLED ? levels : NULL;
}

const uint16_t *updn_levels(const struct graph *g, const struct route_options *o, uint16_t *levels,
			    bool *ret_roots)
{
	*ret_roots = o->roots.n && tree_levels_from_roots(g, &o->roots, levels);
	if (*ret_roots)
		return levels;
	dmodk_levels(g, levels);
	return levels_worth_following(g, levels);
}

static struct routes *route_by(const struct route_job *job, bool is_updn, char *why, size_t why_len)
{
	const struct route_options *o = &job->options;
	_cleanup_(graph_freep) struct graph *g = NULL;
	_cleanup_(tree_freep) struct tree *tree = NULL;
	_cleanup_free_ uint16_t *levels = NULL;
	struct tree_plan plan = { .previous = job->previous };
	bool has_roots = true;
	struct routes *r;

	if (!route_is_possible(job, why, why_len))
		return NULL;
	g = graph_new(job->topo, o);
	levels = xcalloc(g->n, sizeof(*levels));
	if (is_updn) {
		plan.levels = updn_levels(g, o, levels, &has_roots);
		plan.ids = o->ids;
		plan.n_ids = o->n_ids;
	} else {
		tree_levels_from_edge(g, levels);
		plan.levels = levels_worth_following(g, levels);
	}
	tree = tree_new(g, &plan);
	tree_orient(tree, g);
	r = updown_route(job, &(struct fill_plan){
		.engine = is_updn ? "updn" : "dnup", .graph = g, .tree = tree,
		.spread = { .levels = plan.levels },
	});
	if (r && is_updn && has_roots)
		tree_note_roots(g, &o->roots, r->note, sizeof(r->note));
	if (r && o->roots.given && !has_roots)
		snprintf(r->note, sizeof(r->note),
			 "no switch of root_guid_file is there: levels are found by distance to "
			 "the hosts");
	return r;
}

struct routes *updn_compute(const struct route_job *job, char *why, size_t why_len)
{
	return route_by(job, true, why, why_len);
}

struct routes *dnup_compute(const struct route_job *job, char *why, size_t why_len)
{
	return route_by(job, false, why, why_len);
}
