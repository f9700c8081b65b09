// SPDX-License-Identifier: BSD-2-Clause
/*
 * Engine, verdict, and what happens when they disagree about balance. Loads are counted as in the
 * verdict: end-port pairs on channels between switches.
 */
#include "route/select/reroute.h"

#include <assert.h>
#include <string.h>

#include "route/core/lid_spread.h"
#include "route/proof/keep_policy.h"
#include "route/sp/balance.h"
#include "util/mem.h"

#define ROUNDS_MAX 100 /* each takes something off what carries too much; the last ones little */

struct mover {
	struct routes *r;
	const struct routes *fresh;
	uint32_t n, n_ports;
	uint32_t *sources; /* by switch: number of its end ports */
	uint32_t *load;    /* per channel (entry of topo->ports): flows */
	uint32_t *flow;    /* per switch, for the column at hand */
	uint32_t limit;
	bool *counted;	   /* per channel: topo_find_counted(), as in the verdict */
	const uint32_t *paces; /* per channel: topo->paces, the same */
	bool *replaced;    /* per LID */
	uint32_t *queue;   /* switches */
	const uint64_t *share; /* per switch: what comes to it with `fresh`; NULL: no matter */
	uint32_t idle;	   /* a switch to which far less comes, or TOPO_NONE */
	struct arena memory;
};

static bool is_over(const struct mover *b, uint32_t channel)
{
	return b->counted[channel] &&
	       topo_load(b->paces, channel, b->load[channel]) > b->limit;
}

static bool some_is_over(const struct mover *b)
{
	for (uint32_t c = 0; c < b->n_ports; c++)
		if (is_over(b, c))
			return true;
	return false;
}

/* Sets flow[]; true if the LID has flows through a channel that carries too much. */
static bool crosses(struct mover *b, lid_t lid)
{
	const struct topo *t = b->r->topo;
	bool over = false;

	memset(b->flow, 0, b->n * sizeof(*b->flow));
	for (uint32_t s = 0; s < b->n; s++) {
		uint32_t at = s;

		for (uint32_t hops = 0; b->sources[s] && hops < b->n; hops++) {
			uint32_t channel = routes_channel(b->r, at, lid);

			b->flow[at] += b->sources[s];
			if (channel == TOPO_NONE)
				break;
			over |= is_over(b, channel);
			at = t->ports[channel].sw;
		}
	}
	return over;
}

/* Adds the flows of one LID to the loads, `times` times. */
static void add_column(struct mover *b, lid_t lid, uint32_t times)
{
	for (uint32_t s = 0; s < b->n; s++)
		if (b->sources[s])
			routes_add_load(b->r, s, lid, times * b->sources[s], b->load);
}

/* The first `n` switches of the queue take the entries of `fresh`. */
static void replace_entries(struct mover *b, lid_t lid, uint32_t n)
{
	add_column(b, lid, UINT32_MAX);
	for (uint32_t i = 0; i < n && lid <= b->r->top; i++)
		routes_write(b->r, b->queue[i], lid, routes_port(b->fresh, b->queue[i], lid));
	add_column(b, lid, 1);
}

/* Another shortest path for what `sw` sends to `lid`, with room for it. */
static bool move_entry(struct mover *b, uint32_t sw, lid_t lid, uint32_t at)
{
	const struct topo *t = b->r->topo;
	uint8_t *entry = &routes_row(b->r, sw)[lid], old = *entry, best = old;
	const uint8_t *hops = b->r->hops + (size_t)at * b->n;
	uint32_t flow = b->flow[sw], least = b->limit + 1;

	routes_add_load(b->r, sw, lid, 0u - flow, b->load);
	for (unsigned p = 1; p <= t->switches[sw].n_ports; p++) {
		uint32_t peer = topo_port(t, sw, p)->sw, most;

		if (p == old || peer == TOPO_NONE || hops[peer] + 1 != hops[sw])
			continue;
		*entry = (uint8_t)p;
		most = routes_add_load(b->r, sw, lid, flow, b->load);
		routes_add_load(b->r, sw, lid, 0u - flow, b->load);
		if (most < least) {
			least = most;
			best = (uint8_t)p;
		}
	}
	*entry = best;
	routes_add_load(b->r, sw, lid, flow, b->load);
	return best != old;
}

/* Entries of one LID that lead into a channel that carries too much. Returns how many moved. */
static uint32_t move_entries(struct mover *b, lid_t lid, uint32_t at)
{
	uint32_t moved = 0;

	if (!some_is_over(b) || !crosses(b, lid))
		return 0;
	for (uint32_t s = 0; s < b->n; s++) {
		uint32_t channel = b->flow[s] ? routes_channel(b->r, s, lid) : TOPO_NONE;

		if (channel == TOPO_NONE || !is_over(b, channel) || !move_entry(b, s, lid, at))
			continue;
		moved++;
		crosses(b, lid); /* flows are others now */
	}
	return moved;
}

static uint32_t replace_column(struct mover *b, lid_t lid, uint32_t at)
{
	if (!some_is_over(b) || b->replaced[lid] || !crosses(b, lid))
		return 0;
	b->replaced[lid] = true;
	for (uint32_t s = 0; s < b->n; s++)
		b->queue[s] = s;
	replace_entries(b, lid, b->n);
	return 1;
}

/* Does `fn` to all LIDs of end ports. Returns the sum. */
static uint32_t visit(struct mover *b, uint32_t (*fn)(struct mover *b, lid_t lid, uint32_t at))
{
	const struct topo *t = b->r->topo;
	uint32_t sum = 0;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		TOPO_EACH_LID(&t->hosts[h], lid)
			if (t->hosts[h].sw != TOPO_NONE)
				sum += fn(b, (lid_t)lid, t->hosts[h].sw);
	return sum;
}

/* The same, again and again while that helps. */
static uint32_t repeat(struct mover *b, uint32_t (*fn)(struct mover *b, lid_t lid, uint32_t at))
{
	uint32_t sum = 0, now = 1;

	for (unsigned round = 0; round < ROUNDS_MAX && now && some_is_over(b); round++) {
		now = visit(b, fn);
		sum += now;
	}
	return sum;
}

static uint32_t count_column(struct mover *b, lid_t lid, uint32_t at)
{
	add_column(b, lid, 1);
	return 1;
}

static void mover_open(struct mover *b)
{
	const struct topo *t = b->r->topo;
	const uint32_t *load = routes_judged_load(b->r); /* NULL: unknown */

	b->n = t->n_switches;
	b->n_ports = topo_n_entries(t);
	b->sources = arena_keep(&b->memory, topo_count_senders(t));
	b->counted = arena_keep(&b->memory, topo_find_counted(t));
	b->paces = t->paces;
	ARENA_ARRAYS(&b->memory, b->n + 1u, b->flow, b->queue);
	ARENA_ARRAY(&b->memory, b->load, b->n_ports);
	ARENA_ARRAY(&b->memory, b->replaced, b->r->row_size + 1u);
	if (load)
		memcpy(b->load, load, b->n_ports * sizeof(*load));
	else
		visit(b, count_column);
}

/* Single entries are moved only where nothing but flows decides. */
static bool may_move_entries(const struct route_job *job, const struct routes *r)
{
	const struct route_options *o = &job->options;

	return r->hops && !r->places && !lid_spread_is_needed(r->topo) && !o->n_weights &&
	       !o->n_order && !o->n_ignore && !o->scatter_seed;
}

static void rebalance(const struct route_job *job, struct routes *r, const struct routes *fresh,
		      struct reroute_report *ret)
{
	struct mover b = {
		.r = r, .fresh = fresh, .limit = keep_limit(KEEP_BALANCE, ret->load_fresh),
	};

	routes_touch(r);
	mover_open(&b);
	if (may_move_entries(job, r) && !b.paces)
		ret->n_entries = repeat(&b, move_entries);
	ret->n_lids = repeat(&b, replace_column);
	arena_done(&b.memory);
}

/* ---- switches that carry too little --------------------------------------------------------- */

/* What comes to each switch from others. */
static uint64_t *count_through(const struct mover *b)
{
	const struct topo *t = b->r->topo;
	uint64_t *through = xcalloc(t->n_switches + 1u, sizeof(*through));

	for (uint32_t c = 0; c < b->n_ports; c++)
		if (t->ports[c].sw != TOPO_NONE)
			through[t->ports[c].sw] += b->load[c];
	return through;
}

/* The same with `fresh`. */
static uint64_t *count_shares(const struct routes *fresh)
{
	struct mover b = { .r = as_owner(fresh) };
	uint64_t *ret;

	mover_open(&b);
	ret = count_through(&b);
	arena_done(&b.memory);
	return ret;
}

/* A switch to which far less comes than its share, such as one that came back; or TOPO_NONE. */
static uint32_t find_idle(const struct mover *b)
{
	_cleanup_free_ uint64_t *now = count_through(b);

	for (uint32_t s = 0; b->share && s < b->n; s++)
		if ((double)b->share[s] > keep_bound(KEEP_IDLE, (double)now[s]))
			return s;
	return TOPO_NONE;
}

/* The switches whose paths of `fresh` lead over b->idle, and itself: b->queue. Returns how many. */
static uint32_t find_upstream(struct mover *b, lid_t lid)
{
	const struct topo *t = b->r->topo;
	uint32_t n = 0;

	b->queue[n++] = b->idle;
	for (uint32_t i = 0; i < n; i++)
		for (unsigned p = 1; p <= t->switches[b->queue[i]].n_ports; p++) {
			const struct topo_port *port = topo_port(t, b->queue[i], p);

			if (n < b->n && port->sw != TOPO_NONE &&
			    routes_port(b->fresh, port->sw, lid) == port->port)
				b->queue[n++] = port->sw;
		}
	return n;
}

/* Paths of `fresh` over the switch are those of the tables, too: from every source in one piece. */
static uint32_t give_share(struct mover *b, lid_t lid, uint32_t at)
{
	uint32_t n = lid <= b->r->top && at != b->idle ? find_upstream(b, lid) : 0;
	bool differs = false;

	for (uint32_t i = 0; i < n && !differs; i++)
		differs = routes_port(b->r, b->queue[i], lid) !=
			  routes_port(b->fresh, b->queue[i], lid);
	if (differs)
		replace_entries(b, lid, n);
	return differs;
}

/* One switch after another: some may become idle by what others get. */
static void give_shares(struct mover *b)
{
	b->idle = find_idle(b);
	for (uint32_t i = 0; b->idle != TOPO_NONE && i < b->n && visit(b, give_share); i++)
		b->idle = find_idle(b);
}

bool reroute_columns(struct routes *r, const struct routes *fresh, uint32_t limit)
{
	_cleanup_free_ uint64_t *share =
		lid_spread_is_needed(r->topo) ? NULL : count_shares(fresh);
	struct mover b = { .r = r, .fresh = fresh, .limit = limit, .share = share };
	bool fits;

	assert(r->topo->n_switches == fresh->topo->n_switches);
	mover_open(&b);
	give_shares(&b);
	if (keep_may_compare(r->topo))
		repeat(&b, replace_column); /* takes its time in a large fabric */
	fits = !some_is_over(&b) && find_idle(&b) == TOPO_NONE;
	arena_done(&b.memory);
	return fits;
}

bool reroute_is_same_order(const struct routes *a, const struct routes *b)
{
	size_t size = a->topo->n_switches * sizeof(*a->places);

	return (!a->places && !b->places) ||
	       (a->places && b->places && !memcmp(a->places, b->places, size));
}

/* One that had no cables before. */
static bool some_switch_came(const struct route_job *job)
{
	const struct topo *now = job->topo, *was = job->previous->topo;

	for (uint32_t s = 0; s < now->n_switches && now->n_switches == was->n_switches; s++)
		if (topo_is_bare(was, s) && !topo_is_bare(now, s))
			return true;
	return false;
}

struct routes *reroute_balance(const struct route_engine *engine, const struct route_job *job,
			       struct routes *r, struct reroute_report *ret)
{
	struct route_job alone = *job;
	struct route_verdict fair;
	struct routes *fresh;

	assert(job && job->topo && r && ret);
	if (!engine || !engine->compute)
		return r;
	if (engine->balances || r->places)
		balance_rates(job, r, &ret->verdict, &ret->n_balanced);
	if (r->lanes)
		return r;
	if (engine->balances || r->places)
		balance_verified(job, r, &ret->verdict, &ret->n_balanced);
	if (!engine->balances || !job->previous ||
	    keep_is_surely_balanced(r, &ret->verdict) ||
	    (some_switch_came(job) && keep_may_wait(r, &ret->verdict)) ||
	    /* no entry changes: then none does for balance either */
	    routes_are_same(job->previous, r))
		return r;
	alone.previous = NULL;
	alone.progress = NULL;
	fresh = route_engine_run(engine, &alone, ret->why, sizeof(ret->why));
	if (!fresh)
		return r;
	routes_check(fresh, job->threads, &fair);
	ret->load_fresh = fair.max_load;
	if (!fair.unreachable && ret->verdict.max_load > keep_bound(KEEP_BALANCE, fair.max_load) &&
	    reroute_is_same_order(r, fresh)) {
		rebalance(job, r, fresh, ret);
		routes_check_after(NULL, r, job->threads, &ret->verdict);
	}
	routes_unref(fresh);
	return r;
}
