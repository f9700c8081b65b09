// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lowers the limit step by step. In each step every destination with flows through a channel above
 * the limit is looked at, switch by switch, nearest first: a switch whose path crosses such a
 * channel moves all that comes through it to the path whose most loaded channel is then the least,
 * if that is an improvement. The steps end when one changes nothing that counts.
 *
 * The mean load of all paths up from a switch cannot be taken off it, and so with all paths
 * down into it: a leaf that lost one cable of eight has more on the other seven. Channels have no
 * limit below that, so only channels that can be relieved are looked at, and the work is by what
 * carries too much, not by the size of the fabric.
 *
 * Counting is parallel; moving is not, and so does not depend on threads.
 */
#include "route/sp/balance.h"

#include <assert.h>
#include <string.h>

#include "route/core/cancel.h"
#include "route/proof/check.h"
#include "route/proof/keep_policy.h"
#include "route/core/path_dag.h"
#include "util/mem.h"

#define STEPS 10
#define RANKS 8
#define FAR 2 /* hops to look for an end port that sends */

struct relief {
	const struct balance_job *job;
	const struct topo *topo;
	struct routes *r;
	uint32_t n, n_ports;
	uint32_t *load;	 /* per channel */
	uint32_t *floor; /* per channel: no limit is lower */
	uint32_t *flow;	 /* per switch, for the column at hand */
	uint32_t *worst; /* the same: most load from there on, at the last look */
	uint32_t limit, aim;
	uint32_t n_over; /* channels above the limit */
	bool *over;	 /* per switch: its path crosses such a channel */
	bool *crosses;	 /* per destination */
	struct path_dag dag;
	struct arena memory;
};

/* TOPO_NONE: to no switch. */
static uint32_t channel_of(const struct relief *f, uint32_t sw, uint32_t lid)
{
	uint8_t port = routes_port(f->r, sw, (lid_t)lid);
	uint32_t channel = f->topo->switches[sw].first_port + port;

	if (!port || port > f->topo->switches[sw].n_ports ||
	    f->topo->ports[channel].sw == TOPO_NONE)
		return TOPO_NONE;
	return channel;
}

static bool is_over(const struct relief *f, uint32_t channel)
{
	return f->load[channel] > f->limit && f->load[channel] > f->floor[channel];
}

/* Unless they are those at hand. */
static void find_dag(const struct relief *f, struct path_dag *w, uint32_t to)
{
	if (w->to == to)
		return;
	if (f->job->find)
		f->job->find(f->job->arg, to, w);
	else
		path_dag_find(w, f->job->distances, to);
}

/* Sums up what comes through every switch, farthest first. */
static void find_flows(const struct relief *f, const struct path_dag *w, uint32_t lid,
		       uint32_t *flow)
{
	memcpy(flow, f->job->dests->sources, f->n * sizeof(*flow));
	for (uint32_t i = w->n; i-- > 0;) {
		uint32_t channel = flow[w->order[i]] ? channel_of(f, w->order[i], lid) : TOPO_NONE;

		if (channel != TOPO_NONE)
			flow[f->topo->ports[channel].sw] += flow[w->order[i]];
	}
}

/* Work space of one thread. */
struct counter {
	struct path_dag dag;
	uint32_t *flow, *load;
};

static void count_one(const struct relief *f, struct counter *c, uint32_t place)
{
	uint32_t lid = f->job->dests->lids[place];

	find_dag(f, &c->dag, f->job->dests->at[place]);
	find_flows(f, &c->dag, lid, c->flow);
	for (uint32_t i = 0; i < c->dag.n; i++) {
		uint32_t s = c->dag.order[i],
			 channel = c->flow[s] ? channel_of(f, s, lid) : TOPO_NONE;

		if (channel != TOPO_NONE)
			c->load[channel] += c->flow[s];
	}
}

/* Adds the loads of the columns. */
static void count_loads(struct relief *f, uint32_t from, uint32_t to)
{
#pragma omp parallel num_threads(f->job->threads)
	{
		struct counter c;

		path_dag_init(&c.dag, f->job->graph);
		ARENA_ARRAY(&c.dag.memory, c.flow, f->n);
		ARENA_ARRAY(&c.dag.memory, c.load, f->n_ports);
#pragma omp for schedule(dynamic, 64)
		for (uint32_t place = from; place < to; place++)
			count_one(f, &c, place);
#pragma omp critical
		for (uint32_t i = 0; i < f->n_ports; i++)
			f->load[i] += c.load[i];
		path_dag_done(&c.dag);
	}
}

/*
 * Does an end port send to the LID from `s`, or through it? True if the answer is `far` hops away.
 */
static bool is_used(const struct relief *f, uint32_t s, uint32_t lid, unsigned far)
{
	if (f->job->dests->sources[s] || !far)
		return true;
	for (unsigned p = 1; p <= f->topo->switches[s].n_ports; p++) {
		const struct topo_port *port = topo_port(f->topo, s, p);

		if (port->sw != TOPO_NONE &&
		    routes_port(f->r, port->sw, (lid_t)lid) == port->port &&
		    is_used(f, port->sw, lid, far - 1))
			return true;
	}
	return false;
}

/*
 * Marks the columns that may have flows through a channel that carries too much, and counts these
 * channels.
 */
static void find_crossing(struct relief *f, uint32_t from, uint32_t to)
{
	const struct dest_order *dests = f->job->dests;

	memset(f->crosses + from, 0, to - from);
	f->n_over = 0;
	for (uint32_t s = 0; s < f->n; s++) {
		const uint8_t *row = routes_row(f->r, s);

		for (unsigned p = 1; p <= f->topo->switches[s].n_ports; p++) {
			if (!is_over(f, f->topo->switches[s].first_port + p))
				continue;
			f->n_over++;
			for (uint32_t place = from; place < to; place++)
				if (!f->crosses[place] && dests->lids[place] <= f->r->top &&
				    row[dests->lids[place]] == p)
					f->crosses[place] = is_used(f, s, dests->lids[place], FAR);
		}
	}
}

static uint32_t most_load(const struct relief *f)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < f->n_ports; i++)
		most = MAX(most, f->load[i]);
	return most;
}

/* Of those that carry more than they must; 0: none does. */
static uint32_t most_to_relieve(const struct relief *f)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->load[i] > f->floor[i])
			most = MAX(most, f->load[i]);
	return most;
}

/* The most loaded channel of a path that leaves `sw` through `channel`. */
static uint32_t worst_of(const struct relief *f, uint32_t channel, uint32_t lid)
{
	uint32_t most = 0;

	for (uint32_t hops = 0; channel != TOPO_NONE && hops < f->n; hops++) {
		most = MAX(most, f->load[channel]);
		channel = channel_of(f, f->topo->ports[channel].sw, lid);
	}
	return most;
}

static void shift_load(struct relief *f, uint32_t channel, uint32_t lid, uint32_t by)
{
	for (uint32_t hops = 0; channel != TOPO_NONE && hops < f->n; hops++) {
		f->n_over -= is_over(f, channel);
		f->load[channel] += by;
		f->n_over += is_over(f, channel);
		channel = channel_of(f, f->topo->ports[channel].sw, lid);
	}
}

/*
 * The path of order[i] that is least loaded, and less than `limit` with what comes through there;
 * TOPO_NONE: none. The loads of paths from the next switches on may be out of date, so the path
 * that seems best is looked at: each once, as what was looked at is up to date.
 */
static uint32_t best_way(struct relief *f, uint32_t i, uint32_t lid, uint32_t old, uint32_t limit)
{
	const struct path_dag *w = &f->dag;
	uint32_t flow = f->flow[w->order[i]];

	for (uint32_t looked = w->first[i]; looked <= w->first[i + 1]; looked++) {
		uint32_t best = TOPO_NONE, least = limit, next, known;

		for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
			const struct path_dag_edge *edge = &w->edges[k];
			uint32_t worst = MAX(f->load[edge->channel], f->worst[edge->next]) + flow;

			if (edge->channel == old || worst >= least)
				continue;
			least = worst;
			best = k;
		}
		if (best == TOPO_NONE)
			return TOPO_NONE;
		next = w->edges[best].next;
		known = f->worst[next];
		f->worst[next] = worst_of(f, channel_of(f, next, lid), lid);
		if (f->worst[next] <= known)
			return best;
	}
	return TOPO_NONE;
}

/* Another path for all that comes through order[i], if its worst channel is then better. */
static bool move_entry(struct relief *f, uint32_t i, uint32_t lid)
{
	const struct path_dag *w = &f->dag;
	uint32_t s = w->order[i], old = channel_of(f, s, lid), flow = f->flow[s], best, least;

	if (old == TOPO_NONE || !flow || w->first[i + 1] - w->first[i] < 2)
		return false;
	least = worst_of(f, old, lid);
	shift_load(f, old, lid, -flow);
	best = best_way(f, i, lid, old, least);
	if (best != TOPO_NONE)
		routes_write(f->r, s, (lid_t)lid, w->edges[best].port);
	shift_load(f, best == TOPO_NONE ? old : w->edges[best].channel, lid, flow);
	return best != TOPO_NONE;
}

static bool leads_over(const struct relief *f, uint32_t sw, uint32_t lid)
{
	uint32_t channel = channel_of(f, sw, lid);

	return channel != TOPO_NONE && (is_over(f, channel) || f->over[f->topo->ports[channel].sw]);
}

static bool is_changed(const struct relief *f, uint32_t sw, uint32_t lid)
{
	return f->job
		->changed[(size_t)sw * (f->r->row_size / LFT_BLOCK_LIDS) + lid / LFT_BLOCK_LIDS];
}

/*
 * Nearest first: the flows of those that are farther are still as they were found, and a switch
 * that has moved needs its own no more.
 */
static uint32_t move_column(struct relief *f, uint32_t lid, bool cheap)
{
	const struct path_dag *w = &f->dag;
	uint32_t moved = 0;

	find_flows(f, w, lid, f->flow);
	f->over[w->to] = false;
	f->worst[w->to] = 0;
	for (uint32_t i = 0; i < w->n && f->n_over; i++) {
		uint32_t s = w->order[i], channel = channel_of(f, s, lid);

		f->worst[s] = channel == TOPO_NONE
				      ? 0
				      : MAX(f->load[channel], f->worst[f->topo->ports[channel].sw]);
		f->over[s] = f->flow[s] && leads_over(f, s, lid);
		if (!f->over[s] || (cheap && !is_changed(f, s, lid)) || !move_entry(f, i, lid))
			continue;
		moved++;
		f->over[s] = leads_over(f, s, lid);
		f->worst[s] = worst_of(f, channel_of(f, s, lid), lid);
	}
	return moved;
}

/* `cheap`: only where blocks are written anyway. */
static uint32_t move_columns(struct relief *f, uint32_t from, uint32_t to, bool cheap)
{
	const struct dest_order *dests = f->job->dests;
	uint32_t moved = 0;

	f->dag.to = TOPO_NONE;
	for (uint32_t place = from; place < to && f->n_over; place++) {
		if (!f->crosses[place])
			continue;
		find_dag(f, &f->dag, dests->at[place]);
		moved += move_column(f, dests->lids[place], cheap);
	}
	return moved;
}

static uint32_t relieve_class(struct relief *f, uint32_t from, uint32_t to)
{
	uint32_t aim = f->aim, most = most_to_relieve(f), before, moved = 0;

	for (unsigned step = 0;
	     step < STEPS && most > MAX(keep_limit(KEEP_BALANCED, aim), f->job->enough) &&
	     !is_cancelled(f->job->cancelled);
	     step++) {
		uint32_t now;

		before = most;
		f->limit = aim + (most - aim) / 2;
		find_crossing(f, from, to);
		now = f->job->changed ? move_columns(f, from, to, true) : 0;
		now += move_columns(f, from, to, false);
		moved += now;
		most = most_to_relieve(f);
		/* Half of it was too much: that load cannot be taken off. */
		if (!now || most > before - (before - aim) / 16)
			break;
	}
	return moved;
}

/* Hops to the nearest switch with end ports, RANKS - 1 at most. */
static uint16_t *find_ranks(const struct relief *f)
{
	uint16_t *rank = xmalloc(f->n * sizeof(*rank));

	for (uint32_t s = 0; s < f->n; s++)
		rank[s] = f->job->dests->sources[s] ? 0 : UINT16_MAX;
	graph_flood(f->job->graph, rank, NULL);
	for (uint32_t s = 0; s < f->n; s++)
		rank[s] = (uint16_t)MIN(rank[s], RANKS - 1);
	return rank;
}

/* The sum of the loads of several channels. */
struct mean {
	uint64_t sum, n;
};

static void mean_add(struct mean *m, uint32_t load)
{
	m->sum += load;
	m->n++;
}

static uint32_t mean_of(const struct mean *m)
{
	return m->n ? (uint32_t)(m->sum / m->n) : 0;
}

/*
 * The mean load of channels between the same two levels; the aim is the highest of these. On flat
 * graphs all are one level. And the floors, from what leads from a switch to another level, and
 * from there to it.
 */
static void find_fair(struct relief *f)
{
	_cleanup_free_ uint16_t *rank = find_ranks(f);
	_cleanup_free_ struct mean *out = xcalloc((size_t)f->n * RANKS, sizeof(*out));
	_cleanup_free_ struct mean *in = xcalloc((size_t)f->n * RANKS, sizeof(*in));
	struct mean all[RANKS][RANKS] = { { { 0 } } };

	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t s = 0; s < f->n; s++)
			for (unsigned p = 1; p <= f->topo->switches[s].n_ports; p++) {
				uint32_t channel = f->topo->switches[s].first_port + p, floor;
				uint32_t v = f->topo->ports[channel].sw;

				if (v == TOPO_NONE)
					continue;
				if (!pass) {
					mean_add(&all[rank[s]][rank[v]], f->load[channel]);
					mean_add(&out[s * RANKS + rank[v]], f->load[channel]);
					mean_add(&in[v * RANKS + rank[s]], f->load[channel]);
					continue;
				}
				floor = MAX(mean_of(&out[s * RANKS + rank[v]]),
					    mean_of(&in[v * RANKS + rank[s]]));
				f->floor[channel] =
					rank[s] == rank[v] ? 0 : keep_limit(KEEP_BALANCED, floor);
			}
	f->aim = 0;
	for (unsigned a = 0; a < RANKS; a++)
		for (unsigned b = 0; b < RANKS; b++)
			f->aim = MAX(f->aim, mean_of(&all[a][b]));
}

/* Of all classes: aim and floors. Returns how many channels carry too much. */
static uint32_t look_at_loads(struct relief *f)
{
	uint32_t n = 0;

	if (f->job->load)
		memcpy(f->load, f->job->load, f->n_ports * sizeof(*f->load));
	else
		count_loads(f, 0, f->job->dests->n);
	find_fair(f);
	f->limit = MAX(f->job->tolerated, keep_limit(KEEP_BALANCED, f->aim));
	for (uint32_t i = 0; i < f->n_ports; i++)
		n += is_over(f, i);
	return n;
}

static uint32_t relieve_classes(struct relief *f)
{
	const struct dest_order *dests = f->job->dests;
	uint32_t from = 0, moved = 0;
	bool one = true;

	for (unsigned class = 0; class < DEST_ORDER_CLASSES; class++)
		one &= !dests->end[class] || dests->end[class] == dests->n;
	if (!one)
		memset(f->load, 0, f->n_ports * sizeof(*f->load));
	for (unsigned class = 0; class < DEST_ORDER_CLASSES; class++) {
		uint32_t to = dests->end[class];

		if (to == from)
			continue;
		if (!one)
			count_loads(f, from, to);
		moved += relieve_class(f, from, to);
		from = to;
	}
	return moved;
}

uint32_t balance_channels(const struct balance_job *job, struct routes *r, uint32_t *ret_moved)
{
	struct relief f = { .job = job, .topo = r->topo, .r = r, .n = r->topo->n_switches };
	uint32_t most;

	assert(job->graph && job->dests && (job->find || job->distances) && job->threads &&
	       ret_moved);
	f.n_ports = topo_n_entries(r->topo);
	ARENA_ARRAY(&f.memory, f.load, f.n_ports);
	ARENA_ARRAY(&f.memory, f.floor, f.n_ports);
	ARENA_ARRAY(&f.memory, f.flow, f.n);
	ARENA_ARRAY(&f.memory, f.worst, f.n);
	ARENA_ARRAY(&f.memory, f.over, f.n);
	ARENA_ARRAY(&f.memory, f.crosses, job->dests->n);
	path_dag_init(&f.dag, job->graph);
	*ret_moved = look_at_loads(&f) ? relieve_classes(&f) : 0;
	most = most_load(&f);
	path_dag_done(&f.dag);
	arena_done(&f.memory);
	return most;
}

/* ---- of tables that were verified ------------------------------------------------------------ */

/*
 * In a tree a destination has one path down (minhop.c), and a leaf of eight hosts with seven cables
 * left has two destinations on one of them, twice the load of the others. Only the senders can
 * share that out: some come down another path than others. The load of every channel is known from
 * the proof, so finding such channels costs a look, and sharing them out costs what they are.
 *
 * Paths are those of the engine, by the hops it left: over the nearest neighbours; where it orders
 * switches, over lower ones while there is a path down, else over higher ones.
 */

/* Only lower ones are reached from here, or from there. */
static bool goes_down(const struct routes *r, uint32_t sw, uint32_t to)
{
	size_t words = (r->topo->n_switches + 63u) / 64;

	return sw == to || r->downs[to * words + sw / 64] >> sw % 64 & 1;
}

bool balance_is_path(const struct routes *r, uint32_t sw, uint32_t next, uint32_t to)
{
	const uint8_t *hops = r->hops + (size_t)to * r->topo->n_switches;

	if (hops[next] + 1 != hops[sw])
		return false;
	if (!r->places)
		return true;
	if (goes_down(r, sw, to))
		return r->places[next] > r->places[sw] && goes_down(r, next, to);
	return r->places[next] < r->places[sw];
}

/* All paths of the engine of `routes` (`arg`) to a switch. */
static void find_paths(const void *arg, uint32_t to, struct path_dag *w)
{
	const struct routes *r = arg;
	const struct graph *g = w->graph;
	const uint8_t *hops = r->hops + (size_t)to * g->n;
	uint32_t *order = w->work[0], n;

	path_dag_begin(w, to);
	for (uint32_t s = 0; s < g->n; s++)
		w->far[s] = hops[s] == 0xFF ? DISTANCE_NONE : hops[s];
	n = path_dag_sort(w, UINT16_MAX, order);
	for (uint32_t i = 0; i < n; i++) {
		path_dag_switch(w, order[i]);
		for (uint32_t k = g->first[order[i]]; k < g->first[order[i] + 1]; k++)
			if (balance_is_path(r, order[i], g->groups[k].to, to))
				path_dag_group(w, &g->groups[k]);
	}
}

/* Only where nothing but load decides, and the judge has counted. */
static bool is_free(const struct route_job *job, const struct routes *r)
{
	const struct route_options *o = &job->options;

	for (uint32_t h = 0; h < r->topo->n_hosts; h++)
		if (r->topo->hosts[h].lmc)
			return false;
	return r->hops && !r->lanes && r->topo->n_switches && !r->places == !r->downs &&
	       routes_judged_load(r) && !o->n_weights && !o->n_order && !o->n_ignore &&
	       !o->scatter_seed && !o->port_shifting && !o->count_switches;
}

static bool block_differs(const struct routes *a, uint32_t row, const struct routes *b, uint32_t sw,
			  unsigned first)
{
	const uint8_t *was = routes_row(a, row) + first, *now = routes_row(b, sw) + first;

	if (first + LFT_BLOCK_LIDS <= MIN(a->row_size, b->row_size))
		return memcmp(was, now, LFT_BLOCK_LIDS) != 0;
	return true;
}

/* By looking at all entries; `changed` as below. */
static void compare_rows(const struct routes *was, const struct routes *r, bool *changed)
{
	uint32_t blocks = r->row_size / LFT_BLOCK_LIDS;

	for (uint32_t s = 0; s < r->topo->n_switches; s++) {
		uint32_t row = topo_find_switch(was->topo, r->topo->switches[s].guid);

		for (uint32_t b = 0; b < blocks; b++)
			changed[(size_t)s * blocks + b] =
				row == TOPO_NONE ||
				block_differs(was, row, r, s, b * LFT_BLOCK_LIDS);
	}
}

/*
 * Per block of every row of `r`: is it another one than in the previous tables? NULL: there are
 * none. The caller frees.
 */
static bool *find_changed(const struct route_job *job, const struct routes *r)
{
	uint32_t blocks = r->row_size / LFT_BLOCK_LIDS;
	_cleanup_free_ struct routes_entry *entries = NULL;
	bool *changed;
	size_t n;

	if (!job->previous)
		return NULL;
	changed = xcalloc((size_t)r->topo->n_switches * blocks, sizeof(*changed));
	entries = routes_changes(job->previous, r, &n);
	if (!entries)
		compare_rows(job->previous, r, changed);
	for (size_t i = 0; entries && i < n; i++)
		changed[(size_t)entries[i].sw * blocks + entries[i].lid / LFT_BLOCK_LIDS] = true;
	return changed;
}

static void move_load(const struct route_job *job, struct routes *r, struct route_verdict *v,
		      uint32_t *ret_moved)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(job->topo, NULL);
	_cleanup_(dest_order_freep) struct dest_order *dests =
		dest_order_new(job->topo, &(struct route_options){ 0 });
	_cleanup_free_ bool *changed = find_changed(job, r);
	struct route_verdict after;
	uint32_t enough = keep_limit(KEEP_EVEN, (uint32_t)v->avg_load), moved;
	size_t mark = routes_mark(r);

	balance_channels(
		&(struct balance_job){
			.graph = g,
			.find = find_paths,
			.arg = r,
			.dests = dests,
			.load = routes_judged_load(r),
			.changed = changed,
			.tolerated = enough,
			.enough = enough,
			.threads = 1,
			.cancelled = job->cancelled,
		},
		r, &moved);
	if (!moved)
		return;
	routes_check_since(r, mark, job->threads, &after);
	if (!after.credit_loop && after.unreachable == v->unreachable &&
	    after.max_load <= v->max_load) {
		*v = after;
		*ret_moved = moved;
		return;
	}
	routes_rewind(r, mark);
	routes_check_after(NULL, r, job->threads, &after);
}

/*
 * As when they were balanced last, and not clearly less: then something was mended, and more may be
 * possible.
 */
static bool is_still_balanced(uint32_t load, uint32_t before)
{
	return keep_is_as_before(KEEP_BALANCED, load, before) &&
	       keep_is_as_before(KEEP_BALANCED, before, load);
}

void balance_verified(const struct route_job *job, struct routes *r, struct route_verdict *v,
		      uint32_t *ret_moved)
{
	const struct routes *old = job->previous;
	uint32_t before = old ? old->balanced_load : 0;

	assert(job->topo == r->topo && v && ret_moved);
	*ret_moved = 0;
	r->balanced_load = before;
	if (v->max_load <= keep_bound(KEEP_EVEN, v->avg_load) ||
	    is_still_balanced(v->max_load, before) || v->lost || v->credit_loop ||
	    !is_free(job, r) || (old && routes_are_same(old, r)))
		return;
	move_load(job, r, v, ret_moved);
	r->balanced_load = v->max_load;
}
