// SPDX-License-Identifier: BSD-2-Clause
/*
 * Destination by destination: which switches are cut off from it, how far away they are with the
 * damage there is, and which of their nearer neighbours they take: of those that close no cycle
 * (grid_waits.c) the nearest, and of these the one whose further path carries least. Load is
 * counted in pairs of end ports, on top of that of the whole grid.
 */
#include "route/grid/grid_detour.h"

#include <assert.h>
#include <string.h>

#include "route/proof/keep_policy.h"
#include "util/mem.h"

#define SIDES 2

enum state {
	UNKNOWN,
	ALONG, /* the path in dimension order is whole */
	CUT,
};

struct search {
	struct grid_detours *d;
	const struct grid_ways *w;
	const struct grid *grid;
	const struct grid_ends *ends;
	const struct grid_vl_plan *vl_plan;
	const struct route_job *job;
	uint32_t *was; /* per switch: in job->previous, or TOPO_NONE; NULL: there is none */
	struct grid_waits *waits[SL2VL_VLS_MAX]; /* per set; NULL: not yet */
	uint32_t n, n_ways;
	size_t n_loads;	  /* places times ways */
	bool are_twins;	  /* grid_way()'s two are the same everywhere */
	uint32_t *place;  /* per switch */
	bool *affected;	  /* per switch: some switch is cut off from it */
	int64_t *load;	  /* [place * n_ways + way] */
	int64_t *least;	  /* the same before detours */
	unsigned n_sets;  /* that may be used */
	/* of the destination at hand */
	uint32_t to;
	unsigned odd;	  /* which of grid_way()'s */
	struct grid_waits *on; /* its set */
	bool always_thrifty, thrifty; /* prefers paths without new dependencies over less load */
	uint8_t *state;	  /* per switch */
	uint32_t *hops;	  /* per switch; TOPO_NONE: no path */
	uint64_t *cost;	  /* per switch that is cut off: of its path from here on */
	uint64_t *flow;	  /* the same */
	uint32_t *stack, *order, *next;
	uint32_t n_order; /* switches cut off that can arrive, nearest first */
	uint32_t known;	  /* state[] and order[] are of this column, as find_order() counts, + 1 */
	struct arena memory;
};

/* The direction in dimension order from `sw`, be that path whole or not. */
static unsigned straight_way(const struct search *s, uint32_t sw)
{
	uint32_t way[2];

	grid_way(s->w, sw, s->to, way);
	return way[s->odd];
}

/* ---- load of a whole grid ------------------------------------------------------------------- */

/* Counts the paths of one line, two for each pair, that leave (coordinate, side). */
static void count_line(const struct search *s, unsigned dim, uint32_t *count)
{
	unsigned size = s->grid->size[dim];

	for (unsigned from = 0; from < size; from++)
		for (unsigned to = 0; to < size; to++)
			for (unsigned twice = 0; twice < 2; twice++) {
				unsigned up = (to + size - from) % size, at = from;
				bool rises = !s->grid->wraps[dim] ? to > from
					     : 2 * up != size	   ? 2 * up < size
								   : twice;

				for (; at != to;
				     at = rises ? (at + 1) % size : (at + size - 1) % size)
					count[at * SIDES + !rises]++;
			}
}

static void fill_loads(struct search *s)
{
	uint32_t n_places = s->grid->n + s->grid->n_missing, stride = 1;
	uint64_t hosts = 0;

	for (uint32_t u = 0; u < s->n; u++)
		hosts += s->ends[u].sources;
	for (unsigned d = 0; d < s->grid->n_dims; stride *= s->grid->size[d++]) {
		unsigned size = s->grid->size[d];
		uint32_t *count = xcalloc((size_t)size * SIDES, sizeof(*count));

		count_line(s, d, count);
		for (uint32_t p = 0; p < n_places; p++)
			for (unsigned side = 0; side < SIDES; side++)
				s->load[(size_t)p * s->n_ways + SIDES * d + side] =
					(int64_t)(count[p / stride % size * SIDES + side] *
						  (n_places / size) * hosts / n_places * hosts /
						  n_places / 2);
		free(count);
	}
}

/* ---- switches that are cut off -------------------------------------------------------------- */

static bool may_go(const struct grid *grid, unsigned dim, unsigned side, unsigned from, unsigned to)
{
	unsigned size = grid->size[dim], up = (to + size - from) % size;

	if (from == to)
		return false;
	if (!grid->wraps[dim])
		return (to > from) == (side == GRID_UP);
	return side == GRID_UP ? 2 * up <= size : 2 * up >= size;
}

/* The switches whose paths use the missing cable from `sw` in this direction. */
static void mark_affected(struct search *s, uint32_t sw, unsigned way)
{
	const struct grid *grid = s->grid;
	unsigned dim = way / SIDES;

	for (uint32_t to = 0; to < s->n; to++) {
		const uint16_t *p = grid_at(grid, sw), *q = grid_at(grid, to);

		if (grid_first_dim(grid, sw, to) == dim &&
		    may_go(grid, dim, way % SIDES, p[dim], q[dim]))
			s->affected[to] = true;
	}
}

static void find_affected(struct search *s)
{
	const struct grid *grid = s->grid;

	for (uint32_t u = 0; u < s->n; u++)
		for (unsigned way = 0; way < s->n_ways; way++) {
			unsigned dim = way / SIDES,
				 end = way % SIDES == GRID_UP ? grid->size[dim] - 1u : 0;

			if (grid_neighbour(s->w, u, way) == TOPO_NONE &&
			    (grid->wraps[dim] || grid_at(grid, u)[dim] != end))
				mark_affected(s, u, way);
		}
}

static void find_cut(struct search *s)
{
	memset(s->state, UNKNOWN, s->n);
	memset(s->hops, 0xFF, s->n * sizeof(*s->hops));
	s->state[s->to] = ALONG;
	s->hops[s->to] = 0;
	for (uint32_t u = 0; u < s->n; u++) {
		uint32_t depth = 0, v = u;

		while (v != TOPO_NONE && s->state[v] == UNKNOWN) {
			assert(depth < s->n); /* dimension order never comes back */
			s->stack[depth++] = v;
			v = grid_neighbour(s->w, v, straight_way(s, v));
		}
		while (depth) {
			uint32_t x = s->stack[--depth];

			s->state[x] = v == TOPO_NONE ? CUT : s->state[v];
			if (s->state[x] == ALONG)
				s->hops[x] = s->hops[v] + 1;
			v = x;
		}
	}
}

static void settle_switch(struct search *s, uint32_t sw, uint32_t hops)
{
	if (s->state[sw] != CUT || s->hops[sw] != TOPO_NONE)
		return;
	s->hops[sw] = hops;
	s->order[s->n_order++] = sw;
}

/* Chains switches that are cut off by hops over a neighbour that is not. Returns the most hops. */
static uint32_t chain_by_hops(struct search *s, uint32_t *heads)
{
	uint32_t most = 0;

	memset(heads, 0xFF, (s->n + 2u) * sizeof(*heads));
	for (uint32_t u = 0; u < s->n; u++) {
		uint32_t least = TOPO_NONE;

		for (unsigned way = 0; s->state[u] == CUT && way < s->n_ways; way++) {
			uint32_t v = grid_neighbour(s->w, u, way);

			if (v != TOPO_NONE && s->state[v] == ALONG)
				least = MIN(least, s->hops[v] + 1);
		}
		if (least == TOPO_NONE)
			continue;
		s->next[u] = heads[least];
		heads[least] = u;
		most = MAX(most, least);
	}
	return most;
}

/* Hops of the switches that are cut off, nearest first. */
static void measure_hops(struct search *s)
{
	uint32_t *heads = s->stack, most = chain_by_hops(s, heads), before = 0;

	s->n_order = 0;
	for (uint32_t hops = 1; hops <= most || before < s->n_order; hops++) {
		uint32_t now = s->n_order;

		for (uint32_t u = hops <= most ? heads[hops] : TOPO_NONE; u != TOPO_NONE;
		     u = s->next[u])
			settle_switch(s, u, hops);
		for (; before < now; before++)
			for (unsigned way = 0; way < s->n_ways; way++) {
				uint32_t v = grid_neighbour(s->w, s->order[before], way);

				if (v != TOPO_NONE)
					settle_switch(s, v, hops);
			}
	}
}

/* ---- detours -------------------------------------------------------------------------------- */

static int64_t *load_of(const struct search *s, uint32_t sw, unsigned way)
{
	return &s->load[(size_t)s->place[sw] * s->n_ways + way];
}

/* Adds the flow to all of the path in dimension order from `sw`, what is missing included. */
static void add_along(struct search *s, uint32_t sw, int64_t flow)
{
	for (uint32_t hops = 0; sw != TOPO_NONE && sw != s->to; hops++) {
		unsigned way = straight_way(s, sw);

		assert(hops < s->n);
		*load_of(s, sw, way) += flow;
		sw = s->grid->switch_at[grid_place_beside(s->grid, s->place[sw], way)];
	}
}

static uint64_t cost_along(const struct search *s, uint32_t sw)
{
	uint64_t cost = 0;

	for (uint32_t hops = 0; sw != s->to; hops++) {
		unsigned way = straight_way(s, sw);

		assert(hops < s->n);
		cost += (uint64_t)MAX(*load_of(s, sw, way), 0);
		sw = grid_neighbour(s->w, sw, way);
	}
	return cost;
}

/* A path that a switch which is cut off might take. */
struct candidate {
	unsigned way;
	uint32_t hops;
	uint64_t cost;
};

/* Does this direction lead where the previous tables did? */
static bool is_kept(const struct search *s, uint32_t sw, unsigned way)
{
	uint8_t port;

	if (!s->was || s->was[sw] == TOPO_NONE)
		return false;
	port = routes_port(s->job->previous, s->was[sw], s->ends[s->to].lid[s->odd]);
	return topo_behind(s->w->g->topo, sw, port) == grid_neighbour(s->w, sw, way);
}

/* Directions to neighbours whose further path is known, best first. Returns how many. */
static unsigned find_candidates(const struct search *s, uint32_t sw, struct candidate *ret)
{
	unsigned planned = straight_way(s, sw), n = 0;

	for (unsigned i = 0; i < s->n_ways; i++) {
		unsigned way = (i + planned) % s->n_ways, at = n;
		uint32_t v = grid_neighbour(s->w, sw, way);
		struct candidate c = { .way = way };

		if (v == TOPO_NONE || s->hops[v] == TOPO_NONE)
			continue;
		c.hops = s->hops[v] + 1;
		c.cost = (s->state[v] == CUT ? s->cost[v] : cost_along(s, v)) +
			 (uint64_t)MAX(*load_of(s, sw, way), 0);
		c.cost = is_kept(s, sw, way) ? keep_cost(KEEP_DETOUR, c.cost) : c.cost;
		for (; at && (c.hops < ret[at - 1].hops ||
			      (c.hops == ret[at - 1].hops && c.cost < ret[at - 1].cost));
		     at--)
			ret[at] = ret[at - 1];
		ret[at] = c;
		n++;
	}
	return n;
}

/* Can all hops of the path by this way be taken (grid_waits_go())? */
static bool go_along(struct search *s, const uint8_t *ways, uint32_t u, unsigned way, bool add)
{
	if (!s->ends[u].sources)
		return true;
	grid_waits_begin(s->on, grid_crossings(s->w, s->vl_plan->bit_of, u, s->to));
	for (uint32_t hops = 0; hops < s->n && grid_waits_go(s->on, u, way, add); hops++) {
		u = grid_neighbour(s->w, u, way);
		if (u == s->to)
			return true;
		way = s->state[u] == CUT ? ways[u] : straight_way(s, u);
	}
	return false;
}

/* Would the path by this way close no cycle? If so, its dependencies are added. */
static bool add_path(struct search *s, const uint8_t *ways, uint32_t from, unsigned way)
{
	uint32_t before = grid_waits_added(s->on);

	if (go_along(s, ways, from, way, true))
		return true;
	grid_waits_undo(s->on, before);
	return false;
}

/* The first that closes no cycle; thrifty: of the nearest that with fewest new ones. NULL: none. */
static const struct candidate *choose_candidate(struct search *s, const uint8_t *ways, uint32_t sw,
						const struct candidate *of, unsigned n)
{
	const struct candidate *best = NULL;
	uint32_t before = grid_waits_added(s->on), least = UINT32_MAX;

	/* Most often one has no new dependency, which is far cheaper than to add and to undo. */
	for (unsigned i = 0; s->thrifty && i < n && of[i].hops == of[0].hops; i++)
		if (go_along(s, ways, sw, of[i].way, false))
			return &of[i];
	for (unsigned i = 0; i < n && (!best || (s->thrifty && of[i].hops == best->hops)); i++) {
		uint32_t added;

		if (!add_path(s, ways, sw, of[i].way))
			continue;
		added = grid_waits_added(s->on) - before;
		grid_waits_undo(s->on, before);
		if (added < least) {
			least = added;
			best = &of[i];
		}
	}
	return best;
}

static bool choose_way(struct search *s, uint8_t *ways, uint32_t sw)
{
	struct candidate candidates[SIDES * GRID_DIMS];
	unsigned n = find_candidates(s, sw, candidates);
	const struct candidate *best = choose_candidate(s, ways, sw, candidates, n);

	if (!best || !add_path(s, ways, sw, best->way))
		return false;
	ways[sw] = (uint8_t)best->way;
	s->hops[sw] = best->hops;
	s->cost[sw] = best->cost;
	return true;
}

/* Adds the flows of all switches that are cut off, or takes them away. */
static void add_detours(struct search *s, const uint8_t *ways, int sign)
{
	uint32_t lids = s->ends[s->to].lids[s->odd];

	memset(s->flow, 0, s->n * sizeof(*s->flow));
	for (uint32_t i = s->n_order; i-- > 0;) {
		uint32_t u = s->order[i], v = grid_neighbour(s->w, u, ways[u]);
		uint64_t flow = s->flow[u] + (uint64_t)s->ends[u].sources * lids;

		*load_of(s, u, ways[u]) += sign * (int64_t)flow;
		if (s->state[v] == CUT)
			s->flow[v] += flow;
		else
			add_along(s, v, sign * (int64_t)flow);
	}
}

static uint8_t **column(const struct search *s)
{
	return &s->d->way[2 * (size_t)s->to + s->odd];
}

/* Of the column at hand; twins are one. */
static void find_order(struct search *s)
{
	uint32_t number = 2 * s->to + (s->are_twins ? 0 : s->odd);

	if (s->known == number + 1)
		return;
	find_cut(s);
	measure_hops(s);
	s->known = number + 1;
}

static bool find_column(struct search *s)
{
	uint8_t *ways;

	find_order(s);
	if (!s->n_order)
		return true;
	*column(s) = ways = xmalloc(s->n);
	memset(ways, GRID_ALONG, s->n);
	for (uint32_t i = 0; i < s->n_order; i++)
		s->hops[s->order[i]] = TOPO_NONE;
	for (uint32_t i = 0; i < s->n_order; i++)
		if (!choose_way(s, ways, s->order[i])) {
			free(ways);
			*column(s) = NULL;
			return false;
		}
	add_detours(s, ways, 1);
	return true;
}

static void drop_column(struct search *s)
{
	if (!*column(s))
		return;
	find_order(s);
	add_detours(s, *column(s), -1);
	free(*column(s));
	*column(s) = NULL;
}

/* All paths to one switch, on one set of VLs. */
static bool find_columns(struct search *s)
{
	uint32_t before = grid_waits_added(s->on);

	for (s->odd = 0; s->odd < 2; s->odd++) {
		if (!s->ends[s->to].lids[s->odd] || find_column(s))
			continue;
		for (s->odd = 0; s->odd < 2; s->odd++)
			drop_column(s);
		grid_waits_undo(s->on, before);
		return false;
	}
	return true;
}

/* The first set with room for the destination, evenly; else with few new dependencies. */
static bool find_set(struct search *s)
{
	for (unsigned set = 0; set < s->n_sets; set++) {
		if (!s->waits[set])
			s->waits[set] = grid_waits_new(s->w, s->vl_plan);
		s->on = s->waits[set];
		for (unsigned thrifty = s->always_thrifty; s->on && thrifty < 2; thrifty++) {
			s->thrifty = thrifty;
			if (!find_columns(s))
				continue;
			s->d->set[s->to] = (uint8_t)set;
			s->d->n_sets = MAX(s->d->n_sets, set + 1);
			return true;
		}
	}
	return false;
}

/* A switch that is cut off does not use its path in dimension order. */
static void clear_columns(struct search *s)
{
	for (s->odd = 0; s->odd < 2; s->odd++) {
		if (!s->odd || !s->are_twins)
			find_cut(s);
		for (uint32_t u = 0; u < s->n; u++)
			if (s->state[u] == CUT)
				add_along(s, u,
					  -(int64_t)((uint64_t)s->ends[u].sources *
						     s->ends[s->to].lids[s->odd]));
	}
}

static void search_init(struct search *s)
{
	uint32_t n = s->n;

	s->n_loads = (size_t)(n + s->grid->n_missing) * s->n_ways;
	ARENA_ARRAY(&s->memory, s->place, n);
	for (uint32_t u = 0; u < n; u++)
		s->place[u] = grid_index(s->grid, grid_at(s->grid, u));
	ARENA_ARRAYS(&s->memory, n, s->affected, s->state, s->hops, s->cost, s->flow, s->order,
		     s->next);
	ARENA_ARRAY(&s->memory, s->load, s->n_loads);
	ARENA_ARRAY(&s->memory, s->stack, n + 2u);
	if (s->job->previous)
		s->was = topo_match_switches(s->w->g->topo, s->job->previous->topo);
	find_affected(s);
	fill_loads(s);
	for (s->to = 0; s->to < s->n; s->to++)
		if (s->affected[s->to])
			clear_columns(s);
	s->least = xmemdup(s->load, s->n_loads * sizeof(*s->load));
}

static void drop_waits(struct search *s)
{
	for (unsigned set = 0; set < SL2VL_VLS_MAX; set++)
		s->waits[set] = grid_waits_free(s->waits[set]);
}

static void search_done(struct search *s)
{
	drop_waits(s);
	FREE_ALL(s->was, s->least);
	arena_done(&s->memory);
}

static bool search_all(struct search *s)
{
	for (s->to = 0; s->to < s->n; s->to++)
		if (is_cancelled(s->job->cancelled) || (s->affected[s->to] && !find_set(s)))
			return false;
	return true;
}

static struct grid_detours *search_detours(struct search *s, unsigned n_sets, bool thrifty)
{
	struct grid_detours *d = xcalloc(1, sizeof(*d));

	d->ways = s->w;
	d->n_sets = 1;
	d->set = xcalloc(MAX(s->n, 1u), sizeof(*d->set));
	d->way = xcalloc(2 * (size_t)MAX(s->n, 1u), sizeof(*d->way));
	s->d = d;
	s->n_sets = n_sets;
	s->always_thrifty = thrifty;
	s->known = 0;
	drop_waits(s);
	memcpy(s->load, s->least, s->n_loads * sizeof(*s->load));
	return search_all(s) ? d : grid_detours_free(d);
}

/* A bit of the service level, or a length, leaves no choice between the two ways round a ring. */
static bool are_twins(const struct grid_ways *w)
{
	for (unsigned d = 0; d < w->grid->n_dims; d++)
		if (w->grid->wraps[d] && w->grid->size[d] % 2 == 0 && !w->one_way[d])
			return false;
	return true;
}

struct grid_detours *grid_detours_new(const struct grid_ways *w, const struct grid_vl_plan *vl_plan,
				      const struct grid_ends *ends, const struct route_job *job)
{
	struct search s = {
		.w = w,
		.grid = w->grid,
		.vl_plan = vl_plan,
		.ends = ends,
		.job = job,
		.n = w->g->n,
		.n_ways = SIDES * w->grid->n_dims,
		.are_twins = are_twins(w),
	};
	struct grid_detours *d = NULL;

	assert(w->g->topo == job->topo && vl_plan->n_sets > 0 && vl_plan->n_sets <= SL2VL_VLS_MAX);
	search_init(&s);
	for (unsigned n = 1; !d && n <= vl_plan->n_sets; n = MAX(n + 1, vl_plan->n_sets))
		for (unsigned thrifty = 0; !d && thrifty < 2; thrifty++)
			d = search_detours(&s, n, thrifty);
	search_done(&s);
	return d;
}

struct grid_detours *grid_detours_free(struct grid_detours *d)
{
	if (!d)
		return NULL;
	for (uint32_t i = 0; i < 2 * d->ways->g->n; i++)
		free(d->way[i]);
	FREE_ALL(d->way, d->set, d);
	return NULL;
}
