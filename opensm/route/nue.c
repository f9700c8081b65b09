// SPDX-License-Identifier: BSD-2-Clause
/*
 * The nue engine: on any graph, with however few lanes, tables that cannot deadlock.
 *
 * Other engines find short ways first and then look for lanes on which these close no cycle; when the lanes run
 * out they fail. Nue (Domke, Hoefler, Matsuoka, HPDC 2016) deals the destinations out to the lanes there are and
 * then, lane by lane, looks for ways that close no cycle with those there are already. It cannot fail: a spanning
 * tree reaches everybody, and its turns are taken first. The price is detours.
 *
 *   nue_part   who shares a lane: near neighbours, because they want the same turns
 *   nue_cdg    the channel dependency graph of a lane, in an order in which all turns lead forward, so that
 *              whether one more fits is mostly a comparison of two numbers
 *   nue_tree   the ways of all switches to one destination: shortest first, then least loaded; who finds every
 *              turn refused makes a neighbour step aside; the spanning tree at last
 *   nue_layer  one destination after the other, a lane for each thread
 *   nue_keep   previous tables are wishes: their turns are taken first, what broke is mended in place
 *
 * In a tree there is nothing to be avoided: minhop's tables are the wish there, and if they close no cycle on one
 * lane they are the result. Only what packets of end ports do counts, unless nue_include_switches says otherwise:
 * turns that only switches themselves would take are found last and bind nobody.
 */
#include "route/engines.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "route/cancel.h"
#include "route/fill.h"
#include "route/nue_keep.h"
#include "route/nue_layer.h"
#include "route/nue_part.h"
#include "util/mem.h"

#define VARIANTS 3u
#define STAYING 0.8 /* what tables may be worse that grew out of the previous ones */
#define STEPS UINT64_C(8000000) /* of (destination, channel) in all variants but the first */

struct nue {
	const struct route_job *job;
	struct nue_net *net;
	struct routes *routes;
	unsigned n_lanes;
	bool *is_target;         /* per switch */
	uint8_t *part;           /* per switch: lane of its destinations */
	struct nue_target *targets;
	uint32_t n_targets;
	uint32_t first[LANES_VLS_MAX + 2]; /* targets of each lane */
	bool has_levels;         /* switches without end ports */
	bool keeps;              /* previous tables are wished for */
	uint32_t *gains, n_gains;
};

static void nue_done(struct nue *e)
{
	nue_net_free(e->net);
	routes_unref(e->routes);
	free(e->is_target);
	free(e->part);
	free(e->targets);
	free(e->gains);
}

static unsigned threads_of(const struct route_job *job)
{
	return job->threads ? job->threads : (unsigned)omp_get_max_threads();
}

static void find_targets(struct nue *e)
{
	const struct nue_net *net = e->net;

	for (uint32_t s = 0; s < net->n; s++)
		e->has_levels |= !net->sources[s] && nue_degree(net, s) > 0;
	e->is_target = xcalloc(net->n + 1u, sizeof(*e->is_target));
	for (uint32_t s = 0; s < net->n; s++)
		e->is_target[s] = net->first_lid[s + 1] > net->first_lid[s] ||
				  (e->job->options.nue_include_switches && net->topo->switches[s].lid);
}

/* Ways of their own for how many LIDs of a switch; the more there is to do, the fewer. */
static uint32_t trees_of(const struct nue *e, uint32_t sw)
{
	uint32_t lids = e->net->first_lid[sw + 1] - e->net->first_lid[sw];

	return MAX(lids, 1u);
}

static void add_target(struct nue *e, uint32_t sw, uint32_t tree)
{
	uint32_t lids = e->net->first_lid[sw + 1] - e->net->first_lid[sw], trees = trees_of(e, sw);

	e->targets[e->n_targets++] = (struct nue_target){
		.sw = sw, .first = e->net->first_lid[sw] + tree, .stride = trees,
		.n = lids > tree ? (lids - tree - 1) / trees + 1 : 0,
		.own = tree == 0 && (!e->has_levels || !lids),
	};
}

/* First one tree of every switch, then another. */
static void make_targets(struct nue *e)
{
	const struct nue_net *net = e->net;
	uint32_t most = 0, all = 0;

	for (uint32_t s = 0; s < net->n; s++) {
		most = MAX(most, e->is_target[s] ? trees_of(e, s) : 0);
		all += e->is_target[s] ? trees_of(e, s) + 1 : 0;
	}
	e->targets = xcalloc(all + 1u, sizeof(*e->targets));
	for (unsigned lane = 0; lane < e->n_lanes; lane++) {
		e->first[lane] = e->n_targets;
		for (uint32_t k = 0; k < most; k++)
			for (uint32_t s = 0; s < net->n; s++)
				if (e->is_target[s] && e->part[s] == lane && k < trees_of(e, s))
					add_target(e, s, k);
		for (uint32_t s = 0; s < net->n && e->has_levels && e->job->options.nue_include_switches; s++)
			if (e->is_target[s] && e->part[s] == lane && net->topo->switches[s].lid &&
			    net->first_lid[s] < net->first_lid[s + 1])
				e->targets[e->n_targets++] = (struct nue_target){ .sw = s, .own = true };
	}
	e->first[e->n_lanes] = e->n_targets;
}

/* Turns of what switch `s` sends on. */
static void look_through(const struct nue *e, struct nue_cdg *cdg, uint32_t s)
{
	const struct nue_net *net = e->net;
	const uint32_t *of_port = net->of_port + net->topo->switches[s].first_port;
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
		out = net->of_port[net->topo->switches[next].first_port + port];
		if (out != NUE_NONE)
			nue_cdg_set(cdg, of_port[here[lid]], out);
	}
}

static bool all_fit(struct nue *e)
{
	const struct nue_net *net = e->net;
	struct nue_cdg *cdg = nue_cdg_new(net);
	bool fits;

	for (uint32_t s = 0; s < net->n; s++)
		look_through(e, cdg, s);
	fits = nue_cdg_settle(cdg);
	nue_cdg_free(cdg);
	return fits;
}

/* The same, and exactly: without the turns of switches that send nothing themselves. */
static bool all_fit_exactly(struct nue *e)
{
	const struct nue_net *net = e->net;
	struct nue_cdg *cdg = nue_cdg_new(net);
	struct nue_tree *tree = nue_tree_new(net);
	bool fits = true;

	for (uint32_t s = 0; s < net->n && fits; s++)
		for (uint32_t i = net->first_lid[s]; i < net->first_lid[s + 1]; i++) {
			fits &= !nue_tree_read(tree, e->routes, s, net->lids[i]);
			nue_tree_set(tree, cdg);
		}
	fits = fits && nue_cdg_settle(cdg);
	nue_cdg_free(cdg);
	nue_tree_free(tree);
	return fits;
}

/* All lanes; `load` has a row of channels for each. */
static void route_lanes_all(struct nue *e, unsigned variant, uint64_t *load)
{
#pragma omp parallel for num_threads(threads_of(e->job)) schedule(dynamic, 1)
	for (unsigned lane = 0; lane < e->n_lanes; lane++) {
		struct nue_layer layer = {
			.net = e->net, .routes = e->routes, .cancelled = e->job->cancelled,
			.wishes = e->has_levels || e->keeps,
			.reserves = lane == 0,
			.gains = e->gains, .n_gains = e->n_gains,
			.variant = variant, .load = load + (size_t)lane * e->net->n_channels,
			.targets = e->targets + e->first[lane],
			.n_targets = e->first[lane + 1] - e->first[lane],
		};

		nue_layer_fill(&layer);
	}
}

/* Of the same number of flows those are spread better, and take fewer hops, whose squares are less. */
static double score(const struct nue *e, const uint64_t *load)
{
	double sum = 0;

	for (uint32_t c = 0; c < e->net->n_channels; c++) {
		double all = 0;

		for (unsigned lane = 0; lane < e->n_lanes; lane++)
			all += (double)load[(size_t)lane * e->net->n_channels + c];
		sum += all * all / e->net->graph->groups[c].n_ports;
	}
	return sum;
}

/* What comes out depends much on who comes first, so where it costs little several orders are tried. */
static void route_variants(struct nue *e)
{
	uint64_t steps = (uint64_t)e->n_targets * e->net->n_channels;
	size_t bytes = (size_t)e->net->n * e->routes->row_size;
	unsigned n = e->has_levels ? 1 : (unsigned)MIN(e->keeps ? 2u : VARIANTS, 1 + STEPS / (steps + 1));
	_cleanup_free_ uint64_t *load = xcalloc((size_t)e->n_lanes * e->net->n_channels + 1, sizeof(*load));
	uint8_t *best = n > 1 ? xmalloc(bytes + 1) : NULL;
	double least = 0;

	for (unsigned i = 0; i < n && !is_cancelled(e->job->cancelled); i++) {
		double sum;

		route_lanes_all(e, i, load);
		sum = score(e, load) * (e->keeps ? STAYING : 1.0);
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

static void label(struct lanes *l, lid_t base, uint8_t lmc, uint8_t lane)
{
	for (uint32_t k = 0; base && k < 1u << lmc; k++)
		if (base + k < l->row_size)
			l->sl[base + k] = lane;
}

static void make_lanes(struct nue *e)
{
	const struct topo *t = e->job->topo;
	struct lanes *l;

	if (e->n_lanes < 2)
		return;
	l = lanes_new(t, e->n_lanes, LANES_BY_LID, e->routes->row_size, 1);
	for (uint32_t s = 0; s < t->n_switches; s++)
		label(l, t->switches[s].lid, t->switches[s].lmc, e->part[s]);
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE)
			label(l, t->hosts[h].lid, t->hosts[h].lmc, e->part[t->hosts[h].sw]);
	e->routes->lanes = l;
}

static unsigned lanes_of(const struct route_job *job)
{
	unsigned have = MAX(route_lanes(job), 1u), want = job->options.nue_max_num_vls;

	return want ? MIN(want, have) : have;
}

/* On trees minhop has kept what may stay. */
static void keep(struct nue *e)
{
	const struct routes *previous = e->job->previous;

	if (!nue_keeps(previous, e->n_lanes))
		return;
	nue_keep_parts(e->net, previous, e->is_target, e->part);
	if (e->has_levels)
		return;
	e->keeps = true;
	nue_keep_columns(e->net, previous, e->routes);
	e->gains = xcalloc(e->net->n_channels + 1u, sizeof(*e->gains));
	e->n_gains = nue_keep_gains(e->net, previous, e->gains);
}

/* Are there switches that only pass on? Then minhop's ways count. */
static bool has_inner(const struct topo *t)
{
	_cleanup_free_ bool *edge = xcalloc(t->n_switches + 1u, sizeof(*edge));
	bool all = true;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE)
			edge[t->hosts[h].sw] = true;
	for (uint32_t s = 0; s < t->n_switches; s++)
		all &= edge[s];
	return !all;
}

/*
 * The rest of the tables, and what trees need: minhop's. It does not look at what should be shortest as before; where
 * its ways count and those of before need not be, it must.
 */
static struct routes *begin(const struct route_job *job, char *why, size_t why_len)
{
	struct routes lent = job->previous ? *job->previous : (struct routes){ .refs = 0 };
	struct route_job plain = *job;
	struct routes *r;

	if (lent.options && !(lent.options & FILL_SHORTEST)) {
		lent.options = has_inner(job->topo) ? 0 : lent.options | FILL_SHORTEST;
		plain.previous = &lent;
	}
	r = minhop_compute(&plain, why, why_len);
	if (r)
		snprintf(r->engine, sizeof(r->engine), "nue");
	return r;
}

static struct routes *settled(struct nue *e)
{
	snprintf(e->routes->note, sizeof(e->routes->note), "shortest paths, free of cycles on one lane");
	return take(e->routes);
}

struct routes *nue_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(nue_done) struct nue e = { .job = job, .n_lanes = lanes_of(job) };

	e.routes = begin(job, why, why_len);
	if (!e.routes)
		return NULL;
	e.net = nue_net_new(job, threads_of(job));
	if (e.net) {
		find_targets(&e);
		if (e.has_levels && !job->options.nue_include_switches && (all_fit(&e) || all_fit_exactly(&e)))
			return settled(&e);
		e.part = xcalloc(e.net->n + 1u, 1);
		nue_part(e.net, e.is_target, e.n_lanes, e.part);
		keep(&e);
		make_targets(&e);
		route_variants(&e);
		make_lanes(&e);
		e.routes->options &= ~FILL_SHORTEST;
	}
	if (is_cancelled(job->cancelled)) {
		snprintf(why, why_len, "cancelled");
		return NULL;
	}
	snprintf(e.routes->note, sizeof(e.routes->note), "%u of %u lanes, chosen by destination", e.n_lanes,
		 MAX(route_lanes(job), 1u));
	return take(e.routes);
}
