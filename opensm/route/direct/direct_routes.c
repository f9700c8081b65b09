// SPDX-License-Identifier: BSD-2-Clause
/* Lists the destinations, and takes load off the channels that carry most after dealing out. */
#include "route/direct/direct_routes.h"

#include <assert.h>

#include "route/core/lid_spread.h"
#include "route/core/nexthop_assign.h"
#include "route/core/unassigned.h"
#include "route/proof/keep_policy.h"
#include "route/sp/balance.h"

struct goals {
	const struct topo *now, *before; /* `before` may be NULL */
	uint32_t *first;                 /* per switch + 1 */
	struct nexthop_goal *list;
	uint32_t n;
	size_t cap;
};

static void goals_done(struct goals *g)
{
	FREE_ALL(g->first, g->list);
}

static void add_goals(struct goals *g, struct nexthop_goal goal, uint8_t lmc)
{
	uint32_t end = goal.lid ? MIN(goal.lid + (1u << lmc), LID_MAX_UCAST + 1u) : 0;

	for (uint32_t lid = goal.lid; lid < end; lid++) {
		GROW(g->list, g->n + 1u, g->cap);
		goal.lid = (lid_t)lid;
		goal.turn = g->n;
		g->list[g->n++] = goal;
	}
}

static void list_goals(struct goals *g)
{
	const struct topo *t = g->now, *before = g->before;

	g->first = xcalloc(t->n_switches + 1u, sizeof(*g->first));
	for (uint32_t s = 0; s < t->n_switches; s++) {
		const struct topo_switch *sw = &t->switches[s];
		uint32_t was = before ? topo_find_switch(before, sw->guid) : TOPO_NONE;

		add_goals(g, (struct nexthop_goal){
			.lid = sw->lid,
			.known = was != TOPO_NONE && before->switches[was].lid == sw->lid,
		}, sw->lmc);
		for (unsigned p = 1; p <= sw->n_ports; p++) {
			uint32_t h = topo_port(t, s, p)->host;

			if (h == TOPO_NONE)
				continue;
			was = before ? topo_find_host(before, t->hosts[h].guid) : TOPO_NONE;
			add_goals(g, (struct nexthop_goal){
				.lid = t->hosts[h].lid, .port = (uint8_t)p,
				.known = was != TOPO_NONE &&
					 before->hosts[was].lid == t->hosts[h].lid,
			}, t->hosts[h].lmc);
		}
		g->first[s + 1] = g->n;
	}
}

static uint32_t limit_of(uint32_t mean)
{
	return keep_limit(KEEP_STEPS, mean);
}

/*
 * Rounds bring every path to where it is cheapest, sums of loads being the price; what remains on
 * the most loaded channels is taken off them here, if they carry clearly more than the mean.
 */
static uint32_t balance_load(const struct route_job *job, const struct nexthop_job *how,
			     const uint32_t *load, struct routes *r)
{
	_cleanup_(dest_order_freep) struct dest_order *dests =
		dest_order_new(job->topo, &(struct route_options){ 0 });
	uint32_t before = job->previous ? job->previous->balanced_load : 0, moved;

	return balance_channels(&(struct balance_job){
		.graph = how->graph, .find = how->find, .arg = how->arg, .dests = dests,
		.load = load, .tolerated = keep_limit(KEEP_STEPS, before), .threads = 1,
		.cancelled = job->cancelled,
	}, r, &moved);
}

struct routes *direct_routes(const struct route_job *job, const struct graph *g, const char *engine,
			     path_dag_finder find, const void *arg)
{
	const struct routes *old = job->previous;
	_cleanup_(goals_done) struct goals goals = {
		.now = job->topo, .before = old ? old->topo : NULL,
	};
	_cleanup_free_ uint32_t *load = xcalloc(topo_n_entries(job->topo), sizeof(*load));
	_cleanup_free_ uint32_t *was = old ? topo_match_switches(job->topo, old->topo) : NULL;
	_cleanup_(routes_unrefp) struct routes *r =
		routes_new(job->topo, engine, unassigned_top(job->topo, old));
	struct nexthop_job how = {
		.graph = g, .find = find, .arg = arg, .previous = old, .previous_sw = was,
		.limit = limit_of, .threads = route_threads(job), .cancelled = job->cancelled,
	};
	uint32_t before = old ? old->balanced_load : 0, most = UINT32_MAX;
	bool chosen;

	assert(g->topo == job->topo && engine && find);
	list_goals(&goals);
	how.first = goals.first;
	how.goals = goals.list;
	chosen = nexthop_assign(&how, r, load);
	if (route_is_cancelled(job))
		return NULL;
	if (chosen)
		most = balance_load(job, &how, load, r);
	if (lid_spread_is_needed(job->topo))
		most = lid_spread(&(struct lid_spread_job){
			.graph = g, .find = find, .arg = arg, .previous = old, .limit = most,
			.cancelled = job->cancelled,
		}, r);
	r->balanced_load = most == UINT32_MAX ? before : keep_base(KEEP_STEPS, most, before);
	return take(r);
}

bool direct_enter_rest(struct path_dag *w, uint32_t *hops)
{
	const struct graph *g = w->graph;
	uint32_t regular = w->n, most = 1;

	for (uint32_t u = 0; u < g->n; u++)
		most = hops[u] == TOPO_NONE ? most : MAX(most, hops[u]);
	for (uint32_t now = 2; w->n + 1 < g->n && now <= most + 1; now++) {
		uint32_t first = w->n;

		for (uint32_t u = 0; u < g->n; u++)
			for (uint32_t i = g->first[u]; hops[u] == TOPO_NONE && i < g->first[u + 1];
			     i++) {
				if (hops[g->groups[i].to] != now - 1)
					continue;
				if (w->n == first || w->order[w->n - 1] != u)
					path_dag_switch(w, u);
				path_dag_group(w, &g->groups[i]);
			}
		for (uint32_t i = first; i < w->n; i++)
			hops[w->order[i]] = now;
		most = w->n > first ? MAX(most, now) : most;
	}
	return w->n > regular;
}
