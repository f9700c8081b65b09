// SPDX-License-Identifier: BSD-2-Clause
/*
 * In a tree a destination has one way down (minhop.c), and a leaf of eight hosts with seven cables left has two
 * destinations on one of them, twice the load of the others. Only who sends can share that out: some come down
 * another way than others. The judge has counted what every channel carries, so finding these costs a look,
 * and sharing them out costs what they are.
 *
 * Ways are those of the engine, by the hops it left: the nearest neighbours; where it orders switches, of
 * those only lower ones while there is a way down, else higher ones.
 */
#include "route/ease.h"

#include <string.h>

#include "route/relieve.h"
#include "util/mem.h"

#define SLACK(load) ((load) + (load) / 16)
#define CLEARLY(load) ((load) + (load) / 6)

/* Only lower ones are reached from here, or from there. */
static bool goes_down(const struct routes *r, uint32_t sw, uint32_t to)
{
	size_t words = (r->topo->n_switches + 63u) / 64;

	return sw == to || r->downs[to * words + sw / 64] >> sw % 64 & 1;
}

bool ease_is_way(const struct routes *r, uint32_t sw, uint32_t next, uint32_t to)
{
	const uint8_t *hops = r->hops + (size_t)to * r->topo->n_switches;

	if (hops[next] + 1 != hops[sw])
		return false;
	if (!r->places)
		return true;
	if (goes_down(r, sw, to))
		return r->places[next] > r->places[sw] && goes_down(r, next, to);
	return r->places[next] < r->places[sw];
}

/* By hops, which are few, and then by index. */
static void order_switches(const struct routes *r, uint32_t to, struct ways *w)
{
	const uint8_t *hops = r->hops + (size_t)to * r->topo->n_switches;
	uint32_t at[257] = { 0 }, n = r->topo->n_switches;

	for (uint32_t s = 0; s < n; s++)
		at[hops[s] + 1]++;
	w->n = n - at[0xFF + 1];
	for (unsigned i = 0; i < 256; i++)
		at[i + 1] += at[i];
	for (uint32_t s = 0; s < n; s++)
		if (hops[s] != 0xFF)
			w->order[at[hops[s]]++] = s;
	/* `to` itself is the first, alone with no hops. */
	if (w->n) {
		w->n--;
		memmove(w->order, w->order + 1, w->n * sizeof(*w->order));
	}
}

struct arg {
	const struct graph *graph;
	const struct routes *routes;
};

static void find_ways(const void *arg, uint32_t to, struct ways *w)
{
	const struct graph *g = ((const struct arg *)arg)->graph;
	const struct routes *r = ((const struct arg *)arg)->routes;
	uint32_t n = 0;

	w->to = to;
	order_switches(r, to, w);
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t s = w->order[i];

		w->first[i] = n;
		for (uint32_t k = g->first[s]; k < g->first[s + 1]; k++) {
			const struct graph_group *group = &g->groups[k];

			if (!ease_is_way(r, s, group->to, to))
				continue;
			n = ways_append(w, n, g, s, group);
		}
	}
	w->first[w->n] = n;
}

/* Only where nothing but load decides, and the judge has counted. */
static bool is_free(const struct route_job *job, const struct routes *r)
{
	const struct route_options *o = &job->options;

	for (uint32_t h = 0; h < r->topo->n_hosts; h++)
		if (r->topo->hosts[h].lmc)
			return false;
	return r->hops && !r->lanes && r->topo->n_switches && !r->places == !r->downs && routes_judged_load(r) &&
	       !o->n_weights && !o->n_order && !o->n_ignore && !o->scatter_seed && !o->port_shifting &&
	       !o->count_switches;
}

static void move(const struct route_job *job, struct routes *r, struct route_verdict *v, uint32_t *ret_moved)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(job->topo, NULL);
	_cleanup_(roll_freep) struct roll *roll = roll_new(job->topo, &(struct route_options){ 0 });
	struct route_verdict after;
	uint32_t enough = CLEARLY((uint32_t)v->avg_load), moved;
	size_t mark = routes_mark(r);

	relieve(&(struct relieve_job){
		.graph = g, .find = find_ways, .arg = &(struct arg){ .graph = g, .routes = r },
		.roll = roll, .load = routes_judged_load(r), .tolerated = enough, .enough = enough,
		.threads = 1, .cancelled = job->cancelled,
	}, r, &moved);
	if (!moved)
		return;
	routes_check_since(r, mark, job->threads, &after);
	if (!after.credit_loop && after.unreachable == v->unreachable && after.max_load <= v->max_load) {
		*v = after;
		*ret_moved = moved;
		return;
	}
	routes_rewind(r, mark);
	routes_check_after(NULL, r, job->threads, &after);
}

/* Little more than when it was eased last, nor clearly less: then something was mended, and more may be possible. */
static bool is_as_before(uint32_t load, uint32_t before)
{
	return load <= SLACK(before) && SLACK(load) >= before;
}

void ease(const struct route_job *job, struct routes *r, struct route_verdict *v, uint32_t *ret_moved)
{
	const struct routes *old = job->previous;
	uint32_t before = old ? old->eased_load : 0;

	*ret_moved = 0;
	r->eased_load = before;
	if (v->max_load <= CLEARLY(v->avg_load) || is_as_before(v->max_load, before) || v->lost || v->credit_loop ||
	    !is_free(job, r) || (old && routes_are_same(old, r)))
		return;
	move(job, r, v, ret_moved);
	r->eased_load = v->max_load;
}
