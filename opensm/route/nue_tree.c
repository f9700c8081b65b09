// SPDX-License-Identifier: BSD-2-Clause
/* Searches from the destination outward: a switch is settled once, with one channel, as its row has one entry. */
#include "route/nue_tree.h"

#include <string.h>

#include "util/mem.h"

#define PASSES 8

struct nue_tree *nue_tree_new(const struct nue_net *net)
{
	struct nue_tree *t = xcalloc(1, sizeof(*t));
	size_t n = net->n + 1u;

	t->net = net;
	t->out = xcalloc(n, sizeof(*t->out));
	t->dist = xcalloc(n, sizeof(*t->dist));
	t->order = xcalloc(n, sizeof(*t->order));
	t->idle = xcalloc(n, sizeof(*t->idle));
	t->cost = xcalloc(n, sizeof(*t->cost));
	t->bucket = xcalloc(n + 1, sizeof(*t->bucket));
	t->seeds = xcalloc(n, sizeof(*t->seeds));
	t->keys = xcalloc(n, sizeof(*t->keys));
	t->wish = xcalloc(n, sizeof(*t->wish));
	t->woken = xcalloc(n, sizeof(*t->woken));
	t->head = xcalloc(net->max_cost + 1u, sizeof(*t->head));
	t->next = xcalloc(net->n_channels + 1u, sizeof(*t->next));
	t->entry = xcalloc(net->n_channels + 1u, sizeof(*t->entry));
	return t;
}

struct nue_tree *nue_tree_free(struct nue_tree *t)
{
	if (!t)
		return NULL;
	free(t->out);
	free(t->dist);
	free(t->order);
	free(t->idle);
	free(t->cost);
	free(t->bucket);
	free(t->seeds);
	free(t->keys);
	free(t->wish);
	free(t->woken);
	free(t->head);
	free(t->next);
	free(t->entry);
	free(t);
	return NULL;
}

void nue_tree_freep(struct nue_tree **t)
{
	*t = nue_tree_free(*t);
}

static void begin_entries(struct nue_tree *t)
{
	t->n = 0;
	t->n_entries = 0;
	t->n_woken = 0;
	memset(t->head, 0xFF, (t->net->max_cost + 1u) * sizeof(*t->head));
}

static void begin(struct nue_tree *t, uint32_t to)
{
	t->to = to;
	memset(t->out, 0xFF, t->net->n * sizeof(*t->out));
	memset(t->dist, 0xFF, t->net->n * sizeof(*t->dist));
	begin_entries(t);
}

/* Switch `sw` has its way; its neighbours may try theirs through it. */
static void settle(struct nue_tree *t, const struct nue_cdg *cdg, uint32_t sw, uint32_t dist)
{
	const struct nue_net *net = t->net;

	t->dist[sw] = dist;
	t->order[t->n++] = sw;
	for (uint32_t c = nue_first(net, sw); c < nue_first(net, sw + 1); c++) {
		uint32_t from = nue_head(net, c), in = net->reverse[c], slot;

		if (t->dist[from] != NUE_NONE)
			continue;
		if (sw != t->to && nue_cdg_look(cdg, in, t->out[sw]) == NUE_REFUSED)
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
static unsigned list_options(const struct nue_tree *t, const struct nue_cdg *cdg, uint32_t sw,
			     uint32_t dist, const struct nue_taste *taste, struct option *ret)
{
	const struct nue_net *net = t->net;
	unsigned n = 0;

	for (uint32_t c = nue_first(net, sw); c < nue_first(net, sw + 1); c++) {
		uint32_t next = nue_head(net, c);
		uint64_t cost;

		if (t->dist[next] == NUE_NONE || t->dist[next] + net->cost[c] != dist)
			continue;
		cost = t->cost[next] + taste->load[c] / net->graph->groups[c].n_ports;
		if (next != t->to && nue_cdg_look(cdg, c, t->out[next]) == NUE_REFUSED)
			continue;
		ret[n++] = (struct option){ .cost = cost, .channel = c };
	}
	return n;
}

/* Takes the turns of switch `sw`, and of those behind it, as far as nobody needed them before. All, or they sleep on. */
static bool wake(struct nue_tree *t, struct nue_cdg *cdg, uint32_t sw)
{
	uint32_t next;

	for (uint32_t s = sw; t->idle[s]; s = next) {
		next = nue_head(t->net, t->out[s]);
		if (next != t->to && !nue_cdg_add(cdg, t->out[s], t->out[next]))
			return false;
	}
	for (uint32_t s = sw; t->idle[s]; s = nue_head(t->net, t->out[s])) {
		t->idle[s] = false;
		t->woken[t->n_woken++] = s;
	}
	return true;
}

/* May `sw` go through `channel`? Who sends nothing takes no turn before somebody comes through it. */
static bool enter(struct nue_tree *t, struct nue_cdg *cdg, uint32_t sw, uint32_t channel)
{
	uint32_t next = nue_head(t->net, channel);

	t->idle[sw] = !t->net->sends[sw];
	if (next == t->to || t->idle[sw])
		return true;
	return wake(t, cdg, next) && nue_cdg_add(cdg, channel, t->out[next]);
}

/* The cheapest way that closes no cycle. */
static bool choose(struct nue_tree *t, struct nue_cdg *cdg, uint32_t sw, uint32_t dist,
		   const struct nue_taste *taste)
{
	struct option options[UINT8_MAX + 1];
	unsigned n = list_options(t, cdg, sw, dist, taste, options);

	while (n > 0) {
		unsigned best = 0;

		for (unsigned i = 1; i < n; i++)
			if (options[i].cost < options[best].cost)
				best = i;
		if (enter(t, cdg, sw, options[best].channel)) {
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

/* From the switches that have a way, `n` of them in t->seeds, to all others. */
static void spread_out(struct nue_tree *t, struct nue_cdg *cdg, uint32_t n, const struct nue_taste *taste)
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
			if (choose(t, cdg, sw, dist, taste))
				settle(t, cdg, sw, dist);
		}
		for (; used < n && t->dist[t->seeds[used]] == dist; used++) {
			settle(t, cdg, t->seeds[used], dist);
			idle = 0;
		}
	}
}

uint32_t nue_tree_grow(struct nue_tree *t, struct nue_cdg *cdg, uint32_t to, const struct nue_taste *taste)
{
	begin(t, to);
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

	t->to = to;
	memcpy(t->out, up, net->n * sizeof(*t->out));
	for (uint32_t s = to; up[s] != NUE_NONE; s = nue_head(net, up[s]))
		t->out[nue_head(net, up[s])] = net->reverse[up[s]];
	t->out[to] = NUE_NONE;
	nue_tree_measure(t);
}

void nue_tree_measure(struct nue_tree *t)
{
	const struct nue_net *net = t->net;
	uint32_t *hops = t->bucket, deepest = 0, sum = 0, n = net->n;
	_cleanup_free_ uint32_t *depth = xcalloc(n + 1u, sizeof(*depth));

	memset(t->dist, 0xFF, n * sizeof(*t->dist));
	memset(depth, 0xFF, n * sizeof(*depth));
	t->dist[t->to] = 0;
	depth[t->to] = 0;
	for (uint32_t s = 0; s < n; s++) {
		uint32_t at = s, len = 0;

		/* Out along the way, then back along it. */
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
	memset(hops, 0, (n + 1u) * sizeof(*hops));
	for (uint32_t s = 0; s < n; s++) {
		if (depth[s] < n)
			hops[depth[s]]++;
		else
			t->out[s] = NUE_NONE;
	}
	for (uint32_t d = 0; d <= deepest; d++) {
		uint32_t here = hops[d];

		hops[d] = sum;
		sum += here;
	}
	t->n = sum;
	for (uint32_t s = 0; s < n; s++)
		if (depth[s] < n)
			t->order[hops[depth[s]]++] = s;
	for (uint32_t s = 0; s < n; s++)
		t->idle[s] = !net->sends[s];
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
			t->out[s] = net->of_port[net->topo->switches[s].first_port + port];
		t->wish[s] = t->out[s];
	}
	nue_tree_measure(t);
	return count_missing(t, NULL);
}

bool nue_tree_fits(const struct nue_tree *t, const struct nue_cdg *cdg)
{
	for (uint32_t i = 1; i < t->n; i++) {
		uint32_t in = t->out[t->order[i]], at = nue_head(t->net, in);

		if (at != t->to && !t->idle[t->order[i]] &&
		    nue_cdg_look(cdg, in, t->out[at]) > NUE_FORWARD)
			return false;
	}
	return true;
}

bool nue_tree_take(const struct nue_tree *t, struct nue_cdg *cdg)
{
	for (uint32_t i = 1; i < t->n; i++) {
		uint32_t in = t->out[t->order[i]], at = nue_head(t->net, in);

		if (at != t->to && !t->idle[t->order[i]] && !nue_cdg_add(cdg, in, t->out[at]))
			return false;
	}
	return true;
}

void nue_tree_set(const struct nue_tree *t, struct nue_cdg *cdg)
{
	for (uint32_t i = 1; i < t->n; i++) {
		uint32_t in = t->out[t->order[i]], at = nue_head(t->net, in);

		if (at != t->to && !t->idle[t->order[i]])
			nue_cdg_set(cdg, in, t->out[at]);
	}
}

static bool take_turns(struct nue_tree *t, struct nue_cdg *cdg, uint32_t sw, uint32_t channel)
{
	const struct nue_net *net = t->net;
	uint32_t next = nue_head(net, channel);

	if (!t->idle[sw] && next != t->to &&
	    !(wake(t, cdg, next) && nue_cdg_add(cdg, channel, t->out[next])))
		return false;
	for (uint32_t c = nue_first(net, sw); c < nue_first(net, sw + 1); c++) {
		uint32_t from = nue_head(net, c), in = net->reverse[c];

		if (t->out[from] == in && !t->idle[from] && !nue_cdg_add(cdg, in, channel))
			return false;
	}
	return true;
}

static void take_back(struct nue_tree *t, struct nue_cdg *cdg)
{
	nue_cdg_undo(cdg);
	while (t->n_woken > 0)
		t->idle[t->woken[--t->n_woken]] = true;
}

bool nue_tree_redirect(struct nue_tree *t, struct nue_cdg *cdg, uint32_t sw, uint32_t channel)
{
	t->n_woken = 0;
	nue_cdg_mark(cdg);
	if (!take_turns(t, cdg, sw, channel)) {
		take_back(t, cdg);
		return false;
	}
	t->out[sw] = channel;
	t->dist[sw] = t->dist[nue_head(t->net, channel)] + t->net->cost[channel];
	return true;
}

/* To any neighbour that has a way and lets `sw` in; nearest first. */
static bool attach(struct nue_tree *t, struct nue_cdg *cdg, uint32_t sw)
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
		if (enter(t, cdg, sw, (uint32_t)best)) {
			t->out[sw] = (uint32_t)best;
			t->dist[sw] = (uint32_t)(best >> 32);
			return true;
		}
		last = best;
	}
}

/* The turns of what was read, without the ways that go by a turn that is refused. */
static void take_most(struct nue_tree *t, struct nue_cdg *cdg)
{
	const struct nue_net *net = t->net;

	for (uint32_t i = 1; i < t->n; i++) {
		uint32_t s = t->order[i], in = t->out[s], next = nue_head(net, in);

		if (next != t->to && (t->out[next] == NUE_NONE ||
				      (!t->idle[s] && !nue_cdg_add(cdg, in, t->out[next]))))
			t->out[s] = NUE_NONE;
	}
	nue_tree_measure(t);
}

/* Switches without a way that would come through `sw`, itself first, into t->seeds; their number. */
static uint32_t list_followers(struct nue_tree *t, uint32_t sw)
{
	const struct nue_net *net = t->net;
	uint32_t n = 0, done = 0;

	t->seeds[n++] = sw;
	while (done < n) {
		uint32_t s = t->seeds[done++];

		for (uint32_t c = nue_first(net, s); c < nue_first(net, s + 1); c++) {
			uint32_t from = nue_head(net, c);

			if (t->dist[from] == NUE_NONE && t->wish[from] == net->reverse[c] && from != sw)
				t->seeds[n++] = from;
		}
	}
	return n;
}

/* `sw` through `channel`, and `n` in t->seeds through it as they wish. */
static bool lead(struct nue_tree *t, struct nue_cdg *cdg, uint32_t channel, uint32_t n)
{
	const struct nue_net *net = t->net;
	uint32_t next = nue_head(net, channel);
	bool fits;

	t->n_woken = 0;
	nue_cdg_mark(cdg);
	fits = next == t->to || (wake(t, cdg, next) && nue_cdg_add(cdg, channel, t->out[next]));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = t->seeds[i];

		t->out[s] = i ? t->wish[s] : channel;
		t->idle[s] = false;
		if (i && fits)
			fits = nue_cdg_add(cdg, t->out[s], t->out[nue_head(net, t->out[s])]);
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

/* Whoever lost the next step of its way looks for another, and all behind it stay as they are. */
static void lead_followers(struct nue_tree *t, struct nue_cdg *cdg)
{
	const struct nue_net *net = t->net;

	for (uint32_t s = 0; s < net->n; s++) {
		uint32_t n;

		if (t->dist[s] != NUE_NONE ||
		    (t->wish[s] != NUE_NONE && t->dist[nue_head(net, t->wish[s])] == NUE_NONE))
			continue;
		n = list_followers(t, s);
		for (uint32_t c = nue_first(net, s); c < nue_first(net, s + 1); c++)
			if (t->dist[nue_head(net, c)] != NUE_NONE && c != t->wish[s] && lead(t, cdg, c, n))
				break;
	}
	nue_tree_measure(t);
}

static int by_distance(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

uint32_t nue_tree_mend(struct nue_tree *t, struct nue_cdg *cdg, const struct nue_taste *taste)
{
	uint32_t n;

	take_most(t, cdg);
	nue_cdg_mark(cdg);
	lead_followers(t, cdg);
	n = t->n;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = t->order[i];

		t->keys[i] = (uint64_t)t->dist[s] << 32 | s;
		t->cost[s] = i ? t->cost[nue_head(t->net, t->out[s])] + taste->load[t->out[s]] : 0;
	}
	qsort(t->keys, n, sizeof(*t->keys), by_distance);
	for (uint32_t i = 0; i < n; i++)
		t->seeds[i] = (uint32_t)t->keys[i];
	begin_entries(t);
	spread_out(t, cdg, n, taste);
	return count_missing(t, taste->closed);
}

static bool comes_through(const struct nue_tree *t, uint32_t from, uint32_t sw)
{
	while (from != t->to && from != sw)
		from = nue_head(t->net, t->out[from]);
	return from == sw;
}

/* Neighbour `at` goes by `channel` instead, so that `sw` may come through it by `in`. */
static bool step_aside(struct nue_tree *t, struct nue_cdg *cdg, uint32_t in, uint32_t channel)
{
	const struct nue_net *net = t->net;
	uint32_t sw = net->tail[in], at = nue_head(net, in), next = nue_head(net, channel), old = t->out[at];
	bool fits;

	if (channel == old || next == sw || t->dist[next] == NUE_NONE || comes_through(t, next, at))
		return false;
	t->n_woken = 0;
	nue_cdg_mark(cdg);
	fits = nue_cdg_add(cdg, in, channel) && take_turns(t, cdg, at, channel);
	t->out[at] = channel;
	t->idle[sw] = !net->sends[sw];
	if (!fits || !(t->idle[sw] || wake(t, cdg, at))) {
		t->out[at] = old;
		take_back(t, cdg);
		return false;
	}
	t->out[sw] = in;
	nue_tree_measure(t);
	return true;
}

static bool make_way(struct nue_tree *t, struct nue_cdg *cdg, uint32_t sw)
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

uint32_t nue_tree_rescue(struct nue_tree *t, struct nue_cdg *cdg, const struct nue_taste *taste)
{
	const uint16_t *far = distances_from(t->net->distances, t->to);
	bool progress = true;

	while (progress) {
		progress = false;
		for (uint32_t s = 0; s < t->net->n; s++)
			if (t->dist[s] == NUE_NONE && far[s] != DISTANCE_NONE &&
			    !(taste->closed && taste->closed[s]))
				progress |= attach(t, cdg, s) || make_way(t, cdg, s);
	}
	nue_tree_measure(t);
	return count_missing(t, taste->closed);
}

/* One that is nearer, least loaded first among the nearest; ways only get shorter, so none can go round. */
static bool shorten(struct nue_tree *t, struct nue_cdg *cdg, uint32_t sw, const struct nue_taste *taste)
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
			if (best == NUE_NONE || dist < best_dist || taste->load[c] < taste->load[best]) {
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

void nue_tree_improve(struct nue_tree *t, struct nue_cdg *cdg, const struct nue_taste *taste)
{
	for (unsigned pass = 0; pass < PASSES; pass++) {
		bool changed = false;

		for (uint32_t i = 1; i < t->n; i++)
			changed |= shorten(t, cdg, t->order[i], taste);
		if (!changed)
			return;
		nue_tree_measure(t);
	}
}
