// SPDX-License-Identifier: BSD-2-Clause
/* Which kind, in order: nothing to choose, trees (found here), HyperX, grids, dragonflies. */
#include "route/shape/recognise.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/bisect.h"

#define FAIR_SHARE 8 /* one in so many */
#define FEW	   4 /* the same, at most */
#define CORE_MIN   6 /* fewer switches are of several shapes */

/* End ports of each switch, without those of its tails. The caller frees. */
static uint32_t *count_own_hosts(const struct topo *t)
{
	uint32_t *hosts = topo_count_hosts(t);

	for (uint32_t h = 0; h < t->n_hosts; h++)
		if (t->hosts[h].gathered && t->hosts[h].sw != TOPO_NONE)
			hosts[t->hosts[h].sw]--;
	return hosts;
}

/* Is a switch with so many end ports or more connected with `u`? */
static bool is_beside(const struct graph *g, uint32_t u, const uint32_t *hosts, uint32_t least)
{
	GRAPH_EACH(g, u, edge)
		if (hosts[edge->to] >= least)
			return true;
	return false;
}

/*
 * Where two end ports are the median: switches with one, beside a leaf that has two, if these are
 * few, also beside switches that have none.
 */
static void leave_out_single(const struct graph *g, const uint32_t *hosts, bool *leaf)
{
	uint32_t n = 0, with = 0;

	for (uint32_t u = 0; u < g->n; u++) {
		with += hosts[u] > 0;
		n += hosts[u] == 1 && is_beside(g, u, hosts, 2);
	}
	if (n * FEW > with || n > g->n - with)
		return;
	for (uint32_t u = 0; u < g->n; u++)
		if (hosts[u] == 1 && is_beside(g, u, hosts, 2))
			leaf[u] = false;
}

void shape_leaves(const struct graph *g, bool *leaf)
{
	_cleanup_free_ uint32_t *hosts = count_own_hosts(g->topo);
	uint32_t median = topo_median_hosts(g->topo, hosts);

	for (uint32_t u = 0; u < g->n; u++)
		leaf[u] = hosts[u] && 2 * hosts[u] >= median;
	if (median == 2)
		leave_out_single(g, hosts, leaf);
}

/* Does a stub hang on `u`? */
static bool has_stub(const struct graph *g, const bool *stub, uint32_t u)
{
	GRAPH_EACH(g, u, edge)
		if (stub[edge->to])
			return true;
	return false;
}

/*
 * The highest level, if its switches are few beside those of the next one and a stub hangs on each
 * of them; else TOPO_NONE.
 */
static uint32_t level_of_branches(const struct graph *g, const bool *stub, const uint16_t *rank)
{
	uint32_t top = 0, n = 0, below = 0;

	for (uint32_t u = 0; u < g->n; u++)
		if (!stub[u] && rank[u] != DISTANCE_NONE)
			top = MAX(top, rank[u]);
	for (uint32_t u = 0; u < g->n; u++) {
		if (!stub[u] && rank[u] == top && !has_stub(g, stub, u))
			return TOPO_NONE;
		n += !stub[u] && rank[u] == top;
		below += !stub[u] && rank[u] + 1u == top;
	}
	return top < 2 || n * FAIR_SHARE >= below ? TOPO_NONE : top;
}

void shape_flood(const struct graph *g, const bool *leaf, uint16_t *rank)
{
	_cleanup_free_ bool *stub = topo_find_stubs(g->topo);
	uint32_t branches;

	for (uint32_t u = 0; u < g->n; u++)
		rank[u] = leaf[u] && !stub[u] ? 0 : DISTANCE_NONE;
	graph_flood(g, rank, NULL);
	branches = level_of_branches(g, stub, rank);
	for (uint32_t u = 0; u < g->n; u++)
		if (!stub[u] && rank[u] == branches)
			rank[u] = (uint16_t)(branches - 2);
	for (uint32_t u = 0; u < g->n; u++) {
		uint16_t on = stub[u] && shape_degree(g, u) ? rank[g->groups[g->first[u]].to]
							    : DISTANCE_NONE;

		if (on != DISTANCE_NONE)
			rank[u] = on ? on - 1 : 1;
	}
}

static void count_parts(const struct graph *g, struct shape *s)
{
	_cleanup_free_ bool *seen = xcalloc(g->n, sizeof(*seen));
	_cleanup_free_ uint32_t *part = graph_parts(g);

	for (uint32_t u = 0; u < g->n; u++)
		if (s->leaf[u] && !seen[part[u]]) {
			seen[part[u]] = true;
			s->n_parts++;
		}
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* Are all neighbours of `u`, two at least or all that there are, also those of `leaf`? */
static bool stands_beside(const struct graph *g, uint32_t u, uint32_t leaf)
{
	uint32_t own = shape_degree(g, u), all = shape_degree(g, leaf);

	if (own > all || (own < 2 && own < all))
		return false;
	for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
		if (graph_find(g, leaf, g->groups[i].to) == TOPO_NONE)
			return false;
	return true;
}

/*
 * Two hops from a leaf are switches above, and leaves that have few end ports or none: these are
 * connected as a leaf is, while one above is connected to several parts of the level between.
 */
static bool is_low(const struct graph *g, const bool *leaf, uint32_t u)
{
	uint32_t above = g->groups[g->first[u]].to; /* the first of its neighbours */

	for (uint32_t i = g->first[above]; i < g->first[above + 1]; i++)
		if (leaf[g->groups[i].to] && stands_beside(g, u, g->groups[i].to))
			return true;
	return false;
}

/* Hops to the nearest leaf; DISTANCE_NONE where there is none. */
static void find_ranks(const struct graph *g, const bool *leaf, uint16_t *rank)
{
	shape_flood(g, leaf, rank);
	for (uint32_t u = 0; u < g->n; u++)
		if (rank[u] == 2 && is_low(g, leaf, u))
			rank[u] = 0;
}

void shape_ranks(const struct graph *g, uint32_t *ret)
{
	_cleanup_free_ bool *leaf = xcalloc((size_t)g->n + 1, sizeof(*leaf));
	_cleanup_free_ uint16_t *rank = xcalloc((size_t)g->n + 1, sizeof(*rank));

	shape_leaves(g, leaf);
	find_ranks(g, leaf, rank);
	for (uint32_t u = 0; u < g->n; u++)
		ret[u] = rank[u] == DISTANCE_NONE ? TOPO_NONE : rank[u];
}

static uint32_t count_ups(const struct graph *g, const uint16_t *rank, uint32_t u)
{
	uint32_t n = 0;

	GRAPH_EACH(g, u, edge)
		n += rank[edge->to] == rank[u] + 1u;
	return n;
}

/* The most neighbours above that a fair share of the switches of a level has. */
static uint32_t usual_ups(const struct graph *g, const uint16_t *rank, uint32_t level,
			  const bool *apart, uint32_t *ups)
{
	uint32_t n = 0, value = 0;

	for (uint32_t u = 0; u < g->n; u++)
		if (rank[u] == level && !apart[u])
			ups[n++] = count_ups(g, rank, u);
	SORT(ups, n, compare_u32);
	for (uint32_t i = 0, run = 0; i < n; i++) {
		run = i && ups[i] == ups[i - 1] ? run + 1 : 1;
		if (run * FAIR_SHARE >= n)
			value = ups[i];
	}
	return value;
}

/* Missing cables: by how many neighbours above a switch has, beside most of its level. */
static uint32_t missing_ups(const struct graph *g, const uint16_t *rank, uint32_t level,
			    const bool *apart, uint32_t *ups)
{
	uint32_t usual = usual_ups(g, rank, level, apart, ups), n = 0;

	for (uint32_t u = 0; u < g->n; u++) {
		uint32_t own = rank[u] == level && !apart[u] ? count_ups(g, rank, u) : usual;

		n += own < usual ? usual - own : 0;
	}
	return n;
}

/* Stubs, and what has nothing else below. The caller frees. */
static bool *find_apart(const struct graph *g, const uint16_t *rank)
{
	bool *ret = topo_find_stubs(g->topo);
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t u = 0; u < g->n; u++) {
			uint32_t below = 0, apart = 0;

			GRAPH_EACH(g, u, edge) {
				bool is_below = rank[edge->to] + 1u == rank[u];

				below += is_below;
				apart += is_below && ret[edge->to];
			}
			if (ret[u] || !below || apart < below)
				continue;
			ret[u] = more = true;
		}
	}
	return ret;
}

static bool find_tree(const struct graph *g, struct shape *s)
{
	_cleanup_free_ uint16_t *rank = xcalloc(g->n, sizeof(*rank));
	_cleanup_free_ bool *apart = NULL;
	_cleanup_free_ uint32_t *work = xcalloc(g->n, sizeof(*work));
	uint32_t cables = 0;

	find_ranks(g, s->leaf, rank);
	apart = find_apart(g, rank);
	for (uint32_t u = 0; u < g->n; u++) {
		if (rank[u] == DISTANCE_NONE)
			continue;
		if (rank[u] >= SHAPE_LEVELS) {
			s->n_apart = 0;
			return false;
		}
		s->n_levels = MAX(s->n_levels, rank[u] + 1u);
		s->per_level[rank[u]] += !apart[u];
		s->n_apart += apart[u];
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
			if (u < g->groups[i].to) {
				cables++;
				s->n_cross += rank[g->groups[i].to] == rank[u];
			}
	}
	if (s->n_levels < 2 || s->n_cross * 20 > cables) {
		s->n_apart = 0;
		return false;
	}
	for (uint32_t level = 0; level + 1 < s->n_levels; level++)
		s->n_cut += missing_ups(g, rank, level, apart, work);
	s->kind = SHAPE_TREE;
	return true;
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool find_grid(const struct graph *g, struct shape *s)
{
	char why[160];

	s->kind = SHAPE_HYPERX;
	s->grid = grid_find_hyperx(g, &s->n_cut);
	if (s->grid)
		return true;
	s->kind = SHAPE_GRID;
	s->grid = grid_find(g, why, sizeof(why));
	if (s->grid)
		s->n_cut = s->grid->n_cut;
	return s->grid;
}

struct shape *shape_find(const struct graph *g)
{
	struct shape *s = xcalloc(1, sizeof(*s));

	s->n = g->n;
	s->leaf = xcalloc(g->n, sizeof(*s->leaf));
	shape_leaves(g, s->leaf);
	count_parts(g, s);
	if (!g->first[g->n])
		s->kind = SHAPE_SINGLE;
	else if (!find_tree(g, s) && !find_grid(g, s) && !shape_find_groups(g, s))
		s->kind = SHAPE_OTHER;
	return s;
}

/* Is the shape of the core better to route by than `whole`, that of the whole fabric? */
static bool is_shape_of_core(const struct shape *core, const struct shape *whole)
{
	if (core->n < CORE_MIN)
		return false;
	switch (core->kind) {
	case SHAPE_HYPERX:
	case SHAPE_GRID:
		return whole->kind == SHAPE_OTHER;
	case SHAPE_DRAGONFLY:
	case SHAPE_DRAGONFLY_PLUS:
		return whole->kind == SHAPE_OTHER ||
		       (whole->kind == core->kind && core->n_groups < whole->n_groups);
	case SHAPE_SINGLE:
	case SHAPE_TREE:
	case SHAPE_OTHER:
		break;
	}
	return false;
}

/* NULL: there are no tails of this kind, or without them it is of no such shape. */
static struct shape *find_without(const struct graph *g, const struct route_options *options,
				  const struct shape *whole, enum tails_kind kind,
				  struct tails **ret_tails)
{
	_cleanup_(tails_freep) struct tails *tails = tails_find(g->topo, options, kind);
	_cleanup_(graph_freep) struct graph *core = tails ? graph_new(tails->core, options) : NULL;
	_cleanup_(shape_freep) struct shape *s = core ? shape_find(core) : NULL;

	if (!s || !is_shape_of_core(s, whole))
		return NULL;
	s->n_apart = tails->n;
	*ret_tails = take(tails);
	return take(s);
}

static bool may_have_core(enum shape_kind kind)
{
	return kind == SHAPE_OTHER || kind == SHAPE_DRAGONFLY || kind == SHAPE_DRAGONFLY_PLUS;
}

struct shape *shape_find_core(const struct graph *g, const struct route_options *options,
			      struct tails **ret_tails)
{
	struct shape *whole = shape_find(g), *core = NULL;

	*ret_tails = NULL;
	for (enum tails_kind k = 0; k < TAILS_KINDS && !core && may_have_core(whole->kind); k++)
		core = find_without(g, options, whole, k, ret_tails);
	if (!core)
		return whole;
	shape_free(whole);
	return core;
}

struct tails *shape_tails_of_grid(const struct graph *g, const struct route_options *options)
{
	_cleanup_(tails_freep) struct tails *tails = NULL;
	_cleanup_(shape_freep) struct shape *s = shape_find_core(g, options, &tails);

	return s->kind == SHAPE_GRID || s->kind == SHAPE_HYPERX ? take(tails) : NULL;
}

struct shape *shape_free(struct shape *s)
{
	if (!s)
		return NULL;
	grid_free(s->grid);
	FREE_ALL(s->group, s->leaf, s);
	return NULL;
}

/* ---- words ----------------------------------------------------------------------------------- */

static size_t append(char *text, size_t at, const char *word, unsigned long n)
{
	int more = snprintf(text + at, SHAPE_STRLEN - at, word, n);

	return MIN(at + (size_t)MAX(more, 0), (size_t)SHAPE_STRLEN - 1);
}

static size_t apart_str(const struct shape *s, char *ret, size_t at)
{
	if (!s->n_apart)
		return at;
	return append(ret, at, s->n_apart == 1 ? ", %lu switch in a branch of its own"
					       : ", %lu switches in branches of their own",
		      s->n_apart);
}

static size_t tree_str(const struct shape *s, char *ret)
{
	size_t at = append(ret, 0, "tree of %lu levels (", s->n_levels);

	for (unsigned i = 0; i < s->n_levels; i++)
		at = append(ret, at, i ? "+%lu" : "%lu", s->per_level[i]);
	at = append(ret, at, " switches)", 0);
	at = apart_str(s, ret, at);
	if (s->n_cross)
		at = append(ret, at, s->n_cross == 1 ? ", %lu cable within a level"
						     : ", %lu cables within a level", s->n_cross);
	return at;
}

static size_t hyperx_str(const struct shape *s, char *ret)
{
	const struct grid *grid = s->grid;
	bool cube = true;
	size_t at = 0;

	for (unsigned d = 0; d < grid->n_dims; d++)
		cube &= grid->size[d] == 2;
	if (grid->n_dims == 1)
		return append(ret, 0, s->n == 2 ? "two switches" : "full mesh of %lu switches",
			      s->n);
	if (cube && grid->n_dims == 2)
		return append(ret, 0, "ring of 4", 0);
	if (cube) {
		at = append(ret, 0, "hypercube of %lu dimensions", grid->n_dims);
		/* The same cables, by the name that the fabric's builders may use. */
		if (grid->n_dims == 4 || grid->n_dims == 6)
			at = append(ret, at,
				    grid->n_dims == 4 ? " (4x4 torus)" : " (4x4x4 torus)", 0);
		return at;
	}
	for (unsigned d = 0; d < grid->n_dims; d++)
		at = append(ret, at, d ? "x%lu" : "%lu", grid->size[d]);
	return append(ret, at, " HyperX", 0);
}

char *shape_str(const struct shape *s, char ret[SHAPE_STRLEN])
{
	char text[GRID_STRLEN];
	size_t at = 0;

	switch (s->kind) {
	case SHAPE_SINGLE:
		at = append(ret, 0,
			 !s->n	     ? "no switches"
			 : s->n == 1 ? "single switch"
				     : "%lu switches without cables between them",
			 s->n);
		break;
	case SHAPE_TREE:
		at = tree_str(s, ret);
		break;
	case SHAPE_HYPERX:
		at = hyperx_str(s, ret);
		break;
	case SHAPE_GRID:
		at = (size_t)snprintf(ret, SHAPE_STRLEN, "%s", grid_str(s->grid, text));
		break;
	case SHAPE_DRAGONFLY:
	case SHAPE_DRAGONFLY_PLUS:
		at = append(ret, 0, s->kind == SHAPE_DRAGONFLY ? "dragonfly of %lu groups"
							    : "dragonfly+ of %lu groups",
			 s->n_groups);
		at = append(ret, at, " of %lu switches", s->per_group);
		break;
	case SHAPE_OTHER:
		at = append(ret, 0, "irregular fabric of %lu switches", s->n);
		break;
	}
	if (s->kind != SHAPE_TREE)
		at = apart_str(s, ret, at);
	if (s->n_parts > 1)
		at = append(ret, at, " in %lu parts", s->n_parts);
	if (s->n_cut && s->kind != SHAPE_GRID)
		append(ret, at, s->n_cut == 1 ? ", 1 cable missing" : ", %lu cables missing",
		    s->n_cut);
	return ret;
}
