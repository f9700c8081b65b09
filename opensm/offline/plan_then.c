// SPDX-License-Identifier: BSD-2-Clause
/*
 * --then: a later fabric of which the same is asked, routed from the tables of the first; and the
 * channels whose load differs most. What has the same GUID is the same, and keeps its LID where
 * the later file gives none.
 */
#include "offline/plan.h"
#include "util/mem.h"

static void keep_node(const struct topofile *was, struct topofile_node *node)
{
	uint32_t i = topofile_find(was, node->type, node->guid);

	if (i == TOPO_NONE || node->type != TOPOFILE_SWITCH || node->lid)
		return;
	node->lid = was->nodes[i].lid;
	node->lmc = was->nodes[i].lmc;
}

static void keep_port(const struct topofile *was, const struct topofile *is,
		      struct topofile_port *p)
{
	const struct topofile_node *node = &is->nodes[p->node];
	uint32_t i = topofile_find(was, node->type, node->guid);

	if (i == TOPO_NONE || node->type == TOPOFILE_SWITCH || p->lid)
		return;
	for (uint32_t k = 0; k < was->nodes[i].n_rows; k++) {
		const struct topofile_port *q = &was->ports[was->nodes[i].first_port + k];

		if (q->guid == p->guid) {
			p->lid = q->lid;
			p->lmc = q->lmc;
		}
	}
}

void plan_keep_lids(const struct topofile *was, struct topofile *is)
{
	for (uint32_t i = 0; i < is->n_nodes; i++)
		keep_node(was, &is->nodes[i]);
	for (uint32_t i = 0; i < is->n_ports; i++)
		keep_port(was, is, &is->ports[i]);
}

/* Load of the same channel in other tables; 0: it is not there. */
static uint32_t load_in(const struct plan_tables *other, const struct topo *t, uint32_t entry)
{
	const struct topo *u = other->routes->topo;
	uint32_t sw = topo_switch_with(t, entry), port = entry - t->switches[sw].first_port;
	uint32_t at = topo_find_switch(u, t->switches[sw].guid);
	const struct topo_port *p;

	if (at == TOPO_NONE || port > u->switches[at].n_ports)
		return 0;
	p = topo_port(u, at, port);
	if (p->sw == TOPO_NONE || u->switches[p->sw].guid != t->switches[t->ports[entry].sw].guid)
		return 0;
	return other->figures.load[p - u->ports];
}

uint32_t plan_grown(const struct plan_tables *from, const struct plan_tables *to,
		    struct plan_growth ret[PLAN_HOT])
{
	const struct topo *t = to->routes->topo;
	uint32_t kept = 0, all = cut_n_ports(t);

	for (uint32_t i = 0; i < all; i++) {
		struct plan_growth g = { .entry = i, .is = to->figures.load[i] };
		uint32_t at;

		if (t->ports[i].sw == TOPO_NONE || !g.is)
			continue;
		g.was = load_in(from, t, i);
		if (g.is <= g.was || (kept == PLAN_HOT && g.is - g.was <= ret[kept - 1].is -
									     ret[kept - 1].was))
			continue;
		at = kept < PLAN_HOT ? kept++ : PLAN_HOT - 1;
		for (; at && ret[at - 1].is - ret[at - 1].was < g.is - g.was; at--)
			ret[at] = ret[at - 1];
		ret[at] = g;
	}
	return kept;
}
