// SPDX-License-Identifier: BSD-2-Clause
/*
 * Port by port, switch by switch, nearest first, LID by LID: when a switch chooses, the whole path
 * of each neighbour is known, and so is what it has in common with the paths of the port's other
 * LIDs from there: a cable counts more than a switch. The path with the least in common is taken,
 * the entry at hand if that is as good as any, else the one whose most loaded channel carries
 * least. So tables of engines whose LIDs part already, as in trees, stay as they are.
 *
 * Serial, so that loads and with them the result do not depend on threads. What it costs grows with
 * ports, switches, LIDs and the length of paths: it ends after so many hops, and entries that were
 * not looked at by then stay as the engine has them.
 */
#include "route/core/lid_spread.h"

#include <assert.h>
#include <string.h>

#include "util/mem.h"

#define LIDS	   128 /* LMC 7 */
#define CABLE_COST 64  /* in common, to one switch */
#define PASSES	   4   /* loads are counted; LIDs parted; two for load */

struct spread {
	const struct lid_spread_job *job;
	const struct topo *topo;
	struct routes *r;
	uint32_t n, n_channels;
	uint32_t *was;		/* per switch: row in the previous tables; NULL: none */
	uint32_t *sources;	/* per switch: end ports */
	uint32_t *load;		/* per channel */
	uint32_t *flow[LID_SPREAD_LIDS]; /* per switch, of each LID at hand */
	uint16_t *on_channel;	/* per channel, of the switch at hand: paths of other LIDs */
	uint16_t *on_switch;
	struct path_dag dag;
	struct arena memory;
	uint64_t steps, most_steps;
};

bool lid_spread_is_needed(const struct topo *t)
{
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].lmc)
			return true;
	return false;
}

/* `load` NULL: they are not added to that of the channels. */
static void find_flows(const struct spread *s, lid_t lid, uint32_t *flow, uint32_t *load)
{
	const struct path_dag *w = &s->dag;

	memcpy(flow, s->sources, s->n * sizeof(*flow));
	for (uint32_t i = w->n; i-- > 0;) {
		uint32_t channel = routes_channel(s->r, w->order[i], lid);

		if (channel == TOPO_NONE)
			continue;
		flow[s->topo->ports[channel].sw] += flow[w->order[i]];
		if (load)
			load[channel] += flow[w->order[i]];
	}
}

/* Marks (or with -1 unmarks) the path of a LID from a switch. */
static void mark_path(struct spread *s, uint32_t sw, lid_t lid, int by)
{
	uint32_t channel = routes_channel(s->r, sw, lid);

	for (uint32_t hops = 0; channel != TOPO_NONE && hops < s->n; hops++, s->steps++) {
		sw = s->topo->ports[channel].sw;
		s->on_channel[channel] = (uint16_t)(s->on_channel[channel] + by);
		s->on_switch[sw] = (uint16_t)(s->on_switch[sw] + by);
		channel = routes_channel(s->r, sw, lid);
	}
}

/* What the path from a switch through `channel` has in common with those marked. */
struct price {
	uint32_t common, load;
};

static struct price price_of(struct spread *s, uint32_t channel, lid_t lid, uint32_t to)
{
	struct price p = { 0 };

	for (uint32_t hops = 0; channel != TOPO_NONE && hops < s->n; hops++, s->steps++) {
		uint32_t sw = s->topo->ports[channel].sw;

		p.common += CABLE_COST * s->on_channel[channel];
		p.common += sw != to ? s->on_switch[sw] : 0;
		p.load = MAX(p.load, s->load[channel]);
		channel = routes_channel(s->r, sw, lid);
	}
	return p;
}

/* The edge of order[i] whose path has least in common; TOPO_NONE: none is better than the entry. */
static uint32_t best_edge(struct spread *s, uint32_t i, lid_t lid, uint32_t limit)
{
	const struct path_dag *w = &s->dag;
	uint32_t old = routes_channel(s->r, w->order[i], lid), best = TOPO_NONE;
	struct price least = price_of(s, old, lid, w->to);

	bool leaves = least.load > limit;

	if (!least.common && !leaves)
		return TOPO_NONE;
	for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
		struct price p = price_of(s, w->edges[k].channel, lid, w->to);

		if (p.common > least.common || w->edges[k].channel == old)
			continue;
		if (p.common == least.common &&
		    ((best == TOPO_NONE && !leaves) || p.load >= least.load))
			continue;
		best = k;
		least = p;
	}
	return best;
}

static bool stays(const struct spread *s, uint32_t sw, lid_t lid)
{
	return routes_channel(s->r, sw, lid) == TOPO_NONE ||
	       (s->was && s->was[sw] != TOPO_NONE &&
		routes_port(s->job->previous, s->was[sw], lid) == routes_port(s->r, sw, lid));
}

static void spread_entry(struct spread *s, uint32_t i, lid_t lid, const uint32_t *flow,
			 uint32_t limit)
{
	const struct path_dag *w = &s->dag;
	uint32_t sw = w->order[i], k;

	routes_add_load(s->r, sw, lid, -flow[sw], s->load);
	k = best_edge(s, i, lid, limit);
	if (k != TOPO_NONE)
		routes_write(s->r, sw, lid, w->edges[k].port);
	routes_add_load(s->r, sw, lid, flow[sw], s->load);
}

/* What switch order[i] does with LIDs `first` to n - 1 of a port. */
static void spread_at(struct spread *s, uint32_t i, lid_t base, unsigned first, unsigned n,
		      uint32_t limit)
{
	uint32_t sw = s->dag.order[i];
	unsigned moving = first;

	while (moving < n && stays(s, sw, (lid_t)(base + moving)))
		moving++;
	if (moving == n || s->dag.first[i + 1] - s->dag.first[i] < 2)
		return;
	for (unsigned k = 0; k < n; k++)
		mark_path(s, sw, (lid_t)(base + k), 1);
	for (unsigned k = moving; k < n; k++) {
		if (stays(s, sw, (lid_t)(base + k)))
			continue;
		mark_path(s, sw, (lid_t)(base + k), -1);
		spread_entry(s, i, (lid_t)(base + k), s->flow[k], limit);
		mark_path(s, sw, (lid_t)(base + k), 1);
	}
	for (unsigned k = 0; k < n; k++)
		mark_path(s, sw, (lid_t)(base + k), -1);
}

static unsigned lids_of(const struct spread *s, const struct topo_host *host)
{
	unsigned end = host->lid ? MIN(host->lid + (1u << host->lmc), s->r->top + 1u) : 0;

	return end > host->lid ? MIN(end - host->lid, LIDS) : 0;
}

/* The base LID stays where it is, unless for load. */
static void spread_host(struct spread *s, const struct topo_host *host, uint32_t limit)
{
	unsigned n = MIN(lids_of(s, host), LID_SPREAD_LIDS);

	if (n < 2)
		return;
	for (unsigned k = 0; k < n; k++)
		find_flows(s, (lid_t)(host->lid + k), s->flow[k], NULL);
	for (uint32_t i = 0; i < s->dag.n && s->steps < s->most_steps; i++)
		spread_at(s, i, host->lid, limit == UINT32_MAX, n, limit);
}

static void find_paths(struct spread *s, uint32_t to)
{
	if (s->job->find)
		s->job->find(s->job->arg, to, &s->dag);
	else
		path_dag_find(&s->dag, s->job->distances, to);
}

/* All hosts of a switch, to count what they get or to spread their LIDs. */
static void visit_switch(struct spread *s, uint32_t sw, unsigned pass)
{
	bool found = false;

	for (unsigned p = 1; p <= s->topo->switches[sw].n_ports; p++) {
		uint32_t h = topo_port(s->topo, sw, (uint8_t)p)->host;
		const struct topo_host *host = h == TOPO_NONE ? NULL : &s->topo->hosts[h];

		if (!host || !host->lid)
			continue;
		if (!found)
			find_paths(s, sw);
		found = true;
		if (pass)
			spread_host(s, host, pass > 1 ? s->job->limit : UINT32_MAX);
		for (unsigned k = 0; !pass && k < lids_of(s, host); k++)
			find_flows(s, (lid_t)(host->lid + k), s->flow[0], s->load);
	}
}

static void spread_open(struct spread *s)
{
	s->n = s->topo->n_switches;
	s->most_steps = s->job->steps ? s->job->steps : LID_SPREAD_STEPS;
	s->n_channels = topo_n_entries(s->topo);
	s->sources = arena_keep(&s->memory, topo_count_senders(s->topo));
	if (s->job->previous)
		s->was = arena_keep(&s->memory,
				    topo_match_switches(s->topo, s->job->previous->topo));
	ARENA_ARRAYS(&s->memory, s->n_channels, s->load, s->on_channel);
	for (unsigned k = 0; k < LID_SPREAD_LIDS; k++)
		ARENA_ARRAYS(&s->memory, s->n, s->flow[k], s->on_switch);
	path_dag_init(&s->dag, s->job->graph);
}

static uint32_t most_load(const struct spread *s)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < s->n_channels; i++)
		most = MAX(most, s->load[i]);
	return most;
}

uint32_t lid_spread(const struct lid_spread_job *job, struct routes *r)
{
	struct spread s = { .job = job, .topo = r->topo, .r = r };
	uint32_t most;

	assert(job->graph && job->graph->topo == r->topo && (job->find || job->distances));
	spread_open(&s);
	for (unsigned pass = 0; pass < PASSES; pass++) {
		if (pass > 1 && (job->previous || most_load(&s) <= job->limit))
			break;
		for (uint32_t sw = 0; sw < s.n && s.steps < s.most_steps &&
				      !is_cancelled(job->cancelled);
		     sw++)
			visit_switch(&s, sw, pass);
	}
	most = most_load(&s);
	path_dag_done(&s.dag);
	arena_done(&s.memory);
	return most;
}
