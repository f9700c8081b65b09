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
 * Change. Entries of the previous tables stay as long as they are on a shortest path (change.c finds
 * out which switches need not be looked at). One exception: a way that is new, because a cable came
 * back, gets what belongs to it: the entries whose homes lead there, and of those that are counted
 * or loaded as many as make it even. Entries of LIDs that nobody has any more stay as well (stale.c),
 * so a host that leaves and comes back changes nothing. The options of the peer that say how to count
 * (guid_routing_order_file, scatter_ports ...) replace the closed form by counting where they
 * apply. Several LIDs of one port (LMC) rotate by their offset and prefer another chassis, then
 * another switch, then another port than the LIDs before them.
 */
#include "route/engines.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "route/change.h"
#include "route/columns.h"
#include "route/graph.h"
#include "route/place.h"
#include "route/spread.h"
#include "route/stale.h"
#include "util/mem.h"

#define SWITCHES_MAX 65534

/* What the rows share, and the memory behind it. */
struct minhop {
	const struct route_job *job;
	struct graph *graph;
	struct distances *distances;
	struct spread *spread;
	struct change *change;
	uint8_t *hops;
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
	change_free(m->change);
	free(m->hops);
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

static uint64_t hash(uint64_t h, const void *bytes, size_t n)
{
	for (const uint8_t *p = bytes; n-- > 0; p++)
		h = (h ^ *p) * UINT64_C(0x100000001B3);
	return h;
}

static uint64_t hash_ports(uint64_t h, const struct route_guid_port *ports, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		h = hash(h, &ports[i].guid, sizeof(ports[i].guid));
		h = hash(h, (uint8_t[]){ ports[i].port, ports[i].weight }, 2);
	}
	return hash(h, &n, sizeof(n));
}

/* Never 0. */
static uint64_t hash_options(const struct route_options *o)
{
	const uint8_t flags[] = { o->port_shifting, o->order_no_scatter, o->count_switches };
	uint64_t h = hash(UINT64_C(0xCBF29CE484222325), flags, sizeof(flags));

	h = hash(h, &o->scatter_seed, sizeof(o->scatter_seed));
	if (o->n_order)
		h = hash(h, o->order, o->n_order * sizeof(*o->order));
	h = hash_ports(h, o->ignore, o->n_ignore);
	h = hash_ports(h, o->weights, o->n_weights);
	return h ? h : 1;
}

/*
 * Entries stay where they are while they are on a shortest path, if they were made with the options
 * of today. Whose work adopted tables are is unknown: where guid_routing_order_file says exactly how to
 * place, they are placed anew. scatter_ports does not: ways at random are as good as others at random,
 * and a new process moves nothing that works.
 */
static bool keeps_previous(const struct route_job *job)
{
	const struct route_options *o = &job->options;

	if (!job->previous->options)
		return !o->n_order;
	return job->previous->options == hash_options(o);
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
				place_fill(row, s, routes_row(r, s), r->row_size);
		place_row_free(row);
	}
}

/* Hops for the next computation and for dumps: bytes, by destination. */
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

/*
 * The highest LID of the tables. It never sinks while there are previous tables, because entries of
 * LIDs that nobody has any more stay, as far as they fit somewhere.
 */
static lid_t top_of(const struct route_job *job)
{
	unsigned cap = 0;

	for (uint32_t s = 0; s < job->topo->n_switches; s++)
		cap = MAX(cap, (unsigned)job->topo->switches[s].lft_cap);
	if (!job->previous || !cap)
		return job->topo->max_lid;
	return (lid_t)MAX((unsigned)job->topo->max_lid,
			  MIN((unsigned)job->previous->top, cap - 1));
}

static void plan(struct minhop *m)
{
	const struct route_job *job = m->job;

	m->spread = spread_new(m->graph, m->distances);
	m->hops = hops_of(m);
	m->plan = (struct place_plan){
		.graph = m->graph, .distances = m->distances, .spread = m->spread,
		.options = &job->options,
	};
	for (uint32_t u = 0; u < m->graph->n; u++)
		m->plan.has_lmc |= m->spread->has_lmc[u];
	if (job->previous)
		m->change = change_new(m->graph, m->spread, m->hops, job->previous,
				       keeps_previous(job));
	m->plan.change = m->change;
	use_order(m);
	use_ignored(m);
	m->plan.switches_only = wants_columns(m);
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
		plan(&m);
		r = routes_new(job->topo, "minhop", top_of(job));
		fill_rows(&m, r);
		if (m.plan.switches_only)
			columns_fill(&m.plan, r, threads_of(job), job->cancelled);
		if (m.change && (m.change->gains || !m.change->compares))
			stale_open_loops(r);
		r->hops = take(m.hops);
		r->options = hash_options(&job->options);
		r->expected_load = m.plan.switches_only ? 0 : m.spread->expected_load;
	}
	if (is_cancelled(job)) {
		snprintf(why, why_len, "cancelled");
		return NULL;
	}
	return take(r);
}
