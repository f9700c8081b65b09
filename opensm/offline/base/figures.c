// SPDX-License-Identifier: BSD-2-Clause
/*
 * What tables come to, counted end port by end port. The way of all switches to one LID is a tree,
 * so one pass over the switches, farthest first, gives the load of every channel; whether a path
 * changed spreads the same way, nearest first.
 */
#include "offline/base/figures.h"

#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "offline/base/cut.h"
#include "offline/base/traffic.h"
#include "route/proof/check.h"
#include "util/mem.h"

/* The tree of one destination. */
struct tree {
	const struct routes *routes;
	uint32_t *next;	 /* TOPO_NONE: nowhere; itself: there */
	uint32_t *depth; /* DEPTH_NONE: does not arrive */
	uint32_t *order; /* arriving switches, nearest first */
	uint32_t *bucket, *path;
	uint32_t n_order;
};

#define DISJOINT_PAIRS 1000

#define DEPTH_NONE    UINT32_MAX
#define DEPTH_UNKNOWN (UINT32_MAX - 1)
#define DEPTH_WALKING (UINT32_MAX - 2)

static void tree_begin(struct tree *t, const struct routes *r)
{
	size_t n = (size_t)r->topo->n_switches + 2;

	t->routes = r;
	t->next = xcalloc(n, sizeof(*t->next));
	t->depth = xcalloc(n, sizeof(*t->depth));
	t->order = xcalloc(n, sizeof(*t->order));
	t->bucket = xcalloc(n, sizeof(*t->bucket));
	t->path = xcalloc(n, sizeof(*t->path));
}

static void tree_end(struct tree *t)
{
	free(t->next);
	free(t->depth);
	free(t->order);
	free(t->bucket);
	free(t->path);
}

static void tree_walk(struct tree *t, uint32_t s)
{
	uint32_t n = 0, depth;

	while (t->depth[s] == DEPTH_UNKNOWN) {
		t->depth[s] = DEPTH_WALKING;
		t->path[n++] = s;
		if (t->next[s] == TOPO_NONE || t->next[s] == s)
			break;
		s = t->next[s];
	}
	depth = t->depth[s];
	if (depth == DEPTH_WALKING) /* the end of the way, or round in a ring */
		depth = t->next[s] == s ? DEPTH_UNKNOWN : DEPTH_NONE;
	while (n-- > 0) {
		depth = depth == DEPTH_NONE ? DEPTH_NONE : depth == DEPTH_UNKNOWN ? 0 : depth + 1;
		t->depth[t->path[n]] = depth;
	}
}

static void tree_of(struct tree *t, const struct topo_host *host, lid_t lid)
{
	const struct topo *topo = t->routes->topo;
	uint32_t n = topo->n_switches, sum = 0;

	for (uint32_t s = 0; s < n; s++) {
		uint8_t port = routes_port(t->routes, s, lid);

		t->depth[s] = DEPTH_UNKNOWN;
		t->next[s] = TOPO_NONE;
		if (s == host->sw && port == host->sw_port)
			t->next[s] = s;
		else if (port && port <= topo->switches[s].n_ports)
			t->next[s] = topo_port(topo, s, port)->sw;
	}
	memset(t->bucket, 0, ((size_t)n + 2) * sizeof(*t->bucket));
	for (uint32_t s = 0; s < n; s++) {
		tree_walk(t, s);
		if (t->depth[s] != DEPTH_NONE)
			t->bucket[t->depth[s] + 1]++;
	}
	for (uint32_t d = 0; d <= n; d++) {
		sum += t->bucket[d];
		t->bucket[d] = sum;
	}
	t->n_order = sum;
	for (uint32_t s = 0; s < n; s++)
		if (t->depth[s] != DEPTH_NONE)
			t->order[t->bucket[t->depth[s]]++] = s;
}

static bool takes_part(const struct topo_host *h)
{
	return h->sw != TOPO_NONE && h->lid;
}

static void add_tree(const struct tree *t, const struct topo_host *host, lid_t lid,
		     const uint32_t *sources, uint32_t *flow, struct figures_flows to)
{
	const struct topo *topo = t->routes->topo;

	memcpy(flow, sources, topo->n_switches * sizeof(*flow));
	for (uint32_t i = t->n_order; i-- > 0;) {
		uint32_t s = t->order[i], channel;

		if (!flow[s] || t->next[s] == s)
			continue;
		channel = topo->switches[s].first_port + routes_port(t->routes, s, lid);
		to.load[channel] += flow[s];
		to.last[channel] += t->next[s] == host->sw ? flow[s] : 0;
		flow[t->next[s]] += flow[s];
	}
}

static unsigned threads_of(unsigned threads)
{
	return threads ? threads : (unsigned)omp_get_max_threads();
}

static struct figures_flows flows_new(uint32_t n)
{
	return (struct figures_flows){ .load = xcalloc((size_t)n + 1, sizeof(uint32_t)),
				       .last = xcalloc((size_t)n + 1, sizeof(uint32_t)) };
}

void figures_flows_clear(struct figures_flows *f)
{
	free(f->load);
	free(f->last);
	*f = (struct figures_flows){ 0 };
}

/*
 * Adds flows to one thread's share of the destinations: to their first LID, or to all their LIDs.
 */
static void add_flows(struct tree *tree, struct route_ranks ranks, bool every_lid,
		      const uint32_t *sources, struct figures_flows mine)
{
	const struct topo *t = tree->routes->topo;
	_cleanup_free_ uint32_t *flow = xcalloc((size_t)t->n_switches + 1, sizeof(*flow));

#pragma omp for schedule(static)
	for (uint32_t i = 0; i < ranks.n; i++) {
		const struct topo_host *host = &t->hosts[ranks.hosts[i]];

		for (unsigned k = 0; k < (every_lid ? 1u << host->lmc : 1u); k++) {
			tree_of(tree, host, (lid_t)(host->lid + k));
			add_tree(tree, host, (lid_t)(host->lid + k), sources, flow, mine);
		}
	}
}

static struct figures_flows flows_of(const struct routes *r, struct route_ranks ranks,
				     bool every_lid, unsigned threads)
{
	const struct topo *t = r->topo;
	uint32_t n = cut_n_ports(t);
	struct figures_flows ret = flows_new(n);
	_cleanup_free_ uint32_t *sources = xcalloc((size_t)t->n_switches + 1, sizeof(*sources));

	for (uint32_t i = 0; i < ranks.n; i++)
		sources[t->hosts[ranks.hosts[i]].sw]++;
#pragma omp parallel num_threads(threads_of(threads))
	{
		struct figures_flows mine = flows_new(n);
		struct tree tree;

		tree_begin(&tree, r);
		add_flows(&tree, ranks, every_lid, sources, mine);
#pragma omp critical
		for (uint32_t i = 0; i < n; i++) {
			ret.load[i] += mine.load[i];
			ret.last[i] += mine.last[i];
		}
		tree_end(&tree);
		figures_flows_clear(&mine);
	}
	return ret;
}

struct figures_flows figures_flows(const struct routes *r, struct route_ranks ranks,
				   unsigned threads)
{
	return flows_of(r, ranks, false, threads);
}

/* Flows become loads. */
static uint32_t *by_rate(const struct topo *t, uint32_t *flows)
{
	for (uint32_t i = 0; t->paces && i < cut_n_ports(t); i++)
		flows[i] = topo_load(t->paces, i, flows[i]);
	return flows;
}

uint32_t *figures_load(const struct routes *r, unsigned threads)
{
	uint32_t n;
	_cleanup_free_ uint32_t *hosts = routes_ranks(r->topo, &n);
	struct figures_flows f = flows_of(r, (struct route_ranks){ hosts, n }, true, threads);

	free(f.last);
	return by_rate(r->topo, f.load);
}

static void find_disjoint(const struct routes *r, struct figures *ret)
{
	ret->lids = 1;
	for (uint32_t h = 0; h < r->topo->n_hosts; h++)
		ret->lids = MAX(ret->lids, 1u << r->topo->hosts[h].lmc);
	if (ret->lids > 1)
		disjoint_measure(r, DISJOINT_PAIRS, &ret->disjoint);
}

void figures_of(const struct routes *r, struct route_ranks ranks, unsigned threads,
		struct figures *ret)
{
	_cleanup_(figures_flows_clear) struct figures_flows flows =
		figures_flows(r, ranks, threads);

	assert(r && ret);
	*ret = (struct figures){ .n_load = cut_n_ports(r->topo),
				 .lanes = r->lanes ? r->lanes->n_vls : 1 };
	traffic_of(r, ranks, &flows, &ret->all);
	find_disjoint(r, ret);
	if (ret->lids > 1) {
		ret->load = figures_load(r, threads);
		return;
	}
	ret->load = by_rate(r->topo, take(flows.load));
}

void figures_clear(struct figures *f)
{
	free(f->load);
	*f = (struct figures){ 0 };
}

uint32_t figures_hot(const struct topo *t, const uint32_t *load, uint32_t *ret, uint32_t n)
{
	uint32_t kept = 0, all = cut_n_ports(t);

	assert(load && ret && n > 0);
	for (uint32_t i = 0; i < all; i++) {
		uint32_t at;

		if (t->ports[i].sw == TOPO_NONE || !load[i] ||
		    (kept == n && load[i] <= load[ret[n - 1]]))
			continue;
		at = kept < n ? kept++ : n - 1;
		for (; at && load[ret[at - 1]] < load[i]; at--)
			ret[at] = ret[at - 1];
		ret[at] = i;
	}
	return kept;
}

/* --- Two sets of tables --------------------------------------------------------------------- */

static void compare_row(const struct routes *from, uint32_t was, const struct routes *to,
			uint32_t is, struct figures_change *ret)
{
	lid_t top = was == TOPO_NONE ? to->top : MAX(from->top, to->top);
	uint64_t blocks = 0, last = UINT64_MAX;

	for (unsigned lid = 0; lid <= top; lid++) {
		uint8_t before =
			was == TOPO_NONE ? LFT_NO_PORT : routes_port(from, was, (lid_t)lid);

		if (before == routes_port(to, is, (lid_t)lid))
			continue;
		ret->entries++;
		if (lid / LFT_BLOCK_LIDS != last) {
			last = lid / LFT_BLOCK_LIDS;
			blocks++;
		}
	}
	ret->blocks += blocks;
	if (blocks > 0)
		ret->switches++;
	ret->n_blocks += to->top / LFT_BLOCK_LIDS + 1u;
}

/* End ports per switch that were at this switch before, and those that were at another one. */
struct sources {
	uint32_t *stay, *come;
};

static struct sources sources_of(const struct topo *a, const struct topo *b, const uint32_t *was)
{
	struct sources ret = { xcalloc((size_t)b->n_switches + 1, sizeof(uint32_t)),
			       xcalloc((size_t)b->n_switches + 1, sizeof(uint32_t)) };

	for (uint32_t h = 0; h < b->n_hosts; h++) {
		uint32_t sw = b->hosts[h].sw, g = topo_find_host(a, b->hosts[h].guid);

		if (takes_part(&b->hosts[h]) && g != TOPO_NONE && takes_part(&a->hosts[g]))
			(was[sw] == a->hosts[g].sw ? ret.stay : ret.come)[sw]++;
	}
	return ret;
}

/* Sources whose path to `host` is another one than it was to `before`. */
static uint64_t count_changed(struct tree *old, struct tree *new, const struct topo_host *before,
			      const struct topo_host *host, const uint32_t *was,
			      struct sources sources, bool *changed)
{
	bool at_home = was[host->sw] == before->sw;
	uint32_t stays = at_home ? host->sw : TOPO_NONE, comes = at_home ? TOPO_NONE : host->sw;
	uint64_t pairs = 0; /* the end port itself is none of its sources */

	tree_of(old, before, before->lid);
	tree_of(new, host, host->lid);
	memset(changed, 1, new->routes->topo->n_switches);
	for (uint32_t i = 0; i < new->n_order; i++) {
		uint32_t s = new->order[i], o = was[s];

		if (o == TOPO_NONE || old->depth[o] == DEPTH_NONE ||
		    routes_port(new->routes, s, host->lid) !=
			    routes_port(old->routes, o, before->lid))
			continue;
		changed[s] = new->next[s] == s ? before->sw != o : changed[new->next[s]];
	}
	for (uint32_t s = 0; s < new->routes->topo->n_switches; s++) {
		bool is = new->depth[s] != DEPTH_NONE;
		bool before_is = was[s] != TOPO_NONE && old->depth[was[s]] != DEPTH_NONE;

		pairs += changed[s] && (is || before_is) ? sources.stay[s] - (s == stays) : 0;
		pairs += is ? sources.come[s] - (s == comes) : 0;
	}
	return pairs;
}

static void compare_paths(const struct routes *from, const struct routes *to, const uint32_t *was,
			  unsigned threads, struct figures_change *ret)
{
	const struct topo *a = from->topo, *b = to->topo;
	struct sources sources = sources_of(a, b, was);
	uint64_t pairs = 0, all = 0;

#pragma omp parallel num_threads(threads_of(threads)) reduction(+ : pairs, all)
	{
		struct tree old, new;
		bool *changed = xcalloc((size_t)b->n_switches + 1, sizeof(*changed));

		tree_begin(&old, from);
		tree_begin(&new, to);
#pragma omp for schedule(static)
		for (uint32_t h = 0; h < b->n_hosts; h++) {
			uint32_t g = topo_find_host(a, b->hosts[h].guid);

			all += b->n_hosts - 1;
			if (g != TOPO_NONE && takes_part(&b->hosts[h]) && takes_part(&a->hosts[g]))
				pairs += count_changed(&old, &new, &a->hosts[g], &b->hosts[h], was,
						       sources, changed);
		}
		tree_end(&old);
		tree_end(&new);
		free(changed);
	}
	free(sources.stay);
	free(sources.come);
	ret->pairs = pairs;
	ret->n_pairs = all;
}

void figures_compare(const struct routes *from, const struct routes *to, unsigned threads,
		     struct figures_change *ret)
{
	const struct topo *a = from->topo, *b = to->topo;
	_cleanup_free_ uint32_t *was = xcalloc((size_t)b->n_switches + 1, sizeof(*was));

	assert(from && to && ret);
	*ret = (struct figures_change){ 0 };
	for (uint32_t s = 0; s < b->n_switches; s++) {
		was[s] = topo_find_switch(a, b->switches[s].guid);
		compare_row(from, was[s], to, s, ret);
	}
	compare_paths(from, to, was, threads, ret);
}
