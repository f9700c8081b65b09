// SPDX-License-Identifier: BSD-2-Clause
/*
 * Engine, judge, and what happens when they disagree about balance. Loads are counted as the judge
 * counts them: end-port pairs on channels between switches.
 */
#include "route/reroute.h"

#include <string.h>

#include "route/ease.h"
#include "util/mem.h"

struct balance {
	struct routes *r;
	const struct routes *fresh;
	uint32_t n, n_ports;
	uint32_t *sources; /* per switch: end ports */
	uint32_t *load;    /* per channel (entry of topo->ports) */
	uint32_t *flow;    /* per switch, for the column at hand */
	uint32_t limit;
	bool *replaced;    /* per LID */
};

/* The channel that `sw` sends `lid` through; TOPO_NONE: to no switch. */
static uint32_t channel_of(const struct routes *r, uint32_t sw, lid_t lid)
{
	const struct topo *t = r->topo;
	uint8_t port = routes_port(r, sw, lid);

	if (!port || port > t->switches[sw].n_ports || topo_port(t, sw, port)->sw == TOPO_NONE)
		return TOPO_NONE;
	return t->switches[sw].first_port + port;
}

/* Adds the flows of one LID to the loads, `sign` times. */
static void add_column(struct balance *b, const struct routes *r, lid_t lid, int sign)
{
	for (uint32_t s = 0; s < b->n; s++) {
		uint32_t channel = b->sources[s] ? channel_of(r, s, lid) : TOPO_NONE;

		for (uint32_t hops = 0; channel != TOPO_NONE && hops < b->n; hops++) {
			b->load[channel] += (uint32_t)sign * b->sources[s];
			channel = channel_of(r, r->topo->ports[channel].sw, lid);
		}
	}
}

static bool is_over(const struct balance *b, uint32_t channel)
{
	return b->load[channel] > b->limit;
}

/* Sets flow[]; true if the LID has flows through a channel that carries too much. */
static bool crosses(struct balance *b, lid_t lid)
{
	const struct topo *t = b->r->topo;
	bool over = false;

	memset(b->flow, 0, b->n * sizeof(*b->flow));
	for (uint32_t s = 0; s < b->n; s++) {
		uint32_t at = s;

		for (uint32_t hops = 0; b->sources[s] && hops < b->n; hops++) {
			uint32_t channel = channel_of(b->r, at, lid);

			b->flow[at] += b->sources[s];
			if (channel == TOPO_NONE)
				break;
			over |= is_over(b, channel);
			at = t->ports[channel].sw;
		}
	}
	return over;
}

static bool some_is_over(const struct balance *b)
{
	for (uint32_t c = 0; c < b->n_ports; c++)
		if (is_over(b, c))
			return true;
	return false;
}

static bool is_nearer(const struct routes *r, uint32_t from, uint32_t peer, uint32_t at)
{
	const uint8_t *hops = r->hops + (size_t)at * r->topo->n_switches;

	return peer != TOPO_NONE && hops[peer] + 1 == hops[from];
}

/* Takes `flow` off the way from `sw` on, or puts it there; most load on that way afterwards. */
static uint32_t shift(struct balance *b, uint32_t sw, lid_t lid, int64_t flow)
{
	uint32_t most = 0, channel = channel_of(b->r, sw, lid);

	for (uint32_t hops = 0; channel != TOPO_NONE && hops < b->n; hops++) {
		b->load[channel] += (uint32_t)flow;
		most = MAX(most, b->load[channel]);
		channel = channel_of(b->r, b->r->topo->ports[channel].sw, lid);
	}
	return most;
}

/* Another shortest way for what `sw` sends to `lid`, with room for it. */
static bool move_entry(struct balance *b, uint32_t sw, lid_t lid, uint32_t at)
{
	const struct topo *t = b->r->topo;
	uint8_t *entry = &routes_row(b->r, sw)[lid], old = *entry, best = old;
	uint32_t flow = b->flow[sw], least = b->limit + 1;

	shift(b, sw, lid, -(int64_t)flow);
	for (unsigned p = 1; p <= t->switches[sw].n_ports; p++) {
		uint32_t most;

		if (p == old || !is_nearer(b->r, sw, topo_port(t, sw, p)->sw, at))
			continue;
		*entry = (uint8_t)p;
		most = shift(b, sw, lid, flow);
		shift(b, sw, lid, -(int64_t)flow);
		if (most < least) {
			least = most;
			best = (uint8_t)p;
		}
	}
	*entry = best;
	shift(b, sw, lid, flow);
	return best != old;
}

/* Entries of one LID that lead into a channel that carries too much. Returns how many moved. */
static uint32_t move_entries(struct balance *b, lid_t lid, uint32_t at)
{
	uint32_t moved = 0;

	if (!crosses(b, lid))
		return 0;
	for (uint32_t s = 0; s < b->n; s++) {
		uint32_t channel = b->flow[s] ? channel_of(b->r, s, lid) : TOPO_NONE;

		if (channel == TOPO_NONE || !is_over(b, channel) || !move_entry(b, s, lid, at))
			continue;
		moved++;
		crosses(b, lid); /* flows are others now */
	}
	return moved;
}

static uint32_t replace_column(struct balance *b, lid_t lid, uint32_t at)
{
	if (b->replaced[lid] || !crosses(b, lid))
		return 0;
	b->replaced[lid] = true;
	add_column(b, b->r, lid, -1);
	for (uint32_t s = 0; s < b->n; s++)
		if (lid < b->r->row_size)
			routes_row(b->r, s)[lid] = routes_port(b->fresh, s, lid);
	add_column(b, b->r, lid, 1);
	return 1;
}

/* Does `fn` to all LIDs of end ports, again and again while that helps. Returns the sum. */
static uint32_t repeat(struct balance *b,
		       uint32_t (*fn)(struct balance *b, lid_t lid, uint32_t at))
{
	const struct topo *t = b->r->topo;
	uint32_t sum = 0, now;

	do {
		now = 0;
		for (uint32_t h = 0; h < t->n_hosts && some_is_over(b); h++)
			for (unsigned k = 0; t->hosts[h].lid && k < 1u << t->hosts[h].lmc; k++)
				if (t->hosts[h].sw != TOPO_NONE)
					now += fn(b, (lid_t)(t->hosts[h].lid + k),
						  t->hosts[h].sw);
		sum += now;
	} while (now && some_is_over(b));
	return sum;
}

static void balance_open(struct balance *b)
{
	const struct topo *t = b->r->topo;

	b->n = t->n_switches;
	for (uint32_t s = 0; s < b->n; s++)
		b->n_ports += t->switches[s].n_ports + 1u;
	b->sources = xcalloc(b->n, sizeof(*b->sources));
	b->flow = xcalloc(b->n, sizeof(*b->flow));
	b->load = xcalloc(b->n_ports, sizeof(*b->load));
	b->replaced = xcalloc(b->r->row_size + 1u, sizeof(*b->replaced));
	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].sw != TOPO_NONE && t->hosts[h].lid)
			b->sources[t->hosts[h].sw]++;
	for (uint32_t h = 0; h < t->n_hosts; h++)
		for (unsigned k = 0; t->hosts[h].lid && k < 1u << t->hosts[h].lmc; k++)
			if (t->hosts[h].sw != TOPO_NONE)
				add_column(b, b->r, (lid_t)(t->hosts[h].lid + k), 1);
}

static void balance_close(struct balance *b)
{
	free(b->sources);
	free(b->flow);
	free(b->load);
	free(b->replaced);
}

/* Single entries are moved only where nothing but load decides. */
static bool may_move_entries(const struct route_job *job, const struct routes *r)
{
	const struct route_options *o = &job->options;
	bool lmc = false;

	for (uint32_t h = 0; h < r->topo->n_hosts; h++)
		lmc |= r->topo->hosts[h].lmc != 0;
	return r->hops && !r->places && !lmc && !o->n_weights && !o->n_order && !o->n_ignore && !o->scatter_seed;
}

static void rebalance(const struct route_job *job, struct routes *r, const struct routes *fresh,
		      struct reroute_report *ret)
{
	struct balance b = {
		.r = r, .fresh = fresh, .limit = (uint32_t)(REROUTE_SLACK * ret->load_fresh),
	};

	routes_touch(r);
	balance_open(&b);
	if (may_move_entries(job, r))
		ret->n_entries = repeat(&b, move_entries);
	ret->n_lids = repeat(&b, replace_column);
	balance_close(&b);
}

/* What needs no computation from scratch to be good enough. */
static bool is_surely_fair(const struct routes *r, const struct route_verdict *v)
{
	double bound = MAX(v->avg_load, (double)r->expected_load);

	return v->unreachable || v->max_load <= REROUTE_SLACK * bound;
}

/* Columns of different orders of up and down do not go together (tree.h). */
static bool is_same_order(const struct routes *a, const struct routes *b)
{
	size_t size = a->topo->n_switches * sizeof(*a->places);

	return (!a->places && !b->places) ||
	       (a->places && b->places && !memcmp(a->places, b->places, size));
}

struct routes *reroute_balance(const struct route_engine *engine, const struct route_job *job,
			       struct routes *r, struct reroute_report *ret)
{
	struct route_job alone = *job;
	struct route_verdict fair;
	struct routes *fresh;

	if (!engine || !engine->compute || r->lanes)
		return r;
	if (engine->balances || r->places)
		ease(job, r, &ret->verdict, &ret->n_eased);
	if (!engine->balances || !job->previous ||
	    is_surely_fair(r, &ret->verdict) ||
	    routes_are_same(job->previous, r)) /* no entry changes: then none does for balance either */
		return r;
	alone.previous = NULL;
	fresh = engine->compute(&alone, ret->why, sizeof(ret->why));
	if (!fresh)
		return r;
	routes_check(fresh, job->threads, &fair);
	ret->load_fresh = fair.max_load;
	if (!fair.unreachable && ret->verdict.max_load > REROUTE_SLACK * fair.max_load &&
	    is_same_order(r, fresh)) {
		rebalance(job, r, fresh, ret);
		routes_check_after(NULL, r, job->threads, &ret->verdict);
	}
	routes_unref(fresh);
	return r;
}

struct routes *reroute(const struct route_engine *engine, const struct route_job *job,
		       struct reroute_report *ret)
{
	struct routes *r = engine->compute(job, ret->why, sizeof(ret->why));

	if (!r)
		return NULL;
	routes_check_after(job->previous, r, job->threads, &ret->verdict);
	return reroute_balance(engine, job, r, ret);
}
