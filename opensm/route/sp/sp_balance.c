// SPDX-License-Identifier: BSD-2-Clause
/*
 * The destinations on one switch are one unit; units are taken in batches. Within a batch every
 * unit sees the loads as they were before the batch, and its own: so a batch may run in parallel
 * and the result does not depend on the number of threads.
 *
 * Switches choose nearest first, so when a switch chooses, the whole path of each neighbour is
 * known: its load, which orders it obeys, and of these in which it only leads away from the root
 * (then the neighbour may be entered from anywhere; else only by a step towards the root).
 */
#include "route/sp/sp_balance.h"

#include <assert.h>
#include <string.h>

#include "route/sp/orders.h"
#include "route/core/path_dag.h"
#include "util/mem.h"

#define BATCH 4
#define SMALL 200 /* switches: below that threads wait for each other longer than they work */

/* How a destination chooses. */
struct taste {
	uint16_t order; /* the preferred one, as a bit; 0: load alone */
	bool open;	/* among paths that obey it, those that obey more; else load decides */
};

/* One unit's work space. */
struct unit {
	struct path_dag dag;
	uint32_t *chosen; /* per switch: index of its edge; TOPO_NONE: none */
	uint64_t *cost;	  /* per switch: load of its path */
	uint32_t *flow;	  /* per switch */
	uint16_t *obeys;  /* per switch: orders */
	uint16_t *away;	  /* per switch: orders in which its path only leads away from the root */
	uint32_t *load;	  /* per channel: as the unit sees it */
};

struct courses {
	const struct sp_balance_job *job;
	const struct topo *topo;
	uint32_t n, n_ports;
	uint32_t *units;   /* n_units + 1: destinations of a unit */
	uint32_t n_units;
	uint16_t *towards; /* per channel: orders in which it leads towards the root */
	uint8_t *dim;	   /* per channel: of the grid; NULL: there is none */
	uint32_t *load;	   /* per channel, between batches: flows */
	const uint32_t *paces; /* topo->paces */
	struct unit batch[BATCH];
	struct arena memory;
};

static void unit_init(struct unit *u, const struct courses *all)
{
	path_dag_init(&u->dag, all->job->graph);
	ARENA_ARRAYS(&u->dag.memory, all->n, u->chosen, u->cost, u->flow, u->obeys, u->away);
	ARENA_ARRAY(&u->dag.memory, u->load, all->n_ports);
}

/* The orders that the path from `s` through `c` obeys. */
static uint16_t orders_obeyed(const struct courses *all, const struct unit *u, uint32_t s,
			      const struct path_dag_edge *c)
{
	uint16_t towards = all->towards[c->channel];

	if (c->next == u->dag.to)
		return u->obeys[c->next];
	if (all->job->breaks)
		return u->obeys[c->next] & dims_turn(all->job->grid, all->job->breaks, s, c->next,
						     u->dag.edges[u->chosen[c->next]].next);
	return u->obeys[c->next] & (towards | u->away[c->next]);
}

/*
 * How well a path obeys: any order before none, the preferred one before any; then, with `open`,
 * being usable for all switches that follow; else the number of orders.
 */
static uint32_t merit_of(uint16_t obeys, uint16_t away, struct taste taste)
{
	uint32_t open;

	if (!obeys)
		return 0;
	open = 16u * (unsigned)__builtin_popcount(obeys) +
	       (unsigned)__builtin_popcount(away & obeys);
	if (obeys & taste.order)
		return 1024 + (away & taste.order ? 512 : 0) + (taste.open ? open : 0);
	return open;
}

/* The load of a channel; if rates differ, with the flows of switch `s` added. */
static uint32_t load_on(const struct courses *all, const struct unit *u, uint32_t channel,
			uint32_t s)
{
	if (!all->paces)
		return u->load[channel];
	return topo_load(all->paces, channel, u->load[channel] + MAX(all->job->sources[s], 1u));
}

/* The load of the path of `s` through `c`. */
static uint64_t cost_of(const struct courses *all, const struct unit *u, uint32_t s,
			const struct path_dag_edge *c)
{
	uint64_t cost = load_on(all, u, c->channel, s);

	if (!all->job->part)
		return cost + u->cost[c->next];
	for (uint32_t hops = 0; c->next != u->dag.to && u->chosen[c->next] != TOPO_NONE; hops++) {
		assert(hops < u->dag.n); /* every edge leads nearer */
		c = &u->dag.edges[u->chosen[c->next]];
		cost += load_on(all, u, c->channel, s);
	}
	return cost;
}

/* Adds what begins at a switch. */
static void add_flow(const struct unit *u, uint32_t s, uint32_t flow)
{
	for (uint32_t hops = 0; s != u->dag.to && u->chosen[s] != TOPO_NONE; hops++) {
		const struct path_dag_edge *c = &u->dag.edges[u->chosen[s]];

		assert(hops < u->dag.n);
		u->load[c->channel] += flow;
		s = c->next;
	}
}

/*
 * Of two switches opposite each other on a ring: does the path take the half that belongs to them?
 * Every other pair takes the half with the rising coordinates in the middle.
 */
static bool is_own_half(const struct courses *all, const struct unit *u, uint32_t s,
			const struct path_dag_edge *c)
{
	const struct grid *grid = all->job->grid;
	unsigned d = all->dim[c->channel], here, there, low;
	bool up, inner;

	if (!all->job->both_ways)
		return false;
	here = grid_at(grid, s)[d];
	there = grid_at(grid, u->dag.to)[d];
	low = MIN(here, there);
	if (!grid->wraps[d] || MAX(here, there) - low != grid->size[d] / 2u || grid->size[d] & 1)
		return false;
	up = grid_at(grid, c->next)[d] == (here + 1u) % grid->size[d];
	inner = up == (here == low);
	return inner == (low % 2 == 0);
}

static void choose_edge(const struct courses *all, struct unit *u, uint32_t i, uint32_t turn,
			struct taste taste)
{
	uint32_t s = u->dag.order[i], first = u->dag.first[i], n = u->dag.first[i + 1] - first;
	uint32_t best = TOPO_NONE, most = 0;
	uint64_t least = UINT64_MAX;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t at = first + (turn + k) % n, value = 0;
		const struct path_dag_edge *c = &u->dag.edges[at];
		uint64_t cost = all->job->by_number ? c->port : cost_of(all, u, s, c);

		if (all->dim) {
			value = 2u * (GRID_DIMS - all->dim[c->channel]) + is_own_half(all, u, s, c);
			if (all->job->breaks && orders_obeyed(all, u, s, c))
				value += 4 * GRID_DIMS;
		} else if (taste.order) {
			uint16_t away = u->away[c->next] & (uint16_t)~all->towards[c->channel];

			value = merit_of(orders_obeyed(all, u, s, c), away, taste);
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
	u->obeys[s] = orders_obeyed(all, u, s, &u->dag.edges[best]);
	u->away[s] = u->away[u->dag.edges[best].next] &
		     (uint16_t)~all->towards[u->dag.edges[best].channel];
}

static void add_flows(const struct courses *all, struct unit *u, uint32_t weight, bool add)
{
	memcpy(u->flow, all->job->sources, all->n * sizeof(*u->flow));
	for (uint32_t i = u->dag.n; i-- > 0;) {
		uint32_t s = u->dag.order[i];
		const struct path_dag_edge *c;

		if (u->chosen[s] == TOPO_NONE)
			continue;
		c = &u->dag.edges[u->chosen[s]];
		u->load[c->channel] += add ? weight * u->flow[s] : -(weight * u->flow[s]);
		u->flow[c->next] += u->flow[s];
	}
}

static size_t entry_of(const struct courses *all, uint32_t column, uint32_t sw)
{
	return (size_t)sw * all->job->row_size + all->job->keys[column];
}

/* Restores the choices of the round before. */
static void recall_column(const struct courses *all, struct unit *u, uint32_t column)
{
	for (uint32_t i = 0; i < u->dag.n; i++) {
		uint32_t s = u->dag.order[i];

		u->chosen[s] =
			path_dag_edge_by(&u->dag, i, all->job->ports[entry_of(all, column, s)]);
	}
}

static void remember_column(const struct courses *all, const struct unit *u, uint32_t column)
{
	for (uint32_t i = 0; i < u->dag.n; i++) {
		uint32_t s = u->dag.order[i];

		if (u->chosen[s] == TOPO_NONE)
			continue;
		all->job->ports[entry_of(all, column, s)] = u->dag.edges[u->chosen[s]].port;
		if (all->job->hints)
			all->job->hints[entry_of(all, column, s)] = u->obeys[s];
	}
}

/* Returns how many paths obey no order. Adds no flows. */
static uint32_t choose_all(const struct courses *all, struct unit *u, uint32_t turn,
			   struct taste taste)
{
	uint32_t astray = 0;

	for (uint32_t i = 0; i < u->dag.n; i++) {
		uint32_t s = u->dag.order[i];

		choose_edge(all, u, i, turn, taste);
		astray += all->job->sources[s] && !u->obeys[s];
	}
	return astray;
}

/* The taste with which fewest paths obey no order; that of the unit's turn if as good as any. */
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
	const struct sp_balance_job *job = all->job;
	uint32_t weight = job->weights ? job->weights[column] : 1;
	struct taste taste = find_taste(all, u, column);

	for (uint32_t i = 0; i < u->dag.n; i++) {
		if (!job->stay || u->chosen[u->dag.order[i]] == TOPO_NONE)
			choose_edge(all, u, i, column, taste);
		if (job->part)
			add_flow(u, u->dag.order[i], weight * job->sources[u->dag.order[i]]);
	}
	if (!job->part)
		add_flows(all, u, weight, true);
}

static void run_unit(const struct courses *all, struct unit *u, uint32_t number, unsigned round)
{
	const struct sp_balance_job *job = all->job;
	unsigned n_orders = job->breaks ? job->breaks->n_lanes : job->n_orders;
	uint16_t orders = (uint16_t)((1u << n_orders) - 1);

	memcpy(u->load, all->load, all->n_ports * sizeof(*u->load));
	path_dag_find(&u->dag, job->distances, job->at[all->units[number]]);
	u->cost[u->dag.to] = 0;
	u->obeys[u->dag.to] = u->away[u->dag.to] = orders;
	for (uint32_t c = all->units[number]; c < all->units[number + 1]; c++) {
		uint32_t weight = job->weights ? job->weights[c] : 1;

		if (round || job->stay)
			recall_column(all, u, c);
		if (!round && job->stay) {
			/* Flows without a choice are added first, so that the others see them. */
			add_flows(all, u, weight, true);
			continue;
		}
		if (round)
			add_flows(all, u, weight, false);
		place_column(all, u, c);
		remember_column(all, u, c);
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
	/* Every unit added its flows to a copy of the same loads. */
	for (uint32_t k = 0; k < all->n_ports; k++) {
		uint32_t before = sum[k];

		for (uint32_t i = 0; i < n; i++)
			sum[k] += all->batch[i].load[k] - before;
	}
}

/* In which dimension of the grid a channel leads, or in which orders towards the root. */
static void class_channel(struct courses *all, uint32_t channel, uint32_t s, uint32_t v,
			  const uint32_t *roots)
{
	const struct sp_balance_job *job = all->job;

	for (unsigned d = 0; job->grid && d < job->grid->n_dims; d++)
		if (grid_at(job->grid, s)[d] != grid_at(job->grid, v)[d])
			all->dim[channel] = (uint8_t)d;
	for (unsigned k = 0; k < job->n_orders; k++)
		if (orders_towards(distances_from(job->distances, roots[k]), s, v))
			all->towards[channel] |= (uint16_t)(1u << k);
}

static void class_channels(struct courses *all)
{
	const struct sp_balance_job *job = all->job;
	uint32_t roots[SP_BALANCE_ORDERS_MAX];

	if (job->grid)
		ARENA_ARRAY(&all->memory, all->dim, all->n_ports);
	if (job->n_orders && all->n)
		orders_find(job->graph, job->distances, job->sources, job->n_orders, roots);
	for (uint32_t s = 0; s < all->n; s++)
		for (unsigned p = 1; p <= all->topo->switches[s].n_ports; p++)
			if (topo_port(all->topo, s, p)->sw != TOPO_NONE)
				class_channel(all, all->topo->switches[s].first_port + p, s,
					      topo_port(all->topo, s, p)->sw, roots);
}

static void courses_done(struct courses *all)
{
	for (unsigned i = 0; i < BATCH; i++)
		path_dag_done(&all->batch[i].dag);
	arena_done(&all->memory);
}

static void courses_begin(struct courses *all)
{
	const struct sp_balance_job *job = all->job;

	all->topo = job->graph->topo;
	all->n = all->topo->n_switches;
	all->n_ports = topo_n_entries(all->topo);
	ARENA_ARRAY(&all->memory, all->units, (size_t)job->n_columns + 1);
	for (uint32_t c = 0; c < job->n_columns; c++)
		if (!c || job->at[c] != job->at[c - 1])
			all->units[all->n_units++] = c;
	all->units[all->n_units] = job->n_columns;
	ARENA_ARRAYS(&all->memory, all->n_ports, all->towards, all->load);
	all->paces = all->topo->paces;
	for (unsigned i = 0; i < BATCH; i++)
		unit_init(&all->batch[i], all);
	class_channels(all);
}

uint32_t sp_balance_run(const struct sp_balance_job *job)
{
	_cleanup_(courses_done) struct courses all = { .job = job };
	uint64_t squares = 0;
	uint32_t most = 0;

	assert(job->graph && job->distances && job->at && job->keys && job->ports && job->threads);
	assert(job->n_orders <= SP_BALANCE_ORDERS_MAX && !(job->grid && job->n_orders));
	courses_begin(&all);
	for (unsigned round = 0; round < job->rounds; round++)
		for (uint32_t base = 0; base < all.n_units; base += BATCH)
			if (!is_cancelled(job->cancelled))
				run_batch(&all, base, round);
	for (uint32_t i = 0; i < all.n_ports; i++) {
		uint32_t load = topo_load(all.paces, i, all.load[i]);

		most = MAX(most, load);
		squares += (uint64_t)load * load;
	}
	if (job->squares)
		*job->squares = squares;
	return most;
}
