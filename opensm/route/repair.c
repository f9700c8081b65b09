// SPDX-License-Identifier: BSD-2-Clause
/*
 * A target is affected if some end of a lost cable has no other way to it that is as near: only its column of
 * distances can be another. In such a column every switch that is farther, and its neighbours, look
 * at their entries; at the ends of the cable everybody who used it does. What still leads nearer stays. The
 * others go where homes of today say, else to the port that is used least.
 */
#include "route/repair.h"

#include <string.h>

#include "util/mem.h"

#define LOST_MAX 16
#define TARGETS_MAX 512
#define PORTS 256

struct repair {
	const struct route_job *job;
	const struct fill_plan *how;
	const struct routes *before;
	const struct graph *g;
	struct routes *r;
	struct spread *spread;
	uint32_t lost[2 * LOST_MAX];      /* switches at the ends */
	uint8_t lost_port[2 * LOST_MAX];
	uint32_t n_lost;
	uint32_t targets[TARGETS_MAX];
	uint32_t n_targets;
	uint32_t *column;                 /* per switch: index in targets, or TOPO_NONE */
	struct distances *some;           /* of targets */
	uint32_t *looked;                 /* per switch: last round in which it looked at its entries */
	uint32_t counted;                 /* the row that `count` is of; TOPO_NONE: none */
	uint32_t count[PORTS];
};

static void repair_done(struct repair *p)
{
	routes_unref(p->r);
	spread_free(p->spread);
	distances_free(p->some);
	free(p->column);
	free(p->looked);
}

static bool may_repair(const struct route_job *job, const struct fill_plan *how)
{
	const struct route_options *o = &job->options;
	const struct routes *before = job->previous;
	const struct topo *t = job->topo;

	if (!before || !before->hops || before->options != fill_options(how, o) || !before->expected_load)
		return false;
	if (how->graph->weighted || o->n_order || o->n_ignore || o->scatter_seed || o->count_switches ||
	    o->port_shifting)
		return false;
	if (t->n_switches != before->topo->n_switches)
		return false;
	if (how->tree && (!before->places || memcmp(before->places, how->tree->place,
						    t->n_switches * sizeof(*before->places)) != 0))
		return false;
	return t->n_hosts == before->topo->n_hosts && t->max_lid <= before->top;
}

static bool is_same_switch(const struct topo_switch *a, const struct topo_switch *b)
{
	return a->guid == b->guid && a->sysimg_guid == b->sysimg_guid && a->n_ports == b->n_ports &&
	       a->lid == b->lid && a->lmc == b->lmc && a->lft_cap == b->lft_cap;
}

static bool is_same_host(const struct topo_host *a, const struct topo_host *b)
{
	return a->guid == b->guid && a->sw == b->sw && a->sw_port == b->sw_port && a->lid == b->lid &&
	       a->lmc == b->lmc && !a->lmc;
}

static bool note_lost(struct repair *p, uint32_t sw, unsigned port)
{
	if (p->n_lost == ARRAY_SIZE(p->lost))
		return false;
	p->lost[p->n_lost] = sw;
	p->lost_port[p->n_lost++] = (uint8_t)port;
	return true;
}

/* Nothing is different but cables that went. */
static bool find_lost(struct repair *p)
{
	const struct topo *now = p->job->topo, *was = p->before->topo;

	for (uint32_t h = 0; h < now->n_hosts; h++)
		if (!is_same_host(&now->hosts[h], &was->hosts[h]))
			return false;
	for (uint32_t s = 0; s < now->n_switches; s++) {
		if (!is_same_switch(&now->switches[s], &was->switches[s]) || now->switches[s].lmc)
			return false;
		for (unsigned port = 1; port <= now->switches[s].n_ports; port++) {
			const struct topo_port *a = topo_port(now, s, port), *b = topo_port(was, s, port);

			if (a->sw == b->sw && a->host == b->host && a->port == b->port)
				continue;
			if (a->sw != TOPO_NONE || a->host != TOPO_NONE || a->port || b->sw == TOPO_NONE ||
			    !note_lost(p, s, port))
				return false;
		}
	}
	return true;
}

/* ---- distances --------------------------------------------------------------------------- */

static uint16_t old_distance(const struct repair *p, uint32_t from, uint32_t to)
{
	const struct routes *b = p->before;
	uint32_t n = p->g->n;
	uint8_t hops = b->hops[(size_t)to * n + from];
	bool down;

	if (hops == 0xFF)
		return DISTANCE_NONE;
	if (!b->downs)
		return hops;
	down = b->downs[(size_t)to * ((n + 63) / 64) + from / 64] >> from % 64 & 1;
	return hops | (down ? DISTANCE_DOWN : DISTANCE_UP);
}

static uint16_t distance(const struct repair *p, uint32_t from, uint32_t to)
{
	if (p->column[to] != TOPO_NONE)
		return distances_from(p->some, from)[p->column[to]];
	return old_distance(p, from, to);
}

static bool is_way(const struct repair *p, uint32_t from, const struct graph_group *group, uint32_t to)
{
	return graph_near(group, distance(p, group->to, to)) == distance(p, from, to);
}

/* With the distances of before, had `from` a way to `to` that it still has? */
static bool has_old_way(const struct repair *p, uint32_t from, uint32_t to)
{
	uint16_t far = old_distance(p, from, to);

	for (uint32_t i = p->g->first[from]; i < p->g->first[from + 1]; i++)
		if (graph_near(&p->g->groups[i], old_distance(p, p->g->groups[i].to, to)) == far)
			return true;
	return false;
}

/* False: too many. */
static bool find_targets(struct repair *p)
{
	uint32_t n = p->g->n;

	memset(p->column, 0xFF, n * sizeof(*p->column));
	for (uint32_t i = 0; i < p->n_lost; i++)
		for (uint32_t to = 0; to < n; to++) {
			uint32_t from = p->lost[i];
			uint8_t hops = p->before->hops[(size_t)to * n + from];

			if (to == from || hops == 0xFF || p->column[to] != TOPO_NONE)
				continue;
			if (hops == 0xFE)
				return false;
			if (has_old_way(p, from, to))
				continue;
			if (p->n_targets == TARGETS_MAX)
				return false;
			p->column[to] = p->n_targets;
			p->targets[p->n_targets++] = to;
		}
	return p->n_targets * 8 <= MAX(n, 256u);
}

/* A switch that others relied on for going down may go up now: their marks are part of distances of the whole column. */
static bool find_distances(struct repair *p)
{
	if (!p->n_targets)
		return true;
	p->some = p->how->tree ? tree_distances_some(p->how->tree, p->g, p->targets, p->n_targets)
			       : distances_some(p->g, p->targets, p->n_targets);
	for (uint32_t s = 0; s < p->g->n; s++)
		for (uint32_t i = 0; i < p->n_targets; i++) {
			uint16_t far = distances_hops(p->some, distances_from(p->some, s)[i]);

			if (far >= 0xFE && far != DISTANCE_NONE)
				return false;
		}
	return true;
}

/* ---- entries ----------------------------------------------------------------------------- */

static const struct graph_group *group_of(const struct repair *p, uint32_t sw, uint8_t port)
{
	uint32_t low = p->g->first[sw], high = p->g->first[sw + 1], to;

	if (!port || port > p->g->topo->switches[sw].n_ports)
		return NULL;
	to = topo_port(p->g->topo, sw, port)->sw;
	while (to != TOPO_NONE && low < high) {
		uint32_t mid = (low + high) / 2;

		if (p->g->groups[mid].to == to)
			return &p->g->groups[mid];
		if (p->g->groups[mid].to < to)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

static void count_row(struct repair *p, uint32_t sw)
{
	const struct spread *s = p->spread;

	if (p->counted == sw)
		return;
	p->counted = sw;
	memset(p->count, 0, sizeof(p->count));
	for (uint32_t i = 0; i < s->n; i++)
		p->count[routes_port(p->r, sw, s->hot[i].lid)] += s->hot[i].port != 0;
}

/* Ports that lead to `home`, and from there on to `at`. */
static unsigned list_candidates(const struct repair *p, uint32_t sw, uint32_t home, uint32_t at, uint8_t *ret)
{
	unsigned n = 0;

	for (uint32_t i = p->g->first[sw]; i < p->g->first[sw + 1]; i++) {
		const struct graph_group *group = &p->g->groups[i];

		if (!is_way(p, sw, group, home) || (home != at && !is_way(p, sw, group, at)))
			continue;
		for (unsigned k = 0; k < group->n_ports; k++)
			ret[n++] = p->g->ports[group->first_port + k];
	}
	return n;
}

/* Towards the highest home that is on the way. Returns the number of ports. */
static unsigned find_candidates(const struct repair *p, uint32_t sw, uint32_t dest, uint32_t at, uint8_t *ret)
{
	const struct spread *s = p->spread;
	uint16_t far = distance(p, sw, at);

	for (unsigned k = s->depth[dest]; k-- > 0;) {
		uint32_t home = s->level[k].home[dest];
		unsigned n = 0;

		if (home != sw && distance(p, sw, home) + s->level[k].distance[dest] == far)
			n = list_candidates(p, sw, home, at, ret);
		if (n)
			return n;
	}
	return list_candidates(p, sw, at, at, ret);
}

static uint8_t choose(struct repair *p, uint32_t sw, uint32_t dest, uint32_t at)
{
	const struct spread *s = p->spread;
	uint8_t ports[PORTS], best;
	unsigned n = find_candidates(p, sw, dest, at, ports), level = MIN(s->rank[sw], SPREAD_LEVELS);
	uint32_t start;

	if (n < 2)
		return n ? ports[0] : LFT_NO_PORT;
	start = s->level[level < s->depth[dest] ? level : 0].digit[dest] % n;
	best = ports[start];
	if (level && level < s->depth[dest])
		return best;
	count_row(p, sw);
	for (unsigned i = 1; i < n; i++) {
		uint8_t port = ports[(start + i) % n];

		if (p->count[port] < p->count[best])
			best = port;
	}
	return best;
}

/* Destination `dest` on `at`: keeps its port, or gets another one. */
static void look(struct repair *p, uint32_t sw, uint32_t dest, uint32_t at)
{
	lid_t lid = p->spread->hot[dest].lid;
	uint8_t old = routes_port(p->r, sw, lid), port;
	const struct graph_group *group = group_of(p, sw, old);

	if (sw == at || lid >= p->g->topo->switches[sw].lft_cap)
		return;
	if (distance(p, sw, at) == DISTANCE_NONE) {
		routes_write(p->r, sw, lid, LFT_NO_PORT);
		return;
	}
	if (group && is_way(p, sw, group, at))
		return;
	port = choose(p, sw, dest, at);
	if (p->counted == sw && p->spread->hot[dest].port) {
		p->count[old]--;
		p->count[port]++;
	}
	routes_write(p->r, sw, lid, port);
}

static void look_all(struct repair *p, uint32_t sw, uint32_t at, uint32_t round)
{
	if (p->looked[sw] == round)
		return;
	p->looked[sw] = round;
	for (uint32_t i = p->spread->first[at]; i < p->spread->first[at + 1]; i++)
		look(p, sw, i, at);
}

/* Whoever is farther from an affected target, and the neighbours. Writes the new hops. */
static void mend_column(struct repair *p, uint32_t i)
{
	uint32_t n = p->g->n, at = p->targets[i];
	uint8_t *hops = p->r->hops + (size_t)at * n;
	uint64_t *downs = p->r->downs ? p->r->downs + (size_t)at * ((n + 63) / 64) : NULL;

	for (uint32_t s = 0; s < n; s++) {
		uint16_t now = distances_from(p->some, s)[i];
		uint64_t bit = UINT64_C(1) << s % 64;

		if (now == old_distance(p, s, at))
			continue;
		hops[s] = now == DISTANCE_NONE ? 0xFF : (uint8_t)distances_hops(p->some, now);
		if (downs)
			downs[s / 64] = now != DISTANCE_NONE && now & DISTANCE_DOWN ? downs[s / 64] | bit
										     : downs[s / 64] & ~bit;
		look_all(p, s, at, i + 1);
		for (uint32_t k = p->g->first[s]; k < p->g->first[s + 1]; k++)
			look_all(p, p->g->groups[k].to, at, i + 1);
	}
}

/* Everybody at this end who used the cable. */
static void mend_row(struct repair *p, uint32_t sw, uint8_t port)
{
	const uint8_t *row = routes_row(p->r, sw);
	const struct spread *s = p->spread;

	for (uint32_t at = 0; at < p->g->n; at++)
		for (uint32_t i = s->first[at]; i < s->first[at + 1]; i++)
			if (s->hot[i].lid <= p->r->top && row[s->hot[i].lid] == port)
				look(p, sw, i, at);
}

/* Entries of LIDs that nobody has lead nowhere over a cable that is gone, or would be no entries that stay. */
static bool has_strangers(const struct repair *p)
{
	return p->job->topo->max_lid != p->before->top;
}

struct routes *repair_tables(const struct route_job *job, const struct fill_plan *how)
{
	_cleanup_(repair_done) struct repair p = {
		.job = job, .how = how, .before = job->previous, .g = how->graph, .counted = TOPO_NONE,
	};
	uint32_t n = how->graph->n;

	if (!may_repair(job, how) || !find_lost(&p) || has_strangers(&p))
		return NULL;
	p.column = xcalloc(n, sizeof(*p.column));
	p.looked = xcalloc(n, sizeof(*p.looked));
	if (!find_targets(&p) || !find_distances(&p))
		return NULL;
	p.spread = spread_new(how->graph, NULL, &how->spread);
	if (fill_is_flat(job, how, p.spread))
		return NULL;
	p.r = routes_derive(job->topo, job->previous);
	p.r->hops = xmemdup(p.before->hops, (size_t)n * n);
	if (p.before->downs)
		p.r->downs = xmemdup(p.before->downs, (size_t)n * ((n + 63) / 64) * sizeof(*p.r->downs));
	if (how->tree)
		p.r->places = xmemdup(how->tree->place, n * sizeof(*p.r->places));
	p.r->options = p.before->options;
	p.r->expected_load = p.spread->expected_load;
	for (uint32_t i = 0; i < p.n_lost; i++)
		mend_row(&p, p.lost[i], p.lost_port[i]);
	for (uint32_t i = 0; i < p.n_targets; i++)
		mend_column(&p, i);
	return take(p.r);
}
