// SPDX-License-Identifier: BSD-2-Clause
/*
 * One row: the closed form where homes decide, counting where they do not (port_select_one.c).
 *
 * Order within a row: the end ports of guid_routing_order_file, then everything a home or a single
 * path decides, then the rest by least count. Never looks at another row, so all rows agree only
 * through the spread they share.
 */
#include "route/tree/port_select_internal.h"

#include <string.h>

#include "util/mem.h"

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
			if (s->hot[i].lid < row->cap && !port_select_is_ordered(row, i))
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
		if (port_select_is_ordered(row, i))
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

static void fill_newcomers(struct port_select_row *row)
{
	const struct change *c = row->plan->change;

	for (uint32_t i = 0; i < c->n_newcomers; i++) {
		const struct change_newcomer *new = &c->newcomers[i];

		if (new->at != row->sw && port_select_is_unseen(row, new->at))
			fill_target(row, new->at, new->first, new->first + new->n);
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
		    !(port_select_is_unseen(row, at) && plan->change->same[dest]))
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
		port_select_count_unseen(row);
	fill_ordered(row);
	for (uint32_t at = 0; at < row->plan->graph->n; at++)
		if (at != row->sw && !port_select_is_unseen(row, at) &&
		    s->first[at] < s->first[at + 1])
			fill_target(row, at, s->first[at], s->first[at + 1]);
	if (row->old)
		fill_newcomers(row);
	port_select_fill_waiting(row);
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

struct port_select_row *port_select_row_new(const struct port_select_plan *plan)
{
	struct port_select_row *row = xcalloc(1, sizeof(*row));
	uint32_t n = plan->graph->n;

	row->plan = plan;
	port_select_ways_open(&row->ways, n, &row->memory);
	row->like = port_select_like_new(n, &row->memory);
	for (unsigned i = 0; i < PLACE_TABLES; i++)
		ARENA_ARRAY(&row->memory, row->tables[i].port, n);
	return row;
}

struct port_select_row *port_select_row_free(struct port_select_row *row)
{
	if (!row)
		return NULL;
	FREE_ALL(row->ways.bits, row->like->ways.bits, row->like->parted.entries,
		 row->parted.entries, row->waiting);
	arena_done(&row->memory);
	free(row);
	return NULL;
}
