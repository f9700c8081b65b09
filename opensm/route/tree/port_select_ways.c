// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds, for all targets of a row in one pass, the neighbours that are nearer, and the port if it
 * is the only one.
 */
#include "route/tree/port_select_internal.h"

#include <string.h>

#include "route/core/simd.h"
#include "util/mem.h"

#define PLANE 16 /* number of groups that share one word of bits */

/* A group, prepared for many targets: graph_near() in parts. */
struct step {
	const uint16_t *from;
	uint16_t keep, add, weight, code, bit;
	bool down;
};

/* The groups of a row, and the bits of those that lead up. */
struct steps {
	uint32_t n, n_planes;
	struct step at[PORTS];
	uint16_t up[PORTS / PLANE];
};

static struct step step_of(const struct port_select_row *row, uint32_t group)
{
	const struct graph_group *g = &row->groups[group];
	uint8_t port = row->plan->graph->ports[g->first_port];

	return (struct step){
		.from = row->from[group], .weight = g->weight,
		.keep = g->way == GRAPH_UP ? DISTANCE_DOWN - 1 : UINT16_MAX,
		.add = g->way == GRAPH_UP ? DISTANCE_UP : g->way == GRAPH_DOWN ? DISTANCE_DOWN : 0,
		.code = PLACE_STEP(group, g->n_ports == 1 ? port : 0),
		.bit = (uint16_t)(1u << group % PLANE), .down = g->way == GRAPH_DOWN,
	};
}

#define EITHER (DISTANCE_UP | DISTANCE_DOWN)

/* The paths to sixteen targets, as found so far. */
struct found {
	simd_u16 ways, last, full, bits;
};

static inline __attribute__((always_inline)) void
find_plane(const struct steps *s, uint32_t first, uint32_t x, const simd_u16 dist[2],
	   struct found *f)
{
	simd_u16 bits = { 0 };

	for (uint32_t i = first; i < MIN(first + PLANE, s->n); i++) {
		const struct step *g = &s->at[i];
		simd_u16 near = ((*(const simd_u16 *)(g->from + x) & g->keep) | g->add) + g->weight;
		simd_u16 hit = (simd_u16)(near == dist[g->down]);

		f->ways -= hit;
		f->last = (f->last & ~hit) | (hit & g->code);
		bits |= hit & g->bit;
	}
	f->bits = bits;
}

SIMD_CLONES
static void find_many(struct port_select_row *row, const struct steps *s, uint32_t n)
{
	const uint16_t n_up = (uint16_t)row->n_up;

	for (uint32_t x = 0; x + SIMD_LANES <= n; x += SIMD_LANES) {
		simd_u16 up = *(const simd_u16 *)(row->dist + x), one;
		simd_u16 may = (simd_u16)((up & (uint16_t)DISTANCE_UP) != 0);
		simd_u16 dist[2] = { up, up ^ (may & (uint16_t)EITHER) };
		struct found f = { .full = { 0 } };

		f.full = (simd_u16)(f.full == 0);
		for (uint32_t p = 0; p < s->n_planes; p++) {
			find_plane(s, p * PLANE, x, dist, &f);
			*(simd_u16 *)(row->ways.bits + (size_t)p * n + x) = f.bits;
			f.full &= (simd_u16)(f.bits == s->up[p]);
		}
		one = (simd_u16)(f.ways == 1);
		*(simd_u16 *)(row->ways.n + x) = f.ways;
		*(simd_u16 *)(row->ways.last + x) = f.last;
		*(simd_u16 *)(row->ways.unique + x) = one & f.last & 0xFF;
		*(simd_u16 *)(row->ways.full + x) = f.full & (uint16_t)(n_up ? 1 : 0);
	}
}

static void find_one(struct port_select_row *row, const struct steps *s, uint32_t x)
{
	const uint32_t n = row->plan->graph->n;
	uint16_t ways = 0, last = 0;
	bool full = row->n_up;

	for (uint32_t p = 0; p < s->n_planes; p++) {
		uint16_t bits = 0;

		for (uint32_t i = p * PLANE; i < MIN((p + 1) * PLANE, s->n); i++) {
			const struct step *g = &s->at[i];

			if (!graph_is_path((uint16_t)(((g->from[x] & g->keep) | g->add) +
						      g->weight), row->dist[x]))
				continue;
			ways++;
			last = g->code;
			bits |= g->bit;
		}
		row->ways.bits[(size_t)p * n + x] = bits;
		full &= bits == s->up[p];
	}
	row->ways.n[x] = ways;
	row->ways.last[x] = last;
	row->ways.unique[x] = ways == 1 ? last & 0xFF : 0;
	row->ways.full[x] = full;
}

static void steps_of(const struct port_select_row *row, struct steps *s)
{
	s->n = row->n_groups;
	s->n_planes = (row->n_groups + PLANE - 1) / PLANE;
	memset(s->up, 0, sizeof(s->up));
	for (uint32_t i = 0; i < s->n; i++)
		s->at[i] = step_of(row, i);
	for (uint32_t i = 0; i < row->n_up; i++)
		s->up[row->by_way[i] / PLANE] |= s->at[row->by_way[i]].bit;
}

void port_select_find_two(struct port_select_row *row, uint32_t x, uint32_t y)
{
	struct steps s;

	steps_of(row, &s);
	find_one(row, &s, x);
	find_one(row, &s, y);
}

void port_select_find_ways(struct port_select_row *row)
{
	uint32_t n = row->plan->graph->n;
	struct steps s;

	steps_of(row, &s);
	GROW(row->ways.bits, (size_t)s.n_planes * n, row->ways.cap_bits);
	find_many(row, &s, n);
	for (uint32_t x = n / SIMD_LANES * SIMD_LANES; x < n; x++)
		find_one(row, &s, x);
}

SIMD_CLONES
static void fill_table(const struct port_select_row *row, uint16_t distance, uint16_t *port)
{
	uint32_t n = row->plan->graph->n, x = 0;

	for (; x + SIMD_LANES <= n; x += SIMD_LANES) {
		simd_u16 there = (simd_u16)(*(const simd_u16 *)(row->dist + x) == distance);
		simd_u16 unique = *(const simd_u16 *)(row->ways.unique + x);

		*(simd_u16 *)(port + x) =
			there & (unique | ((simd_u16)(unique == 0) & (uint16_t)PLACE_SEVERAL));
	}
	for (; x < n; x++)
		port[x] = row->dist[x] != distance ? 0
			  : row->ways.unique[x]	   ? row->ways.unique[x]
						   : PLACE_SEVERAL;
}

const uint16_t *port_select_table(struct port_select_row *row, uint16_t distance)
{
	struct port_select_table *t;

	for (unsigned i = 0; i < row->n_tables; i++)
		if (row->tables[i].distance == distance)
			return row->tables[i].port;
	/* All tables are in use: the oldest one is replaced. */
	if (row->n_tables == PLACE_TABLES) {
		struct port_select_table first = row->tables[0];

		memmove(row->tables, row->tables + 1, (PLACE_TABLES - 1) * sizeof(*row->tables));
		row->tables[PLACE_TABLES - 1] = first;
		row->n_tables--;
	}
	t = &row->tables[row->n_tables++];
	t->distance = distance;
	fill_table(row, distance, t->port);
	return t->port;
}

/* ---- the work space ------------------------------------------------------------------------- */

void port_select_ways_open(struct port_select_ways *w, uint32_t n, struct arena *memory)
{
	ARENA_ARRAYS(memory, n, w->n, w->last, w->unique, w->full);
}
