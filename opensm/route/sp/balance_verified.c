// SPDX-License-Identifier: BSD-2-Clause
/*
 * In a tree a destination has one path down (minhop.c), and a leaf of eight hosts with seven cables
 * left has two destinations on one of them, twice the load of the others. Only the senders can
 * share that out: some come down another path than others. In fresh tables of large fabrics they
 * part by counting (part_crowded() in dmodk.c); what that leaves, and what repairs leave, is done
 * here. The load of every channel is known from the proof, so finding such channels costs a look,
 * and sharing them out costs what they are.
 *
 * Paths are those of the engine, by the hops it left: over the nearest neighbours; where it orders
 * switches, over lower ones while there is a path down, else over higher ones.
 */
#include "route/sp/balance.h"

#include <assert.h>
#include <string.h>

#include "route/core/lid_spread.h"
#include "route/core/path_dag.h"
#include "route/proof/check.h"
#include "route/proof/keep_policy.h"
#include "util/mem.h"

bool balance_is_path(const struct routes *r, uint32_t sw, uint32_t next, uint32_t to)
{
	uint32_t n = r->topo->n_switches;
	const uint8_t *hops = r->hops + (size_t)to * n;

	if (hops[next] + 1 != hops[sw])
		return false;
	if (!r->places)
		return true;
	/* Only lower ones are reached from there, or not from here. */
	return r->places[next] > r->places[sw] ? next == to || hops_go_down(r->downs, n, next, to)
					       : !hops_go_down(r->downs, n, sw, to);
}

/* Orders switches by their distance from one. `arg`: the routes. */
static void find_order(const void *arg, uint32_t to, struct path_dag *w)
{
	const struct routes *r = arg;
	const uint8_t *hops = r->hops + (size_t)to * w->graph->n;

	path_dag_begin(w, to);
	for (uint32_t s = 0; s < w->graph->n; s++)
		w->far[s] = hops[s] == 0xFF ? DISTANCE_NONE : hops[s];
	w->n = path_dag_sort(w, UINT16_MAX, w->order);
}

/* All paths of the engine from order[i]. */
static void find_edges(const void *arg, uint32_t i, struct path_dag *w)
{
	const struct routes *r = arg;
	const struct graph *g = w->graph;
	const uint8_t *hops = r->hops + (size_t)w->to * g->n;
	uint32_t s = w->order[i], n = w->n;

	w->n = i;
	w->n_edges = 0;
	path_dag_switch(w, s);
	for (uint32_t k = g->first[s]; k < g->first[s + 1]; k++)
		if (hops[g->groups[k].to] + 1 == hops[s] &&
		    (!r->places || balance_is_path(r, s, g->groups[k].to, w->to)))
			path_dag_group(w, &g->groups[k]);
	w->n = n;
}

/* Only where nothing but load decides, and the judge has counted. */
static bool is_free(const struct route_job *job, const struct routes *r)
{
	const struct route_options *o = &job->options;

	return r->hops && !r->lanes && r->topo->n_switches && !r->places == !r->downs &&
	       routes_judged_load(r) && !o->n_weights && !route_says_how_to_count(o) &&
	       !lid_spread_is_needed(r->topo);
}

/* By looking at all entries; `changed` as below. */
static void compare_rows(const struct routes *was, const struct routes *r, bool *changed)
{
	uint32_t blocks = r->row_size / LFT_BLOCK_LIDS;

	for (uint32_t s = 0; s < r->topo->n_switches; s++) {
		uint32_t row = topo_find_switch(was->topo, r->topo->switches[s].guid);

		for (uint32_t b = 0, lid = 0; b < blocks; b++, lid += LFT_BLOCK_LIDS)
			changed[(size_t)s * blocks + b] =
				row == TOPO_NONE || lid >= was->row_size ||
				memcmp(routes_row(was, row) + lid, routes_row(r, s) + lid,
				       LFT_BLOCK_LIDS) != 0;
	}
}

/* Per block of every row: is it other than before? NULL: no previous tables. The caller frees. */
static bool *find_changed(const struct route_job *job, const struct routes *r)
{
	uint32_t blocks = r->row_size / LFT_BLOCK_LIDS;
	_cleanup_free_ struct routes_entry *entries = NULL;
	bool *changed;
	size_t n;

	if (!job->previous)
		return NULL;
	changed = xcalloc((size_t)r->topo->n_switches * blocks, sizeof(*changed));
	entries = routes_changes(job->previous, r, &n);
	if (!entries)
		compare_rows(job->previous, r, changed);
	for (size_t i = 0; entries && i < n; i++)
		changed[(size_t)entries[i].sw * blocks + entries[i].lid / LFT_BLOCK_LIDS] = true;
	return changed;
}

static enum balance_slow slow_of(const struct route_job *job, bool slow)
{
	return !slow ? BALANCE_ALL : job->previous ? BALANCE_SLOW_LATER : BALANCE_SLOW;
}

/* `slow`: of cables below the median rate alone. Returns how many entries moved. */
static uint32_t move_entries(const struct route_job *job, struct routes *r, bool slow,
			     uint32_t enough)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(job->topo, NULL);
	_cleanup_(dest_order_freep) struct dest_order *dests =
		dest_order_new(job->topo, &(struct route_options){ 0 });
	_cleanup_free_ bool *changed = find_changed(job, r);
	uint32_t moved;

	balance_channels(
		&(struct balance_job){
			.graph = g,
			.find = find_order,
			.find_edges = find_edges,
			.arg = r,
			.dests = dests,
			.load = routes_judged_load(r),
			.changed = changed,
			.tolerated = enough,
			.enough = enough,
			.slow = slow_of(job, slow),
			.threads = 1,
			.cancelled = job->cancelled,
		},
		r, &moved);
	return moved;
}

/* The same of verified tables, if the result is verified, too. */
static void move_load(const struct route_job *job, struct routes *r, bool slow,
		      struct route_verdict *v, uint32_t *ret_moved)
{
	uint32_t enough = keep_limit(KEEP_EVEN, (uint32_t)v->avg_load), moved;
	struct route_verdict after;
	size_t mark = routes_mark(r);

	moved = move_entries(job, r, slow, enough);
	if (!moved)
		return;
	routes_check_since(r, mark, job->threads, &after);
	if (!after.credit_loop && after.unreachable == v->unreachable &&
	    after.max_load <= v->max_load) {
		*v = after;
		*ret_moved += moved;
		return;
	}
	routes_rewind(r, mark);
	routes_check_after(NULL, r, job->threads, &after);
}

/* Do rates differ, and may entries move for it? */
static bool has_rates(const struct route_job *job, const struct routes *r)
{
	return r->topo->paces && r->hops && !keep_has_path_levels(r) && !r->places == !r->downs &&
	       !job->options.n_weights;
}

void balance_rates_unverified(const struct route_job *job, struct routes *r)
{
	assert(job->topo == r->topo);
	if (has_rates(job, r))
		move_entries(job, r, true, 0);
}

void balance_rates(const struct route_job *job, struct routes *r, struct route_verdict *v,
		   uint32_t *ret_moved)
{
	const struct routes *old = job->previous;

	assert(job->topo == r->topo && v && ret_moved);
	if (!has_rates(job, r) || !routes_judged_load(r) || v->lost || v->credit_loop ||
	    (old && topo_is_same(old->topo, r->topo) && routes_are_same(old, r)))
		return;
	move_load(job, r, true, v, ret_moved);
}

/* As when balanced last, and not clearly less: then something was mended, more may be possible. */
static bool is_still_balanced(uint32_t load, uint32_t before)
{
	return keep_is_as_before(KEEP_BALANCED, load, before) &&
	       keep_is_as_before(KEEP_BALANCED, before, load);
}

void balance_verified(const struct route_job *job, struct routes *r, struct route_verdict *v,
		      uint32_t *ret_moved)
{
	const struct routes *old = job->previous;
	uint32_t before = old ? old->balanced_load : 0;

	assert(job->topo == r->topo && v && ret_moved);
	r->balanced_load = before;
	if (v->max_load <= keep_bound(KEEP_EVEN, v->avg_load) ||
	    is_still_balanced(v->max_load, before) || v->lost || v->credit_loop ||
	    !is_free(job, r) || (old && routes_are_same(old, r)))
		return;
	move_load(job, r, false, v, ret_moved);
	r->balanced_load = v->max_load;
}
