// SPDX-License-Identifier: BSD-2-Clause
/*
 * One row: the closed form where homes decide, counting where they do not.
 *
 * Order within a row: the end ports of guid_routing_order_file, then everything a home or a single
 * path decides, then the rest by least count. Never looks at another row, so all rows agree only
 * through the spread they share.
 */
#include "route/tree/port_select_internal.h"

#include <string.h>

#include "util/mem.h"
#include "util/random.h"

static guid_t chassis_guid(const struct topo *t, uint32_t sw)
{
	return t->switches[sw].sysimg_guid ? t->switches[sw].sysimg_guid : t->switches[sw].guid;
}

static uint8_t first_of_chassis(const struct port_select_row *row, uint32_t group)
{
	const struct graph *g = row->plan->graph;
	const struct graph_group *groups = row->groups;
	guid_t guid = chassis_guid(g->topo, groups[group].to);

	for (uint32_t i = 0; i < group && row->plan->spread->some_lmc; i++)
		if (chassis_guid(g->topo, groups[i].to) == guid)
			return (uint8_t)i;
	return (uint8_t)group;
}

static void sort_by_way(struct port_select_row *row)
{
	const struct graph *g = row->plan->graph;
	uint32_t down = row->n_groups;

	row->n_up = row->n_all = 0;
	for (uint32_t i = 0; i < row->n_groups; i++) {
		if (!dmodk_leads_up(row->plan->spread, row->plan->oriented, row->sw,
				    &row->groups[i])) {
			row->by_way[--down] = (uint8_t)i;
			continue;
		}
		row->by_way[row->n_up++] = (uint8_t)i;
		for (unsigned p = 0; p < row->groups[i].n_ports; p++)
			row->all[row->n_all++] = g->ports[row->groups[i].first_port + p];
	}
}

static void find_peers(struct port_select_row *row)
{
	const struct graph *g = row->plan->graph;

	memset(row->peer, 0xFF, sizeof(row->peer));
	row->parallel = false;
	row->groups = &g->groups[g->first[row->sw]];
	row->n_groups = g->first[row->sw + 1] - g->first[row->sw];
	for (uint32_t i = 0; i < row->n_groups; i++) {
		const struct graph_group *group = &row->groups[i];

		row->from[i] = distances_from(row->plan->distances, group->to);
		row->parallel |= group->n_ports > 1;
		for (unsigned p = 0; p < group->n_ports; p++) {
			row->peer[g->ports[group->first_port + p]] = group->to;
			row->group[g->ports[group->first_port + p]] = (uint8_t)i;
		}
		row->chassis[i] = first_of_chassis(row, i);
	}
	sort_by_way(row);
}

static bool was_elsewhere(const struct port_select_row *row, lid_t lid, uint8_t port)
{
	return row->old && lid <= row->old_top && row->old[lid] != port;
}

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
	if (was == target ||
	    (was != TOPO_NONE && row->ways.full[target] && row->ways.full[was]))
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

static bool is_ordered(const struct port_select_row *row, uint32_t dest)
{
	return row->plan->is_ordered && row->plan->is_ordered[dest];
}

static bool scatters(const struct port_select_row *row, uint32_t dest)
{
	const struct port_select_plan *plan = row->plan;

	if (!plan->options->scatter_seed || plan->spread->hot[dest].offset)
		return false;
	return !(plan->options->order_no_scatter && is_ordered(row, dest));
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
	return !row->plan->oriented ||
	       (row->ways.full[at] && row->dist[at] & DISTANCE_UP);
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
		row->turn_port = row->plan->graph->ports[
			nth_way(row, at, turn % row->ways.n[at])->first_port];
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

static void port_select_by_count(struct port_select_row *row, uint32_t dest, uint32_t target)
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

/*
 * Places the LIDs of one end port (LMC), `n` in a row, on different chassis, groups and ports if
 * possible.
 */
static void port_select_group(struct port_select_row *row, uint32_t first, uint32_t n, uint32_t at)
{
	const struct port_select_plan *plan = row->plan;
	bool exact = plan->options->scatter_seed || is_ordered(row, first);
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

/* The end of the LIDs of the end port that begin at destination `first`. */
static uint32_t end_of_group(const struct dmodk *s, uint32_t first, uint32_t end)
{
	uint32_t i = first + 1;

	while (i < end && s->hot[i].offset)
		i++;
	return i;
}

/* Places the LIDs of switch `at` itself; fill.c places its end ports. */
static void fill_switch_lids(struct port_select_row *row, uint32_t at, uint32_t first, uint32_t end)
{
	const struct dmodk *s = row->plan->spread;

	for (uint32_t i = first; i < end && !s->hot[i].port; i++)
		if (s->hot[i].lid < row->cap)
			port_select_one(row, i, at, s->depth[i]);
}

/*
 * Sets all destinations on `at` whatever their old entry: to their port, or if `at` is another
 * switch, to no port.
 */
static void fill_all(struct port_select_row *row, uint32_t at, uint32_t first, uint32_t end)
{
	const struct dmodk *s = row->plan->spread;

	for (uint32_t i = first; i < end; i++)
		if (s->hot[i].lid < row->cap)
			row->lft[s->hot[i].lid] = at == row->sw ? s->hot[i].port : LFT_NO_PORT;
}

/* Places all destinations on a switch to which only one port leads. */
static void fill_single(struct port_select_row *row, uint32_t at, uint32_t first, uint32_t end)
{
	const struct dmodk *s = row->plan->spread;
	uint8_t port = (uint8_t)row->ways.unique[at];
	uint32_t hosts = 0;

	if (!row->simple) {
		for (uint32_t i = first; i < end; i++)
			if (s->hot[i].lid < row->cap && !is_ordered(row, i))
				port_select_put(row, i, port);
		return;
	}
	for (uint32_t i = first; i < end; i++) {
		if (s->hot[i].lid >= row->cap)
			continue;
		row->lft[s->hot[i].lid] = port;
		hosts += s->hot[i].port != 0;
	}
	row->count[port] += hosts;
}

/* Places destinations by end port; those that are ordered have been placed. */
static void fill_groups(struct port_select_row *row, uint32_t at, uint32_t first, uint32_t end)
{
	const struct port_select_plan *plan = row->plan;
	const struct dmodk *s = plan->spread;
	uint32_t next;

	for (uint32_t i = first; i < end; i = next) {
		next = end_of_group(s, i, end);
		if (is_ordered(row, i))
			continue;
		if (next > i + 1 || (plan->options->scatter_seed && s->hot[i].port))
			port_select_group(row, i, next - i, at);
		else if (s->hot[i].lid < row->cap)
			port_select_one(row, i, at, s->depth[i]);
	}
}

/*
 * Places one destination after the other: allowed entries stay, those that homes do not decide
 * wait.
 */
static void fill_carefully(struct port_select_row *row, uint32_t at, uint32_t first, uint32_t end)
{
	const struct dmodk *s = row->plan->spread;
	const struct dmodk_hot *h = &s->hot[first];
	uint16_t dist = row->dist[at];
	bool sure = port_select_is_sure(row, at);

	for (uint32_t i = first; i < end; i++, h++) {
		bool homeward =
			graph_is_path((uint16_t)(row->dist[h->home] + h->distance), dist);
		uint8_t port = (uint8_t)row->ways.unique[h->home];

		if (h->lid >= row->cap)
			continue;
		if (!homeward || !port || !h->port || was_elsewhere(row, h->lid, port) || !sure ||
		    row->dist[h->home] + h->distance != dist) {
			port_select_one(row, i, at, s->depth[i] - (!homeward && s->depth[i]));
			continue;
		}
		row->lft[h->lid] = port;
		row->count[port] += h->port != 0;
	}
}

/* Places destinations first .. end - 1 on switch `at`. */
static void fill_target(struct port_select_row *row, uint32_t at, uint32_t first, uint32_t end)
{
	if (row->dist[at] == DISTANCE_NONE)
		fill_all(row, at, first, end);
	else if (row->plan->switches_only)
		fill_switch_lids(row, at, first, end);
	else if (row->ways.unique[at])
		fill_single(row, at, first, end);
	else if (!row->simple || row->plan->spread->has_lmc[at])
		fill_groups(row, at, first, end);
	else if (!port_select_at_once(row, at, first, end))
		fill_carefully(row, at, first, end);
}

/* Has no path from this switch to `at` changed? Its entries then stay unseen. */
static bool is_unseen(const struct port_select_row *row, uint32_t at)
{
	return row->old && !change_moved(row->plan->change, row->sw, at);
}

static void fill_newcomers(struct port_select_row *row)
{
	const struct change *c = row->plan->change;

	for (uint32_t i = 0; i < c->n_newcomers; i++) {
		const struct change_newcomer *new = &c->newcomers[i];

		if (new->at != row->sw && is_unseen(row, new->at))
			fill_target(row, new->at, new->first, new->first + new->n);
	}
}

/* Adds entries that stayed unseen to the counts. */
static void count_unseen(struct port_select_row *row)
{
	const struct dmodk *s = row->plan->spread;

	if (!row->old || row->counted)
		return;
	row->counted = true;
	for (uint32_t at = 0; at < row->plan->graph->n; at++) {
		if (at == row->sw || !is_unseen(row, at) || row->dist[at] == DISTANCE_NONE)
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

static void fill_ordered(struct port_select_row *row)
{
	const struct port_select_plan *plan = row->plan;
	const struct dmodk *s = plan->spread;

	for (uint32_t i = 0; i < plan->n_ordered; i++) {
		uint32_t dest = plan->ordered[i];
		uint32_t at = plan->graph->topo->hosts[s->host[dest]].sw;

		if (at != row->sw && row->dist[at] != DISTANCE_NONE &&
		    !(is_unseen(row, at) && plan->change->same[dest]))
			port_select_group(row, dest, end_of_group(s, dest, s->first[at + 1]) - dest,
					  at);
	}
}

static void row_begin(struct port_select_row *row, uint32_t sw, uint8_t *lft, uint32_t size)
{
	const struct port_select_plan *plan = row->plan;
	const struct change *c = plan->change;

	row->sw = sw;
	row->lft = lft;
	row->size = size;
	row->old = NULL;
	row->cap = plan->graph->topo->switches[sw].lft_cap;
	row->n_tables = 0;
	if (c && c->previous_sw[sw] != TOPO_NONE) {
		row->old = routes_row(c->previous, c->previous_sw[sw]);
		row->old_top = c->previous->top;
	}
	row->dist = distances_from(plan->distances, sw);
	row->simple = !plan->is_ordered && !plan->ignored && !plan->options->count_switches &&
		      !plan->options->scatter_seed;
	row->n_waiting = 0;
	row->target = row->turn_at = TOPO_NONE;
}

/* Places entries that wait for counts: first those without a port, then those that may move. */
static void fill_waiting(struct port_select_row *row)
{
	if (!row->n_waiting || !row->counting)
		return;
	count_unseen(row);
	for (size_t i = 0; i < row->n_waiting; i++)
		if (!row->waiting[i].old)
			port_select_by_count(row, row->waiting[i].dest, row->waiting[i].target);
	for (size_t i = 0; i < row->n_waiting; i++)
		if (row->waiting[i].old)
			give_back(row, &row->waiting[i]);
}

static void row_clear(struct port_select_row *row)
{
	const struct port_select_plan *plan = row->plan;
	uint32_t n = MIN(MIN(row->size, (uint32_t)row->cap), row->old_top + 1u);

	memset(row->lft, LFT_NO_PORT, row->size);
	if (row->old)
		memcpy(row->lft, row->old, n);
	memset(row->count, 0, sizeof(row->count));
	row->random = plan->options->scatter_seed ^ plan->graph->topo->switches[row->sw].guid;
	row->counted = false;
	row->n_waiting = 0;
}

static void fill_from_scratch(struct port_select_row *row)
{
	const struct dmodk *s = row->plan->spread;

	row_clear(row);
	fill_all(row, row->sw, s->first[row->sw], s->first[row->sw + 1]);
	if (!row->simple || row->plan->spread->some_lmc)
		count_unseen(row);
	fill_ordered(row);
	for (uint32_t at = 0; at < row->plan->graph->n; at++)
		if (at != row->sw && !is_unseen(row, at) && s->first[at] < s->first[at + 1])
			fill_target(row, at, s->first[at], s->first[at + 1]);
	if (row->old)
		fill_newcomers(row);
	fill_waiting(row);
}

/* Corrects a copy of the model where this row differs. False: counts are needed. */
static bool fill_differences(struct port_select_row *row)
{
	const struct dmodk *s = row->plan->spread;

	fill_all(row, row->sw, s->first[row->sw], s->first[row->sw + 1]);
	for (uint32_t i = 0; i < row->like->n_found; i++) {
		uint32_t at = row->like->found[i];

		if (at != row->sw && s->first[at] < s->first[at + 1])
			fill_target(row, at, s->first[at], s->first[at + 1]);
	}
	return !row->n_waiting;
}

static void share(struct port_select_row *row)
{
	port_select_part(row);
	port_select_share(row);
}

static bool fill_as_twin(struct port_select_row *row)
{
	bool filled;

	if (!port_select_like_twin(row))
		return false;
	filled = fill_differences(row);
	if (filled)
		share(row);
	port_select_like_return(row);
	return filled;
}

/* Fills a row that is no twin. If entries wait and nothing was counted, it is filled again. */
static void fill_alone(struct port_select_row *row)
{
	port_select_find_ways(row);
	row->n_waiting = 0;
	if (port_select_like_try(row) && fill_differences(row)) {
		share(row);
		return;
	}
	fill_from_scratch(row);
	if (row->n_waiting && !row->counting) {
		row->counting = true;
		fill_from_scratch(row);
	}
	row->counting = row->n_waiting > 0;
	share(row);
	port_select_like_take(row);
}

void port_select_fill(struct port_select_row *row, uint32_t sw, uint8_t *lft, uint32_t size)
{
	row_begin(row, sw, lft, size);
	find_peers(row);
	if (!fill_as_twin(row))
		fill_alone(row);
}
