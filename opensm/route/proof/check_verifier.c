// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preparations of a check: the tables and the fabric as all threads read them (struct verifier),
 * and the work space of one thread (struct check_worker).
 */
#include <omp.h>

#include "route/proof/cdg_internal.h"
#include "route/proof/check_internal.h"
#include "util/mem.h"

static void find_targets(struct verifier *j)
{
	const struct topo *t = j->topo;

	for (unsigned lid = 0; lid <= j->top; lid++)
		j->targets[lid].sw = TOPO_NONE;
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned k = 0; t->switches[s].lid && k < 1u << t->switches[s].lmc; k++)
			j->targets[t->switches[s].lid + k] = (struct target){ .sw = s };
	for (uint32_t h = 0; h < t->n_hosts; h++) {
		const struct topo_host *host = &t->hosts[h];

		if (host->sw == TOPO_NONE || !host->lid)
			continue;
		j->sources[host->sw]++;
		j->n_sources++;
		for (unsigned k = 0; k < 1u << host->lmc; k++)
			j->targets[host->lid + k] =
				(struct target){ .sw = host->sw, .port = host->sw_port };
	}
	for (uint32_t i = 0; i < t->n_asides; i++)
		TOPO_EACH_LID(&t->asides[i], lid)
			if (t->asides[i].sw != TOPO_NONE)
				j->targets[lid] = (struct target){ .sw = t->asides[i].sw,
								   .port = t->asides[i].sw_port,
								   .aside = true };
}

void verifier_find_behind(struct verifier *j)
{
	const struct topo *t = j->topo;

	j->n_ports = topo_n_entries(t);
	j->counted = topo_find_counted(t);
	j->behind = xmalloc_ones(j->n_ports, sizeof(*j->behind));
	for (uint32_t e = 0; e < j->n_ports; e++)
		if (t->ports[e].sw != TOPO_NONE)
			j->behind[e] = t->ports[e].sw << 8 | t->ports[e].port;
}

void verifier_raise_top(struct verifier *j, struct verifier *old)
{
	unsigned top = MAX(j->routes->top, j->topo->max_lid);

	if (top <= j->top)
		return;
	j->targets = xrealloc(j->targets, top + 1u, sizeof(*j->targets));
	j->missing = xrealloc(j->missing, top + 1u, sizeof(*j->missing));
	j->nearer = xrealloc(j->nearer, top + 1u, sizeof(*j->nearer));
	for (unsigned lid = j->top + 1; lid <= top; lid++) {
		j->targets[lid] = (struct target){ .sw = TOPO_NONE };
		j->missing[lid] = 0;
		j->nearer[lid] = false;
	}
	j->top = top;
	old->targets = j->targets;
	old->missing = j->missing;
	old->nearer = j->nearer;
}

void verifier_done(struct verifier *j)
{
	FREE_ALL(j->behind, j->counted, j->sources, j->targets, j->n_reach, j->missing, j->nearer);
	graph_free(j->graph);
	distances_free(j->distances);
	cdg_free(j->dependencies);
}

void verifier_begin(struct verifier *j, const struct routes *r, unsigned threads)
{
	uint32_t n = r->topo->n_switches;

	j->routes = r;
	j->topo = r->topo;
	j->threads = threads ?: (unsigned)omp_get_max_threads();
	j->graph = graph_new(r->topo, NULL);
	j->distances = distances_new(j->graph, j->threads, NULL);
	j->sources = xcalloc(n, sizeof(*j->sources));
	j->n_reach = xcalloc(n, sizeof(*j->n_reach));
	j->top = MAX(r->top, r->topo->max_lid);
	j->targets = xcalloc(j->top + 1u, sizeof(*j->targets));
	j->missing = xcalloc(j->top + 1u, sizeof(*j->missing));
	j->nearer = xcalloc(j->top + 1u, sizeof(*j->nearer));
	j->dependencies = cdg_new(r->topo, r->lanes);
	j->simple = j->dependencies->n_classes == 1 &&
		    (!j->dependencies->lanes || j->dependencies->lanes->by == SL2VL_BY_LID);
	verifier_find_behind(j);
	find_targets(j);
#pragma omp parallel for num_threads(j->threads) schedule(static)
	for (uint32_t at = 0; at < n; at++) {
		const uint16_t *dist = distances_from(j->distances, at);

		for (uint32_t s = 0; s < n; s++)
			j->n_reach[at] += dist[s] != DISTANCE_NONE;
	}
}

bool verifier_comes_nearer(const struct verifier *j, uint32_t s, lid_t lid, bool of_one)
{
	const struct topo_switch *sw = &j->topo->switches[s];
	uint8_t port = lid < sw->lft_cap ? routes_port(j->routes, s, lid) : LFT_NO_PORT;
	uint32_t at = j->targets[lid].sw, behind, next;
	uint16_t far, near;

	if (s == at)
		return !port;
	behind = port <= sw->n_ports ? j->behind[sw->first_port + port] : BEHIND_NONE;
	far = of_one ? distances_from(j->distances, at)[s] : distances_from(j->distances, s)[at];
	if (behind == BEHIND_NONE)
		return far == DISTANCE_NONE;
	next = behind >> 8;
	near = of_one ? distances_from(j->distances, at)[next]
		      : distances_from(j->distances, next)[at];
	return near + 1u == far;
}

struct check_worker *check_worker_new(const struct verifier *j)
{
	struct check_worker *w = xcalloc(1, sizeof(*w));
	uint32_t n = j->topo->n_switches;

	w->j = j;
	w->at = TOPO_NONE;
	ARENA_ARRAY(&w->memory, w->order, n);
	ARENA_ARRAY(&w->memory, w->cells, (size_t)n * 64);
	w->words = j->dependencies->words;
	ARENA_ARRAY(&w->memory, w->high, (size_t)n * 64 * (w->words - 1));
	ARENA_ARRAY(&w->memory, w->carries, n);
	ARENA_ARRAYS(&w->memory, (size_t)LFT_BLOCK_LIDS * n, w->columns, w->rows);
	w->block = UINT32_MAX;
	ARENA_ARRAYS(&w->memory, n, w->next, w->flow, w->state, w->hops, w->path, w->near);
	ARENA_ARRAY(&w->memory, w->bucket, (size_t)n + 1);
	w->load = xcalloc(j->n_ports, sizeof(*w->load));
	w->pairs_at = xcalloc((size_t)n + 1, sizeof(*w->pairs_at));
	w->walk = cdg_walk_new(j->dependencies);
	return w;
}

struct check_worker *check_worker_free(struct check_worker *w)
{
	if (!w)
		return NULL;
	FREE_ALL(w->load, w->pairs_at);
	cdg_walk_free(w->walk);
	arena_done(&w->memory);
	free(w);
	return NULL;
}
