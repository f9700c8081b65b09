// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cables that died since the planner was made. Its topo cannot change, so these cables are taken
 * out of what is looked at instead: the graph, the dependencies, the common trees.
 */
#include <assert.h>
#include <string.h>

#include "route/mcast/mcast_internal.h"
#include "route/proof/cdg.h"
#include "util/bisect.h"
#include "util/mem.h"

/* The index in p->dead of a switch, or where it would be. */
static uint32_t place_of(const struct mcast_planner *p, uint32_t sw)
{
	return BISECT(i, 0, p->n_dead, p->dead[i].sw < sw);
}

bool mcast_is_dead(const struct mcast_planner *p, uint32_t sw, unsigned port)
{
	uint32_t at = place_of(p, sw);

	return at < p->n_dead && p->dead[at].sw == sw && mcast_has_port(p->dead[at].ports, port);
}

/* False: it was noted before. */
static bool note_dead(struct mcast_planner *p, uint32_t sw, unsigned port)
{
	uint32_t at = place_of(p, sw);

	if (mcast_is_dead(p, sw, port))
		return false;
	if (at == p->n_dead || p->dead[at].sw != sw) {
		GROW(p->dead, p->n_dead + 1, p->cap_dead);
		memmove(&p->dead[at + 1], &p->dead[at], (p->n_dead - at) * sizeof(*p->dead));
		p->dead[at] = (struct mcast_dead){ .sw = sw };
		p->n_dead++;
	}
	p->dead[at].ports[port / 64] |= UINT64_C(1) << port % 64;
	if (p->depends)
		cdg_remove_channel(p->depends, p->topo->switches[sw].first_port + port);
	return true;
}

/* ---- graphs without them ------------------------------------------------------------------- */

/*
 * Appends the living cables of a group. If none is left of those that it had, the dearer ones
 * between the two switches are taken.
 */
static uint32_t copy_ports(const struct mcast_planner *p, const struct graph *from, uint32_t sw,
			   const struct graph_group *old, uint8_t *ret)
{
	uint32_t n = 0;

	for (unsigned k = 0; k < old->n_ports; k++) {
		uint8_t port = from->ports[old->first_port + k];

		if (!mcast_is_dead(p, sw, port))
			ret[n++] = port;
	}
	for (unsigned port = 1; !n && port <= p->topo->switches[sw].n_ports; port++)
		if (topo_behind(p->topo, sw, port) == old->to && !mcast_is_dead(p, sw, port))
			ret[n++] = (uint8_t)port;
	return n;
}

/* `from` without dead cables. */
static struct graph *without_dead(const struct mcast_planner *p, const struct graph *from)
{
	struct graph *g = xcalloc(1, sizeof(*g));
	uint32_t groups = 0, ports = 0;

	g->topo = from->topo;
	g->n = from->n;
	g->weighted = from->weighted;
	ARENA_ARRAY(&g->memory, g->first, (size_t)g->n + 1);
	ARENA_ARRAYS(&g->memory, topo_n_entries(p->topo) + 1, g->groups, g->ports);
	for (uint32_t sw = 0; sw < g->n; sw++) {
		g->first[sw] = groups;
		GRAPH_EACH(from, sw, old) {
			uint32_t n = copy_ports(p, from, sw, old, &g->ports[ports]);

			if (!n)
				continue;
			g->groups[groups] = *old;
			g->groups[groups].first_port = ports;
			g->groups[groups++].n_ports = (uint8_t)n;
			ports += n;
		}
	}
	g->first[g->n] = groups;
	return g;
}

/* Common trees that lost a cable are sought again when they are needed. */
static void forget_common(struct mcast_planner *p)
{
	for (unsigned sl = 0; sl < ARRAY_SIZE(p->common); sl++) {
		const struct graph *g = p->common[sl];
		bool lost = false;

		for (uint32_t sw = 0; g && sw < g->n; sw++)
			GRAPH_EACH(g, sw, edge)
				lost |= mcast_is_dead(p, sw, g->ports[edge->first_port]);
		if (!lost)
			continue;
		p->common[sl] = graph_free(p->common[sl]);
		p->common_sought &= (uint16_t) ~(1u << sl);
	}
}

bool mcast_cables_died(struct mcast_planner *p, const uint32_t *dead, size_t n)
{
	struct graph *all;
	bool changed = false;

	assert(p && (dead || !n));
	for (size_t i = 0; i < n; i++) {
		uint32_t peer = topo_peer(p->topo, dead[i]), sw, far;

		if (peer == TOPO_NONE)
			continue;
		sw = topo_switch_with(p->topo, dead[i]);
		far = topo_switch_with(p->topo, peer);
		changed |= note_dead(p, sw, dead[i] - p->topo->switches[sw].first_port);
		changed |= note_dead(p, far, peer - p->topo->switches[far].first_port);
	}
	if (!changed)
		return false;
	all = p->graph;
	p->graph = without_dead(p, all);
	graph_free(all);
	forget_common(p);
	p->island_lo = p->island_hi = 0; /* parts are sought again */
	return true;
}

/* ---- trees that use them ------------------------------------------------------------------- */

/* The topo may have been numbered otherwise when the tree was planned. */
static bool row_uses(const struct mcast_row *row, const uint64_t ports[4])
{
	for (unsigned w = 0; w < ARRAY_SIZE(row->mask); w++)
		if (row->mask[w] & ports[w])
			return true;
	return row->up != MCAST_NONE && mcast_has_port(ports, row->up_port);
}

bool mcast_uses_dead(const struct mcast_planner *p, const struct mcast_tree *t)
{
	for (uint32_t i = 0; i < p->n_dead; i++) {
		const struct mcast_row *row =
			mcast_tree_find(t, p->topo->switches[p->dead[i].sw].guid);

		if (row && row_uses(row, p->dead[i].ports))
			return true;
	}
	return false;
}
