// SPDX-License-Identifier: BSD-2-Clause
/*
 * The turns of a spanning tree are taken before anything else, as far as destinations of the VL
 * need them: through that tree every switch reaches every other, whatever turns are refused later.
 * Then come the wishes. Other destinations are routed one after the other, those in the middle of
 * the VL's region first, and each takes the turns it needs.
 */
#include "route/nue/nue_layer.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "util/mem.h"

#define LIDS_MAX (1 + 128) /* of a target: one of an end port, and those of a switch */

struct work {
	struct nue_layer *layer;
	const struct nue_net *net;
	struct cdg_order *cdg;
	struct nue_tree *tree;
	struct nue_taste taste;
	uint32_t root;
	uint32_t *up;        /* per switch: its channel in the spanning tree, towards the root */
	uint32_t *reached;   /* switches, each after the one it hangs on */
	uint32_t *ranked;    /* switches, farthest from end ports first */
	unsigned least_cap;  /* of all forwarding tables */
	bool *closed;
	uint64_t *port_load; /* per entry of topo->ports */
	uint64_t *flow;      /* per switch */
	uint32_t *by_distance; /* targets */
	bool *done;	       /* per target: it has its paths */
	struct arena memory;
};

static void work_begin(struct work *w)
{
	size_t n = w->net->n + 1u;

	w->least_cap = UINT_MAX;
	for (uint32_t s = 0; s < w->net->n; s++)
		w->least_cap = MIN(w->least_cap, (unsigned)w->net->topo->switches[s].lft_cap);
	w->cdg = cdg_order_new(w->net->channels);
	w->tree = nue_tree_new(w->net);
	ARENA_ARRAYS(&w->memory, n, w->up, w->reached, w->ranked, w->closed, w->flow);
	ARENA_ARRAY(&w->memory, w->port_load, topo_n_entries(w->net->topo) + 1u);
	ARENA_ARRAYS(&w->memory, w->layer->n_targets + 1u, w->by_distance, w->done);
	memset(w->layer->load, 0, w->net->channels->n * sizeof(*w->layer->load));
}

static void work_done(struct work *w)
{
	cdg_order_free(w->cdg);
	nue_tree_free(w->tree);
	arena_done(&w->memory);
}

/*
 * The switch nearest to the destinations, farther ones counting more. The number of destinations on
 * a switch does not count: a host that leaves should move nothing.
 */
static uint32_t find_root(const struct work *w)
{
	const struct nue_net *net = w->net;
	_cleanup_free_ bool *is_target = xcalloc(net->n + 1u, sizeof(*is_target));
	uint64_t least = UINT64_MAX;
	uint32_t root = 0;

	for (uint32_t i = 0; i < w->layer->n_targets; i++)
		is_target[w->layer->targets[i].sw] = true;
	for (uint32_t s = 0; s < net->n; s++) {
		const uint16_t *far = distances_from(net->distances, s);
		uint64_t sum = 0;

		for (uint32_t i = 0; i < net->n; i++)
			if (is_target[i])
				sum += far[i] == DISTANCE_NONE ? UINT32_MAX
							       : (uint64_t)far[i] * far[i];
		if (sum < least) {
			least = sum;
			root = s;
		}
	}
	return root;
}

/* The first from which no end port is farther, nor all together much: as mcast_root.c has it. */
static uint32_t find_middle(const struct nue_net *net)
{
	_cleanup_free_ uint32_t *far = xcalloc(net->n + 1u, sizeof(*far)),
				*sum = xcalloc(net->n + 1u, sizeof(*sum));
	uint32_t least_far = UINT32_MAX, least_sum = UINT32_MAX;

	for (uint32_t s = 0; s < net->n; s++) {
		const uint16_t *row = distances_from(net->distances, s);

		for (uint32_t k = 0; k < net->n; k++)
			if (net->sources[k]) {
				far[s] = MAX(far[s], (uint32_t)row[k]);
				sum[s] += row[k];
			}
		least_far = MIN(least_far, far[s]);
	}
	for (uint32_t s = 0; s < net->n; s++)
		if (far[s] == least_far)
			least_sum = MIN(least_sum, sum[s]);
	for (uint32_t s = 0; s < net->n; s++)
		if (far[s] == least_far && sum[s] <= least_sum + least_sum / 16)
			return s;
	return 0;
}

/* Switches that `from` reaches and that are in no tree yet hang on those they are reached from. */
static uint32_t span_from(struct work *w, uint32_t from, uint32_t n)
{
	const struct nue_net *net = w->net;
	uint32_t done = n;

	w->reached[n++] = from;
	w->closed[from] = true;
	while (done < n) {
		uint32_t s = w->reached[done++];

		for (uint32_t c = nue_first(net, s); c < nue_first(net, s + 1); c++) {
			uint32_t next = nue_head(net, c);

			if (w->closed[next])
				continue;
			w->closed[next] = true;
			w->up[next] = net->channels->back[c];
			w->reached[n++] = next;
		}
	}
	return n;
}

static void span_all(struct work *w)
{
	uint32_t n;

	memset(w->up, 0xFF, w->net->n * sizeof(*w->up));
	memset(w->closed, 0, w->net->n * sizeof(*w->closed));
	n = span_from(w, w->layer->reserves ? find_middle(w->net) : w->root, 0);
	for (uint32_t s = 0; s < w->net->n; s++)
		if (!w->closed[s])
			n = span_from(w, s, n);
	memset(w->closed, 0, w->net->n * sizeof(*w->closed));
}

/* The top of a tree first; where there are no levels, switches near the root. */
static void rank_switches(struct work *w)
{
	_cleanup_free_ uint16_t *rank = xmalloc((w->net->n + 1u) * sizeof(*rank));
	uint32_t level, n = 0;

	for (uint32_t s = 0; s < w->net->n; s++)
		rank[s] = w->net->sources[s] ? 0 : UINT16_MAX;
	level = graph_flood(w->net->graph, rank, NULL) + 1u;
	while (level-- > 0)
		for (uint32_t i = 0; i < w->net->n; i++)
			if (rank[w->reached[i]] == level)
				w->ranked[n++] = w->reached[i];
	for (uint32_t i = 0; i < w->net->n; i++)
		if (rank[w->reached[i]] == UINT16_MAX)
			w->ranked[n++] = w->reached[i];
}

/* First channels that lead up, lowest switches first; then those that lead down, highest first. */
static void order_channels(struct work *w)
{
	const struct nue_net *net = w->net;
	_cleanup_free_ uint32_t *place = xcalloc(net->n + 1u, sizeof(*place));
	_cleanup_free_ uint32_t *channels = xcalloc(net->channels->n + 1u, sizeof(*channels));
	uint32_t n = 0;

	for (uint32_t i = 0; i < net->n; i++)
		place[w->ranked[i]] = i;
	for (uint32_t i = net->n; i-- > 0;)
		for (uint32_t c = nue_first(net, w->ranked[i]);
		     c < nue_first(net, w->ranked[i] + 1); c++)
			if (place[nue_head(net, c)] < i)
				channels[n++] = c;
	for (uint32_t i = 0; i < net->n; i++)
		for (uint32_t c = nue_first(net, w->ranked[i]);
		     c < nue_first(net, w->ranked[i] + 1); c++)
			if (place[nue_head(net, c)] > i)
				channels[n++] = c;
	cdg_order_arrange(w->cdg, channels);
}

/* Destinations in the spanning tree below every switch, itself included. */
struct below {
	uint32_t targets, senders;
};

static void count_below(const struct work *w, struct below *below)
{
	for (uint32_t i = 0; i < w->layer->n_targets; i++)
		below[w->layer->targets[i].sw].targets++;
	for (uint32_t s = 0; s < w->net->n && w->layer->reserves; s++)
		below[s].targets += w->net->sends[s];
	for (uint32_t i = w->net->n; i-- > 0;) {
		uint32_t s = w->reached[i];

		below[s].senders += w->net->sends[s];
		if (w->up[s] == NUE_NONE)
			continue;
		below[nue_head(w->net, w->up[s])].targets += below[s].targets;
		below[nue_head(w->net, w->up[s])].senders += below[s].senders;
	}
}

/* The turns at `s` of packets from `child`, or from above (`child` NUE_NONE), by channel `in`. */
static void take_turns_from(struct work *w, uint32_t s, uint32_t child, uint32_t in,
			    const struct below *below)
{
	const struct nue_net *net = w->net;

	for (uint32_t c = nue_first(net, s); c < nue_first(net, s + 1); c++) {
		uint32_t to = nue_head(net, c);

		if (to != child && w->up[to] == net->channels->back[c] && below[to].targets)
			cdg_order_add(w->cdg, in, c);
	}
}

/* The turns at `s` with which its neighbours in the tree reach targets through it. */
static void take_tree_turns(struct work *w, uint32_t s, const struct below *below)
{
	const struct nue_net *net = w->net;
	uint32_t up = w->up[s];

	if (up != NUE_NONE)
		take_turns_from(w, s, NUE_NONE, net->channels->back[up], below);
	for (uint32_t c = nue_first(net, s); c < nue_first(net, s + 1); c++) {
		uint32_t child = nue_head(net, c), in = net->channels->back[c];

		if (w->up[child] != in || !below[child].senders)
			continue;
		if (up != NUE_NONE)
			cdg_order_add(w->cdg, in, up);
		take_turns_from(w, s, child, in, below);
	}
}

static void take_escapes(struct work *w)
{
	_cleanup_free_ struct below *below = xcalloc(w->net->n + 1u, sizeof(*below));

	count_below(w, below);
	for (uint32_t i = 0; i < w->net->n; i++)
		take_tree_turns(w, w->reached[i], below);
}

/* As on a cable of the median rate. */
static uint64_t load_of(const struct work *w, const struct topo_switch *sw, uint8_t port)
{
	uint32_t entry = sw->first_port + port;
	uint64_t flows = w->port_load[entry];

	return w->net->topo->paces ? (flows + 1) * w->net->topo->paces[entry] : flows;
}

/* `port`, if it is wished and one of the channel's; else the least loaded. */
static uint8_t port_to_use(const struct work *w, uint32_t channel, uint8_t port)
{
	const struct nue_net *net = w->net;
	const struct graph_group *group = &net->graph->groups[channel];
	const uint8_t *ports = net->graph->ports + group->first_port;
	const struct topo_switch *sw = &net->topo->switches[cdg_tail(net->channels, channel)];
	uint8_t best = ports[0];

	if (w->layer->wishes && port && port <= sw->n_ports &&
	    net->channels->of_port[sw->first_port + port] == channel)
		return port;
	for (unsigned i = 1; i < group->n_ports; i++)
		if (load_of(w, sw, ports[i]) < load_of(w, sw, best))
			best = ports[i];
	return best;
}

static unsigned lids_of(const struct work *w, const struct nue_target *target, lid_t *ret)
{
	const struct topo_switch *sw = &w->net->topo->switches[target->sw];
	unsigned n = 0;

	if (target->lid)
		ret[n++] = target->lid;
	for (uint32_t k = 0; target->own && sw->lid && k < 1u << sw->lmc; k++)
		ret[n++] = (lid_t)(sw->lid + k);
	return n;
}

/* Clears entries of switches without a path: packets would wait there, too. */
static void forget_others(struct work *w, const lid_t *lids, unsigned n)
{
	_cleanup_free_ bool *in_tree = xcalloc(w->net->n + 1u, sizeof(*in_tree));

	for (uint32_t i = 0; i < w->tree->n; i++)
		in_tree[w->tree->order[i]] = true;
	for (uint32_t s = 0; s < w->net->n; s++)
		for (unsigned k = 0; !in_tree[s] && k < n; k++)
			routes_row(w->layer->routes, s)[lids[k]] = LFT_NO_PORT;
}

/* Puts the tree into the tables. */
static void write_tree(struct work *w, const struct nue_target *target)
{
	const struct nue_net *net = w->net;
	const struct nue_tree *t = w->tree;
	lid_t lids[LIDS_MAX];
	unsigned n = lids_of(w, target, lids);

	for (uint32_t i = 1; i < t->n; i++) {
		uint32_t s = t->order[i];
		uint8_t *row = routes_row(w->layer->routes, s);
		uint8_t port = port_to_use(w, t->out[s], row[lids[0]]);

		for (unsigned k = 0; k < n; k++)
			if (lids[k] < net->topo->switches[s].lft_cap)
				row[lids[k]] = port;
	}
	if (t->n < net->n)
		forget_others(w, lids, n);
}

/* Puts the flows of the tree, as in the tables, on its channels (`times` 1) or takes them (-1). */
static void add_flows(struct work *w, const struct nue_target *target, int64_t times)
{
	const struct nue_net *net = w->net;
	const struct nue_tree *t = w->tree;

	if (!target->lid)
		return;
	memset(w->flow, 0, net->n * sizeof(*w->flow));
	for (uint32_t i = t->n; i-- > 1;) {
		uint32_t s = t->order[i], out = t->out[s];
		uint64_t flow = w->flow[s] += net->sources[s];
		uint8_t port = routes_port(w->layer->routes, s, target->lid);

		w->flow[nue_head(net, out)] += flow;
		w->layer->load[out] += (uint64_t)times * flow;
		/* an escape leads through switches whose tables are too small, too */
		if (port != LFT_NO_PORT)
			w->port_load[net->topo->switches[s].first_port + port] +=
				(uint64_t)times * flow;
	}
}

/* Switches whose tables end below the LIDs of the target. */
static void find_closed(struct work *w, const struct nue_target *target)
{
	lid_t lids[LIDS_MAX];
	unsigned n = lids_of(w, target, lids), top = 0;

	w->taste.closed = NULL;
	for (unsigned k = 0; k < n; k++)
		top = MAX(top, (unsigned)lids[k]);
	if (top < w->least_cap)
		return;
	for (uint32_t s = 0; s < w->net->n; s++)
		w->closed[s] = w->net->topo->switches[s].lft_cap <= top;
	w->taste.closed = w->closed;
}

static void route_target(struct work *w, const struct nue_target *target)
{
	find_closed(w, target);
	cdg_order_forget(w->cdg);
	if (nue_tree_grow(w->tree, w->cdg, target->sw, &w->taste) &&
	    nue_tree_rescue(w->tree, w->cdg, &w->taste)) {
		cdg_order_undo(w->cdg, 0);
		nue_tree_escape(w->tree, w->up, target->sw);
		nue_tree_improve(w->tree, w->cdg, &w->taste);
	}
	write_tree(w, target);
	add_flows(w, target, 1);
}

static lid_t first_lid(const struct work *w, const struct nue_target *target)
{
	return target->lid ? target->lid : w->net->topo->switches[target->sw].lid;
}

enum pass {
	PASS_FORWARD, /* only turns that the order of channels allows */
	PASS_WHOLE,   /* turns that a change of the order allows */
	PASS_MENDED,  /* switches that lost their path get another */
	PASS_LAST = PASS_MENDED,
};

/* Takes the wished paths of a target, if they fit. */
static void try_wish(struct work *w, uint32_t i, enum pass pass)
{
	const struct nue_target *target = &w->layer->targets[i];
	uint32_t missing =
		nue_tree_read(w->tree, w->layer->routes, target->sw, first_lid(w, target));
	bool fits;

	if (pass != PASS_MENDED && missing)
		return;
	if (pass == PASS_FORWARD && !nue_tree_turns(w->tree, w->cdg, NUE_TURNS_LOOK))
		return;
	find_closed(w, target);
	cdg_order_forget(w->cdg);
	if (pass == PASS_MENDED)
		fits = !nue_tree_mend(w->tree, w->cdg, &w->taste) ||
		       !nue_tree_rescue(w->tree, w->cdg, &w->taste);
	else
		fits = nue_tree_turns(w->tree, w->cdg, NUE_TURNS_TAKE);
	if (!fits) {
		cdg_order_undo(w->cdg, 0);
		return;
	}
	if (pass == PASS_MENDED)
		write_tree(w, target);
	add_flows(w, target, 1);
	w->done[i] = true;
}

static void try_wishes(struct work *w)
{
	for (unsigned pass = 0; pass <= PASS_LAST; pass++)
		for (uint32_t i = 0; i < w->layer->n_targets && !is_cancelled(w->layer->cancelled);
		     i++)
			if (!w->done[i])
				try_wish(w, i, pass);
}

/*
 * A channel that is new takes over, at the switch where it begins, the paths that are shorter
 * through it, and as many of those that are as short as make its load even with the channel that
 * has them now.
 */
static bool take_over(struct work *w, uint32_t channel)
{
	struct nue_tree *t = w->tree;
	uint32_t s = cdg_tail(w->net->channels, channel), next = nue_head(w->net, channel),
		 old = t->out[s];

	if (old == NUE_NONE || old == channel || t->dist[next] == NUE_NONE)
		return false;
	if (t->dist[next] + w->net->cost[channel] > t->dist[s])
		return false;
	if (t->dist[next] + w->net->cost[channel] == t->dist[s] &&
	    (next == old ||
	     nue_load(w->net, old, w->layer->load[old]) <=
		     nue_load(w->net, channel, w->layer->load[channel] + 2 * w->flow[s])))
		return false;
	return nue_tree_redirect(t, w->cdg, s, channel);
}

static void use_gains(struct work *w)
{
	for (uint32_t i = 0;
	     i < w->layer->n_targets && w->layer->n_gains && !is_cancelled(w->layer->cancelled);
	     i++) {
		const struct nue_target *target = &w->layer->targets[i];
		bool changed = false;

		nue_tree_read(w->tree, w->layer->routes, target->sw, first_lid(w, target));
		add_flows(w, target, -1);
		find_closed(w, target);
		for (uint32_t k = 0; k < w->layer->n_gains && !w->taste.closed; k++)
			if (take_over(w, w->layer->gains[k])) {
				changed = true;
				nue_tree_measure(w->tree);
			}
		if (changed)
			write_tree(w, target);
		add_flows(w, target, 1);
	}
}

static void route_all(struct work *w)
{
	if (w->layer->wishes)
		try_wishes(w);
	for (uint32_t k = 0; k < w->layer->n_targets && !is_cancelled(w->layer->cancelled); k++) {
		uint32_t i = w->by_distance[k];

		if (!w->done[i])
			route_target(w, &w->layer->targets[i]);
	}
}

static void order_targets(struct work *w)
{
	const uint16_t *far = distances_from(w->net->distances, w->root);
	uint32_t n = w->layer->n_targets, k = 0, skip = w->layer->variant * (n / 3), farthest = 0;

	for (uint32_t i = 0; i < n; i++)
		if (far[w->layer->targets[i].sw] != DISTANCE_NONE)
			farthest = MAX(farthest, (uint32_t)far[w->layer->targets[i].sw]);
	/* Few distances, and none at all; targets of one distance stay in their order. */
	for (uint32_t d = 0; k < n && d <= DISTANCE_NONE; d = d == farthest ? DISTANCE_NONE : d + 1)
		for (uint32_t i = 0; i < n; i++)
			if (far[w->layer->targets[(i + skip) % n].sw] == d)
				w->by_distance[k++] = (i + skip) % n;
}

void nue_layer_fill(struct nue_layer *layer)
{
	struct work w = { .layer = layer, .net = layer->net };

	assert(layer->net && layer->routes && layer->load);
	if (!layer->n_targets)
		return;
	work_begin(&w);
	w.taste.load = layer->load;
	w.root = find_root(&w);
	span_all(&w);
	rank_switches(&w);
	order_channels(&w);
	order_targets(&w);
	take_escapes(&w);
	route_all(&w);
	use_gains(&w);
	work_done(&w);
}
