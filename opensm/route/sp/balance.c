// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lowers the limit step by step. In each step every destination with flows through a channel above
 * the limit is looked at, switch by switch, nearest first: a switch whose path crosses such a
 * channel moves all that comes through it to the path whose most loaded channel is then the least,
 * if that is an improvement. The steps end when one changes nothing that counts.
 *
 * The mean load of all paths up from a leaf cannot be taken off it, and so with all paths down into
 * it: a leaf that lost one cable of eight has more on the other seven. Such a channel has no limit
 * below that. The same holds for roots: engines deal out destinations among them. What is between
 * may be gone around. Down to the highest of these loads entries move at any price, so the work is
 * by what carries too much, not by the size of the fabric. Below it, in trees, only entries move
 * that meet no more than before: what a leaf with one cable left carries is no measure for others.
 *
 * Shifts. End ports of a leaf that send to as many in a row leave by different cables where tables
 * are good (minhop.c), and an entry that moves may spoil that. So what neighbours of its
 * destination take counts against a path with room, and first only entries move that meet no more
 * of them there than where they are. `bench-auto` of a tree of 36 leaves of 18 hosts and 18 spines,
 * 20 % of its cables cut, mean of shifts: .628, without that .609, at the same load and bandwidth.
 *
 * Rates. Loads are flows on a cable of the median rate (topo->paces): one at half the rate
 * has twice the load of its flows, and what a leaf has to send goes over its cables by their rates.
 *
 * Counting is parallel; moving is not, and so does not depend on threads.
 */
#include "route/sp/balance_internal.h"

#include <assert.h>
#include <string.h>

#include "route/proof/check.h"
#include "route/proof/keep_policy.h"
#include "route/core/path_dag.h"
#include "util/mem.h"

#define STEPS 10
#define FAR 2	   /* hops to look for an end port that sends */
#define NOWHERE UINT16_MAX /* no switch: there are fewer */
#define AHEAD 8		   /* rows */
#define AROUND 32  /* end ports in a row, to each side, that count as neighbours */
/*
 * What meeting others costs, in thirds of the load (cost_of()). Mean of shifts and permutations on
 * 32 rails of 16 hosts with 5 % of their cables cut: .829 .619 at 30, .821 .622 here and at 1/3.
 */
#define MEETING 1
#define PART (UINT64_C(1) << 20)

static void column_init(const struct relief *f, struct column *c)
{
	path_dag_init(&c->dag, f->job->graph);
	ARENA_ARRAY(&c->dag.memory, c->ports, (size_t)f->n * LFT_BLOCK_LIDS);
	ARENA_ARRAYS(&c->dag.memory, f->n, c->flow, c->used);
}

/* The channel that `sw` uses in the column at hand. */
static inline uint32_t channel_of(const struct relief *f, uint32_t sw)
{
	return f->base[sw] + f->column.port[sw];
}

static inline bool is_over(const struct relief *f, uint32_t channel)
{
	uint32_t load = load_with(f, channel, 0);

	return load > f->limit && load > f->floor[channel] && is_counted(f, channel);
}

/* The columns from `place` on whose LIDs follow each other in a block: rows are far apart. */
static void read_ports(const struct relief *f, struct column *c, uint32_t place)
{
	const uint32_t *lids = f->job->dests->lids + place;
	uint32_t left = f->job->dests->n - place, n = 1;

	uint8_t *ports = c->ports;

	while (n < left && lids[n] == lids[0] + n && lids[n] % LFT_BLOCK_LIDS)
		n++;
	c->from = place;
	c->to = place + n;
	for (uint32_t s = 0, n_sw = f->n; s < n_sw; s++) {
		uint32_t size = f->base[s + 1] - f->base[s], lid = lids[0], top = f->r->top;
		const uint8_t *row = routes_row(f->r, s);

		__builtin_prefetch(routes_row(f->r, MIN(s + AHEAD, n_sw - 1)) + lid);
		for (uint32_t k = 0; k < n; k++)
			ports[(size_t)k * n_sw + s] =
				lid + k <= top && row[lid + k] < size ? row[lid + k] : 0;
	}
}

static void read_column(const struct relief *f, struct column *c, uint32_t place)
{
	if (place < c->from || place >= c->to)
		read_ports(f, c, place);
	c->port = c->ports + (size_t)(place - c->from) * f->n;
}

/* Sums up what comes through every switch, farthest first. */
static void find_flows(const struct relief *f, struct column *c, uint32_t place)
{
	const uint32_t *order = c->dag.order, *base = f->base, at = f->job->dests->at[place];
	const uint16_t *next = f->next;
	uint32_t *flow = c->flow, *used = c->used;
	const uint8_t *port = c->port;

	if (f->job->find && c->dag.to != at)
		f->job->find(f->job->arg, at, &c->dag);
	else if (c->dag.to != at)
		path_dag_order(&c->dag, f->job->distances, at);
	memcpy(flow, f->job->dests->sources, f->n * sizeof(*flow));
	for (uint32_t i = c->dag.n; i-- > 0;) {
		uint32_t s = order[i], to = flow[s] ? next[base[s] + port[s]] : NOWHERE;

		if (to == NOWHERE)
			continue;
		flow[to] += flow[s];
		*used++ = i;
	}
	c->n_used = (uint32_t)(used - c->used);
}

/* Adds the loads of the columns. */
static void count_loads(struct relief *f, uint32_t from, uint32_t to)
{
#pragma omp parallel num_threads(f->job->threads)
	{
		struct column c = { .to = 0 };
		uint32_t *flows;

		column_init(f, &c);
		ARENA_ARRAY(&c.dag.memory, flows, f->n_ports);
#pragma omp for schedule(dynamic, 64)
		for (uint32_t place = from; place < to; place++) {
			read_column(f, &c, place);
			find_flows(f, &c, place);
			for (uint32_t k = 0; k < c.n_used; k++) {
				uint32_t s = c.dag.order[c.used[k]];

				flows[f->base[s] + c.port[s]] += c.flow[s];
			}
		}
#pragma omp critical
		for (uint32_t i = 0; i < f->n_ports; i++)
			f->flows[i] += flows[i];
		path_dag_done(&c.dag);
	}
}

/* Does an end port send to the LID from or through `s`? True if the answer is `far` hops away. */
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

static void list_above(struct relief *f, uint32_t sw, uint8_t port)
{
	if (f->listed[f->base[sw] + port])
		return;
	f->listed[f->base[sw] + port] = true;
	f->above[f->n_above++] = (struct above){ .sw = sw, .port = port };
}

/* Has an entry for the LID a channel above the limit? Forgets those that are no more. */
static bool has_above(struct relief *f, uint32_t lid)
{
	for (uint32_t i = 0; i < f->n_above;) {
		struct above a = f->above[i];

		if (!is_over(f, f->base[a.sw] + a.port)) {
			f->listed[f->base[a.sw] + a.port] = false;
			f->above[i] = f->above[--f->n_above];
			continue;
		}
		if (lid <= f->r->top && routes_row(f->r, a.sw)[lid] == a.port)
			return true;
		i++;
	}
	return false;
}

/* Marks columns that may have flows through channels that carry too much, and counts these. */
static void find_crossing(struct relief *f, uint32_t from, uint32_t to)
{
	const struct dest_order *dests = f->job->dests;

	memset(f->crosses + from, 0, to - from);
	memset(f->listed, 0, f->n_ports);
	f->n_over = f->n_above = 0;
	for (uint32_t s = 0; s < f->n; s++) {
		const uint8_t *row = routes_row(f->r, s);
		bool over[BALANCE_PORTS] = { false };
		uint32_t before = f->n_over;

		for (unsigned p = 1; p <= f->topo->switches[s].n_ports; p++) {
			over[p] = is_over(f, f->base[s] + p);
			f->n_over += over[p];
			if (over[p])
				list_above(f, s, (uint8_t)p);
		}
		for (uint32_t place = from; place < to && f->n_over > before; place++)
			if (!f->crosses[place] && dests->lids[place] <= f->r->top &&
			    over[row[dests->lids[place]]])
				f->crosses[place] = is_used(f, s, dests->lids[place], FAR);
	}
}

/* Of `all` channels, or of those that carry more than they must; 0: none does. */
static uint32_t most_load(const struct relief *f, bool all)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		uint32_t load = load_with(f, i, 0);

		if ((load > f->floor[i] && is_counted(f, i)) ||
		    (all && f->floor[i] != BALANCE_OF_STUB))
			most = MAX(most, load);
	}
	return most;
}

/* Adds to all channels of the path from `sw` on. Returns what the most loaded carries then. */
static uint32_t shift_load(struct relief *f, uint32_t sw, uint32_t by)
{
	uint32_t most = 0, c = channel_of(f, sw);

	for (uint32_t hops = 0; f->next[c] != NOWHERE && hops < f->n; hops++) {
		f->n_over -= is_over(f, c);
		f->flows[c] += by;
		if (is_over(f, c)) {
			f->n_over++;
			list_above(f, sw, f->column.port[sw]);
		}
		most = MAX(most, load_with(f, c, 0));
		sw = f->next[c];
		c = channel_of(f, sw);
	}
	return most;
}

/* The load of the most loaded channel of the path from `sw` on, with so many flows more. */
static uint32_t path_load(const struct relief *f, uint32_t sw, uint32_t more)
{
	uint32_t most = 0, c = channel_of(f, sw);

	for (uint32_t hops = 0; f->next[c] != NOWHERE && hops < f->n; hops++) {
		most = MAX(most, load_with(f, c, more));
		sw = f->next[c];
		c = channel_of(f, sw);
	}
	return most;
}

/*
 * How much a flow to the LID meets others in shifts, per port: when as many end ports as come
 * through the switch send to as many in a row, the nearer two destinations are, the more often
 * both are among them.
 */
static void look_around(struct relief *f, uint32_t sw, uint32_t lid)
{
	const uint8_t *row = routes_row(f->r, sw);
	uint32_t n = f->n_ranked, at = f->rank[lid];
	uint32_t far = MIN(MIN(f->column.flow[sw], AROUND), n / 2), *met = f->met;
	const lid_t *ranked = f->ranked;

	if (f->looked)
		return;
	f->looked = true;
	memset(f->met, 0, (f->topo->switches[sw].n_ports + 1u) * sizeof(*f->met));
	f->met[LFT_NO_PORT] = 0;
	f->per_met = PART * MEETING / (3.0 * f->column.flow[sw] * f->column.flow[sw]);
	for (uint32_t k = 1; k < far; k++) {
		met[row[ranked[at + k < n ? at + k : at + k - n]]] += far - k;
		met[row[ranked[at >= k ? at - k : at + n - k]]] += far - k;
	}
}

/* By load; while there is room by what it meets as well. In parts of PART. */
static uint64_t cost_of(const struct relief *f, uint32_t load, uint32_t met, uint64_t flow)
{
	if (load > f->limit)
		return (uint64_t)load << 32;
	return load * PART / MAX(f->limit, 1u) + met * PART * MEETING / (3 * flow * flow);
}

/* The same, or up to 2 more, without a division. */
static double cost_about(const struct relief *f, uint32_t load, uint32_t met)
{
	return load > f->limit ? 0 : load * f->per_load + met * f->per_met;
}

/*
 * The path of order[i] that is least loaded by what is known, and less than `most` with what comes
 * through there; among those with room, what it meets counts, too. TOPO_NONE: none.
 */
static uint32_t likely_way(struct relief *f, uint32_t i, uint32_t lid, uint32_t most)
{
	const struct path_dag *w = &f->column.dag;
	uint32_t s = w->order[i], flow = f->column.flow[s], best = TOPO_NONE;
	uint64_t least = UINT64_MAX, cost;

	for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
		const struct path_dag_edge *edge = &w->edges[k];
		uint32_t worst = MAX(load_with(f, edge->channel, flow),
				     f->worst[edge->next] + flow);

		if (worst >= most || edge->port == f->column.port[s])
			continue;
		look_around(f, s, lid);
		if (cost_about(f, worst, f->met[edge->port]) - 2.5 > (double)least)
			continue;
		cost = cost_of(f, worst, f->met[edge->port], flow);
		if (cost >= least)
			continue;
		least = cost;
		best = k;
	}
	return best;
}

/*
 * Known loads of paths beyond the next switches may be out of date, so the path that seems best is
 * measured, each path at most once.
 */
static uint32_t best_way(struct relief *f, uint32_t i, uint32_t lid, uint32_t most)
{
	const struct path_dag *w = &f->column.dag;
	uint32_t flow = f->column.flow[w->order[i]];

	for (uint32_t looked = w->first[i]; looked <= w->first[i + 1]; looked++) {
		uint32_t best = likely_way(f, i, lid, most), next, known, load;

		if (best == TOPO_NONE)
			return TOPO_NONE;
		next = w->edges[best].next;
		known = f->worst[next];
		/* Without what comes through there, which counts as that much everywhere. */
		load = path_load(f, next, flow);
		f->worst[next] = load > flow ? load - flow : 0;
		if (f->worst[next] <= known)
			return best;
	}
	return TOPO_NONE;
}

/* May the entry move to this path, by what it meets? */
static bool is_welcome(struct relief *f, uint32_t sw, uint32_t lid, uint8_t port)
{
	if (!f->gentle)
		return true;
	look_around(f, sw, lid);
	return f->met[port] <= f->met[f->column.port[sw]];
}

/* A quick look, by the first channels: few entries have another path. */
static bool has_room(struct relief *f, uint32_t i, uint32_t lid)
{
	const struct path_dag *w = &f->column.dag;
	uint32_t s = w->order[i], flow = f->column.flow[s];

	for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
		const struct path_dag_edge *edge = &w->edges[k];

		if (edge->port != f->column.port[s] &&
		    load_with(f, edge->channel, flow) < f->worst[s] &&
		    is_welcome(f, s, lid, edge->port))
			return true;
	}
	return false;
}

/* Another path for all that comes through order[i], if its worst channel is then better. */
static bool move_entry(struct relief *f, uint32_t i, uint32_t lid)
{
	struct column *c = &f->column;
	uint32_t s = c->dag.order[i], flow = c->flow[s], best, most;

	f->looked = false;
	if (f->job->find_edges)
		f->job->find_edges(f->job->arg, i, &c->dag);
	else if (!f->job->find)
		path_dag_list(&c->dag, f->job->distances, i);
	if (!has_room(f, i, lid))
		return false;
	most = path_load(f, s, 0);
	shift_load(f, s, -flow);
	best = best_way(f, i, lid, most);
	if (best != TOPO_NONE && !is_welcome(f, s, lid, c->dag.edges[best].port))
		best = TOPO_NONE;
	if (best == TOPO_NONE) {
		shift_load(f, s, flow);
		return false;
	}
	c->port[s] = c->dag.edges[best].port;
	routes_write(f->r, s, (lid_t)lid, c->port[s]);
	f->worst[s] = shift_load(f, s, flow);
	return true;
}

static bool is_changed(const struct relief *f, uint32_t sw, uint32_t lid)
{
	return f->job
		->changed[(size_t)sw * (f->r->row_size / LFT_BLOCK_LIDS) + lid / LFT_BLOCK_LIDS];
}

/* Is a channel of the path from `sw` on above its limit? */
static bool leads_over(const struct relief *f, uint32_t sw)
{
	return is_over(f, channel_of(f, sw)) || f->over[f->next[channel_of(f, sw)]];
}

/*
 * Nearest first: the flows of those that are farther are still as they were found, and a switch
 * that has moved needs its own no more. Of a path that nothing takes the load is not known yet.
 */
static uint32_t move_column(struct relief *f, uint32_t place, bool cheap)
{
	struct column *c = &f->column;
	uint32_t lid = f->job->dests->lids[place], moved = 0;

	if (!has_above(f, lid))
		return 0;
	read_column(f, c, place);
	find_flows(f, c, place);
	memset(f->over, 0, f->n * sizeof(*f->over));
	memset(f->worst, 0, f->n * sizeof(*f->worst));
	for (uint32_t k = c->n_used; k-- > 0 && f->n_over;) {
		uint32_t s = c->dag.order[c->used[k]], channel = channel_of(f, s);

		f->worst[s] = MAX(load_with(f, channel, 0), f->worst[f->next[channel]]);
		f->over[s] = leads_over(f, s);
		if (!f->over[s] || (cheap && !is_changed(f, s, lid)) ||
		    !move_entry(f, c->used[k], lid))
			continue;
		moved++;
		f->over[s] = leads_over(f, s);
	}
	return moved;
}

/* `cheap`: only where blocks are written anyway. */
static uint32_t move_columns(struct relief *f, uint32_t from, uint32_t to, bool cheap)
{
	uint32_t moved = 0;

	f->column.dag.to = TOPO_NONE;
	f->column.to = 0;
	for (uint32_t place = from; place < to && f->n_over; place++)
		if (f->crosses[place])
			moved += move_column(f, place, cheap);
	return moved;
}

/* All columns of a class that cross a channel above `limit`. */
static uint32_t relieve(struct relief *f, uint32_t from, uint32_t to, uint32_t limit, bool gentle)
{
	uint32_t moved;

	f->limit = limit;
	f->per_load = PART / (double)MAX(limit, 1u);
	f->gentle = gentle;
	find_crossing(f, from, to);
	moved = f->job->changed ? move_columns(f, from, to, true) : 0;
	return moved + move_columns(f, from, to, false);
}

/* Down to `enough`, at any price. In large fabrics at once: gentle steps take as long as others. */
static uint32_t lower_limit(struct relief *f, uint32_t from, uint32_t to, uint32_t enough)
{
	uint32_t most = most_load(f, false), moved = 0;

	for (unsigned step = 0;
	     step < STEPS && most > enough && !is_cancelled(f->job->cancelled); step++) {
		uint32_t before = most, over = most - enough, now;
		uint32_t limit = over > enough / 8 ? enough + over / (f->large ? 8 : 4) : enough;

		now = f->large ? 0 : relieve(f, from, to, limit, true);
		if (f->large || f->n_over)
			now += relieve(f, from, to, limit, false);
		moved += now;
		most = most_load(f, false);
		/* That was too much: that load cannot be taken off. Or it is close enough. */
		if (!now || most > before - over / 16 || most - enough <= enough / 256)
			break;
	}
	return moved;
}

/*
 * Slow cables first, each down to the mean of all or its own floor: what the others carry is little
 * more then. They have no part in the limits below, which are those of the most loaded channel.
 */
static uint32_t relieve_slow(struct relief *f, uint32_t from, uint32_t to)
{
	uint32_t moved = 0;

	f->only_slow = f->paces;
	if (f->only_slow)
		moved = lower_limit(f, from, to, keep_limit(KEEP_BALANCED, f->mean));
	f->only_slow = false;
	return moved;
}

/* Below the highest floor gently, and at once. */
static uint32_t relieve_class(struct relief *f, uint32_t from, uint32_t to)
{
	uint32_t enough = MAX(f->enough, f->job->enough);
	uint32_t moved = relieve_slow(f, from, to);

	if (f->job->slow)
		return moved;
	moved += lower_limit(f, from, to, MAX(enough, f->highest));

	if (f->highest > enough && !f->large)
		moved += relieve(f, from, to, enough, true);
	return moved;
}

/* Of all classes. Returns how many channels carry too much. */
static uint32_t look_at_loads(struct relief *f)
{
	uint32_t n = 0;

	if (f->job->load)
		memcpy(f->flows, f->job->load, f->n_ports * sizeof(*f->flows));
	else
		count_loads(f, 0, f->job->dests->n);
	balance_find_fair(f);
	f->limit = MAX(f->job->tolerated, f->enough);
	for (uint32_t i = 0; i < f->n_ports && !f->job->slow; i++)
		n += is_over(f, i);
	f->only_slow = f->paces;
	f->limit = keep_limit(f->job->slow == BALANCE_SLOW_LATER ? KEEP_BALANCE : KEEP_BALANCED,
			      f->mean);
	for (uint32_t i = 0; i < f->n_ports && f->only_slow; i++)
		n += is_over(f, i);
	f->only_slow = false;
	return n;
}

/* In the order that shifts have (check.h). */
static void rank_lids(struct relief *f)
{
	_cleanup_free_ uint32_t *hosts = routes_ranks(f->topo, &f->n_ranked);

	ARENA_ARRAY(&f->memory, f->rank, UINT16_MAX + 1u);
	ARENA_ARRAY(&f->memory, f->ranked, f->n_ranked);
	for (uint32_t i = 0; i < f->n_ranked; i++) {
		const struct topo_host *h = &f->topo->hosts[hosts[i]];

		f->ranked[i] = MIN(h->lid, f->r->top);
		for (unsigned k = 0; k < 1u << h->lmc && h->lid + k <= LID_MAX_UCAST; k++)
			f->rank[h->lid + k] = i;
	}
}

/* Are all destinations of one class? */
static bool is_one_class(const struct dest_order *dests)
{
	bool one = true;

	for (unsigned class = 0; class < DEST_ORDER_CLASSES; class++)
		one &= !dests->end[class] || dests->end[class] == dests->n;
	return one;
}

/* What is fair follows from the loads of a class and those before it. */
static uint32_t relieve_classes(struct relief *f)
{
	const struct dest_order *dests = f->job->dests;
	bool one = is_one_class(dests);
	uint32_t from = 0, moved = 0;

	rank_lids(f);
	if (!one)
		memset(f->flows, 0, f->n_ports * sizeof(*f->flows));
	for (unsigned class = 0; class < DEST_ORDER_CLASSES; class++) {
		uint32_t to = dests->end[class];

		if (to == from)
			continue;
		if (!one) {
			count_loads(f, from, to);
			balance_find_fair(f);
		}
		moved += relieve_class(f, from, to);
		from = to;
	}
	return moved;
}

static void list_channels(struct relief *f)
{
	ARENA_ARRAY(&f->memory, f->base, (size_t)f->n + 1);
	ARENA_ARRAY(&f->memory, f->next, f->n_ports);
	for (uint32_t i = 0; i < f->n_ports; i++)
		f->next[i] = (uint16_t)f->topo->ports[i].sw;
	for (uint32_t s = 0; s < f->n; s++) {
		f->base[s] = f->topo->switches[s].first_port;
		f->next[f->base[s]] = NOWHERE;
	}
	f->base[f->n] = f->n_ports;
}

uint32_t balance_channels(const struct balance_job *job, struct routes *r, uint32_t *ret_moved)
{
	struct relief f = { .job = job, .topo = r->topo, .r = r, .n = r->topo->n_switches };
	uint32_t most;

	assert(job->graph && job->dests && (job->find || job->distances) && job->threads &&
	       ret_moved);
	f.n_ports = topo_n_entries(r->topo);
	f.large = !keep_may_compare(r->topo);
	f.paces = r->topo->paces;
	ARENA_ARRAYS(&f.memory, f.n_ports, f.flows, f.floor, f.above, f.listed);
	ARENA_ARRAYS(&f.memory, f.n, f.worst, f.over);
	ARENA_ARRAY(&f.memory, f.crosses, job->dests->n);
	list_channels(&f);
	column_init(&f, &f.column);
	*ret_moved = look_at_loads(&f) || (!is_one_class(job->dests) && !job->tolerated)
			     ? relieve_classes(&f) : 0;
	most = most_load(&f, true);
	path_dag_done(&f.column.dag);
	arena_done(&f.memory);
	return most;
}
