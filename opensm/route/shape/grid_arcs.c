// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which way every edge of a grid goes, from squares alone.
 *
 * Two edges at a switch that belong to different dimensions are sides of a square (a cycle of four
 * without a diagonal); two of the same dimension never are. Opposite sides of a square go the same
 * way. So squares give classes of parallel edges: all that lead from one layer of the grid to the
 * next. Two classes that meet at switches and are never sides of one square follow each other along
 * one dimension. A ring of four is a square itself; it counts as two dimensions of two, which is
 * the same graph.
 *
 * Damage takes squares away and never adds one: classes fall apart, and edges of different
 * dimensions may meet without their square. Meetings are therefore counted, the most frequent are
 * believed first, and none that would put two sides of a square into one dimension. What stays open
 * stays unknown.
 */
#include "route/shape/grid_internal.h"

#include <string.h>

#include "util/bisect.h"
#include "util/mem.h"
#include "util/sets.h"

#define CLASSES_MAX 4096 /* a whole 100x100 torus has 200 */

struct square {
	uint32_t a, b; /* arcs from one corner */
};

/* Classes x and y (numbers of ways) meet as parts of one way, this often. */
struct meeting {
	uint32_t x, y, n;
};

struct finder {
	const struct graph *g;
	struct grid_arcs *arcs;
	uint32_t *set;	     /* arcs: those that go the same way */
	struct square *squares;
	size_t n_squares, cap_squares;
	uint32_t *way_of;    /* per arc: 2 * class + way; TOPO_NONE: in no square */
	uint32_t n_classes;
	uint64_t *apart;     /* rows of bits: class, classes of other dimensions */
	size_t words;
	struct meeting *meetings;
	size_t n_meetings, cap_meetings;
	uint32_t *group;     /* set of ways; the roots of a group are 2k and 2k + 1 */
	uint64_t *members;   /* rows of bits: k, classes of the group */
	uint32_t *weight;    /* per group: arcs */
	char *why;
	size_t why_len;
};

static void number_arcs(const struct graph *g, struct grid_arcs *a)
{
	a->g = g;
	a->n = g->first[g->n];
	ARENA_ARRAYS(a->memory, a->n + 1u, a->from, a->back, a->way);
	for (uint32_t s = 0; s < g->n; s++)
		for (uint32_t i = g->first[s]; i < g->first[s + 1]; i++) {
			a->from[i] = s;
			a->back[i] = graph_find(g, g->groups[i].to, s);
			a->way[i] = TOPO_NONE;
		}
}

/* What switches at two hops from one switch have been reached by. */
struct reach {
	uint32_t *stamp; /* the switch that the other members are about */
	uint32_t *first; /* arc from the middle switch */
	uint8_t *n;
};

static void add_square(struct finder *f, uint32_t a, uint32_t then_a, uint32_t b, uint32_t then_b)
{
	const uint32_t *back = f->arcs->back;

	sets_join(f->set, a, then_b);
	sets_join(f->set, back[a], back[then_b]);
	sets_join(f->set, b, then_a);
	sets_join(f->set, back[b], back[then_a]);
	APPEND(f->squares, f->n_squares, f->cap_squares) = (struct square){ .a = a, .b = b };
}

/* `arc` leads from a neighbour of s to x. */
static bool reach_one(struct finder *f, struct reach *r, uint32_t s, uint32_t arc)
{
	const struct grid_arcs *a = f->arcs;
	uint32_t x = f->g->groups[arc].to, mid = a->from[arc], other;
	bool near = graph_find(f->g, s, x) != TOPO_NONE;

	if (r->stamp[x] != s + 1) {
		r->stamp[x] = s + 1;
		r->first[x] = arc;
		r->n[x] = 1;
		return true;
	}
	if (near || ++r->n[x] > 2)
		return route_refuse(f->why, f->why_len, "two %s have more than %s in common",
				    near ? "neighbouring switches" : "switches",
				    near ? "one neighbour" : "two neighbours");
	other = r->first[x];
	if (graph_find(f->g, mid, a->from[other]) != TOPO_NONE)
		return route_refuse(f->why, f->why_len, "a cycle of four switches has a diagonal");
	if (s < x)
		add_square(f, graph_find(f->g, s, a->from[other]), other, graph_find(f->g, s, mid),
			   arc);
	return true;
}

static bool find_squares(struct finder *f)
{
	const struct graph *g = f->g;
	struct reach r;
	bool ok = true;

	ARENA_ARRAYS(f->arcs->memory, g->n, r.stamp, r.first, r.n);
	for (uint32_t s = 0; ok && s < g->n; s++)
		for (uint32_t i = g->first[s]; ok && i < g->first[s + 1]; i++) {
			uint32_t mid = g->groups[i].to;

			for (uint32_t k = g->first[mid]; ok && k < g->first[mid + 1]; k++)
				if (g->groups[k].to != s)
					ok = reach_one(f, &r, s, k);
		}
	return ok;
}

static bool number_classes(struct finder *f)
{
	_cleanup_free_ uint32_t *class_of = xmalloc_ones(f->arcs->n, sizeof(*class_of));
	bool ok = true;

	memset(f->way_of, 0xFF, f->arcs->n * sizeof(*f->way_of));
	for (size_t i = 0; ok && i < f->n_squares; i++)
		for (unsigned side = 0; ok && side < 2; side++) {
			uint32_t arc = side ? f->squares[i].b : f->squares[i].a;
			uint32_t root = sets_root(f->set, arc);
			uint32_t back = sets_root(f->set, f->arcs->back[arc]);

			ok = root != back;
			if (class_of[root] != TOPO_NONE)
				continue;
			class_of[root] = 2 * f->n_classes;
			class_of[back] = 2 * f->n_classes++ + 1;
		}
	for (uint32_t i = 0; i < f->arcs->n; i++)
		f->way_of[i] = class_of[sets_root(f->set, i)];
	if (!ok)
		return route_refuse(f->why, f->why_len,
				    "a layer of the grid would be its own next one");
	return f->n_classes <= CLASSES_MAX ||
	       route_refuse(f->why, f->why_len, "its squares are in too many pieces (%u)",
			    f->n_classes);
}

static uint64_t *row(const struct finder *f, uint64_t *bits, uint32_t k)
{
	return bits + k * f->words;
}

static bool has(const struct finder *f, uint64_t *bits, uint32_t k, uint32_t other)
{
	return row(f, bits, k)[other / 64] >> other % 64 & 1;
}

static void set_bit(const struct finder *f, uint64_t *bits, uint32_t k, uint32_t other)
{
	row(f, bits, k)[other / 64] |= UINT64_C(1) << other % 64;
}

static bool find_apart(struct finder *f)
{
	f->words = f->n_classes / 64 + 1;
	ARENA_ARRAY(f->arcs->memory, f->apart, (f->n_classes + 1u) * f->words);
	for (size_t i = 0; i < f->n_squares; i++) {
		uint32_t a = f->way_of[f->squares[i].a] / 2, b = f->way_of[f->squares[i].b] / 2;

		if (a == b)
			return route_refuse(f->why, f->why_len, "a square has the same way twice");
		set_bit(f, f->apart, a, b);
		set_bit(f, f->apart, b, a);
	}
	return true;
}

static void note_meeting(struct finder *f, uint32_t x, uint32_t y)
{
	uint32_t low = MIN(x, y), high = MAX(x, y);

	APPEND(f->meetings, f->n_meetings, f->cap_meetings) =
		(struct meeting){ .x = low & ~1u, .y = high ^ (low & 1), .n = 1 };
}

static int by_ways(const void *a, const void *b)
{
	const struct meeting *p = a, *q = b;

	return COMPARE(p->x, q->x) ?: COMPARE(p->y, q->y);
}

static int by_number(const void *a, const void *b)
{
	const struct meeting *p = a, *q = b;

	return COMPARE(q->n, p->n) ?: by_ways(a, b);
}

/* Pairs of classes that are at a switch together and never in a square, most frequent first. */
static void find_meetings(struct finder *f)
{
	const struct graph *g = f->g;
	size_t n = 0;

	for (uint32_t s = 0; s < g->n; s++)
		for (uint32_t i = g->first[s]; i < g->first[s + 1]; i++)
			for (uint32_t k = i + 1; k < g->first[s + 1]; k++) {
				uint32_t x = f->way_of[i], y = f->way_of[k];

				if (x == TOPO_NONE || y == TOPO_NONE || x / 2 == y / 2 ||
				    has(f, f->apart, x / 2, y / 2))
					continue;
				note_meeting(f, x ^ 1, y);
			}
	SORT(f->meetings, f->n_meetings, by_ways);
	for (size_t i = 0; i < f->n_meetings; i++)
		if (n && !by_ways(&f->meetings[n - 1], &f->meetings[i]))
			f->meetings[n - 1].n++;
		else
			f->meetings[n++] = f->meetings[i];
	f->n_meetings = n;
	SORT(f->meetings, n, by_number);
}

/* Is some class of group a apart from some class of group b? */
static bool are_apart(const struct finder *f, uint32_t a, uint32_t b)
{
	for (size_t w = 0; w < f->words; w++)
		if (row(f, f->apart, a)[w] & row(f, f->members, b)[w])
			return true;
	return false;
}

static void merge_groups(struct finder *f, uint32_t x, uint32_t y)
{
	uint32_t a = sets_root(f->group, x) / 2, b = sets_root(f->group, y) / 2;
	uint32_t into = MIN(a, b), gone = MAX(a, b);

	if (a == b || are_apart(f, a, b))
		return;
	sets_join(f->group, x, y);
	sets_join(f->group, x ^ 1, y ^ 1);
	for (size_t w = 0; w < f->words; w++) {
		row(f, f->apart, into)[w] |= row(f, f->apart, gone)[w];
		row(f, f->members, into)[w] |= row(f, f->members, gone)[w];
	}
}

static void find_groups(struct finder *f)
{
	ARENA_ARRAY(f->arcs->memory, f->group, 2 * f->n_classes + 1u);
	ARENA_ARRAY(f->arcs->memory, f->members, (f->n_classes + 1u) * f->words);
	ARENA_ARRAY(f->arcs->memory, f->weight, f->n_classes + 1u);
	for (uint32_t k = 0; k < f->n_classes; k++) {
		f->group[2 * k] = 2 * k;
		f->group[2 * k + 1] = 2 * k + 1;
		set_bit(f, f->members, k, k);
	}
	for (size_t i = 0; i < f->n_meetings; i++)
		merge_groups(f, f->meetings[i].x, f->meetings[i].y);
	for (uint32_t i = 0; i < f->arcs->n; i++)
		if (f->way_of[i] != TOPO_NONE)
			f->weight[sets_root(f->group, f->way_of[i]) / 2]++;
}

/* The largest group that has squares with all dimensions so far; TOPO_NONE: none. */
static uint32_t next_dimension(const struct finder *f, const uint32_t *dims, unsigned n)
{
	uint32_t best = TOPO_NONE;

	for (uint32_t k = 0; k < f->n_classes; k++) {
		bool ok = f->weight[k] && (best == TOPO_NONE || f->weight[k] > f->weight[best]);

		for (unsigned d = 0; ok && d < n; d++)
			ok = k != dims[d] && are_apart(f, k, dims[d]);
		if (ok)
			best = k;
	}
	return best;
}

static bool name_ways(struct finder *f)
{
	uint32_t dims[GRID_DIMS + 1], k;
	unsigned n = 0;

	while (n <= GRID_DIMS && (k = next_dimension(f, dims, n)) != TOPO_NONE)
		dims[n++] = k;
	if (n > GRID_DIMS)
		return route_refuse(f->why, f->why_len, "more than %d dimensions", GRID_DIMS);
	for (uint32_t i = 0; i < f->arcs->n; i++) {
		uint32_t way = f->way_of[i];

		if (way == TOPO_NONE)
			continue;
		way = sets_root(f->group, way);
		for (unsigned d = 0; d < n; d++)
			if (way / 2 == dims[d])
				f->arcs->way[i] = 2 * d + (way & 1);
	}
	f->arcs->n_dims = n;
	return true;
}

static void finder_done(struct finder *f)
{
	FREE_ALL(f->squares, f->meetings);
}

bool grid_arcs_find(const struct graph *g, struct grid_arcs *ret, char *why, size_t why_len)
{
	_cleanup_(finder_done) struct finder f = {
		.g = g, .arcs = ret, .why = why, .why_len = why_len
	};

	number_arcs(g, ret);
	ARENA_ARRAYS(ret->memory, ret->n + 1u, f.set, f.way_of);
	for (uint32_t i = 0; i < ret->n; i++)
		f.set[i] = i;
	if (!find_squares(&f) || !number_classes(&f) || !find_apart(&f))
		return false;
	find_meetings(&f);
	find_groups(&f);
	return name_ways(&f);
}
