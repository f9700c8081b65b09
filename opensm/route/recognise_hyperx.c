// SPDX-License-Identifier: BSD-2-Clause
/*
 * HyperX: the switches of a row in any dimension all know each other.
 *
 * The neighbours of one whole switch fall apart into its rows, one clique per dimension. They are the axes; every
 * other place is where the lines of two switches nearer to the origin cross. Whatever coordinates were
 * found in this way, all cables must agree with them.
 */
#include <string.h>

#include "route/recognise.h"
#include "util/mem.h"

#define ORIGINS 32   /* switches tried */
#define FIRSTS  4    /* neighbours to begin with */
#define PLACES_MAX (1u << 20)

struct lattice {
	const struct graph *g;
	struct shape *s;
	bool *known;	/* per switch: has a place */
	uint32_t *row;	/* per switch: 1 + dimension of the axis it is on; 0: none */
	uint32_t *mark; /* per switch */
};

static uint16_t *at(const struct lattice *l, uint32_t u)
{
	return l->s->at + (size_t)u * SHAPE_DIMS;
}

/* Row of the origin that starts with neighbour `v`: all neighbours that know each other through some. */
static uint32_t grow_row(struct lattice *l, uint32_t origin, uint32_t v, uint32_t dim, uint32_t *queue)
{
	const struct graph *g = l->g;
	uint32_t head = 0, tail = 0;

	l->row[v] = dim + 1;
	queue[tail++] = v;
	while (head < tail) {
		uint32_t u = queue[head++];

		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			uint32_t w = g->groups[i].to;

			if (w == origin || l->mark[w] != origin + 1 || l->row[w])
				continue;
			l->row[w] = dim + 1;
			queue[tail++] = w;
		}
	}
	return tail;
}

/* Do most of them know each other? Between rows nobody does. */
static bool is_clique(const struct graph *g, const uint32_t *members, uint32_t n)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++)
			known += shape_edge(g, members[i], members[k]) != NULL;
	return known * 4 >= n * (n - 1) / 2 * 3;
}

static int by_u32(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The axes from `origin`; false: its rows are no cliques, or there are too many places for the fabric. */
static bool find_axes(struct lattice *l, uint32_t origin, uint32_t n_switches)
{
	const struct graph *g = l->g;
	struct shape *s = l->s;
	uint32_t queue[UINT8_MAX + 1];

	memset(l->row, 0, g->n * sizeof(*l->row));
	memset(l->known, 0, g->n * sizeof(*l->known));
	s->n_dims = 0;
	s->n_places = 1;
	for (uint32_t i = g->first[origin]; i < g->first[origin + 1]; i++)
		l->mark[g->groups[i].to] = origin + 1;
	for (uint32_t i = g->first[origin]; i < g->first[origin + 1]; i++) {
		uint32_t v = g->groups[i].to, n;

		if (l->row[v])
			continue;
		if (s->n_dims == SHAPE_DIMS)
			return false;
		n = grow_row(l, origin, v, s->n_dims, queue);
		qsort(queue, n, sizeof(*queue), by_u32);
		if (!is_clique(g, queue, n))
			return false;
		for (uint32_t k = 0; k < n; k++) {
			memset(at(l, queue[k]), 0, SHAPE_DIMS * sizeof(uint16_t));
			at(l, queue[k])[s->n_dims] = (uint16_t)(k + 1);
			l->known[queue[k]] = true;
		}
		s->size[s->n_dims++] = (uint16_t)(n + 1);
		s->n_places *= n + 1;
		if (s->n_places > PLACES_MAX)
			return false;
	}
	memset(at(l, origin), 0, SHAPE_DIMS * sizeof(uint16_t));
	l->known[origin] = true;
	return s->n_places >= n_switches && (uint64_t)n_switches * 100 >= (uint64_t)s->n_places * 85;
}

static uint32_t place_of(const struct shape *s, const uint16_t *x)
{
	uint32_t place = 0;

	for (unsigned d = s->n_dims; d-- > 0;)
		place = place * s->size[d] + x[d];
	return place;
}

static unsigned differing(const struct shape *s, const uint16_t *x, const uint16_t *y)
{
	unsigned n = 0;

	for (unsigned d = 0; d < s->n_dims; d++)
		n += x[d] != y[d];
	return n;
}

/* Nobody is there, and all neighbours of `u` that have a place are in line with it. */
static bool fits(const struct lattice *l, uint32_t u, const uint16_t *x)
{
	if (l->s->switch_at[place_of(l->s, x)] != TOPO_NONE)
		return false;
	for (uint32_t i = l->g->first[u]; i < l->g->first[u + 1]; i++) {
		uint32_t v = l->g->groups[i].to;

		if (l->known[v] && differing(l->s, x, at(l, v)) != 1)
			return false;
	}
	return true;
}

/* Where the lines through the places of two neighbours cross: one of two places, `which` says. */
static bool crossing(const struct shape *s, const uint16_t *x, const uint16_t *y, unsigned which, uint16_t *ret)
{
	unsigned n = 0;

	if (differing(s, x, y) != 2)
		return false;
	for (unsigned d = 0; d < s->n_dims; d++) {
		ret[d] = x[d];
		if (x[d] != y[d] && n++ == which)
			ret[d] = y[d];
	}
	return true;
}

/* The one place where lines through neighbours v and w cross and u fits; false: none, or two. */
static bool find_place(const struct lattice *l, uint32_t u, uint32_t v, uint32_t w, uint16_t *ret)
{
	uint16_t x[SHAPE_DIMS];
	unsigned n = 0;

	for (unsigned which = 0; which < 2; which++) {
		if (!crossing(l->s, at(l, v), at(l, w), which, x) || !fits(l, u, x))
			continue;
		memcpy(ret, x, l->s->n_dims * sizeof(*x));
		n++;
	}
	return n == 1;
}

/* A place from the lines through neighbour `first` and any later one. */
static bool settle_by(struct lattice *l, uint32_t u, uint32_t first)
{
	const struct graph *g = l->g;
	uint32_t v = g->groups[first].to;
	uint16_t x[SHAPE_DIMS] = { 0 };

	for (uint32_t i = first + 1; i < g->first[u + 1]; i++) {
		uint32_t w = g->groups[i].to;

		if (!l->known[w] || !find_place(l, u, v, w, x))
			continue;
		memcpy(at(l, u), x, sizeof(x));
		l->known[u] = true;
		l->s->switch_at[place_of(l->s, x)] = u;
		return true;
	}
	return false;
}

static bool settle(struct lattice *l, uint32_t u)
{
	const struct graph *g = l->g;
	unsigned tries = 0;

	for (uint32_t i = g->first[u]; i < g->first[u + 1] && tries < FIRSTS; i++) {
		if (!l->known[g->groups[i].to])
			continue;
		tries++;
		if (settle_by(l, u, i))
			return true;
	}
	return false;
}

/* Places for everybody, from the axes outwards. False: somebody fits nowhere. */
static bool settle_all(struct lattice *l, uint32_t *queue)
{
	const struct graph *g = l->g;
	uint32_t left = 0, before;

	memset(l->s->switch_at, 0xFF, l->s->n_places * sizeof(*l->s->switch_at));
	for (uint32_t u = 0; u < g->n; u++) {
		if (l->known[u])
			l->s->switch_at[place_of(l->s, at(l, u))] = u;
		else if (shape_degree(g, u))
			queue[left++] = u;
	}
	do {
		uint32_t n = 0;

		before = left;
		for (uint32_t i = 0; i < left; i++)
			if (!settle(l, queue[i]))
				queue[n++] = queue[i];
		left = n;
	} while (left && left < before);
	return !left;
}

/* All cables in line; few of those that there should be are not. */
static bool agrees(struct lattice *l)
{
	const struct graph *g = l->g;
	struct shape *s = l->s;
	uint64_t cables = 0, whole = 0;

	for (uint32_t u = 0; u < g->n; u++)
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			if (differing(s, at(l, u), at(l, g->groups[i].to)) != 1)
				return false;
			cables += u < g->groups[i].to;
		}
	for (unsigned d = 0; d < s->n_dims; d++)
		whole += (uint64_t)s->n_places * (s->size[d] - 1u) / 2;
	s->n_cut = (uint32_t)(whole - cables);
	return whole >= cables && s->n_cut * 4 <= whole;
}

/*
 * The order of dimensions must not depend on where the search began, or a cable that is missing would turn
 * all routes: dimensions between near numbers come first, as a mean over all their cables.
 */
static void sort_dims(const struct graph *g, const struct shape *s, unsigned *order)
{
	uint64_t sum[SHAPE_DIMS] = { 0 }, n[SHAPE_DIMS] = { 0 };

	for (uint32_t u = 0; u < g->n; u++)
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			uint32_t v = g->groups[i].to;
			unsigned d = 0;

			while (s->at[(size_t)u * SHAPE_DIMS + d] == s->at[(size_t)v * SHAPE_DIMS + d])
				d++;
			sum[d] += u < v ? v - u : 0;
			n[d] += u < v;
		}
	for (unsigned d = 0; d < s->n_dims; d++) {
		unsigned k = d;

		for (; k && sum[d] * n[order[k - 1]] < sum[order[k - 1]] * n[d]; k--)
			order[k] = order[k - 1];
		order[k] = d;
	}
}

/* at[] in this order and with as many entries per switch as there are dimensions; places anew. */
static void pack(const struct graph *g, struct shape *s)
{
	unsigned order[SHAPE_DIMS];
	uint16_t size[SHAPE_DIMS], x[SHAPE_DIMS];

	sort_dims(g, s, order);
	memcpy(size, s->size, sizeof(size));
	for (unsigned d = 0; d < s->n_dims; d++)
		s->size[d] = size[order[d]];
	memset(s->switch_at, 0xFF, s->n_places * sizeof(*s->switch_at));
	for (uint32_t u = 0; u < s->n; u++) {
		uint16_t *to = s->at + (size_t)u * s->n_dims;

		memcpy(x, s->at + (size_t)u * SHAPE_DIMS, sizeof(x));
		for (unsigned d = 0; d < s->n_dims; d++)
			to[d] = x[order[d]];
		if (shape_degree(g, u))
			s->switch_at[place_of(s, to)] = u;
	}
}

static bool try_origin(struct lattice *l, uint32_t origin, uint32_t n_switches, uint32_t *queue)
{
	struct shape *s = l->s;

	if (!find_axes(l, origin, n_switches))
		return false;
	free(s->switch_at);
	s->switch_at = xcalloc(s->n_places, sizeof(*s->switch_at));
	return settle_all(l, queue) && agrees(l);
}

bool shape_find_hyperx(const struct graph *g, struct shape *s)
{
	struct lattice l = { .g = g, .s = s };
	_cleanup_free_ bool *known = xcalloc(g->n, sizeof(*known));
	_cleanup_free_ uint32_t *row = xcalloc(g->n, sizeof(*row));
	_cleanup_free_ uint32_t *mark = xcalloc(g->n, sizeof(*mark));
	_cleanup_free_ uint32_t *queue = xcalloc(g->n, sizeof(*queue));
	uint32_t most = 0, n_switches = 0, tries = 0;

	l.known = known;
	l.row = row;
	l.mark = mark;
	s->at = xcalloc((size_t)g->n * SHAPE_DIMS, sizeof(*s->at));
	for (uint32_t u = 0; u < g->n; u++) {
		most = MAX(most, shape_degree(g, u));
		n_switches += shape_degree(g, u) > 0;
	}
	for (uint32_t u = 0; u < g->n && tries < ORIGINS; u++) {
		if (shape_degree(g, u) != most)
			continue;
		tries++;
		if (try_origin(&l, u, n_switches, queue)) {
			pack(g, s);
			s->kind = SHAPE_HYPERX;
			return true;
		}
	}
	free(s->at);
	free(s->switch_at);
	s->at = NULL;
	s->switch_at = NULL;
	s->n_dims = s->n_places = s->n_cut = 0;
	return false;
}
