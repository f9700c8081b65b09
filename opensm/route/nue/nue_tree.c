// SPDX-License-Identifier: BSD-2-Clause
/* Searches from the destination outward: a switch is settled once, with one channel: its entry. */
#include "route/nue/nue_tree.h"

#include <assert.h>
#include <string.h>

#include "util/bisect.h"

#define PASSES 8

struct nue_tree *nue_tree_new(const struct nue_net *net)
{
	struct nue_tree *t = xcalloc(1, sizeof(*t));
	size_t n = net->n + 1u;

	t->net = net;
	ARENA_ARRAYS(&t->memory, n, t->out, t->dist, t->order, t->idle, t->cost, t->seeds, t->keys,
		     t->wish);
	ARENA_ARRAY(&t->memory, t->woken, n);
	ARENA_ARRAY(&t->memory, t->bucket, n + 1);
	ARENA_ARRAY(&t->memory, t->head, net->max_cost + 1u);
	ARENA_ARRAYS(&t->memory, net->channels->n + 1u, t->next, t->entry);
	return t;
}

ARENA_FREE(nue_tree_free, struct nue_tree)

static void begin_entries(struct nue_tree *t)
{
	t->n = 0;
	t->n_entries = 0;
	t->n_woken = 0;
	memset(t->head, 0xFF, (t->net->max_cost + 1u) * sizeof(*t->head));
}

/* Switch `sw` has its path; its neighbours may try theirs through it. */
static void settle_switch(struct nue_tree *t, const struct cdg_order *cdg, uint32_t sw,
			  uint32_t dist)
{
	const struct nue_net *net = t->net;

	t->dist[sw] = dist;
	t->order[t->n++] = sw;
	for (uint32_t c = nue_first(net, sw); c < nue_first(net, sw + 1); c++) {
		uint32_t from = nue_head(net, c), in = net->channels->back[c], slot;

		if (t->dist[from] != NUE_NONE)
			continue;
		if (sw != t->to && cdg_order_look(cdg, in, t->out[sw]) == CDG_REFUSED)
			continue;
		slot = (dist + net->cost[in]) % (net->max_cost + 1u);
		t->entry[t->n_entries] = from;
		t->next[t->n_entries] = t->head[slot];
		t->head[slot] = t->n_entries++;
	}
}

struct option {
	uint64_t cost;
	uint32_t channel;
};

/* Ways of `sw` that cost `dist`. */
static unsigned list_options(const struct nue_tree *t, const struct cdg_order *cdg, uint32_t sw,
			     uint32_t dist, const struct nue_taste *taste, struct option *ret)
{
	const struct nue_net *net = t->net;
	unsigned n = 0;

	for (uint32_t c = nue_first(net, sw); c < nue_first(net, sw + 1); c++) {
		uint32_t next = nue_head(net, c);
		uint64_t cost;

		if (t->dist[next] == NUE_NONE || t->dist[next] + net->cost[c] != dist)
			continue;
		cost = nue_load(net, c, taste->load[c] + (net->pace ? net->sources[sw] : 0));
		cost = t->cost[next] + cost / net->graph->groups[c].n_ports;
		if (next != t->to && cdg_order_look(cdg, c, t->out[next]) == CDG_REFUSED)
			continue;
		ret[n++] = (struct option){ .cost = cost, .channel = c };
	}
	return n;
}

/* Takes the turns of `sw` and those behind it that were not needed before: all, or none. */
static bool wake_path(struct nue_tree *t, struct cdg_order *cdg, uint32_t sw)
{
	uint32_t next, steps = 0;

	for (uint32_t s = sw; t->idle[s]; s = next, steps++) {
		assert(steps < t->net->n); /* paths do not lead round, and their end is awake */
		next = nue_head(t->net, t->out[s]);
		if (next != t->to && !cdg_order_add(cdg, t->out[s], t->out[next]))
			return false;
	}
	for (uint32_t s = sw; t->idle[s]; s = nue_head(t->net, t->out[s])) {
		t->idle[s] = false;
		t->woken[t->n_woken++] = s;
	}
	return true;
}

/* Takes the turns of the path that begins with `channel`. */
static bool wake_channel(struct nue_tree *t, struct cdg_order *cdg, uint32_t channel)
{
	uint32_t next = nue_head(t->net, channel);

	return next == t->to ||
	       (wake_path(t, cdg, next) && cdg_order_add(cdg, channel, t->out[next]));
}

/* May `sw` go through `channel`? Where nothing is sent no turn is taken before a path comes. */
static bool enter_channel(struct nue_tree *t, struct cdg_order *cdg, uint32_t sw, uint32_t channel)
{
	t->idle[sw] = !t->net->sends[sw];
	return t->idle[sw] || wake_channel(t, cdg, channel);
}

/* The cheapest channel that closes no cycle. */
static bool choose_channel(struct nue_tree *t, struct cdg_order *cdg, uint32_t sw, uint32_t dist,
			   const struct nue_taste *taste)
{
	struct option options[UINT8_MAX + 1];
	unsigned n = list_options(t, cdg, sw, dist, taste, options);

	while (n > 0) {
		unsigned best = 0;

		for (unsigned i = 1; i < n; i++)
			if (options[i].cost < options[best].cost)
				best = i;
		if (enter_channel(t, cdg, sw, options[best].channel)) {
			t->out[sw] = options[best].channel;
			t->cost[sw] = options[best].cost;
			return true;
		}
		options[best] = options[--n];
	}
	return false;
}

static uint32_t count_missing(const struct nue_tree *t, const bool *closed)
{
	const uint16_t *far = distances_from(t->net->distances, t->to);
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->net->n; s++)
		n += t->dist[s] == NUE_NONE && far[s] != DISTANCE_NONE && !(closed && closed[s]);
	return n;
}

/* From the switches that have a path, `n` of them in t->seeds, to all others. */
static void spread_out(struct nue_tree *t, struct cdg_order *cdg, uint32_t n,
		       const struct nue_taste *taste)
{
	uint32_t slots = t->net->max_cost + 1u, idle = 0, used = 0;

	for (uint32_t dist = 0; idle < slots || used < n; dist++) {
		uint32_t e = t->head[dist % slots];

		idle = e == NUE_NONE ? idle + 1 : 0;
		t->head[dist % slots] = NUE_NONE;
		for (; e != NUE_NONE; e = t->next[e]) {
			uint32_t sw = t->entry[e];

			if (t->dist[sw] != NUE_NONE || (taste->closed && taste->closed[sw]))
				continue;
			if (choose_channel(t, cdg, sw, dist, taste))
				settle_switch(t, cdg, sw, dist);
		}
		for (; used < n && t->dist[t->seeds[used]] == dist; used++) {
			settle_switch(t, cdg, t->seeds[used], dist);
			idle = 0;
		}
		assert(used == n ||
		       (t->dist[t->seeds[used]] > dist && t->dist[t->seeds[used]] != NUE_NONE));
	}
}

uint32_t nue_tree_grow(struct nue_tree *t, struct cdg_order *cdg, uint32_t to,
		       const struct nue_taste *taste)
{
	assert(to < t->net->n && taste->load);
	t->to = to;
	memset(t->out, 0xFF, t->net->n * sizeof(*t->out));
	memset(t->dist, 0xFF, t->net->n * sizeof(*t->dist));
	begin_entries(t);
	t->dist[to] = 0;
	t->cost[to] = 0;
	t->idle[to] = false;
	t->seeds[0] = to;
	spread_out(t, cdg, 1, taste);
	return count_missing(t, taste->closed);
}

void nue_tree_escape(struct nue_tree *t, const uint32_t *up, uint32_t to)
{
	const struct nue_net *net = t->net;
	uint32_t s = to;

	t->to = to;
	memcpy(t->out, up, net->n * sizeof(*t->out));
	for (uint32_t steps = 0; up[s] != NUE_NONE; s = nue_head(net, up[s]), steps++) {
		assert(steps < net->n); /* what leads to the root of a tree ends there */
		t->out[nue_head(net, up[s])] = net->channels->back[up[s]];
	}
	t->out[to] = NUE_NONE;
	nue_tree_measure(t);
}

void nue_tree_measure(struct nue_tree *t)
{
	const struct nue_net *net = t->net;
	uint32_t *reached = t->seeds, *order = t->order, *hops = t->bucket;
	uint32_t deepest = 0, n = net->n, n_reached = 0;
	_cleanup_free_ uint32_t *depth = xmalloc_ones(n, sizeof(*depth));

	memset(t->dist, 0xFF, n * sizeof(*t->dist));
	t->dist[t->to] = 0;
	depth[t->to] = 0;
	for (uint32_t s = 0; s < n; s++) {
		uint32_t at = s, len = 0;

		/* Out along the path, then back along it. */
		while (depth[at] == NUE_NONE && t->out[at] != NUE_NONE && len < n) {
			t->order[len++] = at;
			depth[at] = NUE_NONE - 1;
			at = nue_head(net, t->out[at]);
			if (depth[at] == NUE_NONE - 1)
				break;
		}
		while (len-- > 0) {
			uint32_t v = t->order[len], next = nue_head(net, t->out[v]);

			if (depth[next] < n) {
				depth[v] = depth[next] + 1;
				t->dist[v] = t->dist[next] + net->cost[t->out[v]];
				deepest = MAX(deepest, depth[v]);
			}
		}
	}
	for (uint32_t s = 0; s < n; s++) {
		if (depth[s] < n)
			reached[n_reached++] = s;
		else
			t->out[s] = NUE_NONE;
		t->idle[s] = !net->sends[s];
	}
	memset(hops, 0, (n + 2u) * sizeof(*hops));
	SORT_BY_KEY(reached, order, n_reached, depth[reached[i]], deepest + 1, hops);
	t->n = n_reached;
	for (uint32_t i = t->n; i-- > 1;)
		t->idle[nue_head(net, t->out[t->order[i]])] &= t->idle[t->order[i]];
	t->idle[t->to] = false;
}

uint32_t nue_tree_read(struct nue_tree *t, const struct routes *r, uint32_t to, lid_t lid)
{
	const struct nue_net *net = t->net;

	t->to = to;
	for (uint32_t s = 0; s < net->n; s++) {
		uint8_t port = routes_port(r, s, lid);

		t->out[s] = NUE_NONE;
		if (s != to && port && port <= net->topo->switches[s].n_ports)
			t->out[s] =
				net->channels->of_port[net->topo->switches[s].first_port + port];
		t->wish[s] = t->out[s];
	}
	nue_tree_measure(t);
	return count_missing(t, NULL);
}

bool nue_tree_turns(const struct nue_tree *t, struct cdg_order *cdg, enum nue_turns what)
{
	for (uint32_t i = 1; i < t->n; i++) {
		uint32_t in = t->out[t->order[i]], at = nue_head(t->net, in), out = t->out[at];

		if (at == t->to || t->idle[t->order[i]])
			continue;
		if (what == NUE_TURNS_SET)
			cdg_order_set(cdg, in, out);
		else if (what == NUE_TURNS_LOOK ? cdg_order_look(cdg, in, out) > CDG_FORWARD
						: !cdg_order_add(cdg, in, out))
			return false;
	}
	return true;
}

static bool take_turns(struct nue_tree *t, struct cdg_order *cdg, uint32_t sw, uint32_t channel)
{
	const struct nue_net *net = t->net;

	if (!t->idle[sw] && !wake_channel(t, cdg, channel))
		return false;
	for (uint32_t c = nue_first(net, sw); c < nue_first(net, sw + 1); c++) {
		uint32_t from = nue_head(net, c), in = net->channels->back[c];

		if (t->out[from] == in && !t->idle[from] && !cdg_order_add(cdg, in, channel))
			return false;
	}
	return true;
}

static void take_back(struct nue_tree *t, struct cdg_order *cdg)
{
	cdg_order_undo(cdg, 0);
	while (t->n_woken > 0)
		t->idle[t->woken[--t->n_woken]] = true;
}

bool nue_tree_redirect(struct nue_tree *t, struct cdg_order *cdg, uint32_t sw, uint32_t channel)
{
	t->n_woken = 0;
	cdg_order_forget(cdg);
	if (!take_turns(t, cdg, sw, channel)) {
		take_back(t, cdg);
		return false;
	}
	t->out[sw] = channel;
	t->dist[sw] = t->dist[nue_head(t->net, channel)] + t->net->cost[channel];
	return true;
}

/* To any neighbour that has a path and lets `sw` in; nearest first. */
static bool attach_switch(struct nue_tree *t, struct cdg_order *cdg, uint32_t sw)
{
	const struct nue_net *net = t->net;
	uint64_t last = 0;

	while (true) {
		uint64_t best = UINT64_MAX;

		for (uint32_t c = nue_first(net, sw); c < nue_first(net, sw + 1); c++) {
			uint32_t next = nue_head(net, c);
			uint64_t key;

			if (t->dist[next] == NUE_NONE)
				continue;
			key = ((uint64_t)t->dist[next] + net->cost[c]) << 32 | c;
			if (key > last && key < best)
				best = key;
		}
		if (best == UINT64_MAX)
			return false;
		if (enter_channel(t, cdg, sw, (uint32_t)best)) {
			t->out[sw] = (uint32_t)best;
			t->dist[sw] = (uint32_t)(best >> 32);
			return true;
		}
		last = best;
	}
}

/* Takes the turns of the tables read, without the paths over a refused turn. */
static void take_most(struct nue_tree *t, struct cdg_order *cdg)
{
	const struct nue_net *net = t->net;

	for (uint32_t i = 1; i < t->n; i++) {
		uint32_t s = t->order[i], in = t->out[s], next = nue_head(net, in);

		if (next != t->to && (t->out[next] == NUE_NONE ||
				      (!t->idle[s] && !cdg_order_add(cdg, in, t->out[next]))))
			t->out[s] = NUE_NONE;
	}
	nue_tree_measure(t);
}

/* Switches without a path that would come through `sw`, itself first, into t->seeds. How many. */
static uint32_t list_followers(struct nue_tree *t, uint32_t sw)
{
	const struct nue_net *net = t->net;
	uint32_t n = 0, done = 0;

	t->seeds[n++] = sw;
	while (done < n) {
		uint32_t s = t->seeds[done++];

		for (uint32_t c = nue_first(net, s); c < nue_first(net, s + 1); c++) {
			uint32_t from = nue_head(net, c);

			if (t->dist[from] != NUE_NONE || t->wish[from] != net->channels->back[c] ||
			    from == sw)
				continue;
			assert(n < net->n); /* each wishes one path */
			t->seeds[n++] = from;
		}
	}
	return n;
}

/* Leads `sw` through `channel`, and the `n` switches of t->seeds through it as they wish. */
static bool lead_through(struct nue_tree *t, struct cdg_order *cdg, uint32_t channel, uint32_t n)
{
	const struct nue_net *net = t->net;
	bool fits;

	t->n_woken = 0;
	cdg_order_forget(cdg);
	fits = wake_channel(t, cdg, channel);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = t->seeds[i];

		t->out[s] = i ? t->wish[s] : channel;
		t->idle[s] = false;
		if (i && fits)
			fits = cdg_order_add(cdg, t->out[s], t->out[nue_head(net, t->out[s])]);
	}
	if (!fits)
		take_back(t, cdg);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = t->seeds[i];

		if (fits)
			t->dist[s] = t->dist[nue_head(net, t->out[s])] + net->cost[t->out[s]];
		else
			t->out[s] = NUE_NONE;
	}
	return fits;
}

/* A switch that lost the next step of its path looks for another; all behind it stay. */
static void lead_followers(struct nue_tree *t, struct cdg_order *cdg)
{
	const struct nue_net *net = t->net;

	for (uint32_t s = 0; s < net->n; s++) {
		uint32_t n;

		if (t->dist[s] != NUE_NONE ||
		    (t->wish[s] != NUE_NONE && t->dist[nue_head(net, t->wish[s])] == NUE_NONE))
			continue;
		n = list_followers(t, s);
		for (uint32_t c = nue_first(net, s); c < nue_first(net, s + 1); c++)
			if (t->dist[nue_head(net, c)] != NUE_NONE && c != t->wish[s] &&
			    lead_through(t, cdg, c, n))
				break;
	}
	nue_tree_measure(t);
}

uint32_t nue_tree_mend(struct nue_tree *t, struct cdg_order *cdg, const struct nue_taste *taste)
{
	uint32_t n;

	take_most(t, cdg);
	cdg_order_forget(cdg);
	lead_followers(t, cdg);
	n = t->n;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = t->order[i];

		t->keys[i] = (uint64_t)t->dist[s] << 32 | s;
		t->cost[s] = i ? t->cost[nue_head(t->net, t->out[s])] +
					 nue_load(t->net, t->out[s], taste->load[t->out[s]])
			       : 0;
	}
	SORT(t->keys, n, compare_u64);
	for (uint32_t i = 0; i < n; i++)
		t->seeds[i] = (uint32_t)t->keys[i];
	begin_entries(t);
	spread_out(t, cdg, n, taste);
	return count_missing(t, taste->closed);
}

static bool comes_through(const struct nue_tree *t, uint32_t from, uint32_t sw)
{
	for (uint32_t steps = 0; from != t->to && from != sw; steps++) {
		assert(steps < t->net->n);
		from = nue_head(t->net, t->out[from]);
	}
	return from == sw;
}

/* Neighbour `at` takes `channel` instead, so that `sw` may come through it by `in`. */
static bool step_aside(struct nue_tree *t, struct cdg_order *cdg, uint32_t in, uint32_t channel)
{
	const struct nue_net *net = t->net;
	uint32_t sw = cdg_tail(net->channels, in), at = nue_head(net, in),
		 next = nue_head(net, channel), old = t->out[at];
	bool fits;

	if (channel == old || next == sw || t->dist[next] == NUE_NONE || comes_through(t, next, at))
		return false;
	t->n_woken = 0;
	cdg_order_forget(cdg);
	fits = cdg_order_add(cdg, in, channel) && take_turns(t, cdg, at, channel);
	t->out[at] = channel;
	t->idle[sw] = !net->sends[sw];
	if (!fits || !(t->idle[sw] || wake_path(t, cdg, at))) {
		t->out[at] = old;
		take_back(t, cdg);
		return false;
	}
	t->out[sw] = in;
	nue_tree_measure(t);
	return true;
}

static bool make_way(struct nue_tree *t, struct cdg_order *cdg, uint32_t sw)
{
	const struct nue_net *net = t->net;

	for (uint32_t c = nue_first(net, sw); c < nue_first(net, sw + 1); c++) {
		uint32_t at = nue_head(net, c);

		if (t->dist[at] == NUE_NONE || at == t->to)
			continue;
		for (uint32_t d = nue_first(net, at); d < nue_first(net, at + 1); d++)
			if (step_aside(t, cdg, c, d))
				return true;
	}
	return false;
}

uint32_t nue_tree_rescue(struct nue_tree *t, struct cdg_order *cdg, const struct nue_taste *taste)
{
	const uint16_t *far = distances_from(t->net->distances, t->to);
	bool progress = true;

	/* one switch more each time */
	for (uint32_t round = 0; progress && round < t->net->n; round++) {
		progress = false;
		for (uint32_t s = 0; s < t->net->n; s++)
			if (t->dist[s] == NUE_NONE && far[s] != DISTANCE_NONE &&
			    !(taste->closed && taste->closed[s]))
				progress |= attach_switch(t, cdg, s) || make_way(t, cdg, s);
	}
	nue_tree_measure(t);
	return count_missing(t, taste->closed);
}

/* A nearer neighbour, of the nearest the least loaded; paths get shorter, so none goes round. */
static bool shorten_path(struct nue_tree *t, struct cdg_order *cdg, uint32_t sw,
			 const struct nue_taste *taste)
{
	const struct nue_net *net = t->net;
	uint32_t last = 0;

	while (true) {
		uint32_t best = NUE_NONE, best_dist = t->dist[sw];

		for (uint32_t c = nue_first(net, sw); c < nue_first(net, sw + 1); c++) {
			uint32_t dist = t->dist[nue_head(net, c)];

			if (dist == NUE_NONE)
				continue;
			dist += net->cost[c];
			if (dist <= last || dist >= t->dist[sw] || dist > best_dist)
				continue;
			if (best == NUE_NONE || dist < best_dist ||
			    nue_load(net, c, taste->load[c]) <
				    nue_load(net, best, taste->load[best])) {
				best = c;
				best_dist = dist;
			}
		}
		if (best == NUE_NONE)
			return false;
		if (nue_tree_redirect(t, cdg, sw, best))
			return true;
		last = best_dist;
	}
}

void nue_tree_improve(struct nue_tree *t, struct cdg_order *cdg, const struct nue_taste *taste)
{
	for (unsigned pass = 0; pass < PASSES; pass++) {
		bool changed = false;

		for (uint32_t i = 1; i < t->n; i++)
			changed |= shorten_path(t, cdg, t->order[i], taste);
		if (!changed)
			return;
		nue_tree_measure(t);
	}
}
