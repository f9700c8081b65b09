// SPDX-License-Identifier: BSD-2-Clause
/*
 * What there is: the path of every LID is walked, and of those the ones that share least with
 * others are taken first. What there could be: the largest flow from one switch to the other along
 * shortest paths, a cable (or a switch) carrying one unit.
 */
#include "route/proof/disjoint.h"

#include <assert.h>
#include <string.h>

#include "util/types.h"
#include "util/mem.h"
#include "util/random.h"

/* ---- what there is -------------------------------------------------------------------------- */

struct walked {
	uint32_t channels[IB_MAX_HOPS], switches[IB_MAX_HOPS];
	unsigned n;
	bool taken; /* or of no use any more */
};

/* False: it does not arrive. */
static bool walk(const struct routes *r, uint32_t sw, uint32_t to, lid_t lid, struct walked *ret)
{
	ret->n = 0;
	ret->taken = false;
	while (sw != to && ret->n < IB_MAX_HOPS) {
		uint32_t channel = routes_channel(r, sw, lid);

		if (channel == TOPO_NONE)
			return false;
		sw = r->topo->ports[channel].sw;
		ret->channels[ret->n] = channel;
		ret->switches[ret->n++] = sw;
	}
	return sw == to;
}

static bool have_common(const struct walked *a, const struct walked *b, bool switches)
{
	for (unsigned i = 0; i < a->n; i++)
		for (unsigned k = 0; k < b->n; k++) {
			if (a->channels[i] == b->channels[k])
				return true;
			if (switches && i + 1 < a->n && a->switches[i] == b->switches[k])
				return true;
		}
	return false;
}

static unsigned count_common(const struct walked *paths, unsigned n, unsigned one, bool switches)
{
	unsigned common = 0;

	for (unsigned i = 0; i < n; i++)
		common += i != one && !paths[i].taken &&
			  have_common(&paths[one], &paths[i], switches);
	return common;
}

/* Takes the path that shares with fewest others, and rules those out, until none is left. */
static unsigned count_disjoint(struct walked *paths, unsigned n, bool switches)
{
	unsigned found = 0;

	for (unsigned i = 0; i < n; i++)
		paths[i].taken = false;
	for (unsigned round = 0; round < n; round++) {
		unsigned best = n, least = n;

		for (unsigned i = 0; i < n && least; i++) {
			unsigned common = paths[i].taken ? n
							 : count_common(paths, n, i, switches);

			if (common >= least)
				continue;
			best = i;
			least = common;
		}
		if (best == n)
			break;
		found++;
		for (unsigned i = 0; i < n; i++)
			paths[i].taken |= i == best ||
					  have_common(&paths[best], &paths[i], switches);
	}
	return found;
}

struct disjoint disjoint_have(const struct routes *r, uint32_t sw, uint32_t host)
{
	const struct topo_host *h = &r->topo->hosts[host];
	struct walked paths[DISJOINT_PATHS_MAX];
	unsigned n = 0;

	assert(sw < r->topo->n_switches && host < r->topo->n_hosts);
	if (h->sw == TOPO_NONE || !h->lid || sw == h->sw)
		return (struct disjoint){ 0 };
	for (unsigned k = 0; k < 1u << h->lmc && h->lid + k <= LID_MAX_UCAST; k++)
		n += walk(r, sw, h->sw, (lid_t)(h->lid + k), &paths[n]);
	return (struct disjoint){
		.cables = count_disjoint(paths, n, false),
		.switches = count_disjoint(paths, n, true),
	};
}

/* ---- what there could be -------------------------------------------------------------------- */

/* Work space. A switch is two places: 2 * switch to come in by, and + 1 to leave from. */
struct flow {
	const struct graph *g;
	uint32_t from, to, n;
	uint16_t *near;	    /* per switch: hops to the end */
	uint8_t *used;	    /* per group: units on it */
	bool *full;	    /* per switch: it has its one unit */
	uint32_t *at;	    /* queue of places */
	uint32_t *before;   /* per place: the one before it in the search; TOPO_NONE: not found */
	uint32_t *by;	    /* per place: group taken to it, TOPO_NONE: inside the switch */
	bool switches;	    /* each carries one unit */
	struct arena memory;
};

static void reach(struct flow *f, uint32_t place, uint32_t before, uint32_t group)
{
	if (f->before[place] != TOPO_NONE)
		return;
	f->before[place] = before;
	f->by[place] = group;
	f->at[f->n++] = place;
}

/* Groups that lead nearer, and back along units that came. */
static void leave(struct flow *f, uint32_t sw)
{
	const struct graph *g = f->g;

	for (uint32_t i = g->first[sw]; i < g->first[sw + 1]; i++) {
		uint32_t v = g->groups[i].to;

		if (f->near[v] + 1u == f->near[sw] && f->used[i] < g->groups[i].n_ports)
			reach(f, 2 * v, 2 * sw + 1, i);
	}
}

static void go_back(struct flow *f, uint32_t sw)
{
	const struct graph *g = f->g;

	GRAPH_EACH(g, sw, edge) {
		uint32_t group;

		if (f->near[edge->to] != f->near[sw] + 1u || f->near[edge->to] == DISTANCE_NONE)
			continue;
		group = graph_find(g, edge->to, sw);
		if (f->used[group])
			reach(f, 2 * edge->to + 1, 2 * sw, group);
	}
}

static void step(struct flow *f, uint32_t place)
{
	uint32_t sw = place / 2;

	if (place & 1)
		leave(f, sw);
	else
		go_back(f, sw);
	if (!f->switches || f->full[sw] == (place & 1))
		reach(f, place ^ 1, place, TOPO_NONE);
}

/* One unit more. False: there is no room. */
static bool add_unit(struct flow *f)
{
	uint32_t end = 2 * f->to;

	memset(f->before, 0xFF, 2 * (size_t)f->g->n * sizeof(*f->before));
	f->n = 0;
	reach(f, 2 * f->from + 1, 2 * f->from + 1, TOPO_NONE);
	for (uint32_t i = 0; i < f->n && f->before[end] == TOPO_NONE; i++)
		step(f, f->at[i]);
	if (f->before[end] == TOPO_NONE)
		return false;
	for (uint32_t at = end; f->before[at] != at; at = f->before[at]) {
		if (f->by[at] == TOPO_NONE)
			f->full[at / 2] = at & 1;
		else if (at & 1)
			f->used[f->by[at]]--; /* taken back */
		else
			f->used[f->by[at]]++;
	}
	return true;
}

static unsigned find_flow(struct flow *f, unsigned limit, bool switches)
{
	unsigned n = 0;

	f->switches = switches;
	memset(f->used, 0, f->g->first[f->g->n] * sizeof(*f->used));
	memset(f->full, 0, f->g->n * sizeof(*f->full));
	while (n < limit && add_unit(f))
		n++;
	return n;
}

static void flow_open(struct flow *f, const struct graph *g)
{
	f->g = g;
	ARENA_ARRAYS(&f->memory, g->n, f->near, f->full);
	ARENA_ARRAY(&f->memory, f->used, g->first[g->n] + 1u);
	ARENA_ARRAYS(&f->memory, 2 * (size_t)g->n, f->at, f->before, f->by);
}

static struct disjoint most(struct flow *f, uint32_t from, uint32_t to, unsigned limit)
{
	f->from = from;
	f->to = to;
	memset(f->near, 0xFF, f->g->n * sizeof(*f->near));
	f->near[to] = 0;
	graph_flood(f->g, f->near, NULL);
	if (from == to || f->near[from] == UINT16_MAX)
		return (struct disjoint){ 0 };
	return (struct disjoint){
		.cables = find_flow(f, limit, false), .switches = find_flow(f, limit, true),
	};
}

struct disjoint disjoint_most(const struct graph *g, uint32_t from, uint32_t to, unsigned limit)
{
	struct flow f = { 0 };
	struct disjoint ret;

	assert(from < g->n && to < g->n && limit <= DISJOINT_PATHS_MAX);
	flow_open(&f, g);
	ret = most(&f, from, to, limit);
	arena_done(&f.memory);
	return ret;
}

/* ---- over many pairs ------------------------------------------------------------------------ */

static void add_pair(struct flow *f, const struct routes *r, uint32_t from, uint32_t to,
		     struct disjoint_sums *ret)
{
	const struct topo_host *a = &r->topo->hosts[from], *b = &r->topo->hosts[to];
	struct disjoint have, could;

	could = most(f, a->sw, b->sw, 1u << b->lmc);
	if (!could.cables)
		return;
	have = disjoint_have(r, a->sw, to);
	ret->least_cables = ret->pairs++ ? MIN(ret->least_cables, have.cables) : have.cables;
	ret->have_cables += have.cables;
	ret->most_cables += could.cables;
	ret->have_switches += have.switches;
	ret->most_switches += could.switches;
	ret->behind += have.cables < could.cables || have.switches < could.switches;
}

void disjoint_measure(const struct routes *r, uint32_t sample, struct disjoint_sums *ret)
{
	const struct topo *t = r->topo;
	_cleanup_(graph_freep) struct graph *g = graph_new(t, NULL);
	_cleanup_free_ uint32_t *hosts = xcalloc(t->n_hosts + 1u, sizeof(*hosts));
	struct flow f = { 0 };
	uint64_t all, n = 0, seed = 1;

	*ret = (struct disjoint_sums){ 0 };
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE && t->hosts[h].lid)
			hosts[n++] = h;
	all = n * n;
	flow_open(&f, g);
	for (uint64_t i = 0; i < MIN(all, sample); i++) {
		uint64_t k = all <= sample ? i : random_next(&seed) % all;
		uint32_t from = hosts[k / n], to = hosts[k % n];

		if (t->hosts[from].sw != t->hosts[to].sw)
			add_pair(&f, r, from, to, ret);
	}
	arena_done(&f.memory);
}
