// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ftree engine: trees of any number of levels, whole, pruned or broken, with hosts on any
 * level, and nothing else. Homes (minhop.c) make shift permutations meet no contention; paths go up
 * and then down (tree.h), so one VL is enough.
 *
 * Other graphs are declined: cables that join switches of one level, or leaves whose shortest
 * paths are not up and down. A few of either are damage or odd cabling.
 *
 * Compute nodes (cn_guid_file; without it all that io_guid_file does not name) have slots of their
 * own, so that other hosts among them do not disturb the sequence. max_reverse_hops has no effect:
 * every pair has a path up and down.
 */
#include "route/tree/updown.h"

#include <string.h>

#include "route/select/engines.h"
#include "util/bisect.h"
#include "util/mem.h"

#define LEVELLED 90  /* percent of the cables that join neighbouring levels */
#define LEVELS_MAX 8
#define SAMPLES 8    /* leaves whose paths are looked at */
#define DETOURS 5    /* percent of these that may be longer than the shortest */

bool *ftree_find_apart(const struct topo *t, const struct route_options *o)
{
	const struct route_guids *list = o->cn.n ? &o->cn : &o->io;
	bool *ret, others = o->cn.n;

	if (!list->n)
		return NULL;
	ret = xmalloc(t->n_hosts * sizeof(*ret));
	memset(ret, others, t->n_hosts * sizeof(*ret));
	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t h = topo_find_host(t, list->guids[i]);

		if (h != TOPO_NONE)
			ret[h] = !others;
	}
	return ret;
}

/* Hops of paths up, then down, in twos: going up, going down; as in `queue`: 2 * switch + down. */
static void flood_legal(const struct graph *g, uint32_t from, uint16_t *dist, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	memset(dist, 0xFF, g->n * 2 * sizeof(*dist));
	dist[2 * from] = 0;
	queue[tail++] = 2 * from;
	while (head < tail) {
		uint32_t at = queue[head++], u = at / 2;

		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			bool down = g->groups[i].way == GRAPH_DOWN;
			uint32_t next = 2 * g->groups[i].to + down;

			if ((at & 1 && !down) || dist[next] != UINT16_MAX)
				continue;
			dist[next] = (uint16_t)(dist[at] + 1);
			queue[tail++] = next;
		}
	}
}

/* Percent of the paths between leaves that are longer than they could be. */
static unsigned count_detours(const struct graph *g, const uint16_t *levels)
{
	_cleanup_free_ uint16_t *shortest = xcalloc(g->n, sizeof(*shortest));
	_cleanup_free_ uint16_t *legal = xcalloc(2 * (size_t)g->n, sizeof(*legal));
	_cleanup_free_ uint32_t *queue = xcalloc(2 * (size_t)g->n, sizeof(*queue));
	uint64_t all = 0, longer = 0;
	uint32_t step = g->n / SAMPLES + 1;

	for (uint32_t u = 0; u < g->n; u += step) {
		uint32_t from = u;

		while (from < g->n && levels[from])
			from++;
		if (from == g->n)
			break;
		memset(shortest, 0xFF, g->n * sizeof(*shortest));
		shortest[from] = 0;
		graph_flood(g, shortest, NULL);
		flood_legal(g, from, legal, queue);
		for (uint32_t v = 0; v < g->n; v++) {
			if (levels[v] || shortest[v] == UINT16_MAX)
				continue;
			all++;
			longer += MIN(legal[2 * v], legal[2 * v + 1]) > shortest[v];
		}
	}
	return all ? (unsigned)((longer * 100 + all - 1) / all) : 0;
}

/* False and `why`: the graph is no tree. */
static bool has_levels(const struct graph *g, const uint16_t *levels, char *why, size_t why_len)
{
	unsigned percent = tree_levelled(g, levels);
	uint16_t top = 0;

	for (uint32_t u = 0; u < g->n; u++)
		top = MAX(top, levels[u] == DISTANCE_NONE ? 0 : levels[u]);
	if (percent < LEVELLED)
		return route_refuse(why, why_len,
				    "not a tree: %u %% of the cables join switches of one level",
				    100 - percent);
	if (top < LEVELS_MAX)
		return true;
	return route_refuse(why, why_len, "not a tree: %u levels of switches, at most %u", top + 1u,
			    LEVELS_MAX);
}

/* False and `why`: an option names GUIDs that are not there. */
static bool has_what_is_named(const struct route_job *job, char *why, size_t why_len)
{
	const struct route_options *o = &job->options;
	const char *bad = (o->cn.given && (o->cn.broken || !o->cn.n))	? "cn_guid_file"
			: (o->io.given && (o->io.broken || !o->io.n))	? "io_guid_file"
			: (o->roots.given && o->roots.broken)		? "root_guid_file"
									: NULL;

	return !bad || route_refuse(why, why_len, "%s cannot be read or names no GUID", bad);
}

static bool find_levels(const struct route_job *job, const struct graph *g, uint16_t *levels,
			char *why, size_t why_len)
{
	const struct route_options *o = &job->options;

	if (!o->roots.given && !o->roots.n)
		dmodk_levels(g, levels);
	else if (!tree_levels_from_roots(g, &o->roots, levels))
		return route_refuse(why, why_len, "no switch of root_guid_file is there");
	return has_levels(g, levels, why, why_len);
}

struct routes *ftree_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = NULL;
	_cleanup_(tree_freep) struct tree *tree = NULL;
	_cleanup_free_ uint16_t *levels = NULL;
	_cleanup_free_ bool *apart = NULL;
	unsigned detours;
	struct routes *r;

	if (!route_is_possible(job, why, why_len) || !has_what_is_named(job, why, why_len))
		return NULL;
	g = graph_new(job->topo, &job->options);
	levels = xcalloc(g->n, sizeof(*levels));
	if (!find_levels(job, g, levels, why, why_len))
		return NULL;
	tree = tree_new(g, &(struct tree_plan){ .levels = levels, .previous = job->previous });
	tree_orient(tree, g);
	detours = count_detours(g, levels);
	if (detours > DETOURS)
		return route_refuse(why, why_len, "not a tree: %u %% of the paths between leaves"
				    " would be detours", detours);
	apart = ftree_find_apart(job->topo, &job->options);
	r = updown_route(job, &(struct fill_plan){
		.engine = "ftree", .graph = g, .tree = tree, .keeps_homes = true,
		.spread = { .levels = levels, .apart = apart,
			    .from_above = job->options.quasi_ftree_indexing },
	});
	if (r && job->options.roots.n)
		tree_note_roots(g, &job->options.roots, r->note, sizeof(r->note));
	return r;
}
