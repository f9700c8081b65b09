// SPDX-License-Identifier: BSD-2-Clause
/*
 * One destination of a row: the port that its homes give, or the least used one; the LIDs of an end
 * port together, on different ones; and those that wait until all others are counted.
 */
#include "route/tree/port_select_internal.h"

#include "util/mem.h"
#include "util/random.h"

/* The port of the previous tables if it is allowed, else 0. */
static uint8_t old_port(const struct port_select_row *row, uint32_t dest, uint32_t at)
{
	lid_t lid = row->plan->spread->hot[dest].lid;
	uint8_t port;

	if (!row->old || !row->plan->change->known[dest] || lid > row->old_top)
		return 0;
	port = row->old[lid];
	return row->peer[port] != TOPO_NONE && port_select_is_way(row, row->group[port], at) ? port
											     : 0;
}

/* Is the path by the port to `at` new, so that it may replace the old port? */
static bool is_new_way(const struct port_select_row *row, uint8_t port, uint32_t at)
{
	return change_is_new_way(row->plan->change, row->plan->graph->topo, row->sw, port,
				 row->groups[row->group[port]].weight, at);
}

/* Lists all ports towards `target`, unless they are listed already. */
static void find_candidates(struct port_select_row *row, uint32_t target)
{
	const struct graph *g = row->plan->graph;
	const uint32_t was = row->target;
	unsigned n = 0;

	row->target = target;
	if (was == target || (was != TOPO_NONE && row->ways.full[target] && row->ways.full[was]))
		return;
	for (uint32_t w = 0; w * 16 < row->n_groups; w++)
		for (unsigned left = row->ways.bits[w * g->n + target]; left; left &= left - 1) {
			const struct graph_group *group =
				&row->groups[w * 16 + (unsigned)__builtin_ctz(left)];

			for (unsigned p = 0; p < group->n_ports; p++)
				row->candidates[n++] = g->ports[group->first_port + p];
		}
	row->n_candidates = n;
}

static bool is_counted(const struct port_select_row *row, uint32_t dest, uint8_t port)
{
	const struct port_select_plan *plan = row->plan;
	const struct topo *topo = plan->graph->topo;

	if (!plan->spread->hot[dest].port && !plan->options->count_switches)
		return false;
	return !plan->ignored || !plan->ignored[topo->switches[row->sw].first_port + port];
}

void port_select_put(struct port_select_row *row, uint32_t dest, uint8_t port)
{
	row->lft[row->plan->spread->hot[dest].lid] = port;
	row->count[port] += is_counted(row, dest, port);
}

/* The digit of a destination at a level; the LIDs of one end port take turns. */
static uint32_t turn_of(const struct port_select_row *row, uint32_t dest, unsigned level)
{
	const struct dmodk *s = row->plan->spread;

	return s->level[level].digit[dest] + s->hot[dest].offset;
}

/* The candidate at which the search for the least used one starts, which breaks ties. */
static unsigned start_of(const struct port_select_row *row, uint32_t dest)
{
	uint64_t sum = 0;

	if (!row->plan->options->port_shifting)
		return turn_of(row, dest, 0) % row->n_candidates;
	for (unsigned i = 0; i < row->n_candidates; i++)
		sum += row->count[row->candidates[i]];
	return (unsigned)(sum / row->n_candidates % row->n_candidates);
}

static bool scatters(const struct port_select_row *row, uint32_t dest)
{
	const struct port_select_plan *plan = row->plan;

	if (!plan->options->scatter_seed || plan->spread->hot[dest].offset)
		return false;
	return !(plan->options->order_no_scatter && port_select_is_ordered(row, dest));
}

/*
 * Ports, groups and chassis that earlier LIDs of the end port use; numbers of unused ones among the
 * candidates.
 */
struct usage {
	bool chassis[PORTS], group[PORTS], port[PORTS];
	unsigned chassis_left, groups_left, ports_left;
};

static void use_port(const struct port_select_row *row, struct usage *u, uint8_t port)
{
	uint8_t group = row->group[port], chassis = row->chassis[group];

	u->chassis_left -= !u->chassis[chassis];
	u->groups_left -= !u->group[group];
	u->ports_left -= !u->port[port];
	u->chassis[chassis] = u->group[group] = u->port[port] = true;
}

/* Sets the numbers of unused ones to those of all candidates, and marks none as used. */
static void usage_begin(const struct port_select_row *row, struct usage *u)
{
	struct usage all = { .chassis_left = 0 };

	for (unsigned i = 0; i < row->n_candidates; i++)
		use_port(row, &all, row->candidates[i]);
	*u = (struct usage){
		.chassis_left = -all.chassis_left,
		.groups_left = -all.groups_left,
		.ports_left = -all.ports_left,
	};
}

/* Is the port on an unused chassis; if none is left, by an unused group; then, an unused port? */
static bool is_fresh(const struct port_select_row *row, const struct usage *u, uint8_t port)
{
	if (u->chassis_left)
		return !u->chassis[row->chassis[row->group[port]]];
	if (u->groups_left)
		return !u->group[row->group[port]];
	return !u->ports_left || !u->port[port];
}

/*
 * The least used candidate; of several the first from the start on. One sort key avoids branches.
 */
static uint8_t least_of_all(const struct port_select_row *row, uint32_t dest)
{
	uint32_t n = row->n_candidates, start = start_of(row, dest), best = UINT32_MAX, turn = 0;

	for (uint32_t i = start; i < n; i++, turn++)
		best = MIN(best, row->count[row->candidates[i]] << 8 | turn);
	for (uint32_t i = 0; i < start; i++, turn++)
		best = MIN(best, row->count[row->candidates[i]] << 8 | turn);
	best = start + (best & 0xFF);
	return row->candidates[best < n ? best : best - n];
}

/* The least used of the fresh candidates (`u` NULL: of all). */
static uint8_t least_count(struct port_select_row *row, uint32_t dest, const struct usage *u)
{
	unsigned n = row->n_candidates, start = start_of(row, dest), ties = 0;
	uint32_t least = UINT32_MAX;
	uint8_t tied[PORTS];

	for (unsigned i = 0; i < n; i++) {
		uint8_t port = row->candidates[start + i < n ? start + i : start + i - n];

		if (row->count[port] > least || (u && !is_fresh(row, u, port)))
			continue;
		if (row->count[port] < least)
			ties = 0;
		least = row->count[port];
		tied[ties++] = port;
	}
	return tied[scatters(row, dest) ? random_next(&row->random) % ties : 0];
}

/* The group at this index among those that lead to `at`, in the order of bits. */
static const struct graph_group *nth_way(const struct port_select_row *row, uint32_t at,
					 uint32_t place)
{
	for (uint32_t w = 0; w * 16 < row->n_groups; w++) {
		unsigned ways = row->ways.bits[w * row->plan->graph->n + at],
			 n = (unsigned)__builtin_popcount(ways);

		for (unsigned k = 0; place < n && k < place; k++)
			ways &= ways - 1;
		if (place < n)
			return &row->groups[w * 16 + (unsigned)__builtin_ctz(ways)];
		place -= n;
	}
	return NULL;
}

/*
 * The port for a LID of switch `at` with this slot: any neighbour that is nearer. Homes are for end
 * ports: if all switches used one home, each would change when its cable fails.
 */
static uint8_t any_port(const struct port_select_row *row, uint32_t at, uint32_t slot)
{
	uint32_t place = dmodk_any(slot, port_select_via(row), row->ways.n[at]);
	const struct graph_group *way =
		row->ways.full[at] ? &row->groups[row->by_way[place]] : nth_way(row, at, place);

	return way ? row->plan->graph->ports[way->first_port + slot % way->n_ports] : 0;
}

bool port_select_is_sure(const struct port_select_row *row, uint32_t at)
{
	return !row->plan->oriented || (row->ways.full[at] && row->dist[at] & DISTANCE_UP);
}

/* Does every path to `home` lead on to `at`? In an oriented graph it may not. */
static bool goes_on(const struct port_select_row *row, uint32_t home, uint32_t at)
{
	if (!row->plan->oriented)
		return true;
	for (uint32_t n = row->plan->graph->n, i = 0; i * 16 < row->n_groups; i++)
		if (row->ways.bits[i * n + home] & ~row->ways.bits[i * n + at])
			return false;
	return true;
}

/* The highest of the lowest `n` homes that is on a shortest path; `at` itself if none is. */
static uint32_t find_waypoint(const struct port_select_row *row, uint32_t dest, uint32_t at,
			      unsigned n)
{
	const struct dmodk *s = row->plan->spread;

	while (n-- > 0) {
		uint32_t home = s->level[n].home[dest];

		if (home != row->sw &&
		    graph_is_path((uint16_t)(row->dist[home] + s->level[n].distance[dest]),
				  row->dist[at]) &&
		    goes_on(row, home, at))
			return home;
	}
	return at;
}

/*
 * A port of parallel cables, by the rest of the slot at their level. 0 between switches of one
 * level: ports are counted.
 */
static uint8_t parallel_port(const struct port_select_row *row, uint32_t dest, uint32_t target)
{
	const struct graph *g = row->plan->graph;
	const struct graph_group *only = &row->groups[row->ways.last[target] >> 8];
	uint16_t here = row->plan->spread->rank[row->sw], there = row->plan->spread->rank[only->to];
	unsigned level = MIN((unsigned)MAX(here, there), (unsigned)row->plan->spread->depth[dest]);

	if (here == there)
		return 0;
	return g->ports[only->first_port + turn_of(row, dest, level) % only->n_ports];
}

/*
 * Is the flow diverted: several neighbours, no home on the path, and no flow starts here? Such
 * flows are rare; they take their digit of this level and are not counted.
 */
static bool is_diverted(const struct port_select_row *row, uint32_t dest, uint32_t at,
			uint32_t target)
{
	const struct dmodk *s = row->plan->spread;
	uint16_t rank = s->rank[row->sw];

	if (target != at || row->ways.n[at] < 2 || !s->hot[dest].port)
		return false;
	return rank && rank < s->depth[dest];
}

/* The result is kept for the next destination, which mostly has the same turn. */
uint8_t port_select_diverted(struct port_select_row *row, uint32_t dest, uint32_t at)
{
	uint32_t turn = turn_of(row, dest, row->plan->spread->rank[row->sw]);

	if (turn == row->turn && at == row->turn_at)
		return row->turn_port;
	row->turn = turn;
	row->turn_at = at;
	if (row->parallel) {
		find_candidates(row, at);
		row->turn_port = row->candidates[turn % row->n_candidates];
	} else {
		row->turn_port =
			row->plan->graph
				->ports[nth_way(row, at, turn % row->ways.n[at])->first_port];
	}
	return row->turn_port;
}

/* The port by the closed form; 0: several neighbours are equal, so ports are counted. */
static uint8_t closed_form(struct port_select_row *row, uint32_t dest, uint32_t at, uint32_t target)
{
	if (row->ways.unique[target])
		return (uint8_t)row->ways.unique[target];
	if (row->ways.n[target] == 1)
		return parallel_port(row, dest, target);
	if (port_select_is_idle(row, dest))
		return any_port(row, at, turn_of(row, dest, 0));
	return is_diverted(row, dest, at, target) ? port_select_diverted(row, dest, at) : 0;
}

/*
 * Places a destination whose highest home does not decide, or whose old port differs. Entries that
 * are counted and may stay are appended to `waiting` if cables came back: see give_back().
 */
void port_select_one(struct port_select_row *row, uint32_t dest, uint32_t at, unsigned n_homes)
{
	unsigned n = port_select_is_idle(row, dest) ? 0 : n_homes;
	uint32_t target = find_waypoint(row, dest, at, n);
	lid_t lid = row->plan->spread->hot[dest].lid;
	uint8_t old = row->old ? old_port(row, dest, at) : 0, port = old;
	bool gains = row->old && row->plan->change->gains;

	if (!old || gains)
		port = closed_form(row, dest, at, target);
	if (old && port && port != old && !is_new_way(row, port, at))
		port = old;
	if (port && is_diverted(row, dest, at, target)) {
		row->lft[lid] = port;
		return;
	}
	if (port || old)
		port_select_put(row, dest, port ? port : old);
	else
		row->lft[lid] = LFT_NO_PORT;
	if (port)
		return;
	APPEND(row->waiting, row->n_waiting, row->cap_waiting) =
		(struct waiting){ .dest = dest, .target = target, .at = at, .old = old };
}

static void place_by_count(struct port_select_row *row, uint32_t dest, uint32_t target)
{
	find_candidates(row, target);
	port_select_put(row, dest,
			scatters(row, dest) ? least_count(row, dest, NULL)
					    : least_of_all(row, dest));
}

/* Moves an entry to a new path if that is less used even with it. */
static void give_back(struct port_select_row *row, const struct waiting *w)
{
	uint8_t best = w->old;

	if (!is_counted(row, w->dest, w->old))
		return;
	find_candidates(row, w->target);
	for (unsigned i = 0; i < row->n_candidates; i++) {
		uint8_t port = row->candidates[i];
		uint32_t with = row->count[port] + 1;

		if (with < row->count[best] + (best != w->old) && is_new_way(row, port, w->at))
			best = port;
	}
	if (best == w->old)
		return;
	row->count[w->old]--;
	port_select_put(row, w->dest, best);
}

/* The old port or the closed form; 0: ports have to be counted. */
static uint8_t wanted_port(struct port_select_row *row, uint32_t dest, uint32_t at, uint8_t old,
			   const struct usage *u)
{
	unsigned n_homes = port_select_is_idle(row, dest) ? 0 : row->plan->spread->depth[dest];
	uint8_t port;

	if (old && !row->plan->change->gains)
		return old;
	port = closed_form(row, dest, at, find_waypoint(row, dest, at, n_homes));
	if (port && u && !is_fresh(row, u, port))
		port = 0;
	if (!old)
		return port;
	return port && port != old && is_new_way(row, port, at) ? port : old;
}

void port_select_group(struct port_select_row *row, uint32_t first, uint32_t n, uint32_t at)
{
	const struct port_select_plan *plan = row->plan;
	bool exact = plan->options->scatter_seed || port_select_is_ordered(row, first);
	struct usage u;

	find_candidates(row, at);
	if (n > 1)
		usage_begin(row, &u);
	for (uint32_t dest = first; dest < first + n; dest++) {
		uint8_t port = old_port(row, dest, at);

		if (plan->spread->hot[dest].lid >= row->cap)
			continue;
		if (!exact)
			port = wanted_port(row, dest, at, port, n > 1 ? &u : NULL);
		if (!port)
			port = least_count(row, dest, n > 1 ? &u : NULL);
		if (n > 1)
			use_port(row, &u, port);
		port_select_put(row, dest, port);
	}
}

void port_select_count_unseen(struct port_select_row *row)
{
	const struct dmodk *s = row->plan->spread;

	if (!row->old || row->counted)
		return;
	row->counted = true;
	for (uint32_t at = 0; at < row->plan->graph->n; at++) {
		if (at == row->sw || !port_select_is_unseen(row, at) ||
		    row->dist[at] == DISTANCE_NONE)
			continue;
		for (uint32_t i = s->first[at]; i < s->first[at + 1]; i++) {
			lid_t lid = s->hot[i].lid;
			uint8_t port = lid < row->cap && lid <= row->old_top ? row->old[lid] : 0;

			if (row->plan->change->same[i] && port &&
			    !is_diverted(row, i, at, find_waypoint(row, i, at, s->depth[i])))
				row->count[port] += is_counted(row, i, port);
		}
	}
}

void port_select_fill_waiting(struct port_select_row *row)
{
	if (!row->n_waiting || !row->counting)
		return;
	port_select_count_unseen(row);
	for (size_t i = 0; i < row->n_waiting; i++)
		if (!row->waiting[i].old)
			place_by_count(row, row->waiting[i].dest, row->waiting[i].target);
	for (size_t i = 0; i < row->n_waiting; i++)
		if (row->waiting[i].old)
			give_back(row, &row->waiting[i]);
}
