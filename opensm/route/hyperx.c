// SPDX-License-Identifier: BSD-2-Clause
/*
 * The HyperX engine: one step per dimension, dimensions in order, one lane.
 *
 * Paths in order of dimensions cannot wait for each other in a circle, and spread evenly all by themselves.
 * A cable that is missing is walked round within its row: over a switch of the row that is earlier in an
 * order in which whole switches come first, so that within a row, too, no circle closes.
 * Who has only two dimensions left may also take the second one first, and the first one on a second lane, by
 * port classes, where nothing comes after it. Where a whole switch is missing at a corner, others turn early,
 * on the second lane, too, and the judge decides.
 */
#include "route/engines.h"

#include <stdio.h>
#include <string.h>

#include "route/shapes.h"
#include "route/steps.h"
#include "util/mem.h"

struct hyperx {
	const struct graph *g;
	const struct shape *shape;
	uint32_t *stride;  /* of a dimension in switch_at */
	uint32_t *rank;	   /* per switch: cables missing, then number */
	bool turns;	   /* there is a second lane */
	_Atomic bool *odd; /* some path does not keep the order of dimensions */
};

struct search {
	const struct hyperx *x;
	struct steps *s;
	uint32_t *hops; /* TOPO_NONE: no way yet */
	uint32_t to;
};

static const uint16_t *at(const struct hyperx *x, uint32_t sw)
{
	return x->shape->at + (size_t)sw * x->shape->n_dims;
}

/* The first dimension in which they differ; n_dims: none. */
static unsigned first_dim(const struct hyperx *x, uint32_t a, uint32_t b)
{
	unsigned d = 0;

	while (d < x->shape->n_dims && at(x, a)[d] == at(x, b)[d])
		d++;
	return d;
}

static uint32_t place_of(const struct hyperx *x, uint32_t sw)
{
	uint32_t place = 0;

	for (unsigned d = 0; d < x->shape->n_dims; d++)
		place += at(x, sw)[d] * x->stride[d];
	return place;
}

/* The switch of `sw`'s row in dimension `d` that is in line with `to`; TOPO_NONE: there is none. */
static uint32_t corner_of(const struct hyperx *x, uint32_t sw, unsigned d, uint32_t to)
{
	return x->shape->switch_at[place_of(x, sw) + (uint32_t)(at(x, to)[d] - at(x, sw)[d]) * x->stride[d]];
}

static bool enter_directly(struct search *f, uint32_t u, uint32_t corner)
{
	const struct graph_group *edge = corner == TOPO_NONE ? NULL : shape_edge(f->x->g, u, corner);

	if (!edge || f->hops[corner] == TOPO_NONE)
		return false;
	f->hops[u] = f->hops[corner] + 1;
	steps_switch(f->s, u);
	steps_group(f->s, edge);
	return true;
}

/* The other dimension first, if there is just one other: a step to where the last one leads to the end. */
static const struct graph_group *turn_of(const struct search *f, uint32_t u, unsigned d)
{
	const struct hyperx *x = f->x;
	unsigned other = x->shape->n_dims;
	uint32_t v;

	for (unsigned e = d + 1; e < x->shape->n_dims; e++) {
		if (at(x, u)[e] == at(x, f->to)[e])
			continue;
		if (other < x->shape->n_dims)
			return NULL;
		other = e;
	}
	if (!x->turns || other == x->shape->n_dims)
		return NULL;
	v = corner_of(x, u, other, f->to);
	return v == TOPO_NONE || f->hops[v] != 1 ? NULL : shape_edge(x->g, u, v);
}

/* May `u` walk round over `v`, in the row of dimension `d`? It knows both ends. */
static bool leads_around(const struct search *f, uint32_t u, unsigned d, uint32_t v, uint32_t corner)
{
	const struct hyperx *x = f->x;

	return corner != TOPO_NONE && f->hops[corner] != TOPO_NONE && first_dim(x, u, v) == d &&
	       f->hops[v] == f->hops[corner] + 1 && shape_edge(x->g, v, corner) &&
	       x->rank[v] <= MAX(x->rank[u], x->rank[corner]);
}

static void enter_otherwise(struct search *f, uint32_t u, unsigned d, uint32_t corner)
{
	const struct hyperx *x = f->x;
	const struct graph_group *turn = turn_of(f, u, d);
	uint32_t hops = turn ? 2 : TOPO_NONE;

	if (turn) {
		steps_switch(f->s, u);
		steps_group(f->s, turn);
		*x->odd = true;
	}
	for (uint32_t i = x->g->first[u]; i < x->g->first[u + 1]; i++) {
		const struct graph_group *group = &x->g->groups[i];

		if (group == turn || !leads_around(f, u, d, group->to, corner))
			continue;
		if (hops == TOPO_NONE) {
			steps_switch(f->s, u);
			hops = f->hops[group->to] + 1;
		}
		steps_group(f->s, group);
	}
	f->hops[u] = hops;
}

/* All whose first difference is in dimension `d`. */
static void enter_dim(struct search *f, unsigned d, const uint32_t *members, uint32_t n)
{
	uint32_t first = f->s->n;

	for (uint32_t i = 0; i < n; i++)
		enter_directly(f, members[i], corner_of(f->x, members[i], d, f->to));
	if (f->s->n - first == n)
		return;
	for (uint32_t i = 0; i < n; i++)
		if (f->hops[members[i]] == TOPO_NONE)
			enter_otherwise(f, members[i], d, corner_of(f->x, members[i], d, f->to));
}

/* Whoever is left: any shortest way to somebody who has one. */
static void enter_rest(struct search *f)
{
	const struct graph *g = f->x->g;
	uint32_t n = g->n, idle = 0;

	for (uint32_t hops = 2; f->s->n + 1 < n && idle < 8 && hops < n; hops++) {
		uint32_t first = f->s->n;

		for (uint32_t u = 0; u < n; u++) {
			bool found = false;

			if (f->hops[u] != TOPO_NONE)
				continue;
			for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
				if (f->hops[g->groups[i].to] != hops - 1)
					continue;
				if (!found)
					steps_switch(f->s, u);
				steps_group(f->s, &g->groups[i]);
				found = true;
			}
		}
		for (uint32_t i = first; i < f->s->n; i++)
			f->hops[f->s->order[i]] = hops;
		idle = f->s->n > first ? 0 : idle + 1;
		if (f->s->n > first)
			*f->x->odd = true;
	}
}

static void find_steps(const void *arg, uint32_t to, struct steps *s)
{
	const struct hyperx *x = arg;
	struct search f = { .x = x, .s = s, .hops = s->work[0], .to = to };
	uint32_t *members = s->work[1], first[SHAPE_DIMS + 2] = { 0 }, fill[SHAPE_DIMS + 1];

	memset(f.hops, 0xFF, x->g->n * sizeof(*f.hops));
	f.hops[to] = 0;
	if (!shape_degree(x->g, to))
		return;
	for (uint32_t u = 0; u < x->g->n; u++)
		first[first_dim(x, u, to) + 1]++;
	for (unsigned d = 0; d <= x->shape->n_dims; d++) {
		first[d + 1] += first[d];
		fill[d] = first[d];
	}
	for (uint32_t u = 0; u < x->g->n; u++)
		members[fill[first_dim(x, u, to)]++] = u;
	for (unsigned d = x->shape->n_dims; d-- > 0;)
		enter_dim(&f, d, members + first[d], first[d + 1] - first[d]);
	enter_rest(&f);
}

/* Switches with whole rows first: there are always some of them to walk round over. */
static void rank_switches(struct hyperx *x)
{
	uint32_t n = x->g->n, whole = 0;

	for (unsigned d = 0; d < x->shape->n_dims; d++)
		whole += x->shape->size[d] - 1u;
	for (uint32_t u = 0; u < n; u++)
		x->rank[u] = (whole - MIN(whole, shape_degree(x->g, u))) * n + u;
}

/* The class of a port is its dimension + 1; 0 is where hosts are. Going back to a dimension is lane 1. */
static struct lanes *lanes_of(const struct hyperx *x, const struct topo *t, uint32_t row_size)
{
	unsigned n_classes = x->shape->n_dims + 1;
	struct lanes *l = lanes_new(t, 2, LANES_BY_NOTHING, row_size, n_classes);
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n_switches; s++)
		n += t->switches[s].n_ports + 1u;
	l->class_of = xcalloc(n, sizeof(*l->class_of));
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned p = 1; p <= t->switches[s].n_ports; p++) {
			uint32_t peer = topo_port(t, s, p)->sw;

			if (peer != TOPO_NONE)
				l->class_of[t->switches[s].first_port + p] =
					(uint8_t)(first_dim(x, s, peer) + 1);
		}
	memset(l->host_vl, 0, sizeof(l->host_vl));
	for (unsigned in = 0; in < n_classes; in++)
		for (unsigned out = 0; out < n_classes; out++)
			memset(&l->vl[(in * n_classes + out) * LANES_SLS], out && in > out, LANES_SLS);
	return l;
}

struct routes *hyperx_routes(const struct route_job *job, const struct graph *g, const struct shape *shape,
			     char *why, size_t why_len)
{
	uint32_t stride[SHAPE_DIMS], n = 1;
	_Atomic bool odd = false;
	struct hyperx x = { .g = g, .shape = shape, .stride = stride, .odd = &odd };
	struct routes *r;

	for (unsigned d = 0; d < shape->n_dims; n *= shape->size[d++])
		stride[d] = n;
	x.rank = xcalloc(g->n, sizeof(*x.rank));
	rank_switches(&x);
	x.turns = route_lanes(job) > 1;
	r = steps_deal(job, g, "hyperx", find_steps, &x);
	free(x.rank);
	if (!r) {
		snprintf(why, why_len, "cancelled");
		return NULL;
	}
	if (odd && route_lanes(job) < 2) {
		snprintf(why, why_len, "switches are missing: needs 2 lanes, every cable has 1");
		return routes_unref(r);
	}
	if (odd)
		r->lanes = lanes_of(&x, job->topo, r->row_size);
	return r;
}

struct routes *hyperx_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(job->topo, NULL);
	_cleanup_(shape_freep) struct shape *shape = shape_find(g);
	char text[SHAPE_STRLEN];

	if (shape->kind != SHAPE_HYPERX) {
		snprintf(why, why_len, "no HyperX: %s", shape_str(shape, text));
		return NULL;
	}
	return hyperx_routes(job, g, shape, why, why_len);
}
