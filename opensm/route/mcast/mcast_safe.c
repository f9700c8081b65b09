// SPDX-License-Identifier: BSD-2-Clause
/*
 * Trees that cannot deadlock together with unicast and with each other.
 *
 * A copy that waits for one cable holds others, so trees belong to the proof: the union of the
 * dependencies of unicast and of all groups must be acyclic, VL by VL. In a fat tree it always is:
 * trees go up and down as unicast does. Elsewhere a tree may go against the order of unicast; then
 * the group takes another one, cut out of the *common tree* of its SL. That is a spanning tree
 * which was added to the dependencies before any group's, so every part of it fits, whatever was
 * added since. (torus-2QoS puts all groups on such a tree.)
 */
#include <string.h>

#include "route/proof/cdg.h"
#include "route/mcast/mcast_internal.h"
#include "util/mem.h"

#define ROOTS 8            /* roots tried with a whole tree at once */
#define GROW_SWITCHES 512  /* up to which a tree is grown cable by cable, if no whole one fits */
#define GROW_MEND 128      /* the same once cables have died, as mends cannot wait long */
#define GROW_TRIES 4       /* cables, for every switch */

/* A spanning tree while it is sought. */
struct trunk {
	struct mcast_planner *p;
	uint8_t sl;
	uint32_t *parent;          /* per switch; MCAST_NONE: a root, or not in it */
	uint32_t *order, n;        /* in it, parents first */
	uint8_t *up_port;          /* 0: a root */
	bool *in_it;
	uint32_t *children;
	uint32_t tries;            /* left */
	struct arena memory;
};

static void trunk_clear(struct trunk *t)
{
	t->n = 0;
	memset(t->parent, 0xFF, t->p->n * sizeof(*t->parent));
	memset(t->in_it, 0, t->p->n * sizeof(*t->in_it));
}

static void add_to_trunk(struct trunk *t, uint32_t sw, uint32_t parent, uint8_t port)
{
	t->in_it[sw] = true;
	t->order[t->n++] = sw;
	t->parent[sw] = parent;
	t->up_port[sw] = port;
}

/* All switches that cables connect with `root`, level by level. */
static void spread_out(struct trunk *t, uint32_t root)
{
	const struct graph *g = t->p->graph;
	uint32_t done = t->n;

	add_to_trunk(t, root, MCAST_NONE, 0);
	while (done < t->n) {
		uint32_t at = t->order[done++];

		GRAPH_EACH(g, at, group) {
			uint8_t port = g->ports[group->first_port];

			if (!t->in_it[group->to])
				add_to_trunk(t, group->to, at,
					     topo_port(t->p->topo, at, port)->port);
		}
	}
}

/* Cuts off ends without end ports: they lead nowhere. */
static void cut_bare_ends(struct trunk *t)
{
	uint32_t n = 0;

	memset(t->children, 0, t->p->n * sizeof(*t->children));
	for (uint32_t i = t->n; i-- > 0;) {
		uint32_t s = t->order[i];

		if (!t->children[s] && !t->p->hosts[s])
			t->in_it[s] = false;
		else if (t->parent[s] != MCAST_NONE)
			t->children[t->parent[s]]++;
	}
	for (uint32_t i = 0; i < t->n; i++)
		if (t->in_it[t->order[i]])
			t->order[n++] = t->order[i];
	t->n = n;
}

struct mcast_tree *mcast_tree_of(const struct topo *t, const uint8_t *up, const bool *in_it)
{
	struct mcast_tree *tree = xcalloc(1, sizeof(*tree) + t->n_switches * sizeof(tree->rows[0]));
	_cleanup_free_ uint32_t *row = xcalloc(t->n_switches, sizeof(*row));

	for (uint32_t s = 0; s < t->n_switches; s++) {
		row[s] = tree->n_rows;
		if (!in_it || in_it[s])
			tree->rows[tree->n_rows++].sw = s;
	}
	for (uint32_t i = 0; i < tree->n_rows; i++) {
		uint32_t s = tree->rows[i].sw;
		const struct topo_port *peer = topo_port(t, s, up[s]);

		if (!up[s])
			continue;
		mcast_set_port(&tree->rows[i], up[s]);
		mcast_set_port(&tree->rows[row[peer->sw]], peer->port);
	}
	return tree;
}

static bool trunk_fits(const struct trunk *t)
{
	struct mcast_tree *tree = mcast_tree_of(t->p->topo, t->up_port, t->in_it);
	bool ok = cdg_add_tree(t->p->depends, tree, t->sl);

	free(tree);
	return ok;
}

static bool attach(struct trunk *t, uint32_t sw)
{
	const struct graph *g = t->p->graph;

	for (uint32_t i = g->first[sw]; i < g->first[sw + 1]; i++)
		for (unsigned k = 0; k < g->groups[i].n_ports && t->in_it[g->groups[i].to]; k++) {
			if (!t->tries)
				return false;
			t->tries--;
			add_to_trunk(t, sw, g->groups[i].to, g->ports[g->groups[i].first_port + k]);
			if (trunk_fits(t))
				return true;
			t->in_it[sw] = false;
			t->n--;
		}
	return false;
}

/* Cable by cable, as far as that goes; switches with end ports that are left begin a piece. */
static void grow(struct trunk *t, uint32_t root)
{
	bool progress = true;

	t->tries = GROW_TRIES * t->p->n;
	trunk_clear(t);
	add_to_trunk(t, root, MCAST_NONE, 0);
	while (progress) { /* a switch more in it each time */
		progress = false;
		for (uint32_t s = 0; s < t->p->n; s++)
			if (!t->in_it[s] && attach(t, s))
				progress = true;
	}
}

/* Switches with short paths to all others, nearest first: `ret` has room for ROOTS. */
static unsigned find_roots(struct mcast_planner *p, uint32_t *ret)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < p->n_roots && n < ROOTS; i++)
		ret[n++] = p->roots[i];
	p->n_member_switches = 0;
	for (uint32_t s = 0; s < p->n; s++)
		if (p->hosts[s])
			p->member_switches[p->n_member_switches++] = s;
	if (p->n_member_switches) {
		uint32_t middle = mcast_find_middle(p);

		for (uint32_t i = 0; i < middle && n < ROOTS; i++)
			ret[n++] = p->queue[(uint64_t)i * middle / MIN(middle, ROOTS) % middle];
	}
	return n;
}

static bool find_trunk(struct trunk *t)
{
	uint32_t roots[ROOTS];
	unsigned n = find_roots(t->p, roots);

	for (unsigned i = 0; i < n; i++) {
		trunk_clear(t);
		spread_out(t, roots[i]);
		for (uint32_t s = 0; s < t->p->n; s++)
			if (!t->in_it[s] && t->p->hosts[s])
				spread_out(t, s);
		cut_bare_ends(t);
		if (trunk_fits(t))
			return true;
	}
	if (!n || t->p->n > (t->p->n_dead ? GROW_MEND : GROW_SWITCHES))
		return false;
	grow(t, roots[0]);
	return true;
}

/* The same as a graph in which there are no other cables. */
static struct graph *graph_of(const struct trunk *t)
{
	struct graph *g = xcalloc(1, sizeof(*g));
	uint32_t n = 0;

	g->topo = t->p->topo;
	g->n = t->p->n;
	ARENA_ARRAY(&g->memory, g->first, (size_t)g->n + 1);
	ARENA_ARRAYS(&g->memory, 2u * t->n + 1, g->groups, g->ports);
	for (uint32_t s = 0; s < g->n; s++) {
		GRAPH_EACH(t->p->graph, s, edge) {
			bool up = t->in_it[s] && t->parent[s] == edge->to;

			if (!up && !(t->in_it[edge->to] && t->parent[edge->to] == s))
				continue;
			g->groups[n] = (struct graph_group){
				.to = edge->to, .first_port = n, .n_ports = 1, .weight = 1,
			};
			g->ports[n++] = up ? t->up_port[s]
					   : topo_port(t->p->topo, edge->to,
						       t->up_port[edge->to])->port;
		}
		g->first[s + 1] = n;
	}
	return g;
}

void mcast_find_common(struct mcast_planner *p, uint8_t sl)
{
	struct trunk t = { .p = p, .sl = sl };

	if (!p->depends || p->common_sought >> sl & 1)
		return;
	p->common_sought |= (uint16_t)(1u << sl);
	if (!cdg_is_acyclic(p->depends))
		return;
	ARENA_ARRAYS(&t.memory, p->n, t.parent, t.order, t.up_port, t.in_it, t.children);
	if (find_trunk(&t))
		p->common[sl] = graph_of(&t);
	arena_done(&t.memory);
}

bool mcast_fits(struct mcast_planner *p, const struct mcast_tree *t, uint8_t sl)
{
	return !p->depends || t->n_rows < 2 || cdg_add_tree(p->depends, t, sl);
}
