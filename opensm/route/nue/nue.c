// SPDX-License-Identifier: BSD-2-Clause
/*
 * The nue engine: on any graph, with however few VLs, tables that cannot deadlock.
 *
 * Other engines find short paths first and then look for VLs on which these close no cycle; when
 * the VLs run out they fail. Nue (Domke, Hoefler, Matsuoka, HPDC 2016) deals the destinations out
 * to the available VLs and then, VL by VL, looks for paths that close no cycle with those before.
 * It cannot fail: a spanning tree reaches all switches; its turns come first. The price is detours.
 *
 *   nue_part   which destinations share a VL: near neighbours, because they want the same turns
 *   cdg_order  the channel dependency graph of a VL, in an order in which all turns lead forward,
 *              so that the test of one more is mostly a comparison of two numbers
 *   nue_tree   the paths of all switches to one destination: shortest first, then least loaded; a
 *              switch whose turns are all refused makes a neighbour take another path; at last
 *              the spanning tree
 *   nue_layer  one destination after the other, a VL for each thread
 *   nue_keep   previous tables are wishes: their turns are taken first, broken paths are mended
 *
 * In a tree there is nothing to avoid: minhop's tables are the wish there, and if they close no
 * cycle on one VL they are the result. Only packets of end ports count, unless nue_include_switches
 * says otherwise: turns that only packets from switches themselves would take are found last and
 * bind no other path.
 */
#include "route/select/engines.h"

#include <stdio.h>
#include <string.h>

#include "route/core/aside.h"
#include "route/tree/fill.h"
#include "route/proof/keep_policy.h"
#include "route/nue/nue_layer.h"
#include "route/sp/balance.h"
#include "util/mem.h"

#define VARIANTS 3u
#define STEPS UINT64_C(8000000) /* of (destination, channel) in all variants but the first */

struct nue {
	const struct route_job *job;
	struct nue_net *net;
	struct routes *routes;
	unsigned n_vls;
	bool *is_target;         /* per switch */
	bool *own;		 /* per switch: its own LID gets paths as those of hosts do */
	uint8_t *part;           /* per switch: VL of its destinations */
	struct nue_target *targets;
	uint32_t n_targets;
	uint32_t first[SL2VL_VLS_MAX + 2]; /* targets of each VL */
	bool has_levels;         /* switches without end ports */
	bool keeps;              /* previous tables are to be kept */
	uint32_t *gains, n_gains;
	struct arena memory;
};

static void nue_done(struct nue *e)
{
	nue_net_free(e->net);
	routes_unref(e->routes);
	arena_done(&e->memory);
}

static uint32_t lids_on(const struct nue *e, uint32_t sw)
{
	return e->net->first_lid[sw + 1] - e->net->first_lid[sw];
}

static void find_targets(struct nue *e)
{
	const struct nue_net *net = e->net;

	for (uint32_t s = 0; s < net->n; s++)
		e->has_levels |= !net->sources[s] && nue_degree(net, s) > 0;
	ARENA_ARRAY(&e->memory, e->is_target, net->n + 1u);
	e->own = arena_keep(&e->memory, aside_find_switches(net->topo));
	for (uint32_t s = 0; s < net->n; s++) {
		e->own[s] |= e->job->options.nue_include_switches;
		e->own[s] &= net->topo->switches[s].lid != 0;
		e->is_target[s] = lids_on(e, s) || e->own[s];
	}
}

/*
 * Of one VL: first one LID of every switch, then another. In a tree the switches' own come last, if
 * at all, where they do not share the paths of an end port.
 */
static void list_targets(struct nue *e, unsigned vl, uint32_t most)
{
	const struct nue_net *net = e->net;

	for (uint32_t k = 0; k < most; k++)
		for (uint32_t s = 0; s < net->n; s++) {
			uint32_t lids = lids_on(e, s);

			if (e->is_target[s] && e->part[s] == vl && k < MAX(lids, 1u))
				e->targets[e->n_targets++] = (struct nue_target){
					.sw = s,
					.lid = lids ? net->lids[net->first_lid[s] + k] : 0,
					.own = !k && (!e->has_levels || !lids),
				};
		}
	for (uint32_t s = 0; s < net->n && e->has_levels; s++)
		if (e->own[s] && e->part[s] == vl && lids_on(e, s))
			e->targets[e->n_targets++] = (struct nue_target){ .sw = s, .own = true };
}

static void make_targets(struct nue *e)
{
	uint32_t most = 0, all = 0;

	for (uint32_t s = 0; s < e->net->n; s++) {
		most = MAX(most, e->is_target[s] ? MAX(lids_on(e, s), 1u) : 0);
		all += e->is_target[s] ? MAX(lids_on(e, s), 1u) + 1 : 0;
	}
	ARENA_ARRAY(&e->memory, e->targets, all + 1u);
	for (unsigned vl = 0; vl < e->n_vls; vl++) {
		e->first[vl] = e->n_targets;
		list_targets(e, vl, most);
	}
	e->first[e->n_vls] = e->n_targets;
}

/* Adds the turns of packets that switch `s` passes on. */
static void look_through(const struct nue *e, struct cdg_order *cdg, uint32_t s)
{
	const struct nue_net *net = e->net;
	const uint32_t *of_port = net->channels->of_port + net->topo->switches[s].first_port;
	const uint8_t *here = routes_row(e->routes, s), *there[UINT8_MAX + 1] = { NULL };
	unsigned n_ports = net->topo->switches[s].n_ports;

	for (unsigned p = 1; p <= n_ports; p++)
		if (of_port[p] != NUE_NONE)
			there[p] = routes_row(e->routes, nue_head(net, of_port[p]));
	for (uint32_t i = 0; i < net->first_lid[net->n]; i++) {
		lid_t lid = net->lids[i];
		uint32_t next, out;
		uint8_t port;

		if (!there[here[lid]])
			continue;
		next = nue_head(net, of_port[here[lid]]);
		port = there[here[lid]][lid];
		if (port > net->topo->switches[next].n_ports)
			continue;
		out = net->channels->of_port[net->topo->switches[next].first_port + port];
		if (out != NUE_NONE)
			cdg_order_set(cdg, of_port[here[lid]], out);
	}
}

static bool all_fit(struct nue *e)
{
	const struct nue_net *net = e->net;
	_cleanup_(cdg_order_freep) struct cdg_order *cdg = cdg_order_new(net->channels);

	for (uint32_t s = 0; s < net->n; s++)
		look_through(e, cdg, s);
	return cdg_order_settle(cdg);
}

/* The same, and exactly: without the turns of switches that send nothing themselves. */
static bool all_fit_exactly(struct nue *e)
{
	const struct nue_net *net = e->net;
	_cleanup_(cdg_order_freep) struct cdg_order *cdg = cdg_order_new(net->channels);
	_cleanup_(nue_tree_freep) struct nue_tree *tree = nue_tree_new(net);
	bool fits = true;

	for (uint32_t s = 0; s < net->n && fits; s++)
		for (uint32_t i = net->first_lid[s]; i < net->first_lid[s + 1]; i++) {
			fits &= !nue_tree_read(tree, e->routes, s, net->lids[i]);
			nue_tree_turns(tree, cdg, NUE_TURNS_SET);
		}
	return fits && cdg_order_settle(cdg);
}

/* All VLs; `load` has a row of channels for each. */
static void route_all_vls(struct nue *e, unsigned variant, uint64_t *load)
{
#pragma omp parallel for num_threads(route_threads(e->job)) schedule(dynamic, 1)
	for (unsigned vl = 0; vl < e->n_vls; vl++) {
		struct nue_layer layer = {
			.net = e->net, .routes = e->routes, .cancelled = e->job->cancelled,
			.wishes = e->has_levels || e->keeps,
			.reserves = vl == 0,
			.gains = e->gains, .n_gains = e->n_gains,
			.variant = variant, .load = load + (size_t)vl * e->net->channels->n,
			.targets = e->targets + e->first[vl],
			.n_targets = e->first[vl + 1] - e->first[vl],
		};

		nue_layer_fill(&layer);
	}
}

/* Of the same number of flows, those with smaller squares are spread better and take fewer hops. */
static double score_of(const struct nue *e, const uint64_t *load)
{
	double sum = 0;

	for (uint32_t c = 0; c < e->net->channels->n; c++) {
		double all = 0;

		for (unsigned vl = 0; vl < e->n_vls; vl++)
			all += (double)load[(size_t)vl * e->net->channels->n + c];
		all *= e->net->pace ? e->net->pace[c] : 1;
		sum += all * all / e->net->graph->groups[c].n_ports;
	}
	return sum;
}

/* Much depends on the order of destinations: where it costs little several are tried. */
static void route_variants(struct nue *e)
{
	uint64_t steps = (uint64_t)e->n_targets * e->net->channels->n;
	size_t bytes = (size_t)e->net->n * e->routes->row_size;
	unsigned n = e->has_levels
			     ? 1
			     : (unsigned)MIN(e->keeps ? 2u : VARIANTS, 1 + STEPS / (steps + 1));
	_cleanup_free_ uint64_t *load =
		xcalloc((size_t)e->n_vls * e->net->channels->n + 1, sizeof(*load));
	uint8_t *best = n > 1 ? xmalloc(bytes + 1) : NULL;
	double least = 0;

	for (unsigned i = 0; i < n && !is_cancelled(e->job->cancelled); i++) {
		double sum;

		route_all_vls(e, i, load);
		sum = score_of(e, load) / (e->keeps ? keep_bound(KEEP_NUE, 1) : 1);
		e->keeps = false;
		e->n_gains = 0;
		if (n > 1 && bytes && (i == 0 || sum < least)) {
			least = sum;
			memcpy(best, e->routes->lft, bytes);
		}
	}
	if (n > 1 && bytes)
		memcpy(e->routes->lft, best, bytes);
	free(best);
}

static void label_lids(struct sl2vl *l, lid_t base, uint8_t lmc, uint8_t vl)
{
	for (uint32_t k = 0; base && k < 1u << lmc; k++)
		if (base + k < l->row_size)
			l->sl[base + k] = vl;
}

static void make_vls(struct nue *e)
{
	const struct topo *t = e->job->topo;
	struct sl2vl *l;

	if (e->n_vls < 2)
		return;
	l = sl2vl_new(t, e->n_vls, SL2VL_BY_LID, e->routes->row_size, 1);
	for (uint32_t s = 0; s < t->n_switches; s++)
		label_lids(l, t->switches[s].lid, t->switches[s].lmc, e->part[s]);
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE)
			label_lids(l, t->hosts[h].lid, t->hosts[h].lmc, e->part[t->hosts[h].sw]);
	e->routes->lanes = l;
}

/* On trees minhop has kept the entries that may stay. */
static void keep_previous(struct nue *e)
{
	const struct routes *previous = e->job->previous;

	if (!nue_keeps(previous, e->n_vls))
		return;
	nue_keep_parts(e->net, previous, e->is_target, e->part);
	if (e->has_levels)
		return;
	e->keeps = true;
	nue_keep_columns(e->net, previous, e->routes);
	ARENA_ARRAY(&e->memory, e->gains, e->net->channels->n + 1u);
	e->n_gains = nue_keep_gains(e->net, previous, e->gains);
}

/* Are there switches without end ports? Then minhop's paths count. */
static bool has_inner(const struct topo *t)
{
	_cleanup_free_ uint32_t *hosts = topo_count_hosts(t);
	uint32_t s = 0;

	while (s < t->n_switches && hosts[s])
		s++;
	return s < t->n_switches;
}

/*
 * Minhop's tables, for trees and for all entries that nue does not write. Minhop keeps no previous
 * shortest paths here; where its paths count and the previous ones need not stay, it must.
 */
static struct routes *minhop_tables(const struct route_job *job, char *why, size_t why_len)
{
	struct routes lent = job->previous ? *job->previous : (struct routes){ .refs = 0 };
	struct route_job plain = *job;
	struct routes *r;

	if (lent.options && !(lent.options & FILL_SHORTEST)) {
		lent.options = has_inner(job->topo) ? 0 : lent.options | FILL_SHORTEST;
		plain.previous = &lent;
	}
	r = minhop_compute(&plain, why, why_len);
	if (!r)
		return NULL;
	balance_rates_unverified(job, r);
	snprintf(r->engine, sizeof(r->engine), "nue");
	return r;
}

struct routes *nue_compute(const struct route_job *job, char *why, size_t why_len)
{
	unsigned have = route_vls(job), want = job->options.nue_max_num_vls;
	_cleanup_(nue_done) struct nue e = { .job = job, .n_vls = want ? MIN(want, have) : have };

	e.routes = minhop_tables(job, why, why_len);
	if (!e.routes)
		return NULL;
	e.net = nue_net_new(job, route_threads(job));
	if (e.net) {
		find_targets(&e);
		if (e.has_levels && !job->options.nue_include_switches &&
		    (all_fit(&e) || all_fit_exactly(&e))) {
			snprintf(e.routes->note, sizeof(e.routes->note),
				 "shortest paths, free of cycles on one VL");
			return take(e.routes);
		}
		ARENA_ARRAY(&e.memory, e.part, e.net->n + 1u);
		routes_touch(e.routes); /* from here on rows are written as a whole */
		nue_part(e.net, e.is_target, e.n_vls, e.part);
		keep_previous(&e);
		make_targets(&e);
		route_variants(&e);
		make_vls(&e);
		e.routes->options &= ~FILL_SHORTEST;
	}
	snprintf(e.routes->note, sizeof(e.routes->note), "%u of %u VLs, chosen by destination",
		 e.n_vls, have);
	return take(e.routes);
}
