// SPDX-License-Identifier: BSD-2-Clause
/*
 * Dragonflies: groups of switches with cables to nearly every other group.
 *
 * Two switches of a clique have all the others as common neighbours, two of different groups hardly
 * any. In a dragonfly+ a group is leaves and spines, and only spines know other groups.
 */
#include <string.h>

#include "route/shape/recognise.h"
#include "util/bisect.h"
#include "util/mem.h"
#include "util/sets.h"

#define GROUPS_MAX 4096u

struct grouping {
	const struct graph *g;
	struct shape *s;
	bool *local;	 /* per group of the graph: within a group of switches */
	uint32_t *common;/* per group of the graph: common neighbours of both ends */
	uint32_t *size;	 /* per group */
};

static void count_common(struct grouping *w)
{
	const struct graph *g = w->g;
	_cleanup_free_ uint32_t *mark = xcalloc(g->n, sizeof(*mark));

	for (uint32_t u = 0; u < g->n; u++) {
		GRAPH_EACH(g, u, edge)
			mark[edge->to] = u + 1;
		GRAPH_EACH(g, u, edge)
			GRAPH_EACH(g, edge->to, beyond)
				w->common[edge - g->groups] += mark[beyond->to] == u + 1;
	}
}

/* An edge is local if its ends share more than half of what either shares with any switch. */
static void mark_cliques(struct grouping *w)
{
	const struct graph *g = w->g;
	_cleanup_free_ uint32_t *most = xcalloc(g->n, sizeof(*most));

	count_common(w);
	for (uint32_t u = 0; u < g->n; u++)
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
			most[u] = MAX(most[u], w->common[i]);
	for (uint32_t u = 0; u < g->n; u++)
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
			w->local[i] = w->common[i] &&
				      2 * w->common[i] > MIN(most[u], most[g->groups[i].to]);
}

/* Groups are numbered by their first switches. */
static void find_groups(struct grouping *w)
{
	const struct graph *g = w->g;
	struct shape *s = w->s;
	_cleanup_free_ uint32_t *set = xcalloc(g->n, sizeof(*set));

	s->n_groups = 0;
	memset(w->size, 0, g->n * sizeof(*w->size));
	for (uint32_t u = 0; u < g->n; u++)
		set[u] = u;
	for (uint32_t u = 0; u < g->n; u++)
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
			if (w->local[i])
				sets_join(set, u, g->groups[i].to);
	for (uint32_t u = 0; u < g->n; u++) {
		uint32_t first = sets_root(set, u);

		s->group[u] = first == u ? s->n_groups++ : s->group[first];
		w->size[s->group[u]]++;
	}
	memcpy(set, w->size, s->n_groups * sizeof(*set));
	SORT(set, s->n_groups, compare_u32);
	s->per_group = set[s->n_groups / 2];
}

/* Cables there are within groups, and that there would be in whole ones; false: too few. */
static bool are_dense(struct grouping *w, bool plus)
{
	const struct graph *g = w->g;
	struct shape *s = w->s;
	_cleanup_free_ uint32_t *leaves = xcalloc(s->n_groups, sizeof(*leaves));
	_cleanup_free_ uint32_t *inside = xcalloc(s->n_groups, sizeof(*inside));

	for (uint32_t u = 0; u < g->n; u++) {
		leaves[s->group[u]] += s->leaf[u];
		GRAPH_EACH(g, u, edge)
			inside[s->group[u]] += u < edge->to && s->group[u] == s->group[edge->to];
	}
	for (uint32_t k = 0; k < s->n_groups; k++) {
		uint64_t n = w->size[k], leaf = leaves[k];
		uint64_t whole = plus ? leaf * (n - leaf) : n * (n - 1) / 2; /* pairs to join */

		if (w->size[k] > 2 * s->per_group || (uint64_t)inside[k] * 10 < whole * 7 ||
		    inside[k] > whole)
			return false;
		s->n_cut += (uint32_t)(whole - inside[k]);
	}
	return true;
}

/* Do most groups have a cable to most others? Counts the pairs that have none. */
static bool are_joined(struct grouping *w)
{
	const struct graph *g = w->g;
	struct shape *s = w->s;
	uint64_t pairs = (uint64_t)s->n_groups * (s->n_groups - 1) / 2, joined = 0;
	_cleanup_free_ uint8_t *seen = xcalloc((size_t)s->n_groups * s->n_groups, 1);

	for (uint32_t u = 0; u < g->n; u++)
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			uint32_t a = s->group[u], b = s->group[g->groups[i].to];

			if (a < b && !seen[(size_t)a * s->n_groups + b]) {
				seen[(size_t)a * s->n_groups + b] = 1;
				joined++;
			}
		}
	s->n_cut += (uint32_t)(pairs - joined);
	return joined * 10 >= pairs * 7;
}

static bool try_groups(struct grouping *w, bool plus)
{
	const struct graph *g = w->g;
	struct shape *s = w->s;

	s->n_cut = 0;
	for (uint32_t u = 0; u < g->n && plus; u++)
		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++)
			w->local[i] = s->leaf[u] != s->leaf[g->groups[i].to];
	if (!plus)
		mark_cliques(w);
	find_groups(w);
	if (s->n_groups < 3 || s->per_group < 2 || s->n_groups > MIN(s->n / 2, GROUPS_MAX) ||
	    !are_dense(w, plus) || !are_joined(w))
		return false;
	s->kind = plus ? SHAPE_DRAGONFLY_PLUS : SHAPE_DRAGONFLY;
	return true;
}

bool shape_find_groups(const struct graph *g, struct shape *s)
{
	_cleanup_free_ bool *local = xcalloc(MAX(g->first[g->n], 1u), sizeof(*local));
	_cleanup_free_ uint32_t *common = xcalloc(MAX(g->first[g->n], 1u), sizeof(*common));
	_cleanup_free_ uint32_t *size = xcalloc(g->n, sizeof(*size));
	struct grouping w = { .g = g, .s = s, .local = local, .common = common, .size = size };

	s->group = xcalloc(g->n, sizeof(*s->group));
	if (try_groups(&w, false) || try_groups(&w, true))
		return true;
	free(take(s->group));
	s->n_groups = s->per_group = s->n_cut = 0;
	return false;
}
