// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lowers the limit step by step. In each step every column that has flows through a channel above the
 * limit is looked at, switch by switch, nearest first: whose path crosses such a channel moves all that
 * comes through it to the way whose most loaded channel is then the least, if that is an improvement. The
 * steps end when one changes nothing that counts.
 *
 * What all ways up from a switch carry in the mean nobody can take off it, and so with all ways down into it:
 * a leaf that lost one cable of eight has more on the other seven. Channels have no limit below that, so
 * only what can be relieved is looked at, and the work is by what carries too much, not by the fabric.
 *
 * Counting is parallel; moving is not, and so does not depend on threads.
 */
#include "route/relieve.h"

#include <string.h>

#include "route/cancel.h"
#include "route/ways.h"
#include "util/mem.h"

#define STEPS 10
#define RANKS 8
#define FAR 2 /* hops to look for somebody who sends */
#define SLACK(load) ((load) + (load) / 16)

struct relief {
	const struct relieve_job *job;
	const struct topo *topo;
	struct routes *r;
	uint32_t n, n_ports;
	uint32_t *load;	 /* per channel */
	uint32_t *floor; /* per channel: no limit is lower */
	uint32_t *flow;	 /* per switch, for the column at hand */
	uint32_t *worst; /* the same: the most loaded channel from there on, as it was when somebody looked */
	uint32_t limit, aim;
	uint32_t n_over; /* channels above the limit */
	bool *over;	 /* per switch: its path crosses such a channel */
	bool *crosses;	 /* per place in the roll */
	struct ways ways;
};

/* TOPO_NONE: to no switch. */
static uint32_t channel_of(const struct relief *f, uint32_t sw, uint32_t lid)
{
	uint8_t port = routes_port(f->r, sw, (lid_t)lid);
	uint32_t channel = f->topo->switches[sw].first_port + port;

	if (!port || port > f->topo->switches[sw].n_ports || f->topo->ports[channel].sw == TOPO_NONE)
		return TOPO_NONE;
	return channel;
}

static bool is_over(const struct relief *f, uint32_t channel)
{
	return f->load[channel] > f->limit && f->load[channel] > f->floor[channel];
}

/* Unless they are those at hand. */
static void face(const struct relief *f, struct ways *w, uint32_t to)
{
	if (w->to == to)
		return;
	if (f->job->find)
		f->job->find(f->job->arg, to, w);
	else
		ways_find(w, f->job->graph, f->job->distances, to);
}

/* Sums up what comes through every switch, farthest first. */
static void find_flows(const struct relief *f, const struct ways *w, uint32_t lid, uint32_t *flow)
{
	memcpy(flow, f->job->roll->sources, f->n * sizeof(*flow));
	for (uint32_t i = w->n; i-- > 0;) {
		uint32_t channel = flow[w->order[i]] ? channel_of(f, w->order[i], lid) : TOPO_NONE;

		if (channel != TOPO_NONE)
			flow[f->topo->ports[channel].sw] += flow[w->order[i]];
	}
}

/* What one thread needs. */
struct counter {
	struct ways ways;
	uint32_t *flow, *load;
};

static struct counter *counter_new(const struct relief *f)
{
	struct counter *c = xcalloc(1, sizeof(*c));

	ways_init(&c->ways, f->job->graph);
	c->ways.to = TOPO_NONE;
	c->flow = xcalloc(f->n, sizeof(*c->flow));
	c->load = xcalloc(f->n_ports, sizeof(*c->load));
	return c;
}

static void counter_free(struct counter *c)
{
	ways_done(&c->ways);
	free(c->flow);
	free(c->load);
	free(c);
}

static void count_one(const struct relief *f, struct counter *c, uint32_t place)
{
	uint32_t lid = f->job->roll->lids[place];

	face(f, &c->ways, f->job->roll->at[place]);
	find_flows(f, &c->ways, lid, c->flow);
	for (uint32_t i = 0; i < c->ways.n; i++) {
		uint32_t s = c->ways.order[i], channel = c->flow[s] ? channel_of(f, s, lid) : TOPO_NONE;

		if (channel != TOPO_NONE)
			c->load[channel] += c->flow[s];
	}
}

/* Adds the loads of the columns. */
static void count(struct relief *f, uint32_t from, uint32_t to)
{
#pragma omp parallel num_threads(f->job->threads)
	{
		struct counter *c = counter_new(f);

#pragma omp for schedule(dynamic, 64)
		for (uint32_t place = from; place < to; place++)
			count_one(f, c, place);
#pragma omp critical
		for (uint32_t i = 0; i < f->n_ports; i++)
			f->load[i] += c->load[i];
		counter_free(c);
	}
}

/* Does somebody send to the LID from `s`, or through it? True if the answer is `far` hops away. */
static bool is_used(const struct relief *f, uint32_t s, uint32_t lid, unsigned far)
{
	if (f->job->roll->sources[s] || !far)
		return true;
	for (unsigned p = 1; p <= f->topo->switches[s].n_ports; p++) {
		const struct topo_port *port = topo_port(f->topo, s, p);

		if (port->sw != TOPO_NONE && routes_port(f->r, port->sw, (lid_t)lid) == port->port &&
		    is_used(f, port->sw, lid, far - 1))
			return true;
	}
	return false;
}

/* Marks the columns that may have flows through a channel that carries too much, and counts these channels. */
static void find_crossing(struct relief *f, uint32_t from, uint32_t to)
{
	const struct roll *roll = f->job->roll;

	memset(f->crosses + from, 0, to - from);
	f->n_over = 0;
	for (uint32_t s = 0; s < f->n; s++) {
		const uint8_t *row = routes_row(f->r, s);

		for (unsigned p = 1; p <= f->topo->switches[s].n_ports; p++) {
			if (!is_over(f, f->topo->switches[s].first_port + p))
				continue;
			f->n_over++;
			for (uint32_t place = from; place < to; place++)
				if (!f->crosses[place] && roll->lids[place] <= f->r->top &&
				    row[roll->lids[place]] == p)
					f->crosses[place] = is_used(f, s, roll->lids[place], FAR);
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

static void shift(struct relief *f, uint32_t channel, uint32_t lid, uint32_t by)
{
	for (uint32_t hops = 0; channel != TOPO_NONE && hops < f->n; hops++) {
		f->n_over -= is_over(f, channel);
		f->load[channel] += by;
		f->n_over += is_over(f, channel);
		channel = channel_of(f, f->topo->ports[channel].sw, lid);
	}
}

/*
 * The way of order[i] that is least loaded, and less than `limit` with what comes through there; TOPO_NONE: none.
 * What is known of ways from the next switches on may be out of date, so whoever seems best is looked at.
 */
static uint32_t best_way(struct relief *f, uint32_t i, uint32_t lid, uint32_t old, uint32_t limit)
{
	const struct ways *w = &f->ways;
	uint32_t flow = f->flow[w->order[i]];

	for (;;) {
		uint32_t best = TOPO_NONE, least = limit, next, known;

		for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
			uint32_t worst = MAX(f->load[w->ways[k].channel], f->worst[w->ways[k].next]) + flow;

			if (w->ways[k].channel == old || worst >= least)
				continue;
			least = worst;
			best = k;
		}
		if (best == TOPO_NONE)
			return TOPO_NONE;
		next = w->ways[best].next;
		known = f->worst[next];
		f->worst[next] = worst_of(f, channel_of(f, next, lid), lid);
		if (f->worst[next] <= known)
			return best;
	}
}

/* Another way for all that comes through order[i], if its worst channel is then better. */
static bool move_entry(struct relief *f, uint32_t i, uint32_t lid)
{
	const struct ways *w = &f->ways;
	uint32_t s = w->order[i], old = channel_of(f, s, lid), flow = f->flow[s], best, least;

	if (old == TOPO_NONE || !flow || w->first[i + 1] - w->first[i] < 2)
		return false;
	least = worst_of(f, old, lid);
	shift(f, old, lid, -flow);
	best = best_way(f, i, lid, old, least);
	if (best != TOPO_NONE)
		routes_write(f->r, s, (lid_t)lid, w->ways[best].port);
	shift(f, best == TOPO_NONE ? old : w->ways[best].channel, lid, flow);
	return best != TOPO_NONE;
}

static bool leads_over(const struct relief *f, uint32_t sw, uint32_t lid)
{
	uint32_t channel = channel_of(f, sw, lid);

	return channel != TOPO_NONE && (is_over(f, channel) || f->over[f->topo->ports[channel].sw]);
}

/*
 * Nearest first: the flows of those that are farther are still as they were found, and whoever has moved
 * needs his no more.
 */
static uint32_t move_column(struct relief *f, uint32_t lid)
{
	const struct ways *w = &f->ways;
	uint32_t moved = 0;

	find_flows(f, w, lid, f->flow);
	f->over[w->to] = false;
	f->worst[w->to] = 0;
	for (uint32_t i = 0; i < w->n && f->n_over; i++) {
		uint32_t s = w->order[i], channel = channel_of(f, s, lid);

		f->worst[s] = channel == TOPO_NONE
				      ? 0 : MAX(f->load[channel], f->worst[f->topo->ports[channel].sw]);
		f->over[s] = f->flow[s] && leads_over(f, s, lid);
		if (!f->over[s] || !move_entry(f, i, lid))
			continue;
		moved++;
		f->over[s] = leads_over(f, s, lid);
		f->worst[s] = worst_of(f, channel_of(f, s, lid), lid);
	}
	return moved;
}

static uint32_t move_columns(struct relief *f, uint32_t from, uint32_t to)
{
	const struct roll *roll = f->job->roll;
	uint32_t moved = 0;

	f->ways.to = TOPO_NONE;
	for (uint32_t place = from; place < to && f->n_over; place++) {
		if (!f->crosses[place])
			continue;
		face(f, &f->ways, roll->at[place]);
		moved += move_column(f, roll->lids[place]);
	}
	return moved;
}

static uint32_t relieve_class(struct relief *f, uint32_t from, uint32_t to)
{
	uint32_t aim = f->aim, most = most_to_relieve(f), before, moved = 0;

	for (unsigned step = 0;
	     step < STEPS && most > MAX(SLACK(aim), f->job->enough) && !is_cancelled(f->job->cancelled); step++) {
		uint32_t now;

		before = most;
		f->limit = aim + (most - aim) / 2;
		find_crossing(f, from, to);
		now = move_columns(f, from, to);
		moved += now;
		most = most_to_relieve(f);
		/* Half way was too far: what stands in the way is not to be had. */
		if (!now || most > before - (before - aim) / 16)
			break;
	}
	return moved;
}

/* Hops to the nearest switch with end ports, RANKS - 1 at most. */
static uint8_t *find_ranks(const struct relief *f)
{
	const struct graph *g = f->job->graph;
	_cleanup_free_ uint32_t *queue = xcalloc(f->n, sizeof(*queue));
	uint8_t *rank = xmalloc(f->n);
	uint32_t tail = 0;

	memset(rank, RANKS - 1, f->n);
	for (uint32_t s = 0; s < f->n; s++)
		if (f->job->roll->sources[s]) {
			rank[s] = 0;
			queue[tail++] = s;
		}
	for (uint32_t head = 0; head < tail; head++)
		for (uint32_t i = g->first[queue[head]]; i < g->first[queue[head] + 1]; i++) {
			uint32_t v = g->groups[i].to;

			if (rank[v] <= rank[queue[head]] + 1)
				continue;
			rank[v] = (uint8_t)(rank[queue[head]] + 1);
			queue[tail++] = v;
		}
	return rank;
}

/* What channels have in common, and what they carry. */
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
 * What channels between the same levels carry in the mean; the aim is the most of that. On flat graphs all
 * are one level. And the floors, from what leads from a switch to another level, and from there to it.
 */
static void find_fair(struct relief *f)
{
	_cleanup_free_ uint8_t *rank = find_ranks(f);
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
				floor = MAX(mean_of(&out[s * RANKS + rank[v]]), mean_of(&in[v * RANKS + rank[s]]));
				f->floor[channel] = rank[s] == rank[v] ? 0 : SLACK(floor);
			}
	f->aim = 0;
	for (unsigned a = 0; a < RANKS; a++)
		for (unsigned b = 0; b < RANKS; b++)
			f->aim = MAX(f->aim, mean_of(&all[a][b]));
}

/* Of all classes: aim and floors. Returns how many channels carry too much. */
static uint32_t look(struct relief *f)
{
	uint32_t n = 0;

	if (f->job->load)
		memcpy(f->load, f->job->load, f->n_ports * sizeof(*f->load));
	else
		count(f, 0, f->job->roll->n);
	find_fair(f);
	f->limit = MAX(f->job->tolerated, SLACK(f->aim));
	for (uint32_t i = 0; i < f->n_ports; i++)
		n += is_over(f, i);
	return n;
}

static uint32_t relieve_classes(struct relief *f)
{
	const struct roll *roll = f->job->roll;
	uint32_t from = 0, moved = 0;
	bool one = true;

	for (unsigned class = 0; class < ROLL_CLASSES; class++)
		one &= !roll->end[class] || roll->end[class] == roll->n;
	if (!one)
		memset(f->load, 0, f->n_ports * sizeof(*f->load));
	for (unsigned class = 0; class < ROLL_CLASSES; class++) {
		uint32_t to = roll->end[class];

		if (to == from)
			continue;
		if (!one)
			count(f, from, to);
		moved += relieve_class(f, from, to);
		from = to;
	}
	return moved;
}

uint32_t relieve(const struct relieve_job *job, struct routes *r, uint32_t *ret_moved)
{
	struct relief f = { .job = job, .topo = r->topo, .r = r, .n = r->topo->n_switches };
	uint32_t most;

	for (uint32_t s = 0; s < f.n; s++)
		f.n_ports += r->topo->switches[s].n_ports + 1u;
	f.load = xcalloc(f.n_ports, sizeof(*f.load));
	f.floor = xcalloc(f.n_ports, sizeof(*f.floor));
	f.flow = xcalloc(f.n, sizeof(*f.flow));
	f.worst = xcalloc(f.n, sizeof(*f.worst));
	f.over = xcalloc(f.n, sizeof(*f.over));
	f.crosses = xcalloc(job->roll->n, sizeof(*f.crosses));
	ways_init(&f.ways, job->graph);
	*ret_moved = look(&f) ? relieve_classes(&f) : 0;
	most = most_load(&f);
	ways_done(&f.ways);
	free(f.load);
	free(f.floor);
	free(f.flow);
	free(f.worst);
	free(f.over);
	free(f.crosses);
	return most;
}
