// SPDX-License-Identifier: BSD-2-Clause
#include "sm/routing/dead_cables.h"

#include "sm/sm_internal.h"
#include "util/guidmap.h"
#include "util/mem.h"

/* Cables that are looked through for one that died before: a few flap, thousands die once. */
#define COMPARED ((size_t)512)

struct dead_cables {
	struct dead_cable *list;
	size_t n, cap;
};
MACHINE_MEMORY(dead_cables);

void dead_cables_free(struct sm *sm)
{
	free(sm->m.dead_cables->list);
}

void dead_cables_add(struct sm *sm, const struct port *p, bool in_picture)
{
	struct dead_cables *d = sm->m.dead_cables;

	for (size_t i = 0; i < MIN(d->n, COMPARED); i++)
		if (d->list[i].guid == p->node->guid && d->list[i].port == p->num) {
			d->list[i].in_picture |= in_picture;
			return;
		}
	GROW(d->list, d->n + 1, d->cap);
	d->list[d->n++] = (struct dead_cable){ p->node->guid, p->num, in_picture };
}

/* Is the link still known to be down only from beside the picture? */
static bool is_beside(const struct sm *sm, const struct dead_cable *c)
{
	const struct node *n = c->in_picture ? NULL : fabric_find_node(sm->fabric, c->guid);

	return n && c->port <= n->n_ports && n->ports[c->port].fell;
}

void dead_cables_routed(struct sm *sm)
{
	struct dead_cables *d = sm->m.dead_cables;
	size_t kept = 0;

	for (size_t i = 0; i < d->n; i++)
		if (is_beside(sm, &d->list[i]))
			d->list[kept++] = d->list[i];
	d->n = kept;
}

const struct dead_cable *dead_cables_at(const struct sm *sm, size_t i)
{
	return i < sm->m.dead_cables->n ? &sm->m.dead_cables->list[i] : NULL;
}

uint32_t dead_cable_entry(const struct routes *r, guid_t guid, unsigned port)
{
	const struct topo *t = r->topo;
	uint32_t sw = topo_find_switch(t, guid);

	if (sw == TOPO_NONE || topo_behind(t, sw, port) == TOPO_NONE)
		return TOPO_NONE;
	return t->switches[sw].first_port + port;
}

bool dead_cables_in(const struct sm *sm, const struct routes *r)
{
	const struct dead_cables *d = sm->m.dead_cables;

	for (size_t i = 0; i < d->n; i++)
		if (dead_cable_entry(r, d->list[i].guid, d->list[i].port) != TOPO_NONE)
			return true;
	return false;
}

uint32_t dead_cables_count(const struct routes *now, const uint32_t *dead, size_t n_dead)
{
	_cleanup_(guidmap_freep) struct guidmap *met = guidmap_new();
	uint32_t n = 0;

	for (size_t i = 0; i < n_dead; i++) {
		uint32_t far = topo_peer(now->topo, dead[i]);

		if (guidmap_get(met, MIN(dead[i], far) + 1u))
			continue;
		guidmap_put(met, MIN(dead[i], far) + 1u, (void *)now);
		n++;
	}
	return n;
}
