// SPDX-License-Identifier: BSD-2-Clause
/* All targets of a row at once: which neighbours are nearer, and which port if it is only one. */
#include "route/place_private.h"

#include <string.h>

#include "route/simd.h"

/* A group, ready for many targets: graph_near() in parts. */
struct step {
	const uint16_t *from;
	uint16_t keep, add, weight, code;
};

struct found {
	simd_u16 ways, last;
};

static struct step step_of(const struct place_row *row, uint32_t group)
{
	const struct graph_group *g = &row->groups[group];
	uint8_t port = row->plan->graph->ports[g->first_port];

	return (struct step){
		.from = row->from[group], .weight = g->weight,
		.keep = g->way == GRAPH_UP ? DISTANCE_DOWN - 1 : UINT16_MAX,
		.add = g->way == GRAPH_UP ? DISTANCE_UP : g->way == GRAPH_DOWN ? DISTANCE_DOWN : 0,
		.code = PLACE_STEP(group, g->n_ports == 1 ? port : 0),
	};
}

SIMD_CLONES
static void find_many(struct place_row *row, const struct step *steps, uint32_t n)
{
	const uint16_t n_up = (uint16_t)row->n_up;

	for (uint32_t x = 0; x + SIMD_LANES <= n; x += SIMD_LANES) {
		simd_u16 dist = *(const simd_u16 *)(row->dist + x), ways = { 0 }, last = { 0 }, ups = { 0 };
		simd_u16 one;

		for (uint32_t i = 0; i < row->n_groups; i++) {
			const struct step *s = &steps[i];
			simd_u16 near = ((*(const simd_u16 *)(s->from + x) & s->keep) | s->add) + s->weight;
			simd_u16 hit = (simd_u16)(near == dist);

			ways -= hit;
			last = (last & ~hit) | (hit & s->code);
			if (i + 1 == n_up)
				ups = ways;
		}
		one = (simd_u16)(ways == 1);
		*(simd_u16 *)(row->ways + x) = ways;
		*(simd_u16 *)(row->last + x) = last;
		*(simd_u16 *)(row->unique + x) = one & last & 0xFF;
		*(simd_u16 *)(row->full + x) = (simd_u16)(ups == n_up) & (simd_u16)(ways == n_up) &
					       (simd_u16)(ups > 0);
	}
}

static void find_one(struct place_row *row, const struct step *steps, uint32_t x)
{
	uint16_t ways = 0, last = 0, ups = 0;

	for (uint32_t i = 0; i < row->n_groups; i++) {
		const struct step *s = &steps[i];

		if ((uint16_t)(((s->from[x] & s->keep) | s->add) + s->weight) == row->dist[x]) {
			ways++;
			last = s->code;
		}
		if (i + 1 == row->n_up)
			ups = ways;
	}
	row->ways[x] = ways;
	row->last[x] = last;
	row->unique[x] = ways == 1 ? last & 0xFF : 0;
	row->full[x] = ups && ups == row->n_up && ways == ups;
}

void place_find_ways(struct place_row *row)
{
	uint32_t n = row->plan->graph->n;
	struct step steps[PORTS];

	for (uint32_t i = 0; i < row->n_groups; i++)
		steps[i] = step_of(row, row->by_way[i]);
	find_many(row, steps, n);
	for (uint32_t x = n / SIMD_LANES * SIMD_LANES; x < n; x++)
		find_one(row, steps, x);
}

SIMD_CLONES
static void fill_table(const struct place_row *row, uint16_t distance, uint16_t *port)
{
	uint32_t n = row->plan->graph->n, x = 0;

	for (; x + SIMD_LANES <= n; x += SIMD_LANES) {
		simd_u16 there = (simd_u16)(*(const simd_u16 *)(row->dist + x) == distance);
		simd_u16 unique = *(const simd_u16 *)(row->unique + x);

		*(simd_u16 *)(port + x) =
			there & (unique | ((simd_u16)(unique == 0) & (uint16_t)PLACE_SEVERAL));
	}
	for (; x < n; x++)
		port[x] = row->dist[x] != distance ? 0 : row->unique[x] ? row->unique[x] : PLACE_SEVERAL;
}

const uint16_t *place_table(struct place_row *row, uint16_t distance)
{
	struct place_table *t;

	for (unsigned i = 0; i < row->n_tables; i++)
		if (row->tables[i].distance == distance)
			return row->tables[i].port;
	/* More than there is room for: the ones in use are the youngest. */
	if (row->n_tables == PLACE_TABLES) {
		struct place_table first = row->tables[0];

		memmove(row->tables, row->tables + 1, (PLACE_TABLES - 1) * sizeof(*row->tables));
		row->tables[PLACE_TABLES - 1] = first;
		row->n_tables--;
	}
	t = &row->tables[row->n_tables++];
	t->distance = distance;
	fill_table(row, distance, t->port);
	return t->port;
}
