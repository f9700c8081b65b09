// SPDX-License-Identifier: BSD-2-Clause
/*
 * Each cable is patched on a copy of one ground, as a patch changes its ground. Making a ground
 * looks at all paths; a copy is some arrays, and is made again for each cable.
 */
#include "route/patch/patch_single.h"

#include <assert.h>
#include <omp.h>
#include <string.h>

#include "route/patch/patch_internal.h"

/* The memory of a copy: all that a patch changes. The rest is that of `of`, which outlives it. */
static struct patch_ground *copy_new(const struct patch_ground *of)
{
	struct patch_ground *g = xmemdup(of, sizeof(*of));

	g->memory = (struct arena){ 0 };
	ARENA_ARRAY(&g->memory, g->switches, g->n + 1u);
	ARENA_ARRAY(&g->memory, g->ways, g->n_entries + 1u);
	for (unsigned i = 0; i < g->n_planes; i++) {
		if (g->planes[i].order)
			g->planes[i].order = cdg_order_new(g->channels);
		ARENA_ARRAY(&g->memory, g->planes[i].before, (size_t)g->n_entries * g->words + 1);
	}
	return g;
}

static void copy_free(struct patch_ground *g)
{
	for (unsigned i = 0; i < g->n_planes; i++)
		cdg_order_free(g->planes[i].order);
	arena_done(&g->memory);
	free(g);
}

/* Makes the copy equal again. */
static void copy_again(struct patch_ground *g, const struct patch_ground *of)
{
	size_t n_words = (size_t)g->n_entries * g->words;

	memcpy(g->switches, of->switches, g->n * sizeof(*g->switches));
	memcpy(g->ways, of->ways, g->n_entries * sizeof(*g->ways));
	for (unsigned i = 0; i < g->n_planes; i++) {
		memcpy(g->planes[i].before, of->planes[i].before, n_words * sizeof(uint64_t));
		if (g->planes[i].order)
			cdg_order_become(g->planes[i].order, of->planes[i].order);
	}
}

static struct patch_single *cables_of(const struct topo *t, uint32_t *ret_n)
{
	uint32_t n_entries = topo_n_entries(t), n = 0;
	struct patch_single *all = xcalloc(n_entries / 2 + 1u, sizeof(*all));

	for (uint32_t e = 0; e < n_entries; e++)
		if (t->ports[e].sw != TOPO_NONE && e < topo_peer(t, e))
			all[n++].at = e;
	*ret_n = n;
	return all;
}

/* `bare`: the tables of the ground. */
static void try_cable(struct patch_ground *copy, const struct patch_ground *ground,
		      const struct routes *bare, struct patch_single *cable)
{
	_cleanup_(patch_freep) struct patch *patch = NULL;

	copy_again(copy, ground);
	patch = patch_make(copy, bare, &cable->at, 1, NULL);
	memcpy(cable->counts, patch->counts, sizeof(cable->counts));
}

struct patch_single *patch_singles(const struct routes *r, unsigned threads, uint32_t *ret_n)
{
	_cleanup_(patch_ground_freep) struct patch_ground *ground = NULL;
	_cleanup_(routes_unrefp) struct routes *bare = NULL;
	struct patch_single *all;
	uint32_t n;

	assert(r && ret_n);
	threads = threads ? threads : (unsigned)omp_get_max_threads();
	ground = patch_ground_new(r);
	/* without what else tables have, which each patch would copy; its ground knows it */
	bare = routes_derive(r->topo, r);
	routes_settle(bare);
	all = cables_of(r->topo, &n);
#pragma omp parallel num_threads(threads)
	{
		struct patch_ground *copy = copy_new(ground);

#pragma omp for schedule(dynamic, 4)
		for (uint32_t i = 0; i < n; i++)
			try_cable(copy, ground, bare, &all[i]);
		copy_free(copy);
	}
	*ret_n = n;
	return all;
}
