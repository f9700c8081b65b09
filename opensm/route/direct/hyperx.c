// SPDX-License-Identifier: BSD-2-Clause
/*
 * The HyperX engine: one step per dimension, dimensions in order, one VL.
 *
 * Paths in order of dimensions close no cycle, and are spread evenly without further effort. A
 * missing cable is walked round within its row: over a switch of the row that is earlier in an
 * order in which whole switches come first, so that within a row, too, no cycle closes. A switch
 * with only two dimensions left to cross may also take the second one first, and the first one on a
 * second VL, by port classes, where nothing comes after it. Where a whole switch is missing at a
 * corner, others turn early, on the second VL, too, and routes_check() decides.
 *
 * LMC. Every second LID of a port goes another way, where nothing on it is missing: the second
 * dimension that is left to cross comes first, always, so that the lowest is the last one. Both
 * paths of a pair have no switch in common. The last step alone goes back to an earlier dimension,
 * on the second VL, where nothing comes after it.
 */
#include "route/select/engines.h"

#include <string.h>

#include "route/core/aside.h"
#include "route/core/lid_spread.h"
#include "route/direct/direct_routes.h"
#include "route/proof/check.h"
#include "util/mem.h"

struct hyperx {
	const struct graph *g;
	const struct grid *grid;
	uint32_t *stride;  /* of a dimension in switch_at */
	uint32_t *rank;	   /* per switch: cables missing, then number */
	bool turns;	   /* there is a second VL */
	_Atomic bool *odd; /* some path does not keep the order of dimensions */
};

struct search {
	const struct hyperx *x;
	struct path_dag *w;
	uint32_t *hops; /* by switch: hops of its path; TOPO_NONE: no path yet */
	uint32_t to;
};

/* The switch of `sw`'s row in dimension `d` at place `c`; TOPO_NONE: none. */
static uint32_t at_place(const struct hyperx *x, uint32_t sw, unsigned d, uint32_t c)
{
	const uint16_t *at = grid_at(x->grid, sw);

	return x->grid->switch_at[grid_index(x->grid, at) + (c - at[d]) * x->stride[d]];
}

/* The one that is in line with `to`. */
static uint32_t corner_of(const struct hyperx *x, uint32_t sw, unsigned d, uint32_t to)
{
	return at_place(x, sw, d, grid_at(x->grid, to)[d]);
}

static void enter_directly(struct search *f, uint32_t u, uint32_t corner)
{
	const struct graph_group *edge = graph_edge(f->x->g, u, corner);

	if (!edge || f->hops[corner] == TOPO_NONE)
		return;
	f->hops[u] = f->hops[corner] + 1;
	path_dag_switch(f->w, u);
	path_dag_group(f->w, edge);
}

/* The other dimension first, if just one other is left: then the last one leads to the end. */
static const struct graph_group *turn_of(const struct search *f, uint32_t u, unsigned d)
{
	const struct hyperx *x = f->x;
	unsigned other = x->grid->n_dims;
	uint32_t v;

	for (unsigned e = d + 1; e < x->grid->n_dims; e++) {
		if (grid_at(x->grid, u)[e] == grid_at(x->grid, f->to)[e])
			continue;
		if (other < x->grid->n_dims)
			return NULL;
		other = e;
	}
	if (!x->turns || other == x->grid->n_dims)
		return NULL;
	v = corner_of(x, u, other, f->to);
	return v == TOPO_NONE || f->hops[v] != 1 ? NULL : graph_edge(x->g, u, v);
}

/* May `u` walk round over `v`, in the row of dimension `d`? `v` needs a cable to both ends. */
static bool leads_around(const struct search *f, uint32_t u, unsigned d, uint32_t v,
			 uint32_t corner)
{
	const struct hyperx *x = f->x;

	return corner != TOPO_NONE && f->hops[corner] != TOPO_NONE &&
	       grid_first_dim(x->grid, u, v) == d && f->hops[v] == f->hops[corner] + 1 &&
	       graph_edge(x->g, v, corner) &&
	       x->rank[v] <= MAX(x->rank[u], x->rank[corner]);
}

static void enter_otherwise(struct search *f, uint32_t u, unsigned d, uint32_t corner)
{
	const struct hyperx *x = f->x;
	const struct graph_group *turn = turn_of(f, u, d);
	uint32_t hops = turn ? 2 : TOPO_NONE;

	if (turn) {
		path_dag_switch(f->w, u);
		path_dag_group(f->w, turn);
		*x->odd = true;
	}
	GRAPH_EACH(x->g, u, group) {
		if (group == turn || !leads_around(f, u, d, group->to, corner))
			continue;
		if (hops == TOPO_NONE) {
			path_dag_switch(f->w, u);
			hops = f->hops[group->to] + 1;
		}
		path_dag_group(f->w, group);
	}
	f->hops[u] = hops;
}

/* All whose first difference is in dimension `d`. */
static void enter_dim(struct search *f, unsigned d, const uint32_t *members, uint32_t n)
{
	uint32_t first = f->w->n;

	for (uint32_t i = 0; i < n; i++)
		enter_directly(f, members[i], corner_of(f->x, members[i], d, f->to));
	if (f->w->n - first == n)
		return;
	for (uint32_t i = 0; i < n; i++)
		if (f->hops[members[i]] == TOPO_NONE)
			enter_otherwise(f, members[i], d, corner_of(f->x, members[i], d, f->to));
}

static void find_paths(const void *arg, uint32_t to, struct path_dag *w)
{
	const struct hyperx *x = arg;
	struct search f = { .x = x, .w = w, .hops = w->work[0], .to = to };
	uint32_t *members = w->work[1], first[GRID_DIMS + 3] = { 0 };

	path_dag_begin(w, to);
	memset(f.hops, 0xFF, x->g->n * sizeof(*f.hops));
	f.hops[to] = 0;
	if (!shape_degree(x->g, to))
		return;
	for (uint32_t u = 0; u < x->g->n; u++)
		first[grid_first_dim(x->grid, u, to) + 2]++;
	for (unsigned d = 1; d <= x->grid->n_dims; d++)
		first[d + 1] += first[d];
	for (uint32_t u = 0; u < x->g->n; u++)
		members[first[grid_first_dim(x->grid, u, to) + 1]++] = u;
	for (unsigned d = x->grid->n_dims; d-- > 0;)
		enter_dim(&f, d, members + first[d], first[d + 1] - first[d]);
	if (direct_enter_rest(w, f.hops))
		*x->odd = true;
}

/* Switches with whole rows first: there are always some of them to walk round over. */
static void rank_switches(struct hyperx *x)
{
	uint32_t n = x->g->n, whole = 0;

	for (unsigned d = 0; d < x->grid->n_dims; d++)
		whole += x->grid->size[d] - 1u;
	for (uint32_t u = 0; u < n; u++)
		x->rank[u] = (whole - MIN(whole, shape_degree(x->g, u))) * n + u;
}

/* Going back to an earlier dimension is VL 1. */
static struct sl2vl *make_vls(const struct hyperx *x, const struct topo *t, uint32_t row_size)
{
	unsigned n_classes = x->grid->n_dims + 1;
	struct sl2vl *l = sl2vl_new(t, 2, SL2VL_BY_NOTHING, row_size, n_classes);

	sl2vl_set_classes(l, t, grid_port_class, x->grid);
	memset(l->host_vl, 0, sizeof(l->host_vl));
	for (unsigned in = 0; in < n_classes; in++)
		for (unsigned out = 0; out < n_classes; out++)
			memset(&l->vl[(in * n_classes + out) * SL2VL_SLS], out && in > out,
			       SL2VL_SLS);
	return l;
}

/* Cables of one switch towards another one with the lowest dimension last; NULL: none are there. */
static const struct graph_group *turned_edge(const struct hyperx *x, uint32_t u, uint32_t to)
{
	unsigned d = grid_first_dim(x->grid, u, to) + 1; /* then the second in which both differ */

	while (d < x->grid->n_dims && grid_at(x->grid, u)[d] == grid_at(x->grid, to)[d])
		d++;
	return graph_edge(x->g, u, d < x->grid->n_dims ? corner_of(x, u, d, to) : to);
}

/* Per switch: the cables to take towards `to`; NULL: that whole way is not there. */
static void find_turned(const struct hyperx *x, uint32_t to, const struct graph_group **ret)
{
	memset(ret, 0, x->g->n * sizeof(*ret));
	for (unsigned n = 1; n <= x->grid->n_dims; n++)
		for (uint32_t u = 0; u < x->g->n; u++) {
			const struct graph_group *edge = NULL;

			if (grid_differing(x->grid, grid_at(x->grid, u), grid_at(x->grid, to)) == n)
				edge = turned_edge(x, u, to);
			if (edge && (edge->to == to || ret[edge->to]))
				ret[u] = edge;
		}
}

/* Every second LID of a host. */
static void turn_host(const struct hyperx *x, struct routes *r, const struct topo_host *host,
		      const struct graph_group *const *turned)
{
	uint32_t end = MIN(host->lid + (1u << host->lmc), r->top + 1u);

	for (uint32_t lid = host->lid + 1u; host->lid && lid < end; lid += 2)
		for (uint32_t u = 0; u < x->g->n; u++)
			if (turned[u] && lid < r->topo->switches[u].lft_cap)
				routes_row(r, u)[lid] = x->g->ports[turned[u]->first_port +
								    lid / 2 % turned[u]->n_ports];
}

static void turn_lids(const struct hyperx *x, struct routes *r)
{
	const struct topo *t = r->topo;
	_cleanup_free_ const struct graph_group **turned = xcalloc(x->g->n, sizeof(*turned));

	for (uint32_t to = 0; to < x->g->n; to++) {
		bool found = false;

		for (unsigned p = 1; p <= t->switches[to].n_ports; p++) {
			uint32_t h = topo_port(t, to, p)->host;

			if (h == TOPO_NONE || !t->hosts[h].lmc)
				continue;
			if (!found)
				find_turned(x, to, turned);
			found = true;
			turn_host(x, r, &t->hosts[h], turned);
		}
	}
}

/*
 * Parts the LIDs of ports; in a damaged fabric, where ways around what is missing are mixed with
 * turned ones, only if that holds. False: nothing was turned.
 */
static bool try_to_turn(const struct route_job *job, const struct hyperx *x,
			const struct shape *shape, struct routes *r)
{
	size_t bytes = (size_t)x->g->n * r->row_size;
	_cleanup_free_ uint8_t *before = NULL;
	struct route_verdict v;

	if (!x->turns || x->grid->n_dims < 2 || !lid_spread_is_needed(job->topo))
		return false;
	if (!shape->n_cut && !x->grid->n_cut && !x->grid->n_missing) {
		turn_lids(x, r);
		return true;
	}
	before = xmemdup(r->lft, bytes);
	turn_lids(x, r);
	r->lanes = make_vls(x, job->topo, r->row_size);
	routes_set_aside(r);
	routes_check(r, route_threads(job), &v);
	r->lanes = sl2vl_free(r->lanes);
	if (!route_fault(&v))
		return true;
	memcpy(r->lft, before, bytes);
	return false;
}

/* Are there cables from `u` to place `c` of its row, the same before and now? */
static bool is_same_step(const struct hyperx *x, const struct hyperx *was, uint32_t u, unsigned d,
			 uint32_t c)
{
	uint32_t v = at_place(x, u, d, c), v_was = at_place(was, u, d, c);
	const struct graph_group *a = graph_edge(x->g, u, v), *b = graph_edge(was->g, u, v_was);

	return v == v_was && a && b && a->n_ports == b->n_ports &&
	       !memcmp(x->g->ports + a->first_port, was->g->ports + b->first_port, a->n_ports);
}

/* Paths that begin with that step may be others. */
static void mark_beyond(const struct hyperx *x, uint32_t u, unsigned d, uint32_t c, bool *same)
{
	for (uint32_t to = 0; to < x->g->n; to++)
		if (grid_at(x->grid, to)[d] == c && grid_first_dim(x->grid, u, to) >= d)
			same[to] = false;
}

/*
 * Per switch: are all paths to it what they were? So it is where each step towards it is a cable
 * along the first dimension that is left, before and now: what walks round something may have been
 * turned elsewhere by anything. NULL: all may be others.
 */
static bool *find_same(const struct hyperx *x, const struct topo *before)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(before, NULL);
	uint32_t n_cut;
	_cleanup_(grid_freep) struct grid *grid = grid_find_hyperx(g, &n_cut);
	const struct hyperx was = { .g = g, .grid = grid, .stride = x->stride };
	_cleanup_free_ bool *same = xcalloc(g->n, sizeof(*same));

	if (!grid || grid->n_dims != x->grid->n_dims ||
	    memcmp(grid->size, x->grid->size, sizeof(grid->size)) != 0)
		return NULL;
	for (uint32_t u = 0; u < g->n; u++) {
		same[u] = shape_degree(x->g, u) && shape_degree(g, u);
		if (same[u] && grid_differing(grid, grid_at(grid, u), grid_at(x->grid, u)))
			return NULL;
	}
	for (uint32_t u = 0; u < g->n; u++)
		for (unsigned d = 0; shape_degree(x->g, u) && d < grid->n_dims; d++)
			for (uint32_t c = 0; c < grid->size[d]; c++)
				if (c != grid_at(x->grid, u)[d] && !is_same_step(x, &was, u, d, c))
					mark_beyond(x, u, d, c, same);
	return take(same);
}

struct routes *hyperx_routes(const struct route_job *job, const struct graph *g,
			     const struct shape *shape, char *why, size_t why_len)
{
	uint32_t stride[GRID_DIMS], n = 1;
	_Atomic bool odd = false;
	struct hyperx x = { .g = g, .grid = shape->grid, .stride = stride, .odd = &odd };
	_cleanup_free_ uint32_t *rank = xcalloc(g->n, sizeof(*rank));
	_cleanup_free_ bool *same = NULL;
	_cleanup_(routes_unrefp) struct routes *r = NULL;

	for (unsigned d = 0; d < shape->grid->n_dims; n *= shape->grid->size[d++])
		stride[d] = n;
	x.rank = rank;
	rank_switches(&x);
	x.turns = route_vls(job) > 1;
	if (direct_may_stay(job, "hyperx"))
		same = find_same(&x, job->previous->topo);
	r = direct_routes(job, g, "hyperx", find_paths, &x, same);
	if (r && try_to_turn(job, &x, shape, r))
		odd = true;
	/* A cable that comes back may go again: VLs stay as they are meanwhile. */
	if (same && x.turns && job->previous->lanes)
		odd = true;
	if (r && odd && route_vls(job) < 2)
		return route_refuse(why, why_len,
				    "switches are missing: needs 2 VLs, every cable has 1");
	if (r && odd)
		r->lanes = make_vls(&x, job->topo, r->row_size);
	return take(r);
}

static struct routes *routes_of_core(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(job->topo, NULL);
	_cleanup_(shape_freep) struct shape *shape = shape_find(g);

	return hyperx_routes(job, g, shape, why, why_len);
}

struct routes *hyperx_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(job->topo, NULL);
	_cleanup_(tails_freep) struct tails *tails = NULL;
	_cleanup_(shape_freep) struct shape *shape = shape_find_core(g, NULL, &tails);
	char text[SHAPE_STRLEN];

	if (shape->kind != SHAPE_HYPERX)
		return route_refuse(why, why_len, "no HyperX: %s", shape_str(shape, text));
	if (tails)
		return tails_compute(job, tails, routes_of_core, why, why_len);
	return hyperx_routes(job, g, shape, why, why_len);
}
