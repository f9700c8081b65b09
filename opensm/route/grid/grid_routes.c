// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tables of a grid. One row per switch: for every other switch the direction towards it
 * (grid_ways.c), then for every LID on it one of the parallel cables.
 *
 * Damage. Switches that are cut off are led around (grid_detour.c); a turn into an earlier
 * dimension, which only damage brings about, makes the next hop on VLs of its own, and where that
 * is not enough, some switches are reached on another set of VLs altogether, as the service level
 * says. Where there are not so many VLs, paths keep to their line: a ring with a gap is a line and
 * has no cycle on any VL.
 */
#include "route/grid/grid_routes.h"

#include <assert.h>
#include <stdio.h>

#include "route/proof/check.h"
#include "route/proof/cdg.h"
#include "route/grid/grid_detour.h"
#include "route/core/aside.h"
#include "route/core/unassigned.h"
#include "util/mem.h"

/* A LID on a switch. */
struct dest {
	lid_t lid;
	uint8_t port;
	unsigned turn;
};

struct maker {
	const struct route_job *job;
	const struct grid_plan *plan;
	const struct topo *topo;
	struct grid_ways *ways;
	struct grid_detours *detours; /* NULL: none */
	uint32_t *first; /* per switch + 1 */
	struct dest *dests;
	unsigned n_vls;
	struct grid_vl_plan vl_plan; /* without datelines, but for bit_of */
};

static void maker_done(struct maker *m)
{
	FREE_ALL(m->first, m->dests);
	grid_detours_free(m->detours);
	grid_ways_free(m->ways);
}

/*
 * The choice among parallel cables, and of the direction where both ways round are equally long,
 * goes by port number, not by counting: a host that comes or goes changes no other host's routes.
 */
static void add_dests(struct maker *m, uint32_t at, lid_t lid, uint8_t lmc, uint8_t port)
{
	unsigned turn = m->plan->port_rank ? m->plan->port_rank[port] : port;

	for (unsigned k = 0; lid && k < 1u << lmc && lid + k <= LID_MAX_UCAST; k++)
		m->dests[m->first[at]++] =
			(struct dest){ .lid = (lid_t)(lid + k), .port = port, .turn = turn + k };
}

static void find_dests(struct maker *m)
{
	const struct topo *t = m->topo;
	uint32_t n = t->n_switches;

	m->first = xcalloc(n + 2u, sizeof(*m->first));
	for (uint32_t s = 0; s < n; s++)
		m->first[s + 2] += t->switches[s].lid ? 1u << t->switches[s].lmc : 0;
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE && t->hosts[h].lid)
			m->first[t->hosts[h].sw + 2] += 1u << t->hosts[h].lmc;
	for (uint32_t s = 0; s < n; s++)
		m->first[s + 2] += m->first[s + 1];
	m->dests = xcalloc(m->first[n + 1], sizeof(*m->dests));
	m->first++;
	for (uint32_t s = 0; s < n; s++)
		add_dests(m, s, t->switches[s].lid, t->switches[s].lmc, 0);
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE)
			add_dests(m, t->hosts[h].sw, t->hosts[h].lid, t->hosts[h].lmc,
				  t->hosts[h].sw_port);
	m->first--;
}

/* Entries of switch `from` for everything on switch `to`. */
static bool fill_entries(const struct maker *m, uint8_t *row, uint32_t from, uint32_t to)
{
	const struct grid *grid = m->plan->grid;
	const struct graph *g = m->plan->graph;
	const struct dest *d = m->dests + m->first[to], *end = m->dests + m->first[to + 1];
	const struct graph_group *groups[2];
	uint32_t way[2];
	unsigned shift = 0; /* the sum of coordinates */
	bool both;

	if (!grid_way(m->ways, from, to, way))
		return false;
	for (unsigned odd = 0; odd < 2 && m->detours; odd++)
		way[odd] = grid_detour(m->detours, from, to, odd, way[odd]);
	both = way[0] != way[1];
	for (unsigned i = 0; i < 2; i++) {
		uint32_t group = grid_group(m->ways, from, way[i]);

		if (group == TOPO_NONE)
			return false;
		groups[i] = &g->groups[group];
	}
	if (!both && groups[0]->n_ports == 1) {
		for (; d < end; d++)
			row[d->lid] = g->ports[groups[0]->first_port];
		return true;
	}
	for (unsigned i = 0; i < grid->n_dims; i++)
		shift += grid_at(grid, to)[i];
	for (; d < end; d++) {
		const struct graph_group *group = groups[d->turn % 2];
		unsigned turn = (both ? d->turn / 2 : d->turn) + shift;

		row[d->lid] = graph_port_in_turn(g, from, group, turn);
	}
	return true;
}

/* Returns a switch that cannot be reached; TOPO_NONE: all can. */
static uint32_t fill_row(const struct maker *m, struct routes *r, uint32_t s)
{
	uint8_t *row = routes_row(r, s);
	uint32_t lost = TOPO_NONE;

	for (uint32_t to = 0; to < m->topo->n_switches; to++)
		if (to == s)
			for (uint32_t i = m->first[s]; i < m->first[s + 1]; i++)
				row[m->dests[i].lid] = m->dests[i].port;
		else if (m->first[to] < m->first[to + 1] && !fill_entries(m, row, s, to))
			lost = to;
	return lost;
}

static bool fill_rows(const struct maker *m, struct routes *r, char *why, size_t why_len)
{
	uint32_t n = m->topo->n_switches;
	_cleanup_free_ uint32_t *lost = xcalloc(n, sizeof(*lost));

#pragma omp parallel for num_threads(route_threads(m->job)) schedule(dynamic, 4)
	for (uint32_t s = 0; s < n; s++)
		lost[s] = is_cancelled(m->job->cancelled) ? TOPO_NONE : fill_row(m, r, s);
	for (uint32_t s = 0; s < n; s++)
		if (lost[s] != TOPO_NONE)
			return route_refuse(why, why_len, "no path from switch 0x%016llx to"
					    " 0x%016llx around missing cables",
					    (unsigned long long)m->topo->switches[s].guid,
					    (unsigned long long)m->topo->switches[lost[s]].guid);
	return true;
}

/* ---- VLs -------------------------------------------------------------------------------- */

/* torus-2QoS: bit 0: dateline of the dimension out, 1: turn against the order, 2: the level. */
static unsigned dateline_vl(const struct maker *m, unsigned in, unsigned out, unsigned sl)
{
	unsigned bit = m->vl_plan.bit_of[out - 1], level = m->n_vls > 4 ? sl >> 3 & 1 : 0;
	unsigned vl = bit != GRID_NO_BIT ? sl >> bit & 1 : 0;

	if (in > out && m->n_vls > 2)
		vl |= 2;
	return vl | level << 2;
}

static void fill_crossings(const struct maker *m, struct sl2vl *l)
{
	uint32_t n = m->topo->n_switches;

#pragma omp parallel for num_threads(route_threads(m->job)) schedule(dynamic, 4)
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t to = 0; to < n && !is_cancelled(m->job->cancelled); to++)
			l->sl[(size_t)s * n + to] =
				(uint8_t)(grid_crossings(m->ways, m->vl_plan.bit_of, s, to) |
					  (m->detours ? (unsigned)m->detours->set[to]
								<< m->vl_plan.set_bit
						      : 0));
}

/* Shares out the bits of the service level, except those of sets. Returns the mask of all. */
static unsigned share_out_bits(struct maker *m)
{
	const struct grid *grid = m->plan->grid;
	unsigned n = 0;

	for (unsigned d = 0; d < grid->n_dims; d++)
		if (m->plan->datelines)
			m->vl_plan.bit_of[d] =
				grid->wraps[d] ? m->plan->dateline_bit[d] : GRID_NO_BIT;
		else
			m->vl_plan.bit_of[d] = grid_needs_bit(grid, d) ? (uint8_t)n++ : GRID_NO_BIT;
	m->vl_plan.set_bit = n;
	return m->plan->datelines ? 7 : (1u << n) - 1;
}

static struct sl2vl *make_vls(const struct maker *m, unsigned mask, uint32_t row_size)
{
	unsigned n_classes = 1 + m->plan->grid->n_dims;
	bool levels = m->plan->datelines && m->n_vls > 4;
	struct sl2vl *l = sl2vl_new(m->topo, m->n_vls, mask ? SL2VL_BY_SWITCHES : SL2VL_BY_NOTHING,
				    row_size, n_classes);

	l->sl_mask = (uint8_t)mask;
	l->mcast_mask_zero = mask;
	sl2vl_set_classes(l, m->topo, grid_port_class, m->plan->grid);
	for (unsigned i = 0; i < n_classes * n_classes * SL2VL_SLS; i++) {
		unsigned sl = i % SL2VL_SLS, out = i / SL2VL_SLS % n_classes,
			 in = i / SL2VL_SLS / n_classes;

		unsigned vl = !out		     ? levels && sl >= 8
			      : m->plan->datelines ? dateline_vl(m, in, out, sl)
						   : grid_set_vl(&m->vl_plan, in, out, sl);

		l->vl[i] = (uint8_t)MIN(vl, m->n_vls - 1); /* above it only where no path leads */
	}
	for (unsigned sl = 0; sl < SL2VL_SLS; sl++)
		l->host_vl[sl] = levels && sl >= 8;
	if (mask)
		fill_crossings(m, l);
	return l;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static void write_note(const struct maker *m, struct routes *r)
{
	char text[GRID_STRLEN];

	snprintf(r->note, sizeof(r->note), "%s, %u VL%s%s", grid_str(m->plan->grid, text), m->n_vls,
		 m->n_vls == 1 ? "" : "s",
		 !m->plan->datelines ? ""
		 : m->n_vls >= 8     ? ": two levels of service, room for a missing switch"
		 : m->n_vls >= 4     ? ": one level of service, room for a missing switch"
				     : ": one level of service, no room for a missing switch");
}

/*
 * Damage without a general proof: several switches, or switches and cables. The check runs here, so
 * that this engine can decline; the verdict is kept for the caller (routes->judged).
 */
static bool prove_tables(const struct maker *m, struct routes *r, char *why, size_t why_len)
{
	struct cdg *g = NULL;
	struct route_verdict v;
	bool ok;

	routes_set_aside(r);
	routes_check_after(m->job->previous, r, route_threads(m->job), &v);
	ok = !route_fault(&v);
	if (!ok)
		snprintf(why, why_len, "paths around what is missing (%u switch%s, %u cable%s) %s",
			 m->plan->grid->n_missing, m->plan->grid->n_missing == 1 ? "" : "es",
			 m->plan->grid->n_cut, m->plan->grid->n_cut == 1 ? "" : "s",
			 route_fault(&v));
	else if (r->master_tree)
		g = cdg_of(r, route_threads(m->job));
	if (g && !grid_tree_fits(r, g))
		free(take(r->master_tree));
	r->judged = xmemdup(&v, sizeof(v));
	cdg_free(g);
	return ok;
}

static struct grid_ends *find_ends(const struct maker *m)
{
	struct grid_ends *ends = xcalloc(MAX(m->topo->n_switches, 1u), sizeof(*ends));

	for (uint32_t h = 0; h < m->topo->n_hosts; h++)
		if (m->topo->hosts[h].sw != TOPO_NONE && m->topo->hosts[h].lid)
			ends[m->topo->hosts[h].sw].sources++;
	for (uint32_t s = 0; s < m->topo->n_switches; s++)
		for (uint32_t i = m->first[s]; i < m->first[s + 1]; i++) {
			ends[s].lids[m->dests[i].turn % 2]++;
			ends[s].lid[m->dests[i].turn % 2] = m->dests[i].lid;
		}
	return ends;
}

/* A bit of the service level cannot tell two paths apart. */
static void tell_ways(struct maker *m)
{
	for (unsigned d = 0; d < m->plan->grid->n_dims; d++)
		m->ways->one_way[d] = m->vl_plan.bit_of[d] != GRID_NO_BIT;
}

/* Paths in dimension order, with detours along the same line. */
static bool find_ways(struct maker *m, char *why, size_t why_len)
{
	unsigned max_vls = route_vls(m->job);
	const struct grid *grid = m->plan->grid;

	m->n_vls = m->plan->datelines ? grid_dateline_vls(grid, max_vls, why, why_len)
				      : grid_vls_needed(grid, max_vls, why, why_len);
	m->vl_plan.turns = m->n_vls > m->vl_plan.rings;
	m->ways = m->n_vls ? grid_ways_new(m->plan->graph, grid, why, why_len) : NULL;
	if (m->ways)
		tell_ways(m);
	return m->ways;
}

/* The same with free detours: more VLs, and where one set is not enough, service levels. */
static bool find_detours(struct maker *m)
{
	const struct grid *grid = m->plan->grid;
	unsigned max_vls = route_vls(m->job), sets = max_vls / (2 * m->vl_plan.rings);
	struct grid_ends *ends;

	if (m->plan->datelines || !(grid->n_cut || grid->n_missing) || !sets ||
	    m->vl_plan.set_bit > GRID_SL_BITS)
		return false;
	m->vl_plan.turns = true;
	ends = find_ends(m);
	m->ways = grid_ways_whole(m->plan->graph, grid);
	tell_ways(m);
	assert(m->vl_plan.n_sets > 0);
	while (2 * m->vl_plan.n_sets <= sets &&
	       2 * m->vl_plan.n_sets << m->vl_plan.set_bit <= 1u << GRID_SL_BITS)
		m->vl_plan.n_sets *= 2;
	m->detours = grid_detours_new(m->ways, &m->vl_plan, ends, m->job);
	free(ends);
	if (!m->detours) {
		m->ways = grid_ways_free(m->ways);
		return false;
	}
	m->vl_plan.n_sets = m->detours->n_sets > 2 ? 4 : m->detours->n_sets;
	m->n_vls = m->detours->n_sets * grid_vls(&m->vl_plan);
	return true;
}

static struct routes *make_routes(const struct route_job *job, const struct grid_plan *plan,
				  bool detours, char *why, size_t why_len)
{
	_cleanup_(maker_done) struct maker m = {
		.job = job, .plan = plan, .topo = job->topo,
		.vl_plan = { .grid = plan->grid, .rings = grid_ring_vls(plan->grid), .n_sets = 1 },
	};
	_cleanup_(routes_unrefp) struct routes *r = NULL;
	unsigned mask = share_out_bits(&m);

	find_dests(&m);
	if (detours ? !find_detours(&m) : !find_ways(&m, why, why_len))
		return NULL;
	r = routes_new(job->topo, plan->engine, unassigned_top(job->topo, job->previous));
	if (!fill_rows(&m, r, why, why_len))
		return NULL;
	if (m.n_vls > 1)
		r->lanes = make_vls(&m, mask | (m.vl_plan.n_sets - 1) << m.vl_plan.set_bit,
				    r->row_size);
	r->master_tree = grid_tree(m.ways);
	unassigned_keep(r, job->previous);
	write_note(&m, r);
	if (!is_cancelled(job->cancelled) &&
	    (detours || plan->grid->n_missing > 1 ||
	     (plan->grid->n_missing && plan->grid->n_cut)) &&
	    !prove_tables(&m, r, why, why_len))
		return NULL;
	return take(r);
}

struct routes *grid_routes(const struct route_job *job, const struct grid_plan *plan, char *why,
			   size_t why_len)
{
	struct routes *r;

	assert(plan->engine && plan->grid && plan->graph->topo == job->topo);
	r = make_routes(job, plan, true, why, why_len);
	return r || route_is_cancelled(job) ? r : make_routes(job, plan, false, why, why_len);
}
