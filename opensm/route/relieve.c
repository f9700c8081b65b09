// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lowers the limit step by step. In each step every column that has flows through a channel above the
 * limit is looked at, switch by switch, nearest first: whose path crosses such a channel moves all that
 * comes through it to the way whose most loaded channel is then the least, if that is an improvement. The
 * steps end when one changes nothing that counts.
 *
 * Finding the columns is parallel; moving is not, and so does not depend on threads.
 */
#include "route/relieve.h"

#include <string.h>

#include "route/ways.h"
#include "util/mem.h"

#define STEPS 10
#define RANKS 8
#define SLACK(load) ((load) + (load) / 16)

struct relief {
	const struct relieve_job *job;
	const struct topo *topo;
	struct routes *r;
	uint32_t n, n_ports;
	uint32_t *load;	 /* per channel */
	uint32_t *flow;	 /* per switch, for the column at hand */
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

	if (c->ways.to != f->job->roll->at[place])
		ways_find(&c->ways, f->job->graph, f->job->distances, f->job->roll->at[place]);
	find_flows(f, &c->ways, lid, c->flow);
	for (uint32_t i = 0; i < c->ways.n; i++) {
		uint32_t s = c->ways.order[i], channel = c->flow[s] ? channel_of(f, s, lid) : TOPO_NONE;

		if (channel == TOPO_NONE)
			continue;
		c->load[channel] += c->flow[s];
		f->crosses[place] |= f->load[channel] > f->limit;
	}
}

/* Marks the columns that cross something above the limit, and adds their loads if asked. */
static void count(struct relief *f, uint32_t from, uint32_t to, bool add)
{
	memset(f->crosses + from, 0, to - from);
#pragma omp parallel num_threads(f->job->threads)
	{
		struct counter *c = counter_new(f);

#pragma omp for schedule(dynamic, 64)
		for (uint32_t place = from; place < to; place++)
			count_one(f, c, place);
		if (add) {
#pragma omp critical
			for (uint32_t i = 0; i < f->n_ports; i++)
				f->load[i] += c->load[i];
		}
		counter_free(c);
	}
}

static uint32_t most_load(const struct relief *f)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < f->n_ports; i++)
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
		f->n_over -= f->load[channel] > f->limit;
		f->load[channel] += by;
		f->n_over += f->load[channel] > f->limit;
		channel = channel_of(f, f->topo->ports[channel].sw, lid);
	}
}

/* Another way for all that comes through order[i], if its worst channel is then better. */
static bool move_entry(struct relief *f, uint32_t i, uint32_t lid)
{
	const struct ways *w = &f->ways;
	uint32_t s = w->order[i], old = channel_of(f, s, lid), flow = f->flow[s], best = TOPO_NONE, least;

	if (old == TOPO_NONE || !flow || w->first[i + 1] - w->first[i] < 2)
		return false;
	least = worst_of(f, old, lid);
	if (least <= f->limit)
		return false;
	shift(f, old, lid, -flow);
	for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
		uint32_t worst = worst_of(f, w->ways[k].channel, lid) + flow;

		if (w->ways[k].channel == old || worst >= least)
			continue;
		least = worst;
		best = k;
	}
	if (best != TOPO_NONE)
		routes_row(f->r, s)[lid] = w->ways[best].port;
	shift(f, best == TOPO_NONE ? old : w->ways[best].channel, lid, flow);
	return best != TOPO_NONE;
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
	for (uint32_t i = 0; i < w->n && f->n_over; i++) {
		uint32_t s = w->order[i], channel = f->flow[s] ? channel_of(f, s, lid) : TOPO_NONE;

		f->over[s] = channel != TOPO_NONE &&
			     (f->load[channel] > f->limit || f->over[f->topo->ports[channel].sw]);
		if (!f->over[s] || !move_entry(f, i, lid))
			continue;
		moved++;
		f->over[s] = worst_of(f, channel_of(f, s, lid), lid) > f->limit;
	}
	return moved;
}

static uint32_t move_columns(struct relief *f, uint32_t from, uint32_t to)
{
	const struct roll *roll = f->job->roll;
	uint32_t moved = 0;

	f->n_over = 0;
	for (uint32_t i = 0; i < f->n_ports; i++)
		f->n_over += f->load[i] > f->limit;
	f->ways.to = TOPO_NONE;
	for (uint32_t place = from; place < to && f->n_over; place++) {
		if (!f->crosses[place])
			continue;
		if (f->ways.to != roll->at[place])
			ways_find(&f->ways, f->job->graph, f->job->distances, roll->at[place]);
		moved += move_column(f, roll->lids[place]);
	}
	return moved;
}

static bool is_cancelled(const struct relief *f)
{
	return f->job->cancelled && atomic_load_explicit(f->job->cancelled, memory_order_relaxed);
}

static void relieve_class(struct relief *f, uint32_t from, uint32_t to)
{
	uint32_t aim = f->aim, most, before;

	f->limit = UINT32_MAX;
	count(f, from, to, true);
	most = most_load(f);
	for (unsigned step = 0; step < STEPS && most > SLACK(aim) && !is_cancelled(f); step++) {
		before = most;
		f->limit = aim + (most - aim) / 2;
		count(f, from, to, false);
		if (!move_columns(f, from, to))
			break;
		most = most_load(f);
		/* Half way was too far: what stands in the way is not to be had. */
		if (most > before - (before - aim) / 16)
			break;
	}
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

/* What channels between the same levels carry in the mean; the most of that. On flat graphs all are one level. */
static uint32_t fair_load(const struct relief *f)
{
	_cleanup_free_ uint8_t *rank = find_ranks(f);
	uint64_t sum[RANKS][RANKS] = { { 0 } }, n[RANKS][RANKS] = { { 0 } }, most = 0;

	for (uint32_t s = 0; s < f->n; s++)
		for (unsigned p = 1; p <= f->topo->switches[s].n_ports; p++) {
			uint32_t channel = f->topo->switches[s].first_port + p, v = f->topo->ports[channel].sw;

			if (v == TOPO_NONE)
				continue;
			sum[rank[s]][rank[v]] += f->load[channel];
			n[rank[s]][rank[v]]++;
		}
	for (unsigned a = 0; a < RANKS; a++)
		for (unsigned b = 0; b < RANKS; b++)
			if (n[a][b])
				most = MAX(most, sum[a][b] / n[a][b]);
	return (uint32_t)most;
}

/* Of all classes; sets the aim as well. */
static uint32_t load_of_all(struct relief *f)
{
	uint32_t most;

	f->limit = UINT32_MAX;
	count(f, 0, f->job->roll->n, true);
	most = most_load(f);
	f->aim = fair_load(f);
	memset(f->load, 0, f->n_ports * sizeof(*f->load));
	return most;
}

uint32_t relieve(const struct relieve_job *job, struct routes *r)
{
	struct relief f = { .job = job, .topo = r->topo, .r = r, .n = r->topo->n_switches };
	uint32_t from = 0, most;

	for (uint32_t s = 0; s < f.n; s++)
		f.n_ports += r->topo->switches[s].n_ports + 1u;
	f.load = xcalloc(f.n_ports, sizeof(*f.load));
	f.flow = xcalloc(f.n, sizeof(*f.flow));
	f.over = xcalloc(f.n, sizeof(*f.over));
	f.crosses = xcalloc(job->roll->n, sizeof(*f.crosses));
	ways_init(&f.ways, job->graph);
	most = load_of_all(&f);
	if (most > MAX(job->tolerated, SLACK(f.aim))) {
		for (unsigned class = 0; class < ROLL_CLASSES; class++) {
			if (job->roll->end[class] > from)
				relieve_class(&f, from, job->roll->end[class]);
			from = job->roll->end[class];
		}
		most = most_load(&f);
	}
	ways_done(&f.ways);
	free(f.load);
	free(f.flow);
	free(f.over);
	free(f.crosses);
	return most;
}
