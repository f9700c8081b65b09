// SPDX-License-Identifier: BSD-2-Clause
/* Lists shortest ways by distances. Chooses nothing. */
#include "route/ways.h"

#include "util/mem.h"

void ways_init(struct ways *w, const struct graph *g)
{
	size_t most = 0;

	for (uint32_t i = 0; i < g->first[g->n]; i++)
		most += g->groups[i].n_ports;
	w->order = xcalloc(g->n, sizeof(*w->order));
	w->sorting = xcalloc(g->n, sizeof(*w->sorting));
	w->first = xcalloc((size_t)g->n + 1, sizeof(*w->first));
	w->ways = xcalloc(most, sizeof(*w->ways));
}

void ways_done(struct ways *w)
{
	free(w->order);
	free(w->sorting);
	free(w->first);
	free(w->ways);
}

static int by_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Distances may be weighted, so this sorts. */
static void order_switches(struct ways *w, const struct distances *d)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < d->n; s++) {
		uint16_t distance = distances_from(d, s)[w->to];

		if (s != w->to && distance != DISTANCE_NONE)
			w->sorting[n++] = (uint64_t)distance << 32 | s;
	}
	if (n)
		qsort(w->sorting, n, sizeof(*w->sorting), by_u64);
	for (uint32_t i = 0; i < n; i++)
		w->order[i] = (uint32_t)w->sorting[i];
	w->n = n;
}

uint32_t ways_append(struct ways *w, uint32_t n, const struct graph *g, uint32_t s, const struct graph_group *group)
{
	for (unsigned p = 0; p < group->n_ports; p++) {
		uint8_t port = g->ports[group->first_port + p];

		w->ways[n++] = (struct way){
			.channel = g->topo->switches[s].first_port + port, .next = group->to, .port = port,
		};
	}
	return n;
}

void ways_find(struct ways *w, const struct graph *g, const struct distances *d, uint32_t to)
{
	uint32_t n = 0;

	w->to = to;
	order_switches(w, d);
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t s = w->order[i], distance = distances_from(d, s)[to];

		w->first[i] = n;
		for (uint32_t k = g->first[s]; k < g->first[s + 1]; k++) {
			const struct graph_group *group = &g->groups[k];

			if (distances_from(d, group->to)[to] + group->weight != distance)
				continue;
			n = ways_append(w, n, g, s, group);
		}
	}
	w->first[w->n] = n;
}
