// SPDX-License-Identifier: BSD-2-Clause
/*
 * Columns of one switch are one unit; units are taken in batches. Within a batch every unit sees the
 * loads as they were before the batch, and its own: so a batch may run in parallel and the result does
 * not depend on how many threads did it.
 *
 * Switches choose nearest first, so whoever chooses knows the whole path of each neighbour: what it
 * carries, which orders it obeys, and of these in which it only leads away from the root (then the
 * neighbour may be entered from anywhere; else only by a step towards the root).
 */
#include "route/courses.h"

#include <string.h>

#include "route/cancel.h"
#include "route/orders.h"
#include "route/ways.h"
#include "util/mem.h"

#define BATCH 4
#define SMALL 200 /* switches: below that threads wait for each other longer than they work */

/* How a column chooses. */
struct taste {
	uint16_t order; /* the preferred one, as a bit; 0: load alone */
	bool open;	/* among paths that obey it, those that obey more; else load decides */
};

/* One unit's work space. */
struct unit {
	struct ways ways;
	uint32_t *chosen; /* per switch: index of its way; TOPO_NONE: none */
	uint64_t *cost;	  /* per switch: load of its path */
	uint32_t *flow;	  /* per switch */
	uint16_t *obeys;  /* per switch: orders */
	uint16_t *away;	  /* per switch: orders in which its path only leads away from the root */
	uint32_t *load;	  /* per channel: as the unit sees it */
};

struct courses {
	const struct courses_job *job;
	const struct topo *topo;
	uint32_t n, n_ports;
	uint32_t *units;   /* n_units + 1: columns of a unit */
	uint32_t n_units;
	uint16_t *towards; /* per channel: orders in which it leads towards the root */
	uint8_t *dim;	   /* per channel: of the grid; NULL: there is none */
	uint32_t *load;	   /* per channel, between batches */
	struct unit batch[BATCH];
};

static void unit_init(struct unit *u, const struct courses *all)
{
	ways_init(&u->ways, all->job->graph);
	u->chosen = xcalloc(all->n, sizeof(*u->chosen));
	u->cost = xcalloc(all->n, sizeof(*u->cost));
	u->flow = xcalloc(all->n, sizeof(*u->flow));
	u->obeys = xcalloc(all->n, sizeof(*u->obeys));
	u->away = xcalloc(all->n, sizeof(*u->away));
	u->load = xcalloc(all->n_ports, sizeof(*u->load));
}

static void unit_done(struct unit *u)
{
	ways_done(&u->ways);
	free(u->chosen);
	free(u->cost);
	free(u->flow);
	free(u->obeys);
	free(u->away);
	free(u->load);
}

/* The orders that the path from `s` through `c` obeys. */
static uint16_t obeyed(const struct courses *all, const struct unit *u, uint32_t s, const struct way *c)
{
	uint16_t towards = all->towards[c->channel];

	if (c->next == u->ways.to)
		return u->obeys[c->next];
	if (all->job->breaks)
		return u->obeys[c->next] & dims_turn(all->job->grid, all->job->breaks, s, c->next,
						     u->ways.ways[u->chosen[c->next]].next);
	return u->obeys[c->next] & (towards | u->away[c->next]);
}

/*
 * How well a path obeys: any order before none, the preferred one before any; in that, being open to
 * all who follow; without it, the number of orders.
 */
static uint32_t merit(uint16_t obeys, uint16_t away, struct taste taste)
{
	uint32_t open;

	if (!obeys)
		return 0;
	open = 16u * (unsigned)__builtin_popcount(obeys) + (unsigned)__builtin_popcount(away & obeys);
	if (obeys & taste.order)
		return 1024 + (away & taste.order ? 512 : 0) + (taste.open ? open : 0);
	return open;
}

/* What the path through `c` carries now. */
static uint64_t cost_of(const struct courses *all, const struct unit *u, const struct way *c)
{
	uint64_t cost = u->load[c->channel];

	if (!all->job->part)
		return cost + u->cost[c->next];
	while (c->next != u->ways.to && u->chosen[c->next] != TOPO_NONE) {
		c = &u->ways.ways[u->chosen[c->next]];
		cost += u->load[c->channel];
	}
	return cost;
}

/* Adds what begins at a switch. */
static void add_flow(const struct unit *u, uint32_t s, uint32_t flow)
{
	while (s != u->ways.to && u->chosen[s] != TOPO_NONE) {
		const struct way *c = &u->ways.ways[u->chosen[s]];

		u->load[c->channel] += flow;
		s = c->next;
	}
}

/*
 * Of two switches opposite each other on a ring: does the way take the half that belongs to them? Every
 * other pair takes the half with the rising coordinates in the middle.
 */
static bool is_own_half(const struct courses *all, const struct unit *u, uint32_t s, const struct way *c)
{
	const struct grid *grid = all->job->grid;
	unsigned d = all->dim[c->channel], here, there, low;
	bool up, inner;

	if (!all->job->both_ways)
		return false;
	here = grid_at(grid, s)[d];
	there = grid_at(grid, u->ways.to)[d];
	low = MIN(here, there);
	if (!grid->wraps[d] || MAX(here, there) - low != grid->size[d] / 2u || grid->size[d] & 1)
		return false;
	up = grid_at(grid, c->next)[d] == (here + 1u) % grid->size[d];
	inner = up == (here == low);
	return inner == (low % 2 == 0);
}

static void choose(const struct courses *all, struct unit *u, uint32_t i, uint32_t turn,
		   struct taste taste)
{
	uint32_t s = u->ways.order[i], first = u->ways.first[i], n = u->ways.first[i + 1] - first;
	uint32_t best = TOPO_NONE, most = 0;
	uint64_t least = UINT64_MAX;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t at = first + (turn + k) % n, value = 0;
		const struct way *c = &u->ways.ways[at];
		uint64_t cost = all->job->by_number ? c->port : cost_of(all, u, c);

		if (all->dim) {
			value = 2u * (GRID_DIMS - all->dim[c->channel]) + is_own_half(all, u, s, c);
			if (all->job->breaks && obeyed(all, u, s, c))
				value += 4 * GRID_DIMS;
		} else if (taste.order) {
			uint16_t away = u->away[c->next] & (uint16_t)~all->towards[c->channel];

			value = merit(obeyed(all, u, s, c), away, taste);
		}
		if (best != TOPO_NONE && (value < most || (value == most && cost >= least)))
			continue;
		best = at;
		most = value;
		least = cost;
	}
	u->chosen[s] = best;
	if (best == TOPO_NONE)
		return;
	u->cost[s] = least;
	u->obeys[s] = obeyed(all, u, s, &u->ways.ways[best]);
	u->away[s] = u->away[u->ways.ways[best].next] & (uint16_t)~all->towards[u->ways.ways[best].channel];
}

static void add_flows(const struct courses *all, struct unit *u, uint32_t weight, bool add)
{
	memcpy(u->flow, all->job->sources, all->n * sizeof(*u->flow));
	for (uint32_t i = u->ways.n; i-- > 0;) {
		uint32_t s = u->ways.order[i];
		const struct way *c;

		if (u->chosen[s] == TOPO_NONE)
			continue;
		c = &u->ways.ways[u->chosen[s]];
		u->load[c->channel] += add ? weight * u->flow[s] : -(weight * u->flow[s]);
		u->flow[c->next] += u->flow[s];
	}
}

static size_t entry(const struct courses *all, uint32_t column, uint32_t sw)
{
	return (size_t)sw * all->job->row_size + all->job->keys[column];
}

/* What the round before chose. */
static void recall(const struct courses *all, struct unit *u, uint32_t column)
{
	for (uint32_t i = 0; i < u->ways.n; i++) {
		uint8_t port = all->job->ports[entry(all, column, u->ways.order[i])];
		uint32_t k = u->ways.first[i];

		while (k < u->ways.first[i + 1] && u->ways.ways[k].port != port)
			k++;
		u->chosen[u->ways.order[i]] = k < u->ways.first[i + 1] ? k : TOPO_NONE;
	}
}

static void remember(const struct courses *all, const struct unit *u, uint32_t column)
{
	for (uint32_t i = 0; i < u->ways.n; i++) {
		uint32_t s = u->ways.order[i];

		if (u->chosen[s] == TOPO_NONE)
			continue;
		all->job->ports[entry(all, column, s)] = u->ways.ways[u->chosen[s]].port;
		if (all->job->hints)
			all->job->hints[entry(all, column, s)] = u->obeys[s];
	}
}

/* Returns how many paths obey no order. Adds no flows. */
static uint32_t choose_all(const struct courses *all, struct unit *u, uint32_t turn, struct taste taste)
{
	uint32_t astray = 0;

	for (uint32_t i = 0; i < u->ways.n; i++) {
		uint32_t s = u->ways.order[i];

		choose(all, u, i, turn, taste);
		astray += all->job->sources[s] && !u->obeys[s];
	}
	return astray;
}

/* With which fewest paths obey no order; that of its turn if it is as good as any. */
static struct taste find_taste(const struct courses *all, struct unit *u, uint32_t column)
{
	unsigned n = all->job->n_orders, first = n && all->job->rotate ? column % n : 0;
	uint32_t least = UINT32_MAX;
	struct taste best = { 0 };

	for (unsigned k = 0; k < 2 * n && least; k++) {
		struct taste taste = { .order = (uint16_t)(1u << (first + k) % n), .open = k >= n };
		uint32_t astray = choose_all(all, u, column, taste);

		if (astray < least) {
			least = astray;
			best = taste;
		}
	}
	return best;
}

static void place_column(const struct courses *all, struct unit *u, uint32_t column)
{
	const struct courses_job *job = all->job;
	uint32_t weight = job->weights ? job->weights[column] : 1;
	struct taste taste = find_taste(all, u, column);

	for (uint32_t i = 0; i < u->ways.n; i++) {
		if (!job->stay || u->chosen[u->ways.order[i]] == TOPO_NONE)
			choose(all, u, i, column, taste);
		if (job->part)
			add_flow(u, u->ways.order[i], weight * job->sources[u->ways.order[i]]);
	}
	if (!job->part)
		add_flows(all, u, weight, true);
}

static void run_unit(const struct courses *all, struct unit *u, uint32_t number, unsigned round)
{
	const struct courses_job *job = all->job;
	unsigned n_orders = job->breaks ? job->breaks->n_lanes : job->n_orders;
	uint16_t orders = (uint16_t)((1u << n_orders) - 1);

	memcpy(u->load, all->load, all->n_ports * sizeof(*u->load));
	ways_find(&u->ways, job->graph, job->distances, job->at[all->units[number]]);
	u->cost[u->ways.to] = 0;
	u->obeys[u->ways.to] = u->away[u->ways.to] = orders;
	for (uint32_t c = all->units[number]; c < all->units[number + 1]; c++) {
		uint32_t weight = job->weights ? job->weights[c] : 1;

		if (round || job->stay)
			recall(all, u, c);
		if (!round && job->stay) {
			/* Whoever must choose sees first what those carry who need not. */
			add_flows(all, u, weight, true);
			continue;
		}
		if (round)
			add_flows(all, u, weight, false);
		place_column(all, u, c);
		remember(all, u, c);
	}
}

static void run_batch(struct courses *all, uint32_t base, unsigned round)
{
	uint32_t n = MIN(BATCH, all->n_units - base);
	unsigned threads = all->n < SMALL ? 1 : all->job->threads;
	uint32_t *sum = all->load;

#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
	for (uint32_t i = 0; i < n; i++)
		run_unit(all, &all->batch[i], base + i, round);
	/* Every unit added to a copy of the same loads. */
	for (uint32_t k = 0; k < all->n_ports; k++) {
		uint32_t before = sum[k];

		for (uint32_t i = 0; i < n; i++)
			sum[k] += all->batch[i].load[k] - before;
	}
}

static void add_order(struct courses *all, uint32_t root, unsigned number)
{
	const uint16_t *from_root = distances_from(all->job->distances, root);

	for (uint32_t s = 0; s < all->n; s++)
		for (unsigned p = 1; p <= all->topo->switches[s].n_ports; p++) {
			uint32_t v = topo_port(all->topo, s, p)->sw;

			if (v != TOPO_NONE && orders_towards(from_root, s, v))
				all->towards[all->topo->switches[s].first_port + p] |=
					(uint16_t)(1u << number);
		}
}

static void find_orders(struct courses *all)
{
	uint32_t roots[COURSES_ORDERS_MAX];

	orders_find(all->job->graph, all->job->distances, all->job->sources, all->job->n_orders, roots);
	for (unsigned k = 0; k < all->job->n_orders; k++)
		add_order(all, roots[k], k);
}

static void find_dims(struct courses *all)
{
	const struct grid *grid = all->job->grid;

	all->dim = xcalloc(all->n_ports, sizeof(*all->dim));
	for (uint32_t s = 0; s < all->n; s++)
		for (unsigned p = 1; p <= all->topo->switches[s].n_ports; p++) {
			uint32_t v = topo_port(all->topo, s, p)->sw;

			for (unsigned d = 0; v != TOPO_NONE && d < grid->n_dims; d++)
				if (grid_at(grid, s)[d] != grid_at(grid, v)[d])
					all->dim[all->topo->switches[s].first_port + p] = (uint8_t)d;
		}
}

static void courses_done(struct courses *all)
{
	for (unsigned i = 0; i < BATCH; i++)
		unit_done(&all->batch[i]);
	free(all->units);
	free(all->towards);
	free(all->dim);
	free(all->load);
}

static void courses_begin(struct courses *all)
{
	const struct courses_job *job = all->job;

	all->topo = job->graph->topo;
	all->n = all->topo->n_switches;
	for (uint32_t s = 0; s < all->n; s++)
		all->n_ports += all->topo->switches[s].n_ports + 1u;
	all->units = xcalloc((size_t)job->n_columns + 1, sizeof(*all->units));
	for (uint32_t c = 0; c < job->n_columns; c++)
		if (!c || job->at[c] != job->at[c - 1])
			all->units[all->n_units++] = c;
	all->units[all->n_units] = job->n_columns;
	all->towards = xcalloc(all->n_ports, sizeof(*all->towards));
	all->load = xcalloc(all->n_ports, sizeof(*all->load));
	for (unsigned i = 0; i < BATCH; i++)
		unit_init(&all->batch[i], all);
	if (job->grid)
		find_dims(all);
	else if (job->n_orders && all->n)
		find_orders(all);
}

uint32_t courses_run(const struct courses_job *job)
{
	_cleanup_(courses_done) struct courses all = { .job = job };
	uint64_t squares = 0;
	uint32_t most = 0;

	courses_begin(&all);
	for (unsigned round = 0; round < job->rounds; round++)
		for (uint32_t base = 0; base < all.n_units; base += BATCH)
			if (!is_cancelled(job->cancelled))
				run_batch(&all, base, round);
	for (uint32_t i = 0; i < all.n_ports; i++) {
		most = MAX(most, all.load[i]);
		squares += (uint64_t)all.load[i] * all.load[i];
	}
	if (job->squares)
		*job->squares = squares;
	return most;
}
