// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ftree engine: trees of any number of levels, whole, pruned or broken, with hosts on any level, and nothing
 * else. Homes (minhop.c) make shift permutations meet no contention; ways go up and then down (tree.h), so one
 * lane is enough.
 *
 * What is no tree is declined: cables that join switches of one level, or leaves whose shortest ways are not
 * up and down. A few of either are damage or odd cabling.
 *
 * Compute nodes (cn_guid_file; without it all that io_guid_file does not name) have slots of their own, so that
 * others among them do not disturb the sequence. max_reverse_hops has nothing to allow: every pair has a way
 * up and down.
 */
#include "route/ftree.h"

#include <stdio.h>
#include <string.h>

#include "route/engines.h"
#include "route/updown.h"
#include "util/mem.h"

#define LEVELLED 90  /* percent of the cables that join neighbouring levels */
#define LEVELS_MAX 8
#define SAMPLES 8    /* leaves whose ways are looked at */
#define DETOURS 5    /* percent of these that may be longer than the shortest */

static bool *mark_listed(const struct topo *t, const struct route_guids *list)
{
	bool *ret = xcalloc(t->n_hosts, sizeof(*ret));

	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t h = topo_find_host(t, list->guids[i]);

		if (h != TOPO_NONE)
			ret[h] = true;
	}
	return ret;
}

bool *ftree_apart(const struct topo *t, const struct route_options *o)
{
	bool *ret;

	if (!o->cn.n && !o->io.n)
		return NULL;
	ret = mark_listed(t, o->cn.n ? &o->cn : &o->io);
	for (uint32_t h = 0; o->cn.n && h < t->n_hosts; h++)
		ret[h] = !ret[h];
	return ret;
}

/* Hops from `from` to all switches: the shortest ways, and those that go up and then down. */
struct sample {
	uint16_t *shortest;
	uint16_t *legal; /* 2 per switch: going up, going down */
	uint32_t *queue; /* of switches times 2 + going down */
};

static void walk(const struct graph *g, struct sample *s, uint32_t from, bool legal)
{
	uint16_t *dist = legal ? s->legal : s->shortest;
	uint32_t head = 0, tail = 0;

	memset(dist, 0xFF, g->n * 2 * sizeof(*dist));
	dist[2 * from] = 0;
	s->queue[tail++] = 2 * from;
	while (head < tail) {
		uint32_t at = s->queue[head++], u = at / 2;

		for (uint32_t i = g->first[u]; i < g->first[u + 1]; i++) {
			bool down = legal && g->groups[i].way == GRAPH_DOWN;
			uint32_t next = 2 * g->groups[i].to + down;

			if ((at & 1 && !down) || dist[next] != UINT16_MAX)
				continue;
			dist[next] = (uint16_t)(dist[at] + 1);
			s->queue[tail++] = next;
		}
	}
}

/* Percent of the ways between leaves that are longer than they could be. */
static unsigned count_detours(const struct graph *g, const uint16_t *levels)
{
	struct sample s = {
		.shortest = xcalloc(2 * (size_t)g->n, sizeof(*s.shortest)),
		.legal = xcalloc(2 * (size_t)g->n, sizeof(*s.legal)),
		.queue = xcalloc(2 * (size_t)g->n, sizeof(*s.queue)),
	};
	uint64_t all = 0, longer = 0;
	uint32_t step = g->n / SAMPLES + 1;

	for (uint32_t u = 0; u < g->n; u += step) {
		uint32_t from = u;

		while (from < g->n && levels[from])
			from++;
		if (from == g->n)
			break;
		walk(g, &s, from, false);
		walk(g, &s, from, true);
		for (uint32_t v = 0; v < g->n; v++) {
			uint16_t legal = MIN(s.legal[2 * v], s.legal[2 * v + 1]);

			if (levels[v] || s.shortest[2 * v] == UINT16_MAX)
				continue;
			all++;
			longer += legal > s.shortest[2 * v];
		}
	}
	free(s.shortest);
	free(s.legal);
	free(s.queue);
	return all ? (unsigned)((longer * 100 + all - 1) / all) : 0;
}

/* Writes why it is no tree. */
static bool has_levels(const struct graph *g, const uint16_t *levels, char *why, size_t why_len)
{
	unsigned percent = tree_levelled(g, levels);
	uint16_t top = 0;

	for (uint32_t u = 0; u < g->n; u++)
		top = MAX(top, levels[u] == DISTANCE_NONE ? 0 : levels[u]);
	if (percent < LEVELLED) {
		snprintf(why, why_len, "not a tree: %u %% of the cables join switches of one level",
			 100 - percent);
		return false;
	}
	if (top < LEVELS_MAX)
		return true;
	snprintf(why, why_len, "not a tree: %u levels of switches, at most %u", top + 1u, LEVELS_MAX);
	return false;
}

/* Options that name things which are not there. */
static bool has_what_is_named(const struct route_job *job, char *why, size_t why_len)
{
	const struct route_options *o = &job->options;
	const char *bad = (o->cn.given && (o->cn.broken || !o->cn.n))	? "cn_guid_file"
			: (o->io.given && (o->io.broken || !o->io.n))	? "io_guid_file"
			: (o->roots.given && o->roots.broken)		? "root_guid_file"
									: NULL;

	if (bad)
		snprintf(why, why_len, "%s cannot be read or names nobody", bad);
	return !bad;
}

static bool find_levels(const struct route_job *job, const struct graph *g, uint16_t *levels,
			char *why, size_t why_len)
{
	const struct route_options *o = &job->options;

	if (!o->roots.given && !o->roots.n)
		spread_levels(g, levels);
	else if (!tree_levels_from_roots(g, &o->roots, levels)) {
		snprintf(why, why_len, "no switch of root_guid_file is there");
		return false;
	}
	return has_levels(g, levels, why, why_len);
}

struct routes *ftree_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(graph_freep) struct graph *g = NULL;
	_cleanup_(tree_freep) struct tree *tree = NULL;
	_cleanup_free_ uint16_t *levels = NULL;
	_cleanup_free_ bool *apart = NULL;
	unsigned detours;

	if (!fill_is_possible(job, why, why_len) || !has_what_is_named(job, why, why_len))
		return NULL;
	g = graph_new(job->topo, &job->options);
	levels = xcalloc(g->n, sizeof(*levels));
	if (!find_levels(job, g, levels, why, why_len))
		return NULL;
	tree = tree_new(g, &(struct tree_plan){ .levels = levels, .previous = job->previous });
	tree_orient(tree, g);
	detours = count_detours(g, levels);
	if (detours > DETOURS) {
		snprintf(why, why_len, "not a tree: %u %% of the ways between leaves would be detours",
			 detours);
		return NULL;
	}
	apart = ftree_apart(job->topo, &job->options);
	return updown_route(job, &(struct updown){
		.engine = "ftree", .graph = g, .tree = tree, .levels = levels, .apart = apart,
		.from_above = job->options.quasi_ftree_indexing, .keeps_homes = true,
	}, why, why_len);
}

/* One compute node. */
struct seat {
	uint32_t slot, sw, host;
	uint8_t port;
};

/* By leaf; hosts on one switch by port. Slots of a switch are adjacent, and those of its neighbours follow. */
static int by_seat(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->sw != y->sw)
		return x->sw < y->sw ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
}

uint32_t *ftree_ca_order(const struct topo *t, const struct route_options *o, uint32_t *ret_n)
{
	_cleanup_(graph_freep) struct graph *g = graph_new(t, o);
	_cleanup_(distances_freep) struct distances *d =
		g->weighted ? distances_new(g, 1, NULL) : NULL;
	_cleanup_free_ bool *apart = ftree_apart(t, o);
	_cleanup_(spread_freep) struct spread *s = spread_new(g, d, &(struct spread_plan){
		.apart = apart, .from_above = o->quasi_ftree_indexing,
	});
	_cleanup_free_ struct seat *seats = xcalloc(t->n_hosts, sizeof(*seats));
	uint32_t n = 0, most = 0, leaves = 0, *ret;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->host[i] != TOPO_NONE && !s->hot[i].offset && !(apart && apart[s->host[i]]))
			seats[n++] = (struct seat){
				.slot = s->level[0].digit[i], .sw = t->hosts[s->host[i]].sw,
				.port = s->hot[i].port, .host = s->host[i],
			};
	if (n)
		qsort(seats, n, sizeof(*seats), by_seat);
	for (uint32_t i = 0, run = 0; i < n; i++) {
		bool same = i && seats[i].sw == seats[i - 1].sw;

		run = same ? run + 1 : 1;
		leaves += !same;
		most = MAX(most, run);
	}
	*ret_n = leaves * most;
	ret = xcalloc(*ret_n, sizeof(*ret));
	memset(ret, 0xFF, *ret_n * sizeof(*ret));
	for (uint32_t i = 0, leaf = 0, at = 0; i < n; i++) {
		if (i && seats[i].sw != seats[i - 1].sw) {
			leaf++;
			at = 0;
		}
		ret[leaf * most + at++] = seats[i].host;
	}
	return ret;
}
