// SPDX-License-Identifier: BSD-2-Clause
/*
 * Places for switches. A fabric has levels when hardly any cable joins two switches of the same
 * distance from the leaves (shape_ranks()), which are at the bottom. Switches of a
 * level stand near those that they are connected to.
 */
#include "offline/base/layout.h"

#include <math.h>
#include <stdlib.h>

#include "route/shape/grid.h"
#include "route/shape/recognise.h"
#include "util/mem.h"

#define WIDTH_MIN 1000.0
#define WIDTH_MAX 6000.0
#define MARGIN	  60.0

static struct layout *layout_alloc(const struct topo *t)
{
	struct layout *l = xcalloc(1, sizeof(*l));

	l->places = xcalloc((size_t)t->n_switches + 1, sizeof(*l->places));
	l->order = xcalloc((size_t)t->n_switches + 1, sizeof(*l->order));
	for (uint32_t s = 0; s < t->n_switches; s++)
		l->order[s] = s;
	return l;
}

struct layout *layout_free(struct layout *l)
{
	if (!l)
		return NULL;
	grid_free(l->grid);
	free(l->places);
	free(l->order);
	free(l);
	return NULL;
}

/* --- Levels --------------------------------------------------------------------------------- */

/* Levels as the tree engines find them; NULL: there are none. The caller frees. */
static uint32_t *levels_of(const struct topo *t, uint32_t *ret_most)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(t, NULL);
	uint32_t *level = xcalloc((size_t)t->n_switches + 1, sizeof(*level));
	uint32_t same = 0, all = 0, most = 0;

	shape_ranks(g, level);
	for (uint32_t s = 0; s < t->n_switches; s++)
		most = level[s] == TOPO_NONE ? most : MAX(most, level[s]);
	for (uint32_t i = 0; i < topo_n_entries(t); i++) {
		uint32_t s = topo_switch_with(t, i), to = t->ports[i].sw;

		if (to == TOPO_NONE || level[s] == TOPO_NONE)
			continue;
		all++;
		same += level[to] == level[s];
	}
	for (uint32_t s = 0; s < t->n_switches; s++)
		if (level[s] == TOPO_NONE)
			level[s] = most;
	*ret_most = most;
	if (most && same <= all / 10)
		return level;
	free(level);
	return NULL;
}

struct slot {
	double wish;
	uint32_t sw;
};

static int by_wish(const void *va, const void *vb)
{
	const struct slot *a = va, *b = vb;

	return a->wish != b->wish ? (a->wish < b->wish ? -1 : 1)
				  : (a->sw > b->sw) - (a->sw < b->sw);
}

/* The average position of its neighbours one level below. */
static double wish_of(const struct topo *t, const struct layout *l, const uint32_t *level,
		      uint32_t s)
{
	double sum = 0;
	unsigned n = 0;

	for (unsigned i = 1; i <= t->switches[s].n_ports; i++) {
		uint32_t to = topo_port(t, s, i)->sw;

		if (to == TOPO_NONE || level[to] + 1 != level[s])
			continue;
		sum += l->places[to].x;
		n++;
	}
	return n ? sum / n : 0;
}

static struct layout *by_level(const struct topo *t)
{
	uint32_t most, widest = 1, at = 0;
	_cleanup_free_ uint32_t *level = levels_of(t, &most), *count = NULL;
	_cleanup_free_ struct slot *slots = xcalloc((size_t)t->n_switches + 1, sizeof(*slots));
	struct layout *l;

	if (!level)
		return NULL;
	l = layout_alloc(t);
	count = xcalloc((size_t)most + 1, sizeof(*count));
	for (uint32_t s = 0; s < t->n_switches; s++)
		count[level[s]]++;
	for (uint32_t k = 0; k <= most; k++)
		widest = MAX(widest, count[k]);
	l->width = MIN(MAX(widest * 22.0, WIDTH_MIN), WIDTH_MAX);
	l->pitch = (l->width - 2 * MARGIN) / widest;
	l->height = most * MAX(220.0, l->width * 0.16) + 260;
	for (uint32_t k = 0; k <= most; k++) {
		uint32_t n = 0;

		for (uint32_t s = 0; s < t->n_switches; s++)
			if (level[s] == k)
				slots[n++] = (struct slot){ k ? wish_of(t, l, level, s) : s, s };
		qsort(slots, n, sizeof(*slots), by_wish);
		for (uint32_t i = 0; i < n; i++) {
			struct layout_place *p = &l->places[slots[i].sw];

			p->x = MARGIN + (l->width - 2 * MARGIN) * (i + 0.5) / n;
			p->y = l->height - 130 - (double)k * (l->height - 260) / most;
			p->low = k == 0;
			p->level = k;
			l->order[at++] = slots[i].sw;
		}
	}
	return l;
}

/* --- Grids ---------------------------------------------------------------------------------- */

/*
 * The first dimension goes right, the second down, the third slantwise within the cell of the
 * others; further ones right and down in turn, beside the block of those before.
 */
static void grid_place(const struct grid *g, uint32_t s, double pitch, struct layout_place *p)
{
	double cell = pitch * (g->n_dims > 2 ? g->size[2] + 1 : 1), step[2] = { cell, cell };

	p->x = p->y = MARGIN;
	for (unsigned d = 0; d < g->n_dims; d++) {
		unsigned at = g->at[s * g->n_dims + d], way = d > 2 ? (d + 1) % 2 : d % 2;

		if (d == 2) {
			p->x += at * pitch * 0.8;
			p->y += at * pitch * 0.8;
			continue;
		}
		*(way ? &p->y : &p->x) += at * step[way];
		step[way] = step[way] * g->size[d] + pitch;
	}
}

static struct layout *by_grid(const struct topo *t)
{
	struct graph *graph = graph_new(t, NULL);
	struct layout *l = NULL;
	char why[160];
	struct grid *g = grid_find(graph, why, sizeof(why));

	graph_free(graph);
	if (!g)
		return NULL;
	l = layout_alloc(t);
	l->grid = g;
	l->pitch = g->n_dims < 3 ? 56 : t->n_switches <= 500 ? 26 : 18;
	for (uint32_t s = 0; s < t->n_switches; s++) {
		grid_place(g, s, l->pitch, &l->places[s]);
		l->width = MAX(l->width, l->places[s].x + MARGIN);
		l->height = MAX(l->height, l->places[s].y + MARGIN);
	}
	l->width = MAX(l->width, 720.0);
	return l;
}

/* The dimension in which two neighbours differ; n_dims: none. */
static unsigned axis_of(const struct grid *g, uint32_t a, uint32_t b)
{
	unsigned d = 0;

	while (d < g->n_dims && g->at[a * g->n_dims + d] == g->at[b * g->n_dims + d])
		d++;
	return d;
}

bool layout_bends(const struct layout *l, uint32_t a, uint32_t b)
{
	return l->grid && axis_of(l->grid, a, b) > 2;
}

bool layout_wraps(const struct layout *l, uint32_t a, uint32_t b)
{
	const struct grid *g = l->grid;
	unsigned d = g ? axis_of(g, a, b) : 0;

	return g && d < g->n_dims && g->wraps[d] && g->size[d] > 2 &&
	       abs(g->at[a * g->n_dims + d] - g->at[b * g->n_dims + d]) == g->size[d] - 1;
}

/* --- Circle --------------------------------------------------------------------------------- */

static struct layout *in_circle(const struct topo *t)
{
	struct layout *l = layout_alloc(t);
	double n = MAX(t->n_switches, 1u), radius = MIN(MAX(n * 14 / (2 * M_PI), 250.0), 2200.0);

	l->round = true;
	l->width = l->height = 2 * radius + 320;
	l->pitch = 2 * M_PI * radius / n;
	for (uint32_t s = 0; s < t->n_switches; s++) {
		double turn = 2 * M_PI * s / n;
		struct layout_place *p = &l->places[s];

		p->x = l->width / 2 + radius * cos(turn);
		p->y = l->height / 2 + radius * sin(turn);
		p->flip = cos(turn) < 0;
		p->turn = turn * 180 / M_PI + (p->flip ? 180 : 0);
	}
	l->width = MAX(l->width, 720.0);
	return l;
}

struct layout *layout_new(const struct topo *t)
{
	struct layout *l = by_level(t);

	if (!l)
		l = by_grid(t);
	return l ? l : in_circle(t);
}
