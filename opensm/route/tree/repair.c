// SPDX-License-Identifier: BSD-2-Clause
/*
 * A target is affected if its distances from the ends of a changed cable do not fit together any
 * more: only columns of such targets change. In such a column, entries of switches whose distance
 * changed, and of their neighbours, are examined; at the ends of a lost cable all entries that used
 * it, at the ends of a new one all that could use it. An entry that still leads nearer stays,
 * unless homes want a path that is new. Other entries take the port of their home, or the least
 * used one; if no cable is new, all ports that are left in turn.
 *
 * If the order of up and down changed, a cable whose higher end is now the other one counts as lost
 * and as new; but all columns are computed, and those that are equal stay.
 *
 * A lost switch is kept without its cables, and a new one counts as present before (keep_tables.c):
 * a lone switch. Its whole row changes, which affects only its neighbours. Entries of others move
 * to a new switch only if they had no path, or have a shorter one now: it gets the rest of its
 * share in a quiet minute, as it may soon be lost again (keep_tables_balanced()).
 *
 * Entries of lost end ports stay; for new ones the entries of all switches are examined.
 */
#include "route/tree/repair.h"

#include <assert.h>
#include <string.h>

#include "route/core/unassigned.h"
#include "route/tree/repair_internal.h"
#include "util/mem.h"

static void repair_done(struct repair *p)
{
	routes_unref(p->r);
	FREE_ALL(p->moved, p->ends, p->hops, p->downs, p->waiting);
	dmodk_free(p->spread);
	arena_done(&p->memory);
}

static bool may_repair(const struct route_job *job, const struct fill_plan *how)
{
	const struct route_options *o = &job->options;
	const struct routes *before = job->previous;
	const struct topo *t = job->topo;

	if (!before || !before->hops || before->options != fill_options(how, o) ||
	    !before->expected_load || !how->tree != !before->places)
		return false;
	return !how->graph->weighted && !route_says_how_to_count(o) &&
	       t->n_switches == before->topo->n_switches && t->max_lid < before->row_size;
}

/* False: too many. */
static bool find_lones(struct repair *p)
{
	for (uint32_t s = 0; s < p->g->n; s++) {
		bool now = topo_is_bare(p->job->topo, s), was = topo_is_bare(p->before->topo, s);

		if (now == was)
			continue;
		if (p->n_lones == KEEP_REPAIR_SWITCHES)
			return false;
		p->lones[p->n_lones++] = s;
		p->lone[s] = now ? LONE_GONE : LONE_CAME;
	}
	return true;
}

/* One that went has no LID. */
static bool is_same_switch(const struct repair *p, uint32_t sw)
{
	const struct topo_switch *a = &p->job->topo->switches[sw],
				 *b = &p->before->topo->switches[sw];

	return a->guid == b->guid && a->sysimg_guid == b->sysimg_guid && a->n_ports == b->n_ports &&
	       a->lft_cap == b->lft_cap && !a->lmc && !b->lmc &&
	       (a->lid == b->lid || (p->lone[sw] == LONE_GONE ? !a->lid
				     : p->lone[sw] == LONE_CAME ? !b->lid : false));
}

static bool is_same_host(const struct topo_host *a, const struct topo_host *b)
{
	return a->guid == b->guid && a->sw == b->sw && a->sw_port == b->sw_port &&
	       a->lid == b->lid && a->lmc == b->lmc;
}

/* One that came, or is elsewhere. */
static bool note_came(struct repair *p, uint32_t host)
{
	const struct topo_host *h = &p->job->topo->hosts[host];

	if (h->lmc)
		return false;
	if (h->sw == TOPO_NONE || !h->lid)
		return true;
	if (p->n_came == KEEP_REPAIR_HOSTS)
		return false;
	p->came[p->n_came++] = host;
	return true;
}

/* Was the LID unassigned before? */
static bool is_free(const struct topo *was, const uint32_t *owners, lid_t lid)
{
	return lid > was->max_lid || owners[lid] == TOPO_NONE;
}

/* Had the port this LID before, perhaps on another switch? */
static bool had_lid(const struct topo *was, const struct topo_host *h)
{
	uint32_t before = topo_find_host(was, h->guid);

	return before != TOPO_NONE && was->hosts[before].lid == h->lid;
}

static bool came_to_free_lids(const struct repair *p)
{
	const struct topo *now = p->job->topo, *was = p->before->topo;
	_cleanup_free_ uint32_t *owners = NULL;
	bool ok = true;

	if (!p->n_came && !p->n_lones)
		return true;
	owners = unassigned_owners(was, was->max_lid);
	for (uint32_t i = 0; i < p->n_came; i++)
		ok &= is_free(was, owners, now->hosts[p->came[i]].lid) ||
		      had_lid(was, &now->hosts[p->came[i]]);
	for (uint32_t i = 0; i < p->n_lones; i++)
		ok &= p->lone[p->lones[i]] == LONE_GONE ||
		      is_free(was, owners, now->switches[p->lones[i]].lid);
	return ok;
}

/* Hosts that came. Hosts are in the order of their GUIDs. */
static bool find_hosts(struct repair *p)
{
	const struct topo *now = p->job->topo, *was = p->before->topo;
	uint32_t b = 0;

	for (uint32_t h = 0; h < now->n_hosts; h++) {
		while (b < was->n_hosts && was->hosts[b].guid < now->hosts[h].guid)
			b++;
		if (b < was->n_hosts && is_same_host(&now->hosts[h], &was->hosts[b]) &&
		    !now->hosts[h].lmc)
			continue;
		if (!note_came(p, h))
			return false;
	}
	return came_to_free_lids(p);
}

static bool note_end(struct repair *p, uint32_t sw, unsigned port, uint32_t to,
		     enum repair_end what)
{
	if (what == END_TURNED)
		p->n_turned++;
	else
		p->n_other_ends += p->lone[sw] == LONE_NOT && p->lone[to] == LONE_NOT;
	if (p->n_other_ends > 2 * KEEP_REPAIR_CABLES || p->n_turned > 2 * KEEP_REPAIR_TURNED)
		return false;
	p->gains |= what == END_CAME && p->lone[sw] == LONE_NOT && p->lone[to] == LONE_NOT;
	p->came_some |= what == END_CAME;
	APPEND(p->ends, p->n_ends, p->cap_ends) =
		(struct cable_end){ .sw = sw, .to = to, .port = (uint8_t)port, .what = what };
	return true;
}

/* Are the two the other way round in the order of up and down? */
static bool is_turned(const struct repair *p, uint32_t a, uint32_t b)
{
	const struct tree *tree = p->how->tree;
	const uint32_t *was = p->before->places;

	return tree && (tree->place[a] < tree->place[b]) != (was[a] < was[b]);
}

static bool compare_port(struct repair *p, uint32_t sw, unsigned port)
{
	const struct topo_port *a = topo_port(p->job->topo, sw, port),
			       *b = topo_port(p->before->topo, sw, port);

	if (topo_port_loops(a) || topo_port_loops(b))
		return a->port == b->port && topo_port_loops(a) == topo_port_loops(b);
	if (a->sw == b->sw && (a->sw == TOPO_NONE || a->port == b->port))
		return a->sw == TOPO_NONE || !is_turned(p, sw, a->sw) ||
		       note_end(p, sw, port, a->sw, END_TURNED);
	return (b->sw == TOPO_NONE || note_end(p, sw, port, b->sw, END_GONE)) &&
	       (a->sw == TOPO_NONE || note_end(p, sw, port, a->sw, END_CAME));
}

/* Lists the cables and end ports that differ. False: something else does, too. */
static bool find_differences(struct repair *p)
{
	const struct topo *now = p->job->topo;
	const struct tree *tree = p->how->tree;
	bool reordered = tree && memcmp(tree->place, p->before->places,
					now->n_switches * sizeof(*tree->place)) != 0;

	if (!find_lones(p))
		return false;
	for (uint32_t s = 0; s < now->n_switches; s++) {
		if (!is_same_switch(p, s))
			return false;
		if (!reordered &&
		    !memcmp(topo_port(now, s, 0), topo_port(p->before->topo, s, 0),
			    (now->switches[s].n_ports + 1u) * sizeof(struct topo_port)))
			continue;
		for (unsigned port = 1; port <= now->switches[s].n_ports; port++)
			if (!compare_port(p, s, port))
				return false;
	}
	return find_hosts(p);
}

/* Tables as they were, with all else of now. */
static struct routes *derive(const struct repair *p)
{
	const struct topo *now = p->job->topo;
	struct routes *r = routes_derive(now, p->before);

	if (p->how->tree)
		r->places = xmemdup(p->how->tree->place, now->n_switches * sizeof(*r->places));
	r->options = p->before->options;
	r->expected_load = p->spread->expected_load;
	r->top = MAX(r->top, now->max_lid);
	return r;
}

/* NULL: too much happened. */
static struct routes *repair_tables(const struct route_job *job, const struct fill_plan *how)
{
	_cleanup_(repair_done) struct repair p = {
		.job = job, .how = how, .before = job->previous, .g = how->graph,
	};
	size_t n = how->graph->n;

	assert(job->topo == how->graph->topo);
	if (!may_repair(job, how))
		return NULL;
	ARENA_ARRAYS(&p.memory, n, p.lone, p.column, p.counts, p.turns);
	if (!find_differences(&p))
		return NULL;
	p.hops = xmemdup(p.before->hops, n * n);
	if (p.before->downs)
		p.downs = xmemdup(p.before->downs, n * ((n + 63) / 64) * sizeof(*p.downs));
	if (!repair_distances(&p))
		return NULL;
	p.spread = dmodk_new(how->graph, NULL, &how->spread);
	if (fill_is_flat(job, how, p.spread))
		return NULL;
	p.diverts = !p.came_some && !p.n_came;
	p.r = derive(&p);
	repair_entries(&p);
	p.r->hops = take(p.hops);
	p.r->downs = take(p.downs);
	return take(p.r);
}

struct routes *repair_or_fill(const struct route_job *job, const struct fill_plan *plan)
{
	_cleanup_(distances_freep) struct distances *d = NULL;
	const struct graph *g = plan->graph;
	unsigned threads = route_threads(job);
	struct fill_plan how = *plan;
	struct routes *r = repair_tables(job, plan);

	if (r)
		return r;
	d = plan->tree ? tree_distances(plan->tree, g, NULL, g->n, threads, job->cancelled)
		       : distances_new(g, threads, job->cancelled);
	how.distances = d;
	return d ? fill_tables(job, &how) : NULL;
}
