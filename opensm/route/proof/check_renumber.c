// SPDX-License-Identifier: BSD-2-Clause
/*
 * A proof for the same tables, with other numbers of switches. Switches that come or go are bare:
 * no path is concerned, but no path leads from them to the LID of any switch either.
 */
#include <assert.h>
#include <string.h>

#include "route/core/renumber.h"
#include "route/proof/cdg_internal.h"
#include "route/proof/check_internal.h"
#include "util/mem.h"

/* Replaces an array by its copy. */
#define REPLACE(array, copy)                                                                      \
	do {                                                                                      \
		void *replaced_ = (array);                                                        \
                                                                                                  \
		(array) = (copy);                                                                 \
		free(replaced_);                                                                  \
	} while (0)

/* One VL in per VL, and no classes: see struct verifier.simple. */
static void renumber_graph(struct cdg *g, const struct renumbering *m)
{
	size_t mask = g->words * sizeof(uint64_t);

	assert(g->words == cdg_words(m->now) && g->n_in == 1 && g->n_classes == 1 && !g->turns);
	REPLACE(g->hosts, renumber_switches(m, g->hosts, mask));
	REPLACE(g->into, renumber_entries(m, g->into, g->n_vls * mask));
	if (g->rank)
		REPLACE(g->rank, renumber_entries(m, g->rank, g->n_vls * sizeof(*g->rank)));
	g->topo = m->now;
	cdg_find_peers(g);
}

static void renumber_verifier(struct verifier *j, const struct routes *r,
			      const struct renumbering *m)
{
	_cleanup_free_ uint32_t *to = topo_match_switches(m->was, m->now);

	j->routes = r;
	j->topo = r->topo;
	j->graph = graph_free(j->graph);
	j->distances->rows = renumber_own_pairs(m, j->distances->rows,
						sizeof(*j->distances->rows), UINT8_MAX);
	j->distances->n = m->now->n_switches;
	for (uint32_t s = 0; s < m->now->n_switches; s++)
		j->distances->rows[(size_t)s * m->now->n_switches + s] = 0;
	REPLACE(j->sources, renumber_switches(m, j->sources, sizeof(*j->sources)));
	REPLACE(j->n_reach, renumber_switches(m, j->n_reach, sizeof(*j->n_reach)));
	FREE_ALL(j->behind, j->counted);
	verifier_find_behind(j);
	for (unsigned lid = 0; lid <= j->top; lid++)
		if (j->targets[lid].sw != TOPO_NONE)
			j->targets[lid].sw = to[j->targets[lid].sw];
	renumber_graph(j->dependencies, m);
}

/* Bare switches more (or less, if negative). */
static int64_t count_more(const struct renumbering *m)
{
	return (int64_t)m->now->n_switches - m->was->n_switches;
}

static void renumber_proof(struct route_proof *p, const struct routes *r,
			   const struct renumbering *m)
{
	uint64_t *pairs_at = xcalloc(m->now->n_switches + 1u, sizeof(*pairs_at));

	renumber_verifier(&p->j, r, m);
	REPLACE(p->load, renumber_entries(m, p->load, sizeof(*p->load)));
	memcpy(pairs_at, p->pairs_at,
	       (MIN(m->now->n_switches, m->was->n_switches) + 1u) * sizeof(*pairs_at));
	REPLACE(p->pairs_at, pairs_at);
	for (unsigned lid = 1; lid <= p->j.top; lid++)
		if (p->j.targets[lid].sw != TOPO_NONE && !p->j.targets[lid].port) {
			p->j.missing[lid] += (uint32_t)count_more(m);
			p->v.switch_unreachable += (uint64_t)count_more(m);
		}
}

void routes_check_renumber(const struct routes *was, const struct routes *now,
			   const struct renumbering *m, struct route_verdict *v)
{
	struct route_proof *p = atomic_exchange(&was->cache->proof, NULL);

	assert(was->topo == m->was && now->topo == m->now && !now->cache->proof);
	for (uint32_t s = 0; s < m->now->n_switches; s++)
		if (m->now->switches[s].lid)
			v->switch_unreachable += (uint64_t)count_more(m)
						 << m->now->switches[s].lmc;
	if (p && p->j.dependencies->words != cdg_words(m->now))
		p = was->cache->proof_free(p);
	if (!p)
		return;
	renumber_proof(p, now, m);
	now->cache->proof_free = was->cache->proof_free;
	now->cache->proof = p;
}
