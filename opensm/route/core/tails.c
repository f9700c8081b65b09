// SPDX-License-Identifier: BSD-2-Clause
/* Takes tails off a fabric, and adds them to the tables of what is left. */
#include "route/core/tails.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "route/core/aside.h"
#include "route/core/unassigned.h"
#include "util/mem.h"

/* ---- which switches ------------------------------------------------------------------------- */

static uint32_t degree(const struct graph *g, uint32_t u)
{
	return g->first[u + 1] - g->first[u];
}

/* The neighbour of a switch that is in no tail so far; there is one. */
static uint32_t next_to_core(const struct tails *tails, uint32_t u)
{
	GRAPH_EACH(tails->graph, u, edge)
		if (tails->on[edge->to] == TOPO_NONE)
			return edge->to;
	return TOPO_NONE;
}

/*
 * Takes switches away that have one neighbour left, until there is none; if `only` is given, those
 * that are set in it. on[] says that neighbour; in `order` a switch comes before the one that it
 * hangs on. Returns how many were taken. `left`, per switch: neighbours that are left.
 */
static uint32_t take_off(struct tails *tails, const bool *only, uint32_t *left, uint32_t *order)
{
	const struct graph *g = tails->graph;
	uint32_t n = 0;

	for (uint32_t u = 0; u < g->n; u++) {
		left[u] = degree(g, u);
		if (left[u] == 1)
			order[n++] = u;
	}
	for (uint32_t i = 0, kept = 0;; i++) {
		uint32_t u, next;

		if (i == n)
			return kept;
		u = order[i];
		if (left[u] != 1 || (only && !only[u]))
			continue;
		next = next_to_core(tails, u);
		tails->on[u] = next;
		left[u] = 0;
		if (--left[next] == 1)
			order[n++] = next;
		order[kept++] = u;
	}
}

/* A part of the fabric without a cycle is left as it is: all of it would be tails. */
static void find_tails(struct tails *tails, const bool *only)
{
	const struct graph *g = tails->graph;
	_cleanup_free_ uint32_t *left = xcalloc(g->n + 1u, sizeof(*left));
	_cleanup_free_ uint32_t *order = xcalloc(g->n + 1u, sizeof(*order));
	uint32_t n = take_off(tails, only, left, order);

	for (uint32_t u = 0; u < g->n; u++)
		tails->root[u] = u;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t u = order[i];

		tails->root[u] = tails->root[tails->on[u]];
		if (left[tails->root[u]])
			tails->n++;
	}
	for (uint32_t u = 0; u < g->n; u++)
		if (!left[tails->root[u]]) {
			tails->on[u] = TOPO_NONE;
			tails->root[u] = u;
		}
}

struct tails *tails_find(const struct topo *t, const struct route_options *options,
			 enum tails_kind kind)
{
	_cleanup_(tails_freep) struct tails *ret = xcalloc(1, sizeof(*ret));
	_cleanup_free_ bool *stub = kind == TAILS_STUBS ? topo_find_stubs(t) : NULL;

	ret->graph = graph_new(t, options);
	ret->on = xmalloc_ones(t->n_switches + 1u, sizeof(*ret->on));
	ret->root = xcalloc(t->n_switches + 1u, sizeof(*ret->root));
	find_tails(ret, stub);
	if (!ret->n)
		return NULL;
	ret->place = xcalloc(t->n_switches + 1u, sizeof(*ret->place));
	ret->core = tails_gather(t, ret->root, ret->place);
	return ret->core ? take(ret) : NULL;
}

struct tails *tails_free(struct tails *tails)
{
	if (!tails)
		return NULL;
	graph_free(tails->graph);
	topo_unref(tails->core);
	FREE_ALL(tails->on, tails->root, tails->place, tails);
	return NULL;
}

/* ---- tables --------------------------------------------------------------------------------- */

struct adder {
	const struct tails *tails;
	const struct routes *core;
	struct routes *r;
	uint32_t *at;	     /* per LID: its switch, unassigned_places() */
	const uint8_t *port; /* per LID: port of that switch */
};

/* The port of `u` towards its neighbour `next`; LIDs take turns among several cables. */
static uint8_t port_to(const struct tails *tails, uint32_t u, uint32_t next, lid_t lid)
{
	const struct graph_group *edge = graph_edge(tails->graph, u, next);

	return graph_port_in_turn(tails->graph, u, edge, lid);
}

/* The next switch from `u` towards `at`, which is in a tail beyond it; TOPO_NONE: it is not. */
static uint32_t next_below(const struct tails *tails, uint32_t u, uint32_t at)
{
	while (at != TOPO_NONE && tails->on[at] != u)
		at = tails->on[at];
	return at;
}

/* The entry that the core has; for a switch in a tail, that of the switch where the tail hangs. */
static uint8_t core_entry(const struct adder *a, uint32_t s, lid_t lid)
{
	const struct topo *t = a->r->topo;
	uint32_t at = a->at[lid];

	if (at != TOPO_NONE && a->tails->on[at] != TOPO_NONE && !a->port[lid])
		lid = t->switches[a->tails->root[at]].lid;
	return lid ? routes_port(a->core, a->tails->place[s], lid) : LFT_NO_PORT;
}

static uint8_t entry_of(const struct adder *a, uint32_t s, lid_t lid)
{
	const struct tails *tails = a->tails;
	uint32_t at = a->at[lid], next;

	if (at == s)
		return a->port[lid];
	next = at == TOPO_NONE ? TOPO_NONE : next_below(tails, s, at);
	if (next != TOPO_NONE)
		return port_to(tails, s, next, lid);
	if (tails->on[s] == TOPO_NONE)
		return core_entry(a, s, lid);
	/* out of the tail, if the core has a path: in its tail or beyond */
	if (at == TOPO_NONE ||
	    (tails->root[s] != tails->root[at] &&
	     core_entry(a, tails->root[s], lid) == LFT_NO_PORT))
		return LFT_NO_PORT;
	return port_to(tails, s, tails->on[s], lid);
}

static void fill_row(const struct adder *a, uint32_t s)
{
	const struct tails *tails = a->tails;
	unsigned cap = a->r->topo->switches[s].lft_cap;
	uint8_t *row = routes_row(a->r, s);

	if (tails->on[s] == TOPO_NONE)
		memcpy(row, routes_row(a->core, tails->place[s]),
		       MIN(a->r->row_size, a->core->row_size));
	for (unsigned lid = 1; lid <= a->r->top && lid < cap; lid++)
		if (tails->on[s] != TOPO_NONE ||
		    (a->at[lid] != TOPO_NONE && tails->on[a->at[lid]] != TOPO_NONE))
			row[lid] = entry_of(a, s, (lid_t)lid);
}

/* ---- VLs ------------------------------------------------------------------------------------ */

/* The number in the core of the switch where `s` is, or where its tail hangs. */
static uint32_t in_core(const struct tails *tails, uint32_t s)
{
	return tails->place[tails->root[s]];
}

/* A row of SLs by switch, or by LID. */
static void copy_sls(const struct adder *a, const struct sl2vl *from, uint32_t from_row,
		     struct sl2vl *to, uint32_t to_row)
{
	const struct topo *t = a->r->topo;

	if (to->by == SL2VL_BY_SWITCHES) {
		for (uint32_t s = 0; s < t->n_switches; s++)
			to->sl[(size_t)to_row * to->n_switches + s] =
				from->sl[(size_t)from_row * from->n_switches +
					 in_core(a->tails, s)];
		return;
	}
	for (unsigned lid = 1; lid <= a->r->top; lid++) {
		uint32_t at = a->at[lid];
		bool behind = at != TOPO_NONE && a->tails->on[at] != TOPO_NONE && !a->port[lid];
		unsigned as = behind ? t->switches[a->tails->root[at]].lid : lid;

		if (as < from->row_size)
			to->sl[(size_t)to_row * to->row_size + lid] =
				from->sl[(size_t)from_row * from->row_size + as];
	}
}

/* Ports in the core are of their classes; those to and in tails are as those to hosts. */
static uint8_t *copy_classes(const struct adder *a, const uint8_t *from)
{
	const struct topo *t = a->r->topo, *core = a->tails->core;
	uint8_t *ret = xcalloc(topo_n_entries(t), sizeof(*ret));

	for (uint32_t s = 0; s < t->n_switches; s++)
		if (a->tails->on[s] == TOPO_NONE)
			memcpy(ret + t->switches[s].first_port,
			       from + core->switches[a->tails->place[s]].first_port,
			       t->switches[s].n_ports + 1u);
	return ret;
}

static struct sl2vl *make_vls(const struct adder *a)
{
	const struct sl2vl *from = a->core->lanes;
	uint32_t n_rows = from->by == SL2VL_BY_NOTHING ? 0
			  : from->by == SL2VL_BY_LID   ? 1
						       : a->r->topo->n_switches;
	struct sl2vl *to = sl2vl_new(a->r->topo, from->n_vls, from->by, a->r->row_size,
				     from->n_classes);

	to->n_needed = from->n_needed;
	to->sl_mask = from->sl_mask;
	to->n_levels = from->n_levels;
	to->mcast_mask_zero = from->mcast_mask_zero;
	memcpy(to->vl, from->vl, (size_t)from->n_classes * from->n_classes * SL2VL_SLS);
	memcpy(to->host_vl, from->host_vl, sizeof(to->host_vl));
	if (from->class_of)
		to->class_of = copy_classes(a, from->class_of);
	for (uint32_t row = 0; row < n_rows; row++)
		copy_sls(a, from, from->by == SL2VL_BY_LID ? 0 : in_core(a->tails, row), to, row);
	return to;
}

/* ---- the whole fabric ----------------------------------------------------------------------- */

static uint8_t *make_master_tree(const struct adder *a)
{
	uint32_t n = a->r->topo->n_switches;
	uint8_t *ret = xcalloc(n, sizeof(*ret));

	for (uint32_t s = 0; s < n; s++)
		ret[s] = a->tails->on[s] == TOPO_NONE
				 ? a->core->master_tree[a->tails->place[s]]
				 : port_to(a->tails, s, a->tails->on[s], 0);
	return ret;
}

/* NULL: cancelled. */
static uint8_t *find_hops(const struct graph *g, const struct route_job *job)
{
	_cleanup_(distances_freep) struct distances *d =
		distances_new(g, route_threads(job), job->cancelled);
	uint8_t *ret = d ? xmalloc((size_t)g->n * g->n) : NULL;

	if (d)
		hops_by_target(d, route_threads(job), ret, NULL);
	return ret;
}

static struct routes *add_tails(const struct tails *tails, const struct route_job *job,
				const struct routes *core)
{
	const struct topo *t = job->topo;
	lid_t top = unassigned_top(t, job->previous);
	struct routes *r = routes_new(t, core->engine, top);
	_cleanup_free_ uint8_t *port = xcalloc(top + 1u, sizeof(*port));
	_cleanup_free_ uint32_t *at = unassigned_places(t, top, port);
	struct adder a = { .tails = tails, .core = core, .r = r, .at = at, .port = port };

	for (uint32_t s = 0; s < t->n_switches; s++)
		fill_row(&a, s);
	if (core->lanes)
		r->lanes = make_vls(&a);
	if (core->master_tree)
		r->master_tree = make_master_tree(&a);
	if (core->hops)
		r->hops = find_hops(tails->graph, job);
	r->expected_load = core->expected_load;
	r->balanced_load = core->balanced_load;
	memcpy(r->note, core->note, sizeof(r->note));
	unassigned_keep(r, job->previous);
	return r;
}

struct routes *tails_compute(const struct route_job *job, const struct tails *tails,
			     tails_core_fn compute, char *why, size_t why_len)
{
	_cleanup_(routes_unrefp) struct routes *core = NULL;
	struct route_job of_core = *job;

	assert(job && tails && compute && tails->graph->topo == job->topo);
	of_core.topo = tails->core;
	of_core.options.max_vls = route_vls_whole(job); /* those that cables of tails have, too */
	core = compute(&of_core, why, why_len);
	return core ? add_tails(tails, job, core) : NULL;
}
