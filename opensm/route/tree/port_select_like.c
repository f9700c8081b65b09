// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows that are nearly those of another switch: the row is copied, and only destinations that
 * differ are placed.
 *
 * In a tree, switches with the same neighbours up (leaves of one pod, or switches at the same place
 * of two pods) have the same rows except for their own pods. An entry depends on the distances of
 * its switch and homes and on the paths to them, besides counts; if these are equal, so is the
 * entry. No path is chosen here, and the choice of the model affects only time.
 */
#include "route/tree/port_select_internal.h"

#include <string.h>

#include "route/core/simd.h"
#include "util/bisect.h"
#include "util/mem.h"

#define RUN 32 /* number of rows that one thread fills in sequence */

/* Lists pairs (home, switch with destinations that have this home), by home. */
static void find_below(struct port_select_likes *l, const struct dmodk *s, uint32_t n)
{
	_cleanup_free_ uint32_t *last = xmalloc(n * sizeof(*last));

	ARENA_ARRAY(&l->memory, l->first, (size_t)n + 2);
	for (unsigned pass = 0; pass < 2; pass++) {
		memset(last, 0xFF, n * sizeof(*last));
		for (uint32_t at = 0; at < n; at++)
			for (uint32_t i = s->first[at]; i < s->first[at + 1]; i++)
				for (unsigned k = 0; k < s->depth[i]; k++) {
					uint32_t home = s->level[k].home[i];

					if (last[home] == at)
						continue;
					last[home] = at;
					if (pass)
						l->below[l->first[home + 1]++] = at;
					else
						l->first[home + 2]++;
				}
		for (uint32_t u = 2; !pass && u < n + 2; u++)
			l->first[u] += l->first[u - 1];
		if (!pass)
			ARENA_ARRAY(&l->memory, l->below, (size_t)l->first[n + 1] + 1);
	}
}

/*
 * A key that is equal for switches with the same neighbours up, or if there are none, the same
 * neighbours.
 */
static uint64_t key_of(const struct port_select_plan *plan, uint32_t sw)
{
	const struct graph *g = plan->graph;
	uint64_t up = 0, all = 0;

	GRAPH_EACH(g, sw, group) {
		bool is_up = dmodk_leads_up(plan->spread, plan->oriented, sw, group);
		uint64_t *key = is_up ? &up : &all;

		*key = (*key ^ group->to ^ (uint64_t)g->ports[group->first_port] << 32) *
		       UINT64_C(0x9E3779B97F4A7C15);
		*key ^= *key >> 29;
	}
	return up ? up : all;
}

static int by_key(const void *a, const void *b, void *arg)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const uint64_t *keys = arg;

	return COMPARE(keys[x], keys[y]) ?: COMPARE(x, y);
}

struct port_select_likes *port_select_likes_new(const struct port_select_plan *plan)
{
	struct port_select_likes *l = xcalloc(1, sizeof(*l));
	uint32_t n = plan->graph->n;
	_cleanup_free_ uint64_t *keys = xcalloc(n, sizeof(*keys));

	l->possible = !plan->change && !plan->spread->some_lmc && !plan->is_ordered &&
		      !plan->ignored && !plan->switches_only && !plan->options->count_switches &&
		      !plan->options->scatter_seed;
	ARENA_ARRAY(&l->memory, l->order, n);
	ARENA_ARRAY(&l->memory, l->runs, (size_t)n + 1);
	for (uint32_t u = 0; u < n; u++) {
		l->order[u] = u;
		keys[u] = l->possible ? key_of(plan, u) : u / 4;
	}
	qsort_r(l->order, n, sizeof(*l->order), by_key, keys);
	for (uint32_t i = 0; i < n; i++)
		if (!i || keys[l->order[i]] != keys[l->order[i - 1]] ||
		    i - l->runs[l->n_runs - 1] == RUN)
			l->runs[l->n_runs++] = i;
	l->runs[l->n_runs] = n;
	if (l->possible)
		find_below(l, plan->spread, n);
	return l;
}

ARENA_FREE(port_select_likes_free, struct port_select_likes)

struct port_select_like *port_select_like_new(uint32_t n, struct arena *memory)
{
	struct port_select_like *m = arena_calloc(memory, 1, sizeof(*m));

	m->sw = TOPO_NONE;
	ARENA_ARRAY(memory, m->differs, (size_t)n + SIMD_LANES);
	ARENA_ARRAYS(memory, n, m->found, m->marked);
	port_select_ways_open(&m->ways, n, memory);
	return m;
}

/* Exchanges the paths of the row and of the model. */
static void swap_ways(struct port_select_row *row)
{
	struct port_select_ways ways = row->ways;

	row->ways = row->like->ways;
	row->like->ways = ways;
}

void port_select_like_take(struct port_select_row *row)
{
	struct port_select_like *m = row->like;
	struct port_select_parted parted = m->parted;

	m->sw = TOPO_NONE;
	if (!row->plan->likes->possible || row->n_waiting || row->cap <= row->plan->spread->top)
		return;
	m->sw = row->sw;
	m->lft = row->lft;
	m->dist = row->dist;
	m->groups = row->groups;
	m->n_groups = row->n_groups;
	m->n_up = row->n_up;
	memcpy(m->by_way, row->by_way, row->n_up);
	m->parted = row->parted;
	row->parted = parted;
	swap_ways(row);
}

/* Has group `i` the same ports as group `k` of the model? */
static bool same_group(const struct port_select_row *row, uint32_t i, uint32_t k)
{
	const uint8_t *ports = row->plan->graph->ports;
	const struct graph_group *a = &row->groups[i], *b = &row->like->groups[k];

	return a->n_ports == b->n_ports &&
	       !memcmp(ports + a->first_port, ports + b->first_port, a->n_ports);
}

/* Are the groups up equal, and the first neighbour (port_select_via()) the same? */
static bool same_ways_up(const struct port_select_row *row)
{
	const struct port_select_like *m = row->like;
	const uint16_t *rank = row->plan->spread->rank;
	bool same = rank[row->sw] == rank[m->sw] && row->n_up == m->n_up &&
		    (!m->n_up || m->groups[m->by_way[0]].to == port_select_via(row));

	for (uint32_t i = 0; same && i < m->n_up; i++)
		same = same_group(row, row->by_way[i], m->by_way[i]);
	return same;
}

static bool same_ports(const struct port_select_row *row)
{
	bool same = row->n_groups == row->like->n_groups;

	for (uint32_t i = 0; same && i < row->n_groups; i++)
		same = same_group(row, i, i);
	return same;
}

/*
 * Marks switches at another distance, or with other paths. Paths are equal if the only port is the
 * same, or if they are all groups up; and, if all groups have equal ports, if they are the same
 * groups.
 */
SIMD_CLONES
static void compare_targets(const struct port_select_row *row, uint32_t n, uint32_t n_planes)
{
	const struct port_select_like *m = row->like;

	for (uint32_t x = 0; x < n; x += SIMD_LANES) {
		uint32_t at = x + SIMD_LANES <= n ? x : n - SIMD_LANES;
		simd_u16 dist = *(const simd_u16 *)(row->dist + at),
			 unique = *(const simd_u16 *)(row->ways.unique + at);
		simd_u16 same = (simd_u16)(unique == *(const simd_u16 *)(m->ways.unique + at)) &
				(simd_u16)(unique != 0);
		simd_u16 groups = ~(simd_u16){ 0 };

		same |= (simd_u16)((*(const simd_u16 *)(row->ways.full + at) &
				    *(const simd_u16 *)(m->ways.full + at)) != 0);
		for (uint32_t p = 0; p < n_planes; p++)
			groups &= (simd_u16)(*(const simd_u16 *)(row->ways.bits + p * n + at) ==
					     *(const simd_u16 *)(m->ways.bits + p * n + at));
		if (n_planes)
			same |= groups;
		same |= (simd_u16)(dist == DISTANCE_NONE);
		same &= (simd_u16)(dist == *(const simd_u16 *)(m->dist + at));
		*(simd_u16 *)(m->differs + at) = ~same;
	}
}

static void mark_target(struct port_select_like *m, uint32_t at)
{
	if (m->marked[at])
		return;
	m->marked[at] = true;
	m->found[m->n_found++] = at;
}

/*
 * Marks switches below a home that differs. A home at an equal distance is on no path to a switch
 * that is not farther.
 */
static void mark_below(struct port_select_row *row, uint32_t home)
{
	const struct port_select_likes *l = row->plan->likes;
	struct port_select_like *m = row->like;
	bool farther = m->dist[home] != row->dist[home];

	mark_target(m, home);
	for (uint32_t i = l->first[home]; i < l->first[home + 1]; i++)
		if (farther || row->dist[home] < row->dist[l->below[i]])
			mark_target(m, l->below[i]);
}

static void unmark_targets(struct port_select_like *m)
{
	for (uint32_t i = 0; i < m->n_found; i++)
		m->marked[m->found[i]] = false;
}

/* Lists switches with destinations whose entries may differ. False: too many. */
static bool find_marked(struct port_select_row *row, uint32_t n)
{
	struct port_select_like *m = row->like;

	m->n_found = 0;
	for (uint32_t x = 0; x < n && m->n_found <= n / 2; x++)
		if (m->differs[x])
			mark_below(row, x);
	unmark_targets(m);
	return m->n_found <= n / 2;
}

/* Copies the model without its redirected flows, which differ by switch. */
static void copy_model(struct port_select_row *row)
{
	const struct port_select_like *m = row->like;

	memcpy(row->lft, m->lft, row->size);
	for (size_t i = 0; i < m->parted.n; i++)
		row->lft[m->parted.entries[i].lid] = m->parted.entries[i].port;
}

static bool may_be_like(const struct port_select_row *row)
{
	return row->like->sw != TOPO_NONE && row->cap > row->plan->spread->top && same_ways_up(row);
}

bool port_select_like_try(struct port_select_row *row)
{
	uint32_t n = row->plan->graph->n;

	if (n < SIMD_LANES || !may_be_like(row))
		return false;
	compare_targets(row, n, same_ports(row) ? (row->n_groups + 15) / 16 : 0);
	if (!find_marked(row, n))
		return false;
	copy_model(row);
	return true;
}

static bool same_neighbours(const struct port_select_row *row)
{
	const struct graph_group *groups = row->like->groups;

	for (uint32_t i = 0; i < row->n_groups; i++)
		if (groups[i].to != row->groups[i].to ||
		    groups[i].weight != row->groups[i].weight ||
		    groups[i].way != row->groups[i].way)
			return false;
	return true;
}

/* Are all switches but these two at equal distances from both? */
static bool same_distances(const struct port_select_row *row, uint32_t n)
{
	const struct port_select_like *m = row->like;
	uint32_t low = MIN(m->sw, row->sw), high = MAX(m->sw, row->sw);

	return !memcmp(row->dist, m->dist, low * sizeof(*row->dist)) &&
	       !memcmp(row->dist + low + 1, m->dist + low + 1,
		       (high - low - 1) * sizeof(*row->dist)) &&
	       !memcmp(row->dist + high + 1, m->dist + high + 1,
		       (n - high - 1) * sizeof(*row->dist));
}

bool port_select_like_twin(struct port_select_row *row)
{
	struct port_select_like *m = row->like;

	if (!may_be_like(row) || !same_ports(row) || !same_neighbours(row) ||
	    !same_distances(row, row->plan->graph->n))
		return false;
	m->n_found = 0;
	mark_below(row, m->sw);
	mark_below(row, row->sw);
	unmark_targets(m);
	copy_model(row);
	swap_ways(row);
	port_select_find_two(row, m->sw, row->sw);
	return true;
}

void port_select_like_return(struct port_select_row *row)
{
	struct port_select_like *m = row->like;

	row->dist = m->dist;
	port_select_find_two(row, m->sw, row->sw);
	row->dist = distances_from(row->plan->distances, row->sw);
	swap_ways(row);
}
