// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lists the destinations, and takes load off the channels that carry most after dealing out.
 *
 * After an event most destinations have the paths that they had: their entries stay where they are,
 * in rows that are derived from the previous ones, and what they carry is what the former tables
 * carried less that of the others. So the cost is that of the destinations with other paths.
 */
#include "route/direct/direct_routes.h"

#include <assert.h>
#include <string.h>

#include "route/core/lid_spread.h"
#include "route/core/nexthop_assign.h"
#include "route/core/unassigned.h"
#include "route/proof/check.h"
#include "route/proof/keep_policy.h"
#include "route/sp/balance.h"

struct goals {
	const struct topo *now, *before; /* `before` may be NULL */
	const bool *same;		 /* per switch: its goals may stay; NULL: none may */
	uint32_t *first;                 /* per switch + 1 */
	struct nexthop_goal *list;
	uint32_t n;
	size_t cap;
	uint32_t n_staying;
};

static void goals_done(struct goals *g)
{
	FREE_ALL(g->first, g->list);
}

static void add_goals(struct goals *g, struct nexthop_goal goal, uint8_t lmc)
{
	uint32_t end = goal.lid ? MIN(goal.lid + (1u << lmc), LID_MAX_UCAST + 1u) : 0;

	for (uint32_t lid = goal.lid; lid < end; lid++) {
		goal.lid = (lid_t)lid;
		goal.turn = g->n;
		APPEND(g->list, g->n, g->cap) = goal;
		g->n_staying += goal.stays;
	}
}

static void add_host(struct goals *g, uint32_t s, unsigned port, uint32_t host)
{
	const struct topo_host *now = &g->now->hosts[host];
	uint32_t i = g->before ? topo_find_host(g->before, now->guid) : TOPO_NONE;
	const struct topo_host *was = i != TOPO_NONE ? &g->before->hosts[i] : NULL;
	bool known = was && was->lid == now->lid;

	add_goals(g, (struct nexthop_goal){
		.lid = now->lid, .port = (uint8_t)port, .known = known,
		.stays = known && g->same && g->same[s] && was->sw == s && was->sw_port == port,
	}, now->lmc);
}

static void list_goals(struct goals *g)
{
	const struct topo *t = g->now, *before = g->before;

	g->first = xcalloc(t->n_switches + 1u, sizeof(*g->first));
	for (uint32_t s = 0; s < t->n_switches; s++) {
		const struct topo_switch *sw = &t->switches[s];
		uint32_t was = before ? topo_find_switch(before, sw->guid) : TOPO_NONE;
		bool known = was != TOPO_NONE && before->switches[was].lid == sw->lid;

		add_goals(g, (struct nexthop_goal){
			.lid = sw->lid, .known = known, .stays = known && g->same && g->same[s],
		}, sw->lmc);
		for (unsigned p = 1; p <= sw->n_ports; p++)
			if (topo_port(t, s, p)->host != TOPO_NONE)
				add_host(g, s, p, topo_port(t, s, p)->host);
		g->first[s + 1] = g->n;
	}
}

/* ---- goals that stay ----------------------------------------------------------------------- */

bool direct_may_stay(const struct route_job *job, const char *engine)
{
	const struct routes *old = job->previous;

	return old && old->dealt && !strcmp(old->engine, engine) &&
	       topo_has_same_switches(old->topo, job->topo) && !lid_spread_is_needed(old->topo) &&
	       !lid_spread_is_needed(job->topo) && unassigned_top(job->topo, old) < old->row_size;
}

/* So many end ports of each switch more (modulo 2^32, so perhaps fewer) send to the LID. */
static void add_flows(const struct routes *r, lid_t lid, const uint32_t *more, uint32_t *load)
{
	for (uint32_t s = 0; s < r->topo->n_switches; s++)
		if (more[s])
			routes_add_load(r, s, lid, more[s], load);
}

/*
 * Per channel what goals that stay carry. That is what a check has counted of the former tables,
 * less what the others carried; or counted anew, if no check left it.
 */
static void count_staying(const struct goals *g, const struct routes *old, uint32_t *load)
{
	const uint32_t *judged = routes_judged_load(old);
	const struct topo *t = g->now;
	_cleanup_free_ uint32_t *less = topo_count_senders(old->topo);
	_cleanup_free_ uint32_t *more = topo_count_senders(t);
	_cleanup_free_ bool *stays = xcalloc(LID_MAX_UCAST + 1u, sizeof(*stays));
	bool differ = false;

	if (!old->judged || old->judged->unreachable)
		judged = NULL;
	if (judged)
		memcpy(load, judged, topo_n_entries(t) * sizeof(*load));
	for (uint32_t s = 0; s < t->n_switches; s++) {
		more[s] -= judged ? less[s] : 0;
		less[s] = 0u - less[s];
		differ |= more[s] != 0;
	}
	for (uint32_t i = 0; i < g->n; i++) {
		stays[g->list[i].lid] = g->list[i].stays;
		if (g->list[i].stays && g->list[i].port && differ)
			add_flows(old, g->list[i].lid, more, load);
	}
	for (uint32_t h = 0; h < old->topo->n_hosts && judged; h++) {
		const struct topo_host *host = &old->topo->hosts[h];

		if (host->lid && host->sw != TOPO_NONE && !stays[host->lid])
			add_flows(old, host->lid, less, load);
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
			     path_dag_finder find, const void *arg, const bool *same)
{
	const struct routes *old = job->previous;
	_cleanup_(goals_done) struct goals goals = {
		.now = job->topo, .before = old ? old->topo : NULL, .same = same,
	};
	_cleanup_free_ uint32_t *load = xcalloc(topo_n_entries(job->topo), sizeof(*load));
	_cleanup_free_ uint32_t *was = old ? topo_match_switches(job->topo, old->topo) : NULL;
	_cleanup_(routes_unrefp) struct routes *r = NULL;
	struct nexthop_job how = {
		.graph = g, .find = find, .arg = arg, .previous = old, .previous_sw = was,
		.limit = limit_of, .threads = route_threads(job), .cancelled = job->cancelled,
	};
	uint32_t before = old ? old->balanced_load : 0, most = UINT32_MAX;
	lid_t top = unassigned_top(job->topo, old);
	bool chosen;

	assert(g->topo == job->topo && engine && find &&
	       (!same || direct_may_stay(job, engine)));
	list_goals(&goals);
	how.first = goals.first;
	how.goals = goals.list;
	if (goals.n_staying)
		count_staying(&goals, old, load);
	r = goals.n_staying ? routes_derive(job->topo, old) : routes_new(job->topo, engine, top);
	r->top = top;
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
	if (goals.n_staying)
		unassigned_open_loops(r);
	else
		unassigned_keep(r, old);
	r->dealt = true;
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
