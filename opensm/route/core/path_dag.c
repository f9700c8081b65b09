// SPDX-License-Identifier: BSD-2-Clause
/* Lists shortest paths by distances. Chooses nothing. */
#include "route/core/path_dag.h"

#include <assert.h>
#include <string.h>

#include "util/bisect.h"

void path_dag_init(struct path_dag *w, const struct graph *g)
{
	struct arena *a = &w->memory;
	size_t most = 0;

	assert(g);
	*w = (struct path_dag){ .graph = g, .to = TOPO_NONE };
	for (uint32_t i = 0; i < g->first[g->n]; i++)
		most += g->groups[i].n_ports;
	ARENA_ARRAYS(a, g->n, w->order, w->far);
	ARENA_ARRAY(a, w->first, (size_t)g->n + 1);
	ARENA_ARRAY(a, w->edges, most);
	for (unsigned i = 0; i < ARRAY_SIZE(w->work); i++)
		ARENA_ARRAY(a, w->work[i], g->n);
}

void path_dag_done(struct path_dag *w)
{
	arena_done(&w->memory);
}

uint32_t path_dag_sort(const struct path_dag *w, uint16_t mask, uint32_t *ret)
{
	_cleanup_free_ uint32_t *at = NULL, *all = xmalloc(w->graph->n * sizeof(*all));
	uint32_t most = 0, n = 0;

	for (uint32_t s = 0; s < w->graph->n; s++)
		if (w->far[s] != DISTANCE_NONE && s != w->to) {
			most = MAX(most, (uint32_t)w->far[s] & mask);
			all[n++] = s;
		}
	at = xcalloc(most + 3u, sizeof(*at));
	SORT_BY_KEY(all, ret, n, w->far[all[i]] & mask, most + 1u, at);
	return n;
}

/* Without weights and orientation it is as far there as back, and a step is one hop. */
static bool is_plain(const struct graph *g, const struct distances *d)
{
	return !g->weighted && d->mask == UINT16_MAX;
}

static void find_far(struct path_dag *w, const struct distances *d)
{
	const struct graph *g = w->graph;

	if (is_plain(g, d))
		memcpy(w->far, distances_from(d, w->to), g->n * sizeof(*w->far));
	else
		for (uint32_t s = 0; s < g->n; s++)
			w->far[s] = distances_from(d, s)[w->to];
}

/* The next hops of `s`, the last switch. */
static void list_edges(struct path_dag *w, uint32_t s, bool plain)
{
	const struct graph *g = w->graph;
	const uint16_t *far = w->far;
	unsigned here = far[s];

	for (uint32_t k = g->first[s]; k < g->first[s + 1]; k++) {
		const struct graph_group *group = &g->groups[k];

		if (plain ? far[group->to] + 1u == here
			  : graph_is_path(graph_near(group, far[group->to]), far[s]))
			path_dag_group(w, group);
	}
}

void path_dag_find(struct path_dag *w, const struct distances *d, uint32_t to)
{
	uint32_t *order = w->work[0], n;
	bool plain = is_plain(w->graph, d);

	path_dag_begin(w, to);
	find_far(w, d);
	n = path_dag_sort(w, d->mask, order);
	for (uint32_t i = 0; i < n; i++) {
		path_dag_switch(w, order[i]);
		list_edges(w, order[i], plain);
	}
}

void path_dag_order(struct path_dag *w, const struct distances *d, uint32_t to)
{
	path_dag_begin(w, to);
	find_far(w, d);
	w->n = path_dag_sort(w, d->mask, w->order);
}

void path_dag_list(struct path_dag *w, const struct distances *d, uint32_t i)
{
	uint32_t n = w->n, s = w->order[i];

	w->n = i;
	w->n_edges = 0;
	path_dag_switch(w, s);
	list_edges(w, s, is_plain(w->graph, d));
	w->n = n;
}
