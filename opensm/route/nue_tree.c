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

static void begin(struct nue_tree *t, uint32_t to)
{
	t->to = to;
	t->n = 0;
	t->n_entries = 0;
	t->n_woken = 0;
	memset(t->out, 0xFF, t->net->n * sizeof(*t->out));
	memset(t->dist, 0xFF, t->net->n * sizeof(*t->dist));
	memset(t->head, 0xFF, (t->net->max_cost + 1u) * sizeof(*t->head));
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
		if (next != t->to)
			switch (nue_cdg_look(cdg, c, t->out[next])) {
			case NUE_REFUSED:
				continue;
			case NUE_FORWARD:
				cost += taste->forward;
				break;
			case NUE_UNSURE:
				cost += taste->unsure;
				break;
			case NUE_TAKEN:
				break;
			}
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

uint32_t nue_tree_grow(struct nue_tree *t, struct nue_cdg *cdg, uint32_t to, const struct nue_taste *taste)
{
	uint32_t slots = t->net->max_cost + 1u, idle = 0;

	begin(t, to);
	t->cost[to] = 0;
	t->idle[to] = false;
	settle(t, cdg, to, 0);
	for (uint32_t dist = 1; idle < slots; dist++) {
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
	}
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

/* Sends `sw` through `channel`, and all who come through `sw` after it. */
static bool redirect(struct nue_tree *t, struct nue_cdg *cdg, uint32_t sw, uint32_t channel)
{
	const struct nue_net *net = t->net;
	uint32_t next = nue_head(net, channel);
	bool fits = true;

	t->n_woken = 0;
	nue_cdg_mark(cdg);
	if (!t->idle[sw])
		fits = wake(t, cdg, next) && (next == t->to || nue_cdg_add(cdg, channel, t->out[next]));
	for (uint32_t c = nue_first(net, sw); fits && c < nue_first(net, sw + 1); c++) {
		uint32_t in = net->reverse[c];

		if (t->out[nue_head(net, c)] == in && !t->idle[nue_head(net, c)])
			fits = nue_cdg_add(cdg, in, channel);
	}
	if (!fits) {
		nue_cdg_undo(cdg);
		while (t->n_woken > 0)
			t->idle[t->woken[--t->n_woken]] = true;
		return false;
	}
	t->out[sw] = channel;
	t->dist[sw] = t->dist[next] + net->cost[channel];
	return true;
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
		if (redirect(t, cdg, sw, best))
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
