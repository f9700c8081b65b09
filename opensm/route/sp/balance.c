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
 * Counting is parallel; moving is not, and so does not depend on threads.
 */
#include "route/sp/balance.h"

#include <assert.h>
#include <string.h>

#include "route/proof/check.h"
#include "route/proof/keep_policy.h"
#include "route/core/path_dag.h"
#include "route/shape/recognise.h"
#include "util/mem.h"

#define STEPS 10
#define RANKS 8
#define NEAR 128   /* what may be left on a channel of a large fabric above its floor: a 128th */
#define FAR 2	   /* hops to look for an end port that sends */
#define PORTS 256
#define OF_STUB UINT32_MAX /* floor of a cable of a stub: nothing can be taken off it */
#define NOWHERE UINT16_MAX /* no switch: there are fewer */
#define AHEAD 8		   /* rows */
#define AROUND 32  /* end ports in a row, to each side, that count as neighbours */
/*
 * What meeting others costs, in thirds of the load (cost_of()). Mean of shifts and permutations on
 * 32 rails of 16 hosts with 5 % of their cables cut: .829 .619 at 30, .821 .622 here and at 1/3.
 */
#define MEETING 1
#define PART (UINT64_C(1) << 20)

/* The entries of all switches for one LID, and what they make of its flows. */
struct column {
	struct path_dag dag; /* all paths that they may take */
	uint8_t *port;	     /* per switch; 0: to no switch */
	uint32_t *flow;	     /* the same: what comes through, its own end ports included */
	uint32_t *used;	     /* places in dag.order of switches that send on, farthest first */
	uint32_t n_used;
	/* ports of several LIDs, those at places from .. to - 1, one after the other */
	uint8_t *ports;
	uint32_t from, to;
};

struct relief {
	const struct balance_job *job;
	const struct topo *topo;
	struct routes *r;
	uint32_t n, n_ports;
	uint32_t *base;	 /* per switch: channel of port 0 */
	uint16_t *next;	 /* per channel: the switch there; NOWHERE: none */
	uint32_t *load;	 /* per channel */
	uint32_t *floor; /* per channel: no limit is lower */
	uint32_t *worst; /* per switch, for the column at hand: most load from there on, as known */
	uint32_t limit;
	uint32_t enough; /* no limit of any channel is lower */
	uint32_t highest; /* of the floors */
	uint32_t n_over; /* channels above the limit */
	/* these, and some that were; a bit of `listed` per channel says which are there */
	struct above {
		uint32_t sw;
		uint8_t port;
	} *above;
	uint32_t n_above;
	bool *listed;
	bool *over;	 /* per switch: its path crosses such a channel */
	bool *crosses;	 /* per destination */
	uint32_t *rank;	 /* per LID: place of its end port in the order of ranks */
	lid_t *ranked;	 /* by that: first LIDs */
	uint32_t n_ranked;
	uint32_t met[PORTS]; /* per port of the switch at hand: see look_around() */
	bool looked;	     /* they are those of the entry at hand */
	double per_load, per_met; /* what one of it adds to a cost */
	bool large;	     /* the fabric is: no gentle steps */
	bool gentle;	     /* entries move only if they meet no more than before */
	struct column column; /* at hand */
	struct arena memory;
};

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
	return f->load[channel] > f->limit && f->load[channel] > f->floor[channel];
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
		path_dag_find(&c->dag, f->job->distances, at);
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
		uint32_t *load;

		column_init(f, &c);
		ARENA_ARRAY(&c.dag.memory, load, f->n_ports);
#pragma omp for schedule(dynamic, 64)
		for (uint32_t place = from; place < to; place++) {
			read_column(f, &c, place);
			find_flows(f, &c, place);
			for (uint32_t k = 0; k < c.n_used; k++) {
				uint32_t s = c.dag.order[c.used[k]];

				load[f->base[s] + c.port[s]] += c.flow[s];
			}
		}
#pragma omp critical
		for (uint32_t i = 0; i < f->n_ports; i++)
			f->load[i] += load[i];
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

/* Has an entry of the column at hand a channel above the limit? Forgets those that are no more. */
static bool has_above(struct relief *f)
{
	for (uint32_t i = 0; i < f->n_above;) {
		struct above a = f->above[i];

		if (!is_over(f, f->base[a.sw] + a.port)) {
			f->listed[f->base[a.sw] + a.port] = false;
			f->above[i] = f->above[--f->n_above];
			continue;
		}
		if (f->column.port[a.sw] == a.port)
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
		bool over[PORTS] = { false };
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

	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->load[i] > f->floor[i] || (all && f->floor[i] != OF_STUB))
			most = MAX(most, f->load[i]);
	return most;
}

/* Adds to all channels of the path from `sw` on. Returns what the most loaded carries then. */
static uint32_t shift_load(struct relief *f, uint32_t sw, uint32_t by)
{
	uint32_t most = 0, c = channel_of(f, sw);

	for (uint32_t hops = 0; f->next[c] != NOWHERE && hops < f->n; hops++) {
		f->n_over -= is_over(f, c);
		f->load[c] += by;
		if (is_over(f, c)) {
			f->n_over++;
			list_above(f, sw, f->column.port[sw]);
		}
		most = MAX(most, f->load[c]);
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
		uint32_t worst = MAX(f->load[edge->channel], f->worst[edge->next]) + flow;

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
 * The loads of paths from the next switches on may be out of date, so the path that seems best is
 * looked at: each once, as what was looked at is up to date.
 */
static uint32_t best_way(struct relief *f, uint32_t i, uint32_t lid, uint32_t most)
{
	const struct path_dag *w = &f->column.dag;

	for (uint32_t looked = w->first[i]; looked <= w->first[i + 1]; looked++) {
		uint32_t best = likely_way(f, i, lid, most), next, known;

		if (best == TOPO_NONE)
			return TOPO_NONE;
		next = w->edges[best].next;
		known = f->worst[next];
		f->worst[next] = shift_load(f, next, 0);
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
		    f->load[edge->channel] + flow < f->worst[s] &&
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
	if (!has_room(f, i, lid))
		return false;
	most = shift_load(f, s, -flow) + flow;
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

	read_column(f, c, place);
	if (!has_above(f))
		return 0;
	find_flows(f, c, place);
	memset(f->over, 0, f->n * sizeof(*f->over));
	memset(f->worst, 0, f->n * sizeof(*f->worst));
	for (uint32_t k = c->n_used; k-- > 0 && f->n_over;) {
		uint32_t s = c->dag.order[c->used[k]], channel = channel_of(f, s);

		f->worst[s] = MAX(f->load[channel], f->worst[f->next[channel]]);
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
		/* That was too much: that load cannot be taken off. */
		if (!now || most > before - over / 16)
			break;
	}
	return moved;
}

/* Below the highest floor gently, and at once. */
static uint32_t relieve_class(struct relief *f, uint32_t from, uint32_t to)
{
	uint32_t enough = MAX(f->enough, f->job->enough);
	uint32_t moved = lower_limit(f, from, to, MAX(enough, f->highest));

	if (f->highest > enough && !f->large)
		moved += relieve(f, from, to, enough, true);
	return moved;
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

/* The loads of channels: between two levels, from each switch to a level, and to it from there. */
struct means {
	uint32_t *rank; /* per switch: hops to the nearest leaf, RANKS - 1 at most */
	struct mean all[RANKS][RANKS], (*out)[RANKS], (*in)[RANKS];
};

/* Is it a leaf, or has it no neighbour of a higher level? */
static bool is_end(const struct means *m, uint32_t s)
{
	uint32_t rank = m->rank[s];

	return !rank || rank == RANKS - 1 || !m->out[s][rank + 1].n;
}

/* What is not to be taken off a channel. */
static uint32_t floor_of(const struct means *m, uint32_t s, uint32_t v)
{
	uint32_t out = is_end(m, s) ? mean_of(&m->out[s][m->rank[v]]) : 0;
	uint32_t in = is_end(m, v) ? mean_of(&m->in[v][m->rank[s]]) : 0;

	return m->rank[s] == m->rank[v] ? 0 : MAX(out, in);
}

/*
 * Nothing can be taken off the cables of stubs (topo.h), and they are no measure for others. Other
 * floors are the means of what leads from a leaf or root to another level, or from there to it. No
 * channel need carry less than the mean between two levels, nor, but in trees, than the highest
 * floor. On flat graphs all are one level; else a few cables within one are no measure for others.
 *
 * In a tree none need carry less than the cable of an end port while each sends a flow to every
 * other one: engines of trees keep the flows of a shift apart, and entries that move spoil that.
 * `bench-trees` of -d 5 -r 74 tree 20 10 19, an end port 199 flows: bisections, permutations and
 * shifts .860 .752 .924, load 120, without that; .890 .799 .932, load 190, with it. Not so with a
 * flow to each LID (LMC): several destinations would share such a channel, and most is sent to
 * first LIDs. The same tree, 10 % cut, LMC 2, would lose 2 to 4 % by that. Elsewhere load is all
 * there is to go by.
 */
static void find_fair(struct relief *f)
{
	_cleanup_(arena_done) struct arena memory = { NULL };
	_cleanup_free_ bool *stub = topo_find_stubs(f->topo);
	const struct topo *t = f->topo;
	uint32_t senders = 0;
	bool is_tree = true;
	struct means m = { .rank = NULL };

	f->highest = 0;
	ARENA_ARRAYS(&memory, f->n, m.rank, m.out, m.in);
	shape_ranks(f->job->graph, m.rank);
	for (uint32_t s = 0; s < f->n; s++) {
		m.rank[s] = MIN(m.rank[s], RANKS - 1u);
		senders += f->job->dests->sources[s];
	}
	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t s = 0; s < f->n; s++)
			for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
				uint32_t c = t->switches[s].first_port + p, v = t->ports[c].sw;

				if (v == TOPO_NONE)
					continue;
				if (stub[s] || stub[v]) {
					f->floor[c] = OF_STUB;
					continue;
				}
				if (!pass) {
					mean_add(&m.all[m.rank[s]][m.rank[v]], f->load[c]);
					mean_add(&m.out[s][m.rank[v]], f->load[c]);
					mean_add(&m.in[v][m.rank[s]], f->load[c]);
					continue;
				}
				is_tree &= m.rank[s] != m.rank[v];
				f->floor[c] = floor_of(&m, s, v);
				f->highest = MAX(f->highest, f->floor[c]);
				if (f->large)
					f->floor[c] += f->floor[c] / NEAR;
			}
	f->enough = !is_tree ? f->highest : senders ? senders - 1 : 0;
	for (unsigned low = 0; low < RANKS; low++)
		for (unsigned high = 0; high < RANKS; high++)
			if (low != high || !low)
				f->enough = MAX(f->enough, keep_limit(KEEP_BALANCED,
								      mean_of(&m.all[low][high])));
}

/* Of all classes. Returns how many channels carry too much. */
static uint32_t look_at_loads(struct relief *f)
{
	uint32_t n = 0;

	if (f->job->load)
		memcpy(f->load, f->job->load, f->n_ports * sizeof(*f->load));
	else
		count_loads(f, 0, f->job->dests->n);
	find_fair(f);
	f->limit = MAX(f->job->tolerated, f->enough);
	for (uint32_t i = 0; i < f->n_ports; i++)
		n += is_over(f, i);
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
		memset(f->load, 0, f->n_ports * sizeof(*f->load));
	for (unsigned class = 0; class < DEST_ORDER_CLASSES; class++) {
		uint32_t to = dests->end[class];

		if (to == from)
			continue;
		if (!one) {
			count_loads(f, from, to);
			find_fair(f);
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
	ARENA_ARRAYS(&f.memory, f.n_ports, f.load, f.floor, f.above, f.listed);
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
