// SPDX-License-Identifier: BSD-2-Clause
/*
 * The minhop engine: shortest paths on any graph, spread evenly, without configuration.
 *
 * Shortest is easy: distances between switches (distance.c), then every switch sends towards a
 * neighbour that is nearer. All the quality is in which of the nearest neighbours.
 *
 * Counting per switch, the classical answer, gives every port the same number of destinations and
 * still fails on trees: all switches deal out the same destinations in the same order, so what one
 * level sends to one switch, the next level sends on through one port. A tree wants the opposite
 * of independent decisions: all flows to one destination should come together as early as they
 * can and come down one path, because flows to one destination compete at its port anyway, while
 * flows to different destinations should never meet on the way down.
 *
 * So every destination gets a chain of homes (spread.c): a switch above its leaf, one above that,
 * up to a root. In a tree the way down from a root is unique, hence the chain is the path, and it
 * is the same for everybody. A source goes to the highest home that lies on a shortest path; a
 * switch in the same pod finds that the root does not and takes the next lower one. Whoever has
 * several neighbours towards a home takes the digit below.
 *
 *      root    c0  c1  c2  c3        Leaves are numbered so that pods are contiguous, and slots
 *               |\ /|    |\ /|        run over the ports of a leaf that lead to no switch:
 *      agg     a0  a1    ...             slot = leaf number * hosts per leaf + place on the leaf
 *               |\ /|                 The digits of the slot, in the mixed radix of the numbers
 *      leaf    l0  l1                 of ways up, are the homes:
 *              ||  ||                    slot mod ways(leaf), slot / ways(leaf) mod ways(agg), ...
 *
 * Consecutive slots so take different ways at the leaf, leaves take different roots, and shift
 * permutations meet no contention at all (D-mod-K, Zahavi; with distances instead of a regular
 * tree, Dmodc, Gliksberg et al.). Nothing in it depends on who else is there: a host that leaves
 * changes no other host's routes. Parallel cables take the next digit.
 *
 * Damage. A switch with fewer ways up than its siblings is broken. Below whole switches the digits
 * stay as they are; destinations below a broken one choose their home among what is left by the
 * number of destinations that are at home there already. A source cut off from a home first tries
 * the next lower one (which keeps the last part of the path free of others); if none is on a
 * shortest path, its entry waits until the row is full and goes to the least used port. A switch
 * above the leaves that no home leads through only sees diverted flows and uses the digit of its
 * level.
 *
 * No levels. On a torus or dragonfly every switch is a leaf, chains are empty, and destinations
 * are routed one by one along the least loaded shortest path of the whole fabric (columns.c).
 *
 * Change. Entries of the previous tables stay as long as they are on a shortest path, unless a
 * cable came back that would then stay idle. The options of the peer that say how to count
 * (guid_routing_order_file, scatter_ports ...) replace the closed form by counting where they
 * apply. Several LIDs of one port (LMC) rotate by their offset and prefer another chassis, then
 * another switch, then another port than the LIDs before them.
 */
#include "route/minhop.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "route/columns.h"
#include "route/graph.h"
#include "route/place.h"
#include "route/spread.h"
#include "util/mem.h"

#define SWITCHES_MAX 65534

/* What the rows share, and the memory behind it. */
struct minhop {
	const struct route_job *job;
	struct graph *graph;
	struct distances *distances;
	struct spread *spread;
	uint32_t *previous_sw;
	bool *known;
	uint32_t *ordered;
	bool *is_ordered;
	bool *ignored;
	struct place_plan plan;
};

static void minhop_done(struct minhop *m)
{
	graph_free(m->graph);
	distances_free(m->distances);
	spread_free(m->spread);
	free(m->previous_sw);
	free(m->known);
	free(m->ordered);
	free(m->is_ordered);
	free(m->ignored);
}

static bool is_cancelled(const struct route_job *job)
{
	return job->cancelled && atomic_load_explicit(job->cancelled, memory_order_relaxed);
}

static unsigned threads_of(const struct route_job *job)
{
	return job->threads ? job->threads : (unsigned)omp_get_max_threads();
}

/* Did `before` have every cable between switches that `now` has? */
static bool covers(const struct topo *before, const struct topo *now, const uint32_t *before_sw)
{
	for (uint32_t s = 0; s < now->n_switches; s++) {
		uint32_t b = before_sw[s];

		if (b == TOPO_NONE || before->switches[b].n_ports != now->switches[s].n_ports)
			return false;
		for (unsigned p = 1; p <= now->switches[s].n_ports; p++) {
			const struct topo_port *new = topo_port(now, s, p);
			const struct topo_port *old = topo_port(before, b, p);

			if (new->sw != TOPO_NONE &&
			    (old->sw != before_sw[new->sw] || old->port != new->port))
				return false;
		}
	}
	return true;
}

static bool knows_host(const struct topo *before, const struct topo *now, uint32_t host)
{
	uint32_t b = topo_find_host(before, now->hosts[host].guid);

	if (b == TOPO_NONE || before->hosts[b].sw == TOPO_NONE)
		return false;
	if (before->hosts[b].lid != now->hosts[host].lid ||
	    before->hosts[b].lmc != now->hosts[host].lmc)
		return false;
	return before->switches[before->hosts[b].sw].guid ==
	       now->switches[now->hosts[host].sw].guid;
}

static bool knows_switch(const struct minhop *m, uint32_t sw)
{
	const struct topo_switch *now = &m->job->topo->switches[sw], *before;

	if (m->previous_sw[sw] == TOPO_NONE)
		return false;
	before = &m->job->previous->topo->switches[m->previous_sw[sw]];
	return before->lid == now->lid && before->lmc == now->lmc;
}

static void find_known(struct minhop *m)
{
	const struct topo *before = m->job->previous->topo, *now = m->job->topo;
	const struct spread *s = m->spread;

	m->known = xcalloc(s->n, sizeof(*m->known));
	for (uint32_t u = 0; u < now->n_switches; u++)
		for (uint32_t i = s->first[u]; i < s->first[u + 1]; i++)
			if (s->hot[i].offset)
				m->known[i] = m->known[i - 1];
			else if (s->host[i] != TOPO_NONE)
				m->known[i] = knows_host(before, now, s->host[i]);
			else
				m->known[i] = knows_switch(m, u);
}

/*
 * Entries stay where they are as long as cables only disappear. A cable that is new (or came back)
 * would stay idle for ever, so then everything is chosen afresh: a fabric that is whole again has
 * the tables that it had before the fault.
 */
static void use_previous(struct minhop *m)
{
	const struct topo *before, *now = m->job->topo;

	if (!m->job->previous || m->job->options.scatter_seed)
		return;
	before = m->job->previous->topo;
	m->previous_sw = xcalloc(now->n_switches, sizeof(*m->previous_sw));
	for (uint32_t s = 0; s < now->n_switches; s++)
		m->previous_sw[s] = topo_find_switch(before, now->switches[s].guid);
	if (!covers(before, now, m->previous_sw))
		return;
	find_known(m);
	m->plan.previous = m->job->previous;
	m->plan.previous_sw = m->previous_sw;
	m->plan.known = m->known;
}

/* Index of the first LID of a host; n if it has none. */
static uint32_t dest_of_host(const struct minhop *m, uint32_t host)
{
	uint32_t sw = m->job->topo->hosts[host].sw;

	if (sw == TOPO_NONE)
		return m->spread->n;
	for (uint32_t i = m->spread->first[sw]; i < m->spread->first[sw + 1]; i++)
		if (m->spread->host[i] == host)
			return i;
	return m->spread->n;
}

static void use_order(struct minhop *m)
{
	const struct route_options *o = &m->job->options;

	if (!o->n_order)
		return;
	m->ordered = xcalloc(o->n_order, sizeof(*m->ordered));
	m->is_ordered = xcalloc(m->spread->n, sizeof(*m->is_ordered));
	for (uint32_t i = 0; i < o->n_order; i++) {
		uint32_t host = topo_find_host(m->job->topo, o->order[i]), dest;

		if (host == TOPO_NONE)
			continue;
		dest = dest_of_host(m, host);
		if (dest == m->spread->n || m->is_ordered[dest])
			continue;
		m->ordered[m->plan.n_ordered++] = dest;
		do
			m->is_ordered[dest++] = true;
		while (dest < m->spread->n && m->spread->hot[dest].offset);
	}
	m->plan.ordered = m->ordered;
	m->plan.is_ordered = m->is_ordered;
}

static void use_ignored(struct minhop *m)
{
	const struct route_options *o = &m->job->options;
	const struct topo *t = m->job->topo;
	size_t n = 0;

	if (!o->n_ignore)
		return;
	for (uint32_t s = 0; s < t->n_switches; s++)
		n += t->switches[s].n_ports + 1u;
	m->ignored = xcalloc(n, sizeof(*m->ignored));
	for (uint32_t i = 0; i < o->n_ignore; i++) {
		uint32_t s = topo_find_switch(t, o->ignore[i].guid);

		if (s != TOPO_NONE && o->ignore[i].port <= t->switches[s].n_ports)
			m->ignored[t->switches[s].first_port + o->ignore[i].port] = true;
	}
	m->plan.ignored = m->ignored;
}

/*
 * No levels, no homes: then loads decide, not counts. The options that say how to count belong to
 * counting, and so does the spreading of the LIDs of one port.
 */
static bool wants_columns(const struct minhop *m)
{
	const struct route_options *o = &m->job->options;
	uint32_t flat = 0, hosts = 0;

	if (m->plan.has_lmc || o->n_order || o->n_ignore || o->port_shifting || o->scatter_seed ||
	    o->count_switches)
		return false;
	for (uint32_t i = 0; i < m->spread->n; i++) {
		hosts += m->spread->hot[i].port != 0;
		flat += m->spread->hot[i].port && !m->spread->depth[i];
	}
	return 2 * flat > hosts;
}

static void fill_rows(const struct minhop *m, struct routes *r)
{
#pragma omp parallel num_threads(threads_of(m->job))
	{
		struct place_row *row = place_row_new(&m->plan);

#pragma omp for schedule(dynamic, 4)
		for (uint32_t s = 0; s < m->job->topo->n_switches; s++)
			if (!is_cancelled(m->job))
				place_fill(row, s, routes_row(r, s));
		place_row_free(row);
	}
}

/* Hops for dumps: bytes, by destination. */
static uint8_t *hops_of(const struct minhop *m)
{
	uint32_t n = m->distances->n;
	uint8_t *hops = xmalloc((size_t)n * n);

#pragma omp parallel for num_threads(threads_of(m->job)) schedule(static)
	for (uint32_t block = 0; block < n; block += 64)
		for (uint32_t s = 0; s < n; s++) {
			const uint16_t *row = distances_from(m->distances, s);

			for (uint32_t d = block; d < MIN(block + 64, n); d++)
				hops[(size_t)d * n + s] = row[d] == DISTANCE_NONE
								  ? 0xFF
								  : (uint8_t)MIN(row[d], 0xFEu);
		}
	return hops;
}

struct routes *minhop_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(minhop_done) struct minhop m = { .job = job };
	_cleanup_(routes_unrefp) struct routes *r = NULL;

	if (job->topo->n_switches > SWITCHES_MAX) {
		snprintf(why, why_len, "%u switches, at most %u can be routed",
			 job->topo->n_switches, SWITCHES_MAX);
		return NULL;
	}
	m.graph = graph_new(job->topo, &job->options);
	m.distances = distances_new(m.graph, threads_of(job), job->cancelled);
	if (m.distances) {
		m.spread = spread_new(m.graph, m.distances);
		m.plan = (struct place_plan){
			.graph = m.graph, .distances = m.distances, .spread = m.spread,
			.options = &job->options,
		};
		for (uint32_t u = 0; u < m.graph->n; u++)
			m.plan.has_lmc |= m.spread->has_lmc[u];
		use_previous(&m);
		use_order(&m);
		use_ignored(&m);
		r = routes_new(job->topo, "minhop", job->topo->max_lid);
		m.plan.switches_only = wants_columns(&m);
		fill_rows(&m, r);
		if (m.plan.switches_only)
			columns_fill(&m.plan, r, threads_of(job), job->cancelled);
		r->hops = hops_of(&m);
	}
	if (is_cancelled(job)) {
		snprintf(why, why_len, "cancelled");
		return NULL;
	}
	return take(r);
}
